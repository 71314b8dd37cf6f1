/* q-FedAvg: clients weigh by a power of their loss F_i at the weights received, on all
 * their training samples, so that the server's model serves clients more alike (q-fair
 * federated learning): a step to lower sum p_i F_i^(q+1) / (q + 1), x <- x + a sum p_i
 * F_i^q L D_i / sum p_i (q F_i^(q-1) |L D_i|^2 + L F_i^q), with p_i the weights of
 * fed.average, D_i the change, L = 1 / client.lr the estimate of the Lipschitz constant,
 * and a: server.lr. q = 0 is FedAvg, to the same bits. Li, Sanjabi, Beirami, Smith, ICLR
 * 2020.
 *
 * Sums are exact, in units that are fixed before the round. So that powers stay in their
 * range, all are divided by L r^q, which cancels, with r a typical loss, the server's
 * further number: 1, and from then on the power mean (mean F^q)^(1/q) of the round before.
 * A loss below r / 1024 counts as that, powers (F_i / r)^q as at least 2^-20 and at most
 * 1024, and less where the weighted change would be larger than client.max_change; the
 * first term of the lower sum counts as at most 2^14. */
#include "weft/algorithm/algorithm.h"

#include <math.h>

enum { MOST = 1024, LEAST = 1 << 20, STEEP = 1 << 14 };

struct qffl {
    double q;
};

static const weft_opt qffl_opts[] = {
    WEFT_REAL_OPT("q", struct qffl, q, "1", 0, 16,
                  "power of a client's loss by which it weighs: 0 as fedavg, larger ones "
                  "make losses of clients more alike",
                  .role = WEFT_PER_TRIAL),
    {0},
};

static void qffl_amounts(const void *self, int64_t n, int epochs, weft_amounts *out)
{
    (void)self;
    (void)epochs;
    out->shared = 1;
    out->sums = out->spare = 2;
    out->down = (double)n + 1;
    out->up = (double)n + 2;
}

static void qffl_start(weft_aggregate *aggregate, uint64_t seed)
{
    (void)seed;
    aggregate->shared[0] = 1;
}

static int qffl_courses(weft_visit *visit, weft_course *course)
{
    *course = weft_visit_course(visit, visit->x);
    return 1;
}

/* spare: the client's parts of the sums; change: weighted. One that is larger than the
 * server takes stays, so that the client diverged. */
static void qffl_end(weft_visit *visit)
{
    const struct qffl *qffl = visit->options;
    double square = 0, most = 0, typical = (double)visit->shared[0], q = qffl->q;
    weft_visit_end(visit);
    visit->spare[0] = visit->spare[1] = 1;
    for (int64_t i = 0; i < visit->n; i++) {
        double d = (double)visit->change[i];
        square += d * d;
        most = fabs(d) > most ? fabs(d) : most;
    }
    if (!(q > 0) || !(most <= visit->max_change) || !isfinite(square)) return;
    double loss = fmax(visit->loss / typical, 1.0 / MOST);
    double power = fmin(fmax(pow(loss, q), 1.0 / LEAST), MOST);
    if (most * power > visit->max_change) power = visit->max_change / most;
    double steep = q * power / loss * square / typical;
    steep = visit->sgd.lr > 0 ? fmin(steep / visit->sgd.lr, STEEP) : 0;
    for (int64_t i = 0; i < visit->n; i++) visit->change[i] *= (real)power;
    visit->spare[0] = (real)(power + steep);
    visit->spare[1] = (real)power;
}

static void qffl_add(const weft_visit *visit, real weight, int scale, double *sums)
{
    real part[2] = {visit->spare[0] * weight, visit->spare[1] * weight};
    weft_exact_add(2, part, scale, sums);
}

static double qffl_bound(const weft_visit *visit, double max_change)
{
    (void)visit;
    (void)max_change;
    return 2 * STEEP;
}

static void qffl_server(weft_aggregate *aggregate)
{
    const struct qffl *qffl = aggregate->options;
    real *typical = aggregate->shared;
    if (qffl->q > 0) {
        real further = (real)(1 / aggregate->sums[0]);
        for (int64_t i = 0; i < aggregate->n; i++) aggregate->delta[i] *= further;
        *typical = (real)((double)*typical * pow(aggregate->sums[1], 1 / qffl->q));
    }
    weft_aggregate_step(aggregate);
}

WEFT_PLUGIN(algorithm, qffl) = {
    .kind = WEFT_KIND("qffl", struct qffl, qffl_opts,
                      "clients weigh by a power of their loss, for fairness"),
    .needs = WEFT_NEEDS_LOSS,
    .amounts = qffl_amounts,
    .start = qffl_start,
    .courses = qffl_courses,
    .end = qffl_end,
    .add = qffl_add,
    .bound = qffl_bound,
    .server = qffl_server,
};
