/* The journals of a run, from which a killed run is resumed: NAME.d/journal contains the
 * configuration and a record of each job that the first team did, NAME.d/journal-TEAM those
 * of another team. All are read together, whatever the number of teams is now. The same
 * directory has states (state_file.c) and checkpoints of jobs in flight (checkpoint.c).
 * Each file has the run's identity in its head. The first journal is removed last. */
#include "run_private.h"

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
static weft_status look(const weft_trace *t, int how, const char *journal)
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

const char *weft_trace_journal(const char *dir, int team, weft_arena *mem)
{
    if (team == 0) return weft_arena_text(mem, "%s/journal", dir);
    return weft_arena_text(mem, "%s/journal-%d", dir, team);
}

static const char *journal_name(const weft_trace *t, int team)
{
    return weft_trace_journal(t->dir, team, t->mem);
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
static weft_status open_others(weft_trace *t, int how, weft_record **rec, int64_t *n)
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

static weft_status open_journal(weft_trace *t, int how, weft_record **rec, int64_t *n)
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
static void share_some(const weft_trace *t, weft_record *rec, const uint64_t *head,
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
static weft_record *share(const weft_trace *t, weft_record *rec, int64_t *n)
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

static weft_status read_about(weft_trace *t, const char *text)
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

/* Sets the run's identity: a hash of what it was started with, and when. */
static void identify(weft_trace *t, const char *conf)
{
    uint64_t h = weft_hash(conf, strlen(conf), (uint64_t)t->began);
    t->id = weft_hash(t->data, strlen(t->data), h);
}

int weft_trace_is_job(const weft_record *r, int64_t *id)
{
    return r->tag >= TAG_JOB && r->data && weft_job_record_is(r->data, r->bytes, id) &&
           r->tag - TAG_JOB == (uint64_t)*id;
}

const char *weft_trace_text(const weft_record *r)
{
    const char *text = r->data;
    return text && r->bytes > 0 && text[r->bytes - 1] == '\0' ? text : NULL;
}

static void take_done(weft_trace *t, const weft_record *r)
{
    t->done = 1;
    t->keeps = r->data && r->bytes == sizeof t->won;
    if (t->keeps) memcpy(&t->won, r->data, sizeof t->won);
}

/* Parses the head of the journal. */
static weft_status take_head(weft_trace *t, const weft_record *rec, int64_t n)
{
    const char *conf = NULL;
    int damaged = 0;
    for (int64_t i = 0; i < n; i++) {
        if (rec[i].tag == TAG_CONF) conf = weft_trace_text(&rec[i]);
        if (rec[i].tag == TAG_DONE) take_done(t, &rec[i]);
        t->retried |= rec[i].tag == TAG_RETRY;
        if (rec[i].tag == TAG_DIRECTORY) t->directory = weft_trace_text(&rec[i]);
        damaged |= !rec[i].data;
        if (rec[i].tag == TAG_RUN && rec[i].data &&
            (rec[i].bytes != sizeof t->id || memcmp(rec[i].data, &t->id, sizeof t->id)))
            return weft_fail(WEFT_EFILE,
                             "%s/journal-1, or one with a higher number, is of another "
                             "run; remove it",
                             t->dir);
        if (rec[i].tag != TAG_ABOUT || !weft_trace_text(&rec[i])) continue;
        TRY(read_about(t, rec[i].data));
        t->conf = conf;
        if (conf) identify(t, conf);
    }
    if (t->conf || !damaged) return WEFT_OK;
    return weft_fail(WEFT_EFILE,
                     "%s/journal is damaged: what the run was begun with cannot be read; "
                     "put the file back from a copy, or start again by `weft tune --force`",
                     t->dir);
}

/* Warns which jobs' records were lost by damage: their tag is known, or a record is
 * missing. */
static void tell_lost(const weft_trace *t, const weft_record *rec, int64_t n)
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
static weft_status take(weft_trace *t, const weft_record *rec, int64_t n)
{
    int64_t id;
    TRY(take_head(t, rec, n));
    for (int64_t i = 0; i < n; i++)
        if (weft_trace_is_job(&rec[i], &id) && id >= t->npast) t->npast = id + 1;
    t->past = WEFT_NEW(t->mem, const weft_recorded *, t->npast);
    for (int64_t i = 0; i < n; i++) t->ntime += rec[i].tag == TAG_TIME;
    t->time = WEFT_NEW(t->mem, weft_time, t->ntime);
    t->ntime = 0;
    for (int64_t i = 0; i < n; i++) {
        t->ntime += weft_time_read(&rec[i], &t->time[t->ntime]);
        if (!weft_trace_is_job(&rec[i], &id)) continue;
        t->ndone += !t->past[id];
        weft_recorded *one = WEFT_NEW(t->mem, weft_recorded, 1);
        *one = (weft_recorded){rec[i].data, t->past[id]};
        t->past[id] = one;
    }
    tell_lost(t, rec, n);
    return WEFT_OK;
}

weft_status weft_trace_open(weft_trace *t, const char *path, int how, weft_team *world,
                            weft_arena *mem)
{
    *t = (weft_trace){.world = world,
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
    if (st != WEFT_OK) weft_trace_close(t, 0);
    return st;
}

weft_status weft_run_file(weft_h5 *f, const char *path, weft_arena *mem)
{
    if (weft_run_is_unfinished(path))
        return weft_fail(WEFT_EFILE, "%s is unfinished; go on with it by `weft resume %s`",
                         path, path);
    return weft_h5_open(f, path, mem);
}

/* ---- writing ---- */

/* Checks that there is space for the states, by allocating a file of that size and removing
 * it. */
static weft_status try_space(const weft_trace *t, double bytes)
{
    const char *path = weft_arena_text(t->mem, "%s/journal.tmp.0", t->dir);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    int err = fd < 0 ? errno : posix_fallocate(fd, 0, (off_t)bytes);
    if (err == EINVAL || err == EOPNOTSUPP)
        err = 0; /* the file system does not support
                    this */
    if (fd >= 0) close(fd);
    unlink(path);
    if (err == 0) return WEFT_OK;
    return weft_fail(WEFT_EFILE,
                     "cannot write %.1f MB to %s: %s; free space or choose another "
                     "output by -o",
                     bytes / 1e6, t->dir, strerror(err));
}

static weft_status begin(weft_trace *t, const char *conf, double bytes)
{
    TRY(try_space(t, bytes));
    const char *text = weft_about_text(t->data, t->began, t->mem);
    TRY(weft_journal_add(&t->journal, TAG_CONF, conf, strlen(conf) + 1));
    TRY(weft_journal_add(&t->journal, TAG_ABOUT, text, strlen(text) + 1));
    const char *dir = t->directory;
    if (t->tables)
        TRY(weft_journal_add(&t->journal, TAG_TABLES, t->tables, strlen(t->tables) + 1));
    if (dir) TRY(weft_journal_add(&t->journal, TAG_DIRECTORY, dir, strlen(dir) + 1));
    /* A kill can leave the last record incomplete; this empty one ends the head, whose
     * records are then known to be whole. */
    TRY(weft_journal_add(&t->journal, TAG_BEGUN, NULL, 0));
    return weft_journal_sync(&t->journal);
}

weft_status weft_trace_begin(weft_trace *t, const char *conf, const char *data,
                             double bytes)
{
    t->data = data;
    t->began = (int64_t)time(NULL);
    weft_bcast(t->world, &t->began, sizeof t->began, 0);
    identify(t, conf);
    return weft_agree(t->world->rank == 0 ? begin(t, conf, bytes) : WEFT_OK, t->world);
}

weft_status weft_trace_join(weft_trace *t, int team)
{
    int fresh;
    if (team == 0) return WEFT_OK;
    weft_status st =
        weft_journal_extend(&t->journal, journal_name(t, team), &fresh, t->mem);
    if (st == WEFT_OK && fresh)
        st = weft_journal_add(&t->journal, TAG_RUN, &t->id, sizeof t->id);
    return weft_trace_stuck(t, st);
}

void weft_trace_leave(weft_trace *t)
{
    if (t->world->rank != 0) weft_journal_close(&t->journal);
}

weft_status weft_trace_stuck(const weft_trace *t, weft_status st)
{
    if (st != WEFT_EFILE) return st;
    return weft_fail(st, "%s; then go on with `weft resume %s`", weft_error(), t->path);
}

weft_status weft_trace_add(weft_trace *t, const weft_job_record *e, const void *packed,
                           size_t bytes)
{
    weft_status st =
        weft_journal_add(&t->journal, TAG_JOB + (uint64_t)e->job.id, packed, bytes);
    weft_state_id flight = {.trial = -1, .job = e->job.id};
    if (e->nunit > 1) weft_trace_drop(t, &flight);
    return weft_trace_stuck(t, st);
}

void weft_trace_close(weft_trace *t, int done)
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

/* ---- replay ---- */

weft_status weft_trace_find(const weft_trace *t, weft_job_record *e, int *found,
                            weft_arena *mem)
{
    *found = 0;
    if (e->job.id >= t->npast || !t->past[e->job.id]) return WEFT_OK;
    for (const weft_recorded *r = t->past[e->job.id]; r && !*found; r = r->earlier)
        *found = weft_job_record_unpack(e, r->data, mem);
    if (*found || t->retried) return WEFT_OK;
    return weft_fail(WEFT_EFILE,
                     "job %lld in the journal of %s is not the one that this program asks "
                     "for: another version began the run; resume it with that one, or "
                     "begin anew by `weft tune --force`",
                     (long long)e->job.id, t->path);
}

double weft_trace_ended(const weft_trace *t)
{
    double last = 0;
    for (int64_t i = 0; i < t->npast; i++)
        for (const weft_recorded *r = t->past[i]; r; r = r->earlier)
            last = fmax(last, weft_job_record_ended(r->data));
    for (int64_t i = 0; i < t->ntime; i++) last = fmax(last, t->time[i].at);
    return last;
}

static int by_ticket(const void *pa, const void *pb)
{
    int64_t a = *(const int64_t *)pa, b = *(const int64_t *)pb;
    return (a > b) - (a < b);
}

int64_t weft_trace_tickets(const weft_trace *t, const int64_t **ticket, weft_arena *mem)
{
    int64_t *all = WEFT_NEW(mem, int64_t, t->npast), n = 0;
    weft_arena *tmp = weft_arena_new();
    for (int64_t i = 0; i < t->npast; i++) {
        size_t mark = weft_arena_mark(tmp);
        weft_job_record e;
        if (t->past[i] && weft_job_record_read(&e, t->past[i]->data, tmp))
            all[n++] = e.ticket;
        weft_arena_reset(tmp, mark);
    }
    if (n > 0) qsort(all, (size_t)n, sizeof *all, by_ticket);
    weft_arena_free(tmp);
    *ticket = all;
    return n;
}
