/* Learning curves with known least losses, and searches on them by schedules that stop
 * trials: several workers in virtual time, in which a unit of resource is a second.
 * tests/gold/functions.py has the same. */
#ifndef WEFT_TEST_FUNCTIONS_CURVES_H
#define WEFT_TEST_FUNCTIONS_CURVES_H

#include "functions.h"

enum { LONGEST = 81 }; /* the resource at which losses count */

struct curve {
    const char *name, *axes; /* of section [f] */
    double (*value)(const double *v, double r);
    double minimum; /* at LONGEST */
    double noise;   /* deviation of what is told */
    int fades;      /* 1: it falls to 0 at LONGEST, in a straight line */
};

static inline double left_of(double r)
{
    return 1 - (r - 1) / (LONGEST - 1);
}

/* Hartmann's functions of lower fidelities as in mf-prior-bench (Mallik et al.,
 * "PriorBand", NeurIPS 2023): bias (1 - z)^2 is taken from each of the four weights, z = (r
 * - 1) / (R - 1), and noise has the deviation noise (1 - z). */
static inline double biased(double (*f)(const double *v), int n, const double *a,
                            const double *p, const double *v, double by)
{
    double flat = 0;
    for (int i = 0; i < 4; i++) {
        double e = 0;
        for (int j = 0; j < n; j++)
            e += a[i * n + j] * (v[j] - p[i * n + j]) * (v[j] - p[i * n + j]);
        flat += exp(-e);
    }
    return f(v) + by * flat;
}

static inline double mfh3(const double *v, double r)
{
    return biased(hartmann3, 3, hartmann3_a, hartmann3_p, v, left_of(r) * left_of(r));
}

static inline double mfh6(const double *v, double r)
{
    return biased(hartmann6, 6, hartmann6_a, hartmann6_p, v, left_of(r) * left_of(r));
}

static inline double mfh6bad(const double *v, double r)
{
    return biased(hartmann6, 6, hartmann6_a, hartmann6_p, v, 2 * left_of(r) * left_of(r));
}

/* a + b (r^-c - R^-c): a larger rate learns faster, to a loss that is no better, and
 * diverges where it is too large. lr, x, width. */
static inline double power3(const double *v, double r)
{
    double u = log10(v[0]) / 4 + 1, x = v[1], w = log2(v[2]) / 6 - .5;
    if (u > .9) return INFINITY;
    double a = .08 + .5 * (u - .4) * (u - .4) + .3 * (x - .6) * (x - .6) +
               .1 * (u - .4) * (x - .6) + .2 * (w - .7) * (w - .7);
    double c = .15 + .9 * u;
    return a + .6 * (pow(r, -c) - pow(LONGEST, -c));
}

/* From .8 to a by an exponential of that speed. */
static inline double falling(double a, double speed, double r)
{
    double end = exp(-speed), z = r / LONGEST;
    return a + (.8 - a) * (exp(-speed * z) - end) / (1 - end);
}

/* The best are the slowest: curves cross at a third of their length and later. */
static inline double slow3(const double *v, double r)
{
    double x = v[0] - .2, y = v[1] - .7, z = sin(3 * (v[2] - .5));
    return falling(.1 + x * x + .5 * y * y + .2 * z * z, 1 + 20 * v[0], r);
}

/* Axes of all kinds; speeds differ by those that do not decide. */
static inline double chance8(const double *v, double r)
{
    return falling(.1 + .7 * (1 - exp(-mixed8(v))), 3 + 9 * v[1], r);
}

#define UNIT(j) "x" #j " = 0 .. 1\n"
static const struct curve curves[] = {
    {"mfh3", UNIT(0) UNIT(1) UNIT(2), mfh3, -3.862779787332660, .2, 1},
    {"mfh6", UNIT(0) UNIT(1) UNIT(2) UNIT(3) UNIT(4) UNIT(5), mfh6, -3.322368011415515, .2,
     1},
    {"mfh6bad", UNIT(0) UNIT(1) UNIT(2) UNIT(3) UNIT(4) UNIT(5), mfh6bad,
     -3.322368011415515, .4, 1},
    {"power3", "x0 = log 1e-4 .. 1\nx1 = 0 .. 1\ni0 = log 8 .. 512\n", power3, .08, .01, 0},
    {"slow3", UNIT(0) UNIT(1) UNIT(2), slow3, .1, .01, 0},
    {"chance8",
     "x0 = 0 .. 1\nx1 = 0 .. 1\nx2 = log 1e-6 .. 1\nx3 = log 1e-4 .. 10\n"
     "i0 = 1 .. 100\ni1 = 1 .. 12\nb = p | q\nd = p | q | r | s\n",
     chance8, .1, .01, 0},
};

/* NULL: there is none. */
static inline const struct curve *curve_named(const char *name)
{
    for (size_t i = 0; i < LEN(curves); i++)
        if (strcmp(curves[i].name, name) == 0) return &curves[i];
    return NULL;
}

/* The schedule of such searches, by its name: all with rungs of 1, 3, 9, 27 and 81. */
static inline const char *curve_options(const char *options)
{
    return printed("%s\n[asha]\nreduction = 3\nmax_resource = 81\ntrials = 0\nbudget = "
                   "1000000\n[hyperband]\nreduction = 3\nmax_resource = 81\nrepeats = "
                   "100\n[sha]\nreduction = 3\nrungs = geometric\nmax_resource = 81\n",
                   options);
}

struct curve_job {
    weft_job job;
    double end; /* in virtual time; INFINITY: the worker is free */
};

/* A search until jobs of that resource in all were told; regret[parts] of what would win
 * after each of as many equal parts of it: the trial of the most resource, and of these of
 * the least loss told, by its loss at LONGEST. told, if not NULL, is called with each
 * result. Returns the number of trials. */
static inline int64_t curve_run(const struct curve *curve, const char *options,
                                double resource, int workers, uint64_t seed, int parts,
                                double *regret)
{
    size_t mark = weft_arena_mark(mem);
    struct minimizer *minimizer =
        minimizer_new(curve->axes, curve_options(options), 1000, seed);
    struct curve_job *flying = WEFT_NEW(mem, struct curve_job, workers);
    double now = 0, spent = 0, most = 0, best = INFINITY, worth = INFINITY;
    int part = 0, more = 1;
    for (int w = 0; w < workers; w++) flying[w].end = INFINITY;
    while (part < parts) {
        int first = 0;
        for (int w = 0; w < workers && more; w++) {
            if (flying[w].end < INFINITY) continue;
            if (weft_search_ask(&minimizer->search, &flying[w].job) != WEFT_JOB) break;
            flying[w].end = now + flying[w].job.resource;
        }
        for (int w = 1; w < workers; w++)
            if (flying[w].end < flying[first].end) first = w;
        struct curve_job *next = &flying[first];
        weft_check(next->end < INFINITY, "the search ends after %g", spent);
        now = next->end;
        next->end = INFINITY;
        const weft_search_trial *trial = &minimizer->search.trial[next->job.trial];
        double r = trial->resource;
        double sd = curve->noise * (curve->fades ? left_of(r) : 1);
        double told = curve->value(trial->conf, r) +
                      sd * normal_of(seed, next->job.trial, (int64_t)r, 0);
        minimizer_tell(minimizer, &next->job, told, next->job.resource);
        spent += next->job.resource;
        if (r > most || (!(r < most) && told < best)) {
            most = r;
            best = told;
            worth = curve->value(trial->conf, LONGEST) - curve->minimum;
        }
        while (part < parts && spent >= resource * (part + 1) / parts)
            regret[part++] = worth;
    }
    int64_t trials = minimizer->search.trials;
    weft_arena_reset(mem, mark);
    return trials;
}

#endif
