/* Rates of networks: name,batch,seconds of a gradient,samples a second,G operations a
 * second; one thread; processor time, so that other programs on the machine matter less.
 * Sentences of txtcnn have 1 to 40 words. RUN: np=1 */
#include "nets.h"

enum { WORDS = 18765, VECTOR = 300 };

static const struct {
    const char *net, *options;
    int channels, height, width, classes, batch; /* no channels: sentences */
} cases[] = {
    {"linear", "-", 1, 28, 28, 10, 10},
    {"mlp", "-", 1, 28, 28, 10, 10},
    {"cnn", "arch=cifar", 3, 32, 32, 10, 32},
    {"cnn", "arch=convnet", 3, 32, 32, 10, 25},
    {"cnn", "arch=convnet", 3, 16, 16, 10, 25},
    {"cnn", "arch=leaf", 1, 28, 28, 62, 10},
    {"cnn", "arch=femnist", 1, 28, 28, 62, 10},
    {"txtcnn", "-", 0, 0, 40, 2, 50},
    {"txtcnn", "channels=nonstatic", 0, 0, 40, 2, 50},
    {"txtcnn", "channels=multi", 0, 0, 40, 2, 50},
    {"txtcnn", "drop_input=0.5", 0, 0, 40, 2, 50},
};

static weft_shape shape_of(int i)
{
    if (cases[i].channels > 0)
        return image(cases[i].channels, cases[i].height, cases[i].width, cases[i].classes);
    weft_shape shape = documents(cases[i].width, WORDS, cases[i].classes);
    float *vectors = WEFT_NEW(mem, float, WORDS *VECTOR);
    for (int k = 0; k < WORDS * VECTOR; k++) vectors[k] = (float)(k % 101) / 200 - 0.25f;
    shape.vector = VECTOR;
    shape.vectors = vectors;
    return shape;
}

/* The best of many gradients within about a second. */
static void line(int i)
{
    const weft_net *net;
    must(weft_net_find(cases[i].net, &net));
    struct fixture fixture =
        fixture_new(net, cases[i].options, shape_of(i), cases[i].batch);
    double best = INFINITY, end = weft_now() + 1;
    for (double from = processor_seconds(), to; weft_now() < end; from = to) {
        grad(&fixture, 0, 0);
        to = processor_seconds();
        best = fmin(best, to - from);
    }
    double rate = cases[i].batch / best;
    printf("%s %s,%d,%.3g,%.4g,%.4g\n", cases[i].net, cases[i].options, cases[i].batch,
           best, rate, 1e-9 * rate * net->flops(fixture.self));
}

int main(void)
{
    tap_begin();
    printf("name,batch,seconds,samples/s,Gflop/s\n");
    for (int i = 0; i < (int)LEN(cases); i++) line(i);
    weft_arena_free(mem);
    return 0;
}
