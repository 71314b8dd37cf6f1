/* FedDyn: a dynamic regulariser makes the optima of clients agree with the server's:
 *     y <- y - h (g_i(y) - l_i + alpha (y - x)),    l_i <- l_i - alpha (y - x),
 *     s <- s - (alpha / N) sum (y - x),             x <- mean y - s / alpha.
 * Acar, Zhao, Matas Navarro, Mattina, Whatmough, Saligrama, ICLR 2021. */
#include "weft/algorithm/algorithm.h"

typedef struct feddyn_options {
    double alpha;
} feddyn_options;

static const weft_opt feddyn_opts[] = {
    WEFT_REAL_OPT("alpha", feddyn_options, alpha, "0.1", 1e-9, 1e6,
                  "strength of the pull towards the server's weights",
                  .role = WEFT_PER_TRIAL),
    {0},
};

static void feddyn_amounts(const void *self, int64_t n, int epochs, weft_amounts *out)
{
    (void)self;
    (void)epochs;
    out->kept = out->shared = n;
    out->spare = n;
}

static int feddyn_courses(weft_visit *visit, weft_course *course)
{
    const feddyn_options *dyn = visit->options;
    for (int64_t i = 0; i < visit->n; i++) visit->spare[i] = -visit->kept[i];
    *course = weft_visit_course(visit, visit->x);
    course->drift = visit->spare;
    course->sgd.mu += dyn->alpha;
    return 1;
}

static void feddyn_end(weft_visit *visit)
{
    const feddyn_options *dyn = visit->options;
    real *own = visit->kept, alpha = (real)dyn->alpha;
    weft_visit_changed(visit, visit->x);
    for (int64_t i = 0; i < visit->n; i++) own[i] -= alpha * visit->change[i];
}

static void feddyn_server(weft_aggregate *aggregate)
{
    const feddyn_options *dyn = aggregate->options;
    real *s = aggregate->shared;
    double share = aggregate->averaged / aggregate->clients;
    for (int64_t i = 0; i < aggregate->n; i++) {
        double delta = (double)aggregate->delta[i];
        double sum = (double)s[i] - dyn->alpha * share * delta;
        s[i] = (real)sum;
        aggregate->delta[i] = (real)(delta - sum / dyn->alpha);
    }
    weft_aggregate_step(aggregate);
}

WEFT_PLUGIN(algorithm, feddyn) = {
    .kind = WEFT_KIND("feddyn", feddyn_options, feddyn_opts,
                      "a dynamic regulariser of every client"),
    .plain = 1,
    .needs = WEFT_NEEDS_DRIFT,
    .amounts = feddyn_amounts,
    .courses = feddyn_courses,
    .end = feddyn_end,
    .server = feddyn_server,
};
