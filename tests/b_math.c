/* Rates of the numerical kernels: name,size,seconds,rate (G operations or cosines, or GB a
 * second), share of sgemm in the same run. A rate is the best of the calls that fit the
 * time. 9 seconds, one thread. RUN: np=1 */
#include "math/kernel.h"
#include "weft/base/base.h"
#include "weft/base/random.h"
#include "weft/math/kernels.h"
#include "weft/math/linear.h"
#include "weft/par/team.h"

#include <cblas.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Shapes of the kernels: CIFAR-10 with 10,000 features. */
enum {
    PIXELS = 3072,
    FEATURES = 10000,
    WIDE = 960,
    CLASSES = 10,
    ORDER = 512,
    POWER = 4096,
    LONG = PIXELS + 16 /* between rows */
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

struct bench {
    FILE *out;
    double sgemm;   /* GFLOP/s */
    uint8_t *bytes; /* [WEFT_BLOCK][FEATURES] */
    weft_s8 packed;
    int32_t *whole;        /* [WEFT_BLOCK][FEATURES] */
    float *x, *y, *offset; /* [WEFT_BLOCK][PIXELS], [WEFT_BLOCK][FEATURES], [FEATURES] */
    real *a, *p;           /* [WEFT_BLOCK][LONG], [PIXELS][ORDER] packed */
    real *c;               /* [WEFT_BLOCK][ORDER] */
    real *w, *z, *g;
    weft_arena *mem;
};

static void call_u8s8(void *ctx)
{
    struct bench *bench = ctx;
    weft_u8s8(66, bench->bytes, PIXELS, &bench->packed, bench->whole, FEATURES);
}

static void call_floats(void *ctx)
{
    struct bench *bench = ctx;
    weft_deep_times(WEFT_BLOCK, bench->a, LONG, PIXELS, ORDER, bench->p, bench->c, ORDER);
}

static void call_cos_int(void *ctx)
{
    struct bench *bench = ctx;
    for (int i = 0; i < 16; i++)
        weft_cos_u8_i32(FEATURES, bench->whole + i * FEATURES, 1e-4, bench->offset,
                        bench->bytes + i * FEATURES);
}

static void call_cos_float(void *ctx)
{
    struct bench *bench = ctx;
    for (int i = 0; i < 16; i++)
        weft_cos_u8_f32(FEATURES, bench->y + i * FEATURES, 1e-4, bench->offset,
                        bench->bytes + i * FEATURES);
}

static void call_times(void *ctx)
{
    struct bench *bench = ctx;
    weft_u8_times(WEFT_BLOCK, FEATURES, bench->bytes, FEATURES, CLASSES, bench->w, FEATURES,
                  bench->z, WEFT_BLOCK);
}

static void call_trans(void *ctx)
{
    struct bench *bench = ctx;
    weft_u8_trans(WEFT_BLOCK, FEATURES, bench->bytes, FEATURES, CLASSES, bench->z,
                  WEFT_BLOCK, bench->g, FEATURES);
}

static void call_normal(void *ctx)
{
    call_times(ctx);
    call_trans(ctx);
}

/* Columns of the block, taken as 1024 rows of 1024. */
static void call_gram(void *ctx)
{
    struct bench *bench = ctx;
    weft_u8_gram(1024, 0, 480, bench->bytes, 1024, 480, bench->bytes + 512, 1024,
                 bench->whole, ORDER, bench->mem);
}

static void call_fwht(void *ctx)
{
    struct bench *bench = ctx;
    for (int i = 0; i < 16; i++) weft_fwht(POWER, bench->x + i * POWER);
}

/* One line; `work` operations of a call. */
static void line(struct bench *bench, const char *name, const char *size,
                 void (*call)(void *), double work)
{
    memset(bench->x, 0,
           (size_t)WEFT_BLOCK * PIXELS * sizeof *bench->x); /* fwht would overflow */
    double seconds = best_time(0.5, call, bench), rate = work / seconds / 1e9;
    fprintf(bench->out, "%s,%s,%.3g,%.4g,%.2f\n", name, size, seconds, rate,
            rate / bench->sgemm);
    fflush(bench->out);
}

static void fill(struct bench *bench)
{
    size_t cells = (size_t)WEFT_BLOCK * FEATURES;
    bench->bytes = WEFT_NEW(bench->mem, uint8_t, cells);
    bench->whole = WEFT_NEW(bench->mem, int32_t, cells);
    bench->x = WEFT_NEW(bench->mem, float, WEFT_BLOCK *PIXELS);
    bench->a = WEFT_NEW(bench->mem, real, WEFT_BLOCK * LONG);
    bench->p = weft_arena_alloc(bench->mem, 1, weft_packed_bytes(PIXELS, ORDER));
    bench->c = WEFT_NEW(bench->mem, real, WEFT_BLOCK * ORDER);
    bench->y = WEFT_NEW(bench->mem, float, cells);
    bench->offset = WEFT_NEW(bench->mem, float, FEATURES);
    bench->w = WEFT_NEW(bench->mem, real, CLASSES * FEATURES);
    bench->z = WEFT_NEW(bench->mem, real, CLASSES * WEFT_BLOCK);
    bench->g = WEFT_NEW(bench->mem, real, CLASSES * FEATURES);
    for (size_t i = 0; i < cells; i++) bench->bytes[i] = (uint8_t)(i * 37 % 251);
    weft_arena *tmp = weft_arena_new();
    int8_t *p = WEFT_NEW(tmp, int8_t, WIDE * PIXELS);
    for (size_t i = 0; i < WIDE * PIXELS; i++) p[i] = (int8_t)((int)(i % 33) - 16);
    weft_s8_pack(&bench->packed, PIXELS, WIDE, p, PIXELS, NULL,
                 weft_arena_alloc(bench->mem, 1, weft_s8_bytes(PIXELS, WIDE)));
    weft_arena_free(tmp);
}

/* ---- sparse rows ---- */

enum { ROWS = 8192, LENGTH = 512, BINS = 1 << 20 };

struct sparse {
    weft_sparse x;
    real *w; /* [BINS] */
};

static void call_dot(void *ctx)
{
    struct sparse *sparse = ctx;
    for (int64_t i = 0; i < ROWS; i++)
        sparse->w[i] += (real)(1e-9 * weft_sparse_dot(&sparse->x, i, sparse->w));
}

/* What dual ascent does with a row. */
static void call_visit(void *ctx)
{
    struct sparse *sparse = ctx;
    for (int64_t i = 0; i < ROWS; i++) {
        real scale = (real)(1e-9 * weft_sparse_dot(&sparse->x, i, sparse->w));
        weft_sparse_adds(&sparse->x, i, 1, &scale, sparse->w);
    }
}

/* Rows like bags of n-grams: the frequency of column c is proportional to 1/c. Rates in
 * GB/s of entries, shares of the memory's. */
static void bench_sparse(FILE *out, double reads, weft_arena *mem)
{
    int64_t *first = WEFT_NEW(mem, int64_t, ROWS + 1);
    uint32_t *column = WEFT_NEW(mem, uint32_t, ROWS * LENGTH);
    float *value = WEFT_NEW(mem, float, ROWS *LENGTH);
    for (int i = 0; i <= ROWS; i++) first[i] = (int64_t)i * LENGTH;
    for (int e = 0; e < ROWS * LENGTH; e++) {
        weft_rng4 rng = weft_rng_at(1, WEFT_RNG_TEST, (uint64_t)e, 0, 0);
        column[e] = (uint32_t)pow(BINS, weft_rng_unit(rng.v[0])) - 1;
        value[e] = 1;
    }
    struct sparse sparse = {
        .x = {.n = ROWS, .first = first, .column = column, .value = value},
        .w = WEFT_NEW(mem, real, BINS)};
    double bytes = 8.0 * ROWS * LENGTH;
    double dot = best_time(0.5, call_dot, &sparse),
           visit = best_time(0.5, call_visit, &sparse);
    fprintf(out, "sparse dot,8192x512,%.3g,%.4g,%.2f\n", dot, bytes / dot / 1e9,
            bytes / dot / 1e9 / reads);
    fprintf(out, "sparse visit,8192x512,%.3g,%.4g,%.2f\n", visit, bytes / visit / 1e9,
            bytes / visit / 1e9 / reads);
}

/* ---- products of reals ---- */

struct product {
    int n, k, m;
    weft_packed p;
    real *a, *b, *c; /* [n][k], [max(n, k)][m], the same */
    weft_arena *mem;
};

static void call_panels(void *ctx)
{
    struct product *product = ctx;
    weft_packed_times(product->n, product->a, (size_t)product->k, &product->p, 0,
                      product->c, (size_t)product->m);
}

static void call_outer(void *ctx)
{
    struct product *product = ctx;
    weft_outer(product->n, product->k, product->a, (size_t)product->k, product->m,
               product->b, (size_t)product->m, 1, product->c, (size_t)product->m,
               product->mem);
}

/* Returns the rate of panels. */
static double bench_product(FILE *out, const int size[3], double sgemm)
{
    int n = size[0], k = size[1], m = size[2], rows = n > k ? n : k;
    struct product product = {.n = n, .k = k, .m = m, .mem = weft_arena_new()};
    product.a = WEFT_NEW(product.mem, real, n * k);
    product.b = WEFT_NEW(product.mem, real, rows * m);
    product.c = WEFT_NEW(product.mem, real, rows * m);
    weft_packed_pack(&product.p, k, m, product.b, (size_t)m, 0,
                     weft_arena_alloc(product.mem, 1, weft_packed_bytes(k, m)));
    double work = 2e-9 * n * k * m;
    double times = best_time(0.1, call_panels, &product);
    double outer = best_time(0.1, call_outer, &product);
    fprintf(out, "panels,%dx%dx%d,%.3g,%.4g,%.2f\n", n, k, m, times, work / times,
            work / times / sgemm);
    fprintf(out, "outer,%dx%dx%d,%.3g,%.4g,%.2f\n", n, k, m, outer, work / outer,
            work / outer / sgemm);
    weft_arena_free(product.mem);
    return work / times;
}

/* Those of an LSTM's steps, and of a convolution; shares of sgemm at its best. */
static void bench_products(FILE *out, double sgemm)
{
    static const int size[][3] = {{10, 256, 1024}, {32, 256, 1024}, {10, 1024, 256},
                                  {10, 100, 400},  {320, 800, 200}, {1024, 27, 32}};
    double peak = 0;
    for (size_t i = 0; i < sizeof size / sizeof *size; i++)
        peak = fmax(peak, bench_product(out, size[i], sgemm));
    fprintf(out, "peak,panels,,%.4g,%.2f\n", peak, peak / sgemm);
}

int main(void)
{
    FILE *out = stdout;
    openblas_set_num_threads(1);
    struct bench bench = {.out = out, .mem = weft_arena_new()};
    fill(&bench);
    bench.sgemm = weft_cpu_sgemm(1);
    double block = WEFT_BLOCK, d = FEATURES, narrow = 2 * block * d * CLASSES;
    fprintf(out, "name,size,seconds,rate,share\n");
    fprintf(out, "sgemm,512^3,%.3g,%.4g,1\n", 2e-9 * ORDER * ORDER * ORDER / bench.sgemm,
            bench.sgemm);
    line(&bench, "project bytes", "66x3072x960", call_u8s8, 2.0 * 66 * PIXELS * WIDE);
    line(&bench, "project floats", "256x3072x512", call_floats, 2 * block * PIXELS * ORDER);
    line(&bench, "gram", "480x480x1024", call_gram, 2.0 * 480 * 480 * 1024);
    line(&bench, "times", "256x10000x10", call_times, narrow);
    line(&bench, "trans", "256x10000x10", call_trans, narrow);
    line(&bench, "normal", "256x10000x10", call_normal, 2 * narrow);
    line(&bench, "fwht", "16x4096", call_fwht, 16.0 * POWER * 12);
    line(&bench, "cos int", "16x10000", call_cos_int, 16 * d);
    line(&bench, "cos float", "16x10000", call_cos_float, 16 * d);
    bench_products(out, bench.sgemm);
    double reads = weft_cpu_stream(0.5); /* of 64 MB */
    fprintf(out, "stream,64 MB,%.3g,%.4g,\n", (64 << 20) / 1e9 / reads, reads);
    bench_sparse(out, reads, bench.mem);
    weft_arena_free(bench.mem);
    return 0;
}
