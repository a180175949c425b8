// region_base.cu: float16 to the type that is computed in, and back.
#include "region.h"

KERNEL widen(int n, const Store* from, Real* to) { GRID_LOOP(i, n) to[i] = Real(from[i]); }
KERNEL narrow(int n, const Real* from, Store* to) { GRID_LOOP(i, n) to[i] = from[i]; }
