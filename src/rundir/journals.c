/* The journals of a search: each team's leader adds a record for each job that its team
 * did, which a resumed run finds again. The head of the first journal says what the run was
 * begun with. */
#include "rundir.h"
#include "weft/base/base.h"
#include "weft/base/files.h"
#include "weft/base/random.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

int weft_record_is_job(const weft_record *record, int64_t *id)
{
    return record->tag >= TAG_JOB && record->data &&
           weft_job_record_is(record->data, record->bytes, id) &&
           record->tag - TAG_JOB == (uint64_t)*id;
}

const char *weft_record_text(const weft_record *record)
{
    const char *text = record->data;
    return text && record->bytes > 0 && text[record->bytes - 1] == '\0' ? text : NULL;
}

void weft_rundir_enter(weft_rundir *rundir, const weft_record *rec, int64_t n)
{
    int64_t id;
    for (int64_t i = 0; i < n; i++)
        if (weft_record_is_job(&rec[i], &id) && id >= rundir->past.n)
            rundir->past.n = id + 1;
    rundir->past.job = WEFT_NEW(rundir->mem, const weft_recorded *, rundir->past.n);
    for (int64_t i = 0; i < n; i++) {
        if (!weft_record_is_job(&rec[i], &id)) continue;
        rundir->past.done += !rundir->past.job[id];
        weft_recorded *one = WEFT_NEW(rundir->mem, weft_recorded, 1);
        *one = (weft_recorded){rec[i].data, rundir->past.job[id]};
        rundir->past.job[id] = one;
    }
}

/* ---- what the run was begun with ---- */

static const char about_section[] = "journal";

/* The note of a run of this program. Owned by mem. */
static const char *about_text(const weft_about *about, weft_arena *mem)
{
    return weft_arena_text(
        mem,
        "[%s]\ndata = %s\nfiles = %s\nbegan = %lld\nreal_bytes = %d\nrecords = %d\n"
        "version = %s\n",
        about_section, about->data, about->files ? about->files : "",
        (long long)about->began, (int)sizeof(real), WEFT_RECORD_FORMAT, WEFT_VERSION);
}

/* What another version says of itself may have any keys. */
static const char *note(const weft_conf *conf, const char *key, const char *usual)
{
    const weft_entry *entry = weft_conf_find(conf, about_section, key);
    return entry ? entry->value : usual;
}

weft_status weft_about_read(const char *dir, const char *text, weft_about *out,
                            weft_arena *mem)
{
    weft_conf conf;
    weft_conf_init(&conf, mem);
    TRY(weft_conf_text(&conf, weft_arena_text(mem, "%s/journal", dir), text));
    const char *records = note(&conf, "records", "0");
    if (strcmp(records, weft_arena_text(mem, "%d", WEFT_RECORD_FORMAT)) != 0)
        return weft_fail(WEFT_EFILE,
                         "%s/journal has job records of format %s, written by weft %s, and "
                         "weft " WEFT_VERSION " reads format %d; " WEFT_OTHER_VERSION,
                         dir, records, note(&conf, "version", "of another version"),
                         WEFT_RECORD_FORMAT);
    *out = (weft_about){.data = note(&conf, "data", ""),
                        .files = note(&conf, "files", NULL),
                        .began = strtoll(note(&conf, "began", "0"), NULL, 10),
                        .real_bytes = atoi(note(&conf, "real_bytes", "0")),
                        .version = note(&conf, "version", "")};
    return WEFT_OK;
}

void weft_rundir_identify(weft_rundir *rundir, const char *conf)
{
    uint64_t h = weft_hash(conf, strlen(conf), (uint64_t)rundir->about.began);
    rundir->id = weft_hash(rundir->about.data, strlen(rundir->about.data), h);
}

/* ---- writing ---- */

/* Checks that there is space for the states, by allocating a file of that size and removing
 * it. */
static weft_status try_space(const weft_rundir *rundir, double bytes)
{
    const char *path = weft_arena_text(rundir->mem, "%s/" WEFT_JOURNAL_NAME WEFT_ASIDE_NAME,
                                       rundir->dir, (long long)getpid());
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    int err = fd < 0 ? errno : posix_fallocate(fd, 0, (off_t)bytes);
    if (err == EINVAL || err == EOPNOTSUPP) err = 0; /* this file system cannot do that */
    if (fd >= 0) close(fd);
    unlink(path);
    if (err == 0) return WEFT_OK;
    return weft_fail(WEFT_EFILE,
                     "cannot write %.1f MB to %s: %s; free space or choose another "
                     "output by -o",
                     bytes / 1e6, rundir->dir, strerror(err));
}

static weft_status add_head(weft_rundir *rundir, const char *conf, double bytes)
{
    TRY(try_space(rundir, bytes));
    const char *text = about_text(&rundir->about, rundir->mem);
    TRY(weft_journal_add(&rundir->journal, TAG_CONF, conf, strlen(conf) + 1));
    TRY(weft_journal_add(&rundir->journal, TAG_ABOUT, text, strlen(text) + 1));
    const char *dir = rundir->directory;
    if (rundir->tables)
        TRY(weft_journal_add(&rundir->journal, TAG_TABLES, rundir->tables,
                             strlen(rundir->tables) + 1));
    if (dir) TRY(weft_journal_add(&rundir->journal, TAG_DIRECTORY, dir, strlen(dir) + 1));
    /* A kill can leave the last record incomplete; this empty one ends the head, whose
     * records are then known to be whole. */
    TRY(weft_journal_add(&rundir->journal, TAG_BEGUN, NULL, 0));
    return weft_journal_sync(&rundir->journal);
}

weft_status weft_rundir_begin(weft_rundir *rundir, const char *conf, const char *data,
                              double bytes)
{
    int64_t *began = &rundir->about.began;
    rundir->about.data = data;
    *began = (int64_t)time(NULL);
    weft_bcast(rundir->world, began, sizeof *began, 0);
    weft_rundir_identify(rundir, conf);
    return weft_agree(rundir->world->rank == 0 ? add_head(rundir, conf, bytes) : WEFT_OK,
                      rundir->world);
}

static weft_status add_grown(weft_rundir *rundir)
{
    TRY(weft_journal_add(&rundir->journal, TAG_GROWN, rundir->conf,
                         strlen(rundir->conf) + 1));
    return weft_journal_sync(&rundir->journal);
}

weft_status weft_rundir_grow(weft_rundir *rundir, const char *conf)
{
    rundir->conf = conf;
    rundir->longer = 1;
    weft_status st = rundir->world->rank == 0 ? add_grown(rundir) : WEFT_OK;
    return weft_agree(weft_rundir_stuck(rundir, st), rundir->world);
}

weft_status weft_rundir_join(weft_rundir *rundir, int team)
{
    int fresh;
    if (team == 0) return WEFT_OK;
    weft_status st = weft_journal_extend(
        &rundir->journal, weft_rundir_journal(rundir->dir, team, rundir->mem), &fresh,
        rundir->mem);
    if (st == WEFT_OK && fresh)
        st = weft_journal_add(&rundir->journal, TAG_RUN, &rundir->id, sizeof rundir->id);
    return weft_rundir_stuck(rundir, st);
}

void weft_rundir_leave(weft_rundir *rundir)
{
    if (rundir->world->rank != 0) weft_journal_close(&rundir->journal);
}

weft_status weft_rundir_add(weft_rundir *rundir, const weft_job_record *record,
                            const void *packed, size_t bytes)
{
    weft_status st = weft_journal_add(&rundir->journal, TAG_JOB + (uint64_t)record->job.id,
                                      packed, bytes);
    weft_checkpoint_drop(rundir, record);
    return weft_rundir_stuck(rundir, st);
}

static weft_status add_all(weft_rundir *rundir, const weft_record *rec, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        TRY(weft_journal_add(&rundir->journal, rec[i].tag, rec[i].data, rec[i].bytes));
    return weft_journal_sync(&rundir->journal);
}

weft_status weft_rundir_restore(weft_rundir *rundir, int64_t n, const void *const *packed,
                                const int64_t *bytes)
{
    weft_record *rec = WEFT_NEW(rundir->mem, weft_record, n);
    for (int64_t i = 0; i < n; i++) {
        int64_t id;
        weft_check(weft_job_record_is(packed[i], (size_t)bytes[i], &id), "no record");
        rec[i] = (weft_record){TAG_JOB + (uint64_t)id, (size_t)bytes[i], packed[i]};
    }
    weft_status st = rundir->world->rank == 0 ? add_all(rundir, rec, n) : WEFT_OK;
    TRY(weft_agree(weft_rundir_stuck(rundir, st), rundir->world));
    weft_rundir_enter(rundir, rec, n);
    return WEFT_OK;
}

/* ---- reading ---- */

/* A record, by what its job is. */
typedef struct weft_alike {
    uint64_t likeness;
    const void *data;
} weft_alike;

static int by_likeness(const void *pa, const void *pb)
{
    const weft_alike *a = pa, *b = pb;
    return (a->likeness > b->likeness) - (a->likeness < b->likeness);
}

static void sort_alike(weft_rundir *rundir)
{
    int64_t n = 0;
    for (int64_t i = 0; i < rundir->past.n; i++)
        for (const weft_recorded *recorded = rundir->past.job[i]; recorded;
             recorded = recorded->earlier)
            n++;
    rundir->past.alike = WEFT_NEW(rundir->mem, weft_alike, n);
    for (int64_t i = 0; i < rundir->past.n; i++)
        for (const weft_recorded *recorded = rundir->past.job[i]; recorded;
             recorded = recorded->earlier)
            rundir->past.alike[rundir->past.nalike++] =
                (weft_alike){weft_job_record_likeness(recorded->data), recorded->data};
    if (n > 0)
        qsort(rundir->past.alike, (size_t)n, sizeof *rundir->past.alike, by_likeness);
}

/* Finds the record of a job that had another id: it trained the same trial in the same way.
 * A trial that copies another does not occur: what it copied may be another state. */
static int find_alike(weft_rundir *rundir, weft_job_record *record, weft_arena *mem)
{
    if (record->job.from >= 0) return 0;
    if (!rundir->past.alike) sort_alike(rundir);
    uint64_t own = weft_job_likeness(&record->job);
    int64_t lo = 0, hi = rundir->past.nalike;
    while (lo < hi) {
        int64_t mid = lo + (hi - lo) / 2;
        if (rundir->past.alike[mid].likeness < own)
            lo = mid + 1;
        else
            hi = mid;
    }
    for (; lo < rundir->past.nalike && rundir->past.alike[lo].likeness == own; lo++)
        if (weft_job_record_unpack(record, rundir->past.alike[lo].data, mem)) return 1;
    return 0;
}

weft_status weft_rundir_find(weft_rundir *rundir, weft_job_record *record, int *found,
                             weft_arena *mem)
{
    *found = 0;
    int known = record->job.id < rundir->past.n && rundir->past.job[record->job.id];
    if (!known && !rundir->longer) return WEFT_OK;
    for (const weft_recorded *recorded = known ? rundir->past.job[record->job.id] : NULL;
         recorded && !*found; recorded = recorded->earlier)
        *found = weft_job_record_unpack(record, recorded->data, mem);
    if (!*found && rundir->longer && !rundir->by_id)
        *found = find_alike(rundir, record, mem);
    /* It may win now, against jobs that the longer search does not have. */
    if (*found && rundir->longer && !record->kept) record->kept = 1;
    if (*found || rundir->retried || rundir->longer) return WEFT_OK;
    return weft_fail(WEFT_EFILE,
                     "job %lld in the journal of %s is not the one that this program asks "
                     "for: another version began the run; resume it with that one, or "
                     "begin anew by `weft tune --force`",
                     (long long)record->job.id, rundir->path);
}

double weft_rundir_ended(const weft_rundir *rundir)
{
    double last = 0;
    for (int64_t i = 0; i < rundir->past.n; i++)
        for (const weft_recorded *recorded = rundir->past.job[i]; recorded;
             recorded = recorded->earlier)
            last = fmax(last, weft_job_record_ended(recorded->data));
    for (int64_t i = 0; i < rundir->past.ntime; i++)
        last = fmax(last, rundir->past.time[i].at);
    return last;
}

int64_t weft_rundir_tickets(const weft_rundir *rundir, const int64_t **ticket,
                            weft_arena *mem)
{
    int64_t *all = WEFT_NEW(mem, int64_t, rundir->past.n), n = 0;
    WEFT_SCRATCH(tmp);
    for (int64_t i = 0; i < rundir->past.n; i++) {
        WEFT_REWIND(tmp);
        weft_job_record record;
        if (rundir->past.job[i] &&
            weft_job_record_read(&record, rundir->past.job[i]->data, tmp))
            all[n++] = record.ticket;
    }
    weft_sort_i64(n, all);
    *ticket = all;
    return n;
}

/* ---- times ---- */

int weft_time_read(const weft_record *record, weft_time *time)
{
    if (record->tag != TAG_TIME || !record->data || record->bytes != sizeof *time) return 0;
    memcpy(time, record->data, sizeof *time);
    return isfinite(time->at) && time->at >= 0 && time->teams >= 0;
}

weft_status weft_rundir_lasted(weft_rundir *rundir, double seconds)
{
    if (!rundir->commit) return WEFT_OK;
    weft_time time = {.at = seconds};
    weft_status st = weft_journal_add(&rundir->journal, TAG_TIME, &time, sizeof time);
    return weft_rundir_stuck(rundir, st);
}

weft_status weft_rundir_start(weft_rundir *rundir, int teams, double setup)
{
    weft_time *all = WEFT_NEW(rundir->mem, weft_time, rundir->past.ntime + 1);
    if (rundir->past.ntime > 0)
        memcpy(all, rundir->past.time, (size_t)rundir->past.ntime * sizeof *all);
    weft_time *own = &all[rundir->past.ntime];
    *own = (weft_time){.at = weft_rundir_ended(rundir), .setup = setup, .teams = teams};
    rundir->past.time = all;
    rundir->past.ntime++;
    weft_status st = WEFT_OK;
    if (rundir->world->rank == 0)
        st = weft_journal_add(&rundir->journal, TAG_TIME, own, sizeof *own);
    return weft_agree(weft_rundir_stuck(rundir, st), rundir->world);
}
