/* Scores of samples by maps, and what a map and its model say of single rows. */
#include "fmap.h"
#include "weft/math/linear.h"

#include <math.h>
#include <string.h>

/* ---- tallies ---- */

/* Largest loss that counts. Numbers are about 1 in magnitude; squared errors up to 16 times
 * that of the farthest one are told apart. Collective. */
static double bound_of(const fmap_task *fmap, const fmap_arms *arms, weft_part part)
{
    int classes = fmap->env.data->classes;
    if (!fmap->env.data->target_scale) return fmap->model->bound(arms->solver, classes);
    double far = 1;
    for (int f = 0; f < fmap->nfold; f++) {
        const weft_rows *rows = &fmap->fold[f].data->part[part];
        far = fmax(far, 1 + weft_largest_f64(fmap->env.team, rows->target,
                                             (size_t)(rows->n * classes)));
    }
    return 16 * far * far;
}

fmap_tally fmap_tally_new(const fmap_task *fmap, const fmap_arms *arms, weft_part part,
                          int passes, int maps, weft_arena *mem)
{
    const weft_data *data = fmap->env.data;
    fmap_tally tally = {.bound = bound_of(fmap, arms, part),
                        .passes = passes,
                        .full = passes == maps && passes > 1,
                        .rows = fmap_distinct(fmap, part),
                        .held = fmap_is_held(fmap, part)};
    double counts = 0;
    for (int f = 0; f < fmap->nfold; f++) {
        const weft_rows *rows = &fmap->fold[f].data->part[part];
        counts +=
            (tally.full ? 1 : passes) * (rows->weight ? rows->counts : (double)rows->total);
    }
    tally.loss = WEFT_NEW(mem, int64_t, 3 * arms->k);
    tally.wrong = tally.loss + arms->k;
    tally.count = tally.wrong + arms->k;
    tally.scale = weft_fix_scale(tally.bound * counts);
    tally.unit = data->target_scale ? tally.scale : weft_fix_scale(counts);
    return tally;
}

/* Mean over the targets of row i of the squared error over the training targets' variance.
 */
static double square_of(const weft_rows *rows, int targets, int64_t i, const double *score)
{
    double sum = 0;
    for (int k = 0; k < targets; k++) {
        double off = score[k] - rows->target[i * targets + k];
        sum += off * off;
    }
    return sum / targets;
}

static double score_of(const fmap_task *fmap, const double *output, int class)
{
    if (fmap->outputs == fmap->env.data->classes) return output[class];
    return class == 1 ? output[0] : -output[0];
}

/* Adds the scores of the classes from those of the model's outputs, numbers as they are, to
 * a mean of so many. */
static void add_scores(const fmap_task *fmap, const double *output, int of, double *score)
{
    double (*chance)(double) = fmap->model->chance;
    int classes = fmap->env.data->classes;
    double sum = 0;
    for (int k = 0; k < classes && chance; k++) sum += chance(score_of(fmap, output, k));
    for (int k = 0; k < classes; k++) {
        double s = score_of(fmap, output, k);
        if (chance) s = sum > 0 ? chance(s) / sum : 1.0 / classes;
        score[k] += s / of;
    }
}

void fmap_tally_keep(const fmap_task *fmap, fmap_tally *tally, weft_arena *mem)
{
    int64_t n = tally->passes * tally->rows;
    tally->score = WEFT_NEW(mem, double, n * fmap->env.data->classes);
    tally->arm = WEFT_NEW(mem, int32_t, n);
}

/* What the weights w say of the rows of a matrix, but for the intercepts: [outputs][n]. */
static const real *outputs_of(const fmap_task *fmap, const weft_matrix *matrix,
                              const real *w, weft_arena *tmp)
{
    real *z = WEFT_NEW(tmp, real, fmap->outputs * matrix->n);
    matrix->times(matrix, fmap->outputs, w, z);
    return z;
}

/* Those of row i, with the intercepts, which follow the weights. */
static void put_output(const fmap_task *fmap, const weft_matrix *matrix, const real *w,
                       const real *z, int64_t i, double *output)
{
    const real *intercept = w + fmap->outputs * matrix->d;
    for (int j = 0; j < fmap->outputs; j++)
        output[j] = (double)z[j * matrix->n + i] + (double)intercept[j];
}

/* Adds the samples of one matrix, in a pass: row i counts for arm[i], or for `only` where
 * arm is NULL. */
static void tally_add(const fmap_task *fmap, const fmap_arms *arms,
                      const weft_matrix *matrix, const real *w, const weft_rows *rows,
                      const int *arm, int only, int pass, fmap_tally *tally,
                      weft_arena *tmp)
{
    int classes = fmap->env.data->classes, numbers = rows->target != NULL;
    int64_t at = pass * tally->rows + (tally->held ? arms->fold->held : 0) + rows->first;
    double bound = tally->bound;
    const real *z = outputs_of(fmap, matrix, w, tmp);
    double *score = WEFT_NEW(tmp, double, fmap->outputs);
    for (int64_t i = 0; i < matrix->n; i++) {
        put_output(fmap, matrix, w, z, i, score);
        int wrong = 0, to = arm ? arm[i] : only;
        double loss = numbers ? square_of(rows, classes, i, score)
                              : fmap->model->loss(arms->solver, classes, score,
                                                  rows->label[i], &wrong);
        double weight = rows->weight ? rows->weight[i] : 1;
        if (tally->score) {
            add_scores(fmap, score, tally->held ? 1 : fmap->nfold,
                       tally->score + (at + i) * classes);
            tally->arm[at + i] = to;
        }
        if (!(loss < bound)) loss = bound; /* a NaN, too */
        tally->loss[to] += weft_fix(weight * loss, tally->scale);
        tally->wrong[to] += weft_fix(weight * (numbers ? loss : wrong), tally->unit);
        tally->count[to] += weft_fix(weight, tally->unit);
    }
}

void fmap_score_split(fmap_task *fmap, const weft_job *job, const fmap_arms *arms, real *x,
                      weft_part part, fmap_tally *tally, weft_arena *tmp)
{
    for (int e = 0; e < tally->passes; e++) {
        WEFT_REWIND(tmp);
        weft_request request = fmap_request(fmap, job, arms, part);
        request.arm = fmap_draw(fmap, job, arms, part, (double)e / tally->passes, tmp);
        weft_matrix matrix;
        fmap->feature->matrix(arms->fold->map, &request, 0, x, &matrix, tmp);
        tally_add(fmap, arms, &matrix, x + fmap->nstat, &arms->fold->data->part[part],
                  request.arm, 0, e, tally, tmp);
    }
}

void fmap_score_full(fmap_task *fmap, const weft_job *job, const fmap_arms *arms, real *x,
                     weft_part part, fmap_tally *tally, weft_arena *tmp)
{
    int *todo = WEFT_NEW(tmp, int, arms->k);
    int n = 0;
    for (int i = 0; i < arms->k; i++)
        if (arms->p[i] > 0) {
            int at = n++;
            int64_t mine = fmap->feature->affinity(arms->fold->map, arms->arm[i]);
            for (; at > 0 &&
                   fmap->feature->affinity(arms->fold->map, arms->arm[todo[at - 1]]) > mine;
                 at--)
                todo[at] = todo[at - 1];
            todo[at] = i;
        }
    for (int e = 0; e < n; e++) {
        WEFT_REWIND(tmp);
        int i = todo[e];
        weft_request request = fmap_request(fmap, job, arms, part);
        request.narm = 1;
        request.arms = arms->arm + i;
        request.id = job->mix.id + i;
        weft_matrix matrix;
        fmap->feature->matrix(arms->fold->map, &request, 0, x, &matrix, tmp);
        tally_add(fmap, arms, &matrix, x + fmap->nstat, &arms->fold->data->part[part], NULL,
                  i, e, tally, tmp);
    }
}

void fmap_tally_close(fmap_task *fmap, const fmap_arms *arms, int split, fmap_tally *tally,
                      double *loss, double *error)
{
    weft_sum_i64(fmap->env.team, tally->loss, 3 * (size_t)arms->k);
    double sum = 0, wrong = 0, weight = 0;
    for (int i = 0; i < arms->k; i++) {
        if (tally->count[i] == 0) continue;
        double count = weft_unfix(tally->count[i], tally->unit);
        double share = split ? 1 : arms->p[i] / count;
        sum += share * weft_unfix(tally->loss[i], tally->scale);
        wrong += share * weft_unfix(tally->wrong[i], tally->unit);
        weight += share * count;
    }
    *loss = weight > 0 ? fmap_loss(fmap, sum / weight) : INFINITY;
    *error = weight > 0 ? wrong / weight : 1;
}

/* All ranks get the scores that were kept. */
static void join_scores(fmap_task *fmap, fmap_tally *tally)
{
    size_t n = (size_t)(tally->passes * tally->rows);
    weft_join_f64(fmap->env.team, tally->score, n * (size_t)fmap->env.data->classes);
    weft_sum_i32(fmap->env.team, tally->arm, n);
}

weft_predictions fmap_tally_said(fmap_task *fmap, fmap_tally *tally)
{
    join_scores(fmap, tally);
    return (weft_predictions){.n = tally->rows,
                              .classes = fmap->env.data->classes,
                              .probable = fmap->model->chance != NULL,
                              .score = tally->score};
}

/* The rows of a map: those of the passes, one after the other. */
struct share {
    weft_predictions said;
    int32_t *label;
    double *target, *weight;
};

/* Adds row i of the part, whose scores are at `from`. */
static void share_add(struct share *share, const weft_truth *truth, int64_t i,
                      const double *from)
{
    int64_t at = share->said.n++, m = share->said.classes;
    memcpy(share->said.score + at * m, from, (size_t)m * sizeof *from);
    if (truth->target)
        memcpy(share->target + at * m, truth->target + i * m, (size_t)m * sizeof *from);
    else
        share->label[at] = truth->label[i];
    if (truth->weight) share->weight[at] = truth->weight[i];
}

/* The rows of each map. */
static struct share *shares_of(const fmap_task *fmap, const weft_truth *truth,
                               const fmap_tally *tally, int k, weft_arena *mem)
{
    int m = fmap->env.data->classes;
    int64_t n = tally->passes * tally->rows, *count = WEFT_NEW(mem, int64_t, k);
    struct share *share = WEFT_NEW(mem, struct share, k);
    for (int64_t j = 0; j < n; j++) count[tally->arm[j]]++;
    for (int i = 0; i < k; i++)
        share[i] = (struct share){
            .said = {.classes = m, .score = WEFT_NEW(mem, double, count[i] * m)},
            .label = WEFT_NEW(mem, int32_t, count[i]),
            .target = WEFT_NEW(mem, double, truth->target ? count[i] * m : 0),
            .weight = WEFT_NEW(mem, double, count[i])};
    for (int64_t j = 0; j < n; j++)
        share_add(&share[tally->arm[j]], truth, j % tally->rows, tally->score + j * m);
    return share;
}

void fmap_tally_measure(fmap_task *fmap, weft_measure measure, const weft_truth *truth,
                        fmap_tally *tally, int k, double *measured)
{
    WEFT_SCRATCH(tmp);
    join_scores(fmap, tally);
    struct share *share = shares_of(fmap, truth, tally, k, tmp);
    for (int i = 0; i < k; i++) {
        weft_truth own = {.label = share[i].label,
                          .target = truth->target ? share[i].target : NULL,
                          .weight = truth->weight ? share[i].weight : NULL};
        measured[i] = weft_measure_of(measure, &share[i].said, &own);
    }
}

double fmap_loss(const fmap_task *fmap, double loss)
{
    const weft_data *data = fmap->env.data;
    if (!data->target_scale || data->classes > 1) return loss;
    return loss * data->target_scale[0] * data->target_scale[0];
}

/* ---- answers of single rows ---- */

/* Adds what a fold's weights say of this rank's rows. */
static void add_answers(fmap_task *fmap, const weft_job *job, int f, real *x,
                        weft_part part, double *score)
{
    WEFT_SCRATCH(tmp);
    int classes = fmap->env.data->classes;
    fmap_arms arms = fmap_arms_new(fmap, f, &job->mix, tmp);
    weft_request request = fmap_request(fmap, job, &arms, part);
    weft_matrix matrix;
    fmap->feature->matrix(arms.fold->map, &request, 0, x, &matrix, tmp);
    const real *w = x + fmap->nstat, *z = outputs_of(fmap, &matrix, w, tmp);
    double *output = WEFT_NEW(tmp, double, fmap->outputs);
    for (int64_t i = 0; i < matrix.n; i++) {
        put_output(fmap, &matrix, w, z, i, output);
        add_scores(fmap, output, fmap->nfold, score + i * classes);
    }
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
        add_answers(fmap, job, f, x + f * fmap->each, part,
                    out->score + rows->first * out->classes);
    weft_join_f64(fmap->env.team, out->score, (size_t)numbers);
    out->note = note_of(fmap, job, x, part, mem);
    return WEFT_OK;
}
