/* What networks share: the form of samples that they read, initial weights, lists of
 * tensors, losses, and the dense layer, y = x W^T + b, which packs samples, some at a time,
 * and reads W where it is. */
#include "net.h"
#include "weft/base/random.h"
#include "weft/math/optim.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- setup ---- */

weft_status net_check_form(const char *name, weft_form form, const weft_shape *shape)
{
    if (shape->form == form) return WEFT_OK;
    return weft_fail(WEFT_ECONF, "model = %s %s, the data set holds %s; use model = %s",
                     name, weft_forms[form]->read, weft_forms[shape->form]->hold,
                     weft_forms[shape->form]->net);
}

weft_status weft_net_setup(const weft_net *net, void *self, const weft_shape *shape,
                           const char *section, const char *path)
{
    WEFT_SCRATCH(tmp);
    weft_status st = net->setup(self, shape);
    if (st == WEFT_OK) return WEFT_OK;
    /* A network does not know whose option it is. */
    const char *why = weft_arena_text(tmp, "%s", weft_error()), *text = "";
    for (const char *key; (key = strstr(why, "model = ")); why = key + strlen("model"))
        text = weft_arena_text(tmp, "%s%.*s%s.model", text, (int)(key - why), why, section);
    return weft_fail(st, "%s: %s%s", path, text, why);
}

/* ---- weights ---- */

void weft_init_uniform(uint64_t seed, int tensor, double bound, int64_t n, real *w)
{
    for (int64_t i = 0; i < n; i += 4) {
        weft_rng4 rng =
            weft_rng_at(seed, WEFT_RNG_WEIGHTS, (uint64_t)tensor, (uint64_t)i / 4, 0);
        for (int64_t e = 0; e < 4 && i + e < n; e++)
            w[i + e] = (real)(bound * (2 * weft_rng_unit(rng.v[e]) - 1));
    }
}

size_t net_stride(int64_t n)
{
    size_t line = 64 / sizeof(real);
    return (((size_t)n + line - 1) / line | 1) * line;
}

net_matrix net_matrix_new(int k, int m, weft_arena *mem)
{
    return (net_matrix){.packed = {.k = k, .m = m},
                        .mem = weft_arena_alloc(mem, 1, weft_packed_bytes(k, m))};
}

void net_matrix_pack(net_matrix *matrix, const real *b, size_t ldb, int trans)
{
    weft_packed_pack(&matrix->packed, matrix->packed.k, matrix->packed.m, b, ldb, trans,
                     matrix->mem);
}

net_pair net_pair_new(int k, int m, weft_arena *mem)
{
    return (net_pair){.to = net_matrix_new(k, m, mem), .back = net_matrix_new(m, k, mem)};
}

void net_pair_pack(net_pair *pair, const real *b, int back)
{
    size_t k = (size_t)pair->to.packed.k;
    net_matrix_pack(&pair->to, b, k, 1);
    if (back) net_matrix_pack(&pair->back, b, k, 0);
}

int64_t net_layout_add(net_layout *layout, int64_t rows, int64_t columns, const char *name)
{
    int64_t at = layout->end;
    if (layout->out) {
        weft_tensor *tensor = &layout->out[layout->n];
        *tensor = (weft_tensor){.at = at, .nd = columns ? 2 : 1, .dims = {rows, columns}};
        snprintf(tensor->name, sizeof tensor->name, "%s", name);
    }
    layout->n++;
    layout->end += rows * (columns ? columns : 1);
    return at;
}

/* ---- losses ---- */

void weft_softmax(int c, const real *z, int label, double share, real *dz,
                  weft_score *score)
{
    int best = 0;
    for (int j = 1; j < c; j++) best = z[j] > z[best] ? j : best;
    double top = (double)z[best], own = (double)z[label], sum;
    double loss = weft_softmax_terms(c, z, top, dz, &sum) + top - own;
    score->loss += loss;
    score->wrong += best != label || isnan(loss);
    score->count++;
    if (!dz) return;
    real times = (real)(share / sum);
    for (int j = 0; j < c; j++) dz[j] *= times;
    dz[label] -= (real)share;
}

void weft_softmax_smooth(int c, const real *z, int label, double share, double smoothing,
                         real *dz, weft_score *score)
{
    real own = z[label];
    int better = 0;
    double top, sum;
    for (int j = 0; j < label; j++) better |= z[j] >= own;
    for (int j = label + 1; j < c; j++) better |= z[j] > own;
    double loss = weft_softmax_many(c, z, dz, &top, &sum) + top - (double)own;
    score->loss += loss;
    score->wrong += better || isnan(loss);
    score->count++;
    if (!dz) return;
    real times = (real)(share / sum), each = (real)(share * smoothing / c);
    for (int j = 0; j < c; j++) dz[j] = dz[j] * times - each;
    dz[label] -= (real)(share * (1 - smoothing));
}

void weft_squared(int c, const real *z, const double *target, double share, real *dz,
                  weft_score *score)
{
    double loss = 0;
    for (int j = 0; j < c; j++) {
        double off = (double)z[j] - target[j];
        loss += off * off / c;
        if (dz) dz[j] = (real)(share * 2 * off / c);
    }
    score->loss += loss;
    score->wrong += loss;
    score->count++;
}

/* ---- dense layers ---- */

size_t weft_dense_packed(const weft_layer *layer, int most)
{
    size_t x = weft_packed_bytes(net_min(WEFT_DENSE_LONG, layer->c),
                                 net_min(most, WEFT_DENSE_ROWS)),
           w = weft_packed_bytes(net_min(WEFT_DENSE_FEW, layer->out),
                                 net_min(WEFT_DENSE_LONG, layer->c));
    return x > w ? x : w;
}

const real *const *weft_sample_rows(weft_scratch *scratch, int n, int64_t wide,
                                    const real *x)
{
    for (int i = 0; i < n; i++) scratch->row[i] = x + i * wide;
    return scratch->row;
}

weft_layer weft_dense_layer(int in, int out, int relu, int64_t at)
{
    return (weft_layer){.pool = 1,
                        .relu = relu,
                        .h = 1,
                        .w = 1,
                        .c = in,
                        .oh = 1,
                        .ow = 1,
                        .out = out,
                        .units = out,
                        .weight = at,
                        .bias = at + (int64_t)in * out};
}

void weft_dense_tensors(const weft_layer *layer, int number, weft_tensor out[2])
{
    out[0] = (weft_tensor){.at = layer->weight, .nd = 2, .dims = {layer->out, layer->c}};
    out[1] = (weft_tensor){.at = layer->bias, .nd = 1, .dims = {layer->out}};
    snprintf(out[0].name, sizeof out->name, "fc%d.weight", number);
    snprintf(out[1].name, sizeof out->name, "fc%d.bias", number);
}

/* y[n][out] of up to WEFT_DENSE_ROWS samples. A row of y depends only on its row of x. */
static void rows_forward(const weft_layer *layer, weft_scratch *scratch, const real *w,
                         int n, const real *const *x, real *y)
{
    int m = layer->out;
    const real *bias = w + layer->bias, *z = scratch->transposed;
    for (int i = 0; i < layer->c; i += WEFT_DENSE_LONG) {
        weft_packed packed;
        weft_packed_rows(&packed, net_min(WEFT_DENSE_LONG, layer->c - i), n, x, i,
                         scratch->packed);
        weft_packed_times(m, w + layer->weight + i, (size_t)layer->c, &packed, i > 0,
                          scratch->transposed, (size_t)n);
    }
    for (int i = 0; i < n; i++, y += m) {
        for (int j = 0; j < m; j++) y[j] = z[(int64_t)j * n + i] + bias[j];
        for (int j = 0; layer->relu && j < m; j++) y[j] = y[j] < 0 ? 0 : y[j];
    }
}

void weft_dense_forward(const weft_layer *layer, weft_scratch *scratch, const real *w,
                        int n, const real *const *x, real *y)
{
    for (int i = 0; i < n; i += WEFT_DENSE_ROWS)
        rows_forward(layer, scratch, w, net_min(WEFT_DENSE_ROWS, n - i), x + i,
                     y + (int64_t)i * layer->out);
}

/* dx[n][c] = dy W. */
static void input_gradient(const weft_layer *layer, weft_scratch *scratch, const real *w,
                           int n, const real *dy, real *dx)
{
    int k = layer->out, m = layer->c;
    for (int i = 0; i < k; i += WEFT_DENSE_FEW)
        for (int j = 0; j < m; j += WEFT_DENSE_LONG) {
            weft_packed packed;
            weft_packed_pack(&packed, net_min(WEFT_DENSE_FEW, k - i),
                             net_min(WEFT_DENSE_LONG, m - j), w + (int64_t)i * m + j,
                             (size_t)m, 0, scratch->packed);
            weft_packed_times(n, dy + i, (size_t)k, &packed, i > 0, dx + j, (size_t)m);
        }
}

void weft_dense_backward(const weft_layer *layer, weft_scratch *scratch, const real *w,
                         int n, const real *const *x, const real *dy, real *g, real *dx)
{
    int k = layer->c, m = layer->out;
    real *bias = g + layer->bias;
    memset(bias, 0, (size_t)m * sizeof *g);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) bias[j] += dy[(int64_t)i * m + j];
    weft_outer_rows(n, m, dy, (size_t)m, k, x, 0, g + layer->weight, (size_t)k,
                    scratch->tmp);
    if (dx) input_gradient(layer, scratch, w + layer->weight, n, dy, dx);
}
