/* The character LSTM of LEAF's and FedEx's Shakespeare tasks: a table of embeddings, layers
 * of LSTM with dropout between them, and a dense layer on the last step or on each.
 * Weights, their names and their initial distributions are PyTorch's (torch.nn.Embedding,
 * LSTM, Linear); with biases = 1 a layer has one bias per gate, as in TensorFlow.
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
#include "weft/math/kernels.h"

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

struct layer {
    net_gates gates;
    real *z, *c, *y; /* [d][n][ldz], [d][n][ld], [d][n][ld] */
    const real *x;   /* [d][n][ld] input: y of the layer below, after dropout */
    real *masked;    /* [d][n][ld] y after dropout; not of the last layer */
    real *bias;      /* [4h] sum of the biases */
    real *dbias;     /* [4h] */
};

struct scratch {
    struct layer layer[LSTM_MAX_LAYERS];
    net_pair dense;
    size_t ld, ldz, ldc;
    real *table, *dtable; /* [classes][4h] gates of each symbol, with the first layer's
                             biases, and the gradient with respect to them */
    real *dy;             /* [d][n][ld] */
    real *dc;             /* [n][ld] */
    real *logit;          /* [d or 1][n][ldc] */
    const real **input;   /* [n] added to the gates of each sample */
    real **dinput;        /* [n] sums of the gradients with respect to these */
    weft_arena *mem;
};

/* One part of a batch. */
struct part {
    const lstm_net *lstm;
    struct scratch *scratch;
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
    scratch->ld = net_stride(h);
    scratch->ldz = net_stride(4 * (int64_t)h);
    scratch->ldc = net_stride(classes);
    for (int l = 0; l < lstm->layers; l++) {
        struct layer *layer = &scratch->layer[l];
        layer->gates = net_gates_new(l ? h : lstm->embedding, h, mem);
        layer->z = WEFT_NEW(mem, real, rows * scratch->ldz);
        layer->c = WEFT_NEW(mem, real, rows * scratch->ld);
        layer->y = WEFT_NEW(mem, real, rows * scratch->ld);
        if (l + 1 < lstm->layers) layer->masked = WEFT_NEW(mem, real, rows * scratch->ld);
        layer->bias = WEFT_NEW(mem, real, 4 * h);
        layer->dbias = WEFT_NEW(mem, real, 4 * h);
    }
    scratch->dense = net_pair_new(h, classes, mem);
    scratch->table = WEFT_NEW(mem, real, classes * 4 * h);
    scratch->dtable = WEFT_NEW(mem, real, classes * 4 * h);
    scratch->dy = WEFT_NEW(mem, real, rows * scratch->ld);
    scratch->dc = WEFT_NEW(mem, real, n * scratch->ld);
    scratch->logit = WEFT_NEW(mem, real, (lstm->shape.every ? rows : n) * scratch->ldc);
    scratch->input = WEFT_NEW(mem, const real *, n);
    scratch->dinput = WEFT_NEW(mem, real *, n);
    return scratch;
}

/* Packs the weights of all layers, with `back` also for the backward pass. */
static void pack_weights(const lstm_net *lstm, struct scratch *scratch, const real *w,
                         int back)
{
    struct offsets offsets = offsets_of(lstm);
    int h = lstm->hidden, classes = lstm->shape.classes;
    for (int l = 0; l < lstm->layers; l++) {
        struct layer *layer = &scratch->layer[l];
        net_gates_pack(&layer->gates, w + offsets.layer[l].ih, w + offsets.layer[l].hh,
                       back);
        for (int j = 0; j < 4 * h; j++)
            layer->bias[j] =
                w[offsets.layer[l].bias[0] + j] + w[offsets.layer[l].bias[1] + j];
    }
    net_pair_pack(&scratch->dense, w + offsets.dense, back);
    weft_packed_times(classes, w + offsets.embed, (size_t)lstm->embedding,
                      &scratch->layer[0].gates.ih.to.packed, 0, scratch->table,
                      4 * (size_t)h);
    for (int i = 0; i < classes; i++)
        for (int j = 0; j < 4 * h; j++)
            scratch->table[(size_t)i * 4 * h + j] += scratch->layer[0].bias[j];
}

/* ---- forward ---- */

/* Dropout: y[h] = x[h], by a mask that is a function of key, layer, step, sample. */
static void drop(const struct part *part, int l, int step, int i, const real *x, real *y)
{
    net_drop drop = {.share = part->share,
                     .key = part->key,
                     .place = (uint64_t)l,
                     .sample = (uint64_t)step << 32 | (uint64_t)(part->first + i)};
    net_drop_units(&drop, part->lstm->hidden, x, y);
}

static void drop_all(const struct part *part, int l, const real *x, real *y)
{
    for (int step = 0; step < part->lstm->shape.d; step++)
        for (int i = 0; i < part->n; i++) {
            size_t row = ((size_t)step * part->n + i) * part->scratch->ld;
            drop(part, l, step, i, x + row, y + row);
        }
}

/* The cells of a layer at a step. */
static weft_cells cells_at(const struct part *part, int l, int step)
{
    const struct scratch *scratch = part->scratch;
    const struct layer *layer = &scratch->layer[l];
    size_t row = (size_t)step * part->n;
    return (weft_cells){.n = part->n,
                        .h = part->lstm->hidden,
                        .z = layer->z + row * scratch->ldz,
                        .ldz = scratch->ldz,
                        .before = step ? layer->c + (row - part->n) * scratch->ld : NULL,
                        .c = layer->c + row * scratch->ld,
                        .y = layer->y + row * scratch->ld,
                        .ld = scratch->ld};
}

/* Row of the table of each sample's symbol at a step. */
static size_t table_row(const struct part *part, int i, int step)
{
    int symbol = part->text[i][step];
    weft_check(symbol < part->lstm->shape.classes, "symbol %d of %d", symbol,
               part->lstm->shape.classes);
    return (size_t)symbol * 4 * part->lstm->hidden;
}

static void forward_layer(const struct part *part, int l)
{
    const struct scratch *scratch = part->scratch;
    const struct layer *layer = &scratch->layer[l];
    int n = part->n, d = (int)part->lstm->shape.d;
    if (l)
        weft_packed_times(d * n, layer->x, scratch->ld, &layer->gates.ih.to.packed, 0,
                          layer->z, scratch->ldz);
    for (int i = 0; i < n; i++) scratch->input[i] = layer->bias;
    for (int step = 0; step < d; step++) {
        weft_cells cells = cells_at(part, l, step);
        if (step)
            weft_packed_times(n, cells.y - n * scratch->ld, scratch->ld,
                              &layer->gates.hh.to.packed, l > 0, cells.z, scratch->ldz);
        else if (l == 0)
            memset(cells.z, 0, n * scratch->ldz * sizeof *cells.z);
        if (l == 0)
            for (int i = 0; i < n; i++)
                scratch->input[i] = scratch->table + table_row(part, i, step);
        weft_cells_forward(&cells, scratch->input);
    }
}

/* First step whose output is scored. */
static int first_scored(const struct part *part)
{
    return part->lstm->shape.every ? 0 : (int)part->lstm->shape.d - 1;
}

/* The forward pass of all layers, and the losses; s->logit then holds share times the
 * gradient by the logits, unless share is 0. */
static void forward(const struct part *part, const real *bias, double share,
                    weft_score *score)
{
    struct scratch *scratch = part->scratch;
    const lstm_net *lstm = part->lstm;
    for (int l = 0; l < lstm->layers; l++) {
        struct layer *layer = &scratch->layer[l];
        forward_layer(part, l);
        if (l + 1 == lstm->layers) break;
        if (part->share) drop_all(part, l, layer->y, layer->masked);
        scratch->layer[l + 1].x = part->share ? layer->masked : layer->y;
    }
    int from = first_scored(part), rows = ((int)lstm->shape.d - from) * part->n;
    const real *y =
        scratch->layer[lstm->layers - 1].y + (size_t)from * part->n * scratch->ld;
    weft_packed_times(rows, y, scratch->ld, &scratch->dense.to.packed, 0, scratch->logit,
                      scratch->ldc);
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

/* The backward pass of a layer over all steps: s->dy, the gradient with respect to its
 * output from the layer above, becomes the full gradient; z the gradient with respect to
 * the gates. */
static void backward_steps(const struct part *part, int l)
{
    const struct scratch *scratch = part->scratch;
    const struct layer *layer = &scratch->layer[l];
    int n = part->n, d = (int)part->lstm->shape.d;
    int top = l + 1 == part->lstm->layers;
    memset(scratch->dc, 0, n * scratch->ld * sizeof *scratch->dc);
    for (int i = 0; i < n; i++) scratch->dinput[i] = layer->dbias;
    for (int step = d - 1; step >= 0; step--) {
        weft_cells cells = cells_at(part, l, step);
        real *dy = scratch->dy + (size_t)step * n * scratch->ld;
        if (step < d - 1)
            weft_packed_times(n, cells.z + n * scratch->ldz, scratch->ldz,
                              &layer->gates.hh.back.packed, !top || part->lstm->shape.every,
                              dy, scratch->ld);
        if (l == 0)
            for (int i = 0; i < n; i++)
                scratch->dinput[i] = scratch->dtable + table_row(part, i, step);
        weft_cells_backward(&cells, dy, scratch->dc, scratch->dinput);
    }
}

/* Adds the part's gradient of the matrices to g, of the biases and the table to s. */
static void backward(const struct part *part, real *g)
{
    struct scratch *scratch = part->scratch;
    const lstm_net *lstm = part->lstm;
    struct offsets offsets = offsets_of(lstm);
    int n = part->n, h = lstm->hidden, rows = (int)lstm->shape.d * n,
        c = lstm->shape.classes;
    int last = rows - first_scored(part) * n;
    size_t skip = (size_t)first_scored(part) * n * scratch->ld;
    weft_outer(last, c, scratch->logit, scratch->ldc, h,
               scratch->layer[lstm->layers - 1].y + skip, scratch->ld, 1, g + offsets.dense,
               (size_t)h, scratch->mem);
    for (int r = 0; r < last; r++)
        for (int j = 0; j < c; j++)
            g[offsets.bias + j] += scratch->logit[r * scratch->ldc + j];
    weft_packed_times(last, scratch->logit, scratch->ldc, &scratch->dense.back.packed, 0,
                      scratch->dy + skip, scratch->ld);
    for (int l = lstm->layers - 1; l >= 0; l--) {
        const struct layer *layer = &scratch->layer[l];
        backward_steps(part, l);
        weft_outer(rows - n, 4 * h, layer->z + n * scratch->ldz, scratch->ldz, h, layer->y,
                   scratch->ld, 1, g + offsets.layer[l].hh, (size_t)h, scratch->mem);
        if (l == 0) break;
        weft_outer(rows, 4 * h, layer->z, scratch->ldz, h, layer->x, scratch->ld, 1,
                   g + offsets.layer[l].ih, (size_t)h, scratch->mem);
        weft_packed_times(rows, layer->z, scratch->ldz, &layer->gates.ih.back.packed, 0,
                          scratch->dy, scratch->ld);
        if (part->share) drop_all(part, l - 1, scratch->dy, scratch->dy);
    }
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
            scratch->layer[0].dbias[j] += scratch->dtable[i * wide + j];
    for (int l = 0; l < lstm->layers; l++)
        for (int k = 0; k < 2; k++)
            memcpy(g + offsets.layer[l].bias[k], scratch->layer[l].dbias, wide * sizeof *g);
}

static void clear_gradients(const lstm_net *lstm, const struct scratch *scratch, real *g)
{
    size_t wide = 4 * (size_t)lstm->hidden;
    memset(g, 0, (size_t)offsets_of(lstm).all * sizeof *g);
    memset(scratch->dtable, 0,
           (size_t)lstm->shape.classes * wide * sizeof *scratch->dtable);
    for (int l = 0; l < lstm->layers; l++)
        memset(scratch->layer[l].dbias, 0, wide * sizeof *scratch->layer[l].dbias);
}

/* The part of a batch that begins at sample i; parts have nearly equal sizes. */
static struct part part_at(const lstm_net *lstm, struct scratch *scratch,
                           const weft_batch *batch, int i)
{
    int parts = (batch->n - i + PART_SAMPLES - 1) / PART_SAMPLES;
    return (struct part){.lstm = lstm,
                         .scratch = scratch,
                         .text = batch->text + i,
                         .first = i,
                         .n = (batch->n - i) / parts};
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
        forward(&part, w + offsets_of(lstm).bias, 1 / predictions, score);
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
        forward(&part, w + offsets_of(lstm).bias, 0, score);
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
    const real *y =
        scratch->layer[part->lstm->layers - 1].y + (size_t)from * part->n * scratch->ld;
    for (int r = 0; r < places * part->n; r++) {
        size_t to = (size_t)(part->first + r % part->n) * places + r / part->n;
        memcpy(h + to * wide, y + r * scratch->ld, wide * sizeof *h);
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
        forward(&part, w + offsets_of(lstm).bias, 0, &unused);
        take_outputs(&part, h, z);
        i += part.n;
    }
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
