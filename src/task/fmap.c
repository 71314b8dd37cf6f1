/* Task fmap: one shared linear model over many feature maps. A job is one fit: every
 * training sample draws its map from the mixture, the model is fitted to all of them, and
 * the maps are scored on the validation samples, which are divided among them (`split`),
 * scored by each (`full`), or by as many of them as cost little beside the fit (`auto`). k
 * = 1 is an ordinary fit of one map. State of a trial: [statistics of the
 * features][weights, class-major][intercepts]. Khodak, Li, Roberts, Balcan, Talwalkar,
 * "Weight-sharing beyond neural architecture search", SysML 2019. Called by the scheduler.
 */
#include "weft/task.h"

#include <math.h>
#include <string.h>

enum { AUTO, SPLIT, FULL };

/* What scoring may cost in a round, as a share of the fit; and samples a map that are
 * enough: the standard error of its error rate is then at most 0.5 / sqrt 400, 2.5 points.
 */
#define SCORING 0.3
#define TELL    400

typedef struct fmap {
    const char *feature_name, *model_name;
    int validation, by_error;
    double slack;
    const weft_feature *feature;
    const weft_model *model;
    void *map;    /* the feature map's instance; arms are copies of it */
    void *solver; /* the instance of the model */
    weft_env env;
    int64_t nstat, columns; /* columns at full size */
    int outputs;
} fmap;

static const weft_opt fmap_opts[] = {
    {.name = "feature",
     .type = WEFT_TEXT,
     .at = offsetof(fmap, feature_name),
     .def = "rff",
     .about = "feature map: rff (dense rows) or ngram (documents)"},
    {.name = "model",
     .type = WEFT_TEXT,
     .at = offsetof(fmap, model_name),
     .def = "ridge",
     .about = "linear model: ridge, logistic or svm"},
    {.name = "validation",
     .type = WEFT_CHOICE,
     .at = offsetof(fmap, validation),
     .def = "auto",
     .words = "auto|split|full",
     .about =
         "validation samples: divided among the maps, all scored by each map, or by as "
         "many maps as cost little beside the fit"},
    {.name = "score",
     .type = WEFT_CHOICE,
     .at = offsetof(fmap, by_error),
     .def = "accuracy",
     .words = "loss|accuracy",
     .about = "what maps are compared by: mean loss or error rate"},
    {.name = "slack",
     .type = WEFT_REAL,
     .at = offsetof(fmap, slack),
     .def = "3",
     .lo = 1,
     .hi = 1000,
     .about = "tolerance of fits that maps share, over the model's own"},
    {0}};

/* The maps of a job: instances with their configurations written in, and where draws fall.
 */
typedef struct arms {
    int k;
    const void **arm; /* [k] */
    double *p, *cum;  /* [k] probabilities, cumulated */
} arms;

static weft_status fmap_tuned(void *self, const weft_kind *kind[WEFT_MOST_TUNED], int *n)
{
    fmap *t = self;
    TRY(weft_feature_find(t->feature_name, &t->feature));
    TRY(weft_model_find(t->model_name, &t->model));
    kind[0] = &t->feature->kind;
    *n = 1;
    return WEFT_OK;
}

/* What fits of so many columns take beside the matrix, bytes a rank. ELIMIT. */
static weft_status fit_memory(const fmap *t, int64_t columns, double allowed, double *bytes)
{
    *bytes = 0;
    if (!t->feature->gram || !t->model->memory) return WEFT_OK;
    const weft_matrix f = {
        .d = columns, .total = t->env.data->part[WEFT_TRAIN].total, .team = t->env.team};
    return t->model->memory(t->solver, &f, allowed, bytes);
}

static weft_status fmap_setup(void *self, const weft_env *env)
{
    fmap *t = self;
    if (env->data->clients != NULL || env->data->form == WEFT_CHARS)
        return weft_fail(WEFT_EDATA,
                         "%s is a federation, and task fmap selects feature maps on one "
                         "data set; use task fed, or pack without clients",
                         env->data->path);
    t->env = *env;
    t->map = weft_arena_get(env->mem, 1, t->feature->kind.size);
    t->solver = weft_arena_get(env->mem, 1, t->model->kind.size);
    TRY(weft_conf_bind(env->conf, &t->feature->kind, t->map));
    TRY(weft_conf_bind(env->conf, &t->model->kind, t->solver));
    t->columns = t->feature->columns(t->map, 1.0);
    double taken;
    TRY(fit_memory(t, t->columns, env->memory, &taken));
    TRY(t->feature->setup(t->map, env->data, env->memory - taken, env->seed, env->mem));
    t->nstat = t->feature->nstat(t->map);
    t->outputs = t->model->outputs(env->data->classes);
    return WEFT_OK;
}

static int64_t fmap_nstate(const void *self, int k)
{
    const fmap *t = self;
    (void)k;
    return t->nstat + t->outputs * (t->columns + 1);
}

static int fmap_tensors(const void *self, double size, weft_tensor out[WEFT_MOST_TENSORS])
{
    const fmap *t = self;
    const int64_t d = t->feature->columns(t->map, size);
    int n = 0;
    if (t->nstat > 0) out[n++] = (weft_tensor){"statistics", 0, 1, {t->nstat}};
    out[n++] = (weft_tensor){"weights", t->nstat, 2, {t->outputs, d}};
    out[n++] = (weft_tensor){"intercepts", t->nstat + t->outputs * d, 1, {t->outputs}};
    return n;
}

static void fmap_start(const void *self, const weft_job *job, real *state)
{
    memset(state, 0, (size_t)fmap_nstate(self, job->mix.k) * sizeof *state);
}

static const void *arm_new(const fmap *t, const double *conf, weft_arena *mem)
{
    void *arm = weft_arena_get(mem, 1, t->feature->kind.size);
    memcpy(arm, t->map, t->feature->kind.size);
    weft_space_put(t->env.space, conf, &t->feature->kind, arm);
    return arm;
}

static arms arms_new(const fmap *t, const weft_mix *m, weft_arena *mem)
{
    arms a = {.k = m->k};
    a.arm = WEFT_NEW(mem, const void *, m->k);
    a.p = WEFT_NEW(mem, double, m->k);
    a.cum = WEFT_NEW(mem, double, m->k);
    for (int i = 0; i < m->k; i++) {
        a.arm[i] = arm_new(t, m->conf + (size_t)i * m->dim, mem);
        a.p[i] = exp(m->logp[i]);
    }
    weft_mix_cumulate(m, a.cum);
    return a;
}

/* Which map each local row of a part draws: a function of (seed, trial, round, sample). In
 * later passes the draw is moved on by `shift`, a part of the unit interval. */
static const int *draw_arms(const fmap *t, const weft_job *job, const arms *a,
                            weft_part part, double shift, weft_arena *mem)
{
    if (a->k == 1) return NULL;
    const weft_rows *rows = &t->env.data->part[part];
    const weft_purpose purpose = part == WEFT_TRAIN ? WEFT_RNG_ASSIGN : WEFT_RNG_VALID;
    int *arm = WEFT_NEW(mem, int, rows->n);
    for (int64_t i = 0; i < rows->n; i++) {
        const weft_rng4 r = weft_rng_at(t->env.seed, purpose, (uint64_t)job->trial,
                                        (uint64_t)job->index, (uint64_t)(rows->first + i));
        const double unit = weft_rng_unit(r.v[0]) + shift;
        arm[i] = weft_mix_find(a->cum, a->k, unit < 1 ? unit : unit - 1);
    }
    return arm;
}

static weft_request request(const fmap *t, const weft_job *job, const arms *a,
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

/* Sums over the samples of each arm: losses in units of 2^-scale, wrong answers, samples.
 */
typedef struct tally {
    int64_t *loss, *wrong, *count; /* [k] each, one after the other */
    int scale;
} tally;

static tally tally_new(const fmap *t, int k, weft_part part, int passes, weft_arena *mem)
{
    tally s;
    s.loss = WEFT_NEW(mem, int64_t, 3 * k);
    s.wrong = s.loss + k;
    s.count = s.wrong + k;
    s.scale = weft_fix_scale(t->model->bound(t->solver, t->env.data->classes) * passes *
                             (double)t->env.data->part[part].total);
    return s;
}

/* Adds the samples of one matrix: row i counts for arm[i], or for `only` where arm is NULL.
 */
static void tally_add(const fmap *t, const weft_matrix *f, const real *w,
                      const int32_t *label, const int *arm, int only, tally *s,
                      weft_arena *tmp)
{
    const int classes = t->env.data->classes;
    const double bound = t->model->bound(t->solver, classes);
    const real *intercept = w + t->outputs * f->d;
    real *z = WEFT_NEW(tmp, real, t->outputs * f->n);
    double *score = WEFT_NEW(tmp, double, t->outputs);
    f->times(f, t->outputs, w, z);
    for (int64_t i = 0; i < f->n; i++) {
        for (int j = 0; j < t->outputs; j++)
            score[j] = (double)z[j * f->n + i] + (double)intercept[j];
        int wrong = 0;
        const double loss = t->model->loss(t->solver, classes, score, label[i], &wrong);
        const int to = arm ? arm[i] : only;
        s->loss[to] +=
            weft_fix(loss < bound ? loss : bound, s->scale); /* NaN counts as bound */
        s->wrong[to] += wrong;
        s->count[to]++;
    }
}

/* Each sample of the part is scored by as many maps as there are passes: those that it
 * draws by systematic sampling, so by different ones where none has more than a share
 * 1 / passes of the probability. */
static void score_split(fmap *t, const weft_job *job, const arms *a, real *state,
                        weft_part part, int passes, tally *s, weft_arena *tmp)
{
    for (int e = 0; e < passes; e++) {
        const size_t mark = weft_arena_mark(tmp);
        weft_request q = request(t, job, a, part);
        q.arm = draw_arms(t, job, a, part, (double)e / passes, tmp);
        weft_matrix f;
        t->feature->matrix(t->map, &q, 0, state, &f, tmp);
        tally_add(t, &f, state + t->nstat, t->env.data->part[part].label, q.arm, 0, s, tmp);
        weft_arena_reset(tmp, mark);
    }
}

/* Each sample of the part is scored by every map that is alive, or by all that a job asks
 * for; maps that share work are taken one after the other. */
static void score_full(fmap *t, const weft_job *job, const arms *a, real *state,
                       weft_part part, tally *s, weft_arena *tmp)
{
    int *todo = WEFT_NEW(tmp, int, a->k);
    int n = 0;
    for (int i = 0; i < a->k; i++)
        if (job->score_eliminated || a->p[i] > 0) {
            int at = n++;
            const int64_t mine = t->feature->affinity(t->map, a->arm[i]);
            for (; at > 0 && t->feature->affinity(t->map, a->arm[todo[at - 1]]) > mine;
                 at--)
                todo[at] = todo[at - 1];
            todo[at] = i;
        }
    for (int e = 0; e < n; e++) {
        const size_t mark = weft_arena_mark(tmp);
        const int i = todo[e];
        weft_request q = request(t, job, a, part);
        q.narm = 1;
        q.arms = a->arm + i;
        q.id = job->mix.id + i;
        weft_matrix f;
        t->feature->matrix(t->map, &q, 0, state, &f, tmp);
        tally_add(t, &f, state + t->nstat, t->env.data->part[part].label, NULL, i, s, tmp);
        weft_arena_reset(tmp, mark);
    }
}

/* Mean loss and error under the mixture; adds the sums over ranks. Collective. */
static void tally_close(fmap *t, const arms *a, int split, tally *s, double *loss,
                        double *error)
{
    weft_sum_i64(t->env.team, s->loss, 3 * (size_t)a->k);
    double sum = 0, wrong = 0, weight = 0;
    for (int i = 0; i < a->k; i++) {
        if (s->count[i] == 0) continue;
        const double share = split ? 1 : a->p[i] / (double)s->count[i];
        sum += share * weft_unfix(s->loss[i], s->scale);
        wrong += share * (double)s->wrong[i];
        weight += share * (double)s->count[i];
    }
    *loss = weight > 0 ? sum / weight : INFINITY;
    *error = weight > 0 ? wrong / weight : 1;
}

/* Fits the shared model to the training samples, each seen through the map it draws. */
static weft_fitted fit(fmap *t, const weft_job *job, const arms *a, real *state)
{
    weft_arena *tmp = weft_arena_new();
    weft_request q = request(t, job, a, WEFT_TRAIN);
    q.arm = draw_arms(t, job, a, WEFT_TRAIN, 0, tmp);
    weft_matrix f;
    t->feature->matrix(t->map, &q, 1, state, &f, tmp);
    weft_fitted fitted = {0};
    t->model->fit(t->solver, &f, t->env.data->part[WEFT_TRAIN].label, t->env.data->classes,
                  a->k > 1 ? t->slack : 1, state + t->nstat, &fitted, tmp);
    weft_arena_free(tmp);
    return fitted;
}

/* What a job takes by the estimates of its feature map, not by any clock: so it is the same
 * on every machine, and what follows from it too. */
typedef struct work {
    double fit, pass; /* operations: of the fit; of scoring each validation sample once */
    double memory;    /* bytes of the matrix, over all ranks */
    int maps;         /* that the job asks to be scored */
} work;

#define PASSES 40 /* products with the training matrix that a fit is taken to make */

static work work_of(const fmap *t, const weft_job *job, const arms *a)
{
    const weft_rows *part = t->env.data->part;
    work w = {0};
    for (int i = 0; i < a->k; i++) {
        w.maps += job->score_eliminated || a->p[i] > 0;
        if (!(a->p[i] > 0)) continue;
        double flops, bytes, n;
        t->feature->estimate(t->map, a->arm[i], (double)part[WEFT_TRAIN].total,
                             job->feature_fraction, &flops, &bytes, &n);
        w.fit += a->p[i] * (flops + PASSES * 4 * n * t->outputs);
        w.memory += a->p[i] * bytes;
        t->feature->estimate(t->map, a->arm[i], (double)part[WEFT_VALID].total,
                             job->feature_fraction, &flops, &bytes, &n);
        w.pass += a->p[i] * (flops + 2 * n * t->outputs);
    }
    return w;
}

/* By how many maps each validation sample is scored. Scores of few samples cannot tell maps
 * apart, and scoring often costs little beside a fit that visits every sample many times:
 * auto takes as many maps as give each of them TELL samples, if SCORING of the fit buys so
 * many; at least the one map of split validation, and at most all of full. */
static int passes_of(const fmap *t, const work *w)
{
    if (t->validation == SPLIT) return 1;
    if (t->validation == FULL) return w->maps;
    const double samples = (double)t->env.data->part[WEFT_VALID].total;
    const double wanted = fmin(ceil(TELL * w->maps / samples), w->maps);
    return (int)fmax(1, fmin(wanted, floor(SCORING * w->fit / w->pass)));
}

static weft_status fmap_step(void *self, const weft_job *job, int64_t unit, real *state,
                             weft_round *row, double *z, weft_result *res)
{
    fmap *t = self;
    (void)unit;
    (void)row;
    (void)z;
    weft_arena *tmp = weft_arena_new();
    const arms a = arms_new(t, &job->mix, tmp);
    const weft_fitted fitted =
        job->resource > 0 ? fit(t, job, &a, state) : (weft_fitted){0};
    const work w = work_of(t, job, &a);
    const int passes = passes_of(t, &w), full = passes == w.maps && passes > 1;
    tally s = tally_new(t, a.k, WEFT_VALID, full ? 1 : passes, tmp);
    if (full)
        score_full(t, job, &a, state, WEFT_VALID, &s, tmp);
    else
        score_split(t, job, &a, state, WEFT_VALID, passes, &s, tmp);
    tally_close(t, &a, !full, &s, &res->valid_loss, &res->valid_error);
    for (int i = 0; i < a.k; i++) {
        res->arm_loss[i] = weft_unfix(s.loss[i], s.scale);
        res->arm_wrong[i] = (double)s.wrong[i];
        res->arm_count[i] = (double)s.count[i];
    }
    res->by_error = t->by_error;
    res->loss = t->by_error ? res->valid_error : res->valid_loss;
    if (fitted.diverged) res->loss = INFINITY;
    res->train_loss = fitted.objective;
    res->residual = fitted.residual;
    res->iterations = fitted.iterations;
    res->cost = job->resource;
    weft_arena_free(tmp);
    return WEFT_OK;
}

static weft_status fmap_score(void *self, const weft_job *job, const real *state,
                              weft_part part, weft_scores *out)
{
    fmap *t = self;
    weft_arena *tmp = weft_arena_new();
    const arms a = arms_new(t, &job->mix, tmp);
    const size_t n = (size_t)fmap_nstate(t, a.k);
    real *own = WEFT_NEW(tmp, real, n);
    memcpy(own, state, n * sizeof *own);
    tally s = tally_new(t, a.k, part, 1, tmp);
    score_split(t, job, &a, own, part, 1, &s, tmp);
    *out = (weft_scores){.personal_loss = NAN,
                         .personal_error = NAN,
                         .count = (double)t->env.data->part[part].total};
    tally_close(t, &a, 1, &s, &out->loss, &out->error);
    weft_arena_free(tmp);
    return WEFT_OK;
}

static int64_t fmap_affinity(const void *self, const weft_job *job)
{
    const fmap *t = self;
    if (job->mix.k > 1) return -1;
    weft_arena *tmp = weft_arena_new();
    const int64_t a = t->feature->affinity(t->map, arm_new(t, job->mix.conf, tmp));
    weft_arena_free(tmp);
    return a;
}

/* Making the matrices and products with the training matrix; sums of d columns; memory of
 * the matrix, of vectors, and of what the model factors. */
static void fmap_cost(const void *self, const weft_job *job, weft_cost *out)
{
    const fmap *t = self;
    const double ranks = t->env.team->size, d = (double)t->columns * job->feature_fraction;
    weft_arena *tmp = weft_arena_new();
    const arms a = arms_new(t, &job->mix, tmp);
    const work w = work_of(t, job, &a);
    const int passes = passes_of(t, &w);
    *out = (weft_cost){.flops = w.fit + passes * w.pass,
                       .bytes = ranks > 1 ? PASSES * 8 * d * t->outputs * ranks : 0,
                       .passes = PASSES};
    double factor;
    const weft_status any = fit_memory(t, (int64_t)d, INFINITY, &factor);
    out->memory = w.memory / ranks + 8 * 6 * d * t->outputs + (any == WEFT_OK ? factor : 0);
    weft_arena_free(tmp);
}

extern const weft_task weft_task_fmap;
const weft_task weft_task_fmap = {
    .kind = {.name = "fmap",
             .about = "select a feature map: a linear model shared by many maps",
             .size = sizeof(fmap),
             .opts = fmap_opts},
    .tuner = "ws_sha",
    .resource = 1,
    .tuned = fmap_tuned,
    .setup = fmap_setup,
    .nstate = fmap_nstate,
    .tensors = fmap_tensors,
    .start = fmap_start,
    .affinity = fmap_affinity,
    .cost = fmap_cost,
    .step = fmap_step,
    .score = fmap_score,
};
