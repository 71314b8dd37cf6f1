/* The run file: attributes of the run, columns of all jobs and arms (those of rounds are in
 * rounds.c), the configurations, the winner with its weights, and the times. Written at the
 * end by rank 0 under a temporary name. */
#include "columns.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

typedef struct event_row {
    int64_t job, trial, from, round, rounds, wins, k, alive;
    double resource, size, loss, bound, cost, seconds, regret;
} event_row;

static const weft_column event_columns[] = {
    WEFT_WHOLE(event_row, job, "job, in the order asked", "id"),
    WEFT_WHOLE(event_row, trial, "trial: whose weights were trained", "id"),
    WEFT_WHOLE(event_row, from, "trial whose weights a new trial copied; -1: none", "id"),
    WEFT_WHOLE(event_row, round, "number of earlier jobs that trained the trial", "count"),
    WEFT_WHOLE(event_row, rounds, "rounds of the job: rows of /rounds", "count"),
    WEFT_WHOLE(event_row, wins,
               "eligibility to win: 0 only if no other job can, 1 by resource, then loss, "
               "2 by loss",
               "choice"),
    WEFT_WHOLE(event_row, k, "configurations in the mixture", "count"),
    WEFT_WHOLE(event_row, alive, "configurations with a probability above 0", "count"),
    WEFT_NUMBER(event_row, resource, "total that the trial was given", "the task's unit"),
    WEFT_NUMBER(event_row, size, "share of the full number of features", "1"),
    WEFT_NUMBER(
        event_row, loss,
        "score that the tuner was told, under the mixture: mean validation loss, or "
        "error rate if the task's option score says so; fed: clients that "
        "diverged or missed the deadline count as the worst",
        "loss or 1"),
    WEFT_NUMBER(
        event_row, bound,
        "half the width of the 95 % interval of the score: for the last weights if "
        "clients were evaluated at the end, else for the mean over the rounds pooled; "
        "0: the score is exact; nan: not known",
        "loss or 1"),
    WEFT_NUMBER(event_row, cost, "cost of the job as the task counts it",
                "the task's unit"),
    WEFT_NUMBER(event_row, seconds, "real time of the job", "s"),
    WEFT_NUMBER(event_row, regret,
                "first metric of the job minus its optimum over the space; nan if the "
                "task does not know the optimum",
                "loss"),
};

typedef struct arm_row {
    int64_t job, config;
    double p, after, loss, error, score, count;
} arm_row;

static const weft_column arm_columns[] = {
    WEFT_WHOLE(arm_row, job, "job", "id"),
    WEFT_WHOLE(arm_row, config, "configuration, by its index in the space: /configs/id",
               "id"),
    WEFT_NUMBER(arm_row, p, "probability in the job's mixture", "1"),
    WEFT_NUMBER(arm_row, after, "probability in the mixture after the job", "1"),
    WEFT_NUMBER(arm_row, loss, "mean validation loss; nan: not scored", "loss"),
    WEFT_NUMBER(arm_row, error, "share of wrong answers; nan: not scored", "1"),
    WEFT_NUMBER(arm_row, score,
                "loss or error, by which configurations are compared; nan: not scored",
                "loss or 1"),
    WEFT_NUMBER(arm_row, count, "validation samples scored", "count"),
};

/* ---- parts of the file ---- */

static weft_status put_events(weft_h5 *f, const weft_history *h)
{
    int nmetric = weft_metrics_count(h->tables.metrics);
    event_row *row = WEFT_NEW(f->mem, event_row, h->n);
    double *metric = WEFT_NEW(f->mem, double, h->n *nmetric);
    for (int64_t i = 0; i < h->n; i++) {
        const weft_job_record *e = &h->event[i];
        row[i] = (event_row){.job = e->job.id,
                             .trial = e->job.trial,
                             .from = e->job.from,
                             .round = e->job.index,
                             .rounds = e->nunit,
                             .wins = e->job.eligibility,
                             .k = e->job.mix.k,
                             .alive = weft_mix_alive(&e->job.mix),
                             .resource = e->res.resource,
                             .size = e->job.feature_fraction,
                             .loss = e->res.loss,
                             .bound = e->res.bound,
                             .cost = e->res.cost,
                             .seconds = e->seconds,
                             .regret = nmetric > 0 ? e->res.metric[0] - h->optimum : NAN};
        if (nmetric > 0)
            memcpy(metric + i * nmetric, e->res.metric, (size_t)nmetric * sizeof *metric);
    }
    if (!isnan(h->optimum)) TRY(weft_h5_put_num(f, "/", "optimum", h->optimum));
    TRY(weft_put_columns(f, "events", event_columns, WEFT_COUNT(event_columns), row,
                         sizeof *row, h->n));
    return weft_put_table(f, "events", "metrics", h->tables.metrics, metric, h->n);
}

/* One row for each arm of each job that was not eliminated or was scored. */
static weft_status put_arms(weft_h5 *f, const weft_history *h)
{
    int64_t room = 0, n = 0;
    for (int64_t i = 0; i < h->n; i++) room += h->event[i].job.mix.k;
    arm_row *row = WEFT_NEW(f->mem, arm_row, room);
    for (int64_t i = 0; i < h->n; i++) {
        const weft_mix *m = &h->event[i].job.mix;
        const weft_result *r = &h->event[i].res;
        for (int a = 0; a < m->k; a++) {
            if (!(m->logp[a] > -INFINITY) && !(r->arm_count[a] > 0)) continue;
            double samples = r->arm_count[a] > 0 ? r->arm_count[a] : NAN;
            row[n++] = (arm_row){.job = h->event[i].job.id,
                                 .config = m->id[a],
                                 .p = exp(m->logp[a]),
                                 .after = exp(r->logp[a]),
                                 .loss = r->arm_loss[a] / samples,
                                 .error = r->arm_wrong[a] / samples,
                                 .score = weft_result_score(r, a),
                                 .count = r->arm_count[a]};
        }
    }
    return weft_put_columns(f, "arms", arm_columns, WEFT_COUNT(arm_columns), row,
                            sizeof *row, n);
}

/* All configurations that occur in jobs, by increasing id. */
static weft_status put_configs(weft_h5 *f, const weft_history *h)
{
    int64_t most = 0, n = 0;
    for (int64_t i = 0; i < h->n; i++)
        for (int a = 0; a < h->event[i].job.mix.k; a++)
            if (h->event[i].job.mix.id[a] >= most) most = h->event[i].job.mix.id[a] + 1;
    const double **conf = WEFT_NEW(f->mem, const double *, most);
    for (int64_t i = 0; i < h->n; i++) {
        const weft_mix *m = &h->event[i].job.mix;
        for (int a = 0; a < m->k; a++) conf[m->id[a]] = m->conf + (size_t)a * m->dim;
    }
    int dim = h->tables.dim;
    int64_t *id = WEFT_NEW(f->mem, int64_t, most);
    double *value = WEFT_NEW(f->mem, double, (size_t)most *dim);
    const char **text = WEFT_NEW(f->mem, const char *, most);
    for (int64_t i = 0; i < most; i++) {
        if (!conf[i]) continue;
        char shown[1024];
        weft_axes_show(h->tables.axis, dim, conf[i], shown, sizeof shown);
        text[n] = weft_arena_text(f->mem, "%s", shown);
        if (dim > 0) memcpy(value + n * dim, conf[i], (size_t)dim * sizeof *value);
        id[n++] = i;
    }
    const char **axis = WEFT_NEW(f->mem, const char *, dim);
    for (int i = 0; i < dim; i++) {
        char name[128];
        weft_axis_name(&h->tables.axis[i], name, sizeof name);
        axis[i] = weft_arena_text(f->mem, "%s", name);
    }
    int64_t shape[2] = {n, dim};
    TRY(weft_h5_put(f, "/configs/id", WEFT_H5_I64, 1, &n, id, 0, "index in the space",
                    "id"));
    TRY(weft_h5_put(
        f, "/configs/value", WEFT_H5_F64, 2, shape, value, 0,
        "one row per configuration, one column per axis; choices by index; NaN: "
        "the axis does not exist there",
        "the option's own"));
    TRY(weft_h5_put_texts(f, "/configs/text", text, n, "the configurations as text"));
    return weft_h5_put_texts(f, "/configs/axis", axis, dim, "names of the axes");
}

/* The configuration of the run with the winner's values in place of the ranges: an input
 * file that trains the winner only. Owned by mem. */
static weft_status winner_config(const weft_outcome *o, const double *conf, weft_arena *mem,
                                 const char **text)
{
    weft_conf c;
    weft_conf_init(&c, mem);
    TRY(weft_conf_text(&c, "run", o->config));
    const weft_space *sp = &o->run->space;
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
    weft_conf_drop(&c, weft_tuner_random.kind.name, NULL);
    TRY(weft_conf_set(&c, "run.tuner=random"));
    TRY(weft_conf_set(&c, "run.sampler=space"));
    TRY(weft_conf_set(&c, "run.mixing=none"));
    if (o->run->task->units || weft_run_resource(o->run) > 1)
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
    weft_space_show(&o->run->space, conf, text, sizeof text);
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
        .like = weft_data_likeness(&o->run->data),
    };
    weft_word_weights words = weft_word_weights_of(o->run, &e->job);
    if (words.vocab) w.vocab = *words.vocab;
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
    const weft_run *r = o->run;
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
        {"task", r->opts.task},
        {"tuner", r->opts.tuner},
        {"sampler", r->opts.sampler},
        {"mixing", r->opts.mixing},
        {"data", r->opts.data},
        {"data_digest", r->data.digest},
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
    const weft_run *r = o->run;
    int64_t rounds = 0;
    for (int64_t i = 0; i < o->history.n; i++) rounds += o->history.event[i].nunit;
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
        {"ranks", r->world->size},
        {"teams", r->teams},
        {"blas_threads", openblas_get_num_threads()},
        {"seed", r->opts.seed},
        {"configs", weft_search_configs(&r->search)},
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

weft_status weft_history_put(weft_h5 *f, const weft_history *h)
{
    TRY(put_events(f, h));
    TRY(weft_put_metrics(f, h));
    TRY(weft_put_rounds(f, h));
    TRY(weft_put_timeline(f, h));
    TRY(put_arms(f, h));
    return put_configs(f, h);
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
