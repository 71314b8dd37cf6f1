/* Two plug-ins with options of all types, for tests of spaces over them. */
#ifndef WEFT_TEST_TWO_KINDS_H
#define WEFT_TEST_TWO_KINDS_H

#include "weft/space.h"

#include "tap.h"

typedef struct map {
    int cut, stop, order, bins;
    double alpha;
} map;

typedef struct model {
    double C, alpha;
    int64_t steps;
} model;

static const weft_opt map_opts[] = {
    {"cut/method", WEFT_CHOICE, offsetof(map, cut), "remove", 0, 0,
     "remove/simple|split/custom|treebank/nltk", "tokenizer", WEFT_PER_SAMPLE},
    {"stop", WEFT_BOOL, offsetof(map, stop), "no", 0, 1, NULL, "remove stop words",
     WEFT_PER_SAMPLE},
    {"order", WEFT_INT, offsetof(map, order), "1", 1, 5, NULL, "words", WEFT_PER_SAMPLE},
    {"alpha", WEFT_REAL, offsetof(map, alpha), "1", 1e-9, 1e9, NULL, "smoothing",
     WEFT_PER_SAMPLE},
    {"bins", WEFT_INT, offsetof(map, bins), "16", 1, 1 << 30, NULL, "bins", WEFT_FIXED},
    {0}};
static const weft_opt model_opts[] = {{"C", WEFT_REAL, offsetof(model, C), "1", 0, 1e9,
                                       NULL, "inverse regulariser", WEFT_PER_SAMPLE},
                                      {"steps", WEFT_LONG, offsetof(model, steps), "10", 1,
                                       1e15, NULL, "steps", WEFT_PER_SAMPLE},
                                      {"alpha", WEFT_REAL, offsetof(model, alpha), "1",
                                       1e-9, 1e9, NULL, "another alpha", WEFT_PER_SAMPLE},
                                      {0}};
static const weft_kind map_kind = {"map", "a map", sizeof(map), map_opts, NULL};
static const weft_kind model_kind = {"model", "a model", sizeof(model), model_opts, NULL};
static const weft_kind *const kinds[] = {&map_kind, &model_kind};

static weft_arena *mem;

static inline weft_status read_space(weft_space *sp, const char *text, uint64_t seed)
{
    weft_conf c;
    weft_conf_init(&c, mem);
    TRY(weft_conf_text(&c, "t.ini", text));
    return weft_space_read(sp, &c, kinds, 2, seed, mem);
}

#endif
