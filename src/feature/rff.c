/* Feature map: random Fourier features, phi_j(x) = sqrt(2/D) cos(p_j . x' + b_j), whose
 * inner products approach a kernel: exp(-gamma |x' - y'|^2) with normal p (variance 2
 * gamma), exp(-gamma |x' - y'|_1) with Cauchy p (width gamma). x' are the preprocessed
 * inputs; bytes are pixels and mean x/255. Rahimi, Recht, "Random features for large-scale
 * kernel machines", NIPS 2007; structured: Yu, Suresh, Choromanski, Holtmann-Rice, Kumar,
 * "Orthogonal random features", NIPS 2016.
 *
 * A feature is one byte, q = 128 + round(127 cos t), in training, validation and export:
 * phi_j = sqrt(2/D) (q - 128)/127 exactly. The variance of its rounding, 1/(12 127^2), acts
 * as a ridge of n (2/D)/(12 127^2), 4e-5 for 40,000 rows and D = 10,000.
 *
 * All configurations share one normal matrix, one Cauchy matrix and one vector of offsets,
 * so that their weights can be shared; gamma and the length of a row only scale a product X
 * P. How inputs are preprocessed is an option here, beside run.scale, as maps that share a
 * fit may differ in it, and as it takes rows of bytes, and rows by their length.
 */
#include "rff.h"
#include "weft/base/base.h"

#include <math.h>
#include <string.h>

static const weft_opt opts[] = {
    WEFT_CHOICE_OPT("kernel", struct rff, kernel, "gaussian", "gaussian|laplacian",
                    "kernel exp(-gamma |x-y|^2) or exp(-gamma |x-y|_1)",
                    .role = WEFT_PER_SAMPLE),
    WEFT_REAL_OPT("gamma", struct rff, gamma, "0.001", 1e-12, 1e12,
                  "gamma of the kernel, inputs as preprocessed (pixels: x/255)",
                  .role = WEFT_PER_SAMPLE),
    WEFT_CHOICE_OPT("preprocess", struct rff, preprocess, "none",
                    "none/None|minmax|l2/normalize|standard/standardise/standardize",
                    "minmax: columns to [0, 1]; l2: rows to length 1; standard: columns to "
                    "mean 0 and deviation 1, those of 0 and 1 alone to a range of 2",
                    .role = WEFT_PER_SAMPLE),
    WEFT_LONG_OPT("features", struct rff, features, "10000", 1, 1e7,
                  "number of features D"),
    WEFT_CHOICE_OPT("projection", struct rff, projection, "dense", "dense|structured",
                    "structured: fast signed Hadamard products for the Gaussian kernel "
                    "(Laplacian maps are always dense)"),
    {0},
};

/* ---- setup ---- */

static weft_status check_data(const struct rff *rff, const weft_source *data, double memory)
{
    if (data->form == WEFT_TOKENS)
        return weft_fail(WEFT_ECONF,
                         "%s holds documents, and rff needs rows of numbers: use "
                         "fmap.feature = ngram",
                         data->path);
    double least = 4.0 * WEFT_BLOCK * (double)rff->features;
    if (memory < least)
        return weft_fail(WEFT_ELIMIT,
                         "rff.features = %lld needs at least %.3g GB a rank for a block of "
                         "features, run.memory leaves %.3g GB",
                         (long long)rff->features, least / 1e9, memory / 1e9);
    return WEFT_OK;
}

static weft_status setup(void *self, const weft_source *data, double memory, int64_t maps,
                         uint64_t seed, weft_arena *mem)
{
    struct rff *rff = self;
    TRY(check_data(rff, data, memory));
    rff_shared *shared = rff->shared = WEFT_NEW(mem, rff_shared, 1);
    weft_source *source = WEFT_NEW(mem, weft_source, 1);
    *source = *data;
    shared->data = source;
    shared->mem = mem;
    shared->seed = seed;
    shared->memory = memory;
    shared->columns = rff->features;
    shared->d = (int)data->part[WEFT_TRAIN].d;
    for (shared->padded = 1; shared->padded < shared->d;) shared->padded *= 2;
    rff_tables(shared);
    shared->fitted = WEFT_NEW(mem, real, 4 * shared->d);
    rff_fit(shared, WEFT_TRAIN, shared->fitted, mem);
    rff_set_stat(shared, shared->fitted);
    rff_lengths(shared);
    rff_cache_setup(shared, maps > 1);
    int64_t kept = shared->cache[WEFT_TRAIN].rows, all = data->part[WEFT_TRAIN].n;
    if (kept < all && maps > 1)
        weft_log(WEFT_INFO,
                 "run.memory holds the projections of %lld of a rank's %lld rows; those of "
                 "the others are made anew for every map",
                 (long long)kept, (long long)all);
    return WEFT_OK;
}

static int64_t columns(const void *self, double size)
{
    const struct rff *rff = self;
    int64_t d = (int64_t)ceil(size * (double)rff->features);
    return d < 1 ? 1 : d > rff->features ? rff->features : d;
}

static int64_t nstat(const void *self)
{
    return 4 * (int64_t)((const struct rff *)self)->shared->d;
}

/* ---- matrices ---- */

/* The minmax view equals the raw one where every column has the range 0 .. 255. Rows
 * divided by their lengths cannot be shifted. */
static int view_of(const rff_shared *shared, const struct rff *arm)
{
    if (arm->preprocess == RFF_STANDARD) return RFF_DEVIATION;
    if (arm->preprocess == RFF_NONE && shared->far) return RFF_SHIFTED;
    if (arm->preprocess != RFF_MINMAX) return RFF_RAW;
    const rff_view *raw = &shared->view[RFF_RAW], *range = &shared->view[RFF_RANGE];
    size_t bytes = (size_t)shared->d * sizeof(float);
    return memcmp(raw->scale, range->scale, bytes) != 0 ||
                   memcmp(raw->shift, range->shift, bytes) != 0
               ? RFF_RANGE
               : RFF_RAW;
}

static int type_of(const rff_shared *shared, const struct rff *arm)
{
    int family = arm->kernel == RFF_LAPLACIAN        ? RFF_CAUCHY
                 : arm->projection == RFF_STRUCTURED ? RFF_HADAMARD
                                                     : RFF_NORMAL;
    return family * RFF_VIEWS + view_of(shared, arm);
}

/* Warns, once, of inputs so large for gamma that floats do not hold the angle of a product:
 * of rows that differ, features would be equal, or of equal rows noise. */
static void check_reach(rff_shared *shared, const struct rff *arm, int type, double turns)
{
    double reach = shared->view[type % RFF_VIEWS].reach;
    if (shared->warned || arm->preprocess == RFF_L2 || shared->data->form == WEFT_BYTES ||
        reach * turns * 0x1p-24 < 1.0 / 64)
        return;
    shared->warned = 1;
    weft_log(
        WEFT_WARN,
        "%s: inputs of rff reach %.3g, for which gamma = %.3g leaves no digits in floats: "
        "its features tell little apart; rff.preprocess = standard or minmax scales "
        "columns",
        shared->data->path, reach, arm->gamma);
}

/* Type and scale of every row. */
static void set_rows(rff_matrix *matrix, const weft_request *request)
{
    rff_shared *shared = matrix->shared;
    double raw = shared->data->form == WEFT_BYTES ? 255 : 1;
    for (int a = 0; a < request->narm; a++) {
        const struct rff *arm = request->arms[a];
        int type = type_of(shared, arm);
        double turns = rff_turns(shared, arm, type);
        check_reach(shared, arm, type, turns);
        if (!shared->order[type]) shared->order[type] = ++shared->types;
        const double *length =
            arm->preprocess == RFF_L2 ? shared->length[request->part] : NULL;
        for (int64_t i = 0; i < request->n; i++) {
            if (request->arm ? request->arm[i] != a : a != 0) continue;
            double size = length ? length[i] : 0;
            matrix->type[i] = (uint8_t)type;
            matrix->turns[i] = size > 0 ? turns * raw / size : turns;
        }
    }
}

/* Makes the random matrices of the rows whose products are not cached. Collective. */
static void keep_blocks(const rff_matrix *matrix)
{
    double need[RFF_TYPES] = {0};
    for (int64_t i = 0; i < matrix->n; i++)
        if (!rff_is_cached(matrix, i)) need[matrix->type[i]] = 1;
    rff_blocks_keep(matrix->shared, need, matrix->d);
}

/* Stores the bytes of all blocks, or of as many as leave a quarter of the memory for the
 * others, which are recomputed in every pass. */
static void set_bytes(rff_matrix *matrix, weft_arena *tmp)
{
    double room = matrix->shared->memory - matrix->shared->kept, row = (double)matrix->ldq;
    double block = WEFT_BLOCK * row;
    matrix->strip = matrix->blocks;
    matrix->held = matrix->n;
    if ((double)matrix->n * row > room) {
        int64_t b = 0;
        while (b < matrix->blocks && (double)rff_start(matrix, b + 1) * row <= 0.75 * room)
            b++;
        matrix->held = rff_start(matrix, b);
        matrix->strip = (int64_t)fmax(0.25 * room / block, 1);
    }
    matrix->q = weft_arena_alloc(tmp, (size_t)matrix->held, matrix->ldq);
    if (matrix->held) rff_make_bytes(matrix, 0, matrix->held, matrix->q);
}

static void matrix(void *self, const weft_request *request, int fit, real *stat,
                   weft_matrix *matrix, weft_arena *tmp)
{
    const struct rff *rff = self;
    rff_shared *shared = rff->shared;
    if (fit && request->part == WEFT_TRAIN)
        memcpy(stat, shared->fitted, 4 * (size_t)shared->d * sizeof *stat);
    else if (fit)
        rff_fit(shared, request->part, stat, tmp);
    rff_set_stat(shared, stat);

    rff_matrix *own = WEFT_NEW(tmp, rff_matrix, 1);
    own->shared = shared;
    own->part = request->part;
    own->n = request->n;
    own->blocks = (own->n + WEFT_BLOCK - 1) / WEFT_BLOCK;
    own->d = columns(rff, request->size);
    own->ldq = ((size_t)own->d + 63) / 64 * 64;
    own->unit = sqrt(2.0 / (double)own->d) / 127;
    own->type = WEFT_NEW(tmp, uint8_t, request->n);
    own->turns = WEFT_NEW(tmp, double, request->n);
    set_rows(own, request);
    keep_blocks(own);
    set_bytes(own, tmp);

    *matrix = (weft_matrix){
        .n = own->n, .total = own->n, .d = own->d, .team = shared->data->team, .self = own};
    weft_sum_i64(matrix->team, &matrix->total, 1);
    rff_matrix_vtable(matrix);
}

/* ---- planning ---- */

static int64_t affinity(const void *self, const void *arm)
{
    const struct rff *rff = self;
    return type_of(rff->shared, arm);
}

/* Mean number of random matrices whose products are cached for a row. */
static double kept_products(const rff_shared *shared)
{
    const rff_cache *train = &shared->cache[WEFT_TRAIN],
                    *valid = &shared->cache[WEFT_VALID];
    const weft_rows *part = shared->data->part;
    double all = (double)(part[WEFT_TRAIN].n + part[WEFT_VALID].n);
    double kept = (double)(train->rows * train->slots + valid->rows * valid->slots);
    return all > 0 ? kept / all : 0;
}

/* Operations in units of floating-point ones: products of integers are three times as
 * fast. */
static void estimate(const void *self, const void *arm, double rows, double size,
                     double *flops, double *bytes, double *entries)
{
    const struct rff *rff = self;
    const rff_shared *shared = rff->shared;
    int type = type_of(shared, arm);
    double d = size * (double)rff->features;
    double fast = shared->view[type % RFF_VIEWS].exact ? 3 : 1;
    double each = type / RFF_VIEWS == RFF_HADAMARD ? 12 * log2(shared->padded + 1.0)
                                                   : 2 * shared->d / fast;
    *entries = rows * d;
    *flops = *entries * (each + 20); /* and a cosine */
    *bytes = *entries * (1 + sizeof(int32_t) * kept_products(shared));
}

WEFT_PLUGIN(feature, rff) = {
    .kind = WEFT_KIND("rff", struct rff, opts,
                      "random Fourier features of rows of numbers"),
    .setup = setup,
    .gram = 1,
    .columns = columns,
    .nstat = nstat,
    .matrix = matrix,
    .affinity = affinity,
    .estimate = estimate,
};
