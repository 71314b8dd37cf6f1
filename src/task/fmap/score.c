/* Maps of a job, and which of them each sample draws; scores of samples by maps. */
#include "score.h"

#include <math.h>
#include <string.h>

/* ---- maps ---- */

const void *fmap_arm(const fmap *t, const double *conf, weft_arena *mem)
{
    void *arm = weft_arena_alloc(mem, 1, t->feature->kind.size);
    memcpy(arm, t->map, t->feature->kind.size);
    weft_space_put(t->env.space, conf, &t->feature->kind, arm);
    return arm;
}

const void *fmap_solver(const fmap *t, const double *conf, weft_arena *mem)
{
    void *solver = weft_arena_alloc(mem, 1, t->model->kind.size);
    memcpy(solver, t->solver, t->model->kind.size);
    weft_space_put(t->env.space, conf, &t->model->kind, solver);
    return solver;
}

fmap_arms fmap_arms_new(const fmap *t, const weft_mix *m, weft_arena *mem)
{
    fmap_arms a = {.k = m->k};
    a.solver = fmap_solver(t, m->conf, mem);
    a.arm = WEFT_NEW(mem, const void *, m->k);
    a.p = WEFT_NEW(mem, double, m->k);
    a.cum = WEFT_NEW(mem, double, m->k);
    for (int i = 0; i < m->k; i++) {
        a.arm[i] = fmap_arm(t, m->conf + (size_t)i * m->dim, mem);
        a.p[i] = exp(m->logp[i]);
    }
    weft_mix_cumulate(m, a.cum);
    return a;
}

const int *fmap_draw(const fmap *t, const weft_job *job, const fmap_arms *a, weft_part part,
                     double shift, weft_arena *mem)
{
    if (a->k == 1) return NULL;
    const weft_rows *rows = &t->env.data->part[part];
    weft_purpose purpose = part == WEFT_TRAIN ? WEFT_RNG_ASSIGN : WEFT_RNG_VALID;
    int *arm = WEFT_NEW(mem, int, rows->n);
    for (int64_t i = 0; i < rows->n; i++) {
        weft_rng4 r = weft_rng_at(t->env.seed, purpose, (uint64_t)job->trial,
                                  (uint64_t)job->index, (uint64_t)(rows->first + i));
        double unit = weft_rng_unit(r.v[0]) + shift;
        arm[i] = weft_mix_find(a->cum, a->k, unit < 1 ? unit : unit - 1);
    }
    return arm;
}

weft_request fmap_request(const fmap *t, const weft_job *job, const fmap_arms *a,
                          weft_part part)
{
    return (weft_request){.part = part,
                          .n = t->env.data->part[part].n,
                          .narm = a->k,
                          .arms = a->arm,
                          .id = job->mix.id,
                          .size = job->feature_fraction,
                          .seed = t->env.seed};
}

/* ---- scores ---- */

fmap_tally fmap_tally_new(const fmap *t, const fmap_arms *a, weft_part part, int passes,
                          weft_arena *mem)
{
    fmap_tally s;
    s.loss = WEFT_NEW(mem, int64_t, 3 * a->k);
    s.wrong = s.loss + a->k;
    s.count = s.wrong + a->k;
    s.scale = weft_fix_scale(t->model->bound(a->solver, t->env.data->classes) * passes *
                             (double)t->env.data->part[part].total);
    return s;
}

/* Adds the samples of one matrix: row i counts for arm[i], or for `only` where arm is NULL.
 */
static void tally_add(const fmap *t, const fmap_arms *a, const weft_matrix *f,
                      const real *w, const int32_t *label, const int *arm, int only,
                      fmap_tally *s, weft_arena *tmp)
{
    int classes = t->env.data->classes;
    double bound = t->model->bound(a->solver, classes);
    const real *intercept = w + t->outputs * f->d;
    real *z = WEFT_NEW(tmp, real, t->outputs * f->n);
    double *score = WEFT_NEW(tmp, double, t->outputs);
    f->times(f, t->outputs, w, z);
    for (int64_t i = 0; i < f->n; i++) {
        for (int j = 0; j < t->outputs; j++)
            score[j] = (double)z[j * f->n + i] + (double)intercept[j];
        int wrong = 0;
        double loss = t->model->loss(a->solver, classes, score, label[i], &wrong);
        int to = arm ? arm[i] : only;
        s->loss[to] +=
            weft_fix(loss < bound ? loss : bound, s->scale); /* NaN counts as bound */
        s->wrong[to] += wrong;
        s->count[to]++;
    }
}

void fmap_score_split(fmap *t, const weft_job *job, const fmap_arms *a, real *x,
                      weft_part part, int passes, fmap_tally *s, weft_arena *tmp)
{
    for (int e = 0; e < passes; e++) {
        size_t mark = weft_arena_mark(tmp);
        weft_request q = fmap_request(t, job, a, part);
        q.arm = fmap_draw(t, job, a, part, (double)e / passes, tmp);
        weft_matrix f;
        t->feature->matrix(t->map, &q, 0, x, &f, tmp);
        tally_add(t, a, &f, x + t->nstat, t->env.data->part[part].label, q.arm, 0, s, tmp);
        weft_arena_reset(tmp, mark);
    }
}

void fmap_score_full(fmap *t, const weft_job *job, const fmap_arms *a, real *x,
                     weft_part part, fmap_tally *s, weft_arena *tmp)
{
    int *todo = WEFT_NEW(tmp, int, a->k);
    int n = 0;
    for (int i = 0; i < a->k; i++)
        if (job->score_eliminated || a->p[i] > 0) {
            int at = n++;
            int64_t mine = t->feature->affinity(t->map, a->arm[i]);
            for (; at > 0 && t->feature->affinity(t->map, a->arm[todo[at - 1]]) > mine;
                 at--)
                todo[at] = todo[at - 1];
            todo[at] = i;
        }
    for (int e = 0; e < n; e++) {
        size_t mark = weft_arena_mark(tmp);
        int i = todo[e];
        weft_request q = fmap_request(t, job, a, part);
        q.narm = 1;
        q.arms = a->arm + i;
        q.id = job->mix.id + i;
        weft_matrix f;
        t->feature->matrix(t->map, &q, 0, x, &f, tmp);
        tally_add(t, a, &f, x + t->nstat, t->env.data->part[part].label, NULL, i, s, tmp);
        weft_arena_reset(tmp, mark);
    }
}

void fmap_tally_close(fmap *t, const fmap_arms *a, int split, fmap_tally *s, double *loss,
                      double *error)
{
    weft_sum_i64(t->env.team, s->loss, 3 * (size_t)a->k);
    double sum = 0, wrong = 0, weight = 0;
    for (int i = 0; i < a->k; i++) {
        if (s->count[i] == 0) continue;
        double share = split ? 1 : a->p[i] / (double)s->count[i];
        sum += share * weft_unfix(s->loss[i], s->scale);
        wrong += share * (double)s->wrong[i];
        weight += share * (double)s->count[i];
    }
    *loss = weight > 0 ? sum / weight : INFINITY;
    *error = weight > 0 ? wrong / weight : 1;
}
