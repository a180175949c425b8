// system.h: what all kernels take of the system on the host. It is read before the rest, which lies in a namespace without a name
// (compiler.py): so each compiled text has its own of what is called the same in others, where a linker would take one for all.
#pragma once
#include <cfloat>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>
#undef _GLIBCXX_USE_STD_SPEC_FUNCS  // GCC's <cmath> is two thirds special functions, which took a third of a small file's compiling
#include <cmath>
