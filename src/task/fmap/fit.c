/* Fits of task fmap: of the shared model to all samples, or in pieces of conjugate
 * gradients that are continued from job to job, so that a schedule can stop them early. */
#include "fit.h"
#include "ahead.h"

#include <math.h>
#include <string.h>

/* ---- in pieces ---- */

weft_status fmap_pieces_setup(fmap *t)
{
    if (!t->model->piece)
        return weft_fail(WEFT_ECONF,
                         "fmap.resource = iterations: fits of model %s cannot be divided; "
                         "choose fmap.model = ridge, or fmap.resource = fits",
                         t->model->kind.name);
    TRY(t->model->divisible(t->solver));
    t->npieces = 1 + t->model->piece_size(t->columns, t->env.data->classes);
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
static void fit_piece(fmap *t, const weft_job *job, const void *solver,
                      const weft_matrix *f, weft_state *state, weft_fitted *fitted,
                      weft_arena *tmp)
{
    int classes = t->env.data->classes;
    int64_t size = t->model->piece_size(f->d, classes);
    real *w = state->x + t->nstat;
    double *was = state->aux, *own = state->aux + 1;
    double name = name_of(job);
    if (*was < name || *was > name) {
        *was = name;
        memset(own, 0, (size_t)size * sizeof *own);
        own[0] = -1;
        for (int64_t i = 0; i < (classes - 1) * f->d; i++) own[1 + i] = (double)w[i];
    }
    t->model->piece(solver, f, t->env.data->part[WEFT_TRAIN].label, classes,
                    (int)fmin(floor(job->resource + 0.5), 1e9), own, w, fitted, tmp);
}

/* ---- whole ---- */

weft_status fmap_fit(fmap *t, const weft_job *job, const fmap_arms *a, weft_state *state,
                     weft_fitted *fitted)
{
    weft_status st = WEFT_OK;
    *fitted = (weft_fitted){0};
    if (!(job->resource > 0) || fmap_was_ahead(t, job, state->x, fitted)) return WEFT_OK;
    weft_arena *tmp = weft_arena_new();
    weft_request q = fmap_request(t, job, a, WEFT_TRAIN);
    q.arm = fmap_draw(t, job, a, WEFT_TRAIN, 0, tmp);
    weft_matrix f;
    t->feature->matrix(t->map, &q, 1, state->x, &f, tmp);
    fitted->diverged = f.empty != NULL;
    if (f.empty && t->env.space->count == 1)
        st = weft_fail(WEFT_EDATA, "%s: %s; change one of these", t->env.data->path,
                       f.empty);
    else if (!f.empty && t->pieces)
        fit_piece(t, job, a->solver, &f, state, fitted, tmp);
    else if (!f.empty)
        t->model->fit(a->solver, &f, t->env.data->part[WEFT_TRAIN].label,
                      t->env.data->classes, a->k > 1 ? t->slack : 1, state->x + t->nstat,
                      fitted, tmp);
    weft_arena_free(tmp);
    return st;
}
