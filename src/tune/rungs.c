/* Rungs and brackets of successive halving; see rungs.h. */
#include "rungs.h"

#include <math.h>
#include <stdlib.h>

int weft_rungs_top(int64_t low, int64_t high, int64_t eta)
{
    int k = 0;
    for (; low <= high / eta; low *= eta) k++;
    return k;
}

weft_status weft_trials_fit(const weft_space *sp, const char *schedule, int64_t trials)
{
    if (sp->source == 0 || trials <= sp->count) return WEFT_OK;
    return weft_fail(WEFT_ECONF,
                     "%s trains %lld trials, but the space has %lld configurations; "
                     "expected a space of that many, space.source = random, or options of "
                     "[%s] that need fewer",
                     schedule, (long long)trials, (long long)sp->count, schedule);
}

void weft_rungs_plan(weft_rungs *r, int64_t n, int s, int64_t eta, int64_t most)
{
    int64_t share = 1;
    for (int k = 0; k < s; k++) share *= eta;
    for (r->count = 0; n > 0 && r->count <= s; n /= eta, share /= eta) {
        r->trials[r->count] = n;
        r->until[r->count++] = most / share;
    }
}

static void open_rung(weft_rungs *r, int rung)
{
    r->rung = rung;
    r->next = 0;
    r->unasked = r->untold = r->trials[rung];
}

void weft_rungs_begin(weft_rungs *r, weft_arena *mem)
{
    r->trial = WEFT_NEW(mem, weft_rung_trial, r->trials[0]);
    open_rung(r, 0);
}

weft_asked weft_rungs_ask(weft_rungs *r, weft_job *job)
{
    int64_t until = r->until[r->rung];
    for (; r->next < r->trials[0]; r->next++) {
        weft_rung_trial *c = &r->trial[r->next];
        if (c->out || c->open || c->done == until) continue;
        int64_t left = until - c->done;
        int64_t more = r->every > 0 && r->every < left ? r->every : left;
        c->done += more;
        c->open = 1;
        if (c->done == until) r->unasked--;
        *job = weft_job_new(r->first + r->next, (double)more, NULL);
        job->index = c->jobs++;
        job->last = c->done == r->until[r->count - 1];
        if (r->best) job->eligibility = WEFT_WINS_LOSS;
        return WEFT_JOB;
    }
    return r->rung == r->count - 1 && r->unasked == 0 ? WEFT_DONE : WEFT_WAIT;
}

/* Ranks the trials of a complete rung and starts the next, if any trial may continue. */
static void eliminate(weft_rungs *r)
{
    weft_arena *tmp = weft_arena_new();
    weft_rank *order = WEFT_NEW(tmp, weft_rank, r->trials[r->rung]);
    int64_t n = 0, keep = 0;
    for (int64_t i = 0; i < r->trials[0]; i++)
        if (!r->trial[i].out) order[n++] = r->trial[i].rank;
    qsort(order, (size_t)n, sizeof *order, weft_rank_compare);
    while (keep < n && keep < r->trials[r->rung + 1] && order[keep].loss < INFINITY) keep++;
    for (int64_t e = keep; e < n; e++) r->trial[order[e].id].out = 1;
    weft_arena_free(tmp);
    for (int k = r->rung + 1; k < r->count; k++)
        if (r->trials[k] > keep) r->trials[k] = keep;
    if (keep == 0) r->count = r->rung + 1;
    if (keep > 0) open_rung(r, r->rung + 1);
}

void weft_rungs_tell(weft_rungs *r, const weft_result *res)
{
    int64_t i = res->trial - r->first;
    weft_check(i >= 0 && i < r->trials[0] && r->trial[i].open,
               "told of trial %lld, which has no job", (long long)res->trial);
    weft_rung_trial *c = &r->trial[i];
    c->open = 0;
    c->rank = weft_result_rank(res);
    c->rank.id = i;
    if (c->done < r->until[r->rung]) {
        if (i < r->next) r->next = i;
        return;
    }
    r->untold--;
    if (r->untold == 0 && r->rung < r->count - 1) eliminate(r);
}

int weft_rungs_ended(const weft_rungs *r, int64_t trial)
{
    return r->trial[trial - r->first].out;
}

int64_t weft_rungs_jobs(const weft_rungs *r)
{
    int64_t n = 0, from = 0;
    for (int k = 0; k < r->count; from = r->until[k++]) {
        int64_t more = r->until[k] - from;
        n += r->trials[k] * (r->every > 0 ? (more + r->every - 1) / r->every : 1);
    }
    return n;
}
