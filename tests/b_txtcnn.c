/* Rates of the network over sentences: name,batch,seconds of a gradient,sentences a second,
 * G operations a second; one thread. Sentences have the lengths of rt-polarity: 1 to 56
 * words, 20.4 on average. RUN: np=1 */
#include "weft/base/base.h"
#include "weft/base/conf.h"
#include "weft/base/random.h"
#include "weft/net/net.h"
#include "weft/registry.h"

#include <cblas.h>
#include <math.h>
#include <stdio.h>

enum { WORDS = 18765, SIZE = 300, BATCH = 50, BATCHES = 8 };

static double unit(uint64_t i, uint64_t j)
{
    return weft_rng_unit(weft_rng_at(1, WEFT_RNG_TEST, i, j, 0).v[0]);
}

static weft_batch batch(uint64_t number, weft_arena *mem)
{
    const uint32_t **word = WEFT_NEW(mem, const uint32_t *, BATCH);
    int *length = WEFT_NEW(mem, int, BATCH);
    int32_t *label = WEFT_NEW(mem, int32_t, BATCH);
    for (int i = 0; i < BATCH; i++) {
        uint64_t key = number * BATCH + (uint64_t)i;
        length[i] = 1 + (int)(55 * pow(unit(key, 0), 1.75));
        label[i] = unit(key, 1) < 0.5;
        uint32_t *w = WEFT_NEW(mem, uint32_t, length[i]);
        for (int j = 0; j < length[i]; j++)
            w[j] = (uint32_t)(WORDS * unit(key, 2 + (uint64_t)j));
        word[i] = w;
    }
    return (weft_batch){.n = BATCH, .word = word, .length = length, .label = label};
}

static weft_status line(const char *options)
{
    const weft_net *net;
    TRY(weft_net_find("txtcnn", &net));
    weft_arena *mem = weft_arena_new();
    float *vectors = WEFT_NEW(mem, float, WORDS *SIZE);
    for (int i = 0; i < WORDS * SIZE; i++) vectors[i] = (float)(i % 101) / 200 - 0.25f;
    weft_shape shape = {.form = WEFT_TOKENS,
                        .d = 56,
                        .classes = 2,
                        .words = WORDS,
                        .length = 20.4,
                        .vector = SIZE,
                        .vectors = vectors};
    weft_conf conf;
    weft_conf_init(&conf, mem);
    TRY(weft_conf_text(&conf, "b_txtcnn", weft_arena_text(mem, "[txtcnn]\n%s\n", options)));
    void *self = weft_arena_alloc(mem, 1, net->kind.size);
    TRY(weft_conf_bind(&conf, &net->kind, self));
    TRY(net->setup(self, &shape));
    int64_t n = net->nweight(self);
    real *w = WEFT_NEW(mem, real, n), *g = WEFT_NEW(mem, real, n);
    void *work = net->work(self, BATCH, mem);
    net->init(self, 1, w);
    weft_batch b[BATCHES];
    for (uint64_t i = 0; i < BATCHES; i++) b[i] = batch(i, mem);
    double best = 1e9;
    for (int repeat = 0; repeat < 10; repeat++) {
        double from = weft_now();
        weft_score score = {0};
        for (uint64_t i = 0; i < BATCHES; i++)
            net->grad(self, work, w, &b[i], 0.5, i, g, &score);
        best = fmin(best, (weft_now() - from) / BATCHES);
    }
    printf("txtcnn %s,%d,%.3g,%.4g,%.4g\n", options, BATCH, best, BATCH / best,
           1e-9 * BATCH / best * net->flops(self));
    weft_arena_free(mem);
    return WEFT_OK;
}

int main(void)
{
    openblas_set_num_threads(1);
    printf("name,batch,seconds,sentences/s,Gflop/s\n");
    static const char *const options[] = {"", "channels = nonstatic", "channels = multi",
                                          "drop_input = 0.5"};
    for (int i = 0; i < 4; i++)
        if (line(options[i])) weft_die("%s", weft_error());
    return 0;
}
