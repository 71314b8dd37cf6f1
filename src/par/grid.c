/* Dense positive definite systems: Cholesky by ScaLAPACK on a BLACS process grid. The
 * matrix is passed in panels, of which every rank stores its own blocks, so that a rank
 * holds no more than its share and one panel. Blackford et al., "ScaLAPACK Users'
 * Guide", SIAM 1997: block-cyclic layout in chapter 4. */
#include "handle.h"
#include "timer.h"

#include <limits.h>
#include <string.h>

/* Rows and columns of a block, and blocks of a panel: measured, flat around these. */
enum { NB = 64, PANEL = 8 * NB };

struct weft_grid {
    weft_team *team;
    int n;
    int handle, context;  /* BLACS; not set up on one rank */
    int nrow, ncol;       /* the process grid */
    int row, col;         /* this rank's place in it */
    int local_n, local_m; /* local rows and columns */
    int desc[9];
    real *a; /* [local_m][local_n]: column-major blocks, lower triangle */
    weft_arena *mem;
};

/* BLACS, ScaLAPACK and LAPACK have no C headers. */
int Csys2blacs_handle(MPI_Comm comm);
void Cfree_blacs_system_handle(int handle);
void Cblacs_gridinit(int *context, const char *order, int nrow, int ncol);
void Cblacs_gridinfo(int context, int *nrow, int *ncol, int *row, int *col);
void Cblacs_gridexit(int context);
int numroc_(const int *n, const int *nb, const int *place, const int *first,
            const int *places);
void descinit_(int *desc, const int *m, const int *n, const int *mb, const int *nb,
               const int *row, const int *col, const int *context, const int *ld,
               int *info);
#ifdef WEFT_DOUBLE
#define REAL_MPI MPI_DOUBLE
#define PPOTRF   pdpotrf_
#define PPOTRS   pdpotrs_
#define POTRF    dpotrf_
#define POTRS    dpotrs_
#else
#define REAL_MPI MPI_FLOAT
#define PPOTRF   pspotrf_
#define PPOTRS   pspotrs_
#define POTRF    spotrf_
#define POTRS    spotrs_
#endif
void PPOTRF(const char *uplo, const int *n, real *a, const int *ia, const int *ja,
            const int *desca, int *info);
void PPOTRS(const char *uplo, const int *n, const int *nrhs, const real *a, const int *ia,
            const int *ja, const int *desca, real *b, const int *ib, const int *jb,
            const int *descb, int *info);
void POTRF(const char *uplo, const int *n, real *a, const int *lda, int *info);
void POTRS(const char *uplo, const int *n, const int *nrhs, const real *a, const int *lda,
           real *b, const int *ldb, int *info);

static const int zero = 0, one = 1, block = NB;

/* Rows of the grid as square as `size` allows: its largest divisor up to the root. */
static int grid_rows(int size)
{
    int best = 1;
    for (int p = 2; p * p <= size; p++)
        if (size % p == 0) best = p;
    return best;
}

/* The grid and this rank's place; a grid of one rank needs no BLACS. */
static void place(weft_grid *g)
{
    g->nrow = grid_rows(g->team->size);
    g->ncol = g->team->size / g->nrow;
    if (g->team->size == 1) return;
    g->handle = Csys2blacs_handle(comm_of(g->team));
    g->context = g->handle;
    Cblacs_gridinit(&g->context, "Row", g->nrow, g->ncol);
    Cblacs_gridinfo(g->context, &g->nrow, &g->ncol, &g->row, &g->col);
}

/* Local leading dimension: at least 1 where a rank has no rows. */
static int leading(const weft_grid *g)
{
    return g->local_n > 0 ? g->local_n : 1;
}

static void describe(const weft_grid *g, int columns, int *desc)
{
    int ld = leading(g);
    int info;
    descinit_(desc, &g->n, &columns, &block, &block, &zero, &zero, &g->context, &ld, &info);
    weft_check(info == 0, "descinit: argument %d", -info);
}

/* Global index of local index i at place p of `places`. */
static int global(int i, int p, int places)
{
    return (i / NB * places + p) * NB + i % NB;
}

/* Copies this rank's part of columns c0 .. c0+nc from p[nc][n-c0], row by row: row j of the
 * symmetric matrix is its column j. */
static void keep(weft_grid *g, int c0, int nc, const double *p)
{
    for (int j = 0; j < g->local_m; j++) {
        int column = global(j, g->col, g->ncol);
        if (column < c0 || column >= c0 + nc) continue;
        const double *from = p + (size_t)(column - c0) * (size_t)(g->n - c0);
        real *to = g->a + (size_t)j * (size_t)g->local_n;
        for (int i = 0; i < g->local_n; i++) {
            int row = global(i, g->row, g->nrow);
            if (row >= column) to[i] = (real)from[row - c0];
        }
    }
}

/* Fills the lower triangle, panel by panel. Collective. */
static void fill(weft_grid *g, weft_block_fn panel, void *ctx)
{
    size_t mark = weft_arena_mark(g->mem);
    double *p = WEFT_NEW(g->mem, double, (size_t)g->n *PANEL);
    for (int c0 = 0; c0 < g->n; c0 += PANEL) {
        int nc = g->n - c0 < PANEL ? g->n - c0 : PANEL;
        panel(ctx, c0, nc, c0, g->n - c0, p);
        keep(g, c0, nc, p);
    }
    weft_arena_reset(g->mem, mark);
}

double weft_grid_bytes(int64_t n, int size)
{
    double order = (double)n;
    return order * order / size * sizeof(real) + 2 * order * PANEL * sizeof(double);
}

weft_grid *weft_grid_factor(weft_team *t, int64_t n, weft_block_fn panel, void *ctx,
                            weft_arena *mem, int64_t *minor)
{
    weft_check(n <= INT_MAX, "ScaLAPACK counts rows by int: %lld", (long long)n);
    weft_grid *g = WEFT_NEW(mem, weft_grid, 1);
    *g = (weft_grid){.team = t, .n = (int)n, .mem = mem};
    place(g);
    g->local_n = numroc_(&g->n, &block, &g->row, &zero, &g->nrow);
    g->local_m = numroc_(&g->n, &block, &g->col, &zero, &g->ncol);
    weft_check((double)g->local_n * g->local_m <= INT_MAX,
               "ScaLAPACK counts a rank's entries by int: %lld rows need more ranks",
               (long long)n);
    g->a = WEFT_NEW(mem, real, (size_t)g->local_n * (size_t)g->local_m);
    fill(g, panel, ctx);
    int info;
    if (t->size == 1) {
        int ld = leading(g);
        POTRF("L", &g->n, g->a, &ld, &info);
    } else {
        describe(g, g->n, g->desc);
        PPOTRF("L", &g->n, g->a, &one, &one, g->desc, &info);
    }
    weft_check(info >= 0, "potrf: argument %d", -info);
    *minor = info;
    return g;
}

/* Solves for a right side dealt to the first columns of the grid; each entry has one owner,
 * so the sum over ranks is a gather. Collective. */
static void solve_grid(weft_grid *g, int c, real *b)
{
    size_t mark = weft_arena_mark(g->mem);
    size_t n = (size_t)g->n;
    int mine = numroc_(&c, &block, &g->col, &zero, &g->ncol);
    real *x = WEFT_NEW(g->mem, real, (size_t)leading(g) * (size_t)mine);
    int desc[9], info;
    describe(g, c, desc);
    for (int j = 0; j < mine; j++)
        for (int i = 0; i < g->local_n; i++)
            x[(size_t)j * (size_t)g->local_n + (size_t)i] =
                b[(size_t)global(j, g->col, g->ncol) * n +
                  (size_t)global(i, g->row, g->nrow)];
    PPOTRS("L", &g->n, &c, g->a, &one, &one, g->desc, x, &one, &one, desc, &info);
    weft_check(info == 0, "potrs: argument %d", -info);
    memset(b, 0, n * (size_t)c * sizeof *b);
    for (int j = 0; j < mine; j++)
        for (int i = 0; i < g->local_n; i++)
            b[(size_t)global(j, g->col, g->ncol) * n + (size_t)global(i, g->row, g->nrow)] =
                x[(size_t)j * (size_t)g->local_n + (size_t)i];
    weft_timer_begin(g->team);
    for (int j = 0; j < c; j++)
        MPI_Allreduce(MPI_IN_PLACE, b + (size_t)j * n, g->n, REAL_MPI, MPI_SUM,
                      comm_of(g->team));
    weft_timer_end(g->team, n * (size_t)c * sizeof *b);
    weft_arena_reset(g->mem, mark);
}

void weft_grid_solve(weft_grid *g, int c, real *b)
{
    if (g->team->size > 1) {
        solve_grid(g, c, b);
        return;
    }
    int ld = leading(g);
    int info;
    POTRS("L", &g->n, &c, g->a, &ld, b, &ld, &info);
    weft_check(info == 0, "potrs: argument %d", -info);
}

void weft_grid_free(weft_grid *g)
{
    if (g->team->size == 1) return;
    Cblacs_gridexit(g->context);
    Cfree_blacs_system_handle(g->handle);
}
