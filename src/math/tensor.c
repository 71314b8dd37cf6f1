/* Sizes of tensors, and those that an option names. */
#include "weft/math/linear.h"

#include <stdio.h>
#include <string.h>

int64_t weft_tensors_size(int n, const weft_tensor *tensor)
{
    int64_t sum = 0;
    for (int i = 0; i < n; i++) {
        int64_t count = 1;
        for (int k = 0; k < tensor[i].nd; k++) count *= tensor[i].dims[k];
        sum += count;
    }
    return sum;
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
    for (int i = 0; i < ntensor; i++) *n += part[i] ? weft_tensors_size(1, &tensor[i]) : 0;
    return WEFT_OK;
}

void weft_tensors_take(const char *part, int ntensor, const weft_tensor *tensor,
                       const real *w, real *packed)
{
    for (int i = 0; i < ntensor; i++) {
        if (!part[i]) continue;
        int64_t n = weft_tensors_size(1, &tensor[i]);
        memcpy(packed, w + tensor[i].at, (size_t)n * sizeof *w);
        packed += n;
    }
}

void weft_tensors_put(const char *part, int ntensor, const weft_tensor *tensor,
                      const real *packed, real *w)
{
    for (int i = 0; i < ntensor; i++) {
        if (!part[i]) continue;
        int64_t n = weft_tensors_size(1, &tensor[i]);
        memcpy(w + tensor[i].at, packed, (size_t)n * sizeof *w);
        packed += n;
    }
}
