/* The contextual parameter generator: some tensors of a client's model are a linear
 * function of its embedding v, theta = b + W v. Only theta travels: with the mean change D
 * of a client's theta, weights q that sum to 1, and W as it was, W <- W + a sum q D v',  b
 * as the other weights,  v <- v + a_v W' D. Platanios, Sachan, Neubig, Mitchell, EMNLP
 * 2018; in federations: Shamsian, Navon, Fetaya, Chechik, ICML 2021. */
#include "weft/algorithm/algorithm.h"
#include "weft/base/random.h"
#include "weft/math/linear.h"
#include "weft/net/context.h"

#include <math.h>
#include <string.h>

enum { LEARNT, CONSTANT, ONE_HOT }; /* cpg.embedding */
enum { SOME = 16, PIECE = 1024 };

typedef struct cpg_options {
    const char *names;
    int size, bias, embedding;
    double lr, lr_embedding, spread;
    int64_t n; /* numbers generated */
    int ntensor;
    const weft_tensor *tensor; /* [ntensor] borrowed from the network */
    char own[WEFT_MAX_TENSORS];
} cpg_options;

static const weft_opt cpg_opts[] = {
    WEFT_TEXT_OPT("generate", cpg_options, names, "last",
                  "tensors or layers that are generated: last, all, or names with commas "
                  "between them, as `weft info` prints them"),
    WEFT_INT_OPT("size", cpg_options, size, "8", 1, 4096, "numbers of an embedding"),
    WEFT_REAL_OPT("lr", cpg_options, lr, "1", 0, 1e6, "learning rate of the generator W",
                  .role = WEFT_PER_TRIAL),
    WEFT_REAL_OPT("lr_embedding", cpg_options, lr_embedding, "1", 0, 1e6,
                  "learning rate of the embeddings", .role = WEFT_PER_SAMPLE),
    WEFT_REAL_OPT("spread", cpg_options, spread, "0.1", 0, 1e3,
                  "initial spread of W, as a multiple of that of the network's weights"),
    WEFT_BOOL_OPT("bias", cpg_options, bias, "yes",
                  "generated tensors have a part that all clients share; no: W alone, "
                  "whose columns begin as the network's weights"),
    WEFT_CHOICE_OPT("embedding", cpg_options, embedding, "learnt",
                    "learnt|constant|one_hot",
                    "learnt; constant: 1 / cpg.size, the same for all; one_hot: by the "
                    "client's number modulo cpg.size, so that a column belongs to it"),
    {0},
};

static weft_status cpg_setup(void *self, int ntensor, const weft_tensor *tensor)
{
    cpg_options *cpg = self;
    TRY(weft_tensors_choose("cpg", "generate", cpg->names, ntensor, tensor, cpg->own,
                            &cpg->n));
    cpg->ntensor = ntensor;
    cpg->tensor = tensor;
    if (cpg->n > 0) return WEFT_OK;
    return weft_fail(WEFT_ECONF,
                     "cpg.generate = %s leaves nothing to generate; name a "
                     "tensor, or use fed.algorithm = fedavg",
                     cpg->names);
}

static void cpg_amounts(const void *self, int64_t n, int epochs, weft_amounts *out)
{
    const cpg_options *cpg = self;
    (void)epochs;
    out->kept = cpg->size;
    out->shared = out->sums = cpg->n * cpg->size;
    out->spare = 2 * n + cpg->size;
}

/* ---- generated numbers ---- */

static void take(const cpg_options *cpg, const real *w, real *packed)
{
    weft_tensors_take(cpg->own, cpg->ntensor, cpg->tensor, w, packed);
}

static void put(const cpg_options *cpg, const real *packed, real *w)
{
    weft_tensors_put(cpg->own, cpg->ntensor, cpg->tensor, packed, w);
}

/* Root mean square of the generated weights: the spread of W is in proportion. */
static double scale_of(int64_t n, const real *w)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += (double)w[i] * (double)w[i];
    return sqrt(sum / (double)n);
}

/* shared: W, column by column. Its columns are uniform, or the network's weights. */
static void cpg_start(weft_aggregate *aggregate, uint64_t seed)
{
    const cpg_options *cpg = aggregate->options;
    real *first = aggregate->shared;
    take(cpg, aggregate->x, first);
    double most = sqrt(3) * cpg->spread * scale_of(cpg->n, first);
    for (int m = cpg->size - 1; m >= 0; m--) {
        real *column = aggregate->shared + m * cpg->n;
        if (!cpg->bias) memmove(column, first, (size_t)cpg->n * sizeof *column);
        for (int64_t i = 0; cpg->bias && i < cpg->n; i++) {
            weft_rng4 rng = weft_rng_at(seed, WEFT_RNG_WEIGHTS, (uint64_t)1 << 32,
                                        (uint64_t)m, (uint64_t)i);
            column[i] = (real)(most * (2 * weft_rng_unit(rng.v[0]) - 1));
        }
    }
}

/* An embedding of expected squares 1 / size; without b around the constant one. */
static void cpg_first(weft_visit *visit)
{
    const cpg_options *cpg = visit->options;
    double even = 1.0 / cpg->size, root = sqrt(even);
    for (int m = 0; m < cpg->size; m++) {
        weft_rng4 rng = weft_rng_at(visit->seed, WEFT_RNG_CLIENT, (uint64_t)visit->client,
                                    (uint64_t)1 << 62, (uint64_t)m);
        double z[2];
        weft_rng_normal_pair(&rng, z);
        double learnt = cpg->bias ? root * z[0] : even + cpg->spread * root * z[0];
        visit->kept[m] = cpg->embedding == LEARNT     ? (real)learnt
                         : cpg->embedding == CONSTANT ? (real)even
                                                      : visit->client % cpg->size == m;
    }
}

/* The product of two vectors, summed in SOME numbers over a PIECE, and in double over
 * pieces. */
static double product(int64_t n, const real *a, const real *b)
{
    double all = 0;
    for (int64_t i = 0; i < n; i += PIECE) {
        int some = n - i < PIECE ? (int)(n - i) : PIECE, e = 0;
        real sum[SOME] = {0};
        for (; e + SOME <= some; e += SOME)
            for (int k = 0; k < SOME; k++) sum[k] += a[i + e + k] * b[i + e + k];
        for (; e < some; e++) all += (double)a[i + e] * (double)b[i + e];
        for (int k = 0; k < SOME; k++) all += (double)sum[k];
    }
    return all;
}

/* theta. */
static void cpg_own(weft_visit *visit)
{
    const cpg_options *cpg = visit->options;
    real *theta = visit->spare;
    memcpy(visit->w, visit->x, (size_t)visit->n * sizeof *visit->w);
    if (cpg->bias)
        take(cpg, visit->x, theta);
    else
        memset(theta, 0, (size_t)cpg->n * sizeof *theta);
    weft_generate(cpg->size, cpg->n, cpg->n, visit->shared, visit->kept, theta);
    put(cpg, theta, visit->w);
}

/* ---- rounds ---- */

/* spare: theta, later the embedding before the turn; then the change of what is generated.
 * The embedding follows W' D. */
static int cpg_courses(weft_visit *visit, weft_course *course)
{
    *course = weft_visit_own_course(visit);
    return 1;
}

static void cpg_end(weft_visit *visit)
{
    const cpg_options *cpg = visit->options;
    real *from = visit->spare, *change = from + visit->n, *before = change + visit->n;
    weft_visit_changed(visit, from);
    take(cpg, visit->change, change);
    memcpy(before, visit->kept, (size_t)cpg->size * sizeof *before);
    for (int m = 0; cpg->embedding == LEARNT && m < cpg->size; m++) {
        double sum = product(cpg->n, visit->shared + m * cpg->n, change);
        visit->kept[m] = (real)((double)before[m] + cpg->lr_embedding * sum);
    }
    if (!cpg->bias) {
        memset(from, 0, (size_t)cpg->n * sizeof *from);
        put(cpg, from, visit->change);
    }
}

/* The outer product of change and embedding, column by column. */
static void cpg_add(const weft_visit *visit, real weight, int scale, double *sums)
{
    const cpg_options *cpg = visit->options;
    real *column = visit->spare, *change = column + visit->n, *before = change + visit->n;
    for (int m = 0; m < cpg->size; m++) {
        for (int64_t i = 0; i < cpg->n; i++) column[i] = change[i] * weight * before[m];
        weft_exact_add(cpg->n, column, scale, sums + m * cpg->n);
    }
}

static double cpg_bound(const weft_visit *visit, double max_change)
{
    const cpg_options *cpg = visit->options;
    double most = 0;
    for (int m = 0; m < cpg->size; m++) most = fmax(most, fabs((double)visit->kept[m]));
    return max_change * most;
}

static void cpg_server(weft_aggregate *aggregate)
{
    const cpg_options *cpg = aggregate->options;
    int64_t n = cpg->n * cpg->size;
    for (int64_t i = 0; i < n; i++)
        aggregate->shared[i] += (real)cpg->lr * (real)aggregate->sums[i];
    weft_aggregate_step(aggregate);
}

WEFT_PLUGIN(algorithm, cpg) = {
    .kind = WEFT_KIND("cpg", cpg_options, cpg_opts,
                      "tensors generated from an embedding of every client"),
    .setup = cpg_setup,
    .amounts = cpg_amounts,
    .start = cpg_start,
    .first = cpg_first,
    .own = cpg_own,
    .courses = cpg_courses,
    .end = cpg_end,
    .adapts = 1, /* only the embedding learns */
    .add = cpg_add,
    .bound = cpg_bound,
    .server = cpg_server,
};
