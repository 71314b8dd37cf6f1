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

static void dense_work(const txtcnn *t, txtcnn_scratch *s, int most, weft_arena *mem)
{
    size_t packed = 0, transposed = 0, units = 0;
    for (int i = 0; i < t->ndense; i++) {
        const weft_layer *l = &t->dense[i];
        size_t p = weft_dense_packed(l, most), n = (size_t)most * (size_t)l->out;
        packed = p > packed ? p : packed;
        transposed = n > transposed ? n : transposed;
        units = n > units ? n : units;
        s->y[i] = WEFT_NEW(mem, real, n);
    }
    s->dy = WEFT_NEW(mem, real, units);
    s->hidden_mask = WEFT_NEW(mem, real, (int64_t)most * t->hidden);
    s->dense.packed = weft_arena_alloc(mem, packed, 1);
    s->dense.transposed = WEFT_NEW(mem, real, transposed);
    s->dense.row = WEFT_NEW(mem, const real *, most);
    s->dense.tmp = mem;
}

void *txtcnn_work(const void *self, int most, weft_arena *mem)
{
    const txtcnn *t = self;
    txtcnn_scratch *s = WEFT_NEW(mem, txtcnn_scratch, 1);
    int64_t all = most * t->shape.d, outputs = (int64_t)most * t->filters;
    s->room = all < TXTCNN_PIECE          ? all
              : TXTCNN_PIECE > t->shape.d ? TXTCNN_PIECE
                                          : t->shape.d;
    if (s->room < 1) s->room = 1;
    s->ldx = stride(t->shape.vector);
    s->ldz = stride(t->columns);
    s->row_of_word = WEFT_NEW(mem, int32_t, t->shape.words);
    for (int64_t i = 0; i < t->shape.words; i++) s->row_of_word[i] = -1;
    s->word = WEFT_NEW(mem, uint32_t, s->room);
    s->row = WEFT_NEW(mem, uint32_t, s->room);
    s->start = WEFT_NEW(mem, int64_t, most + 1);
    s->x = WEFT_NEW(mem, real, (size_t)s->room * s->ldx);
    s->z = WEFT_NEW(mem, real, (size_t)s->room * s->ldz);
    s->packed = weft_arena_alloc(mem, weft_packed_bytes(t->shape.vector, t->columns), 1);
    s->sum = WEFT_NEW(mem, real, t->filters);
    s->pooled = WEFT_NEW(mem, real, outputs);
    s->slope = WEFT_NEW(mem, real, outputs);
    s->window = WEFT_NEW(mem, int32_t, outputs);
    s->dpooled = WEFT_NEW(mem, real, outputs);
    s->mask = WEFT_NEW(mem, real, s->ldx);
    int64_t entries = t->channels == TXTCNN_STATIC ? most : (int64_t)most * t->columns;
    s->at = WEFT_NEW(mem, uint32_t, entries);
    s->value = WEFT_NEW(mem, real, entries);
    if (t->channels != TXTCNN_STATIC) {
        s->dx = WEFT_NEW(mem, real, (size_t)s->room * s->ldx);
        s->next = WEFT_NEW(mem, int64_t, s->room + 2);
    }
    dense_work(t, s, most, mem);
    return s;
}

/* ---- forward ---- */

/* Windows of k words of a document of n words: those with at least one word begin at from
 * .. to; zeros 1: a window of padding alone counts as well. */
typedef struct range {
    int from, to, zeros;
} range;

static range range_of(const txtcnn *t, int k, int n)
{
    int longest = (int)t->padded;
    range r = {.from = 1 - k, .to = n - 1, .zeros = n == 0};
    if (n == 0) r.to = r.from - 1;
    if (t->literal == TXTCNN_KIM)
        r.zeros |= t->widest > k || longest - n + t->widest - 1 >= k;
    if (t->literal == TXTCNN_HADER) {
        r.from = 0;
        r.to = min(n - 1, longest - k);
        r.zeros |= longest - n >= k;
    }
    return r;
}

/* sum[f] = sums of the filters of a group over the window that begins at `from`. */
static void add_window(const txtcnn_scratch *s, const txtcnn_group *g, const uint32_t *row,
                       int n, int from, real *sum)
{
    int first = from < 0 ? -from : 0, end = min(g->k, n - from);
    for (int j = first; j < end; j++) {
        const real *z = s->z + row[from + j] * s->ldz + g->column + j * g->f;
        for (int i = 0; i < g->f; i++) sum[i] = j == first ? z[i] : sum[i] + z[i];
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

static void pool_windows(const txtcnn_pass *p, const txtcnn_piece *q, int i)
{
    const txtcnn *t = p->t;
    txtcnn_scratch *s = p->s;
    int n = p->b->length[q->first + i];
    const uint32_t *row = s->row + s->start[i];
    for (int e = 0; e < t->groups; e++) {
        const txtcnn_group *g = &t->group[e];
        int64_t at = (int64_t)(q->first + i) * t->filters + g->filter;
        range r = range_of(t, g->k, n);
        for (int j = 0; j < g->f; j++) {
            s->pooled[at + j] = r.zeros ? 0 : -INFINITY;
            s->window[at + j] = TXTCNN_ZEROS;
        }
        for (int from = r.from; from <= r.to; from++) {
            add_window(s, g, row, n, from, s->sum);
            update_max(g->f, s->sum, from, s->pooled + at, s->window + at);
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
static void activate_pooled(const txtcnn_pass *p)
{
    const txtcnn *t = p->t;
    txtcnn_scratch *s = p->s;
    const real *bias = t->bias ? p->w + t->bias_at : NULL;
    for (int i = 0; i < p->b->n; i++) {
        int64_t at = (int64_t)i * t->filters;
        for (int j = 0; j < t->filters; j++)
            s->pooled[at + j] = activate(
                t->activation, s->pooled[at + j] + (bias ? bias[j] : 0), s->slope + at + j);
        if (!p->train || !(p->drop_pooled > 0)) continue;
        real *mask = s->dpooled + at;
        txtcnn_mask(p->key, 2, (uint64_t)i, p->drop_pooled, t->filters, mask);
        for (int j = 0; j < t->filters; j++) {
            s->pooled[at + j] *= mask[j];
            s->slope[at + j] *= mask[j];
        }
    }
}

/* y = outputs of the dense layers. Returns those of the last. */
static const real *forward_dense(const txtcnn_pass *p)
{
    const txtcnn *t = p->t;
    txtcnn_scratch *s = p->s;
    int n = p->b->n;
    const real *x = s->pooled;
    for (int i = 0; i < t->ndense; i++) {
        weft_dense_forward(&t->dense[i], &s->dense, p->w, n,
                           weft_sample_rows(&s->dense, n, t->dense[i].c, x), s->y[i]);
        x = s->y[i];
        if (i + 1 == t->ndense || !p->train || !(t->drop_hidden > 0)) continue;
        int64_t all = (int64_t)n * t->hidden;
        txtcnn_mask(p->key, 3, 0, t->drop_hidden, all, s->hidden_mask);
        for (int64_t j = 0; j < all; j++) s->y[i][j] *= s->hidden_mask[j];
    }
    return x;
}

/* Adds the losses; in training dy = gradient of their weighted mean. */
static void score_outputs(const txtcnn_pass *p, const real *z, weft_score *score)
{
    const txtcnn *t = p->t;
    const weft_batch *b = p->b;
    int outputs = t->dense[t->ndense - 1].out;
    real *dy = p->s->dy;
    for (int i = 0; i < b->n; i++) {
        double share = (b->weight ? b->weight[i] : 1) / b->n;
        if (outputs > 1) {
            weft_softmax(outputs, z + (int64_t)i * outputs, b->label[i], share,
                         p->train ? dy + (int64_t)i * outputs : NULL, score);
            continue;
        }
        real two[2] = {0, z[i]};
        weft_softmax(2, two, b->label[i], share, p->train ? two : NULL, score);
        if (p->train) dy[i] = two[1];
    }
}

/* Rows, product and windows of the documents from `first` on. */
static txtcnn_piece forward_piece(const txtcnn_pass *p, int first)
{
    txtcnn_scratch *s = p->s;
    txtcnn_piece q = txtcnn_assign_rows(p, first);
    txtcnn_load(p, &q);
    weft_packed_times(q.rows, s->x, s->ldx, &s->filters, 0, s->z, s->ldz);
    for (int i = 0; i < q.n; i++) pool_windows(p, &q, i);
    return q;
}

txtcnn_piece txtcnn_forward(const txtcnn_pass *p, weft_score *score)
{
    const txtcnn *t = p->t;
    int d = t->shape.vector;
    txtcnn_scratch *s = p->s;
    if (!p->b->again)
        weft_packed_pack(&s->filters, d, t->columns, p->w, (size_t)d, 1, s->packed);
    txtcnn_piece q = {0};
    for (int i = 0; i < p->b->n; i += q.n) q = forward_piece(p, i);
    activate_pooled(p);
    score_outputs(p, forward_dense(p), score);
    return q;
}

void txtcnn_score(const void *self, void *work, const real *w, const weft_batch *b,
                  weft_score *s)
{
    txtcnn_pass p = {.t = self, .s = work, .b = b, .w = w};
    txtcnn_forward(&p, s);
}
