/* Which job wins a run, and which configuration of its mixture. Called by the scheduler and
 * by the functions that report the winner. */
#include "run_private.h"

#include <math.h>

static int compare(double a, double b)
{
    return (a > b) - (a < b);
}

int weft_merit_compare(const weft_merit *a, const weft_merit *b)
{
    int may_a = a->wins > 0, may_b = b->wins > 0;
    if (may_a != may_b) return may_a - may_b;
    if (!may_a) return compare((double)a->job, (double)b->job);
    int fine_a = isfinite(a->loss), fine_b = isfinite(b->loss);
    if (fine_a != fine_b) return fine_a - fine_b;
    int c = 0;
    if (a->wins == 1 && b->wins == 1) {
        c = compare(a->size, b->size);
        if (c == 0) c = compare(a->resource, b->resource);
    }
    if (c == 0) c = compare(b->loss, a->loss);
    if (c == 0) c = compare((double)b->job, (double)a->job);
    return c;
}

static weft_merit merit_of(const weft_job_record *e)
{
    return (weft_merit){.job = e->job.id,
                        .wins = e->job.eligibility,
                        .size = e->job.feature_fraction,
                        .resource = e->res.resource,
                        .loss = e->res.loss};
}

int weft_job_record_beats(const weft_job_record *a, const weft_job_record *b)
{
    weft_merit x = merit_of(a), y = merit_of(b);
    return weft_merit_compare(&x, &y) > 0;
}

int weft_job_record_compare(const void *a, const void *b)
{
    const weft_job_record *x = a, *y = b;
    return (x->job.id > y->job.id) - (x->job.id < y->job.id);
}

/* The mixture after the job. */
static weft_mix mix_after(const weft_job_record *e)
{
    weft_mix m = e->job.mix;
    m.logp = e->res.logp;
    return m;
}

int weft_winner_arm(const weft_job_record *e)
{
    weft_mix m = mix_after(e);
    int best[WEFT_MAX_BLOCKS];
    weft_mix_best(&m, best);
    int arm = best[0];
    for (int i = 0; i < weft_mix_off(&m, 1); i++)
        if (!(m.logp[i] < m.logp[arm]) &&
            weft_result_score(&e->res, i) < weft_result_score(&e->res, arm))
            arm = i;
    return arm;
}

void weft_winner_conf(const weft_job_record *e, double *conf)
{
    weft_mix m = mix_after(e);
    int pick[WEFT_MAX_BLOCKS];
    weft_mix_best(&m, pick);
    pick[0] = weft_winner_arm(e);
    weft_mix_compose(&m, pick, conf);
}
