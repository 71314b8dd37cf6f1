/* What samplers that prefer cheap configurations (option per_cost) are told of a job's
 * cost: its virtual seconds, or its operations where virtual seconds tell only how much of
 * its resource it used. */
#include "price.h"

#include <math.h>
#include <string.h>

/* 1: the sampler prefers cheap configurations. */
static int counts_cost(const weft_run *run)
{
    for (const weft_opt *opt = run->search.sampler->kind.opts; opt->name; opt++)
        if (weft_opt_is(opt, "per_cost"))
            return weft_opt_value(opt, run->search.sampler_self) > 0;
    return 0;
}

static double operations(const void *own, const weft_job *job)
{
    const weft_run *run = own;
    weft_cost cost = {0};
    run->task->cost(run->task_self, job, &cost);
    return cost.flops;
}

static weft_price price_of(const weft_run *run)
{
    if (run->task->price) return run->task->price(run->task_self);
    return run->task->seconds ? WEFT_PRICE_SECONDS : WEFT_PRICE_OPERATIONS;
}

double weft_run_used(const weft_run *run, const weft_job *job, double seconds)
{
    int shares = run->task->price && price_of(run) == WEFT_PRICE_OPERATIONS;
    return shares && job->resource > 0 ? fmax(seconds / job->resource, 1) : 1;
}

weft_status weft_run_price(weft_run *run)
{
    if (!counts_cost(run)) return WEFT_OK;
    weft_price price = price_of(run);
    const char *sampler = run->search.sampler->kind.name;
    if (price == WEFT_PRICE_UNKNOWN && run->fresh)
        return weft_fail(
            WEFT_ECONF,
            "%s.per_cost = yes would change nothing: all jobs of a resource last "
            "equally long, as far as task %s knows before they are run; set "
            "%s.per_cost = no",
            sampler, run->task->kind.name, sampler);
    if (price != WEFT_PRICE_OPERATIONS) return WEFT_OK;
    run->search.operations = operations;
    run->search.own = run;
    return WEFT_OK;
}
