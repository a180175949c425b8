// workers.cpp: the threads that all kernels of a process run on. They sleep while there is nothing to do, so that they take no
// processor from the threads of other libraries (BLAS, torch, OpenCV) in the process.
#include "workers.h"
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace {

// WorkersThreads that work for one caller at a time.
struct Team {
  std::mutex lock;
  std::condition_variable begins, ends;
  int size = 1;       // with the caller
  long long run = 0;  // counts what the team was given to do
  int count = 0, left = 0;
  WorkersShare* share = nullptr;
  void* work = nullptr;

  void serve(int id, long long seen) {
    std::unique_lock<std::mutex> held(lock);
    for (;;) {
      begins.wait(held, [&] { return run != seen; });
      seen = run;
      if (id >= count) continue;
      held.unlock();
      share(work, id, count);
      held.lock();
      if (--left == 0) ends.notify_one();
    }
  }

  void grow(int wanted) {
    try {
      for (; size < wanted; ++size) std::thread(&Team::serve, this, size, run).detach();
    } catch (const std::system_error&) {  // the system gives no more: those that are there do
    }
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
    if (count > 1) begins.notify_all();
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
