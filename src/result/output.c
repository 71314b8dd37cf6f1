/* The run file: attributes of the run, tables of jobs (history.c), the winner with its
 * weights, and the times. Written at the end by rank 0 under a temporary name.
 *
 * /more is what a complete run leaves so that it can be given more: the records of its jobs
 * for a longer search, and what the winner's state has behind its weights. Of a run of one
 * job, which may be given more resource, that is what a checkpoint after its last unit
 * would have. */
#include "result.h"
#include "weft/math/kernels.h"

#include <cblas.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char x_path[] = "/more/x", aux_path[] = "/more/aux",
                  record_path[] = "/more/record", jobs_path[] = "/more/jobs",
                  bytes_path[] = "/more/bytes";

/* The configuration of the run with the winner's values in place of the ranges: an input
 * file that trains the winner only. Owned by mem. */
static weft_status winner_config(const weft_outcome *outcome, const double *conf,
                                 weft_arena *mem, const char **text)
{
    weft_conf input;
    weft_conf_init(&input, mem);
    TRY(weft_conf_text(&input, "run", outcome->config));
    const weft_space *space = outcome->space;
    for (int i = 0; i < space->dim; i++) {
        const weft_axis *axis = &space->axis[i];
        char name[128], value[128];
        /* the input file may name the option by a synonym */
        const weft_entry *entry = weft_conf_find(&input, axis->section, axis->opt->name);
        if (entry)
            snprintf(name, sizeof name, "%s.%s", entry->section, entry->key);
        else
            weft_axis_name(axis, name, sizeof name);
        if (isnan(conf[i])) { /* the option has its default */
            weft_conf_drop(&input, axis->section, axis->opt->name);
            continue;
        }
        if (!weft_axis_is_ordered(axis))
            weft_opt_show(axis->opt, conf[i], value, sizeof value);
        else
            snprintf(value, sizeof value, "%.17g", conf[i]);
        TRY(weft_conf_set(&input, weft_arena_text(mem, "%s=%s", name, value)));
    }
    weft_conf_drop(&input, weft_space_kind.name, NULL);
    weft_conf_drop(&input, "random", NULL);
    TRY(weft_conf_set(&input, "run.tuner=random"));
    TRY(weft_conf_set(&input, "run.sampler=space"));
    TRY(weft_conf_set(&input, "run.mixing=none"));
    if (outcome->by_resource)
        TRY(weft_conf_set(&input, weft_arena_text(mem, "random.resource=%.17g",
                                                  outcome->won.winner->res.resource)));
    *text = weft_conf_echo(&input, mem);
    return WEFT_OK;
}

static weft_status put_winner(weft_h5 *file, const weft_outcome *outcome)
{
    if (outcome->won.none)
        return weft_h5_put_attr(file, "/", "no_winner", outcome->won.none);
    const weft_job_record *record = outcome->won.winner;
    const weft_tables *tables = &outcome->history.tables;
    int64_t dim = record->job.mix.dim;
    double *conf = WEFT_NEW(file->mem, double, dim);
    char text[1024];
    weft_winner_conf(record, conf);
    weft_axes_show(tables->axis, tables->dim, conf, text, sizeof text);
    weft_winner winner = {.text = text,
                          .refitted = outcome->won.refitted,
                          .id = record->job.mix.id[weft_winner_arm(record)],
                          .job = record->job.id,
                          .trial = record->job.trial,
                          .round = record->job.index,
                          .ntensor = outcome->won.ntensor,
                          .state = outcome->won.state->x,
                          .scores = tables->scores,
                          .like = outcome->like,
                          .kept = outcome->won.state->kept,
                          .nmember = outcome->won.nmember,
                          .member = outcome->won.member};
    if (outcome->vocab) winner.vocab = *outcome->vocab;
    memcpy(winner.tensor, outcome->won.tensor, sizeof winner.tensor);
    memcpy(winner.score, outcome->won.score, sizeof winner.score);
    if (outcome->won.score[WEFT_TEST].confusion)
        winner.confusion = (weft_confusion){outcome->like.classes, outcome->like.class_name,
                                            outcome->won.score[WEFT_TEST].confusion};
    TRY(weft_h5_put(file, "/winner/value", WEFT_H5_F64, 1, &dim, conf, 0,
                    "its configuration; axes in /configs/axis", "the option's own"));
    TRY(winner_config(outcome, conf, file->mem, &winner.config));
    TRY(weft_winner_put(&winner, file));
    if (!outcome->won.members) return WEFT_OK;
    return weft_members_put(file, outcome->won.members, outcome->won.score);
}

static weft_status put_times(weft_h5 *file, const weft_outcome *outcome)
{
#define SPREAD "min, mean, max over ranks; the ranks of min and of max"
    static const struct {
        const char *name, *about, *unit;
    } what[WEFT_NTIME] = {
        {"/times/compute", "computing, and reading data: " SPREAD, "s"},
        {"/times/wait", "waiting for slower ranks: " SPREAD, "s"},
        {"/times/comm", "in collectives: " SPREAD, "s"},
        {"/times/io", "journals, states and checkpoints: " SPREAD, "s"},
        {"/times/bytes", "passed to collectives: " SPREAD, "bytes"},
        {"/times/memory", "peak memory: " SPREAD, "bytes"},
    };
    int64_t length = WEFT_NSPREAD;
    for (int i = 0; i < WEFT_NTIME; i++)
        TRY(weft_h5_put(file, what[i].name, WEFT_H5_F64, 1, &length,
                        outcome->spent.times[i], 0, what[i].about, what[i].unit));
    return WEFT_OK;
}

static weft_status put_texts(weft_h5 *file, const weft_outcome *outcome)
{
    const struct {
        const char *key, *text;
    } texts[] = {
        {"format", WEFT_RUN_FORMAT},
        {"version", WEFT_VERSION},
        {"compiler", WEFT_COMPILER},
        {"flags", WEFT_FLAGS},
        {"real", sizeof(real) == 8 ? "double" : "float"},
        {"kernel", weft_cpu_kernel()},
        {"blas", openblas_get_corename()},
        {"hosts", outcome->hosts},
        {"task", outcome->opts->task},
        {"tuner", outcome->opts->tuner},
        {"sampler", outcome->opts->sampler},
        {"mixing", outcome->opts->mixing},
        {"data", outcome->opts->data},
        {"data_digest", outcome->data_digest},
        {"files", outcome->files ? outcome->files : ""},
        {"started", weft_time_text(outcome->began, file->mem)},
        {"directory", outcome->directory ? outcome->directory : ""},
        {"config", outcome->config},
        {"digest",
         weft_arena_text(file->mem, "%016llx", (unsigned long long)outcome->digest)},
    };
    for (int i = 0; i < WEFT_COUNT(texts); i++)
        TRY(weft_h5_put_attr(file, "/", texts[i].key, texts[i].text));
    return WEFT_OK;
}

static weft_status put_numbers(weft_h5 *file, const weft_outcome *outcome)
{
    int64_t rounds = 0;
    for (int64_t i = 0; i < outcome->history.n; i++)
        rounds += outcome->history.record[i].nunit;
    TRY(weft_h5_put_num(file, "/", "setup_seconds", outcome->spent.setup));
    TRY(weft_h5_put_num(file, "/", "search_seconds", outcome->spent.search));
    TRY(weft_h5_put_num(file, "/", "refit_seconds", outcome->spent.refit));
    TRY(weft_h5_put_num(file, "/", "test_seconds", outcome->spent.test));
    TRY(weft_h5_put_num(file, "/", "seconds",
                        outcome->spent.setup + outcome->spent.search +
                            outcome->spent.test));
    TRY(weft_h5_put_long(file, "/", "ranks", outcome->ranks));
    TRY(weft_h5_put_long(file, "/", "teams", outcome->teams));
    TRY(weft_h5_put_long(file, "/", "blas_threads", openblas_get_num_threads()));
    TRY(weft_h5_put_long(file, "/", "seed", outcome->opts->seed));
    TRY(weft_h5_put_long(file, "/", "configs", outcome->configs));
    TRY(weft_h5_put_long(file, "/", "rounds", rounds));
    TRY(weft_h5_put_long(file, "/", "jobs", outcome->history.n));
    return weft_h5_put_long(file, "/", "starts", outcome->history.starts.n);
}

/* Attributes privacy_... of the file. */
static weft_status put_ledger(weft_h5 *file, const weft_ledger *ledger)
{
    if (!ledger) return WEFT_OK;
    TRY(weft_h5_put_attr(file, "/", "privacy_sampling", ledger->sampling));
    TRY(weft_h5_put_num(file, "/", "privacy_epsilon", ledger->epsilon));
    TRY(weft_h5_put_num(file, "/", "privacy_epsilon_weights", ledger->weights));
    TRY(weft_h5_put_num(file, "/", "privacy_epsilon_scores", ledger->scores));
    TRY(weft_h5_put_num(file, "/", "privacy_delta", ledger->delta));
    TRY(weft_h5_put_num(file, "/", "privacy_noise", ledger->noise));
    TRY(weft_h5_put_num(file, "/", "privacy_score_noise", ledger->score_noise));
    TRY(weft_h5_put_long(file, "/", "privacy_rounds", ledger->rounds));
    TRY(weft_h5_put_long(file, "/", "privacy_scored", ledger->scored));
    return weft_h5_put_long(file, "/", "privacy_evaluations", ledger->evaluations);
}

/* ---- what a run may be given more with ---- */

static weft_status put_state(weft_h5 *file, const weft_outcome *outcome)
{
    const weft_state *state = outcome->won.state;
    int64_t known = weft_tensors_size(outcome->won.ntensor, outcome->won.tensor);
    int64_t rest = state->nx - known;
    TRY(weft_h5_put(file, x_path, WEFT_REAL_TYPE, 1, &rest, state->x + known, 0,
                    "what the winner's state has behind the weights, for `weft resume` "
                    "with more resource, or more trials",
                    "1"));
    return weft_h5_put(file, aux_path, WEFT_H5_F64, 1, &state->naux, state->aux, 0,
                       "its numbers in double precision", "1");
}

static weft_status put_record(weft_h5 *file, const weft_outcome *outcome)
{
    size_t bytes;
    const void *record = weft_job_record_pack(outcome->won.winner, &bytes, file->mem);
    int64_t n = (int64_t)bytes;
    return weft_h5_put(file, record_path, WEFT_H5_U8, 1, &n, record, 1,
                       "the job and its rounds, as in a journal", "bytes");
}

static weft_status put_jobs(weft_h5 *file, const weft_history *history)
{
    WEFT_SCRATCH(tmp);
    int64_t *bytes = WEFT_NEW(file->mem, int64_t, history->n), all = 0;
    const void **packed = WEFT_NEW(tmp, const void *, history->n);
    for (int64_t i = 0; i < history->n; i++) {
        size_t n;
        packed[i] = weft_job_record_pack(&history->record[i], &n, tmp);
        bytes[i] = (int64_t)n;
        all += bytes[i];
    }
    char *jobs = WEFT_NEW(tmp, char, all), *at = jobs;
    for (int64_t i = 0; i < history->n; at += bytes[i++])
        memcpy(at, packed[i], (size_t)bytes[i]);
    TRY(weft_h5_put(file, jobs_path, WEFT_H5_U8, 1, &all, jobs, 1,
                    "all jobs, as in a journal, for `weft resume` with more trials",
                    "bytes"));
    return weft_h5_put(file, bytes_path, WEFT_H5_I64, 1, &history->n, bytes, 1,
                       "length of each job in /more/jobs", "bytes");
}

/* The sum of a program's directory beside the run file. */
static weft_status put_sum(weft_h5 *file, const char *path)
{
    char text[24];
    snprintf(text, sizeof text, "%016llx", (unsigned long long)weft_place_sum(path));
    return weft_h5_put_attr(file, "/more", "best", text);
}

/* Writes /more, if the run `path` may be given more. The weights are those of /winner.
 * EFILE. */
static weft_status put_more(weft_h5 *file, const char *path, const weft_outcome *outcome)
{
    int kept = !outcome->won.none && !(outcome->won.refitted > 0);
    if ((outcome->grows || outcome->longer) && kept) TRY(put_state(file, outcome));
    if (outcome->grows && kept) TRY(put_record(file, outcome));
    if (!outcome->longer) return WEFT_OK;
    TRY(put_jobs(file, &outcome->history));
    TRY(put_sum(file, path));
    return weft_h5_put_long(file, "/more", "format", WEFT_RECORD_FORMAT);
}

/* ---- the whole ---- */

static weft_status put_all(weft_h5 *file, const char *path, const weft_outcome *outcome)
{
    TRY(put_texts(file, outcome));
    TRY(put_numbers(file, outcome));
    TRY(put_ledger(file, outcome->ledger));
    TRY(weft_history_put(file, &outcome->history));
    TRY(put_winner(file, outcome));
    TRY(put_more(file, path, outcome));
    TRY(put_times(file, outcome));
    return weft_h5_commit(file);
}

weft_status weft_run_write(const char *path, const weft_outcome *outcome)
{
    WEFT_SCRATCH(mem);
    weft_h5 file;
    weft_status st = weft_h5_create(&file, path, mem);
    if (st == WEFT_OK) {
        st = put_all(&file, path, outcome);
        weft_h5_close(&file);
    }
    return st;
}

/* ---- reading what a run may be given more with ---- */

static weft_status other_version(const weft_h5 *file)
{
    return weft_fail(WEFT_EFILE,
                     "%s: /more is of another version of weft, which can go on with it",
                     file->path);
}

static weft_status read_record(weft_more *more, weft_h5 *file)
{
    int64_t n, job;
    void *packed;
    TRY(weft_h5_read_all(file, record_path, WEFT_H5_U8, 1, &packed, &n));
    if (weft_job_record_is(packed, (size_t)n, &job) &&
        weft_job_record_read(&more->record, packed, file->mem))
        return WEFT_OK;
    return other_version(file);
}

/* The records of all jobs, of which that of the winner is unpacked. */
static weft_status read_jobs(weft_more *more, int64_t won, weft_h5 *file)
{
    int64_t all, format, at = 0;
    const char *best = "";
    TRY(weft_h5_find_attr(file, "/more", "best", &best));
    more->best = strtoull(best, NULL, 16);
    TRY(weft_h5_read_long(file, "/more", "format", &format));
    if (format != WEFT_RECORD_FORMAT) return other_version(file);
    void *packed, *bytes;
    TRY(weft_h5_read_all(file, jobs_path, WEFT_H5_U8, 1, &packed, &all));
    TRY(weft_h5_read_all(file, bytes_path, WEFT_H5_I64, 1, &bytes, &more->n));
    const char *jobs = packed;
    more->bytes = bytes;
    more->packed = WEFT_NEW(file->mem, const void *, more->n);
    for (int64_t i = 0; i < more->n; at += more->bytes[i++]) {
        int64_t job, n = more->bytes[i];
        int whole = n > 0 && n <= all - at &&
                    weft_job_record_is(jobs + at, (size_t)n, &job) && job < more->n;
        if (!whole) return other_version(file);
        more->packed[i] = jobs + at;
        if (job == won && !weft_job_record_read(&more->record, jobs + at, file->mem))
            return other_version(file);
    }
    return WEFT_OK;
}

/* The state: the tensors of the winner, then the rest. */
static weft_status read_state(weft_more *more, const weft_winner *winner, weft_h5 *file)
{
    int64_t known = weft_tensors_size(winner->ntensor, winner->tensor), rest, naux;
    if (!weft_h5_has(file, x_path)) return WEFT_OK; /* the winner was trained once more */
    TRY(weft_h5_length(file, x_path, &rest));
    TRY(weft_h5_length(file, aux_path, &naux));
    more->state = (weft_state){.nx = known + rest, .naux = naux};
    more->state.x = WEFT_NEW(file->mem, real, known + rest);
    more->state.aux = WEFT_NEW(file->mem, double, naux);
    memcpy(more->state.x, winner->state, (size_t)known * sizeof(real));
    TRY(weft_h5_read_rows(file, x_path, WEFT_REAL_TYPE, 1, 0, rest, more->state.x + known));
    more->state.kept = weft_stored_table(winner->rows, file->mem);
    return weft_h5_read_rows(file, aux_path, WEFT_H5_F64, 1, 0, naux, more->state.aux);
}

static weft_status read_head(weft_more *more, weft_h5 *file)
{
    const char *numbers;
    TRY(weft_h5_read_attr(file, "/", "real", &numbers));
    if (strcmp(numbers, sizeof(real) == 8 ? "double" : "float") != 0)
        return weft_fail(WEFT_EFILE,
                         "%s is of %s numbers; go on with a program built with REAL=%s",
                         file->path, numbers, numbers);
    TRY(weft_h5_read_attr(file, "/", "config", &more->config));
    TRY(weft_h5_read_attr(file, "/", "data_digest", &more->data));
    TRY(weft_h5_find_attr(file, "/", "files", &more->files));
    TRY(weft_h5_read_attr(file, "/", "directory", &more->directory));
    if (!*more->directory) more->directory = NULL;
    TRY(weft_h5_read_num(file, "/", "setup_seconds", &more->setup));
    TRY(weft_h5_read_num(file, "/", "search_seconds", &more->search));
    return weft_h5_read_long(file, "/", "teams", &more->teams);
}

static weft_status read_all(weft_more *more, const weft_winner *winner, int longer,
                            weft_h5 *file)
{
    if (!weft_h5_has(file, longer ? jobs_path : record_path))
        return weft_fail(
            WEFT_ECONF,
            longer ? "%s is complete, and its search cannot be made longer: its schedule "
                     "is one whose first jobs depend on the length, or an older version "
                     "of weft wrote it; start another run by `weft tune`"
                   : "%s is complete, and cannot be given more: it is of several jobs, or "
                     "of one whose units depend on its length, as folds do, or its "
                     "winner was trained once more by run.refit; start another run by "
                     "`weft tune`",
            file->path);
    TRY(read_head(more, file));
    TRY(longer ? read_jobs(more, winner ? winner->job : -1, file)
               : read_record(more, file));
    return winner ? read_state(more, winner, file) : WEFT_OK;
}

weft_status weft_more_read(weft_more *more, const char *path, int longer, weft_arena *mem)
{
    weft_h5 file;
    *more = (weft_more){0};
    TRY(weft_run_file(&file, path, mem));
    int won = !longer || weft_h5_has(&file, "/winner");
    weft_h5_close(&file);
    if (won) TRY(weft_winner_read(&more->winner, path, mem));
    TRY(weft_run_file(&file, path, mem));
    weft_status st = won ? WEFT_OK : weft_h5_verify(&file);
    if (st == WEFT_OK) st = read_all(more, won ? &more->winner : NULL, longer, &file);
    weft_h5_close(&file);
    return st;
}

/* ---- going on with it ---- */

/* Writes what clients keep in the state after the winner's job to the files that the state
 * refers to. */
static weft_status restore_kept(const weft_more *more, const weft_rundir *rundir,
                                weft_state *state, weft_arena *tmp)
{
    const weft_kept *from = more->state.kept;
    const weft_job *job = &more->record.job;
    if (!from) return WEFT_OK;
    double mark[WEFT_KEPT_MARK];
    state->kept = weft_kept_new(weft_kept_n(from), weft_kept_each(from), tmp);
    weft_kept_place(state->kept, weft_rundir_kept(rundir, job->trial, job->id, 0, tmp));
    TRY(weft_kept_copy(state->kept, from));
    weft_kept_mark(state->kept, mark);
    if (memcmp(mark, state->aux, sizeof mark) == 0) return weft_kept_sync(state->kept);
    return weft_fail(WEFT_EFILE,
                     "%s: what its clients keep is not that of its job; put the file back "
                     "from a copy",
                     rundir->path);
}

/* Writes the state after the winner's job. Of programs its directory, which is beside the
 * run file, belongs to it; where that was changed since, the state counts as lost. */
static weft_status restore_state(const weft_more *more, weft_rundir *rundir,
                                 const weft_state *state)
{
    const weft_job *job = &more->record.job;
    weft_state_id id = {job->trial, job->id, state->nx, state->naux, more->record.hash};
    if (!state->x || weft_place_sum(rundir->path) != more->best) return WEFT_OK;
    weft_place_unkeep(rundir->path, job->trial, job->id);
    return weft_rundir_state_put(rundir, &id, state);
}

static weft_status restore(const weft_more *more, weft_rundir *rundir)
{
    weft_state state = more->state;
    WEFT_SCRATCH(tmp);
    if (more->n > 0) weft_place_forget(rundir->path);
    TRY(weft_rundir_lasted(rundir, more->search));
    TRY(restore_kept(more, rundir, &state, tmp));
    return more->n == 0 ? weft_checkpoint_write(rundir, &more->record, &state)
                        : restore_state(more, rundir, &state);
}

weft_status weft_more_restore(const weft_more *more, weft_rundir *rundir)
{
    TRY(weft_rundir_start(rundir, (int)more->teams, more->setup));
    if (more->n > 0) {
        TRY(weft_rundir_grow(rundir, rundir->grown));
        TRY(weft_rundir_restore(rundir, more->n, more->packed, more->bytes));
    }
    weft_status st = rundir->world->rank == 0 ? restore(more, rundir) : WEFT_OK;
    weft_time *all = WEFT_NEW(rundir->mem, weft_time, rundir->past.ntime + 1);
    memcpy(all, rundir->past.time, (size_t)rundir->past.ntime * sizeof *all);
    all[rundir->past.ntime++] = (weft_time){.at = more->search};
    rundir->past.time = all;
    return weft_agree(st, rundir->world);
}
