/* Delta-SGD: every client chooses the rate h of each of its steps from how its gradient g
 * changed over the last one,
 *     h_k = min(gamma |w_k - w_k-1| / (2 |g_k - g_k-1|), sqrt(1 + delta h_k-1 / h_k-2)
 * h_k-1), beginning with client.lr in each turn. Kim, Toghani, Uribe, Kyrillidis, "Adaptive
 * federated learning with auto-tuned clients", ICLR 2024. */
#include "weft/algorithm/algorithm.h"

struct deltasgd {
    double gamma, delta;
};

static const weft_opt deltasgd_opts[] = {
    WEFT_REAL_OPT(
        "gamma", struct deltasgd, gamma, "2", 0, 1e6,
        "rate of a step in units of the local smoothness, half of which is stable",
        .role = WEFT_PER_SAMPLE),
    WEFT_REAL_OPT("delta", struct deltasgd, delta, "0.1", 0, 1e6,
                  "how fast the rate may grow from step to step", .role = WEFT_PER_SAMPLE),
    {0},
};

static void deltasgd_amounts(const void *self, int64_t n, int epochs, weft_amounts *out)
{
    (void)self;
    (void)epochs;
    out->spare = 2 * n;
}

static int deltasgd_courses(weft_visit *visit, weft_course *course)
{
    const struct deltasgd *deltasgd = visit->options;
    visit->pace = (weft_adapted_rate){.w = visit->spare,
                                      .g = visit->spare + visit->n,
                                      .amount = deltasgd->gamma / 2,
                                      .growth = deltasgd->delta};
    *course = weft_visit_course(visit, visit->x);
    course->pace = &visit->pace;
    return 1;
}

WEFT_PLUGIN(algorithm, deltasgd) = {
    .kind = WEFT_KIND("deltasgd", struct deltasgd, deltasgd_opts,
                      "clients choose the rate of each step by their gradients"),
    .amounts = deltasgd_amounts,
    .courses = deltasgd_courses,
    .end = weft_visit_end,
    .needs = WEFT_NEEDS_PACE,
};
