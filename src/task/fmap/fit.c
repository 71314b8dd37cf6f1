/* Fits of task fmap: of the shared model to all samples, or in pieces of conjugate
 * gradients that are continued from job to job, so that a schedule can stop them early. */
#include "fit.h"
#include "ahead.h"
#include "weft/hash.h"

#include <math.h>
#include <string.h>

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
    if (!(job->resource > 0) || fmap_was_ahead(fmap, job, arms->fold, x, fitted))
        return WEFT_OK;
    weft_arena *tmp = weft_arena_new();
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
    else if (!matrix.empty && fmap->unit == FMAP_ITERATIONS)
        fit_piece(fmap, job, arms, &matrix, w, aux, fitted, tmp);
    else if (!matrix.empty)
        fmap->model->fit(arms->solver, &matrix, &arms->fold->answers,
                         arms->k > 1 ? fmap->slack : 1, w, fitted, tmp);
    if (matrix.finish && !matrix.empty) matrix.finish(&matrix, fmap->outputs, w);
    weft_arena_free(tmp);
    return st;
}
