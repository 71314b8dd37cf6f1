/* Rates of networks: name,batch,seconds of a gradient,samples a second,G operations a
 * second; one thread; processor time, so that other programs on the machine matter less.
 * RUN: np=1 */
#include "weft/base/base.h"
#include "weft/base/conf.h"
#include "weft/net/net.h"
#include "weft/registry.h"

#include <cblas.h>
#include <stdio.h>
#include <time.h>

static const struct {
    const char *net, *options;
    int channels, height, width, classes, batch;
} cases[] = {
    {"linear", "", 1, 28, 28, 10, 10},
    {"mlp", "", 1, 28, 28, 10, 10},
    {"cnn", "arch = cifar", 3, 32, 32, 10, 32},
    {"cnn", "arch = convnet", 3, 32, 32, 10, 25},
    {"cnn", "arch = convnet", 3, 16, 16, 10, 25},
    {"cnn", "arch = leaf", 1, 28, 28, 62, 10},
    {"cnn", "arch = femnist", 1, 28, 28, 62, 10},
};

static double processor_time(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Best time of a gradient, of many within about a second. */
static double best_time(const weft_net *net, void *self, const weft_batch *batch,
                        weft_arena *mem)
{
    int64_t n = net->nweight(self);
    real *w = WEFT_NEW(mem, real, n), *g = WEFT_NEW(mem, real, n);
    void *work = net->work(self, batch->n, mem);
    net->init(self, 1, w);
    double best = 1e9;
    double end = weft_now() + 1;
    for (double from = processor_time(), to; weft_now() < end; from = to) {
        weft_score score = {0};
        net->grad(self, work, w, batch, 0, 0, g, &score);
        to = processor_time();
        best = to - from < best ? to - from : best;
    }
    return best;
}

static weft_batch batch(const weft_shape *shape, int n, weft_arena *mem)
{
    const float **x = WEFT_NEW(mem, const float *, n);
    int32_t *label = WEFT_NEW(mem, int32_t, n);
    for (int i = 0; i < n; i++) {
        float *row = WEFT_NEW(mem, float, shape->d);
        for (int64_t j = 0; j < shape->d; j++) row[j] = (float)((i * 7 + j * 5) % 11) / 11;
        x[i] = row;
        label[i] = i % shape->classes;
    }
    return (weft_batch){.n = n, .x = x, .label = label};
}

static weft_status line(int i)
{
    int c = cases[i].channels, h = cases[i].height, w = cases[i].width;
    weft_shape shape = {.form = WEFT_REALS,
                        .d = (int64_t)c * h * w,
                        .channels = c,
                        .height = h,
                        .width = w,
                        .classes = cases[i].classes};
    const weft_net *net;
    TRY(weft_net_find(cases[i].net, &net));
    weft_arena *mem = weft_arena_new();
    weft_conf conf;
    weft_conf_init(&conf, mem);
    TRY(weft_conf_text(&conf, "b_net",
                       weft_arena_text(mem, "[%s]\n%s\n", cases[i].net, cases[i].options)));
    void *self = weft_arena_alloc(mem, 1, net->kind.size);
    TRY(weft_conf_bind(&conf, &net->kind, self));
    TRY(net->setup(self, &shape));
    weft_batch b = batch(&shape, cases[i].batch, mem);
    double seconds = best_time(net, self, &b, mem), rate = b.n / seconds;
    printf("%s %s,%d,%.3g,%.4g,%.4g\n", cases[i].net, cases[i].options, b.n, seconds, rate,
           1e-9 * rate * net->flops(self));
    weft_arena_free(mem);
    return WEFT_OK;
}

int main(void)
{
    openblas_set_num_threads(1);
    printf("name,batch,seconds,samples/s,Gflop/s\n");
    for (int i = 0; i < (int)(sizeof cases / sizeof cases[0]); i++)
        if (line(i)) weft_die("%s", weft_error());
    return 0;
}
