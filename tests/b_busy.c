/* Which share of the time the workers of a search are busy, as far as proposals are what
 * they wait for:
 *     b_busy NAME OPTIONS WORKERS TRIALS FUNCTION ...
 * prints name, version, function, workers, seed, trials, that share in %, milliseconds of
 * processor time of a proposal with what it is told before, on average and at most, and the
 * regret of what looked best after all trials; for SEEDS seeds of the environment, else 1,
 * from FIRST on, else from 1000. A trial takes a worker SECONDS, else 10, times a draw from
 * 0.5 .. 1.5. Results are told in the order of virtual time, which knows nothing of
 * proposals. Each of those takes the processor time that was measured here, one after the
 * other, and its worker waits for it: all leaders of a run compute every proposal, each at
 * this pace. RUN: np=1 */
#include "functions.h"

enum { TRIALS = 100 };

struct worker {
    weft_job job;
    double ends;        /* in virtual time */
    double began, over; /* with the time of proposals */
    double value, seen;
};

struct line {
    const struct function *function;
    struct minimizer *minimizer;
    int workers;
    double seconds; /* of a trial, on average */
    uint64_t seed;
    double now;          /* when the last proposal was ready */
    double sum, longest; /* of proposals, seconds */
    double best, worth;
};

/* A number of the environment, or the other one. */
static double number_of(const char *name, double other)
{
    return getenv(name) ? atof(getenv(name)) : other;
}

/* 0: the search has no more trials. */
static int ask(struct line *line, struct worker *worker, double start)
{
    const struct function *function = line->function;
    if (weft_search_ask(&line->minimizer->search, &worker->job) != WEFT_JOB) return 0;
    double took = processor_seconds() - start;
    uint64_t trial = (uint64_t)worker->job.trial;
    weft_rng4 rng = weft_rng_at(line->seed, WEFT_RNG_TEST, trial, 1, 1);
    double length = line->seconds * (0.5 + weft_rng_unit(rng.v[0]));
    line->now += took;
    line->sum += took;
    line->longest = fmax(line->longest, took);
    worker->ends += length;
    worker->began = line->now;
    worker->over = line->now + length;
    worker->value = function->value(worker->job.mix.conf) - function->minimum;
    worker->seen = worker->value;
    if (function->noise > 0)
        worker->seen += function->noise * normal_of(line->seed, (int64_t)trial, 0, 0);
    return 1;
}

static void tell(struct line *line, const struct worker *worker)
{
    if (worker->seen < line->best) {
        line->best = worker->seen;
        line->worth = worker->value;
    }
    minimizer_tell(line->minimizer, &worker->job, worker->seen, worker->job.resource);
}

static int first_of(int n, const struct worker *all)
{
    int first = 0;
    for (int i = 1; i < n; i++)
        if (all[i].ends < all[first].ends) first = i;
    return first;
}

/* The share of the workers' time until the last proposal. */
static double run(struct line *line)
{
    struct worker *all = WEFT_NEW(mem, struct worker, line->workers);
    double busy = 0;
    int n = 0, more = 1;
    while (n < line->workers && ask(line, &all[n], processor_seconds())) n++;
    while (more) {
        struct worker *worker = &all[first_of(n, all)], was = *worker;
        line->now = fmax(line->now, worker->over);
        double start = processor_seconds();
        tell(line, worker);
        worker->seen = INFINITY;
        more = ask(line, worker, start);
        if (more) busy += was.over - was.began;
    }
    for (int i = 0; i < n; i++) {
        busy += fmin(all[i].over, line->now) - all[i].began;
        if (all[i].seen < INFINITY) tell(line, &all[i]);
    }
    return busy / (line->workers * line->now);
}

int main(int argc, char **argv)
{
    mem = weft_arena_new();
    int workers = argc > 3 ? atoi(argv[3]) : 2, trials = argc > 4 ? atoi(argv[4]) : TRIALS;
    int first = (int)number_of("FIRST", 1000), last = first + (int)number_of("SEEDS", 1);
    const char *name = argc > 1 ? argv[1] : "random", *options = argc > 2 ? argv[2] : "";
    for (int i = argc > 5 ? 5 : argc - 1; i < argc; i++)
        for (int seed = first; seed < last; seed++) {
            size_t mark = weft_arena_mark(mem);
            const char *at = argc > 5 ? argv[i] : "branin";
            struct line line = {.function = function_named(at),
                                .workers = workers,
                                .seconds = number_of("SECONDS", 10),
                                .seed = (uint64_t)seed,
                                .best = INFINITY};
            line.minimizer = minimizer_new(line.function->axes, options, trials, line.seed);
            double share = run(&line);
            printf("%s\t%s\t%s\t%d\t%d\t%d\t%.2f\t%.3f\t%.1f\t%.6g\n", name, WEFT_VERSION,
                   at, workers, seed, trials, 100 * share, 1e3 * line.sum / trials,
                   1e3 * line.longest, line.worth);
            fflush(stdout);
            weft_arena_reset(mem, mark);
        }
    weft_arena_free(mem);
    return 0;
}
