/* Random matrices of rff. An entry is a quantile of 15 random bits and a sign, so that
 * entry (input, feature) is the same for every configuration, block of features and rank.
 * The rows of a structured matrix are signed Hadamard products with random lengths.
 *
 * Matrices are made in blocks of features, generated from their key. Blocks are kept in a
 * pool; where it is full they are generated again in each pass.
 *
 * Bytes are multiplied by integers: an entry of the random matrix, times the scale of its
 * input, is rounded to an integer of magnitude at most 16. A sum over many inputs stays
 * normal by the central limit theorem, with the right variance because what rounding adds
 * is subtracted beforehand. Cauchy entries have no variance, and their heavy tail
 * determines the kernel: the part beyond 16, in 2 % of the entries, is stored as a list and
 * added in floating point. The shift of the inputs becomes the first term of every feature.
 * Inputs that are not bytes, too few, or too different in scale are multiplied as floats.
 */
#include "rff.h"
#include "weft/base/random.h"
#include "weft/math/kernels.h"

#include <math.h>
#include <string.h>

/* ---- entries ---- */

enum {
    MAGNITUDE = RFF_LEVELS - 1,
    ENTRIES = 16, /* entries of one random number */
    COARSE = 256  /* last levels of the Cauchy table, too far apart: drawn from the exact
                     quantile */
};

/* Third word of the counter: the purpose. */
enum { ENTRY, TAIL, SIGN, RADIUS };

static const double pi = 3.14159265358979323846;

/* Both tables: |z| with (level + 1/2)/LEVELS of the mass below. By Newton's method, each
 * started from the quantile before. */
void rff_tables(rff_shared *shared)
{
    shared->normal = WEFT_NEW(shared->mem, float, RFF_LEVELS);
    shared->cauchy = WEFT_NEW(shared->mem, float, RFF_LEVELS);
    shared->offset = WEFT_NEW(shared->mem, float, shared->columns);
    double z = 0;
    for (int i = 0; i < RFF_LEVELS; i++) {
        double below = (i + 0.5) / RFF_LEVELS;
        for (int step = 0; step < 4; step++)
            z -= (1 - below - erfc(z / sqrt(2))) / (sqrt(2 / pi) * exp(-z * z / 2));
        shared->normal[i] = (float)z;
        shared->cauchy[i] = (float)tan(pi / 2 * below);
    }
    for (int64_t j = 0; j < shared->columns; j++) {
        weft_rng4 rng = weft_rng_at(shared->seed, WEFT_RNG_OFFSET, (uint64_t)j, 0, 0);
        shared->offset[j] = (float)weft_rng_unit(rng.v[0]);
    }
}

static double cauchy_tail(const rff_shared *shared, int64_t j, int i, int level)
{
    weft_rng4 rng =
        weft_rng_at(shared->seed, WEFT_RNG_MATRIX, (uint64_t)j, (uint64_t)i, TAIL);
    double above = (RFF_LEVELS - level - weft_rng_unit(rng.v[0])) / RFF_LEVELS;
    return 1 / tan(pi / 2 * above);
}

/* size >= 0 with the sign of 16 random bits, whose first it is: no branch, as every second
 * would be mispredicted. */
static float with_sign(float size, uint32_t bits)
{
    uint32_t x;
    memcpy(&x, &size, sizeof x);
    x |= (bits & ~(uint32_t)MAGNITUDE) << 16;
    memcpy(&size, &x, sizeof x);
    return size;
}

void rff_column(const rff_shared *shared, int family, int64_t j, float *z)
{
    const float *table = family == RFF_NORMAL ? shared->normal : shared->cauchy;
    int fine = family == RFF_NORMAL ? RFF_LEVELS : RFF_LEVELS - COARSE;
    for (int i = 0; i < shared->d; i += ENTRIES) {
        weft_rng4 rng = weft_rng_at(shared->seed, WEFT_RNG_MATRIX, (uint64_t)j,
                                    (uint64_t)(i / ENTRIES), ENTRY);
        int end = shared->d - i < ENTRIES ? shared->d - i : ENTRIES;
        for (int e = 0; e < end; e++) {
            uint32_t bits = rng.v[e / 4] >> (16 * (e % 4)) & 0xffff;
            int level = (int)(bits & MAGNITUDE);
            float size =
                level < fine ? table[level] : (float)cauchy_tail(shared, j, i + e, level);
            z[i + e] = with_sign(size, bits);
        }
    }
}

/* Signs of block j / padded of the structured matrix, sign[3][padded], and the ratio of its
 * rows' lengths to those of a Hadamard product, radius[padded].
 * A row of a normal matrix has a length distributed as chi with `padded` degrees of
 * freedom, drawn by Wilson and Hilferty's approximation, the cube of a normal variable. */
static void draw_signs(const rff_shared *shared, int64_t j, float *sign, float *radius)
{
    int n = shared->padded;
    for (int i = 0; i < 3 * n; i += 64) {
        weft_rng4 rng =
            weft_rng_at(shared->seed, WEFT_RNG_MATRIX, (uint64_t)j, (uint64_t)i, SIGN);
        for (int e = i; e < i + 64 && e < 3 * n; e++)
            sign[e] = rng.v[0] >> (e - i) & 1 ? -1.0f : 1.0f;
    }
    double width = 2.0 / (9.0 * n);
    for (int i = 0; i < n; i++) {
        weft_rng4 rng =
            weft_rng_at(shared->seed, WEFT_RNG_MATRIX, (uint64_t)(j + i), 0, RADIUS);
        double z[2];
        weft_rng_normal_pair(&rng, z);
        double cube = pow(fmax(1 - width + z[0] * sqrt(width), 0), 3);
        radius[i] =
            (float)(sqrt(cube) / n); /* length / sqrt(n), of H D H D H D / n^(3/2) */
    }
}

/* ---- types ---- */

enum {
    INT_COLUMNS = 3840,   /* features of a block of integers, which fits the third-level
                             cache */
    FLOAT_COLUMNS = 1024, /* features of a block of floats */
    SHARE = 16            /* features whose entries a rank generates for all */
};

/* Standard deviation of the largest normal entries, and quartile of Cauchy ones, in units
 * of the integers. Normal entries are clipped at 16, which is four deviations and happens
 * to 6 in 100,000; rounding changes the kernel by at most 1/(6 d). */
static const double normal_unit = 4, cauchy_unit = 0.5;

int rff_family(int type)
{
    return type / RFF_VIEWS;
}

const rff_view *rff_view_of(const rff_shared *shared, int type)
{
    return &shared->view[type % RFF_VIEWS];
}

int rff_is_exact(const rff_shared *shared, int type)
{
    return rff_view_of(shared, type)->exact && rff_family(type) != RFF_HADAMARD;
}

int rff_is_int(const rff_shared *shared, int type)
{
    return rff_is_exact(shared, type) && rff_family(type) == RFF_NORMAL;
}

/* Value of 1 in the integer matrix. */
static double integer_unit(const rff_shared *shared, int type)
{
    double width = rff_family(type) == RFF_NORMAL ? normal_unit : cauchy_unit;
    return rff_view_of(shared, type)->largest / width;
}

double rff_turns(const rff_shared *shared, const struct rff *arm, int type)
{
    double unit = rff_is_exact(shared, type) ? integer_unit(shared, type) : 1;
    double width = arm->kernel == RFF_GAUSSIAN ? sqrt(2 * arm->gamma) : arm->gamma;
    return width * unit / (2 * pi);
}

int rff_block_columns(const rff_shared *shared, int type, int64_t j0, int64_t d)
{
    int most = rff_is_exact(shared, type)         ? INT_COLUMNS
               : rff_family(type) == RFF_HADAMARD ? shared->padded
                                                  : FLOAT_COLUMNS;
    return d - j0 < most ? (int)(d - j0) : most;
}

/* ---- memory ---- */

/* A block that is to be made. */
struct draft {
    rff_shared *shared;
    int type, columns;
    int64_t j0;
    int keep; /* 1: all ranks make it, to keep it in the pool */
    weft_arena *tmp;
};

/* The block with room for `bytes` after it: in tmp; or in the pool, NULL where that is full
 * on some rank. Collective if it is to be kept. */
static rff_block *block_new(const struct draft *draft, size_t bytes, char **room)
{
    rff_shared *shared = draft->shared;
    size_t head = (sizeof(rff_block) + 63) / 64 * 64, all = head + (bytes + 63) / 64 * 64;
    rff_block *block;
    if (draft->keep) {
        double full = shared->pool_used + all > shared->pool_size;
        weft_max_f64(shared->data->team, &full, 1);
        if (full > 0) return NULL;
        block = (void *)(shared->pool + shared->pool_used);
        shared->pool_used += all;
    } else
        block = weft_arena_alloc(draft->tmp, 1, all);
    *block = (rff_block){.type = draft->type, .j0 = draft->j0, .columns = draft->columns};
    if (draft->keep) {
        block->next = shared->blocks;
        shared->blocks = block;
    }
    *room = (char *)block + head;
    return block;
}

int rff_share_from(int columns, int r, int size)
{
    int64_t units = (columns + SHARE - 1) / SHARE, from = units * r / size * SHARE;
    return from < columns ? (int)from : columns;
}

/* Columns [*from, *end) of the block, which rank r generates. */
static void share_of(const struct draft *draft, int r, int *from, int *end)
{
    int size = draft->shared->data->team->size;
    *from = draft->keep ? rff_share_from(draft->columns, r, size) : 0;
    *end = draft->keep ? rff_share_from(draft->columns, r + 1, size) : draft->columns;
}

/* x, of which each rank has the columns of its share, at[j] numbers of `width` bytes before
 * column j, for all ranks. Collective if the block is to be kept. */
static void join_shares(const struct draft *draft, const int64_t *at, size_t width, void *x)
{
    weft_team *team = draft->shared->data->team;
    if (!draft->keep) return;
    size_t *count = WEFT_NEW(draft->tmp, size_t, team->size);
    for (int r = 0; r < team->size; r++) {
        int from, end;
        share_of(draft, r, &from, &end);
        count[r] = (size_t)(at[end] - at[from]) * width;
    }
    weft_join_bytes(team, x, count);
}

/* The same with `each` bytes of a column. */
static void join_columns(const struct draft *draft, size_t each, void *x)
{
    int64_t *at = WEFT_NEW(draft->tmp, int64_t, draft->columns + 1);
    for (int j = 0; j <= draft->columns; j++) at[j] = j;
    join_shares(draft, at, each, x);
}

/* ---- blocks ---- */

/* A column as integers, and the excess of large Cauchy entries as floats; returns their
 * number. */
static int64_t round_column(const rff_shared *shared, int type, const float *z,
                            const float *scale, int8_t *p, uint32_t *input, float *value)
{
    int64_t tail = 0;
    for (int i = 0; i < shared->d; i++) {
        float x = z[i] * scale[i];
        float most = WEFT_S8_MAX, cut = x > most ? most : x < -most ? -most : x;
        p[i] = (int8_t)lrintf(cut);
    }
    if (rff_family(type) == RFF_NORMAL) return 0;
    for (int i = 0; i < shared->d; i++)
        if (fabsf(z[i] * scale[i]) > WEFT_S8_MAX) {
            input[tail] = (uint32_t)i;
            value[tail++] = z[i] * scale[i] - p[i];
        }
    return tail;
}

/* Factors of the columns' entries before rounding. Rounding adds 1/12 to a variance. */
static float *scales(const struct draft *draft)
{
    const rff_shared *shared = draft->shared;
    const rff_view *view = rff_view_of(shared, draft->type);
    float *scale = WEFT_NEW(draft->tmp, float, shared->d);
    for (int i = 0; i < shared->d; i++) {
        double s = (double)view->scale[i] / integer_unit(shared, draft->type);
        scale[i] =
            (float)(rff_family(draft->type) == RFF_NORMAL ? sqrt(s * s - 1.0 / 12) : s);
    }
    return scale;
}

/* The integers of a block, by columns. */
struct integers {
    int8_t *p;       /* [columns][d] */
    int32_t *start;  /* [columns] */
    int64_t *first;  /* [columns+1] tail of a column */
    uint32_t *input; /* of the tail */
    float *value;
};

/* This rank's share of them; first[j + 1] is the length of the tail of column j. */
static void draw_integers(const struct draft *draft, struct integers *integers)
{
    const rff_shared *shared = draft->shared;
    const float *scale = scales(draft), *shift = rff_view_of(shared, draft->type)->shift;
    int d = shared->d, normal = rff_family(draft->type) == RFF_NORMAL, from, end;
    share_of(draft, shared->data->team->rank, &from, &end);
    int64_t most = normal ? 0 : (int64_t)(end - from) * (d / 8 + 64) + d, at = 0;
    float *z = WEFT_NEW(draft->tmp, float, d);
    *integers =
        (struct integers){.p = WEFT_NEW(draft->tmp, int8_t, (size_t)draft->columns * d),
                          .start = WEFT_NEW(draft->tmp, int32_t, draft->columns),
                          .first = WEFT_NEW(draft->tmp, int64_t, draft->columns + 1),
                          .input = WEFT_NEW(draft->tmp, uint32_t, most),
                          .value = WEFT_NEW(draft->tmp, float, most)};
    for (int j = from; j < end; j++) {
        int8_t *column = integers->p + (size_t)j * d;
        weft_check(normal || at + d <= most, "the tail of a random matrix is too long");
        rff_column(shared, rff_family(draft->type), draft->j0 + j, z);
        integers->first[j + 1] = round_column(shared, draft->type, z, scale, column,
                                              integers->input + at, integers->value + at);
        at += integers->first[j + 1];
        double sum = 0;
        for (int i = 0; i < d; i++) sum += (double)column[i] * (double)shift[i];
        integers->start[j] = (int32_t)-lrint(sum);
    }
}

/* x[n] numbers of 4 bytes at place `at` of `all`, the tail of this rank's share. */
static void *join_tail(const struct draft *draft, const struct integers *integers,
                       const void *own)
{
    int from, end;
    share_of(draft, draft->shared->data->team->rank, &from, &end);
    uint32_t *all = WEFT_NEW(draft->tmp, uint32_t, integers->first[draft->columns]);
    size_t n = (size_t)(integers->first[end] - integers->first[from]);
    memcpy(all + integers->first[from], own, n * sizeof *all);
    join_shares(draft, integers->first, sizeof *all, all);
    return all;
}

static rff_block *make_integers(const struct draft *draft)
{
    struct integers integers;
    int d = draft->shared->d, columns = draft->columns;
    draw_integers(draft, &integers);
    join_columns(draft, (size_t)d, integers.p);
    join_columns(draft, sizeof *integers.start, integers.start);
    join_columns(draft, sizeof *integers.first, integers.first + 1);
    for (int j = 0; j < columns; j++) integers.first[j + 1] += integers.first[j];
    size_t packed = weft_s8_bytes(d, columns), tail = (size_t)integers.first[columns];
    size_t firsts = ((size_t)columns + 1) * sizeof *integers.first;
    if (tail > 0) {
        integers.input = join_tail(draft, &integers, integers.input);
        integers.value = join_tail(draft, &integers, integers.value);
    }
    char *room;
    rff_block *block = block_new(
        draft, packed + firsts + tail * (sizeof *integers.value + sizeof *integers.input),
        &room);
    if (!block) return NULL;
    weft_s8_pack(&block->packed, d, columns, integers.p, (size_t)d, integers.start, room);
    block->first = memcpy(room + packed, integers.first, firsts);
    block->value =
        memcpy(room + packed + firsts, integers.value, tail * sizeof *integers.value);
    block->input =
        memcpy(block->value + tail, integers.input, tail * sizeof *integers.input);
    return block;
}

static rff_block *make_signs(const struct draft *draft)
{
    char *room;
    size_t n = (size_t)draft->shared->padded;
    rff_block *block = block_new(draft, 4 * n * sizeof(float), &room);
    if (!block) return NULL;
    block->sign = (float *)(void *)room;
    block->radius = block->sign + 3 * n;
    draw_signs(draft->shared, draft->j0, block->sign, block->radius);
    return block;
}

/* Columns [from, end) of the block, z[end - from][d]. */
static void draw_floats(const struct draft *draft, int from, int end, float *z)
{
    size_t d = (size_t)draft->shared->d;
    for (int j = from; j < end; j++)
        rff_column(draft->shared, rff_family(draft->type), draft->j0 + j,
                   z + (size_t)(j - from) * d);
}

/* Columns are packed WEFT_WHOLE at a time; those that ranks share are all there before. */
static rff_block *make_floats(const struct draft *draft)
{
    int d = draft->shared->d, from, end;
    char *room;
    rff_block *block = block_new(draft, weft_packed_bytes(d, draft->columns), &room);
    if (!block) return NULL;
    block->dense = (real *)(void *)room;
    real *some = WEFT_NEW(draft->tmp, real, (size_t)WEFT_WHOLE * d); /* [WEFT_WHOLE][d] */
    float *z = WEFT_NEW(draft->tmp, float,
                        (size_t)(draft->keep ? draft->columns : WEFT_WHOLE) * d);
    share_of(draft, draft->shared->data->team->rank, &from, &end);
    if (draft->keep) {
        draw_floats(draft, from, end, z + (size_t)from * d);
        join_columns(draft, (size_t)d * sizeof *z, z);
    }
    for (int j = 0; j < draft->columns; j += WEFT_WHOLE) {
        int n = draft->columns - j < WEFT_WHOLE ? draft->columns - j : WEFT_WHOLE;
        const float *own = draft->keep ? z + (size_t)j * d : z;
        if (!draft->keep) draw_floats(draft, j, j + n, z);
        for (size_t i = 0; i < (size_t)n * d; i++) some[i] = (real)own[i];
        weft_deep_pack(d, draft->columns, j, n, some, (size_t)d, block->dense);
    }
    return block;
}

static rff_block *make_block(const struct draft *draft)
{
    if (rff_is_exact(draft->shared, draft->type)) return make_integers(draft);
    if (rff_family(draft->type) == RFF_HADAMARD) return make_signs(draft);
    return make_floats(draft);
}

/* ---- the pool ---- */

/* A block that is kept; NULL: there is none. */
static const rff_block *kept(const rff_shared *shared, int type, int64_t j0, int columns)
{
    const rff_block *block = shared->blocks;
    while (block && !(block->type == type && block->j0 == j0 && block->columns == columns))
        block = block->next;
    return block;
}

const rff_block *rff_block_at(rff_shared *shared, int type, int64_t j0, int columns,
                              weft_arena *tmp)
{
    const rff_block *block = kept(shared, type, j0, columns);
    struct draft draft = {
        .shared = shared, .type = type, .columns = columns, .j0 = j0, .tmp = tmp};
    return block ? block : make_block(&draft);
}

/* The blocks of a type, until the pool is full. */
static void keep_type(rff_shared *shared, int type, int64_t d, weft_arena *tmp)
{
    struct draft draft = {.shared = shared, .type = type, .keep = 1, .tmp = tmp};
    for (; draft.j0 < d; draft.j0 += draft.columns) {
        WEFT_REWIND(tmp);
        draft.columns = rff_block_columns(shared, type, draft.j0, d);
        if (!kept(shared, type, draft.j0, draft.columns) && !make_block(&draft)) return;
    }
}

void rff_blocks_keep(rff_shared *shared, const double *need, int64_t d)
{
    double any[RFF_TYPES];
    memcpy(any, need, sizeof any);
    weft_max_f64(shared->data->team, any, RFF_TYPES);
    WEFT_SCRATCH(tmp);
    for (int type = 0; type < RFF_TYPES; type++)
        if (any[type] > 0) keep_type(shared, type, d, tmp);
}
