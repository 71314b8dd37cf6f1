/* Trials that begin with the weights of another run. The file is the run file of that or
 * its exported winner; classes, columns and words are told by name, as by `weft eval`. */
#include "start.h"
#include "weft/hash.h"
#include "weft/log.h"
#include "weights.h"

#include <string.h>

int weft_run_starts(const weft_run *run)
{
    return *run->opts.start && !run->like;
}

weft_status weft_run_start_read(weft_run *run)
{
    if (!weft_run_starts(run)) return WEFT_OK;
    if (!run->task->start || !run->task->tensors)
        return weft_fail(WEFT_ECONF,
                         "run.start = %s: task %s trains no weights that are given to it; "
                         "take it out",
                         run->opts.start, run->task->kind.name);
    for (int i = 0; i < run->space.dim; i++)
        if (run->space.axis[i].opt->role == WEFT_SHAPE)
            return weft_fail(WEFT_ECONF,
                             "run.start = %s: %s.%s is a range that changes the number of "
                             "weights; give it one value",
                             run->opts.start, run->space.axis[i].section,
                             run->space.axis[i].opt->name);
    TRY(weft_winner_read(&run->start, run->opts.start, run->mem));
    run->start.like.more = 1;
    return WEFT_OK;
}

/* The job of a trial of the first configuration. */
static weft_job any_job(const weft_run *run)
{
    weft_mix mix = weft_mix_new(1, run->space.dim, run->mem);
    return weft_job_new(0, 1, &mix);
}

weft_status weft_run_start_from(weft_run *run)
{
    if (!weft_run_starts(run)) return WEFT_OK;
    weft_job job = any_job(run);
    weft_tensor own[WEFT_MAX_TENSORS];
    int n = weft_task_tensors(run->task, run->task_self, &job, own), same = 1;
    const weft_winner *start = &run->start;
    for (int i = 0; i < n && n == start->ntensor; i++)
        same &= strcmp(own[i].name, start->tensor[i].name) == 0;
    weft_state state;
    weft_unknown unknown;
    if (n != start->ntensor || !same || !weft_stored_fit(run, start))
        return weft_fail(WEFT_EDATA,
                         "the winner of run.start = %s has other tensors than the network "
                         "here; choose the same network",
                         run->opts.start);
    TRY(weft_winner_state(run, start, run->opts.start, &job, &state, &unknown));
    run->from = state.x;
    run->from_kept = state.kept;
    run->nfrom = weft_tensors_size(n, own);
    if (unknown.words > 0)
        weft_log(WEFT_INFO,
                 "%lld of %lld words are unknown to run.start = %s and begin as in other "
                 "runs",
                 (long long)unknown.words, (long long)unknown.all_words, run->opts.start);
    return WEFT_OK;
}

const char *weft_run_origin(const weft_run *run)
{
    if (!run->from) return run->data.digest;
    int64_t n = weft_tensors_size(run->start.ntensor, run->start.tensor);
    uint64_t hash = weft_hash(run->start.state, (size_t)n * sizeof(real), 0);
    const weft_stored *rows = run->start.rows;
    if (rows) hash = weft_hash(rows->mark, sizeof rows->mark, hash);
    return weft_arena_text(run->mem, "%s %016llx", run->data.digest,
                           (unsigned long long)hash);
}
