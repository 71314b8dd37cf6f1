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
 * features come near it slowly. Ranks share the work by rows of the factor, of which each
 * keeps all. */
#include "rff.h"
#include "weft/math/kernels.h"
#include "weft/math/optim.h"

#include <math.h>
#include <string.h>

enum { NYSTROM_GAUSSIAN, NYSTROM_LAPLACIAN }; /* kernel */
enum { LINE = 64 / sizeof(real) };            /* of cache */

/* The instance: options, which differ between configurations, and what all share. */
typedef struct nystrom_map {
    int kernel, linear;
    double gamma;
    int64_t landmarks;
    struct nystrom_shared *shared; /* set by setup */
} nystrom_map;

/* Landmarks z_1 .. z_m, standardised as all rows, and the factor L of their kernel:
 * L L^T = K + NYSTROM_JITTER diag(K), K_ij = k(z_i, z_j), or more of the diagonal. */
typedef struct nystrom_basis {
    int64_t m;
    int d;
    const real *shift, *scale; /* [d] x' = (x - shift) scale */
    const real *z;             /* [m][d] */
    real *across;              /* [d][m] the same by columns */
    double *length2;           /* [m] |z_i|^2 */
    void *packed;              /* z for weft_deep_times */
    real *factor;              /* [m][ld] L, rows of 0 beyond; of training rows alone */
    size_t ld;
} nystrom_basis;

typedef struct nystrom_shared {
    const weft_source *data;
    int d;
} nystrom_shared;

/* Share of itself by which the diagonal of K is larger, so that a factor in floats exists;
 * 8 times as much, 64 and so on where it does not. */
#define NYSTROM_JITTER 0x1p-13

/* A matrix of d columns, of which those from m on are 0. */
typedef struct nystrom_matrix {
    const nystrom_map *map;
    nystrom_basis basis;
    const weft_rows *rows;
    const real *f;       /* [some][ld] features of training rows whose products this rank
                            finds; NULL: of other rows */
    int triangle;        /* all are landmarks: features of row i from i + 1 on are 0, and
                            ranks find the products of about as many that are not */
    int64_t first, some; /* row of a triangle that f begins with, else 0; rows of f */
    int64_t skip;        /* rows of a triangle that ranks before this one have, else 0 */
    size_t *own, *found; /* [size] rows of a rank, and those of a triangle whose products it
                            finds */
    double largest;      /* magnitude of these features, on all ranks */
} nystrom_matrix;

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

/* ---- landmarks, and the kernel between them and rows ---- */

/* stat: m, shift[d], scale[d], z[m][d]. */
static int64_t stat_reals(int64_t d, int64_t landmarks)
{
    return 1 + (2 + landmarks) * d;
}

/* Shift and scale of columns, mean and deviation as of random Fourier features. */
static void standardise(const nystrom_shared *shared, weft_part part, real *shift,
                        real *scale, weft_arena *tmp)
{
    int d = shared->d;
    rff_shared columns = {.data = shared->data, .d = d};
    real *own = WEFT_NEW(tmp, real, 4 * d);
    double raw = shared->data->form == WEFT_BYTES ? 1.0 / 255 : 1;
    rff_fit(&columns, part, own, tmp);
    memcpy(shift, own, (size_t)d * sizeof *shift);
    for (int k = 0; k < d; k++)
        scale[k] = (real)(own[d + k] > 0 ? 1 / (double)own[d + k] : raw);
}

/* All m columns b[m][ldb] of k numbers by weft_deep_pack. */
static void pack_columns(int k, int m, const real *b, size_t ldb, void *mem)
{
    for (int j = 0; j < m; j += WEFT_WHOLE)
        weft_deep_pack(k, m, j, m - j < WEFT_WHOLE ? m - j : WEFT_WHOLE,
                       b + (size_t)j * ldb, ldb, mem);
}

/* The basis of such statistics, without the factor. */
static nystrom_basis basis_of(const nystrom_shared *shared, const real *stat,
                              weft_arena *mem)
{
    int d = shared->d;
    nystrom_basis basis = {.m = (int64_t)stat[0],
                           .d = d,
                           .shift = stat + 1,
                           .scale = stat + 1 + d,
                           .z = stat + 1 + 2 * d};
    int m = (int)basis.m;
    basis.ld = (((size_t)m + LINE - 1) / LINE | 1) * LINE; /* odd, so that rows do not share
                                                             sets of the cache */
    basis.length2 = WEFT_NEW(mem, double, m);
    basis.across = WEFT_NEW(mem, real, (size_t)m * d);
    basis.packed = weft_arena_alloc(mem, 1, weft_packed_bytes(d, m));
    for (int j = 0; j < m; j++)
        for (int k = 0; k < d; k++) {
            double x = (double)basis.z[(size_t)j * d + k];
            basis.length2[j] += x * x;
            basis.across[(size_t)k * m + j] = (real)x;
        }
    pack_columns(d, m, basis.z, (size_t)d, basis.packed);
    return basis;
}

/* x'[n][d] of rows [i, i + n) of this rank. */
static void take_rows(const nystrom_basis *basis, const weft_rows *rows, int64_t i, int n,
                      real *x)
{
    int d = basis->d;
    for (int64_t e = 0; e < (int64_t)n * d; e++) {
        int k = (int)(e % d);
        real value =
            rows->byte ? (real)rows->byte[i * d + e] : (real)rows->value[i * d + e];
        x[e] = (value - basis->shift[k]) * basis->scale[k];
    }
}

/* Statistics of the rows of a part, those of all ranks, with so many landmarks at most: all
 * rows, or as many as are asked for, at equal distances. Collective. */
static void fit_landmarks(const nystrom_shared *shared, weft_part part, int64_t landmarks,
                          real *stat, weft_arena *tmp)
{
    WEFT_REWIND(tmp);
    const weft_rows *rows = &shared->data->part[part];
    int d = shared->d;
    int64_t m = rows->total < landmarks ? rows->total : landmarks;
    double *z = WEFT_NEW(tmp, double, m *d);
    real *x = WEFT_NEW(tmp, real, d), *to = stat + 1 + 2 * d;
    memset(stat, 0, (size_t)stat_reals(d, landmarks) * sizeof *stat);
    stat[0] = (real)m;
    standardise(shared, part, stat + 1, stat + 1 + d, tmp);
    nystrom_basis view = {.d = d, .shift = stat + 1, .scale = stat + 1 + d};
    for (int64_t l = 0; l < m; l++) {
        int64_t i = l * rows->total / m - rows->first;
        if (i < 0 || i >= rows->n) continue;
        take_rows(&view, rows, i, 1, x);
        for (int k = 0; k < d; k++) z[l * d + k] = (double)x[k];
    }
    weft_join_f64(shared->data->team, z, (size_t)(m * d));
    for (int64_t e = 0; e < m * d; e++) to[e] = (real)z[e];
}

/* z[m] = -gamma |x - z_j|^2 of the first m landmarks, given the products x . z_j. */
static void gaussian(const nystrom_map *map, const nystrom_basis *basis, int64_t m,
                     const real *x, const real *product, real *z)
{
    double length2 = 0;
    for (int k = 0; k < basis->d; k++) length2 += (double)x[k] * (double)x[k];
    for (int64_t j = 0; j < m; j++) {
        double apart = length2 + basis->length2[j] - 2 * (double)product[j];
        z[j] = (real)(apart > 0 ? -map->gamma * apart : 0);
    }
}

/* z[m] = -gamma |x - z_j|_1. */
static void laplacian(const nystrom_map *map, const nystrom_basis *basis, int64_t m,
                      const real *x, real *z)
{
    enum { TILE = 1024 };
    for (int64_t j0 = 0; j0 < m; j0 += TILE) {
        int n = (int)(m - j0 < TILE ? m - j0 : TILE);
        memset(z + j0, 0, (size_t)n * sizeof *z);
        for (int k = 0; k < basis->d; k++) {
            const real *to = basis->across + (size_t)k * (size_t)basis->m + j0;
            real own = x[k];
            for (int j = 0; j < n; j++) {
                real apart = own - to[j];
                z[j0 + j] += apart < 0 ? -apart : apart;
            }
        }
        for (int j = 0; j < n; j++) z[j0 + j] *= (real)-map->gamma;
    }
}

/* k[m] of a row, given its products with the landmarks; z[m + 1] is scratch. */
static void kernel_row(const nystrom_map *map, const nystrom_basis *basis, int64_t m,
                       const real *x, const real *product, real *z, real *k)
{
    double top, sum;
    if (map->kernel == NYSTROM_GAUSSIAN)
        gaussian(map, basis, m, x, product, z);
    else
        laplacian(map, basis, m, x, z);
    z[m] = 0; /* the largest, so that z is not shifted */
    weft_softmax_many((int)m + 1, z, z, &top, &sum);
    for (int64_t j = 0; j < m; j++)
        k[j] = map->linear ? z[j] + product[j] / (real)basis->d : z[j];
}

/* to[n][ld] = k(x_i, z_j), j < m, for standardised rows x[n][d]; of rows that are the
 * landmarks from `first` on those with j < first + i + 1 at least; first -1: they are not.
 * An entry depends on its row and landmark alone. Cost n m d, and n m exponentials. */
static void find_kernel(const nystrom_map *map, const nystrom_basis *basis, int n,
                        const real *x, int64_t first, real *to, size_t ld, weft_arena *tmp)
{
    WEFT_REWIND(tmp);
    size_t d = (size_t)basis->d, m = (size_t)basis->m;
    int products = map->kernel == NYSTROM_GAUSSIAN || map->linear;
    real *product = WEFT_NEW(tmp, real, WEFT_BLOCK * m), *z = WEFT_NEW(tmp, real, m + 1);
    for (int r = 0; r < n; r += WEFT_BLOCK) {
        int rows = n - r < WEFT_BLOCK ? n - r : WEFT_BLOCK;
        int64_t need = first < 0 ? basis->m : first + r + rows;
        if (products)
            weft_deep_times(rows, x + (size_t)r * d, d, basis->d, (int)m, basis->packed,
                            product, m);
        for (int i = 0; i < rows; i++)
            kernel_row(map, basis, need, x + (size_t)(r + i) * d, product + (size_t)i * m,
                       z, to + (size_t)(r + i) * ld);
    }
}

/* ---- Cholesky's factor, in blocks of columns, the same on all CPUs ---- */

enum { WIDE = 64 }; /* columns of a block, a multiple of WEFT_WHOLE */

/* The factor t[n][WIDE] of a block on the diagonal, and its inverse. 0: it is not positive
 * definite. */
static int factor_block(int n, double (*t)[WIDE], double (*inverse)[WIDE])
{
    for (int j = 0; j < n; j++) {
        for (int k = 0; k < j; k++) t[j][j] -= t[j][k] * t[j][k];
        if (!(t[j][j] > 0)) return 0;
        t[j][j] = sqrt(t[j][j]);
        for (int i = j + 1; i < n; i++) {
            for (int k = 0; k < j; k++) t[i][j] -= t[i][k] * t[j][k];
            t[i][j] /= t[j][j];
        }
    }
    memset(inverse, 0, WIDE * sizeof *inverse);
    for (int j = 0; j < n; j++)
        for (int i = j; i < n; i++) {
            double sum = i == j;
            for (int k = j; k < i; k++) sum -= t[i][k] * inverse[k][j];
            inverse[i][j] = sum / t[i][i];
        }
    return 1;
}

/* a[rows][n] at column k -= what the columns before it explain: their products with the
 * rows k .. k + n of the factor, packed. */
static void reduce(int64_t rows, int n, int64_t k, real *a, size_t ld, const void *packed,
                   real *c)
{
    if (k == 0 || rows == 0) return;
    weft_deep_times((int)rows, a, ld, (int)k, n, packed, c, WIDE);
    for (int64_t i = 0; i < rows; i++)
        for (int j = 0; j < n; j++) a[(size_t)i * ld + (size_t)(k + j)] -= c[i * WIDE + j];
}

/* a[rows][n] at column k <- itself times the transpose of the inverse. */
static void divide(int64_t rows, int n, int64_t k, double (*inverse)[WIDE], real *a,
                   size_t ld, void *packed, real *c)
{
    real own[WIDE * WIDE];
    weft_packed times;
    if (rows == 0) return;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) own[i * WIDE + j] = (real)inverse[i][j];
    weft_packed_pack(&times, n, n, own, WIDE, 1, packed);
    weft_packed_times((int)rows, a + k, ld, &times, 0, c, WIDE);
    for (int64_t i = 0; i < rows; i++)
        memcpy(a + (size_t)i * ld + k, c + i * WIDE, (size_t)n * sizeof *a);
}

/* A rank's share, as equal as whole rows allow. */
static int64_t share_of(int64_t rows, const weft_team *team, int rank, int64_t *first)
{
    *first = rows * rank / team->size;
    return rows * (rank + 1) / team->size - *first;
}

/* The block a[rows][n] at column k of rows of which each rank has changed its share: all
 * ranks get all. Collective. */
static void join_block(weft_team *team, int64_t rows, int n, int64_t k, real *a, size_t ld,
                       real *c, weft_arena *tmp)
{
    if (team->size == 1) return;
    size_t *count = WEFT_NEW(tmp, size_t, team->size), wide = (size_t)n * sizeof *a;
    int64_t first, own;
    for (int r = 0; r < team->size; r++)
        count[r] = (size_t)share_of(rows, team, r, &first) * wide;
    own = share_of(rows, team, team->rank, &first);
    for (int64_t i = first; i < first + own; i++)
        memcpy(c + i * n, a + (size_t)i * ld + k, wide);
    weft_join_bytes(team, c, count);
    for (int64_t i = 0; i < rows; i++) memcpy(a + (size_t)i * ld + k, c + i * n, wide);
}

/* The block of n rows and columns of the factor from k on, and its inverse; the columns
 * behind it become 0. 0: it is not positive definite. */
static int factor_diagonal(int n, int64_t k, double (*inverse)[WIDE], real *a, size_t ld)
{
    double t[WIDE][WIDE];
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            t[i][j] = j <= i ? (double)a[(size_t)i * ld + (size_t)(k + j)] : 0;
    int definite = factor_block(n, t, inverse);
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) a[(size_t)i * ld + (size_t)(k + j)] = (real)t[i][j];
        memset(a + (size_t)i * ld + (size_t)(k + n), 0, (ld - (size_t)(k + n)) * sizeof *a);
    }
    return definite;
}

/* Turns the m + more rows of a[m + more][ld], of which the first hold the lower triangle of
 * a symmetric matrix A, and the others rows B of this rank, into L of A = L L^T and
 * B L^-T, in blocks of columns. 0: A is not positive definite. The same bits on all CPUs
 * and for any ranks. Cost m^3 / 3 over all ranks + more m^2. Collective. */
static int factor_kernel(int64_t m, int64_t more, real *a, size_t ld, weft_team *team,
                         weft_arena *tmp)
{
    WEFT_REWIND(tmp);
    void *packed = weft_arena_alloc(tmp, 1, weft_packed_bytes((int)m, WIDE) + 4096);
    real *c = WEFT_NEW(tmp, real, (m + more) * WIDE);
    double(*inverse)[WIDE] = weft_arena_alloc(tmp, WIDE, sizeof *inverse);
    int definite = 1;
    for (int64_t k = 0; k < m && definite; k += WIDE) {
        int n = m - k < WIDE ? (int)(m - k) : WIDE;
        int64_t first, below = m - k - n, own = share_of(below, team, team->rank, &first);
        real *at = a + (size_t)k * ld, *under = at + (size_t)n * ld,
             *share = under + (size_t)first * ld, *others = a + (size_t)m * ld;
        if (k > 0) pack_columns((int)k, n, at, ld, packed);
        reduce(n, n, k, at, ld, packed, c);
        reduce(own, n, k, share, ld, packed, c);
        reduce(more, n, k, others, ld, packed, c);
        definite = factor_diagonal(n, k, inverse, at, ld);
        if (!definite) break;
        divide(own, n, k, inverse, share, ld, packed, c);
        divide(more, n, k, inverse, others, ld, packed, c);
        join_block(team, below, n, k, under, ld, c, tmp);
    }
    return definite;
}

/* a[m] = L^-T w. */
static void solve_factor(const nystrom_basis *basis, const real *w, real *a,
                         weft_arena *tmp)
{
    WEFT_REWIND(tmp);
    double *rest = WEFT_NEW(tmp, double, basis->m);
    for (int64_t i = 0; i < basis->m; i++) rest[i] = (double)w[i];
    for (int64_t i = basis->m - 1; i >= 0; i--) {
        const real *row = basis->factor + (size_t)i * basis->ld;
        double own = rest[i] / (double)row[i];
        a[i] = (real)own;
        for (int64_t j = 0; j < i; j++) rest[j] -= own * (double)row[j];
    }
}

/* ---- products ---- */

/* w[c][ldw], m numbers each, for weft_deep_times. */
static void *pack_vectors(int64_t m, int c, const real *w, size_t ldw, weft_arena *tmp)
{
    void *packed = weft_arena_alloc(tmp, 1, weft_packed_bytes((int)m, c));
    pack_columns((int)m, c, w, ldw, packed);
    return packed;
}

/* Rows of the block from the i-th of `some` on. */
static int block_of(const nystrom_matrix *nystrom, int64_t i)
{
    return nystrom->some - i < WEFT_BLOCK ? (int)(nystrom->some - i) : WEFT_BLOCK;
}

/* Features of n rows, from the i-th of `some` on, that are not all 0; as many as `unit`
 * times a number, or all. */
static int64_t features_of(const nystrom_matrix *nystrom, int64_t i, int n, int unit)
{
    int64_t need = (nystrom->first + i + n + unit - 1) / unit * unit, m = nystrom->basis.m;
    return nystrom->triangle && need < m ? need : m;
}

/* out[n][c]: products of the features of rows [i, i + n) of `some` with the packed w. */
static void multiply(const nystrom_matrix *nystrom, int64_t i, int n, int c,
                     const void *packed, real *out)
{
    size_t ld = nystrom->basis.ld;
    weft_deep_times(n, nystrom->f + (size_t)i * ld, ld,
                    (int)features_of(nystrom, i, n, WEFT_DEEP), c, packed, out, (size_t)c);
}

/* out[n][c]: products of the kernel of rows with the packed w. */
static void multiply_kernel(const nystrom_matrix *nystrom, int64_t rows, int c,
                            const void *packed, real *out, weft_arena *tmp)
{
    const nystrom_basis *basis = &nystrom->basis;
    real *x = WEFT_NEW(tmp, real, WEFT_BLOCK * (int64_t)basis->d),
         *k = WEFT_NEW(tmp, real, WEFT_BLOCK * basis->ld);
    for (int64_t i = 0; i < rows; i += WEFT_BLOCK) {
        int n = rows - i < WEFT_BLOCK ? (int)(rows - i) : WEFT_BLOCK;
        take_rows(basis, nystrom->rows, i, n, x);
        find_kernel(nystrom->map, basis, n, x, -1, k, basis->ld, tmp);
        weft_deep_times(n, k, basis->ld, (int)basis->m, c, packed, out + i * c, (size_t)c);
    }
}

/* z[total][c], of which each rank has count[rank] rows: of a triangle all ranks get all.
 * Collective if it is one. */
static void join_rows(const nystrom_matrix *nystrom, weft_team *team, const size_t *count,
                      int c, real *z, weft_arena *tmp)
{
    if (!nystrom->triangle) return;
    size_t *bytes = WEFT_NEW(tmp, size_t, team->size);
    for (int r = 0; r < team->size; r++) bytes[r] = count[r] * (size_t)c * sizeof *z;
    weft_join_bytes(team, z, bytes);
}

/* Blocks of rows by w[c][d]: the features of training rows, the kernel of others. */
static void times(const weft_matrix *matrix, int c, const real *w, real *z)
{
    const nystrom_matrix *nystrom = matrix->self;
    WEFT_SCRATCH(tmp);
    void *packed = pack_vectors(nystrom->basis.m, c, w, (size_t)matrix->d, tmp);
    real *all = WEFT_NEW(tmp, real, (nystrom->triangle ? matrix->total : matrix->n) * c),
         *own = all + nystrom->skip * c;
    for (int64_t i = 0; nystrom->f && i < nystrom->some; i += WEFT_BLOCK)
        multiply(nystrom, i, block_of(nystrom, i), c, packed,
                 all + (nystrom->first + i) * c);
    if (!nystrom->f) multiply_kernel(nystrom, matrix->n, c, packed, own, tmp);
    join_rows(nystrom, matrix->team, nystrom->found, c, all, tmp);
    for (int64_t i = 0; i < matrix->n; i++)
        for (int j = 0; j < c; j++) z[j * matrix->n + i] = own[i * c + j];
}

/* Coefficients of the kernel's rows: L^-T w. */
static void finish(const weft_matrix *matrix, int c, real *w)
{
    const nystrom_matrix *nystrom = matrix->self;
    WEFT_SCRATCH(tmp);
    for (int j = 0; j < c; j++)
        solve_factor(&nystrom->basis, w + j * matrix->d, w + j * matrix->d, tmp);
}

/* z[total][c] <- of[c][n] of this rank's rows, and of a triangle of those of all ranks.
 * Returns those of rows whose products this rank finds. */
static real *rows_of(const weft_matrix *matrix, int c, const real *of, weft_arena *tmp)
{
    const nystrom_matrix *nystrom = matrix->self;
    int64_t n = matrix->n;
    real *all = WEFT_NEW(tmp, real, (nystrom->triangle ? matrix->total : n) * c),
         *own = all + nystrom->skip * c;
    for (int64_t i = 0; i < n; i++)
        for (int j = 0; j < c; j++) own[i * c + j] = of[j * n + i];
    join_rows(nystrom, matrix->team, nystrom->own, c, all, tmp);
    return all + nystrom->first * c;
}

/* g = F^T z for z[some][c] of the rows whose products this rank finds, z being h times the
 * product of the row with the packed w if that is given. Each block of rows is read once:
 * its sums wait for their scale, which needs all of z. */
static void sum_rows(const weft_matrix *matrix, int c, const void *packed, const real *h,
                     real *z, double *g, weft_arena *tmp)
{
    const nystrom_matrix *nystrom = matrix->self;
    int64_t m = nystrom->basis.m, some = nystrom->some,
            blocks = (some + WEFT_BLOCK - 1) / WEFT_BLOCK;
    size_t ld = nystrom->basis.ld;
    real **part = WEFT_NEW(tmp, real *, blocks);
    double *sum = WEFT_NEW(tmp, double, c *m);
    for (int64_t b = 0; b < blocks; b++) {
        int64_t i = b * WEFT_BLOCK, wide;
        int n = block_of(nystrom, i);
        if (packed) multiply(nystrom, i, n, c, packed, z + i * c);
        for (int64_t e = i * c; packed && h && e < (i + n) * c; e++) z[e] *= h[e];
        wide = features_of(nystrom, i, n, 1);
        part[b] = WEFT_NEW(tmp, real, c * wide);
        weft_outer(n, c, z + i * c, (size_t)c, (int)wide, nystrom->f + (size_t)i * ld, ld,
                   0, part[b], (size_t)wide, tmp);
    }
    double bound = nystrom->largest * (double)matrix->total *
                   weft_largest(matrix->team, z, (size_t)(some * c));
    int scale = weft_exact_scale(bound);
    for (int64_t b = 0; b < blocks; b++) {
        int64_t i = b * WEFT_BLOCK, wide = features_of(nystrom, i, block_of(nystrom, i), 1);
        for (int j = 0; j < c; j++)
            weft_exact_add(wide, part[b] + j * wide, scale, sum + j * m);
    }
    weft_sum_whole_f64(matrix->team, sum, (size_t)(c * m));
    double unit = isfinite(bound) ? ldexp(1, -scale) : NAN;
    memset(g, 0, (size_t)(c * matrix->d) * sizeof *g);
    for (int j = 0; j < c; j++)
        for (int64_t k = 0; k < m; k++) g[j * matrix->d + k] = sum[j * m + k] * unit;
}

static void trans(const weft_matrix *matrix, int c, const real *z, double *g)
{
    WEFT_SCRATCH(tmp);
    sum_rows(matrix, c, NULL, NULL, rows_of(matrix, c, z, tmp), g, tmp);
}

static void normal(const weft_matrix *matrix, int c, const real *w, const real *h, int own,
                   double *g)
{
    const nystrom_matrix *nystrom = matrix->self;
    (void)own; /* all columns, on all ranks */
    WEFT_SCRATCH(tmp);
    void *packed = pack_vectors(nystrom->basis.m, c, w, (size_t)matrix->d, tmp);
    if (h) h = rows_of(matrix, c, h, tmp);
    sum_rows(matrix, c, packed, h, WEFT_NEW(tmp, real, nystrom->some * c), g, tmp);
}

static void set_products(weft_matrix *matrix)
{
    const nystrom_matrix *nystrom = matrix->self;
    matrix->times = times;
    if (!nystrom->f) return;
    matrix->trans = trans;
    matrix->normal = normal;
    matrix->sums = weft_matrix_sums;
    matrix->finish = finish;
}

/* ---- setup ---- */

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
                         "fmap.feature = ngram",
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
    return stat_reals(map->shared->d, map->landmarks);
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
    find_kernel(map, basis, (int)n, basis->z + first * basis->d, first,
                a + (size_t)first * basis->ld, basis->ld, tmp);
    weft_join_bytes(team, a, count);
    for (int64_t i = 0; i < basis->m; i++)
        a[(size_t)i * (basis->ld + 1)] *= (real)(1 + jitter);
    real *x = WEFT_NEW(tmp, real, WEFT_BLOCK * (int64_t)basis->d);
    for (int64_t i = 0; i < more; i += WEFT_BLOCK) {
        int some = more - i < WEFT_BLOCK ? (int)(more - i) : WEFT_BLOCK;
        take_rows(basis, rows, i, some, x);
        find_kernel(map, basis, some, x, -1, a + (size_t)(basis->m + i) * basis->ld,
                    basis->ld, tmp);
    }
    return a;
}

/* Rows of a triangle whose products a rank finds: blocks of about the same area. */
static int64_t deal_triangle(int64_t n, int rank, int size, int64_t *first)
{
    int64_t end[2];
    for (int i = 0; i < 2; i++) {
        end[i] = llround((double)n * sqrt((double)(rank + i) / size) / WEFT_BLOCK);
        end[i] = rank + i == size || end[i] * WEFT_BLOCK > n ? n : end[i] * WEFT_BLOCK;
    }
    *first = end[0];
    return end[1] - end[0];
}

/* Which products this rank finds, of the factor's rows if `all` training rows are
 * landmarks, else of its own rows below. */
static void deal_products(nystrom_matrix *nystrom, int all, const weft_team *team,
                          weft_arena *tmp)
{
    const nystrom_basis *basis = &nystrom->basis;
    const weft_rows *rows = nystrom->rows;
    int64_t first, n;
    nystrom->triangle = all;
    nystrom->own = WEFT_NEW(tmp, size_t, team->size);
    nystrom->found = WEFT_NEW(tmp, size_t, team->size);
    for (int r = 0; r < team->size; r++) {
        weft_deal(rows->total, r, team->size, &first, &n);
        nystrom->own[r] = (size_t)n;
        nystrom->found[r] = (size_t)deal_triangle(rows->total, r, team->size, &first);
    }
    nystrom->skip = all ? rows->first : 0;
    nystrom->some = rows->n;
    if (all)
        nystrom->some = deal_triangle(rows->total, team->rank, team->size, &nystrom->first);
    nystrom->f = basis->factor + (size_t)(all ? nystrom->first : basis->m) * basis->ld;
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
        definite = factor_kernel(basis->m, more, basis->factor, basis->ld, team, tmp);
    }
    deal_products(nystrom, all, team, tmp);
    nystrom->largest = weft_largest(team, nystrom->f, (size_t)nystrom->some * basis->ld);
    return definite ? NULL : "the kernel of nystrom.gamma is not finite";
}

static void matrix(void *self, const weft_request *request, int fit, real *stat,
                   weft_matrix *matrix, weft_arena *tmp)
{
    const nystrom_map *any = self;
    const nystrom_shared *shared = any->shared;
    int64_t d = columns(self, request->size);
    const weft_rows *rows = &shared->data->part[request->part];
    if (fit) fit_landmarks(shared, request->part, d, stat, tmp);
    nystrom_matrix *own = WEFT_NEW(tmp, nystrom_matrix, 1);
    *own = (nystrom_matrix){
        .map = request->arms[0], .basis = basis_of(shared, stat, tmp), .rows = rows};
    *matrix = (weft_matrix){.n = rows->n,
                            .total = rows->total,
                            .d = d,
                            .team = shared->data->team,
                            .empty = fit ? factorise(own, shared->data->team, tmp) : NULL,
                            .self = own};
    set_products(matrix);
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
        take_rows(&view, rows, i, 1, x);
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

WEFT_PLUGIN(feature, nystrom) = {
    .kind = WEFT_KIND("nystrom", nystrom_map, opts,
                      "Nystrom features: exact kernels of a few thousand rows of numbers"),
    .setup = setup,
    .columns = columns,
    .nstat = nstat,
    .matrix = matrix,
    .beyond = beyond,
    .affinity = affinity,
    .estimate = estimate,
};
