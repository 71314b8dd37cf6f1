/* The tables of everything that can be chosen by name, and the look-up in them. */
#include "weft/registry.h"
#include "weft/algorithm/algorithm.h"
#include "weft/mixing/mixing.h"
#include "weft/model/model.h"
#include "weft/net/net.h"
#include "weft/pack/pack.h"
#include "weft/sampler/sampler.h"
#include "weft/task/task.h"
#include "weft/tune/tune.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#define READER(n)    &weft_reader_##n,
#define FEATURE(n)   &weft_feature_##n,
#define MODEL(n)     &weft_model_##n,
#define NET(n)       &weft_net_##n,
#define ALGORITHM(n) &weft_algorithm_##n,
#define TASK(n)      &weft_task_##n,
#define TUNER(n)     &weft_tuner_##n,
#define SAMPLER(n)   &weft_sampler_##n,
#define MIXING(n)    &weft_mixing_##n,

const weft_reader *const weft_readers[] = {WEFT_READERS(READER) NULL};
const weft_feature *const weft_features[] = {WEFT_FEATURES(FEATURE) NULL};
const weft_model *const weft_models[] = {WEFT_MODELS(MODEL) NULL};
const weft_net *const weft_nets[] = {WEFT_NETS(NET) NULL};
const weft_algorithm *const weft_algorithms[] = {WEFT_ALGORITHMS(ALGORITHM) NULL};
const weft_task *const weft_tasks[] = {WEFT_TASKS(TASK) NULL};
const weft_tuner *const weft_tuners[] = {WEFT_TUNERS(TUNER) NULL};
const weft_sampler *const weft_samplers[] = {WEFT_SAMPLERS(SAMPLER) NULL};
const weft_mixing *const weft_mixings[] = {WEFT_MIXINGS(MIXING) NULL};

#define READER_KIND(n)    &weft_reader_##n.kind,
#define FEATURE_KIND(n)   &weft_feature_##n.kind,
#define MODEL_KIND(n)     &weft_model_##n.kind,
#define NET_KIND(n)       &weft_net_##n.kind,
#define ALGORITHM_KIND(n) &weft_algorithm_##n.kind,
#define TASK_KIND(n)      &weft_task_##n.kind,
#define TUNER_KIND(n)     &weft_tuner_##n.kind,
#define SAMPLER_KIND(n)   &weft_sampler_##n.kind,
#define MIXING_KIND(n)    &weft_mixing_##n.kind,

const weft_kind *const weft_reader_kinds[] = {WEFT_READERS(READER_KIND) NULL};
const weft_kind *const weft_feature_kinds[] = {WEFT_FEATURES(FEATURE_KIND) NULL};
const weft_kind *const weft_model_kinds[] = {WEFT_MODELS(MODEL_KIND) NULL};
const weft_kind *const weft_net_kinds[] = {WEFT_NETS(NET_KIND) NULL};
const weft_kind *const weft_algorithm_kinds[] = {WEFT_ALGORITHMS(ALGORITHM_KIND) NULL};
const weft_kind *const weft_task_kinds[] = {WEFT_TASKS(TASK_KIND) NULL};
const weft_kind *const weft_tuner_kinds[] = {WEFT_TUNERS(TUNER_KIND) NULL};
const weft_kind *const weft_sampler_kinds[] = {WEFT_SAMPLERS(SAMPLER_KIND) NULL};
const weft_kind *const weft_mixing_kinds[] = {WEFT_MIXINGS(MIXING_KIND) NULL};

/* 1: the text has that word or its plural, whatever its case. */
static int has_word(const char *text, const char *word)
{
    size_t n = strlen(word);
    for (const char *at = text; n > 0 && *at != '\0'; at++) {
        if (strncasecmp(at, word, n) != 0) continue;
        int before = at == text || !isalnum((unsigned char)at[-1]);
        if (before && !isalnum((unsigned char)at[n + (at[n] == 's')])) return 1;
    }
    return 0;
}

/* The name that is meant: of what is described by the word, as dense is by CSV, be it the
 * ending of a file; else the nearest. */
static const char *meant(const char *name, const weft_kind *const *kind,
                         const char *const *list, int n)
{
    const char *dot = strrchr(name, '.');
    for (int i = 0; i < n; i++)
        if (has_word(kind[i]->about, dot ? dot + 1 : name)) return list[i];
    return weft_nearest(name, list, n);
}

static weft_status find(const char *what, const char *name, const weft_kind *const *kind,
                        const char *const *list, int n, int *at)
{
    for (*at = 0; *at < n; (*at)++)
        if (strcmp(list[*at], name) == 0) return WEFT_OK;
    return weft_fail(WEFT_ECONF,
                     "there is no %s \"%s\"; did you mean \"%s\"? `weft list %ss` "
                     "shows all",
                     what, name, meant(name, kind, list, n), what);
}

#define DEFINE_FIND(type)                                                                  \
    weft_status weft_##type##_find(const char *name, const weft_##type **out)              \
    {                                                                                      \
        const char *list[sizeof weft_##type##s / sizeof *weft_##type##s - 1];              \
        int n = (int)(sizeof list / sizeof *list);                                         \
        int at;                                                                            \
        for (at = 0; at < n; at++) list[at] = weft_##type##_kinds[at]->name;               \
        TRY(find(#type, name, weft_##type##_kinds, list, n, &at));                         \
        *out = weft_##type##s[at];                                                         \
        return WEFT_OK;                                                                    \
    }

DEFINE_FIND(reader)
DEFINE_FIND(feature)
DEFINE_FIND(model)
DEFINE_FIND(net)
DEFINE_FIND(algorithm)
DEFINE_FIND(task)
DEFINE_FIND(tuner)
DEFINE_FIND(sampler)
DEFINE_FIND(mixing)
