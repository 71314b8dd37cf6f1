/* Confidence intervals for the score of a population of clients: coverage for clients as
 * unequal as in LEAF's Shakespeare, also for pooled rounds with changing weights, and
 * closed forms.
 * RUN: np=1 */
#include "tap.h"
#include "task/fed/round.h"
#include "weft/base/random.h"
#include "weft/math/linear.h"

#include <string.h>

enum { CLIENTS = 660, MAX_COHORT = 100, RESAMPLES = 1000, POPULATIONS = 8 };

struct clients {
    double weight[CLIENTS], score[CLIENTS];
    weft_population all;
    double truth;
};

/* Sizes lognormal with mean 3743 and s.d. 6212, a tenth of each for validation and at most
 * `cap`; error rates: logistic in N(0.1, 0.3^2) + slope x standardised log size, observed
 * on the validation samples (normal approximation of the binomial). */
static void draw_clients(struct clients *clients, uint64_t number, double cap, double slope)
{
    double mean = 3743.2, sd = 6212.26;
    double variance = log1p(sd * sd / (mean * mean));
    double total = 0;
    clients->all = (weft_population){0, 0};
    for (int c = 0; c < CLIENTS; c++) {
        weft_rng4 rng = weft_rng_at(number, WEFT_RNG_TEST, (uint64_t)c, 0, 0);
        double z[4];
        weft_rng_normal(&rng, z);
        double size = exp(log(mean) - variance / 2 + sqrt(variance) * z[0]);
        double w = fmin(cap, fmax(1, floor(size / 10)));
        double rate = 1 / (1 + exp(-(0.1 + 0.3 * z[1] + slope * z[0])));
        double seen = rate + sqrt(rate * (1 - rate) / w) * z[2];
        clients->weight[c] = w;
        clients->score[c] = fmax(0, fmin(1, round(seen * w) / w));
        clients->all.sum += w;
        clients->all.square += w * w;
        total += w * clients->score[c];
    }
    clients->truth = total / clients->all.sum;
}

/* m clients without replacement. */
static void draw_sample(const struct clients *clients, int m, uint64_t number,
                        double *weight, double *score)
{
    int order[CLIENTS];
    for (int c = 0; c < CLIENTS; c++) order[c] = c;
    for (int i = 0; i < m; i++) {
        weft_rng4 rng = weft_rng_at(number, WEFT_RNG_TEST, (uint64_t)i, (uint64_t)m, 1);
        int j = i + (int)(weft_rng_unit(rng.v[0]) * (CLIENTS - i));
        int c = order[j];
        order[j] = order[i];
        weight[i] = clients->weight[c];
        score[i] = clients->score[c];
    }
}

/* The interval from m clients with these weights and scores. */
static weft_interval interval(int m, const double *weight, const double *score,
                              weft_population all)
{
    double x = 0, q = 0, total = 0, around = 0;
    int drawn = 0;
    for (int i = 0; i < m; i++) {
        x += weight[i];
        q += weight[i] * weight[i];
        total += weight[i] * score[i];
        drawn += weight[i] > 0;
    }
    double mean = total / x;
    for (int i = 0; i < m; i++) {
        double d = score[i] - mean;
        around += weight[i] * d * d;
    }
    return weft_interval_of(drawn, x, q, mean, around, all);
}

/* Half the usual interval: variance of the linearised ratio, finite population. */
static double usual(int m, const double *weight, const double *score, double mean)
{
    double x = 0, square = 0;
    for (int i = 0; i < m; i++) {
        double e = weight[i] * (score[i] - mean);
        x += weight[i];
        square += e * e;
    }
    double rest = 1 - (double)m / CLIENTS;
    return weft_student(m - 1) * sqrt(rest * m / (m - 1.0) * square) / x;
}

/* Share of resamples of m clients whose interval covers the population's score; *plain of
 * the usual one. */
static double coverage(const struct clients *clients, int m, double *plain)
{
    int covered = 0, by_plain = 0;
    for (int r = 0; r < RESAMPLES; r++) {
        double weight[MAX_COHORT], score[MAX_COHORT];
        draw_sample(clients, m, (uint64_t)r, weight, score);
        weft_interval i = interval(m, weight, score, clients->all);
        covered += fabs(i.score - clients->truth) <= i.half;
        by_plain += fabs(i.score - clients->truth) <= usual(m, weight, score, i.score);
    }
    *plain = (double)by_plain / RESAMPLES;
    return (double)covered / RESAMPLES;
}

/* Coverage depends on who a population's few largest clients are: the mean over populations
 * is what can be promised. */
static void test_coverage(const char *what, double cap, double slope)
{
    static const int sizes[] = {10, 20, 50, 100};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        double mean = 0, lowest = 1, highest = 0, plain = 0;
        for (int k = 0; k < POPULATIONS; k++) {
            static struct clients clients;
            double usual_one;
            draw_clients(&clients, (uint64_t)k, cap, slope);
            double share = coverage(&clients, sizes[s], &usual_one);
            mean += share / POPULATIONS;
            plain += usual_one / POPULATIONS;
            lowest = fmin(lowest, share);
            highest = worse(highest, share);
        }
        note("%s, m = %d: %.1f %% (%.1f to %.1f), the usual interval %.1f %%", what,
             sizes[s], 100 * mean, 100 * lowest, 100 * highest, 100 * plain);
        ok(mean >= 0.93 && mean <= 0.97,
           "%s: intervals from %d clients cover in 93 to 97 of 100", what, sizes[s]);
    }
}

/* A population in which every single one of the resampling experiments must hold. */
static void test_one(void)
{
    static struct clients clients;
    draw_clients(&clients, 1, INFINITY, 0);
    static const int sizes[] = {20, 50, 100};
    for (int s = 0; s < 3; s++) {
        double plain;
        double share = coverage(&clients, sizes[s], &plain);
        note("m = %d: %.1f %%, the usual interval %.1f %%", sizes[s], 100 * share,
             100 * plain);
        ok(share >= 0.93 && share <= 0.97,
           "one skewed population: %d clients cover it in 930 to 970 of 1000", sizes[s]);
    }
}

/* ---- pooled rounds ---- */

/* Scores of all clients at the weights of a round: those of `clients`, moved for all by
 * `trend` a round and a random walk of that many points a step, and for each client by a
 * walk of its own, as weights that were trained on some suit some. */
static void move_scores(struct clients *clients, uint64_t number, int round, double trend,
                        double common, double own)
{
    double z[4], sum = 0;
    weft_rng4 rng = weft_rng_at(number, WEFT_RNG_TEST, (uint64_t)round, 0, 2);
    weft_rng_normal(&rng, z);
    double all = trend + common * z[0];
    for (int c = 0; c < CLIENTS; c++) {
        rng = weft_rng_at(number, WEFT_RNG_TEST, (uint64_t)round, (uint64_t)c, 3);
        weft_rng_normal(&rng, z);
        clients->score[c] += all + own * z[0];
        sum += clients->weight[c] * clients->score[c];
    }
    clients->truth = sum / clients->all.sum;
}

/* Intervals of pools of POOL cohorts, as the records of the task make them: shares that
 * cover the mean over the rounds of the score of all clients, *mean, and that at the last,
 * *last. */
static void pool_rounds(double trend, double *mean, double *last)
{
    enum { POOL = 10, COHORT = 10, TRIES = 150 };
    fed_task task = {.options.score = FED_LOSS, .balance.worst = 100};
    weft_population unlimited = {INFINITY, 0};
    *mean = *last = 0;
    for (int k = 0; k < POPULATIONS; k++)
        for (int e = 0; e < TRIES; e++) {
            static struct clients clients;
            uint64_t number = (uint64_t)(k * TRIES + e);
            double truth = 0;
            fed_score_sums pool = {0};
            draw_clients(&clients, (uint64_t)k, INFINITY, 0);
            for (int round = 0; round < POOL; round++) {
                double weight[COHORT], score[COHORT];
                move_scores(&clients, number, round, trend, 0.005, 0.02);
                truth += clients.truth / POOL;
                draw_sample(&clients, COHORT, number * POOL + (uint64_t)round, weight,
                            score);
                for (int j = 0; j < COHORT; j++) {
                    fed_client_result told = {.count = weight[j],
                                              .loss = {0, weight[j] * score[j]}};
                    fed_sums_add(&task, &pool, &told);
                }
            }
            weft_interval interval = fed_sums_score(&pool, unlimited);
            *mean += (fabs(interval.score - truth) <= interval.half) /
                     (double)(POPULATIONS * TRIES);
            *last += (fabs(interval.score - clients.truth) <= interval.half) /
                     (double)(POPULATIONS * TRIES);
        }
}

/* Clients of a round are drawn by chance whatever the rounds before it were, so the errors
 * of rounds are uncorrelated, however the weights of one depend on the others. */
static void test_pool(void)
{
    static const double trend[] = {0, -0.002, -0.01};
    for (int e = 0; e < 3; e++) {
        double mean, last;
        pool_rounds(trend[e], &mean, &last);
        note(
            "pools, moving by %g a round: mean of the rounds %.1f %%, last weights %.1f %%",
            trend[e], 100 * mean, 100 * last);
        ok(mean >= 0.92 && mean <= 0.98, "a pool covers the mean of its rounds");
        if (e == 2) ok(last < 0.7, "not the last weights, where these are better");
    }
}

static void test_forms(void)
{
    /* Quantiles of printed tables. */
    is_near(weft_student(1), 12.7062047362, 1e-9, "Student's t of 1 degree of freedom");
    is_near(weft_student(2), 4.3026527297, 1e-9, "of 2");
    is_near(weft_student(9), 2.2621571628, 1e-9, "of 9");
    is_near(weft_student(30), 2.0422724563, 1e-9, "of 30");
    is_near(weft_student(100000), 1.9599877, 1e-6, "of 100,000");

    const double weight[4] = {3, 3, 3, 0}, score[4] = {0.25, 0.5, 0.75, 1};
    weft_population twelve = {36, 108};
    weft_interval i = interval(4, weight, score, twelve);
    is_near(i.score, 0.5, 1e-15, "a client without samples does not count");
    is_near(i.half, weft_student(2) * 0.25 * sqrt(1 / 3.0 - 1 / 12.0), 1e-14,
            "equal weights give the textbook's interval of a mean");
    weft_interval whole = interval(4, weight, score, (weft_population){9, 27});
    is_near(whole.half, 0, 0, "all clients leave no doubt");
    weft_interval one = interval(1, weight, score, twelve);
    ok(isinf(one.half), "one client says nothing of the spread");
    weft_interval none = interval(1, weight + 3, score, twelve);
    ok(isnan(none.score) && isinf(none.half), "no samples give no score");
}

/* Of a client with more samples than are scored some from everywhere among them are. */
static void test_spread(void)
{
    static const int64_t want[] = {0, 2, 5, 7};
    int good = 1;
    for (int i = 0; i < 4; i++) good &= fed_spread(i, 4, 10) == want[i];
    ok(good, "four samples of ten are spread over them");
    ok(fed_spread(9, 10, 10) == 9, "ten are all");
}

int main(void)
{
    test_spread();
    test_forms();
    test_one();
    test_coverage("sizes of Shakespeare", INFINITY, 0);
    test_coverage("larger clients do worse", INFINITY, 0.1);
    test_coverage("at most 64 samples a client", 64, 0);
    test_pool();
    return tap_done();
}
