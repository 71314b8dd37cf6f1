/* Task flow: gradient flow, gradient descent and ridge regression on least squares, whose
 * risk at every time is known in closed form. Early stopping of the first two acts like the
 * penalty of the third. Losses are exact, so it is an oracle for schedules of many
 * fidelities: the regret of a search is computed, not estimated, and curves of
 * configurations cross (a small step looks worse early). A unit of resource is one step of
 * descent, or the time `step` of the flow that it discretises: with step 1, resource is
 * time. State of a trial: its present coefficients, as tensors, and the doubles that later
 * jobs need. */
#include "flow.h"
#include "task/parts.h"
#include "weft/base/base.h"
#include "weft/base/random.h"

#include <math.h>
#include <string.h>

enum { POWER, EXPONENTIAL, DATA };

typedef struct flow_task {
    int spectrum, prediction;
    double decay, signal_decay, sigma, noise, seconds, spread;
    int64_t p, n;
    flow_setting set; /* of options that are not axes */
    const char *response;
    weft_env env;
    flow_problem problem;
    flow_data data; /* spectrum = data */
} flow_task;

static const weft_opt flow_opts[] = {
    WEFT_CHOICE_OPT(
        "spectrum", flow_task, spectrum, "power", "power|exponential|data",
        "eigenvalues of X^T X / n, i = 1 .. p: i^-decay (power), exp(-decay (i "
        "- 1)), or those of the centred training rows of run.data, divided by the "
        "largest, so that descent diverges above step 2"),
    WEFT_REAL_OPT("decay", flow_task, decay, "1", 0, 100,
                  "decay of the eigenvalues, if not from data"),
    WEFT_LONG_OPT("p", flow_task, p, "50", 1, 1e6, "number of features, if not from data"),
    WEFT_LONG_OPT("n", flow_task, n, "100", 1, 1e12,
                  "number of samples, if not from data; s_i = 0 for i > n"),
    WEFT_REAL_OPT(
        "signal_decay", flow_task, signal_decay, "0", -100, 100,
        "|beta_0| = 1, if not from data: (v_i^T beta_0)^2 decays as i^-signal_decay; 0: "
        "all equal; for data beta_0 is the least squares fit"),
    WEFT_REAL_OPT("sigma", flow_task, sigma, "-1", -1, 1e100,
                  "standard deviation of the noise of responses; auto: 1, or that of the "
                  "residuals of the least squares fit to data",
                  .words = "auto"),
    WEFT_TEXT_OPT("response", flow_task, response, "label",
                  "response for data: label (the number of the class), or name or number "
                  "of a column, which then is not a feature"),
    WEFT_CHOICE_OPT(
        "loss", flow_task, prediction, "estimation", "estimation|prediction",
        "mean over the noise of |b - beta_0|^2 or, in the sample, |X (b - beta_0)|^2 / n"),
    WEFT_CHOICE_OPT("method", flow_task, set.method, "descent", "flow|descent|ridge",
                    "gradient flow or gradient descent, both from 0, or their limit, ridge "
                    "regression, at once",
                    .role = WEFT_PER_TRIAL),
    WEFT_REAL_OPT("step", flow_task, set.step, "1", 0, 1e12,
                  "step size of descent; time of flow per unit of resource",
                  .role = WEFT_PER_TRIAL),
    WEFT_REAL_OPT("lambda", flow_task, set.lambda, "0", 0, 1e12,
                  "penalty: |y - X b|^2 / n + lambda |b|^2", .role = WEFT_PER_TRIAL),
    WEFT_LONG_OPT(
        "features", flow_task, set.features, "0", 0, 1e6,
        "number of principal directions that are fitted, those of the largest s_i",
        .words = "all", .role = WEFT_PER_TRIAL),
    WEFT_REAL_OPT("noise", flow_task, noise, "0", 0, 1e100,
                  "standard deviation of normal noise on the loss that a tuner is told"),
    WEFT_REAL_OPT("seconds", flow_task, seconds, "1", 0, 1e9,
                  "virtual seconds per unit of resource, the mean over trials"),
    WEFT_REAL_OPT(
        "spread", flow_task, spread, "0", 0, 10,
        "standard deviation of the logarithm of a trial's virtual seconds for a unit"),
    {0},
};

static const weft_when flow_when[] = {{"response", "spectrum", "data"}, {0}};

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

static void make_problem(flow_task *flow)
{
    flow_problem *problem = &flow->problem;
    problem->p = flow->p;
    problem->n = flow->n;
    problem->m = (int)flow->p;
    problem->s = WEFT_NEW(flow->env.mem, double, problem->m);
    problem->c = WEFT_NEW(flow->env.mem, double, problem->m);
    if (problem->variance < 0) problem->variance = 1;
    double sum = 0;
    for (int i = 0; i < problem->m; i++) {
        double s =
            flow->spectrum == POWER ? pow(i + 1, -flow->decay) : exp(-flow->decay * i);
        problem->s[i] = i < flow->n ? s : 0;
        problem->c[i] = pow(i + 1, -flow->signal_decay);
        sum += problem->c[i];
    }
    for (int i = 0; i < problem->m; i++) problem->c[i] *= 1 / sum;
}

static weft_status flow_setup(void *self, const weft_env *env)
{
    flow_task *flow = self;
    flow->env = *env;
    flow->problem.variance = flow->sigma < 0 ? -1 : flow->sigma * flow->sigma;
    flow->problem.weight = flow->prediction;
    if (flow->spectrum == DATA && !env->data)
        return weft_fail(WEFT_ECONF,
                         "flow.spectrum = data, but no data set is named; give run.data = "
                         "FILE.h5, made by `weft pack`, or another spectrum");
    if (flow->spectrum != DATA && env->data)
        return weft_fail(WEFT_ECONF,
                         "run.data = %s: nothing in this run reads it; take it out, or "
                         "choose flow.spectrum = data",
                         env->data->path);
    if (flow->spectrum != DATA) {
        make_problem(flow);
        return WEFT_OK;
    }
    TRY(flow_data_open(&flow->data, env, flow->response, &flow->problem));
    weft_log(WEFT_INFO,
             "%lld samples of %lld features; largest eigenvalue %.6g (all are divided by "
             "it), noise of standard "
             "deviation %.6g",
             (long long)flow->problem.n, (long long)flow->problem.p, flow->data.unit,
             sqrt(flow->problem.variance));
    return WEFT_OK;
}

/* ---- the state of a trial ---- */

/* The beginning of the doubles of a trial's state; then follow the gains [m] at the time
 * at which it got its present setting. Bits do not depend on how training is divided into
 * jobs. */
struct progress {
    double trained;                        /* units trained; 0: none yet */
    double method, step, lambda, features; /* the setting */
    double units;                          /* units with this setting */
};

enum { NPROGRESS = sizeof(struct progress) / sizeof(double) };

/* Numbers of coefficients in the state, and their intercept. */
static int64_t weights_of(const flow_task *flow)
{
    return flow->spectrum == DATA ? flow->data.d + 1 : 0;
}

static int64_t tensors_size(const flow_task *flow)
{
    return weights_of(flow) + 3 * (int64_t)flow->problem.m + 1;
}

static void flow_nstate(const void *self, const weft_job *job, weft_state *size)
{
    const flow_task *flow = self;
    (void)job;
    size->nx = tensors_size(flow);
    size->naux = NPROGRESS + flow->problem.m;
}

static int flow_tensors(const void *self, const weft_job *job,
                        weft_tensor out[WEFT_MAX_TENSORS])
{
    const flow_task *flow = self;
    int64_t m = flow->problem.m, at = weights_of(flow);
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

static flow_setting setting_in(const struct progress *progress)
{
    return (flow_setting){(int)progress->method, progress->step, progress->lambda,
                          (int64_t)progress->features};
}

static int same_setting(const flow_setting *a, const flow_setting *b)
{
    return a->method == b->method && !(fabs(a->step - b->step) > 0) &&
           !(fabs(a->lambda - b->lambda) > 0) && a->features == b->features;
}

static flow_setting setting_of(const flow_task *flow, const weft_job *job)
{
    return flow_setting_of(flow->env.space, job->mix.conf, &flow->set);
}

/* Writes the present coefficients of the trial. Collective. */
static void show_state(flow_task *flow, const double *gain, real *x, weft_arena *tmp)
{
    const flow_problem *problem = &flow->problem;
    int64_t at = weights_of(flow);
    if (at > 0) {
        double *weight = WEFT_NEW(tmp, double, at);
        flow_data_weights(&flow->data, problem, gain, weight, &weight[at - 1]);
        for (int64_t i = 0; i < at; i++) x[i] = (real)weight[i];
    }
    for (int i = 0; i < problem->m; i++) {
        x[at + i] = (real)gain[i];
        x[at + problem->m + i] = (real)problem->s[i];
        x[at + 2 * problem->m + i] = (real)problem->c[i];
    }
    x[at + 3 * (int64_t)problem->m] = (real)(problem->variance / (double)problem->n);
}

/* ---- jobs ---- */

/* Standard normal of a trial at a point of its training. */
static double normal(const flow_task *flow, const weft_job *job, weft_purpose purpose,
                     double at)
{
    uint64_t bits;
    double z[2];
    memcpy(&bits, &at, sizeof bits);
    weft_rng4 rng = weft_rng_at(flow->env.seed, purpose, (uint64_t)job->trial, bits, 0);
    weft_rng_normal_pair(&rng, z);
    return z[0];
}

/* Virtual seconds of a job: log-normal of its trial. */
static double seconds_of(const flow_task *flow, const weft_job *job)
{
    double z = flow->spread > 0 ? normal(flow, job, WEFT_RNG_DEVICE, 0) : 0;
    return job->resource * flow->seconds * exp(flow->spread * (z - flow->spread / 2));
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
static void train(const flow_task *flow, const weft_job *job, weft_state *state,
                  double *gain)
{
    const flow_problem *problem = &flow->problem;
    struct progress *progress = (struct progress *)state->aux;
    double *base = state->aux + NPROGRESS;
    flow_setting set = setting_of(flow, job), was = setting_in(progress);
    if (!same_setting(&was, &set) || !(progress->trained > 0)) {
        flow_train(problem, &was, progress->units, base, base);
        *progress = (struct progress){.trained = progress->trained,
                                      .method = (double)set.method,
                                      .step = set.step,
                                      .lambda = set.lambda,
                                      .features = (double)set.features};
    }
    progress->units += job->resource;
    progress->trained += job->resource;
    flow_train(problem, &set, progress->units, base, gain);
}

static weft_status flow_step(void *self, const weft_job *job, int64_t unit,
                             weft_state *state, double *row, weft_result *res)
{
    flow_task *flow = self;
    (void)unit;
    (void)row;
    weft_check(job->mix.k == 1, "%d configurations", job->mix.k);
    const flow_problem *problem = &flow->problem;
    WEFT_SCRATCH(tmp);
    flow_setting set = setting_of(flow, job);
    double *gain = WEFT_NEW(tmp, double, problem->m);
    train(flow, job, state, gain);
    double trained = ((const struct progress *)state->aux)->trained;
    double risk = flow_risk(problem, gain);
    if (!isfinite(risk)) memset(gain, 0, (size_t)problem->m * sizeof *gain);
    show_state(flow, gain, state->x, tmp);
    double *m = res->metric;
    double loss = m[VALID_LOSS] = risk;
    if (flow->noise > 0) loss += flow->noise * normal(flow, job, WEFT_RNG_VALID, trained);
    m[TRAIN_LOSS] = isfinite(risk) ? flow_training_loss(problem, gain) : INFINITY;
    m[RESIDUAL] = isfinite(risk) ? flow_residual(problem, &set, gain) : INFINITY;
    weft_result_single(res, loss, NAN, seconds_of(flow, job));
    return WEFT_OK;
}

static weft_status flow_score(void *self, const weft_job *job, const weft_state *state,
                              weft_part part, weft_scores *out)
{
    flow_task *flow = self;
    const real *x = state->x;
    (void)job;
    *out = weft_scores_none();
    if (flow->spectrum != DATA) return WEFT_OK;
    WEFT_SCRATCH(tmp);
    out->metric[0] = flow_data_score(&flow->data, part, x, (double)x[flow->data.d], tmp);
    out->count = (double)flow->env.data->part[part].total;
    return weft_agree(weft_data_sound(flow->env.data), flow->env.team);
}

static double flow_optimum_of(const void *self, double resource)
{
    const flow_task *flow = self;
    WEFT_SCRATCH(tmp);
    return flow_optimum(&flow->problem, flow->env.space, &flow->set, resource, tmp);
}

static int64_t flow_resource(const void *self)
{
    (void)self;
    return 100;
}

static void flow_cost(const void *self, const weft_job *job, weft_cost *out)
{
    const flow_task *flow = self;
    double m = flow->problem.m;
    (void)job;
    *out = (weft_cost){.flops = 100 * m, .memory = 8 * 8 * m};
    if (flow->spectrum != DATA) return;
    out->flops += 2 * m * m;
    out->memory += 8 * m * m; /* eigenvectors, on one rank of a team */
}

const weft_task weft_task_flow = {
    .kind = WEFT_KIND("flow", flow_task, flow_opts,
                      "gradient flow, descent and ridge on least squares: exact risks",
                      .when = flow_when),
    .tuner = "random",
    .plan = {.resource = flow_resource, .single = flow_single},
    .traits = {.data = WEFT_DATA_OPTIONAL,
               .metrics = flow_metrics,
               .scores = flow_scores,
               .lost = "which step or range is so large that all trainings diverge"},
    .tuned = flow_tuned,
    .setup = flow_setup,
    .nstate = flow_nstate,
    .winner = {.tensors = flow_tensors, .optimum = flow_optimum_of, .score = flow_score},
    .cost = flow_cost,
    .timing = {.seconds = flow_seconds},
    .step = flow_step,
};
