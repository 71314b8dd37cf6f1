/* Forward and backward pass of the network over sentences. All filters of all windows are
 * one product, [words][vector] by [vector][columns], of each distinct word of a piece of
 * the batch once (of each word, where a step drops numbers of vectors). What filter i of a
 * window answers is the sum over its words j of the entries (word, column of j and i): rows
 * of the product are added under a shift. All activations rise, so only the largest sum of
 * a filter meets its bias and the activation, and only its window is seen on the way back:
 * the gradient of a column is a sum of the vectors of a few words, and that of a word a sum
 * of a few columns. */
#include "softmax.h"
#include "txtcnn.h"

#include <math.h>
#include <string.h>

enum {
    PIECE = 1024,       /* rows of the product at once */
    NOWHERE = INT32_MIN /* the window of zeros alone */
};
#define SELU_SCALE 1.0507009873554804934 /* Klambauer et al., NIPS 2017 */
#define SELU_ALPHA 1.6732632423543772848

/* Documents whose words are in rows. */
typedef struct piece {
    int first, n; /* of the batch */
    int rows;
} piece;

typedef struct scratch {
    int32_t *seat;  /* [words] row of a word, -1: none */
    uint32_t *word; /* [rows] */
    uint32_t *row;  /* [tokens] of each word of the piece, in order */
    int64_t *start; /* [most + 1] tokens of the piece before a document */
    int64_t room;   /* rows and tokens that there is room for */
    real *x;        /* [rows][ldx] vectors */
    real *z;        /* [rows][ldz] product */
    real *dx;       /* [rows][ldx]; NULL where vectors stay */
    size_t ldx, ldz;
    void *packed;    /* weights of the filters */
    real *sum;       /* [filters] of one window */
    real *top;       /* [most][filters] largest sum, then the answer */
    real *slope;     /* [most][filters] of the answer by its sum; times its gradient */
    int32_t *window; /* [most][filters] where it began; NOWHERE */
    real *mask;      /* [ldx] of a vector */
    real *y[2], *dy; /* [most][units] of the dense layers */
    real *kept;      /* [most][hidden] what dropout multiplies by */
    real *answer;    /* [most][filters] gradient by the answers */
    uint32_t *at;    /* [entries] of a sum of rows */
    real *value;     /* [entries] */
    int64_t *next;   /* [rows + 1] entries before that of a row */
    weft_scratch dense;
} scratch;

/* What a pass is told. */
typedef struct pass {
    const txtcnn *t;
    scratch *s;
    const weft_batch *b;
    const real *w;
    int train;
    uint64_t key;
    double drop_pooled;
} pass;

static int least_of(int a, int b)
{
    return a < b ? a : b;
}

/* ---- memory ------------------------------------------------------------------------- */

/* A row length of an odd number of cache lines, so that the rows of a tile do not fall on
 * the same sets of the cache. */
static size_t stride(int64_t n)
{
    const size_t line = 64 / sizeof(real);
    return (((size_t)n + line - 1) / line | 1) * line;
}

static void dense_work(const txtcnn *t, scratch *s, int most, weft_arena *mem)
{
    size_t packed = 0, turned = 0, units = 0;
    for (int i = 0; i < t->ndense; i++) {
        const weft_layer *l = &t->dense[i];
        const size_t p = weft_dense_packed(l, most), n = (size_t)most * (size_t)l->out;
        packed = p > packed ? p : packed;
        turned = n > turned ? n : turned;
        units = n > units ? n : units;
        s->y[i] = WEFT_NEW(mem, real, n);
    }
    s->dy = WEFT_NEW(mem, real, units);
    s->kept = WEFT_NEW(mem, real, (int64_t)most * t->hidden);
    s->dense.packed = weft_arena_get(mem, packed, 1);
    s->dense.turned = WEFT_NEW(mem, real, turned);
    s->dense.tmp = mem;
}

void *txtcnn_work(const void *self, int most, weft_arena *mem)
{
    const txtcnn *t = self;
    scratch *s = WEFT_NEW(mem, scratch, 1);
    const int64_t all = most * t->shape.d, answers = (int64_t)most * t->filters;
    s->room = all < PIECE ? all : PIECE > t->shape.d ? PIECE : t->shape.d;
    if (s->room < 1) s->room = 1;
    s->ldx = stride(t->shape.vector);
    s->ldz = stride(t->columns);
    s->seat = WEFT_NEW(mem, int32_t, t->shape.words);
    for (int64_t i = 0; i < t->shape.words; i++) s->seat[i] = -1;
    s->word = WEFT_NEW(mem, uint32_t, s->room);
    s->row = WEFT_NEW(mem, uint32_t, s->room);
    s->start = WEFT_NEW(mem, int64_t, most + 1);
    s->x = WEFT_NEW(mem, real, (size_t)s->room * s->ldx);
    s->z = WEFT_NEW(mem, real, (size_t)s->room * s->ldz);
    s->packed = weft_arena_get(mem, weft_packed_bytes(t->shape.vector, t->columns), 1);
    s->sum = WEFT_NEW(mem, real, t->filters);
    s->top = WEFT_NEW(mem, real, answers);
    s->slope = WEFT_NEW(mem, real, answers);
    s->window = WEFT_NEW(mem, int32_t, answers);
    s->answer = WEFT_NEW(mem, real, answers);
    s->mask = WEFT_NEW(mem, real, s->ldx);
    const int64_t entries =
        t->channels == TXTCNN_STATIC ? most : (int64_t)most * t->columns;
    s->at = WEFT_NEW(mem, uint32_t, entries);
    s->value = WEFT_NEW(mem, real, entries);
    if (t->channels != TXTCNN_STATIC) {
        s->dx = WEFT_NEW(mem, real, (size_t)s->room * s->ldx);
        s->next = WEFT_NEW(mem, int64_t, s->room + 2);
    }
    dense_work(t, s, most, mem);
    return s;
}

/* ---- dropout ------------------------------------------------------------------------ */

/* Each of m[n] becomes 0 with that probability, else what keeps the mean; a function of
 * key, layer and place. */
static void draw_mask(uint64_t key, int layer, uint64_t place, double share, int64_t n,
                      real *m)
{
    const double bound = share * 0x1p32; /* on 32 bits */
    const real scale = (real)(share < 1 ? 1 / (1 - share) : 0);
    for (int64_t i = 0; i < n; i += 8) {
        const weft_rng4 r =
            weft_rng_at(key, WEFT_RNG_DROPOUT, (uint64_t)layer, place, (uint64_t)i / 8);
        for (int64_t e = 0; e < 8 && i + e < n; e++)
            m[i + e] = (uint32_t)(r.v[e / 2] >> (e % 2 * 32)) < bound ? 0 : scale;
    }
}

static int drops_input(const pass *p)
{
    return p->train && p->t->drop_input > 0;
}

/* x[vector] of a word times its mask; word `place` of the batch's document i. */
static void mask_vector(const pass *p, int channel, int i, int64_t place, real *x)
{
    const int d = p->t->shape.vector;
    real *m = p->s->mask;
    draw_mask(p->key, channel, (uint64_t)i << 32 | (uint64_t)place, p->t->drop_input, d, m);
    for (int j = 0; j < d; j++) x[j] *= m[j];
}

/* ---- words -------------------------------------------------------------------------- */

/* The next documents that fit, and the rows of their words. */
static piece seat_words(const pass *p, int first)
{
    scratch *s = p->s;
    const weft_batch *b = p->b;
    const int apart = drops_input(p);
    piece q = {.first = first};
    int64_t tokens = 0;
    while (first + q.n < b->n && tokens + b->length[first + q.n] <= s->room) {
        const uint32_t *word = b->word[first + q.n];
        s->start[q.n] = tokens;
        for (int i = 0; i < b->length[first + q.n]; i++) {
            weft_check(word[i] < p->t->shape.words, "word %u", (unsigned)word[i]);
            int32_t *seat = &s->seat[word[i]];
            if (*seat < 0 || apart) {
                *seat = q.rows;
                s->word[q.rows++] = word[i];
            }
            s->row[tokens++] = (uint32_t)*seat;
        }
        q.n++;
    }
    weft_check(q.n > 0, "a document longer than the longest");
    s->start[q.n] = tokens;
    for (int r = 0; r < q.rows; r++) s->seat[s->word[r]] = -1;
    return q;
}

/* Which document's which word a row is, where each word has a row of its own. */
static void mask_rows(const pass *p, const piece *q, int channel, real *x)
{
    for (int i = 0; i < q->n; i++)
        for (int64_t e = p->s->start[i]; e < p->s->start[i + 1]; e++)
            mask_vector(p, channel, q->first + i, e - p->s->start[i],
                        x + (size_t)e * p->s->ldx);
}

/* x = the vectors of the rows, of both channels added where there are two. */
static void load_vectors(const pass *p, const piece *q)
{
    const txtcnn *t = p->t;
    scratch *s = p->s;
    const int d = t->shape.vector, apart = drops_input(p);
    for (int r = 0; r < q->rows && t->channels != TXTCNN_NONSTATIC; r++) {
        const float *from = t->shape.vectors + (int64_t)s->word[r] * d;
        real *x = s->x + (size_t)r * s->ldx;
        for (int j = 0; j < d; j++) x[j] = (real)from[j];
    }
    if (apart && t->channels != TXTCNN_NONSTATIC) mask_rows(p, q, 0, s->x);
    if (t->channels == TXTCNN_STATIC) return;
    for (int r = 0; r < q->rows; r++) {
        const real *from = p->w + t->embed + ((int64_t)s->word[r] + 1) * d;
        memcpy(s->dx + (size_t)r * s->ldx, from, (size_t)d * sizeof *from);
    }
    if (apart) mask_rows(p, q, 1, s->dx);
    for (size_t i = 0; i < (size_t)q->rows * s->ldx; i++)
        s->x[i] = t->channels == TXTCNN_MULTI ? s->x[i] + s->dx[i] : s->dx[i];
}

/* ---- forward ------------------------------------------------------------------------ */

/* Windows of k words of a document of n: those that hold a word begin at from .. to; and
 * whether one of zeros alone competes with them. */
typedef struct range {
    int from, to, zeros;
} range;

static range range_of(const txtcnn *t, int k, int n)
{
    const int longest = (int)t->shape.d;
    range r = {.from = 1 - k, .to = n - 1, .zeros = n == 0};
    if (n == 0) r.to = r.from - 1;
    if (t->literal == TXTCNN_KIM)
        r.zeros |= t->widest > k || longest - n + t->widest - 1 >= k;
    if (t->literal == TXTCNN_HADER) {
        r.from = 0;
        r.to = least_of(n - 1, longest - k);
        r.zeros |= longest - n >= k;
    }
    return r;
}

/* sum[f] = what the filters of a group answer to the window that begins at `from`. */
static void add_window(const scratch *s, const txtcnn_group *g, const uint32_t *row, int n,
                       int from, real *restrict sum)
{
    const int first = from < 0 ? -from : 0, end = least_of(g->k, n - from);
    for (int j = first; j < end; j++) {
        const real *z = s->z + row[from + j] * s->ldz + g->column + j * g->f;
        for (int i = 0; i < g->f; i++) sum[i] = j == first ? z[i] : sum[i] + z[i];
    }
}

/* What is no number counts as larger, so that it is seen. */
static void keep_largest(int f, const real *restrict sum, int32_t from, real *restrict top,
                         int32_t *restrict window)
{
    for (int i = 0; i < f; i++) {
        const int more = !(sum[i] <= top[i]);
        top[i] = more ? sum[i] : top[i];
        window[i] = more ? from : window[i];
    }
}

static void find_windows(const pass *p, const piece *q, int i)
{
    const txtcnn *t = p->t;
    scratch *s = p->s;
    const int n = p->b->length[q->first + i];
    const uint32_t *row = s->row + s->start[i];
    for (int e = 0; e < t->groups; e++) {
        const txtcnn_group *g = &t->group[e];
        const int64_t at = (int64_t)(q->first + i) * t->filters + g->filter;
        const range r = range_of(t, g->k, n);
        for (int j = 0; j < g->f; j++) {
            s->top[at + j] = r.zeros ? 0 : -INFINITY;
            s->window[at + j] = NOWHERE;
        }
        for (int from = r.from; from <= r.to; from++) {
            add_window(s, g, row, n, from, s->sum);
            keep_largest(g->f, s->sum, from, s->top + at, s->window + at);
        }
    }
}

/* The activation of u, and its slope there. Computed in double, whose rounding to reals
 * hides how a library rounds its functions. */
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
            const double e = SELU_SCALE * SELU_ALPHA * expm1(y);
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

/* top = the answers of the filters; slope as said there. */
static void answer(const pass *p)
{
    const txtcnn *t = p->t;
    scratch *s = p->s;
    const real *bias = t->bias ? p->w + t->bias_at : NULL;
    for (int i = 0; i < p->b->n; i++) {
        const int64_t at = (int64_t)i * t->filters;
        for (int j = 0; j < t->filters; j++)
            s->top[at + j] = activate(t->activation, s->top[at + j] + (bias ? bias[j] : 0),
                                      s->slope + at + j);
        if (!p->train || !(p->drop_pooled > 0)) continue;
        real *kept = s->answer + at;
        draw_mask(p->key, 2, (uint64_t)i, p->drop_pooled, t->filters, kept);
        for (int j = 0; j < t->filters; j++) {
            s->top[at + j] *= kept[j];
            s->slope[at + j] *= kept[j];
        }
    }
}

/* y = the outputs of the dense layers. Returns those of the last. */
static const real *read_answers(const pass *p)
{
    const txtcnn *t = p->t;
    scratch *s = p->s;
    const int n = p->b->n;
    const real *x = s->top;
    for (int i = 0; i < t->ndense; i++) {
        weft_dense_forward(&t->dense[i], &s->dense, p->w, n, x, s->y[i]);
        x = s->y[i];
        if (i + 1 == t->ndense || !p->train || !(t->drop_hidden > 0)) continue;
        const int64_t all = (int64_t)n * t->hidden;
        draw_mask(p->key, 3, 0, t->drop_hidden, all, s->kept);
        for (int64_t j = 0; j < all; j++) s->y[i][j] *= s->kept[j];
    }
    return x;
}

/* Adds the losses; where it trains, dy = the gradient of the weighted mean. */
static void score_outputs(const pass *p, const real *z, weft_score *score)
{
    const txtcnn *t = p->t;
    const weft_batch *b = p->b;
    const int outputs = t->dense[t->ndense - 1].out;
    real *dy = p->s->dy;
    for (int i = 0; i < b->n; i++) {
        const double share = (b->weight ? b->weight[i] : 1) / b->n;
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
static piece see(const pass *p, int first, const weft_packed *filters)
{
    scratch *s = p->s;
    const piece q = seat_words(p, first);
    load_vectors(p, &q);
    weft_packed_times(q.rows, s->x, s->ldx, filters, 0, s->z, s->ldz);
    for (int i = 0; i < q.n; i++) find_windows(p, &q, i);
    return q;
}

/* The sums of a forward pass; returns the last piece, whose words are still in rows. */
static piece forward(const pass *p, weft_score *score)
{
    const txtcnn *t = p->t;
    const int d = t->shape.vector;
    weft_packed filters;
    weft_packed_pack(&filters, d, t->columns, p->w, (size_t)d, 1, p->s->packed);
    piece q = {0};
    for (int i = 0; i < p->b->n; i += q.n) q = see(p, i, &filters);
    answer(p);
    score_outputs(p, read_answers(p), score);
    return q;
}

void txtcnn_score(const void *self, void *work, const real *w, const weft_batch *b,
                  weft_score *s)
{
    const pass p = {.t = self, .s = work, .b = b, .w = w};
    forward(&p, s);
}

/* ---- backward ----------------------------------------------------------------------- */

/* Through the dense layers; slope becomes the gradient by the sums of the windows. */
static void backward_dense(const pass *p, real *g)
{
    const txtcnn *t = p->t;
    scratch *s = p->s;
    const int n = p->b->n, hidden = t->hidden;
    if (hidden > 0) {
        const weft_layer *l = &t->dense[1];
        real *dh = s->y[0];
        const int64_t all = (int64_t)n * hidden;
        real *held = WEFT_NEW(s->dense.tmp, real, all);
        weft_dense_backward(l, &s->dense, p->w, n, dh, s->dy, g, held);
        const int drop = t->drop_hidden > 0;
        for (int64_t i = 0; i < all; i++)
            dh[i] = dh[i] > 0 ? held[i] * (drop ? s->kept[i] : 1) : 0;
    }
    weft_dense_backward(&t->dense[0], &s->dense, p->w, n, s->top,
                        hidden > 0 ? s->y[0] : s->dy, g, s->answer);
    const int64_t all = (int64_t)n * t->filters;
    for (int64_t i = 0; i < all; i++) s->slope[i] *= s->answer[i];
    if (!t->bias) return;
    real *bias = g + t->bias_at;
    memset(bias, 0, (size_t)t->filters * sizeof *bias);
    for (int64_t i = 0; i < all; i++) bias[i % t->filters] += s->slope[i];
}

/* The row of word j of the window of a filter of document i, if it has one; -1. */
static int64_t row_of(const pass *p, const piece *q, int i, int filter, int j)
{
    const scratch *s = p->s;
    const int32_t from = s->window[(int64_t)(q->first + i) * p->t->filters + filter];
    const int64_t place = (int64_t)from + j;
    if (from == NOWHERE || place < 0 || place >= s->start[i + 1] - s->start[i]) return -1;
    return s->row[s->start[i] + place];
}

/* Adds to the weights' gradient what a piece gives: to each column the vectors of words. */
static void backward_filters(const pass *p, const piece *q, real *g)
{
    const txtcnn *t = p->t;
    scratch *s = p->s;
    const int d = t->shape.vector;
    for (int e = 0; e < t->groups; e++)
        for (int c = 0; c < t->group[e].k * t->group[e].f; c++) {
            const int j = c / t->group[e].f,
                      filter = t->group[e].filter + c % t->group[e].f;
            int n = 0;
            for (int i = 0; i < q->n; i++) {
                const real dz = s->slope[(int64_t)(q->first + i) * t->filters + filter];
                const int64_t row = dz != 0 ? row_of(p, q, i, filter, j) : -1;
                if (row < 0) continue;
                s->at[n] = (uint32_t)row;
                s->value[n++] = dz;
            }
            weft_add_rows(n, s->at, s->value, d, s->x, s->ldx,
                          g + (int64_t)(t->group[e].column + c) * d);
        }
}

/* The entries (row, column, value) of a piece by rows: counted first, then put in place. */
static void sort_entries(const pass *p, const piece *q, int put)
{
    const txtcnn *t = p->t;
    scratch *s = p->s;
    for (int e = 0; e < t->groups; e++)
        for (int j = 0; j < t->group[e].k; j++)
            for (int i = 0; i < q->n; i++)
                for (int f = 0; f < t->group[e].f; f++) {
                    const int filter = t->group[e].filter + f;
                    const real dz = s->slope[(int64_t)(q->first + i) * t->filters + filter];
                    const int64_t row = dz != 0 ? row_of(p, q, i, filter, j) : -1;
                    if (row < 0) continue;
                    int64_t *next = &s->next[row + 1];
                    if (put) {
                        s->at[*next] =
                            (uint32_t)(t->group[e].column + j * t->group[e].f + f);
                        s->value[*next] = dz;
                    }
                    ++*next;
                }
}

/* Adds to the gradient of trained vectors what a piece gives. */
static void backward_vectors(const pass *p, const piece *q, real *g)
{
    const txtcnn *t = p->t;
    scratch *s = p->s;
    const int d = t->shape.vector;
    memset(s->next, 0, ((size_t)q->rows + 2) * sizeof *s->next);
    sort_entries(p, q, 0);
    int64_t before = 0;
    for (int r = 0; r <= q->rows; r++) { /* next[r + 1] = where row r begins */
        const int64_t n = s->next[r + 1];
        s->next[r + 1] = before;
        before += n;
    }
    sort_entries(p, q, 1);
    memset(s->dx, 0, (size_t)q->rows * s->ldx * sizeof *s->dx);
    for (int r = 0; r < q->rows; r++) {
        const int64_t from = r > 0 ? s->next[r] : 0;
        weft_add_rows((int)(s->next[r + 1] - from), s->at + from, s->value + from, d, p->w,
                      (size_t)d, s->dx + (size_t)r * s->ldx);
    }
    if (drops_input(p)) mask_rows(p, q, 1, s->dx);
    for (int r = 0; r < q->rows; r++) {
        real *to = g + t->embed + ((int64_t)s->word[r] + 1) * d;
        const real *dx = s->dx + (size_t)r * s->ldx;
        for (int j = 0; j < d; j++) to[j] += dx[j];
    }
}

void txtcnn_grad(const void *self, void *work, const real *w, const weft_batch *b,
                 double dropout, uint64_t key, real *g, weft_score *score)
{
    const txtcnn *t = self;
    const pass p = {.t = t,
                    .s = work,
                    .b = b,
                    .w = w,
                    .train = 1,
                    .key = key,
                    .drop_pooled = 1 - (1 - t->drop_pooled) * (1 - dropout)};
    weft_arena *tmp = p.s->dense.tmp;
    const size_t mark = weft_arena_mark(tmp);
    piece q = forward(&p, score);
    backward_dense(&p, g);
    memset(g, 0, (size_t)t->bias_at * sizeof *g);
    memset(g + t->embed, 0, (size_t)(t->all - t->embed) * sizeof *g);
    const int whole = q.first == 0;
    for (int i = 0; i < b->n; i += q.n) {
        if (!whole) {
            q = seat_words(&p, i);
            load_vectors(&p, &q);
        }
        backward_filters(&p, &q, g);
        if (t->channels != TXTCNN_STATIC) backward_vectors(&p, &q, g);
    }
    weft_arena_reset(tmp, mark);
}
