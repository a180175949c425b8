// ort.cpp: the one function that onnxruntime looks for in a library of operators. What it registers is said in ort.py.
#include "entry.h"

#if ONCE(Real)
typedef void* OrtRegister(void* options, const void* api_base);
static OrtRegister* registering = nullptr;

ENTRY void boxpresso_ort_connect(OrtRegister* function) { registering = function; }

ENTRY void* RegisterCustomOps(void* options, const void* api_base) {
  return registering ? registering(options, api_base) : nullptr;
}
#endif
