/* What a map and its model say of single rows. */
#include "score.h"

/* Adds what a fold's weights say of this rank's rows. */
static void add_fold(fmap_task *fmap, const weft_job *job, int f, real *x, weft_part part,
                     double *score)
{
    weft_arena *tmp = weft_arena_new();
    int classes = fmap->env.data->classes;
    fmap_arms arms = fmap_arms_new(fmap, f, &job->mix, tmp);
    weft_request request = fmap_request(fmap, job, &arms, part);
    weft_matrix matrix;
    fmap->feature->matrix(arms.fold->map, &request, 0, x, &matrix, tmp);
    const real *w = x + fmap->nstat, *intercept = w + fmap->outputs * matrix.d;
    real *z = WEFT_NEW(tmp, real, fmap->outputs * matrix.n);
    double *output = WEFT_NEW(tmp, double, fmap->outputs);
    matrix.times(&matrix, fmap->outputs, w, z);
    for (int64_t i = 0; i < matrix.n; i++) {
        for (int j = 0; j < fmap->outputs; j++)
            output[j] = (double)z[j * matrix.n + i] + (double)intercept[j];
        fmap_add_scores(fmap, output, fmap->nfold, score + i * classes);
    }
    weft_arena_free(tmp);
}

weft_status fmap_predict(fmap_task *fmap, const weft_job *job, real *x, weft_part part,
                         weft_predictions *out, weft_arena *mem)
{
    const weft_rows *rows = &fmap->env.data->part[part];
    int64_t numbers = rows->total * fmap->env.data->classes;
    *out = (weft_predictions){.n = rows->total,
                              .classes = fmap->env.data->classes,
                              .probable = fmap->model->chance != NULL,
                              .score = WEFT_NEW(mem, double, numbers)};
    for (int f = 0; f < fmap->nfold; f++)
        add_fold(fmap, job, f, x + f * fmap->each, part,
                 out->score + rows->first * out->classes);
    weft_join_f64(fmap->env.team, out->score, (size_t)numbers);
    return WEFT_OK;
}
