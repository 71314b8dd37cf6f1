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

static weft_merit merit_of(const weft_job_record *record)
{
    return (weft_merit){
        .wins = record->job.eligibility,
        .size = record->job.feature_fraction,
        .resource = record->res.resource,
        .rank =
            weft_rank_of(record->res.loss, weft_result_tie(&record->res), record->job.id)};
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
static weft_mix mix_after(const weft_job_record *record)
{
    weft_mix mix = record->job.mix;
    mix.logp = record->res.logp;
    return mix;
}

/* The winning entry of each block, into pick[]. */
static void pick_winners(const weft_mix *mix, const weft_result *res, int *pick)
{
    weft_mix_best(mix, pick);
    for (int b = 0; b < mix->nblock; b++)
        for (int i = weft_mix_off(mix, b); i < weft_mix_off(mix, b + 1); i++)
            if (!(mix->logp[i] < mix->logp[pick[b]]) &&
                weft_rank_before(weft_result_rank_of(res, i),
                                 weft_result_rank_of(res, pick[b])))
                pick[b] = i;
}

int weft_winner_arm(const weft_job_record *record)
{
    weft_mix mix = mix_after(record);
    int pick[WEFT_MAX_BLOCKS];
    pick_winners(&mix, &record->res, pick);
    return pick[0];
}

void weft_winner_conf(const weft_job_record *record, double *conf)
{
    weft_mix mix = mix_after(record);
    int pick[WEFT_MAX_BLOCKS];
    pick_winners(&mix, &record->res, pick);
    weft_mix_compose(&mix, pick, conf);
}
