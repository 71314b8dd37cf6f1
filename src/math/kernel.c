/* The table of loops for this CPU: how it is chosen, the public functions that are loops of
 * it, and the rates that the machine reaches. All tables give the same bits, so results
 * depend neither on the CPU nor on WEFT_KERNEL. */
#include "kernel.h"
#include "weft/base/base.h"
#include "weft/math/kernels.h"
#include "weft/math/optim.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the choice ---- */

static const weft_kernel *const tables[] = {WEFT_KERNELS};

const weft_kernel *weft_kernel_best(void)
{
    static const weft_kernel *best; /* chosen once per process; always the same */
    if (best) return best;
    const char *most = getenv("WEFT_KERNEL");
    size_t at = 0;
    for (size_t i = 0; most && i < sizeof tables / sizeof *tables; i++)
        if (strcmp(tables[i]->name, most) == 0) at = i;
    while (!tables[at]->works()) at++;
    best = tables[at];
    if (most && *most && strcmp(best->name, most) != 0)
        weft_log(WEFT_WARN, "WEFT_KERNEL=%s: this CPU has no such loops, %s are used", most,
                 best->name);
    return best;
}

const char *weft_cpu_kernel(void)
{
    return weft_kernel_best()->name;
}

/* ---- loops of the table ---- */

/* The public functions that are loops of this CPU. */
#define RETURN_void
#define RETURN_double return
#define CALL(type, name, arguments, values)                                                \
    type weft_##name arguments                                                             \
    {                                                                                      \
        RETURN_##type weft_kernel_best()->name values;                                     \
    }
WEFT_PUBLIC_LOOPS(CALL)

/* ---- products with packed matrices ---- */

size_t weft_packed_bytes(int k, int m)
{
    return (size_t)k * round_up(m, weft_kernel_best()->lanes) * sizeof(real);
}

void weft_packed_pack(weft_packed *packed, int k, int m, const real *b, size_t ldb,
                      int trans, void *mem)
{
    packed->k = k;
    packed->m = m;
    weft_gemm_pack(weft_kernel_best(), packed, b, ldb, trans, mem);
}

void weft_packed_rows(weft_packed *packed, int k, int m, const real *const *row, int64_t at,
                      void *mem)
{
    packed->k = k;
    packed->m = m;
    weft_gemm_pack_rows(weft_kernel_best(), packed, row, at, mem);
}

void weft_packed_times(int n, const real *a, size_t lda, const weft_packed *b, int add,
                       real *c, size_t ldc)
{
    weft_gemm_times(weft_kernel_best(), n, a, lda, b, add, c, ldc);
}

/* Where the piece of rows k0.. of a packed matrix [k][m] begins. */
static size_t piece_at(int k0, int m)
{
    return weft_packed_bytes(k0, m) / sizeof(real);
}

void weft_deep_pack(int k, int m, int j, int n, const real *b, size_t ldb, void *mem)
{
    for (int k0 = 0; k0 < k; k0 += WEFT_DEEP) {
        int deep = least(WEFT_DEEP, k - k0);
        weft_packed packed;
        weft_packed_pack(&packed, deep, n, b + k0, ldb, 1,
                         (real *)mem + piece_at(k0, m) + (size_t)deep * (size_t)j);
    }
}

void weft_deep_times(int n, const real *a, size_t lda, int k, int m, const void *mem,
                     real *c, size_t ldc)
{
    for (int k0 = 0; k0 < k; k0 += WEFT_DEEP) {
        weft_packed packed = {.k = least(WEFT_DEEP, k - k0),
                              .m = m,
                              .packed = (const real *)mem + piece_at(k0, m)};
        weft_packed_times(n, a + k0, lda, &packed, k0 > 0, c, ldc);
    }
}

void weft_outer_rows(int n, int k, const real *a, size_t lda, int m, const real *const *b,
                     int add, real *g, size_t ldg, weft_arena *tmp)
{
    weft_gemm_outer(weft_kernel_best(), n, k, a, lda, m, b, add, g, ldg, tmp);
}

void weft_outer(int n, int k, const real *a, size_t lda, int m, const real *b, size_t ldb,
                int add, real *g, size_t ldg, weft_arena *tmp)
{
    WEFT_REWIND(tmp);
    const real **row = WEFT_NEW(tmp, const real *, n);
    for (int i = 0; i < n; i++) row[i] = b + (size_t)i * ldb;
    weft_outer_rows(n, k, a, lda, m, row, add, g, ldg, tmp);
}

/* ---- small models in lanes ---- */

int weft_lanes(void)
{
    return weft_kernel_best()->lanes;
}

/* ---- rates: each is the best of the runs that fit the time ---- */

enum {
    ORDER = 512,      /* of the matrices of sgemm */
    STREAM = 64 << 20 /* bytes */
};

/* Best time of one call, s, calling for `seconds`, at least twice. */
static double best_time(double seconds, void (*call)(void *), void *ctx)
{
    double best = INFINITY;
    double end = weft_now() + seconds;
    call(ctx);
    do {
        double start = weft_now();
        call(ctx);
        best = fmin(best, weft_now() - start);
    } while (weft_now() < end);
    return best;
}

static void call_sgemm(void *ctx)
{
    float *a = ctx, *b = a + ORDER * ORDER, *c = b + ORDER * ORDER;
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, ORDER, ORDER, ORDER, 1, a, ORDER,
                b, ORDER, 0, c, ORDER);
}

double weft_cpu_sgemm(double seconds)
{
    WEFT_SCRATCH(tmp);
    float *x = WEFT_NEW(tmp, float, 3 * ORDER * ORDER);
    for (int i = 0; i < 2 * ORDER * ORDER; i++) x[i] = (float)(i % 17) - 8;
    double time = best_time(seconds, call_sgemm, x);
    return 2.0 * ORDER * ORDER * ORDER / time / 1e9;
}

static volatile uint64_t stream_sum; /* so that the compiler keeps the loop */

static void call_stream(void *ctx)
{
    const uint64_t *x = ctx;
    uint64_t sum = 0;
    for (size_t i = 0; i < STREAM / sizeof *x; i++) sum += x[i];
    stream_sum = sum;
}

double weft_cpu_stream(double seconds)
{
    WEFT_SCRATCH(tmp);
    void *x = weft_arena_alloc(tmp, 1, STREAM);
    memset(x, 1, STREAM);
    double time = best_time(seconds, call_stream, x);
    return STREAM / time / 1e9;
}
