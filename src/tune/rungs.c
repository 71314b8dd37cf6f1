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

weft_status weft_trials_fit(const weft_space *space, const char *schedule, int64_t trials)
{
    if (space->source == 0 || trials <= space->count) return WEFT_OK;
    return weft_fail(WEFT_ECONF,
                     "%s trains %lld trials, but the space has %lld configurations; "
                     "expected a space of that many, space.source = random, or options of "
                     "[%s] that need fewer",
                     schedule, (long long)trials, (long long)space->count, schedule);
}

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

weft_asked weft_rungs_ask(weft_rungs *rungs, weft_job *job)
{
    int64_t until = rungs->until[rungs->rung];
    for (; rungs->next < rungs->trials[0]; rungs->next++) {
        weft_rung_trial *trial = &rungs->trial[rungs->next];
        if (trial->out || trial->open || trial->done == until) continue;
        int64_t left = until - trial->done;
        int64_t more = rungs->every > 0 && rungs->every < left ? rungs->every : left;
        trial->done += more;
        trial->open = 1;
        if (trial->done == until) rungs->unasked--;
        *job = weft_job_new(rungs->first + rungs->next, (double)more, NULL);
        job->index = trial->jobs++;
        job->last = trial->done == rungs->until[rungs->count - 1];
        if (rungs->best) job->eligibility = WEFT_WINS_LOSS;
        return WEFT_JOB;
    }
    return rungs->rung == rungs->count - 1 && rungs->unasked == 0 ? WEFT_DONE : WEFT_WAIT;
}

/* Ranks the trials of a complete rung and starts the next, if any trial may continue. */
static void eliminate(weft_rungs *rungs)
{
    weft_arena *tmp = weft_arena_new();
    weft_rank *order = WEFT_NEW(tmp, weft_rank, rungs->trials[rungs->rung]);
    int64_t n = 0, keep = 0;
    for (int64_t i = 0; i < rungs->trials[0]; i++)
        if (!rungs->trial[i].out) order[n++] = rungs->trial[i].rank;
    qsort(order, (size_t)n, sizeof *order, weft_rank_compare);
    while (keep < n && keep < rungs->trials[rungs->rung + 1] &&
           order[keep].loss < INFINITY &&
           rungs->trial[order[keep].id].guesses == rungs->trial[order[0].id].guesses)
        keep++;
    for (int64_t e = keep; e < n; e++) rungs->trial[order[e].id].out = 1;
    weft_arena_free(tmp);
    for (int k = rungs->rung + 1; k < rungs->count; k++)
        if (rungs->trials[k] > keep) rungs->trials[k] = keep;
    if (keep == 0) rungs->count = rungs->rung + 1;
    if (keep > 0) open_rung(rungs, rungs->rung + 1);
}

void weft_rungs_tell(weft_rungs *rungs, const weft_result *res)
{
    int64_t i = res->trial - rungs->first;
    weft_check(i >= 0 && i < rungs->trials[0] && rungs->trial[i].open,
               "told of trial %lld, which has no job", (long long)res->trial);
    weft_rung_trial *trial = &rungs->trial[i];
    trial->open = 0;
    trial->rank = weft_result_rank(res);
    trial->rank.id = i;
    trial->guesses = weft_result_guesses(res, rungs->guess);
    if (trial->done < rungs->until[rungs->rung]) {
        if (i < rungs->next) rungs->next = i;
        return;
    }
    rungs->untold--;
    if (rungs->untold == 0 && rungs->rung < rungs->count - 1) eliminate(rungs);
}

int weft_rungs_ended(const weft_rungs *rungs, int64_t trial)
{
    return rungs->trial[trial - rungs->first].out;
}

int64_t weft_rungs_jobs(const weft_rungs *rungs)
{
    int64_t n = 0, from = 0;
    for (int k = 0; k < rungs->count; from = rungs->until[k++]) {
        int64_t more = rungs->until[k] - from;
        n += rungs->trials[k] *
             (rungs->every > 0 ? (more + rungs->every - 1) / rungs->every : 1);
    }
    return n;
}
