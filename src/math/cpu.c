/* Rates of this machine. Each is the best of the runs that fit the time. */
#include "weft/cpu.h"
#include "kernel.h"
#include "weft/clock.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

enum { ORDER = 512 }; /* of the matrices of sgemm */

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

const char *weft_cpu_kernel(void)
{
    return weft_kernel_best()->name;
}

double weft_cpu_sgemm(double seconds)
{
    weft_arena *tmp = weft_arena_new();
    float *x = WEFT_NEW(tmp, float, 3 * ORDER * ORDER);
    for (int i = 0; i < 2 * ORDER * ORDER; i++) x[i] = (float)(i % 17) - 8;
    double time = best_time(seconds, call_sgemm, x);
    weft_arena_free(tmp);
    return 2.0 * ORDER * ORDER * ORDER / time / 1e9;
}

enum { ROUNDS = 1 << 16 };

static void call_spin(void *ctx)
{
    real *sum = ctx;
    *sum += weft_kernel_best()->spin(ROUNDS);
}

double weft_cpu_peak(double seconds)
{
    const weft_kernel *kernel = weft_kernel_best();
    real sum = 0;
    double time = best_time(seconds, call_spin, &sum);
    return 4.0 * kernel->rows * kernel->lanes * ROUNDS / time / 1e9;
}

enum { STREAM = 64 << 20 };

struct stream {
    const uint64_t *x;
    volatile uint64_t sum; /* read, so that the compiler keeps the loop */
};

static void call_stream(void *ctx)
{
    struct stream *stream = ctx;
    uint64_t sum = 0;
    for (size_t i = 0; i < STREAM / sizeof *stream->x; i++) sum += stream->x[i];
    stream->sum = sum;
}

double weft_cpu_stream(double seconds)
{
    weft_arena *tmp = weft_arena_new();
    uint64_t *x = weft_arena_alloc(tmp, 1, STREAM);
    memset(x, 1, STREAM);
    struct stream stream = {.x = x};
    double time = best_time(seconds, call_stream, &stream);
    weft_arena_free(tmp);
    return STREAM / time / 1e9;
}
