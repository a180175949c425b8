// all_vectors.h: all of them, where the parts that vectors.h takes are too few. Read before the rest, as system.h is.
#pragma once
#include "vectors.h"
#if defined(__SSE2__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif
