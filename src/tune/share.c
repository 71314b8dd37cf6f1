/* Rounds and final jobs of schedules by weight-sharing. */
#include "share.h"

#include <math.h>
#include <string.h>

/* All configurations in one mixture; ECONF if they differ in an option that must have one
 * value for a whole trial. */
weft_status weft_share_mix(const weft_space *space, weft_arena *mem, weft_mix *out)
{
    enum { MOST = 1000000 };
    for (int a = 0; a < space->dim; a++) {
        char name[128];
        if (space->axis[a].opt->role == WEFT_PER_SAMPLE) continue;
        weft_axis_name(&space->axis[a], name, sizeof name);
        return weft_fail(WEFT_ECONF,
                         "%s has a range, but a trial has one value of it, and "
                         "weight-sharing has one trial for all configurations; give it one "
                         "value, or use another run.tuner",
                         name);
    }
    if (space->count < 1 || space->count > MOST)
        return weft_fail(WEFT_ELIMIT,
                         "weight-sharing over %lld configurations; expected 1 "
                         "to %d, see space.configs",
                         (long long)space->count, MOST);
    int k = (int)space->count;
    *out = weft_mix_new(k, space->dim, mem);
    for (int i = 0; i < k; i++)
        weft_space_config(space, i, out->conf + (size_t)i * space->dim);
    return WEFT_OK;
}

weft_status weft_share_setup(weft_share *share, const weft_space *space, int warm,
                             weft_arena *mem)
{
    int64_t resource = share->resource > 0 ? share->resource : 1;
    *share = (weft_share){.resource = resource, .warm = warm, .size = 1};
    TRY(weft_share_mix(space, mem, &share->mix));
    share->one = weft_mix_new(1, space->dim, mem);
    share->rank = WEFT_NEW(mem, weft_rank, share->mix.k);
    return WEFT_OK;
}

weft_asked weft_share_round(weft_share *share, double size, weft_job *job)
{
    int fresh = !share->warm || share->round == 0;
    share->open = 1;
    share->size = size;
    share->trials += fresh;
    *job = weft_job_new(share->trials - 1, (double)share->resource, &share->mix);
    job->index = share->round;
    job->feature_fraction = size;
    job->eligibility = WEFT_WINS_LAST;
    return WEFT_JOB;
}

/* The first configuration at or after i that is not eliminated; k if there is none. */
static int alive_from(const weft_share *share, int i)
{
    while (i < share->mix.k && !(share->mix.logp[i] > -INFINITY)) i++;
    return i;
}

weft_asked weft_share_final(weft_share *share, int refit, weft_job *job)
{
    share->next = alive_from(share, share->next);
    if (share->next == share->mix.k) return WEFT_DONE;
    int i = share->next++;
    share->untold++;
    share->one.id[0] = share->mix.id[i];
    memcpy(share->one.conf, share->mix.conf + (size_t)i * share->mix.dim,
           (size_t)share->mix.dim * sizeof *share->one.conf);
    if (!refit && share->round > 0) {
        *job = weft_job_new(share->trials - 1, 0, &share->one);
        job->last = alive_from(share, share->next) == share->mix.k;
        job->index = share->round;
        job->feature_fraction = share->size;
        return WEFT_JOB;
    }
    *job = weft_job_new(share->trials++, (double)share->resource, &share->one);
    if (share->warm && share->round > 0) job->from = 0;
    job->last = 1;
    return WEFT_JOB;
}

int weft_share_ended(const weft_share *share, int64_t trial)
{
    if (share->untold == 0 && alive_from(share, share->next) == share->mix.k) return 1;
    return !share->warm && trial < share->round && trial < share->trials - 1;
}

void weft_share_only(weft_share *share, int i)
{
    for (int j = 0; j < share->mix.k; j++) share->mix.logp[j] = j == i ? 0 : -INFINITY;
}

int weft_share_ranks(weft_share *share, const weft_result *res)
{
    weft_check(res->k == share->mix.k, "result of %lld configurations, expected %d",
               (long long)res->k, share->mix.k);
    share->open = 0;
    share->round++;
    int sound = isfinite(res->loss);
    for (int i = 0; i < share->mix.k; i++) {
        int scored = sound && res->arm_count[i] > 0;
        share->rank[i] = scored ? weft_result_rank_of(res, i) : weft_result_rank(res);
        share->rank[i].id = i;
    }
    return sound;
}
