/* Checkpoints of jobs that consist of many rounds: NAME.d/checkpoint-JOB contains the state
 * after some of them, and the result and the rows of the run file so far. It is written
 * atomically, and used only if its hash, run and job are right. A job without a checkpoint
 * starts again, with the same bits. */
#include "checkpoint.h"
#include "weft/file.h"
#include "weft/filenames.h"
#include "weft/hash.h"
#include "weft/log.h"

#include <string.h>
#include <sys/stat.h>

static const char magic[8] = {'W', 'E', 'F', 'T', 'U', 'N', 'T', '3'};

/* Before the state and the packed record; a hash of all follows. */
typedef struct unit_head {
    char magic[8];
    uint64_t run, job; /* the run's identity; hash of the packed job */
    int64_t nx, naux, real_bytes, record_bytes;
} unit_head;

static unit_head head_of(const weft_rundir *rundir, const weft_job_record *record,
                         const weft_state *state, int64_t record_bytes)
{
    unit_head head = {.run = rundir->id,
                      .job = weft_job_hash(&record->job),
                      .nx = state->nx,
                      .naux = state->naux,
                      .real_bytes = (int64_t)sizeof(real),
                      .record_bytes = record_bytes};
    memcpy(head.magic, magic, sizeof magic);
    return head;
}

const char *weft_checkpoint_name(const weft_rundir *rundir, int64_t job, weft_arena *mem)
{
    return weft_arena_text(mem, "%s/" WEFT_CHECKPOINT_NAME, rundir->dir, (long long)job);
}

static weft_status put(const weft_rundir *rundir, const weft_job_record *job_record,
                       const weft_state *state)
{
    weft_arena *tmp = weft_arena_new();
    size_t nrecord;
    const void *record = weft_job_record_pack(job_record, &nrecord, tmp);
    unit_head head = head_of(rundir, job_record, state, (int64_t)nrecord);
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
    weft_arena_free(tmp);
    return st;
}

weft_status weft_checkpoint_write(const weft_rundir *rundir, const weft_job_record *record,
                                  const weft_state *state)
{
    weft_status st = state->kept ? weft_kept_sync(state->kept) : WEFT_OK;
    if (st == WEFT_OK) st = put(rundir, record, state);
    if (st == WEFT_OK && state->kept) weft_kept_saved(state->kept);
    return weft_rundir_stuck(rundir, st);
}

void weft_checkpoint_drop(weft_rundir *rundir, const weft_job_record *record)
{
    if (record->nunit < 2 || !rundir->commit) return;
    weft_arena *tmp = weft_arena_new();
    weft_commit_remove(rundir->commit, weft_checkpoint_name(rundir, record->job.id, tmp));
    weft_arena_free(tmp);
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
    if (weft_hash(data, bytes, 0) != sum || memcmp(head->magic, magic, sizeof magic) != 0 ||
        head->run != run)
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
static void take_units(weft_job_record *record, const weft_job_record *past,
                       weft_arena *mem)
{
    size_t n = (size_t)past->done, k = (size_t)past->res.k;
    weft_result *res = &record->res;
    const weft_result own = *res;
    *res = past->res;
    res->metric = own.metric;
    res->arm_loss = own.arm_loss;
    res->arm_wrong = own.arm_wrong;
    res->arm_count = own.arm_count;
    res->arm_score = own.arm_score;
    res->logp = own.logp;
    memcpy(res->metric, past->res.metric, (size_t)res->nmetric * sizeof *res->metric);
    memcpy(res->arm_loss, past->res.arm_loss, k * sizeof *res->arm_loss);
    memcpy(res->arm_wrong, past->res.arm_wrong, k * sizeof *res->arm_wrong);
    memcpy(res->arm_count, past->res.arm_count, k * sizeof *res->arm_count);
    memcpy(res->arm_score, past->res.arm_score, k * sizeof *res->arm_score);
    memcpy(res->logp, past->res.logp, k * sizeof *res->logp);
    if (res->note) res->note = weft_arena_text(mem, "%s", res->note);
    record->team = past->team;
    record->ticket = past->ticket;
    record->began = past->began;
    record->seconds = past->seconds;
    record->done = past->done;
    memcpy(record->row, past->row, n * (size_t)past->ncolumn * sizeof *record->row);
    memcpy(record->logp, past->logp, n * k * sizeof *record->logp);
    memcpy(record->spent, past->spent, n * sizeof *record->spent);
}

/* Parses a checkpoint in memory. Returns 0 if it is not one of this job, or of one that was
 * given more since; *other 1: it is of a training that this job has taken the number of, as
 * that of run.refit before a search was made longer. */
static int take(const weft_rundir *rundir, weft_job_record *record, const char *data,
                size_t bytes, weft_state *state, int *other, weft_arena *mem,
                weft_arena *tmp)
{
    unit_head head;
    weft_job_record past;
    size_t nx = (size_t)state->nx * sizeof *state->x;
    size_t naux = (size_t)state->naux * sizeof *state->aux;
    if (bytes < sizeof(uint64_t)) return 0;
    bytes -= sizeof(uint64_t);
    const char *packed = record_of(data, bytes, rundir->id, &head);
    if (!packed || head.nx != state->nx || head.naux != state->naux ||
        head.real_bytes != (int64_t)sizeof(real) ||
        packed != data + sizeof head + nx + naux ||
        !weft_job_record_read(&past, packed, tmp))
        return 0;
    *other = past.job.trial != record->job.trial || past.job.index != record->job.index;
    if (!is_shorter(&past.job, &record->job) || past.res.nmetric != record->res.nmetric ||
        past.ncolumn != record->ncolumn || past.done < 1 || past.done >= record->nunit)
        return 0;
    if (state->kept) {
        double mark[WEFT_KEPT_MARK];
        memcpy(mark, data + sizeof head + nx, sizeof mark);
        if (weft_kept_resume(state->kept, mark) != WEFT_OK) return 0;
    }
    take_units(record, &past, mem);
    memcpy(state->x, data + sizeof head, nx);
    memcpy(state->aux, data + sizeof head + nx, naux);
    return 1;
}

void weft_checkpoint_read(const weft_rundir *rundir, weft_job_record *record,
                          weft_state *state, weft_arena *mem)
{
    weft_arena *tmp = weft_arena_new();
    const char *path = weft_checkpoint_name(rundir, record->job.id, tmp);
    int64_t units = record->nunit;
    struct stat info;
    if (stat(path, &info) == 0) {
        size_t bytes = (size_t)info.st_size;
        char *data = WEFT_NEW(tmp, char, bytes);
        int read = weft_file_load(path, data, bytes) == WEFT_OK, other = 0;
        if (!read || !take(rundir, record, data, bytes, state, &other, mem, tmp)) {
            weft_job_record_room(record, record->res.nmetric, units, record->ncolumn, mem);
            weft_result_begin(&record->res, &record->job);
            if (!other)
                weft_log(WEFT_WARN,
                         "%s is damaged, of another run, or of a job that was given more "
                         "and depends on its length: job %lld starts again",
                         path, (long long)record->job.id);
        }
    }
    weft_arena_free(tmp);
}

int weft_checkpoint_peek(const char *path, uint64_t run, weft_job_record *record,
                         weft_arena *mem)
{
    struct stat info;
    unit_head head;
    if (stat(path, &info) != 0 || info.st_size < (off_t)sizeof(uint64_t)) return 0;
    size_t bytes = (size_t)info.st_size;
    char *data = WEFT_NEW(mem, char, bytes);
    if (weft_file_load(path, data, bytes) != WEFT_OK) return 0;
    const char *packed = record_of(data, bytes - sizeof(uint64_t), run, &head);
    return packed && weft_job_record_read(record, packed, mem) && record->done > 0;
}
