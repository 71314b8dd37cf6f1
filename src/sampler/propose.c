/* The configuration of the largest acquisition of a search by a Gaussian process; see
 * process.h. */
#include "process.h"
#include "weft/base/random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the acquisition function ---- */

/* A search for a proposal. */
struct search {
    const weft_process *process;
    int64_t number; /* of the trial */
    uint64_t drawn; /* numbers its draws */
    double goal;    /* the least mean of what is known */
    int64_t nbest;
    int64_t *best; /* [nbest] the trials of the least means */
    double *conf;  /* [dim] the best configuration that no trial has */
    double value;  /* its; -INFINITY: there is none */
};

static weft_rng4 draw(struct search *search)
{
    return weft_rng_at(search->process->seed, WEFT_RNG_TUNER, (uint64_t)search->number, 1,
                       search->drawn++);
}

/* The acquisition function of a mean and a variance, and its derivatives by these. */
static double gain(const struct search *search, double mean, double variance,
                   double slope[2])
{
    double sd = sqrt(variance), z = (search->goal - mean) / sd, by;
    double value = log(sd) + weft_gauss_gain(z, &by);
    slope[0] = -by / sd;
    slope[1] = (1 - by * z) / (2 * variance);
    return value;
}

/* Values of m <= WEFT_GAUSS_BATCH configurations, of which the best is remembered. */
static void judge(struct search *search, int m, const double *conf, double *value)
{
    const weft_process *process = search->process;
    weft_arena *tmp = process->past.mem;
    WEFT_REWIND(tmp);
    int dim = process->past.space->dim, width = process->gauss.width;
    double *x = WEFT_NEW(tmp, double, m *width), slope[2];
    double mean[WEFT_GAUSS_BATCH], variance[WEFT_GAUSS_BATCH];
    for (int i = 0; i < m; i++)
        weft_process_place(process, conf + i * dim, 1, x + i * width);
    weft_gauss_ask(&process->gauss, m, x, mean, variance, tmp);
    for (int i = 0; i < m; i++) {
        value[i] = gain(search, mean[i], variance[i], slope);
        if (!(value[i] > search->value) ||
            weft_past_knows(&process->past, conf + i * dim) ||
            weft_space_forbids(process->past.space, conf + i * dim))
            continue;
        search->value = value[i];
        memcpy(search->conf, conf + i * dim, (size_t)dim * sizeof *conf);
    }
}

/* ---- numbers: a quasi-Newton method ---- */

/* Whole numbers of more values move as if they were real, and are rounded afterwards. */
enum { FEW = 16 };

static int64_t values_of(const weft_process *process, int a)
{
    const weft_axis *axis = &process->past.space->axis[a];
    return axis->nvalue ? axis->nvalue : (int64_t)(axis->hi - axis->lo) + 1;
}

static int moves(const weft_process *process, const double *conf, int a)
{
    if (isnan(conf[a]) || process->rules[a]) return 0;
    if (process->past.type[a] == WEFT_AXIS_REAL) return 1;
    return process->past.type[a] == WEFT_AXIS_DISCRETE && values_of(process, a) > FEW;
}

struct climb {
    const struct search *search;
    int *axis; /* [moving] */
    int moving;
    double *x;      /* [gauss.width] */
    double *slopes; /* [2][dim] */
};

/* Minus the acquisition function of the positions u[moving]. */
static double climb_value(void *own, const double *u, double *slope)
{
    struct climb *climb = own;
    const weft_process *process = climb->search->process;
    int dim = process->past.space->dim;
    double mean, variance, by[2];
    for (int i = 0; i < climb->moving; i++) climb->x[climb->axis[i]] = u[i];
    weft_gauss_slopes(&process->gauss, climb->x, &mean, &variance, climb->slopes,
                      process->past.mem);
    double value = gain(climb->search, mean, variance, by);
    for (int i = 0; i < climb->moving; i++) {
        int a = climb->axis[i];
        slope[i] = -by[0] * climb->slopes[a] - by[1] * climb->slopes[dim + a];
    }
    return -value;
}

/* Takes the better of two configurations. */
static int accept(struct search *search, const double *next, double *conf, double *value)
{
    double own;
    judge(search, 1, next, &own);
    if (!(own > *value)) return 0;
    *value = own;
    memcpy(conf, next, (size_t)search->process->past.space->dim * sizeof *conf);
    return 1;
}

static void climb_numbers(struct search *search, int steps, double *conf, double *value)
{
    const weft_process *process = search->process;
    int dim = process->past.space->dim;
    weft_arena *tmp = process->past.mem;
    WEFT_REWIND(tmp);
    double *all = WEFT_NEW(tmp, double, 6 * dim), *u = all, *lo = all + dim,
           *hi = all + 2 * dim, *next = all + 3 * dim;
    struct climb climb = {.search = search,
                          .axis = WEFT_NEW(tmp, int, dim),
                          .x = WEFT_NEW(tmp, double, process->gauss.width),
                          .slopes = all + 4 * dim};
    weft_process_place(process, conf, 1, climb.x);
    for (int a = 0; a < dim; a++)
        if (moves(process, conf, a)) {
            hi[climb.moving] = 1;
            u[climb.moving] = climb.x[a];
            climb.axis[climb.moving++] = a;
        }
    if (climb.moving > 0) {
        weft_box box = {climb.moving, lo, hi, climb_value, &climb, steps, 1e-7};
        weft_box_lower(&box, u, tmp);
        memcpy(next, conf, (size_t)dim * sizeof *conf);
        for (int i = 0; i < climb.moving; i++)
            next[climb.axis[i]] = weft_past_value(&process->past, climb.axis[i], u[i]);
        accept(search, next, conf, value);
    }
}

/* ---- other values ---- */

/* Sets axis a, and draws the axes that exist by that. */
static void set_axis(struct search *search, int a, double to, double *conf)
{
    const weft_process *process = search->process;
    conf[a] = to;
    if (process->rules[a])
        weft_space_settle(process->past.space, draw(search).v[0], (uint64_t)search->number,
                          conf);
}

/* Value i of those that are tried in place of `value` on axis a; 0: there is none. All of a
 * category or of few numbers; else those that are 1, 2, 4, 8 places away. */
static int other_value(const weft_process *process, int a, double value, int64_t i,
                       double *to)
{
    enum { REACH = 4 };
    const weft_axis *axis = &process->past.space->axis[a];
    int64_t values = values_of(process, a);
    if (values <= FEW || process->past.type[a] == WEFT_AXIS_CATEGORY) {
        if (i >= values) return 0;
        *to = weft_axis_point(axis, i, values);
        return 1;
    }
    if (i >= 2 * REACH) return 0;
    *to = value;
    for (int64_t k = 0; k < (int64_t)1 << i / 2; k++)
        *to = weft_axis_step(axis, *to, (int)(i % 2));
    return 1;
}

/* Tries other values of axis a; 1: one is better. */
static int try_axis(struct search *search, int a, double *conf, double *value)
{
    const weft_process *process = search->process;
    size_t dim = (size_t)process->past.space->dim;
    WEFT_REWIND(process->past.mem);
    double *all = WEFT_NEW(process->past.mem, double, WEFT_GAUSS_BATCH *dim);
    double own[WEFT_GAUSS_BATCH], to, was = conf[a], best = *value;
    double *found = WEFT_NEW(process->past.mem, double, dim);
    int m = 0, more = 1;
    for (int64_t i = 0; more; i++) {
        more = other_value(process, a, was, i, &to);
        if (more && fabs(to - was) > 0) {
            memcpy(all + (size_t)m * dim, conf, dim * sizeof *conf);
            set_axis(search, a, to, all + (size_t)m++ * dim);
        }
        if (m == 0 || (more && m < WEFT_GAUSS_BATCH)) continue;
        judge(search, m, all, own);
        for (int j = 0; j < m; j++)
            if (own[j] > best) {
                best = own[j];
                memcpy(found, all + (size_t)j * dim, dim * sizeof *found);
            }
        m = 0;
    }
    int better = best > *value;
    if (better) memcpy(conf, found, dim * sizeof *conf);
    *value = best;
    return better;
}

/* From one configuration to a better one, by turns. */
static void refine(struct search *search, int steps, double *conf, double value)
{
    const weft_process *process = search->process;
    const weft_space *space = process->past.space;
    int rounds = weft_past_turns(&process->past) > 1 ? 1 : 4;
    for (int k = 0, better = 1; k < rounds && better; k++) {
        climb_numbers(search, steps, conf, &value);
        better = 0;
        for (int i = 0; i < space->dim; i++) {
            int a = space->order[i];
            if (!isnan(conf[a]) && process->past.type[a] != WEFT_AXIS_REAL)
                better |= try_axis(search, a, conf, &value);
        }
    }
}

/* ---- where a search begins ---- */

static void draw_anywhere(struct search *search, double *conf)
{
    const weft_space *space = search->process->past.space;
    for (int a = 0; a < space->dim; a++)
        conf[a] = weft_axis_value(&space->axis[a], weft_rng_unit(draw(search).v[0]));
    weft_past_prune(space, conf);
}

/* Near one of the best trials: half of the axes move, by 2^-8 to 1 / 2 of their length. */
static void draw_near(struct search *search, double *conf)
{
    const weft_process *process = search->process;
    const weft_space *space = process->past.space;
    weft_rng4 rng = draw(search);
    int64_t which = (int64_t)(weft_rng_unit(rng.v[0]) * (double)search->nbest);
    double reach = exp2(-1 - 7 * weft_rng_unit(rng.v[1]));
    memcpy(conf, process->past.trial[search->best[which]].conf,
           (size_t)space->dim * sizeof *conf);
    for (int i = 0; i < space->dim; i++) {
        int a = space->order[i];
        double z[2];
        rng = draw(search);
        if (isnan(conf[a]) || weft_rng_unit(rng.v[2]) < 0.5) continue;
        weft_rng_normal_pair(&rng, z);
        double at = weft_axis_unit(&space->axis[a], conf[a]) + reach * z[0];
        if (process->past.type[a] == WEFT_AXIS_CATEGORY) at = weft_rng_unit(rng.v[3]);
        set_axis(search, a, weft_axis_value(&space->axis[a], fmin(fmax(at, 0), 1)), conf);
    }
}

/* Starts of refinements, the best first. */
struct starts {
    int n;
    double *conf, *value; /* [n][dim], [n] */
};

static void keep_start(struct starts *starts, size_t dim, const double *conf, double value)
{
    int at = starts->n - 1;
    if (!(value > starts->value[at])) return;
    for (; at > 0 && value > starts->value[at - 1]; at--) {
        starts->value[at] = starts->value[at - 1];
        memcpy(starts->conf + (size_t)at * dim, starts->conf + (size_t)(at - 1) * dim,
               dim * sizeof *conf);
    }
    starts->value[at] = value;
    memcpy(starts->conf + (size_t)at * dim, conf, dim * sizeof *conf);
}

/* Refines the best of what is drawn. With a larger process less is tried, as each try costs
 * n^2, and with more workers that wait. */
static void seek(struct search *search, void (*draw_one)(struct search *, double *),
                 int from)
{
    enum { SEEN = 256, LEAST = 32, FEWER = 300 };
    const weft_process *process = search->process;
    weft_arena *tmp = process->past.mem;
    size_t dim = (size_t)process->past.space->dim;
    int64_t turns = weft_past_turns(&process->past);
    double n = (double)process->gauss.n, work = 1.25e7 / (double)turns,
           own[WEFT_GAUSS_BATCH];
    int seen = (int)fmin(SEEN, fmax(LEAST, work / (n * n)));
    int few = n > FEWER || turns > 1, steps = few ? 12 : 40;
    struct starts starts = {few ? 1 : from, WEFT_NEW(tmp, double, (size_t)from *dim),
                            WEFT_NEW(tmp, double, from)};
    double *all = WEFT_NEW(tmp, double, WEFT_GAUSS_BATCH *dim);
    for (int s = 0; s < starts.n; s++) starts.value[s] = -INFINITY;
    for (int i = 0; i < seen; i += WEFT_GAUSS_BATCH) {
        for (int j = 0; j < WEFT_GAUSS_BATCH; j++) draw_one(search, all + (size_t)j * dim);
        judge(search, WEFT_GAUSS_BATCH, all, own);
        for (int j = 0; j < WEFT_GAUSS_BATCH; j++)
            keep_start(&starts, dim, all + (size_t)j * dim, own[j]);
    }
    for (int s = 0; s < starts.n; s++)
        if (isfinite(starts.value[s]))
            refine(search, steps, starts.conf + (size_t)s * dim, starts.value[s]);
}

/* Both, each with its own starts: where a minimum is found, those near it are a little
 * better than all others, and hide what a step away from there gains. One or the other, by
 * turns, where a choice of results serves several proposals. */
static void maximise(struct search *search)
{
    int one = weft_past_turns(&search->process->past) > 1, odd = search->number % 2 != 0;
    if (!one || odd) seek(search, draw_near, 2);
    if (!one || !odd) seek(search, draw_anywhere, 4);
}

/* ---- proposals ---- */

/* The goal, and the trials of the least means, of points at the resource that is
 * predicted. */
static void find_best(struct search *search)
{
    enum { BEST = 5 };
    const weft_process *process = search->process;
    const double *y = process->y;
    int64_t n = 0, known = process->known;
    double noise = exp(process->gauss.theta[process->past.space->dim + 1]);
    weft_rank *mean = WEFT_NEW(process->past.mem, weft_rank, process->gauss.n);
    for (int64_t i = 0; i < process->gauss.n; i++)
        if (!(process->row[i].share < 1))
            mean[n++] =
                weft_rank_of(y[i] - (i < known ? noise * process->gauss.weight[i] : 0), 0,
                             process->row[i].trial);
    qsort(mean, (size_t)n, sizeof *mean, weft_rank_compare);
    search->goal = mean[0].loss;
    search->nbest = n < BEST ? n : BEST;
    search->best = WEFT_NEW(process->past.mem, int64_t, BEST);
    for (int64_t i = 0; i < search->nbest; i++) search->best[i] = mean[i].id;
}

/* 1: there is a configuration that no trial has, and it is in search->conf. */
static int propose_from(weft_process *process, const weft_past_level *level,
                        struct search *search)
{
    weft_process_learn(process, level, search->number);
    find_best(search);
    maximise(search);
    return search->value > -INFINITY;
}

void weft_process_propose(void *self, int64_t number, double *conf)
{
    weft_process *process = self;
    const weft_space *space = process->past.space;
    weft_arena *tmp = process->past.mem;
    WEFT_REWIND(tmp);
    const weft_past_level *level =
        weft_past_highest(&process->past, process->curves ? 1 : process->design);
    struct search search = {.process = process,
                            .number = number,
                            .conf = WEFT_NEW(tmp, double, space->dim),
                            .value = -INFINITY};
    if (space->dim == 0 || number < space->listed)
        weft_space_config(space, number, conf);
    else if (process->past.n < process->design)
        weft_past_design(&process->past, process->seed, process->past.n, process->design,
                         conf);
    else if (level && propose_from(process, level, &search))
        memcpy(conf, search.conf, (size_t)space->dim * sizeof *conf);
    else
        weft_space_config(space, number, conf);
    if (weft_space_forbids(space, conf)) weft_space_config(space, number, conf);
}
