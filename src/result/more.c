/* A complete run that is given more: see more.h. */
#include "more.h"
#include "rundir/checkpoint.h"
#include "rundir/formats.h"
#include "rundir/times.h"

#include <math.h>
#include <string.h>

static const char x_path[] = "/more/x", aux_path[] = "/more/aux",
                  record_path[] = "/more/record";

weft_status weft_more_put(weft_h5 *file, const weft_outcome *outcome)
{
    const weft_state *state = outcome->state;
    int64_t known = weft_tensors_size(outcome->ntensor, outcome->tensor);
    int64_t rest = state->nx - known;
    size_t bytes;
    const void *record = weft_job_record_pack(outcome->winner, &bytes, file->mem);
    int64_t nrecord = (int64_t)bytes;
    TRY(weft_h5_put(file, x_path, WEFT_REAL_TYPE, 1, &rest, state->x + known, 0,
                    "what the state after the job has behind the weights, for `weft "
                    "resume` with more resource",
                    "1"));
    TRY(weft_h5_put(file, aux_path, WEFT_H5_F64, 1, &state->naux, state->aux, 0,
                    "its numbers in double precision", "1"));
    return weft_h5_put(file, record_path, WEFT_H5_U8, 1, &nrecord, record, 1,
                       "the job and its rounds, as in a journal", "bytes");
}

/* The length of a list of numbers. */
static weft_status length_of(weft_h5 *file, const char *path, int64_t *n)
{
    int nd;
    int64_t dims[4] = {0};
    TRY(weft_h5_shape(file, path, &nd, dims));
    *n = dims[0];
    return WEFT_OK;
}

static weft_status read_record(weft_more *more, weft_h5 *file)
{
    int64_t n, job;
    TRY(length_of(file, record_path, &n));
    char *packed = WEFT_NEW(file->mem, char, n);
    TRY(weft_h5_read_rows(file, record_path, WEFT_H5_U8, 1, 0, n, packed));
    if (weft_job_record_is(packed, (size_t)n, &job) &&
        weft_job_record_read(&more->record, packed, file->mem))
        return WEFT_OK;
    return weft_fail(WEFT_EFILE,
                     "%s: /more is of another version of weft, which can go on with it",
                     file->path);
}

/* The state: the tensors of the winner, then the rest. */
static weft_status read_state(weft_more *more, const weft_winner *winner, weft_h5 *file)
{
    int64_t known = weft_tensors_size(winner->ntensor, winner->tensor), rest, naux;
    TRY(length_of(file, x_path, &rest));
    TRY(length_of(file, aux_path, &naux));
    more->state = (weft_state){.nx = known + rest, .naux = naux};
    more->state.x = WEFT_NEW(file->mem, real, known + rest);
    more->state.aux = WEFT_NEW(file->mem, double, naux);
    memcpy(more->state.x, winner->state, (size_t)known * sizeof(real));
    TRY(weft_h5_read_rows(file, x_path, WEFT_REAL_TYPE, 1, 0, rest, more->state.x + known));
    return weft_h5_read_rows(file, aux_path, WEFT_H5_F64, 1, 0, naux, more->state.aux);
}

static weft_status read_all(weft_more *more, const weft_winner *winner, weft_h5 *file)
{
    const char *numbers;
    TRY(weft_run_format(file, 0));
    if (!weft_h5_has(file, record_path))
        return weft_fail(WEFT_ECONF,
                         "%s is complete, and cannot be given more: it is of several jobs, "
                         "or of a task whose jobs depend on their length; start another "
                         "run by `weft tune`",
                         file->path);
    TRY(weft_h5_read_attr(file, "/", "real", &numbers));
    if (strcmp(numbers, sizeof(real) == 8 ? "double" : "float") != 0)
        return weft_fail(WEFT_EFILE,
                         "%s is of %s numbers; go on with a program built with REAL=%s",
                         file->path, numbers, numbers);
    TRY(weft_h5_read_attr(file, "/", "config", &more->config));
    TRY(weft_h5_read_attr(file, "/", "data_digest", &more->data));
    TRY(weft_h5_read_attr(file, "/", "directory", &more->directory));
    if (!*more->directory) more->directory = NULL;
    TRY(weft_h5_read_num(file, "/", "setup_seconds", &more->setup));
    TRY(weft_h5_read_num(file, "/", "search_seconds", &more->search));
    TRY(weft_h5_read_long(file, "/", "teams", &more->teams));
    TRY(read_record(more, file));
    return read_state(more, winner, file);
}

weft_status weft_more_read(weft_more *more, const char *path, weft_arena *mem)
{
    weft_winner winner;
    weft_h5 file;
    *more = (weft_more){0};
    TRY(weft_winner_read(&winner, path, mem));
    TRY(weft_h5_open(&file, path, mem));
    weft_status st = read_all(more, &winner, &file);
    weft_h5_close(&file);
    return st;
}

weft_status weft_more_restore(const weft_more *more, weft_rundir *rundir)
{
    TRY(weft_rundir_start(rundir, (int)more->teams, more->setup));
    weft_status st = WEFT_OK;
    if (rundir->world->rank == 0) {
        st = weft_rundir_lasted(rundir, more->search);
        if (st == WEFT_OK) st = weft_checkpoint_write(rundir, &more->record, &more->state);
    }
    weft_time *all = WEFT_NEW(rundir->mem, weft_time, rundir->ntime + 1);
    memcpy(all, rundir->time, (size_t)rundir->ntime * sizeof *all);
    all[rundir->ntime++] = (weft_time){.at = more->search};
    rundir->time = all;
    return weft_agree(st, rundir->world);
}
