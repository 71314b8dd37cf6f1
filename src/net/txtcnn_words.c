/* Word vectors of a batch of documents, a piece of the batch at a time: one row for each
 * distinct word, or for each occurrence where dropout is applied to vectors. */
#include "txtcnn_pass.h"

#include <string.h>

void txtcnn_mask(uint64_t key, int layer, uint64_t place, double share, int64_t n, real *m)
{
    double bound = share * 0x1p32; /* on 32 bits */
    real scale = (real)(share < 1 ? 1 / (1 - share) : 0);
    for (int64_t i = 0; i < n; i += 8) {
        weft_rng4 r =
            weft_rng_at(key, WEFT_RNG_DROPOUT, (uint64_t)layer, place, (uint64_t)i / 8);
        for (int64_t e = 0; e < 8 && i + e < n; e++)
            m[i + e] = (uint32_t)(r.v[e / 2] >> (e % 2 * 32)) < bound ? 0 : scale;
    }
}

int txtcnn_drops_input(const txtcnn_pass *p)
{
    return p->train && p->t->drop_input > 0;
}

/* Multiplies x[vector] by the mask of word `place` of document i of the batch. */
static void mask_vector(const txtcnn_pass *p, int channel, int i, int64_t place, real *x)
{
    int d = p->t->shape.vector;
    real *m = p->s->mask;
    txtcnn_mask(p->key, channel, (uint64_t)i << 32 | (uint64_t)place, p->t->drop_input, d,
                m);
    for (int j = 0; j < d; j++) x[j] *= m[j];
}

/* ---- words ---- */

txtcnn_piece txtcnn_assign_rows(const txtcnn_pass *p, int first)
{
    txtcnn_scratch *s = p->s;
    const weft_batch *b = p->b;
    int separate = txtcnn_drops_input(p);
    txtcnn_piece q = {.first = first};
    int64_t tokens = 0;
    while (first + q.n < b->n && tokens + b->length[first + q.n] <= s->room) {
        const uint32_t *word = b->word[first + q.n];
        s->start[q.n] = tokens;
        for (int i = 0; i < b->length[first + q.n]; i++) {
            weft_check(word[i] < p->t->shape.words, "word %u", (unsigned)word[i]);
            int32_t *row = &s->row_of_word[word[i]];
            if (*row < 0 || separate) {
                *row = q.rows;
                s->word[q.rows++] = word[i];
            }
            s->row[tokens++] = (uint32_t)*row;
        }
        q.n++;
    }
    weft_check(q.n > 0, "a document longer than the longest");
    s->start[q.n] = tokens;
    for (int r = 0; r < q.rows; r++) s->row_of_word[s->word[r]] = -1;
    return q;
}

void txtcnn_mask_rows(const txtcnn_pass *p, const txtcnn_piece *q, int channel, real *x)
{
    for (int i = 0; i < q->n; i++)
        for (int64_t e = p->s->start[i]; e < p->s->start[i + 1]; e++)
            mask_vector(p, channel, q->first + i, e - p->s->start[i],
                        x + (size_t)e * p->s->ldx);
}

void txtcnn_load(const txtcnn_pass *p, const txtcnn_piece *q)
{
    const txtcnn *t = p->t;
    txtcnn_scratch *s = p->s;
    int d = t->shape.vector, separate = txtcnn_drops_input(p);
    for (int r = 0; r < q->rows && t->channels != TXTCNN_NONSTATIC; r++) {
        const float *from = t->shape.vectors + (int64_t)s->word[r] * d;
        real *x = s->x + (size_t)r * s->ldx;
        for (int j = 0; j < d; j++) x[j] = (real)from[j];
    }
    if (separate && t->channels != TXTCNN_NONSTATIC) txtcnn_mask_rows(p, q, 0, s->x);
    if (t->channels == TXTCNN_STATIC) return;
    const int32_t *place = p->b->compact ? p->b->place : NULL;
    for (int r = 0; r < q->rows; r++) {
        int64_t row = place ? place[s->word[r]] : (int64_t)s->word[r] + 1;
        const real *from = p->w + t->embed + row * d;
        memcpy(s->dx + (size_t)r * s->ldx, from, (size_t)d * sizeof *from);
    }
    if (separate) txtcnn_mask_rows(p, q, 1, s->dx);
    for (size_t i = 0; i < (size_t)q->rows * s->ldx; i++)
        s->x[i] = t->channels == TXTCNN_MULTI ? s->x[i] + s->dx[i] : s->dx[i];
}
