/* Every client trains a model of its own, and nothing travels: what others are compared
 * with. */
#include "weft/algorithm/algorithm.h"

#include <string.h>

static const weft_opt no_options[] = {{0}};

static void local_amounts(const void *self, int64_t n, int epochs, weft_amounts *out)
{
    (void)self;
    (void)epochs;
    out->kept = n;
    out->down = out->up = 0;
}

static int local_courses(weft_visit *visit, weft_course *course)
{
    *course = (weft_course){.w = visit->kept, .sgd = visit->sgd, .epochs = visit->epochs};
    course->sgd.mu = 0;
    return 1;
}

static void local_end(weft_visit *visit)
{
    weft_visit_kept(visit);
    memset(visit->change, 0, (size_t)visit->n * sizeof *visit->change);
}

static void local_server(weft_aggregate *aggregate)
{
    (void)aggregate; /* its weights stay as they were */
}

WEFT_PLUGIN(algorithm, local) = {
    .kind = {"local", "every client trains alone", 1, no_options, NULL},
    .amounts = local_amounts,
    .first = weft_visit_keep,
    .own = weft_visit_kept,
    .courses = local_courses,
    .end = local_end,
    .server = local_server,
};
