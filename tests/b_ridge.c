/* Seconds of an iteration of ridge's conjugate gradients, 10 classes, 10 iterations, means
 * over ranks: features,ranks,blocks,seconds,cpu,compute,wait,comm. cpu is processor time;
 * compute, wait and comm add up to the seconds.
 * usage: b_ridge [FEATURES [BLOCKS]], blocks of WEFT_BLOCK rows on each rank; by default
 * 100,000 features with 0, 1 and 5 blocks. Without rows an iteration is the work on block
 * vectors.
 * RUN: np=1 */
#include "weft/par.h"
#include "weft/registry.h"

#include <stdlib.h>
#include <time.h>

enum { INPUTS = 3072, CLASSES = 10, ITERATIONS = 10, VALUES = 97 };

/* Random features F and a diagonal matrix: F^T F + diag(1 .. VALUES, 1 ...), which takes
 * conjugate gradients many iterations even where F has no rows. */
typedef struct sum_matrix {
    weft_matrix f, with; /* F; with the diagonal, self is this struct */
} sum_matrix;

static void sum_trans(const weft_matrix *f, int c, const real *z, double *g)
{
    const sum_matrix *m = f->self;
    m->f.trans(&m->f, c, z, g);
    for (int64_t i = 0; i < c * f->d; i++) g[i] += (double)(i * 7919 % 1009) / 1009 - 0.5;
}

static void sum_normal(const weft_matrix *f, int c, const real *w, const real *h, int own,
                       double *g)
{
    const sum_matrix *m = f->self;
    int64_t first = 0, count = f->d;
    if (own) weft_deal(f->d, f->team->rank, f->team->size, &first, &count);
    m->f.normal(&m->f, c, w, h, own, g);
    for (int j = 0; j < c; j++)
        for (int64_t k = first; k < first + count; k++)
            g[j * f->d + k] += (double)(1 + k % VALUES) * (double)w[j * f->d + k];
}

static void sum_sums(const weft_matrix *f, double *sum)
{
    const sum_matrix *m = f->self;
    m->f.sums(&m->f, sum);
}

static void *instance(const weft_kind *kind, const char *text, weft_arena *mem)
{
    weft_conf c;
    weft_conf_init(&c, mem);
    void *self = weft_arena_alloc(mem, 1, kind->size);
    if (weft_conf_text(&c, "b_ridge", text) || weft_conf_bind(&c, kind, self))
        weft_die("%s", weft_error());
    return self;
}

/* n rows of random bytes on each rank. */
static weft_rows *rows_new(const weft_team *t, int64_t n, weft_arena *mem)
{
    weft_rows *part = WEFT_NEW(mem, weft_rows, WEFT_NPART);
    uint8_t *byte = WEFT_NEW(mem, uint8_t, n * INPUTS);
    int32_t *label = WEFT_NEW(mem, int32_t, n);
    for (int64_t i = 0; i < n; i++) {
        label[i] = (int32_t)(i % CLASSES);
        for (int k = 0; k < INPUTS; k += 4) {
            weft_rng4 r =
                weft_rng_at(1, WEFT_RNG_TEST, (uint64_t)(t->rank * n + i), (uint64_t)k, 0);
            for (int l = 0; l < 4; l++) byte[i * INPUTS + k + l] = (uint8_t)(r.v[l] >> 24);
        }
    }
    part[WEFT_TRAIN] = (weft_rows){.n = n,
                                   .total = n > 0 ? n * t->size : WEFT_BLOCK,
                                   .first = n * t->rank,
                                   .d = INPUTS,
                                   .byte = byte,
                                   .label = label};
    return part;
}

/* The random features of n rows on each rank. */
static sum_matrix *matrix_new(weft_team *t, int64_t d, int64_t n, weft_arena *mem)
{
    sum_matrix *m = WEFT_NEW(mem, sum_matrix, 1);
    void *self = instance(&weft_feature_rff.kind,
                          weft_arena_text(mem,
                                          "[rff]\nfeatures = %lld\n"
                                          "projection = structured\ngamma = 1e-3\n",
                                          (long long)d),
                          mem);
    weft_source source = {.form = WEFT_BYTES,
                          .classes = CLASSES,
                          .part = rows_new(t, n, mem),
                          .path = "b_ridge",
                          .team = t};
    if (weft_feature_rff.setup(self, &source, 4e9, 2, 1, mem)) weft_die("%s", weft_error());
    const void *arm = self;
    weft_request q = {.part = WEFT_TRAIN, .n = n, .narm = 1, .arms = &arm, .size = 1};
    real *stat = WEFT_NEW(mem, real, weft_feature_rff.nstat(self));
    weft_feature_rff.matrix(self, &q, 1, stat, &m->f, mem);
    m->with = m->f;
    if (n == 0) m->with.total = WEFT_BLOCK;
    m->with.trans = sum_trans;
    m->with.normal = sum_normal;
    m->with.sums = sum_sums;
    m->with.self = m;
    return m;
}

/* Wall clock, processor time, and the account of the team, in seconds. */
typedef struct cost {
    double wall, cpu, compute, wait, comm;
} cost;

static cost cost_now(weft_team *t)
{
    weft_times_close(t);
    return (cost){.wall = weft_now(),
                  .cpu = (double)clock() / CLOCKS_PER_SEC,
                  .compute = t->times.compute,
                  .wait = t->times.wait,
                  .comm = t->times.comm};
}

/* Adds sign times what has been spent since. Collective. */
static void cost_add(weft_team *t, const cost *since, double sign, cost *sum)
{
    cost now = cost_now(t);
    sum->wall += sign * (now.wall - since->wall);
    sum->cpu += sign * (now.cpu - since->cpu);
    sum->compute += sign * (now.compute - since->compute);
    sum->wait += sign * (now.wait - since->wait);
    sum->comm += sign * (now.comm - since->comm);
}

/* A piece of a fit of ITERATIONS + 1 less one of 1 iteration. */
static void run(weft_team *t, int64_t d, int64_t blocks)
{
    weft_arena *mem = weft_arena_new(), *tmp = weft_arena_new();
    const weft_model *model = &weft_model_ridge;
    sum_matrix *m = matrix_new(t, d, blocks * WEFT_BLOCK, mem);
    const void *self = instance(&model->kind, "[ridge]\n", mem);
    int32_t *label = WEFT_NEW(mem, int32_t, m->f.n);
    for (int64_t i = 0; i < m->f.n; i++) label[i] = (int32_t)(i % CLASSES);
    double *state = WEFT_NEW(mem, double, model->piece_size(d, CLASSES));
    real *w = WEFT_NEW(mem, real, CLASSES * (d + 1));
    const int iterations[] = {1, 1, ITERATIONS + 1};
    const double sign[] = {0, -1, 1};
    cost sum = {0};
    weft_fitted fitted;
    state[0] = -1;
    for (int i = 0; i < 3; i++) {
        cost start = cost_now(t);
        model->piece(self, &m->with, label, CLASSES, iterations[i], state, w, &fitted, tmp);
        weft_check(fitted.iterations == iterations[i], "%d iterations in place of %d",
                   fitted.iterations, iterations[i]);
        cost_add(t, &start, sign[i], &sum);
    }
    double spent[] = {sum.wall, sum.cpu, sum.compute, sum.wait, sum.comm};
    double mean[5][WEFT_NSPREAD];
    weft_spread(t, spent, 5, mean);
    if (t->rank == 0) {
        printf("%lld,%d,%lld", (long long)d, t->size, (long long)blocks);
        for (int i = 0; i < 5; i++) printf(",%.4g", mean[i][WEFT_MEAN] / ITERATIONS);
        printf("\n");
        fflush(stdout);
    }
    weft_arena_free(mem);
    weft_arena_free(tmp);
}

int main(int argc, char **argv)
{
    weft_team world;
    if (weft_par_start(&argc, &argv, &world) != WEFT_OK) return 1;
    int64_t d = argc > 1 ? atoll(argv[1]) : 100000;
    if (world.rank == 0) printf("features,ranks,blocks,seconds,cpu,compute,wait,comm\n");
    if (argc > 2) run(&world, d, atoll(argv[2]));
    static const int64_t blocks[] = {0, 1, 5};
    for (int i = 0; i < 3 && argc < 3; i++) run(&world, d, blocks[i]);
    weft_par_end(&world);
    return 0;
}
