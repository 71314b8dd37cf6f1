/* Task fed: federated training in rounds. A job is some rounds of one trial. In each round
 * a cohort of clients trains the server's weights on local samples, each client with a
 * configuration that it draws from the mixture (k = 1: FedAvg, FedProx and similar
 * methods), and the mean change of the weights is a step of the server's optimizer. State
 * of a trial: x = [weights][vectors of the server's optimizer], aux = [state of the trial,
 * fed_trial.c]. */
#include "fed.h"
#include "cohort.h"
#include "eval.h"
#include "lanes.h"
#include "local.h"
#include "metrics.h"
#include "opts.h"
#include "own.h"
#include "round.h"
#include "turns.h"
#include "weft/registry.h"

#include <math.h>
#include <string.h>

/* Number of samples scored at once. */
enum { SCORED = 64 };

/* ---- setup ---- */

static const weft_choice fed_choices[] = {{"model", weft_net_kinds}, {0}};

static weft_status fed_tuned(void *self, const weft_kind *kind[WEFT_MAX_TUNED], int *n)
{
    fed *t = self;
    TRY(weft_net_find(t->net_name, &t->net));
    kind[0] = &fed_client_kind;
    kind[1] = &fed_server_kind;
    *n = 2;
    return WEFT_OK;
}

/* The score of a job of one round is of one cohort only, except with evaluations or
 * bounds. */
static const char *fed_unsure(const void *self)
{
    const fed *t = self;
    if (t->select == FED_EVAL || t->select == FED_BOUND) return NULL;
    return "fed.select = eval and fed.eval_clients (0: all), or fed.select = bound";
}

/* The axis of an option, or NULL. */
static const weft_axis *axis_of(const weft_space *sp, const weft_kind *kind,
                                const char *name)
{
    for (int a = 0; a < sp->dim; a++)
        if (strcmp(sp->axis[a].section, kind->name) == 0 &&
            weft_opt_is(sp->axis[a].opt, name))
            return &sp->axis[a];
    return NULL;
}

static double largest(const weft_axis *axis, double fixed)
{
    if (!axis) return fixed;
    double most = axis->nvalue > 0 ? axis->value[0] : axis->hi;
    for (int i = 1; i < axis->nvalue; i++) most = fmax(most, axis->value[i]);
    return axis->nwhen > 0 ? fmax(most, fixed) : most;
}

static weft_status check(const fed *t)
{
    const weft_data *d = t->env.data;
    if (!t->clients && d->form == WEFT_TOKENS)
        return weft_fail(WEFT_EDATA,
                         "%s holds documents that belong to no clients, and task fed "
                         "trains on clients; deal them to N clients by weft pack ... "
                         "clients=N, or use task sgd or fmap",
                         d->path);
    if (!t->clients)
        return weft_fail(WEFT_EDATA,
                         "%s is no federation, and task fed trains on clients; pack it "
                         "with clients=N, or use task fmap",
                         d->path);
    if (t->env.scoring) return WEFT_OK;
    int64_t n = t->clients->n;
    if (!t->replacement && t->cohort > n)
        return weft_fail(WEFT_ECONF,
                         "fed.cohort = %lld, but %s has %lld clients; draw fewer, or set "
                         "fed.replacement = yes",
                         (long long)t->cohort, d->path, (long long)n);
    for (int part = WEFT_TRAIN; part <= WEFT_VALID; part++)
        if (d->part[part].total == 0)
            return weft_fail(WEFT_EDATA,
                             "%s: no client has %s samples, and rounds need both train and "
                             "valid; pack it with another split",
                             d->path, weft_part_name[part]);
    if (t->eval_clients < 0 && (t->select == FED_EVAL || t->eval_every > 0))
        return weft_fail(WEFT_ECONF,
                         "fed.%s needs clients to evaluate, fed.eval_clients is -1 (none); "
                         "set it to 0 (all) or to a number of clients",
                         t->select == FED_EVAL ? "select = eval" : "eval_every");
    return WEFT_OK;
}

/* The inputs and outputs of the network. */
static weft_status shape_of(fed *t, weft_shape *shape)
{
    weft_data *d = t->env.data;
    weft_clients *f = t->clients;
    int chars = d->form == WEFT_CHARS;
    *shape = (weft_shape){.form = chars ? WEFT_CHARS : WEFT_REALS,
                          .channels = f->channels,
                          .height = f->height,
                          .width = f->width,
                          .classes = chars ? f->symbols : d->classes,
                          .every = t->target == FED_ALL_SYMBOLS};
    if (d->form == WEFT_TOKENS) {
        TRY(weft_data_own_words(d, (weft_tokenizer)t->words.tokenizer));
        TRY(weft_agree(weft_word_shape(&t->words, d, f->d, &t->env, shape), t->env.team));
    } else {
        TRY(weft_word_unused(&t->words, "fed", d->path));
    }
    shape->d = f->d;
    shape->length = f->length;
    return WEFT_OK;
}

static weft_status model_new(fed *t)
{
    weft_shape shape;
    TRY(shape_of(t, &shape));
    t->model = weft_arena_alloc(t->env.mem, 1, t->net->kind.size);
    TRY(weft_conf_bind(t->env.conf, &t->net->kind, t->model));
    TRY(weft_net_setup(t->net, t->model, &shape, "fed", t->env.data->path));
    t->nweight = t->net->nweight(t->model);
    t->worst = 2 * log(shape.classes);
    return WEFT_OK;
}

/* Computes means over clients, over a few thousand of them if there are more, and the
 * properties of the whole population that confidence intervals need. */
static void measure(fed *t)
{
    enum { LOOKED_AT = 4096 };
    const weft_clients *f = t->clients;
    int64_t n = f->n, m = n < LOOKED_AT ? n : LOOKED_AT;
    fed_turn round = {.part = WEFT_VALID, .cap = t->max_valid};
    for (int64_t i = 0; i < m; i++) {
        fed_participant p = {.client = (int64_t)((double)i * (double)n / (double)m),
                             .options = t->client};
        fed_size(t, &round, &p);
        t->mean_samples += (double)p.samples / (double)m;
        t->mean_valid += (double)p.valid / (double)m;
    }
    double each = fed_predictions(t, 1);
    t->all.sum = each * (double)f->size[WEFT_VALID].total;
    t->all.square = each * each * f->size[WEFT_VALID].square;
}

static double batch_asked(const fed *t)
{
    return largest(axis_of(t->env.space, &fed_client_kind, "batch"),
                   (double)t->client.batch);
}

/* Largest batch: as the options say, but not larger than the largest client. */
static int largest_batch(const fed *t)
{
    const weft_clients *f = t->clients;
    int64_t most = SCORED;
    for (int part = 0; part < WEFT_NPART; part++)
        if (f->size[part].most > most) most = f->size[part].most;
    return (int)fmin((double)most, fmax(batch_asked(t), SCORED));
}

static weft_status check_memory(const fed *t, double bytes)
{
    if (bytes <= t->env.memory) return WEFT_OK;
    return weft_fail(
        WEFT_ELIMIT,
        "fed.model = %s has %lld weights, whose training in batches of %d takes "
        "%.3g GB; run.memory allows %g GB a rank: make the model or "
        "client.batch smaller, or allow more",
        t->net_name, (long long)t->nweight, t->work.most, bytes / 1e9, t->env.memory / 1e9);
}

/* Allocates the workspace. The system provides a page only when it is first written, when a
 * client trains, so a workspace for lanes that is too large can be released unused. */
static weft_status workspace_new(fed *t)
{
    weft_arena *mem = t->env.mem;
    size_t before = weft_arena_mark(mem);
    fed_workspace *d = &t->work;
    d->most = largest_batch(t);
    TRY(check_memory(t, (double)t->nweight * (sizeof(double) + 3 * sizeof(real))));
    int64_t started = weft_device_started(&t->device, t->cohort,
                                          t->replacement ? INT64_MAX : t->clients->n);
    d->w = WEFT_NEW(mem, real, t->nweight);
    d->g = WEFT_NEW(mem, real, t->nweight);
    d->velocity = WEFT_NEW(mem, real, t->nweight);
    d->own = fed_own_new(t, mem);
    d->anchor = WEFT_NEW(mem, real, d->own.table.rows > 0 ? t->nweight : 0);
    d->sum = WEFT_NEW(mem, double, t->nweight + fed_room(started));
    d->net = t->net->work(t->model, d->most, mem);
    d->x = WEFT_NEW(mem, const float *, d->most);
    d->text = WEFT_NEW(mem, const uint8_t *, d->most);
    d->word = WEFT_NEW(mem, const uint32_t *, d->most);
    d->length = WEFT_NEW(mem, int, d->most);
    d->label = WEFT_NEW(mem, int32_t, d->most);
    size_t alone = weft_arena_mark(mem);
    d->lanes = fed_lanes_new(t, (int)fmin(batch_asked(t), d->most), mem);
    if ((double)(weft_arena_mark(mem) - before) > t->env.memory) {
        /* clients are trained one by one */
        weft_arena_reset(mem, alone);
        d->lanes = NULL;
    }
    d->bytes = (double)(weft_arena_mark(mem) - before);
    return check_memory(t, d->bytes);
}

static weft_status fed_setup(void *self, const weft_env *env)
{
    fed *t = self;
    t->env = *env;
    t->asked = 0;
    t->clients = env->data->clients ? env->data->clients : env->data->owners;
    TRY(check(t));
    TRY(weft_conf_bind(env->conf, &fed_client_kind, &t->client));
    TRY(weft_conf_bind(env->conf, &fed_server_kind, &t->server));
    TRY(weft_conf_bind(env->conf, &weft_device_kind, &t->device));
    TRY(weft_device_setup(&t->device, t->clients->n, env->seed, env->mem));
    TRY(model_new(t));
    weft_server server = t->server;
    server.momentum =
        largest(axis_of(env->space, &fed_server_kind, "momentum"), server.momentum);
    t->slots = weft_server_slots(&server);
    measure(t);
    return workspace_new(t);
}

/* ---- state and cost ---- */

static int fed_tensors(const void *self, const weft_job *job,
                       weft_tensor out[WEFT_MAX_TENSORS])
{
    const fed *t = self;
    (void)job;
    return t->net->tensors(t->model, out);
}

static void fed_word_weights(const void *self, const weft_job *job, weft_word_weights *out)
{
    const fed *t = self;
    (void)job;
    if (!t->net->table || t->net->table(t->model).rows == 0) return;
    *out = (weft_word_weights){.vocab = &t->env.data->vocab[t->words.tokenizer],
                               .table = t->net->table(t->model),
                               .networks = 1};
}

static void fed_nstate(const void *self, const weft_job *job, weft_state *size)
{
    const fed *t = self;
    size->nx = t->nweight * (1 + t->slots);
    size->naux = fed_trial_size(t, job ? job->mix.k : 1);
}

static void fed_start(const void *self, const weft_job *job, weft_state *state)
{
    const fed *t = self;
    (void)job;
    t->net->init(t->model, t->env.seed, state->x);
    fed_trial_start(state);
}

static int64_t fed_resource(const void *self)
{
    (void)self;
    return 100;
}

static int64_t fed_units(const void *self, const weft_job *job)
{
    (void)self;
    return job->resource >= 1 ? (int64_t)job->resource : 1;
}

/* Cost of rounds only: steps and scores of the cohort, and the sum of changes over
 * ranks. */
static void fed_cost(const void *self, const weft_job *job, weft_cost *out)
{
    const fed *t = self;
    double rounds = job->resource, n = (double)t->nweight;
    double ranks = t->env.team->size;
    int passes = fed_scores(t, job, FED_BEFORE) + fed_scores(t, job, FED_AFTER);
    double epochs = 0;
    for (int i = 0; i < job->mix.k; i++) {
        fed_client c = t->client;
        weft_space_put(t->env.space, job->mix.conf + (size_t)i * job->mix.dim,
                       &fed_client_kind, &c);
        epochs += exp(job->mix.logp[i]) * c.epochs;
    }
    if (job->mix.nblock > 1) epochs = t->client.epochs;
    double samples = epochs * t->mean_samples + passes * t->mean_valid / 3;
    *out =
        (weft_cost){.flops = rounds * (double)t->cohort * samples * t->net->flops(t->model),
                    .bytes = ranks > 1 ? rounds * 8 * n * ranks : 0,
                    .memory = t->work.bytes + (1.0 + t->slots) * n * sizeof(real)};
}

/* ---- work ---- */

static weft_status fed_step(void *self, const weft_job *job, int64_t unit,
                            weft_state *state, double *row, weft_result *res)
{
    fed *t = self;
    weft_arena *tmp = weft_arena_new();
    fed_trial_state b = fed_trial_open(t, job, unit, state, res);
    int last = unit + 1 == fed_units(t, job), trains = job->resource >= 1;
    fed_score_sums eval = {0};
    row[FED_ROW_VALID_LOSS] = row[FED_ROW_VALID_ERROR] = NAN;
    weft_status st = trains ? fed_round(t, job, &b, row, tmp) : WEFT_OK;
    int due = t->eval_every > 0 && (int64_t)b.head->round % t->eval_every == 0;
    if (st == WEFT_OK && (due || !trains || (last && t->eval_clients >= 0))) {
        fed_evaluation q = {.part = WEFT_VALID,
                            .clients = t->eval_clients,
                            .personal = last && t->score_weights == FED_PERSONAL};
        weft_mix mix = job->mix;
        mix.logp = res->logp;
        st = fed_evaluate(t, &q, job->trial, &mix, state->x, &eval);
        row[FED_ROW_VALID_LOSS] = eval.loss[FED_BEFORE] / eval.v;
        row[FED_ROW_VALID_ERROR] = eval.wrong[FED_BEFORE] / eval.v;
    }
    if (st == WEFT_OK && last) fed_trial_result(t, job, &b, &eval);
    weft_arena_free(tmp);
    return st;
}

/* If clients draw their configuration, they do so in scores of the winner too, from the
 * mixture after its job. */
static int fed_mixes(const void *self)
{
    const fed *t = self;
    return !t->eval_mode;
}

static weft_status fed_score(void *self, const weft_job *job, const real *x, weft_part part,
                             weft_scores *out)
{
    fed *t = self;
    fed_evaluation q = {.part = part,
                        .clients = t->test_clients,
                        .personal = t->score_weights == FED_PERSONAL,
                        .stops = 1};
    fed_score_sums s;
    TRY(fed_evaluate(t, &q, job->trial, &job->mix, x, &s));
    *out = weft_scores_none();
    out->count = s.v;
    for (int stage = FED_BEFORE; stage <= (q.personal ? FED_AFTER : FED_BEFORE); stage++) {
        out->metric[2 * stage] = s.loss[stage] / s.v;
        out->metric[2 * stage + 1] = s.wrong[stage] / s.v;
    }
    return WEFT_OK;
}

const weft_task weft_task_fed = {
    .kind = {.name = "fed",
             .about = "federated training in rounds, clients configured by a mixture",
             .size = sizeof(fed),
             .opts = fed_task_opts},
    .parts = fed_parts,
    .tuner = "sha",
    .moves = 1,
    .resource = fed_resource,
    .metrics = fed_metrics,
    .rows = fed_rows,
    .scores = fed_score_table,
    .lost = "device.availability, device.dropout and device.file: no client answered that "
            "was to be scored",
    .unsure = fed_unsure,
    .choices = fed_choices,
    .tuned = fed_tuned,
    .setup = fed_setup,
    .nstate = fed_nstate,
    .tensors = fed_tensors,
    .words = fed_word_weights,
    .start = fed_start,
    .cost = fed_cost,
    .seconds = fed_seconds,
    .price = fed_price,
    .units = fed_units,
    .step = fed_step,
    .mixes = fed_mixes,
    .score = fed_score,
};
