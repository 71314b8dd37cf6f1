/* FedHyper: the server's step grows while its directions D agree from round to round, and
 * shrinks where they turn back, by the derivative of the loss by that step:
 *     f <- min(max(f + <D, D'>, 1 / gamma), gamma),  x <- x + a f D,
 * with the mean change D' of the round before, f = 1 and D' = 0 at first; a: server.lr.
 * Wang, Wang, Li, "FedHyper: a universal and robust learning rate scheduler for federated
 * learning with hypergradient descent", ICLR 2024, whose form for the server this is. */
#include "weft/algorithm/algorithm.h"

#include <math.h>

struct fedhyper {
    double gamma;
};

static const weft_opt fedhyper_opts[] = {
    WEFT_REAL_OPT("gamma", struct fedhyper, gamma, "3", 1, 1e6,
                  "factor by which the server's step becomes larger or smaller, at most",
                  .role = WEFT_PER_TRIAL),
    {0},
};

/* shared: D', then f - 1. */
static void fedhyper_amounts(const void *self, int64_t n, int epochs, weft_amounts *out)
{
    (void)self;
    (void)epochs;
    out->shared = n + 1;
}

static void fedhyper_server(weft_aggregate *aggregate)
{
    const struct fedhyper *fedhyper = aggregate->options;
    const int64_t n = aggregate->n;
    real *before = aggregate->shared, *further = before + n;
    double agree = 0;
    for (int64_t i = 0; i < n; i++)
        agree += (double)aggregate->delta[i] * (double)before[i];
    double factor =
        fmin(fmax(1 + (double)*further + agree, 1 / fedhyper->gamma), fedhyper->gamma);
    *further = (real)(factor - 1);
    for (int64_t i = 0; i < n; i++) {
        before[i] = aggregate->delta[i];
        aggregate->delta[i] *= (real)factor;
    }
    weft_aggregate_step(aggregate);
}

WEFT_PLUGIN(algorithm, fedhyper) = {
    .kind = WEFT_KIND("fedhyper", struct fedhyper, fedhyper_opts,
                      "steps of the server that grow while their directions agree"),
    .amounts = fedhyper_amounts,
    .server = fedhyper_server,
};
