/* When a mixture converges: nine configurations, ten clients per round, scores with
 * standard deviation 1 between clients and a mean that stays at 8 or falls from 20 to 8,
 * as losses do in training. If all configurations are equal none should reach probability
 * 0.9; one that is better by half a standard deviation, one, or two, should. `make check
 * V=1 TESTS=t_settle` prints the table of the README.
 * RUN: np=1 */
#include "tap.h"
#include "weft/space/mix.h"

enum { ARMS = 9, DRAWS = 10, ROUNDS = 400, RUNS = FEW(200), NEVER = ROUNDS + 1 };

static const double sure = 0.9;

struct method {
    const char *name;
    weft_mix_update rule;
    int drawn; /* baseline with a discount that is drawn for each run */
};

static const struct method methods[] = {
    {"fedex aggressive", {.schedule = WEFT_UPDATE_AGGRESSIVE}, 1},
    {"fedex adaptive", {.schedule = WEFT_UPDATE_ADAPTIVE}, 1},
    {"fedex root", {.schedule = WEFT_UPDATE_ROOT}, 1},
    {"mw",
     {.schedule = WEFT_UPDATE_HORIZON, .horizon = ROUNDS, .discount = 1, .floor = 0.01},
     0},
    {"racing", {.schedule = WEFT_UPDATE_RACING, .eta = 0.1}, 0},
};
enum { AGGRESSIVE, ADAPTIVE, ROOT, MW, RACING, NMETHOD };

/* How scores come: the first arm is better by `better`. */
struct bandit {
    double better;
    int falls;  /* the mean does, 1: */
    int skewed; /* 1: lognormal scores, and weights as unequal */
};

static double normal(uint64_t run, int t, int j, double *other)
{
    double z[4];
    weft_rng4 rng = weft_rng_at(run, WEFT_RNG_TEST, (uint64_t)t, (uint64_t)j, 1);
    weft_rng_normal(&rng, z);
    *other = z[1];
    return z[0];
}

/* A round: draws, scores, and the mixture's move. */
static void play(const struct bandit *bandit, const weft_mix_update *rule, uint64_t run,
                 int t, weft_mix_update_state *drift, double *evidence, weft_mix *mix)
{
    int pick[DRAWS];
    double score[DRAWS], weight[DRAWS], sum = 0;
    for (int j = 0; j < DRAWS; j++) {
        pick[j] = weft_mix_draw(mix, uniform_of(run, t, j));
        double other, noise = normal(run, t, j, &other);
        if (bandit->skewed) noise = (exp(noise) - exp(0.5)) / sqrt(exp(2) - exp(1));
        score[j] = 8 + (bandit->falls ? 12 * exp(-t / 40.0) : 0) + noise;
        if (pick[j] == 0) score[j] -= bandit->better;
        sum += weight[j] = bandit->skewed ? exp(other) : 1;
    }
    for (int j = 0; j < DRAWS; j++) weight[j] /= sum;
    if (rule->schedule == WEFT_UPDATE_RACING)
        weft_mix_race_step(rule, evidence, mix, DRAWS, pick, NULL, score, weight);
    else
        weft_mix_update_step(rule, drift, mix, DRAWS, pick, NULL, score, weight);
}

/* First round after which an arm is sure, and that arm. */
struct end {
    int round, arm;
};

static struct end play_out(const struct bandit *bandit, const struct method *method,
                           uint64_t run)
{
    size_t mark = weft_arena_mark(mem);
    weft_mix mix = weft_mix_new(ARMS, 0, mem);
    weft_mix_update_state drift = {0};
    double evidence[2 * ARMS] = {0};
    weft_mix_update rule = method->rule;
    struct end end = {NEVER, -1};
    weft_rng4 rng = weft_rng_at(run, WEFT_RNG_TUNER, 0, 0, 0);
    if (method->drawn) rule.discount = weft_rng_unit(rng.v[0]);
    for (int t = 0; t < ROUNDS && end.arm < 0; t++) {
        play(bandit, &rule, run, t, &drift, evidence, &mix);
        for (int i = 0; i < ARMS; i++)
            if (exp(mix.logp[i]) > sure) end = (struct end){t + 1, i};
    }
    weft_arena_reset(mem, mark);
    return end;
}

static int by_number(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

/* Of RUNS runs. */
struct table {
    double ten, thirty, all; /* shares that settled in so many rounds */
    double wrong;            /* share that settled on an arm that is not the best */
    int early, middle, late; /* rounds until the best is sure: 10, 50, 90 % of runs */
};

static struct table tabulate(const struct bandit *bandit, const struct method *method)
{
    struct table table = {0};
    int best[RUNS];
    for (int run = 0; run < RUNS; run++) {
        struct end end = play_out(bandit, method, (uint64_t)run);
        table.ten += (end.round <= 10) / (double)RUNS;
        table.thirty += (end.round <= 30) / (double)RUNS;
        table.all += (end.arm >= 0) / (double)RUNS;
        table.wrong += (end.arm > 0) / (double)RUNS;
        best[run] = end.arm == 0 ? end.round : NEVER;
    }
    qsort(best, RUNS, sizeof *best, by_number);
    table.early = best[RUNS / 10];
    table.middle = best[RUNS / 2];
    table.late = best[9 * RUNS / 10];
    return table;
}

/* 95 % interval of a share of RUNS. Wilson, Journal of the American Statistical Association
 * 22, 1927. */
static const char *share(double p, char text[64])
{
    double z = 1.96, n = RUNS, q = 1 + z * z / n, mid = (p + z * z / (2 * n)) / q;
    double half = z / q * sqrt(p * (1 - p) / n + z * z / (4 * n * n));
    snprintf(text, 64, "%.0f (%.0f..%.0f) %%", 100 * p, 100 * fmax(0, mid - half),
             100 * fmin(1, mid + half));
    return text;
}

static void show(const char *name, const struct bandit *bandit, const struct table *table)
{
    char a[64], b[64], c[64];
    const char *how = bandit->skewed ? ", skewed" : bandit->falls ? ", falling" : "";
    if (!(bandit->better > 0))
        note("%-16s alike%s: settled after 10 rounds in %s, 30 %s, %d %s", name, how,
             share(table->ten, a), share(table->thirty, b), ROUNDS, share(table->all, c));
    else
        note("%-16s better by %g%s: rounds %d (%d..%d), settled wrong %s", name,
             bandit->better, how, table->middle, table->early, table->late,
             share(table->wrong, a));
}

/* ---- races ---- */

/* Share of all arms that are eliminated where all are alike: each could be called the best.
 */
static double lost_alike(const struct bandit *bandit, double alpha)
{
    weft_mix_update rule = {.schedule = WEFT_UPDATE_RACING, .eta = alpha};
    double lost = 0;
    for (uint64_t run = 0; run < RUNS; run++) {
        size_t mark = weft_arena_mark(mem);
        weft_mix mix = weft_mix_new(ARMS, 0, mem);
        double evidence[2 * ARMS] = {0};
        for (int t = 0; t < ROUNDS; t++) play(bandit, &rule, run, t, NULL, evidence, &mix);
        lost += (double)(ARMS - weft_mix_alive(&mix)) / ARMS / RUNS;
        weft_arena_reset(mem, mark);
    }
    return lost;
}

/* Two clients of two entries, whose x are 1 and -1: after t rounds S = +-t and V = t, so
 * the worse one goes when sqrt(4 / (2t + 4)) exp(4 t^2 / (2 (2t + 4))) >= 1 / (2 eta). */
static void test_by_hand(void)
{
    weft_mix_update rule = {.schedule = WEFT_UPDATE_RACING, .eta = 0.01};
    const int pick[2] = {1, 0};
    const double score[2] = {3, 1}, weight[2] = {0.5, 0.5};
    double evidence[4] = {0};
    weft_mix mix = weft_mix_new(2, 0, mem);
    int t = 0, due = 1;
    while (sqrt(4 / (2. * due + 4)) * exp(4. * due * due / (4. * due + 8)) < 50) due++;
    while (weft_mix_alive(&mix) == 2 && t < 100) {
        weft_mix_race_step(&rule, evidence, &mix, 2, pick, NULL, score, weight);
        t++;
    }
    ok(t == due && mix.logp[0] == 0 && isinf(mix.logp[1]),
       "the worse of two goes in round %d", due);
    is_near(evidence[1], t, 1e-12, "S by hand");
    is_near(evidence[3], t, 1e-12, "V by hand");
    weft_mix_race_step(&rule, evidence, &mix, 2, pick, NULL, score, weight);
    ok(mix.logp[0] == 0, "the last one stays");
}

enum { ENTRIES = 4, CLIENTS = 5, LAPS = 8 };

/* One round of a race: unequal weights, entries that are drawn once or twice. */
struct lap {
    int pick[CLIENTS];
    double score[CLIENTS], weight[CLIENTS];
};

static struct lap lap_of(int t)
{
    struct lap lap;
    for (int j = 0; j < CLIENTS; j++) {
        lap.pick[j] = (t + j) % ENTRIES;
        lap.score[j] = 5 + 0.3 * lap.pick[j] + (7 * t + 3 * j) % 5 / 4.;
        lap.weight[j] = (1 + j % 3) / 9.;
    }
    return lap;
}

/* Adds its S and V, as mix.h defines them. */
static void add_lap(const struct lap *lap, double *s, double *v)
{
    double mean = 0, square = 0;
    for (int j = 0; j < CLIENTS; j++) mean += lap->weight[j] * lap->score[j];
    for (int j = 0; j < CLIENTS; j++)
        square += pow(CLIENTS * lap->weight[j] * (lap->score[j] - mean), 2) / CLIENTS;
    for (int j = 0; j < CLIENTS; j++) {
        double x = CLIENTS * lap->weight[j] * (lap->score[j] - mean) / sqrt(square);
        s[lap->pick[j]] += x;
        v[lap->pick[j]] += x * x;
    }
}

/* Runs the last lap by the rule, after the evidence of those before; `out`: an entry that
 * was eliminated already. */
static weft_mix last_lap(weft_mix_update rule, const double *before, int out,
                         double *evidence)
{
    const struct lap lap = lap_of(LAPS - 1);
    weft_mix mix = weft_mix_new(ENTRIES, 0, mem);
    if (out >= 0) mix.logp[out] = -INFINITY;
    rule.schedule = WEFT_UPDATE_RACING;
    memcpy(evidence, before, 2 * ENTRIES * sizeof *evidence);
    weft_mix_race_step(&rule, evidence, &mix, CLIENTS, lap.pick, NULL, lap.score,
                       lap.weight);
    return mix;
}

/* An entry goes at the eta from which on the inequality of mix.h holds, and not before. */
static void test_limit(int out)
{
    double all[2 * ENTRIES] = {0}, before[2 * ENTRIES], evidence[2 * ENTRIES];
    double *s = all, *v = all + ENTRIES, most = 0;
    for (int t = 0; t < LAPS; t++) {
        const struct lap lap = lap_of(t);
        memcpy(before, all, sizeof all);
        add_lap(&lap, s, v);
    }
    int lead = out == 0, right = 1, even = 1;
    for (int i = 0; i < ENTRIES; i++)
        if (i != out && s[i] < s[lead]) lead = i;
    for (int i = 0; i < ENTRIES; i++) {
        double d = s[i] - s[lead], spread = v[i] + v[lead] + 4;
        double eta = (ENTRIES - 1) / 2. * sqrt(spread / 4) * exp(-d * d / (2 * spread));
        if (i == out || i == lead) continue;
        for (int side = -1; side <= 1; side += 2) {
            weft_mix mix = last_lap((weft_mix_update){.eta = eta * (1 + side * 1e-9)},
                                    before, out, evidence);
            right &= !isinf(mix.logp[i]) == (side < 0) && !isinf(mix.logp[lead]);
            even &= fabs(mix.logp[lead] + log(weft_mix_alive(&mix))) < 1e-15;
        }
    }
    for (int e = 0; e < 2 * ENTRIES; e++) most = worse(most, fabs(evidence[e] - all[e]));
    is_near(most, 0, 1e-12, "evidence is weighed by clients, of which %d leads", lead);
    ok(right, "an entry goes as soon as the bound allows it");
    ok(even, "those that stay are drawn alike");
}

/* Differences are scores; what is no number counts as the worst; no spread is no evidence.
 */
static void test_scores(void)
{
    weft_mix_update after = {.schedule = WEFT_UPDATE_RACING, .eta = 0.1},
                    diff = {.schedule = WEFT_UPDATE_RACING, .eta = 0.1, .diff = 1};
    const int pick[3] = {0, 1, 2};
    const double before[3] = {1, 5, 2}, late[3] = {2, 7, 1}, gain[3] = {1, 2, -1},
                 weight[3] = {0.25, 0.25, 0.5}, bad[3] = {2, NAN, 1}, worst[3] = {2, 2, 1},
                 same[3] = {0.1, 0.1, 0.1}, none[3] = {NAN, INFINITY, NAN},
                 low[3] = {-0.9, -0.9, -0.9}, /* whose mean is rounded by these weights */
        fifth[3] = {0.2, 0.2, 0.6};
    double a[6] = {0}, b[6] = {0};
    weft_mix mix = weft_mix_new(3, 0, mem);
    weft_mix_race_step(&diff, a, &mix, 3, pick, before, late, weight);
    weft_mix_race_step(&after, b, &mix, 3, pick, NULL, gain, weight);
    ok(memcmp(a, b, sizeof a) == 0 && a[0] > 0, "differences are scores");
    weft_mix_race_step(&after, a, &mix, 3, pick, NULL, bad, weight);
    weft_mix_race_step(&after, b, &mix, 3, pick, NULL, worst, weight);
    ok(memcmp(a, b, sizeof a) == 0, "NaN counts as the worst of the others");
    weft_mix_race_step(&after, a, &mix, 3, pick, NULL, same, weight);
    weft_mix_race_step(&after, a, &mix, 3, pick, NULL, low, fifth);
    weft_mix_race_step(&after, a, &mix, 3, pick, NULL, none, weight);
    weft_mix_race_step(&after, a, &mix, 0, NULL, NULL, NULL, NULL);
    ok(memcmp(a, b, sizeof a) == 0 && weft_mix_alive(&mix) == 3,
       "a round that does not tell entries apart changes nothing");
}

/* A product of a block of 4 and one of 3; entry 0 of each diverges, by a score of 1e99. */
static void test_product(void)
{
    static const int off[3] = {0, 4, 7}, axis[2] = {0, 0};
    weft_mix_update rule = {.schedule = WEFT_UPDATE_RACING, .eta = 0.1};
    weft_mix mix = weft_mix_new(7, 1, mem);
    weft_mix_divide(&mix, 2, off, axis);
    double evidence[14] = {0};
    int sound = 1;
    for (int t = 0; t < 60; t++) {
        int pick[2 * DRAWS];
        double score[DRAWS], weight[DRAWS];
        for (int j = 0; j < DRAWS; j++) {
            weft_rng4 rng = weft_rng_at(2, WEFT_RNG_TEST, (uint64_t)t, (uint64_t)j, 0);
            const double unit[2] = {weft_rng_unit(rng.v[0]), weft_rng_unit(rng.v[1])};
            weft_mix_pick(&mix, unit, pick + 2 * j);
            score[j] = weft_rng_unit(rng.v[2]);
            if (pick[2 * j] == 0 || pick[2 * j + 1] == 4) score[j] = 1e99;
            weight[j] = 1. / DRAWS;
        }
        weft_mix_race_step(&rule, evidence, &mix, DRAWS, pick, NULL, score, weight);
        for (int i = 0; i < 7; i++) sound &= mix.logp[i] <= 0 && isfinite(evidence[7 + i]);
    }
    ok(sound, "sums stay finite");
    ok(isinf(mix.logp[0]) && isinf(mix.logp[4]), "what diverges goes, in each block");
    ok(weft_mix_alive(&mix) == 5, "and nothing else");
    is_near(exp(mix.logp[1]), 1. / 3, 1e-15, "those left share a block");
}

static const struct bandit bandits[] = {{0, 0, 0}, {0, 1, 0}, {0, 1, 1},  {.5, 0, 0},
                                        {1, 0, 0}, {2, 0, 0}, {.5, 1, 0}, {1, 1, 0},
                                        {2, 1, 0}, {1, 1, 1}};
enum {
    ALIKE,
    ALIKE_FALLS,
    ALIKE_SKEWED,
    HALF,
    ONE,
    TWO,
    HALF_FALLS,
    ONE_FALLS,
    TWO_FALLS,
    ONE_SKEWED,
    NGAME
};

int main(void)
{
    static struct table table[NMETHOD][NGAME];
    tap_begin();
    test_by_hand();
    test_limit(-1);
    test_limit(0); /* the best, which is out */
    test_scores();
    test_product();
    for (int g = 0; g < NGAME; g++)
        for (int a = 0; a < NMETHOD; a++) {
            table[a][g] = tabulate(&bandits[g], &methods[a]);
            show(methods[a].name, &bandits[g], &table[a][g]);
        }
    shows(table[AGGRESSIVE][ALIKE].thirty > 0.9 && table[AGGRESSIVE][ALIKE_FALLS].ten > 0.4,
          "the aggressive step settles on one of nine that are alike");
    for (int g = ALIKE; g <= ALIKE_SKEWED; g++) {
        shows(table[ADAPTIVE][g].all < 0.05, "the adaptive one does not (problem %d)", g);
        shows(table[RACING][g].all < 0.05, "a race does not (problem %d)", g);
    }
    for (int g = ALIKE; g <= ALIKE_SKEWED; g++) {
        double lost = lost_alike(&bandits[g], 0.5);
        shows(lost > 0 && lost < 0.5,
              "with alpha 0.5 an arm as good as any goes in %.1f %%", 100 * lost);
    }
    for (int g = HALF; g < NGAME; g++)
        shows(table[RACING][g].wrong < 0.02, "a race seldom loses the best (problem %d)",
              g);
    shows(table[RACING][HALF].late < 250 && table[RACING][HALF_FALLS].late < 250,
          "it finds what is better by half a standard deviation");
    shows(table[RACING][ONE].late < 75 && table[RACING][ONE_FALLS].late < 75 &&
              table[RACING][ONE_SKEWED].late < 75,
          "by one");
    shows(table[RACING][TWO].late < 30 && table[RACING][TWO_FALLS].late < 30, "by two");
    return tap_end();
}
