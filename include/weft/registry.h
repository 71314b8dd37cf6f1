/* The list of all plug-ins. To add one: write its file, and add its name here. What a
 * plug-in can do is in the header of its kind, such as net.h, which this one does not
 * include: all may know the list. */
#ifndef LIBWEFT_REGISTRY_H
#define LIBWEFT_REGISTRY_H

#include "weft/base/conf.h"

#define WEFT_READERS(X)                                                                    \
    X(cifar)                                                                               \
    X(imdb)                                                                                \
    X(text) X(folder) X(dense) X(idx) X(synthetic) X(shakespeare) X(leaf) X(translations)
#define WEFT_FEATURES(X) X(rff) X(nystrom) X(ngram)
#define WEFT_MODELS(X)   X(ridge) X(logistic) X(svm)
#define WEFT_NETS(X)     X(linear) X(mlp) X(cnn) X(lstm) X(seq2seq) X(txtcnn)
#define WEFT_ALGORITHMS(X)                                                                 \
    X(fedavg)                                                                              \
    X(scaffold)                                                                            \
    X(feddyn)                                                                              \
    X(fednova)                                                                             \
    X(fedexp)                                                                              \
    X(fedhyper)                                                                            \
    X(qffl) X(deltasgd) X(ditto) X(fedper) X(fedrep) X(apfl) X(local) X(cpg) X(knn)
#define WEFT_TASKS(X) X(fmap) X(command) X(ask) X(fed) X(sgd) X(flow) X(replay)
#define WEFT_TUNERS(X)                                                                     \
    X(random) X(ws_sha) X(ws_eg) X(ws_one) X(sha) X(hyperband) X(asha) X(pbt) X(one)
#define WEFT_SAMPLERS(X) X(space) X(tpe) X(kde) X(forest) X(gp) X(mobster)
#define WEFT_MIXINGS(X)  X(none) X(fedex) X(mw) X(fedpop)

typedef struct weft_reader weft_reader;
typedef struct weft_feature weft_feature;
typedef struct weft_model weft_model;
typedef struct weft_net weft_net;
typedef struct weft_algorithm weft_algorithm;
typedef struct weft_task weft_task;
typedef struct weft_tuner weft_tuner;
typedef struct weft_sampler weft_sampler;
typedef struct weft_mixing weft_mixing;

#define WEFT_DECLARE_READER(n)    extern const weft_reader weft_reader_##n;
#define WEFT_DECLARE_FEATURE(n)   extern const weft_feature weft_feature_##n;
#define WEFT_DECLARE_MODEL(n)     extern const weft_model weft_model_##n;
#define WEFT_DECLARE_NET(n)       extern const weft_net weft_net_##n;
#define WEFT_DECLARE_ALGORITHM(n) extern const weft_algorithm weft_algorithm_##n;
#define WEFT_DECLARE_TASK(n)      extern const weft_task weft_task_##n;
#define WEFT_DECLARE_TUNER(n)     extern const weft_tuner weft_tuner_##n;
#define WEFT_DECLARE_SAMPLER(n)   extern const weft_sampler weft_sampler_##n;
#define WEFT_DECLARE_MIXING(n)    extern const weft_mixing weft_mixing_##n;
WEFT_READERS(WEFT_DECLARE_READER)
WEFT_FEATURES(WEFT_DECLARE_FEATURE)
WEFT_MODELS(WEFT_DECLARE_MODEL)
WEFT_NETS(WEFT_DECLARE_NET)
WEFT_ALGORITHMS(WEFT_DECLARE_ALGORITHM)
WEFT_TASKS(WEFT_DECLARE_TASK)
WEFT_TUNERS(WEFT_DECLARE_TUNER)
WEFT_SAMPLERS(WEFT_DECLARE_SAMPLER)
WEFT_MIXINGS(WEFT_DECLARE_MIXING)

/* Lists, each ended by NULL. */
extern const weft_reader *const weft_readers[];
extern const weft_feature *const weft_features[];
extern const weft_model *const weft_models[];
extern const weft_net *const weft_nets[];
extern const weft_algorithm *const weft_algorithms[];
extern const weft_task *const weft_tasks[];
extern const weft_tuner *const weft_tuners[];
extern const weft_sampler *const weft_samplers[];
extern const weft_mixing *const weft_mixings[];

/* The same plug-ins by what they have in common. */
extern const weft_kind *const weft_reader_kinds[];
extern const weft_kind *const weft_feature_kinds[];
extern const weft_kind *const weft_model_kinds[];
extern const weft_kind *const weft_net_kinds[];
extern const weft_kind *const weft_algorithm_kinds[];
extern const weft_kind *const weft_task_kinds[];
extern const weft_kind *const weft_tuner_kinds[];
extern const weft_kind *const weft_sampler_kinds[];
extern const weft_kind *const weft_mixing_kinds[];
/* Models that only one task has. */
extern const weft_kind *const weft_other_kinds[];

/* The plug-in of that name; ECONF with the nearest name. */
WEFT_CHECKED weft_status weft_reader_find(const char *name, const weft_reader **out);
WEFT_CHECKED weft_status weft_feature_find(const char *name, const weft_feature **out);
WEFT_CHECKED weft_status weft_model_find(const char *name, const weft_model **out);
WEFT_CHECKED weft_status weft_net_find(const char *name, const weft_net **out);
WEFT_CHECKED weft_status weft_algorithm_find(const char *name, const weft_algorithm **out);
WEFT_CHECKED weft_status weft_task_find(const char *name, const weft_task **out);
WEFT_CHECKED weft_status weft_tuner_find(const char *name, const weft_tuner **out);
WEFT_CHECKED weft_status weft_sampler_find(const char *name, const weft_sampler **out);
WEFT_CHECKED weft_status weft_mixing_find(const char *name, const weft_mixing **out);

#endif
