/* Ditto: beside the server's weights, trained as by FedAvg, every client has a model v of
 * its own, which is pulled towards them:
 *     v <- v - h_v (g_i(v) + lambda (v - x)).
 * v starts at the first x received. Li, Hu, Beirami, Smith, ICML 2021. */
#include "weft/algorithm/algorithm.h"

typedef struct ditto_options {
    double lambda, lr;
    int epochs;
} ditto_options;

static const weft_opt ditto_opts[] = {
    WEFT_REAL_OPT("lambda", ditto_options, lambda, "1", 0, 1e6,
                  "strength of the pull of own models towards the server's weights",
                  .role = WEFT_PER_SAMPLE),
    WEFT_REAL_OPT("lr", ditto_options, lr, "0", 0, 1e6,
                  "learning rate of own models; 0: as client.lr", .role = WEFT_PER_SAMPLE),
    WEFT_INT_OPT("epochs", ditto_options, epochs, "0", 0, 1e6,
                 "passes of own models over a client's samples in a round; 0: as "
                 "client.epochs",
                 .role = WEFT_PER_SAMPLE),
    {0},
};

static void ditto_amounts(const void *self, int64_t n, int epochs, weft_amounts *out)
{
    const ditto_options *own = self;
    out->kept = n;
    out->epochs += own->epochs > 0 ? own->epochs : epochs;
}

static int ditto_courses(weft_visit *visit, weft_course *course)
{
    const ditto_options *own = visit->options;
    weft_course *personal = course + 1;
    *course = *personal = weft_visit_course(visit, visit->x);
    course->other = 1;
    personal->w = visit->kept;
    personal->sgd.mu = own->lambda;
    if (own->lr > 0) personal->sgd.lr = own->lr;
    if (own->epochs > 0) personal->epochs = own->epochs;
    return 2;
}

static void ditto_end(weft_visit *visit)
{
    weft_visit_changed(visit, visit->x);
    weft_visit_kept(visit);
}

WEFT_PLUGIN(algorithm, ditto) = {
    .kind = WEFT_KIND("ditto", ditto_options, ditto_opts,
                      "own models pulled towards the server's weights"),
    .needs = WEFT_NEEDS_ANCHOR,
    .amounts = ditto_amounts,
    .first = weft_visit_keep,
    .own = weft_visit_kept,
    .courses = ditto_courses,
    .end = ditto_end,
};
