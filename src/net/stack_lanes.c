/* Stacks of dense layers for several models at the same time, one in each vector lane:
 * forward, backward and loss of stack.c and dense.c. */
#include "stack.h"

/* Limits and block sizes for which sums have the same order as in stack.c, so that the bits
 * are the same. */
enum {
    MAX_INPUTS = 1024, /* dense.c packs this many numbers of a row of W at a time */
    MAX_ROWS = 192,    /* math/gemm.c, weft_outer */
    BACK_OUTPUTS = 16  /* dense.c, rows of W at a time in the backward pass */
};

typedef struct scratch {
    real *act[WEFT_MAX_LAYERS + 1]; /* [most][units][lanes] as in weft_scratch */
    real *d[2];                     /* [most][units of any layer][lanes] */
    real *one;                      /* [lanes] ones */
    int lanes;
} scratch;

void *weft_stack_lanes_work(const void *self, int most, weft_arena *mem)
{
    const weft_stack *s = self;
    int units = 0;
    for (int i = 0; i < s->n; i++) {
        if (s->layer[i].k > 0 || s->layer[i].c > MAX_INPUTS) return NULL;
        units = s->layer[i].units > units ? s->layer[i].units : units;
    }
    if (most > MAX_ROWS) return NULL;
    scratch *t = WEFT_NEW(mem, scratch, 1);
    t->lanes = weft_lanes();
    size_t numbers = (size_t)most * (size_t)t->lanes;
    t->act[0] = WEFT_NEW(mem, real, numbers * (size_t)s->shape.d);
    for (int i = 0; i < s->n; i++)
        t->act[i + 1] = WEFT_NEW(mem, real, numbers * (size_t)s->layer[i].units);
    t->one = WEFT_NEW(mem, real, t->lanes);
    for (int l = 0; l < t->lanes; l++) t->one[l] = 1;
    for (int i = 0; i < 2; i++) t->d[i] = WEFT_NEW(mem, real, numbers * (size_t)units);
    return t;
}

/* ---- forward ---- */

static void layer_forward(const weft_layer *l, const real *w, int n, int lanes,
                          const real *x, real *y)
{
    size_t m = (size_t)l->out, c = (size_t)l->c, wide = m * (size_t)lanes;
    weft_lanes_product p = {.n = n,
                            .m = l->out,
                            .k = l->c,
                            .a = x,
                            .a_row = c,
                            .a_k = 1,
                            .b = w + l->weight * lanes,
                            .b_column = c,
                            .b_k = 1,
                            .c = y,
                            .ldc = m};
    weft_lanes_times(&p);
    const real *bias = w + l->bias * lanes;
    for (int i = 0; i < n; i++, y += wide) {
        for (size_t j = 0; j < wide; j++) y[j] += bias[j];
        for (size_t j = 0; l->relu && j < wide; j++) y[j] = y[j] < 0 ? 0 : y[j];
    }
}

static void forward(const weft_stack *s, scratch *t, const real *w,
                    const weft_lane_batch *b)
{
    for (int i = 0; i < b->n; i++)
        weft_lanes_load(s->shape.d, b->x + i * t->lanes,
                        t->act[0] + i * s->shape.d * t->lanes);
    for (int i = 0; i < s->n; i++)
        layer_forward(&s->layer[i], w, b->n, t->lanes, t->act[i], t->act[i + 1]);
}

/* The loss of each row, and its gradient unless dz is NULL, which is 0 for a row that does
 * not exist. */
static void losses(const weft_stack *s, scratch *t, const weft_lane_batch *b, real *dz,
                   weft_score *sum)
{
    int c = s->shape.classes, lanes = t->lanes;
    for (int i = 0; i < b->n; i++) {
        double share[WEFT_MAX_LANES], loss[WEFT_MAX_LANES];
        int wrong[WEFT_MAX_LANES];
        size_t first = (size_t)i * (size_t)c * (size_t)lanes;
        for (int l = 0; l < lanes; l++) share[l] = i < b->count[l] ? 1.0 / b->count[l] : 0;
        weft_lanes_softmax(c, t->act[s->n] + first, b->label + i * lanes, share,
                           dz ? dz + first : NULL, loss, wrong);
        for (int l = 0; l < lanes; l++) {
            if (i >= b->count[l]) continue;
            sum[l].loss += loss[l];
            sum[l].wrong += wrong[l];
            sum[l].count++;
        }
    }
}

void weft_stack_lanes_score(const void *self, void *work, const real *w,
                            const weft_lane_batch *b, weft_score *s)
{
    forward(self, work, w, b);
    losses(self, work, b, NULL, s);
}

/* ---- backward ---- */

/* dx[n][c] = dy W, by pieces of the layer's outputs. */
static void input_gradient(const weft_layer *l, const real *w, int n, int lanes,
                           const real *dy, real *dx)
{
    size_t m = (size_t)l->out, c = (size_t)l->c;
    for (int k = 0; k < l->out; k += BACK_OUTPUTS) {
        weft_lanes_product p = {.n = n,
                                .m = l->c,
                                .k = l->out - k < BACK_OUTPUTS ? l->out - k : BACK_OUTPUTS,
                                .a = dy + (size_t)(k * lanes),
                                .a_row = m,
                                .a_k = 1,
                                .b = w + (l->weight + (int64_t)k * l->c) * lanes,
                                .b_column = 1,
                                .b_k = c,
                                .add = k > 0,
                                .c = dx,
                                .ldc = c};
        weft_lanes_times(&p);
    }
}

/* The gradient of W and of the bias to g, or the weights of `move` make the step. */
static void layer_gradient(const weft_layer *l, const scratch *t, int n, const real *x,
                           const real *dy, real *g, const weft_lanes_move *move)
{
    size_t c = (size_t)l->c;
    real *to = move ? move->w : g;
    weft_lanes_product p = {.n = l->out,
                            .m = l->c,
                            .k = n,
                            .a = dy,
                            .a_row = 1,
                            .a_k = (size_t)l->out,
                            .b = x,
                            .b_column = 1,
                            .b_k = c,
                            .add = -1,
                            .c = to + l->weight * t->lanes,
                            .ldc = c,
                            .move = move};
    weft_lanes_times(&p);
    p.m = 1;
    p.b = t->one;
    p.b_k = 0;
    p.c = to + l->bias * t->lanes;
    p.ldc = 1;
    weft_lanes_times(&p);
}

/* The gradient is 0 for a unit that is not above 0, or of a row that does not exist. */
static void mask(const weft_lane_batch *b, int lanes, int units, const real *y, real *d)
{
    for (int i = 0; i < b->n; i++)
        for (int j = 0; j < units; j++, y += lanes, d += lanes)
            for (int l = 0; l < lanes; l++) d[l] = i < b->count[l] && y[l] > 0 ? d[l] : 0;
}

void weft_stack_lanes_grad(const void *self, void *work, const real *w,
                           const weft_lane_batch *b, real *g, const weft_lanes_move *move,
                           weft_score *s)
{
    const weft_stack *t = self;
    scratch *k = work;
    real *dy = k->d[0], *dx = k->d[1];
    forward(t, k, w, b);
    losses(t, k, b, dy, s);
    for (int i = t->n - 1; i >= 0; i--) {
        const weft_layer *l = &t->layer[i];
        if (i > 0) input_gradient(l, w, b->n, k->lanes, dy, dx); /* before w changes */
        layer_gradient(l, k, b->n, k->act[i], dy, g, move);
        if (i == 0) break;
        mask(b, k->lanes, (l - 1)->units, k->act[i], dx);
        real *last = dy;
        dy = dx;
        dx = last;
    }
}
