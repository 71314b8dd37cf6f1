/* Mixtures of configurations: the comparison by which all rankings are made, draws, moves,
 * and the rules that move a mixture by the scores of a round's clients: exponentiated
 * gradient with the step sizes of FedEx, multiplicative weights, and races. Formulas and
 * sources stand in weft/space/mix.h. Probabilities are kept as logarithms, so that a long
 * run of steps neither under- nor overflows. */
#include "weft/space/mix.h"
#include "weft/base/base.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- ranks ---- */

weft_rank weft_rank_of(double loss, double tie, int64_t id)
{
    int sound = isfinite(loss);
    return (weft_rank){.loss = isnan(loss) ? INFINITY : loss,
                       .tie = sound && !isnan(tie) ? tie : INFINITY,
                       .id = id};
}

int weft_rank_compare(const void *left, const void *right)
{
    const weft_rank *a = left, *b = right;
    int sound = a->loss < INFINITY && b->loss < INFINITY;
    if (sound && (a->excess < b->excess || a->excess > b->excess))
        return a->excess < b->excess ? -1 : 1;
    if (a->loss < b->loss || a->loss > b->loss) return a->loss < b->loss ? -1 : 1;
    if (a->tie < b->tie || a->tie > b->tie) return a->tie < b->tie ? -1 : 1;
    return (a->id > b->id) - (a->id < b->id);
}

int weft_rank_before(weft_rank a, weft_rank b)
{
    return weft_rank_compare(&a, &b) < 0;
}

/* ---- mixtures ---- */

weft_mix weft_mix_new(int k, int dim, weft_arena *mem)
{
    weft_check(k > 0 && dim >= 0, "mixture of %d configurations of %d numbers", k, dim);
    weft_mix mix = {.k = k, .dim = dim, .nblock = 1};
    mix.id = WEFT_NEW(mem, int64_t, k);
    mix.conf = WEFT_NEW(mem, double, (size_t)k *(size_t)dim);
    mix.logp = WEFT_NEW(mem, double, k);
    for (int i = 0; i < k; i++) {
        mix.id[i] = i;
        mix.logp[i] = -log(k);
    }
    return mix;
}

int weft_mix_off(const weft_mix *mix, int b)
{
    return mix->nblock > 1 ? mix->off[b] : b * mix->k;
}

void weft_mix_divide(weft_mix *mix, int nblock, const int *off, const int *axis)
{
    weft_check(nblock > 0 && nblock <= WEFT_MAX_BLOCKS && off[0] == 0 &&
                   off[nblock] == mix->k,
               "mixture of %d configurations in %d blocks", mix->k, nblock);
    mix->nblock = nblock;
    mix->off = off;
    mix->axis = axis;
    for (int b = 0; b < nblock; b++)
        for (int i = off[b]; i < off[b + 1]; i++) mix->logp[i] = -log(off[b + 1] - off[b]);
}

void weft_mix_copy(weft_mix *to, const weft_mix *from)
{
    weft_check(to->k == from->k && to->dim == from->dim,
               "copy of a mixture of another shape");
    to->nblock = from->nblock;
    to->off = from->off;
    to->axis = from->axis;
    memcpy(to->id, from->id, (size_t)from->k * sizeof *to->id);
    memcpy(to->logp, from->logp, (size_t)from->k * sizeof *to->logp);
    if (from->dim > 0)
        memcpy(to->conf, from->conf,
               (size_t)from->k * (size_t)from->dim * sizeof *to->conf);
}

/* ---- draws ---- */

static int alive(const weft_mix *mix, int i)
{
    return mix->logp[i] > -INFINITY;
}

/* The last entry of block b that is not eliminated: it gets the part of the unit interval
 * that rounding errors leave. */
static int last_alive(const weft_mix *mix, int b)
{
    int first = weft_mix_off(mix, b);
    int i = weft_mix_off(mix, b + 1) - 1;
    while (i > first && !alive(mix, i)) i--;
    return i;
}

void weft_mix_cumulate(const weft_mix *mix, double *cum)
{
    for (int b = 0; b < mix->nblock; b++) {
        int last = last_alive(mix, b);
        double sum = 0;
        for (int i = weft_mix_off(mix, b); i < weft_mix_off(mix, b + 1); i++) {
            sum += exp(mix->logp[i]);
            cum[i] = i < last ? fmin(sum, 1) : 1;
        }
    }
}

int weft_mix_find(const double *cum, int k, double unit)
{
    int lo = 0, hi = k - 1; /* first i with cum[i] > unit lies in lo..hi */
    while (lo < hi) {
        int mid = lo + (hi - lo) / 2;
        if (cum[mid] > unit)
            hi = mid;
        else
            lo = mid + 1;
    }
    return lo;
}

static int draw_of(const weft_mix *mix, int b, double unit)
{
    int last = last_alive(mix, b);
    double sum = 0;
    for (int i = weft_mix_off(mix, b); i < last; i++) {
        sum += exp(mix->logp[i]);
        if (sum > unit) return i;
    }
    return last;
}

int weft_mix_draw(const weft_mix *mix, double unit)
{
    weft_check(mix->nblock == 1, "one draw from %d blocks", mix->nblock);
    return draw_of(mix, 0, unit);
}

void weft_mix_pick(const weft_mix *mix, const double *unit, int *pick)
{
    for (int b = 0; b < mix->nblock; b++) pick[b] = draw_of(mix, b, unit[b]);
}

/* The entry with the largest z of block b, of equal ones the first. */
static int mode_of(const weft_mix *mix, int b)
{
    int best = weft_mix_off(mix, b);
    for (int i = best + 1; i < weft_mix_off(mix, b + 1); i++)
        if (mix->logp[i] > mix->logp[best]) best = i;
    return best;
}

void weft_mix_best(const weft_mix *mix, int *pick)
{
    for (int b = 0; b < mix->nblock; b++) pick[b] = mode_of(mix, b);
}

void weft_mix_compose(const weft_mix *mix, const int *pick, double *conf)
{
    size_t dim = (size_t)mix->dim;
    if (dim > 0) memcpy(conf, mix->conf + (size_t)pick[0] * dim, dim * sizeof *conf);
    for (int b = 1; b < mix->nblock; b++)
        conf[mix->axis[b]] = mix->conf[(size_t)pick[b] * dim + (size_t)mix->axis[b]];
}

/* ---- moves ---- */

/* z <- z - log sum exp z in each block */
static void normalise(weft_mix *mix)
{
    for (int b = 0; b < mix->nblock; b++) {
        int from = weft_mix_off(mix, b), to = weft_mix_off(mix, b + 1);
        double top = mix->logp[mode_of(mix, b)];
        double sum = 0;
        for (int i = from; i < to; i++) sum += exp(mix->logp[i] - top);
        /* in this order: added to a large top, the logarithm would be rounded away */
        for (int i = from; i < to; i++) mix->logp[i] = mix->logp[i] - top - log(sum);
    }
}

void weft_mix_step(weft_mix *mix, double eta, const double *grad)
{
    for (int i = 0; i < mix->k; i++)
        if (alive(mix, i)) mix->logp[i] -= eta * grad[i];
    normalise(mix);
}

void weft_mix_halve(weft_mix *mix, const weft_rank *rank, int keep, int flat)
{
    weft_check(keep > 0 && mix->nblock == 1, "halving of %d blocks that keeps %d",
               mix->nblock, keep);
    WEFT_SCRATCH(tmp);
    weft_rank *order = WEFT_NEW(tmp, weft_rank, mix->k);
    int n = 0;
    for (int i = 0; i < mix->k; i++)
        if (alive(mix, i)) order[n++] = rank[i];
    qsort(order, (size_t)n, sizeof *order, weft_rank_compare);
    for (int e = keep; e < n; e++) mix->logp[order[e].id] = -INFINITY;
    for (int e = 0; flat && e < keep && e < n; e++) mix->logp[order[e].id] = 0;
    normalise(mix);
}

int weft_mix_alive(const weft_mix *mix)
{
    int n = 0;
    for (int i = 0; i < mix->k; i++) n += alive(mix, i);
    return n;
}

double weft_mix_entropy(const weft_mix *mix)
{
    double sum = 0;
    for (int i = 0; i < mix->k; i++)
        if (alive(mix, i)) sum -= exp(mix->logp[i]) * mix->logp[i];
    return sum;
}

/* ---- rules ---- */

static const double resolution = 0x1p-53; /* of weft_rng_unit, which draws */

/* Scores of the round; those that are not finite are replaced by the worst of the others.
 * Returns the number of finite ones. */
static int read_scores(const weft_mix_update *rule, int n, const double *before,
                       const double *after, double *score)
{
    double most = 1e100; /* so that quotients and squares of scores stay finite */
    double worst = -INFINITY;
    int sound = 0;
    for (int j = 0; j < n; j++) {
        score[j] = rule->diff ? after[j] - before[j] : after[j];
        if (!(fabs(score[j]) <= most)) continue;
        worst = fmax(worst, score[j]);
        sound++;
    }
    for (int j = 0; j < n; j++)
        if (!(fabs(score[j]) <= most)) score[j] = worst;
    return sound;
}

static int nalive(const weft_mix *mix, int b)
{
    int n = 0;
    for (int i = weft_mix_off(mix, b); i < weft_mix_off(mix, b + 1); i++)
        n += alive(mix, i);
    return n;
}

/* Gradient of block b, from scores minus baseline. Returns its largest magnitude. */
static double find_gradient(const weft_mix_update *rule, const weft_mix *mix, int b, int n,
                            const int *pick, const double *score, const double *weight,
                            double base, double *grad)
{
    double least = fmax(rule->floor / nalive(mix, b), resolution);
    for (int j = 0; j < n; j++) {
        int i = pick[j * mix->nblock + b];
        grad[i] += rule->schedule == WEFT_UPDATE_AS_PUBLISHED
                       ? score[j]
                       : weight[j] * (score[j] - base) / fmax(exp(mix->logp[i]), least);
    }
    double norm = 0;
    for (int i = weft_mix_off(mix, b); i < weft_mix_off(mix, b + 1); i++)
        norm = fmax(norm, fabs(grad[i]));
    return norm;
}

/* Step size of block b with k entries not eliminated and gradient of maximum norm
 * `norm`. */
static double step_size(const weft_mix_update *rule, weft_mix_update_state *state, int b,
                        int k, double norm)
{
    double tiny = 1e-300; /* a smaller gradient counts as 0: its inverse would overflow */
    double theory = sqrt(2 * log(k));
    double eta = rule->eta > 0 ? rule->eta : theory;
    double rounds = rule->horizon > 0 ? rule->horizon : state->steps;
    switch (rule->schedule) {
    case WEFT_UPDATE_NONE:
    case WEFT_UPDATE_SCORED: return 0;
    case WEFT_UPDATE_CONSTANT: return eta;
    case WEFT_UPDATE_ROOT: return eta / sqrt(state->steps);
    case WEFT_UPDATE_ADAPTIVE:
        state->sumsq[b] += norm * norm;
        return state->sumsq[b] > 0 ? eta / sqrt(state->sumsq[b]) : 0;
    case WEFT_UPDATE_AGGRESSIVE: return norm > tiny ? eta / norm : 0;
    case WEFT_UPDATE_SCALE: return eta * theory;
    case WEFT_UPDATE_HORIZON: return eta / sqrt(rounds);
    case WEFT_UPDATE_AS_PUBLISHED: return 1 / sqrt(rounds);
    case WEFT_UPDATE_RACING: weft_die("a race has no step size");
    }
    return 0;
}

/* The baseline that is subtracted from the scores of a round with this mean. In the first
 * round FedEx takes 0. Its scores are far from 0, so that the first step is large and
 * mostly random: on the bandit of tests/t_rule.c a sixth of the runs with steps by 1 / sqrt
 * t end on a wrong arm because of it. */
static double baseline(const weft_mix_update *rule, const weft_mix_update_state *state,
                       double mean)
{
    if (state->mass > 0) return state->base / state->mass;
    return rule->schedule == WEFT_UPDATE_HORIZON ? mean : 0;
}

/* Adds the scores of this round to the baseline of later rounds. */
static void keep_baseline(const weft_mix_update *rule, weft_mix_update_state *state,
                          double mean)
{
    state->base = rule->discount * state->base + mean;
    state->mass = rule->discount * state->mass + 1;
}

void weft_mix_update_step(const weft_mix_update *rule, weft_mix_update_state *drift,
                          weft_mix *mix, int n, const int *pick, const double *before,
                          const double *after, const double *weight)
{
    if (rule->schedule == WEFT_UPDATE_NONE || rule->schedule == WEFT_UPDATE_SCORED) return;
    WEFT_SCRATCH(tmp);
    double *score = WEFT_NEW(tmp, double, n), *grad = WEFT_NEW(tmp, double, mix->k);
    if (read_scores(rule, n, before, after, score) > 0) {
        double mean = 0;
        for (int j = 0; j < n; j++) mean += weight[j] * score[j];
        double base = baseline(rule, drift, mean);
        drift->steps += 1;
        for (int b = 0; b < mix->nblock; b++) {
            double norm = find_gradient(rule, mix, b, n, pick, score, weight, base, grad);
            double step = step_size(rule, drift, b, nalive(mix, b), norm);
            for (int i = weft_mix_off(mix, b); i < weft_mix_off(mix, b + 1); i++)
                grad[i] *= step;
        }
        weft_mix_step(mix, 1, grad);
        keep_baseline(rule, drift, mean);
    }
}

/* ---- races ---- */

/* score[j] <- n weight_j (score_j - mean) / root mean square. Returns 0 if all scores are
 * equal. */
static int standardise(int n, const double *weight, double *score)
{
    double tiny = 1e-12; /* relative to the scores: a smaller spread is rounding error */
    double mean = 0, size = 0, square = 0;
    for (int j = 0; j < n; j++) {
        mean += weight[j] * score[j];
        size = fmax(size, fabs(score[j]));
    }
    for (int j = 0; j < n; j++) {
        score[j] = n * weight[j] * (score[j] - mean);
        square += score[j] * score[j] / n;
    }
    double root = sqrt(square);
    if (!(root > tiny * size)) return 0;
    for (int j = 0; j < n; j++) score[j] /= root;
    return 1;
}

/* Eliminates entries of block b by the sums s and v; those that remain get equal
 * probabilities. */
static void eliminate(const weft_mix_update *rule, weft_mix *mix, int b, const double *s,
                      const double *v)
{
    double draws = 4; /* c of the header; the bound is tightest where V is about 15 times as
                         large */
    int from = weft_mix_off(mix, b), to = weft_mix_off(mix, b + 1);
    double limit = log((to - from - 1) / (2 * rule->eta));
    int best = -1, left = 0;
    for (int i = from; i < to; i++)
        if (alive(mix, i) && (best < 0 || s[i] < s[best])) best = i;
    for (int i = from; i < to; i++) {
        double d = s[i] - s[best], var = v[i] + v[best] + draws;
        if (d > 0 && d * d / (2 * var) - log(var / draws) / 2 >= limit)
            mix->logp[i] = -INFINITY;
        left += alive(mix, i);
    }
    for (int i = from; i < to; i++)
        if (alive(mix, i)) mix->logp[i] = -log(left);
}

void weft_mix_race_step(const weft_mix_update *rule, double *evidence, weft_mix *mix, int n,
                        const int *pick, const double *before, const double *after,
                        const double *weight)
{
    WEFT_SCRATCH(tmp);
    double *x = WEFT_NEW(tmp, double, n), *s = evidence, *v = evidence + mix->k;
    if (read_scores(rule, n, before, after, x) > 0 && standardise(n, weight, x)) {
        for (int j = 0; j < n; j++)
            for (int b = 0; b < mix->nblock; b++) {
                int i = pick[j * mix->nblock + b];
                s[i] += x[j];
                v[i] += x[j] * x[j];
            }
        for (int b = 0; b < mix->nblock; b++) eliminate(rule, mix, b, s, v);
    }
}
