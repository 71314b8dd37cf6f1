/* Bayesian optimisation for schedules that stop trials: a Gaussian process (process.h) of
 * configurations and resources learns from the results of all rungs, and proposes what is
 * best by what it predicts for the largest resource of which a result is known. Klein,
 * Tiao, Lienart, Archambeau, Seeger, "Model-based asynchronous hyperparameter and neural
 * architecture search", arXiv 2003.10865, 2020 (MOBSTER); its covariance is in gauss.h. */
#include "process.h"

static const weft_opt mobster_opts[] = {
    WEFT_LONG_OPT("design", weft_process, design, "10", 2, 1e6,
                  "number of initial trials, a Latin hypercube"),
    {0},
};

static weft_status mobster_setup(void *self, const weft_space *space, uint64_t seed,
                                 weft_arena *mem)
{
    weft_process_setup(self, "mobster", 1, space, seed, mem);
    return WEFT_OK;
}

WEFT_PLUGIN(sampler, mobster) = {
    .kind =
        WEFT_KIND("mobster", weft_process, mobster_opts,
                  "Gaussian process of learning curves: for schedules that stop trials"),
    .setup = mobster_setup,
    .propose = weft_process_propose,
    .told = weft_process_told,
    .pending = weft_past_pending,
    .enough = weft_process_enough,
    .curves = 1,
};
