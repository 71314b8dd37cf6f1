/* Built-in federations: LEAF's, stored; clients of generator.c, stored or made when they
 * are drawn. */
#include "synthetic.h"

#include <string.h>

#define LEAF_SEED    931231
#define LEAF_CLASSES 5
#define CLASSES      10
#define CLIENTS      1000
#define DIMENSIONS   60
#define MAX_MT_SEED  0xffffffff

static weft_status begin(const weft_synthetic *synthetic, weft_pack *pack)
{
    weft_clients all = {.d = synthetic->d, .stride = 1};
    return weft_pack_clients(pack, WEFT_REALS, &all);
}

static weft_status pack_leaf(const weft_synthetic *synthetic, weft_pack *pack)
{
    if (synthetic->seed > MAX_MT_SEED)
        return weft_fail(WEFT_ECONF,
                         "seed = %lld where LEAF's generator takes at most %lld",
                         (long long)synthetic->seed, (long long)MAX_MT_SEED);
    int64_t *size = WEFT_NEW(pack->mem, int64_t, synthetic->clients);
    weft_leafgen_sizes((uint32_t)synthetic->seed, synthetic->clients, size);
    weft_leafgen *leaf =
        weft_leafgen_new((uint32_t)synthetic->seed, synthetic->d, synthetic->classes,
                         synthetic->clusters, pack->mem);
    TRY(begin(synthetic, pack));
    for (int64_t c = 0; c < synthetic->clients; c++) {
        size_t mark = weft_arena_mark(pack->scratch);
        int64_t count[WEFT_NPART];
        double *x = WEFT_NEW(pack->scratch, double, size[c] * synthetic->d);
        int32_t *label = WEFT_NEW(pack->scratch, int32_t, size[c]);
        weft_client_divide(synthetic->valid, synthetic->test, size[c], count);
        weft_leafgen_client(leaf, size[c], x, label);
        TRY(weft_pack_client_rows(pack, NULL, count, x, label));
        weft_arena_reset(pack->scratch, mark);
    }
    return WEFT_OK;
}

static weft_status pack_stored(const weft_generator *generator,
                               const weft_synthetic *synthetic, weft_pack *pack)
{
    TRY(begin(synthetic, pack));
    for (int64_t c = 0; c < generator->clients; c++) {
        size_t mark = weft_arena_mark(pack->scratch);
        int64_t count[WEFT_NPART];
        weft_generator_count(generator, c, count);
        int64_t n = count[WEFT_TRAIN] + count[WEFT_VALID] + count[WEFT_TEST];
        float *made = WEFT_NEW(pack->scratch, float, n * generator->d);
        double *x = WEFT_NEW(pack->scratch, double, n * generator->d);
        int32_t *label = WEFT_NEW(pack->scratch, int32_t, n);
        weft_generator_make(generator, c, 0, n, made, label, pack->scratch);
        for (int64_t i = 0; i < n * generator->d; i++) x[i] = (double)made[i];
        TRY(weft_pack_client_rows(pack, NULL, count, x, label));
        weft_arena_reset(pack->scratch, mark);
    }
    return WEFT_OK;
}

static weft_status pack_generator(const weft_synthetic *synthetic, int stored,
                                  weft_pack *pack)
{
    weft_generator generator = {.seed = synthetic->seed,
                                .clients = synthetic->clients,
                                .d = synthetic->d,
                                .classes = synthetic->classes,
                                .samples = synthetic->samples,
                                .spread = synthetic->spread,
                                .alpha = synthetic->alpha,
                                .beta = synthetic->beta,
                                .valid = synthetic->valid,
                                .test = synthetic->test};
    weft_generator_start(&generator, pack->mem);
    if (stored) return pack_stored(&generator, synthetic, pack);
    TRY(weft_partition_refuse(pack));
    weft_pack_generator(pack, &generator);
    return WEFT_OK;
}

weft_status weft_synthetic_clients(const weft_synthetic *self, const char *what,
                                   weft_pack *pack)
{
    int leaf = strcmp(what, "leaf") == 0;
    weft_synthetic synthetic = *self;
    if (synthetic.valid <= 0 || synthetic.valid + synthetic.test >= 1)
        return weft_fail(WEFT_ECONF,
                         "valid = %g and test = %g; valid must be above 0 and their sum "
                         "below 1",
                         synthetic.valid, synthetic.test);
    if (synthetic.seed < 0) synthetic.seed = leaf ? LEAF_SEED : 0;
    if (synthetic.clients == 0) synthetic.clients = CLIENTS;
    if (synthetic.d == 0) synthetic.d = DIMENSIONS;
    if (synthetic.classes == 0) synthetic.classes = leaf ? LEAF_CLASSES : CLASSES;
    weft_pack_numbered(pack, synthetic.classes);
    weft_pack_split(pack, "a client's samples in the order made: train, valid, test");
    return leaf ? pack_leaf(&synthetic, pack)
                : pack_generator(&synthetic, strcmp(what, "stored") == 0, pack);
}
