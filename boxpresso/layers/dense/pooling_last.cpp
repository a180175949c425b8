// pooling_last.cpp: pooling_last.h's windows over Real.
#include "pooling_last.h"

// n: images x rows of the top x cuts of the channels.
KERNEL pool_last(int n, const Real* bottom, Real* top, LastPool g, Layout layout, int cuts) { pool(n, bottom, top, g, layout, cuts); }
