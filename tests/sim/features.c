/* Random Fourier features in a simulated run: rows have none, and making them, and products
 * with them, take the seconds of tests/b_rff, from the file WEFT_SIM_FEATURES names. Random
 * matrices are exchanged, products summed and kept as ever; to F^T F is added a diagonal,
 * so that conjugate gradients take many iterations. The linker calls these functions in
 * place of those of src/feature (--wrap). */
#include "feature/rff.h"

#include "sim.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VALUES = 97 }; /* on the diagonal */

void __wrap_rff_make_bytes(const rff_matrix *matrix, int64_t i0, int64_t i1, uint8_t *q);
void __wrap_rff_blocks_keep(rff_shared *shared, const double *need, int64_t d);
void __real_rff_matrix_vtable(weft_matrix *matrix);
void __wrap_rff_matrix_vtable(weft_matrix *matrix);

/* ---- what it takes ------------------------------------------------------------------- */

static double seconds_of(const char *what, const char *of)
{
    const char *path = getenv("WEFT_SIM_FEATURES");
    FILE *file = path ? fopen(path, "r") : NULL;
    char line[128], name[32];
    double seconds = -1;
    weft_check(file, "WEFT_SIM_FEATURES names no file that can be read");
    snprintf(name, sizeof name, "%s%s,", what, of);
    while (fgets(line, sizeof line, file))
        if (strncmp(line, name, strlen(name)) == 0) seconds = atof(line + strlen(name));
    fclose(file);
    weft_check(seconds > -1, "%s: no seconds of %s", path, name);
    return seconds;
}

/* Of kernels, by family of the random matrix. */
static const char *const kernel[] = {[RFF_NORMAL] = "gaussian", [RFF_CAUCHY] = "laplacian"};

struct prices {
    double column[2], pack[2], row[2], group[2];
    double cosine, times, normal, trans, sums;
};

static const struct prices *price(void)
{
    static struct prices all;
    if (all.cosine > 0) return &all;
    for (int k = 0; k < 2; k++) {
        all.column[k] = seconds_of("column_", kernel[k]);
        all.pack[k] = seconds_of("pack_", kernel[k]);
        all.row[k] = seconds_of("row_", kernel[k]);
        all.group[k] = seconds_of("group_", kernel[k]);
    }
    all.times = seconds_of("times", "");
    all.normal = seconds_of("normal", "");
    all.trans = seconds_of("trans", "");
    all.sums = seconds_of("sums", "");
    all.cosine = seconds_of("cosine", "");
    return &all;
}

static void charge(double seconds)
{
    charged[0] += seconds;
    smpi_usleep((unsigned)(1e6 * seconds));
}

/* ---- making features ----------------------------------------------------------------- */

void __wrap_rff_make_bytes(const rff_matrix *matrix, int64_t i0, int64_t i1, uint8_t *q)
{
    const struct prices *prices = price();
    int64_t missing[RFF_TYPES] = {0};
    double seconds = 0;
    (void)q;
    for (int64_t i = i0; i < i1; i++)
        if (rff_is_cached(matrix, i))
            seconds += prices->cosine;
        else
            missing[matrix->type[i]]++;
    for (int type = 0; type < RFF_TYPES; type++)
        if (missing[type] > 0)
            seconds += prices->group[rff_family(type)] +
                       (double)missing[type] * prices->row[rff_family(type)];
    charge(seconds);
    rff_cache_set_filled(matrix, i0, i1);
}

/* Each rank generates a share of the columns, block by block, and gets the others'. */
static void make_matrix(const rff_shared *shared, int type, int64_t d)
{
    weft_team *team = shared->data->team;
    int family = rff_family(type);
    weft_check(rff_is_exact(shared, type), "features of bytes alone are simulated");
    /* A byte an entry, and 8 for each of the 2 % of Cauchy ones in the tail. */
    size_t width = (size_t)(shared->d * (family == RFF_CAUCHY ? 1.16 : 1));
    weft_arena *tmp = weft_arena_new();
    char *x = WEFT_NEW(tmp, char, (size_t)rff_block_columns(shared, type, 0, d) * width);
    size_t *bytes = WEFT_NEW(tmp, size_t, team->size);
    for (int64_t j0 = 0; j0 < d;) {
        int columns = rff_block_columns(shared, type, j0, d);
        for (int r = 0; r < team->size; r++) {
            int n = rff_share_from(columns, r + 1, team->size) -
                    rff_share_from(columns, r, team->size);
            bytes[r] = (size_t)n * width;
        }
        charge(price()->column[family] * (double)bytes[team->rank] / (double)width);
        weft_join_bytes(team, x, bytes);
        charge(price()->pack[family] * columns);
        j0 += columns;
    }
    weft_arena_free(tmp);
}

void __wrap_rff_blocks_keep(rff_shared *shared, const double *need, int64_t d)
{
    double any[RFF_TYPES];
    memcpy(any, need, sizeof any);
    weft_max_f64(shared->data->team, any, RFF_TYPES);
    for (int type = 0; type < RFF_TYPES; type++) {
        rff_block *block = shared->blocks;
        while (block && block->type != type) block = block->next;
        if (!(any[type] > 0) || block) continue;
        make_matrix(shared, type, d);
        block = WEFT_NEW(shared->mem, rff_block, 1);
        *block = (rff_block){.type = type, .next = shared->blocks};
        shared->blocks = block;
    }
}

/* ---- products ------------------------------------------------------------------------ */

struct simulated {
    weft_matrix none; /* without rows on any rank */
    int64_t n;        /* rows that this rank would have */
    int64_t shift;    /* of the diagonal: another one for each matrix */
};

static void times(const weft_matrix *matrix, int c, const real *w, real *z)
{
    const struct simulated *simulated = matrix->self;
    (void)c, (void)w, (void)z; /* zeros, as they were given out */
    charge(price()->times * (double)simulated->n);
}

static void trans(const weft_matrix *matrix, int c, const real *z, double *g)
{
    const struct simulated *simulated = matrix->self;
    charge(price()->trans * (double)simulated->n);
    simulated->none.trans(&simulated->none, c, z, g);
    for (int64_t i = 0; i < c * matrix->d; i++)
        g[i] += (double)(i * 7919 % 1009) / 1009 - 0.5;
}

static void normal(const weft_matrix *matrix, int c, const real *w, const real *h, int own,
                   double *g)
{
    const struct simulated *simulated = matrix->self;
    int64_t first = 0, count = matrix->d;
    if (own) weft_deal(matrix->d, matrix->team->rank, matrix->team->size, &first, &count);
    charge(price()->normal * (double)simulated->n);
    simulated->none.normal(&simulated->none, c, w, h, own, g);
    for (int j = 0; j < c; j++)
        for (int64_t k = first; k < first + count; k++)
            g[j * matrix->d + k] += (double)(1 + (k + simulated->shift) % VALUES) *
                                    (double)w[j * matrix->d + k];
}

static void sums(const weft_matrix *matrix, double *sum)
{
    const struct simulated *simulated = matrix->self;
    charge(price()->sums * (double)simulated->n);
    simulated->none.sums(&simulated->none, sum);
}

void __wrap_rff_matrix_vtable(weft_matrix *matrix)
{
    static int64_t made;
    const rff_matrix *m = matrix->self;
    weft_check(m->held == m->n, "run.memory does not hold the features of a rank");
    weft_arena *mem = m->shared->mem;
    struct simulated *simulated = WEFT_NEW(mem, struct simulated, 1);
    rff_matrix *empty = WEFT_NEW(mem, rff_matrix, 1);
    *empty = *m;
    empty->n = empty->held = empty->blocks = 0;
    simulated->none = *matrix;
    simulated->none.n = 0;
    simulated->none.self = empty;
    simulated->n = matrix->n;
    simulated->shift = made++;
    __real_rff_matrix_vtable(&simulated->none);
    matrix->times = times;
    matrix->trans = trans;
    matrix->normal = normal;
    matrix->sums = sums;
    matrix->self = simulated;
}
