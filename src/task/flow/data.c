/* The least squares problem of a packed data set: rows of bytes or numbers as features, the
 * label or a column as response. One eigendecomposition gives the whole path of every
 * method. */
#include "data.h"
#include "gram.h"
#include "weft/eigen.h"
#include "weft/exact.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LARGEST = 8000 }; /* order of an eigendecomposition on one rank */

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
                              : flow_value(data, rows, i, data->response);
}

/* ---- means ---- */

static void find_means(flow_data *data, weft_arena *mem)
{
    const weft_rows *rows = &data->data->part[WEFT_TRAIN];
    double most[2] = {0, 0}, sum = 0; /* of features, of the response */
    for (int64_t i = 0; i < rows->n; i++) {
        for (int64_t j = 0; j < data->p; j++)
            most[0] = fmax(most[0], fabs(flow_value(data, rows, i, flow_column(data, j))));
        most[1] = fmax(most[1], fabs(response_of(data, rows, i)));
    }
    weft_max_f64(data->team, most, 2);
    data->largest = most[0];
    int scale = weft_fix_scale(most[1] * (double)data->n);
    int64_t whole = 0;
    for (int64_t i = 0; i < rows->n; i++)
        whole += weft_fix(response_of(data, rows, i), scale);
    weft_sum_i64(data->team, &whole, 1);
    sum = weft_unfix(whole, scale);
    data->mean_y = sum / (double)data->n;
    double *of = WEFT_NEW(mem, double, data->p);
    flow_columns_sum(data, NULL, of, mem);
    data->mean = WEFT_NEW(mem, double, data->d);
    for (int64_t j = 0; j < data->p; j++)
        data->mean[flow_column(data, j)] = of[j] / (double)data->n;
}

/* The centred responses of all rows on every rank, [n]. Exact. Collective. */
static double *all_responses(const flow_data *data, weft_arena *tmp)
{
    const weft_rows *rows = &data->data->part[WEFT_TRAIN];
    double *y = WEFT_NEW(tmp, double, data->n);
    for (int64_t i = 0; i < rows->n; i++)
        y[rows->first + i] = response_of(data, rows, i) - data->mean_y;
    weft_join_f64(data->team, y, (size_t)data->n);
    return y;
}

/* ---- principal directions ---- */

/* Eigenvalues and vectors on rank 0, eigenvalues and z to all. */
static void decompose(flow_data *data, const double *y, const double *xty,
                      flow_problem *problem, weft_arena *mem)
{
    int m = problem->m, root = data->team->rank == 0;
    weft_arena *tmp = weft_arena_new();
    data->vector = root ? WEFT_NEW(mem, double, (size_t)m *(size_t)m) : NULL;
    flow_gram(data, m, data->vector, tmp);
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
    weft_arena_free(tmp);
}

/* Estimates the variance of the noise from the least squares fit, if it is not given. */
static weft_status estimate(const flow_data *data, const double *y, flow_problem *problem)
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
                           int normalize, flow_problem *problem)
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
    find_means(data, env->mem);
    weft_arena *tmp = weft_arena_new();
    const double *y = all_responses(data, tmp);
    double *xty = WEFT_NEW(tmp, double, data->p);
    flow_columns_sum(data, y + rows->first, xty, tmp);
    decompose(data, y, xty, problem, env->mem);
    weft_status st = estimate(data, y, problem);
    weft_arena_free(tmp);
    TRY(weft_agree(weft_data_sound(source), env->team));
    TRY(st);
    data->unit = 1;
    if (normalize) normalize_problem(data, problem);
    for (int i = 0; i < problem->m; i++)
        problem->c[i] = problem->s[i] > 0 ? pow(data->z[i] / problem->s[i], 2) : 0;
    return WEFT_OK;
}

/* ---- coefficients ---- */

void flow_data_weights(flow_data *data, const flow_problem *problem, const double *gain,
                       double *weight, double *intercept)
{
    int m = problem->m;
    weft_arena *tmp = weft_arena_new();
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
        flow_columns_sum(data, own + data->data->part[WEFT_TRAIN].first, b, tmp);
    }
    memset(weight, 0, (size_t)data->d * sizeof *weight);
    *intercept = data->mean_y;
    for (int64_t j = 0; j < data->p; j++) {
        weight[flow_column(data, j)] = b[j];
        *intercept -= b[j] * data->mean[flow_column(data, j)];
    }
    weft_arena_free(tmp);
}

double flow_data_score(const flow_data *data, weft_part part, const real *weight,
                       double intercept, weft_arena *tmp)
{
    const weft_rows *rows = &data->data->part[part];
    double *off = WEFT_NEW(tmp, double, rows->n);
    for (int64_t i = 0; i < rows->n; i++) {
        double y = intercept;
        for (int64_t j = 0; j < data->d; j++)
            y += (double)weight[j] * flow_value(data, rows, i, j);
        off[i] = pow(y - response_of(data, rows, i), 2);
    }
    double most = weft_largest_f64(data->team, off, (size_t)rows->n);
    double bound = most * (double)rows->total;
    int scale = weft_fix_scale(bound);
    int64_t sum = 0;
    for (int64_t i = 0; i < rows->n && isfinite(bound); i++) sum += weft_fix(off[i], scale);
    double total;
    weft_sum_whole(data->team, &sum, 1, scale, bound, &total);
    return isnan(total) ? INFINITY : total / (double)rows->total;
}
