/* What a search by a Gaussian process learns from: losses, their choice and scale, lengths
 * and noise, points of the process; see process.h. */
#include "process.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Results from which theta is learnt; of more than WEFT_PROCESS_RESULTS those chosen by
 * choose_results, anew after PART. */
enum { MOST_FIT = 150, PART = 100 };
/* Up to so many results theta is learnt anew with each, then when there are so many times
 * as many. */
enum { EACH = 100 };
static const double anew = 1.2, anew_crowded = 1.5;

/* ---- setup and results ---- */

void weft_process_setup(weft_process *process, const char *name, int curves,
                        const weft_space *space, uint64_t seed, weft_arena *mem)
{
    process->curves = curves;
    process->seed = weft_hash(name, strlen(name), seed);
    weft_past_setup(&process->past, space, mem);
    process->levels = WEFT_NEW(mem, int, space->dim);
    process->rules = WEFT_NEW(mem, char, space->dim);
    for (int a = 0; a < space->dim; a++) {
        const weft_axis *axis = &space->axis[a];
        if (process->past.type[a] == WEFT_AXIS_CATEGORY) process->levels[a] = axis->nvalue;
        for (int i = 0; i < axis->nwhen; i++) process->rules[axis->when[i].axis] = 1;
    }
    int64_t most = WEFT_PROCESS_RESULTS + WEFT_PROCESS_BELIEVED + WEFT_MOST_TURNS;
    process->point = WEFT_NEW(mem, weft_process_point, most);
    process->y = WEFT_NEW(mem, double, most);
    process->kept = weft_arena_within(mem);
    weft_gauss_setup(&process->gauss, space->dim, curves, process->levels, process->kept);
}

void weft_process_told(void *self, int64_t number, const weft_observation *observed)
{
    weft_process *process = self;
    weft_past_told(&process->past, number, observed);
    WEFT_GROW(process->past.mem, process->told, process->ntold, &process->roomtold);
    process->told[process->ntold++] =
        (weft_process_result){number - process->past.first, observed->resource};
}

int64_t weft_process_enough(const void *self, const char **option)
{
    const weft_process *process = self;
    *option = "design";
    return process->design;
}

/* ---- losses ---- */

/* The mean and the deviation of y[n] become 0 and 1; all 0 where they are equal. */
static void standardise(int64_t n, double *y)
{
    double mean = 0, square = 0;
    for (int64_t i = 0; i < n; i++) mean += y[i] / (double)n;
    for (int64_t i = 0; i < n; i++) square += (y[i] - mean) * (y[i] - mean) / (double)n;
    double sd = sqrt(square);
    for (int64_t i = 0; i < n; i++) y[i] = sd > 0 ? (y[i] - mean) / sd : 0;
}

/* The transform of Yeo and Johnson, "A new family of power transformations to improve
 * normality or symmetry", Biometrika 87, 2000. */
static double bend(double y, double power)
{
    double by = y < 0 ? 2 - power : power, size = log1p(fabs(y));
    double to = fabs(by) > 0 ? expm1(by * size) / by : size;
    return y < 0 ? -to : to;
}

/* The logarithm of the likelihood of a power, for values that are normal once bent. */
static double bent_likelihood(int64_t n, const double *y, double power)
{
    double mean = 0, square = 0, sum = 0;
    for (int64_t i = 0; i < n; i++) mean += bend(y[i], power) / (double)n;
    for (int64_t i = 0; i < n; i++) {
        double off = bend(y[i], power) - mean, size = log1p(fabs(y[i]));
        square += off * off / (double)n;
        sum += y[i] < 0 ? -size : size;
    }
    return -(double)n / 2 * log(square) + (power - 1) * sum;
}

/* The most likely power of 0 .. 2, to 0.01. */
static double power_of(int64_t n, const double *y)
{
    double lo = 0, hi = 2, golden = 0.61803398874989485;
    double a = hi - golden * (hi - lo), b = lo + golden * (hi - lo);
    double at_a = bent_likelihood(n, y, a), at_b = bent_likelihood(n, y, b);
    while (hi - lo > 0.01) {
        if (at_a > at_b) {
            hi = b;
            b = a;
            at_b = at_a;
            a = hi - golden * (hi - lo);
            at_a = bent_likelihood(n, y, a);
        } else {
            lo = a;
            a = b;
            at_a = at_b;
            b = lo + golden * (hi - lo);
            at_b = bent_likelihood(n, y, b);
        }
    }
    return (lo + hi) / 2;
}

/* Values that the process learns: those of diverged trials are the worst other, then all
 * are scaled, bent to be nearly normal, and scaled. */
static void scale_losses(int64_t n, double *y)
{
    double low = INFINITY, high = -INFINITY;
    for (int64_t i = 0; i < n; i++) {
        if (!isfinite(y[i])) continue;
        low = fmin(low, y[i]);
        high = fmax(high, y[i]);
    }
    double half = high / 2 - low / 2; /* a difference may overflow */
    for (int64_t i = 0; i < n; i++)
        y[i] = half > 0 ? (fmin(y[i], high) / 2 - low / 2) / half : 0;
    standardise(n, y);
    if (!(half > 0)) return;
    double power = power_of(n, y);
    for (int64_t i = 0; i < n; i++) y[i] = bend(y[i], power);
    standardise(n, y);
}

/* ---- the model ---- */

/* Results in the order in which they came. */
struct results {
    int64_t n;
    weft_rank *result; /* [n] id: the trial; excess: 1 - share, so that the largest
                          resources come first */
};

/* Weights of m objectives, uniform on those whose sum is 1; in one of eight proposals one
 * objective has all, so that the ends of the front are found. */
static void draw_weights(const weft_process *process, int64_t number, int m, double *weight)
{
    enum { ALONE = 8 };
    double sum = 0;
    for (int j = 0; j < m; j++) {
        weft_rng4 rng =
            weft_rng_at(process->seed, WEFT_RNG_TUNER, (uint64_t)number, 2, (uint64_t)j);
        sum += weight[j] = -log1p(-weft_rng_unit(rng.v[0]));
    }
    for (int j = 0; j < m; j++) weight[j] /= sum;
    weft_rng4 rng = weft_rng_at(process->seed, WEFT_RNG_TUNER, (uint64_t)number, 3, 0);
    int alone = (int)(weft_rng_unit(rng.v[0]) * ALONE * m);
    for (int j = 0; j < m && alone < m; j++) weight[j] = j == alone;
}

/* With several objectives, one number of them for the proposal of trial `number`: of x,
 * each scaled so that the front of the level is 0 .. 1, max_j w_j x_j + 0.05 sum_j w_j x_j.
 * Knowles, "ParEGO: a hybrid algorithm with on-line landscape approximation for expensive
 * multiobjective optimization problems", IEEE Trans. Evolutionary Computation 10, 2006. */
static void weigh(const weft_process *process, const weft_past_level *level, int64_t number,
                  double *loss)
{
    int m = process->past.space->objectives, *front;
    double lo[WEFT_MAX_GOALS], hi[WEFT_MAX_GOALS], weight[WEFT_MAX_GOALS];
    weft_point *point = WEFT_NEW(process->past.mem, weft_point, level->n);
    int64_t n = 0;
    for (int64_t i = 0; i < level->n; i++)
        if (!(level->point[i].excess > 0)) point[n++] = level->point[i];
    front = WEFT_NEW(process->past.mem, int, n);
    weft_front_of(n, point, m, front);
    draw_weights(process, number, m, weight);
    for (int j = 0; j < m; j++) {
        lo[j] = INFINITY;
        hi[j] = -INFINITY;
        for (int64_t i = 0; i < n; i++)
            if (front[i] == 0) {
                lo[j] = fmin(lo[j], point[i].x[j]);
                hi[j] = fmax(hi[j], point[i].x[j]);
            }
    }
    for (int64_t i = 0; i < n; i++) {
        double most = -INFINITY, sum = 0;
        for (int j = 0; j < m; j++) {
            double width = hi[j] - lo[j];
            double x = weight[j] * (point[i].x[j] - lo[j]) / (width > 0 ? width : 1);
            most = fmax(most, x);
            sum += x;
        }
        loss[point[i].id] = most + 0.05 * sum;
    }
}

/* Trials beyond limits count as diverged ones. */
static struct results results_of(const weft_process *process, double resource,
                                 int64_t number)
{
    weft_arena *mem = process->past.mem;
    struct results all = {.result = WEFT_NEW(mem, weft_rank, process->ntold)};
    double *loss = WEFT_NEW(mem, double, process->past.n);
    for (int64_t l = 0; l < process->past.nlevel; l++) {
        const weft_past_level *level = &process->past.level[l];
        int same = !(fabs(level->resource - resource) > 0);
        if (level->resource > resource || (!process->curves && !same)) continue;
        for (int64_t i = 0; i < level->n; i++) {
            const weft_rank *result = &level->result[i];
            loss[result->id] = result->excess > 0 ? INFINITY : result->loss;
        }
        if (process->past.space->objectives > 1) weigh(process, level, number, loss);
        for (int64_t i = 0; i < process->ntold; i++) {
            const weft_process_result *told = &process->told[i];
            if (fabs(told->resource - level->resource) > 0) continue;
            all.result[i] = weft_rank_of(loss[told->trial], 0, told->trial);
            all.result[i].excess = 1 - level->resource / resource;
        }
    }
    for (int64_t i = 0; i < process->ntold; i++)
        if (process->curves ? process->told[i].resource <= resource
                            : !(fabs(process->told[i].resource - resource) > 0))
            all.result[all.n++] = all.result[i];
    return all;
}

/* Of the first n results at most `most`, in their order, into pick[most]: all, or the best
 * half, the newest quarter, and draws of the others; these are chosen from all but the last
 * n % part, which are taken, so that most of them stay for some time. */
static int64_t choose_results(const weft_process *process, const struct results *all,
                              int64_t n, int64_t most, int64_t part, weft_rank *pick)
{
    char *taken = WEFT_NEW(process->past.mem, char, n);
    int64_t base = n > most ? n - n % part : 0, room = most - part, count = 0;
    weft_rank *sorted = WEFT_NEW(process->past.mem, weft_rank, base);
    int64_t *order = WEFT_NEW(process->past.mem, int64_t, base);
    for (int64_t i = base; i < n; i++) taken[i] = 1;
    for (int64_t i = 0; i < base; i++) {
        sorted[i] = all->result[i];
        sorted[i].id = i;
    }
    if (base > 0) {
        qsort(sorted, (size_t)base, sizeof *sorted, weft_rank_compare);
        weft_shuffle(base, process->seed + (uint64_t)base, order, process->past.mem);
    }
    for (int64_t i = 0; i < base && count < room / 2; i++, count++) taken[sorted[i].id] = 1;
    for (int64_t i = base - 1; i >= 0 && count < room * 3 / 4; i--)
        if (!taken[i]) count += taken[i] = 1;
    for (int64_t i = 0; i < base && count < room; i++)
        if (!taken[order[i]]) count += taken[order[i]] = 1;
    int64_t picked = 0;
    for (int64_t i = 0; i < n; i++)
        if (taken[i]) pick[picked++] = all->result[i];
    return picked;
}

void weft_process_place(const weft_process *process, const double *conf, double share,
                        double *x)
{
    int dim = process->past.space->dim;
    for (int a = 0; a < dim; a++)
        x[a] = isnan(conf[a]) ? conf[a] : weft_past_place(&process->past, a, conf[a]);
    if (process->curves) x[dim] = share;
}

/* The number of first results that theta is learnt from: of n up to EACH all, else the
 * largest of the sequence EACH, more EACH ... */
static int64_t to_fit(int64_t n, double more)
{
    int64_t last = n < EACH ? n : EACH, next = last;
    for (; next <= n && last >= EACH; next = (int64_t)ceil((double)last * more))
        last = next;
    return last;
}

static void fit(weft_process *process, const struct results *all, double resource,
                double more)
{
    int dim = process->past.space->dim, width = process->gauss.width;
    weft_arena *tmp = process->past.mem;
    int64_t n = to_fit(all->n, more);
    if (n == process->fit_results && !(fabs(resource - process->fit_resource) > 0) &&
        process->past.space->objectives < 2)
        return;
    weft_rank *pick = WEFT_NEW(tmp, weft_rank, n);
    int64_t m = choose_results(process, all, n, MOST_FIT, 1, pick);
    double *x = WEFT_NEW(tmp, double, m *width), *y = WEFT_NEW(tmp, double, m);
    double *theta = WEFT_NEW(tmp, double, weft_gauss_size(dim, process->curves));
    for (int64_t i = 0; i < m; i++) {
        weft_process_place(process, process->past.trial[pick[i].id].conf,
                           1 - pick[i].excess, x + i * width);
        y[i] = pick[i].loss;
    }
    scale_losses(m, y);
    weft_gauss_data data = {dim, process->curves, process->levels, m, x, y};
    weft_gauss_fit(&data, process->seed + (uint64_t)n, theta, tmp);
    weft_gauss_set(&process->gauss, theta);
    process->fit_resource = resource;
    process->fit_results = n;
}

static int is_same(const weft_process_point *one, const weft_process_point *two)
{
    return one->trial == two->trial && !(fabs(one->share - two->share) > 0);
}

/* The process has the points row[n]; of these, the first that it has already stay. */
static void set_rows(weft_process *process, int64_t n, const weft_process_point *row)
{
    double *x = WEFT_NEW(process->past.mem, double, process->gauss.width);
    int64_t same = 0;
    while (same < n && same < process->gauss.n && is_same(&process->row[same], &row[same]))
        same++;
    weft_gauss_keep(&process->gauss, same);
    for (int64_t i = same; i < n; i++) {
        weft_process_place(process, process->past.trial[row[i].trial].conf, row[i].share,
                           x);
        weft_gauss_add(&process->gauss, x);
        WEFT_REGROW(process->kept, process->row, i, &process->roomrow);
        process->row[i] = row[i];
    }
}

/* Appends the last trials, at most `most`, that have no result at this resource: those in
 * flight, and those that were stopped before, which would be proposed again and again
 * otherwise. */
static void add_believed(weft_process *process, const struct results *all, int64_t most)
{
    char *known = WEFT_NEW(process->past.mem, char, process->past.n);
    for (int64_t i = 0; i < all->n; i++)
        if (!(all->result[i].excess > 0)) known[all->result[i].id] = 1;
    int64_t first = process->past.n, count = 0;
    while (first > 0 && count < most) {
        first--;
        count += !known[first];
    }
    for (int64_t i = first; i < process->past.n; i++)
        if (!known[i]) process->point[process->npoint++] = (weft_process_point){i, 1};
}

/* Chooses what it learns from: less of it the more workers wait, as a try costs the square
 * of it. */
static void choose(weft_process *process, const weft_past_level *level, int64_t turns,
                   int64_t number)
{
    struct results all = results_of(process, level->resource, number);
    double share = turns > 1 ? sqrt(2 / (double)turns) : 1;
    int64_t most = (int64_t)(share * WEFT_PROCESS_RESULTS), part = turns > 1 ? 1 : PART;
    weft_rank *pick = WEFT_NEW(process->past.mem, weft_rank, all.n);
    fit(process, &all, level->resource, turns > 1 ? anew_crowded : anew);
    process->known = process->npoint =
        choose_results(process, &all, all.n, most, part, pick);
    for (int64_t i = 0; i < process->known; i++) {
        process->point[i] = (weft_process_point){pick[i].id, 1 - pick[i].excess};
        process->y[i] = pick[i].loss;
    }
    scale_losses(process->known, process->y);
    add_believed(process, &all, (int64_t)(fmax(share, 0.25) * WEFT_PROCESS_BELIEVED));
    process->chosen = process->begun = process->past.n;
}

void weft_process_learn(weft_process *process, const weft_past_level *level, int64_t number)
{
    int64_t turns = weft_past_turns(&process->past);
    if (turns == 1 || process->npoint == 0 || process->past.n - process->chosen >= turns ||
        fabs(level->resource - process->fit_resource) > 0)
        choose(process, level, turns, number);
    while (process->begun < process->past.n)
        process->point[process->npoint++] = (weft_process_point){process->begun++, 1};
    set_rows(process, process->npoint, process->point);
    weft_gauss_learn(&process->gauss, process->known, process->y, process->past.mem);
}
