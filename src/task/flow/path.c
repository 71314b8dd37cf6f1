/* Paths of gradient flow, gradient descent and ridge regression in closed form, their
 * risks, and the minimum of the risk over a search space. For a list or grid all
 * configurations are evaluated; in a box a coarse grid is searched and then refined around
 * its best points. As the loss is smooth on the scale of the grid, in the logarithms of
 * time and units, this finds the global minimum. The best number of features follows from
 * prefix sums. */
#include "flow.h"

#include <math.h>
#include <string.h>

enum {
    DIM = 3,     /* coordinates: units, time = units x step, penalty */
    COARSE = 33, /* points a coordinate of the first grid */
    FINE = 5,    /* of the later ones */
    STARTS = 8,  /* points of the first grid that are refined */
    ROUNDS = 1000
};

#define SHRINK                                                                             \
    0.4             /* factor for a refined box if none of its points is better than its   \
                       centre */
#define FINEST 1e-9 /* half side of the box at the end */
#define MOST   1e10 /* largest number of gains that are computed */

/* ---- paths ---- */

/* (1 - x)^r and 1 - (1 - x)^r, for whole r >= 0. */
static void power(double x, double r, double *f, double *rest)
{
    if (x < 1) {
        *f = exp(r * log1p(-x));
        *rest = -expm1(r * log1p(-x));
        return;
    }
    double size = exp(r * log(x - 1)); /* x = 1: 0 */
    *f = r > 0 ? (fmod(r, 2) > 0 ? -size : size) : 1;
    *rest = 1 - *f;
}

void flow_train(const flow_problem *problem, const flow_setting *set, double r,
                const double *base, double *gain)
{
    int64_t fitted = set->features > 0 ? set->features : problem->m;
    for (int i = 0; i < problem->m; i++) {
        double s = problem->s[i], x = set->step * (s + set->lambda);
        if (i >= fitted || !(s > 0)) {
            gain[i] = 0;
            continue;
        }
        double f = r > 0 ? 0 : 1, rest = 1 - f;
        if (set->method == FLOW_DESCENT) power(x, floor(r), &f, &rest);
        if (set->method == FLOW_FLOW) {
            f = exp(-r * x);
            rest = -expm1(-r * x);
        }
        gain[i] = f * base[i] + rest * (s / (s + set->lambda));
    }
}

double flow_risk(const flow_problem *problem, const double *gain)
{
    double noise = problem->variance / (double)problem->n;
    double sum = 0;
    for (int i = 0; i < problem->m; i++) {
        double s = problem->s[i], g = gain[i], weight = problem->weight > 0 ? s : 1;
        sum += weight * problem->c[i] * (1 - g) * (1 - g);
        if (s > 0) sum += weight * noise * g * g / s;
    }
    return isfinite(sum) ? sum : INFINITY;
}

double flow_training_loss(const flow_problem *problem, const double *gain)
{
    double sum = 0, fitted = 0;
    for (int i = 0; i < problem->m; i++) {
        double off = (1 - gain[i]) * (1 - gain[i]);
        if (!(problem->s[i] > 0)) continue;
        sum +=
            off * (problem->s[i] * problem->c[i] + problem->variance / (double)problem->n);
        fitted++;
    }
    return sum + problem->variance * (1 - fitted / (double)problem->n);
}

double flow_residual(const flow_problem *problem, const flow_setting *set,
                     const double *gain)
{
    int64_t fitted = set->features > 0 ? set->features : problem->m;
    double off = 0, all = 0;
    for (int i = 0; i < problem->m && i < fitted; i++) {
        if (!(problem->s[i] > 0)) continue;
        double end = problem->s[i] / (problem->s[i] + set->lambda);
        off += (gain[i] - end) * (gain[i] - end);
        all += end * end;
    }
    return all > 0 ? sqrt(off / all) : 0;
}

flow_setting flow_setting_of(const weft_space *space, const double *conf,
                             const flow_setting *set)
{
    flow_setting out = *set;
    for (int i = 0; i < space->dim; i++) {
        const char *name = space->axis[i].opt->name;
        if (isnan(conf[i])) continue;
        if (strcmp(name, "method") == 0) out.method = (int)conf[i];
        if (strcmp(name, "step") == 0) out.step = conf[i];
        if (strcmp(name, "lambda") == 0) out.lambda = conf[i];
        if (strcmp(name, "features") == 0) out.features = (int64_t)conf[i];
    }
    return out;
}

/* ---- list and grid ---- */

static double best_listed(const flow_problem *problem, const weft_space *space,
                          const flow_setting *set, double most, weft_arena *tmp)
{
    if ((double)space->count * most * problem->m > MOST) return NAN;
    double *conf = WEFT_NEW(tmp, double, space->dim),
           *gain = WEFT_NEW(tmp, double, problem->m);
    const double *zero = WEFT_NEW(tmp, double, problem->m);
    double best = INFINITY;
    for (int64_t i = 0; i < space->count; i++) {
        weft_space_config(space, i, conf);
        flow_setting own = flow_setting_of(space, conf, set);
        for (double r = 1; r <= most; r++) {
            flow_train(problem, &own, r, zero, gain);
            best = fmin(best, flow_risk(problem, gain));
            if (own.method == FLOW_RIDGE) break;
        }
    }
    return best;
}

/* ---- box ---- */

/* The range of an option; lo = hi if it is not an axis. */
struct range {
    double lo, hi;
    int log;
};

struct box {
    const flow_problem *problem;
    int method;
    struct range step, lambda, units;
    int64_t least, most;       /* features, */
    int all;                   /* 1: or all of them */
    double *zero, *gain, *sum; /* [m], [m], [m+1] */
};

struct point {
    double at[DIM]; /* 0..1 each */
    double loss;
};

static struct range range_of(const weft_space *space, const char *name, double fixed)
{
    for (int i = 0; i < space->dim; i++)
        if (strcmp(space->axis[i].opt->name, name) == 0)
            return (struct range){space->axis[i].lo, space->axis[i].hi, space->axis[i].log};
    return (struct range){fixed, fixed, 0};
}

/* The value at u, 0..1, of a range; a linear one is denser at its lower end. */
static double value_at(struct range range, double u)
{
    if (!(range.hi > range.lo)) return range.lo;
    if (range.log)
        return fmin(fmax(range.lo * exp(u * log(range.hi / range.lo)), range.lo), range.hi);
    return range.lo + (range.hi - range.lo) * u * u * u;
}

/* Least risk over the numbers of features that are allowed. */
static double least_risk(struct box *box, const flow_setting *set, double r)
{
    const flow_problem *problem = box->problem;
    flow_train(problem, set, r, box->zero, box->gain);
    double noise = problem->variance / (double)problem->n;
    double left = 0; /* risk of directions that are not fitted */
    for (int i = problem->m - 1; i >= 0; i--) {
        box->sum[i] = left;
        left += (problem->weight > 0 ? problem->s[i] : 1) * problem->c[i];
    }
    double fitted = 0, best = INFINITY;
    for (int i = 0; i < problem->m; i++) {
        double s = problem->s[i], g = box->gain[i], weight = problem->weight > 0 ? s : 1;
        fitted += weight * problem->c[i] * (1 - g) * (1 - g);
        if (s > 0) fitted += weight * noise * g * g / s;
        int allowed = (i + 1 >= box->least && i + 1 <= box->most) ||
                      (i + 1 == problem->m && (box->all || box->most >= problem->m));
        if (allowed) best = fmin(best, fitted + box->sum[i]);
    }
    return best;
}

static double loss_at(struct box *box, const double *at)
{
    double r = floor(value_at(box->units, at[0]) + 0.5);
    struct range time = {box->step.lo, box->step.hi * box->units.hi, 1};
    double e = value_at(time, at[1]) / r;
    flow_setting set = {.method = box->method,
                        .step = fmin(fmax(e, box->step.lo), box->step.hi),
                        .lambda = value_at(box->lambda, at[2])};
    return least_risk(box, &set, r);
}

/* Inserts a point into the list of the best ones, best first. */
static void keep_point(struct point *best, int n, const struct point *point)
{
    for (int i = 0; i < n; i++) {
        if (!(point->loss < best[i].loss)) continue;
        memmove(best + i + 1, best + i, (size_t)(n - 1 - i) * sizeof *best);
        best[i] = *point;
        return;
    }
}

/* Tries a grid of points[DIM] within +- half[DIM] of a centre, clipped to the box. */
static void try_grid(struct box *box, const double *centre, const double *half,
                     const int *points, struct point *best, int n)
{
    for (int i = 0; i < points[0]; i++)
        for (int j = 0; j < points[1]; j++)
            for (int k = 0; k < points[2]; k++) {
                const int place[DIM] = {i, j, k};
                struct point point;
                for (int a = 0; a < DIM; a++) {
                    double u = points[a] > 1 ? 2.0 * place[a] / (points[a] - 1) - 1 : 0;
                    point.at[a] = fmin(fmax(centre[a] + u * half[a], 0), 1);
                }
                point.loss = loss_at(box, point.at);
                keep_point(best, n, &point);
            }
}

static double best_in_box(struct box *box)
{
    int still = box->method == FLOW_RIDGE;
    const int moves[DIM] = {!still && box->units.hi > 1,
                            !still && box->step.hi > box->step.lo,
                            box->lambda.hi > box->lambda.lo};
    int coarse[DIM], fine[DIM];
    double half[DIM], middle[DIM] = {0.5, 0.5, 0.5};
    for (int a = 0; a < DIM; a++) {
        coarse[a] = moves[a] ? COARSE : 1;
        fine[a] = moves[a] ? FINE : 1;
        half[a] = 0.5;
    }
    struct point start[STARTS], least = {.loss = INFINITY};
    for (int i = 0; i < STARTS; i++) start[i] = least;
    try_grid(box, middle, half, coarse, start, STARTS);
    for (int i = 0; i < STARTS && start[i].loss < INFINITY; i++) {
        double width = 1.5 / (COARSE - 1);
        for (int round = 0; round < ROUNDS && width > FINEST; round++) {
            const double own[DIM] = {width, width, width};
            struct point centre = start[i];
            try_grid(box, centre.at, own, fine, &start[i], 1);
            if (!(start[i].loss < centre.loss)) width *= SHRINK;
        }
        keep_point(&least, 1, &start[i]);
    }
    return least.loss;
}

/* 1 if the space has configurations of the method. */
static int has_method(const weft_space *space, int method, const flow_setting *set)
{
    for (int i = 0; i < space->dim; i++) {
        const weft_axis *axis = &space->axis[i];
        if (strcmp(axis->opt->name, "method") != 0) continue;
        for (int v = 0; v < axis->nvalue; v++)
            if ((int)axis->value[v] == method) return 1;
        return 0;
    }
    return method == set->method;
}

double flow_optimum(const flow_problem *problem, const weft_space *space,
                    const flow_setting *set, double most, weft_arena *tmp)
{
    WEFT_REWIND(tmp);
    double best = INFINITY;
    for (int i = 0; i < space->dim && space->source == 0; i++)
        if (space->axis[i].nwhen > 0) return NAN; /* the space is not a box */
    if (space->source > 0) {
        best = best_listed(problem, space, set, most, tmp);
    } else {
        struct range features = range_of(space, "features", (double)set->features);
        struct box box = {.problem = problem,
                          .step = range_of(space, "step", set->step),
                          .lambda = range_of(space, "lambda", set->lambda),
                          .units = {1, fmax(floor(most), 1), 1},
                          .least = (int64_t)fmax(features.lo, 1),
                          .most = (int64_t)features.hi,
                          .all = !(features.lo > 0)};
        box.zero = WEFT_NEW(tmp, double, problem->m);
        box.gain = WEFT_NEW(tmp, double, problem->m);
        box.sum = WEFT_NEW(tmp, double, problem->m);
        for (box.method = FLOW_FLOW; box.method <= FLOW_RIDGE; box.method++)
            if (has_method(space, box.method, set)) best = fmin(best, best_in_box(&box));
    }
    return best;
}
