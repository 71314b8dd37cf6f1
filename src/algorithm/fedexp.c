/* FedExP: the server goes further than the mean change D of the clients where their changes
 * D_i disagree,
 *     x <- x + a max(1, mean |D_i|^2 / (2 (|D|^2 + eps))) D,
 * as projections onto sets do that are far from one another; a: server.lr. Single weights
 * then swing around what they approach, so that an average is to be the result
 * (server.average). Jhunjhunwala, Wang, Joshi, ICLR 2023. */
#include "weft/algorithm/algorithm.h"
#include "weft/math/linear.h"

struct fedexp {
    double eps;
};

static const weft_opt fedexp_opts[] = {
    WEFT_REAL_OPT("eps", struct fedexp, eps, "0.001", 0, 1e6,
                  "added to the square of the mean change: larger ones shorten steps",
                  .role = WEFT_PER_TRIAL),
    {0},
};

static void fedexp_amounts(const void *self, int64_t n, int epochs, weft_amounts *out)
{
    (void)self;
    (void)epochs;
    out->sums = 1;
    out->up = (double)n + 1;
}

static int fedexp_courses(weft_visit *visit, weft_course *course)
{
    *course = weft_visit_course(visit, visit->x);
    return 1;
}

static double square(int64_t n, const real *x)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += (double)x[i] * (double)x[i];
    return sum;
}

static void fedexp_add(const weft_visit *visit, real weight, int scale, double *sums)
{
    real part = weight * (real)square(visit->n, visit->change);
    weft_exact_add(1, &part, scale, sums);
}

static double fedexp_bound(const weft_visit *visit, double max_change)
{
    return max_change * max_change * (double)visit->n;
}

static void fedexp_server(weft_aggregate *aggregate)
{
    const struct fedexp *fedexp = aggregate->options;
    double mean = square(aggregate->n, aggregate->delta) + fedexp->eps;
    double further = mean > 0 ? aggregate->sums[0] / (2 * mean) : 1;
    if (further > 1)
        for (int64_t i = 0; i < aggregate->n; i++) aggregate->delta[i] *= (real)further;
    weft_aggregate_step(aggregate);
}

WEFT_PLUGIN(algorithm, fedexp) = {
    .kind = WEFT_KIND("fedexp", struct fedexp, fedexp_opts,
                      "longer steps of the server where clients disagree"),
    .amounts = fedexp_amounts,
    .courses = fedexp_courses,
    .end = weft_visit_end,
    .add = fedexp_add,
    .bound = fedexp_bound,
    .server = fedexp_server,
};
