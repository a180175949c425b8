// interrupt.h: SIGINT while kernels run. Python sees a signal only when they have returned, which may take minutes; so for that
// long a handler of our own also tells BLOCK_LOOP to end, and then calls the one that was there.
#pragma once
#include "kernel.h"

#if defined(__unix__) || defined(__APPLE__)

static struct sigaction before_guard;

static void interrupted(int number, siginfo_t* info, void* context) {
  *stop_at = 1;
  if (before_guard.sa_flags & SA_SIGINFO) before_guard.sa_sigaction(number, info, context);
  else if (before_guard.sa_handler != SIG_DFL && before_guard.sa_handler != SIG_IGN) before_guard.sa_handler(number);
}

struct Guard {
  const bool on;
  explicit Guard(bool on) : on(on) {
    if (!on) return;
    struct sigaction mine = {};
    mine.sa_sigaction = interrupted;
    mine.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
    sigemptyset(&mine.sa_mask);
    sigaction(SIGINT, nullptr, &before_guard);
    sigaction(SIGINT, &mine, nullptr);
  }
  ~Guard() {
    if (!on) return;
    sigaction(SIGINT, &before_guard, nullptr);
    *stop_at = 0;
  }
};

#else

struct Guard {
  explicit Guard(bool) {}
};

#endif
