/* The type of weights, gradients and features. */
#ifndef WEFT_REAL_H
#define WEFT_REAL_H

#include <float.h>

#ifdef WEFT_DOUBLE
typedef double real; /* weights, gradients, features */
#define WEFT_REAL_MAX     DBL_MAX
#define WEFT_REAL_MIN     DBL_MIN
#define WEFT_REAL_EPSILON DBL_EPSILON
#else
typedef float real;
#define WEFT_REAL_MAX     FLT_MAX
#define WEFT_REAL_MIN     FLT_MIN
#define WEFT_REAL_EPSILON FLT_EPSILON
#endif

#endif
