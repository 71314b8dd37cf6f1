/* What schedules have in common: checks of their options, brackets of successive halving,
 * and rounds of shared weights; see schedule.h. */
#include "schedule.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- options ---- */

int weft_rungs_top(int64_t low, int64_t high, int64_t eta)
{
    int k = 0;
    for (; low <= high / eta; low *= eta) k++;
    return k;
}

weft_status weft_trials_fit(const weft_space *space, const char *schedule, int64_t trials)
{
    if (space->source == 0 || trials <= space->count) return WEFT_OK;
    return weft_fail(WEFT_ECONF,
                     "%s trains %lld trials, but the space has %lld configurations; "
                     "expected a space of that many, space.source = random, or options of "
                     "[%s] that need fewer",
                     schedule, (long long)trials, (long long)space->count, schedule);
}

weft_status weft_resources_fit(const char *schedule, int64_t low, int64_t high)
{
    if (low <= high) return WEFT_OK;
    return weft_fail(WEFT_ECONF,
                     "%s.min_resource = %lld is more than %s.max_resource = %lld", schedule,
                     (long long)low, schedule, (long long)high);
}

/* ---- one job for each trial ---- */

weft_asked weft_sweep_ask(void *self, weft_job *job)
{
    weft_sweep *sweep = self;
    if (sweep->next == sweep->n) return WEFT_DONE;
    *job = weft_job_new(sweep->next++, (double)sweep->resource, NULL);
    job->last = 1;
    return WEFT_JOB;
}

void weft_sweep_tell(void *self, const weft_result *res)
{
    (void)self;
    (void)res;
}

int64_t weft_sweep_jobs(const void *self)
{
    return ((const weft_sweep *)self)->n;
}

void weft_sweep_extent(const void *self, weft_extent *out)
{
    const weft_sweep *sweep = self;
    *out = (weft_extent){.trials = sweep->n, .resource = (double)sweep->resource};
}

/* ---- brackets of successive halving ---- */

void weft_rungs_plan(weft_rungs *rungs, int64_t n, int s, int64_t eta, int64_t most)
{
    int64_t share = 1;
    for (int k = 0; k < s; k++) share *= eta;
    for (rungs->count = 0; n > 0 && rungs->count <= s; n /= eta, share /= eta) {
        rungs->trials[rungs->count] = n;
        rungs->until[rungs->count++] = most / share;
    }
}

static void open_rung(weft_rungs *rungs, int rung)
{
    rungs->rung = rung;
    rungs->next = 0;
    rungs->unasked = rungs->untold = rungs->trials[rung];
}

void weft_rungs_begin(weft_rungs *rungs, weft_arena *mem)
{
    rungs->trial = WEFT_NEW(mem, weft_rung_trial, rungs->trials[0]);
    open_rung(rungs, 0);
}

weft_asked weft_rungs_ask(void *self, weft_job *job)
{
    weft_rungs *rungs = self;
    int64_t until = rungs->until[rungs->rung];
    for (; rungs->next < rungs->trials[0]; rungs->next++) {
        weft_rung_trial *trial = &rungs->trial[rungs->next];
        if (trial->out || trial->open || trial->done == until) continue;
        int64_t more = until - trial->done;
        trial->done = until;
        trial->open = 1;
        rungs->unasked--;
        *job = weft_job_new(rungs->first + rungs->next, (double)more, NULL);
        job->index = trial->jobs++;
        job->last = trial->done == rungs->until[rungs->count - 1];
        return WEFT_JOB;
    }
    return rungs->rung == rungs->count - 1 && rungs->unasked == 0 ? WEFT_DONE : WEFT_WAIT;
}

/* Sorts the trials of a rung, the best first. */
static void order_by_front(const weft_rungs *rungs, int64_t n, weft_rank *order,
                           weft_arena *tmp)
{
    weft_point *point = WEFT_NEW(tmp, weft_point, n);
    for (int64_t i = 0; i < n; i++) point[i] = rungs->trial[order[i].id].point;
    weft_front_order(n, point, rungs->objectives);
    for (int64_t i = 0; i < n; i++)
        order[i] = rungs->trial[point[i].id - rungs->first].rank;
}

/* Ranks the trials of a complete rung and starts the next, if any trial may continue. */
static void eliminate(weft_rungs *rungs)
{
    WEFT_SCRATCH(tmp);
    weft_rank *order = WEFT_NEW(tmp, weft_rank, rungs->trials[rungs->rung]);
    int64_t n = 0, keep = 0;
    for (int64_t i = 0; i < rungs->trials[0]; i++)
        if (!rungs->trial[i].out) order[n++] = rungs->trial[i].rank;
    if (rungs->objectives > 1)
        order_by_front(rungs, n, order, tmp);
    else
        qsort(order, (size_t)n, sizeof *order, weft_rank_compare);
    while (keep < n && keep < rungs->trials[rungs->rung + 1] &&
           order[keep].loss < INFINITY &&
           rungs->trial[order[keep].id].guesses == rungs->trial[order[0].id].guesses)
        keep++;
    for (int64_t e = keep; e < n; e++) rungs->trial[order[e].id].out = 1;
    for (int k = rungs->rung + 1; k < rungs->count; k++)
        if (rungs->trials[k] > keep) rungs->trials[k] = keep;
    if (keep == 0) rungs->count = rungs->rung + 1;
    if (keep > 0) open_rung(rungs, rungs->rung + 1);
}

void weft_rungs_tell(void *self, const weft_result *res)
{
    weft_rungs *rungs = self;
    int64_t i = res->trial - rungs->first;
    weft_check(i >= 0 && i < rungs->trials[0] && rungs->trial[i].open,
               "told of trial %lld, which has no job", (long long)res->trial);
    weft_rung_trial *trial = &rungs->trial[i];
    trial->open = 0;
    trial->rank = weft_result_rank(res);
    trial->rank.id = i;
    trial->guesses = weft_result_guesses(res, rungs->guess);
    trial->point = weft_result_point(res, trial->guesses, rungs->objectives);
    rungs->untold--;
    if (rungs->untold == 0 && rungs->rung < rungs->count - 1) eliminate(rungs);
}

int weft_rungs_ended(const void *self, int64_t trial)
{
    const weft_rungs *rungs = self;
    return rungs->trial[trial - rungs->first].out;
}

int64_t weft_rungs_jobs(const void *self)
{
    const weft_rungs *rungs = self;
    int64_t n = 0;
    for (int k = 0; k < rungs->count; k++) n += rungs->trials[k];
    return n;
}

/* ---- shared weights ---- */

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

weft_status weft_share_setup(weft_share *share, const weft_space *space, weft_arena *mem)
{
    int64_t resource = share->resource > 0 ? share->resource : 1;
    *share = (weft_share){.resource = resource};
    TRY(weft_share_mix(space, mem, &share->mix));
    share->one = weft_mix_new(1, space->dim, mem);
    share->rank = WEFT_NEW(mem, weft_rank, share->mix.k);
    return WEFT_OK;
}

static weft_asked ask_round(weft_share *share, weft_job *job)
{
    share->open = 1;
    share->trials = 1;
    *job = weft_job_new(0, (double)share->resource, &share->mix);
    job->index = share->round;
    job->eligibility = WEFT_WINS_LAST;
    return WEFT_JOB;
}

/* The first configuration at or after i that is not eliminated; k if there is none. */
static int alive_from(const weft_share *share, int i)
{
    while (i < share->mix.k && !(share->mix.logp[i] > -INFINITY)) i++;
    return i;
}

static weft_asked ask_final(weft_share *share, weft_job *job)
{
    share->next = alive_from(share, share->next);
    if (share->next == share->mix.k) return WEFT_DONE;
    int i = share->next++;
    share->untold++;
    share->one.id[0] = share->mix.id[i];
    memcpy(share->one.conf, share->mix.conf + (size_t)i * share->mix.dim,
           (size_t)share->mix.dim * sizeof *share->one.conf);
    *job = weft_job_new(share->trials++, (double)share->resource, &share->one);
    if (share->round > 0) job->from = 0;
    job->last = 1;
    return WEFT_JOB;
}

weft_asked weft_share_ask(weft_share *share, int no_more, weft_job *job)
{
    if (share->open) return WEFT_WAIT;
    return no_more ? ask_final(share, job) : ask_round(share, job);
}

int weft_share_ended(const void *self, int64_t trial)
{
    const weft_share *share = self;
    (void)trial; /* the shared weights serve the last fit, too */
    return share->untold == 0 && alive_from(share, share->next) == share->mix.k;
}

int weft_share_tell(weft_share *share, const weft_result *res)
{
    if (!share->open) {
        share->untold--;
        return 0;
    }
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
    return 1;
}
