// cast.cu: numbers of one type as another. Store is float16 or bfloat16.
#include "kernel.h"

KERNEL from_store(int n, const Store* x, Real* y) { GRID_LOOP(i, n) y[i] = Real(x[i]); }
KERNEL to_store(int n, const Real* x, Store* y) { GRID_LOOP(i, n) y[i] = x[i]; }
KERNEL widen(int n, const float* x, double* y) { GRID_LOOP(i, n) y[i] = x[i]; }
KERNEL narrow(int n, const double* x, float* y) { GRID_LOOP(i, n) y[i] = float(x[i]); }
