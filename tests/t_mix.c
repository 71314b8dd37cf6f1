/* Mixtures and results: draws, steps, halving, packing, against their formulas.
 * RUN: np=1 */
#include "packed.h"

enum { K = 7 };

/* A mixture of K with the given probabilities; 0 is eliminated. Ids fall with the index. */
static weft_mix mix_of(const double *p)
{
    weft_mix mix = weft_mix_new(K, 2, mem);
    for (int i = 0; i < K; i++) {
        mix.id[i] = 100 - i;
        mix.conf[2 * i] = i;
        mix.conf[2 * i + 1] = -i;
        mix.logp[i] = p[i] > 0 ? log(p[i]) : -INFINITY;
    }
    return mix;
}

static double total(const weft_mix *mix)
{
    double sum = 0;
    for (int i = 0; i < mix->k; i++) sum += exp(mix->logp[i]);
    return sum;
}

static void test_new(void)
{
    weft_mix mix = weft_mix_new(3, 0, mem);
    ok(mix.k == 3 && mix.id[2] == 2, "a new mixture numbers its configurations");
    is_near(exp(mix.logp[1]), 1.0 / 3, 1e-15, "a new mixture is uniform");
    ok(weft_mix_alive(&mix) == 3, "all of a new mixture are alive");
    int best;
    weft_mix_best(&mix, &best);
    ok(best == 0, "the likeliest is the first of equals");
}

static void test_draw(void)
{
    const double p[K] = {0, .25, 0, .5, .125, .125, 0};
    weft_mix mix = mix_of(p);
    double cum[K];
    int count[K] = {0}, agree = 1;
    weft_mix_cumulate(&mix, cum);
    int n = 4096;
    for (int s = 0; s < n; s++) {
        double unit = (s + .5) / n;
        int i = weft_mix_draw(&mix, unit);
        agree &= i == weft_mix_find(cum, K, unit);
        count[i]++;
    }
    ok(agree, "table and sum draw alike");
    int exact = 1;
    for (int i = 0; i < K; i++) exact &= count[i] == (int)(p[i] * n);
    ok(exact, "draws are as frequent as the probabilities say");
    ok(weft_mix_draw(&mix, 0) == 1 && weft_mix_find(cum, K, 0) == 1,
       "0 draws the first alive");
    double top = nextafter(1, 0);
    ok(weft_mix_draw(&mix, top) == 5 && weft_mix_find(cum, K, top) == 5,
       "the largest number below 1 draws the last alive");
    int best;
    weft_mix_best(&mix, &best);
    ok(best == 3, "the likeliest is the most probable");
}

/* A thousandth is no binary fraction: the sums are rounded at every step. */
static void test_draw_rounding(void)
{
    int k = 1000;
    weft_mix mix = weft_mix_new(k, 0, mem);
    double *cum = WEFT_NEW(mem, double, k);
    weft_mix_cumulate(&mix, cum);
    int agree = 1, rising = 1;
    for (int s = 0; s < 10 * k; s++) {
        double unit = uniform_of(1, s, 0);
        agree &= weft_mix_draw(&mix, unit) == weft_mix_find(cum, k, unit);
    }
    for (int i = 1; i < k; i++) rising &= cum[i] > cum[i - 1];
    ok(agree, "table and sum draw alike among a thousand");
    ok(rising && cum[k - 1] == 1, "the table rises to 1");
    int alive = 0, short_of_one = 0;
    for (k = 2; k <= 100; k++) { /* one more, which is out, behind k of equal probability */
        mix = weft_mix_new(k + 1, 0, mem);
        double sum = 0, top = nextafter(1, 0);
        for (int i = 0; i <= k; i++) mix.logp[i] = i < k ? -log(k) : -INFINITY;
        for (int i = 0; i < k; i++) sum += exp(mix.logp[i]);
        weft_mix_cumulate(&mix, cum);
        short_of_one += sum < top;
        alive += weft_mix_draw(&mix, top) < k && weft_mix_find(cum, k + 1, top) < k;
    }
    ok(alive == 99, "what rounding leaves of 1 is not of an entry that is out");
    ok(short_of_one > 10, "which it would be for %d of 99 sums", short_of_one);
}

static void test_step(void)
{
    const double p[K] = {.3, .1, 0, .2, .2, .1, .1};
    const double grad[K] = {1, -2, 5, 0, .5, 3, -1};
    double eta = .7;
    weft_mix mix = mix_of(p);
    weft_mix_step(&mix, eta, grad);
    double sum = 0, off = 0;
    for (int i = 0; i < K; i++) sum += p[i] * exp(-eta * grad[i]);
    for (int i = 0; i < K; i++)
        off = worse(off, fabs(exp(mix.logp[i]) - p[i] * exp(-eta * grad[i]) / sum));
    is_near(off, 0, 1e-15, "a step multiplies by exp(-eta g) and normalises");
    ok(isinf(mix.logp[2]), "a step leaves the eliminated so");

    const double shift[K] = {9, 9, 9, 9, 9, 9, 9};
    weft_mix still = mix_of(p);
    weft_mix_step(&still, eta, shift);
    off = 0;
    for (int i = 0; i < K; i++) off = worse(off, fabs(exp(still.logp[i]) - p[i]));
    is_near(off, 0, 1e-15, "equal gradients move nothing");

    for (int n = 0; n < 10000; n++) weft_mix_step(&mix, eta, grad);
    is_near(exp(mix.logp[1]), 1, 1e-12, "ten thousand steps find the best");
    ok(isfinite(mix.logp[5]) && mix.logp[5] < -1000, "ten thousand steps do not underflow");
}

/* Halves by losses, and by a second number where they are equal. */
static void halve(weft_mix *mix, const double *loss, const double *tie, int keep, int flat)
{
    weft_rank rank[K];
    for (int i = 0; i < K; i++) rank[i] = weft_rank_of(loss[i], tie[i], i);
    weft_mix_halve(mix, rank, keep, flat);
}

static void test_halve(void)
{
    const double p[K] = {.3, .1, 0, .2, .2, .1, .1};
    const double loss[K] = {.5, .4, .1, NAN, .4, .4, INFINITY};
    const double tie[K] = {1, 3, 1, 1, 2, 2, 0};
    weft_mix mix = mix_of(p);
    halve(&mix, loss, tie, 2, 1);
    ok(weft_mix_alive(&mix) == 2 && mix.logp[4] > -1 && mix.logp[5] > -1,
       "of equal losses those of the lower second number stay, the eliminated stay so");
    is_near(exp(mix.logp[4]), .5, 1e-15, "flat halving makes survivors equal");

    mix = mix_of(p);
    halve(&mix, loss, tie, 4, 0);
    ok(weft_mix_alive(&mix) == 4, "halving keeps as many as asked");
    is_near(exp(mix.logp[0]), .3 / .7, 1e-15, "halving keeps proportions");
    is_near(total(&mix), 1, 1e-15, "halving normalises");

    mix = mix_of(p);
    halve(&mix, loss, tie, 5, 1);
    ok(isinf(mix.logp[6]) && !isinf(mix.logp[3]),
       "NaN is INFINITY, whatever the second number: the first of the two stays");

    mix = mix_of(p);
    halve(&mix, loss, tie, 99, 0);
    ok(weft_mix_alive(&mix) == 6, "keeping more than there are keeps all");
    const double none[K] = {NAN, NAN, NAN, NAN, NAN, NAN, NAN};
    halve(&mix, none, tie, 1, 1);
    ok(weft_mix_alive(&mix) == 1 && mix.logp[0] == 0,
       "without any finite loss the first stays");
}

static void test_pack(void)
{
    const double p[K] = {.3, .1, 0, .2, .2, .1, .1};
    weft_mix mix = mix_of(p);
    weft_mix copy = weft_mix_new(K, 2, mem);
    weft_mix_copy(&copy, &mix);
    size_t n, ncopy;
    const void *a = packed(&mix, &n);
    ok(memcmp(a, packed(&copy, &ncopy), n) == 0, "a copy packs into the same bytes");
    ok(n == ncopy, "and as many");
    int differs = 1;
    copy.logp[1] = nextafter(copy.logp[1], 0);
    differs &= memcmp(a, packed(&copy, &ncopy), n) != 0;
    weft_mix_copy(&copy, &mix);
    copy.conf[2 * K - 1] += 1;
    differs &= memcmp(a, packed(&copy, &ncopy), n) != 0;
    weft_mix_copy(&copy, &mix);
    copy.id[K - 1]++;
    differs &= memcmp(a, packed(&copy, &ncopy), n) != 0;
    ok(differs, "the packed form shows each change of z, conf and id");

    const int off[] = {0, 3, K}, axis[] = {1, 0};
    weft_mix_divide(&mix, 2, off, axis);
    weft_job job = weft_job_new(4, 1, &mix);
    weft_job_record from = weft_job_record_new(&job, mem), to;
    from.began = 3;
    from.seconds = 2.5;
    const void *record = weft_job_record_pack(&from, &n, mem);
    ok(weft_job_record_read(&to, record, mem) && to.job.mix.nblock == 2 &&
           memcmp(to.job.mix.off, off, sizeof off) == 0 &&
           memcmp(to.job.mix.axis, axis, sizeof axis) == 0,
       "blocks come back from a record");
    is_near(weft_job_record_ended(record), 5.5, 0, "which says when its job ended");
}

static void test_result(void)
{
    weft_result res = weft_result_new(3, 2, mem);
    res.job = 5;
    res.trial = 2;
    res.resource = 4;
    res.loss = INFINITY;
    res.metric[0] = .75;
    res.cost = 1.5;
    res.bound = .125;
    res.by_error = 1;
    for (int i = 0; i < 3; i++) {
        res.arm_loss[i] = 3 + i;
        res.arm_wrong[i] = 1 + i;
        res.arm_count[i] = 4 * i;
    }
    ok(isnan(weft_result_score(&res, 0)), "a configuration without samples has no score");
    is_near(weft_result_score(&res, 2), 3. / 8, 0, "the score is the error rate");
    res.by_error = 0;
    res.noised = 1;
    is_near(weft_result_score(&res, 2), 5. / 8, 0, "or the mean loss");

    for (int i = 0; i < 3; i++) {
        res.arm_score[i] = 5 - i;
        res.logp[i] = -1 - i;
    }
    weft_mix mix = weft_mix_new(3, 1, mem);
    weft_job job = weft_job_new(2, 4, &mix);
    weft_job_record from = weft_job_record_new(&job, mem), read;
    from.res = res;
    size_t n;
    const void *packed = weft_job_record_pack(&from, &n, mem);
    int good = weft_job_record_read(&read, packed, mem);
    weft_result back = read.res;
    ok(good && back.job == 5 && back.trial == 2 && back.resource == 4 && isinf(back.loss) &&
           back.nmetric == 2 && back.metric[0] == .75 && isnan(back.metric[1]) &&
           back.cost == 1.5 && back.bound == .125 && back.by_error == 0 && back.noised == 1,
       "a result comes back from its packed form");
    ok(memcmp(back.arm_loss, res.arm_loss, 3 * sizeof(double)) == 0 &&
           memcmp(back.arm_wrong, res.arm_wrong, 3 * sizeof(double)) == 0 &&
           memcmp(back.arm_count, res.arm_count, 3 * sizeof(double)) == 0 &&
           memcmp(back.arm_score, res.arm_score, 3 * sizeof(double)) == 0 &&
           memcmp(back.logp, res.logp, 3 * sizeof(double)) == 0,
       "and so do the sums of its configurations, their scores and probabilities");
}

/* An error rate is that of guesses if it is above guess - min(1.96 standard errors, 0.02).
 */
static void test_guesses(void)
{
    static const struct {
        double n, loss, guess;
        int by_error, guesses;
    } rows[] = {{2500, .480402, .5, 1, 1}, {2500, .480398, .5, 1, 0},
                {100, .4801, .5, 1, 1},    {100, .4799, .5, 1, 0},
                {100, .6, .5, 0, 0},       {100, .6, 0, 1, 0},
                {2500, .88825, .9, 1, 1},  {2500, .88823, .9, 1, 0}};
    for (size_t i = 0; i < LEN(rows); i++) {
        weft_result res = weft_result_new(2, 0, mem);
        res.loss = rows[i].loss;
        res.by_error = rows[i].by_error;
        res.arm_count[0] = rows[i].n - 40;
        res.arm_count[1] = 40;
        ok(weft_result_guesses(&res, rows[i].guess) == rows[i].guesses,
           "error %g of %g samples, guesses %g: %s", rows[i].loss, rows[i].n, rows[i].guess,
           rows[i].guesses ? "guesses" : "learnt");
    }
}

MAIN(alone, test_new, test_draw, test_draw_rounding, test_step, test_halve, test_pack,
     test_result, test_guesses)
