// threads.cpp: runs recorded launches with a thread for each thread of a block, so that ThreadSanitizer sees what a GPU's
// threads would do to each other: `threads RECORDS`. Before each launch it says on stderr which; a report follows it.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <memory>
#include <pthread.h>
#include <semaphore.h>
#include <string>
#include <thread>
#include <vector>

struct Index {
  unsigned x;
};
thread_local Index threadIdx, blockIdx, blockDim, gridDim;

namespace {

// Two, in turn: with one, a thread that wakes late would seem to have waited for what others did after it.
pthread_barrier_t barriers[2];
thread_local int next = 0;
bool alone;  // blocks of one thread, which run at the same time: there is nobody to wait for

bool wait() {
  const int now = next;
  next = 1 - now;
  return pthread_barrier_wait(&barriers[now]) == PTHREAD_BARRIER_SERIAL_THREAD;
}

std::FILE* file;
template <class T>
bool read(T* to, size_t count = 1) { return std::fread(to, sizeof(T), count, file) == count; }
int64_t number() {
  int64_t value;
  if (!read(&value)) std::exit(3);
  return value;
}
std::string word() {
  std::string text(number(), ' ');
  if (!read(text.data(), text.size())) std::exit(3);
  return text;
}

struct Launch {
  void (*run)(const char*);
  void (*poison)();
  const char* arguments;
  int blocks, threads;
} launch;

void run_thread(int thread) {
  gridDim.x = launch.blocks;
  blockDim.x = launch.threads;
  threadIdx.x = alone ? 0 : thread;
  if (alone) {
    blockIdx.x = thread;
    launch.run(launch.arguments);
    return;
  }
  for (int b = 0; b < launch.blocks; ++b) {
    blockIdx.x = b;
    if (wait()) launch.poison();
    wait();
    launch.run(launch.arguments);
  }
}

// The threads of all launches: to make new ones for each takes most of the time. What one launch does comes before what the
// next does, as a thread's end comes before another's begin.
class Pool {
 public:
  void run(int count) {
    while (int(threads.size()) < count) threads.emplace_back(new Thread);
    for (int t = 0; t < count; ++t) threads[t]->begin(t);
    for (int t = 0; t < count; ++t) threads[t]->end();
  }
  ~Pool() {
    for (auto& thread : threads) thread->begin(-1), thread->thread.join();
  }

 private:
  struct Thread {
    sem_t begun, ended;
    int id;
    std::thread thread;
    Thread() {
      sem_init(&begun, 0, 0);
      sem_init(&ended, 0, 0);
      thread = std::thread([this] {
        while (sem_wait(&begun) == 0 && id >= 0) {
          next = 0;
          run_thread(id);
          sem_post(&ended);
        }
      });
    }
    void begin(int to) {
      id = to;
      sem_post(&begun);
    }
    void end() { sem_wait(&ended); }
  };
  std::vector<std::unique_ptr<Thread>> threads;
};

}  // namespace

extern "C" void reach_barrier(int) {
  if (!alone) wait();
}

// A record: library, kernel, blocks, threads; the number of buffers, and each; the number of arguments, and for each the
// buffer (-1: a value) and the offset in it, or the value.
int main(int, char** words) {
  file = std::fopen(words[1], "rb");
  if (!file) return 3;
  Pool pool;
  int64_t length;
  while (read(&length)) {
    std::string library(length, ' ');
    if (!read(library.data(), length)) return 3;
    const std::string kernel = word();
    const int blocks = number(), threads = number();
    std::vector<std::vector<int64_t>> buffers(number());
    for (auto& buffer : buffers) {
      const int64_t size = number();
      buffer.resize(size / 8 + 1);
      if (size && !read((char*)buffer.data(), size)) return 3;
    }
    std::vector<int64_t> arguments(number());
    for (auto& argument : arguments) {
      const int64_t buffer = number(), value = number();
      argument = buffer < 0 ? value : (int64_t)((char*)buffers[buffer].data() + value);
    }
    void* opened = dlopen(library.c_str(), RTLD_NOW);
    if (!opened) return std::fprintf(stderr, "%s\n", dlerror()), 3;
    launch = {(void (*)(const char*))dlsym(opened, ("block_" + kernel).c_str()),
              (void (*)())dlsym(opened, "poison_shared_memory"), (const char*)arguments.data(), blocks, threads};
    if (!launch.run || !launch.poison) return std::fprintf(stderr, "%s\n", dlerror()), 3;
    std::fprintf(stderr, "launch %s on %d blocks of %d threads\n", kernel.c_str(), blocks, threads);
    alone = threads == 1;
    const int count = alone ? blocks : threads;
    for (auto& barrier : barriers) pthread_barrier_init(&barrier, nullptr, count);
    pool.run(count);
    for (auto& barrier : barriers) pthread_barrier_destroy(&barrier);
  }
  std::fprintf(stderr, "all launches have run\n");
}
