/* Jobs that are done: packed for the journal, for messages and for the digest. Called by
 * the scheduler and the trace. */
#include "run_private.h"

#include <math.h>
#include <string.h>

/* The members of a job but its mixture's arms, which follow, and its blocks. */
typedef struct job_head {
    int64_t id, trial, from, round, last, all, wins, schedule, diff, k, dim, nblock;
    double resource, size, eta, horizon, discount, floor, cutoff;
} job_head;

/* Before the packed job, the packed result, the rows, the log-probabilities, the note. */
typedef struct event_head {
    int64_t id, job_bytes, result_bytes, note_bytes, nunit, k, worker, team, kept;
    double start, end, began, seconds;
    uint64_t hash, weights;
} event_head;

/* ---- jobs --------------------------------------------------------------------------- */

static int *copy_ints(const int *from, int n, weft_arena *mem)
{
    if (!from) return NULL;
    int *to = WEFT_NEW(mem, int, n);
    memcpy(to, from, (size_t)n * sizeof *to);
    return to;
}

weft_job_record weft_job_record_new(const weft_job *job, weft_arena *mem)
{
    const weft_mix *m = &job->mix;
    weft_job_record e = {.job = *job, .res = weft_result_new(m->k, mem)};
    e.job.mix = weft_mix_new(m->k, m->dim, mem);
    weft_mix_copy(&e.job.mix, m);
    e.job.mix.nblock = m->nblock;
    e.job.mix.off = copy_ints(m->off, m->nblock + 1, mem);
    e.job.mix.axis = copy_ints(m->axis, m->nblock, mem);
    return e;
}

void weft_job_record_rounds(weft_job_record *e, int64_t n, weft_arena *mem)
{
    e->nunit = n;
    e->round = WEFT_NEW(mem, weft_round, n);
    e->logp = WEFT_NEW(mem, double, n * e->job.mix.k);
}

static char *put(char *to, const void *from, size_t n)
{
    if (n > 0) memcpy(to, from, n);
    return to + n;
}

void *weft_job_pack(const weft_job *job, size_t *bytes, weft_arena *mem)
{
    const weft_mix *m = &job->mix;
    const job_head head = {.id = job->id,
                           .trial = job->trial,
                           .from = job->from,
                           .round = job->index,
                           .last = job->last,
                           .all = job->score_eliminated,
                           .wins = job->eligibility,
                           .schedule = (int64_t)job->update.schedule,
                           .diff = job->update.diff,
                           .k = m->k,
                           .dim = m->dim,
                           .nblock = m->nblock,
                           .resource = job->resource,
                           .size = job->feature_fraction,
                           .eta = job->update.eta,
                           .horizon = job->update.horizon,
                           .discount = job->update.discount,
                           .floor = job->update.floor,
                           .cutoff = job->update.cutoff};
    *bytes = sizeof head + weft_mix_bytes(m);
    char *to = WEFT_NEW(mem, char, *bytes);
    weft_mix_pack(m, put(to, &head, sizeof head));
    return to;
}

/* ---- events ------------------------------------------------------------------------- */

static size_t rows_bytes(int64_t n)
{
    return (size_t)n * sizeof(weft_round);
}

static size_t z_bytes(int64_t n, int64_t k)
{
    return (size_t)(n * k) * sizeof(double);
}

void *weft_job_record_pack(const weft_job_record *e, size_t *bytes, weft_arena *mem)
{
    size_t nj;
    const void *job = weft_job_pack(&e->job, &nj, mem);
    const size_t nr = weft_result_bytes(e->res.k);
    const size_t nn = e->res.note ? strlen(e->res.note) : 0;
    const event_head head = {.id = e->job.id,
                             .job_bytes = (int64_t)nj,
                             .result_bytes = (int64_t)nr,
                             .note_bytes = (int64_t)nn,
                             .nunit = e->nunit,
                             .k = e->job.mix.k,
                             .worker = e->worker,
                             .team = e->team,
                             .kept = e->kept,
                             .start = e->start,
                             .end = e->end,
                             .began = e->began,
                             .seconds = e->seconds,
                             .hash = e->hash,
                             .weights = e->weights};
    *bytes =
        sizeof head + nj + nr + rows_bytes(head.nunit) + z_bytes(head.nunit, head.k) + nn;
    char *to = WEFT_NEW(mem, char, *bytes);
    char *at = put(to, &head, sizeof head);
    at = put(at, job, nj);
    weft_result_pack(&e->res, at);
    at = put(at + nr, e->round, rows_bytes(head.nunit));
    at = put(at, e->logp, z_bytes(head.nunit, head.k));
    put(at, e->res.note, nn);
    return to;
}

int weft_job_record_is(const void *packed, size_t bytes, int64_t *job)
{
    event_head head;
    if (bytes < sizeof head) return 0;
    memcpy(&head, packed, sizeof head);
    *job = head.id;
    return head.id >= 0 && head.job_bytes >= 0 && head.result_bytes >= 0 &&
           head.note_bytes >= 0 && head.nunit >= 0 && head.k >= 0 &&
           bytes == sizeof head + (size_t)head.job_bytes + (size_t)head.result_bytes +
                        rows_bytes(head.nunit) + z_bytes(head.nunit, head.k) +
                        (size_t)head.note_bytes;
}

double weft_job_record_ended(const void *packed)
{
    event_head head;
    memcpy(&head, packed, sizeof head);
    return head.began + head.seconds;
}

int weft_job_record_unpack(weft_job_record *e, const void *packed, weft_arena *mem)
{
    event_head head;
    memcpy(&head, packed, sizeof head);
    const char *at = (const char *)packed + sizeof head;
    weft_arena *tmp = weft_arena_new();
    size_t bytes;
    const void *job = weft_job_pack(&e->job, &bytes, tmp);
    const int same = bytes == (size_t)head.job_bytes && memcmp(job, at, bytes) == 0 &&
                     weft_result_bytes(e->job.mix.k) == (size_t)head.result_bytes &&
                     head.k == e->job.mix.k;
    weft_arena_free(tmp);
    if (!same) return 0;
    at += head.job_bytes;
    weft_result_unpack(&e->res, at);
    at += head.result_bytes;
    weft_job_record_rounds(e, head.nunit, mem);
    put((char *)e->round, at, rows_bytes(head.nunit));
    at += rows_bytes(head.nunit);
    put((char *)e->logp, at, z_bytes(head.nunit, head.k));
    at += z_bytes(head.nunit, head.k);
    e->res.note = NULL;
    if (head.note_bytes > 0)
        e->res.note = weft_arena_text(mem, "%.*s", (int)head.note_bytes, at);
    e->team = head.team;
    e->kept = (int)head.kept;
    e->began = head.began;
    e->seconds = head.seconds;
    e->hash = head.hash;
    e->weights = head.weights;
    return 1;
}

/* ---- digest ------------------------------------------------------------------------- */

/* A row without the seconds that were measured; every NAN has the same bits. */
static weft_round untimed(const weft_round *row)
{
    weft_round r = *row;
    r.wall = r.compute = r.wait = r.comm = 0;
    double *const maybe[] = {&r.before_loss, &r.before_error, &r.after_loss, &r.after_error,
                             &r.train_loss,  &r.valid_loss,   &r.valid_error};
    for (size_t i = 0; i < sizeof maybe / sizeof *maybe; i++)
        if (isnan(*maybe[i])) *maybe[i] = (double)NAN;
    return r;
}

uint64_t weft_job_record_digest(const weft_job_record *e, int64_t n)
{
    weft_arena *tmp = weft_arena_new();
    uint64_t h = 0;
    for (int64_t i = 0; i < n; i++) {
        const size_t mark = weft_arena_mark(tmp);
        size_t bytes;
        const void *job = weft_job_pack(&e[i].job, &bytes, tmp);
        h = weft_hash(job, bytes, h);
        weft_result res = e[i].res;
        res.cost = 0;
        bytes = weft_result_bytes(res.k);
        char *packed = WEFT_NEW(tmp, char, bytes);
        weft_result_pack(&res, packed);
        h = weft_hash(packed, bytes, h);
        for (int64_t u = 0; u < e[i].nunit; u++) {
            const weft_round row = untimed(&e[i].round[u]);
            h = weft_hash(&row, sizeof row, h);
        }
        h = weft_hash(e[i].logp, z_bytes(e[i].nunit, e[i].job.mix.k), h);
        weft_arena_reset(tmp, mark);
    }
    weft_arena_free(tmp);
    return h;
}

uint64_t weft_job_record_arithmetic(const weft_job_record *e, int64_t n)
{
    uint64_t h = 0;
    for (int64_t i = 0; i < n; i++) {
        const weft_result *r = &e[i].res;
        h = weft_hash(&e[i].job.id, sizeof e[i].job.id, h);
        h = weft_hash(&r->loss, sizeof r->loss, h);
        h = weft_hash(r->logp, (size_t)r->k * sizeof *r->logp, h);
        h = weft_hash(&e[i].weights, sizeof e[i].weights, h);
    }
    return h;
}
