/* Convolutional networks for images, named after their first uses:
 *   leaf     FEMNIST's in LEAF (Caldas et al., "LEAF: A Benchmark for Federated Settings",
 *            2019), which has no dropout;
 *   femnist, cifar   those of FedEx (Khodak et al., "Federated Hyperparameter Tuning",
 *            NeurIPS 2021): dropout after the last convolution and the hidden dense layer;
 *   convnet  cuda-convnet's of three convolutions for CIFAR-10 (Krizhevsky, 2011,
 *            layers-18pct), on which Snoek et al. (2012) and Li et al. (Hyperband, 2018;
 *            ASHA, 2020) tuned: overlapping max-pooling, then mean-pooling twice, the first
 * two followed by normalisation with `scale` and `power`. The original has no dropout; here
 * it comes before the dense layer, if train.dropout is set. Weights start as in the other
 * networks, not as in cuda-convnet.
 * Weights of a convolution are [out][column][row][in], and a dense layer takes an image as
 * row, column, channel: PyTorch's [out][in][row][column] is a permutation. */
#include "net.h"

struct conv {
    int k, pad, out, pool;
    int pooling, norm; /* weft_pooling; 1: normalisation */
};

struct arch {
    const char *name;
    int min_side; /* smallest number of rows and columns, so that pooling leaves a
                     position */
    int nconv;
    struct conv conv[3];
    int hidden; /* width of the dense layer before the last; 0: there is none */
    int drop;
};

static const struct arch archs[] = {
    {"leaf", 4, 2, {{5, 2, 32, 2, 0, 0}, {5, 2, 64, 2, 0, 0}}, 2048, 0},
    {"femnist", 6, 2, {{3, 0, 32, 1, 0, 0}, {3, 0, 64, 2, 0, 0}}, 1024, 1},
    {"cifar", 8, 3, {{3, 1, 32, 2, 0, 0}, {3, 1, 64, 2, 0, 0}, {3, 1, 64, 2, 0, 0}}, 64, 1},
    {"convnet",
     8,
     3,
     {{5, 2, 32, 2, WEFT_MAX_3X3, 1},
      {5, 2, 32, 2, WEFT_MEAN_3X3, 1},
      {5, 2, 64, 2, WEFT_MEAN_3X3, 0}},
     0,
     1},
};

typedef struct cnn_net {
    weft_stack stack; /* must be first: the functions of stack.c take a pointer to it */
    int arch;
    double scale, power;
} cnn_net;

static const weft_opt cnn_opts[] = {
    WEFT_CHOICE_OPT("arch", cnn_net, arch, "cifar", "leaf|femnist|cifar|convnet",
                    "LEAF's network for FEMNIST, FedEx's for FEMNIST, FedEx's for "
                    "CIFAR-10, cuda-convnet's for CIFAR-10"),
    WEFT_REAL_OPT("scale", cnn_net, scale, "5e-5", 0, 1e6,
                  "convnet: response normalisation divides by (1 + scale * mean of the "
                  "squares of 3 x 3 places)^power; 0: none",
                  .role = WEFT_PER_TRIAL),
    WEFT_REAL_OPT("power", cnn_net, power, "0.75", 0, 100,
                  "convnet: exponent of the response normalisation",
                  .role = WEFT_PER_TRIAL),
    {0},
};

static const weft_when cnn_when[] = {
    {"scale", "arch", "convnet"}, {"power", "arch", "convnet"}, {0}};

static weft_status cnn_setup(void *self, const weft_shape *shape)
{
    cnn_net *cnn = self;
    const struct arch *arch = &archs[cnn->arch];
    TRY(weft_stack_begin(&cnn->stack, "cnn", shape));
    if (shape->channels <= 0)
        return weft_fail(WEFT_EDATA,
                         "model = cnn takes images, the data set holds rows of %lld "
                         "numbers without height and width; use model = mlp",
                         (long long)shape->d);
    if (shape->height < arch->min_side || shape->width < arch->min_side)
        return weft_fail(WEFT_EDATA,
                         "cnn.arch = %s takes images of at least %d x %d, the data set "
                         "holds %d x %d; use model = mlp",
                         arch->name, arch->min_side, arch->min_side, shape->height,
                         shape->width);
    for (int i = 0; i < arch->nconv; i++) {
        const struct conv *conv = &arch->conv[i];
        weft_layer *layer = weft_stack_conv(&cnn->stack, conv->k, conv->pad, conv->out,
                                            conv->pool, arch->drop && i == arch->nconv - 1);
        layer->pooling = conv->pooling;
        layer->scale = conv->norm ? cnn->scale : 0;
        layer->power = cnn->power;
    }
    if (arch->hidden > 0) weft_stack_dense(&cnn->stack, arch->hidden, arch->drop);
    weft_stack_end(&cnn->stack);
    return WEFT_OK;
}

WEFT_PLUGIN(net, cnn) = {
    .kind = WEFT_KIND("cnn", cnn_net, cnn_opts,
                      "convolutional networks of LEAF, FedEx and cuda-convnet",
                      .when = cnn_when),
    .setup = cnn_setup,
    .init = weft_stack_init,
    .resumes = 1,
    WEFT_STACK_MEMBERS,
};
