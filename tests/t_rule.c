/* Updates of a mixture: steps by hand, against the released FedEx (tests/gold/fedex.py),
 * of products of simplexes, and with extreme values.
 * RUN: np=1 */
#include "packed.h"

enum { MOST = 64 }; /* clients or entries of a small test */

static double total(const weft_mix *mix, int b)
{
    double sum = 0;
    for (int i = weft_mix_off(mix, b); i < weft_mix_off(mix, b + 1); i++)
        sum += exp(mix->logp[i]);
    return sum;
}

/* ---- steps by hand ---- */

enum { K = 3 };
static const double start[K] = {.5, .3, .2};
static const int hand_pick[2] = {0, 2};
static const double hand_before[2] = {.7, 1}, hand_after[2] = {.4, .9},
                    hand_weight[2] = {.25, .75};

static weft_mix hand_mix(void)
{
    weft_mix mix = weft_mix_new(K, 0, mem);
    for (int i = 0; i < K; i++) mix.logp[i] = log(start[i]);
    return mix;
}

/* Two rounds of the same scores by the rule; the second must move by step * grad. */
static void moves(const char *about, weft_mix_update rule, double step,
                  const double grad[K], int rounds)
{
    weft_mix mix = hand_mix();
    weft_mix_update_state drift = {0};
    double want[K], sum = 0, off = 0;
    for (int t = 0; t < rounds; t++) {
        for (int i = 0; i < K; i++) mix.logp[i] = log(start[i]);
        weft_mix_update_step(&rule, &drift, &mix, 2, hand_pick, hand_before, hand_after,
                             hand_weight);
    }
    for (int i = 0; i < K; i++) sum += want[i] = start[i] * exp(-step * grad[i]);
    for (int i = 0; i < K; i++) off = worse(off, fabs(exp(mix.logp[i]) - want[i] / sum));
    is_near(off, 0, 1e-15, "%s", about);
}

static const weft_mix_update horizon = {.schedule = WEFT_UPDATE_HORIZON,
                                        .horizon = 16,
                                        .discount = 1},
                             so_far = {.schedule = WEFT_UPDATE_HORIZON, .discount = 1},
                             literal = {.schedule = WEFT_UPDATE_AS_PUBLISHED,
                                        .horizon = 16,
                                        .eta = 9},
                             adaptive = {.schedule = WEFT_UPDATE_ADAPTIVE};

static void test_by_hand(void)
{
    double eta = sqrt(2 * log(K)), mean = .25 * .4 + .75 * .9;
    /* of the first round, whose baseline is 0, and of those after it, by the mean */
    const double first[K] = {.25 * .4 / .5, 0, .75 * .9 / .2};
    const double later[K] = {.25 * (.4 - mean) / .5, 0, .75 * (.9 - mean) / .2};
    const double raw[K] = {.4, 0, .9}, diff[K] = {.25 * -.3 / .5, 0, .75 * -.1 / .2};
    const double floored[K] = {first[0], 0, .75 * .9 / .3};
    double norm = first[2], next = later[2];
    moves("constant: eta", (weft_mix_update){.schedule = WEFT_UPDATE_CONSTANT}, eta, first,
          1);
    moves("eta may be given",
          (weft_mix_update){.schedule = WEFT_UPDATE_CONSTANT, .eta = .1}, .1, first, 1);
    moves("the second round has a baseline",
          (weft_mix_update){.schedule = WEFT_UPDATE_CONSTANT, .discount = .5}, eta, later,
          2);
    moves("root: the second step is smaller",
          (weft_mix_update){.schedule = WEFT_UPDATE_ROOT}, eta / sqrt(2), later, 2);
    moves("aggressive: divided by the largest entry",
          (weft_mix_update){.schedule = WEFT_UPDATE_AGGRESSIVE}, eta / norm, first, 1);
    moves("adaptive: by the root of the sum of squares", adaptive,
          eta / sqrt(norm * norm + next * next), later, 2);
    moves("scale: eta^2", (weft_mix_update){.schedule = WEFT_UPDATE_SCALE}, eta * eta,
          first, 1);
    moves("horizon: by the root of the rounds", horizon, eta / 4, later, 2);
    moves("the first round by its own mean", horizon, eta / 4, later, 1);
    moves("of those so far without one", so_far, eta / sqrt(2), later, 2);
    moves("literal: exp(-s / sqrt n), no more", literal, 1. / 4, raw, 2);
    moves("differences are scores",
          (weft_mix_update){.schedule = WEFT_UPDATE_CONSTANT, .diff = 1}, eta, diff, 1);
    moves("a floor bounds the weight of the rare",
          (weft_mix_update){.schedule = WEFT_UPDATE_CONSTANT, .floor = .9}, eta, floored,
          1);
    moves("still is still", (weft_mix_update){0}, 0, first, 3);
}

/* Of three entries one is eliminated: step size and floor are those of two. */
static void test_eliminated(void)
{
    weft_mix mix = hand_mix();
    weft_mix_update_state drift = {0};
    weft_mix_update rule = {.schedule = WEFT_UPDATE_CONSTANT, .floor = .9};
    mix.logp[0] = log(.8);
    mix.logp[1] = -INFINITY;
    weft_mix_update_step(&rule, &drift, &mix, 2, hand_pick, hand_before, hand_after,
                         hand_weight);
    double apart = sqrt(2 * log(2)) * (.75 * .9 / .45 - .25 * .4 / .8);
    is_near(mix.logp[0] - mix.logp[2], log(.8 / .2) + apart, 1e-14,
            "a floor is a share of those that are not eliminated");
    is_near(mix.logp[1], -INFINITY, 0, "which stay so");
}

static void test_discount(void)
{
    weft_mix mix = weft_mix_new(K, 0, mem);
    weft_mix_update_state drift = {0};
    weft_mix_update rule = {.schedule = WEFT_UPDATE_ROOT, .discount = .5};
    double weight = 1, after[3] = {1, 3, 2};
    int pick = 0;
    for (int t = 0; t < 3; t++)
        weft_mix_update_step(&rule, &drift, &mix, 1, &pick, NULL, &after[t], &weight);
    is_near(drift.base / drift.mass, (2 + .5 * 3 + .25 * 1) / 1.75, 1e-15,
            "the baseline weighs rounds by their age");
    is_near(drift.steps, 3, 0, "rounds are counted");
}

/* ---- the released program ---- */

static const char *const words[] = {"constant", "auto", "adaptive", "aggressive", "scale"};
static const weft_update_schedule named[] = {WEFT_UPDATE_CONSTANT, WEFT_UPDATE_ROOT,
                                             WEFT_UPDATE_ADAPTIVE, WEFT_UPDATE_AGGRESSIVE,
                                             WEFT_UPDATE_SCALE};

struct gold {
    char sched[16];
    weft_mix_update rule;
    int rounds, clients, nblock, off[WEFT_MAX_BLOCKS + 1];
    weft_mix mix;
};

static int read_head(FILE *in, struct gold *gold)
{
    int diff;
    double discount, eta;
    if (fscanf(in, "%15s %d %lf %lf %d %d %d", gold->sched, &diff, &discount, &eta,
               &gold->rounds, &gold->clients, &gold->nblock) != 7)
        return 0;
    gold->rule = (weft_mix_update){.eta = eta, .discount = discount, .diff = diff};
    for (int i = 0; i < 5; i++)
        if (strcmp(words[i], gold->sched) == 0) gold->rule.schedule = named[i];
    static const int axis[WEFT_MAX_BLOCKS] = {0};
    for (int b = 0; b < gold->nblock; b++) {
        int size;
        weft_check(fscanf(in, "%d", &size) == 1, "fedex.txt ends");
        gold->off[b + 1] = gold->off[b] + size;
    }
    gold->mix = weft_mix_new(gold->off[gold->nblock], 1, mem);
    weft_mix_divide(&gold->mix, gold->nblock, gold->off, axis);
    return 1;
}

/* Plays one round as it is written; returns how far the mixture is from what is written
 * then. */
static double play_round(FILE *in, struct gold *gold, weft_mix_update_state *drift)
{
    int pick[MOST];
    double before[MOST], after[MOST], weight[MOST], off = 0;
    for (int j = 0; j < gold->clients; j++) {
        for (int b = 0; b < gold->nblock; b++) {
            int *p = &pick[j * gold->nblock + b];
            weft_check(fscanf(in, "%d", p) == 1, "fedex.txt ends");
            *p += gold->off[b];
        }
        weft_check(fscanf(in, "%lf %lf %lf", &before[j], &after[j], &weight[j]) == 3,
                   "fedex.txt ends");
    }
    weft_mix_update_step(&gold->rule, drift, &gold->mix, gold->clients, pick, before, after,
                         weight);
    for (int i = 0; i < gold->mix.k; i++) {
        double z;
        weft_check(fscanf(in, "%lf", &z) == 1, "fedex.txt ends");
        off = worse(off, fabs(gold->mix.logp[i] - z) / fmax(1, fabs(z)));
    }
    return off;
}

static void test_gold(void)
{
    FILE *in = gold_of("fedex.txt");
    int n = 0;
    for (struct gold gold = {.rounds = 0}; read_head(in, &gold); n++) {
        weft_mix_update_state drift = {0};
        double off = 0;
        for (int t = 0; t < gold.rounds; t++)
            off = worse(off, play_round(in, &gold, &drift));
        /* z is rounded a few times a round, in another order */
        is_near(off, 0, 1e-12, "%s%s, %d blocks: as the released program", gold.sched,
                gold.rule.diff ? " of differences" : "", gold.nblock);
    }
    fclose(in);
    ok(n == 15, "all cases were read");
}

/* ---- products of simplexes ---- */

enum { DRAWS = 10, ROUNDS = 2000 };

enum { BLOCKS = 3 };
static const int off[BLOCKS + 1] = {0, 5, 7, 11}, axis[BLOCKS] = {2, 0, 3};

/* Entries 0 .. 4 are values of axis 2, then 2 of axis 0, then 4 of axis 3. */
static weft_mix grid_mix(void)
{
    const double centre[4] = {-1, -2, -3, -4};
    weft_mix mix = weft_mix_new(off[BLOCKS], 4, mem);
    weft_mix_divide(&mix, BLOCKS, off, axis);
    for (int b = 0; b < BLOCKS; b++)
        for (int i = off[b]; i < off[b + 1]; i++) {
            memcpy(mix.conf + 4 * i, centre, sizeof centre);
            mix.conf[4 * i + axis[b]] = i - off[b];
        }
    return mix;
}

static void test_product(void)
{
    weft_mix mix = grid_mix();
    is_near(weft_mix_entropy(&mix), log(5 * 2 * 4), 1e-14,
            "a product's entropy is the sum");
    const double unit[BLOCKS] = {.99, .49, .5};
    int pick[BLOCKS];
    double conf[4];
    weft_mix_pick(&mix, unit, pick);
    weft_mix_compose(&mix, pick, conf);
    ok(pick[0] == 4 && pick[1] == 5 && pick[2] == 9, "an entry of each block is drawn");
    ok(conf[0] == 0 && conf[1] == -2 && conf[2] == 4 && conf[3] == 2,
       "and they make one configuration");

    double cum[11];
    weft_mix_cumulate(&mix, cum);
    ok(weft_mix_find(cum + 7, 4, .5) == 2 && cum[4] == 1 && cum[6] == 1,
       "tables are a block's own");
}

static void test_product_rounds(void)
{
    weft_mix mix = grid_mix();
    int pick[BLOCKS];
    double conf[4], cum[11];
    weft_mix_update rule = {
        .schedule = WEFT_UPDATE_HORIZON, .horizon = ROUNDS, .discount = 1};
    weft_mix_update_state drift = {0};
    for (int t = 0; t < ROUNDS; t++) {
        int picks[DRAWS * BLOCKS];
        double after[DRAWS], weight[DRAWS], z[4];
        for (int j = 0; j < DRAWS; j++) {
            weft_rng4 r = weft_rng_at(1, WEFT_RNG_TEST, (uint64_t)t, (uint64_t)j, 0),
                      n = weft_rng_at(1, WEFT_RNG_TEST, (uint64_t)t, (uint64_t)j, 1);
            for (int b = 0; b < BLOCKS; b++) cum[b] = weft_rng_unit(r.v[b]);
            weft_mix_pick(&mix, cum, picks + BLOCKS * j);
            weft_mix_compose(&mix, picks + BLOCKS * j, conf);
            weft_rng_normal(&n, z);
            after[j] = 2 + .1 * fabs(conf[2] - 3) + .1 * conf[0] + .1 * fabs(conf[3] - 1) +
                       .1 * z[0];
            weight[j] = 1. / DRAWS;
        }
        weft_mix_update_step(&rule, &drift, &mix, DRAWS, picks, NULL, after, weight);
    }
    weft_mix_best(&mix, pick);
    weft_mix_compose(&mix, pick, conf);
    ok(pick[0] == 3 && pick[1] == 5 && pick[2] == 8, "the best of each axis is found");
    ok(exp(mix.logp[3]) > .9 && exp(mix.logp[5]) > .9 && exp(mix.logp[8]) > .9, "for sure");
    for (int b = 0; b < BLOCKS; b++)
        is_near(total(&mix, b), 1, 1e-12, "block %d sums to 1", b);
    ok(conf[0] == 0 && conf[1] == -2 && conf[2] == 3 && conf[3] == 1,
       "and makes the likeliest configuration");
}

static void test_copy(void)
{
    weft_mix mix = grid_mix();
    weft_mix copy = weft_mix_new(mix.k, mix.dim, mem),
             plain = weft_mix_new(mix.k, mix.dim, mem);
    weft_mix_copy(&copy, &mix);
    memcpy(plain.conf, mix.conf, (size_t)(mix.k * mix.dim) * sizeof *mix.conf);
    memcpy(plain.logp, mix.logp, (size_t)mix.k * sizeof *mix.logp);
    size_t n, ncopy, nplain;
    const void *a = packed(&mix, &n), *b = packed(&copy, &ncopy);
    ok(n == ncopy && memcmp(a, b, n) == 0, "a copy of a product is one");
    const int other[BLOCKS] = {2, 1, 3};
    copy.axis = other;
    ok(memcmp(a, packed(&copy, &ncopy), n) != 0, "the packed form shows the axes");
    packed(&plain, &nplain);
    ok(nplain < n, "and the blocks");
}

/* ---- extremes ---- */

static int is_sound(const weft_mix *mix)
{
    for (int i = 0; i < mix->k; i++)
        if (!(mix->logp[i] <= 0 && mix->logp[i] > -INFINITY)) return 0;
    return fabs(total(mix, 0) - 1) < 1e-12;
}

/* A thousand arms, of which rounds kill all but a few; draws of what is hardly there, and
 * scores of all kinds. */
static void test_thousand(void)
{
    const double strange[] = {NAN, INFINITY, -INFINITY, 1e300, -1e300, 1e99, 0, -5e-324};
    enum { ALL = 1000, N = 10, STRANGE = LEN(strange) };
    const weft_update_schedule all[] = {WEFT_UPDATE_CONSTANT,    WEFT_UPDATE_ROOT,
                                        WEFT_UPDATE_ADAPTIVE,    WEFT_UPDATE_AGGRESSIVE,
                                        WEFT_UPDATE_SCALE,       WEFT_UPDATE_HORIZON,
                                        WEFT_UPDATE_AS_PUBLISHED};
    for (int s = 0; s < 7; s++) {
        weft_mix mix = weft_mix_new(ALL, 0, mem);
        weft_mix_update rule = {.schedule = all[s], .discount = .5};
        weft_mix_update_state drift = {0};
        int sound = 1;
        for (int t = 0; t < 3000; t++) {
            int pick[N];
            double score[N], weight[N];
            for (int j = 0; j < N; j++) {
                weft_rng4 rng = weft_rng_at(7, WEFT_RNG_TEST, (uint64_t)t, (uint64_t)j, 0);
                double unit = weft_rng_unit(rng.v[0]);
                weft_mix_pick(&mix, &unit, &pick[j]);
                if (rng.v[1] % 3 == 0) pick[j] = (int)(rng.v[2] % ALL);
                score[j] = pick[j] + (double)(rng.v[3] % 100);
                if (t % 10 == 0) score[j] = strange[rng.v[3] % STRANGE];
                weight[j] = 1. / N;
            }
            weft_mix_update_step(&rule, &drift, &mix, N, pick, NULL, score, weight);
            sound &= is_sound(&mix);
        }
        ok(sound && isfinite(drift.base) && isfinite(drift.mass),
           "a thousand arms stay finite and sum to 1, schedule %d, entropy %.3f",
           (int)all[s], weft_mix_entropy(&mix));
    }
}

static void test_nothing(void)
{
    weft_mix mix = hand_mix(), before = hand_mix();
    weft_mix_update_state drift = {0};
    weft_mix_update rule = {.schedule = WEFT_UPDATE_AGGRESSIVE};
    const double nan[2] = {NAN, INFINITY};
    weft_mix_update_step(&rule, &drift, &mix, 0, NULL, NULL, NULL, NULL);
    weft_mix_update_step(&rule, &drift, &mix, 2, hand_pick, NULL, nan, hand_weight);
    ok(memcmp(mix.logp, before.logp, K * sizeof *mix.logp) == 0 && drift.steps <= 0,
       "a round without scores changes nothing");
    const double half[2] = {NAN, .9}, whole[2] = {.9, .9};
    weft_mix_update_step(&rule, &drift, &mix, 2, hand_pick, NULL, half, hand_weight);
    drift = (weft_mix_update_state){0};
    weft_mix_update_step(&rule, &drift, &before, 2, hand_pick, NULL, whole, hand_weight);
    ok(memcmp(mix.logp, before.logp, K * sizeof *mix.logp) == 0,
       "NaN counts as the worst of the others");
    mix.logp[1] = -INFINITY;
    weft_mix_update_step(&rule, &drift, &mix, 2, hand_pick, NULL, hand_after, hand_weight);
    ok(isinf(mix.logp[1]) && fabs(total(&mix, 0) - 1) < 1e-15,
       "eliminated entries stay so");
    weft_mix one = weft_mix_new(1, 0, mem);
    const int zero[2] = {0, 0};
    weft_mix_update_step(&rule, &drift, &one, 2, zero, NULL, hand_after, hand_weight);
    ok(one.logp[0] == 0, "one arm stays where it is");
}

/* Chi-square of n picks, with as many degrees of freedom as entries less one; its standard
 * deviation is sqrt(2 df), and five are allowed. */
static void test_frequencies(void)
{
    enum { N = 100000 };
    weft_mix mix = grid_mix();
    const double grad[11] = {0, 1, 2, 3, 4, 0, 2, 1, 0, 1, 0};
    weft_mix_step(&mix, .5, grad);
    double count[11] = {0}, unit[BLOCKS];
    for (int s = 0; s < N; s++) {
        weft_rng4 rng = weft_rng_at(3, WEFT_RNG_PICK, 0, (uint64_t)s, 0);
        int pick[BLOCKS];
        for (int b = 0; b < BLOCKS; b++) unit[b] = weft_rng_unit(rng.v[b]);
        weft_mix_pick(&mix, unit, pick);
        for (int b = 0; b < BLOCKS; b++) count[pick[b]] += 1;
    }
    for (int b = 0; b < BLOCKS; b++) {
        int df = off[b + 1] - off[b] - 1;
        double chi = 0;
        for (int i = off[b]; i < off[b + 1]; i++)
            chi += pow(count[i] - N * exp(mix.logp[i]), 2) / (N * exp(mix.logp[i]));
        is_near(chi, df, 5 * sqrt(2. * df), "block %d is drawn as its probabilities say",
                b);
    }
}

MAIN(alone, test_by_hand, test_eliminated, test_discount, test_gold, test_product,
     test_product_rounds, test_copy, test_thousand, test_nothing, test_frequencies)
