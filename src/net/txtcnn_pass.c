/* Forward pass of the network over sentences. All filters of all windows are
 * one product, [words][vector] by [vector][columns], once for each distinct word of a piece
 * of the batch (for each occurrence where dropout is applied to vectors). The value of
 * filter i at a window is the sum over its words j of the entries (word, column of j and
 * i): shifted rows of the product are added. All activations are increasing, so bias and
 * activation are applied only to the largest sum of a filter. Called through the vtable,
 * and by txtcnn_back.c. */
#include "txtcnn_pass.h"
#include "softmax.h"

#include <string.h>

#define SELU_SCALE 1.0507009873554804934 /* Klambauer et al., NIPS 2017 */
#define SELU_ALPHA 1.6732632423543772848

static int min(int a, int b)
{
    return a < b ? a : b;
}

/* ---- memory ---- */

/* A leading dimension of an odd number of cache lines, so that the rows of a tile do not
 * share cache sets. */
static size_t stride(int64_t n)
{
    size_t line = 64 / sizeof(real);
    return (((size_t)n + line - 1) / line | 1) * line;
}

static void dense_work(const txtcnn_net *txtcnn, txtcnn_scratch *scratch, int most,
                       weft_arena *mem)
{
    size_t packed = 0, transposed = 0, units = 0;
    for (int i = 0; i < txtcnn->ndense; i++) {
        const weft_layer *layer = &txtcnn->dense[i];
        size_t p = weft_dense_packed(layer, most), n = (size_t)most * (size_t)layer->out;
        packed = p > packed ? p : packed;
        transposed = n > transposed ? n : transposed;
        units = n > units ? n : units;
        scratch->y[i] = WEFT_NEW(mem, real, n);
    }
    scratch->dy = WEFT_NEW(mem, real, units);
    scratch->hidden_mask = WEFT_NEW(mem, real, (int64_t)most * txtcnn->hidden);
    scratch->dense.packed = weft_arena_alloc(mem, packed, 1);
    scratch->dense.transposed = WEFT_NEW(mem, real, transposed);
    scratch->dense.row = WEFT_NEW(mem, const real *, most);
    scratch->dense.tmp = mem;
}

void *txtcnn_work(const void *self, int most, weft_arena *mem)
{
    const txtcnn_net *txtcnn = self;
    txtcnn_scratch *scratch = WEFT_NEW(mem, txtcnn_scratch, 1);
    int64_t all = most * txtcnn->shape.d, outputs = (int64_t)most * txtcnn->filters;
    scratch->room = all < TXTCNN_PIECE               ? all
                    : TXTCNN_PIECE > txtcnn->shape.d ? TXTCNN_PIECE
                                                     : txtcnn->shape.d;
    if (scratch->room < 1) scratch->room = 1;
    scratch->ldx = stride(txtcnn->shape.vector);
    scratch->ldz = stride(txtcnn->columns);
    scratch->row_of_word = WEFT_NEW(mem, int32_t, txtcnn->shape.words);
    for (int64_t i = 0; i < txtcnn->shape.words; i++) scratch->row_of_word[i] = -1;
    scratch->word = WEFT_NEW(mem, uint32_t, scratch->room);
    scratch->row = WEFT_NEW(mem, uint32_t, scratch->room);
    scratch->start = WEFT_NEW(mem, int64_t, most + 1);
    scratch->x = WEFT_NEW(mem, real, (size_t)scratch->room * scratch->ldx);
    scratch->z = WEFT_NEW(mem, real, (size_t)scratch->room * scratch->ldz);
    scratch->packed =
        weft_arena_alloc(mem, weft_packed_bytes(txtcnn->shape.vector, txtcnn->columns), 1);
    scratch->sum = WEFT_NEW(mem, real, txtcnn->filters);
    scratch->pooled = WEFT_NEW(mem, real, outputs);
    scratch->slope = WEFT_NEW(mem, real, outputs);
    scratch->window = WEFT_NEW(mem, int32_t, outputs);
    scratch->dpooled = WEFT_NEW(mem, real, outputs);
    scratch->mask = WEFT_NEW(mem, real, scratch->ldx);
    int64_t entries =
        txtcnn->channels == TXTCNN_STATIC ? most : (int64_t)most * txtcnn->columns;
    scratch->at = WEFT_NEW(mem, uint32_t, entries);
    scratch->value = WEFT_NEW(mem, real, entries);
    if (txtcnn->channels != TXTCNN_STATIC) {
        scratch->dx = WEFT_NEW(mem, real, (size_t)scratch->room * scratch->ldx);
        scratch->next = WEFT_NEW(mem, int64_t, scratch->room + 2);
    }
    dense_work(txtcnn, scratch, most, mem);
    return scratch;
}

/* ---- forward ---- */

/* Windows of k words of a document of n words: those with at least one word begin at from
 * .. to; zeros 1: a window of padding alone counts as well. */
struct range {
    int from, to, zeros;
};

static struct range range_of(const txtcnn_net *txtcnn, int k, int n)
{
    int longest = (int)txtcnn->padded;
    struct range range = {.from = 1 - k, .to = n - 1, .zeros = n == 0};
    if (n == 0) range.to = range.from - 1;
    if (txtcnn->literal == TXTCNN_KIM)
        range.zeros |= txtcnn->widest > k || longest - n + txtcnn->widest - 1 >= k;
    if (txtcnn->literal == TXTCNN_HADER) {
        range.from = 0;
        range.to = min(n - 1, longest - k);
        range.zeros |= longest - n >= k;
    }
    return range;
}

/* sum[f] = sums of the filters of a group over the window that begins at `from`. */
static void add_window(const txtcnn_scratch *scratch, const txtcnn_group *group,
                       const uint32_t *row, int n, int from, real *sum)
{
    int first = from < 0 ? -from : 0, end = min(group->k, n - from);
    for (int j = first; j < end; j++) {
        const real *z =
            scratch->z + row[from + j] * scratch->ldz + group->column + j * group->f;
        for (int i = 0; i < group->f; i++) sum[i] = j == first ? z[i] : sum[i] + z[i];
    }
}

/* Running maximum. NaN counts as larger, so that it reaches the loss. */
static void update_max(int f, const real *sum, int32_t from, real *top, int32_t *window)
{
    for (int i = 0; i < f; i++) {
        int larger = !(sum[i] <= top[i]);
        top[i] = larger ? sum[i] : top[i];
        window[i] = larger ? from : window[i];
    }
}

static void pool_windows(const txtcnn_pass *pass, const txtcnn_piece *piece, int i)
{
    const txtcnn_net *txtcnn = pass->txtcnn;
    txtcnn_scratch *scratch = pass->scratch;
    int n = pass->batch->length[piece->first + i];
    const uint32_t *row = scratch->row + scratch->start[i];
    for (int e = 0; e < txtcnn->groups; e++) {
        const txtcnn_group *group = &txtcnn->group[e];
        int64_t at = (int64_t)(piece->first + i) * txtcnn->filters + group->filter;
        struct range range = range_of(txtcnn, group->k, n);
        for (int j = 0; j < group->f; j++) {
            scratch->pooled[at + j] = range.zeros ? 0 : -INFINITY;
            scratch->window[at + j] = TXTCNN_ZEROS;
        }
        for (int from = range.from; from <= range.to; from++) {
            add_window(scratch, group, row, n, from, scratch->sum);
            update_max(group->f, scratch->sum, from, scratch->pooled + at,
                       scratch->window + at);
        }
    }
}

/* The activation of u and its derivative. Computed in double, so that differences between
 * libraries vanish in the rounding to reals. */
static real activate(int kind, real u, real *slope)
{
    double y = (double)u, d = 1;
    switch (kind) {
    case TXTCNN_RELU: *slope = u > 0; return u < 0 ? 0 : u;
    case TXTCNN_ELU:
        if (y < 0) d = (y = expm1(y)) + 1;
        break;
    case TXTCNN_TANH:
        y = tanh(y);
        d = 1 - y * y;
        break;
    case TXTCNN_SIGMOID:
        y = 1 / (1 + exp(-y));
        d = y * (1 - y);
        break;
    default:
        if (y < 0) {
            double e = SELU_SCALE * SELU_ALPHA * expm1(y);
            d = e + SELU_SCALE * SELU_ALPHA;
            y = e;
        } else {
            d = SELU_SCALE;
            y *= SELU_SCALE;
        }
    }
    *slope = (real)d;
    return (real)y;
}

/* pooled = outputs of the filters; slope: their derivatives. */
static void activate_pooled(const txtcnn_pass *pass)
{
    const txtcnn_net *txtcnn = pass->txtcnn;
    txtcnn_scratch *scratch = pass->scratch;
    const real *bias = txtcnn->bias ? pass->w + txtcnn->bias_at : NULL;
    for (int i = 0; i < pass->batch->n; i++) {
        int64_t at = (int64_t)i * txtcnn->filters;
        for (int j = 0; j < txtcnn->filters; j++)
            scratch->pooled[at + j] =
                activate(txtcnn->activation, scratch->pooled[at + j] + (bias ? bias[j] : 0),
                         scratch->slope + at + j);
        if (!pass->train || !(pass->drop_pooled > 0)) continue;
        real *mask = scratch->dpooled + at;
        txtcnn_mask(pass->key, 2, (uint64_t)i, pass->drop_pooled, txtcnn->filters, mask);
        for (int j = 0; j < txtcnn->filters; j++) {
            scratch->pooled[at + j] *= mask[j];
            scratch->slope[at + j] *= mask[j];
        }
    }
}

/* y = outputs of the dense layers. Returns those of the last. */
static const real *forward_dense(const txtcnn_pass *pass)
{
    const txtcnn_net *txtcnn = pass->txtcnn;
    txtcnn_scratch *scratch = pass->scratch;
    int n = pass->batch->n;
    const real *x = scratch->pooled;
    for (int i = 0; i < txtcnn->ndense; i++) {
        weft_dense_forward(&txtcnn->dense[i], &scratch->dense, pass->w, n,
                           weft_sample_rows(&scratch->dense, n, txtcnn->dense[i].c, x),
                           scratch->y[i]);
        x = scratch->y[i];
        if (i + 1 == txtcnn->ndense || !pass->train || !(txtcnn->drop_hidden > 0)) continue;
        int64_t all = (int64_t)n * txtcnn->hidden;
        txtcnn_mask(pass->key, 3, 0, txtcnn->drop_hidden, all, scratch->hidden_mask);
        for (int64_t j = 0; j < all; j++) scratch->y[i][j] *= scratch->hidden_mask[j];
    }
    return x;
}

/* Adds the losses; in training dy = gradient of their weighted mean. */
static void score_outputs(const txtcnn_pass *pass, const real *z, weft_score *score)
{
    const txtcnn_net *txtcnn = pass->txtcnn;
    const weft_batch *batch = pass->batch;
    int outputs = txtcnn->dense[txtcnn->ndense - 1].out;
    real *dy = pass->scratch->dy;
    for (int i = 0; i < batch->n; i++) {
        double weight = batch->weight ? batch->weight[i] : 1, share = weight / batch->n,
               counts = pass->train ? 1 : weight;
        real two[2] = {0, z[i]};
        weft_score own = {0};
        if (outputs > 1)
            weft_softmax(outputs, z + (int64_t)i * outputs, batch->label[i], share,
                         pass->train ? dy + (int64_t)i * outputs : NULL, &own);
        else
            weft_softmax(2, two, batch->label[i], share, pass->train ? two : NULL, &own);
        if (outputs == 1 && pass->train) dy[i] = two[1];
        score->loss += counts * own.loss;
        score->wrong += counts * own.wrong;
        score->count += counts;
    }
}

/* Rows, product and windows of the documents from `first` on. */
static txtcnn_piece forward_piece(const txtcnn_pass *pass, int first)
{
    txtcnn_scratch *scratch = pass->scratch;
    txtcnn_piece piece = txtcnn_assign_rows(pass, first);
    txtcnn_load(pass, &piece);
    weft_packed_times(piece.rows, scratch->x, scratch->ldx, &scratch->filters, 0,
                      scratch->z, scratch->ldz);
    for (int i = 0; i < piece.n; i++) pool_windows(pass, &piece, i);
    return piece;
}

txtcnn_piece txtcnn_forward(const txtcnn_pass *pass, weft_score *score)
{
    const txtcnn_net *txtcnn = pass->txtcnn;
    int d = txtcnn->shape.vector;
    txtcnn_scratch *scratch = pass->scratch;
    if (!pass->batch->again)
        weft_packed_pack(&scratch->filters, d, txtcnn->columns, pass->w, (size_t)d, 1,
                         scratch->packed);
    txtcnn_piece piece = {0};
    for (int i = 0; i < pass->batch->n; i += piece.n) piece = forward_piece(pass, i);
    activate_pooled(pass);
    score_outputs(pass, forward_dense(pass), score);
    return piece;
}

void txtcnn_score(const void *self, void *work, const real *w, const weft_batch *batch,
                  weft_score *score)
{
    txtcnn_pass pass = {.txtcnn = self, .scratch = work, .batch = batch, .w = w};
    txtcnn_forward(&pass, score);
}

int txtcnn_width(const void *self)
{
    const txtcnn_net *txtcnn = self;
    return txtcnn->dense[txtcnn->ndense - 1].c;
}

void txtcnn_represent(const void *self, void *work, const real *w, const weft_batch *batch,
                      real *h, real *z)
{
    const txtcnn_net *txtcnn = self;
    const txtcnn_scratch *scratch = work;
    txtcnn_pass pass = {.txtcnn = self, .scratch = work, .batch = batch, .w = w};
    weft_score unused = {0};
    txtcnn_forward(&pass, &unused);
    int last = txtcnn->ndense - 1, c = txtcnn->shape.classes;
    int one = txtcnn->dense[last].out == 1; /* unit: the second class, against 0 */
    size_t wide = (size_t)txtcnn_width(txtcnn);
    const real *x = last > 0 ? scratch->y[last - 1] : scratch->pooled,
               *y = scratch->y[last];
    memcpy(h, x, (size_t)batch->n * wide * sizeof *h);
    for (int i = 0; z && i < batch->n * c; i++)
        z[i] = !one ? y[i] : i % c > 0 ? y[i / c] : 0;
}
