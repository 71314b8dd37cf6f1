/* The tables of everything that can be chosen by name, and the look-up in them. */
#include "weft/registry.h"

#include <string.h>

#define READER(n)  &weft_reader_##n,
#define FEATURE(n) &weft_feature_##n,
#define MODEL(n)   &weft_model_##n,
#define NET(n)     &weft_net_##n,
#define TASK(n)    &weft_task_##n,
#define TUNER(n)   &weft_tuner_##n,
#define SAMPLER(n) &weft_sampler_##n,
#define MIXING(n)  &weft_mixing_##n,

const weft_reader *const weft_readers[] = {WEFT_READERS(READER) NULL};
const weft_feature *const weft_features[] = {WEFT_FEATURES(FEATURE) NULL};
const weft_model *const weft_models[] = {WEFT_MODELS(MODEL) NULL};
const weft_net *const weft_nets[] = {WEFT_NETS(NET) NULL};
const weft_task *const weft_tasks[] = {WEFT_TASKS(TASK) NULL};
const weft_tuner *const weft_tuners[] = {WEFT_TUNERS(TUNER) NULL};
const weft_sampler *const weft_samplers[] = {WEFT_SAMPLERS(SAMPLER) NULL};
const weft_mixing *const weft_mixings[] = {WEFT_MIXINGS(MIXING) NULL};

static weft_status find(const char *what, const char *name, const char *const *list, int n,
                        int *at)
{
    for (*at = 0; *at < n; (*at)++)
        if (strcmp(list[*at], name) == 0) return WEFT_OK;
    return weft_fail(WEFT_ECONF,
                     "there is no %s \"%s\"; did you mean \"%s\"? `weft list %ss` "
                     "shows all",
                     what, name, weft_nearest(name, list, n), what);
}

#define DEFINE_FIND(type)                                                                  \
    weft_status weft_##type##_find(const char *name, const weft_##type **out)              \
    {                                                                                      \
        const char *list[sizeof weft_##type##s / sizeof *weft_##type##s - 1];              \
        int n = (int)(sizeof list / sizeof *list);                                         \
        int at;                                                                            \
        for (at = 0; at < n; at++) list[at] = weft_##type##s[at]->kind.name;               \
        TRY(find(#type, name, list, n, &at));                                              \
        *out = weft_##type##s[at];                                                         \
        return WEFT_OK;                                                                    \
    }

DEFINE_FIND(reader)
DEFINE_FIND(feature)
DEFINE_FIND(model)
DEFINE_FIND(net)
DEFINE_FIND(task)
DEFINE_FIND(tuner)
DEFINE_FIND(sampler)
DEFINE_FIND(mixing)
