/* Dense positive definite systems: Cholesky by ScaLAPACK on a BLACS process grid. The
 * matrix is passed in panels, of which every rank stores its own blocks, so that a rank
 * holds no more than its share and one panel. Blackford et al., "ScaLAPACK Users'
 * Guide", SIAM 1997: block-cyclic layout in chapter 4. */
#include "handle.h"

#include <limits.h>

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
#define PPOTRF pdpotrf_
#define PPOTRS pdpotrs_
#define POTRF  dpotrf_
#define POTRS  dpotrs_
#else
#define PPOTRF pspotrf_
#define PPOTRS pspotrs_
#define POTRF  spotrf_
#define POTRS  spotrs_
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
static void place(weft_grid *grid)
{
    grid->nrow = grid_rows(grid->team->size);
    grid->ncol = grid->team->size / grid->nrow;
    if (grid->team->size == 1) return;
    grid->handle = Csys2blacs_handle(comm_of(grid->team));
    grid->context = grid->handle;
    Cblacs_gridinit(&grid->context, "Row", grid->nrow, grid->ncol);
    Cblacs_gridinfo(grid->context, &grid->nrow, &grid->ncol, &grid->row, &grid->col);
}

/* Local leading dimension: at least 1 where a rank has no rows. */
static int leading(const weft_grid *grid)
{
    return grid->local_n > 0 ? grid->local_n : 1;
}

static void describe(const weft_grid *grid, int columns, int *desc)
{
    int ld = leading(grid);
    int info;
    descinit_(desc, &grid->n, &columns, &block, &block, &zero, &zero, &grid->context, &ld,
              &info);
    weft_check(info == 0, "descinit: argument %d", -info);
}

/* Global index of local index i at place p of `places`. */
static int global(int i, int p, int places)
{
    return (i / NB * places + p) * NB + i % NB;
}

/* Copies this rank's part of columns c0 .. c0+nc from p[nc][n-c0], row by row: row j of the
 * symmetric matrix is its column j. */
static void keep(weft_grid *grid, int c0, int nc, const double *p)
{
    for (int j = 0; j < grid->local_m; j++) {
        int column = global(j, grid->col, grid->ncol);
        if (column < c0 || column >= c0 + nc) continue;
        const double *from = p + (size_t)(column - c0) * (size_t)(grid->n - c0);
        real *to = grid->a + (size_t)j * (size_t)grid->local_n;
        for (int i = 0; i < grid->local_n; i++) {
            int row = global(i, grid->row, grid->nrow);
            if (row >= column) to[i] = (real)from[row - c0];
        }
    }
}

/* Fills the lower triangle, panel by panel. Collective. */
static void fill(weft_grid *grid, weft_block_fn panel, void *ctx)
{
    WEFT_REWIND(grid->mem);
    double *p = WEFT_NEW(grid->mem, double, (size_t)grid->n *PANEL);
    for (int c0 = 0; c0 < grid->n; c0 += PANEL) {
        int nc = grid->n - c0 < PANEL ? grid->n - c0 : PANEL;
        panel(ctx, c0, nc, c0, grid->n - c0, p);
        keep(grid, c0, nc, p);
    }
}

double weft_grid_bytes(int64_t n, int size)
{
    double order = (double)n;
    return order * order / size * sizeof(real) + 2 * order * PANEL * sizeof(double);
}

weft_grid *weft_grid_factor(weft_team *team, int64_t n, weft_block_fn panel, void *ctx,
                            weft_arena *mem, int64_t *minor)
{
    weft_check(n <= INT_MAX, "ScaLAPACK counts rows by int: %lld", (long long)n);
    weft_grid *grid = WEFT_NEW(mem, weft_grid, 1);
    *grid = (weft_grid){.team = team, .n = (int)n, .mem = mem};
    place(grid);
    grid->local_n = numroc_(&grid->n, &block, &grid->row, &zero, &grid->nrow);
    grid->local_m = numroc_(&grid->n, &block, &grid->col, &zero, &grid->ncol);
    weft_check((double)grid->local_n * grid->local_m <= INT_MAX,
               "ScaLAPACK counts a rank's entries by int: %lld rows need more ranks",
               (long long)n);
    grid->a = WEFT_NEW(mem, real, (size_t)grid->local_n * (size_t)grid->local_m);
    fill(grid, panel, ctx);
    int info;
    if (team->size == 1) {
        int ld = leading(grid);
        POTRF("L", &grid->n, grid->a, &ld, &info);
    } else {
        describe(grid, grid->n, grid->desc);
        PPOTRF("L", &grid->n, grid->a, &one, &one, grid->desc, &info);
    }
    weft_check(info >= 0, "potrf: argument %d", -info);
    *minor = info;
    return grid;
}

/* Solves for a right side dealt to the first columns of the grid; each entry has one owner,
 * so the sum over ranks is a gather. Collective. */
static void solve_grid(weft_grid *grid, int c, real *b)
{
    WEFT_REWIND(grid->mem);
    size_t n = (size_t)grid->n;
    int mine = numroc_(&c, &block, &grid->col, &zero, &grid->ncol);
    real *x = WEFT_NEW(grid->mem, real, (size_t)leading(grid) * (size_t)mine);
    int desc[9], info;
    describe(grid, c, desc);
    for (int j = 0; j < mine; j++)
        for (int i = 0; i < grid->local_n; i++)
            x[(size_t)j * (size_t)grid->local_n + (size_t)i] =
                b[(size_t)global(j, grid->col, grid->ncol) * n +
                  (size_t)global(i, grid->row, grid->nrow)];
    PPOTRS("L", &grid->n, &c, grid->a, &one, &one, grid->desc, x, &one, &one, desc, &info);
    weft_check(info == 0, "potrs: argument %d", -info);
    memset(b, 0, n * (size_t)c * sizeof *b);
    for (int j = 0; j < mine; j++)
        for (int i = 0; i < grid->local_n; i++)
            b[(size_t)global(j, grid->col, grid->ncol) * n +
              (size_t)global(i, grid->row, grid->nrow)] =
                x[(size_t)j * (size_t)grid->local_n + (size_t)i];
    weft_timer_begin(grid->team);
    for (int j = 0; j < c; j++)
        MPI_Allreduce(MPI_IN_PLACE, b + (size_t)j * n, grid->n, REAL_MPI, MPI_SUM,
                      comm_of(grid->team));
    weft_timer_end(grid->team, n * (size_t)c * sizeof *b);
}

void weft_grid_solve(weft_grid *grid, int c, real *b)
{
    if (grid->team->size > 1) {
        solve_grid(grid, c, b);
        return;
    }
    int ld = leading(grid);
    int info;
    POTRS("L", &grid->n, &c, grid->a, &ld, b, &ld, &info);
    weft_check(info == 0, "potrs: argument %d", -info);
}

void weft_grid_free(weft_grid *grid)
{
    if (grid->team->size == 1) return;
    Cblacs_gridexit(grid->context);
    Cfree_blacs_system_handle(grid->handle);
}
