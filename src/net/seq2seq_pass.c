/* The encoder of the translation network, and its decoder with attention, which takes of
 * the encoder the outputs of each sentence, and the last cells and outputs of each layer.
 * The decoder makes a range of steps at a time, all of them, or one by one where what
 * attention gave is a part of the next input. */
#include "recurrent.h"
#include "weft/math/kernels.h"
#include "weft/math/optim.h"

#include <string.h>

/* Steps [from, to) and their rows [row, row + n). */
struct range {
    const net_steps *steps;
    int from, to, row, n;
};

static struct range range_of(const net_steps *steps, int from, int to)
{
    return (struct range){steps, from, to, steps->first[from],
                          steps->first[to] - steps->first[from]};
}

/* Calls body(t, i, row) for its rows. */
#define EACH_ROW(range, t, i, row)                                                         \
    for (int t = (range).from, row = (range).row; t < (range).to; t++)                     \
        for (int i = 0; i < net_steps_at((range).steps, t); i++, row++)

/* Dropout at step t of sentence i, at one of the network's places. */
static net_drop drop_of(const seq2seq_part *part, int place, int i, int t)
{
    return (net_drop){.share = part->share,
                      .key = part->key,
                      .place = (uint64_t)place,
                      .sample = (uint64_t)t << 32 | (uint64_t)(part->first + i)};
}

/* ---- encoder ---- */

/* Where row i of step t of the encoder belongs: a sentence and a place in it. */
static real *place_of(const seq2seq_part *part, int i, int t, int gradient)
{
    const seq2seq_scratch *scratch = part->scratch;
    const seq2seq_memory *memory = &scratch->memory[scratch->source_order[i]];
    return (gradient ? memory->de : memory->e) + (size_t)t * scratch->ld;
}

/* Dropout of row i of step t at the input of layer l. */
static net_drop source_drop(const seq2seq_part *part, int l, int i, int t)
{
    return drop_of(part, l, part->scratch->source_order[i], t);
}

/* Its word. */
static uint32_t source_word(const seq2seq_part *part, int i, int t)
{
    return part->batch->word[part->first + part->scratch->source_order[i]][t];
}

static struct range source_range(const seq2seq_part *part)
{
    return range_of(&part->scratch->source, 0, part->scratch->source.longest);
}

static void take_source_words(const seq2seq_part *part)
{
    const seq2seq_scratch *scratch = part->scratch;
    const net_recurrent *layer = &scratch->encoder[0][0];
    size_t e = (size_t)part->seq2seq->embedding;
    EACH_ROW(source_range(part), t, i, row)
    {
        real *x = layer->x + row * layer->ldx;
        memcpy(x, part->w + part->offsets.source + source_word(part, i, t) * e,
               e * sizeof *x);
        net_drop drop = source_drop(part, 0, i, t);
        net_drop_units(&drop, (int)e, x, x);
    }
}

/* The outputs of both directions of layer l side by side: the next layer's inputs, or the
 * memory. */
static void take_encoder_outputs(const seq2seq_part *part, int l)
{
    seq2seq_scratch *scratch = part->scratch;
    const net_recurrent *layer = scratch->encoder[l];
    int top = l + 1 == part->seq2seq->layers;
    size_t half = (size_t)layer[0].h;
    EACH_ROW(source_range(part), t, i, row)
    {
        real *x = top ? place_of(part, i, t, 0)
                      : scratch->encoder[l + 1][0].x + row * scratch->encoder[l + 1][0].ldx;
        for (int k = 0; k < 2; k++)
            memcpy(x + k * half, layer[k].y + row * layer[k].ld, half * sizeof *x);
        if (top) continue;
        net_drop drop = source_drop(part, l + 1, i, t);
        net_drop_units(&drop, part->seq2seq->hidden, x, x);
    }
}

/* Row of the step after which sequence i has its last cells. */
static size_t last_row(const net_recurrent *layer, const net_steps *steps, int i)
{
    int t = layer->reverse ? 0 : steps->length[i] - 1;
    return (size_t)(steps->first[t] + i);
}

/* The last cells and outputs of layer l, in the decoder's order. */
static void take_last(const seq2seq_part *part, int l)
{
    seq2seq_scratch *scratch = part->scratch;
    size_t half = (size_t)part->seq2seq->hidden / 2;
    for (int j = 0; j < scratch->target.n; j++) {
        int i = scratch->source_place[scratch->target_order[j]];
        for (int k = 0; k < 2; k++) {
            const net_recurrent *layer = &scratch->encoder[l][k];
            size_t row = last_row(layer, &scratch->source, i) * layer->ld;
            size_t to = (size_t)j * scratch->ld + k * half;
            memcpy(scratch->c0[l] + to, layer->c + row, half * sizeof(real));
            memcpy(scratch->y0[l] + to, layer->y + row, half * sizeof(real));
        }
    }
}

/* Their gradients: dc of direction k, and what is added to its dy. */
static void give_last(const seq2seq_part *part, int l, int k)
{
    seq2seq_scratch *scratch = part->scratch;
    const real *dc0 = scratch->decoder[l].dc, *dy0 = scratch->dy0[l];
    net_recurrent *layer = &scratch->encoder[l][k];
    size_t half = (size_t)part->seq2seq->hidden / 2;
    for (int j = 0; j < part->n; j++) {
        int i = scratch->source_place[scratch->target_order[j]];
        size_t from = (size_t)j * scratch->ld + k * half;
        real *dy = layer->dy + last_row(layer, &scratch->source, i) * layer->ld;
        memcpy(layer->dc + i * layer->ld, dc0 + from, half * sizeof(real));
        for (size_t u = 0; u < half; u++) dy[u] += dy0[from + u];
    }
}

static void pack_memory(const seq2seq_part *part)
{
    seq2seq_scratch *scratch = part->scratch;
    for (int i = 0; i < part->n; i++) {
        seq2seq_memory *memory = &scratch->memory[i];
        memory->score.packed.m = memory->mean.packed.k = memory->length;
        net_matrix_pack(&memory->score, memory->e, scratch->ld, 1);
        net_matrix_pack(&memory->mean, memory->e, scratch->ld, 0);
    }
}

void seq2seq_encode(const seq2seq_part *part)
{
    seq2seq_scratch *scratch = part->scratch;
    const net_steps *steps = &scratch->source;
    int rows = net_steps_rows(steps);
    for (int i = 0; i < part->n; i++)
        scratch->memory[i].length = part->batch->length[part->first + i];
    take_source_words(part);
    for (int l = 0; l < part->seq2seq->layers; l++) {
        net_recurrent *layer = scratch->encoder[l];
        net_recurrent_input(&layer[0], 0, rows);
        net_recurrent_input(&layer[1], 0, rows);
        for (int t = 0; t < steps->longest; t++) {
            net_recurrent_step(&layer[0], steps, t);
            net_recurrent_step(&layer[1], steps, steps->longest - 1 - t);
        }
        take_encoder_outputs(part, l);
        take_last(part, l);
    }
    pack_memory(part);
}

/* The gradient with respect to the outputs of layer l, from the memory's or from dx, that
 * with respect to the next layer's inputs. */
static void give_encoder_outputs(const seq2seq_part *part, int l)
{
    seq2seq_scratch *scratch = part->scratch;
    net_recurrent *layer = scratch->encoder[l];
    int top = l + 1 == part->seq2seq->layers;
    size_t half = (size_t)layer[0].h;
    EACH_ROW(source_range(part), t, i, row)
    {
        real *dx = top ? place_of(part, i, t, 1) : scratch->dx + row * scratch->ldj;
        net_drop drop = source_drop(part, l + 1, i, t);
        if (!top) net_drop_units(&drop, part->seq2seq->hidden, dx, dx);
        for (int k = 0; k < 2; k++)
            memcpy(layer[k].dy + row * layer[k].ld, dx + k * half, half * sizeof *dx);
    }
}

/* Adds the gradient with respect to the words' vectors, dx. */
static void give_source_words(const seq2seq_part *part, real *g)
{
    const seq2seq_scratch *scratch = part->scratch;
    size_t e = (size_t)part->seq2seq->embedding;
    EACH_ROW(source_range(part), t, i, row)
    {
        real *dx = scratch->dx + row * scratch->ldj;
        net_drop drop = source_drop(part, 0, i, t);
        net_drop_units(&drop, (int)e, dx, dx);
        real *to = g + part->offsets.source + source_word(part, i, t) * e;
        for (size_t u = 0; u < e; u++) to[u] += dx[u];
    }
}

/* Backward pass of layer l; dx = the gradient with respect to its inputs. */
static void encoder_layer_back(const seq2seq_part *part, int l, real *g)
{
    seq2seq_scratch *scratch = part->scratch;
    const net_steps *steps = &scratch->source;
    net_recurrent *layer = scratch->encoder[l];
    int rows = net_steps_rows(steps);
    for (int k = 0; k < 2; k++) {
        const net_lstm *at = &part->offsets.encoder[l][k];
        give_last(part, l, k);
        for (int t = 0; t < steps->longest; t++)
            net_recurrent_step_back(&layer[k], steps, k ? t : steps->longest - 1 - t,
                                    g + at->bias[0]);
        net_recurrent_weights_back(&layer[k], rows, g + at->ih, g + at->hh, scratch->tmp);
        net_recurrent_input_back(&layer[k], 0, rows, k, scratch->dx, scratch->ldj);
    }
}

void seq2seq_encode_back(const seq2seq_part *part, real *g)
{
    for (int l = part->seq2seq->layers - 1; l >= 0; l--) {
        give_encoder_outputs(part, l);
        encoder_layer_back(part, l, g);
    }
    give_source_words(part, g);
}

/* ---- decoder ---- */

enum {
    PLACE_WORDS = 32,
    PLACE_OUT = 64
}; /* of dropout: the decoder's layers, its output */

static net_drop drop_at(const seq2seq_part *part, int place, int i, int t)
{
    return drop_of(part, place, part->scratch->target_order[i], t);
}

static net_recurrent *top_of(const seq2seq_part *part)
{
    return &part->scratch->decoder[part->seq2seq->layers - 1];
}

/* The word before step t of row i. */
static uint32_t word_before(const seq2seq_part *part, int i, int t)
{
    if (part->word) return part->word[i];
    int at = part->first + part->scratch->target_order[i];
    return t ? part->batch->reply[at][t - 1] : SEQ2SEQ_BEGIN;
}

static void take_words(const seq2seq_part *part, struct range range)
{
    const seq2seq_scratch *scratch = part->scratch;
    const net_recurrent *layer = &scratch->decoder[0];
    size_t e = (size_t)part->seq2seq->embedding, h = (size_t)part->seq2seq->hidden;
    EACH_ROW(range, t, i, row)
    {
        real *x = layer->x + row * layer->ldx;
        net_drop drop = drop_at(part, PLACE_WORDS, i, t);
        const real *vector = part->w + part->offsets.target + word_before(part, i, t) * e;
        net_drop_units(&drop, (int)e, vector, x);
        if (!part->seq2seq->feed) continue;
        if (t)
            memcpy(x + e, scratch->kept + (scratch->target.first[t - 1] + i) * scratch->ld,
                   h * sizeof *x);
        else
            memset(x + e, 0, h * sizeof *x);
    }
}

/* The inputs of layer l > 0. */
static void take_outputs(const seq2seq_part *part, struct range range, int l)
{
    const net_recurrent *layer = &part->scratch->decoder[l];
    EACH_ROW(range, t, i, row)
    {
        net_drop drop = drop_at(part, PLACE_WORDS + l, i, t);
        net_drop_units(&drop, layer->in, layer[-1].y + row * layer[-1].ld,
                       layer->x + row * layer->ldx);
    }
}

/* Row r looks at sentence `memory`: alpha and the context. */
static void look(const seq2seq_part *part, const seq2seq_memory *memory, int r)
{
    const seq2seq_scratch *scratch = part->scratch;
    real *alpha = scratch->alpha + r * scratch->lda, top;
    double sum;
    weft_packed_times(1, scratch->query + r * scratch->ld, scratch->ld,
                      &memory->score.packed, 0, alpha, scratch->lda);
    top = alpha[0];
    for (int s = 1; s < memory->length; s++) top = alpha[s] > top ? alpha[s] : top;
    weft_softmax_terms(memory->length, alpha, (double)top, alpha, &sum);
    real scale = (real)(1 / sum);
    for (int s = 0; s < memory->length; s++) alpha[s] *= scale;
    weft_packed_times(1, alpha, scratch->lda, &memory->mean.packed, 0,
                      scratch->joint + r * scratch->ldj, scratch->ldj);
}

static void attend(const seq2seq_part *part, struct range range)
{
    const seq2seq_scratch *scratch = part->scratch;
    const net_recurrent *top = top_of(part);
    size_t h = (size_t)part->seq2seq->hidden, first = (size_t)range.row;
    weft_packed_times(range.n, top->y + first * top->ld, top->ld,
                      &scratch->attention.to.packed, 0,
                      scratch->query + first * scratch->ld, scratch->ld);
    EACH_ROW(range, t, i, row)
    {
        look(part, &scratch->memory[scratch->target_order[i]], row);
        memcpy(scratch->joint + row * scratch->ldj + h, top->y + row * top->ld,
               h * sizeof(real));
    }
    weft_packed_times(range.n, scratch->joint + first * scratch->ldj, scratch->ldj,
                      &scratch->combine.to.packed, 0, scratch->out + first * scratch->ld,
                      scratch->ld);
    EACH_ROW(range, t, i, row)
    {
        net_drop drop = drop_at(part, PLACE_OUT, i, t);
        real *out = scratch->out + row * scratch->ld;
        weft_tanh_of((int)h, out);
        net_drop_units(&drop, (int)h, out, scratch->kept + row * scratch->ld);
    }
}

static void decode_range(const seq2seq_part *part, struct range range)
{
    seq2seq_scratch *scratch = part->scratch;
    take_words(part, range);
    for (int l = 0; l < part->seq2seq->layers; l++) {
        if (l) take_outputs(part, range, l);
        net_recurrent_input(&scratch->decoder[l], range.row, range.n);
        for (int t = range.from; t < range.to; t++)
            net_recurrent_step(&scratch->decoder[l], &scratch->target, t);
    }
    attend(part, range);
}

void seq2seq_decode_steps(const seq2seq_part *part, int from, int to)
{
    if (!part->seq2seq->feed)
        decode_range(part, range_of(&part->scratch->target, from, to));
    for (int t = from; part->seq2seq->feed && t < to; t++)
        decode_range(part, range_of(&part->scratch->target, t, t + 1));
}

void seq2seq_decode(const seq2seq_part *part)
{
    seq2seq_decode_steps(part, 0, part->scratch->target.longest);
}

/* Of row r: dalpha becomes the gradient with respect to the scores, dquery that with
 * respect to the query; adds to that of the sentence's outputs. */
static void look_back(const seq2seq_part *part, const seq2seq_memory *memory, int r)
{
    seq2seq_scratch *scratch = part->scratch;
    const real *alpha = scratch->alpha + r * scratch->lda;
    const real *dcontext = scratch->djoint + r * scratch->ldj;
    const real *query = scratch->query + r * scratch->ld;
    real *dalpha = scratch->dalpha, *dquery = scratch->dquery + r * scratch->ld;
    int h = part->seq2seq->hidden, length = memory->length;
    weft_packed_times(1, dcontext, scratch->ldj, &memory->score.packed, 0, dalpha,
                      scratch->lda);
    real mean = 0;
    for (int s = 0; s < length; s++) mean += alpha[s] * dalpha[s];
    for (int s = 0; s < length; s++) dalpha[s] = alpha[s] * (dalpha[s] - mean);
    weft_packed_times(1, dalpha, scratch->lda, &memory->mean.packed, 0, dquery,
                      scratch->ld);
    weft_outer(1, length, alpha, scratch->lda, h, dcontext, scratch->ldj, 1, memory->de,
               scratch->ld, scratch->tmp);
    weft_outer(1, length, dalpha, scratch->lda, h, query, scratch->ld, 1, memory->de,
               scratch->ld, scratch->tmp);
}

/* From dout to the gradient with respect to the top layer's outputs. */
static void attend_back(const seq2seq_part *part, struct range range)
{
    seq2seq_scratch *scratch = part->scratch;
    const net_recurrent *top = top_of(part);
    size_t h = (size_t)part->seq2seq->hidden, first = (size_t)range.row;
    EACH_ROW(range, t, i, row)
    {
        net_drop drop = drop_at(part, PLACE_OUT, i, t);
        const real *out = scratch->out + row * scratch->ld;
        real *dout = scratch->dout + row * scratch->ld;
        net_drop_units(&drop, (int)h, dout, dout);
        for (size_t u = 0; u < h; u++) dout[u] *= 1 - out[u] * out[u];
    }
    weft_packed_times(range.n, scratch->dout + first * scratch->ld, scratch->ld,
                      &scratch->combine.back.packed, 0,
                      scratch->djoint + first * scratch->ldj, scratch->ldj);
    EACH_ROW(range, t, i, row)
    {
        look_back(part, &scratch->memory[scratch->target_order[i]], row);
        memcpy(top->dy + row * top->ld, scratch->djoint + row * scratch->ldj + h,
               h * sizeof(real));
    }
    weft_packed_times(range.n, scratch->dquery + first * scratch->ld, scratch->ld,
                      &scratch->attention.back.packed, 1, top->dy + first * top->ld,
                      top->ld);
}

/* From dx, the gradient with respect to the inputs of layer l > 0. */
static void give_outputs(const seq2seq_part *part, struct range range, int l)
{
    const seq2seq_scratch *scratch = part->scratch;
    const net_recurrent *layer = &scratch->decoder[l];
    EACH_ROW(range, t, i, row)
    {
        net_drop drop = drop_at(part, PLACE_WORDS + l, i, t);
        net_drop_units(&drop, layer->in, scratch->dx + row * scratch->ldj,
                       layer[-1].dy + row * layer[-1].ld);
    }
}

/* The same of layer 0: the words' vectors, and the outputs that were fed. */
static void give_words(const seq2seq_part *part, struct range range, real *g)
{
    const seq2seq_scratch *scratch = part->scratch;
    size_t e = (size_t)part->seq2seq->embedding, h = (size_t)part->seq2seq->hidden;
    EACH_ROW(range, t, i, row)
    {
        net_drop drop = drop_at(part, PLACE_WORDS, i, t);
        real *dx = scratch->dx + row * scratch->ldj;
        real *to = g + part->offsets.target + word_before(part, i, t) * e;
        net_drop_units(&drop, (int)e, dx, dx);
        for (size_t u = 0; u < e; u++) to[u] += dx[u];
        if (!part->seq2seq->feed || t == 0) continue;
        real *dout = scratch->dout + (scratch->target.first[t - 1] + i) * scratch->ld;
        for (size_t u = 0; u < h; u++) dout[u] += dx[e + u];
    }
}

static void range_back(const seq2seq_part *part, struct range range, real *g)
{
    seq2seq_scratch *scratch = part->scratch;
    attend_back(part, range);
    for (int l = part->seq2seq->layers - 1; l >= 0; l--) {
        net_recurrent *layer = &scratch->decoder[l];
        for (int t = range.to - 1; t >= range.from; t--)
            net_recurrent_step_back(layer, &scratch->target, t,
                                    g + part->offsets.decoder[l].bias[0]);
        net_recurrent_input_back(layer, range.row, range.n, 0,
                                 scratch->dx + range.row * scratch->ldj, scratch->ldj);
        if (l) give_outputs(part, range, l);
    }
    give_words(part, range, g);
}

/* The gradients of all matrices, each one product over all rows. */
static void matrices_back(const seq2seq_part *part, real *g)
{
    const seq2seq_scratch *scratch = part->scratch;
    const net_recurrent *top = top_of(part);
    int rows = net_steps_rows(&scratch->target), h = part->seq2seq->hidden;
    weft_outer(rows, h, scratch->dout, scratch->ld, 2 * h, scratch->joint, scratch->ldj, 1,
               g + part->offsets.combine, 2 * (size_t)h, scratch->tmp);
    weft_outer(rows, h, scratch->dquery, scratch->ld, h, top->y, top->ld, 1,
               g + part->offsets.attention, (size_t)h, scratch->tmp);
    for (int l = 0; l < part->seq2seq->layers; l++) {
        const net_lstm *at = &part->offsets.decoder[l];
        net_recurrent_weights_back(&scratch->decoder[l], rows, g + at->ih, g + at->hh,
                                   scratch->tmp);
        net_recurrent_first_back(&scratch->decoder[l], &scratch->target, scratch->dy0[l]);
    }
}

void seq2seq_decode_back(const seq2seq_part *part, real *g)
{
    seq2seq_scratch *scratch = part->scratch;
    int steps = scratch->target.longest;
    for (int i = 0; i < part->n; i++)
        memset(scratch->memory[i].de, 0,
               (size_t)scratch->memory[i].length * scratch->ld * sizeof(real));
    for (int l = 0; l < part->seq2seq->layers; l++) {
        net_recurrent *layer = &scratch->decoder[l];
        memset(layer->dc, 0, (size_t)part->n * layer->ld * sizeof(real));
    }
    if (!part->seq2seq->feed)
        range_back(part, range_of(&part->scratch->target, 0, steps), g);
    for (int t = steps - 1; part->seq2seq->feed && t >= 0; t--)
        range_back(part, range_of(&part->scratch->target, t, t + 1), g);
    matrices_back(part, g);
}
