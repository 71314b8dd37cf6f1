/* Task flow: gradient flow, gradient descent and ridge regression on least squares, whose
 * risk at every time is known in closed form. Early stopping of the first two acts like the
 * penalty of the third. Losses are exact, so it is an oracle for schedules of many
 * fidelities: the regret of a search is computed, not estimated, and curves of
 * configurations cross (a small step looks worse early). A unit of resource is one step of
 * descent, or the time `step` of the flow that it discretises: with step 1, resource is
 * time. State of a trial: its present coefficients, as tensors, and the doubles that later
 * jobs need. */
#include "flow.h"
#include "data.h"
#include "optimum.h"
#include "path.h"

#include <math.h>
#include <string.h>

enum { POWER, EXPONENTIAL, DATA };

typedef struct flow {
    int spectrum, normalize, prediction, method;
    double decay, signal, signal_decay, sigma, step, lambda, noise, seconds, spread;
    int64_t p, n, features;
    const char *response;
    weft_env env;
    flow_problem problem;
    flow_data data; /* spectrum = data */
} flow;

static const weft_opt flow_opts[] = {
    WEFT_CHOICE_OPT("spectrum", flow, spectrum, "power", "power|exponential|data",
                    "eigenvalues s_i of X^T X / n, i = 1 .. p: i^-decay, exp(-decay (i - "
                    "1)), or of the training rows of run.data, centred"),
    WEFT_REAL_OPT("decay", flow, decay, "1", 0, 100,
                  "decay of the eigenvalues, if not from data"),
    WEFT_LONG_OPT("p", flow, p, "50", 1, 1e6, "number of features, if not from data"),
    WEFT_LONG_OPT("n", flow, n, "100", 1, 1e12,
                  "number of samples, if not from data; s_i = 0 for i > n"),
    WEFT_REAL_OPT("signal", flow, signal, "1", 0, 1e100,
                  "|beta_0|, if not from data; for data beta_0 is the least squares fit"),
    WEFT_REAL_OPT(
        "signal_decay", flow, signal_decay, "0", -100, 100,
        "if not from data: (v_i^T beta_0)^2 decays as i^-signal_decay; 0: all equal"),
    WEFT_REAL_OPT("sigma", flow, sigma, "-1", -1, 1e100,
                  "standard deviation of the noise of responses; auto: 1, or that of the "
                  "residuals of the least squares fit to data",
                  .words = "auto"),
    WEFT_TEXT_OPT("response", flow, response, "label",
                  "response for data: label (the number of the class), or name or number "
                  "of a column, which then is not a feature"),
    WEFT_BOOL_OPT(
        "normalize", flow, normalize, "yes",
        "divide eigenvalues of data by the largest, so that descent diverges above step 2"),
    WEFT_CHOICE_OPT(
        "loss", flow, prediction, "estimation", "estimation|prediction",
        "mean over the noise of |b - beta_0|^2 or, in the sample, |X (b - beta_0)|^2 / n"),
    WEFT_CHOICE_OPT("method", flow, method, "descent", "flow|descent|ridge",
                    "gradient flow or gradient descent, both from 0, or their limit, ridge "
                    "regression, at once",
                    .role = WEFT_PER_TRIAL),
    WEFT_REAL_OPT("step", flow, step, "1", 0, 1e12,
                  "step size of descent; time of flow per unit of resource",
                  .role = WEFT_PER_TRIAL),
    WEFT_REAL_OPT("lambda", flow, lambda, "0", 0, 1e12,
                  "penalty: |y - X b|^2 / n + lambda |b|^2", .role = WEFT_PER_TRIAL),
    WEFT_LONG_OPT(
        "features", flow, features, "0", 0, 1e6,
        "number of principal directions that are fitted, those of the largest s_i",
        .words = "all", .role = WEFT_PER_TRIAL),
    WEFT_REAL_OPT("noise", flow, noise, "0", 0, 1e100,
                  "standard deviation of normal noise on the loss that a tuner is told"),
    WEFT_REAL_OPT("seconds", flow, seconds, "1", 0, 1e9,
                  "virtual seconds per unit of resource, the mean over trials"),
    WEFT_REAL_OPT(
        "spread", flow, spread, "0", 0, 10,
        "standard deviation of the logarithm of a trial's virtual seconds for a unit"),
    {0},
};

static const weft_when flow_when[] = {
    {"response", "spectrum", "data"}, {"normalize", "spectrum", "data"}, {0}};

extern const weft_task weft_task_flow;

static const char *flow_single(const void *self)
{
    (void)self;
    return "run.task = flow";
}

static weft_status flow_tuned(void *self, const weft_kind *kind[WEFT_MAX_TUNED], int *n)
{
    (void)self;
    kind[0] = &weft_task_flow.kind;
    *n = 1;
    return WEFT_OK;
}

/* ---- the problem ---- */

static void make_problem(flow *t)
{
    flow_problem *q = &t->problem;
    q->p = t->p;
    q->n = t->n;
    q->m = (int)t->p;
    q->s = WEFT_NEW(t->env.mem, double, q->m);
    q->c = WEFT_NEW(t->env.mem, double, q->m);
    if (q->variance < 0) q->variance = 1;
    double sum = 0;
    for (int i = 0; i < q->m; i++) {
        double s = t->spectrum == POWER ? pow(i + 1, -t->decay) : exp(-t->decay * i);
        q->s[i] = i < t->n ? s : 0;
        q->c[i] = pow(i + 1, -t->signal_decay);
        sum += q->c[i];
    }
    for (int i = 0; i < q->m; i++) q->c[i] *= t->signal * t->signal / sum;
}

static weft_status flow_setup(void *self, const weft_env *env)
{
    flow *t = self;
    t->env = *env;
    t->problem.variance = t->sigma < 0 ? -1 : t->sigma * t->sigma;
    t->problem.weight = t->prediction;
    if (t->spectrum == DATA && !env->data)
        return weft_fail(WEFT_ECONF,
                         "flow.spectrum = data, but no data set is named; give run.data = "
                         "FILE.h5, made by `weft pack`, or another spectrum");
    if (t->spectrum != DATA && env->data)
        return weft_fail(WEFT_ECONF,
                         "run.data = %s: nothing in this run reads it; take it out, or "
                         "choose flow.spectrum = data",
                         env->data->path);
    if (t->spectrum != DATA) {
        make_problem(t);
        return WEFT_OK;
    }
    TRY(flow_data_open(&t->data, env, t->response, t->normalize, &t->problem));
    weft_log(WEFT_INFO,
             "%lld samples of %lld features; largest eigenvalue %.6g%s, noise of standard "
             "deviation %.6g",
             (long long)t->problem.n, (long long)t->problem.p, t->data.unit,
             t->normalize ? " (all are divided by it)" : "", sqrt(t->problem.variance));
    return WEFT_OK;
}

/* ---- the state of a trial ---- */

/* The beginning of the doubles of a trial's state; then follow the gains [m] at the time
 * at which it got its present setting. Bits do not depend on how training is divided into
 * jobs. */
typedef struct progress {
    double trained;                        /* units trained; 0: none yet */
    double method, step, lambda, features; /* the setting */
    double units;                          /* units with this setting */
} progress;

enum { NPROGRESS = sizeof(progress) / sizeof(double) };

/* Numbers of coefficients in the state, and their intercept. */
static int64_t weights_of(const flow *t)
{
    return t->spectrum == DATA ? t->data.d + 1 : 0;
}

static int64_t tensors_size(const flow *t)
{
    return weights_of(t) + 3 * (int64_t)t->problem.m + 1;
}

static void flow_nstate(const void *self, const weft_job *job, weft_state *size)
{
    const flow *t = self;
    (void)job;
    size->nx = tensors_size(t);
    size->naux = NPROGRESS + t->problem.m;
}

static int flow_tensors(const void *self, const weft_job *job,
                        weft_tensor out[WEFT_MAX_TENSORS])
{
    const flow *t = self;
    int64_t m = t->problem.m, at = weights_of(t);
    int n = 0;
    (void)job;
    if (at > 0) {
        out[n++] = (weft_tensor){"weights", 0, 1, {at - 1}};
        out[n++] = (weft_tensor){"intercept", at - 1, 1, {1}};
    }
    out[n++] = (weft_tensor){"gain", at, 1, {m}};
    out[n++] = (weft_tensor){"spectrum", at + m, 1, {m}};
    out[n++] = (weft_tensor){"signal", at + 2 * m, 1, {m}};
    out[n++] = (weft_tensor){"noise", at + 3 * m, 1, {1}};
    return n;
}

static flow_setting setting_in(const progress *b)
{
    return (flow_setting){(int64_t)b->method, b->step, b->lambda, (int64_t)b->features};
}

static int same_setting(const flow_setting *a, const flow_setting *b)
{
    return a->method == b->method && !(fabs(a->step - b->step) > 0) &&
           !(fabs(a->lambda - b->lambda) > 0) && a->features == b->features;
}

static flow_setting setting_of(const flow *t, const weft_job *job)
{
    flow_setting own = {t->method, t->step, t->lambda, t->features};
    return flow_setting_of(t->env.space, job->mix.conf, &own);
}

/* Writes the present coefficients of the trial. Collective. */
static void show_state(flow *t, const double *gain, real *x, weft_arena *tmp)
{
    const flow_problem *q = &t->problem;
    int64_t at = weights_of(t);
    if (at > 0) {
        double *weight = WEFT_NEW(tmp, double, at);
        flow_data_weights(&t->data, q, gain, weight, &weight[at - 1]);
        for (int64_t i = 0; i < at; i++) x[i] = (real)weight[i];
    }
    for (int i = 0; i < q->m; i++) {
        x[at + i] = (real)gain[i];
        x[at + q->m + i] = (real)q->s[i];
        x[at + 2 * q->m + i] = (real)q->c[i];
    }
    x[at + 3 * (int64_t)q->m] = (real)(q->variance / (double)q->n);
}

/* ---- jobs ---- */

/* Standard normal of a trial at a point of its training. */
static double normal(const flow *t, const weft_job *job, weft_purpose purpose, double at)
{
    uint64_t bits;
    double z[2];
    memcpy(&bits, &at, sizeof bits);
    weft_rng4 r = weft_rng_at(t->env.seed, purpose, (uint64_t)job->trial, bits, 0);
    weft_rng_normal_pair(&r, z);
    return z[0];
}

/* Virtual seconds of a job: log-normal of its trial. */
static double seconds_of(const flow *t, const weft_job *job)
{
    double z = t->spread > 0 ? normal(t, job, WEFT_RNG_DEVICE, 0) : 0;
    return job->resource * t->seconds * exp(t->spread * (z - t->spread / 2));
}

static weft_price flow_price(const void *self)
{
    const flow *t = self;
    return t->spread > 0 ? WEFT_PRICE_SECONDS : WEFT_PRICE_UNKNOWN;
}

static double flow_seconds(const void *self, const weft_job *job, double before)
{
    (void)before;
    return seconds_of(self, job);
}

enum { VALID_LOSS, TRAIN_LOSS, RESIDUAL };
static const weft_metric flow_metrics[] = {
    {"valid_loss",
     "risk, the mean over the noise of the data; without the noise of option noise", "loss",
     NULL},
    {"train_loss", "mean over the noise of the mean squared residual", "loss", NULL},
    {"residual", "distance to the end of training, relative to that", "1", NULL},
    {0}};

static const weft_metric flow_scores[] = {
    {"loss", "risk; of data: mean squared error", "loss", "loss"}, {0}};

/* Adds a job's units, with its setting, to the training so far; gain[m]: the gains after
 * it. */
static void train(const flow *t, const weft_job *job, weft_state *state, double *gain)
{
    const flow_problem *q = &t->problem;
    progress *b = (progress *)state->aux;
    double *base = state->aux + NPROGRESS;
    flow_setting set = setting_of(t, job), was = setting_in(b);
    if (!same_setting(&was, &set) || !(b->trained > 0)) {
        flow_train(q, &was, b->units, base, base);
        *b = (progress){.trained = b->trained,
                        .method = (double)set.method,
                        .step = set.step,
                        .lambda = set.lambda,
                        .features = (double)set.features};
    }
    b->units += job->resource;
    b->trained += job->resource;
    flow_train(q, &set, b->units, base, gain);
}

static weft_status flow_step(void *self, const weft_job *job, int64_t unit,
                             weft_state *state, double *row, weft_result *res)
{
    flow *t = self;
    (void)unit;
    (void)row;
    weft_check(job->mix.k == 1, "%d configurations", job->mix.k);
    const flow_problem *q = &t->problem;
    weft_arena *tmp = weft_arena_new();
    flow_setting set = setting_of(t, job);
    double *gain = WEFT_NEW(tmp, double, q->m);
    train(t, job, state, gain);
    double trained = ((const progress *)state->aux)->trained;
    double risk = flow_risk(q, gain);
    if (!isfinite(risk)) memset(gain, 0, (size_t)q->m * sizeof *gain);
    show_state(t, gain, state->x, tmp);
    double *m = res->metric;
    res->loss = m[VALID_LOSS] = risk;
    if (t->noise > 0) res->loss += t->noise * normal(t, job, WEFT_RNG_VALID, trained);
    m[TRAIN_LOSS] = isfinite(risk) ? flow_training_loss(q, gain) : INFINITY;
    m[RESIDUAL] = isfinite(risk) ? flow_residual(q, &set, gain) : INFINITY;
    res->cost = seconds_of(t, job);
    res->arm_count[0] = 1;
    res->arm_loss[0] = res->loss;
    res->arm_wrong[0] = NAN;
    weft_arena_free(tmp);
    return WEFT_OK;
}

static weft_status flow_score(void *self, const weft_job *job, const real *x,
                              weft_part part, weft_scores *out)
{
    flow *t = self;
    (void)job;
    *out = weft_scores_none();
    if (t->spectrum != DATA) return WEFT_OK;
    weft_arena *tmp = weft_arena_new();
    out->metric[0] = flow_data_score(&t->data, part, x, (double)x[t->data.d], tmp);
    out->count = (double)t->env.data->part[part].total;
    weft_arena_free(tmp);
    return weft_agree(weft_data_sound(t->env.data), t->env.team);
}

static double flow_optimum_of(const void *self, double resource)
{
    const flow *t = self;
    flow_setting own = {t->method, t->step, t->lambda, t->features};
    weft_arena *tmp = weft_arena_new();
    double best = flow_optimum(&t->problem, t->env.space, &own, resource, tmp);
    weft_arena_free(tmp);
    return best;
}

static int64_t flow_resource(const void *self)
{
    (void)self;
    return 100;
}

static void flow_cost(const void *self, const weft_job *job, weft_cost *out)
{
    const flow *t = self;
    double m = t->problem.m;
    (void)job;
    *out = (weft_cost){.flops = 100 * m, .memory = 8 * 8 * m};
    if (t->spectrum != DATA) return;
    out->flops += 2 * m * m;
    out->memory += 8 * m * m; /* eigenvectors, on one rank of a team */
}

const weft_task weft_task_flow = {
    .kind = {.name = "flow",
             .about = "gradient flow, descent and ridge on least squares: exact risks",
             .size = sizeof(flow),
             .opts = flow_opts,
             .when = flow_when},
    .tuner = "random",
    .resource = flow_resource,
    .data = WEFT_DATA_OPTIONAL,
    .metrics = flow_metrics,
    .scores = flow_scores,
    .lost = "which step or range is so large that all trainings diverge",
    .single = flow_single,
    .tuned = flow_tuned,
    .setup = flow_setup,
    .nstate = flow_nstate,
    .tensors = flow_tensors,
    .cost = flow_cost,
    .seconds = flow_seconds,
    .price = flow_price,
    .step = flow_step,
    .optimum = flow_optimum_of,
    .score = flow_score,
};
