/* Time of an ask and a tell of asynchronous halving: name,results,microseconds per job,
 * with 1,920 jobs in flight.
 * RUN: np=1 */
#include "workers.h"

enum { WORKERS = 1920 };

static double loss_of(int64_t trial, int index)
{
    weft_rng4 rng = weft_rng_at(1, WEFT_RNG_TEST, (uint64_t)trial, (uint64_t)index, 0);
    return weft_rng_unit(rng.v[0]);
}

/* Seconds that `jobs` jobs take, each told WORKERS jobs after it was asked. */
static double time_of(const char *options, int64_t jobs)
{
    mem = weft_arena_new();
    struct sim sim = {.tuner = &weft_tuner_asha,
                      .options =
                          printed("trials = 0\njobs = %lld\n%s", (long long)jobs, options),
                      .configs = 1};
    must(sim_setup(&sim, NULL));
    weft_job *flying = WEFT_NEW(mem, weft_job, WORKERS);
    weft_result res = weft_result_new(1, 0, mem);
    double start = weft_now();
    for (int64_t i = 0; i < jobs; i++) {
        weft_job *slot = &flying[i % WORKERS];
        if (i >= WORKERS) {
            res.trial = slot->trial;
            res.loss = loss_of(slot->trial, slot->index);
            sim.tuner->tell(sim.self, &res);
        }
        if (sim.tuner->ask(sim.self, slot) != WEFT_JOB) weft_die("asha ends early");
    }
    double seconds = weft_now() - start;
    weft_arena_free(mem);
    return seconds;
}

int main(void)
{
    printf("name,results,us\n");
    for (int64_t n = 10000; n <= 1000000; n *= 10)
        printf("asha,%lld,%.3g\n", (long long)n, 1e6 * time_of("", n) / (double)n);
    return 0;
}
