/* Chooses the table of loops for this CPU. Before a table is used, it is compared with the
 * plain one on a small random problem, since not all CPUs could be tested. All tables give
 * the same bits, so results depend neither on the CPU nor on WEFT_KERNEL. */
#include "kernel.h"
#include "weft/log.h"
#include "weft/project.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum {
    GROUPS = 3,
    PAIRS = 24,
    N = 75,
    D = 173,
    C = 7,
    FWHT = 64,
    ROWS = 23, /* of a product of reals */
    DEEP = 31,
    COLUMNS = 53,
    CELLS = 21, /* of an LSTM */
    ADDED = 99, /* columns of rows that are added */
    SIDE = 37,  /* numbers of a model in a lane */
    CLASSES = 131,
    OUTPUTS = 16,
    ENTRIES = 10,
    SPARSE = 28 /* vectors beside sparse rows */
};

/* Random input, and what a table makes of it. */
struct probe {
    _Alignas(64) int8_t b[GROUPS * WEFT_GROUP * WEFT_WIDE];
    _Alignas(64) int16_t right[PAIRS * 2 * WEFT_WIDE];
    int16_t left[PAIRS * 2 * WEFT_TILE];
    uint8_t a[WEFT_TILE][GROUPS * WEFT_GROUP], q[N * D];
    int32_t x[D];
    float y[D], offset[D];
    real w[C * D], z[C * N];
    real u[ROWS * DEEP], v[DEEP * COLUMNS];
};

struct outcome {
    int32_t product[WEFT_TILE * WEFT_WIDE], gram[WEFT_TILE * WEFT_WIDE];
    uint8_t q[2 * D];
    real z[C * N], g[C * D];
    float fwht[FWHT], gather[16], halfway[16];
    real panels[ROWS * COLUMNS], outer[DEEP * COLUMNS], few[5 * COLUMNS];
    real cells[11 * CELLS]; /* z, c, y, then dz, dc */
    /* models in lanes: the number of lanes differs, so only the first is compared */
    real side[3 * SIDE];
    double sums[SIDE], slope, log_sums[2];
    real many[CLASSES];
    double many_sums[3]; /* its logarithm, the largest, the sum */
    real added[ADDED];
    double dual[OUTPUTS], share[OUTPUTS], conj[OUTPUTS], logistic[OUTPUTS];
    double dots[SPARSE];
    real sparse[ENTRIES * SPARSE];
    real moved[2 * ADDED]; /* weights and velocities */
    int finite[3];
};

static uint32_t next(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 40);
}

static void draw(struct probe *probe)
{
    uint64_t s = 1;
    for (size_t i = 0; i < sizeof probe->b; i++)
        probe->b[i] = (int8_t)((int)(next(&s) % (2 * WEFT_S8_MAX + 1)) - WEFT_S8_MAX);
    for (int i = 0; i < PAIRS * 2 * WEFT_WIDE; i++)
        probe->right[i] = (int16_t)((int)(next(&s) & 255) - 128);
    for (int i = 0; i < PAIRS * 2 * WEFT_TILE; i++)
        probe->left[i] = (int16_t)((int)(next(&s) & 255) - 128);
    for (int r = 0; r < WEFT_TILE; r++)
        for (int k = 0; k < GROUPS * WEFT_GROUP; k++)
            probe->a[r][k] = (uint8_t)(r == 0 ? 255 : next(&s));
    for (int i = 0; i < N * D; i++) probe->q[i] = (uint8_t)next(&s);
    for (int k = 0; k < D; k++) {
        probe->x[k] = (int32_t)next(&s) - (1 << 23);
        probe->y[k] = (float)next(&s) / 1024 - 8192;
        probe->offset[k] = (float)next(&s) / (1 << 24);
    }
    for (int i = 0; i < C * D; i++) probe->w[i] = (real)next(&s) / (1 << 24) - (real)0.5;
    for (int i = 0; i < C * N; i++) probe->z[i] = (real)next(&s) / (1 << 24) - (real)0.5;
    for (int i = 0; i < ROWS * DEEP; i++)
        probe->u[i] = (real)next(&s) / (1 << 24) - (real)0.5;
    for (int i = 0; i < DEEP * COLUMNS; i++)
        probe->v[i] = (real)next(&s) / (1 << 24) - (real)0.5;
}

/* a b + c a little off the middle of two floats, which a sum in double would put there:
 * (1 + e) (1 - e) 2^-24 + 1 + e for e = 2^-23. */
static void run_halfway(const weft_kernel *kernel, float *sum)
{
    float e = 0x1p-23f, a = 1 + e;
    uint32_t first = 0;
    float b[16];
    for (int i = 0; i < 16; i++) {
        float sign = i % 2 ? -1 : 1;
        b[i] = sign * (1 - (float)(i / 2 % 2 ? -1 : 1) * e) * 0x1p-24f;
        sum[i] = (i / 4 % 2 ? -1 : 1) * (1 + e);
    }
    kernel->gather16(1, &first, &a, b, sum);
}

/* Products of u and v, by whole tiles and by their edges; cells made of u and v, and their
 * gradients; a softmax. */
static void run_reals(const weft_kernel *kernel, const struct probe *probe,
                      struct outcome *outcome, weft_arena *tmp)
{
    size_t mark = weft_arena_mark(tmp);
    real *memory = WEFT_NEW(tmp, real, DEEP * (COLUMNS + kernel->lanes));
    weft_packed packed = {.k = DEEP, .m = COLUMNS};
    weft_gemm_pack(kernel, &packed, probe->v, COLUMNS, 0, memory);
    weft_gemm_times(kernel, ROWS, probe->u, DEEP, &packed, 0, outcome->panels, COLUMNS);
    const real *row[ROWS];
    for (int i = 0; i < ROWS; i++) row[i] = probe->v + i * COLUMNS;
    weft_gemm_outer(kernel, ROWS, DEEP, probe->u, DEEP, COLUMNS, row, 1, outcome->outer,
                    COLUMNS, tmp);
    weft_gemm_outer(kernel, ROWS, 5, probe->u, DEEP, COLUMNS, row, 0, outcome->few, COLUMNS,
                    tmp);
    const real *plus[] = {probe->v};
    real *gates = outcome->cells, *c = gates + 4 * CELLS, *y = c + CELLS;
    real *into[] = {gates + 6 * CELLS}, *dc = into[0] + 4 * CELLS;
    memcpy(gates, probe->u, 4 * CELLS * sizeof *gates);
    weft_cells cells = {.n = 1,
                        .h = CELLS,
                        .z = gates,
                        .ldz = 4 * CELLS,
                        .before = probe->v,
                        .c = c,
                        .y = y,
                        .ld = CELLS};
    kernel->cell(&cells, plus);
    memcpy(dc, c, CELLS * sizeof *dc);
    kernel->cell_back(&cells, y, dc, into);
    outcome->many_sums[0] = kernel->softmax_many(
        CLASSES, probe->u, outcome->many, &outcome->many_sums[1], &outcome->many_sums[2]);
    weft_arena_reset(tmp, mark);
}

/* A step of the same model in every lane: a product, the step, the sum of changes; and a
 * softmax. */
static void run_lanes(const weft_kernel *kernel, const struct probe *probe,
                      struct outcome *outcome, weft_arena *tmp)
{
    size_t mark = weft_arena_mark(tmp), lanes = (size_t)kernel->lanes;
    const real *row[WEFT_MAX_LANES];
    real *w[5], *to[WEFT_MAX_LANES], weight[WEFT_MAX_LANES];
    double most[WEFT_MAX_LANES];
    int on[WEFT_MAX_LANES], within[WEFT_MAX_LANES], sound[WEFT_MAX_LANES];
    weft_sgd sgd[WEFT_MAX_LANES];
    for (int i = 0; i < 5; i++) w[i] = WEFT_NEW(tmp, real, SIDE * lanes);
    for (size_t l = 0; l < lanes; l++) {
        row[l] = probe->v;
        to[l] = w[2] + l * SIDE;
        sgd[l] = (weft_sgd){.lr = 0.3, .momentum = 0.9, .weight_decay = 0.01, .mu = 0.1};
        sgd[l].clip = 0.5;
        most[l] = weight[l] = 1 + (real)l / 16;
        on[l] = sound[l] = 1;
        for (int i = 0; i < SIDE; i++) {
            w[0][(size_t)i * lanes + l] = probe->u[i];
            w[3][(size_t)i * lanes + l] = probe->v[i + 1];
        }
    }
    weft_lanes_product product = {.n = 5,
                                  .m = 7,
                                  .k = 6,
                                  .a = w[0],
                                  .a_row = 6,
                                  .a_k = 1,
                                  .b = w[3],
                                  .b_column = 2,
                                  .b_k = 3,
                                  .c = w[1],
                                  .ldc = 7};
    weft_lanes_move move = {.sgd = sgd,
                            .live = on,
                            .first = 1,
                            .w = w[0],
                            .velocity = w[2],
                            .start = w[3],
                            .anchor = w[3],
                            .drift = w[4],
                            .sound = sound};
    kernel->lanes_gather(SIDE, row, w[1]);
    kernel->lanes_scatter(SIDE, w[1], to);
    for (size_t l = 0; l < lanes; l++) row[l] = to[l];
    kernel->lanes_gather(SIDE, row, w[4]);
    kernel->lanes_times(&product);
    kernel->lanes_step(&move, SIDE, w[1]);
    move.first = 0;
    kernel->lanes_step(&move, SIDE, w[1]);
    for (size_t l = 0; l < lanes; l++) sgd[l].clip = 0;
    product.a = w[3];
    product.b = w[1];
    product.add = -1;
    product.c = w[0];
    product.move = &move;
    kernel->lanes_times(&product);
    for (size_t l = 1; l < lanes; l++) on[l] = 0;
    kernel->lanes_within(SIDE, w[0], w[3], most, within);
    on[0] = within[0];
    kernel->lanes_add(SIDE, w[0], w[3], weight, on, 30, outcome->sums);
    kernel->exact_add(SIDE, probe->u, 0x1p30, outcome->sums);
    double share[WEFT_MAX_LANES], loss[WEFT_MAX_LANES], sum;
    kernel->lanes_blend(SIDE, weight, w[0], w[3], w[4]);
    kernel->lanes_slope(SIDE, w[4], w[3], w[1], loss);
    outcome->slope = loss[0];
    int32_t label[WEFT_MAX_LANES] = {0};
    for (size_t l = 0; l < lanes; l++) share[l] = 0.5;
    kernel->lanes_softmax(C, w[0], label, share, w[2], loss, within);
    outcome->log_sums[0] = loss[0];
    outcome->log_sums[1] = kernel->softmax(SIDE, probe->u, 0.5, NULL, &sum);
    for (int i = 0; i < 3 * SIDE; i++)
        outcome->side[i] = w[i / SIDE][(size_t)(i % SIDE) * lanes];
    weft_arena_reset(tmp, mark);
}

/* Rows that are added, and a sparse row. */
static void run_sparse(const weft_kernel *kernel, const struct probe *probe,
                       struct outcome *outcome)
{
    uint32_t at[ENTRIES];
    for (uint32_t e = 0; e < ENTRIES; e++) at[e] = (7 * e + 3) % ENTRIES;
    kernel->gather16(ENTRIES, at, probe->offset, probe->y, outcome->gather);
    kernel->add_rows(ENTRIES, at, probe->u, ADDED, probe->w, ADDED + 1, outcome->added);
    const int64_t first[] = {0, ENTRIES};
    weft_sparse x = {.n = 1, .first = first, .column = at, .value = probe->offset};
    memcpy(outcome->sparse, probe->v, sizeof outcome->sparse);
    kernel->sparse_dots(&x, 0, SPARSE, outcome->sparse, outcome->dots);
    kernel->sparse_adds(&x, 0, SPARSE, probe->u, outcome->sparse);
}

/* Three steps with all options, the last of a gradient that is not finite. */
static void run_step(const weft_kernel *kernel, const struct probe *probe,
                     struct outcome *outcome)
{
    real g[ADDED], *velocity = outcome->moved + ADDED;
    weft_move move = {.lr = (real)0.3,
                      .momentum = (real)0.9,
                      .decay = (real)0.01,
                      .mu = (real)0.1,
                      .scale = (real)0.7,
                      .first = 1,
                      .velocity = velocity,
                      .anchor = probe->w};
    memcpy(outcome->moved, probe->u, sizeof g);
    memcpy(g, probe->v, sizeof g);
    outcome->finite[0] = kernel->step(&move, ADDED, outcome->moved, g);
    move.first = 0;
    g[ADDED - 1] = (real)INFINITY;
    outcome->finite[1] = kernel->step(&move, ADDED - 1, outcome->moved, g);
    outcome->finite[2] = kernel->step(&move, ADDED, outcome->moved, g);
}

/* Dual variables of logistic regression. */
static void run_dual(const weft_kernel *kernel, const struct probe *probe,
                     struct outcome *outcome)
{
    double margin[OUTPUTS];
    for (int k = 0; k < OUTPUTS; k++) {
        margin[k] = 20 * (double)probe->u[k];
        outcome->dual[k] = k % 3 > 0 ? (double)probe->u[k] + 0.5 : 0;
    }
    kernel->logistic_terms(OUTPUTS, 1, margin, outcome->dual, outcome->conj,
                           outcome->logistic);
    kernel->logistic_best(OUTPUTS, 1, 3, margin, outcome->dual, outcome->share);
}

/* The entry of b in a panel of `wide` columns is that of the widest panel. */
static void run(const weft_kernel *kernel, const struct probe *probe,
                struct outcome *outcome, weft_arena *tmp)
{
    _Alignas(64) int8_t b[sizeof probe->b];
    _Alignas(64) int16_t right[PAIRS * 2 * WEFT_WIDE];
    int wide = kernel->wide;
    for (int i = 0; i < GROUPS * WEFT_GROUP / 4; i++)
        memcpy(b + i * 4 * wide, probe->b + i * 4 * WEFT_WIDE, (size_t)(4 * wide));
    for (int i = 0; i < PAIRS; i++)
        memcpy(right + i * 2 * wide, probe->right + i * 2 * WEFT_WIDE,
               (size_t)(2 * wide) * sizeof *right);
    const uint8_t *row[WEFT_TILE];
    for (int r = 0; r < WEFT_TILE; r++) row[r] = probe->a[r];
    memset(outcome, 0, sizeof *outcome);
    kernel->u8s8(GROUPS, row, b, outcome->product, WEFT_WIDE);
    kernel->gram(PAIRS, probe->left, right, outcome->gram, WEFT_WIDE);
    kernel->cos_i32(D, probe->x, 0.001, probe->offset, outcome->q);
    kernel->cos_f32(D, probe->y, 0.01, probe->offset, outcome->q + D);
    kernel->times(N, D, probe->q, D, C, probe->w, D, outcome->z, N);
    kernel->trans(N, D, probe->q, D, C, probe->z, N, outcome->g, D);
    memcpy(outcome->fwht, probe->y, sizeof outcome->fwht);
    kernel->fwht(FWHT, outcome->fwht);
    run_sparse(kernel, probe, outcome);
    run_dual(kernel, probe, outcome);
    run_step(kernel, probe, outcome);
    run_halfway(kernel, outcome->halfway);
    run_reals(kernel, probe, outcome, tmp);
    run_lanes(kernel, probe, outcome, tmp);
}

/* Products of integers have `wide` columns. All bits are the same. */
static int agree(const struct outcome *a, const struct outcome *b, int wide)
{
    for (int r = 0; r < WEFT_TILE; r++) {
        size_t row = (size_t)r * WEFT_WIDE, bytes = (size_t)wide * sizeof(int32_t);
        if (memcmp(a->product + row, b->product + row, bytes) != 0) return 0;
        if (memcmp(a->gram + row, b->gram + row, bytes) != 0) return 0;
    }
    return memcmp(a->q, b->q, sizeof *a - offsetof(struct outcome, q)) == 0;
}

static int trusted(const weft_kernel *kernel)
{
    weft_arena *tmp = weft_arena_new();
    struct probe *probe = WEFT_NEW(tmp, struct probe, 1);
    struct outcome *outcome = WEFT_NEW(tmp, struct outcome, 2);
    draw(probe);
    run(&weft_kernel_plain, probe, outcome, tmp);
    run(kernel, probe, outcome + 1, tmp);
    int same = agree(outcome, outcome + 1, kernel->wide);
    weft_arena_free(tmp);
    if (!same)
        weft_log(WEFT_WARN, "the %s loops give wrong results on this CPU and are not used",
                 kernel->name);
    return same;
}

/* The widest loops that WEFT_KERNEL allows; unknown values are ignored, with a warning. */
static const char *widest(void)
{
    const char *name = getenv("WEFT_KERNEL");
    if (!name || !*name) return "avx512";
    static const char *const known[] = {"plain", "avx2", "avx512"};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(name, known[i]) == 0) return known[i];
    weft_log(WEFT_WARN, "WEFT_KERNEL=%s is none of plain, avx2, avx512 and has no effect",
             name);
    return "avx512";
}

/* The first table from `wanted` on that works on this CPU. */
static const weft_kernel *choose(const char *wanted)
{
#if defined(__x86_64__)
    static const weft_kernel *const list[] = {&weft_kernel_avx512, &weft_kernel_avx2};
    int reached = 0;
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        reached |= strcmp(list[i]->name, wanted) == 0;
        if (reached && list[i]->works() && trusted(list[i])) return list[i];
    }
#endif
    (void)wanted;
    return &weft_kernel_plain;
}

const weft_kernel *weft_kernel_best(void)
{
    static const weft_kernel *best; /* chosen once per process; always the same */
    if (best) return best;
    const char *wanted = widest();
    best = choose(wanted);
    if (getenv("WEFT_KERNEL") && strcmp(best->name, wanted) != 0)
        weft_log(WEFT_WARN, "WEFT_KERNEL=%s: this CPU has no such loops, %s are used",
                 wanted, best->name);
    return best;
}
