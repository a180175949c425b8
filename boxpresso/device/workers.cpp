// workers.cpp: the threads that all kernels of a process run on. They sleep while there is nothing to do, so that they take no
// processor from the threads of other libraries (BLAS, torch, OpenCV) in the process.
#include "workers.h"
#include <atomic>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>
#if defined(__linux__)
#include <pthread.h>
#include <sched.h>
#endif

namespace {

// A thread of a team, and the processor that it was on when it ended its last share, -1 before that.
struct Member {
  std::thread::native_handle_type thread = {};
  std::atomic<int> processor{-1};

  void ended() {
#if defined(__linux__)
    processor.store(sched_getcpu(), std::memory_order_relaxed);
#endif
  }
};

// WorkersThreads that work for one caller at a time.
struct Team {
  std::mutex lock;
  std::condition_variable begins, ends;
  int size = 1;       // with the caller
  long long run = 0;  // counts what the team was given to do
  int count = 0, left = 0;
  WorkersShare* share = nullptr;
  void* work = nullptr;
  std::deque<Member> members;  // but for the caller

  void serve(int id, long long seen, Member* self) {
    std::unique_lock<std::mutex> held(lock);
    for (;;) {
      begins.wait(held, [&] { return run != seen; });
      seen = run;
      if (id >= count) continue;
      held.unlock();
      share(work, id, count);
      self->ended();
      held.lock();
      if (--left == 0) ends.notify_one();
    }
  }

  void grow(int wanted) {
    try {
      for (; size < wanted; ++size) {
        Member& member = members.emplace_back();
        std::thread thread(&Team::serve, this, size, run, &member);
        member.thread = thread.native_handle();
        thread.detach();
      }
    } catch (const std::system_error&) {  // the system gives no more: those that are there do
      members.resize(size - 1);
    }
  }

  // Linux wakes a thread on the processor that it was on last, although that may be the caller's and others are idle, where there
  // are few: two would then take turns on one for as long as they work. Such a thread is sent to those of no other member.
  void spread() {
#if defined(__linux__)
    cpu_set_t taken, all, rest;
    CPU_ZERO(&taken);
    CPU_SET(sched_getcpu(), &taken);
    for (int i = 0; i < count - 1; ++i) {
      const int at = members[i].processor.load(std::memory_order_relaxed);
      if (at < 0) continue;
      if (!CPU_ISSET(at, &taken)) {
        CPU_SET(at, &taken);
        continue;
      }
      if (sched_getaffinity(0, sizeof all, &all) != 0) return;
      CPU_AND(&rest, &all, &taken);
      CPU_XOR(&rest, &all, &rest);
      if (CPU_COUNT(&rest) == 0) return;
      pthread_setaffinity_np(members[i].thread, sizeof rest, &rest);
    }
#endif
  }

  void operator()(int wanted, WorkersShare* work_share, void* work_at) {
    grow(wanted);
    {
      std::lock_guard<std::mutex> held(lock);
      count = left = min(wanted, size);
      --left;
      share = work_share;
      work = work_at;
      ++run;
    }
    if (count > 1) {
      spread();
      begins.notify_all();
    }
    share(work, 0, count);
    std::unique_lock<std::mutex> held(lock);
    ends.wait(held, [&] { return left == 0; });
  }
};

// Never destroyed: threads may still sleep in a team when the process ends.
std::mutex& lock = *new std::mutex;
std::vector<Team*>& idle = *new std::vector<Team*>;

void on_threads(int count, WorkersShare* share, void* work) {
  Team* team = nullptr;
  {
    std::lock_guard<std::mutex> held(lock);
    if (!idle.empty()) {
      team = idle.back();
      idle.pop_back();
    }
  }
  if (team == nullptr) team = new Team;  // another thread of Python's has the others
  (*team)(count, share, work);
  std::lock_guard<std::mutex> held(lock);
  idle.push_back(team);
}

}  // namespace

// Writes the address of on_threads.
KERNEL address_of_threads(int n, int* address) {
  WorkersThreads* const at = on_threads;
  std::memcpy(address, &at, sizeof at);
}
