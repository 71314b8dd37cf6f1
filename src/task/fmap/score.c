/* Maps of a job, and which of them each sample draws; scores of samples by maps. */
#include "score.h"
#include "folds.h"
#include "weft/exact.h"
#include "weft/rng.h"

#include <math.h>
#include <string.h>

/* ---- maps ---- */

const void *fmap_arm(const fmap_task *fmap, const fmap_fold *fold, const double *conf,
                     weft_arena *mem)
{
    void *arm = weft_arena_alloc(mem, 1, fmap->feature->kind.size);
    memcpy(arm, fold->map, fmap->feature->kind.size);
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

fmap_arms fmap_arms_new(const fmap_task *fmap, int fold, const weft_mix *mix,
                        weft_arena *mem)
{
    fmap_arms arms = {.fold = &fmap->fold[fold], .k = mix->k};
    arms.solver = fmap_solver(fmap, mix->conf, mem);
    arms.arm = WEFT_NEW(mem, const void *, mix->k);
    arms.p = WEFT_NEW(mem, double, mix->k);
    arms.cum = WEFT_NEW(mem, double, mix->k);
    for (int i = 0; i < mix->k; i++) {
        arms.arm[i] = fmap_arm(fmap, arms.fold, mix->conf + (size_t)i * mix->dim, mem);
        arms.p[i] = exp(mix->logp[i]);
    }
    weft_mix_cumulate(mix, arms.cum);
    return arms;
}

const int *fmap_draw(const fmap_task *fmap, const weft_job *job, const fmap_arms *arms,
                     weft_part part, double shift, weft_arena *mem)
{
    if (arms->k == 1) return NULL;
    const weft_rows *rows = &arms->fold->data->part[part];
    int64_t first = arms->fold->key + rows->first;
    weft_purpose purpose = part == WEFT_TRAIN ? WEFT_RNG_ASSIGN : WEFT_RNG_VALID;
    int *arm = WEFT_NEW(mem, int, rows->n);
    for (int64_t i = 0; i < rows->n; i++) {
        weft_rng4 rng = weft_rng_at(fmap->env.seed, purpose, (uint64_t)job->trial,
                                    (uint64_t)job->index, (uint64_t)(first + i));
        double unit = weft_rng_unit(rng.v[0]) + shift;
        arm[i] = weft_mix_find(arms->cum, arms->k, unit < 1 ? unit : unit - 1);
    }
    return arm;
}

weft_request fmap_request(const fmap_task *fmap, const weft_job *job, const fmap_arms *arms,
                          weft_part part)
{
    return (weft_request){.part = part,
                          .n = arms->fold->data->part[part].n,
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

void fmap_add_scores(const fmap_task *fmap, const double *output, int of, double *score)
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
        if (tally->score) {
            fmap_add_scores(fmap, score, tally->held ? 1 : fmap->nfold,
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
        size_t mark = weft_arena_mark(tmp);
        weft_request request = fmap_request(fmap, job, arms, part);
        request.arm = fmap_draw(fmap, job, arms, part, (double)e / tally->passes, tmp);
        weft_matrix matrix;
        fmap->feature->matrix(arms->fold->map, &request, 0, x, &matrix, tmp);
        tally_add(fmap, arms, &matrix, x + fmap->nstat, &arms->fold->data->part[part],
                  request.arm, 0, e, tally, tmp);
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
            int64_t mine = fmap->feature->affinity(arms->fold->map, arms->arm[i]);
            for (; at > 0 &&
                   fmap->feature->affinity(arms->fold->map, arms->arm[todo[at - 1]]) > mine;
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
        fmap->feature->matrix(arms->fold->map, &request, 0, x, &matrix, tmp);
        tally_add(fmap, arms, &matrix, x + fmap->nstat, &arms->fold->data->part[part], NULL,
                  i, e, tally, tmp);
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

/* All ranks get the scores that were kept. */
static void join(fmap_task *fmap, fmap_tally *tally)
{
    size_t n = (size_t)(tally->passes * tally->rows);
    weft_join_f64(fmap->env.team, tally->score, n * (size_t)fmap->env.data->classes);
    weft_sum_i32(fmap->env.team, tally->arm, n);
}

weft_predictions fmap_tally_said(fmap_task *fmap, fmap_tally *tally)
{
    join(fmap, tally);
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
    weft_arena *tmp = weft_arena_new();
    join(fmap, tally);
    struct share *share = shares_of(fmap, truth, tally, k, tmp);
    for (int i = 0; i < k; i++) {
        weft_truth own = {.label = share[i].label,
                          .target = truth->target ? share[i].target : NULL,
                          .weight = truth->weight ? share[i].weight : NULL};
        measured[i] = weft_measure_of(measure, &share[i].said, &own);
    }
    weft_arena_free(tmp);
}

double fmap_loss(const fmap_task *fmap, double loss)
{
    const weft_data *data = fmap->env.data;
    if (!data->target_scale || data->classes > 1) return loss;
    return loss * data->target_scale[0] * data->target_scale[0];
}
