/* Forward and backward pass of the character LSTM. Work that does not depend on the
 * previous step is done for all steps at once:
 *   - the first layer's input is a table with a row of gates for each symbol;
 *   - a later layer's input is one product over all steps, and so are the gradient with
 *     respect to it and the gradients of all matrices.
 * The rest, one product with the recurrent weights for each step, is done layer by layer,
 * so that one matrix stays in cache. Batches are split into parts of a few samples, so that
 * the gates stay in cache as well. */
#include "lstm.h"
#include "softmax.h"
#include "weft/cells.h"
#include "weft/gemm.h"
#include "weft/rng.h"

#include <math.h>
#include <string.h>

enum {
    PART_SAMPLES = 14,    /* samples at once: a tile of rows; their gates stay in cache */
    DROP_SCALE = 1 << 16, /* dropout rates are multiples of 1/DROP_SCALE */
    PER_DRAW = 16         /* of them in the four words of a random number */
};

/* Packed weights and the memory they are in. */
typedef struct matrix {
    weft_packed p;
    void *mem;
} matrix;

typedef struct layer {
    matrix ih, hh;           /* forward: k = in, h; m = 4h */
    matrix ih_back, hh_back; /* k = 4h; m = in, h */
    real *z, *c, *y;         /* [d][n][ldz], [d][n][ld], [d][n][ld] */
    const real *x;           /* [d][n][ld] input: y of the layer below, after dropout */
    real *masked;            /* [d][n][ld] y after dropout; not of the last layer */
    real *bias;              /* [4h] sum of the biases */
    real *dbias;             /* [4h] */
} layer;

typedef struct scratch {
    layer layer[LSTM_MAX_LAYERS];
    matrix dense, dense_back;
    size_t ld, ldz, ldc;
    real *table, *dtable; /* [classes][4h] gates of each symbol, with the first layer's
                             biases, and the gradient with respect to them */
    real *dy;             /* [d][n][ld] */
    real *dc;             /* [n][ld] */
    real *logit;          /* [d or 1][n][ldc] */
    const real **input;   /* [n] added to the gates of each sample */
    real **dinput;        /* [n] sums of the gradients with respect to these */
    weft_arena *mem;
} scratch;

/* One part of a batch. */
typedef struct part {
    const lstm_net *t;
    scratch *s;
    const uint8_t *const *text; /* [n] */
    int first, n;               /* samples of the batch */
    int share;                  /* dropout rate, in 1/DROP_SCALE */
    uint64_t key;
} part;

/* ---- memory ---- */

/* Offset of the next n numbers of the weight vector. */
static int64_t reserve(int64_t *end, int64_t n)
{
    *end += n;
    return *end - n;
}

lstm_offsets lstm_offsets_of(const lstm_net *lstm)
{
    int64_t h = lstm->hidden, classes = lstm->shape.classes;
    lstm_offsets at = {.embed = 0, .all = classes * lstm->embedding};
    for (int l = 0; l < lstm->layers; l++) {
        at.layer[l].ih = reserve(&at.all, 4 * h * (l ? h : lstm->embedding));
        at.layer[l].hh = reserve(&at.all, 4 * h * h);
        at.layer[l].bias[0] = at.layer[l].bias[1] = reserve(&at.all, 4 * h);
        if (lstm->biases == 2) at.layer[l].bias[1] = reserve(&at.all, 4 * h);
    }
    at.dense = reserve(&at.all, classes * h);
    at.bias = reserve(&at.all, classes);
    return at;
}

/* A leading dimension of an odd number of cache lines, so that the rows of a tile do not
 * share cache sets. */
static size_t stride(int64_t n)
{
    size_t line = 64 / sizeof(real);
    return (((size_t)n + line - 1) / line | 1) * line;
}

static matrix matrix_new(int k, int m, weft_arena *mem)
{
    return (matrix){.p = {.k = k, .m = m},
                    .mem = weft_arena_alloc(mem, 1, weft_packed_bytes(k, m))};
}

void *lstm_work(const void *self, int most, weft_arena *mem)
{
    const lstm_net *lstm = self;
    int h = lstm->hidden, classes = lstm->shape.classes;
    size_t n = (size_t)(most < PART_SAMPLES ? most : PART_SAMPLES),
           rows = n * (size_t)lstm->shape.d;
    scratch *s = WEFT_NEW(mem, scratch, 1);
    s->mem = mem;
    s->ld = stride(h);
    s->ldz = stride(4 * (int64_t)h);
    s->ldc = stride(classes);
    for (int l = 0; l < lstm->layers; l++) {
        layer *y = &s->layer[l];
        y->hh = matrix_new(h, 4 * h, mem);
        y->hh_back = matrix_new(4 * h, h, mem);
        y->ih = matrix_new(l ? h : lstm->embedding, 4 * h, mem);
        y->ih_back = matrix_new(4 * h, l ? h : lstm->embedding, mem);
        y->z = WEFT_NEW(mem, real, rows * s->ldz);
        y->c = WEFT_NEW(mem, real, rows * s->ld);
        y->y = WEFT_NEW(mem, real, rows * s->ld);
        if (l + 1 < lstm->layers) y->masked = WEFT_NEW(mem, real, rows * s->ld);
        y->bias = WEFT_NEW(mem, real, 4 * h);
        y->dbias = WEFT_NEW(mem, real, 4 * h);
    }
    s->dense = matrix_new(h, classes, mem);
    s->dense_back = matrix_new(classes, h, mem);
    s->table = WEFT_NEW(mem, real, classes * 4 * h);
    s->dtable = WEFT_NEW(mem, real, classes * 4 * h);
    s->dy = WEFT_NEW(mem, real, rows * s->ld);
    s->dc = WEFT_NEW(mem, real, n * s->ld);
    s->logit = WEFT_NEW(mem, real, (lstm->shape.every ? rows : n) * s->ldc);
    s->input = WEFT_NEW(mem, const real *, n);
    s->dinput = WEFT_NEW(mem, real *, n);
    return s;
}

/* ---- weights ---- */

static void pack(matrix *x, const real *b, size_t ldb, int trans)
{
    weft_packed_pack(&x->p, x->p.k, x->p.m, b, ldb, trans, x->mem);
}

/* Packs the weights of all layers, with `back` also for the backward pass. */
static void pack_weights(const lstm_net *lstm, scratch *s, const real *w, int back)
{
    lstm_offsets at = lstm_offsets_of(lstm);
    int h = lstm->hidden, classes = lstm->shape.classes;
    for (int l = 0; l < lstm->layers; l++) {
        layer *y = &s->layer[l];
        const real *ih = w + at.layer[l].ih, *hh = w + at.layer[l].hh;
        size_t in = (size_t)(l ? h : lstm->embedding);
        pack(&y->ih, ih, in, 1);
        pack(&y->hh, hh, (size_t)h, 1);
        if (back) pack(&y->ih_back, ih, in, 0);
        if (back) pack(&y->hh_back, hh, (size_t)h, 0);
        for (int j = 0; j < 4 * h; j++) {
            y->bias[j] = w[at.layer[l].bias[0] + j];
            if (lstm->biases == 2) y->bias[j] += w[at.layer[l].bias[1] + j];
        }
    }
    pack(&s->dense, w + at.dense, (size_t)h, 1);
    if (back) pack(&s->dense_back, w + at.dense, (size_t)h, 0);
    weft_packed_times(classes, w + at.embed, (size_t)lstm->embedding, &s->layer[0].ih.p, 0,
                      s->table, 4 * (size_t)h);
    for (int i = 0; i < classes; i++)
        for (int j = 0; j < 4 * h; j++)
            s->table[(size_t)i * 4 * h + j] += s->layer[0].bias[j];
}

/* ---- forward ---- */

/* Dropout: y[h] = x[h] with units set to 0 at random and the others scaled up. The mask is
 * a function of key, layer, step, sample and unit. y may be x. */
static void drop(const part *p, int l, int step, int i, const real *x, real *y)
{
    real scale = p->share < DROP_SCALE ? DROP_SCALE / (real)(DROP_SCALE - p->share) : 0;
    uint64_t sample = (uint64_t)step << 32 | (uint64_t)(p->first + i);
    for (int j = 0; j < p->t->hidden; j += PER_DRAW) {
        weft_rng4 rng =
            weft_rng_at(p->key, WEFT_RNG_DROPOUT, (uint64_t)l, sample, (uint64_t)j);
        for (int k = 0; k < PER_DRAW && j + k < p->t->hidden; k++)
            y[j + k] = (int)(rng.v[k / 4] >> 16 * (k % 4) & (DROP_SCALE - 1)) < p->share
                           ? 0
                           : scale * x[j + k];
    }
}

static void drop_all(const part *p, int l, const real *x, real *y)
{
    for (int step = 0; step < p->t->shape.d; step++)
        for (int i = 0; i < p->n; i++) {
            size_t row = ((size_t)step * p->n + i) * p->s->ld;
            drop(p, l, step, i, x + row, y + row);
        }
}

/* The cells of a layer at a step. */
static weft_cells cells(const part *p, int l, int step)
{
    const scratch *s = p->s;
    const layer *y = &s->layer[l];
    size_t row = (size_t)step * p->n;
    return (weft_cells){.n = p->n,
                        .h = p->t->hidden,
                        .z = y->z + row * s->ldz,
                        .ldz = s->ldz,
                        .before = step ? y->c + (row - p->n) * s->ld : NULL,
                        .c = y->c + row * s->ld,
                        .y = y->y + row * s->ld,
                        .ld = s->ld};
}

/* Row of the table of each sample's symbol at a step. */
static size_t table_row(const part *p, int i, int step)
{
    int symbol = p->text[i][step];
    weft_check(symbol < p->t->shape.classes, "symbol %d of %d", symbol,
               p->t->shape.classes);
    return (size_t)symbol * 4 * p->t->hidden;
}

static void forward_layer(const part *p, int l)
{
    const scratch *s = p->s;
    const layer *y = &s->layer[l];
    int n = p->n, d = (int)p->t->shape.d;
    if (l) weft_packed_times(d * n, y->x, s->ld, &y->ih.p, 0, y->z, s->ldz);
    for (int i = 0; i < n; i++) s->input[i] = y->bias;
    for (int step = 0; step < d; step++) {
        weft_cells c = cells(p, l, step);
        if (step)
            weft_packed_times(n, c.y - n * s->ld, s->ld, &y->hh.p, l > 0, c.z, s->ldz);
        else if (l == 0)
            memset(c.z, 0, n * s->ldz * sizeof *c.z);
        if (l == 0)
            for (int i = 0; i < n; i++) s->input[i] = s->table + table_row(p, i, step);
        weft_cells_forward(&c, s->input);
    }
}

/* First step whose output is scored. */
static int first_scored(const part *p)
{
    return p->t->shape.every ? 0 : (int)p->t->shape.d - 1;
}

/* The forward pass of all layers, and the losses; s->logit then holds share times the
 * gradient by the logits, unless share is 0. */
static void forward(const part *p, const real *bias, double share, weft_score *score)
{
    scratch *s = p->s;
    const lstm_net *lstm = p->t;
    for (int l = 0; l < lstm->layers; l++) {
        layer *y = &s->layer[l];
        forward_layer(p, l);
        if (l + 1 == lstm->layers) break;
        if (p->share) drop_all(p, l, y->y, y->masked);
        s->layer[l + 1].x = p->share ? y->masked : y->y;
    }
    int from = first_scored(p), rows = ((int)lstm->shape.d - from) * p->n;
    const real *y = s->layer[lstm->layers - 1].y + (size_t)from * p->n * s->ld;
    weft_packed_times(rows, y, s->ld, &s->dense.p, 0, s->logit, s->ldc);
    for (int r = 0; r < rows; r++) {
        real *z = s->logit + r * s->ldc;
        int label = p->text[r % p->n][from + r / p->n + 1];
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
static void backward_steps(const part *p, int l)
{
    const scratch *s = p->s;
    const layer *y = &s->layer[l];
    int n = p->n, d = (int)p->t->shape.d;
    int top = l + 1 == p->t->layers;
    memset(s->dc, 0, n * s->ld * sizeof *s->dc);
    for (int i = 0; i < n; i++) s->dinput[i] = y->dbias;
    for (int step = d - 1; step >= 0; step--) {
        weft_cells c = cells(p, l, step);
        real *dy = s->dy + (size_t)step * n * s->ld;
        if (step < d - 1)
            weft_packed_times(n, c.z + n * s->ldz, s->ldz, &y->hh_back.p,
                              !top || p->t->shape.every, dy, s->ld);
        if (l == 0)
            for (int i = 0; i < n; i++) s->dinput[i] = s->dtable + table_row(p, i, step);
        weft_cells_backward(&c, dy, s->dc, s->dinput);
    }
}

/* Adds the part's gradient of the matrices to g, of the biases and the table to s. */
static void backward(const part *p, real *g)
{
    scratch *s = p->s;
    const lstm_net *lstm = p->t;
    lstm_offsets at = lstm_offsets_of(lstm);
    int n = p->n, h = lstm->hidden, rows = (int)lstm->shape.d * n, c = lstm->shape.classes;
    int last = rows - first_scored(p) * n;
    size_t skip = (size_t)first_scored(p) * n * s->ld;
    weft_outer(last, c, s->logit, s->ldc, h, s->layer[lstm->layers - 1].y + skip, s->ld, 1,
               g + at.dense, (size_t)h, s->mem);
    for (int r = 0; r < last; r++)
        for (int j = 0; j < c; j++) g[at.bias + j] += s->logit[r * s->ldc + j];
    weft_packed_times(last, s->logit, s->ldc, &s->dense_back.p, 0, s->dy + skip, s->ld);
    for (int l = lstm->layers - 1; l >= 0; l--) {
        const layer *y = &s->layer[l];
        backward_steps(p, l);
        weft_outer(rows - n, 4 * h, y->z + n * s->ldz, s->ldz, h, y->y, s->ld, 1,
                   g + at.layer[l].hh, (size_t)h, s->mem);
        if (l == 0) break;
        weft_outer(rows, 4 * h, y->z, s->ldz, h, y->x, s->ld, 1, g + at.layer[l].ih,
                   (size_t)h, s->mem);
        weft_packed_times(rows, y->z, s->ldz, &y->ih_back.p, 0, s->dy, s->ld);
        if (p->share) drop_all(p, l - 1, s->dy, s->dy);
    }
}

/* Completes the gradients when all parts are done: those of the factors of the table and of
 * the biases. */
static void finish_gradients(const lstm_net *lstm, const scratch *s, const real *w, real *g)
{
    lstm_offsets at = lstm_offsets_of(lstm);
    int h = lstm->hidden, classes = lstm->shape.classes;
    size_t wide = 4 * (size_t)h, in = (size_t)lstm->embedding;
    weft_outer(classes, 4 * h, s->dtable, wide, lstm->embedding, w + at.embed, in, 1,
               g + at.layer[0].ih, in, s->mem);
    weft_packed_times(classes, s->dtable, wide, &s->layer[0].ih_back.p, 0, g + at.embed,
                      in);
    for (int i = 0; i < classes; i++)
        for (size_t j = 0; j < wide; j++) s->layer[0].dbias[j] += s->dtable[i * wide + j];
    for (int l = 0; l < lstm->layers; l++)
        for (int k = 0; k < lstm->biases; k++)
            memcpy(g + at.layer[l].bias[k], s->layer[l].dbias, wide * sizeof *g);
}

static void clear_gradients(const lstm_net *lstm, const scratch *s, real *g)
{
    size_t wide = 4 * (size_t)lstm->hidden;
    memset(g, 0, (size_t)lstm_offsets_of(lstm).all * sizeof *g);
    memset(s->dtable, 0, (size_t)lstm->shape.classes * wide * sizeof *s->dtable);
    for (int l = 0; l < lstm->layers; l++)
        memset(s->layer[l].dbias, 0, wide * sizeof *s->layer[l].dbias);
}

/* The part of a batch that begins at sample i; parts have nearly equal sizes. */
static part part_at(const lstm_net *lstm, scratch *s, const weft_batch *batch, int i)
{
    int parts = (batch->n - i + PART_SAMPLES - 1) / PART_SAMPLES;
    return (part){.t = lstm,
                  .s = s,
                  .text = batch->text + i,
                  .first = i,
                  .n = (batch->n - i) / parts};
}

void lstm_grad(const void *self, void *work, const real *w, const weft_batch *batch,
               double dropout, uint64_t key, real *g, weft_score *score)
{
    const lstm_net *lstm = self;
    double predictions = batch->n * (lstm->shape.every ? (double)lstm->shape.d : 1);
    pack_weights(lstm, work, w, 1);
    clear_gradients(lstm, work, g);
    for (int i = 0; i < batch->n;) {
        part p = part_at(lstm, work, batch, i);
        p.share = (int)lrint(dropout * DROP_SCALE);
        p.key = key;
        forward(&p, w + lstm_offsets_of(lstm).bias, 1 / predictions, score);
        backward(&p, g);
        i += p.n;
    }
    finish_gradients(lstm, work, w, g);
}

void lstm_score(const void *self, void *work, const real *w, const weft_batch *batch,
                weft_score *score)
{
    const lstm_net *lstm = self;
    pack_weights(lstm, work, w, 0);
    for (int i = 0; i < batch->n;) {
        part p = part_at(lstm, work, batch, i);
        forward(&p, w + lstm_offsets_of(lstm).bias, 0, score);
        i += p.n;
    }
}

int lstm_width(const void *self)
{
    const lstm_net *lstm = self;
    return lstm->hidden;
}

/* The part's representations and logits after its forward pass, whose rows are in the order
 * of the steps, then of the samples. */
static void take(const part *p, real *h, real *z)
{
    const scratch *s = p->s;
    size_t wide = (size_t)p->t->hidden, c = (size_t)p->t->shape.classes;
    int from = first_scored(p), places = (int)p->t->shape.d - from;
    const real *y = s->layer[p->t->layers - 1].y + (size_t)from * p->n * s->ld;
    for (int r = 0; r < places * p->n; r++) {
        size_t to = (size_t)(p->first + r % p->n) * places + r / p->n;
        memcpy(h + to * wide, y + r * s->ld, wide * sizeof *h);
        if (z) memcpy(z + to * c, s->logit + r * s->ldc, c * sizeof *z);
    }
}

void lstm_represent(const void *self, void *work, const real *w, const weft_batch *batch,
                    real *h, real *z)
{
    const lstm_net *lstm = self;
    weft_score unused = {0};
    pack_weights(lstm, work, w, 0);
    for (int i = 0; i < batch->n;) {
        part p = part_at(lstm, work, batch, i);
        forward(&p, w + lstm_offsets_of(lstm).bias, 0, &unused);
        take(&p, h, z);
        i += p.n;
    }
}
