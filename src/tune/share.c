/* Rounds and final jobs of schedules by weight-sharing. */
#include "share.h"

#include <math.h>
#include <string.h>

/* All configurations in one mixture; ECONF if they differ in an option that must have one
 * value for a whole trial. */
weft_status weft_share_mix(const weft_space *sp, weft_arena *mem, weft_mix *out)
{
    enum { MOST = 1000000 };
    for (int a = 0; a < sp->dim; a++) {
        char name[128];
        if (sp->axis[a].opt->role == WEFT_PER_SAMPLE) continue;
        weft_axis_name(&sp->axis[a], name, sizeof name);
        return weft_fail(WEFT_ECONF,
                         "%s has a range, but a trial has one value of it, and "
                         "weight-sharing has one trial for all configurations; give it one "
                         "value, or use another run.tuner",
                         name);
    }
    if (sp->count < 1 || sp->count > MOST)
        return weft_fail(WEFT_ELIMIT,
                         "weight-sharing over %lld configurations; expected 1 "
                         "to %d, see space.configs",
                         (long long)sp->count, MOST);
    int k = (int)sp->count;
    *out = weft_mix_new(k, sp->dim, mem);
    for (int i = 0; i < k; i++) weft_space_config(sp, i, out->conf + (size_t)i * sp->dim);
    return WEFT_OK;
}

weft_status weft_share_setup(weft_share *s, const weft_space *sp, int warm, weft_arena *mem)
{
    int64_t resource = s->resource > 0 ? s->resource : 1;
    *s = (weft_share){.resource = resource, .warm = warm, .size = 1};
    TRY(weft_share_mix(sp, mem, &s->mix));
    s->one = weft_mix_new(1, sp->dim, mem);
    s->rank = WEFT_NEW(mem, weft_rank, s->mix.k);
    return WEFT_OK;
}

weft_asked weft_share_round(weft_share *s, double size, weft_job *job)
{
    int fresh = !s->warm || s->round == 0;
    s->open = 1;
    s->size = size;
    s->trials += fresh;
    *job = weft_job_new(s->trials - 1, (double)s->resource, &s->mix);
    job->index = s->round;
    job->feature_fraction = size;
    job->eligibility = WEFT_WINS_LAST;
    return WEFT_JOB;
}

/* The first configuration at or after i that is not eliminated; k if there is none. */
static int alive_from(const weft_share *s, int i)
{
    while (i < s->mix.k && !(s->mix.logp[i] > -INFINITY)) i++;
    return i;
}

weft_asked weft_share_final(weft_share *s, int refit, weft_job *job)
{
    s->next = alive_from(s, s->next);
    if (s->next == s->mix.k) return WEFT_DONE;
    int i = s->next++;
    s->untold++;
    s->one.id[0] = s->mix.id[i];
    memcpy(s->one.conf, s->mix.conf + (size_t)i * s->mix.dim,
           (size_t)s->mix.dim * sizeof *s->one.conf);
    if (!refit && s->round > 0) {
        *job = weft_job_new(s->trials - 1, 0, &s->one);
        job->last = alive_from(s, s->next) == s->mix.k;
        job->index = s->round;
        job->feature_fraction = s->size;
        return WEFT_JOB;
    }
    *job = weft_job_new(s->trials++, (double)s->resource, &s->one);
    if (s->warm && s->round > 0) job->from = 0;
    job->last = 1;
    return WEFT_JOB;
}

int weft_share_ended(const weft_share *s, int64_t trial)
{
    if (s->untold == 0 && alive_from(s, s->next) == s->mix.k) return 1;
    return !s->warm && trial < s->round && trial < s->trials - 1;
}

void weft_share_only(weft_share *s, int i)
{
    for (int j = 0; j < s->mix.k; j++) s->mix.logp[j] = j == i ? 0 : -INFINITY;
}

int weft_share_ranks(weft_share *s, const weft_result *res)
{
    weft_check(res->k == s->mix.k, "result of %lld configurations, expected %d",
               (long long)res->k, s->mix.k);
    s->open = 0;
    s->round++;
    int sound = isfinite(res->loss);
    for (int i = 0; i < s->mix.k; i++) {
        int scored = sound && res->arm_count[i] > 0;
        s->rank[i] = scored ? weft_result_rank_of(res, i) : weft_result_rank(res);
        s->rank[i].id = i;
    }
    return sound;
}
