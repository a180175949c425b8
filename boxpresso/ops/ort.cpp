// ort.cpp: the one function that onnxruntime looks for in a library of operators. What it registers is said in ort.py.
#include "kernel.h"

#define ONLY_FOR_float 1  // a library may have this file once for each Real, and a name once
#define ONLY_FOR(real) ONLY_FOR_##real
#define HERE(real) ONLY_FOR(real)

#if HERE(Real)
#ifdef _WIN32
#define ENTRY extern "C" __declspec(dllexport)
#else
#define ENTRY extern "C" __attribute__((visibility("default")))
#endif

typedef void* OrtRegister(void* options, const void* api_base);
static OrtRegister* registering = nullptr;

ENTRY void boxpresso_ort_connect(OrtRegister* function) { registering = function; }

ENTRY void* RegisterCustomOps(void* options, const void* api_base) {
  return registering ? registering(options, api_base) : nullptr;
}
#endif
