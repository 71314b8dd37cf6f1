/* Which job wins a run, and which configuration of its mixture. */
#include "choice.h"

#include <math.h>

static int compare(double a, double b)
{
    return (a > b) - (a < b);
}

int weft_merit_compare(const weft_merit *a, const weft_merit *b)
{
    int may_a = a->wins > 0, may_b = b->wins > 0;
    if (may_a != may_b) return may_a - may_b;
    if (!may_a) return compare((double)a->rank.id, (double)b->rank.id);
    int fine_a = isfinite(a->rank.loss), fine_b = isfinite(b->rank.loss);
    if (fine_a != fine_b) return fine_a - fine_b;
    int c = 0;
    if (a->wins == 1 && b->wins == 1) {
        c = compare(a->size, b->size);
        if (c == 0) c = compare(a->resource, b->resource);
    }
    return c != 0 ? c : -weft_rank_compare(&a->rank, &b->rank);
}

static weft_merit merit_of(const weft_job_record *e)
{
    return (weft_merit){.wins = e->job.eligibility,
                        .size = e->job.feature_fraction,
                        .resource = e->res.resource,
                        .rank =
                            weft_rank_of(e->res.loss, weft_result_tie(&e->res), e->job.id)};
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

/* The winning entry of each block, into pick[]. */
static void pick_winners(const weft_mix *m, const weft_result *res, int *pick)
{
    weft_mix_best(m, pick);
    for (int b = 0; b < m->nblock; b++)
        for (int i = weft_mix_off(m, b); i < weft_mix_off(m, b + 1); i++)
            if (!(m->logp[i] < m->logp[pick[b]]) &&
                weft_rank_before(weft_result_rank_of(res, i),
                                 weft_result_rank_of(res, pick[b])))
                pick[b] = i;
}

int weft_winner_arm(const weft_job_record *e)
{
    weft_mix m = mix_after(e);
    int pick[WEFT_MAX_BLOCKS];
    pick_winners(&m, &e->res, pick);
    return pick[0];
}

void weft_winner_conf(const weft_job_record *e, double *conf)
{
    weft_mix m = mix_after(e);
    int pick[WEFT_MAX_BLOCKS];
    pick_winners(&m, &e->res, pick);
    weft_mix_compose(&m, pick, conf);
}
