/* No mixture: all samples of a trial take its own configuration. */
#include "weft/mixing/mixing.h"

#include <string.h>

struct single {
    weft_mix one;
};

static const weft_opt no_opts[] = {{0}};

static weft_status single_setup(void *self, const weft_mixing_env *env)
{
    struct single *single = self;
    single->one = weft_mix_new(1, env->space->dim, env->mem);
    return WEFT_OK;
}

static void single_make(void *self, int64_t id, const double *conf, weft_job *job)
{
    struct single *single = self;
    single->one.id[0] = id;
    if (single->one.dim > 0)
        memcpy(single->one.conf, conf, (size_t)single->one.dim * sizeof *conf);
    job->mix = single->one;
}

WEFT_PLUGIN(mixing, none) = {
    .kind = WEFT_KIND("none", struct single, no_opts,
                      "all samples of a trial take its own configuration"),
    .setup = single_setup,
    .make = single_make,
};
