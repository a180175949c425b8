// chain.cpp: kernels one after the other under one fork and join: the workers stay, and meet after each step.
#include "checked.h"
#include <atomic>
#include <sched.h>

struct Step {
  long long (*run)(int worker, int workers, void* const* slots);
  void* const* slots;
};

constexpr int PATIENCE = 2000;  // looks until a waiting worker lets another program have its core

// Where the workers meet: how many have come, and how often all have.
DEVICE void meet(int* meeting, int workers) {
  std::atomic<int>&come = *reinterpret_cast<std::atomic<int>*>(meeting), &times = *reinterpret_cast<std::atomic<int>*>(meeting + 16);
  const int now = times.load(std::memory_order_relaxed);
  if (come.fetch_add(1, std::memory_order_acq_rel) + 1 == workers) {
    come.store(0, std::memory_order_relaxed);
    times.store(now + 1, std::memory_order_release);
    return;
  }
  for (int looks = 0; times.load(std::memory_order_acquire) == now; ++looks) {
    if (looks > PATIENCE) sched_yield();
#if defined(__SSE__)
    else __builtin_ia32_pause();
#endif
  }
}

// steps: n of struct Step. meeting: 32 zeros that no other chain uses; [24] becomes the number, from 1, of a step that lacked memory.
KERNEL chain(int n, const int* steps, int* meeting) {
  const Step* step = reinterpret_cast<const Step*>(steps);
  long long most = 0;
  for (int i = 0; i < n; ++i) {
    const long long lacks = step[i].run(worker, workers, step[i].slots);
    if (lacks > 0 && most == 0) reinterpret_cast<std::atomic<int>&>(meeting[24]).store(i + 1, std::memory_order_relaxed);
    most = max(most, lacks);
    if (workers > 1) meet(meeting, workers);  // whatever it lacked: the others wait
  }
  if (most > 0) throw NoMemory{most};
}
