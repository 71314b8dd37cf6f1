/* The journals of a run, from which a killed run is resumed: NAME.d/journal contains the
 * configuration and a record of each job that the first team did, NAME.d/journal-TEAM those
 * of another team. All are read together, whatever the number of teams is now. The same
 * directory has states (state_file.c) and checkpoints of jobs in flight (checkpoint.c).
 * Each file has the run's identity in its head. The first journal is removed last. */
#include "open.h"
#include "formats.h"
#include "place.h"
#include "records.h"
#include "retry.h"
#include "times.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MESSAGE 16777216 /* approximate size of a broadcast of records, bytes */

/* ---- opening ---- */

/* Checks of rank 0 before the journal is opened. */
static weft_status look(const weft_rundir *t, int how, const char *journal)
{
    int begins = how == WEFT_BEGIN || how == WEFT_REPLACE;
    if (begins || weft_file_is(journal))
        TRY(weft_h5_replace(t->path, WEFT_RUN_FORMAT, how != WEFT_BEGIN));
    if (begins) {
        TRY(weft_file_try(t->path));
        return weft_place_make(t->dir, journal);
    }
    if (weft_file_is(journal)) return weft_file_try(t->path);
    if (weft_file_is(t->path)) {
        TRY(weft_winner_find(t->path, t->mem));
        return weft_fail(
            WEFT_EFILE, "%s is complete%s", t->path,
            how == WEFT_RETRY
                ? ", and has kept no journals of failed jobs: there is nothing "
                  "to repeat"
                : ": there is nothing to resume");
    }
    return weft_fail(WEFT_EFILE, "there is no run %s: neither it nor its journal %s",
                     t->path, journal);
}

static const char *journal_name(const weft_rundir *t, int team)
{
    return weft_rundir_journal(t->dir, team, t->mem);
}

/* 1 if the records are of an unfinished run, or so damaged that they may be. */
static int is_begun(const weft_record *rec, int64_t n)
{
    int begun = 0;
    for (int64_t i = 0; i < n; i++) {
        if (rec[i].tag == TAG_DONE) return 0;
        begun |= rec[i].data == NULL || rec[i].tag != TAG_CONF;
    }
    return begun;
}

/* Adds the records of the other teams' journals. */
static weft_status open_others(weft_rundir *t, int how, weft_record **rec, int64_t *n)
{
    weft_place_unclaim(t->dir);
    for (int team = 1; weft_file_is(journal_name(t, team)); team++) {
        weft_journal j;
        weft_record *more, *all;
        int64_t nmore;
        TRY(weft_journal_open(&j, journal_name(t, team), &more, &nmore, t->mem));
        weft_journal_close(&j);
        weft_retry_void(more, nmore, how == WEFT_RETRY);
        all = WEFT_NEW(t->mem, weft_record, *n + nmore);
        if (*n > 0) memcpy(all, *rec, (size_t)*n * sizeof *all);
        if (nmore > 0) memcpy(all + *n, more, (size_t)nmore * sizeof *all);
        *rec = all;
        *n += nmore;
    }
    return WEFT_OK;
}

static weft_status open_journal(weft_rundir *t, int how, weft_record **rec, int64_t *n)
{
    const char *path = journal_name(t, 0);
    if (how == WEFT_RETRY) TRY(weft_retry_revive(t->path, t->mem));
    TRY(look(t, how, path));
    TRY(weft_journal_open(&t->journal, path, rec, n, t->mem));
    weft_retry_void(*rec, *n, how == WEFT_RETRY);
    if (how == WEFT_RESUME || how == WEFT_RETRY) return open_others(t, how, rec, n);
    if (how == WEFT_BEGIN && is_begun(*rec, *n)) {
        weft_journal_close(&t->journal);
        return weft_fail(WEFT_EFILE,
                         "%s is unfinished; continue it by `weft resume %s`, or "
                         "start again by --force",
                         t->path, t->path);
    }
    *n = 0;
    weft_place_forget(t->path);
    weft_place_empty(t->dir);
    return weft_journal_clear(&t->journal);
}

/* Size of a record's data in a message, padded for alignment. */
static size_t padded(const uint64_t *head)
{
    return head[2] > 0 ? (head[1] + 15) / 16 * 16 : 0;
}

/* Gives all ranks the records first .. end-1 that rank 0 read. Collective. */
static void share_some(const weft_rundir *t, weft_record *rec, const uint64_t *head,
                       int64_t first, int64_t end)
{
    size_t bytes = 0;
    for (int64_t i = first; i < end; i++) bytes += padded(head + 3 * i);
    weft_arena *tmp = weft_arena_new();
    int root = t->world->rank == 0;
    char *text = WEFT_NEW(root ? tmp : t->mem, char, bytes), *at = text;
    for (int64_t i = first; i < end; at += padded(head + 3 * i++)) {
        const uint64_t *h = head + 3 * i;
        if (root && h[2] > 0)
            memcpy(at, rec[i].data, rec[i].bytes);
        else if (!root)
            rec[i] = (weft_record){.tag = h[0], .bytes = h[1], .data = h[2] ? at : NULL};
    }
    weft_bcast(t->world, text, bytes, 0);
    weft_arena_free(tmp);
}

/* Gives all ranks the records that rank 0 read. Collective. */
static weft_record *share(const weft_rundir *t, weft_record *rec, int64_t *n)
{
    if (t->world->size == 1) return rec;
    weft_bcast(t->world, n, sizeof *n, 0);
    weft_arena *tmp = weft_arena_new();
    uint64_t *head = WEFT_NEW(tmp, uint64_t, 3 * *n);
    for (int64_t i = 0; i < *n && t->world->rank == 0; i++) {
        const uint64_t h[3] = {rec[i].tag, rec[i].bytes, rec[i].data != NULL};
        memcpy(head + 3 * i, h, sizeof h);
    }
    weft_bcast(t->world, head, 3 * (size_t)*n * sizeof *head, 0);
    if (t->world->rank != 0) rec = WEFT_NEW(t->mem, weft_record, *n);
    for (int64_t first = 0, end = 0; first < *n; first = end) {
        size_t bytes = 0;
        for (; end < *n && (end == first || bytes < MESSAGE); end++)
            bytes += padded(head + 3 * end);
        share_some(t, rec, head, first, end);
    }
    weft_arena_free(tmp);
    return rec;
}

static weft_status read_about(weft_rundir *t, const char *text)
{
    weft_about a;
    TRY(weft_about_read(t->dir, text, &a, t->mem));
    if (a.real_bytes != (int)sizeof(real))
        return weft_fail(WEFT_EFILE,
                         "%s was begun with numbers of %d bytes, this program has "
                         "%d; resume it with a program built with REAL=%s",
                         t->path, a.real_bytes, (int)sizeof(real),
                         a.real_bytes == 8 ? "double" : "float");
    t->data = a.data;
    t->began = a.began;
    return WEFT_OK;
}

static void take_done(weft_rundir *t, const weft_record *r)
{
    t->done = 1;
    t->keeps = r->data && r->bytes == sizeof t->won;
    if (t->keeps) memcpy(&t->won, r->data, sizeof t->won);
}

/* Parses the head of the journal. */
static weft_status take_head(weft_rundir *t, const weft_record *rec, int64_t n)
{
    const char *conf = NULL;
    int damaged = 0;
    for (int64_t i = 0; i < n; i++) {
        if (rec[i].tag == TAG_CONF) conf = weft_record_text(&rec[i]);
        if (rec[i].tag == TAG_DONE) take_done(t, &rec[i]);
        t->retried |= rec[i].tag == TAG_RETRY;
        if (rec[i].tag == TAG_DIRECTORY) t->directory = weft_record_text(&rec[i]);
        damaged |= !rec[i].data;
        if (rec[i].tag == TAG_RUN && rec[i].data &&
            (rec[i].bytes != sizeof t->id || memcmp(rec[i].data, &t->id, sizeof t->id)))
            return weft_fail(WEFT_EFILE,
                             "%s/journal-1, or one with a higher number, is of another "
                             "run; remove it",
                             t->dir);
        if (rec[i].tag != TAG_ABOUT || !weft_record_text(&rec[i])) continue;
        TRY(read_about(t, rec[i].data));
        t->conf = conf;
        if (conf) weft_rundir_identify(t, conf);
    }
    if (t->conf || !damaged) return WEFT_OK;
    return weft_fail(WEFT_EFILE,
                     "%s/journal is damaged: what the run was begun with cannot be read; "
                     "put the file back from a copy, or start again by `weft tune --force`",
                     t->dir);
}

/* Warns which jobs' records were lost by damage: their tag is known, or a record is
 * missing. */
static void tell_lost(const weft_rundir *t, const weft_record *rec, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        if (rec[i].data || (rec[i].tag > 0 && rec[i].tag < TAG_JOB)) continue;
        const long long id = (long long)rec[i].tag - TAG_JOB;
        const char *text = id >= 0 ? weft_arena_text(t->mem, "job %lld", id) : "";
        for (int64_t j = 0; j < t->npast && id < 0; j++)
            if (!t->past[j])
                text = weft_arena_text(t->mem, "%s%s%lld", text,
                                       *text ? ", " : "one of the jobs ", (long long)j);
        if (id >= 0 && id < t->npast && t->past[id]) continue; /* the job was repeated */
        if (!*text) continue;
        weft_log(
            WEFT_WARN,
            "%s/journal is damaged: its record of %s is lost, and whole ones follow it; "
            "the file is kept, and what is lost is done again",
            t->dir, text);
    }
}

/* Parses the records. */
static weft_status take(weft_rundir *t, const weft_record *rec, int64_t n)
{
    int64_t id;
    TRY(take_head(t, rec, n));
    for (int64_t i = 0; i < n; i++)
        if (weft_record_is_job(&rec[i], &id) && id >= t->npast) t->npast = id + 1;
    t->past = WEFT_NEW(t->mem, const weft_recorded *, t->npast);
    for (int64_t i = 0; i < n; i++) t->ntime += rec[i].tag == TAG_TIME;
    t->time = WEFT_NEW(t->mem, weft_time, t->ntime);
    t->ntime = 0;
    for (int64_t i = 0; i < n; i++) {
        t->ntime += weft_time_read(&rec[i], &t->time[t->ntime]);
        if (!weft_record_is_job(&rec[i], &id)) continue;
        t->ndone += !t->past[id];
        weft_recorded *one = WEFT_NEW(t->mem, weft_recorded, 1);
        *one = (weft_recorded){rec[i].data, t->past[id]};
        t->past[id] = one;
    }
    tell_lost(t, rec, n);
    return WEFT_OK;
}

weft_status weft_rundir_open(weft_rundir *t, const char *path, int how, weft_team *world,
                             weft_arena *mem)
{
    *t = (weft_rundir){.world = world,
                       .mem = mem,
                       .path = path,
                       .journal = {.fd = -1},
                       .retried = how == WEFT_RETRY};
    t->dir = weft_place_dir(path, mem);

    weft_record *rec = NULL;
    int64_t nrec = 0;
    TRY(weft_agree(world->rank == 0 ? open_journal(t, how, &rec, &nrec) : WEFT_OK, world));
    rec = share(t, rec, &nrec);
    weft_status st = take(t, rec, nrec);
    if (st == WEFT_OK && t->done) {
        int written = weft_file_is(path);
        weft_bcast(world, &written, sizeof written, 0);
        t->done = written; /* if not, the run file was moved away, and is written again from
                              the journals */
    }
    int begins = how == WEFT_BEGIN || how == WEFT_REPLACE;
    if (st == WEFT_OK && !begins && !t->done && t->conf == NULL)
        st = weft_fail(WEFT_EFILE,
                       "%s was stopped before it started; start again by `weft tune`",
                       t->path);
    if (st != WEFT_OK) weft_rundir_close(t, 0);
    return st;
}

void weft_rundir_close(weft_rundir *t, int done)
{
    if (t->journal.fd < 0) return;
    /* The record tells, if the removal is interrupted, that missing files are not
     * needed. */
    const weft_won *won = t->keeps ? &t->won : NULL;
    if (done &&
        weft_journal_add(&t->journal, TAG_DONE, won, won ? sizeof *won : 0) == WEFT_OK)
        done = weft_journal_sync(&t->journal) == WEFT_OK;
    weft_journal_close(&t->journal);
    if (done && won) weft_retry_store(t->path, won);
    if (done) weft_place_remove(t->dir);
}
