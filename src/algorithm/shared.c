/* What several algorithms share: FedAvg's course and the server's usual step, models of
 * one's own. */
#include "weft/algorithm/algorithm.h"

#include <string.h>

weft_course weft_visit_course(weft_visit *visit, const real *from)
{
    memcpy(visit->w, from, (size_t)visit->n * sizeof *from);
    return (weft_course){
        .w = visit->w, .anchor = from, .sgd = visit->sgd, .epochs = visit->epochs};
}

weft_course weft_visit_own_course(weft_visit *visit)
{
    memcpy(visit->spare, visit->w, (size_t)visit->n * sizeof *visit->w);
    return (weft_course){
        .w = visit->w, .anchor = visit->spare, .sgd = visit->sgd, .epochs = visit->epochs};
}

void weft_visit_changed(weft_visit *visit, const real *from)
{
    for (int64_t i = 0; i < visit->n; i++) visit->change[i] = visit->w[i] - from[i];
}

void weft_visit_end(weft_visit *visit)
{
    weft_visit_changed(visit, visit->x);
}

void weft_visit_keep(weft_visit *visit)
{
    memcpy(visit->kept, visit->x, (size_t)visit->n * sizeof *visit->x);
}

void weft_visit_kept(weft_visit *visit)
{
    memcpy(visit->w, visit->kept, (size_t)visit->n * sizeof *visit->w);
}

void weft_aggregate_step(weft_aggregate *aggregate)
{
    weft_server_step(aggregate->server, aggregate->round, aggregate->n, aggregate->x,
                     aggregate->delta, aggregate->slots);
}
