/* Layers of LSTM over sequences of unequal length: the sequences of a step are a prefix of
 * those of any earlier one, so that none is padded. The outputs of the step before are kept
 * row by row, so that the gradient of the recurrent weights is one product. */
#include "recurrent.h"
#include "weft/base/random.h"
#include "weft/math/kernels.h"

#include <stdio.h>
#include <string.h>

/* ---- steps ---- */

net_steps net_steps_new(int most, int longest, weft_arena *mem)
{
    return (net_steps){.first = WEFT_NEW(mem, int, longest + 1),
                       .length = WEFT_NEW(mem, int, most)};
}

void net_steps_count(net_steps *steps)
{
    steps->longest = steps->length[0];
    steps->first[0] = 0;
    for (int t = 0, n = steps->n; t < steps->longest; t++) {
        while (steps->length[n - 1] <= t) n--;
        steps->first[t + 1] = steps->first[t] + n;
    }
}

int net_steps_at(const net_steps *steps, int t)
{
    return t < steps->longest ? steps->first[t + 1] - steps->first[t] : 0;
}

int net_steps_rows(const net_steps *steps)
{
    return steps->first[steps->longest];
}

/* ---- memory and weights ---- */

static net_gates gates_new(int in, int h, weft_arena *mem)
{
    return (net_gates){.ih = net_pair_new(in, 4 * h, mem),
                       .hh = net_pair_new(h, 4 * h, mem)};
}

static void gates_pack(net_gates *gates, const real *ih, const real *hh, int back)
{
    net_pair_pack(&gates->ih, ih, back);
    net_pair_pack(&gates->hh, hh, back);
}

net_lstm net_layout_lstm(net_layout *layout, const char *name, int layer,
                         const char *direction, int in, int h, int biases)
{
    static const char *const kind[] = {"weight_ih", "weight_hh", "bias_ih", "bias_hh"};
    int columns[] = {in, h, 0, 0};
    int64_t at[4];
    for (int k = 0; k < 2 + biases; k++) {
        char text[64] = "";
        if (layout->out)
            snprintf(text, sizeof text, "%s.%s_l%d%s", name, kind[k], layer, direction);
        at[k] = net_layout_add(layout, 4 * (int64_t)h, columns[k], text);
    }
    return (net_lstm){.ih = at[0], .hh = at[1], .bias = {at[2], at[1 + biases]}};
}

/* ---- dropout ---- */

enum { PER_DRAW = 16 }; /* decisions by the four words of a random number */

void net_drop_units(const net_drop *drop, int n, const real *x, real *y)
{
    real scale = drop->share < NET_DROP_SCALE
                     ? NET_DROP_SCALE / (real)(NET_DROP_SCALE - drop->share)
                     : 0;
    if (drop->share == 0) {
        if (y != x) memcpy(y, x, (size_t)n * sizeof *y);
        return;
    }
    for (int j = 0; j < n; j += PER_DRAW) {
        weft_rng4 rng = weft_rng_at(drop->key, WEFT_RNG_DROPOUT, drop->place, drop->sample,
                                    (uint64_t)j);
        for (int k = 0; k < PER_DRAW && j + k < n; k++)
            y[j + k] =
                (int)(rng.v[k / 4] >> 16 * (k % 4) & (NET_DROP_SCALE - 1)) < drop->share
                    ? 0
                    : scale * x[j + k];
    }
}

/* ---- layers ---- */

net_recurrent net_recurrent_new(int in, int h, int reverse, int most, int rows,
                                weft_arena *mem)
{
    net_recurrent layer = {.in = in,
                           .h = h,
                           .reverse = reverse,
                           .ldx = net_stride(in),
                           .ld = net_stride(h),
                           .ldz = net_stride(4 * (int64_t)h),
                           .gates = gates_new(in, h, mem),
                           .plus = WEFT_NEW(mem, const real *, most),
                           .into = WEFT_NEW(mem, real *, most)};
    size_t n = (size_t)rows;
    layer.x = WEFT_NEW(mem, real, n * layer.ldx);
    layer.z = WEFT_NEW(mem, real, n * layer.ldz);
    layer.c = WEFT_NEW(mem, real, n * layer.ld);
    layer.y = WEFT_NEW(mem, real, n * layer.ld);
    layer.last = WEFT_NEW(mem, real, n * layer.ld);
    layer.dy = WEFT_NEW(mem, real, n * layer.ld);
    layer.dc = WEFT_NEW(mem, real, (size_t)most * layer.ld);
    return layer;
}

void net_recurrent_pack(net_recurrent *layer, const real *ih, const real *hh,
                        const real *bias, int back)
{
    gates_pack(&layer->gates, ih, hh, back);
    layer->bias = bias;
}

/* ---- forward ---- */

void net_recurrent_input(net_recurrent *layer, int row, int n)
{
    weft_packed_times(n, layer->x + row * layer->ldx, layer->ldx,
                      &layer->gates.ih.to.packed, 0, layer->z + row * layer->ldz,
                      layer->ldz);
}

/* The step before t in the layer's direction, and how many sequences of t have it. */
static int step_before(const net_recurrent *layer, const net_steps *steps, int t,
                       int *count)
{
    int before = layer->reverse ? t + 1 : t - 1;
    *count = before < 0 ? 0 : net_steps_at(steps, layer->reverse ? before : t);
    return before;
}

/* Sequences [from, from + n) of step t, whose cells before are `before`. */
static weft_cells cells_of(const net_recurrent *layer, const net_steps *steps, int t,
                           int from, int n, const real *before)
{
    size_t row = (size_t)(steps->first[t] + from);
    return (weft_cells){.n = n,
                        .h = layer->h,
                        .z = layer->z + row * layer->ldz,
                        .ldz = layer->ldz,
                        .before = before,
                        .c = layer->c + row * layer->ld,
                        .y = layer->y + row * layer->ld,
                        .ld = layer->ld};
}

/* The cells of step t in two parts: of sequences that have a step before, and of those that
 * begin. */
static void cells_at(const net_recurrent *layer, const net_steps *steps, int t,
                     weft_cells part[2])
{
    int n = net_steps_at(steps, t), go;
    int before = step_before(layer, steps, t, &go);
    const real *c = go ? layer->c + (size_t)steps->first[before] * layer->ld : NULL;
    part[0] = cells_of(layer, steps, t, 0, go, c);
    part[1] = cells_of(layer, steps, t, go, n - go,
                       layer->c0 ? layer->c0 + (size_t)go * layer->ld : NULL);
}

void net_recurrent_step(net_recurrent *layer, const net_steps *steps, int t)
{
    int n = net_steps_at(steps, t), go;
    int before = step_before(layer, steps, t, &go);
    size_t row = (size_t)steps->first[t], ld = layer->ld;
    real *last = layer->last + row * ld;
    weft_cells part[2];
    if (go) memcpy(last, layer->y + steps->first[before] * ld, go * ld * sizeof *last);
    if (layer->y0)
        memcpy(last + go * ld, layer->y0 + go * ld, (n - go) * ld * sizeof *last);
    else
        memset(last + go * ld, 0, (n - go) * ld * sizeof *last);
    weft_packed_times(layer->y0 ? n : go, last, ld, &layer->gates.hh.to.packed,
                      !layer->given, layer->z + row * layer->ldz, layer->ldz);
    for (int i = 0; i < n; i++)
        layer->plus[i] = layer->given ? layer->given[row + i] : layer->bias;
    cells_at(layer, steps, t, part);
    weft_cells_forward(&part[0], layer->plus);
    weft_cells_forward(&part[1], layer->plus + part[0].n);
}

/* ---- backward ---- */

void net_recurrent_step_back(net_recurrent *layer, const net_steps *steps, int t,
                             real *dbias)
{
    int after = layer->reverse ? t - 1 : t + 1;
    int n = net_steps_at(steps, t);
    int go = after < 0 ? 0 : net_steps_at(steps, layer->reverse ? t : after);
    size_t row = (size_t)steps->first[t], ld = layer->ld;
    real *dy = layer->dy + row * ld;
    weft_cells part[2];
    if (go)
        weft_packed_times(go, layer->z + steps->first[after] * layer->ldz, layer->ldz,
                          &layer->gates.hh.back.packed, 1, dy, ld);
    for (int i = 0; i < n; i++)
        layer->into[i] = layer->dgiven ? layer->dgiven[row + i] : dbias;
    cells_at(layer, steps, t, part);
    size_t from = (size_t)part[0].n * ld;
    weft_cells_backward(&part[0], dy, layer->dc, layer->into);
    weft_cells_backward(&part[1], dy + from, layer->dc + from, layer->into + part[0].n);
}

void net_recurrent_first_back(const net_recurrent *layer, const net_steps *steps, real *dy0)
{
    weft_packed_times(steps->n, layer->z, layer->ldz, &layer->gates.hh.back.packed, 0, dy0,
                      layer->ld);
}

void net_recurrent_input_back(const net_recurrent *layer, int row, int n, int add, real *dx,
                              size_t lddx)
{
    weft_packed_times(n, layer->z + row * layer->ldz, layer->ldz,
                      &layer->gates.ih.back.packed, add, dx, lddx);
}

void net_recurrent_weights_back(const net_recurrent *layer, int rows, real *ih, real *hh,
                                weft_arena *tmp)
{
    weft_outer(rows, 4 * layer->h, layer->z, layer->ldz, layer->in, layer->x, layer->ldx, 1,
               ih, (size_t)layer->in, tmp);
    weft_outer(rows, 4 * layer->h, layer->z, layer->ldz, layer->h, layer->last, layer->ld,
               1, hh, (size_t)layer->h, tmp);
}
