/* The encoder of the translation network: its layers, and what the decoder takes of it: the
 * outputs of each sentence, and the last cells and outputs of each layer. */
#include "seq2seq.h"

#include <string.h>

/* Where row i of step t of the encoder belongs: a sentence and a place in it. */
static real *place_of(const seq2seq_part *part, int i, int t, int gradient)
{
    const seq2seq_scratch *scratch = part->scratch;
    const seq2seq_memory *memory = &scratch->memory[scratch->source_order[i]];
    return (gradient ? memory->de : memory->e) + (size_t)t * scratch->ld;
}

/* ---- inputs of a layer ---- */

/* Dropout of row i of step t at the input of layer l. */
static net_drop drop_at(const seq2seq_part *part, int l, int i, int t)
{
    return seq2seq_drop(part, l, part->scratch->source_order[i], t);
}

static void take_words(const seq2seq_part *part)
{
    const seq2seq_scratch *scratch = part->scratch;
    const net_recurrent *layer = &scratch->encoder[0][0];
    size_t e = (size_t)part->seq2seq->embedding;
    real *x = layer->x;
    for (int t = 0; t < scratch->source.longest; t++)
        for (int i = 0; i < net_steps_at(&scratch->source, t); i++, x += layer->ldx) {
            int n;
            const uint32_t *word = seq2seq_source(part, scratch->source_order[i], &n);
            memcpy(x, part->w + part->offsets.source + word[t] * e, e * sizeof *x);
            net_drop drop = drop_at(part, 0, i, t);
            net_drop_units(&drop, (int)e, x, x);
        }
}

/* The outputs of both directions of layer l side by side: the next layer's inputs, or the
 * memory. */
static void take_outputs(const seq2seq_part *part, int l)
{
    seq2seq_scratch *scratch = part->scratch;
    const net_recurrent *layer = scratch->encoder[l];
    int top = l + 1 == part->seq2seq->layers;
    size_t half = (size_t)layer[0].h, row = 0;
    for (int t = 0; t < scratch->source.longest; t++)
        for (int i = 0; i < net_steps_at(&scratch->source, t); i++, row++) {
            real *x =
                top ? place_of(part, i, t, 0)
                    : scratch->encoder[l + 1][0].x + row * scratch->encoder[l + 1][0].ldx;
            for (int k = 0; k < 2; k++)
                memcpy(x + k * half, layer[k].y + row * layer[k].ld, half * sizeof *x);
            if (top) continue;
            net_drop drop = drop_at(part, l + 1, i, t);
            net_drop_units(&drop, part->seq2seq->hidden, x, x);
        }
}

/* ---- the last states ---- */

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

/* ---- passes ---- */

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
    for (int i = 0; i < part->n; i++) seq2seq_source(part, i, &scratch->memory[i].length);
    take_words(part);
    for (int l = 0; l < part->seq2seq->layers; l++) {
        net_recurrent *layer = scratch->encoder[l];
        net_recurrent_input(&layer[0], 0, rows);
        net_recurrent_input(&layer[1], 0, rows);
        for (int t = 0; t < steps->longest; t++) {
            net_recurrent_step(&layer[0], steps, t);
            net_recurrent_step(&layer[1], steps, steps->longest - 1 - t);
        }
        take_outputs(part, l);
        take_last(part, l);
    }
    pack_memory(part);
}

/* The gradient with respect to the outputs of layer l, from the memory's or from dx, that
 * with respect to the next layer's inputs. */
static void give_outputs(const seq2seq_part *part, int l)
{
    seq2seq_scratch *scratch = part->scratch;
    net_recurrent *layer = scratch->encoder[l];
    int top = l + 1 == part->seq2seq->layers;
    size_t half = (size_t)layer[0].h, row = 0;
    for (int t = 0; t < scratch->source.longest; t++)
        for (int i = 0; i < net_steps_at(&scratch->source, t); i++, row++) {
            real *dx = top ? place_of(part, i, t, 1) : scratch->dx + row * scratch->ldj;
            net_drop drop = drop_at(part, l + 1, i, t);
            if (!top) net_drop_units(&drop, part->seq2seq->hidden, dx, dx);
            for (int k = 0; k < 2; k++)
                memcpy(layer[k].dy + row * layer[k].ld, dx + k * half, half * sizeof *dx);
        }
}

/* Adds the gradient with respect to the words' vectors, dx. */
static void give_words(const seq2seq_part *part, real *g)
{
    const seq2seq_scratch *scratch = part->scratch;
    size_t e = (size_t)part->seq2seq->embedding;
    real *dx = scratch->dx;
    for (int t = 0; t < scratch->source.longest; t++)
        for (int i = 0; i < net_steps_at(&scratch->source, t); i++, dx += scratch->ldj) {
            int n;
            const uint32_t *word = seq2seq_source(part, scratch->source_order[i], &n);
            net_drop drop = drop_at(part, 0, i, t);
            net_drop_units(&drop, (int)e, dx, dx);
            real *to = g + part->offsets.source + word[t] * e;
            for (size_t u = 0; u < e; u++) to[u] += dx[u];
        }
}

/* Backward pass of layer l; dx = the gradient with respect to its inputs. */
static void layer_back(const seq2seq_part *part, int l, real *g)
{
    seq2seq_scratch *scratch = part->scratch;
    const net_steps *steps = &scratch->source;
    net_recurrent *layer = scratch->encoder[l];
    int rows = net_steps_rows(steps);
    for (int k = 0; k < 2; k++) {
        const seq2seq_lstm *at = &part->offsets.encoder[l][k];
        give_last(part, l, k);
        for (int t = 0; t < steps->longest; t++)
            net_recurrent_step_back(&layer[k], steps, k ? t : steps->longest - 1 - t,
                                    g + at->bias);
        net_recurrent_weights_back(&layer[k], rows, g + at->ih, g + at->hh, scratch->tmp);
        net_recurrent_input_back(&layer[k], 0, rows, k, scratch->dx, scratch->ldj);
    }
}

void seq2seq_encode_back(const seq2seq_part *part, real *g)
{
    for (int l = part->seq2seq->layers - 1; l >= 0; l--) {
        give_outputs(part, l);
        layer_back(part, l, g);
    }
    give_words(part, g);
}
