/* Failed jobs that are done again: `weft resume --retry-failed`. A mark in each journal
 * says that the failures before it do not count. What was asked for after them is done
 * again where the tuner now asks for another job. The journals of a complete run in which
 * jobs failed are kept, beside what these printed, in NAME.failed. */
#include "retry.h"
#include "place.h"
#include "records.h"
#include "weft/file.h"
#include "weft/filenames.h"
#include "weft/job.h"
#include "weft/log.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void weft_retry_void(weft_record *rec, int64_t n, int all)
{
    int64_t end = all ? n : 0, id;
    for (int64_t i = 0; i < n; i++)
        if (rec[i].tag == TAG_RETRY) end = all ? n : i;
    weft_arena *tmp = weft_arena_new();
    for (int64_t i = 0; i < end; i++) {
        size_t mark = weft_arena_mark(tmp);
        weft_job_record record;
        int failed = weft_record_is_job(&rec[i], &id) &&
                     weft_job_record_read(&record, rec[i].data, tmp) &&
                     !isfinite(record.res.loss);
        if (failed || rec[i].tag == TAG_DONE) rec[i].tag = TAG_VOID;
        weft_arena_reset(tmp, mark);
    }
    weft_arena_free(tmp);
}

static weft_status add_marks(weft_rundir *rundir)
{
    TRY(weft_journal_add(&rundir->journal, TAG_RETRY, NULL, 0));
    TRY(weft_journal_sync(&rundir->journal));
    for (int team = 1; weft_file_is(weft_rundir_journal(rundir->dir, team, rundir->mem));
         team++) {
        weft_journal journal;
        int fresh;
        TRY(weft_journal_extend(&journal,
                                weft_rundir_journal(rundir->dir, team, rundir->mem), &fresh,
                                rundir->mem));
        weft_status st = weft_journal_add(&journal, TAG_RETRY, NULL, 0);
        if (st == WEFT_OK) st = weft_journal_sync(&journal);
        weft_journal_close(&journal);
        TRY(st);
    }
    weft_place_forget(rundir->path);
    return WEFT_OK;
}

weft_status weft_retry_mark(weft_rundir *rundir)
{
    weft_status st = rundir->world->rank == 0 ? add_marks(rundir) : WEFT_OK;
    return weft_agree(weft_rundir_stuck(rundir, st), rundir->world);
}

/* ---- complete runs ---- */

static int move_journal(const char *from, const char *to, int team, weft_arena *tmp)
{
    return rename(weft_rundir_journal(from, team, tmp),
                  weft_rundir_journal(to, team, tmp)) == 0;
}

/* Moves the journals of the teams but the first, whose journal tells that they are there.
 */
static int move_others(const char *from, const char *to, weft_arena *tmp)
{
    int n = 1, moved = 1;
    while (weft_file_is(weft_rundir_journal(from, n, tmp))) n++;
    while (--n > 0) moved &= move_journal(from, to, n, tmp);
    return moved;
}

static const char *state_in(const char *dir, const weft_won *won, weft_arena *tmp)
{
    return weft_arena_text(tmp, "%s/" WEFT_STATE_NAME, dir, (long long)won->trial,
                           (long long)won->job);
}

void weft_retry_store(const char *path, const weft_won *won)
{
    weft_arena *tmp = weft_arena_new();
    const char *dir = weft_place_dir(path, tmp), *failed = weft_place_failed(path, tmp);
    mkdir(failed, 0777);
    if (won->trial >= 0) rename(state_in(dir, won, tmp), state_in(failed, won, tmp));
    int moved = move_others(dir, failed, tmp);
    weft_place_empty(dir); /* while a journal tells that nothing of it is missed */
    if (!moved || !move_journal(dir, failed, 0, tmp))
        weft_log(WEFT_WARN,
                 "%s: the journals cannot be kept in %s, so that the run's failed "
                 "jobs cannot be done again: %s",
                 path, failed, strerror(errno));
    weft_arena_free(tmp);
}

/* The winner of a run by the last record of its first journal, *done 1: it is complete. */
static weft_status find_won(const char *journal, weft_won *won, int *done, weft_arena *tmp)
{
    weft_record *rec;
    int64_t n;
    int in_use;
    TRY(weft_journal_read(journal, &rec, &n, &in_use, tmp));
    *done = n > 0 && rec[n - 1].tag == TAG_DONE && rec[n - 1].data &&
            rec[n - 1].bytes == sizeof *won;
    if (*done) memcpy(won, rec[n - 1].data, sizeof *won);
    return WEFT_OK;
}

/* Moves the journals of a complete run back to its directory. */
static weft_status move_back(const char *failed, const char *dir, weft_arena *mem)
{
    const char *kept = weft_rundir_journal(failed, 0, mem);
    weft_won won;
    int done;
    TRY(find_won(kept, &won, &done, mem));
    if (!done)
        return weft_fail(WEFT_EFILE,
                         "%s is damaged: its end, which names the winner, cannot be read; "
                         "put the file back from a copy, or begin anew by `weft tune "
                         "--force`",
                         kept);
    if (mkdir(dir, 0777) != 0 && errno != EEXIST)
        return weft_fail(WEFT_EFILE, "cannot make the directory %s: %s; free space there",
                         dir, strerror(errno));
    if (move_others(failed, dir, mem) && move_journal(failed, dir, 0, mem)) return WEFT_OK;
    return weft_fail(WEFT_EFILE,
                     "cannot move the journals from %s to %s: %s; free space there", failed,
                     dir, strerror(errno));
}

weft_status weft_retry_revive(const char *path, weft_arena *mem)
{
    const char *dir = weft_place_dir(path, mem), *failed = weft_place_failed(path, mem);
    const char *journal = weft_rundir_journal(dir, 0, mem);
    weft_won won;
    int done;
    if (!weft_file_is(path)) return WEFT_OK; /* as is told later */
    if (!weft_file_is(journal)) {
        if (!weft_file_is(weft_rundir_journal(failed, 0, mem))) return WEFT_OK;
        TRY(move_back(failed, dir, mem));
    }
    TRY(find_won(journal, &won, &done, mem));
    if (done && won.trial >= 0) { /* as it was before the end of the run */
        weft_place_unkeep(path, won.trial, won.job);
        rename(state_in(failed, &won, mem), state_in(dir, &won, mem));
    }
    return WEFT_OK;
}
