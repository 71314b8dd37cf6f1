/* SCAFFOLD: each client corrects its gradients by the difference of two control variates,
 * the server's c and its own c_i, so that many local steps do not drift to its own optimum:
 *     y <- y - h (g_i(y) - c_i + c),
 *     c_i <- c_i - c + (x - y) / (K h)                              (option II),
 *     x <- x + a mean (y - x), c <- c + (m / N) mean (new c_i - old c_i).
 * Karimireddy, Kale, Mohri, Reddi, Stich, Suresh, ICML 2020. */
#include "weft/algorithm/algorithm.h"
#include "weft/math/linear.h"

static const weft_opt no_options[] = {{0}};

static void scaffold_amounts(const void *self, int64_t n, int epochs, weft_amounts *out)
{
    (void)self;
    (void)epochs;
    out->kept = out->shared = out->sums = n;
    out->spare = 2 * n;
    out->down = out->up = 2 * (double)n;
}

/* 1 / (K h); 0 if the client makes no steps. */
static double inverse(const weft_visit *visit)
{
    double way = (double)visit->steps * visit->sgd.lr;
    return way > 0 ? 1 / way : 0;
}

/* spare: the correction, then (x - y) / (K h) - c, the change of c_i. */
static int scaffold_courses(weft_visit *visit, weft_course *course)
{
    const real *c = visit->shared, *own = visit->kept;
    for (int64_t i = 0; i < visit->n; i++) visit->spare[i] = c[i] - own[i];
    *course = weft_visit_course(visit, visit->x);
    course->drift = visit->spare;
    return 1;
}

static void scaffold_end(weft_visit *visit)
{
    const real *c = visit->shared;
    real *own = visit->kept, *moved = visit->spare + visit->n;
    real per_step = (real)inverse(visit);
    weft_visit_changed(visit, visit->x);
    for (int64_t i = 0; i < visit->n; i++) {
        moved[i] = -visit->change[i] * per_step;
        if (per_step > 0) own[i] += moved[i] - c[i];
    }
}

/* c is left out of the sums: all clients have the same. */
static void scaffold_add(const weft_visit *visit, real weight, int scale, double *sums)
{
    real *moved = visit->spare + visit->n;
    for (int64_t i = 0; i < visit->n; i++) moved[i] *= weight;
    weft_exact_add(visit->n, moved, scale, sums);
}

static double scaffold_bound(const weft_visit *visit, double max_change)
{
    return max_change * inverse(visit);
}

static void scaffold_server(weft_aggregate *aggregate)
{
    real *c = aggregate->shared;
    double share = aggregate->averaged / aggregate->clients;
    for (int64_t i = 0; i < aggregate->n; i++)
        c[i] = (real)((double)c[i] + share * (aggregate->sums[i] - (double)c[i]));
    weft_aggregate_step(aggregate);
}

WEFT_PLUGIN(algorithm, scaffold) = {
    .kind = {"scaffold", "control variates against the drift of clients", 1, no_options,
             NULL},
    .plain = 1,
    .needs = WEFT_NEEDS_DRIFT,
    .amounts = scaffold_amounts,
    .courses = scaffold_courses,
    .end = scaffold_end,
    .add = scaffold_add,
    .bound = scaffold_bound,
    .server = scaffold_server,
};
