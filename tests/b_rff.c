/* Seconds of what makes dense random Fourier features of rows of bytes, and of products
 * with them: what,seconds. Of each kernel: column, to generate a column of the random
 * matrix; pack, to pack it, which every rank does; group, what rows
 * that are made together take once, and row, what each of them takes. cosine, of a row
 * whose products are cached; times, normal, trans and sums, of a row in products with 9
 * vectors. One thread, processor time. jobs/sim/forecast.sh charges them to simulated
 * ranks. usage: b_rff [FEATURES [INPUTS [BLOCKS]]]; by default 100,000, 3,072 and 16 RUN:
 * np=1 */
#include "feature/rff.h"
#include "weft/conf.h"
#include "weft/par.h"
#include "weft/registry.h"
#include "weft/rng.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { CLASSES = 10, C = CLASSES - 1, FEW = 32, TURNS = 3 };

struct bench {
    int64_t d, n; /* features, rows */
    int inputs;
    weft_team *team;
};

static double processor_time(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static weft_rows *rows_new(const struct bench *b, weft_arena *mem)
{
    weft_rows *part = WEFT_NEW(mem, weft_rows, WEFT_NPART);
    uint8_t *byte = WEFT_NEW(mem, uint8_t, b->n * b->inputs);
    for (int64_t i = 0; i < b->n * b->inputs; i++)
        byte[i] = (uint8_t)(weft_rng_at(1, WEFT_RNG_TEST, (uint64_t)i, 0, 0).v[0] >> 24);
    part[WEFT_TRAIN] = (weft_rows){.n = b->n, .total = b->n, .d = b->inputs, .byte = byte};
    return part;
}

/* An instance of the feature map that keeps blocks, and products if maps > 1. */
static struct rff *map_new(const struct bench *b, int kernel, int maps, weft_arena *mem)
{
    struct rff *t = weft_arena_alloc(mem, 1, sizeof *t);
    weft_conf c;
    weft_conf_init(&c, mem);
    weft_source source = {.form = WEFT_BYTES,
                          .classes = CLASSES,
                          .part = rows_new(b, mem),
                          .path = "b_rff",
                          .team = b->team};
    if (weft_conf_bind(&c, &weft_feature_rff.kind, t)) weft_die("%s", weft_error());
    t->features = b->d;
    t->kernel = kernel;
    if (weft_feature_rff.setup(t, &source, 64e9, maps, 1, mem))
        weft_die("%s", weft_error());
    return t;
}

/* Seconds to make the matrix of the rows. */
static double make(const struct bench *b, struct rff *t, weft_matrix *f, weft_arena *tmp)
{
    const void *arm = t;
    weft_request q = {.part = WEFT_TRAIN, .n = b->n, .narm = 1, .arms = &arm, .size = 1};
    real *stat = WEFT_NEW(tmp, real, weft_feature_rff.nstat(t));
    double from = processor_time();
    weft_feature_rff.matrix(t, &q, 1, stat, f, tmp);
    return processor_time() - from;
}

/* The least of TURNS times. */
static double again(const struct bench *b, struct rff *t, weft_matrix *f, weft_arena *tmp)
{
    double least = INFINITY;
    for (int k = 0; k < TURNS; k++) least = fmin(least, make(b, t, f, tmp));
    return least;
}

static void tell(const char *what, const char *of, double seconds)
{
    printf("%s%s,%.4g\n", what, of, seconds);
    fflush(stdout);
}

/* Seconds to pack a column of the random matrix into memory that was not used before. */
static double pack_time(const struct bench *b, weft_arena *tmp)
{
    enum { COLUMNS = 3840 };
    int d = b->inputs;
    int8_t *p = WEFT_NEW(tmp, int8_t, (size_t)COLUMNS * d);
    int32_t *start = WEFT_NEW(tmp, int32_t, COLUMNS);
    memset(p, 1, (size_t)COLUMNS * d);
    double least = INFINITY;
    for (int k = 0; k < TURNS; k++) {
        weft_s8 packed;
        void *room = weft_arena_alloc(tmp, 1, weft_s8_bytes(d, COLUMNS));
        double from = processor_time();
        weft_s8_pack(&packed, d, COLUMNS, p, (size_t)d, start, room);
        least = fmin(least, processor_time() - from);
    }
    return least / COLUMNS;
}

static void kernel(const struct bench *b, int kind, const char *name)
{
    weft_arena *mem = weft_arena_new(), *tmp = weft_arena_new();
    struct bench small = *b;
    small.n = FEW;
    struct rff *t = map_new(b, kind, 1, mem), *part = map_new(&small, kind, 1, mem);
    weft_matrix f;
    double first = make(b, t, &f, tmp), all = again(b, t, &f, tmp);
    make(&small, part, &f, tmp);
    double few = again(&small, part, &f, tmp);
    double row = (all - few) / (double)(b->n - FEW);
    double pack = pack_time(b, tmp);
    tell("column_", name, (first - all) / (double)b->d - pack);
    tell("pack_", name, pack);
    tell("row_", name, row);
    tell("group_", name, few - FEW * row);
    weft_arena_free(mem);
    weft_arena_free(tmp);
}

static void products(const struct bench *b)
{
    weft_arena *mem = weft_arena_new(), *tmp = weft_arena_new();
    struct rff *t = map_new(b, RFF_GAUSSIAN, 2, mem);
    weft_matrix f;
    make(b, t, &f, tmp);
    tell("cosine", "", again(b, t, &f, tmp) / (double)b->n);
    real *w = WEFT_NEW(mem, real, C * b->d), *z = WEFT_NEW(mem, real, C * b->n);
    double *g = WEFT_NEW(mem, double, C * b->d);
    for (int64_t i = 0; i < C * b->d; i++) w[i] = (real)(i % 7 - 3);
    static const char *const name[] = {"times", "normal", "trans", "sums"};
    double least[] = {INFINITY, INFINITY, INFINITY, INFINITY};
    for (int k = 0; k < TURNS; k++) {
        double at[5] = {processor_time()};
        f.times(&f, C, w, z);
        at[1] = processor_time();
        f.normal(&f, C, w, NULL, 0, g);
        at[2] = processor_time();
        f.trans(&f, C, z, g);
        at[3] = processor_time();
        f.sums(&f, g);
        at[4] = processor_time();
        for (int i = 0; i < 4; i++) least[i] = fmin(least[i], at[i + 1] - at[i]);
    }
    for (int i = 0; i < 4; i++) tell(name[i], "", least[i] / (double)b->n);
    weft_arena_free(mem);
    weft_arena_free(tmp);
}

int main(int argc, char **argv)
{
    weft_team world;
    if (weft_par_start(&argc, &argv, &world) != WEFT_OK) return 1;
    struct bench b = {.d = argc > 1 ? atoll(argv[1]) : 100000,
                      .inputs = argc > 2 ? atoi(argv[2]) : 3072,
                      .n = WEFT_BLOCK * (argc > 3 ? atoll(argv[3]) : 16),
                      .team = &world};
    printf("what,seconds\n");
    kernel(&b, RFF_GAUSSIAN, "gaussian");
    kernel(&b, RFF_LAPLACIAN, "laplacian");
    products(&b);
    weft_par_end(&world);
    return 0;
}
