/* Checkpoints of jobs that are made of many rounds: NAME.d/checkpoint-JOB holds the state
 * after some of them, the result and the rows of the run file so far. It appears whole or
 * not at all, and is believed only where its hash, its run and its job are right: a job
 * without one begins again, to the same bits. Called by job.c. */
#include "run_private.h"

#include <string.h>
#include <sys/stat.h>

static const char magic[8] = {'W', 'E', 'F', 'T', 'U', 'N', 'T', '3'};

/* Before the state, the result, the rows and the log-probabilities; a hash of all follows.
 */
typedef struct unit_head {
    char magic[8];
    uint64_t run, job; /* the run's identity; hash of the packed job */
    int64_t done, units, nx, naux, k, real_bytes;
    double seconds;
} unit_head;

static uint64_t job_hash(const weft_job_record *e)
{
    weft_arena *tmp = weft_arena_new();
    size_t bytes;
    const void *packed = weft_job_pack(&e->job, &bytes, tmp);
    const uint64_t h = weft_hash(packed, bytes, 0);
    weft_arena_free(tmp);
    return h;
}

static unit_head head_of(const weft_trace *t, const weft_job_record *e, int64_t done,
                         const weft_state *state)
{
    unit_head h = {.run = t->id,
                   .job = job_hash(e),
                   .done = done,
                   .units = e->nunit,
                   .nx = state->nx,
                   .naux = state->naux,
                   .k = e->job.mix.k,
                   .real_bytes = (int64_t)sizeof(real),
                   .seconds = e->seconds};
    memcpy(h.magic, magic, sizeof magic);
    return h;
}

const char *weft_checkpoint_name(const weft_trace *t, int64_t job, weft_arena *mem)
{
    return weft_arena_text(mem, "%s/checkpoint-%lld", t->dir, (long long)job);
}

/* Bytes of the parts that follow the head, and of all. */
typedef struct layout {
    size_t x, aux, result, rows, z, all;
} layout;

static layout layout_of(const unit_head *h)
{
    layout l = {.x = (size_t)h->nx * sizeof(real),
                .aux = (size_t)h->naux * sizeof(double),
                .result = weft_result_bytes(h->k),
                .rows = (size_t)h->done * sizeof(weft_round),
                .z = (size_t)(h->done * h->k) * sizeof(double)};
    l.all = sizeof *h + l.x + l.aux + l.result + l.rows + l.z + sizeof(uint64_t);
    return l;
}

weft_status weft_checkpoint_write(const weft_trace *t, const weft_job_record *e,
                                  int64_t done, const weft_state *state)
{
    weft_arena *tmp = weft_arena_new();
    const unit_head h = head_of(t, e, done, state);
    const layout l = layout_of(&h);
    char *data = WEFT_NEW(tmp, char, l.all), *at = data;
    memcpy(at, &h, sizeof h);
    memcpy(at += sizeof h, state->x, l.x);
    memcpy(at += l.x, state->aux, l.aux);
    weft_result_pack(&e->res, at += l.aux);
    memcpy(at += l.result, e->round, l.rows);
    memcpy(at += l.rows, e->logp, l.z);
    const uint64_t sum = weft_hash(data, l.all - sizeof sum, 0);
    memcpy(at + l.z, &sum, sizeof sum);
    const weft_status st =
        weft_file_put(weft_checkpoint_name(t, e->job.id, tmp), data, l.all);
    weft_arena_free(tmp);
    return weft_trace_stuck(t, st);
}

/* Takes a checkpoint in memory apart. 0: it is not one of this job. */
static int64_t take(const weft_trace *t, weft_job_record *e, const char *data, size_t bytes,
                    weft_state *state)
{
    unit_head h, expected;
    uint64_t sum;
    if (bytes < sizeof h + sizeof sum) return 0;
    memcpy(&h, data, sizeof h);
    memcpy(&sum, data + bytes - sizeof sum, sizeof sum);
    if (weft_hash(data, bytes - sizeof sum, 0) != sum) return 0;
    expected = head_of(t, e, h.done, state);
    expected.seconds = h.seconds;
    if (memcmp(&h, &expected, sizeof h) != 0 || h.done < 1 || h.done >= h.units) return 0;
    const layout l = layout_of(&h);
    if (l.all != bytes) return 0;
    const char *at = data + sizeof h;
    memcpy(state->x, at, l.x);
    memcpy(state->aux, at += l.x, l.aux);
    weft_result_unpack(&e->res, at += l.aux);
    memcpy(e->round, at += l.result, l.rows);
    memcpy(e->logp, at += l.rows, l.z);
    e->seconds = h.seconds;
    return h.done;
}

int64_t weft_checkpoint_read(const weft_trace *t, weft_job_record *e, weft_state *state)
{
    weft_arena *tmp = weft_arena_new();
    const char *path = weft_checkpoint_name(t, e->job.id, tmp);
    struct stat info;
    int64_t done = 0;
    if (stat(path, &info) == 0) {
        const size_t bytes = (size_t)info.st_size;
        char *data = WEFT_NEW(tmp, char, bytes);
        if (weft_file_get(path, data, bytes) == WEFT_OK)
            done = take(t, e, data, bytes, state);
        if (done == 0)
            weft_log(WEFT_WARN, "%s is damaged or of another run: job %lld begins again",
                     path, (long long)e->job.id);
    }
    weft_arena_free(tmp);
    return done;
}
