/* The loops for AVX2 and AVX-512 have the bits of the plain ones, where t_lane_loops does
 * not compare them: products of integers, of bytes and of reals, cosines, cells, sparse
 * rows, steps, dual variables. RUN: np=1 */
#include "math/kernel.h"
#include "weft/base/random.h"

#include <math.h>
#include <string.h>

#include "tap.h"

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
    OUTPUTS = 16,
    ENTRIES = 10,
    SPARSE = 28 /* vectors beside sparse rows */
};

/* Random input, and what the loops make of it. */
struct probe {
    _Alignas(64) int8_t b[GROUPS * WEFT_GROUP * WEFT_WIDE];
    _Alignas(64) int16_t right[PAIRS * 2 * WEFT_WIDE];
    int16_t left[PAIRS * 2 * WEFT_TILE];
    uint8_t q[N * D];
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
    real added[ADDED];
    double dual[OUTPUTS], share[OUTPUTS], conj[OUTPUTS], logistic[OUTPUTS];
    double dots[SPARSE];
    real sparse[ENTRIES * SPARSE];
    real moved[2 * ADDED]; /* weights and velocities */
    int finite[3];
};

static real random_at(uint64_t i)
{
    return (real)(weft_rng_unit(weft_rng_at(2, WEFT_RNG_TEST, i, 0, 0).v[0]) - 0.5);
}

static void draw_probe(struct probe *probe)
{
    for (int i = 0; i < GROUPS * WEFT_GROUP * WEFT_WIDE; i++)
        probe->b[i] = (int8_t)lrint(2 * WEFT_S8_MAX * (double)random_at((uint64_t)i));
    for (int i = 0; i < PAIRS * 2 * WEFT_WIDE; i++)
        probe->right[i] = (int16_t)(250 * random_at((uint64_t)i + 1));
    for (int i = 0; i < PAIRS * 2 * WEFT_TILE; i++)
        probe->left[i] = (int16_t)(250 * random_at((uint64_t)i + 2));
    for (int i = 0; i < N * D; i++)
        probe->q[i] = (uint8_t)(128 + 255 * random_at((uint64_t)i + 3));
    memset(probe->q, 255, GROUPS * WEFT_GROUP);
    for (int k = 0; k < D; k++) {
        probe->x[k] = (int32_t)(0x1p24f * (float)random_at((uint64_t)k + 4));
        probe->y[k] = 0x1p14f * (float)random_at((uint64_t)k + 5);
        probe->offset[k] = (float)random_at((uint64_t)k + 6) + 0.5f;
    }
    probe->y[9] = NAN;
    for (int i = 0; i < C * D; i++) probe->w[i] = random_at((uint64_t)i + 7);
    for (int i = 0; i < C * N; i++) probe->z[i] = random_at((uint64_t)i + 8);
    for (int i = 0; i < ROWS * DEEP; i++) probe->u[i] = random_at((uint64_t)i + 9);
    for (int i = 0; i < DEEP * COLUMNS; i++) probe->v[i] = random_at((uint64_t)i + 10);
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
 * gradients. */
static void run_reals(const weft_kernel *kernel, const struct probe *probe,
                      struct outcome *outcome)
{
    real *memory = WEFT_NEW(mem, real, DEEP * (COLUMNS + kernel->lanes));
    weft_packed packed = {.k = DEEP, .m = COLUMNS};
    weft_gemm_pack(kernel, &packed, probe->v, COLUMNS, 0, memory);
    weft_gemm_times(kernel, ROWS, probe->u, DEEP, &packed, 0, outcome->panels, COLUMNS);
    const real *row[ROWS];
    for (int i = 0; i < ROWS; i++) row[i] = probe->v + i * COLUMNS;
    weft_gemm_outer(kernel, ROWS, DEEP, probe->u, DEEP, COLUMNS, row, 1, outcome->outer,
                    COLUMNS, mem);
    weft_gemm_outer(kernel, ROWS, 5, probe->u, DEEP, COLUMNS, row, 0, outcome->few, COLUMNS,
                    mem);
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
    kernel->cells_forward(&cells, plus);
    memcpy(dc, c, CELLS * sizeof *dc);
    kernel->cells_backward(&cells, y, dc, into);
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
                    struct outcome *outcome)
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
    for (int r = 0; r < WEFT_TILE; r++) row[r] = probe->q + r * GROUPS * WEFT_GROUP;
    memset(outcome, 0, sizeof *outcome);
    kernel->u8s8(GROUPS, row, b, outcome->product, WEFT_WIDE);
    kernel->gram(PAIRS, probe->left, right, outcome->gram, WEFT_WIDE);
    kernel->cos_u8_i32(D, probe->x, 0.001, probe->offset, outcome->q);
    kernel->cos_u8_f32(D, probe->y, 0.01, probe->offset, outcome->q + D);
    kernel->u8_times(N, D, probe->q, D, C, probe->w, D, outcome->z, N);
    kernel->u8_trans(N, D, probe->q, D, C, probe->z, N, outcome->g, D);
    memcpy(outcome->fwht, probe->y, sizeof outcome->fwht);
    kernel->fwht(FWHT, outcome->fwht);
    run_sparse(kernel, probe, outcome);
    run_dual(kernel, probe, outcome);
    run_step(kernel, probe, outcome);
    run_halfway(kernel, outcome->halfway);
    run_reals(kernel, probe, outcome);
}

/* Products of integers have `wide` columns. */
static int agree(const struct outcome *a, const struct outcome *b, int wide)
{
    int same = 1;
    for (int r = 0; r < WEFT_TILE; r++)
        for (int j = 0; j < wide; j++) {
            same &= a->product[r * WEFT_WIDE + j] == b->product[r * WEFT_WIDE + j];
            same &= a->gram[r * WEFT_WIDE + j] == b->gram[r * WEFT_WIDE + j];
        }
    return same && memcmp(a->q, b->q, sizeof *a - offsetof(struct outcome, q)) == 0;
}

int main(void)
{
    tap_begin();
    struct probe *probe = WEFT_NEW(mem, struct probe, 1);
    struct outcome *plain = WEFT_NEW(mem, struct outcome, 2), *own = plain + 1;
    draw_probe(probe);
    run_all(&weft_kernel_plain, probe, plain);
    const weft_kernel *const table[] = {WEFT_KERNELS};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        if (!table[i]->works()) {
            skip(1, "this CPU has no such loops");
            continue;
        }
        run_all(table[i], probe, own);
        ok(agree(plain, own, table[i]->wide), "%s: the bits of plain loops",
           table[i]->name);
    }
    return tap_end();
}
