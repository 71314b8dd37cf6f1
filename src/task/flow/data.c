/* The least squares problem of a packed data set: rows of bytes or numbers as features, the
 * label or a column as response. One eigendecomposition gives the whole path of every
 * method. Products of the centred rows do not depend on their distribution over ranks:
 * blocks of WEFT_BLOCK rows, or columns where there are fewer rows than columns, are
 * multiplied by BLAS, always in the same shapes, and their products summed as integers. */
#include "flow.h"
#include "weft/math/linear.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LARGEST = 8000 }; /* order of an eigendecomposition on one rank */
enum { WIDE = 512 };     /* columns of the Gram matrix made at a time */

/* Column j of row i of a part held here: bytes in 0..1, numbers in the unit of the source,
 * less the shift of the column, which centring removes. */
static double value_of(const flow_data *data, const weft_rows *rows, int64_t i, int64_t j)
{
    size_t at = (size_t)i * (size_t)rows->d + (size_t)j;
    if (rows->byte) return rows->byte[at] / 255.0;
    return (double)rows->value[at] * (data->data->scale ? data->data->scale[j] : 1);
}

/* Column of the data that is feature j: those but for the response. */
static int64_t column_of(const flow_data *data, int64_t j)
{
    return data->response >= 0 && j >= data->response ? j + 1 : j;
}

/* ---- products: X^T a ---- */

/* [rows first .. first+count)[p], centred where `mean` is not NULL. */
static void row_block(const flow_data *data, int64_t first, int64_t count,
                      const double *mean, double *b)
{
    const weft_rows *rows = &data->data->part[WEFT_TRAIN];
    for (int64_t i = 0; i < count; i++)
        for (int64_t j = 0; j < data->p; j++) {
            int64_t column = column_of(data, j);
            b[i * data->p + j] =
                value_of(data, rows, first + i, column) - (mean ? mean[column] : 0);
        }
}

/* sum[p] = X_c^T a over all ranks, a[n here], times 1 for a NULL and then not centred;
 * exact, so that it does not depend on the ranks. Collective. */
static void sum_columns(const flow_data *data, const double *a, double *sum,
                        weft_arena *tmp)
{
    WEFT_REWIND(tmp);
    const weft_rows *rows = &data->data->part[WEFT_TRAIN];
    int p = (int)data->p;
    double *b = WEFT_NEW(tmp, double, (size_t)WEFT_BLOCK *(size_t)p);
    double *part = WEFT_NEW(tmp, double, p), *one = WEFT_NEW(tmp, double, WEFT_BLOCK);
    int64_t *whole = WEFT_NEW(tmp, int64_t, p);
    for (int i = 0; i < WEFT_BLOCK; i++) one[i] = 1;
    double size = a ? 0 : 1;
    for (int64_t i = 0; a && i < rows->n; i++) size = fmax(size, fabs(a[i]));
    weft_max_f64(data->team, &size, 1);
    int scale = weft_fix_scale(2 * size * data->largest * (double)data->n);
    for (int64_t at = 0; at < rows->n; at += WEFT_BLOCK) {
        int count = (int)(rows->n - at < WEFT_BLOCK ? rows->n - at : WEFT_BLOCK);
        row_block(data, at, count, a ? data->mean : NULL, b);
        cblas_dgemv(CblasRowMajor, CblasTrans, count, p, 1, b, p, a ? a + at : one, 1, 0,
                    part, 1);
        for (int j = 0; j < p; j++) whole[j] += weft_fix(part[j], scale);
    }
    weft_sum_i64(data->team, whole, (size_t)p);
    for (int j = 0; j < p; j++) sum[j] = weft_unfix(whole[j], scale);
}

/* ---- products: blocks ---- */

/* Blocks b[count][m] whose sum of b^T b is the Gram matrix: rows of X, or of X^T. */
struct gram_blocks {
    const flow_data *data;
    int m;
    double *b;      /* [256][m] */
    float *send;    /* columns of rows held here */
    float *receive; /* columns of all rows */
    size_t *to, *from;
};

static struct gram_blocks blocks_new(const flow_data *data, int m, weft_arena *tmp)
{
    struct gram_blocks blocks = {.data = data, .m = m};
    blocks.b = WEFT_NEW(tmp, double, (size_t)WEFT_BLOCK *(size_t)m);
    if (!data->dual) return blocks;
    size_t here = (size_t)data->data->part[WEFT_TRAIN].n, ranks = (size_t)data->team->size;
    blocks.send = WEFT_NEW(tmp, float, here *WEFT_BLOCK *ranks);
    blocks.receive = WEFT_NEW(tmp, float, (size_t)data->n *WEFT_BLOCK);
    blocks.to = WEFT_NEW(tmp, size_t, ranks);
    blocks.from = WEFT_NEW(tmp, size_t, ranks);
    return blocks;
}

/* Number of calls of next_block; the same on each rank if it is collective. */
static int64_t rounds_of(const struct gram_blocks *blocks)
{
    int64_t columns = (blocks->data->p + WEFT_BLOCK - 1) / WEFT_BLOCK,
            ranks = blocks->data->team->size;
    if (blocks->data->dual) return (columns + ranks - 1) / ranks;
    return (blocks->data->data->part[WEFT_TRAIN].n + WEFT_BLOCK - 1) / WEFT_BLOCK;
}

static int columns_of(const flow_data *data, int64_t block)
{
    int64_t left = data->p - block * WEFT_BLOCK;
    return (int)(left < 0 ? 0 : left < WEFT_BLOCK ? left : WEFT_BLOCK);
}

/* Each rank gets one block of columns, of all rows. Collective. Returns its columns. */
static int column_block(struct gram_blocks *blocks, int64_t round)
{
    const flow_data *data = blocks->data;
    const weft_rows *rows = &data->data->part[WEFT_TRAIN];
    int ranks = data->team->size, mine = columns_of(data, round * ranks + data->team->rank);
    float *to = blocks->send;
    for (int r = 0; r < ranks; r++) {
        int64_t block = round * ranks + r;
        int columns = columns_of(data, block);
        for (int64_t i = 0; i < rows->n; i++)
            for (int j = 0; j < columns; j++)
                *to++ =
                    (float)value_of(data, rows, i, column_of(data, block * WEFT_BLOCK + j));
        blocks->to[r] = (size_t)rows->n * (size_t)columns * sizeof *to;
        int64_t first, count;
        weft_deal(data->n, r, ranks, &first, &count);
        blocks->from[r] = (size_t)count * (size_t)mine * sizeof *to;
    }
    weft_exchange(data->team, blocks->send, blocks->to, blocks->receive, blocks->from);
    int64_t at = (round * ranks + data->team->rank) * WEFT_BLOCK;
    for (int j = 0; j < mine; j++) {
        double mean = data->mean[column_of(data, at + j)];
        for (int64_t i = 0; i < data->n; i++)
            blocks->b[j * data->n + i] = (double)blocks->receive[i * mine + j] - mean;
    }
    return mine;
}

/* Block `round` of this rank into blocks->b. Returns its rows. */
static int next_block(struct gram_blocks *blocks, int64_t round)
{
    if (blocks->data->dual) return column_block(blocks, round);
    int64_t at = round * WEFT_BLOCK, n = blocks->data->data->part[WEFT_TRAIN].n;
    int count = (int)(n - at < WEFT_BLOCK ? n - at : WEFT_BLOCK);
    row_block(blocks->data, at, count, blocks->data->mean, blocks->b);
    return count;
}

/* ---- products: the matrix ---- */

/* Columns c0 .. c0+width-1 of the Gram matrix, rows c0 and on, in units of 2^-scale.
 * Collective. */
static void add_panel(struct gram_blocks *blocks, int c0, int width, int scale,
                      double *part, int64_t *whole)
{
    int rows = blocks->m - c0;
    size_t cells = (size_t)rows * (size_t)width;
    memset(whole, 0, cells * sizeof *whole);
    for (int64_t e = 0; e < rounds_of(blocks); e++) {
        int count = next_block(blocks, e);
        if (count == 0) continue;
        cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, rows, width, count, 1,
                    blocks->b + c0, blocks->m, blocks->b + c0, blocks->m, 0, part, width);
        for (size_t i = 0; i < cells; i++) whole[i] += weft_fix(part[i], scale);
    }
    weft_sum_i64(blocks->data->team, whole, cells);
}

/* The matrix X_c^T X_c, or X_c X_c^T where data->dual, [m][m], on rank 0 of the team (NULL
 * elsewhere; rank 0's lower triangle is filled). Collective. */
static void gram_of(const flow_data *data, int m, double *gram, weft_arena *tmp)
{
    WEFT_REWIND(tmp);
    struct gram_blocks blocks = blocks_new(data, m, tmp);
    double entry = 2 * data->largest, terms = (double)(data->dual ? data->p : data->n);
    int scale = weft_fix_scale(terms * entry * entry);
    int most = m < WIDE ? m : WIDE;
    double *part = WEFT_NEW(tmp, double, (size_t)m *(size_t)most);
    int64_t *whole = WEFT_NEW(tmp, int64_t, (size_t)m * (size_t)most);
    for (int c0 = 0; c0 < m; c0 += WIDE) {
        int width = m - c0 < WIDE ? m - c0 : WIDE;
        add_panel(&blocks, c0, width, scale, part, whole);
        for (int i = 0; gram && i < m - c0; i++)
            for (int j = 0; j < width; j++)
                gram[(size_t)(c0 + i) * (size_t)m + (size_t)(c0 + j)] =
                    weft_unfix(whole[(size_t)i * (size_t)width + (size_t)j], scale);
    }
}

/* ---- the response ---- */

/* Column of that name or number, -1 for the label. ECONF. */
static weft_status find_response(const weft_data *data, int64_t d, const char *name,
                                 int64_t *column)
{
    *column = -1;
    if (strcmp(name, "label") == 0) return WEFT_OK;
    for (int64_t j = 0; data->column_name && j < d; j++)
        if (strcmp(data->column_name[j], name) == 0) {
            *column = j;
            return WEFT_OK;
        }
    char *end;
    const long long number = strtoll(name, &end, 10);
    if (end == name || *end || number < 1 || number > d || d < 2)
        return weft_fail(WEFT_ECONF,
                         "flow.response = %s: %s has no such column; give label, a name%s "
                         "or a number from 1 to %lld",
                         name, data->path, data->column_name ? "" : " (it has none)",
                         (long long)d);
    *column = number - 1;
    return WEFT_OK;
}

static double response_of(const flow_data *data, const weft_rows *rows, int64_t i)
{
    return data->response < 0 ? (double)rows->label[i]
                              : value_of(data, rows, i, data->response);
}

/* ---- means ---- */

/* y[n here]: the responses. Collective. */
static void find_means(flow_data *data, const double *y, weft_arena *mem)
{
    const weft_rows *rows = &data->data->part[WEFT_TRAIN];
    for (int64_t i = 0; i < rows->n; i++)
        for (int64_t j = 0; j < data->p; j++)
            data->largest =
                fmax(data->largest, fabs(value_of(data, rows, i, column_of(data, j))));
    weft_max_f64(data->team, &data->largest, 1);
    data->mean_y = weft_sum_exact(data->team, y, rows->n, data->n) / (double)data->n;
    double *of = WEFT_NEW(mem, double, data->p);
    sum_columns(data, NULL, of, mem);
    data->mean = WEFT_NEW(mem, double, data->d);
    for (int64_t j = 0; j < data->p; j++)
        data->mean[column_of(data, j)] = of[j] / (double)data->n;
}

/* ---- principal directions ---- */

/* Eigenvalues and vectors on rank 0, eigenvalues and z to all. */
static void decompose_rows(flow_data *data, const double *y, const double *xty,
                           flow_problem *problem, weft_arena *mem)
{
    int m = problem->m, root = data->team->rank == 0;
    WEFT_SCRATCH(tmp);
    data->vector = root ? WEFT_NEW(mem, double, (size_t)m *(size_t)m) : NULL;
    gram_of(data, m, data->vector, tmp);
    if (root) {
        double *value = WEFT_NEW(tmp, double, m);
        weft_eigen(m, data->vector, value, tmp);
        double n = (double)data->n;
        double rounding =
            value[m - 1] * 0x1p-52 * (double)(data->n > data->p ? data->n : data->p);
        for (int i = 0; i < m; i++) { /* increasing in LAPACK, decreasing here */
            const double *v = data->vector + (size_t)(m - 1 - i) * (size_t)m;
            problem->s[i] = value[m - 1 - i] > rounding ? value[m - 1 - i] / n : 0;
            double z = 0;
            for (int j = 0; j < m; j++) z += v[j] * (data->dual ? y[j] : xty[j] / n);
            data->z[i] =
                problem->s[i] > 0 ? (data->dual ? z * sqrt(problem->s[i] / n) : z) : 0;
        }
    }
    weft_bcast(data->team, problem->s, (size_t)m * sizeof *problem->s, 0);
    weft_bcast(data->team, data->z, (size_t)m * sizeof *data->z, 0);
}

/* Estimates the variance of the noise from the least squares fit, if it is not given. */
static weft_status estimate_noise(const flow_data *data, const double *y,
                                  flow_problem *problem)
{
    if (problem->variance >= 0) return WEFT_OK;
    double left = 0;
    int64_t free = data->n - 1; /* minus 1 for the mean */
    for (int64_t i = 0; i < data->n; i++) left += y[i] * y[i];
    for (int i = 0; i < problem->m; i++) {
        if (!(problem->s[i] > 0)) continue;
        left -= (double)data->n * data->z[i] * data->z[i] / problem->s[i];
        free--;
    }
    if (free < 1)
        return weft_fail(WEFT_ECONF,
                         "flow.sigma: %lld samples of %lld features leave nothing to "
                         "estimate the noise from; give its standard deviation",
                         (long long)data->n, (long long)data->p);
    problem->variance = fmax(left, 0) / (double)free;
    return WEFT_OK;
}

static void normalize_problem(flow_data *data, flow_problem *problem)
{
    data->unit = problem->s[0] > 0 ? problem->s[0] : 1;
    for (int i = 0; i < problem->m; i++) {
        problem->s[i] /= data->unit;
        data->z[i] /= sqrt(data->unit);
    }
}

static weft_status check_size(const flow_data *data, double memory)
{
    int64_t m = data->dual ? data->n : data->p;
    if (m > LARGEST)
        return weft_fail(WEFT_ELIMIT,
                         "%s has %lld samples of %lld features: task flow decomposes "
                         "matrices of order up to %d; pack fewer of one or the other",
                         data->data->path, (long long)data->n, (long long)data->p, LARGEST);
    double bytes = 8.0 * (double)m * (double)m + weft_eigen_bytes((int)m);
    if (bytes > memory)
        return weft_fail(WEFT_ELIMIT,
                         "an eigendecomposition of order %lld takes %.3g GB, run.memory "
                         "allows %.3g GB a rank",
                         (long long)m, bytes / 1e9, memory / 1e9);
    return WEFT_OK;
}

weft_status flow_data_open(flow_data *data, const weft_env *env, const char *response,
                           flow_problem *problem)
{
    const weft_data *source = env->data;
    const weft_rows *rows = &source->part[WEFT_TRAIN];
    if (source->clients != NULL ||
        (source->form != WEFT_BYTES && source->form != WEFT_REALS))
        return weft_fail(WEFT_EDATA,
                         "%s has no rows of bytes or numbers, of which task flow makes a "
                         "least squares problem; pack it without clients, or as numbers",
                         source->path);
    *data = (flow_data){.data = source, .team = env->team, .d = rows->d, .n = rows->total};
    TRY(find_response(source, data->d, response, &data->response));
    data->p = data->d - (data->response >= 0);
    data->dual = data->n < data->p;
    TRY(check_size(data, env->memory));
    problem->p = data->p;
    problem->n = data->n;
    problem->m = (int)(data->dual ? data->n : data->p);
    problem->s = WEFT_NEW(env->mem, double, problem->m);
    problem->c = WEFT_NEW(env->mem, double, problem->m);
    data->z = WEFT_NEW(env->mem, double, problem->m);
    WEFT_SCRATCH(tmp);
    double *y = WEFT_NEW(tmp, double, data->n); /* of all rows, centred, on every rank */
    for (int64_t i = 0; i < rows->n; i++) y[rows->first + i] = response_of(data, rows, i);
    find_means(data, y + rows->first, env->mem);
    for (int64_t i = 0; i < rows->n; i++) y[rows->first + i] -= data->mean_y;
    weft_join_f64(data->team, y, (size_t)data->n);
    double *xty = WEFT_NEW(tmp, double, data->p);
    sum_columns(data, y + rows->first, xty, tmp);
    decompose_rows(data, y, xty, problem, env->mem);
    weft_status st = estimate_noise(data, y, problem);
    TRY(weft_agree(weft_data_sound(source), env->team));
    TRY(st);
    normalize_problem(data, problem);
    for (int i = 0; i < problem->m; i++)
        problem->c[i] = problem->s[i] > 0 ? pow(data->z[i] / problem->s[i], 2) : 0;
    return WEFT_OK;
}

/* ---- coefficients ---- */

void flow_data_weights(flow_data *data, const flow_problem *problem, const double *gain,
                       double *weight, double *intercept)
{
    int m = problem->m;
    WEFT_SCRATCH(tmp);
    double *own = WEFT_NEW(tmp, double, m);
    for (int i = 0; data->vector && i < m; i++) {
        if (!(problem->s[i] > 0)) continue;
        const double *v = data->vector + (size_t)(m - 1 - i) * (size_t)m;
        double by = gain[i] * data->z[i] / (problem->s[i] * sqrt(data->unit));
        if (data->dual) by /= sqrt((double)data->n * problem->s[i] * data->unit);
        for (int j = 0; j < m; j++) own[j] += by * v[j];
    }
    weft_bcast(data->team, own, (size_t)m * sizeof *own, 0);
    double *b = own;
    if (data->dual) {
        b = WEFT_NEW(tmp, double, data->p);
        sum_columns(data, own + data->data->part[WEFT_TRAIN].first, b, tmp);
    }
    memset(weight, 0, (size_t)data->d * sizeof *weight);
    *intercept = data->mean_y;
    for (int64_t j = 0; j < data->p; j++) {
        weight[column_of(data, j)] = b[j];
        *intercept -= b[j] * data->mean[column_of(data, j)];
    }
}

double flow_data_score(const flow_data *data, weft_part part, const real *weight,
                       double intercept, weft_arena *tmp)
{
    const weft_rows *rows = &data->data->part[part];
    double *off = WEFT_NEW(tmp, double, rows->n);
    for (int64_t i = 0; i < rows->n; i++) {
        double y = intercept;
        for (int64_t j = 0; j < data->d; j++)
            y += (double)weight[j] * value_of(data, rows, i, j);
        off[i] = pow(y - response_of(data, rows, i), 2);
    }
    double total = weft_sum_exact(data->team, off, rows->n, rows->total);
    return isnan(total) ? INFINITY : total / (double)rows->total;
}
