/* What a map and its model say of single rows. */
#include "score.h"

#include <string.h>

weft_status fmap_predict(fmap_task *fmap, const weft_job *job, real *x, weft_part part,
                         weft_predictions *out, weft_arena *mem)
{
    weft_arena *tmp = weft_arena_new();
    const weft_rows *rows = &fmap->env.data->part[part];
    int classes = fmap->env.data->classes;
    fmap_arms arms = fmap_arms_new(fmap, &job->mix, tmp);
    weft_request request = fmap_request(fmap, job, &arms, part);
    weft_matrix matrix;
    fmap->feature->matrix(fmap->map, &request, 0, x, &matrix, tmp);
    const real *w = x + fmap->nstat, *intercept = w + fmap->outputs * matrix.d;
    real *z = WEFT_NEW(tmp, real, fmap->outputs * matrix.n);
    double *output = WEFT_NEW(tmp, double, fmap->outputs);
    *out = (weft_predictions){.n = rows->total,
                              .classes = classes,
                              .probable = fmap->model->chance != NULL,
                              .score = WEFT_NEW(mem, double, rows->total *classes)};
    matrix.times(&matrix, fmap->outputs, w, z);
    for (int64_t i = 0; i < matrix.n; i++) {
        for (int j = 0; j < fmap->outputs; j++)
            output[j] = (double)z[j * matrix.n + i] + (double)intercept[j];
        fmap_set_scores(fmap, output, out->score + (rows->first + i) * classes);
    }
    weft_join_f64(fmap->env.team, out->score, (size_t)(rows->total * classes));
    weft_arena_free(tmp);
    return WEFT_OK;
}
