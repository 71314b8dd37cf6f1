/* Passes of the network over sentences. All filters of all windows are one product,
 * [words][vector] by [vector][columns], a piece of a batch at a time, with a row for each
 * distinct word of the piece, or for each occurrence where dropout is applied to vectors.
 * The value of filter i at a window is the sum over its words j of the entries (word,
 * column of j and i): shifted rows of the product are added. All activations are
 * increasing, so bias and activation are applied only to the largest sum of a filter. In
 * the backward pass, only the windows with the largest values contribute, so that the
 * gradient of a column of the filters is a sum of few word vectors, and that of a word a
 * sum of few columns. */
#include "net.h"
#include "weft/base/random.h"
#include "weft/math/linear.h"

#include <math.h>
#include <string.h>

#define SELU_SCALE 1.0507009873554804934 /* Klambauer et al., NIPS 2017 */
#define SELU_ALPHA 1.6732632423543772848

enum {
    PIECE_ROWS = 1024,     /* rows of the product at a time */
    ONLY_ZEROS = INT32_MIN /* a window of padding alone */
};

/* Documents whose word vectors are in the rows of x. */
struct piece {
    int first, n; /* documents of the batch */
    int rows;
};

/* Terms of sums of rows. */
struct terms {
    uint32_t *at;  /* [entries] row or column of each term */
    real *value;   /* [entries] factor of each term */
    int64_t *next; /* [rows + 1] first entry of each row */
};

struct scratch {
    int32_t *row_of_word; /* [words] row of x of a word, -1: none */
    uint32_t *word;       /* [rows] */
    uint32_t *row;        /* [tokens] row of x of each word of the piece, in order */
    int64_t *start;       /* [most + 1] first token of each document of the piece */
    int64_t room;         /* capacity in rows and in tokens */
    real *x;              /* [rows][ldx] vectors */
    real *z;              /* [rows][ldz] product */
    real *dx;             /* [rows][ldx]; NULL where vectors are not trained */
    size_t ldx, ldz;
    net_matrix filters;
    real *sum;         /* [filters] of one window */
    real *pooled;      /* [most][filters] largest sum over windows, then the output */
    real *slope;       /* [most][filters] derivative of the output with respect to its sum;
                          later the gradient with respect to the sum */
    int32_t *window;   /* [most][filters] first word of the largest window, or
                          ONLY_ZEROS */
    real *mask;        /* [ldx] dropout mask of a vector */
    real *y[2], *dy;   /* [most][units] of the dense layers */
    real *hidden_mask; /* [most][hidden] dropout mask */
    real *dpooled;     /* [most][filters] gradient with respect to the outputs; before,
                          dropout mask */
    struct terms term;
    weft_scratch dense;
};

/* Arguments of a pass. */
struct pass {
    const txtcnn_net *txtcnn;
    struct scratch *scratch;
    const weft_batch *batch;
    const real *w;
    int train;
    uint64_t key;
    double drop_pooled;
};

/* ---- memory ---- */

static void dense_work(const txtcnn_net *txtcnn, struct scratch *scratch, int most,
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
    struct scratch *scratch = WEFT_NEW(mem, struct scratch, 1);
    int64_t all = most * txtcnn->shape.d, outputs = (int64_t)most * txtcnn->filters;
    scratch->room = all < PIECE_ROWS               ? all
                    : PIECE_ROWS > txtcnn->shape.d ? PIECE_ROWS
                                                   : txtcnn->shape.d;
    if (scratch->room < 1) scratch->room = 1;
    scratch->ldx = net_stride(txtcnn->shape.vector);
    scratch->ldz = net_stride(txtcnn->columns);
    scratch->row_of_word = WEFT_NEW(mem, int32_t, txtcnn->shape.words);
    for (int64_t i = 0; i < txtcnn->shape.words; i++) scratch->row_of_word[i] = -1;
    scratch->word = WEFT_NEW(mem, uint32_t, scratch->room);
    scratch->row = WEFT_NEW(mem, uint32_t, scratch->room);
    scratch->start = WEFT_NEW(mem, int64_t, most + 1);
    scratch->x = WEFT_NEW(mem, real, (size_t)scratch->room * scratch->ldx);
    scratch->z = WEFT_NEW(mem, real, (size_t)scratch->room * scratch->ldz);
    scratch->filters = net_matrix_new(txtcnn->shape.vector, txtcnn->columns, mem);
    scratch->sum = WEFT_NEW(mem, real, txtcnn->filters);
    scratch->pooled = WEFT_NEW(mem, real, outputs);
    scratch->slope = WEFT_NEW(mem, real, outputs);
    scratch->window = WEFT_NEW(mem, int32_t, outputs);
    scratch->dpooled = WEFT_NEW(mem, real, outputs);
    scratch->mask = WEFT_NEW(mem, real, scratch->ldx);
    int64_t entries =
        txtcnn->channels == TXTCNN_STATIC ? most : (int64_t)most * txtcnn->columns;
    scratch->term.at = WEFT_NEW(mem, uint32_t, entries);
    scratch->term.value = WEFT_NEW(mem, real, entries);
    if (txtcnn->channels != TXTCNN_STATIC) {
        scratch->dx = WEFT_NEW(mem, real, (size_t)scratch->room * scratch->ldx);
        scratch->term.next = WEFT_NEW(mem, int64_t, scratch->room + 2);
    }
    dense_work(txtcnn, scratch, most, mem);
    return scratch;
}

/* ---- words of a piece ---- */

/* Dropout mask m[n]: 0 with probability `share`, else 1 / (1 - share); a function of key,
 * layer and place. */
static void draw_mask(uint64_t key, int layer, uint64_t place, double share, int64_t n,
                      real *m)
{
    double bound = share * 0x1p32; /* on 32 bits */
    real scale = (real)(share < 1 ? 1 / (1 - share) : 0);
    for (int64_t i = 0; i < n; i += 8) {
        weft_rng4 rng =
            weft_rng_at(key, WEFT_RNG_DROPOUT, (uint64_t)layer, place, (uint64_t)i / 8);
        for (int64_t e = 0; e < 8 && i + e < n; e++)
            m[i + e] = (uint32_t)(rng.v[e / 2] >> (e % 2 * 32)) < bound ? 0 : scale;
    }
}

/* 1 if this pass applies dropout to word vectors; each occurrence of a word then has its
 * own row. */
static int drops_input(const struct pass *pass)
{
    return pass->train && pass->txtcnn->drop_input > 0;
}

/* Multiplies x[vector] by the mask of word `place` of document i of the batch. */
static void mask_vector(const struct pass *pass, int channel, int i, int64_t place, real *x)
{
    int d = pass->txtcnn->shape.vector;
    real *m = pass->scratch->mask;
    draw_mask(pass->key, channel, (uint64_t)i << 32 | (uint64_t)place,
              pass->txtcnn->drop_input, d, m);
    for (int j = 0; j < d; j++) x[j] *= m[j];
}

/* Assigns rows to the words of the next documents, as many as fit. */
static struct piece assign_rows(const struct pass *pass, int first)
{
    struct scratch *scratch = pass->scratch;
    const weft_batch *batch = pass->batch;
    int separate = drops_input(pass);
    struct piece piece = {.first = first};
    int64_t tokens = 0;
    while (first + piece.n < batch->n &&
           tokens + batch->length[first + piece.n] <= scratch->room) {
        const uint32_t *word = batch->word[first + piece.n];
        scratch->start[piece.n] = tokens;
        for (int i = 0; i < batch->length[first + piece.n]; i++) {
            weft_check(word[i] < pass->txtcnn->shape.words, "word %u", (unsigned)word[i]);
            int32_t *row = &scratch->row_of_word[word[i]];
            if (*row < 0 || separate) {
                *row = piece.rows;
                scratch->word[piece.rows++] = word[i];
            }
            scratch->row[tokens++] = (uint32_t)*row;
        }
        piece.n++;
    }
    weft_check(piece.n > 0, "a document longer than the longest");
    scratch->start[piece.n] = tokens;
    for (int r = 0; r < piece.rows; r++) scratch->row_of_word[scratch->word[r]] = -1;
    return piece;
}

/* Multiplies x[rows][ldx] by the dropout masks of its words. */
static void mask_rows(const struct pass *pass, const struct piece *piece, int channel,
                      real *x)
{
    for (int i = 0; i < piece->n; i++)
        for (int64_t e = pass->scratch->start[i]; e < pass->scratch->start[i + 1]; e++)
            mask_vector(pass, channel, piece->first + i, e - pass->scratch->start[i],
                        x + (size_t)e * pass->scratch->ldx);
}

/* x = the vectors of the rows; the sum of both channels where there are two. */
static void load_rows(const struct pass *pass, const struct piece *piece)
{
    const txtcnn_net *txtcnn = pass->txtcnn;
    struct scratch *scratch = pass->scratch;
    int d = txtcnn->shape.vector, separate = drops_input(pass);
    for (int r = 0; r < piece->rows && txtcnn->channels != TXTCNN_NONSTATIC; r++) {
        const float *from = txtcnn->shape.vectors + (int64_t)scratch->word[r] * d;
        real *x = scratch->x + (size_t)r * scratch->ldx;
        for (int j = 0; j < d; j++) x[j] = (real)from[j];
    }
    if (separate && txtcnn->channels != TXTCNN_NONSTATIC)
        mask_rows(pass, piece, 0, scratch->x);
    if (txtcnn->channels == TXTCNN_STATIC) return;
    const int32_t *place = pass->batch->compact ? pass->batch->place : NULL;
    for (int r = 0; r < piece->rows; r++) {
        int64_t row = place ? place[scratch->word[r]] : (int64_t)scratch->word[r] + 1;
        const real *from = pass->w + txtcnn->embed + row * d;
        memcpy(scratch->dx + (size_t)r * scratch->ldx, from, (size_t)d * sizeof *from);
    }
    if (separate) mask_rows(pass, piece, 1, scratch->dx);
    for (size_t i = 0; i < (size_t)piece->rows * scratch->ldx; i++)
        scratch->x[i] = txtcnn->channels == TXTCNN_MULTI ? scratch->x[i] + scratch->dx[i]
                                                         : scratch->dx[i];
}

/* ---- forward ---- */

/* Windows of k words of a document of n words: those with at least one word begin at from
 * .. to. */
struct range {
    int from, to;
};

static struct range range_of(int k, int n)
{
    return (struct range){1 - k, n > 0 ? n - 1 : -k};
}

/* sum[f] = sums of the filters of a group over the window that begins at `from`. */
static void add_window(const struct scratch *scratch, const txtcnn_group *group,
                       const uint32_t *row, int n, int from, real *sum)
{
    int first = from < 0 ? -from : 0, end = net_min(group->k, n - from);
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

static void pool_windows(const struct pass *pass, const struct piece *piece, int i)
{
    const txtcnn_net *txtcnn = pass->txtcnn;
    struct scratch *scratch = pass->scratch;
    int n = pass->batch->length[piece->first + i];
    const uint32_t *row = scratch->row + scratch->start[i];
    for (int e = 0; e < txtcnn->groups; e++) {
        const txtcnn_group *group = &txtcnn->group[e];
        int64_t at = (int64_t)(piece->first + i) * txtcnn->filters + group->filter;
        struct range range = range_of(group->k, n);
        for (int j = 0; j < group->f; j++) {
            scratch->pooled[at + j] = n == 0 ? 0 : -INFINITY;
            scratch->window[at + j] = ONLY_ZEROS;
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
static void activate_pooled(const struct pass *pass)
{
    const txtcnn_net *txtcnn = pass->txtcnn;
    struct scratch *scratch = pass->scratch;
    const real *bias = txtcnn->bias ? pass->w + txtcnn->bias_at : NULL;
    for (int i = 0; i < pass->batch->n; i++) {
        int64_t at = (int64_t)i * txtcnn->filters;
        for (int j = 0; j < txtcnn->filters; j++)
            scratch->pooled[at + j] =
                activate(txtcnn->activation, scratch->pooled[at + j] + (bias ? bias[j] : 0),
                         scratch->slope + at + j);
        if (!pass->train || !(pass->drop_pooled > 0)) continue;
        real *mask = scratch->dpooled + at;
        draw_mask(pass->key, 2, (uint64_t)i, pass->drop_pooled, txtcnn->filters, mask);
        for (int j = 0; j < txtcnn->filters; j++) {
            scratch->pooled[at + j] *= mask[j];
            scratch->slope[at + j] *= mask[j];
        }
    }
}

/* y = outputs of the dense layers. Returns those of the last. */
static const real *forward_dense(const struct pass *pass)
{
    const txtcnn_net *txtcnn = pass->txtcnn;
    struct scratch *scratch = pass->scratch;
    int n = pass->batch->n;
    const real *x = scratch->pooled;
    for (int i = 0; i < txtcnn->ndense; i++) {
        weft_dense_forward(&txtcnn->dense[i], &scratch->dense, pass->w, n,
                           weft_sample_rows(&scratch->dense, n, txtcnn->dense[i].c, x),
                           scratch->y[i]);
        x = scratch->y[i];
        if (i + 1 == txtcnn->ndense || !pass->train || !(txtcnn->drop_hidden > 0)) continue;
        int64_t all = (int64_t)n * txtcnn->hidden;
        draw_mask(pass->key, 3, 0, txtcnn->drop_hidden, all, scratch->hidden_mask);
        for (int64_t j = 0; j < all; j++) scratch->y[i][j] *= scratch->hidden_mask[j];
    }
    return x;
}

/* Adds the losses; in training dy = gradient of their weighted mean. */
static void score_outputs(const struct pass *pass, const real *z, weft_score *score)
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
static struct piece forward_piece(const struct pass *pass, int first)
{
    struct scratch *scratch = pass->scratch;
    struct piece piece = assign_rows(pass, first);
    load_rows(pass, &piece);
    weft_packed_times(piece.rows, scratch->x, scratch->ldx, &scratch->filters.packed, 0,
                      scratch->z, scratch->ldz);
    for (int i = 0; i < piece.n; i++) pool_windows(pass, &piece, i);
    return piece;
}

/* Forward pass over the batch; returns the last piece, whose words are still in rows. */
static struct piece forward(const struct pass *pass, weft_score *score)
{
    const txtcnn_net *txtcnn = pass->txtcnn;
    int d = txtcnn->shape.vector;
    struct scratch *scratch = pass->scratch;
    if (!pass->batch->again) net_matrix_pack(&scratch->filters, pass->w, (size_t)d, 1);
    struct piece piece = {0};
    for (int i = 0; i < pass->batch->n; i += piece.n) piece = forward_piece(pass, i);
    activate_pooled(pass);
    score_outputs(pass, forward_dense(pass), score);
    return piece;
}

void txtcnn_score(const void *self, void *work, const real *w, const weft_batch *batch,
                  weft_score *score)
{
    struct pass pass = {.txtcnn = self, .scratch = work, .batch = batch, .w = w};
    forward(&pass, score);
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
    const struct scratch *scratch = work;
    struct pass pass = {.txtcnn = self, .scratch = work, .batch = batch, .w = w};
    weft_score unused = {0};
    forward(&pass, &unused);
    int last = txtcnn->ndense - 1, c = txtcnn->shape.classes;
    int one = txtcnn->dense[last].out == 1; /* unit: the second class, against 0 */
    size_t wide = (size_t)txtcnn_width(txtcnn);
    const real *x = last > 0 ? scratch->y[last - 1] : scratch->pooled,
               *y = scratch->y[last];
    memcpy(h, x, (size_t)batch->n * wide * sizeof *h);
    for (int i = 0; z && i < batch->n * c; i++)
        z[i] = !one ? y[i] : i % c > 0 ? y[i / c] : 0;
}

/* ---- backward ---- */

/* The backward pass of the dense layers; slope becomes the gradient with respect to the
 * sums of the windows. */
static void backward_dense(const struct pass *pass, real *g)
{
    const txtcnn_net *txtcnn = pass->txtcnn;
    struct scratch *scratch = pass->scratch;
    int n = pass->batch->n, hidden = txtcnn->hidden;
    if (hidden > 0) {
        const weft_layer *layer = &txtcnn->dense[1];
        real *dh = scratch->y[0];
        int64_t all = (int64_t)n * hidden;
        real *dhidden = WEFT_NEW(scratch->dense.tmp, real, all);
        weft_dense_backward(layer, &scratch->dense, pass->w, n,
                            weft_sample_rows(&scratch->dense, n, layer->c, dh), scratch->dy,
                            g, dhidden);
        int drop = txtcnn->drop_hidden > 0;
        for (int64_t i = 0; i < all; i++)
            dh[i] = dh[i] > 0 ? dhidden[i] * (drop ? scratch->hidden_mask[i] : 1) : 0;
    }
    weft_dense_backward(
        &txtcnn->dense[0], &scratch->dense, pass->w, n,
        weft_sample_rows(&scratch->dense, n, txtcnn->filters, scratch->pooled),
        hidden > 0 ? scratch->y[0] : scratch->dy, g, scratch->dpooled);
    int64_t all = (int64_t)n * txtcnn->filters;
    for (int64_t i = 0; i < all; i++) scratch->slope[i] *= scratch->dpooled[i];
    if (!txtcnn->bias) return;
    real *bias = g + txtcnn->bias_at;
    memset(bias, 0, (size_t)txtcnn->filters * sizeof *bias);
    for (int64_t i = 0; i < all; i++) bias[i % txtcnn->filters] += scratch->slope[i];
}

/* Row of word j of the largest window of a filter in document i; -1 if there is none. */
static int64_t row_of(const struct pass *pass, const struct piece *piece, int i, int filter,
                      int j)
{
    const struct scratch *scratch = pass->scratch;
    int32_t from =
        scratch->window[(int64_t)(piece->first + i) * pass->txtcnn->filters + filter];
    int64_t place = (int64_t)from + j;
    if (from == ONLY_ZEROS || place < 0 ||
        place >= scratch->start[i + 1] - scratch->start[i])
        return -1;
    return scratch->row[scratch->start[i] + place];
}

/* Adds a piece's part of the gradient of the filters: to each column a sum of word
 * vectors. */
static void backward_filters(const struct pass *pass, const struct piece *piece, real *g)
{
    const txtcnn_net *txtcnn = pass->txtcnn;
    struct scratch *scratch = pass->scratch;
    int d = txtcnn->shape.vector;
    for (int e = 0; e < txtcnn->groups; e++)
        for (int c = 0; c < txtcnn->group[e].k * txtcnn->group[e].f; c++) {
            int j = c / txtcnn->group[e].f,
                filter = txtcnn->group[e].filter + c % txtcnn->group[e].f;
            int n = 0;
            for (int i = 0; i < piece->n; i++) {
                real dz =
                    scratch->slope[(int64_t)(piece->first + i) * txtcnn->filters + filter];
                int64_t row = dz != 0 ? row_of(pass, piece, i, filter, j) : -1;
                if (row < 0) continue;
                scratch->term.at[n] = (uint32_t)row;
                scratch->term.value[n++] = dz;
            }
            weft_add_rows(n, scratch->term.at, scratch->term.value, d, scratch->x,
                          scratch->ldx, g + (int64_t)(txtcnn->group[e].column + c) * d);
        }
}

/* Entries (row, column, value) of a piece in the order of rows: put 0 counts them, 1 stores
 * them. */
static void sort_entries(const struct pass *pass, const struct piece *piece, int put)
{
    const txtcnn_net *txtcnn = pass->txtcnn;
    struct scratch *scratch = pass->scratch;
    for (int e = 0; e < txtcnn->groups; e++)
        for (int j = 0; j < txtcnn->group[e].k; j++)
            for (int i = 0; i < piece->n; i++)
                for (int f = 0; f < txtcnn->group[e].f; f++) {
                    int filter = txtcnn->group[e].filter + f;
                    real dz =
                        scratch
                            ->slope[(int64_t)(piece->first + i) * txtcnn->filters + filter];
                    int64_t row = dz != 0 ? row_of(pass, piece, i, filter, j) : -1;
                    if (row < 0) continue;
                    int64_t *next = &scratch->term.next[row + 1];
                    if (put) {
                        scratch->term.at[*next] = (uint32_t)(txtcnn->group[e].column +
                                                             j * txtcnn->group[e].f + f);
                        scratch->term.value[*next] = dz;
                    }
                    ++*next;
                }
}

/* Adds a piece's part of the gradient of trained vectors. */
static void backward_vectors(const struct pass *pass, const struct piece *piece, real *g)
{
    const txtcnn_net *txtcnn = pass->txtcnn;
    struct scratch *scratch = pass->scratch;
    int d = txtcnn->shape.vector;
    memset(scratch->term.next, 0, ((size_t)piece->rows + 2) * sizeof *scratch->term.next);
    sort_entries(pass, piece, 0);
    int64_t before = 0;
    for (int r = 0; r <= piece->rows; r++) { /* next[r + 1] = where row r begins */
        int64_t n = scratch->term.next[r + 1];
        scratch->term.next[r + 1] = before;
        before += n;
    }
    sort_entries(pass, piece, 1);
    memset(scratch->dx, 0, (size_t)piece->rows * scratch->ldx * sizeof *scratch->dx);
    for (int r = 0; r < piece->rows; r++) {
        int64_t from = r > 0 ? scratch->term.next[r] : 0;
        weft_add_rows((int)(scratch->term.next[r + 1] - from), scratch->term.at + from,
                      scratch->term.value + from, d, pass->w, (size_t)d,
                      scratch->dx + (size_t)r * scratch->ldx);
    }
    if (drops_input(pass)) mask_rows(pass, piece, 1, scratch->dx);
    for (int r = 0; r < piece->rows; r++) {
        int64_t row = pass->batch->place ? pass->batch->place[scratch->word[r]]
                                         : (int64_t)scratch->word[r] + 1;
        real *to = g + txtcnn->embed + row * d;
        const real *dx = scratch->dx + (size_t)r * scratch->ldx;
        for (int j = 0; j < d; j++) to[j] += dx[j];
    }
}

void txtcnn_grad(const void *self, void *work, const real *w, const weft_batch *batch,
                 double dropout, uint64_t key, real *g, weft_score *score)
{
    const txtcnn_net *txtcnn = self;
    struct pass pass = {.txtcnn = txtcnn,
                        .scratch = work,
                        .batch = batch,
                        .w = w,
                        .train = 1,
                        .key = key,
                        .drop_pooled = 1 - (1 - txtcnn->drop_pooled) * (1 - dropout)};
    weft_arena *tmp = pass.scratch->dense.tmp;
    WEFT_REWIND(tmp);
    struct piece piece = forward(&pass, score);
    backward_dense(&pass, g);
    memset(g, 0, (size_t)txtcnn->bias_at * sizeof *g);
    int64_t table = batch->place ? (int64_t)batch->places * txtcnn->shape.vector
                                 : txtcnn->all - txtcnn->embed;
    memset(g + txtcnn->embed, 0, (size_t)table * sizeof *g);
    int whole = piece.first == 0;
    for (int i = 0; i < batch->n; i += piece.n) {
        if (!whole) {
            piece = assign_rows(&pass, i);
            load_rows(&pass, &piece);
        }
        backward_filters(&pass, &piece, g);
        if (txtcnn->channels != TXTCNN_STATIC) backward_vectors(&pass, &piece, g);
    }
}
