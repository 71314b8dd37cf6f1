/* The states of trials on disk: NAME.d/state-TRIAL-JOB is the state after a job that a
 * later one may continue. A state is written before its job's record, and removed after the
 * record because of which it is no longer needed, so that journal and states are consistent
 * after a kill at any time. Both are written through to the disk in the background, about
 * once a second, states first: jobs do not wait for the disk, and a crash of the node loses
 * the results of at most that second. Should it leave a record but not its state, the jobs
 * that led to the state are repeated.
 *
 * NAME.d/checkpoint-JOB contains the state after some rounds of a job, and the result and
 * the rows of the run file so far. It is written atomically, and used only if its hash, run
 * and job are right. A job without a checkpoint starts again, with the same bits. */
#include "rundir.h"
#include "weft/base/base.h"
#include "weft/base/files.h"
#include "weft/base/random.h"

#include <string.h>
#include <sys/stat.h>

#define LOOK_SECONDS 0.05 /* between checks whether a file exists */

/* Precedes the numbers of a state in its file. */
typedef struct state_head {
    char magic[8];
    uint64_t run, hash;
    int64_t trial, job, nx, naux, real_bytes;
} state_head;

static state_head head_of(const weft_rundir *rundir, const weft_state_id *id)
{
    return (state_head){.magic = {'W', 'E', 'F', 'T', 'S', 'T', 'A', '2'},
                        .run = rundir->id,
                        .hash = id->hash,
                        .trial = id->trial,
                        .job = id->job,
                        .nx = id->nx,
                        .naux = id->naux,
                        .real_bytes = (int64_t)sizeof(real)};
}

/* The parts of the file of a state, of which the last is that of a directory of a program.
 */
enum { HEAD, NUMBERS, DOUBLES, SUM, PARTS };

static int parts_of(const weft_rundir *rundir)
{
    return rundir->files ? PARTS : SUM;
}

static const char *state_name(const weft_rundir *rundir, const weft_state_id *id,
                              weft_arena *mem)
{
    return weft_place_state(rundir->dir, id->trial, id->job, mem);
}

const char *weft_rundir_kept(const weft_rundir *rundir, int64_t trial, int64_t job,
                             int aside, weft_arena *mem)
{
    const char *dir = weft_place_files(rundir->dir, trial, job, mem);
    return aside == 0 ? dir
                      : weft_arena_text(mem, "%s" WEFT_ASIDE_NAME, dir, (long long)aside);
}

/* ---- writing ---- */

/* Files and directory of what is kept are durable before the state is. */
static void commit_kept(weft_rundir *rundir, const weft_state *state, weft_arena *tmp)
{
    const char **path;
    int n = state->kept && rundir->commit ? weft_kept_files(state->kept, &path, tmp) : 0;
    for (int i = 0; i < n; i++) weft_commit_file(rundir->commit, path[i]);
}

weft_status weft_rundir_state_put(weft_rundir *rundir, const weft_state_id *id,
                                  const weft_state *state)
{
    WEFT_SCRATCH(tmp);
    state_head head = head_of(rundir, id);
    uint64_t sum;
    const void *const at[] = {&head, state->x, state->aux, &sum};
    const size_t bytes[] = {sizeof head, (size_t)id->nx * sizeof *state->x,
                            (size_t)id->naux * sizeof *state->aux, sizeof sum};
    const char *path = state_name(rundir, id, tmp);
    commit_kept(rundir, state, tmp);
    weft_status st = WEFT_OK;
    if (rundir->files)
        st = weft_tree_sum(weft_rundir_kept(rundir, id->trial, id->job, 0, tmp), &sum);
    if (st == WEFT_OK) st = weft_file_put_lazy(path, parts_of(rundir), at, bytes);
    if (rundir->commit) weft_commit_file(rundir->commit, path);
    return weft_rundir_stuck(rundir, st);
}

void weft_rundir_search(weft_rundir *rundir)
{
    rundir->commit = weft_commit_begin(&rundir->journal, rundir->mem);
}

void weft_rundir_state_drop(weft_rundir *rundir, const weft_state_id *id)
{
    WEFT_SCRATCH(tmp);
    weft_commit_remove(rundir->commit, state_name(rundir, id, tmp));
    weft_commit_remove(rundir->commit,
                       weft_rundir_kept(rundir, id->trial, id->job, 0, tmp));
}

weft_status weft_rundir_sync(weft_rundir *rundir, int now)
{
    return weft_rundir_stuck(rundir,
                             (now ? weft_commit_now : weft_commit_soon)(rundir->commit));
}

weft_status weft_rundir_over(weft_rundir *rundir)
{
    weft_status st = weft_commit_end(rundir->commit);
    rundir->commit = NULL;
    if (st == WEFT_OK) st = weft_journal_sync(&rundir->journal);
    return weft_rundir_stuck(rundir, st);
}

/* ---- reading ---- */

/* Waits until a file written by another host is visible here. */
static void await(const char *path, double seconds)
{
    double start = weft_now();
    while (!weft_file_is(path) && weft_now() - start < seconds) weft_nap(LOOK_SECONDS);
}

/* Shares what is kept, or opens it, as soon as all its files are visible here. */
static weft_status take_kept(const weft_rundir *rundir, const weft_state_id *id,
                             double seconds, weft_state *state)
{
    WEFT_SCRATCH(tmp);
    const char *dir = weft_rundir_kept(rundir, id->trial, id->job, 0, tmp);
    double start = weft_now();
    weft_status st = weft_kept_take(state->kept, dir, state->aux);
    while (st != WEFT_OK && weft_now() - start < seconds) {
        weft_nap(LOOK_SECONDS);
        st = weft_kept_take(state->kept, dir, state->aux);
    }
    return st;
}

/* Looks, likewise, whether the directory of a program is as it was when the state was
 * written: a file system that is cleaned takes one file and leaves the next. */
static weft_status check_directory(const weft_rundir *rundir, const weft_state_id *id,
                                   double seconds, uint64_t expected)
{
    WEFT_SCRATCH(tmp);
    const char *dir = weft_rundir_kept(rundir, id->trial, id->job, 0, tmp);
    double start = weft_now();
    for (uint64_t sum;; weft_nap(LOOK_SECONDS)) {
        TRY(weft_tree_sum(dir, &sum));
        if (sum == expected) return WEFT_OK;
        if (sum == 0 && weft_place_sum(rundir->path) == expected)
            return WEFT_OK; /* it was moved there, before the run was stopped */
        if (weft_now() - start < seconds) continue;
        return weft_fail(WEFT_EFILE, "%s, which job %lld left and a later job needs, %s",
                         dir, (long long)id->job,
                         sum == 0 ? "is missing"
                                  : "is not as it was: a file is missing, new or changed");
    }
}

static weft_status load_state(const weft_rundir *rundir, const weft_state_id *id,
                              double seconds, weft_state *state)
{
    WEFT_SCRATCH(tmp);
    const char *path = state_name(rundir, id, tmp);
    state_head expected = head_of(rundir, id), head;
    uint64_t sum = 0;
    weft_status st = WEFT_OK;
    await(path, seconds);
    void *const at[] = {&head, state->x, state->aux, &sum};
    const size_t bytes[] = {sizeof head, (size_t)id->nx * sizeof *state->x,
                            (size_t)id->naux * sizeof *state->aux, sizeof sum};
    if (!weft_file_is(path))
        st = weft_fail(WEFT_EFILE,
                       "%s is missing, the state after job %lld, which a later job needs",
                       path, (long long)id->job);
    else
        st = weft_file_load_parts(path, parts_of(rundir), at, bytes);
    if (st == WEFT_OK &&
        (memcmp(&head, &expected, sizeof head) != 0 || weft_state_hash(state) != id->hash))
        st = weft_fail(WEFT_EFILE, "%s is damaged or of another run", path);
    if (st == WEFT_OK && state->kept) st = take_kept(rundir, id, seconds, state);
    if (st == WEFT_OK && rundir->files) st = check_directory(rundir, id, seconds, sum);
    return st;
}

weft_status weft_rundir_state_load(const weft_rundir *rundir, weft_team *team,
                                   const weft_state_id *id, double seconds,
                                   weft_state *state)
{
    weft_times_close(team);
    weft_status st = team->rank == 0 ? load_state(rundir, id, seconds, state) : WEFT_OK;
    weft_times_io(team);
    TRY(weft_agree(st, team));
    weft_state_bcast(team, state);
    return WEFT_OK;
}

/* ---- checkpoints ---- */

static const char unit_magic[8] = {'W', 'E', 'F', 'T', 'U', 'N', 'T', '3'};

/* Before the state and the packed record; a hash of all follows. */
typedef struct unit_head {
    char magic[8];
    uint64_t run, job; /* the run's identity; hash of the packed job */
    int64_t nx, naux, real_bytes, record_bytes;
} unit_head;

static unit_head unit_head_of(const weft_rundir *rundir, const weft_job_record *record,
                              const weft_state *state, int64_t record_bytes)
{
    unit_head head = {.run = rundir->id,
                      .job = weft_job_hash(&record->job),
                      .nx = state->nx,
                      .naux = state->naux,
                      .real_bytes = (int64_t)sizeof(real),
                      .record_bytes = record_bytes};
    memcpy(head.magic, unit_magic, sizeof unit_magic);
    return head;
}

const char *weft_checkpoint_name(const weft_rundir *rundir, int64_t job, weft_arena *mem)
{
    return weft_arena_text(mem, "%s/" WEFT_CHECKPOINT_NAME, rundir->dir, (long long)job);
}

static weft_status put_checkpoint(const weft_rundir *rundir,
                                  const weft_job_record *job_record,
                                  const weft_state *state)
{
    WEFT_SCRATCH(tmp);
    size_t nrecord;
    const void *record = weft_job_record_pack(job_record, &nrecord, tmp);
    unit_head head = unit_head_of(rundir, job_record, state, (int64_t)nrecord);
    size_t nx = (size_t)state->nx * sizeof *state->x;
    size_t naux = (size_t)state->naux * sizeof *state->aux;
    size_t all = sizeof head + nx + naux + nrecord + sizeof(uint64_t);
    char *data = WEFT_NEW(tmp, char, all), *at = data;
    memcpy(at, &head, sizeof head);
    memcpy(at += sizeof head, state->x, nx);
    memcpy(at += nx, state->aux, naux);
    memcpy(at += naux, record, nrecord);
    uint64_t sum = weft_hash(data, all - sizeof sum, 0);
    memcpy(at + nrecord, &sum, sizeof sum);
    weft_status st =
        weft_file_put(weft_checkpoint_name(rundir, job_record->job.id, tmp), data, all);
    return st;
}

weft_status weft_checkpoint_write(const weft_rundir *rundir, const weft_job_record *record,
                                  const weft_state *state)
{
    weft_status st = state->kept ? weft_kept_sync(state->kept) : WEFT_OK;
    if (st == WEFT_OK) st = put_checkpoint(rundir, record, state);
    if (st == WEFT_OK && state->kept) weft_kept_saved(state->kept);
    return weft_rundir_stuck(rundir, st);
}

void weft_checkpoint_drop(weft_rundir *rundir, const weft_job_record *record)
{
    if (record->nunit < 2 || !rundir->commit) return;
    WEFT_SCRATCH(tmp);
    weft_commit_remove(rundir->commit, weft_checkpoint_name(rundir, record->job.id, tmp));
}

/* The packed record of a checkpoint in memory, of which `bytes` are without the hash at the
 * end; NULL: it is damaged, or of another run. */
static const char *record_of(const char *data, size_t bytes, uint64_t run, unit_head *head)
{
    uint64_t sum;
    int64_t job;
    if (bytes < sizeof *head) return NULL;
    memcpy(head, data, sizeof *head);
    memcpy(&sum, data + bytes, sizeof sum);
    if (weft_hash(data, bytes, 0) != sum ||
        memcmp(head->magic, unit_magic, sizeof unit_magic) != 0 || head->run != run)
        return NULL;
    const char *packed = data + bytes - head->record_bytes;
    return weft_job_record_is(packed, (size_t)head->record_bytes, &job) ? packed : NULL;
}

/* 1 if the first is the second with no more resource. */
static int is_shorter(const weft_job *job, const weft_job *whole)
{
    weft_job grown = *job;
    grown.resource = whole->resource;
    return job->resource <= whole->resource &&
           weft_job_hash(&grown) == weft_job_hash(whole);
}

/* Takes over what a record says of the first units of the same job. */
static void take_units(weft_job_record *record, const weft_job_record *past)
{
    size_t n = (size_t)past->done, k = (size_t)past->res.k;
    record->res = past->res;
    record->team = past->team;
    record->ticket = past->ticket;
    record->began = past->began;
    record->seconds = past->seconds;
    record->done = past->done;
    memcpy(record->row, past->row, n * (size_t)past->ncolumn * sizeof *record->row);
    memcpy(record->logp, past->logp, n * k * sizeof *record->logp);
    memcpy(record->spent, past->spent, n * sizeof *record->spent);
}

/* The contents of a checkpoint, of which *bytes are without the hash at the end; NULL: it
 * cannot be read. */
static const char *load_checkpoint(const char *path, size_t *bytes, weft_arena *mem)
{
    struct stat info;
    if (stat(path, &info) != 0 || info.st_size < (off_t)sizeof(uint64_t)) return NULL;
    size_t all = (size_t)info.st_size;
    char *data = WEFT_NEW(mem, char, all);
    *bytes = all - sizeof(uint64_t);
    return weft_file_load(path, data, all) == WEFT_OK ? data : NULL;
}

/* Takes over a checkpoint. Returns 0 if it is not one of this job, or of one that was given
 * more since; *other 1: it is of a training that this job has taken the number of, as that
 * of run.refit before a search was made longer. */
static int take_checkpoint(const weft_rundir *rundir, weft_job_record *record,
                           weft_state *state, int *other, weft_arena *mem, weft_arena *tmp)
{
    unit_head head;
    weft_job_record past;
    size_t nx = (size_t)state->nx * sizeof *state->x, bytes;
    size_t naux = (size_t)state->naux * sizeof *state->aux;
    const char *data =
        load_checkpoint(weft_checkpoint_name(rundir, record->job.id, tmp), &bytes, tmp);
    if (!data) return 0;
    const char *packed = record_of(data, bytes, rundir->id, &head);
    if (!packed || head.nx != state->nx || head.naux != state->naux ||
        head.real_bytes != (int64_t)sizeof(real) ||
        packed != data + sizeof head + nx + naux ||
        !weft_job_record_read(&past, packed, mem))
        return 0;
    *other |= past.job.trial != record->job.trial || past.job.index != record->job.index;
    if (!is_shorter(&past.job, &record->job) || past.res.nmetric != record->res.nmetric ||
        past.ncolumn != record->ncolumn || past.done < 1 || past.done >= record->nunit)
        return 0;
    if (state->kept) {
        double mark[WEFT_KEPT_MARK];
        memcpy(mark, data + sizeof head + nx, sizeof mark);
        if (weft_kept_resume(state->kept, mark) != WEFT_OK) return 0;
    }
    take_units(record, &past);
    memcpy(state->x, data + sizeof head, nx);
    memcpy(state->aux, data + sizeof head + nx, naux);
    return 1;
}

void weft_checkpoint_read(const weft_rundir *rundir, weft_job_record *record,
                          weft_state *state, int again, weft_arena *mem)
{
    WEFT_SCRATCH(tmp);
    const char *path = weft_checkpoint_name(rundir, record->job.id, tmp);
    int64_t units = record->nunit;
    int other = again;
    if (weft_file_is(path) && !take_checkpoint(rundir, record, state, &other, mem, tmp)) {
        weft_job_record_room(record, record->res.nmetric, units, record->ncolumn, mem);
        weft_result_begin(&record->res, &record->job);
        if (!other)
            weft_log(WEFT_WARN,
                     "%s is damaged, of another run, or of a job that was given more "
                     "and depends on its length: job %lld starts again",
                     path, (long long)record->job.id);
    }
}

int weft_checkpoint_peek(const char *path, uint64_t run, weft_job_record *record,
                         weft_arena *mem)
{
    unit_head head;
    size_t bytes;
    const char *data = load_checkpoint(path, &bytes, mem);
    const char *packed = data ? record_of(data, bytes, run, &head) : NULL;
    return packed && weft_job_record_read(record, packed, mem) && record->done > 0;
}
