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

/* That rows are outside the range of the training rows, where what is said of them goes on
 * as a line; NULL: none is. Collective. */
static const char *note_of(fmap_task *fmap, const weft_job *job, const real *x,
                           weft_part part, weft_arena *mem)
{
    if (!fmap->feature->beyond) return NULL;
    const weft_data *data = fmap->env.data;
    const weft_rows *rows = &data->part[part];
    weft_team *team = fmap->env.team;
    double *far = WEFT_NEW(mem, double, rows->d);
    fmap_arms arms = fmap_arms_new(fmap, 0, &job->mix, mem);
    int64_t outside = fmap->feature->beyond(arms.arm[0], rows, x, far, mem);
    weft_sum_i64(team, &outside, 1);
    weft_max_f64(team, far, (size_t)rows->d);
    if (outside == 0) return NULL;
    int64_t most = 0;
    for (int64_t k = 1; k < rows->d; k++)
        if (far[k] > far[most]) most = k;
    return weft_arena_text(
        mem,
        "%lld of %lld rows lie outside the range of the training rows, the farthest by "
        "%.3g times its width, in column %s: there the linear part goes on as a line "
        "(%s.linear)",
        (long long)outside, (long long)rows->total, far[most],
        data->column_name ? data->column_name[most]
                          : weft_arena_text(mem, "%lld", (long long)most + 1),
        fmap->feature->kind.name);
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
    out->note = note_of(fmap, job, x, part, mem);
    return WEFT_OK;
}
