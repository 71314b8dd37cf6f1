/* Rates of the translation network: hidden,words,seconds of a gradient of 64 sentences of 5
 * to 30 words, words a second, G operations a second; one thread, processor time.
 * tests/gold/seq2seq_speed.py has PyTorch's. RUN: np=1 */
#include "weft/base/base.h"
#include "weft/base/conf.h"
#include "weft/net/net.h"
#include "weft/registry.h"

#include <stdio.h>
#include <time.h>

enum { BATCH = 64, LONGEST = 30 };

static double processor_time(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static const uint32_t *sentence(int i, int words, int *n, weft_arena *mem)
{
    uint32_t *word = WEFT_NEW(mem, uint32_t, LONGEST);
    *n = 5 + i * 7 % (LONGEST - 4);
    for (int t = 0; t < *n; t++) word[t] = (uint32_t)(1 + (i * 31 + t * 17) % (words - 1));
    return word;
}

static void measure(int hidden, int words)
{
    weft_arena *mem = weft_arena_new();
    const weft_net *net = &weft_net_seq2seq;
    const uint32_t *source[BATCH], *target[BATCH];
    int sources[BATCH], targets[BATCH], total = 0;
    weft_conf conf;
    weft_conf_init(&conf, mem);
    weft_check(
        weft_conf_text(&conf, "bench",
                       weft_arena_text(mem, "[seq2seq]\nhidden = %d\nembedding = %d\n",
                                       hidden, hidden)) == WEFT_OK,
        "%s", weft_error());
    void *self = weft_arena_alloc(mem, 1, net->kind.size);
    weft_check(weft_conf_bind(&conf, &net->kind, self) == WEFT_OK, "%s", weft_error());
    for (int i = 0; i < BATCH; i++) {
        source[i] = sentence(i, words, &sources[i], mem);
        target[i] = sentence(i + 3, words, &targets[i], mem);
        total += sources[i] + targets[i] + 1;
    }
    weft_shape shape = {.form = WEFT_SENTENCES,
                        .d = LONGEST,
                        .longest = LONGEST,
                        .words = words,
                        .classes = words,
                        .length = 17.5,
                        .replies = 17.5};
    weft_check(net->setup(self, &shape) == WEFT_OK, "%s", weft_error());
    int64_t n = net->nweight(self);
    real *w = WEFT_NEW(mem, real, n), *g = WEFT_NEW(mem, real, n);
    void *work = net->work(self, BATCH, mem);
    weft_batch batch = {
        .n = BATCH, .word = source, .length = sources, .reply = target, .replies = targets};
    net->init(self, 1, w);
    double best = 1e9, end = weft_now() + 3;
    for (double from = processor_time(), to; weft_now() < end; from = to) {
        weft_score score = {0};
        net->grad(self, work, w, &batch, 0, 0, g, &score);
        to = processor_time();
        best = to - from < best ? to - from : best;
    }
    printf("%d,%d,%.4f,%.0f,%.1f\n", hidden, words, best, total / best,
           BATCH * net->flops(self) / best * 1e-9);
    weft_arena_free(mem);
}

int main(void)
{
    measure(128, 2000);
    measure(256, 5000);
    return 0;
}
