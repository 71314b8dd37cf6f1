/* The network and the steps of a configuration, and the configuration of the largest state,
 * by which a run is checked before it trains. */
#include "model.h"
#include "contexts.h"
#include "opts.h"
#include "weft/log.h"
#include "words.h"

#include <math.h>
#include <string.h>

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

weft_status sgd_model_new(const sgd_task *sgd, const double *conf, weft_arena *mem,
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
    model->copies = sgd->keep == SGD_KEEP_BEST ? 2 : 1;
    find_layers(sgd, model);
    TRY(sgd_contexts_new(sgd, &context, model, mem, &model->contexts));
    if (!model->contexts) return WEFT_OK;
    model->n = model->contexts->n;
    model->layers = 0;
    return WEFT_OK;
}

sgd_model sgd_model_of(const sgd_task *sgd, const weft_job *job, weft_arena *mem)
{
    sgd_model model;
    weft_status st =
        sgd_model_new(sgd, job->mix.dim > 0 ? job->mix.conf : NULL, mem, &model);
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
            TRY(sgd_model_new(sgd, conf, mem, &model));
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
                         i + 1, model->train.l2[i], sgd->net_name, model->layers,
                         sgd->env.space->dim > 0 ? " at most" : "");
    }
    return WEFT_OK;
}

weft_status sgd_model_largest(const sgd_task *sgd, weft_arena *tmp, sgd_model *model)
{
    double *conf = WEFT_NEW(tmp, double, sgd->env.space->dim);
    TRY(largest_conf(sgd, conf, tmp));
    TRY(sgd_model_new(sgd, conf, tmp, model));
    return check_layers(sgd, model);
}

double sgd_memory(const sgd_task *sgd, const sgd_model *model)
{
    double gradient = (double)sgd_gradient_size(sgd, model, model->train.batch);
    return (double)sizeof(real) *
           ((double)sgd_state_size(sgd, model) + gradient * (sgd->parts + 1) +
            (model->contexts ? (double)model->table.at : 0));
}

void sgd_cost(const void *self, const weft_job *job, weft_cost *out)
{
    const sgd_task *sgd = self;
    weft_arena *tmp = weft_arena_new();
    sgd_model model = sgd_model_of(sgd, job, tmp);
    double flops = sgd->net->flops(model.self), ranks = sgd->env.team->size;
    double steps = 0, samples = 0;
    double words = fmin(model.train.batch * sgd->shape.length, (double)model.table.rows);
    double moved = (double)model.table.at + words * model.table.d; /* weights of a step */
    double partial = sgd->pool.client && model.contexts ? sgd_context_count(sgd) / 2.0 : 0;
    if (model.contexts) moved = (double)model.n;
    for (int f = 0; f < sgd->nfold; f++) {
        double n = (double)sgd->at[f].train.n, batch = fmin(model.train.batch, n);
        double own = sgd->steps > 0 ? (double)sgd->steps : ceil(n / batch + partial);
        steps += own;
        samples += own * batch + (double)sgd->at[f].dev.n / 3;
    }
    double all = (double)sgd->first[WEFT_TEST], most = fmin(model.train.batch, all);
    double once = sgd->steps > 0 ? (double)sgd->steps : ceil(all / most + partial);
    *out = (weft_cost){
        .again = once * (most * flops + 10.0 * moved),
        .flops = job->resource * (samples * flops + steps * 10.0 * moved),
        .bytes = ranks > 1 ? job->resource * steps * moved * sizeof(real) * ranks : 0,
        .memory = sgd_memory(sgd, &model)};
    weft_arena_free(tmp);
}

/* ---- languages that a winner knows ---- */

int sgd_known_tensors(const sgd_task *sgd, const weft_job *job,
                      weft_tensor out[WEFT_MAX_TENSORS])
{
    const weft_translations *of = sgd->pairs.of;
    if (!of || (of->known == of->n && of->known_directions == of->directions)) return 0;
    weft_arena *tmp = weft_arena_new();
    weft_translations before = *of;
    sgd_task task = *sgd;
    before.n = of->known;
    before.directions = of->known_directions;
    task.pairs.of = &before;
    task.shape.words -= of->n - of->known;
    sgd_model model = sgd_model_of(&task, job, tmp);
    int n = weft_contexts_tensors(model.contexts, out);
    weft_arena_free(tmp);
    return n;
}

/* ECONF: embeddings alone are trained where there are none, or of a generator that nothing
 * has trained. */
static weft_status check_clients(const sgd_task *sgd)
{
    const weft_context_options *context = &sgd->context;
    if (sgd->env.scoring || context->train == WEFT_CONTEXT_ALL) return WEFT_OK;
    int form = sgd_context_form(sgd, context->form);
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

weft_status sgd_check_known(const sgd_task *sgd)
{
    const weft_translations *of = sgd->pairs.of;
    const weft_context_options *context = &sgd->context;
    if (sgd->pool.client) return check_clients(sgd);
    if (!of) return WEFT_OK;
    if (sgd->env.scoring && context->form == WEFT_CONTEXT_PAIR &&
        of->directions > of->known_directions) {
        const weft_direction *way = &of->direction[of->known_directions];
        return weft_fail(WEFT_ECONF,
                         "%s: the winner was not trained on %s-%s, and has weights for the "
                         "directions of its training alone (context.form = pairwise); take "
                         "one of another form, or other directions",
                         of->path, of->language[way->source].name,
                         of->language[way->target].name);
    }
    if (sgd->env.scoring || context->train == WEFT_CONTEXT_ALL || of->known < of->n)
        return WEFT_OK;
    return weft_fail(WEFT_ECONF,
                     "context.train = embeddings trains those of languages that run.start "
                     "lacks, and %s has none: set run.start = RUN.h5, and pack sentences "
                     "in another language with vocabulary = RUN.h5",
                     of->path);
}

/* ---- memory ---- */

/* The numbers of weights of all contexts, as Platanios et al. count them. */
static void tell_weights(const sgd_task *sgd, const sgd_model *model)
{
    const weft_contexts *contexts = model->contexts;
    if (!contexts || sgd->env.team->first + sgd->env.team->rank > 0) return;
    const weft_context_options *options = &contexts->options;
    long long own = model->table.at, all = model->n, generated = contexts->generated;
    const char *many = sgd->pool.client ? "clients" : "languages";
    if (options->form != WEFT_CONTEXT_GENERATED) {
        weft_log(WEFT_INFO, "weights: %lld for a %s, %lld for all %d", own,
                 sgd->pool.client ? "client" : "direction", all, contexts->pairs);
        return;
    }
    int size = options->group > 0 ? options->group : options->size;
    weft_log(WEFT_INFO,
             "weights: P M + L M and those not generated = %lld; P = %lld generated, "
             "M = %d numbers%s, L = %d %s, %lld not generated",
             all, generated, size, options->group > 0 ? " of a group" : "",
             contexts->languages, many, contexts->first - generated * size);
    if (options->size > contexts->languages && options->embedding == WEFT_CONTEXT_LEARNT)
        weft_log(WEFT_WARN,
                 "context.size = %d is more than the %d %s; the same weights can be "
                 "generated with %d",
                 options->size, contexts->languages, many, contexts->languages);
}

weft_status sgd_check_memory(const sgd_task *sgd)
{
    weft_arena *tmp = weft_arena_new();
    sgd_model model = {0};
    weft_status st = sgd_model_largest(sgd, tmp, &model);
    double bytes = st == WEFT_OK ? sgd_memory(sgd, &model) : 0;
    if (st == WEFT_OK && !sgd->env.scoring) {
        tell_weights(sgd, &model);
        sgd_contexts_warn(sgd, &model);
    }
    weft_arena_free(tmp);
    TRY(st);
    if (bytes <= sgd->env.memory) return WEFT_OK;
    return weft_fail(
        WEFT_ELIMIT,
        "sgd.model = %s has up to %lld weights, whose training in %d pieces "
        "takes %.3g GB; run.memory allows %g GB a rank: make the model smaller, "
        "or allow more",
        sgd->net_name, (long long)model.n, sgd->parts, bytes / 1e9, sgd->env.memory / 1e9);
}
