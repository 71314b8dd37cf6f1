/* Updates of a mixture on bandits whose best arm is known.
 * RUN: np=1 */
#include "tap.h"
#include "weft/space/mix.h"

enum { ARMS = 8, DRAWS = 10, ROUNDS = 2000, SEEDS = 20 };

/* Losses 1.5 .. 2.2, seen with noise of 0.1. A client's score before training is offset by
 * as much as `spread` times a normal number, and the one after it alike. */
static void play_bandit(const weft_mix_update *rule, double spread, uint64_t seed,
                        weft_mix *mix)
{
    weft_mix_update_state drift = {0};
    for (int t = 0; t < ROUNDS; t++) {
        int pick[DRAWS];
        double before[DRAWS], after[DRAWS], weight[DRAWS], z[4];
        for (int j = 0; j < DRAWS; j++) {
            weft_rng4 r = weft_rng_at(seed, WEFT_RNG_TEST, (uint64_t)t, (uint64_t)j, 0),
                      n = weft_rng_at(seed, WEFT_RNG_TEST, (uint64_t)t, (uint64_t)j, 1);
            double unit = weft_rng_unit(r.v[0]);
            weft_mix_pick(mix, &unit, &pick[j]);
            weft_rng_normal(&n, z);
            before[j] = 3 + spread * z[1];
            after[j] = 1.5 + .1 * pick[j] + .1 * z[0] + spread * z[1];
            weight[j] = 1. / DRAWS;
        }
        weft_mix_update_step(rule, &drift, mix, DRAWS, pick, before, after, weight);
    }
}

/* Probabilities at the end, mean over seeds, into p[ARMS]. */
static void mean_end(const weft_mix_update *rule, double spread, double *p)
{
    memset(p, 0, ARMS * sizeof *p);
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        size_t mark = weft_arena_mark(mem);
        weft_mix mix = weft_mix_new(ARMS, 0, mem);
        play_bandit(rule, spread, seed, &mix);
        for (int i = 0; i < ARMS; i++) p[i] += exp(mix.logp[i]) / SEEDS;
        weft_arena_reset(mem, mark);
    }
}

static void test_bandit(void)
{
    double p[ARMS];
    weft_mix_update mw = {
        .schedule = WEFT_UPDATE_HORIZON, .horizon = ROUNDS, .discount = 1, .floor = .01};
    mean_end(&mw, 0, p);
    ok(p[0] > .9, "multiplicative weights find the best arm: %.4f", p[0]);
    weft_mix_update open = mw;
    open.horizon = 0;
    mean_end(&open, 0, p);
    ok(p[0] > .9, "so they do without a horizon: %.4f", p[0]);

    /* with the released defaults: a discount of its own for each trial */
    double sum = 0;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        weft_rng4 rng = weft_rng_at(seed, WEFT_RNG_TUNER, 0, 0, 0);
        weft_mix_update fedex = {.schedule = WEFT_UPDATE_AGGRESSIVE,
                                 .discount = weft_rng_unit(rng.v[0])};
        weft_mix mix = weft_mix_new(ARMS, 0, mem);
        play_bandit(&fedex, 0, seed, &mix);
        sum += exp(mix.logp[0]) / SEEDS;
    }
    ok(sum > .9, "FedEx finds it: %.4f", sum);
}

/* The literal rule settles where all arms are punished alike: p_i s_i is the same for all.
 * Around it z has a restoring drift of (b / sqrt n) p s and a variance a round of
 * (b / n) p s^2, so a stationary one of s / (2 sqrt n); p then has a standard deviation of
 * p sqrt(s / (2 sqrt n)), 0.02 for p = 1/8 and s = 1.85, and its mean over 20 seeds
 * one of 0.004. Five of those are allowed. */
static void test_literal(void)
{
    double p[ARMS], sum = 0, off = 0;
    weft_mix_update literal = {.schedule = WEFT_UPDATE_AS_PUBLISHED, .horizon = ROUNDS};
    mean_end(&literal, 0, p);
    for (int i = 0; i < ARMS; i++) sum += 1 / (1.5 + .1 * i);
    for (int i = 0; i < ARMS; i++) off = worse(off, fabs(p[i] - 1 / (1.5 + .1 * i) / sum));
    is_near(off, 0, 5 * .02 / sqrt(SEEDS), "the literal rule stays near 1 / s: best %.4f",
            p[0]);
}

/* Clients differ by ten times what arms do: only differences see the arms. */
static void test_difference(void)
{
    double p[ARMS];
    weft_mix_update rule = {.schedule = WEFT_UPDATE_HORIZON,
                            .horizon = ROUNDS,
                            .discount = 1,
                            .floor = .01,
                            .diff = 1};
    mean_end(&rule, 5, p);
    ok(p[0] > .9, "differences find the best arm among unequal clients: %.4f", p[0]);
    rule.diff = 0;
    mean_end(&rule, 5, p);
    ok(p[0] < .9, "scores after training alone do not: %.4f", p[0]);
}

MAIN(alone, test_bandit, test_literal, test_difference)
