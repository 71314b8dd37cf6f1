/* Rows of a matrix become columns, in squares that are turned in registers: vectors of 16
 * bytes, which all CPUs support, since memory bounds the speed. Called by gemm.c. */
#include <string.h>

#include "kernel.h"

enum { SIDE = 16 / sizeof(real) }; /* of a square: 4 floats, 2 doubles */

typedef real quad __attribute__((vector_size(16)));
#ifdef WEFT_DOUBLE
typedef int64_t places __attribute__((vector_size(16)));
#define LOW  0, 2
#define HIGH 1, 3
#else
typedef int32_t places __attribute__((vector_size(16)));
#define LOW  0, 4, 1, 5
#define HIGH 2, 6, 3, 7
#endif

#ifdef __clang__
#define MERGE(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define MERGE(a, b, ...) __builtin_shuffle(a, b, (places){__VA_ARGS__})
#endif

/* The numbers of all rows by columns: each merge brings together those of two rows. */
INLINE void turn_square(quad v[SIDE])
{
#ifdef WEFT_DOUBLE
    quad low = MERGE(v[0], v[1], LOW);
    v[1] = MERGE(v[0], v[1], HIGH);
    v[0] = low;
#else
    quad a = MERGE(v[0], v[2], LOW), b = MERGE(v[0], v[2], HIGH);
    quad c = MERGE(v[1], v[3], LOW), d = MERGE(v[1], v[3], HIGH);
    v[0] = MERGE(a, c, LOW);
    v[1] = MERGE(a, c, HIGH);
    v[2] = MERGE(b, d, LOW);
    v[3] = MERGE(b, d, HIGH);
#endif
}

void weft_transpose(int k, int m, const real *b, size_t ldb, real *to, size_t ldt)
{
    int i = 0;
    for (; i + SIDE <= k; i += SIDE) {
        int j = 0;
        for (; j + SIDE <= m; j += SIDE) {
            quad v[SIDE];
            for (int r = 0; r < SIDE; r++)
                memcpy(&v[r], b + (size_t)(j + r) * ldb + i, sizeof *v);
            turn_square(v);
            for (int r = 0; r < SIDE; r++)
                memcpy(to + (size_t)(i + r) * ldt + j, &v[r], sizeof *v);
        }
        for (; j < m; j++)
            for (int r = 0; r < SIDE; r++)
                to[(size_t)(i + r) * ldt + j] = b[(size_t)j * ldb + i + r];
    }
    for (; i < k; i++)
        for (int j = 0; j < m; j++) to[(size_t)i * ldt + j] = b[(size_t)j * ldb + i];
}
