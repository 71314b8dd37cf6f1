/* The list of all plug-ins. To add one: write its file, and add its name here. */
#ifndef WEFT_REGISTRY_H
#define WEFT_REGISTRY_H

#include "weft/mixing.h"
#include "weft/pack.h"
#include "weft/sampler.h"
#include "weft/task.h"
#include "weft/tune.h"

#define WEFT_READERS(X)                                                                    \
    X(cifar) X(imdb) X(text) X(folder) X(dense) X(idx) X(synthetic) X(shakespeare) X(leaf)
#define WEFT_FEATURES(X) X(rff) X(ngram)
#define WEFT_MODELS(X)   X(ridge) X(logistic) X(svm)
#define WEFT_NETS(X)     X(linear) X(mlp) X(cnn) X(lstm) X(txtcnn)
#define WEFT_TASKS(X)    X(fmap) X(fed) X(sgd) X(flow) X(replay) X(command)
#define WEFT_TUNERS(X)                                                                     \
    X(random) X(ws_sha) X(ws_eg) X(ws_one) X(sha) X(hyperband) X(asha) X(pbt)
#define WEFT_SAMPLERS(X) X(space) X(tpe) X(kde) X(forest)
#define WEFT_MIXINGS(X)  X(none) X(fedex) X(mw)

#define WEFT_DECLARE_READER(n)  extern const weft_reader weft_reader_##n;
#define WEFT_DECLARE_FEATURE(n) extern const weft_feature weft_feature_##n;
#define WEFT_DECLARE_MODEL(n)   extern const weft_model weft_model_##n;
#define WEFT_DECLARE_NET(n)     extern const weft_net weft_net_##n;
#define WEFT_DECLARE_TASK(n)    extern const weft_task weft_task_##n;
#define WEFT_DECLARE_TUNER(n)   extern const weft_tuner weft_tuner_##n;
#define WEFT_DECLARE_SAMPLER(n) extern const weft_sampler weft_sampler_##n;
#define WEFT_DECLARE_MIXING(n)  extern const weft_mixing weft_mixing_##n;
WEFT_READERS(WEFT_DECLARE_READER)
WEFT_FEATURES(WEFT_DECLARE_FEATURE)
WEFT_MODELS(WEFT_DECLARE_MODEL)
WEFT_NETS(WEFT_DECLARE_NET)
WEFT_TASKS(WEFT_DECLARE_TASK)
WEFT_TUNERS(WEFT_DECLARE_TUNER)
WEFT_SAMPLERS(WEFT_DECLARE_SAMPLER)
WEFT_MIXINGS(WEFT_DECLARE_MIXING)

/* Lists, each ended by NULL; every element begins with its weft_kind. */
extern const weft_reader *const weft_readers[];
extern const weft_feature *const weft_features[];
extern const weft_model *const weft_models[];
extern const weft_net *const weft_nets[];
extern const weft_task *const weft_tasks[];
extern const weft_tuner *const weft_tuners[];
extern const weft_sampler *const weft_samplers[];
extern const weft_mixing *const weft_mixings[];

#endif
