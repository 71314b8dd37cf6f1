/* Backward pass of the network over sentences: only the windows with the largest values
 * contribute, so that the gradient of a column of the filters is a sum of few word vectors,
 * and that of a word a sum of few columns. Called through the vtable. */
#include "txtcnn_pass.h"

#include <string.h>

/* ---- backward ---- */

/* The backward pass of the dense layers; slope becomes the gradient with respect to the
 * sums of the windows. */
static void backward_dense(const txtcnn_pass *p, real *g)
{
    const txtcnn *t = p->t;
    txtcnn_scratch *s = p->s;
    int n = p->b->n, hidden = t->hidden;
    if (hidden > 0) {
        const weft_layer *l = &t->dense[1];
        real *dh = s->y[0];
        int64_t all = (int64_t)n * hidden;
        real *dhidden = WEFT_NEW(s->dense.tmp, real, all);
        weft_dense_backward(l, &s->dense, p->w, n, weft_sample_rows(&s->dense, n, l->c, dh),
                            s->dy, g, dhidden);
        int drop = t->drop_hidden > 0;
        for (int64_t i = 0; i < all; i++)
            dh[i] = dh[i] > 0 ? dhidden[i] * (drop ? s->hidden_mask[i] : 1) : 0;
    }
    weft_dense_backward(&t->dense[0], &s->dense, p->w, n,
                        weft_sample_rows(&s->dense, n, t->filters, s->pooled),
                        hidden > 0 ? s->y[0] : s->dy, g, s->dpooled);
    int64_t all = (int64_t)n * t->filters;
    for (int64_t i = 0; i < all; i++) s->slope[i] *= s->dpooled[i];
    if (!t->bias) return;
    real *bias = g + t->bias_at;
    memset(bias, 0, (size_t)t->filters * sizeof *bias);
    for (int64_t i = 0; i < all; i++) bias[i % t->filters] += s->slope[i];
}

/* Row of word j of the largest window of a filter in document i; -1 if there is none. */
static int64_t row_of(const txtcnn_pass *p, const txtcnn_piece *q, int i, int filter, int j)
{
    const txtcnn_scratch *s = p->s;
    int32_t from = s->window[(int64_t)(q->first + i) * p->t->filters + filter];
    int64_t place = (int64_t)from + j;
    if (from == TXTCNN_ZEROS || place < 0 || place >= s->start[i + 1] - s->start[i])
        return -1;
    return s->row[s->start[i] + place];
}

/* Adds a piece's part of the gradient of the filters: to each column a sum of word
 * vectors. */
static void backward_filters(const txtcnn_pass *p, const txtcnn_piece *q, real *g)
{
    const txtcnn *t = p->t;
    txtcnn_scratch *s = p->s;
    int d = t->shape.vector;
    for (int e = 0; e < t->groups; e++)
        for (int c = 0; c < t->group[e].k * t->group[e].f; c++) {
            int j = c / t->group[e].f, filter = t->group[e].filter + c % t->group[e].f;
            int n = 0;
            for (int i = 0; i < q->n; i++) {
                real dz = s->slope[(int64_t)(q->first + i) * t->filters + filter];
                int64_t row = dz != 0 ? row_of(p, q, i, filter, j) : -1;
                if (row < 0) continue;
                s->at[n] = (uint32_t)row;
                s->value[n++] = dz;
            }
            weft_add_rows(n, s->at, s->value, d, s->x, s->ldx,
                          g + (int64_t)(t->group[e].column + c) * d);
        }
}

/* Entries (row, column, value) of a piece in the order of rows: put 0 counts them, 1 stores
 * them. */
static void sort_entries(const txtcnn_pass *p, const txtcnn_piece *q, int put)
{
    const txtcnn *t = p->t;
    txtcnn_scratch *s = p->s;
    for (int e = 0; e < t->groups; e++)
        for (int j = 0; j < t->group[e].k; j++)
            for (int i = 0; i < q->n; i++)
                for (int f = 0; f < t->group[e].f; f++) {
                    int filter = t->group[e].filter + f;
                    real dz = s->slope[(int64_t)(q->first + i) * t->filters + filter];
                    int64_t row = dz != 0 ? row_of(p, q, i, filter, j) : -1;
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

/* Adds a piece's part of the gradient of trained vectors. */
static void backward_vectors(const txtcnn_pass *p, const txtcnn_piece *q, real *g)
{
    const txtcnn *t = p->t;
    txtcnn_scratch *s = p->s;
    int d = t->shape.vector;
    memset(s->next, 0, ((size_t)q->rows + 2) * sizeof *s->next);
    sort_entries(p, q, 0);
    int64_t before = 0;
    for (int r = 0; r <= q->rows; r++) { /* next[r + 1] = where row r begins */
        int64_t n = s->next[r + 1];
        s->next[r + 1] = before;
        before += n;
    }
    sort_entries(p, q, 1);
    memset(s->dx, 0, (size_t)q->rows * s->ldx * sizeof *s->dx);
    for (int r = 0; r < q->rows; r++) {
        int64_t from = r > 0 ? s->next[r] : 0;
        weft_add_rows((int)(s->next[r + 1] - from), s->at + from, s->value + from, d, p->w,
                      (size_t)d, s->dx + (size_t)r * s->ldx);
    }
    if (txtcnn_drops_input(p)) txtcnn_mask_rows(p, q, 1, s->dx);
    for (int r = 0; r < q->rows; r++) {
        int64_t row = p->b->place ? p->b->place[s->word[r]] : (int64_t)s->word[r] + 1;
        real *to = g + t->embed + row * d;
        const real *dx = s->dx + (size_t)r * s->ldx;
        for (int j = 0; j < d; j++) to[j] += dx[j];
    }
}

void txtcnn_grad(const void *self, void *work, const real *w, const weft_batch *b,
                 double dropout, uint64_t key, real *g, weft_score *score)
{
    const txtcnn *t = self;
    txtcnn_pass p = {.t = t,
                     .s = work,
                     .b = b,
                     .w = w,
                     .train = 1,
                     .key = key,
                     .drop_pooled = 1 - (1 - t->drop_pooled) * (1 - dropout)};
    weft_arena *tmp = p.s->dense.tmp;
    size_t mark = weft_arena_mark(tmp);
    txtcnn_piece q = txtcnn_forward(&p, score);
    backward_dense(&p, g);
    memset(g, 0, (size_t)t->bias_at * sizeof *g);
    int64_t table = b->place ? (int64_t)b->places * t->shape.vector : t->all - t->embed;
    memset(g + t->embed, 0, (size_t)table * sizeof *g);
    int whole = q.first == 0;
    for (int i = 0; i < b->n; i += q.n) {
        if (!whole) {
            q = txtcnn_assign_rows(&p, i);
            txtcnn_load(&p, &q);
        }
        backward_filters(&p, &q, g);
        if (t->channels != TXTCNN_STATIC) backward_vectors(&p, &q, g);
    }
    weft_arena_reset(tmp, mark);
}
