/* Rates of the translation network: hidden,words,seconds of a gradient of 64 sentences of 5
 * to 30 words, words a second, G operations a second; one thread, processor time.
 * tests/gold/seq2seq_speed.py has PyTorch's. RUN: np=1 */
#include "nets.h"

enum { BATCH = 64, LONGEST = 30 };

static const uint32_t *sentence(int i, int words, int *n)
{
    uint32_t *word = WEFT_NEW(mem, uint32_t, LONGEST);
    *n = 5 + i * 7 % (LONGEST - 4);
    for (int t = 0; t < *n; t++) word[t] = (uint32_t)(1 + (i * 31 + t * 17) % (words - 1));
    return word;
}

static void measure(int hidden, int words)
{
    const uint32_t *source[BATCH], *target[BATCH];
    int sources[BATCH], targets[BATCH], total = 0;
    for (int i = 0; i < BATCH; i++) {
        source[i] = sentence(i, words, &sources[i]);
        target[i] = sentence(i + 3, words, &targets[i]);
        total += sources[i] + targets[i] + 1;
    }
    struct fixture fixture =
        fixture_new(&weft_net_seq2seq, printed("hidden=%d&embedding=%d", hidden, hidden),
                    sentences(LONGEST, words), BATCH);
    fixture.b = (weft_batch){
        .n = BATCH, .word = source, .length = sources, .reply = target, .replies = targets};
    double best = INFINITY, end = weft_now() + 3;
    for (double from = processor_seconds(), to; weft_now() < end; from = to) {
        grad(&fixture, 0, 0);
        to = processor_seconds();
        best = fmin(best, to - from);
    }
    printf("%d,%d,%.4f,%.0f,%.1f\n", hidden, words, best, total / best,
           BATCH * fixture.net->flops(fixture.self) / best * 1e-9);
}

int main(void)
{
    tap_begin();
    measure(128, 2000);
    measure(256, 5000);
    weft_arena_free(mem);
    return 0;
}
