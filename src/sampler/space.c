/* Configurations of section [space]: drawn at random, or the points of a grid or the lines
 * of a list in their order. Trial n has configuration n. Does not learn. */
#include "weft/sampler/sampler.h"

struct plain {
    const weft_space *space;
};

static const weft_opt no_opts[] = {{0}};

static weft_status plain_setup(void *self, const weft_space *space, uint64_t seed,
                               weft_arena *mem)
{
    struct plain *plain = self;
    (void)seed;
    (void)mem;
    plain->space = space;
    return WEFT_OK;
}

static void plain_propose(void *self, int64_t n, double *conf)
{
    const struct plain *plain = self;
    weft_space_config(plain->space, n, conf);
}

WEFT_PLUGIN(sampler, space) = {
    .kind = WEFT_KIND("space", struct plain, no_opts,
                      "configurations of [space]: at random, from a grid or from a list"),
    .setup = plain_setup,
    .propose = plain_propose,
};
