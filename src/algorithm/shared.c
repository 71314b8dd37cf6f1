/* What several algorithms share: FedAvg's course and the server's usual step, models of
 * one's own, tensors that an option names. */
#include "weft/algorithm.h"

#include <stdio.h>
#include <string.h>

weft_course weft_visit_course(weft_visit *visit, const real *from)
{
    memcpy(visit->w, from, (size_t)visit->n * sizeof *from);
    return (weft_course){
        .w = visit->w, .anchor = from, .sgd = visit->sgd, .epochs = visit->epochs};
}

weft_course weft_visit_own_course(weft_visit *visit)
{
    memcpy(visit->spare, visit->w, (size_t)visit->n * sizeof *visit->w);
    return (weft_course){
        .w = visit->w, .anchor = visit->spare, .sgd = visit->sgd, .epochs = visit->epochs};
}

void weft_visit_changed(weft_visit *visit, const real *from)
{
    for (int64_t i = 0; i < visit->n; i++) visit->change[i] = visit->w[i] - from[i];
}

void weft_visit_keep(weft_visit *visit)
{
    memcpy(visit->kept, visit->x, (size_t)visit->n * sizeof *visit->x);
}

void weft_visit_kept(weft_visit *visit)
{
    memcpy(visit->w, visit->kept, (size_t)visit->n * sizeof *visit->w);
}

void weft_aggregate_step(weft_aggregate *aggregate)
{
    weft_server_step(aggregate->server, aggregate->round, aggregate->n, aggregate->x,
                     aggregate->delta, aggregate->slots);
}

static int64_t numbers_of(const weft_tensor *tensor)
{
    return weft_tensors_size(1, tensor);
}

/* Length of the name of the layer: "fc2" of "fc2.weight". */
static size_t layer_length(const weft_tensor *tensor)
{
    const char *dot = strrchr(tensor->name, '.');
    return dot ? (size_t)(dot - tensor->name) : strlen(tensor->name);
}

/* 1 if the tensor is one of `names`, of n characters: its name, its layer's, or a group. */
static int is_named(const char *name, size_t n, const weft_tensor *tensor,
                    const weft_tensor *last)
{
    size_t layer = layer_length(tensor);
    if (n == 3 && strncmp(name, "all", n) == 0) return 1;
    if (n == 4 && strncmp(name, "last", n) == 0)
        return layer == layer_length(last) && strncmp(tensor->name, last->name, layer) == 0;
    return (n == strlen(tensor->name) || n == layer) && strncmp(name, tensor->name, n) == 0;
}

weft_status weft_tensors_choose(const char *section, const char *key, const char *names,
                                int ntensor, const weft_tensor *tensor,
                                char part[WEFT_MAX_TENSORS], int64_t *n)
{
    memset(part, 0, WEFT_MAX_TENSORS);
    *n = 0;
    if (strcmp(names, "none") == 0) return WEFT_OK;
    for (const char *name = names; *name;) {
        size_t length = strcspn(name, ", ");
        int found = length == 0;
        for (int i = 0; i < ntensor; i++) {
            if (!is_named(name, length, &tensor[i], &tensor[ntensor - 1])) continue;
            found = 1;
            part[i] = 1;
        }
        if (!found) {
            char all[512] = "";
            for (int i = 0; i < ntensor; i++) {
                size_t at = strlen(all);
                snprintf(all + at, sizeof all - at, ", %s", tensor[i].name);
            }
            return weft_fail(WEFT_ECONF,
                             "%s.%s = %s: the network has no tensor or layer \"%.*s\"; "
                             "give some of all, last, none%s",
                             section, key, names, (int)length, name, all);
        }
        name += length;
        name += strspn(name, ", ");
    }
    for (int i = 0; i < ntensor; i++) *n += part[i] ? numbers_of(&tensor[i]) : 0;
    return WEFT_OK;
}

void weft_tensors_take(const char *part, int ntensor, const weft_tensor *tensor,
                       const real *w, real *packed)
{
    for (int i = 0; i < ntensor; i++) {
        if (!part[i]) continue;
        int64_t n = numbers_of(&tensor[i]);
        memcpy(packed, w + tensor[i].at, (size_t)n * sizeof *w);
        packed += n;
    }
}

void weft_tensors_put(const char *part, int ntensor, const weft_tensor *tensor,
                      const real *packed, real *w)
{
    for (int i = 0; i < ntensor; i++) {
        if (!part[i]) continue;
        int64_t n = numbers_of(&tensor[i]);
        memcpy(w + tensor[i].at, packed, (size_t)n * sizeof *w);
        packed += n;
    }
}
