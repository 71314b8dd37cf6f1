/* Task fed: federated training in rounds. A job is some rounds of one trial. In each round
 * a cohort of clients trains the server's weights on local samples, each client with a
 * configuration that it draws from the mixture (k = 1: FedAvg, FedProx and similar
 * methods), and the mean change of the weights is a step of the server's optimizer. State
 * of a trial: x = [weights][further numbers of the server][weights that are trained, where
 * those before are their average][vectors of its optimizer][numbers of section [compress]]
 * [versions that clients in flight began with],
 * aux = [state of the trial, trial.c], and what clients keep. */
#include "attack.h"
#include "buffer.h"
#include "choice.h"
#include "compress.h"
#include "privacy.h"
#include "rule.h"
#include "task/programs.h"
#include "weft/base/base.h"
#include "weft/registry.h"
#include "weft/space/scores.h"

#include <math.h>
#include <string.h>

enum { SCORED = 64 }; /* samples at once */

/* ---- setup ---- */

static const weft_choice fed_choices[] = {{"model", weft_net_kinds},
                                          {"model", weft_other_kinds},
                                          {"algorithm", weft_algorithm_kinds},
                                          {0}};

static weft_status fed_tuned(void *self, const weft_kind *kind[WEFT_MAX_TUNED], int *n)
{
    fed_task *fed = self;
    TRY(fed_net_find(fed));
    TRY(weft_algorithm_find(fed->options.algorithm_name, &fed->algorithm));
    kind[0] = &fed_training_kind;
    kind[1] = &weft_server_kind;
    kind[2] = &fed->algorithm->kind;
    *n = 3;
    if (fed_worker_trains(fed)) kind[(*n)++] = &weft_parameters_kind;
    return WEFT_OK;
}

/* The axis of an option, or NULL. */
static const weft_axis *axis_of(const weft_space *space, const weft_kind *kind,
                                const char *name)
{
    for (int a = 0; a < space->dim; a++)
        if (strcmp(space->axis[a].section, kind->name) == 0 &&
            weft_opt_is(space->axis[a].opt, name))
            return &space->axis[a];
    return NULL;
}

static double largest(const weft_axis *axis, double fixed)
{
    if (!axis) return fixed;
    double most = axis->nvalue > 0 ? axis->value[0] : axis->hi;
    for (int i = 1; i < axis->nvalue; i++) most = fmax(most, axis->value[i]);
    return axis->nwhen > 0 ? fmax(most, fixed) : most;
}

static weft_status check_scores(const fed_task *fed)
{
    if (fed->options.score == FED_WORST && fed->options.select == FED_BOUND)
        return weft_fail(WEFT_ECONF,
                         "fed.select = bound needs an interval, which fed.score = worst10 "
                         "has not; choose another of both");
    if (fed->options.eval_clients < 0 &&
        (fed->options.select == FED_EVAL || fed->options.eval_every > 0))
        return weft_fail(WEFT_ECONF,
                         "fed.%s needs clients to evaluate, fed.eval_clients is -1 (none); "
                         "set it to 0 (all) or to a number of clients",
                         fed->options.select == FED_EVAL ? "select = eval" : "eval_every");
    return WEFT_OK;
}

static weft_status check_data(const fed_task *fed)
{
    const weft_data *data = fed->env.data;
    if (!data)
        return weft_fail(WEFT_ECONF,
                         "no data set is named; give run.data = FILE.h5, made by "
                         "`weft pack`");
    if (!fed->clients && data->form == WEFT_TOKENS)
        return weft_fail(WEFT_EDATA,
                         "%s holds documents that belong to no clients, and task fed "
                         "trains on clients; deal them to N clients by weft pack ... "
                         "clients=N, or use task sgd or fmap",
                         data->path);
    if (!fed->clients)
        return weft_fail(WEFT_EDATA,
                         "%s is no federation, and task fed trains on clients; pack it "
                         "with clients=N, or use task fmap",
                         data->path);
    if (fed->env.scoring) return WEFT_OK;
    int64_t n = fed->old.n;
    if (n == 0 || (!fed->options.replacement && fed->options.cohort > n))
        return weft_fail(
            WEFT_ECONF,
            "fed.cohort = %lld, but %s has %lld client%s%s; draw fewer, or set "
            "fed.replacement = yes",
            (long long)fed->options.cohort, data->path, (long long)n, n == 1 ? "" : "s",
            fed->fresh.n > 0 ? " without those of fed.new_clients" : "");
    for (int part = WEFT_TRAIN; part <= WEFT_VALID; part++)
        if (data->part[part].total == 0)
            return weft_fail(WEFT_EDATA,
                             "%s: no client has %s samples, and rounds need both train and "
                             "valid; pack it with another split",
                             data->path, weft_part_name[part]);
    return check_scores(fed);
}

/* The inputs and outputs of the network. */
static weft_status shape_of(fed_task *fed, weft_shape *shape)
{
    weft_data *data = fed->env.data;
    weft_clients *clients = fed->clients;
    if (weft_forms[data->form]->shape) {
        weft_forms[data->form]->shape(data, shape);
        return weft_word_unused(&fed->options.words, "fed", data->path);
    }
    *shape = weft_clients_shape(data, clients, fed->options.target == FED_ALL_SYMBOLS);
    if (data->form == WEFT_TOKENS) {
        TRY(weft_data_own_words(data, (weft_tokenizer)fed->options.words.tokenizer));
        TRY(weft_agree(
            weft_word_shape(&fed->options.words, data, clients->d, &fed->env, shape),
            fed->env.team));
    } else {
        TRY(weft_word_unused(&fed->options.words, "fed", data->path));
    }
    shape->d = clients->d;
    shape->length = clients->length;
    return WEFT_OK;
}

static weft_status model_new(fed_task *fed)
{
    weft_shape shape;
    TRY(shape_of(fed, &shape));
    fed->model = weft_arena_alloc(fed->env.mem, 1, fed->net->kind.size);
    TRY(weft_conf_bind(fed->env.conf, &fed->net->kind, fed->model));
    fed->balance.worst = 2 * log(shape.classes);
    return weft_net_setup(fed->net, fed->model, &shape, "fed", fed->env.data->path);
}

/* Tells of speeds and a deadline that have no effect as nothing takes time. */
static void look_at_time(const weft_device *device)
{
    int works = device->sample_seconds > 0 || device->flops > 0;
    int sends = device->up > 0 || device->down > 0 || device->latency > 0;
    for (int64_t i = 0; i < device->rows; i++) {
        const double *p = device->row + i * WEFT_PROFILE;
        sends |= p[WEFT_UP] > 0 || p[WEFT_DOWN] > 0;
    }
    if (device->speed != 0 && device->rows == 0 && !works)
        weft_log(WEFT_WARN, "device.speed has no effect: work takes no time; give "
                            "device.sample_seconds or device.flops");
    if (device->deadline > 0 && !works && !sends)
        weft_log(WEFT_WARN,
                 "device.deadline = %g has no effect: nothing takes time; give "
                 "device.sample_seconds, flops, up, down or latency",
                 device->deadline);
}

/* Warns of options that were set and have no effect with the algorithm. */
static weft_status look_at_options(const fed_task *fed)
{
    if (fed->env.scoring) return WEFT_OK;
    look_at_time(&fed->device);
    if (fed->options.new_epochs > 1 && !(fed->options.new_share > 0))
        return weft_fail(WEFT_ECONF,
                         "fed.new_epochs = %d: there are no new clients; give "
                         "fed.new_clients, their share, or take it out",
                         fed->options.new_epochs);
    if (fed->server.average != WEFT_LAST && fed->options.select != FED_EVAL)
        weft_log(WEFT_WARN,
                 "rounds score the weights that clients receive, not their average, which "
                 "server.average makes the result; give fed.select = eval and "
                 "fed.eval_clients (0: all) to compare configurations by it");
    if (!fed->algorithm->plain || fed->options.average == FED_PLAIN) return WEFT_OK;
    if (weft_conf_find(fed->env.conf, "fed", "average"))
        weft_log(WEFT_WARN,
                 "fed.average = weighted has no effect: fed.algorithm = %s gives clients "
                 "equal weights",
                 fed->options.algorithm_name);
    return WEFT_OK;
}

/* The layout of x for the algorithm and the options of the server. */
static fed_layout layout_of(const fed_task *fed)
{
    weft_amounts amounts = fed_amounts(fed, NULL, 1);
    int64_t kept = amounts.kept + fed_compress_kept(fed);
    fed_layout layout = {
        .shared = fed->nweight, .nshared = amounts.shared, .each = kept > 0 ? 1 + kept : 0};
    layout.summed = fed->nweight + amounts.sums;
    layout.live = layout.shared + layout.nshared;
    layout.nlive = fed->server.average == WEFT_LAST ? 0 : fed->nweight;
    layout.slots = layout.live + layout.nlive;
    return layout;
}

static weft_status algorithm_new(fed_task *fed)
{
    const weft_algorithm *algorithm = fed->algorithm;
    fed->special = weft_arena_alloc(fed->env.mem, 1, algorithm->kind.size);
    TRY(weft_conf_bind(fed->env.conf, &algorithm->kind, fed->special));
    TRY(fed_neighbours_check(fed));
    TRY(look_at_options(fed));
    if (algorithm->setup) TRY(algorithm->setup(fed->special, fed->ntensor, fed->tensor));
    weft_amounts amounts = fed_amounts(fed, NULL, 1);
    TRY(fed_compress_setup(fed, &amounts));
    fed->at = layout_of(fed);
    if (fed->at.each == 0) return WEFT_OK;
    TRY(fed_keep_check(fed));
    if (!fed->options.replacement) return WEFT_OK;
    return weft_fail(WEFT_ECONF,
                     "fed.replacement = yes draws a client twice in a round, but with "
                     "fed.algorithm = %s a client keeps numbers from turn to turn; set "
                     "fed.replacement = no",
                     fed->options.algorithm_name);
}

static double batch_asked(const fed_task *fed)
{
    return largest(axis_of(fed->env.space, &fed_training_kind, "batch"),
                   (double)fed->client.batch);
}

/* Largest batch: as the options say, but not larger than the largest client. */
static int largest_batch(const fed_task *fed)
{
    const weft_clients *clients = fed->clients;
    int64_t most = SCORED;
    for (int part = 0; part < WEFT_NPART; part++)
        if (clients->size[part].most > most) most = clients->size[part].most;
    return (int)fmin((double)most, fmax(batch_asked(fed), SCORED));
}

static weft_status check_memory(const fed_task *fed, double bytes)
{
    if (bytes <= fed->env.memory) return WEFT_OK;
    return weft_fail(
        WEFT_ELIMIT,
        "fed.model = %s has %lld weights, whose training in batches of %d takes "
        "%.3g GB; run.memory allows %g GB a rank: make the model or "
        "client.batch smaller, or allow more",
        fed->options.net_name, (long long)fed->nweight, fed->work.most, bytes / 1e9,
        fed->env.memory / 1e9);
}

static fed_batch rows_new(int most, weft_arena *mem)
{
    return (fed_batch){.x = WEFT_NEW(mem, const float *, most),
                       .text = WEFT_NEW(mem, const uint8_t *, most),
                       .word = WEFT_NEW(mem, const uint32_t *, most),
                       .length = WEFT_NEW(mem, int, most),
                       .reply = WEFT_NEW(mem, const uint32_t *, most),
                       .replies = WEFT_NEW(mem, int, most),
                       .label = WEFT_NEW(mem, int32_t, most),
                       .weight = WEFT_NEW(mem, double, most),
                       .at = WEFT_NEW(mem, int64_t, most)};
}

/* Allocates the workspace. The system provides a page only when it is first written, when a
 * client trains, so a workspace for lanes that is too large can be released unused. */
static weft_status workspace_new(fed_task *fed)
{
    weft_arena *mem = fed->env.mem;
    size_t before = weft_arena_mark(mem);
    fed_workspace *work = &fed->work;
    work->most = largest_batch(fed);
    TRY(check_memory(fed, (double)fed->nweight * (sizeof(double) + 3 * sizeof(real))));
    int64_t started = fed->modes.privacy ? fed->modes.privacy->most : fed_started(fed);
    work->w = WEFT_NEW(mem, real, fed->nweight);
    work->g = WEFT_NEW(mem, real, fed->nweight);
    work->velocity = WEFT_NEW(mem, real, fed->nweight);
    work->own = fed_own_new(fed, mem);
    work->anchor = WEFT_NEW(mem, real, work->own.table.rows > 0 ? fed->nweight : 0);
    work->change = WEFT_NEW(mem, real, fed->algorithm->courses ? fed->nweight : 0);
    work->spare = WEFT_NEW(mem, real, fed_amounts(fed, NULL, 1).spare);
    work->sum = WEFT_NEW(mem, double, fed->at.summed + fed_room(fed, started));
    work->net = fed->net->work(fed->model, work->most, mem);
    work->rows = rows_new(work->most, mem);
    size_t alone = weft_arena_mark(mem);
    work->lanes = fed_lanes_new(fed, (int)fmin(batch_asked(fed), work->most), mem);
    if ((double)(weft_arena_mark(mem) - before) > fed->env.memory) {
        weft_arena_reset(mem, alone); /* clients are trained one by one */
        work->lanes = NULL;
    }
    work->bytes = (double)(weft_arena_mark(mem) - before) + fed_neighbours_bytes(fed);
    if (fed->at.each > 0) work->bytes += fed_keep_memory(fed);
    work->bytes += fed_rule_bytes(fed);
    return check_memory(fed, work->bytes);
}

/* One training has an average as its result, if nothing else is asked for. */
static void average_one(const fed_task *fed)
{
    const weft_entry *tuner = weft_conf_find(fed->env.conf, "run", "tuner");
    int one = tuner && strcmp(tuner->value, "one") == 0;
    if (one && fed->options.select == FED_EVAL &&
        !weft_conf_find(fed->env.conf, "server", "average"))
        weft_conf_default(fed->env.conf, "server", "average", "tail");
}

/* ---- weights of classes, and scores that need labels ---- */

/* Adds the labels of this rank's clients. EFILE. */
static weft_status count_labels(const fed_task *fed, weft_part part, int64_t *count)
{
    const fed_group *group = &fed->old;
    int64_t first, n;
    weft_deal(group->n, fed->env.team->rank, fed->env.team->size, &first, &n);
    for (int64_t i = first; i < first + n; i++) {
        WEFT_SCRATCH(tmp);
        weft_samples samples;
        int64_t client = group->client ? group->client[i] : i;
        TRY(weft_client_read(fed->clients, client, part, &samples, tmp));
        for (int64_t j = 0; j < samples.n; j++) count[samples.label[j]]++;
    }
    return weft_client_sound(fed->clients);
}

/* The samples of each class. */
static weft_status count_classes(const fed_task *fed, weft_part part, int64_t **count)
{
    int classes = fed->env.data->classes;
    *count = WEFT_NEW(fed->env.mem, int64_t, classes);
    TRY(weft_agree(count_labels(fed, part, *count), fed->env.team));
    weft_sum_i64(fed->env.team, *count, (size_t)classes);
    return WEFT_OK;
}

static weft_status weigh_classes(fed_task *fed, weft_part part, double **weight)
{
    int classes = fed->env.data->classes;
    int64_t *count;
    *weight = WEFT_NEW(fed->env.mem, double, classes);
    TRY(count_classes(fed, part, &count));
    weft_class_weights(classes, count, *weight);
    return WEFT_OK;
}

/* ECONF, EDATA: the data, the network or other options do not give the measure of all
 * samples that is asked for. */
static weft_status check_measure(const fed_task *fed)
{
    const weft_data *data = fed->env.data;
    const char *name = fed->options.score == FED_F1 ? "f1" : "auc";
    weft_measure measure = fed->options.score == FED_F1 ? WEFT_BY_F1 : WEFT_BY_AUC;
    int64_t *count, rows = fed->clients->size[WEFT_VALID].total;
    if (data->form == WEFT_CHARS || !fed_answers(fed) || fed->algorithm->neighbours)
        return weft_fail(WEFT_ECONF,
                         "fed.score = %s is of the class that a network says of each "
                         "sample, which %s does not; choose error or loss",
                         name,
                         data->form == WEFT_CHARS     ? "a network on characters"
                         : fed->algorithm->neighbours ? fed->options.algorithm_name
                                                      : fed->options.net_name);
    if (fed->options.select != FED_EVAL || fed->options.eval_clients != 0 ||
        fed->options.score_weights != FED_GLOBAL || fed->fresh.n > 0)
        return weft_fail(WEFT_ECONF,
                         "fed.score = %s is of the samples of all clients by weights "
                         "before training: give fed.select = eval, fed.eval_clients = 0 "
                         "and fed.score_weights = global, without fed.new_clients",
                         name);
    if (!weft_quality_fits(rows, data->classes))
        return weft_fail(WEFT_ELIMIT,
                         "fed.score = %s keeps the scores of %lld validation samples, "
                         "which are too many; choose balanced or loss",
                         name, (long long)rows);
    TRY(count_classes(fed, WEFT_VALID, &count));
    return weft_measure_check(measure, "fed.score", data->path, data->classes, count,
                              data->class_name);
}

/* Checks that fed.score can be had, and sets fed->balance.train and fed->balance.valid
 * where run.class_weights or fed.score asks for them, from the counts of the samples of all
 * clients that are trained, which are exact sums. ECONF, EDATA; EFILE. Collective. Cost:
 * reads the labels of these samples once. */
static weft_status balance_classes(fed_task *fed)
{
    int balanced = fed->options.score == FED_BALANCED;
    const weft_data *data = fed->env.data;
    if (!fed->env.scoring && fed_is_joint(fed)) TRY(check_measure(fed));
    if (fed->env.scoring || (!balanced && !fed->env.balanced)) return WEFT_OK;
    const char *key = balanced ? "fed.score = balanced" : "run.class_weights = balanced";
    const char *lacks = fed_worker_trains(fed) ? "those of a worker are not known"
                                               : weft_forms[data->form]->unclassed;
    if (lacks)
        return weft_fail(WEFT_ECONF,
                         "%s counts the samples of classes, and %s; leave it out", key,
                         lacks);
    if (balanced && fed->algorithm->neighbours)
        return weft_fail(WEFT_ECONF,
                         "%s is of the answers of a network alone, and fed.algorithm = %s "
                         "mixes them with those of samples; choose error or loss",
                         key, fed->options.algorithm_name);
    if (fed->env.balanced) TRY(weigh_classes(fed, WEFT_TRAIN, &fed->balance.train));
    return balanced ? weigh_classes(fed, WEFT_VALID, &fed->balance.valid) : WEFT_OK;
}

static weft_status fed_setup(void *self, const weft_env *env)
{
    fed_task *fed = self;
    fed->env = *env;
    fed->told = (fed_told){0};
    fed->modes = (fed_modes){0};
    if (fed_worker_trains(fed)) TRY(fed_worker_begin(fed));
    const weft_data *data = fed->env.data;
    if (data && weft_forms[data->form]->share) weft_forms[data->form]->share(fed->env.data);
    if (data) fed->clients = data->clients ? data->clients : data->owners;
    if (fed->clients) fed_divide(fed);
    TRY(fed_buffer_open(fed)); /* the set-up of a mode refuses those before it */
    TRY(check_data(fed));
    TRY(weft_conf_bind(env->conf, &fed_training_kind, &fed->client));
    average_one(fed);
    TRY(weft_conf_bind(env->conf, &weft_server_kind, &fed->server));
    TRY(weft_conf_bind(env->conf, &weft_device_kind, &fed->device));
    TRY(weft_device_setup(&fed->device, fed->clients->n, env->seed, env->mem));
    if (!fed_worker_trains(fed)) TRY(model_new(fed));
    fed->nweight = fed->net->nweight(fed->model);
    fed->ntensor = fed->net->tensors(fed->model, fed->tensor);
    TRY(algorithm_new(fed));
    TRY(fed_attack_setup(fed));
    TRY(fed_rule_setup(fed));
    weft_server server = fed->server;
    server.momentum =
        largest(axis_of(env->space, &weft_server_kind, "momentum"), server.momentum);
    fed->at.nslot = weft_server_slots(&server);
    fed_measure(fed);
    TRY(fed_buffer_setup(fed));
    TRY(balance_classes(fed));
    TRY(fed_choice_setup(fed));
    TRY(fed_privacy_setup(fed));
    return workspace_new(fed);
}

/* ---- state and cost ---- */

static int fed_tensors(const void *self, const weft_job *job,
                       weft_tensor out[WEFT_MAX_TENSORS])
{
    const fed_task *fed = self;
    (void)job;
    int n = fed->net->tensors(fed->model, out);
    if (fed->at.nshared > 0)
        out[n++] = (weft_tensor){"server.state", fed->at.shared, 1, {fed->at.nshared}};
    return n;
}

static void fed_word_weights(const void *self, const weft_job *job, weft_word_weights *out)
{
    const fed_task *fed = self;
    (void)job;
    if (!fed->net->table || fed->net->table(fed->model).rows == 0) return;
    *out = (weft_word_weights){.vocab = &fed->env.data->vocab[fed->options.words.tokenizer],
                               .table = fed->net->table(fed->model),
                               .networks = 1};
}

static void fed_nstate(const void *self, const weft_job *job, weft_state *size)
{
    const fed_task *fed = self;
    size->nx = fed->at.slots + fed->nweight * fed->at.nslot + fed_compress_state(fed) +
               fed_buffer_reals(fed);
    size->naux = fed_trial_size(fed, job ? job->mix.k : 1);
    size->members = fed->at.each > 0 ? fed->clients->n : 0;
    size->each = fed->at.each;
}

static void fed_start(const void *self, const weft_job *job, weft_state *state)
{
    const fed_task *fed = self;
    (void)job;
    fed->net->init(fed->model, fed->env.seed, state->x);
    weft_aggregate aggregate = {.n = fed->nweight,
                                .options = fed->special,
                                .x = state->x,
                                .shared = state->x + fed->at.shared};
    if (fed->algorithm->start) fed->algorithm->start(&aggregate, fed->env.seed);
    memcpy(state->x + fed->at.live, state->x, (size_t)fed->at.nlive * sizeof *state->x);
    fed_trial_start(fed, state);
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

/* Rounds know nothing of those to come. */
static int fed_grows(const void *self)
{
    (void)self;
    return 1;
}

/* Cost of rounds only: steps and scores of the cohort, and the sum of changes over
 * ranks. */
static void fed_cost(const void *self, const weft_job *job, weft_cost *out)
{
    const fed_task *fed = self;
    double rounds = job->resource, n = (double)fed->nweight;
    double ranks = fed->env.team->size;
    int passes = fed_scores(fed, job, FED_BEFORE) + fed_scores(fed, job, FED_AFTER);
    double epochs = 0;
    for (int i = 0; i < job->mix.k; i++) {
        fed_training training = fed->client;
        weft_space_put(fed->env.space, job->mix.conf + (size_t)i * job->mix.dim,
                       &fed_training_kind, &training);
        epochs += exp(job->mix.logp[i]) * fed_amounts(fed, NULL, training.epochs).epochs;
    }
    if (job->mix.nblock > 1) epochs = fed_amounts(fed, NULL, fed->client.epochs).epochs;
    double samples = epochs * fed->size.samples + passes * fed->size.valid / 3;
    double scores = fed_scores(fed, job, FED_AFTER) ? fed_neighbours_flops(fed) : 0;
    double state = (double)fed->at.slots + fed->at.nslot * n +
                   (double)(fed_compress_state(fed) + fed_buffer_reals(fed));
    *out = (weft_cost){.flops = rounds * (double)fed->options.cohort *
                                (samples * fed->net->flops(fed->model) + scores),
                       .bytes = ranks > 1 ? rounds * 8 * n * ranks : 0,
                       .memory = fed->work.bytes + state * sizeof(real) +
                                 (double)fed_choice_remembered(fed) * sizeof(double)};
    fed_rule_cost(fed, rounds, out);
}

/* ---- work ---- */

static weft_status fed_step(void *self, const weft_job *job, int64_t unit,
                            weft_state *state, double *row, weft_result *res)
{
    fed_task *fed = self;
    WEFT_SCRATCH(tmp);
    fed_trial_state trial = fed_trial_open(fed, job, unit, state, res);
    int last = unit + 1 == fed_units(fed, job), trains = job->resource >= 1;
    fed_score_sums eval = {0};
    row[FED_ROW_VALID_LOSS] = row[FED_ROW_VALID_ERROR] = NAN;
    weft_status st = trains ? fed_round(fed, job, &trial, row, tmp) : WEFT_OK;
    int due = fed->options.eval_every > 0 &&
              (int64_t)trial.head->round % fed->options.eval_every == 0;
    if (st == WEFT_OK && (due || !trains || (last && fed->options.eval_clients >= 0))) {
        fed_evaluation evaluation = {.part = WEFT_VALID,
                                     .clients = fed->options.eval_clients,
                                     .round = (uint64_t)trial.head->round,
                                     .personal = last && fed->options.score_weights ==
                                                             FED_PERSONAL};
        weft_mix mix = job->mix;
        mix.logp = res->logp;
        st = fed_evaluate(fed, &evaluation, job->trial, &mix, state, &eval);
        fed_sums_means(&eval, FED_BEFORE, row + FED_ROW_VALID_LOSS);
    }
    if (st == WEFT_OK && last) {
        fed_trial_result(fed, job, &trial, &eval);
        st = fed_judge_all(fed, job, state, res);
    }
    return st;
}

/* If clients draw their configuration, they do so in scores of the winner too, from the
 * mixture after its job. */
static int fed_mixes(const void *self)
{
    (void)self;
    return 1;
}

static weft_status fed_score(void *self, const weft_job *job, const weft_state *state,
                             weft_part part, weft_scores *out)
{
    fed_task *fed = self;
    weft_members *members = WEFT_NEW(fed->env.mem, weft_members, 1);
    fed_evaluation evaluation = {.part = part,
                                 .members = members,
                                 .clients = fed->options.test_clients,
                                 .personal = fed->options.score_weights == FED_PERSONAL,
                                 .winner = 1};
    fed_score_sums sums;
    if (fed_privacy_covers(fed)) evaluation.members = NULL;
    TRY(fed_evaluate(fed, &evaluation, job->trial, &job->mix, state, &sums));
    *out = weft_scores_none();
    out->count = sums.answered;
    if (members->n > 0) out->members = members;
    fed_sums_means(&sums, FED_BEFORE, out->metric);
    if (evaluation.personal) fed_sums_means(&sums, FED_AFTER, out->metric + 2);
    if (fed_privacy_covers(fed)) { /* no other scores, and no interval */
        out->count = NAN;
        return WEFT_OK;
    }
    TRY(fed_write(fed, job, state, part, members, out->metric + FED_TEXT_SCORES));
    if (fed->fresh.n == 0) return fed_judge(fed, job, state, part, out);
    evaluation.members = NULL;
    evaluation.clients = 0;
    evaluation.fresh = evaluation.personal = 1;
    TRY(fed_evaluate(fed, &evaluation, job->trial, &job->mix, state, &sums));
    fed_sums_means(&sums, FED_BEFORE, out->metric + FED_NEW_SCORES);
    fed_sums_means(&sums, FED_AFTER, out->metric + FED_NEW_SCORES + 2);
    return WEFT_OK;
}

const weft_task weft_task_fed = {
    .kind = WEFT_KIND("fed", fed_task, fed_task_opts,
                      "federated training in rounds, clients configured by a mixture"),
    .traits =
        {.scaled = 1,
         .data = WEFT_DATA_OPTIONAL,
         .moves = 1,
         .balances = 1,
         .defaults = 1,
         .metrics = fed_metrics,
         .rows = fed_rows,
         .scores = fed_score_table,
         .members = "clients",
         .lost =
             "device.availability, device.dropout and device.file: no client answered that "
             "was to be scored"},
    .parts = fed_parts,
    .tuner = "sha",
    .plan = {.resource = fed_resource, .grows = fed_grows},
    .choices = fed_choices,
    .tuned = fed_tuned,
    .setup = fed_setup,
    .nstate = fed_nstate,
    .winner = {.tensors = fed_tensors,
               .words = fed_word_weights,
               .mixes = fed_mixes,
               .score = fed_score,
               .predict = fed_predict},
    .start = fed_start,
    .cost = fed_cost,
    .timing = {.seconds = fed_seconds},
    .units = fed_units,
    .step = fed_step,
    .remote = {.repeats = fed_worker_repeats},
    .ledger = fed_ledger,
};
