// fibres.cpp: runs a kernel on the host as a GPU would: blocks of fibres (threads that take turns), and barriers at which
// every fibre of a block waits for all others. One thread does it all, so a run is quick and always the same.
#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <ucontext.h>

struct Index {
  unsigned x;
};
Index threadIdx, blockIdx, blockDim, gridDim;

namespace {

constexpr int FIBRES = 128;
constexpr size_t STACK = 1 << 18;
constexpr int END = -1, NOT_STARTED = -2;

struct Fibre {
  jmp_buf place;
  int line = NOT_STARTED;  // of the barrier where it waits; END of a block
  bool made = false;
};
Fibre fibres[FIBRES];
jmp_buf turns;
int current;

struct {
  void (*run)(const char*);
  const char* arguments;
} block;

// Gives the turn back, and goes on from here when it is this fibre's turn again.
void wait(int line) {
  const int mine = current;
  fibres[mine].line = line;
  if (_setjmp(fibres[mine].place) == 0) _longjmp(turns, 1);
  threadIdx.x = mine;
}

void live() {
  for (;;) {
    block.run(block.arguments);
    wait(END);
  }
}

void turn(int id) {
  current = id;
  threadIdx.x = id;
  Fibre& fibre = fibres[id];
  if (_setjmp(turns)) return;
  if (fibre.made) _longjmp(fibre.place, 1);
  fibre.made = true;
  ucontext_t begin;
  getcontext(&begin);
  begin.uc_stack.ss_sp = std::malloc(STACK);
  begin.uc_stack.ss_size = STACK;
  begin.uc_link = nullptr;
  makecontext(&begin, live, 0);
  setcontext(&begin);
}

}  // namespace

extern "C" void reach_barrier(int line) { wait(line); }

// Runs all blocks, one after another. `backwards`: the last block first, and the last fibre first between two barriers.
// Returns null, or what was wrong: a barrier that some threads of a block reach and others do not.
extern "C" const char* launch(void (*run)(const char*), void (*poison)(), const char* arguments, int blocks, int threads,
                              int backwards) {
  static char wrong[200];
  block = {run, arguments};
  gridDim.x = blocks;
  blockDim.x = threads;
  for (int b = 0; b < blocks; ++b) {
    blockIdx.x = backwards ? blocks - 1 - b : b;
    poison();
    do {
      for (int t = 0; t < threads; ++t) turn(backwards ? threads - 1 - t : t);
      for (int t = 1; t < threads; ++t)
        if (fibres[t].line != fibres[0].line) {
          std::snprintf(wrong, sizeof wrong, "of block %u, thread 0 is at line %d and thread %d at line %d (-1: its end)",
                        blockIdx.x, fibres[0].line, t, fibres[t].line);
          for (Fibre& fibre : fibres) fibre.made = false;  // they are in the middle of the kernel, and stay there
          return wrong;
        }
    } while (fibres[0].line != END);
  }
  return nullptr;
}
