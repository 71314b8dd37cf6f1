/* The network and the steps of a configuration, and the configuration of the largest state,
 * by which a run is checked before it trains. */
#include "model.h"
#include "opts.h"

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
    if (conf) {
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
    return WEFT_OK;
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
    for (int i = model->layers; i < SGD_LAYERS; i++)
        if (model->train.l2[i] > 0)
            return weft_fail(
                WEFT_ECONF,
                "train.l2_%d = %g, but sgd.model = %s has weights in %d layers%s; "
                "take it out",
                i + 1, model->train.l2[i], sgd->net_name, model->layers,
                sgd->env.space->dim > 0 ? " at most" : "");
    return WEFT_OK;
}

weft_status sgd_model_largest(const sgd_task *sgd, weft_arena *tmp, sgd_model *model)
{
    double *conf = WEFT_NEW(tmp, double, sgd->env.space->dim);
    TRY(largest_conf(sgd, conf, tmp));
    TRY(sgd_model_new(sgd, conf, tmp, model));
    return check_layers(sgd, model);
}
