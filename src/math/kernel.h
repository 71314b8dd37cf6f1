/* Private to math/: the inner loops that depend on the CPU, one table for each kind of CPU.
 * bytes.c and gemm.c cut matrices into the tiles that these loops take. */
#ifndef WEFT_KERNEL_H
#define WEFT_KERNEL_H

#include "weft/math/kernels.h"
#include "weft/math/linear.h"
#include "weft/math/optim.h"

enum {
    WEFT_TILE = 6,  /* rows of a tile of c */
    WEFT_WIDE = 48, /* columns of the widest tile */
    WEFT_GROUP = 16 /* u8s8 sums k in groups of this many */
};

/* For loops whose sums must stay in registers: short loops are written out, and a sum that
 * is kept is not postponed until registers run out. */
#define INLINE  static inline __attribute__((always_inline))
#define KEEP(v) __asm__("" : "+v"(v))
#ifdef __clang__
#define UNROLL      _Pragma("unroll")
#define UNROLL_ROWS _Pragma("unroll")
#else
#define UNROLL      _Pragma("GCC unroll 8")
#define UNROLL_ROWS _Pragma("GCC unroll 16")
#endif

/* n rounded up to a multiple of unit. */
static inline int round_up(int n, int unit)
{
    return (n + unit - 1) / unit * unit;
}

static inline int least(int a, int b)
{
    return a < b ? a : b;
}

/* A step of SGD: velocity NULL: no momentum; first: velocity is only written; anchor NULL:
 * no pull, else mu (w - anchor) is added to the gradient. */
typedef struct weft_move {
    real lr, momentum, decay, mu, scale; /* scale: of the gradient */
    int first;
    real *velocity;
    const real *anchor;
} weft_move;

/* The loops of a table, which have the same names in all tables. */
#define WEFT_LOOPS(LOOP)                                                                   \
    /* 1 if this CPU has the instructions */                                               \
    LOOP(int, works, (void))                                                               \
    /* c[6][ldc] += a b: a[r] six rows of bytes, b [4 groups][wide][4], |b| <=             \
     * WEFT_S8_MAX. */                                                                     \
    LOOP(void, u8s8,                                                                       \
         (int groups, const uint8_t *const *a, const int8_t *b, int32_t *c, size_t ldc))   \
    /* c[6][ldc] += a b: a [pairs][6][2], b [pairs][wide][2]. */                           \
    LOOP(void, gram,                                                                       \
         (int pairs, const int16_t *a, const int16_t *b, int32_t *c, size_t ldc))          \
    /* c[rows][ldc] = (add: +=) a b: a[rows][lda] (k columns), b[k][vectors of lanes]. */  \
    LOOP(void, tile_rows,                                                                  \
         (int rows, int vectors, int k, const real *a, size_t lda, const real *b, int add, \
          real *c, size_t ldc))                                                            \
    /* c[rows][ldc] = a^T b, += where add is 1, 0 + where it is -1: a[n][lda] (rows        \
     * columns); b[n][vectors of lanes], or row e of b at b[e] + j. */                     \
    LOOP(void, strip,                                                                      \
         (int rows, int vectors, int n, const real *a, size_t lda, const real *b, int add, \
          real *c, size_t ldc))                                                            \
    LOOP(void, strip_rows,                                                                 \
         (int rows, int vectors, int n, const real *a, size_t lda, const real *const *b,   \
          int64_t j, int add, real *c, size_t ldc))                                        \
    /* 4 rows lanes operations a round, all in registers: the peak of this CPU. */         \
    LOOP(real, spin, (int rounds))                                                         \
    /* Moves w[n] by the gradient g[n]; 1 if all numbers of g are finite. */               \
    LOOP(int, step, (const weft_move *move, int64_t n, real *w, const real *g))            \
    /* The rest as in the headers of math. */                                              \
    LOOP(void, exact_add, (int64_t n, const real *x, double unit, double *sum))            \
    LOOP(void, lanes_load, (int64_t d, const float *const *row, real *x))                  \
    LOOP(void, lanes_gather, (int64_t n, const real *const *row, real *x))                 \
    LOOP(void, lanes_scatter, (int64_t n, const real *x, real *const *row))                \
    LOOP(void, lanes_times, (const weft_lanes_product *product))                           \
    LOOP(void, lanes_step, (const weft_lanes_move *move, int64_t n, real *g))              \
    LOOP(void, lanes_within,                                                               \
         (int64_t n, const real *w, const real *from, const double *most, int *within))    \
    LOOP(void, lanes_add,                                                                  \
         (int64_t n, const real *w, const real *from, const real *weight, const int *use,  \
          int scale, double *sum))                                                         \
    LOOP(void, lanes_blend,                                                                \
         (int64_t n, const real *share, const real *own, const real *w, real *at))         \
    LOOP(void, lanes_slope,                                                                \
         (int64_t n, const real *own, const real *w, const real *g, double *slope))        \
    LOOP(void, lanes_softmax,                                                              \
         (int c, const real *z, const int32_t *label, const double *share, real *dz,       \
          double *loss, int *wrong))                                                       \
    LOOP(double, softmax, (int c, const real *z, double top, real *e, double *sum))        \
    LOOP(double, softmax_many, (int c, const real *z, real *e, double *top, double *sum))  \
    LOOP(void, cell, (const weft_cells *cells, const real *const *plus))                   \
    LOOP(void, cell_back,                                                                  \
         (const weft_cells *cells, const real *dy, real *dc, real *const *into))           \
    LOOP(void, tanh_of, (int n, real *x))                                                  \
    LOOP(void, times,                                                                      \
         (int n, int d, const uint8_t *q, size_t ldq, int c, const real *w, size_t ldw,    \
          real *z, size_t ldz))                                                            \
    LOOP(void, trans,                                                                      \
         (int n, int d, const uint8_t *q, size_t ldq, int c, const real *z, size_t ldz,    \
          real *g, size_t ldg))                                                            \
    LOOP(void, fwht, (int n, float *x))                                                    \
    LOOP(void, gather16,                                                                   \
         (int n, const uint32_t *at, const float *value, const float *x, float *sum))      \
    LOOP(void, add_rows,                                                                   \
         (int n, const uint32_t *at, const real *value, int d, const real *x, size_t ldx,  \
          real *sum))                                                                      \
    LOOP(void, logistic_best,                                                              \
         (int n, double c, double q, const double *m, double *a, double *share))           \
    LOOP(void, logistic_terms,                                                             \
         (int n, double c, const double *m, const double *a, double *conj, double *loss))  \
    /* wide > 1 */                                                                         \
    LOOP(void, sparse_dots,                                                                \
         (const weft_sparse *x, int64_t i, int wide, const real *w, double *z))            \
    LOOP(void, sparse_adds,                                                                \
         (const weft_sparse *x, int64_t i, int wide, const real *scale, real *w))

/* A member of the table, and its value in one. */
#define WEFT_LOOP_MEMBER(type, name, arguments) type(*name) arguments;
#define WEFT_LOOP_ENTRY(type, name, arguments)  .name = name,

typedef struct weft_kernel {
    const char *name;
    int wide;        /* columns of a tile of c */
    int lanes, rows; /* numbers of a vector; most rows of a tile of a product of reals */
    WEFT_LOOPS(WEFT_LOOP_MEMBER)
    /* Shared by the tables for AVX2 and AVX-512. */
    void (*cos_i32)(int n, const int32_t *x, double scale, const float *offset, uint8_t *q);
    void (*cos_f32)(int n, const float *x, double scale, const float *offset, uint8_t *q);
} weft_kernel;

extern const weft_kernel weft_kernel_plain, weft_kernel_avx2, weft_kernel_avx512;

void weft_cos_i32_avx2(int n, const int32_t *x, double scale, const float *offset,
                       uint8_t *q);
void weft_cos_f32_avx2(int n, const float *x, double scale, const float *offset,
                       uint8_t *q);

/* Vectors of the panel that begins at column j of m. */
static inline int vectors_at(const weft_kernel *kernel, int j, int m)
{
    return m - j > kernel->lanes ? 2 : 1;
}

/* The products of gemm.h with a table of one's choice. packed->k, packed->m are set. */
void weft_gemm_pack(const weft_kernel *kernel, weft_packed *packed, const real *b,
                    size_t ldb, int trans, real *to);
void weft_gemm_pack_rows(const weft_kernel *kernel, weft_packed *packed,
                         const real *const *row, int64_t at, real *to);
void weft_gemm_times(const weft_kernel *kernel, int n, const real *a, size_t lda,
                     const weft_packed *packed, int add, real *c, size_t ldc);
void weft_gemm_outer(const weft_kernel *kernel, int n, int k, const real *a, size_t lda,
                     int m, const real *const *b, int add, real *g, size_t ldg,
                     weft_arena *tmp);

/* The fastest table that this CPU runs, that WEFT_KERNEL allows and that agrees to the bit
 * with the plain one on a small random problem, which is tried once. */
const weft_kernel *weft_kernel_best(void);

#endif
