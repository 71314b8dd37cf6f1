/* The run file: attributes of the run, columns of all jobs and arms (those of rounds are in
 * rounds.c), the configurations, the winner with its weights, and the times. Written at the
 * end by rank 0 under a temporary name. */
#include "output.h"
#include "columns.h"
#include "history.h"
#include "rundir/formats.h"
#include "sched/choice.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

/* The configuration of the run with the winner's values in place of the ranges: an input
 * file that trains the winner only. Owned by mem. */
static weft_status winner_config(const weft_outcome *o, const double *conf, weft_arena *mem,
                                 const char **text)
{
    weft_conf c;
    weft_conf_init(&c, mem);
    TRY(weft_conf_text(&c, "run", o->config));
    const weft_space *sp = o->space;
    for (int i = 0; i < sp->dim; i++) {
        const weft_axis *a = &sp->axis[i];
        char name[128], value[128];
        /* the input file may name the option by a synonym */
        const weft_entry *e = weft_conf_find(&c, a->section, a->opt->name);
        if (e)
            snprintf(name, sizeof name, "%s.%s", e->section, e->key);
        else
            weft_axis_name(a, name, sizeof name);
        if (isnan(conf[i])) { /* the option has its default */
            weft_conf_drop(&c, a->section, a->opt->name);
            continue;
        }
        if (!weft_axis_is_ordered(a))
            weft_opt_show(a->opt, conf[i], value, sizeof value);
        else
            snprintf(value, sizeof value, "%.17g", conf[i]);
        TRY(weft_conf_set(&c, weft_arena_text(mem, "%s=%s", name, value)));
    }
    weft_conf_drop(&c, weft_space_kind.name, NULL);
    weft_conf_drop(&c, "random", NULL);
    TRY(weft_conf_set(&c, "run.tuner=random"));
    TRY(weft_conf_set(&c, "run.sampler=space"));
    TRY(weft_conf_set(&c, "run.mixing=none"));
    if (o->by_resource)
        TRY(weft_conf_set(
            &c, weft_arena_text(mem, "random.resource=%.17g", o->winner->res.resource)));
    *text = weft_conf_echo(&c, mem);
    return WEFT_OK;
}

static weft_status put_winner(weft_h5 *f, const weft_outcome *o)
{
    const weft_job_record *e = o->winner;
    int64_t dim = e->job.mix.dim;
    if (o->none) return weft_h5_put_attr(f, "/", "no_winner", o->none);
    double *conf = WEFT_NEW(f->mem, double, dim);
    weft_winner_conf(e, conf);
    char text[1024];
    weft_space_show(o->space, conf, text, sizeof text);
    const char *config;
    TRY(winner_config(o, conf, f->mem, &config));
    TRY(weft_h5_put(f, "/winner/value", WEFT_H5_F64, 1, &dim, conf, 0,
                    "its configuration; axes in /configs/axis", "the option's own"));
    weft_winner w = {
        .config = config,
        .scores = o->history.tables.scores,
        .text = text,
        .size = e->job.feature_fraction,
        .id = e->job.mix.id[weft_winner_arm(e)],
        .job = e->job.id,
        .trial = e->job.trial,
        .round = e->job.index,
        .ntensor = o->ntensor,
        .state = o->state->x,
        .like = o->like,
    };
    if (o->vocab) w.vocab = *o->vocab;
    memcpy(w.tensor, o->tensor, sizeof w.tensor);
    memcpy(w.score, o->score, sizeof w.score);
    return weft_winner_put(&w, f);
}

static weft_status put_times(weft_h5 *f, const weft_outcome *o)
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
        TRY(weft_h5_put(f, what[i].name, WEFT_H5_F64, 1, &length, o->times[i], 0,
                        what[i].about, what[i].unit));
    return WEFT_OK;
}

/* Attributes of the file: what was run. */
static weft_status put_texts(weft_h5 *f, const weft_outcome *o)
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
        {"hosts", o->hosts},
        {"task", o->opts->task},
        {"tuner", o->opts->tuner},
        {"sampler", o->opts->sampler},
        {"mixing", o->opts->mixing},
        {"data", o->opts->data},
        {"data_digest", o->data_digest},
        {"started", weft_time_text(o->began, f->mem)},
        {"directory", o->directory ? o->directory : ""},
        {"config", o->config},
        {"digest", weft_arena_text(f->mem, "%016llx", (unsigned long long)o->digest)},
    };
    for (int i = 0; i < WEFT_COUNT(texts); i++)
        TRY(weft_h5_put_attr(f, "/", texts[i].key, texts[i].text));
    return WEFT_OK;
}

static weft_status put_numbers(weft_h5 *f, const weft_outcome *o)
{
    int64_t rounds = 0;
    for (int64_t i = 0; i < o->history.n; i++) rounds += o->history.record[i].nunit;
    const struct {
        const char *key;
        double x;
    } seconds[] = {
        {"setup_seconds", o->setup},
        {"search_seconds", o->search},
        {"refit_seconds", o->refit},
        {"test_seconds", o->test},
        {"seconds", o->setup + o->search + o->test},
    };
    const struct {
        const char *key;
        int64_t x;
    } counts[] = {
        {"ranks", o->ranks},
        {"teams", o->teams},
        {"blas_threads", openblas_get_num_threads()},
        {"seed", o->opts->seed},
        {"configs", o->configs},
        {"rounds", rounds},
        {"jobs", o->history.n},
        {"starts", o->history.starts.n},
    };
    for (int i = 0; i < WEFT_COUNT(seconds); i++)
        TRY(weft_h5_put_num(f, "/", seconds[i].key, seconds[i].x));
    for (int i = 0; i < WEFT_COUNT(counts); i++)
        TRY(weft_h5_put_long(f, "/", counts[i].key, counts[i].x));
    return WEFT_OK;
}

weft_status weft_run_write(const char *path, const weft_outcome *o)
{
    weft_arena *mem = weft_arena_new();
    weft_h5 f;
    weft_status st = weft_h5_create(&f, path, mem);
    if (st == WEFT_OK) {
        st = put_texts(&f, o);
        if (st == WEFT_OK) st = put_numbers(&f, o);
        if (st == WEFT_OK) st = weft_history_put(&f, &o->history);
        if (st == WEFT_OK) st = put_winner(&f, o);
        if (st == WEFT_OK) st = put_times(&f, o);
        if (st == WEFT_OK) st = weft_h5_commit(&f);
        weft_h5_close(&f);
    }
    weft_arena_free(mem);
    return st;
}
