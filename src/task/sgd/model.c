/* The networks of configurations: steps of their training (section [train]), weights by the
 * contexts of samples, and the configuration of the largest state, by which a run is
 * checked before it trains. A batch has rows of one context, so that the weights for it are
 * made once. */
#include "sgd.h"
#include "weft/base/base.h"
#include "weft/base/conf.h"

#include <math.h>
#include <string.h>

/* ---- section [train] ---- */

#define L2(i, key, which)                                                                  \
    WEFT_REAL_OPT(key, sgd_train, l2[i], "0", 0, 1e6,                                      \
                  "the same for the weights of the " which                                 \
                  " layer alone, without biases, added to weight_decay; without effect "   \
                  "in configurations without such a layer",                                \
                  .role = WEFT_PER_TRIAL)

static const weft_opt train_opts[] = {
    WEFT_CHOICE_OPT("optimizer", sgd_train, descent.optimizer, "sgd", "sgd|adam|adadelta",
                    "update rule", .role = WEFT_SHAPE),
    WEFT_REAL_OPT("lr", sgd_train, descent.lr, "0.1", 1e-12, 1e6,
                  "initial learning rate; the paper of Adadelta has 1",
                  .role = WEFT_PER_TRIAL, .leads = 1),
    WEFT_REAL_OPT("momentum", sgd_train, descent.momentum, "0", 0, 0.9999,
                  "sgd: momentum, the fraction of the last step that is added",
                  .role = WEFT_PER_TRIAL),
    WEFT_REAL_OPT("weight_decay", sgd_train, descent.weight_decay, "0", 0, 1e6,
                  "weight decay: multiple of the weights that is added to the gradient",
                  .role = WEFT_PER_TRIAL),
    L2(0, "l2_1", "first"),
    L2(1, "l2_2", "second"),
    L2(2, "l2_3", "third"),
    L2(3, "l2_4", "fourth"),
    WEFT_REAL_OPT("beta1", sgd_train, descent.beta1, "0.9", 0, 0.99999,
                  "adam: decay of the mean", .role = WEFT_PER_TRIAL),
    WEFT_REAL_OPT("beta2", sgd_train, descent.beta2, "0.999", 0, 0.999999,
                  "adam: decay of the square", .role = WEFT_PER_TRIAL),
    WEFT_REAL_OPT("rho", sgd_train, descent.rho, "0.95", 0, 0.99999,
                  "adadelta: decay of the squares", .role = WEFT_PER_TRIAL),
    WEFT_REAL_OPT("epsilon", sgd_train, descent.epsilon, "1e-6", 1e-30, 1,
                  "adam: added to the root; adadelta: under the roots",
                  .role = WEFT_PER_TRIAL),
    WEFT_CHOICE_OPT(
        "schedule", sgd_train, descent.schedule, "constant",
        "constant|exponential|inverse|linear|cosine|step",
        "the rate in epoch e. constant: lr; exponential: lr (1 - decay)^e; inverse: lr / "
        "(1 + decay e); linear, cosine: down to 0 after `horizon` epochs; step: a "
        "tenth at each of `reductions` equal distances within the horizon",
        .role = WEFT_PER_TRIAL),
    WEFT_REAL_OPT("decay", sgd_train, descent.decay, "0", 0, 0.9999,
                  "schedules exponential and inverse: decay per epoch",
                  .role = WEFT_PER_TRIAL),
    WEFT_REAL_OPT("horizon", sgd_train, descent.horizon, "25", 1e-6, 1e9,
                  "schedules linear and cosine: epochs until the rate is 0; step: epochs "
                  "of a training",
                  .role = WEFT_PER_TRIAL),
    WEFT_INT_OPT("reductions", sgd_train, descent.reductions, "2", 0, 1000,
                 "schedule step: number of times that the rate becomes a tenth",
                 .role = WEFT_PER_TRIAL),
    WEFT_INT_OPT("batch", sgd_train, batch, "50", 1, 1 << 20, "samples per step",
                 .role = WEFT_PER_TRIAL),
    WEFT_REAL_OPT("dropout", sgd_train, dropout, "0", 0, 0.9999,
                  "share of units that are dropped in a step, if the network has dropout",
                  .role = WEFT_PER_TRIAL),
    WEFT_REAL_OPT("noise", sgd_train, noise, SGD_NOISE, 0, 0.9999,
                  "translation: share of the words that are left out of a sentence to be "
                  "translated into its own language, else they are only copied",
                  .role = WEFT_PER_TRIAL),
    WEFT_BOOL_OPT("balance", sgd_train, balance, "no",
                  "weights of classes in this configuration, as run.class_weights = "
                  "balanced has them in all",
                  .role = WEFT_PER_TRIAL),
    {0},
};

static const weft_when train_when[] = {{"momentum", "optimizer", "sgd"},
                                       {"beta1", "optimizer", "adam"},
                                       {"beta2", "optimizer", "adam"},
                                       {"rho", "optimizer", "adadelta"},
                                       {"epsilon", "optimizer", "adam|adadelta"},
                                       {"decay", "schedule", "exponential|inverse"},
                                       {"horizon", "schedule", "linear|cosine|step"},
                                       {"reductions", "schedule", "step"},
                                       {0}};

const weft_kind sgd_train_kind = WEFT_KIND(
    "train", sgd_train, train_opts, "task sgd: steps of the training", .when = train_when);

/* ---- contexts ---- */

static sgd_layout layout_of(const sgd_task *sgd)
{
    return sgd->source->layout ? sgd->source->layout(sgd) : (sgd_layout){0};
}

/* 1: contexts are clients. */
static int is_alike(const sgd_model *model)
{
    return model->contexts && model->contexts->alike;
}

/* ---- weights by context ---- */

/* ECONF: weights by context of samples that have none, or not in this way. */
static weft_status check_form(const sgd_task *sgd, int form)
{
    const char *path = sgd->env.data->path;
    sgd_layout layout = layout_of(sgd);
    if (form == WEFT_CONTEXT_ONE || (layout.contexts > 0 && !layout.alike)) return WEFT_OK;
    if (sgd->env.data->owners)
        return weft_fail(WEFT_ECONF,
                         "context.form: %s has documents, and weights by client are of "
                         "rows of numbers, images and running text; take it out",
                         path);
    if (layout.contexts == 0)
        return weft_fail(WEFT_ECONF,
                         "context.form: the rows of %s belong to no clients, and are of "
                         "one language; take it out, or pack the data with clients, as by "
                         "client = COLUMN",
                         path);
    if (form == WEFT_CONTEXT_PAIR)
        return weft_fail(WEFT_ECONF,
                         "context.form = pair is of languages, and %s has clients; choose "
                         "each or generated",
                         path);
    if (sgd->opts.folds == 0) return WEFT_OK;
    return weft_fail(WEFT_ECONF,
                     "context.form with sgd.folds: weights by client are of one network; "
                     "take out sgd.folds");
}

/* context.form as it is for the data. */
static int form_of(const sgd_task *sgd, int form)
{
    sgd_layout layout = layout_of(sgd);
    if (form != WEFT_CONTEXT_AUTO) return form;
    return layout.contexts > 0 && !layout.alike ? WEFT_CONTEXT_GENERATED : WEFT_CONTEXT_ONE;
}

/* The layout of the weights by context; NULL: samples have no contexts, or one set of
 * weights does for all. ECONF. */
static weft_status contexts_new(const sgd_task *sgd, const weft_context_options *options,
                                const sgd_model *model, weft_arena *mem,
                                weft_contexts **out)
{
    sgd_layout layout = layout_of(sgd);
    weft_context_options own = *options;
    own.form = form_of(sgd, options->form);
    *out = NULL;
    TRY(check_form(sgd, own.form));
    int one = own.form == WEFT_CONTEXT_ONE;
    if (one && (layout.contexts == 0 || layout.alike)) return WEFT_OK;
    *out = WEFT_NEW(mem, weft_contexts, 1);
    TRY(weft_contexts_setup(*out, &own, sgd->net, model->self, layout.languages,
                            layout.contexts, layout.joint));
    (*out)->known = layout.known;
    (*out)->alike = layout.alike;
    return WEFT_OK;
}

/* ---- clients without rows ---- */

void sgd_contexts_fill(const sgd_task *sgd, const sgd_model *model, const sgd_rows *train,
                       real *w)
{
    if (!is_alike(model)) return;
    WEFT_SCRATCH(tmp);
    char *trained = WEFT_NEW(tmp, char, layout_of(sgd).contexts);
    for (int64_t i = 0; i < train->n; i++) trained[sgd->pool.client[train->row[i]]] = 1;
    weft_contexts_fill(model->contexts, trained, w);
}

/* Warns of clients with no or few training rows. */
static void warn_of_clients(const sgd_task *sgd, const sgd_model *model)
{
    enum { FEW = 10 };
    const weft_team *team = sgd->env.team;
    if (!is_alike(model) || team->first + team->rank > 0) return;
    int clients = layout_of(sgd).contexts, none = 0, few = 0;
    WEFT_SCRATCH(tmp);
    int64_t *rows = WEFT_NEW(tmp, int64_t, clients);
    for (int64_t i = 0; i < sgd->at->train.n; i++)
        rows[sgd->pool.client[sgd->at->train.row[i]]]++;
    for (int c = 0; c < clients; c++) {
        none += rows[c] == 0;
        few += rows[c] > 0 && rows[c] < FEW;
    }
    if (none > 0)
        weft_log(WEFT_WARN,
                 "%d of %d clients have no training rows, and get the mean of what the "
                 "others have (context.form)",
                 none, clients);
    if (few > 0)
        weft_log(WEFT_WARN,
                 "%d of %d clients have fewer than %d training rows, by which weights of "
                 "their own are learnt badly (context.form); compare with context.form = "
                 "one",
                 few, clients, FEW);
}

/* ---- batches of one context ---- */

/* place[n] = the places of the rows by context, in their order; from[contexts + 1] where
 * each begins. */
static void sort_by_context(const sgd_task *sgd, int64_t n, const int64_t *row,
                            int64_t *place, int64_t *from)
{
    int64_t contexts = layout_of(sgd).contexts;
    for (int64_t i = 0; i < n; i++) from[sgd->source->context_of(sgd, row[i]) + 1]++;
    for (int64_t c = 0; c < contexts; c++) from[c + 1] += from[c];
    for (int64_t i = 0; i < n; i++) place[from[sgd->source->context_of(sgd, row[i])]++] = i;
    memmove(from + 1, from, (size_t)contexts * sizeof *from);
    from[0] = 0;
}

sgd_blocks sgd_blocks_new(const sgd_task *sgd, const sgd_model *model, const sgd_rows *rows,
                          int64_t most, weft_arena *mem)
{
    int64_t contexts = model->contexts ? layout_of(sgd).contexts : 0;
    sgd_blocks blocks = {.cut = WEFT_NEW(mem, int64_t, rows->n / most + contexts + 2),
                         .row = WEFT_NEW(mem, int64_t, rows->n),
                         .place = WEFT_NEW(mem, int64_t, rows->n)};
    for (int64_t i = 0; i < rows->n; i++) blocks.place[i] = i;
    if (contexts > 0)
        sort_by_context(sgd, rows->n, rows->row, blocks.place,
                        WEFT_NEW(mem, int64_t, contexts + 1));
    for (int64_t i = 0; i < rows->n; i++) blocks.row[i] = rows->row[blocks.place[i]];
    for (int64_t i = 1; i <= rows->n; i++) {
        int full = i == rows->n || i - blocks.cut[blocks.n] == most;
        if (!full && contexts > 0)
            full = sgd->source->context_of(sgd, blocks.row[i]) !=
                   sgd->source->context_of(sgd, blocks.row[i - 1]);
        if (full) blocks.cut[++blocks.n] = i;
    }
    return blocks;
}

void sgd_context_order(const sgd_task *sgd, const sgd_model *model, int64_t n,
                       const weft_rng_row *key, int64_t *order, int64_t *end)
{
    WEFT_SCRATCH(tmp);
    sgd_rows rows = {n, order};
    sgd_blocks blocks = sgd_blocks_new(sgd, model, &rows, model->train.batch, tmp);
    int64_t *which = WEFT_NEW(tmp, int64_t, blocks.n), at = 0;
    for (int64_t b = 0; b < blocks.n; b++) which[b] = b;
    weft_shuffle_first(blocks.n, blocks.n, key, which);
    for (int64_t b = 0; b < blocks.n; b++) {
        const int64_t *cut = blocks.cut + which[b];
        for (int64_t i = cut[0]; i < cut[1]; i++) order[at++] = blocks.row[i];
        end[b] = at;
    }
}

/* ---- networks of configurations ---- */

/* The layers that may have a weight decay of their own: all but the vectors of words. That
 * of a layer which this configuration lacks has no effect. */
static void find_layers(const sgd_task *sgd, sgd_model *model)
{
    weft_tensor tensor[WEFT_MAX_TENSORS];
    int n = sgd->net->tensors(model->self, tensor);
    model->layers = 0;
    for (int i = 0; i < n && model->layers < SGD_LAYERS; i++) {
        if (tensor[i].nd < 2 || tensor[i].at >= model->table.at) continue;
        model->first[model->layers] = tensor[i].at;
        model->end[model->layers++] = i + 1 < n ? tensor[i + 1].at : model->n;
    }
    for (int i = model->layers; i < SGD_LAYERS; i++) model->first[i] = model->end[i] = 0;
}

/* The network and the steps of configuration conf[dim]; NULL: of the options. ECONF, EDATA.
 */
static weft_status model_new(const sgd_task *sgd, const double *conf, weft_arena *mem,
                             sgd_model *model)
{
    model->self = weft_arena_alloc(mem, 1, sgd->net->kind.size);
    memcpy(model->self, sgd->fixed, sgd->net->kind.size);
    model->train = sgd->train;
    weft_context_options context = sgd->context;
    if (conf) {
        weft_space_put(sgd->env.space, conf, &weft_context_kind, &context);
        weft_space_put(sgd->env.space, conf, &sgd->net->kind, model->self);
        weft_space_put(sgd->env.space, conf, &sgd_train_kind, &model->train);
    }
    TRY(weft_net_setup(sgd->net, model->self, &sgd->shape, "sgd", sgd->env.data->path));
    model->n = sgd->net->nweight(model->self);
    model->table = (weft_table){.at = model->n};
    if (sgd->net->table) {
        weft_table table = sgd->net->table(model->self);
        if (table.rows > 0) model->table = table;
    }
    model->slots = weft_descent_slots(&model->train.descent);
    model->copies = sgd->opts.keep == SGD_KEEP_BEST ? 2 : 1;
    find_layers(sgd, model);
    TRY(contexts_new(sgd, &context, model, mem, &model->contexts));
    if (!model->contexts) return WEFT_OK;
    model->n = model->contexts->n;
    model->layers = 0;
    return WEFT_OK;
}

sgd_model sgd_model_of(const sgd_task *sgd, const weft_job *job, weft_arena *mem)
{
    sgd_model model;
    weft_status st = model_new(sgd, job->mix.dim > 0 ? job->mix.conf : NULL, mem, &model);
    if (st != WEFT_OK) weft_die("%s", weft_error());
    return model;
}

int64_t sgd_state_size(const sgd_task *sgd, const sgd_model *model)
{
    return sgd->nfold * model->n * (model->copies + model->slots);
}

/* The configuration of the largest state, conf[dim], found axis by axis. */
static weft_status largest_conf(const sgd_task *sgd, double *conf, weft_arena *mem)
{
    const weft_space *space = sgd->env.space;
    for (int a = 0; a < space->dim; a++)
        conf[a] = space->axis[a].nvalue > 0 ? space->axis[a].value[0] : space->axis[a].hi;
    for (int a = 0; a < space->dim; a++) {
        int64_t most = -1;
        double best = conf[a];
        for (int i = 0; i < space->axis[a].nvalue; i++) {
            sgd_model model;
            conf[a] = space->axis[a].value[i];
            TRY(model_new(sgd, conf, mem, &model));
            if (sgd_state_size(sgd, &model) <= most) continue;
            most = sgd_state_size(sgd, &model);
            best = conf[a];
        }
        conf[a] = best;
    }
    return WEFT_OK;
}

/* ECONF if a layer is to have a weight decay of its own, and the network has fewer. */
static weft_status check_layers(const sgd_task *sgd, const sgd_model *model)
{
    for (int i = model->layers; i < SGD_LAYERS; i++) {
        if (!(model->train.l2[i] > 0)) continue;
        if (model->contexts)
            return weft_fail(WEFT_ECONF,
                             "train.l2_%d = %g, but weights by context have no decay of "
                             "single layers; take it out",
                             i + 1, model->train.l2[i]);
        return weft_fail(WEFT_ECONF,
                         "train.l2_%d = %g, but sgd.model = %s has weights in %d layers%s; "
                         "take it out",
                         i + 1, model->train.l2[i], sgd->opts.net_name, model->layers,
                         sgd->env.space->dim > 0 ? " at most" : "");
    }
    return WEFT_OK;
}

weft_status sgd_model_largest(const sgd_task *sgd, weft_arena *tmp, sgd_model *model)
{
    double *conf = WEFT_NEW(tmp, double, sgd->env.space->dim);
    TRY(largest_conf(sgd, conf, tmp));
    TRY(model_new(sgd, conf, tmp, model));
    return check_layers(sgd, model);
}

int64_t sgd_gradient_size(const sgd_task *sgd, const sgd_model *model, int64_t batch)
{
    int64_t words = batch * sgd->shape.d, rows = model->table.rows;
    return model->table.at + (words < rows ? words : rows) * model->table.d;
}

/* Bytes of a rank: the state, gradients of the pieces and their sum. */
static double memory_of(const sgd_task *sgd, const sgd_model *model)
{
    double gradient = (double)sgd_gradient_size(sgd, model, model->train.batch);
    return (double)sizeof(real) *
           ((double)sgd_state_size(sgd, model) + gradient * (sgd->opts.parts + 1) +
            (model->contexts ? (double)model->table.at : 0));
}

void sgd_cost(const void *self, const weft_job *job, weft_cost *out)
{
    const sgd_task *sgd = self;
    WEFT_SCRATCH(tmp);
    sgd_model model = sgd_model_of(sgd, job, tmp);
    double flops = sgd->net->flops(model.self), ranks = sgd->env.team->size;
    double steps = 0, samples = 0;
    double words = fmin(model.train.batch * sgd->shape.length, (double)model.table.rows);
    double moved = (double)model.table.at + words * model.table.d; /* weights of a step */
    double partial = is_alike(&model) ? layout_of(sgd).contexts / 2.0 : 0;
    if (model.contexts) moved = (double)model.n;
    for (int f = 0; f < sgd->nfold; f++) {
        double n = (double)sgd->at[f].train.n, batch = fmin(model.train.batch, n);
        double own =
            sgd->opts.steps > 0 ? (double)sgd->opts.steps : ceil(n / batch + partial);
        steps += own;
        samples += own * batch + (double)sgd->at[f].dev.n / 3;
    }
    double all = (double)sgd->first[WEFT_TEST], most = fmin(model.train.batch, all);
    double once =
        sgd->opts.steps > 0 ? (double)sgd->opts.steps : ceil(all / most + partial);
    *out = (weft_cost){
        .again = once * (most * flops + 10.0 * moved),
        .flops = job->resource * (samples * flops + steps * 10.0 * moved),
        .bytes = ranks > 1 ? job->resource * steps * moved * sizeof(real) * ranks : 0,
        .memory = memory_of(sgd, &model)};
}

weft_status sgd_check_clients(const sgd_task *sgd)
{
    const weft_context_options *context = &sgd->context;
    if (sgd->env.scoring || context->train == WEFT_CONTEXT_ALL) return WEFT_OK;
    int form = form_of(sgd, context->form);
    if (form != WEFT_CONTEXT_GENERATED || context->embedding != WEFT_CONTEXT_LEARNT)
        return weft_fail(WEFT_ECONF,
                         "context.train = embeddings trains nothing else, and %s has none "
                         "that are learnt; set context.form = generated, or take it out",
                         form == WEFT_CONTEXT_GENERATED ? "context.embedding = one_hot"
                         : form == WEFT_CONTEXT_ONE     ? "context.form = one"
                                                        : "context.form = each");
    if (weft_conf_find(sgd->env.conf, "run", "start")) return WEFT_OK;
    return weft_fail(WEFT_ECONF, "context.train = embeddings keeps all other weights as "
                                 "they are; set run.start = RUN.h5, where they come from");
}

/* ---- memory ---- */

/* The numbers of weights of all contexts, as Platanios et al. count them. */
static void tell_weights(const sgd_task *sgd, const sgd_model *model)
{
    const weft_contexts *contexts = model->contexts;
    if (!contexts || sgd->env.team->first + sgd->env.team->rank > 0) return;
    const weft_context_options *options = &contexts->options;
    long long own = model->table.at, all = model->n, generated = contexts->generated;
    const char *many = contexts->alike ? "clients" : "languages";
    if (options->form != WEFT_CONTEXT_GENERATED) {
        weft_log(WEFT_INFO, "weights: %lld for a %s, %lld for all %d", own,
                 contexts->alike ? "client" : "direction", all, contexts->pairs);
        return;
    }
    weft_log(WEFT_INFO,
             "weights: P M + L M and those not generated = %lld; P = %lld generated, "
             "M = %d numbers, L = %d %s, %lld not generated",
             all, generated, options->size, contexts->languages, many,
             contexts->embedding - generated * options->size);
    if (options->size > contexts->languages && options->embedding == WEFT_CONTEXT_LEARNT)
        weft_log(WEFT_WARN,
                 "context.size = %d is more than the %d %s; the same weights can be "
                 "generated with %d",
                 options->size, contexts->languages, many, contexts->languages);
}

weft_status sgd_check_memory(const sgd_task *sgd)
{
    WEFT_SCRATCH(tmp);
    sgd_model model = {0};
    TRY(sgd_model_largest(sgd, tmp, &model));
    double bytes = memory_of(sgd, &model);
    if (!sgd->env.scoring) {
        tell_weights(sgd, &model);
        warn_of_clients(sgd, &model);
    }
    if (bytes <= sgd->env.memory) return WEFT_OK;
    return weft_fail(
        WEFT_ELIMIT,
        "sgd.model = %s has up to %lld weights, whose training in %d pieces "
        "takes %.3g GB; run.memory allows %g GB a rank: make the model smaller, "
        "or allow more",
        sgd->opts.net_name, (long long)model.n, sgd->opts.parts, bytes / 1e9,
        sgd->env.memory / 1e9);
}
