/* Local training of the character LSTM of 2 layers of h units, embedding 8, 80 characters,
 * 102 symbols, prediction of the last one: gradient and a step of SGD with momentum and
 * weight decay, as in PyTorch. Prints name,size,seconds,rate (GFLOP/s of the 480 h (12 h +
 * 32) operations of a sample), share of sgemm's just before and after,
 * samples per second. Processor time, best of many, one thread.
 * RUN: np=1 */
#include "weft/base/conf.h"
#include "weft/base/random.h"
#include "weft/math/kernels.h"
#include "weft/net/net.h"
#include "weft/registry.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { STEPS = 80, SYMBOLS = 102, MAX_BATCH = 128 };

static double seconds_used(void)
{
    return (double)clock() / CLOCKS_PER_SEC;
}

static void bench(int hidden, int batch, double seconds)
{
    weft_arena *mem = weft_arena_new();
    weft_conf conf;
    weft_conf_init(&conf, mem);
    const char *text = weft_arena_text(mem, "[lstm]\nhidden = %d\n", hidden);
    weft_check(weft_conf_text(&conf, "b_lstm", text) == WEFT_OK, "%s", weft_error());
    const weft_net *net = &weft_net_lstm;
    void *self = weft_arena_alloc(mem, 1, net->kind.size);
    weft_check(weft_conf_bind(&conf, &net->kind, self) == WEFT_OK, "%s", weft_error());
    weft_shape shape = {.form = WEFT_CHARS, .d = STEPS, .classes = SYMBOLS};
    weft_check(net->setup(self, &shape) == WEFT_OK, "%s", weft_error());
    int64_t n = net->nweight(self);
    real *w = WEFT_NEW(mem, real, n), *g = WEFT_NEW(mem, real, n);
    real *m = WEFT_NEW(mem, real, n);
    net->init(self, 1, w);
    uint8_t *symbols = WEFT_NEW(mem, uint8_t, MAX_BATCH * (STEPS + 1));
    const uint8_t *window[MAX_BATCH];
    for (int i = 0; i < MAX_BATCH * (STEPS + 1); i++)
        symbols[i] =
            (uint8_t)(weft_rng_at(1, WEFT_RNG_TEST, (uint64_t)i, 0, 0).v[0] % SYMBOLS);
    for (int i = 0; i < MAX_BATCH; i++) window[i] = symbols + (size_t)i * (STEPS + 1);
    weft_batch b = {.n = batch, .text = window};
    void *work = net->work(self, batch, mem);
    weft_sgd sgd = {.lr = 0.1, .momentum = 0.9, .weight_decay = 1e-4};
    weft_score score = {0};
    double best = INFINITY, sgemm = weft_cpu_sgemm(0.1);
    for (double end = seconds_used() + seconds; seconds_used() < end;) {
        double start = seconds_used();
        net->grad(self, work, w, &b, 0, 0, g, &score);
        weft_sgd_step(&sgd, n, 0, w, g, m, NULL);
        best = fmin(best, seconds_used() - start);
    }
    sgemm = fmax(sgemm, weft_cpu_sgemm(0.1));
    double h = hidden, rate = 6 * STEPS * h * (12 * h + 32) * batch / best / 1e9;
    printf("lstm train,%dx2x%d,%.3g,%.4g,%.2f,%.4g\n", batch, hidden, best, rate,
           rate / sgemm, batch / best);
    fflush(stdout);
    weft_arena_free(mem);
}

/* Arguments: hidden batch seconds; or none. */
int main(int argc, char **argv)
{
    printf("name,size,seconds,rate,share,samples/s\n");
    if (argc > 3) {
        bench(atoi(argv[1]), atoi(argv[2]), atof(argv[3]));
        return 0;
    }
    static const int hidden[] = {256, 200, 100}, batch[] = {10, 32, 128};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) bench(hidden[i], batch[j], 1.5);
    return 0;
}
