// entry.h: functions of C that other programs look for in a compiled file, once in a library of many.
#pragma once
#include "kernel.h"

#define ONLY_FOR_float 1  // a library may have a file once for each Real, and a name once
#define ONLY_FOR(real) ONLY_FOR_##real
#define ONCE(real) ONLY_FOR(real)

#ifdef _WIN32
#define ENTRY extern "C" __declspec(dllexport)
#else
#define ENTRY extern "C" __attribute__((visibility("default")))
#endif
