/* Convolutional networks for images, named after their first uses:
 *   leaf     FEMNIST's in LEAF (Caldas et al., "LEAF: A Benchmark for Federated Settings",
 *            2019), which has no dropout;
 *   femnist, cifar   those of FedEx (Khodak et al., "Federated Hyperparameter Tuning",
 *            NeurIPS 2021): dropout after the last convolution and the hidden dense layer.
 * Weights of a convolution are [out][column][row][in], and a dense layer takes an image as
 * row, column, channel: PyTorch's [out][in][row][column] is a permutation. Called by tasks
 * fed and sgd. */
#include "stack.h"

typedef struct conv {
    int k, pad, out, pool;
} conv;

typedef struct arch {
    const char *name;
    int least; /* rows and columns of an image, so that pooling leaves a place */
    int nconv;
    conv conv[3];
    int hidden; /* width of the dense layer before the last */
    int drop;
} arch;

static const arch archs[] = {
    {"leaf", 4, 2, {{5, 2, 32, 2}, {5, 2, 64, 2}}, 2048, 0},
    {"femnist", 6, 2, {{3, 0, 32, 1}, {3, 0, 64, 2}}, 1024, 1},
    {"cifar", 8, 3, {{3, 1, 32, 2}, {3, 1, 64, 2}, {3, 1, 64, 2}}, 64, 1},
};

typedef struct cnn {
    weft_stack stack; /* must be first: the functions of stack.c take a pointer to it */
    int arch;
} cnn;

static const weft_opt cnn_opts[] = {
    {.name = "arch",
     .type = WEFT_CHOICE,
     .at = offsetof(cnn, arch),
     .def = "cifar",
     .words = "leaf|femnist|cifar",
     .about = "LEAF's network for FEMNIST, FedEx's for FEMNIST, FedEx's for CIFAR-10"},
    {0}};

static weft_status cnn_setup(void *self, const weft_shape *shape)
{
    cnn *t = self;
    const arch *a = &archs[t->arch];
    TRY(weft_stack_begin(&t->stack, "cnn", shape));
    if (shape->channels <= 0)
        return weft_fail(WEFT_EDATA,
                         "model = cnn takes images, the data set holds rows of %lld "
                         "numbers without height and width; use model = mlp",
                         (long long)shape->d);
    if (shape->height < a->least || shape->width < a->least)
        return weft_fail(WEFT_EDATA,
                         "cnn.arch = %s takes images of at least %d x %d, the data set "
                         "holds %d x %d; use model = mlp",
                         a->name, a->least, a->least, shape->height, shape->width);
    for (int i = 0; i < a->nconv; i++) {
        const conv *c = &a->conv[i];
        weft_stack_conv(&t->stack, c->k, c->pad, c->out, c->pool,
                        a->drop && i == a->nconv - 1);
    }
    weft_stack_dense(&t->stack, a->hidden, a->drop);
    weft_stack_end(&t->stack);
    return WEFT_OK;
}

extern const weft_net weft_net_cnn;
const weft_net weft_net_cnn = {
    .kind = {.name = "cnn",
             .about = "convolutional networks of LEAF and FedEx",
             .size = sizeof(cnn),
             .opts = cnn_opts},
    .setup = cnn_setup,
    .nweight = weft_stack_nweight,
    .tensors = weft_stack_tensors,
    .init = weft_stack_init,
    .flops = weft_stack_flops,
    .work = weft_stack_work,
    .grad = weft_stack_grad,
    .score = weft_stack_score,
};
