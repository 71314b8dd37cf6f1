/* The convolutional network over sentences: words become vectors, groups of filters are
 * applied to windows of k words, the largest value of each filter over the sentence is its
 * output, and one or two dense layers take these outputs. Options give Kim's network
 * ("Convolutional neural networks for sentence classification", EMNLP 2014) and its search
 * space in van Stein, Wang, Back ("Automatic configuration of deep neural networks with
 * parallel efficient global optimization", IJCNN 2019).
 *
 * Sentences have their own lengths: the windows of a filter are all that contain a word,
 * with zeros for positions outside.
 *
 * Weights of filters are [word of the window][filter][vector], so that all groups together
 * are one matrix; PyTorch's [filter][word][vector] is a permutation. Initial weights are
 * PyTorch's. */
#include "net.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Numbers of tensors for random numbers: filters are from 0 on. */
enum { OF_BIAS = 10, OF_DENSE = 20 };

#define GROUP(n, filters, words, when)                                                     \
    WEFT_INT_OPT("f" #n, txtcnn_net, f[n - 1], filters, 1, 4096,                           \
                 "filters of group " #n when, .role = WEFT_SHAPE),                         \
        WEFT_INT_OPT("k" #n, txtcnn_net, k[n - 1], words, 1, 64,                           \
                     "number of consecutive words that the filters are applied to" when,   \
                     .role = WEFT_SHAPE)

static const weft_opt txtcnn_opts[] = {
    WEFT_CHOICE_OPT("channels", txtcnn_net, channels, "static", "static|nonstatic|multi",
                    "word vectors: fixed, trained, or the sum of both", .role = WEFT_SHAPE),
    WEFT_CHOICE_OPT("activation", txtcnn_net, activation, "relu",
                    "relu|elu|tanh|sigmoid|selu", "activation of the filters",
                    .role = WEFT_PER_TRIAL),
    WEFT_INT_OPT("groups", txtcnn_net, groups, "3", 1, TXTCNN_MAX_GROUPS,
                 "number of groups of filters", .role = WEFT_SHAPE),
    GROUP(1, "100", "3", ""),
    GROUP(2, "100", "4", ", where groups >= 2"),
    GROUP(3, "100", "5", ", where groups >= 3"),
    GROUP(4, "100", "3", ", where groups >= 4"),
    GROUP(5, "100", "4", ", where groups >= 5"),
    WEFT_BOOL_OPT("bias", txtcnn_net, bias, "yes", "filters have a bias",
                  .role = WEFT_SHAPE),
    WEFT_INT_OPT(
        "hidden", txtcnn_net, hidden, "0", 0, 1 << 16,
        "units of a hidden layer with ReLU between the filters and the last layer; 0: none",
        .role = WEFT_SHAPE),
    WEFT_CHOICE_OPT(
        "head", txtcnn_net, head, "auto", "auto|sigmoid|softmax",
        "last layer: one unit for two classes, or one unit per class; auto: the smaller",
        .role = WEFT_SHAPE),
    WEFT_REAL_OPT("drop_input", txtcnn_net, drop_input, "0", 0, 1,
                  "dropout rate of the elements of word vectors", .role = WEFT_PER_TRIAL),
    WEFT_REAL_OPT("drop_pooled", txtcnn_net, drop_pooled, "0", 0, 1,
                  "dropout rate of the filters' outputs, in addition to the task's dropout",
                  .role = WEFT_PER_TRIAL),
    WEFT_REAL_OPT("drop_hidden", txtcnn_net, drop_hidden, "0", 0, 1,
                  "dropout rate of the hidden units", .role = WEFT_PER_TRIAL),
    WEFT_REAL_OPT("max_norm", txtcnn_net, max_norm, "0", 0, 1e6,
                  "largest norm of the weights of a unit of the last layer; 0: no bound",
                  .role = WEFT_PER_TRIAL),
    {0},
};

#define FROM(n, words)                                                                     \
    {"f" #n, "groups", words},                                                             \
    {                                                                                      \
        "k" #n, "groups", words                                                            \
    }

static const weft_when txtcnn_when[] = {
    FROM(2, "2|3|4|5"), FROM(3, "3|4|5"), FROM(4, "4|5"), FROM(5, "5"), {0}};

/* ---- setup ---- */

static weft_status check(const txtcnn_net *txtcnn)
{
    const weft_shape *shape = &txtcnn->shape;
    TRY(net_check_form("txtcnn", WEFT_TOKENS, shape));
    weft_check(shape->vectors && shape->vector > 0 && shape->words > 0,
               "documents without vectors");
    if (txtcnn->head == TXTCNN_ONE && shape->classes != 2)
        return weft_fail(WEFT_ECONF,
                         "txtcnn.head = sigmoid is for two classes, the data set has %d; "
                         "use txtcnn.head = softmax",
                         shape->classes);
    return WEFT_OK;
}

static weft_status txtcnn_setup(void *self, const weft_shape *shape)
{
    txtcnn_net *txtcnn = self;
    txtcnn->shape = *shape;
    TRY(check(txtcnn));
    txtcnn->filters = txtcnn->columns = txtcnn->ndense = 0;
    for (int i = 0; i < txtcnn->groups; i++) {
        txtcnn->group[i] =
            (txtcnn_group){txtcnn->f[i], txtcnn->k[i], txtcnn->filters, txtcnn->columns};
        txtcnn->filters += txtcnn->f[i];
        txtcnn->columns += txtcnn->f[i] * txtcnn->k[i];
    }
    txtcnn->bias_at = (int64_t)txtcnn->columns * shape->vector;
    int64_t at = txtcnn->bias_at + (txtcnn->bias ? txtcnn->filters : 0);
    int in = txtcnn->filters;
    if (txtcnn->hidden > 0) {
        txtcnn->dense[txtcnn->ndense++] = weft_dense_layer(in, txtcnn->hidden, 1, at);
        at = txtcnn->dense[0].bias + txtcnn->hidden;
        in = txtcnn->hidden;
    }
    int one =
        txtcnn->head == TXTCNN_ONE || (txtcnn->head == TXTCNN_AUTO && shape->classes == 2);
    int outputs = one ? 1 : shape->classes;
    txtcnn->dense[txtcnn->ndense++] = weft_dense_layer(in, outputs, 0, at);
    txtcnn->embed = txtcnn->dense[txtcnn->ndense - 1].bias + outputs;
    int64_t table = (shape->words + 1) * shape->vector;
    txtcnn->all = txtcnn->embed + (txtcnn->channels == TXTCNN_STATIC ? 0 : table);
    return WEFT_OK;
}

/* ---- weights ---- */

static int64_t txtcnn_nweight(const void *self)
{
    const txtcnn_net *txtcnn = self;
    return txtcnn->all;
}

static int txtcnn_tensors(const void *self, weft_tensor out[WEFT_MAX_TENSORS])
{
    const txtcnn_net *txtcnn = self;
    int64_t d = txtcnn->shape.vector;
    int n = 0;
    for (int i = 0; i < txtcnn->groups; i++) {
        const txtcnn_group *group = &txtcnn->group[i];
        out[n] = (weft_tensor){
            .at = group->column * d, .nd = 3, .dims = {group->k, group->f, d}};
        snprintf(out[n++].name, sizeof out->name, "conv%d.weight", i + 1);
    }
    for (int i = 0; i < txtcnn->groups && txtcnn->bias; i++) {
        const txtcnn_group *group = &txtcnn->group[i];
        out[n] = (weft_tensor){
            .at = txtcnn->bias_at + group->filter, .nd = 1, .dims = {group->f}};
        snprintf(out[n++].name, sizeof out->name, "conv%d.bias", i + 1);
    }
    for (int i = 0; i < txtcnn->ndense; i++, n += 2)
        weft_dense_tensors(&txtcnn->dense[i], i + 1, out + n);
    if (txtcnn->channels != TXTCNN_STATIC)
        out[n++] =
            (weft_tensor){"embed.weight", txtcnn->embed, 2, {txtcnn->shape.words + 1, d}};
    return n;
}

static weft_table txtcnn_table(const void *self)
{
    const txtcnn_net *txtcnn = self;
    int trained = txtcnn->channels != TXTCNN_STATIC;
    return (weft_table){txtcnn->embed, trained ? txtcnn->shape.words + 1 : 0,
                        txtcnn->shape.vector};
}

/* PyTorch's default: weights and biases uniform in +-1/sqrt(fan in). Word vectors begin
 * with the given values, the row for no word is zero. */
static void txtcnn_init(const void *self, uint64_t seed, real *w)
{
    const txtcnn_net *txtcnn = self;
    int d = txtcnn->shape.vector;
    for (int i = 0; i < txtcnn->groups; i++) {
        const txtcnn_group *group = &txtcnn->group[i];
        double bound = 1 / sqrt((double)group->k * d);
        weft_init_uniform(seed, i, bound, (int64_t)group->k * group->f * d,
                          w + (int64_t)group->column * d);
        if (txtcnn->bias)
            weft_init_uniform(seed, OF_BIAS + i, bound, group->f,
                              w + txtcnn->bias_at + group->filter);
    }
    for (int i = 0; i < txtcnn->ndense; i++) {
        const weft_layer *layer = &txtcnn->dense[i];
        weft_init_uniform(seed, OF_DENSE + i, 1 / sqrt((double)layer->c),
                          layer->bias + layer->out - layer->weight, w + layer->weight);
    }
    if (txtcnn->channels == TXTCNN_STATIC) return;
    memset(w + txtcnn->embed, 0, (size_t)d * sizeof *w);
    for (int64_t i = 0; i < txtcnn->shape.words * d; i++)
        w[txtcnn->embed + d + i] = (real)txtcnn->shape.vectors[i];
}

/* The product; the largest windows, for the gradient of the filters and of the vectors;
 * three products with the dense layers. */
static double txtcnn_flops(const void *self)
{
    const txtcnn_net *txtcnn = self;
    double words = txtcnn->shape.length > 1 ? txtcnn->shape.length : 1;
    double one = 2.0 * txtcnn->columns * txtcnn->shape.vector;
    double sum = one * words + one * (txtcnn->channels == TXTCNN_STATIC ? 1 : 2);
    for (int i = 0; i < txtcnn->ndense; i++)
        sum += 6.0 * txtcnn->dense[i].c * txtcnn->dense[i].out;
    return sum;
}

static void txtcnn_project(const void *self, real *w)
{
    const txtcnn_net *txtcnn = self;
    const weft_layer *layer = &txtcnn->dense[txtcnn->ndense - 1];
    if (!(txtcnn->max_norm > 0)) return;
    for (int i = 0; i < layer->out; i++) {
        real *x = w + layer->weight + (int64_t)i * layer->c;
        double square = 0;
        for (int j = 0; j < layer->c; j++) square += (double)x[j] * (double)x[j];
        double length = sqrt(square);
        if (!(length > txtcnn->max_norm)) continue;
        for (int j = 0; j < layer->c; j++)
            x[j] = (real)((double)x[j] * (txtcnn->max_norm / length));
    }
}

WEFT_PLUGIN(net, txtcnn) = {
    .kind = WEFT_KIND("txtcnn", txtcnn_net, txtcnn_opts,
                      "convolutional network over the words of documents",
                      .when = txtcnn_when),
    .setup = txtcnn_setup,
    .nweight = txtcnn_nweight,
    .tensors = txtcnn_tensors,
    .init = txtcnn_init,
    .flops = txtcnn_flops,
    .table = txtcnn_table,
    .work = txtcnn_work,
    .grad = txtcnn_grad,
    .score = txtcnn_score,
    .width = txtcnn_width,
    .represent = txtcnn_represent,
    .project = txtcnn_project,
};
