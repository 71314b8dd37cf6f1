/* The table of loops for this CPU: how it is chosen, the public functions that are loops of
 * it, and the rates that the machine reaches. Before a table is used, it is compared with
 * the plain one on a small random problem, since not all CPUs could be tested. All tables
 * give the same bits, so results depend neither on the CPU nor on WEFT_KERNEL. */
#include "kernel.h"
#include "weft/base/base.h"
#include "weft/math/kernels.h"
#include "weft/math/linear.h"
#include "weft/math/optim.h"

#include <cblas.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* ---- a trial of a table ---- */

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

static uint32_t next_bits(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 40);
}

static void draw_probe(struct probe *probe)
{
    uint64_t s = 1;
    for (size_t i = 0; i < sizeof probe->b; i++)
        probe->b[i] = (int8_t)((int)(next_bits(&s) % (2 * WEFT_S8_MAX + 1)) - WEFT_S8_MAX);
    for (int i = 0; i < PAIRS * 2 * WEFT_WIDE; i++)
        probe->right[i] = (int16_t)((int)(next_bits(&s) & 255) - 128);
    for (int i = 0; i < PAIRS * 2 * WEFT_TILE; i++)
        probe->left[i] = (int16_t)((int)(next_bits(&s) & 255) - 128);
    for (int r = 0; r < WEFT_TILE; r++)
        for (int k = 0; k < GROUPS * WEFT_GROUP; k++)
            probe->a[r][k] = (uint8_t)(r == 0 ? 255 : next_bits(&s));
    for (int i = 0; i < N * D; i++) probe->q[i] = (uint8_t)next_bits(&s);
    for (int k = 0; k < D; k++) {
        probe->x[k] = (int32_t)next_bits(&s) - (1 << 23);
        probe->y[k] = (float)next_bits(&s) / 1024 - 8192;
        probe->offset[k] = (float)next_bits(&s) / (1 << 24);
    }
    for (int i = 0; i < C * D; i++)
        probe->w[i] = (real)next_bits(&s) / (1 << 24) - (real)0.5;
    for (int i = 0; i < C * N; i++)
        probe->z[i] = (real)next_bits(&s) / (1 << 24) - (real)0.5;
    for (int i = 0; i < ROWS * DEEP; i++)
        probe->u[i] = (real)next_bits(&s) / (1 << 24) - (real)0.5;
    for (int i = 0; i < DEEP * COLUMNS; i++)
        probe->v[i] = (real)next_bits(&s) / (1 << 24) - (real)0.5;
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
static void run_all(const weft_kernel *kernel, const struct probe *probe,
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
    draw_probe(probe);
    run_all(&weft_kernel_plain, probe, outcome, tmp);
    run_all(kernel, probe, outcome + 1, tmp);
    int same = agree(outcome, outcome + 1, kernel->wide);
    weft_arena_free(tmp);
    if (!same)
        weft_log(WEFT_WARN, "the %s loops give wrong results on this CPU and are not used",
                 kernel->name);
    return same;
}

/* ---- the choice ---- */

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

const char *weft_cpu_kernel(void)
{
    return weft_kernel_best()->name;
}

/* ---- loops of the table ---- */

void weft_cos_u8_i32(int n, const int32_t *x, double scale, const float *offset, uint8_t *q)
{
    weft_kernel_best()->cos_i32(n, x, scale, offset, q);
}

void weft_cos_u8_f32(int n, const float *x, double scale, const float *offset, uint8_t *q)
{
    weft_kernel_best()->cos_f32(n, x, scale, offset, q);
}

void weft_u8_times(int n, int d, const uint8_t *q, size_t ldq, int c, const real *w,
                   size_t ldw, real *z, size_t ldz)
{
    weft_kernel_best()->times(n, d, q, ldq, c, w, ldw, z, ldz);
}

void weft_u8_trans(int n, int d, const uint8_t *q, size_t ldq, int c, const real *z,
                   size_t ldz, real *g, size_t ldg)
{
    weft_kernel_best()->trans(n, d, q, ldq, c, z, ldz, g, ldg);
}

void weft_fwht(int n, float *x)
{
    weft_kernel_best()->fwht(n, x);
}

void weft_gather16(int n, const uint32_t *at, const float *value, const float *x,
                   float *sum)
{
    weft_kernel_best()->gather16(n, at, value, x, sum);
}

void weft_add_rows(int n, const uint32_t *at, const real *value, int d, const real *x,
                   size_t ldx, real *sum)
{
    weft_kernel_best()->add_rows(n, at, value, d, x, ldx, sum);
}

void weft_logistic_best(int n, double c, double q, const double *m, double *a,
                        double *share)
{
    weft_kernel_best()->logistic_best(n, c, q, m, a, share);
}

void weft_logistic_terms(int n, double c, const double *m, const double *a, double *conj,
                         double *loss)
{
    weft_kernel_best()->logistic_terms(n, c, m, a, conj, loss);
}

double weft_softmax_terms(int c, const real *z, double top, real *e, double *sum)
{
    return weft_kernel_best()->softmax(c, z, top, e, sum);
}

double weft_softmax_many(int c, const real *z, real *e, double *top, double *sum)
{
    return weft_kernel_best()->softmax_many(c, z, e, top, sum);
}

void weft_cells_forward(const weft_cells *cells, const real *const *plus)
{
    weft_kernel_best()->cell(cells, plus);
}

void weft_cells_backward(const weft_cells *cells, const real *dy, real *dc,
                         real *const *into)
{
    weft_kernel_best()->cell_back(cells, dy, dc, into);
}

void weft_tanh(int n, real *x)
{
    weft_kernel_best()->tanh_of(n, x);
}

/* ---- products with packed matrices ---- */

size_t weft_packed_bytes(int k, int m)
{
    return (size_t)k * round_up(m, weft_kernel_best()->lanes) * sizeof(real);
}

void weft_packed_pack(weft_packed *packed, int k, int m, const real *b, size_t ldb,
                      int trans, void *mem)
{
    packed->k = k;
    packed->m = m;
    weft_gemm_pack(weft_kernel_best(), packed, b, ldb, trans, mem);
}

void weft_packed_rows(weft_packed *packed, int k, int m, const real *const *row, int64_t at,
                      void *mem)
{
    packed->k = k;
    packed->m = m;
    weft_gemm_pack_rows(weft_kernel_best(), packed, row, at, mem);
}

void weft_packed_times(int n, const real *a, size_t lda, const weft_packed *b, int add,
                       real *c, size_t ldc)
{
    weft_gemm_times(weft_kernel_best(), n, a, lda, b, add, c, ldc);
}

/* Where the piece of rows k0.. of a packed matrix [k][m] begins. */
static size_t piece_at(int k0, int m)
{
    return weft_packed_bytes(k0, m) / sizeof(real);
}

void weft_deep_pack(int k, int m, int j, int n, const real *b, size_t ldb, void *mem)
{
    for (int k0 = 0; k0 < k; k0 += WEFT_DEEP) {
        int deep = least(WEFT_DEEP, k - k0);
        weft_packed packed;
        weft_packed_pack(&packed, deep, n, b + k0, ldb, 1,
                         (real *)mem + piece_at(k0, m) + (size_t)deep * (size_t)j);
    }
}

void weft_deep_times(int n, const real *a, size_t lda, int k, int m, const void *mem,
                     real *c, size_t ldc)
{
    for (int k0 = 0; k0 < k; k0 += WEFT_DEEP) {
        weft_packed packed = {.k = least(WEFT_DEEP, k - k0),
                              .m = m,
                              .packed = (const real *)mem + piece_at(k0, m)};
        weft_packed_times(n, a + k0, lda, &packed, k0 > 0, c, ldc);
    }
}

void weft_outer_rows(int n, int k, const real *a, size_t lda, int m, const real *const *b,
                     int add, real *g, size_t ldg, weft_arena *tmp)
{
    weft_gemm_outer(weft_kernel_best(), n, k, a, lda, m, b, add, g, ldg, tmp);
}

void weft_outer(int n, int k, const real *a, size_t lda, int m, const real *b, size_t ldb,
                int add, real *g, size_t ldg, weft_arena *tmp)
{
    size_t mark = weft_arena_mark(tmp);
    const real **row = WEFT_NEW(tmp, const real *, n);
    for (int i = 0; i < n; i++) row[i] = b + (size_t)i * ldb;
    weft_outer_rows(n, k, a, lda, m, row, add, g, ldg, tmp);
    weft_arena_reset(tmp, mark);
}

/* ---- small models in lanes ---- */

int weft_lanes(void)
{
    return weft_kernel_best()->lanes;
}

void weft_lanes_load(int64_t d, const float *const *row, real *x)
{
    weft_kernel_best()->lanes_load(d, row, x);
}

void weft_lanes_gather(int64_t n, const real *const *row, real *x)
{
    weft_kernel_best()->lanes_gather(n, row, x);
}

void weft_lanes_scatter(int64_t n, const real *x, real *const *row)
{
    weft_kernel_best()->lanes_scatter(n, x, row);
}

void weft_lanes_times(const weft_lanes_product *product)
{
    weft_kernel_best()->lanes_times(product);
}

void weft_lanes_step(const weft_lanes_move *move, int64_t n, real *g)
{
    weft_kernel_best()->lanes_step(move, n, g);
}

void weft_lanes_within(int64_t n, const real *w, const real *from, const double *most,
                       int *within)
{
    weft_kernel_best()->lanes_within(n, w, from, most, within);
}

void weft_lanes_add(int64_t n, const real *w, const real *from, const real *weight,
                    const int *use, int scale, double *sum)
{
    weft_kernel_best()->lanes_add(n, w, from, weight, use, scale, sum);
}

void weft_lanes_blend(int64_t n, const real *share, const real *own, const real *w,
                      real *at)
{
    weft_kernel_best()->lanes_blend(n, share, own, w, at);
}

void weft_lanes_slope(int64_t n, const real *own, const real *w, const real *g,
                      double *slope)
{
    weft_kernel_best()->lanes_slope(n, own, w, g, slope);
}

void weft_lanes_softmax(int c, const real *z, const int32_t *label, const double *share,
                        real *dz, double *loss, int *wrong)
{
    weft_kernel_best()->lanes_softmax(c, z, label, share, dz, loss, wrong);
}

/* ---- rates: each is the best of the runs that fit the time ---- */

enum {
    ORDER = 512,      /* of the matrices of sgemm */
    ROUNDS = 1 << 16, /* of spin */
    STREAM = 64 << 20 /* bytes */
};

/* Best time of one call, s, calling for `seconds`, at least twice. */
static double best_time(double seconds, void (*call)(void *), void *ctx)
{
    double best = INFINITY;
    double end = weft_now() + seconds;
    call(ctx);
    do {
        double start = weft_now();
        call(ctx);
        best = fmin(best, weft_now() - start);
    } while (weft_now() < end);
    return best;
}

static void call_sgemm(void *ctx)
{
    float *a = ctx, *b = a + ORDER * ORDER, *c = b + ORDER * ORDER;
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, ORDER, ORDER, ORDER, 1, a, ORDER,
                b, ORDER, 0, c, ORDER);
}

double weft_cpu_sgemm(double seconds)
{
    weft_arena *tmp = weft_arena_new();
    float *x = WEFT_NEW(tmp, float, 3 * ORDER * ORDER);
    for (int i = 0; i < 2 * ORDER * ORDER; i++) x[i] = (float)(i % 17) - 8;
    double time = best_time(seconds, call_sgemm, x);
    weft_arena_free(tmp);
    return 2.0 * ORDER * ORDER * ORDER / time / 1e9;
}

static void call_spin(void *ctx)
{
    real *sum = ctx;
    *sum += weft_kernel_best()->spin(ROUNDS);
}

double weft_cpu_peak(double seconds)
{
    const weft_kernel *kernel = weft_kernel_best();
    real sum = 0;
    double time = best_time(seconds, call_spin, &sum);
    return 4.0 * kernel->rows * kernel->lanes * ROUNDS / time / 1e9;
}

struct stream {
    const uint64_t *x;
    volatile uint64_t sum; /* read, so that the compiler keeps the loop */
};

static void call_stream(void *ctx)
{
    struct stream *stream = ctx;
    uint64_t sum = 0;
    for (size_t i = 0; i < STREAM / sizeof *stream->x; i++) sum += stream->x[i];
    stream->sum = sum;
}

double weft_cpu_stream(double seconds)
{
    weft_arena *tmp = weft_arena_new();
    uint64_t *x = weft_arena_alloc(tmp, 1, STREAM);
    memset(x, 1, STREAM);
    struct stream stream = {.x = x};
    double time = best_time(seconds, call_stream, &stream);
    weft_arena_free(tmp);
    return STREAM / time / 1e9;
}
