/* Two plug-ins with options of all types, for tests of spaces over them. */
#ifndef WEFT_TEST_TWO_KINDS_H
#define WEFT_TEST_TWO_KINDS_H

#include "tap.h"

struct map {
    int cut, stop, order, bins;
    double alpha;
};

struct model {
    double C, alpha;
    int64_t steps;
};

static const weft_opt map_opts[] = {
    WEFT_CHOICE_OPT("cut/method", struct map, cut, "remove",
                    "remove/simple|split/custom|treebank/nltk", "tokenizer",
                    .role = WEFT_PER_SAMPLE),
    WEFT_BOOL_OPT("stop", struct map, stop, "no", "remove stop words",
                  .role = WEFT_PER_SAMPLE),
    WEFT_INT_OPT("order", struct map, order, "1", 1, 5, "words", .role = WEFT_PER_SAMPLE),
    WEFT_REAL_OPT("alpha", struct map, alpha, "1", 1e-9, 1e9, "smoothing",
                  .role = WEFT_PER_SAMPLE),
    WEFT_INT_OPT("bins", struct map, bins, "16", 1, 1 << 30, "bins"),
    {0},
};
static const weft_opt model_opts[] = {
    WEFT_REAL_OPT("C", struct model, C, "1", 0, 1e9, "inverse regulariser",
                  .role = WEFT_PER_SAMPLE),
    WEFT_LONG_OPT("steps", struct model, steps, "10", 1, 1e15, "steps",
                  .role = WEFT_PER_SAMPLE),
    WEFT_REAL_OPT("alpha", struct model, alpha, "1", 1e-9, 1e9, "another alpha",
                  .role = WEFT_PER_SAMPLE),
    {0},
};
static const weft_kind map_kind = WEFT_KIND("map", struct map, map_opts, "a map");
static const weft_kind model_kind = WEFT_KIND("model", struct model, model_opts, "a model");
static const weft_kind *const kinds[] = {&map_kind, &model_kind};

static inline weft_status read_space(weft_space *space, const char *text, uint64_t seed)
{
    return axes_of(space, text, kinds, 2, seed);
}

#endif
