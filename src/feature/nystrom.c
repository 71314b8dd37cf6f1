/* Feature map: Nystrom features, phi(x) = L^-1 (k(x, z_1) .. k(x, z_m)) for landmarks z_i
 * among the training rows and L L^T = K, K_ij = k(z_i, z_j), whose diagonal is larger by
 * 2^-13 of itself, or more where it is singular in floats. Their inner products are k
 * itself where one of two rows is a landmark, so that a linear model of them is one of the
 * exact kernel if all training rows are. k(x, z) = exp(-gamma |x' - z'|^2) or exp(-gamma
 * |x' - z'|_1), and x' . z' / d is added by linear = yes; x' are columns of mean 0 and
 * deviation 1, those of 0 and 1 alone of range 2. Williams, Seeger, "Using the Nystrom
 * method to speed up kernel machines", NIPS 2000.
 *
 * Features are floats, m of a row: for a few thousand training rows exact where random
 * Fourier features of the same number are not, most of all for the Laplacian kernel, whose
 * features come near it slowly. Each rank factors K. Used by task fmap. */
#include "nystrom.h"

#include <math.h>
#include <string.h>

static const weft_opt opts[] = {
    WEFT_CHOICE_OPT("kernel", nystrom_map, kernel, "gaussian", "gaussian|laplacian",
                    "kernel exp(-gamma |x-z|^2) or exp(-gamma |x-z|_1), columns "
                    "standardised",
                    .role = WEFT_PER_TRIAL),
    WEFT_REAL_OPT("gamma", nystrom_map, gamma, "0.1", 1e-12, 1e12, "gamma of the kernel",
                  .role = WEFT_PER_TRIAL),
    WEFT_CHOICE_OPT("linear", nystrom_map, linear, "no", "no|yes",
                    "yes: x . z / columns is added to the kernel, and goes on beyond the "
                    "training rows as a line, of which predict tells",
                    .role = WEFT_PER_TRIAL),
    WEFT_LONG_OPT("landmarks", nystrom_map, landmarks, "2000", 1, 30000,
                  "training rows that features compare with, at most: all, if there are "
                  "no more, which is exact"),
    {0},
};

/* Bytes of the factor, and of the features of rows where they are not its rows. */
static double bytes_of(double landmarks, double rows)
{
    return sizeof(real) * landmarks * (landmarks + rows);
}

static weft_status setup(void *self, const weft_source *data, double memory, int64_t maps,
                         uint64_t seed, weft_arena *mem)
{
    nystrom_map *map = self;
    (void)maps;
    (void)seed;
    if (data->form != WEFT_BYTES && data->form != WEFT_REALS)
        return weft_fail(WEFT_ECONF,
                         "%s holds documents, and nystrom needs rows of numbers: use "
                         "feature = ngram",
                         data->path);
    const weft_rows *train = &data->part[WEFT_TRAIN];
    double m = fmin((double)map->landmarks, (double)train->total);
    double least = bytes_of(m, train->total > map->landmarks ? (double)train->n : 0);
    if (memory < least)
        return weft_fail(WEFT_ELIMIT,
                         "nystrom.landmarks = %lld needs %.3g GB a rank for the kernel "
                         "between them and the rows of a rank, run.memory leaves %.3g GB",
                         (long long)map->landmarks, least / 1e9, memory / 1e9);
    map->shared = WEFT_NEW(mem, nystrom_shared, 1);
    weft_source *source = WEFT_NEW(mem, weft_source, 1);
    *source = *data;
    *map->shared = (nystrom_shared){.data = source, .d = (int)data->part[WEFT_TRAIN].d};
    return WEFT_OK;
}

static int64_t columns(const void *self, double size)
{
    const nystrom_map *map = self;
    int64_t d = (int64_t)ceil(size * (double)map->landmarks);
    return d < 1 ? 1 : d > map->landmarks ? map->landmarks : d;
}

static int64_t nstat(const void *self)
{
    const nystrom_map *map = self;
    return nystrom_reals(map->shared->d, map->landmarks);
}

/* ---- matrices ---- */

/* The kernel between landmarks, each rank computing a share of its rows, and, below it,
 * that of this rank's rows if they are not all of them landmarks. Collective. */
static real *kernel_of(const nystrom_map *map, const nystrom_basis *basis,
                       const weft_rows *rows, int64_t more, double jitter, weft_team *team,
                       weft_arena *tmp)
{
    size_t *count = WEFT_NEW(tmp, size_t, team->size);
    real *a = WEFT_NEW(tmp, real, (size_t)(basis->m + more) * basis->ld);
    int64_t first, n;
    for (int r = 0; r < team->size; r++) {
        weft_deal(basis->m, r, team->size, &first, &n);
        count[r] = (size_t)n * basis->ld * sizeof *a;
    }
    weft_deal(basis->m, team->rank, team->size, &first, &n);
    nystrom_kernel(map, basis, (int)n, basis->z + first * basis->d, first,
                   a + (size_t)first * basis->ld, basis->ld, tmp);
    weft_join_bytes(team, a, count);
    for (int64_t i = 0; i < basis->m; i++)
        a[(size_t)i * (basis->ld + 1)] *= (real)(1 + jitter);
    real *x = WEFT_NEW(tmp, real, WEFT_BLOCK * (int64_t)basis->d);
    for (int64_t i = 0; i < more; i += WEFT_BLOCK) {
        int some = more - i < WEFT_BLOCK ? (int)(more - i) : WEFT_BLOCK;
        nystrom_rows(basis, rows, i, some, x);
        nystrom_kernel(map, basis, some, x, -1, a + (size_t)(basis->m + i) * basis->ld,
                       basis->ld, tmp);
    }
    return a;
}

/* Factor and features of training rows. A kernel that is singular in floats gets a larger
 * diagonal. Why there is none; NULL: they are there. Collective. */
static const char *factorise(nystrom_matrix *nystrom, weft_team *team, weft_arena *tmp)
{
    enum { TRIES = 6 };
    nystrom_basis *basis = &nystrom->basis;
    const weft_rows *rows = nystrom->rows;
    int all = basis->m == rows->total, definite = 0;
    int64_t more = all ? 0 : rows->n;
    size_t mark = weft_arena_mark(tmp);
    double jitter = NYSTROM_JITTER;
    for (int i = 0; i < TRIES && !definite; i++, jitter *= 8) {
        weft_arena_reset(tmp, mark);
        basis->factor = kernel_of(nystrom->map, basis, rows, more, jitter, team, tmp);
        definite = nystrom_factor(basis->m, more, basis->factor, basis->ld, tmp);
    }
    nystrom->f = basis->factor + (size_t)(all ? rows->first : basis->m) * basis->ld;
    nystrom->lower = all ? rows->first : basis->m;
    nystrom->largest = weft_largest(team, nystrom->f, (size_t)rows->n * basis->ld);
    return definite ? NULL : "the kernel of nystrom.gamma is not finite";
}

static void matrix(void *self, const weft_request *request, int fit, real *stat,
                   weft_matrix *matrix, weft_arena *tmp)
{
    const nystrom_map *any = self;
    const nystrom_shared *shared = any->shared;
    int64_t d = columns(self, request->size);
    const weft_rows *rows = &shared->data->part[request->part];
    if (fit) nystrom_fit(shared, request->part, d, stat, tmp);
    nystrom_matrix *own = WEFT_NEW(tmp, nystrom_matrix, 1);
    *own = (nystrom_matrix){.map = request->arms[0],
                            .basis = nystrom_basis_of(shared, stat, tmp),
                            .rows = rows};
    *matrix = (weft_matrix){.n = rows->n,
                            .total = rows->total,
                            .d = d,
                            .team = shared->data->team,
                            .empty = fit ? factorise(own, shared->data->team, tmp) : NULL,
                            .self = own};
    nystrom_matrix_vtable(matrix);
}

/* The linear part grows with the distance from the landmarks, of which all training rows
 * are where they are not too many. */
static int64_t beyond(const void *arm, const weft_rows *rows, const real *stat, double *far,
                      weft_arena *tmp)
{
    const double least = 0.1;
    const nystrom_map *map = arm;
    int d = map->shared->d;
    int64_t m = (int64_t)stat[0], outside = 0;
    const real *z = stat + 1 + 2 * d;
    nystrom_basis view = {.d = d, .shift = stat + 1, .scale = stat + 1 + d};
    if (!map->linear || m == 0) return 0;
    real *x = WEFT_NEW(tmp, real, d), *min = WEFT_NEW(tmp, real, d),
         *max = WEFT_NEW(tmp, real, d);
    for (int k = 0; k < d; k++) min[k] = max[k] = z[k];
    for (int64_t e = d; e < m * d; e++) {
        if (z[e] < min[e % d]) min[e % d] = z[e];
        if (z[e] > max[e % d]) max[e % d] = z[e];
    }
    for (int64_t i = 0; i < rows->n; i++) {
        int out = 0;
        nystrom_rows(&view, rows, i, 1, x);
        for (int k = 0; k < d; k++) {
            double width = (double)max[k] - (double)min[k],
                   past = fmax((double)(min[k] - x[k]), (double)(x[k] - max[k]));
            if (!(width > 0) || past <= least * width) continue;
            far[k] = fmax(far[k], past / width);
            out = 1;
        }
        outside += out;
    }
    return outside;
}

/* ---- planning ---- */

static int64_t affinity(const void *self, const void *arm)
{
    (void)self;
    (void)arm;
    return 0;
}

static void estimate(const void *self, const void *arm, double rows, double size,
                     double *flops, double *bytes, double *entries)
{
    const nystrom_map *map = self;
    (void)arm;
    double d = size * (double)map->landmarks, m = fmin(rows, d);
    *entries = rows * m;
    *flops = m * m * m / 3 + (rows > m ? rows * m * m : 0) +
             *entries * (2 * map->shared->d + 20);
    *bytes = bytes_of(m, rows > m ? rows : 0);
}

extern const weft_feature weft_feature_nystrom;
const weft_feature weft_feature_nystrom = {
    .kind = {.name = "nystrom",
             .about = "Nystrom features: exact kernels of a few thousand rows of numbers",
             .size = sizeof(nystrom_map),
             .opts = opts},
    .setup = setup,
    .columns = columns,
    .nstat = nstat,
    .matrix = matrix,
    .beyond = beyond,
    .affinity = affinity,
    .estimate = estimate,
};
