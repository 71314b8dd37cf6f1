/* Bayesian optimisation with a Gaussian process (process.h) as model of the losses of one
 * resource, the largest that has enough results. */
#include "process.h"

static const weft_opt gp_opts[] = {
    WEFT_LONG_OPT("design", weft_process, design, "10", 2, 1e6,
                  "number of initial trials, a Latin hypercube; also the number of results "
                  "that a resource must have to be learnt from"),
    {0},
};

static weft_status gp_setup(void *self, const weft_space *space, uint64_t seed,
                            weft_arena *mem)
{
    weft_process_setup(self, "gp", 0, space, seed, mem);
    return WEFT_OK;
}

WEFT_PLUGIN(sampler, gp) = {
    .kind = WEFT_KIND("gp", weft_process, gp_opts,
                      "Gaussian process and expected improvement: for few axes and smooth "
                      "losses"),
    .setup = gp_setup,
    .propose = weft_process_propose,
    .told = weft_process_told,
    .pending = weft_past_pending,
    .enough = weft_process_enough,
    .fronts = 1,
};
