// workers.h: a kernel whose work several threads share. The threads are those of workers.cpp, one set for the process, whichever
// library a kernel is in and whatever compiled that: connect_kernels(), which compiler.py appends to each text, says where they are.
#pragma once
#include "checked.h"

typedef void WorkersShare(void* work, int worker, int workers);
typedef void WorkersThreads(int count, WorkersShare* share, void* work);
static WorkersThreads* workers_threads;  // runs share(work, i, count) in `count` threads, or in fewer, and returns when all are done

// Runs a kernel by `count` workers. Returns 0, or the most bytes of memory that a worker lacked.
template <class Work>
DEVICE long long by_workers(int count, const Work& work) {
  if (count < 2) {
    worker = 0;
    workers = 1;
    return lacking(work);
  }
  struct Run {
    const Work& work;
    long long lacks;
  } run{work, 0};
  workers_threads(count, [](void* at, int id, int of) {
    Run& run = *static_cast<Run*>(at);
    worker = id;
    workers = of;
    const long long lacks = lacking(run.work);
    for (long long most = __atomic_load_n(&run.lacks, __ATOMIC_RELAXED); lacks > most;)
      if (__atomic_compare_exchange_n(&run.lacks, &most, lacks, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) break;
  }, &run);
  return run.lacks;
}
