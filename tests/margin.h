/* Problems for models with a loss of the margin: sparse rows by a formula, their products,
 * fits in three forms, and objectives by definition. */
#ifndef MARGIN_H
#define MARGIN_H

#include "rows.h"
#include "weft/model/model.h"

/* FEW columns: rows share most of them, so that dual ascent gives up. MANY: as with words.
 */
enum { ROWS = 1500, FEW = 400, MANY = 6000, GROUPS = 5, MAX_CLASSES = 36 };

/* ---- sparse rows by a rule, and their products ---- */

struct problem {
    weft_matrix f;
    weft_sparse x;  /* this rank's rows */
    int *group;     /* [f.n] */
    int32_t *label; /* [f.n] */
    int classes;
};

/* Columns of row i, rising, into column[]; how many. Every 50th row is empty. */
static int64_t row_columns(int64_t i, int64_t d, uint32_t *column)
{
    char taken[MANY] = {0};
    int64_t n = 0, k = i % 50 == 7 ? 0 : 5 + i * 7 % 23;
    for (int64_t t = 0; t < k; t++)
        taken[(i * i * 7 + t * t * 13 + 31 * i * t + 5 * t) % d] = 1;
    for (uint32_t j = 0; j < d; j++)
        if (taken[j]) column[n++] = j;
    return n;
}

static struct problem *rows_new(int64_t d, int classes)
{
    struct problem *problem = WEFT_NEW(mem, struct problem, 1);
    int64_t from, n, at = 0;
    weft_deal(ROWS, world.rank, world.size, &from, &n);
    int64_t *first = WEFT_NEW(mem, int64_t, n + 1);
    uint32_t *column = WEFT_NEW(mem, uint32_t, n * 32);
    float *value = WEFT_NEW(mem, float, n * 32);
    problem->group = WEFT_NEW(mem, int, n);
    problem->label = WEFT_NEW(mem, int32_t, n);
    for (int64_t k = 0; k < n; k++) {
        int64_t i = from + k, m = row_columns(i, d, column + at);
        for (int64_t e = at; e < at + m; e++)
            value[e] = (float)((i * 3 + column[e] * 5) % 17 + 1) / 8 * (i % 5 == 2 ? 4 : 1);
        problem->group[k] = (int)(i % GROUPS);
        problem->label[k] =
            (int32_t)((i * i * 5 + i * 3 + i / 7) % 11 * (m % 3 + 1) / 3 % 7 % classes);
        first[k + 1] = at += m;
    }
    problem->classes = classes;
    problem->x = (weft_sparse){.n = n, .first = first, .column = column, .value = value};
    problem->f = rows_matrix(&problem->x, ROWS, d);
    return problem;
}

/* ---- fits ---- */

typedef enum form { PRODUCTS, SPARSE, GROUPED } form;
static const char *const form_name[] = {"products", "rows", "groups of rows"};

static void *model_new(const weft_model *model, const char *options)
{
    return bound_with(&model->kind, options, '\n');
}

static int64_t nweight(const weft_model *model, const struct problem *problem)
{
    return model->outputs(problem->classes) * (problem->f.d + 1);
}

static weft_fitted fit_to(const weft_model *model, const char *options,
                          struct problem *problem, form as, double slack, real *w)
{
    weft_fitted out;
    problem->f.rows = as == PRODUCTS ? NULL : &problem->x;
    problem->f.group = as == GROUPED ? problem->group : NULL;
    problem->f.ngroup = GROUPS;
    weft_answers answers = {.classes = problem->classes, .label = problem->label};
    model->fit(model_new(model, options), &problem->f, &answers, slack, w, &out, mem);
    return out;
}

static weft_fitted fit(const weft_model *model, const char *options,
                       struct problem *problem, form as, real *w)
{
    return fit_to(model, options, problem, as, 1, w);
}

/* Penalty on a weight. */
static double penalty(const char *options, double w)
{
    return strstr(options, "penalty = l1") ? fabs(w) : 0.5 * w * w;
}

/* The objective of w, from the definition. Collective. */
static double objective(const weft_model *model, const char *options,
                        const struct problem *problem, double c, const real *w)
{
    const void *self = model_new(model, options);
    int outputs = model->outputs(problem->classes), wrong;
    double sum = 0, score[MAX_CLASSES], half = 0;
    for (int64_t i = 0; i < problem->f.n; i++) {
        for (int k = 0; k < outputs; k++)
            score[k] = weft_sparse_dot(&problem->x, i, w + k * problem->f.d) +
                       (double)w[outputs * problem->f.d + k];
        sum += c * model->loss(self, problem->classes, score, problem->label[i], &wrong);
    }
    weft_sum_f64(problem->f.team, &sum, 1, 1e6);
    for (int64_t j = 0; j < nweight(model, problem); j++)
        half += penalty(options, (double)w[j]);
    return sum + half;
}

static uint64_t bits(const real *w, int64_t n)
{
    return weft_hash(w, (size_t)n * sizeof *w, 0);
}

/* Objective of the best constant scores, over all outputs: by trisection. Collective. */
static double constant(const weft_model *model, const char *options,
                       const struct problem *problem, double c)
{
    const void *self = model_new(model, options);
    double sum = 0;
    for (int k = 0; k < model->outputs(problem->classes); k++) {
        int one = problem->classes == 2 ? 1 : k;
        int64_t own = 0;
        for (int64_t i = 0; i < problem->f.n; i++) own += problem->label[i] == one;
        weft_sum_i64(problem->f.team, &own, 1);
        double lo = -9, hi = 9, value[2];
        while (hi - lo > 1e-6) {
            for (int side = 0; side < 2; side++) {
                double b = (lo * (2 - side) + hi * (1 + side)) / 3;
                int wrong;
                value[side] =
                    penalty(options, b) +
                    c * (double)own * model->loss(self, 2, &b, 1, &wrong) +
                    c * (double)(ROWS - own) * model->loss(self, 2, &b, 0, &wrong);
            }
            if (value[0] > value[1])
                lo = (2 * lo + hi) / 3;
            else
                hi = (lo + 2 * hi) / 3;
        }
        sum += value[0];
    }
    return sum;
}

#endif
