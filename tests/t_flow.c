/* Task flow against the closed forms, an independent table, real descent in doubles, draws
 * of the noise and search by brute force.
 *
 * RUN: np=1 np=2 np=4 */
#include "../src/task/flow.h"

#include "weft/registry.h"

#include <math.h>
#include <string.h>

#include "measured.h"
#include "tap.h"

static weft_team team;
static weft_arena *mem;
static const weft_task *const task = &weft_task_flow;

/* ---- the task ----------------------------------------------------------------------- */

typedef struct stand {
    void *self;
    weft_conf conf;
    weft_space space;
    weft_job job;
    weft_result res;
    weft_state state;
} stand;

/* The trial begins again. */
static void afresh(stand *s)
{
    s->state = weft_state_new(task, s->self, &s->job, mem);
}

static weft_status set_up(stand *s, const char *options, weft_data *data)
{
    *s = (stand){.self = weft_arena_get(mem, 1, task->kind.size)};
    weft_conf_init(&s->conf, mem);
    const weft_kind *tuned[WEFT_MOST_TUNED];
    int n = 0;
    TRY(weft_conf_text(&s->conf, "test", options));
    TRY(weft_conf_bind(&s->conf, &task->kind, s->self));
    TRY(task->tuned(s->self, tuned, &n));
    TRY(weft_space_read(&s->space, &s->conf, tuned, n, 1, mem));
    const weft_env env = {.team = &team,
                          .conf = &s->conf,
                          .data = data,
                          .space = &s->space,
                          .seed = 3,
                          .memory = 1e9,
                          .mem = mem};
    TRY(task->setup(s->self, &env));
    const weft_mix mix = weft_mix_new(1, s->space.dim, mem);
    s->job = weft_job_new(0, 0, &mix);
    weft_space_get(&s->space, 0, s->job.mix.conf);
    s->res = result_of(task, 1, mem);
    afresh(s);
    return WEFT_OK;
}

static stand *stand_up(const char *options, weft_data *data)
{
    stand *s = WEFT_NEW(mem, stand, 1);
    weft_check(set_up(s, options, data) == WEFT_OK, "%s", weft_error());
    return s;
}

static double train(stand *s, double resource)
{
    s->job.resource = resource;
    weft_check(task->step(s->self, &s->job, 0, &s->state, NULL, &s->res) == WEFT_OK, "%s",
               weft_error());
    s->job.index++;
    return s->res.loss;
}

/* Loss after `resource` units from the start. */
static double loss_at(const char *options, double resource)
{
    return train(stand_up(options, NULL), resource);
}

static const char *flow_of(double step, const char *more)
{
    return weft_arena_text(mem, "[flow]\nstep = %.17g\n%s\n", step, more);
}

/* The real numbers of a tensor of the state. */
static const real *tensor(const stand *s, const char *name)
{
    weft_tensor t[WEFT_MOST_TENSORS];
    const int n = task->tensors(s->self, &s->job, t);
    for (int i = 0; i < n; i++)
        if (strcmp(t[i].name, name) == 0) return s->state.x + t[i].at;
    weft_die("no tensor %s", name);
}

/* ---- a table of an independent program ---------------------------------------------- */

static void test_table(void)
{
    static const struct {
        double t, flow, ridge;
    } row[] = {{0.1, .98305692, .98331245},
               {1, .89702471, .90069078},
               {10, 1.73833387, 1.42143900},
               {100, 11.25205976, 7.36950102},
               {1000, 12.74999999, 11.93857062}};
    for (int i = 0; i < 5; i++) {
        is_near(loss_at(flow_of(row[i].t, "method = flow"), 1), row[i].flow, 5.1e-9,
                "gradient flow at t = %g", row[i].t);
        const char *ridge =
            weft_arena_text(mem, "[flow]\nmethod=ridge\nlambda=%.17g\n", 1 / row[i].t);
        is_near(loss_at(ridge, 1), row[i].ridge, 5.1e-9, "ridge at lambda = 1 / %g",
                row[i].t);
    }
    static const struct {
        double e, off;
    } descent[] = {{0.5, 1.1e-2}, {0.1, 2.1e-3}, {0.01, 2.1e-4}};
    const double exact = loss_at(flow_of(1, "method = flow"), 20);
    for (int i = 0; i < 3; i++) {
        const double e = descent[i].e, found = loss_at(flow_of(e, ""), floor(20 / e + 0.5));
        is_near(fabs(found / exact - 1), descent[i].off, 0.06 * descent[i].off,
                "descent of step %g is %.2g off the flow", e, fabs(found / exact - 1));
    }
}

/* Ratio of the risks of flow at t and of ridge at 1 / t. */
static double ratio(double t, const char *more)
{
    const char *flow = flow_of(t, weft_arena_text(mem, "method = flow\n%s", more));
    const char *ridge =
        weft_arena_text(mem, "[flow]\nmethod=ridge\nlambda=%.17g\n%s\n", 1 / t, more);
    return loss_at(flow, 1) / loss_at(ridge, 1);
}

/* The largest ratio between two times, by golden section. */
static double sup_ratio(double a, double b, const char *more, double *at)
{
    const double golden = (sqrt(5) - 1) / 2;
    for (int i = 0; i < 60; i++) {
        const double l = b - golden * (b - a), r = a + golden * (b - a);
        if (ratio(l, more) > ratio(r, more))
            b = r;
        else
            a = l;
    }
    *at = (a + b) / 2;
    return ratio(*at, more);
}

static void test_bound(void)
{
    double at;
    const double sup = sup_ratio(1, 3, "p = 1\nsignal = 0", &at);
    is_near(sup, 1.6859090583, 5.1e-11, "flow is at most 1.6859 times as risky as ridge");
    is_near(at, 1.7932821, 2e-7, "where t s = 1.7932821");
    const double own = sup_ratio(10, 200, "", &at);
    is_near(own, 1.584, 5e-4, "of 50 features the largest ratio is 1.584");
    is_near(at, 59, 1, "near t = 59");
    int below = 1;
    for (int e = -20; e <= 30; e++)
        for (int loss = 0; loss < 2; loss++)
            below &=
                ratio(pow(10, e / 5.0), loss ? "loss = prediction" : "decay = 3") < 1.6862;
    ok(below, "it is below the bound at all times, for both losses");
}

/* ---- the optimum of a space --------------------------------------------------------- */

static double optimum(const char *options, double most)
{
    const stand *s = stand_up(options, NULL);
    return task->optimum(s->self, most);
}

static void test_optimum(void)
{
    is_near(optimum("[flow]\nmethod = ridge\nlambda = log 0.01 .. 10\n", 5), .87847824,
            5.1e-9, "the best ridge");
    is_near(loss_at("[flow]\nmethod = ridge\nlambda = 0.5\n", 1),
            optimum("[flow]\nmethod = ridge\nlambda = log 0.01 .. 10\n", 5), 1e-15,
            "is at lambda = 0.5");
    is_near(optimum("[flow]\nmethod = flow\nstep = log 0.1 .. 10\n", 1), .88004536416644,
            5.1e-13, "the best flow");
    is_near(loss_at(flow_of(1.76031787, "method = flow"), 1),
            optimum("[flow]\nmethod = flow\nstep = log 0.1 .. 10\n", 1), 1e-12,
            "is at t = 1.7603");
    /* Brute force on another grid never beats it, and comes near. */
    static const char *const space[] = {
        "[flow]\nmethod = descent\nstep = log 0.01 .. 1.9\n",
        "[flow]\nmethod = flow | descent\nstep = log 0.01 .. 1.9\nlambda = 0 .. 2\n",
        "[flow]\nmethod = descent\nstep = log 0.01 .. 1.9\nfeatures = 3 .. 40\n"
        "loss = prediction\nsignal_decay = 1\n"};
    for (int k = 0; k < 3; k++) {
        stand *s = stand_up(space[k], NULL);
        const double best = task->optimum(s->self, 12);
        double least = INFINITY;
        for (int i = 0; i < 3000; i++) {
            weft_space_get(&s->space, i, s->job.mix.conf);
            afresh(s);
            for (int r = 1; r <= 12; r++) least = fmin(least, train(s, 1));
        }
        ok(best <= least && least < best * 1.01,
           "space %d: none of 36,000 points is below the optimum %.8f, the best is %.8f", k,
           best, least);
    }
    stand *s = stand_up("[space]\nsource = grid\nlevels = 4\nconfigs = 0\n[flow]\n"
                        "method = flow | descent | ridge\nstep = log 0.01 .. 1\n"
                        "features = 1 .. 50\n",
                        NULL);
    double least = INFINITY;
    for (int64_t i = 0; i < s->space.count; i++) {
        weft_space_get(&s->space, i, s->job.mix.conf);
        afresh(s);
        for (int r = 1; r <= 9; r++) least = fmin(least, train(s, 1));
    }
    is_near(task->optimum(s->self, 9), least, 0, "the optimum of a grid is its best point");
}

/* ---- states ------------------------------------------------------------------------- */

static void test_split(void)
{
    static const char *const method[] = {"flow", "descent", "ridge"};
    for (int k = 0; k < 3; k++) {
        const char *options = weft_arena_text(
            mem, "[flow]\nmethod = %s\nstep = 0.3\nlambda = 0.1\nnoise = 0.1\n", method[k]);
        stand *one = stand_up(options, NULL), *many = stand_up(options, NULL);
        train(one, 24);
        for (int i = 0; i < 6; i++) train(many, 4);
        ok(weft_state_hash(&one->state) == weft_state_hash(&many->state) &&
               !(fabs(one->res.loss - many->res.loss) > 0),
           "%s: six jobs have the bits of one", method[k]);
        digest(weft_state_hash(&one->state));
    }
}

/* A copy goes on from the weights with another setting, as real descent would. */
static void test_copy(void)
{
    stand *s = stand_up("[flow]\nstep = log 0.1 .. 1\nlambda = 0 .. 1\np = 5\n", NULL);
    double *conf = s->job.mix.conf, g[5] = {0}, risk = 0;
    static const double step[2] = {0.9, 0.2}, lambda[2] = {0, 0.7};
    for (int e = 0; e < 2; e++) {
        conf[0] = step[e];
        conf[1] = lambda[e];
        train(s, 3);
        for (int r = 0; r < 3; r++)
            for (int i = 0; i < 5; i++) {
                const double v = 1.0 / (i + 1);
                g[i] -= step[e] * ((v + lambda[e]) * g[i] - v);
            }
    }
    for (int i = 0; i < 5; i++)
        risk += (1 - g[i]) * (1 - g[i]) / 5 + g[i] * g[i] * (i + 1) / 100;
    is_near(s->res.loss, risk, 1e-14, "a trial whose setting changes goes on from itself");
}

static void test_diverged(void)
{
    ok(isinf(loss_at(flow_of(3, ""), 2000)), "descent of step 3 diverges");
    ok(loss_at(flow_of(1.9, ""), 2000) < 14, "of step 1.9 it does not");
    is_near(loss_at(flow_of(1, "features = 1\nsigma = 0"), 1), 0.98, 1e-15,
            "features that are not fitted keep their signal");
    is_near(loss_at(flow_of(1, "method = ridge\nn = 10\nsigma = 0"), 1), 0.8, 1e-14,
            "so do those that samples do not tell apart");
}

/* ---- virtual seconds and noise ------------------------------------------------------- */

static void test_noise(void)
{
    enum { TRIALS = 4000 };
    stand *s = stand_up("[flow]\nnoise = 0.5\nspread = 1\n", NULL);
    double sum[2] = {0}, square[2] = {0};
    int split = 1;
    for (int i = 0; i < TRIALS; i++) {
        s->job.trial = i;
        afresh(s);
        train(s, 4);
        const double x[2] = {s->res.loss - measured(task, &s->res, "valid_loss"),
                             log(s->res.cost / 4)};
        for (int k = 0; k < 2; k++) {
            sum[k] += x[k] / TRIALS;
            square[k] += x[k] * x[k] / TRIALS;
        }
        const double all = s->res.cost;
        train(s, 2);
        split &= fabs(s->res.cost / all - 0.5) < 1e-15;
    }
    is_near(sum[0], 0, 3 * 0.5 / sqrt(TRIALS), "noise of the loss has mean 0");
    is_near(sqrt(square[0]), 0.5, 3 * 0.5 / sqrt(2 * TRIALS), "and its deviation");
    is_near(sum[1], -0.5, 3 / sqrt(TRIALS), "seconds of a unit have mean 1");
    is_near(square[1] - sum[1] * sum[1], 1, 3 * sqrt(2.0 / TRIALS), "and their spread");
    ok(split, "a trial is as fast in its next job");
    is_near(train(stand_up("[flow]\n", NULL), 7) - measured(task, &s->res, "valid_loss"), 0,
            1, "without noise");
    stand *plain = stand_up("[flow]\n", NULL);
    train(plain, 7);
    ok(!(fabs(plain->res.loss - measured(task, &plain->res, "valid_loss")) > 0) &&
           !(fabs(plain->res.cost - 7) > 0),
       "by default the loss is exact and a unit takes a second");
}

/* ---- data --------------------------------------------------------------------------- */

enum { ROWS = 700, D = 12, WIDE = 300, FEW = 40 };

static float value[ROWS * WIDE];
static int32_t label[ROWS];

/* n training rows of d numbers with a linear response, in part a column of its own. */
static weft_data make_data(int64_t n, int64_t d, weft_form form)
{
    static uint8_t byte[ROWS * WIDE];
    for (int64_t i = 0; i < n; i++) {
        double y = 0;
        for (int64_t j = 0; j < d; j++) {
            double z[4];
            const weft_rng4 r = weft_rng_at(5, WEFT_RNG_TEST, (uint64_t)i, (uint64_t)j, 0);
            weft_rng_normal(&r, z);
            value[i * d + j] = (float)(2 + z[0] / (1 + (double)(j % 7)) + 0.3 * z[1]);
            byte[i * d + j] = (uint8_t)fmin(fmax(20 * (double)value[i * d + j], 0), 255);
            y += ((double)value[i * d + j] - 2) * (j % 3 == 0 ? 1 : -0.2) / sqrt((double)d);
        }
        label[i] = (int32_t)floor(fmin(fmax(5 + 4 * y, 0), 9));
    }
    weft_data data = {
        .form = form, .classes = 10, .path = "test", .mem = mem, .team = &team};
    weft_rows *rows = &data.part[WEFT_TRAIN];
    rows->total = n;
    rows->d = d;
    weft_deal(n, team.rank, team.size, &rows->first, &rows->n);
    rows->label = label + rows->first;
    rows->value = form == WEFT_REALS ? value + rows->first * d : NULL;
    rows->byte = form == WEFT_BYTES ? byte + rows->first * d : NULL;
    for (int64_t i = 0; i < n * d && form == WEFT_BYTES; i++)
        value[i] = (float)(byte[i] / 255.0);
    return data;
}

/* Centred rows and responses in doubles: x[n][d], y[n]. Column `out` is the response. */
static void centred(int64_t n, int64_t d, int64_t out, double *x, double *y)
{
    for (int64_t j = 0; j <= d; j++) {
        double mean = 0;
        for (int64_t i = 0; i < n; i++)
            mean += (j < d ? (double)value[i * d + j] : (double)label[i]) / (double)n;
        for (int64_t i = 0; i < n; i++) {
            if (j < d) x[i * d + j] = j == out ? 0 : (double)value[i * d + j] - mean;
            if (j == out) y[i] = (double)value[i * d + j] - mean;
            if (j == d && out < 0) y[i] = (double)label[i] - mean;
        }
    }
}

/* Steps of descent on |y - X b|^2 / 2n + lambda |b|^2 / 2, X divided by sqrt(unit): b of X
 * as it is. */
static void descend(const double *x, const double *y, int64_t n, int64_t d, double unit,
                    double e, double lambda, int steps, double *b)
{
    double *g = WEFT_NEW(mem, double, d);
    memset(b, 0, (size_t)d * sizeof *b);
    for (int k = 0; k < steps; k++) {
        memset(g, 0, (size_t)d * sizeof *g);
        for (int64_t i = 0; i < n; i++) {
            double off = -y[i];
            for (int64_t j = 0; j < d; j++) off += x[i * d + j] * b[j];
            for (int64_t j = 0; j < d; j++) g[j] += x[i * d + j] * off / (double)n;
        }
        for (int64_t j = 0; j < d; j++) b[j] -= e * (g[j] / unit + lambda * b[j]);
    }
}

static double power_method(const double *x, int64_t n, int64_t d)
{
    double *v = WEFT_NEW(mem, double, d), *w = WEFT_NEW(mem, double, d), size = 0;
    for (int64_t j = 0; j < d; j++) v[j] = 1 + (double)(j % 3);
    for (int k = 0; k < 3000; k++) {
        memset(w, 0, (size_t)d * sizeof *w);
        for (int64_t i = 0; i < n; i++) {
            double z = 0;
            for (int64_t j = 0; j < d; j++) z += x[i * d + j] * v[j];
            for (int64_t j = 0; j < d; j++) w[j] += x[i * d + j] * z / (double)n;
        }
        size = 0;
        for (int64_t j = 0; j < d; j++) size += w[j] * w[j];
        size = sqrt(size);
        for (int64_t j = 0; j < d; j++) v[j] = w[j] / size;
    }
    return size;
}

/* Weights of the task's descent are those of real steps on the rows. */
static void check_descent(int64_t n, int64_t d, weft_form form, int64_t out)
{
    weft_data data = make_data(n, d, form);
    const char *options = weft_arena_text(
        mem,
        "[flow]\nspectrum = data\nstep = 0.7\nlambda = 0.01\nsigma = 1\nresponse = %s\n",
        out < 0 ? "label" : weft_arena_text(mem, "%d", (int)out + 1));
    const char *what = weft_arena_text(mem, "%d rows of %d %s, response %d", (int)n, (int)d,
                                       form == WEFT_BYTES ? "bytes" : "reals", (int)out);
    stand *s = stand_up(options, &data);
    train(s, 11);
    train(s, 20);
    double *x = WEFT_NEW(mem, double, n *d), *y = WEFT_NEW(mem, double, n);
    double *b = WEFT_NEW(mem, double, d), off = 0, most = 0;
    centred(n, d, out, x, y);
    descend(x, y, n, d, power_method(x, n, d), 0.7, 0.01, 31, b);
    const real *w = tensor(s, "weights");
    for (int64_t j = 0; j < d; j++) {
        off = worse(off, fabs((double)w[j] - b[j]));
        most = fmax(most, fabs(b[j]));
    }
    is_near(off / most, 0, sizeof(real) == 4 ? 3e-6 : 1e-9, "%s: weights of real descent",
            what);
    digest(weft_state_hash(&s->state));
    /* their squared error is that of the residuals */
    weft_scores score;
    weft_check(task->score(s->self, &s->job, s->state.x, WEFT_TRAIN, &score) == WEFT_OK,
               "%s", weft_error());
    double sum = 0;
    for (int64_t i = 0; i < n; i++) {
        double z = -y[i];
        for (int64_t j = 0; j < d; j++) z += x[i * d + j] * b[j];
        sum += z * z / (double)n;
    }
    is_near(score_of(task, &score, "loss") / sum, 1, 1e-5,
            "%s: score is their mean squared error", what);
}

/* Means of both losses over draws of the noise, of real descent on the rows. */
static void test_draws(void)
{
    enum { DRAWS = 1000, STEPS = 6 };
    weft_data data = make_data(200, 5, WEFT_REALS);
    const double sigma = 1.5;
    stand *s[2];
    for (int k = 0; k < 2; k++) {
        s[k] =
            stand_up(weft_arena_text(mem,
                                     "[flow]\nspectrum = data\nnormalize = no\nstep = 0.4\n"
                                     "sigma = %g\nloss = %s\n",
                                     sigma, k ? "prediction" : "estimation"),
                     &data);
        train(s[k], STEPS);
    }
    double *x = WEFT_NEW(mem, double, 200 * 5), *y = WEFT_NEW(mem, double, 200);
    double truth[5], b[5], mean[3] = {0}, square[3] = {0};
    centred(200, 5, -1, x, y);
    descend(x, y, 200, 5, 1, 0.4, 0, 20000, truth); /* the least squares fit */
    for (int e = 0; e < DRAWS; e++) {
        const size_t mark = weft_arena_mark(mem);
        for (int i = 0; i < 200; i++) {
            double z[4];
            const weft_rng4 r = weft_rng_at(7, WEFT_RNG_TEST, (uint64_t)e, (uint64_t)i, 0);
            weft_rng_normal(&r, z);
            y[i] = sigma * z[0];
            for (int j = 0; j < 5; j++) y[i] += x[i * 5 + j] * truth[j];
        }
        descend(x, y, 200, 5, 1, 0.4, 0, STEPS, b);
        double loss[3] = {0};
        for (int j = 0; j < 5; j++) loss[0] += pow(b[j] - truth[j], 2);
        for (int i = 0; i < 200; i++) {
            double off = 0, left = y[i];
            for (int j = 0; j < 5; j++) {
                off += x[i * 5 + j] * (b[j] - truth[j]);
                left -= x[i * 5 + j] * b[j];
            }
            loss[1] += off * off / 200;
            loss[2] += left * left / 200;
        }
        for (int k = 0; k < 3; k++) {
            mean[k] += loss[k] / DRAWS;
            square[k] += loss[k] * loss[k] / DRAWS;
        }
        weft_arena_reset(mem, mark);
    }
    static const char *const what[] = {"estimation", "prediction", "training loss"};
    const double exact[3] = {s[0]->res.loss, s[1]->res.loss,
                             measured(task, &s[0]->res, "train_loss")};
    for (int k = 0; k < 3; k++)
        is_near(mean[k], exact[k], 3 * sqrt((square[k] - mean[k] * mean[k]) / DRAWS),
                "%s: the mean over %d draws of the noise is %.6f, exactly %.6f", what[k],
                DRAWS, mean[k], exact[k]);
}

static void test_data(void)
{
    check_descent(ROWS, D, WEFT_REALS, -1);
    check_descent(ROWS, D, WEFT_BYTES, -1);
    check_descent(ROWS, D, WEFT_REALS, 4);
    check_descent(FEW, WIDE, WEFT_REALS, -1);
    check_descent(FEW, WIDE, WEFT_BYTES, 299);
    check_descent(ROWS, WIDE, WEFT_REALS, -1);
    test_draws();
}

/* ---- what is refused ---------------------------------------------------------------- */

static void refuses(const char *option, weft_data *data, const char *word)
{
    stand s;
    const weft_status st = set_up(&s, weft_arena_text(mem, "[flow]\n%s\n", option), data);
    const char *text = weft_error();
    ok(st != WEFT_OK && strstr(text, word) && !strchr(text, '\n'),
       "refused in one line with '%s'", word);
}

static void test_refusals(void)
{
    weft_data data = make_data(FEW, WIDE, WEFT_REALS);
    refuses("spectrum = data", NULL, "run.data");
    refuses("spectrum = power", &data, "flow.spectrum = data");
    refuses("spectrum = data", &data, "flow.sigma");
    refuses("spectrum = data\nresponse = price", &data, "flow.response");
    refuses("spectrum = data\nresponse = 301", &data, "1 to 300");
    stand *s = stand_up("[flow]\nstep = log 0.1 .. 1\n", NULL);
    ok(strstr(task->single(s->self), "flow") != NULL, "mixtures are refused");
}

int main(int argc, char **argv)
{
    if (weft_par_start(&argc, &argv, &team) != WEFT_OK) return EXIT_FAILURE;
    weft_log_set(WEFT_ERROR, team.rank);
    mem = weft_arena_new();
    test_table();
    test_bound();
    test_optimum();
    test_split();
    test_copy();
    test_diverged();
    test_noise();
    test_data();
    test_refusals();
    const int failed = tap_done();
    weft_arena_free(mem);
    weft_par_end(&team);
    return failed;
}
