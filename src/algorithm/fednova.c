/* Normalised averaging: changes are divided by the client's steps before they are averaged,
 * so that clients with many do not move the optimum. The divisor of momentum rho is
 * [K - rho (1 - rho^K) / (1 - rho)] / (1 - rho), of K steps. Wang, Liu, Liang, Joshi, Poor,
 * NeurIPS 2020. */
#include "weft/algorithm/algorithm.h"

#include <math.h>

static const weft_opt no_options[] = {{0}};

/* How often a gradient has arrived in the weights, summed over steps. */
static double fednova_divisor(const weft_visit *visit)
{
    double steps = (double)visit->steps, rho = visit->sgd.momentum;
    if (steps < 2 || !(rho > 0)) return fmax(steps, 1);
    if (!(rho < 1)) return steps * (steps + 1) / 2;
    return (steps - rho * (1 - pow(rho, steps)) / (1 - rho)) / (1 - rho);
}

static void fednova_server(weft_aggregate *aggregate)
{
    for (int64_t i = 0; i < aggregate->n; i++)
        aggregate->delta[i] *= (real)aggregate->divisor;
    weft_aggregate_step(aggregate);
}

WEFT_PLUGIN(algorithm, fednova) = {
    .kind = {"fednova", "changes divided by the client's steps, then averaged", 1,
             no_options, NULL},
    .divisor = fednova_divisor,
    .server = fednova_server,
};
