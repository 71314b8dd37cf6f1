/* Maps of a job, and which of them each sample draws; scores of samples by maps. */
#include "score.h"
#include "weft/exact.h"
#include "weft/rng.h"

#include <math.h>
#include <string.h>

/* ---- maps ---- */

const void *fmap_arm(const fmap_task *fmap, const double *conf, weft_arena *mem)
{
    void *arm = weft_arena_alloc(mem, 1, fmap->feature->kind.size);
    memcpy(arm, fmap->map, fmap->feature->kind.size);
    weft_space_put(fmap->env.space, conf, &fmap->feature->kind, arm);
    return arm;
}

const void *fmap_solver(const fmap_task *fmap, const double *conf, weft_arena *mem)
{
    void *solver = weft_arena_alloc(mem, 1, fmap->model->kind.size);
    memcpy(solver, fmap->solver, fmap->model->kind.size);
    weft_space_put(fmap->env.space, conf, &fmap->model->kind, solver);
    return solver;
}

fmap_arms fmap_arms_new(const fmap_task *fmap, const weft_mix *mix, weft_arena *mem)
{
    fmap_arms arms = {.k = mix->k};
    arms.solver = fmap_solver(fmap, mix->conf, mem);
    arms.arm = WEFT_NEW(mem, const void *, mix->k);
    arms.p = WEFT_NEW(mem, double, mix->k);
    arms.cum = WEFT_NEW(mem, double, mix->k);
    for (int i = 0; i < mix->k; i++) {
        arms.arm[i] = fmap_arm(fmap, mix->conf + (size_t)i * mix->dim, mem);
        arms.p[i] = exp(mix->logp[i]);
    }
    weft_mix_cumulate(mix, arms.cum);
    return arms;
}

const int *fmap_draw(const fmap_task *fmap, const weft_job *job, const fmap_arms *arms,
                     weft_part part, double shift, weft_arena *mem)
{
    if (arms->k == 1) return NULL;
    const weft_rows *rows = &fmap->env.data->part[part];
    weft_purpose purpose = part == WEFT_TRAIN ? WEFT_RNG_ASSIGN : WEFT_RNG_VALID;
    int *arm = WEFT_NEW(mem, int, rows->n);
    for (int64_t i = 0; i < rows->n; i++) {
        weft_rng4 rng = weft_rng_at(fmap->env.seed, purpose, (uint64_t)job->trial,
                                    (uint64_t)job->index, (uint64_t)(rows->first + i));
        double unit = weft_rng_unit(rng.v[0]) + shift;
        arm[i] = weft_mix_find(arms->cum, arms->k, unit < 1 ? unit : unit - 1);
    }
    return arm;
}

weft_request fmap_request(const fmap_task *fmap, const weft_job *job, const fmap_arms *arms,
                          weft_part part)
{
    return (weft_request){.part = part,
                          .n = fmap->env.data->part[part].n,
                          .narm = arms->k,
                          .arms = arms->arm,
                          .id = job->mix.id,
                          .size = job->feature_fraction,
                          .seed = fmap->env.seed};
}

/* ---- scores ---- */

/* Largest loss that counts. Numbers are about 1 in magnitude; squared errors up to 16 times
 * that of the farthest one are told apart. Collective. */
static double bound_of(const fmap_task *fmap, const fmap_arms *arms, weft_part part)
{
    const weft_data *data = fmap->env.data;
    const weft_rows *rows = &data->part[part];
    if (!data->target_scale) return fmap->model->bound(arms->solver, data->classes);
    double far = 1 + weft_largest_f64(fmap->env.team, rows->target,
                                      (size_t)(rows->n * data->classes));
    return 16 * far * far;
}

fmap_tally fmap_tally_new(const fmap_task *fmap, const fmap_arms *arms, weft_part part,
                          int passes, weft_arena *mem)
{
    const weft_data *data = fmap->env.data;
    fmap_tally tally = {.bound = bound_of(fmap, arms, part)};
    const weft_rows *rows = &data->part[part];
    double counts = passes * (rows->weight ? rows->counts : (double)rows->total);
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

/* Adds the samples of one matrix: row i counts for arm[i], or for `only` where arm is NULL.
 */
static void tally_add(const fmap_task *fmap, const fmap_arms *arms,
                      const weft_matrix *matrix, const real *w, const weft_rows *rows,
                      const int *arm, int only, fmap_tally *tally, weft_arena *tmp)
{
    int classes = fmap->env.data->classes, numbers = rows->target != NULL;
    double bound = tally->bound;
    const real *intercept = w + fmap->outputs * matrix->d;
    real *z = WEFT_NEW(tmp, real, fmap->outputs * matrix->n);
    double *score = WEFT_NEW(tmp, double, fmap->outputs);
    matrix->times(matrix, fmap->outputs, w, z);
    for (int64_t i = 0; i < matrix->n; i++) {
        for (int j = 0; j < fmap->outputs; j++)
            score[j] = (double)z[j * matrix->n + i] + (double)intercept[j];
        int wrong = 0, to = arm ? arm[i] : only;
        double loss = numbers ? square_of(rows, classes, i, score)
                              : fmap->model->loss(arms->solver, classes, score,
                                                  rows->label[i], &wrong);
        double weight = rows->weight ? rows->weight[i] : 1;
        if (!(loss < bound)) loss = bound; /* a NaN, too */
        tally->loss[to] += weft_fix(weight * loss, tally->scale);
        tally->wrong[to] += weft_fix(weight * (numbers ? loss : wrong), tally->unit);
        tally->count[to] += weft_fix(weight, tally->unit);
    }
}

void fmap_score_split(fmap_task *fmap, const weft_job *job, const fmap_arms *arms, real *x,
                      weft_part part, int passes, fmap_tally *tally, weft_arena *tmp)
{
    for (int e = 0; e < passes; e++) {
        size_t mark = weft_arena_mark(tmp);
        weft_request request = fmap_request(fmap, job, arms, part);
        request.arm = fmap_draw(fmap, job, arms, part, (double)e / passes, tmp);
        weft_matrix matrix;
        fmap->feature->matrix(fmap->map, &request, 0, x, &matrix, tmp);
        tally_add(fmap, arms, &matrix, x + fmap->nstat, &fmap->env.data->part[part],
                  request.arm, 0, tally, tmp);
        weft_arena_reset(tmp, mark);
    }
}

void fmap_score_full(fmap_task *fmap, const weft_job *job, const fmap_arms *arms, real *x,
                     weft_part part, fmap_tally *tally, weft_arena *tmp)
{
    int *todo = WEFT_NEW(tmp, int, arms->k);
    int n = 0;
    for (int i = 0; i < arms->k; i++)
        if (job->score_eliminated || arms->p[i] > 0) {
            int at = n++;
            int64_t mine = fmap->feature->affinity(fmap->map, arms->arm[i]);
            for (; at > 0 &&
                   fmap->feature->affinity(fmap->map, arms->arm[todo[at - 1]]) > mine;
                 at--)
                todo[at] = todo[at - 1];
            todo[at] = i;
        }
    for (int e = 0; e < n; e++) {
        size_t mark = weft_arena_mark(tmp);
        int i = todo[e];
        weft_request request = fmap_request(fmap, job, arms, part);
        request.narm = 1;
        request.arms = arms->arm + i;
        request.id = job->mix.id + i;
        weft_matrix matrix;
        fmap->feature->matrix(fmap->map, &request, 0, x, &matrix, tmp);
        tally_add(fmap, arms, &matrix, x + fmap->nstat, &fmap->env.data->part[part], NULL,
                  i, tally, tmp);
        weft_arena_reset(tmp, mark);
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

double fmap_loss(const fmap_task *fmap, double loss)
{
    const weft_data *data = fmap->env.data;
    if (!data->target_scale || data->classes > 1) return loss;
    return loss * data->target_scale[0] * data->target_scale[0];
}
