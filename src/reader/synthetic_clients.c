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

static weft_status begin(const weft_synthetic *o, weft_pack *p)
{
    weft_clients all = {.d = o->d, .stride = 1};
    return weft_pack_clients(p, WEFT_REALS, &all);
}

static weft_status pack_leaf(const weft_synthetic *o, weft_pack *p)
{
    if (o->seed > MAX_MT_SEED)
        return weft_fail(WEFT_ECONF,
                         "seed = %lld where LEAF's generator takes at most %lld",
                         (long long)o->seed, (long long)MAX_MT_SEED);
    int64_t *size = WEFT_NEW(p->mem, int64_t, o->clients);
    weft_leafgen_sizes((uint32_t)o->seed, o->clients, size);
    weft_leafgen *leaf =
        weft_leafgen_new((uint32_t)o->seed, o->d, o->classes, o->clusters, p->mem);
    TRY(begin(o, p));
    for (int64_t c = 0; c < o->clients; c++) {
        size_t mark = weft_arena_mark(p->scratch);
        int64_t count[WEFT_NPART];
        double *x = WEFT_NEW(p->scratch, double, size[c] * o->d);
        int32_t *label = WEFT_NEW(p->scratch, int32_t, size[c]);
        weft_client_divide(o->valid, o->test, size[c], count);
        weft_leafgen_client(leaf, size[c], x, label);
        TRY(weft_pack_client_rows(p, NULL, count, x, label));
        weft_arena_reset(p->scratch, mark);
    }
    return WEFT_OK;
}

static weft_status pack_stored(const weft_generator *g, const weft_synthetic *o,
                               weft_pack *p)
{
    TRY(begin(o, p));
    for (int64_t c = 0; c < g->clients; c++) {
        size_t mark = weft_arena_mark(p->scratch);
        int64_t count[WEFT_NPART];
        weft_generator_count(g, c, count);
        int64_t n = count[WEFT_TRAIN] + count[WEFT_VALID] + count[WEFT_TEST];
        float *made = WEFT_NEW(p->scratch, float, n * g->d);
        double *x = WEFT_NEW(p->scratch, double, n * g->d);
        int32_t *label = WEFT_NEW(p->scratch, int32_t, n);
        weft_generator_make(g, c, 0, n, made, label, p->scratch);
        for (int64_t i = 0; i < n * g->d; i++) x[i] = (double)made[i];
        TRY(weft_pack_client_rows(p, NULL, count, x, label));
        weft_arena_reset(p->scratch, mark);
    }
    return WEFT_OK;
}

static weft_status pack_generator(const weft_synthetic *o, int stored, weft_pack *p)
{
    weft_generator g = {.seed = o->seed,
                        .clients = o->clients,
                        .d = o->d,
                        .classes = o->classes,
                        .samples = o->samples,
                        .spread = o->spread,
                        .alpha = o->alpha,
                        .beta = o->beta,
                        .valid = o->valid,
                        .test = o->test};
    weft_generator_start(&g, p->mem);
    if (stored) return pack_stored(&g, o, p);
    TRY(weft_partition_refuse(p));
    weft_pack_generator(p, &g);
    return WEFT_OK;
}

weft_status weft_synthetic_clients(const weft_synthetic *self, const char *what,
                                   weft_pack *p)
{
    int leaf = strcmp(what, "leaf") == 0;
    weft_synthetic o = *self;
    if (o.valid <= 0 || o.valid + o.test >= 1)
        return weft_fail(WEFT_ECONF,
                         "valid = %g and test = %g; valid must be above 0 and their sum "
                         "below 1",
                         o.valid, o.test);
    if (o.seed < 0) o.seed = leaf ? LEAF_SEED : 0;
    if (o.clients == 0) o.clients = CLIENTS;
    if (o.d == 0) o.d = DIMENSIONS;
    if (o.classes == 0) o.classes = leaf ? LEAF_CLASSES : CLASSES;
    weft_pack_numbered(p, o.classes);
    weft_pack_split(p, "a client's samples in the order made: train, valid, test");
    return leaf ? pack_leaf(&o, p) : pack_generator(&o, strcmp(what, "stored") == 0, p);
}
