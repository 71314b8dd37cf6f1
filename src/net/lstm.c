/* The character LSTM of LEAF's and FedEx's Shakespeare tasks: a table of embeddings, layers
 * of LSTM with dropout between them, and a dense layer on the last step or on each.
 * Weights, their names and their initial distributions are PyTorch's (torch.nn.Embedding,
 * LSTM, Linear).
 * Hochreiter, Schmidhuber, "Long short-term memory", Neural Computation 1997.
 *
 * Work that does not depend on the previous step is done for all steps at once:
 *   - the first layer's input is a table with a row of gates for each symbol;
 *   - a later layer's input is one product over all steps, and so are the gradient with
 *     respect to it and the gradients of all matrices.
 * The rest, one product with the recurrent weights for each step, is done layer by layer,
 * so that one matrix stays in cache. Batches are split into parts of a few samples, so that
 * the gates stay in cache as well. */
#include "net.h"
#include "recurrent.h"
#include "weft/base/random.h"

#include <math.h>
#include <string.h>

enum {
    LSTM_MAX_LAYERS = 7,
    PART_SAMPLES = 14 /* samples at once: a tile of rows; their gates stay in cache */
};

typedef struct lstm_net {
    int embedding, hidden, layers; /* options */
    weft_shape shape;
} lstm_net;

/* Offsets of the tensors in the flat weight vector and its gradient. */
struct offsets {
    int64_t embed; /* [classes][embedding] */
    net_lstm layer[LSTM_MAX_LAYERS];
    int64_t dense; /* [classes][h] */
    int64_t bias;  /* [classes] */
    int64_t all;
};

struct scratch {
    net_steps steps;
    net_recurrent layer[LSTM_MAX_LAYERS];
    real *bias[LSTM_MAX_LAYERS], *dbias[LSTM_MAX_LAYERS]; /* [4h] sum of a layer's biases */
    net_pair dense;
    size_t ldc;
    real *table, *dtable; /* [classes][4h] gates of each symbol, with the first layer's
                             biases, and the gradient with respect to them */
    real *logit;          /* [d or 1][n][ldc] */
    weft_arena *mem;
};

/* One part of a batch. */
struct part {
    const lstm_net *lstm;
    struct scratch *scratch;
    struct offsets offsets;
    const uint8_t *const *text; /* [n] */
    int first, n;               /* samples of the batch */
    int share;                  /* dropout rate, in 1/NET_DROP_SCALE */
    uint64_t key;
};

static const weft_opt lstm_opts[] = {
    WEFT_INT_OPT("embedding", lstm_net, embedding, "8", 1, 4096,
                 "length of the vectors that symbols are embedded in"),
    WEFT_INT_OPT("hidden", lstm_net, hidden, "256", 1, 16384, "units per layer"),
    WEFT_INT_OPT("layers", lstm_net, layers, "2", 1, LSTM_MAX_LAYERS, "LSTM layers"),
    {0},
};

/* ---- setup ---- */

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

/* ---- weights ---- */

static struct offsets layout_in(const lstm_net *lstm, net_layout *layout)
{
    int h = lstm->hidden, classes = lstm->shape.classes;
    struct offsets offsets = {0};
    offsets.embed = net_layout_add(layout, classes, lstm->embedding, "embed.weight");
    for (int l = 0; l < lstm->layers; l++)
        offsets.layer[l] =
            net_layout_lstm(layout, "lstm", l, "", l ? h : lstm->embedding, h, 2);
    offsets.dense = net_layout_add(layout, classes, h, "dense.weight");
    offsets.bias = net_layout_add(layout, classes, 0, "dense.bias");
    offsets.all = layout->end;
    return offsets;
}

static struct offsets offsets_of(const lstm_net *lstm)
{
    return layout_in(lstm, &(net_layout){0});
}

static int64_t lstm_nweight(const void *self)
{
    return offsets_of(self).all;
}

static int lstm_tensors(const void *self, weft_tensor out[WEFT_MAX_TENSORS])
{
    net_layout layout = {.out = out};
    layout_in(self, &layout);
    return layout.n;
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
    for (int k = 1; k < n; k++)
        weft_init_uniform(seed, k, 1 / sqrt(lstm->hidden), weft_tensors_size(1, &tensor[k]),
                          w + tensor[k].at);
}

/* Three products with each weight per step, of two operations each. */
static double lstm_flops(const void *self)
{
    const lstm_net *lstm = self;
    double h = lstm->hidden, d = (double)lstm->shape.d;
    double steps = 4 * h * (lstm->embedding + h) + (lstm->layers - 1) * 8 * h * h;
    return 6 * (d * steps + (lstm->shape.every ? d : 1) * h * lstm->shape.classes);
}

/* ---- memory ---- */

static void *lstm_work(const void *self, int most, weft_arena *mem)
{
    const lstm_net *lstm = self;
    int h = lstm->hidden, classes = lstm->shape.classes;
    size_t n = (size_t)(most < PART_SAMPLES ? most : PART_SAMPLES),
           rows = n * (size_t)lstm->shape.d;
    struct scratch *scratch = WEFT_NEW(mem, struct scratch, 1);
    scratch->mem = mem;
    scratch->ldc = net_stride(classes);
    scratch->steps = net_steps_new((int)n, (int)lstm->shape.d, mem);
    for (int l = 0; l < lstm->layers; l++) {
        scratch->layer[l] =
            net_recurrent_new(l ? h : lstm->embedding, h, 0, (int)n, (int)rows, mem);
        scratch->bias[l] = WEFT_NEW(mem, real, 4 * h);
        scratch->dbias[l] = WEFT_NEW(mem, real, 4 * h);
    }
    scratch->layer[0].given = WEFT_NEW(mem, const real *, rows);
    scratch->layer[0].dgiven = WEFT_NEW(mem, real *, rows);
    scratch->dense = net_pair_new(h, classes, mem);
    scratch->table = WEFT_NEW(mem, real, classes * 4 * h);
    scratch->dtable = WEFT_NEW(mem, real, classes * 4 * h);
    scratch->logit = WEFT_NEW(mem, real, (lstm->shape.every ? rows : n) * scratch->ldc);
    return scratch;
}

/* Packs the weights of all layers, with `back` also for the backward pass. */
static void pack_weights(const lstm_net *lstm, struct scratch *scratch, const real *w,
                         int back)
{
    struct offsets offsets = offsets_of(lstm);
    int h = lstm->hidden, classes = lstm->shape.classes;
    for (int l = 0; l < lstm->layers; l++) {
        const net_lstm *at = &offsets.layer[l];
        real *bias = scratch->bias[l];
        for (int j = 0; j < 4 * h; j++) bias[j] = w[at->bias[0] + j] + w[at->bias[1] + j];
        net_recurrent_pack(&scratch->layer[l], w + at->ih, w + at->hh, bias, back);
    }
    net_pair_pack(&scratch->dense, w + offsets.dense, back);
    weft_packed_times(classes, w + offsets.embed, (size_t)lstm->embedding,
                      &scratch->layer[0].gates.ih.to.packed, 0, scratch->table,
                      4 * (size_t)h);
    for (int i = 0; i < classes; i++)
        for (int j = 0; j < 4 * h; j++)
            scratch->table[(size_t)i * 4 * h + j] += scratch->bias[0][j];
}

/* ---- forward ---- */

/* Dropout of y[d][n][ld], by a mask that is a function of key, layer, step, sample. */
static void drop_all(const struct part *part, int l, const real *x, real *y)
{
    size_t ld = part->scratch->layer[l].ld;
    for (int step = 0; step < part->lstm->shape.d; step++)
        for (int i = 0; i < part->n; i++, x += ld, y += ld) {
            net_drop drop = {.share = part->share,
                             .key = part->key,
                             .place = (uint64_t)l,
                             .sample = (uint64_t)step << 32 | (uint64_t)(part->first + i)};
            net_drop_units(&drop, part->lstm->hidden, x, y);
        }
}

/* The first layer's gates are those of each sample's symbol. */
static void look_up(const struct part *part)
{
    const struct scratch *scratch = part->scratch;
    const net_recurrent *layer = &scratch->layer[0];
    int n = part->n, rows = (int)part->lstm->shape.d * n;
    for (int r = 0; r < rows; r++) {
        int symbol = part->text[r % n][r / n];
        weft_check(symbol < part->lstm->shape.classes, "symbol %d of %d", symbol,
                   part->lstm->shape.classes);
        layer->given[r] = scratch->table + (size_t)symbol * 4 * part->lstm->hidden;
        layer->dgiven[r] = scratch->dtable + (size_t)symbol * 4 * part->lstm->hidden;
    }
    memset(layer->z, 0, n * layer->ldz * sizeof *layer->z); /* of the first step */
}

static void forward_layer(const struct part *part, int l)
{
    struct scratch *scratch = part->scratch;
    net_recurrent *layer = &scratch->layer[l];
    int d = (int)part->lstm->shape.d;
    if (l) {
        drop_all(part, l - 1, (layer - 1)->y, layer->x);
        net_recurrent_input(layer, 0, d * part->n);
    } else {
        look_up(part);
    }
    for (int step = 0; step < d; step++) net_recurrent_step(layer, &scratch->steps, step);
}

/* First step whose output is scored. */
static int first_scored(const struct part *part)
{
    return part->lstm->shape.every ? 0 : (int)part->lstm->shape.d - 1;
}

/* The forward pass of all layers, and the losses; the scratch's logit then holds share
 * times the gradient by the logits, unless share is 0. */
static void forward(const struct part *part, const real *w, double share, weft_score *score)
{
    const real *bias = w + part->offsets.bias;
    struct scratch *scratch = part->scratch;
    const lstm_net *lstm = part->lstm;
    const net_recurrent *top = &scratch->layer[lstm->layers - 1];
    for (int l = 0; l < lstm->layers; l++) forward_layer(part, l);
    int from = first_scored(part), rows = ((int)lstm->shape.d - from) * part->n;
    weft_packed_times(rows, top->y + (size_t)from * part->n * top->ld, top->ld,
                      &scratch->dense.to.packed, 0, scratch->logit, scratch->ldc);
    for (int r = 0; r < rows; r++) {
        real *z = scratch->logit + r * scratch->ldc;
        int label = part->text[r % part->n][from + r / part->n + 1];
        weft_check(label < lstm->shape.classes, "symbol %d of %d", label,
                   lstm->shape.classes);
        for (int j = 0; j < lstm->shape.classes; j++) z[j] += bias[j];
        weft_softmax(lstm->shape.classes, z, label, share, share > 0 ? z : NULL, score);
    }
}

/* ---- backward ---- */

/* The backward pass of a layer over all steps: its dy, the gradient with respect to its
 * output from the layer above, becomes the full gradient; z the gradient with respect to
 * the gates. Adds the part's gradient of the matrices to g. */
static void backward_layer(const struct part *part, int l, real *g)
{
    struct scratch *scratch = part->scratch;
    net_recurrent *layer = &scratch->layer[l];
    const net_lstm *at = &part->offsets.layer[l];
    int n = part->n, h = layer->h, rows = (int)part->lstm->shape.d * n;
    memset(layer->dc, 0, n * layer->ld * sizeof *layer->dc);
    for (int step = (int)part->lstm->shape.d - 1; step >= 0; step--)
        net_recurrent_step_back(layer, &scratch->steps, step, scratch->dbias[l]);
    weft_outer(rows - n, 4 * h, layer->z + n * layer->ldz, layer->ldz, h, layer->y,
               layer->ld, 1, g + at->hh, (size_t)h, scratch->mem);
    if (l == 0) return;
    real *dx = (layer - 1)->dy;
    weft_outer(rows, 4 * h, layer->z, layer->ldz, h, layer->x, layer->ldx, 1, g + at->ih,
               (size_t)h, scratch->mem);
    net_recurrent_input_back(layer, 0, rows, 0, dx, layer->ld);
    if (part->share) drop_all(part, l - 1, dx, dx);
}

/* Adds the part's gradient of the matrices to g, of the biases and the table to scratch. */
static void backward(const struct part *part, real *g)
{
    struct scratch *scratch = part->scratch;
    const lstm_net *lstm = part->lstm;
    const net_recurrent *top = &scratch->layer[lstm->layers - 1];
    int before = first_scored(part) * part->n, last = (int)lstm->shape.d * part->n - before,
        c = lstm->shape.classes;
    size_t skip = (size_t)before * top->ld;
    weft_outer(last, c, scratch->logit, scratch->ldc, top->h, top->y + skip, top->ld, 1,
               g + part->offsets.dense, (size_t)top->h, scratch->mem);
    for (int r = 0; r < last; r++)
        for (int j = 0; j < c; j++)
            g[part->offsets.bias + j] += scratch->logit[r * scratch->ldc + j];
    memset(top->dy, 0, skip * sizeof *top->dy);
    weft_packed_times(last, scratch->logit, scratch->ldc, &scratch->dense.back.packed, 0,
                      top->dy + skip, top->ld);
    for (int l = lstm->layers - 1; l >= 0; l--) backward_layer(part, l, g);
}

/* Completes the gradients when all parts are done: those of the factors of the table and of
 * the biases. */
static void finish_gradients(const lstm_net *lstm, const struct scratch *scratch,
                             const real *w, real *g)
{
    struct offsets offsets = offsets_of(lstm);
    int h = lstm->hidden, classes = lstm->shape.classes;
    size_t wide = 4 * (size_t)h, in = (size_t)lstm->embedding;
    weft_outer(classes, 4 * h, scratch->dtable, wide, lstm->embedding, w + offsets.embed,
               in, 1, g + offsets.layer[0].ih, in, scratch->mem);
    weft_packed_times(classes, scratch->dtable, wide,
                      &scratch->layer[0].gates.ih.back.packed, 0, g + offsets.embed, in);
    for (int i = 0; i < classes; i++)
        for (size_t j = 0; j < wide; j++)
            scratch->dbias[0][j] += scratch->dtable[i * wide + j];
    for (int l = 0; l < lstm->layers; l++)
        for (int k = 0; k < 2; k++)
            memcpy(g + offsets.layer[l].bias[k], scratch->dbias[l], wide * sizeof *g);
}

static void clear_gradients(const lstm_net *lstm, const struct scratch *scratch, real *g)
{
    size_t wide = 4 * (size_t)lstm->hidden;
    memset(g, 0, (size_t)offsets_of(lstm).all * sizeof *g);
    memset(scratch->dtable, 0,
           (size_t)lstm->shape.classes * wide * sizeof *scratch->dtable);
    for (int l = 0; l < lstm->layers; l++)
        memset(scratch->dbias[l], 0, wide * sizeof *scratch->dbias[l]);
}

/* The part of a batch that begins at sample i; parts have nearly equal sizes. */
static struct part part_at(const lstm_net *lstm, struct scratch *scratch,
                           const weft_batch *batch, int i)
{
    int parts = (batch->n - i + PART_SAMPLES - 1) / PART_SAMPLES;
    struct part part = {.lstm = lstm,
                        .scratch = scratch,
                        .offsets = offsets_of(lstm),
                        .text = batch->text + i,
                        .first = i,
                        .n = (batch->n - i) / parts};
    scratch->steps.n = part.n;
    for (int k = 0; k < part.n; k++) scratch->steps.length[k] = (int)lstm->shape.d;
    net_steps_count(&scratch->steps);
    return part;
}

static void lstm_grad(const void *self, void *work, const real *w, const weft_batch *batch,
                      double dropout, uint64_t key, real *g, weft_score *score)
{
    const lstm_net *lstm = self;
    double predictions = batch->n * (lstm->shape.every ? (double)lstm->shape.d : 1);
    pack_weights(lstm, work, w, 1);
    clear_gradients(lstm, work, g);
    for (int i = 0; i < batch->n;) {
        struct part part = part_at(lstm, work, batch, i);
        part.share = (int)lrint(dropout * NET_DROP_SCALE);
        part.key = key;
        forward(&part, w, 1 / predictions, score);
        backward(&part, g);
        i += part.n;
    }
    finish_gradients(lstm, work, w, g);
}

static void lstm_score(const void *self, void *work, const real *w, const weft_batch *batch,
                       weft_score *score)
{
    const lstm_net *lstm = self;
    pack_weights(lstm, work, w, 0);
    for (int i = 0; i < batch->n;) {
        struct part part = part_at(lstm, work, batch, i);
        forward(&part, w, 0, score);
        i += part.n;
    }
}

static int lstm_width(const void *self)
{
    const lstm_net *lstm = self;
    return lstm->hidden;
}

/* The part's representations and logits after its forward pass, whose rows are in the order
 * of the steps, then of the samples. */
static void take_outputs(const struct part *part, real *h, real *z)
{
    const struct scratch *scratch = part->scratch;
    size_t wide = (size_t)part->lstm->hidden, c = (size_t)part->lstm->shape.classes;
    int from = first_scored(part), places = (int)part->lstm->shape.d - from;
    const net_recurrent *top = &scratch->layer[part->lstm->layers - 1];
    const real *y = top->y + (size_t)from * part->n * top->ld;
    for (int r = 0; r < places * part->n; r++) {
        size_t to = (size_t)(part->first + r % part->n) * places + r / part->n;
        memcpy(h + to * wide, y + r * top->ld, wide * sizeof *h);
        if (z) memcpy(z + to * c, scratch->logit + r * scratch->ldc, c * sizeof *z);
    }
}

static void lstm_represent(const void *self, void *work, const real *w,
                           const weft_batch *batch, real *h, real *z)
{
    const lstm_net *lstm = self;
    weft_score unused = {0};
    pack_weights(lstm, work, w, 0);
    for (int i = 0; i < batch->n;) {
        struct part part = part_at(lstm, work, batch, i);
        forward(&part, w, 0, &unused);
        take_outputs(&part, h, z);
        i += part.n;
    }
}

WEFT_PLUGIN(net, lstm) = {
    .kind = WEFT_KIND("lstm", lstm_net, lstm_opts, "character LSTM"),
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
