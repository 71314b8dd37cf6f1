/* What samplers that prefer cheap configurations (option per_cost) are told of a job's
 * cost: its virtual seconds, or its operations where virtual seconds tell only how much of
 * its resource it used. */
#include "price.h"

#include <string.h>

/* 1: the sampler prefers cheap configurations. */
static int counts_cost(const weft_run *r)
{
    for (const weft_opt *o = r->search.sampler->kind.opts; o->name; o++)
        if (weft_opt_is(o, "per_cost"))
            return weft_opt_value(o, r->search.sampler_self) > 0;
    return 0;
}

static double operations(const void *own, const weft_job *job)
{
    const weft_run *r = own;
    weft_cost cost = {0};
    r->task->cost(r->task_self, job, &cost);
    return cost.flops;
}

static weft_price price_of(const weft_run *r)
{
    if (r->task->price) return r->task->price(r->task_self);
    return r->task->seconds ? WEFT_PRICE_SECONDS : WEFT_PRICE_OPERATIONS;
}

weft_status weft_run_price(weft_run *r)
{
    if (!counts_cost(r)) return WEFT_OK;
    weft_price price = price_of(r);
    const char *sampler = r->search.sampler->kind.name;
    if (price == WEFT_PRICE_UNKNOWN && r->fresh)
        return weft_fail(
            WEFT_ECONF,
            "%s.per_cost = yes would change nothing: all jobs of a resource last "
            "equally long, as far as task %s knows before they are run; set "
            "%s.per_cost = no",
            sampler, r->task->kind.name, sampler);
    if (price != WEFT_PRICE_OPERATIONS) return WEFT_OK;
    r->search.operations = operations;
    r->search.own = r;
    return WEFT_OK;
}
