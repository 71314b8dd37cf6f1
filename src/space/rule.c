/* Rules that move a mixture by the scores of a round's clients: exponentiated gradient with
 * the step sizes of FedEx, multiplicative weights, and races. Formulas and sources stand
 * in space.h. */
#include "weft/mix.h"
#include "weft/status.h"

#include <math.h>

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
        n += mix->logp[i] > -INFINITY;
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
    case WEFT_UPDATE_NONE: return 0;
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

static void collapse(weft_mix *mix)
{
    int best[WEFT_MAX_BLOCKS];
    weft_mix_best(mix, best);
    for (int b = 0; b < mix->nblock; b++)
        for (int i = weft_mix_off(mix, b); i < weft_mix_off(mix, b + 1); i++)
            mix->logp[i] = i == best[b] ? 0 : -INFINITY;
}

void weft_mix_update_step(const weft_mix_update *rule, weft_mix_update_state *drift,
                          weft_mix *mix, int n, const int *pick, const double *before,
                          const double *after, const double *weight)
{
    if (rule->schedule == WEFT_UPDATE_NONE) return;
    weft_arena *tmp = weft_arena_new();
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
        if (weft_mix_entropy(mix) < rule->cutoff) collapse(mix);
    }
    weft_arena_free(tmp);
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
    for (int j = 0; j < n; j++) score[j] = root > tiny * size ? score[j] / root : 0;
    return root > tiny * size;
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
        if (mix->logp[i] > -INFINITY && (best < 0 || s[i] < s[best])) best = i;
    for (int i = from; i < to; i++) {
        double d = s[i] - s[best], var = v[i] + v[best] + draws;
        if (d > 0 && d * d / (2 * var) - log(var / draws) / 2 >= limit)
            mix->logp[i] = -INFINITY;
        left += mix->logp[i] > -INFINITY;
    }
    for (int i = from; i < to; i++)
        if (mix->logp[i] > -INFINITY) mix->logp[i] = -log(left);
}

void weft_mix_race_step(const weft_mix_update *rule, double *evidence, weft_mix *mix, int n,
                        const int *pick, const double *before, const double *after,
                        const double *weight)
{
    weft_arena *tmp = weft_arena_new();
    double *x = WEFT_NEW(tmp, double, n), *s = evidence, *v = evidence + mix->k;
    if (read_scores(rule, n, before, after, x) > 0 && standardise(n, weight, x)) {
        for (int j = 0; j < n; j++)
            for (int b = 0; b < mix->nblock; b++) {
                int i = pick[j * mix->nblock + b];
                s[i] += x[j];
                v[i] += x[j] * x[j];
            }
        for (int b = 0; b < mix->nblock; b++) eliminate(rule, mix, b, s, v);
        if (weft_mix_entropy(mix) < rule->cutoff) collapse(mix);
    }
    weft_arena_free(tmp);
}
