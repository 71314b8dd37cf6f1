/* Test functions with known minima for samplers, and searches on them: a sampler proposes,
 * and several workers evaluate at a time. */
#ifndef WEFT_TEST_FUNCTIONS_H
#define WEFT_TEST_FUNCTIONS_H

#include "parts.h"
#include "tap.h"

struct arguments {
    double x[20];
    int i[5], a, b, c, d, e, f, g, h, k, l, m;
};

#define REAL_ARGUMENT(j)                                                                   \
    WEFT_REAL_OPT("x" #j, struct arguments, x[j], "0", -1000, 1e5, "a number",             \
                  .role = WEFT_PER_TRIAL)
#define WHOLE_ARGUMENT(j)                                                                  \
    WEFT_INT_OPT("i" #j, struct arguments, i[j], "0", -100, 2000, "a whole number",        \
                 .role = WEFT_PER_TRIAL)
#define CHOICE_ARGUMENT(n, of)                                                             \
    WEFT_CHOICE_OPT(#n, struct arguments, n, "p", of, "a choice", .role = WEFT_PER_TRIAL)
static const weft_opt argument_opts[] = {
    REAL_ARGUMENT(0),
    REAL_ARGUMENT(1),
    REAL_ARGUMENT(2),
    REAL_ARGUMENT(3),
    REAL_ARGUMENT(4),
    REAL_ARGUMENT(5),
    REAL_ARGUMENT(6),
    REAL_ARGUMENT(7),
    REAL_ARGUMENT(8),
    REAL_ARGUMENT(9),
    REAL_ARGUMENT(10),
    REAL_ARGUMENT(11),
    REAL_ARGUMENT(12),
    REAL_ARGUMENT(13),
    REAL_ARGUMENT(14),
    REAL_ARGUMENT(15),
    REAL_ARGUMENT(16),
    REAL_ARGUMENT(17),
    REAL_ARGUMENT(18),
    REAL_ARGUMENT(19),
    WHOLE_ARGUMENT(0),
    WHOLE_ARGUMENT(1),
    WHOLE_ARGUMENT(2),
    WHOLE_ARGUMENT(3),
    WHOLE_ARGUMENT(4),
    CHOICE_ARGUMENT(a, "p|q|r"),
    CHOICE_ARGUMENT(b, "p|q"),
    CHOICE_ARGUMENT(c, "p|q"),
    CHOICE_ARGUMENT(d, "p|q|r|s"),
    CHOICE_ARGUMENT(e, "a|b|c|d"),
    CHOICE_ARGUMENT(f, "a|b|c|d|e"),
    CHOICE_ARGUMENT(g, "a|b|c|d|e|f"),
    CHOICE_ARGUMENT(h, "a|b|c|d|e|f|g"),
    CHOICE_ARGUMENT(k, "a|b|c|d|e|f|g|h"),
    CHOICE_ARGUMENT(l, "a|b|c|d"),
    CHOICE_ARGUMENT(m, "a|b|c|d|e|f|g|h|i|j|k|l|m|n|o|p"),
    {0}};
static const weft_kind argument_kind =
    WEFT_KIND("f", struct arguments, argument_opts, "arguments");

/* Values in the order of the options above, of those that the axes name. */
struct function {
    const char *name, *axes; /* of section [f] */
    double (*value)(const double *v);
    double minimum;
    double noise; /* standard deviation of what is told */
};

static const double PI = 3.14159265358979323846;

static inline double branin(const double *v)
{
    double x = v[0], y = v[1];
    double a = y - 5.1 / (4 * PI * PI) * x * x + 5 / PI * x - 6;
    return a * a + 10 * (1 - 1 / (8 * PI)) * cos(x) + 10;
}

static inline double hartmann(int n, const double *v, const double *a, const double *p)
{
    static const double alpha[4] = {1, 1.2, 3, 3.2};
    double sum = 0;
    for (int i = 0; i < 4; i++) {
        double e = 0;
        for (int j = 0; j < n; j++)
            e += a[i * n + j] * (v[j] - p[i * n + j]) * (v[j] - p[i * n + j]);
        sum -= alpha[i] * exp(-e);
    }
    return sum;
}

static const double hartmann3_a[12] = {3, 10, 30, .1, 10, 35, 3, 10, 30, .1, 10, 35};
static const double hartmann3_p[12] = {.3689, .1170, .2673, .4699, .4387, .7470,
                                       .1091, .8732, .5547, .0381, .5743, .8828};

static inline double hartmann3(const double *v)
{
    return hartmann(3, v, hartmann3_a, hartmann3_p);
}

static const double hartmann6_a[24] = {10, 3,   17,  3.5, 1.7, 8, .05, 10, 17,  .1, 8,  14,
                                       3,  3.5, 1.7, 10,  17,  8, 17,  8,  .05, 10, .1, 14};
static const double hartmann6_p[24] = {
    .1312, .1696, .5569, .0124, .8283, .5886, .2329, .4135, .8307, .3736, .1004, .9991,
    .2348, .1451, .3522, .2883, .3047, .6650, .4047, .8828, .8732, .5743, .1091, .0381};

static inline double hartmann6(const double *v)
{
    return hartmann(6, v, hartmann6_a, hartmann6_p);
}

static inline double ackley5(const double *v)
{
    double square = 0, wave = 0;
    for (int j = 0; j < 5; j++) {
        square += v[j] * v[j] / 5;
        wave += cos(2 * PI * v[j]) / 5;
    }
    return 20 + exp(1.) - 20 * exp(-.2 * sqrt(square)) - exp(wave);
}

/* The second and the fourth argument whole. */
static inline double rosenbrock4(const double *v)
{
    const double x[4] = {v[0], v[2], v[1], v[3]};
    double sum = 0;
    for (int j = 0; j < 3; j++) {
        double a = x[j + 1] - x[j] * x[j], b = 1 - x[j];
        sum += 100 * a * a + b * b;
    }
    return sum;
}

/* Least value 0 at ones. Levy, Montalvo, SIAM J. Sci. Stat. Comput. 6, 1985. */
static inline double levy5(const double *v)
{
    double w[5], sum = 0;
    for (int j = 0; j < 5; j++) w[j] = 1 + (v[j] - 1) / 4;
    for (int j = 0; j < 4; j++) {
        double s = sin(PI * w[j] + 1);
        sum += (w[j] - 1) * (w[j] - 1) * (1 + 10 * s * s);
    }
    double first = sin(PI * w[0]), last = sin(2 * PI * w[4]);
    return first * first + sum + (w[4] - 1) * (w[4] - 1) * (1 + last * last);
}

/* Styblinski, Tang, Neural Networks 3, 1990. */
static inline double styblinski4(const double *v)
{
    double sum = 0;
    for (int j = 0; j < 4; j++) {
        double x = v[j];
        sum += (x * x * x * x - 16 * x * x + 5 * x) / 2;
    }
    return sum;
}

/* C, tol, n_min, n_span, weight, stop, regulariser. */
static inline double text(const double *v)
{
    static const double weight[3] = {.02, .01, 0};
    double c = log10(v[0]), tol = log10(v[1]);
    double fit = v[6] > 0 ? .002 * (c - 1) * (c - 1) : .01 + .003 * c * c;
    return .03 * (v[2] - 1) + .02 * fabs(v[2] + v[3] - 2) + weight[(int)v[4]] +
           .005 * v[5] + fit + .002 * (tol + 5);
}

/* x, u, v, k, m: only what m chooses counts. */
static inline double tree(const double *v)
{
    if (v[4] < 1) return .15 + (v[0] - .3) * (v[0] - .3);
    if (v[4] > 1) return .1 + .01 * fabs(v[3] - 13);
    double u = log10(v[1]) + 2.5;
    return .25 * u * u + (v[2] - .7) * (v[2] - .7);
}

/* Eight axes of all kinds. */
static inline double mixed8(const double *v)
{
    static const double step[4] = {.3, 0, .2, .5};
    double sum = (v[0] - .3) * (v[0] - .3) + (v[1] - .6) * (v[1] - .6);
    sum += .1 * (log10(v[2]) + 3) * (log10(v[2]) + 3);
    sum += .1 * (log10(v[3]) + 1) * (log10(v[3]) + 1);
    sum += 4e-4 * (v[4] - 40) * (v[4] - 40) + .02 * fabs(v[5] - 7);
    return sum + (v[6] > 0 ? 0 : .2) + step[(int)v[7]] +
           .5 * (v[0] - .3) * (v[4] - 40) / 50;
}

/* As many axes as of text CNNs. */
static inline double fifteen(const double *v)
{
    double sum = 0;
    for (int j = 0; j < 8; j++) sum += (v[j] - .1 * j) * (v[j] - .1 * j);
    for (int j = 8; j < 11; j++) sum += 1e-4 * (v[j] - 40) * (v[j] - 40);
    return sum + (v[11] > 0) * .1 + (v[12] > 0) * .1 + (v[13] < 1) * .1 + .1 * v[14];
}

static const struct function functions[] = {
    {"branin", "x0 = -5 .. 10\nx1 = 0 .. 15\n", branin, 0.39788735772973816, 0},
    {"hartmann3", "x0 = 0 .. 1\nx1 = 0 .. 1\nx2 = 0 .. 1\n", hartmann3, -3.862779787332660,
     0},
    {"hartmann6",
     "x0 = 0 .. 1\nx1 = 0 .. 1\nx2 = 0 .. 1\nx3 = 0 .. 1\nx4 = 0 .. 1\nx5 = 0 .. 1\n",
     hartmann6, -3.322368011415515, 0},
    {"ackley5",
     "x0 = -32.768 .. 32.768\nx1 = -32.768 .. 32.768\nx2 = -32.768 .. 32.768\n"
     "x3 = -32.768 .. 32.768\nx4 = -32.768 .. 32.768\n",
     ackley5, 0, 0},
    {"rosenbrock4", "x0 = -5 .. 10\nx1 = -5 .. 10\ni0 = -5 .. 10\ni1 = -5 .. 10\n",
     rosenbrock4, 0, 0},
    {"levy5",
     "x0 = -10 .. 10\nx1 = -10 .. 10\nx2 = -10 .. 10\nx3 = -10 .. 10\nx4 = -10 .. 10\n",
     levy5, 0, 0},
    {"styblinski4", "x0 = -5 .. 5\nx1 = -5 .. 5\nx2 = -5 .. 5\nx3 = -5 .. 5\n", styblinski4,
     -4 * 39.16616570377142, 0},
    {"text",
     "x0 = log 1e-5 .. 1e5\nx1 = log 1e-5 .. 1e-3\ni0 = 1 .. 3\ni1 = 0 .. 2\n"
     "a = p | q | r\nb = p | q\nc = p | q\n",
     text, 0, 0},
    {"flat", "x0 = 0 .. 1\nx1 = log 1e-4 .. 1\nx2 = 0 .. 1\ni0 = 1 .. 20\na = p | q | r\n",
     tree, 0, 0},
    {"tree",
     "x0 = 0 .. 1 when a = p\nx1 = log 1e-4 .. 1 when a = q\nx2 = 0 .. 1 when a = q\n"
     "i0 = 1 .. 20 when a = r\na = p | q | r\n",
     tree, 0, 0},
    {"mixed8",
     "x0 = 0 .. 1\nx1 = 0 .. 1\nx2 = log 1e-6 .. 1\nx3 = log 1e-4 .. 10\n"
     "i0 = 1 .. 100\ni1 = 1 .. 12\nb = p | q\nd = p | q | r | s\n",
     mixed8, 0, 0},
    {"fifteen",
     "x0 = 0 .. 1\nx1 = 0 .. 1\nx2 = 0 .. 1\nx3 = 0 .. 1\nx4 = 0 .. 1\nx5 = 0 .. 1\n"
     "x6 = 0 .. 1\nx7 = 0 .. 1\ni0 = 1 .. 100\ni1 = 1 .. 100\ni2 = 1 .. 15\n"
     "a = p | q | r\nb = p | q\nc = p | q\nd = p | q | r | s\n",
     fifteen, 0, 0},
    {"noisy", "x0 = -5 .. 10\nx1 = 0 .. 15\n", branin, 0.39788735772973816, 5},
};
enum { NFUNCTION = LEN(functions) };

#include "functions_more.h"

static inline const struct function *function_named(const char *name)
{
    for (int i = 0; i < NFUNCTION; i++)
        if (strcmp(functions[i].name, name) == 0) return &functions[i];
    for (int i = 0; i < NMORE; i++)
        if (strcmp(more_functions[i].name, name) == 0) return &more_functions[i];
    weft_die("there is no function %s", name);
}

/* A search of `trials` on axes, by "[run]\nsampler = ..." and what else is to be said. */
struct minimizer {
    weft_search search;
    weft_space space;
    int64_t asked;
};

static inline weft_status minimizer_begin(struct minimizer *minimizer, const char *axes,
                                          const char *options, int64_t trials,
                                          uint64_t seed)
{
    weft_conf conf;
    const weft_tuner *tuner;
    const weft_kind *kinds[] = {&argument_kind};
    *minimizer = (struct minimizer){.asked = 0};
    weft_conf_init(&conf, mem);
    TRY(weft_conf_text(
        &conf, "minimizer.ini",
        printed("[space]\nconfigs = %lld\n[f]\n%s%s\n", (long long)trials, axes, options)));
    TRY(weft_tuner_find(chosen(&conf, "tuner", "random"), &tuner));
    TRY(weft_space_read(&minimizer->space, &conf, kinds, 1, seed, mem));
    TRY(search_bind(&minimizer->search, tuner, &conf));
    return weft_search_setup(&minimizer->search, &minimizer->space, seed, mem);
}

static inline struct minimizer *minimizer_new(const char *axes, const char *options,
                                              int64_t trials, uint64_t seed)
{
    struct minimizer *minimizer = WEFT_NEW(mem, struct minimizer, 1);
    must(minimizer_begin(minimizer, axes, options, trials, seed));
    return minimizer;
}

static inline void minimizer_tell(struct minimizer *minimizer, const weft_job *job,
                                  double loss, double cost)
{
    double arm[WEFT_ARM_COLUMNS] = {0};
    weft_result res = weft_result_in(1, arm);
    res.job = job->id;
    res.trial = job->trial;
    res.resource = job->resource;
    res.loss = loss;
    res.cost = cost;
    weft_search_tell(&minimizer->search, &res);
}

/* The sampler alone sees trial n with that configuration: in flight, or told if its loss is
 * not NAN. */
static inline void sampler_sees(struct minimizer *minimizer, int64_t n, const double *conf,
                                double loss)
{
    weft_observation seen = {.conf = conf, .resource = 1, .loss = loss};
    minimizer->search.sampler->pending(minimizer->search.sampler_self, n, conf, 1);
    if (!isnan(loss))
        minimizer->search.sampler->told(minimizer->search.sampler_self, n, &seen);
}

/* What it proposes for trial n. */
static inline void sampler_proposes(struct minimizer *minimizer, int64_t n, double *conf)
{
    minimizer->search.sampler->propose(minimizer->search.sampler_self, n, conf);
}

/* The regret of what looked best after each trial into regret[trials]; `workers` trials are
 * asked for, then all of them are told, and so on. conf  [trials][dim] or NULL. */
static inline void minimizer_run(const struct function *function, const char *options,
                                 int64_t trials, int workers, uint64_t seed, double *regret,
                                 double *conf)
{
    size_t mark = weft_arena_mark(mem);
    struct minimizer *minimizer = minimizer_new(function->axes, options, trials, seed);
    int dim = minimizer->space.dim;
    weft_job *job = WEFT_NEW(mem, weft_job, workers);
    double *value = WEFT_NEW(mem, double, 2 * workers), *seen = value + workers;
    double best = INFINITY, worth = INFINITY;
    for (int64_t i = 0; i < trials;) {
        int n = 0;
        while (n < workers && weft_search_ask(&minimizer->search, &job[n]) == WEFT_JOB) {
            const double *v = job[n].mix.conf;
            if (conf) memcpy(conf + (i + n) * dim, v, (size_t)dim * sizeof *v);
            value[n] = function->value(v) - function->minimum;
            seen[n] = value[n] + function->noise * normal_of(seed, (i + n), 0, 0);
            n++;
        }
        weft_check(n > 0, "the search ends after %lld trials", (long long)i);
        for (int j = 0; j < n; j++) {
            if (seen[j] < best) {
                best = seen[j];
                worth = value[j];
            }
            minimizer_tell(minimizer, &job[j], seen[j], job[j].resource);
            regret[i++] = worth;
        }
    }
    weft_arena_reset(mem, mark);
}

/* ---- statistics ---- */

static inline int rising(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

/* The share q of the way through x[n], which is sorted by it; numpy's. */
static inline double quantile(int n, double *x, double q)
{
    qsort(x, (size_t)n, sizeof *x, rising);
    double at = q * (n - 1);
    int i = (int)at;
    return i + 1 < n ? x[i] + (at - i) * (x[i + 1] - x[i]) : x[n - 1];
}

/* Regrets after `trials` trials of the searches with seeds first, first + 1 ...:
 * last[runs]; those of a FEW repeated.
 */
static inline void last_regrets(const char *name, const char *options, int trials,
                                int workers, int runs, uint64_t first, double *last)
{
    double *regret = WEFT_NEW(mem, double, trials);
    for (int s = 0; s < runs; s++) {
        if (s < FEW(runs))
            minimizer_run(function_named(name), options, trials, workers,
                          first + (uint64_t)s, regret, NULL);
        last[s] = regret[trials - 1];
    }
}

/* P(U <= that of x below y) of Mann and Whitney's test, by its normal approximation with
 * correction for ties and continuity: small where x[n] is smaller than y[m]. */
static inline double smaller(int n, const double *x, int m, const double *y)
{
    double u = 0, ties = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) u += x[i] > y[j] ? 1 : x[i] < y[j] ? 0 : .5;
    for (int i = 0; i < n + m; i++) {
        double a = i < n ? x[i] : y[i - n];
        double t = 0;
        for (int j = 0; j < n + m; j++) t += !(fabs(a - (j < n ? x[j] : y[j - n])) > 0);
        ties += t * t - 1;
    }
    double all = n + m;
    double sd = sqrt(n * m / 12. * (all + 1 - ties / (all * (all - 1))));
    return sd > 0 ? .5 * erfc(-(u - n * m / 2. + .5) / sd / sqrt(2)) : 1;
}

/* 1: each of n configurations of the function "tree" has the axes that its others call for,
 * and no more. */
static inline int tree_is_kept(const double *conf, int n)
{
    int good = 1;
    for (int i = 0; i < n; i++) {
        const double *v = conf + 5 * i, m = v[4];
        good &= isnan(v[0]) == (m > 0) && isnan(v[1]) == (m < 1 || m > 1) &&
                isnan(v[2]) == (m < 1 || m > 1) && isnan(v[3]) == (m < 2);
    }
    return good;
}

/* ---- what the proposals of a model depend on ---- */

static inline double bowl(const double *v)
{
    return (v[0] - .3) * (v[0] - .3) + (v[1] - .6) * (v[1] - .6);
}

/* Proposal n of a sampler that has seen n draws of the bowl, times scale, and is asked
 * after each `every`. */
typedef void proposal_after(int n, int every, double scale, double *conf);

/* n[4] draws, the last so many that models are made of a part of them. */
static inline void check_asked(proposal_after *proposal, const int *n)
{
    for (int i = 0; i < 4; i++) {
        double one[2], two[2];
        proposal(n[i], i == 3 ? 61 : 5, 1, one);
        proposal(n[i], 10000, 1, two);
        ok(memcmp(one, two, sizeof one) == 0,
           "%d draws: the proposals before this one make no difference", n[i]);
        ok(bowl(one) < .01, "it is near the best: %.2g", bowl(one));
    }
}

static inline void check_sizes(proposal_after *proposal, double largest)
{
    const double scale[4] = {1e-300, 1e-9, 1e12, largest};
    for (int i = 0; i < 4; i++) {
        double conf[2];
        proposal(40, 10000, scale[i], conf);
        ok(bowl(conf) < .02, "losses of size %g: it is near the best: %.2g", scale[i],
           bowl(conf));
    }
}

#endif
