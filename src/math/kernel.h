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
#define INLINE static inline __attribute__((always_inline))
#if defined(__aarch64__)
#define KEEP(v) __asm__("" : "+w"(v))
#else
#define KEEP(v) __asm__("" : "+v"(v))
#endif
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

/* Squares of numbers are turned in registers, in vectors of 16 bytes, which all CPUs
 * support. */
enum { WEFT_SIDE = 16 / sizeof(real) }; /* 4 floats, 2 doubles */

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
INLINE void turn_square(quad v[WEFT_SIDE])
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

/* A step of SGD: velocity NULL: no momentum; first: velocity is only written; anchor NULL:
 * no pull, else mu (w - anchor) is added to the gradient. */
typedef struct weft_move {
    real lr, momentum, decay, mu, scale; /* scale: of the gradient */
    int first;
    real *velocity;
    const real *anchor;
} weft_move;

/* The loops that are public functions, described in the headers of math, where they have
 * weft_ before their names: type, name, arguments, and these in a call. */
#define WEFT_PUBLIC_LOOPS(LOOP)                                                            \
    LOOP(void, exact_add, (int64_t n, const real *x, int scale, double *sum),              \
         (n, x, scale, sum))                                                               \
    LOOP(void, lanes_load, (int64_t d, const float *const *row, real *x), (d, row, x))     \
    LOOP(void, lanes_gather, (int64_t n, const real *const *row, real *x), (n, row, x))    \
    LOOP(void, lanes_scatter, (int64_t n, const real *x, real *const *row), (n, x, row))   \
    LOOP(void, lanes_times, (const weft_lanes_product *product), (product))                \
    LOOP(void, lanes_step, (const weft_lanes_move *move, int64_t n, real *g),              \
         (move, n, g))                                                                     \
    LOOP(void, lanes_within,                                                               \
         (int64_t n, const real *w, const real *from, const double *most, int *within),    \
         (n, w, from, most, within))                                                       \
    LOOP(void, lanes_add,                                                                  \
         (int64_t n, const real *w, const real *from, const real *weight, const int *use,  \
          int scale, double *sum),                                                         \
         (n, w, from, weight, use, scale, sum))                                            \
    LOOP(void, lanes_blend,                                                                \
         (int64_t n, const real *share, const real *own, const real *w, real *at),         \
         (n, share, own, w, at))                                                           \
    LOOP(void, lanes_slope,                                                                \
         (int64_t n, const real *own, const real *w, const real *g, double *slope),        \
         (n, own, w, g, slope))                                                            \
    LOOP(void, lanes_softmax,                                                              \
         (int c, const real *z, const int32_t *label, const double *share, real *dz,       \
          double *loss, int *wrong),                                                       \
         (c, z, label, share, dz, loss, wrong))                                            \
    LOOP(double, softmax_terms, (int c, const real *z, double top, real *e, double *sum),  \
         (c, z, top, e, sum))                                                              \
    LOOP(double, softmax_many, (int c, const real *z, real *e, double *top, double *sum),  \
         (c, z, e, top, sum))                                                              \
    LOOP(void, cells_forward, (const weft_cells *cells, const real *const *plus),          \
         (cells, plus))                                                                    \
    LOOP(void, cells_backward,                                                             \
         (const weft_cells *cells, const real *dy, real *dc, real *const *into),           \
         (cells, dy, dc, into))                                                            \
    LOOP(void, tanh_of, (int n, real *x), (n, x))                                          \
    LOOP(void, cos_u8_i32,                                                                 \
         (int n, const int32_t *x, double scale, const float *offset, uint8_t *q),         \
         (n, x, scale, offset, q))                                                         \
    LOOP(void, cos_u8_f32,                                                                 \
         (int n, const float *x, double scale, const float *offset, uint8_t *q),           \
         (n, x, scale, offset, q))                                                         \
    LOOP(void, u8_times,                                                                   \
         (int n, int d, const uint8_t *q, size_t ldq, int c, const real *w, size_t ldw,    \
          real *z, size_t ldz),                                                            \
         (n, d, q, ldq, c, w, ldw, z, ldz))                                                \
    LOOP(void, u8_trans,                                                                   \
         (int n, int d, const uint8_t *q, size_t ldq, int c, const real *z, size_t ldz,    \
          real *g, size_t ldg),                                                            \
         (n, d, q, ldq, c, z, ldz, g, ldg))                                                \
    LOOP(void, fwht, (int n, float *x), (n, x))                                            \
    LOOP(void, gather16,                                                                   \
         (int n, const uint32_t *at, const float *value, const float *x, float *sum),      \
         (n, at, value, x, sum))                                                           \
    LOOP(void, add_rows,                                                                   \
         (int n, const uint32_t *at, const real *value, int d, const real *x, size_t ldx,  \
          real *sum),                                                                      \
         (n, at, value, d, x, ldx, sum))                                                   \
    LOOP(void, logistic_best,                                                              \
         (int n, double c, double q, const double *m, double *a, double *share),           \
         (n, c, q, m, a, share))                                                           \
    LOOP(void, logistic_terms,                                                             \
         (int n, double c, const double *m, const double *a, double *conj, double *loss),  \
         (n, c, m, a, conj, loss))
#define WEFT_LOOP_MEMBER(type, name, arguments, values) type(*name) arguments;
#define WEFT_LOOP_ENTRY(type, name, arguments, values)  .name = name,

/* The loops for one kind of CPU. */
typedef struct weft_kernel {
    const char *name;
    int (*works)(void); /* 1 if this CPU has the instructions */
    int wide;           /* columns of a tile of integers */
    int lanes, rows;    /* numbers of a vector; most rows of a tile of a product of reals */
    /* c[6][ldc] += a b: a[r] six rows of bytes, b [4 groups][wide][4], |b| <=
     * WEFT_S8_MAX. */
    void (*u8s8)(int groups, const uint8_t *const *a, const int8_t *b, int32_t *c,
                 size_t ldc);
    /* c[6][ldc] += a b: a [pairs][6][2], b [pairs][wide][2]. */
    void (*gram)(int pairs, const int16_t *a, const int16_t *b, int32_t *c, size_t ldc);
    /* c[rows][ldc] = (add: +=) a b: a[rows][lda] (k columns), b[k][vectors of lanes]. */
    void (*tile_rows)(int rows, int vectors, int k, const real *a, size_t lda,
                      const real *b, int add, real *c, size_t ldc);
    /* c[rows][ldc] = a^T b, += where add is 1, 0 + where it is -1: a[n][lda] (rows
     * columns); b[n][vectors of lanes], or row e of b at b[e] + j. */
    void (*strip)(int rows, int vectors, int n, const real *a, size_t lda, const real *b,
                  int add, real *c, size_t ldc);
    void (*strip_rows)(int rows, int vectors, int n, const real *a, size_t lda,
                       const real *const *b, int64_t j, int add, real *c, size_t ldc);
    /* Moves w[n] by the gradient g[n]; 1 if all numbers of g are finite. */
    int (*step)(const weft_move *move, int64_t n, real *w, const real *g);
    /* As weft_sparse_dots and weft_sparse_adds; wide > 1. */
    void (*sparse_dots)(const weft_sparse *x, int64_t i, int wide, const real *w,
                        double *z);
    void (*sparse_adds)(const weft_sparse *x, int64_t i, int wide, const real *scale,
                        real *w);
    WEFT_PUBLIC_LOOPS(WEFT_LOOP_MEMBER)
} weft_kernel;

/* The table of a file that has all loops by their names. */
#define WEFT_KERNEL(which) WEFT_KERNEL_BY(which, works, u8s8)
#define WEFT_KERNEL_BY(which, runs, bytes)                                                 \
    {                                                                                      \
        .name = which, .works = runs, .wide = WIDE, .lanes = W, .rows = TILE_ROWS,         \
        .u8s8 = bytes, .gram = gram, .tile_rows = tile_rows, .strip = strip,               \
        .strip_rows = strip_rows, .step = step, .sparse_dots = sparse_dots,                \
        .sparse_adds = sparse_adds, WEFT_PUBLIC_LOOPS(WEFT_LOOP_ENTRY)                     \
    }

extern const weft_kernel weft_kernel_plain, weft_kernel_avx2, weft_kernel_avx512,
    weft_kernel_neon, weft_kernel_dotprod;
/* Those of the kind of CPU that is compiled for, from the widest on; the last works
 * everywhere. */
#if defined(__x86_64__)
#define WEFT_KERNELS &weft_kernel_avx512, &weft_kernel_avx2, &weft_kernel_plain
#elif defined(__aarch64__)
#define WEFT_KERNELS &weft_kernel_dotprod, &weft_kernel_neon, &weft_kernel_plain
#else
#define WEFT_KERNELS &weft_kernel_plain
#endif

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

/* The widest table that this CPU runs and that WEFT_KERNEL allows. */
const weft_kernel *weft_kernel_best(void);

#endif
