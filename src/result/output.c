/* The run file: attributes of the run, columns of all jobs and arms (those of rounds are in
 * rounds.c), the configurations, the winner with its weights, and the times. Written at the
 * end by rank 0 under a temporary name. */
#include "output.h"
#include "columns.h"
#include "history.h"
#include "members.h"
#include "more.h"
#include "rundir/rundir.h"
#include "sched/sched.h"
#include "weft/cpu.h"

#include <cblas.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

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
                                                  outcome->winner->res.resource)));
    *text = weft_conf_echo(&input, mem);
    return WEFT_OK;
}

static weft_status put_winner(weft_h5 *file, const weft_outcome *outcome)
{
    const weft_job_record *record = outcome->winner;
    int64_t dim = record->job.mix.dim;
    if (outcome->none) return weft_h5_put_attr(file, "/", "no_winner", outcome->none);
    double *conf = WEFT_NEW(file->mem, double, dim);
    weft_winner_conf(record, conf);
    char text[1024];
    weft_space_show(outcome->space, conf, text, sizeof text);
    const char *config;
    TRY(winner_config(outcome, conf, file->mem, &config));
    TRY(weft_h5_put(file, "/winner/value", WEFT_H5_F64, 1, &dim, conf, 0,
                    "its configuration; axes in /configs/axis", "the option's own"));
    weft_winner winner = {
        .config = config,
        .scores = outcome->history.tables.scores,
        .text = text,
        .size = record->job.feature_fraction,
        .refitted = outcome->refitted,
        .id = record->job.mix.id[weft_winner_arm(record)],
        .job = record->job.id,
        .trial = record->job.trial,
        .round = record->job.index,
        .ntensor = outcome->ntensor,
        .state = outcome->state->x,
        .like = outcome->like,
    };
    if (outcome->vocab) winner.vocab = *outcome->vocab;
    winner.kept = outcome->state->kept;
    winner.nmember = outcome->nmember;
    winner.member = outcome->member;
    memcpy(winner.tensor, outcome->tensor, sizeof winner.tensor);
    memcpy(winner.score, outcome->score, sizeof winner.score);
    if (outcome->score[WEFT_TEST].confusion)
        winner.confusion = (weft_confusion){outcome->like.classes, outcome->like.class_name,
                                            outcome->score[WEFT_TEST].confusion};
    TRY(weft_winner_put(&winner, file));
    return outcome->members ? weft_members_put(file, outcome->members, outcome->score)
                            : WEFT_OK;
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
        TRY(weft_h5_put(file, what[i].name, WEFT_H5_F64, 1, &length, outcome->times[i], 0,
                        what[i].about, what[i].unit));
    return WEFT_OK;
}

/* Attributes of the file: what was run. */
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
    const struct {
        const char *key;
        double x;
    } seconds[] = {
        {"setup_seconds", outcome->setup},
        {"search_seconds", outcome->search},
        {"refit_seconds", outcome->refit},
        {"test_seconds", outcome->test},
        {"seconds", outcome->setup + outcome->search + outcome->test},
    };
    const struct {
        const char *key;
        int64_t x;
    } counts[] = {
        {"ranks", outcome->ranks},
        {"teams", outcome->teams},
        {"blas_threads", openblas_get_num_threads()},
        {"seed", outcome->opts->seed},
        {"configs", outcome->configs},
        {"rounds", rounds},
        {"jobs", outcome->history.n},
        {"starts", outcome->history.starts.n},
    };
    for (int i = 0; i < WEFT_COUNT(seconds); i++)
        TRY(weft_h5_put_num(file, "/", seconds[i].key, seconds[i].x));
    for (int i = 0; i < WEFT_COUNT(counts); i++)
        TRY(weft_h5_put_long(file, "/", counts[i].key, counts[i].x));
    return WEFT_OK;
}

weft_status weft_run_write(const char *path, const weft_outcome *outcome)
{
    weft_arena *mem = weft_arena_new();
    weft_h5 file;
    weft_status st = weft_h5_create(&file, path, mem);
    if (st == WEFT_OK) {
        st = put_texts(&file, outcome);
        if (st == WEFT_OK) st = put_numbers(&file, outcome);
        if (st == WEFT_OK) st = weft_history_put(&file, &outcome->history);
        if (st == WEFT_OK) st = put_winner(&file, outcome);
        if (st == WEFT_OK) st = weft_more_put(&file, outcome);
        if (st == WEFT_OK) st = put_times(&file, outcome);
        if (st == WEFT_OK) st = weft_h5_commit(&file);
        weft_h5_close(&file);
    }
    weft_arena_free(mem);
    return st;
}
