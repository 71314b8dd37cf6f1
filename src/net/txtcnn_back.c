/* Backward pass of the network over sentences: only the windows with the largest values
 * contribute, so that the gradient of a column of the filters is a sum of few word vectors,
 * and that of a word a sum of few columns. Called through the vtable. */
#include "txtcnn_pass.h"
#include "weft/sparse.h"

#include <string.h>

/* ---- backward ---- */

/* The backward pass of the dense layers; slope becomes the gradient with respect to the
 * sums of the windows. */
static void backward_dense(const txtcnn_pass *pass, real *g)
{
    const txtcnn_net *txtcnn = pass->txtcnn;
    txtcnn_scratch *scratch = pass->scratch;
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
static int64_t row_of(const txtcnn_pass *pass, const txtcnn_piece *piece, int i, int filter,
                      int j)
{
    const txtcnn_scratch *scratch = pass->scratch;
    int32_t from =
        scratch->window[(int64_t)(piece->first + i) * pass->txtcnn->filters + filter];
    int64_t place = (int64_t)from + j;
    if (from == TXTCNN_ZEROS || place < 0 ||
        place >= scratch->start[i + 1] - scratch->start[i])
        return -1;
    return scratch->row[scratch->start[i] + place];
}

/* Adds a piece's part of the gradient of the filters: to each column a sum of word
 * vectors. */
static void backward_filters(const txtcnn_pass *pass, const txtcnn_piece *piece, real *g)
{
    const txtcnn_net *txtcnn = pass->txtcnn;
    txtcnn_scratch *scratch = pass->scratch;
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
                scratch->at[n] = (uint32_t)row;
                scratch->value[n++] = dz;
            }
            weft_add_rows(n, scratch->at, scratch->value, d, scratch->x, scratch->ldx,
                          g + (int64_t)(txtcnn->group[e].column + c) * d);
        }
}

/* Entries (row, column, value) of a piece in the order of rows: put 0 counts them, 1 stores
 * them. */
static void sort_entries(const txtcnn_pass *pass, const txtcnn_piece *piece, int put)
{
    const txtcnn_net *txtcnn = pass->txtcnn;
    txtcnn_scratch *scratch = pass->scratch;
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
                    int64_t *next = &scratch->next[row + 1];
                    if (put) {
                        scratch->at[*next] = (uint32_t)(txtcnn->group[e].column +
                                                        j * txtcnn->group[e].f + f);
                        scratch->value[*next] = dz;
                    }
                    ++*next;
                }
}

/* Adds a piece's part of the gradient of trained vectors. */
static void backward_vectors(const txtcnn_pass *pass, const txtcnn_piece *piece, real *g)
{
    const txtcnn_net *txtcnn = pass->txtcnn;
    txtcnn_scratch *scratch = pass->scratch;
    int d = txtcnn->shape.vector;
    memset(scratch->next, 0, ((size_t)piece->rows + 2) * sizeof *scratch->next);
    sort_entries(pass, piece, 0);
    int64_t before = 0;
    for (int r = 0; r <= piece->rows; r++) { /* next[r + 1] = where row r begins */
        int64_t n = scratch->next[r + 1];
        scratch->next[r + 1] = before;
        before += n;
    }
    sort_entries(pass, piece, 1);
    memset(scratch->dx, 0, (size_t)piece->rows * scratch->ldx * sizeof *scratch->dx);
    for (int r = 0; r < piece->rows; r++) {
        int64_t from = r > 0 ? scratch->next[r] : 0;
        weft_add_rows((int)(scratch->next[r + 1] - from), scratch->at + from,
                      scratch->value + from, d, pass->w, (size_t)d,
                      scratch->dx + (size_t)r * scratch->ldx);
    }
    if (txtcnn_drops_input(pass)) txtcnn_mask_rows(pass, piece, 1, scratch->dx);
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
    txtcnn_pass pass = {.txtcnn = txtcnn,
                        .scratch = work,
                        .batch = batch,
                        .w = w,
                        .train = 1,
                        .key = key,
                        .drop_pooled = 1 - (1 - txtcnn->drop_pooled) * (1 - dropout)};
    weft_arena *tmp = pass.scratch->dense.tmp;
    size_t mark = weft_arena_mark(tmp);
    txtcnn_piece piece = txtcnn_forward(&pass, score);
    backward_dense(&pass, g);
    memset(g, 0, (size_t)txtcnn->bias_at * sizeof *g);
    int64_t table = batch->place ? (int64_t)batch->places * txtcnn->shape.vector
                                 : txtcnn->all - txtcnn->embed;
    memset(g + txtcnn->embed, 0, (size_t)table * sizeof *g);
    int whole = piece.first == 0;
    for (int i = 0; i < batch->n; i += piece.n) {
        if (!whole) {
            piece = txtcnn_assign_rows(&pass, i);
            txtcnn_load(&pass, &piece);
        }
        backward_filters(&pass, &piece, g);
        if (txtcnn->channels != TXTCNN_STATIC) backward_vectors(&pass, &piece, g);
    }
    weft_arena_reset(tmp, mark);
}
