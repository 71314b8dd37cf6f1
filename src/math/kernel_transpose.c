/* Rows of a matrix become columns, in squares that are turned in registers: vectors of 16
 * bytes, which all CPUs support, since memory bounds the speed. */
#include <string.h>

#include "kernel.h"

enum {
    SIDE = 16 / sizeof(real), /* of a square: 4 floats, 2 doubles */
    LINE = 64 / sizeof(real), /* of a cache */
    AHEAD = 6 * LINE          /* how far in a row is prefetched */
};

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

/* to[SIDE][wide] = the numbers of up to SIDE rows from `at` on, 0 of those that are none.
 */
INLINE void turn(int rows, const real *const *row, int64_t at, real *to, int wide)
{
    quad v[SIDE];
    UNROLL for (int r = 0; r < SIDE; r++)
    {
        if (r < rows)
            memcpy(&v[r], row[r] + at, sizeof *v);
        else
            v[r] = (quad){0};
    }
    turn_square(v);
    UNROLL for (int r = 0; r < SIDE; r++) memcpy(to + r * wide, &v[r], sizeof *v);
}

/* Rows that are read for the first time come from memory. */
INLINE void fetch(int m, const real *const *row, int64_t at)
{
    for (int r = 0; r < m; r++) __builtin_prefetch(row[r] + at);
}

void weft_transpose(int k, int m, const real *const *row, int64_t at, real *to, int wide)
{
    int i = 0, even = m / SIDE * SIDE;
    for (; i + SIDE <= k; i += SIDE, to += SIDE * wide) {
        int j = 0;
        if (i % LINE == 0) fetch(m, row, at + i + AHEAD);
        for (; j < even; j += SIDE) turn(SIDE, row + j, at + i, to + j, wide);
        for (; j < wide; j += SIDE) turn(m - j, row + j, at + i, to + j, wide);
    }
    for (; i < k; i++, to += wide)
        for (int j = 0; j < wide; j++) to[j] = j < m ? row[j][at + i] : 0;
}
