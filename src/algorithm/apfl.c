/* APFL: every client's model is a mixture of its own weights v and common ones y, with a
 * share a that it learns, too:
 *     y as by FedAvg,  v <- v - h a g_i(m),  a <- a - r <v - y, g_i(m)>,
 * at m = a v + (1 - a) y, before each step of y. Its model is a v + (1 - a) x. Deng,
 * Kamani, Mahdavi, 2020. */
#include "weft/algorithm/algorithm.h"

typedef struct apfl_options {
    double share, rate;
} apfl_options;

static const weft_opt apfl_opts[] = {
    WEFT_REAL_OPT("share", apfl_options, share, "0.5", 0, 1,
                  "share of own weights in a client's model when it begins; momentum, "
                  "weight_decay and mu of section [client] are of common weights alone",
                  .role = WEFT_PER_SAMPLE),
    WEFT_REAL_OPT("rate", apfl_options, rate, "0.01", 0, 1e6,
                  "learning rate of the share; 0: it stays", .role = WEFT_PER_SAMPLE),
    {0},
};

/* Kept: v, then the share. */
static void apfl_amounts(const void *self, int64_t n, int epochs, weft_amounts *out)
{
    (void)self;
    out->kept = n + 1;
    out->spare = n;
    out->epochs += epochs;
}

static void apfl_first(weft_visit *visit)
{
    const apfl_options *apfl = visit->options;
    weft_visit_keep(visit);
    visit->kept[visit->n] = (real)apfl->share;
}

static void apfl_own(weft_visit *visit)
{
    real share = visit->kept[visit->n];
    for (int64_t i = 0; i < visit->n; i++)
        visit->w[i] = share * visit->kept[i] + (1 - share) * visit->x[i];
}

static int apfl_courses(weft_visit *visit, weft_course *course)
{
    const apfl_options *apfl = visit->options;
    visit->blend = (weft_blend){.own = visit->kept,
                                .at = visit->spare,
                                .share = (double)visit->kept[visit->n],
                                .rate = apfl->rate};
    *course = weft_visit_course(visit, visit->x);
    course->blend = &visit->blend;
    return 1;
}

static void apfl_end(weft_visit *visit)
{
    weft_visit_changed(visit, visit->x);
    visit->kept[visit->n] = (real)visit->blend.share;
    apfl_own(visit);
}

WEFT_PLUGIN(algorithm, apfl) = {
    .kind = WEFT_KIND("apfl", apfl_options, apfl_opts,
                      "a learnt mixture of own and common weights"),
    .amounts = apfl_amounts,
    .first = apfl_first,
    .own = apfl_own,
    .courses = apfl_courses,
    .end = apfl_end,
    .needs = WEFT_NEEDS_BLEND,
};
