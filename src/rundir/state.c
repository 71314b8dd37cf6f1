/* The states of trials on disk: NAME.d/state-TRIAL-JOB is the state after a job that a
 * later one may continue. A state is written before its job's record, and removed after the
 * record because of which it is no longer needed, so that journal and states are consistent
 * after a kill at any time. Both are written through to the disk in the background, about
 * once a second, states first: jobs do not wait for the disk, and a crash of the node loses
 * the results of at most that second. Should it leave a record but not its state, the jobs
 * that led to the state are repeated. Names and shapes of the tensors follow the numbers,
 * so that the state is of use without task and data. */
#include "state.h"
#include "place.h"
#include "weft/clock.h"
#include "weft/file.h"
#include "weft/filenames.h"
#include "weft/hash.h"
#include "weft/task.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define LOOK_SECONDS 0.05 /* between checks whether a file exists */

/* Precedes the numbers of a state in its file. */
typedef struct state_head {
    char magic[8];
    uint64_t run, hash;
    int64_t trial, job, nx, naux, real_bytes;
} state_head;

/* A tensor of the state, without padding. After the last of them comes their hash. */
typedef struct stored_tensor {
    char name[64];
    int64_t at, nd, dims[4];
} stored_tensor;

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

static const char *name_of(const char *dir, int64_t trial, int64_t job, weft_arena *mem)
{
    return weft_arena_text(mem, "%s/" WEFT_STATE_NAME, dir, (long long)trial,
                           (long long)job);
}

static const char *state_name(const weft_rundir *rundir, const weft_state_id *id,
                              weft_arena *mem)
{
    return name_of(rundir->dir, id->trial, id->job, mem);
}

const char *weft_rundir_kept(const weft_rundir *rundir, int64_t trial, int64_t job,
                             int aside, weft_arena *mem)
{
    const char *dir = weft_arena_text(mem, "%s/" WEFT_FILES_NAME, rundir->dir,
                                      (long long)trial, (long long)job);
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
                                  const weft_state *state, int ntensor,
                                  const weft_tensor *tensor)
{
    weft_arena *tmp = weft_arena_new();
    state_head head = head_of(rundir, id);
    stored_tensor *stored = WEFT_NEW(tmp, stored_tensor, ntensor);
    for (int i = 0; i < ntensor; i++) {
        stored[i].at = tensor[i].at;
        stored[i].nd = tensor[i].nd;
        memcpy(stored[i].dims, tensor[i].dims, sizeof stored[i].dims);
        snprintf(stored[i].name, sizeof stored[i].name, "%s", tensor[i].name);
    }
    size_t size = (size_t)ntensor * sizeof *stored;
    uint64_t hash = weft_hash(stored, size, 0);
    const void *const at[] = {&head, state->x, state->aux, stored, &hash};
    const size_t bytes[] = {sizeof head, (size_t)id->nx * sizeof *state->x,
                            (size_t)id->naux * sizeof *state->aux, size, sizeof hash};
    const char *path = state_name(rundir, id, tmp);
    commit_kept(rundir, state, tmp);
    weft_status st = weft_file_put_lazy(path, ntensor > 0 ? 5 : 3, at, bytes);
    if (rundir->commit) weft_commit_file(rundir->commit, path);
    weft_arena_free(tmp);
    return weft_rundir_stuck(rundir, st);
}

void weft_rundir_search(weft_rundir *rundir)
{
    rundir->commit = weft_commit_begin(&rundir->journal, rundir->mem);
}

void weft_rundir_state_drop(weft_rundir *rundir, const weft_state_id *id)
{
    weft_arena *tmp = weft_arena_new();
    weft_commit_remove(rundir->commit, state_name(rundir, id, tmp));
    weft_commit_remove(rundir->commit,
                       weft_rundir_kept(rundir, id->trial, id->job, 0, tmp));
    weft_arena_free(tmp);
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

/* Number of bytes of the tensors' names and their hash, in a file that has so many before
 * them; 0: there are none, or the file has another length than any state's. */
static size_t tail_bytes(const char *path, size_t before)
{
    struct stat info;
    if (stat(path, &info) != 0 || info.st_size <= (off_t)before) return 0;
    size_t n = (size_t)info.st_size - before;
    int whole = n % sizeof(stored_tensor) == sizeof(uint64_t) &&
                n / sizeof(stored_tensor) <= WEFT_MAX_TENSORS;
    return whole ? n : 0;
}

static int tail_holds(const char *tail, size_t bytes)
{
    if (bytes == 0) return 1;
    uint64_t hash = weft_hash(tail, bytes - sizeof hash, 0);
    return memcmp(&hash, tail + bytes - sizeof hash, sizeof hash) == 0;
}

/* Shares what is kept, or opens it, as soon as all its files are visible here. */
static weft_status take_kept(const weft_rundir *rundir, const weft_state_id *id,
                             double seconds, weft_state *state)
{
    weft_arena *tmp = weft_arena_new();
    const char *dir = weft_rundir_kept(rundir, id->trial, id->job, 0, tmp);
    double start = weft_now();
    weft_status st = weft_kept_take(state->kept, dir, state->aux);
    while (st != WEFT_OK && weft_now() - start < seconds) {
        weft_nap(LOOK_SECONDS);
        st = weft_kept_take(state->kept, dir, state->aux);
    }
    weft_arena_free(tmp);
    return st;
}

static weft_status load(const weft_rundir *rundir, const weft_state_id *id, double seconds,
                        weft_state *state)
{
    weft_arena *tmp = weft_arena_new();
    const char *path = state_name(rundir, id, tmp);
    state_head expected = head_of(rundir, id);
    state_head head;
    size_t nx = (size_t)id->nx * sizeof *state->x;
    size_t naux = (size_t)id->naux * sizeof *state->aux;
    weft_status st = WEFT_OK;
    await(path, seconds);
    size_t ntail = tail_bytes(path, sizeof head + nx + naux);
    char *tail = WEFT_NEW(tmp, char, ntail);
    void *const at[] = {&head, state->x, state->aux, tail};
    const size_t bytes[] = {sizeof head, nx, naux, ntail};
    if (!weft_file_is(path))
        st = weft_fail(WEFT_EFILE,
                       "%s is missing, the state after job %lld, which a later job needs",
                       path, (long long)id->job);
    else
        st = weft_file_load_parts(path, 4, at, bytes);
    if (st == WEFT_OK && (memcmp(&head, &expected, sizeof head) != 0 ||
                          weft_state_hash(state) != id->hash || !tail_holds(tail, ntail)))
        st = weft_fail(WEFT_EFILE, "%s is damaged or of another run", path);
    if (st == WEFT_OK && state->kept) st = take_kept(rundir, id, seconds, state);
    weft_arena_free(tmp);
    return st;
}

weft_status weft_rundir_state_load(const weft_rundir *rundir, weft_team *team,
                                   const weft_state_id *id, double seconds,
                                   weft_state *state)
{
    weft_times_close(team);
    weft_status st = team->rank == 0 ? load(rundir, id, seconds, state) : WEFT_OK;
    weft_times_io(team);
    TRY(weft_agree(st, team));
    weft_state_bcast(team, state);
    return WEFT_OK;
}

/* ---- reading without task and data ---- */

/* Whether the parts have the lengths that the head tells. */
static int fits(const state_head *head, size_t size, size_t *nx, size_t *naux)
{
    size_t most = size / sizeof(real);
    if (head->nx < 0 || head->naux < 0 || (size_t)head->nx > most ||
        (size_t)head->naux > most)
        return 0;
    *nx = (size_t)head->nx * sizeof(real);
    *naux = (size_t)head->naux * sizeof(double);
    return sizeof *head + *nx + *naux <= size;
}

/* The tensors, at the end of the file; 0: they do not hold. */
static int take_tensors(const char *tail, size_t bytes, int64_t nx, int *n,
                        weft_tensor *tensor)
{
    if (!tail_holds(tail, bytes)) return 0;
    *n = (int)(bytes / sizeof(stored_tensor));
    for (int i = 0; i < *n; i++) {
        stored_tensor stored;
        memcpy(&stored, tail + (size_t)i * sizeof stored, sizeof stored);
        tensor[i] = (weft_tensor){.at = stored.at, .nd = (int)stored.nd};
        memcpy(tensor[i].name, stored.name, sizeof stored.name);
        memcpy(tensor[i].dims, stored.dims, sizeof stored.dims);
        if (stored.at < 0 || stored.nd < 1 || stored.nd > 4) return 0;
        if (stored.at + weft_tensors_size(1, &tensor[i]) > nx) return 0;
    }
    return 1;
}

/* What is kept in a state, NULL for nothing; the mark begins with the state's doubles. */
static weft_status look_kept(const char *dir, const weft_job_record *record,
                             const char *doubles, weft_kept **kept, weft_arena *mem)
{
    double mark[WEFT_KEPT_MARK];
    int64_t n, each;
    const char *files =
        weft_arena_text(mem, "%s/" WEFT_FILES_NAME, dir, (long long)record->job.trial,
                        (long long)record->job.id);
    if (!weft_kept_look(files, &n, &each)) return WEFT_OK;
    memcpy(mark, doubles, sizeof mark);
    *kept = weft_kept_new(n, each, mem);
    return weft_kept_take(*kept, files, mark);
}

weft_status weft_state_peek(const char *dir, const weft_job_record *record, const real **x,
                            weft_kept **kept, int *n, weft_tensor tensor[WEFT_MAX_TENSORS],
                            weft_arena *mem)
{
    const char *path = name_of(dir, record->job.trial, record->job.id, mem);
    struct stat info;
    *x = NULL;
    *kept = NULL;
    *n = 0;
    if (stat(path, &info) != 0) return WEFT_OK;
    size_t size = (size_t)info.st_size, nx, naux;
    char *data = WEFT_NEW(mem, char, size + sizeof(state_head));
    state_head head;
    TRY(weft_file_load(path, data, size));
    memcpy(&head, data, sizeof head);
    int whole = head.real_bytes == (int64_t)sizeof(real) && fits(&head, size, &nx, &naux);
    if (whole) {
        const char *tail = data + sizeof head + nx + naux;
        size_t ntail = tail_bytes(path, sizeof head + nx + naux);
        uint64_t hash = weft_hash(data + sizeof head, nx, 0);
        hash = weft_hash(data + sizeof head + nx, naux, hash);
        whole = hash == record->hash && take_tensors(tail, ntail, head.nx, n, tensor);
    }
    if (!whole) return weft_fail(WEFT_EFILE, "%s is damaged", path);
    *x = (const real *)(const void *)(data + sizeof head);
    if (naux < sizeof(double[WEFT_KEPT_MARK])) return WEFT_OK;
    return look_kept(dir, record, data + sizeof head + nx, kept, mem);
}
