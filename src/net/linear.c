/* Softmax regression: z = W x + b, the loss is the cross-entropy of softmax(z). Weights:
 * W[classes][d], then b[classes]; zero at first. Called by task fed. */
#include "weft/net.h"

#include <math.h>
#include <string.h>

typedef struct linear {
    weft_shape shape;
} linear;

static const weft_opt linear_opts[] = {{0}};

static weft_status linear_setup(void *self, const weft_shape *shape)
{
    linear *t = self;
    if (shape->form == WEFT_CHARS)
        return weft_fail(WEFT_ECONF,
                         "fed.model = linear takes rows of numbers, the data set holds "
                         "text; use fed.model = lstm");
    t->shape = *shape;
    return WEFT_OK;
}

static int64_t linear_nweight(const void *self)
{
    const linear *t = self;
    return t->shape.classes * (t->shape.d + 1);
}

static int linear_tensors(const void *self, weft_tensor out[WEFT_MOST_TENSORS])
{
    const linear *t = self;
    const int64_t c = t->shape.classes, d = t->shape.d;
    out[0] = (weft_tensor){.name = "weight", .at = 0, .nd = 2, .dims = {c, d}};
    out[1] = (weft_tensor){.name = "bias", .at = c * d, .nd = 1, .dims = {c}};
    return 2;
}

static void linear_init(const void *self, uint64_t seed, real *w)
{
    (void)seed;
    memset(w, 0, (size_t)linear_nweight(self) * sizeof *w);
}

static double linear_flops(const void *self)
{
    const linear *t = self;
    return 4.0 * t->shape.classes * (double)t->shape.d;
}

static void *linear_work(const void *self, int most, weft_arena *mem)
{
    const linear *t = self;
    (void)most;
    return WEFT_NEW(mem, real, t->shape.classes);
}

/* Scores z of one sample, made into dz = softmax(z) - onehot(label). */
static void forward(const linear *t, const real *w, const float *x, int label, real *z,
                    weft_score *s)
{
    const int c = t->shape.classes;
    const int64_t d = t->shape.d;
    int best = 0;
    for (int j = 0; j < c; j++) {
        const real *row = w + j * d;
        real sum = w[c * d + j];
        for (int64_t i = 0; i < d; i++) sum += row[i] * (real)x[i];
        z[j] = sum;
        if (z[j] > z[best]) best = j;
    }
    const double top = (double)z[best];
    double sum = 0;
    for (int j = 0; j < c; j++) sum += exp((double)z[j] - top);
    s->loss += log(sum) + top - (double)z[label];
    s->wrong += best != label;
    s->count++;
    for (int j = 0; j < c; j++)
        z[j] = (real)(exp((double)z[j] - top) / sum) - (real)(j == label);
}

static void linear_grad(const void *self, void *work, const real *w, const weft_batch *b,
                        double dropout, uint64_t key, real *g, weft_score *s)
{
    const linear *t = self;
    real *z = work;
    const int c = t->shape.classes;
    const int64_t d = t->shape.d;
    (void)dropout;
    (void)key;
    memset(g, 0, (size_t)linear_nweight(t) * sizeof *g);
    for (int i = 0; i < b->n; i++) {
        forward(t, w, b->x[i], b->label[i], z, s);
        for (int j = 0; j < c; j++) {
            const real e = z[j] / (real)b->n;
            for (int64_t l = 0; l < d; l++) g[j * d + l] += e * (real)b->x[i][l];
            g[c * d + j] += e;
        }
    }
}

static void linear_score(const void *self, void *work, const real *w, const weft_batch *b,
                         weft_score *s)
{
    for (int i = 0; i < b->n; i++) forward(self, w, b->x[i], b->label[i], work, s);
}

extern const weft_net weft_net_linear;
const weft_net weft_net_linear = {
    .kind = {.name = "linear",
             .about = "softmax regression",
             .size = sizeof(linear),
             .opts = linear_opts},
    .setup = linear_setup,
    .nweight = linear_nweight,
    .tensors = linear_tensors,
    .init = linear_init,
    .flops = linear_flops,
    .work = linear_work,
    .grad = linear_grad,
    .score = linear_score,
};
