/* The character LSTM of LEAF's and FedEx's Shakespeare tasks: a table of embeddings, layers
 * of LSTM with dropout between them, and a dense layer on the last step or on each.
 * Weights, their names and their initial distributions are PyTorch's (torch.nn.Embedding,
 * LSTM, Linear); with biases = 1 a layer has one bias per gate, as in TensorFlow.
 * lstm_pass.c computes. Hochreiter, Schmidhuber, "Long short-term memory", Neural
 * Computation 1997. */
#include "lstm.h"
#include "form.h"
#include "init.h"
#include "weft/rng.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

static const weft_opt lstm_opts[] = {
    WEFT_INT_OPT("embedding", lstm_net, embedding, "8", 1, 4096,
                 "length of the vectors that symbols are embedded in"),
    WEFT_INT_OPT("hidden", lstm_net, hidden, "256", 1, 16384, "units per layer"),
    WEFT_INT_OPT("layers", lstm_net, layers, "2", 1, LSTM_MAX_LAYERS, "LSTM layers"),
    WEFT_INT_OPT("biases", lstm_net, biases, "2", 1, 2,
                 "bias vectors per layer: 2 as in PyTorch, 1 as in TensorFlow"),
    {0},
};

static weft_status lstm_setup(void *self, const weft_shape *shape)
{
    lstm_net *lstm = self;
    TRY(net_check_form("lstm", WEFT_CHARS, shape));
    if (shape->d < 1 || shape->classes < 2 || shape->classes > 256)
        return weft_fail(WEFT_EDATA,
                         "the data set has windows of %lld characters out of %d; "
                         "model = lstm takes 1 or more characters out of 2 to 256",
                         (long long)shape->d, shape->classes);
    lstm->shape = *shape;
    return WEFT_OK;
}

static int64_t lstm_nweight(const void *self)
{
    return lstm_offsets_of(self).all;
}

static int lstm_tensors(const void *self, weft_tensor out[WEFT_MAX_TENSORS])
{
    const lstm_net *lstm = self;
    int64_t h = lstm->hidden, classes = lstm->shape.classes;
    lstm_offsets offsets = lstm_offsets_of(lstm);
    int n = 0;
    out[n++] = (weft_tensor){"embed.weight", offsets.embed, 2, {classes, lstm->embedding}};
    for (int l = 0; l < lstm->layers; l++) {
        out[n++] = (weft_tensor){
            "lstm.weight_ih_l0", offsets.layer[l].ih, 2, {4 * h, l ? h : lstm->embedding}};
        out[n++] = (weft_tensor){"lstm.weight_hh_l0", offsets.layer[l].hh, 2, {4 * h, h}};
        out[n++] = (weft_tensor){"lstm.bias_ih_l0", offsets.layer[l].bias[0], 1, {4 * h}};
        if (lstm->biases == 2)
            out[n++] =
                (weft_tensor){"lstm.bias_hh_l0", offsets.layer[l].bias[1], 1, {4 * h}};
        for (int i = n - 2 - lstm->biases; i < n; i++) /* the layer is the last character */
            out[i].name[strlen(out[i].name) - 1] = (char)('0' + l);
    }
    out[n++] = (weft_tensor){"dense.weight", offsets.dense, 2, {classes, h}};
    out[n++] = (weft_tensor){"dense.bias", offsets.bias, 1, {classes}};
    return n;
}

/* The table: N(0, 1), four numbers from one random number. */
static void init_embedding(uint64_t seed, int64_t n, real *w)
{
    for (int64_t i = 0; i < n; i += 4) {
        weft_rng4 rng = weft_rng_at(seed, WEFT_RNG_WEIGHTS, 0, (uint64_t)i / 4, 0);
        double z[4];
        weft_rng_normal(&rng, z);
        for (int j = 0; j < 4 && i + j < n; j++) w[i + j] = (real)z[j];
    }
}

/* PyTorch's: N(0, 1) for the table, U(-1/sqrt h, 1/sqrt h) for the rest. */
static void lstm_init(const void *self, uint64_t seed, real *w)
{
    const lstm_net *lstm = self;
    weft_tensor tensor[WEFT_MAX_TENSORS];
    int n = lstm_tensors(lstm, tensor);
    init_embedding(seed, tensor[1].at, w);
    for (int k = 1; k < n; k++) {
        int64_t end = k + 1 < n ? tensor[k + 1].at : lstm_nweight(lstm);
        weft_init_uniform(seed, k, 1 / sqrt(lstm->hidden), end - tensor[k].at,
                          w + tensor[k].at);
    }
}

/* Three products with each weight per step, of two operations each. */
static double lstm_flops(const void *self)
{
    const lstm_net *lstm = self;
    double h = lstm->hidden, d = (double)lstm->shape.d;
    double steps = 4 * h * (lstm->embedding + h) + (lstm->layers - 1) * 8 * h * h;
    return 6 * (d * steps + (lstm->shape.every ? d : 1) * h * lstm->shape.classes);
}

extern const weft_net weft_net_lstm;
const weft_net weft_net_lstm = {
    .kind = {.name = "lstm",
             .about = "character LSTM",
             .size = sizeof(lstm_net),
             .opts = lstm_opts},
    .setup = lstm_setup,
    .nweight = lstm_nweight,
    .tensors = lstm_tensors,
    .init = lstm_init,
    .flops = lstm_flops,
    .work = lstm_work,
    .grad = lstm_grad,
    .score = lstm_score,
    .width = lstm_width,
    .represent = lstm_represent,
};
