/* Checkpoints of jobs that consist of many rounds: NAME.d/checkpoint-JOB contains the state
 * after some of them, and the result and the rows of the run file so far. It is written
 * atomically, and used only if its hash, run and job are right. A job without a checkpoint
 * starts again, with the same bits. */
#include "checkpoint.h"

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
    return weft_arena_text(mem, "%s/checkpoint-%lld", rundir->dir, (long long)job);
}

weft_status weft_checkpoint_write(const weft_rundir *rundir, const weft_job_record *e,
                                  const weft_state *state)
{
    weft_arena *tmp = weft_arena_new();
    size_t nrecord;
    const void *record = weft_job_record_pack(e, &nrecord, tmp);
    unit_head head = head_of(rundir, e, state, (int64_t)nrecord);
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
    weft_status st = weft_file_put(weft_checkpoint_name(rundir, e->job.id, tmp), data, all);
    weft_arena_free(tmp);
    return weft_rundir_stuck(rundir, st);
}

/* Parses a checkpoint in memory. Returns 0 if it is not one of this job. */
static int take(const weft_rundir *rundir, weft_job_record *e, const char *data,
                size_t bytes, weft_state *state, weft_arena *mem)
{
    unit_head head;
    uint64_t sum;
    int64_t job;
    if (bytes < sizeof head + sizeof sum) return 0;
    memcpy(&head, data, sizeof head);
    memcpy(&sum, data + bytes - sizeof sum, sizeof sum);
    if (weft_hash(data, bytes - sizeof sum, 0) != sum) return 0;
    unit_head expected = head_of(rundir, e, state, head.record_bytes);
    size_t nx = (size_t)state->nx * sizeof *state->x;
    size_t naux = (size_t)state->naux * sizeof *state->aux;
    size_t nrecord = (size_t)head.record_bytes;
    if (memcmp(&head, &expected, sizeof head) != 0 ||
        bytes != sizeof head + nx + naux + nrecord + sizeof sum)
        return 0;
    const char *record = data + sizeof head + nx + naux;
    int64_t units = e->nunit;
    if (!weft_job_record_is(record, nrecord, &job) ||
        !weft_job_record_unpack(e, record, mem) || e->nunit != units || e->done < 1 ||
        e->done >= units)
        return 0;
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
        int read = weft_file_load(path, data, bytes) == WEFT_OK;
        if (!read || !take(rundir, record, data, bytes, state, mem)) {
            weft_job_record_room(record, record->res.nmetric, units, record->ncolumn, mem);
            weft_result_begin(&record->res, &record->job);
            weft_log(WEFT_WARN, "%s is damaged or of another run: job %lld starts again",
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
    uint64_t sum;
    int64_t job;
    if (stat(path, &info) != 0 || info.st_size < (off_t)(sizeof head + sizeof sum))
        return 0;
    size_t bytes = (size_t)info.st_size - sizeof sum;
    char *data = WEFT_NEW(mem, char, bytes + sizeof sum);
    if (weft_file_load(path, data, bytes + sizeof sum) != WEFT_OK) return 0;
    memcpy(&head, data, sizeof head);
    memcpy(&sum, data + bytes, sizeof sum);
    if (weft_hash(data, bytes, 0) != sum || memcmp(head.magic, magic, sizeof magic) != 0 ||
        head.run != run)
        return 0;
    const char *packed = data + bytes - head.record_bytes;
    return weft_job_record_is(packed, (size_t)head.record_bytes, &job) &&
           weft_job_record_read(record, packed, mem) && record->done > 0;
}
