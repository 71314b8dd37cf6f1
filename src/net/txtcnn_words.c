/* Word vectors of a batch of documents, a piece of the batch at a time: one row for each
 * distinct word, or for each occurrence where dropout is applied to vectors. */
#include "txtcnn_pass.h"
#include "weft/rng.h"

#include <string.h>

void txtcnn_mask(uint64_t key, int layer, uint64_t place, double share, int64_t n, real *m)
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

int txtcnn_drops_input(const txtcnn_pass *pass)
{
    return pass->train && pass->txtcnn->drop_input > 0;
}

/* Multiplies x[vector] by the mask of word `place` of document i of the batch. */
static void mask_vector(const txtcnn_pass *pass, int channel, int i, int64_t place, real *x)
{
    int d = pass->txtcnn->shape.vector;
    real *m = pass->scratch->mask;
    txtcnn_mask(pass->key, channel, (uint64_t)i << 32 | (uint64_t)place,
                pass->txtcnn->drop_input, d, m);
    for (int j = 0; j < d; j++) x[j] *= m[j];
}

/* ---- words ---- */

txtcnn_piece txtcnn_assign_rows(const txtcnn_pass *pass, int first)
{
    txtcnn_scratch *scratch = pass->scratch;
    const weft_batch *batch = pass->batch;
    int separate = txtcnn_drops_input(pass);
    txtcnn_piece piece = {.first = first};
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

void txtcnn_mask_rows(const txtcnn_pass *pass, const txtcnn_piece *piece, int channel,
                      real *x)
{
    for (int i = 0; i < piece->n; i++)
        for (int64_t e = pass->scratch->start[i]; e < pass->scratch->start[i + 1]; e++)
            mask_vector(pass, channel, piece->first + i, e - pass->scratch->start[i],
                        x + (size_t)e * pass->scratch->ldx);
}

void txtcnn_load(const txtcnn_pass *pass, const txtcnn_piece *piece)
{
    const txtcnn_net *txtcnn = pass->txtcnn;
    txtcnn_scratch *scratch = pass->scratch;
    int d = txtcnn->shape.vector, separate = txtcnn_drops_input(pass);
    for (int r = 0; r < piece->rows && txtcnn->channels != TXTCNN_NONSTATIC; r++) {
        const float *from = txtcnn->shape.vectors + (int64_t)scratch->word[r] * d;
        real *x = scratch->x + (size_t)r * scratch->ldx;
        for (int j = 0; j < d; j++) x[j] = (real)from[j];
    }
    if (separate && txtcnn->channels != TXTCNN_NONSTATIC)
        txtcnn_mask_rows(pass, piece, 0, scratch->x);
    if (txtcnn->channels == TXTCNN_STATIC) return;
    const int32_t *place = pass->batch->compact ? pass->batch->place : NULL;
    for (int r = 0; r < piece->rows; r++) {
        int64_t row = place ? place[scratch->word[r]] : (int64_t)scratch->word[r] + 1;
        const real *from = pass->w + txtcnn->embed + row * d;
        memcpy(scratch->dx + (size_t)r * scratch->ldx, from, (size_t)d * sizeof *from);
    }
    if (separate) txtcnn_mask_rows(pass, piece, 1, scratch->dx);
    for (size_t i = 0; i < (size_t)piece->rows * scratch->ldx; i++)
        scratch->x[i] = txtcnn->channels == TXTCNN_MULTI ? scratch->x[i] + scratch->dx[i]
                                                         : scratch->dx[i];
}
