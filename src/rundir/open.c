/* The journals of a run, from which a killed run is resumed: NAME.d/journal contains the
 * configuration and a record of each job that the first team did, NAME.d/journal-TEAM those
 * of another team. All are read together, whatever the number of teams is now. Each file
 * has the run's identity in its head. The first journal is removed last.
 *
 * Failed jobs are done again by `weft resume --retry-failed`. A mark in each journal says
 * that the failures before it do not count. What was asked for after them is done again
 * where the tuner now asks for another job. The journals of a complete run in which jobs
 * failed are kept, beside what these printed, in NAME.failed. */
#include "rundir.h"
#include "weft/base/base.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

static const char *journal_name(const weft_rundir *rundir, int team)
{
    return weft_rundir_journal(rundir->dir, team, rundir->mem);
}

/* ---- failed jobs that are done again ---- */

/* Makes the failures among the records of a journal void (TAG_VOID) that are before its
 * last mark, or `all` of them, and the end of the run. */
static void make_void(weft_record *rec, int64_t n, int all)
{
    int64_t end = all ? n : 0, id;
    for (int64_t i = 0; i < n; i++)
        if (rec[i].tag == TAG_RETRY) end = all ? n : i;
    WEFT_SCRATCH(tmp);
    for (int64_t i = 0; i < end; i++) {
        WEFT_REWIND(tmp);
        weft_job_record record;
        int failed = weft_record_is_job(&rec[i], &id) &&
                     weft_job_record_read(&record, rec[i].data, tmp) &&
                     !isfinite(record.res.loss);
        if (failed || rec[i].tag == TAG_DONE) rec[i].tag = TAG_VOID;
    }
}

static weft_status add_marks(weft_rundir *rundir)
{
    TRY(weft_journal_add(&rundir->journal, TAG_RETRY, NULL, 0));
    TRY(weft_journal_sync(&rundir->journal));
    for (int team = 1; weft_file_is(journal_name(rundir, team)); team++) {
        weft_journal journal;
        int fresh;
        TRY(weft_journal_extend(&journal, journal_name(rundir, team), &fresh, rundir->mem));
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

/* Moves the journals of a complete run from its directory to NAME.failed. */
static void store_journals(const char *path, const weft_won *won)
{
    WEFT_SCRATCH(tmp);
    const char *dir = weft_place_dir(path, tmp), *failed = weft_place_failed(path, tmp);
    mkdir(failed, 0777);
    if (won->trial >= 0)
        rename(weft_place_state(dir, won->trial, won->job, tmp),
               weft_place_state(failed, won->trial, won->job, tmp));
    int moved = move_others(dir, failed, tmp);
    weft_place_empty(dir); /* while a journal tells that nothing of it is missed */
    if (!moved || !move_journal(dir, failed, 0, tmp))
        weft_log(WEFT_WARN,
                 "%s: the journals cannot be kept in %s, so that the run's failed "
                 "jobs cannot be done again: %s",
                 path, failed, strerror(errno));
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

/* Moves them back, if the run is complete, so that it is one that was stopped before its
 * end. EFILE. */
static weft_status revive_journals(const char *path, weft_arena *mem)
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
        rename(weft_place_state(failed, won.trial, won.job, mem),
               weft_place_state(dir, won.trial, won.job, mem));
    }
    return WEFT_OK;
}

/* ---- opening ---- */

static int begins(int how)
{
    return how != WEFT_RESUME && how != WEFT_RETRY;
}

/* Checks of rank 0 before the journal is opened. */
static weft_status check_files(const weft_rundir *rundir, int how, const char *journal)
{
    if (begins(how) || weft_file_is(journal))
        TRY(weft_h5_replace(rundir->path, WEFT_RUN_FORMAT, how != WEFT_BEGIN));
    if (begins(how)) {
        TRY(weft_file_try(rundir->path));
        return weft_place_make(rundir->dir, journal);
    }
    if (weft_file_is(journal)) return weft_file_try(rundir->path);
    if (weft_file_is(rundir->path)) {
        TRY(weft_winner_find(rundir->path, rundir->mem));
        return weft_fail(WEFT_EFILE,
                         "%s is complete, and has kept no journals of failed jobs: there "
                         "is nothing to repeat",
                         rundir->path);
    }
    return weft_fail(WEFT_EFILE, "there is no run %s: neither it nor its journal %s",
                     rundir->path, journal);
}

/* 1 if the records have more than the configuration, or are so damaged that they may. */
static int is_begun(const weft_record *rec, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (rec[i].data == NULL || rec[i].tag != TAG_CONF) return 1;
    return 0;
}

static int is_done(const weft_record *rec, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (rec[i].tag == TAG_DONE) return 1;
    return 0;
}

int weft_rundir_is_begun(const char *dir, weft_arena *mem)
{
    weft_record *rec;
    int64_t n = 0;
    int in_use;
    const char *journal = weft_rundir_journal(dir, 0, mem);
    if (!weft_file_is(journal)) return 0;
    if (weft_journal_read(journal, &rec, &n, &in_use, mem) != WEFT_OK) return 1;
    return is_begun(rec, n);
}

static void append(const weft_rundir *rundir, const weft_record *more, int64_t nmore,
                   weft_record **rec, int64_t *n)
{
    weft_record *all = WEFT_NEW(rundir->mem, weft_record, *n + nmore);
    if (*n > 0) memcpy(all, *rec, (size_t)*n * sizeof *all);
    if (nmore > 0) memcpy(all + *n, more, (size_t)nmore * sizeof *all);
    *rec = all;
    *n += nmore;
}

static weft_status open_others(weft_rundir *rundir, int how, weft_record **rec, int64_t *n)
{
    weft_place_unclaim(rundir->dir);
    for (int team = 1; weft_file_is(journal_name(rundir, team)); team++) {
        weft_journal journal;
        weft_record *more;
        int64_t nmore;
        TRY(weft_journal_open(&journal, journal_name(rundir, team), &more, &nmore,
                              rundir->mem));
        weft_journal_close(&journal);
        make_void(more, nmore, how == WEFT_RETRY);
        append(rundir, more, nmore, rec, n);
    }
    return WEFT_OK;
}

static weft_status open_journal(weft_rundir *rundir, int how, weft_record **rec, int64_t *n)
{
    const char *path = journal_name(rundir, 0);
    if (how == WEFT_RETRY) TRY(revive_journals(rundir->path, rundir->mem));
    TRY(check_files(rundir, how, path));
    TRY(weft_journal_open(&rundir->journal, path, rec, n, rundir->mem));
    weft_file_sweep(rundir->path, 1); /* the journal's lock is held */
    make_void(*rec, *n, how == WEFT_RETRY);
    if (!begins(how)) return open_others(rundir, how, rec, n);
    if (how == WEFT_BEGIN && is_begun(*rec, *n) && !is_done(*rec, *n)) {
        weft_journal_close(&rundir->journal);
        return weft_fail(WEFT_EFILE,
                         "%s is unfinished; continue it by `weft resume %s`, or "
                         "start again by --force",
                         rundir->path, rundir->path);
    }
    *n = 0;
    if (how != WEFT_EXTEND) weft_place_forget(rundir->path);
    weft_place_empty(rundir->dir);
    return weft_journal_clear(&rundir->journal);
}

/* Size of a record's data in a message, padded for alignment. */
static size_t padded(const uint64_t *head)
{
    return head[2] > 0 ? (head[1] + 15) / 16 * 16 : 0;
}

/* Gives all ranks the records that rank 0 read. Collective. */
static weft_record *share_records(const weft_rundir *rundir, weft_record *rec, int64_t *n)
{
    weft_team *world = rundir->world;
    int root = world->rank == 0;
    if (world->size == 1) return rec;
    weft_bcast(world, n, sizeof *n, 0);
    WEFT_SCRATCH(tmp);
    uint64_t *head = WEFT_NEW(tmp, uint64_t, 3 * *n);
    for (int64_t i = 0; i < *n && root; i++) {
        const uint64_t h[3] = {rec[i].tag, rec[i].bytes, rec[i].data != NULL};
        memcpy(head + 3 * i, h, sizeof h);
    }
    weft_bcast(world, head, 3 * (size_t)*n * sizeof *head, 0);
    size_t bytes = 0;
    for (int64_t i = 0; i < *n; i++) bytes += padded(head + 3 * i);
    char *text = WEFT_NEW(root ? tmp : rundir->mem, char, bytes), *at = text;
    if (!root) rec = WEFT_NEW(rundir->mem, weft_record, *n);
    for (int64_t i = 0; i < *n; at += padded(head + 3 * i++)) {
        const uint64_t *h = head + 3 * i;
        if (root && h[2] > 0)
            memcpy(at, rec[i].data, rec[i].bytes);
        else if (!root)
            rec[i] = (weft_record){.tag = h[0], .bytes = h[1], .data = h[2] ? at : NULL};
    }
    weft_bcast(world, text, bytes, 0);
    return rec;
}

static weft_status check_numbers(const weft_rundir *rundir)
{
    int bytes = rundir->about.real_bytes;
    if (!rundir->conf || bytes == (int)sizeof(real)) return WEFT_OK;
    return weft_fail(
        WEFT_EFILE,
        "%s was begun with numbers of %d bytes, this program has %d; resume it "
        "with a program built with REAL=%s",
        rundir->path, bytes, (int)sizeof(real), bytes == 8 ? "double" : "float");
}

static void take_done(weft_rundir *rundir, const weft_record *record)
{
    rundir->done = 1;
    rundir->keeps = record->data && record->bytes == sizeof rundir->won;
    if (rundir->keeps) memcpy(&rundir->won, record->data, sizeof rundir->won);
}

static weft_status take_head(weft_rundir *rundir, const weft_record *rec, int64_t n)
{
    const char *conf = NULL;
    int damaged = 0;
    for (int64_t i = 0; i < n; i++) {
        if (rec[i].tag == TAG_CONF) conf = weft_record_text(&rec[i]);
        if (rec[i].tag == TAG_GROWN && rundir->conf && weft_record_text(&rec[i])) {
            rundir->conf = weft_record_text(&rec[i]); /* of the same identity */
            rundir->longer = 1;
        }
        if (rec[i].tag == TAG_TABLES) rundir->tables = weft_record_text(&rec[i]);
        if (rec[i].tag == TAG_DONE) take_done(rundir, &rec[i]);
        rundir->retried |= rec[i].tag == TAG_RETRY;
        if (rec[i].tag == TAG_DIRECTORY) rundir->directory = weft_record_text(&rec[i]);
        damaged |= !rec[i].data;
        if (rec[i].tag == TAG_RUN && rec[i].data &&
            (rec[i].bytes != sizeof rundir->id ||
             memcmp(rec[i].data, &rundir->id, sizeof rundir->id)))
            return weft_fail(WEFT_EFILE,
                             "%s/journal-1, or one with a higher number, is of another "
                             "run; remove it",
                             rundir->dir);
        if (rec[i].tag != TAG_ABOUT || !weft_record_text(&rec[i])) continue;
        TRY(weft_about_read(rundir->dir, rec[i].data, &rundir->about, rundir->mem));
        rundir->conf = conf;
        if (conf) weft_rundir_identify(rundir, conf);
    }
    if (rundir->conf || !damaged) return WEFT_OK;
    return weft_fail(WEFT_EFILE,
                     "%s/journal is damaged: what the run was begun with cannot be read; "
                     "put the file back from a copy, or start again by `weft tune --force`",
                     rundir->dir);
}

/* Warns which jobs' records were lost by damage: their tag is known, or a record is
 * missing. */
static void tell_lost(const weft_rundir *rundir, const weft_record *rec, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        if (rec[i].data || (rec[i].tag > 0 && rec[i].tag < TAG_JOB)) continue;
        const long long id = (long long)rec[i].tag - TAG_JOB;
        const char *text = id >= 0 ? weft_arena_text(rundir->mem, "job %lld", id) : "";
        for (int64_t j = 0; j < rundir->past.n && id < 0; j++)
            if (!rundir->past.job[j])
                text = weft_arena_text(rundir->mem, "%s%s%lld", text,
                                       *text ? ", " : "one of the jobs ", (long long)j);
        if (id >= 0 && id < rundir->past.n && rundir->past.job[id])
            continue; /* the job was repeated */
        if (!*text) continue;
        weft_log(
            WEFT_WARN,
            "%s/journal is damaged: its record of %s is lost, and whole ones follow it; "
            "the file is kept, and what is lost is done again",
            rundir->dir, text);
    }
}

static weft_status take_records(weft_rundir *rundir, const weft_record *rec, int64_t n)
{
    TRY(take_head(rundir, rec, n));
    weft_rundir_enter(rundir, rec, n);
    for (int64_t i = 0; i < n; i++) rundir->past.ntime += rec[i].tag == TAG_TIME;
    rundir->past.time = WEFT_NEW(rundir->mem, weft_time, rundir->past.ntime);
    rundir->past.ntime = 0;
    for (int64_t i = 0; i < n; i++)
        rundir->past.ntime +=
            weft_time_read(&rec[i], &rundir->past.time[rundir->past.ntime]);
    return WEFT_OK;
}

weft_status weft_rundir_open(weft_rundir *rundir, const char *path, int how,
                             weft_team *world, weft_arena *mem)
{
    *rundir = (weft_rundir){.world = world,
                            .mem = mem,
                            .path = path,
                            .journal = {.fd = -1},
                            .retried = how == WEFT_RETRY};
    rundir->dir = weft_place_dir(path, mem);

    weft_record *rec = NULL;
    int64_t nrec = 0;
    TRY(weft_agree(world->rank == 0 ? open_journal(rundir, how, &rec, &nrec) : WEFT_OK,
                   world));
    rec = share_records(rundir, rec, &nrec);
    weft_status st = take_records(rundir, rec, nrec);
    if (st == WEFT_OK) st = check_numbers(rundir);
    if (st == WEFT_OK) tell_lost(rundir, rec, nrec);
    if (st == WEFT_OK && rundir->done) {
        int written = weft_file_is(path);
        weft_bcast(world, &written, sizeof written, 0);
        rundir->done = written; /* if not, the run file was moved away, and is written again
                              from the journals */
    }
    if (st == WEFT_OK && !begins(how) && !rundir->done && rundir->conf == NULL)
        st = weft_fail(WEFT_EFILE,
                       "%s was stopped before it started; start again by `weft tune`%s",
                       rundir->path,
                       weft_file_is(path) ? " --force, or as it was to be given more: the "
                                            "run file is still that of before"
                                          : "");
    if (st != WEFT_OK) weft_rundir_close(rundir, 0);
    return st;
}

weft_status weft_rundir_look(weft_rundir *rundir, const char *path, int *in_use,
                             weft_arena *mem)
{
    weft_record *rec = NULL, *more;
    int64_t n = 0, nmore;
    int used;
    *rundir = (weft_rundir){.mem = mem, .path = path, .dir = weft_place_dir(path, mem)};
    *in_use = 0;
    for (int team = 0; team == 0 || weft_file_is(journal_name(rundir, team)); team++) {
        TRY(weft_journal_read(journal_name(rundir, team), &more, &nmore, &used, mem));
        make_void(more, nmore, 0);
        append(rundir, more, nmore, &rec, &n);
        *in_use |= used;
    }
    return take_records(rundir, rec, n);
}

void weft_rundir_close(weft_rundir *rundir, int done)
{
    if (rundir->journal.fd < 0) return;
    /* The record tells, if the removal is interrupted, that missing files are not
     * needed. */
    const weft_won *won = rundir->keeps ? &rundir->won : NULL;
    if (done &&
        weft_journal_add(&rundir->journal, TAG_DONE, won, won ? sizeof *won : 0) == WEFT_OK)
        done = weft_journal_sync(&rundir->journal) == WEFT_OK;
    weft_journal_close(&rundir->journal);
    if (done && won) store_journals(rundir->path, won);
    if (done) weft_place_remove(rundir->dir);
}
