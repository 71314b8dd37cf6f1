/* The network and the steps of a configuration, and the configuration of the largest state,
 * by which a run is checked before it trains. */
#include "model.h"
#include "opts.h"

#include <string.h>

/* The layers that may have a weight decay of their own: all but the vectors of words. That
 * of a layer which this configuration lacks has no effect. */
static void find_layers(const sgd *t, sgd_model *m)
{
    weft_tensor tensor[WEFT_MAX_TENSORS];
    int n = t->net->tensors(m->self, tensor);
    m->layers = 0;
    for (int i = 0; i < n && m->layers < SGD_LAYERS; i++) {
        if (tensor[i].nd < 2 || tensor[i].at >= m->table.at) continue;
        m->first[m->layers] = tensor[i].at;
        m->end[m->layers++] = i + 1 < n ? tensor[i + 1].at : m->n;
    }
    for (int i = m->layers; i < SGD_LAYERS; i++) m->first[i] = m->end[i] = 0;
}

weft_status sgd_model_new(const sgd *t, const double *conf, weft_arena *mem, sgd_model *m)
{
    m->self = weft_arena_alloc(mem, 1, t->net->kind.size);
    memcpy(m->self, t->fixed, t->net->kind.size);
    m->train = t->train;
    if (conf) {
        weft_space_put(t->env.space, conf, &t->net->kind, m->self);
        weft_space_put(t->env.space, conf, &sgd_train_kind, &m->train);
    }
    TRY(weft_net_setup(t->net, m->self, &t->shape, "sgd", t->env.data->path));
    m->n = t->net->nweight(m->self);
    m->table = (weft_table){.at = m->n};
    if (t->net->table) {
        weft_table table = t->net->table(m->self);
        if (table.rows > 0) m->table = table;
    }
    m->slots = weft_descent_slots(&m->train.descent);
    m->copies = t->keep == SGD_KEEP_BEST ? 2 : 1;
    find_layers(t, m);
    return WEFT_OK;
}

int64_t sgd_state_size(const sgd *t, const sgd_model *m)
{
    return t->nfold * m->n * (m->copies + m->slots);
}

/* The configuration of the largest state, conf[dim], found axis by axis. */
static weft_status largest_conf(const sgd *t, double *conf, weft_arena *mem)
{
    const weft_space *sp = t->env.space;
    for (int a = 0; a < sp->dim; a++)
        conf[a] = sp->axis[a].nvalue > 0 ? sp->axis[a].value[0] : sp->axis[a].hi;
    for (int a = 0; a < sp->dim; a++) {
        int64_t most = -1;
        double best = conf[a];
        for (int i = 0; i < sp->axis[a].nvalue; i++) {
            sgd_model m;
            conf[a] = sp->axis[a].value[i];
            TRY(sgd_model_new(t, conf, mem, &m));
            if (sgd_state_size(t, &m) <= most) continue;
            most = sgd_state_size(t, &m);
            best = conf[a];
        }
        conf[a] = best;
    }
    return WEFT_OK;
}

/* ECONF if a layer is to have a weight decay of its own, and the network has fewer. */
static weft_status check_layers(const sgd *t, const sgd_model *m)
{
    for (int i = m->layers; i < SGD_LAYERS; i++)
        if (m->train.l2[i] > 0)
            return weft_fail(
                WEFT_ECONF,
                "train.l2_%d = %g, but sgd.model = %s has weights in %d layers%s; "
                "take it out",
                i + 1, m->train.l2[i], t->net_name, m->layers,
                t->env.space->dim > 0 ? " at most" : "");
    return WEFT_OK;
}

weft_status sgd_model_largest(const sgd *t, weft_arena *tmp, sgd_model *m)
{
    double *conf = WEFT_NEW(tmp, double, t->env.space->dim);
    TRY(largest_conf(t, conf, tmp));
    TRY(sgd_model_new(t, conf, tmp, m));
    return check_layers(t, m);
}
