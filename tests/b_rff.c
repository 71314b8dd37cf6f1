/* Seconds of what makes dense random Fourier features of rows of bytes, and of products
 * with them: what,seconds. Of each kernel: column, to generate a column of the random
 * matrix; pack, to pack it, which every rank does; group, what rows
 * that are made together take once, and row, what each of them takes. cosine, of a row
 * whose products are cached; times, normal, trans and sums, of a row in products with 9
 * vectors. One thread, processor time. tests/sim/forecast.sh charges them to simulated
 * ranks. usage: b_rff [FEATURES [INPUTS [BLOCKS]]]; by default 100,000, 3,072 and 16 RUN:
 * np=1 */
#include "feature/rff.h"
#include "weft/base/conf.h"
#include "weft/base/random.h"
#include "weft/par/par.h"
#include "weft/registry.h"

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
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static weft_rows *rows_new(const struct bench *bench, weft_arena *mem)
{
    weft_rows *part = WEFT_NEW(mem, weft_rows, WEFT_NPART);
    uint8_t *byte = WEFT_NEW(mem, uint8_t, bench->n * bench->inputs);
    for (int64_t i = 0; i < bench->n * bench->inputs; i++)
        byte[i] = (uint8_t)(weft_rng_at(1, WEFT_RNG_TEST, (uint64_t)i, 0, 0).v[0] >> 24);
    part[WEFT_TRAIN] =
        (weft_rows){.n = bench->n, .total = bench->n, .d = bench->inputs, .byte = byte};
    return part;
}

/* An instance of the feature map that keeps blocks, and products if maps > 1. */
static struct rff *map_new(const struct bench *bench, int kernel, int maps, weft_arena *mem)
{
    struct rff *rff = weft_arena_alloc(mem, 1, sizeof *rff);
    weft_conf conf;
    weft_conf_init(&conf, mem);
    weft_source source = {.form = WEFT_BYTES,
                          .classes = CLASSES,
                          .part = rows_new(bench, mem),
                          .path = "b_rff",
                          .team = bench->team};
    if (weft_conf_bind(&conf, &weft_feature_rff.kind, rff)) weft_die("%s", weft_error());
    rff->features = bench->d;
    rff->kernel = kernel;
    if (weft_feature_rff.setup(rff, &source, 64e9, maps, 1, mem))
        weft_die("%s", weft_error());
    return rff;
}

/* Seconds to make the matrix of the rows. */
static double make(const struct bench *bench, struct rff *rff, weft_matrix *matrix,
                   weft_arena *tmp)
{
    const void *arm = rff;
    weft_request request = {
        .part = WEFT_TRAIN, .n = bench->n, .narm = 1, .arms = &arm, .size = 1};
    real *stat = WEFT_NEW(tmp, real, weft_feature_rff.nstat(rff));
    double from = processor_time();
    weft_feature_rff.matrix(rff, &request, 1, stat, matrix, tmp);
    return processor_time() - from;
}

/* The least of TURNS times. */
static double again(const struct bench *bench, struct rff *rff, weft_matrix *matrix,
                    weft_arena *tmp)
{
    double least = INFINITY;
    for (int k = 0; k < TURNS; k++) least = fmin(least, make(bench, rff, matrix, tmp));
    return least;
}

static void tell(const char *what, const char *of, double seconds)
{
    printf("%s%s,%.4g\n", what, of, seconds);
    fflush(stdout);
}

/* Seconds to pack a column of the random matrix into memory that was not used before. */
static double pack_time(const struct bench *bench, weft_arena *tmp)
{
    enum { COLUMNS = 3840 };
    int d = bench->inputs;
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

static void kernel(const struct bench *bench, int kind, const char *name)
{
    weft_arena *mem = weft_arena_new(), *tmp = weft_arena_new();
    struct bench small = *bench;
    small.n = FEW;
    struct rff *rff = map_new(bench, kind, 1, mem), *part = map_new(&small, kind, 1, mem);
    weft_matrix matrix;
    double first = make(bench, rff, &matrix, tmp), all = again(bench, rff, &matrix, tmp);
    make(&small, part, &matrix, tmp);
    double few = again(&small, part, &matrix, tmp);
    double row = (all - few) / (double)(bench->n - FEW);
    double pack = pack_time(bench, tmp);
    tell("column_", name, (first - all) / (double)bench->d - pack);
    tell("pack_", name, pack);
    tell("row_", name, row);
    tell("group_", name, few - FEW * row);
    weft_arena_free(mem);
    weft_arena_free(tmp);
}

static void products(const struct bench *bench)
{
    weft_arena *mem = weft_arena_new(), *tmp = weft_arena_new();
    struct rff *rff = map_new(bench, RFF_GAUSSIAN, 2, mem);
    weft_matrix matrix;
    make(bench, rff, &matrix, tmp);
    tell("cosine", "", again(bench, rff, &matrix, tmp) / (double)bench->n);
    real *w = WEFT_NEW(mem, real, C * bench->d), *z = WEFT_NEW(mem, real, C * bench->n);
    double *g = WEFT_NEW(mem, double, C * bench->d);
    for (int64_t i = 0; i < C * bench->d; i++) w[i] = (real)(i % 7 - 3);
    static const char *const name[] = {"times", "normal", "trans", "sums"};
    double least[] = {INFINITY, INFINITY, INFINITY, INFINITY};
    for (int k = 0; k < TURNS; k++) {
        double at[5] = {processor_time()};
        matrix.times(&matrix, C, w, z);
        at[1] = processor_time();
        matrix.normal(&matrix, C, w, NULL, 0, g);
        at[2] = processor_time();
        matrix.trans(&matrix, C, z, g);
        at[3] = processor_time();
        matrix.sums(&matrix, g);
        at[4] = processor_time();
        for (int i = 0; i < 4; i++) least[i] = fmin(least[i], at[i + 1] - at[i]);
    }
    for (int i = 0; i < 4; i++) tell(name[i], "", least[i] / (double)bench->n);
    weft_arena_free(mem);
    weft_arena_free(tmp);
}

int main(int argc, char **argv)
{
    weft_team world;
    if (weft_par_start(&argc, &argv, &world) != WEFT_OK) return 1;
    struct bench bench = {.d = argc > 1 ? atoll(argv[1]) : 100000,
                          .inputs = argc > 2 ? atoi(argv[2]) : 3072,
                          .n = WEFT_BLOCK * (argc > 3 ? atoll(argv[3]) : 16),
                          .team = &world};
    printf("what,seconds\n");
    kernel(&bench, RFF_GAUSSIAN, "gaussian");
    kernel(&bench, RFF_LAPLACIAN, "laplacian");
    products(&bench);
    weft_par_end(&world);
    return 0;
}
