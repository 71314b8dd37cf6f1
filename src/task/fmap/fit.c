/* Fits of task fmap: of the shared model to all samples, or in pieces of conjugate
 * gradients that are continued from job to job, so that a schedule can stop them early.
 *
 * A fit of one map to sparse rows is sequential over rows, on one rank, while the others
 * would wait. When jobs of several such maps are known, all ranks compute the features of
 * each map together, every rank gets all rows of some maps and fits these, ahead of their
 * jobs, and the weights are sent to all ranks. A fit depends only on its map, so that it
 * has the same bits as one that is done in its job. */
#include "fmap.h"
#include "weft/base/random.h"
#include "weft/par/par.h"

#include <math.h>
#include <string.h>

enum { EACH = 4 }; /* largest number of fits per rank at once, which a kill would lose */

/* A fit: of a job in a fold. */
struct fit {
    const weft_job *job;
    int fold;
    fmap_early *early;
};

/* What the rank that does a fit has. */
struct whole {
    weft_matrix matrix;
    const int32_t *label;
    const void *solver;
};

/* ---- ahead of their jobs ---- */

/* fold -1: any */
static fmap_early *find_early(const fmap_task *fmap, int64_t job, int fold)
{
    fmap_early *early = fmap->early;
    while (early && (early->job != job || (fold >= 0 && early->fold != fold)))
        early = early->next;
    return early;
}

static fmap_early *early_new(fmap_task *fmap, int64_t job, int fold)
{
    fmap_early *early = find_early(fmap, -1, -1);
    if (!early) {
        early = WEFT_NEW(fmap->env.mem, fmap_early, 1);
        early->x = WEFT_NEW(fmap->env.mem, real, fmap->each);
        early->next = fmap->early;
        fmap->early = early;
    }
    early->job = job;
    early->fold = fold;
    return early;
}

/* Returns 1 if the job's fit in a fold was done ahead, with its part of the state x and its
 * result. */
static int was_ahead(fmap_task *fmap, const weft_job *job, const fmap_fold *fold, real *x,
                     weft_fitted *fitted)
{
    fmap_early *early = find_early(fmap, job->id, (int)(fold - fmap->fold));
    if (!early) return 0;
    memcpy(x, early->x, (size_t)fmap->each * sizeof *x);
    *fitted = early->fitted;
    early->job = -1;
    return 1;
}

/* 1: the job is a fit with all features that can be done by a single rank; rows that are
 * sparse have classes and equal weights. */
static int is_lone(const fmap_task *fmap, const weft_job *job)
{
    return fmap->feature->sparse && fmap->model->serial &&
           fmap->opts.unit != FMAP_ITERATIONS && job->mix.k == 1 && job->resource > 0 &&
           !(job->feature_fraction < 1);
}

/* 1: it is known which rows the job fits, and they are those of `other`, which is known. */
static int has_rows(const fmap_task *fmap, const weft_job *job, const weft_job *other)
{
    return !fmap->sample || (job->index == 0 && job->from < 0 &&
                             !(fabs(job->resource - other->resource) > 0));
}

/* Chooses the fits that are done now: the first, and as many others as half of the memory
 * allows. Memory is needed for one matrix while it is made, twice the size of its rows on
 * all ranks, and for all rows of the matrices on the ranks that fit them, where a rank may
 * have one matrix more than others. Returns their number. */
static int choose_fits(fmap_task *fmap, int n, const weft_job *const *job, struct fit *fit)
{
    int ranks = fmap->env.team->size, m = 0;
    double bytes = 0, most = 0;
    WEFT_SCRATCH(tmp);
    for (int e = 0; e < n * fmap->nfold && m < EACH * ranks; e++) {
        const weft_job *one = job[e / fmap->nfold];
        int f = e % fmap->nfold;
        const fmap_fold *fold = &fmap->fold[f];
        if (!is_lone(fmap, one) || !has_rows(fmap, one, job[0]) ||
            find_early(fmap, one->id, f))
            continue;
        fmap_arms arms = fmap_arms_new(fmap, f, &one->mix, tmp);
        double flops, all, entries;
        fmap->feature->estimate(fold->map, arms.arm[0],
                                (double)fold->data->part[WEFT_TRAIN].total, 1, &flops, &all,
                                &entries);
        most = all > most ? all : most;
        if (m > 0 && (bytes + all) / 2 / ranks + most > 0.5 * fmap->env.memory) continue;
        bytes += all;
        fit[m] = (struct fit){one, f, early_new(fmap, one->id, f)};
        fit[m++].early->cost = entries;
    }
    return m;
}

/* The rows of a fit's matrix on the rank that does it; statistics in x. Collective. */
static void take_rows(fmap_task *fmap, const struct fit *fit, struct whole *to,
                      weft_arena *mem)
{
    WEFT_SCRATCH(tmp);
    fmap_early *early = fit->early;
    fmap_arms arms = fmap_arms_new(fmap, fit->fold, &fit->job->mix, tmp);
    weft_request request = fmap_request(fmap, fit->job, &arms, WEFT_TRAIN);
    to->solver = fmap_solver(fmap, fit->job->mix.conf, mem);
    weft_matrix matrix;
    fmap->feature->matrix(arms.fold->map, &request, 1, early->x, &matrix, tmp);
    early->fitted.diverged = matrix.empty != NULL;
    to->label = matrix.gather(&matrix, arms.fold->answers.label, early->owner, fmap->alone,
                              &to->matrix, mem);
}

static void deal_fits(const fmap_task *fmap, int n, const struct fit *fit, weft_arena *tmp)
{
    double *cost = WEFT_NEW(tmp, double, n);
    int *owner = WEFT_NEW(tmp, int, n);
    for (int i = 0; i < n; i++) cost[i] = fit[i].early->cost;
    weft_deal_costs(n, cost, fmap->env.team->size, NULL, owner);
    for (int i = 0; i < n; i++) fit[i].early->owner = owner[i];
}

/* Of the rows that a rank has: those of sparse rows are their classes' alone. */
static const double *weights_of(const fmap_fold *fold, const struct whole *rows,
                                weft_arena *mem)
{
    if (!fold->class) return NULL;
    double *weight = WEFT_NEW(mem, double, rows->matrix.n);
    for (int64_t i = 0; i < rows->matrix.n; i++)
        weight[i] = (double)(real)fold->class[rows->label[i]];
    return weight;
}

/* Does this rank's fits, then sends all weights to all ranks. Collective. */
static void fit_all(fmap_task *fmap, int n, const struct fit *fit, const struct whole *rows)
{
    weft_team *team = fmap->env.team;
    size_t numbers = (size_t)(fmap->outputs * (fmap->columns + 1));
    for (int i = 0; i < n; i++) {
        fmap_early *early = fit[i].early;
        if (early->owner != team->rank || early->fitted.diverged) continue;
        WEFT_SCRATCH(tmp);
        real *w = early->x + fmap->nstat;
        memset(w, 0, numbers * sizeof *w);
        weft_answers answers = {.classes = fmap->env.data->classes,
                                .label = rows[i].label,
                                .weight =
                                    weights_of(&fmap->fold[early->fold], &rows[i], tmp)};
        fmap->model->fit(rows[i].solver, &rows[i].matrix, &answers, 1, w, &early->fitted,
                         tmp);
    }
    for (int i = 0; i < n; i++) {
        fmap_early *early = fit[i].early;
        weft_bcast(team, early->x + fmap->nstat, numbers * sizeof(real), early->owner);
        weft_bcast(team, &early->fitted, sizeof early->fitted, early->owner);
    }
}

/* 1: the job is fitted in all folds. */
static int is_ready(const fmap_task *fmap, const weft_job *job)
{
    int f = 0;
    while (f < fmap->nfold && find_early(fmap, job->id, f)) f++;
    return f == fmap->nfold;
}

void fmap_ahead(void *self, int n, const weft_job *const *job)
{
    fmap_task *fmap = self;
    if (n * fmap->nfold < 2 || fmap->env.team->size < 2 || !is_lone(fmap, job[0]) ||
        !has_rows(fmap, job[0], job[0]) || is_ready(fmap, job[0]))
        return;
    if (fmap->sample && fmap_sample_take(fmap, job[0]->resource) != WEFT_OK) return;
    if (!fmap->alone) {
        fmap->alone = WEFT_NEW(fmap->env.mem, weft_team, 1);
        weft_team_split(fmap->env.team, fmap->env.team->size, fmap->alone);
    }
    WEFT_SCRATCH(mem);
    struct fit *fit = WEFT_NEW(mem, struct fit, n * fmap->nfold);
    n = choose_fits(fmap, n, job, fit);
    struct whole *rows = WEFT_NEW(mem, struct whole, n);
    if (n > 1) {
        deal_fits(fmap, n, fit, mem);
        for (int i = 0; i < n; i++) take_rows(fmap, &fit[i], &rows[i], mem);
        fit_all(fmap, n, fit, rows);
    } else {
        fit[0].early->job = -1;
    }
    fmap->fold = fmap->all;
}

/* ---- in pieces ---- */

weft_status fmap_pieces_setup(fmap_task *fmap)
{
    if (!fmap->model->piece)
        return weft_fail(WEFT_ECONF,
                         "fmap.resource = iterations: fits of model %s cannot be divided; "
                         "choose fmap.model = ridge, or fmap.resource = fits",
                         fmap->model->kind.name);
    TRY(fmap->model->divisible(fmap->solver));
    fmap->npieces = 1 + fmap->model->piece_size(fmap->columns, &fmap->fold->answers);
    return WEFT_OK;
}

/* A number that identifies the map of a state, exact in a double and not 0: a state of
 * another map cannot be continued. */
static double name_of(const weft_job *job)
{
    size_t bytes = (size_t)job->mix.dim * sizeof *job->mix.conf;
    uint64_t name = weft_hash(job->mix.conf, bytes, (uint64_t)job->mix.id[0]);
    return 1 + (double)(name >> 12);
}

/* Does the iterations of a job. A trial that copied the weights of another map starts from
 * these. */
static void fit_piece(fmap_task *fmap, const weft_job *job, const fmap_arms *arms,
                      const weft_matrix *matrix, real *w, double *aux, weft_fitted *fitted,
                      weft_arena *tmp)
{
    const weft_answers *answers = &arms->fold->answers;
    int64_t size = fmap->model->piece_size(matrix->d, answers),
            systems = answers->classes - (answers->target == NULL);
    double *was = aux, *own = aux + 1;
    double name = name_of(job);
    if (*was < name || *was > name) {
        *was = name;
        memset(own, 0, (size_t)size * sizeof *own);
        own[0] = -1;
        for (int64_t i = 0; i < systems * matrix->d; i++) own[1 + i] = (double)w[i];
    }
    fmap->model->piece(arms->solver, matrix, answers,
                       (int)fmin(floor(job->resource + 0.5), 1e9), own, w, fitted, tmp);
}

/* ---- whole ---- */

weft_status fmap_fit(fmap_task *fmap, const weft_job *job, const fmap_arms *arms, real *x,
                     double *aux, weft_fitted *fitted)
{
    weft_status st = WEFT_OK;
    *fitted = (weft_fitted){0};
    if (!(job->resource > 0) || was_ahead(fmap, job, arms->fold, x, fitted)) return WEFT_OK;
    WEFT_SCRATCH(tmp);
    weft_request request = fmap_request(fmap, job, arms, WEFT_TRAIN);
    request.arm = fmap_draw(fmap, job, arms, WEFT_TRAIN, 0, tmp);
    weft_matrix matrix;
    fmap->feature->matrix(arms->fold->map, &request, 1, x, &matrix, tmp);
    fitted->diverged = matrix.empty != NULL;
    real *w = x + fmap->nstat;
    if (matrix.finish ||
        fmap->sample) /* what is there may be no weights, or of fewer rows */
        memset(w, 0, (size_t)(fmap->each - fmap->nstat) * sizeof *w);
    if (matrix.empty && (fmap->env.space->count == 1 || fmap->env.whole))
        st = weft_fail(WEFT_EDATA, "%s: %s; change one of these", fmap->env.data->path,
                       matrix.empty);
    else if (!matrix.empty && fmap->opts.unit == FMAP_ITERATIONS)
        fit_piece(fmap, job, arms, &matrix, w, aux, fitted, tmp);
    else if (!matrix.empty)
        fmap->model->fit(arms->solver, &matrix, &arms->fold->answers,
                         arms->k > 1 ? fmap->opts.slack : 1, w, fitted, tmp);
    if (matrix.finish && !matrix.empty) matrix.finish(&matrix, fmap->outputs, w);
    return st;
}
