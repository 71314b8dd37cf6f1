/* Steps of task sgd by hand, in doubles: softmax regression by batches of all rows, each
 * step at the rate of its schedule; the operations of an epoch. RUN: np=1 np=2 */
#include "sgd_stand.h"

enum { WEIGHTS = 2 * (D + 1) };

/* g = gradient of the mean loss of all training rows. */
static void gradient(const double *w, double *g)
{
    memset(g, 0, WEIGHTS * sizeof *g);
    for (int i = 0; i < TRAIN; i++) {
        double z[2];
        for (int c = 0; c < 2; c++) {
            z[c] = w[2 * D + c];
            for (int d = 0; d < D; d++) z[c] += w[c * D + d] * x[i][d];
        }
        for (int c = 0; c < 2; c++) {
            double e = (1 / (1 + exp(z[1 - c] - z[c])) - (c == label[i])) / TRAIN;
            for (int d = 0; d < D; d++) g[c * D + d] += e * x[i][d];
            g[2 * D + c] += e;
        }
    }
}

static double rate_of(const char *schedule, double epoch)
{
    double done = fmin(epoch / 3, 1);
    if (strcmp(schedule, "exponential") == 0) return 0.5 * pow(0.7, epoch);
    if (strcmp(schedule, "inverse") == 0) return 0.5 / (1 + 0.3 * epoch);
    if (strcmp(schedule, "linear") == 0) return 0.5 * (1 - done);
    if (strcmp(schedule, "cosine") == 0) return 0.5 * (1 + cos(acos(-1) * done)) / 2;
    if (strcmp(schedule, "step") == 0) return 0.5 * pow(0.1, fmin(floor(4 * done), 3));
    return 0.5;
}

#define DECAY 0.1

/* Step `step`, from 0, of SGD, or of Adam with its moments m and v. */
static void step_by_hand(const char *schedule, int adam, int step, int each, double *w,
                         double *m, double *v)
{
    double g[WEIGHTS], rate = rate_of(schedule, (double)step / each), t = step + 1;
    gradient(w, g);
    for (int i = 0; i < WEIGHTS; i++) {
        g[i] += DECAY * w[i];
        m[i] = 0.9 * m[i] + 0.1 * g[i];
        v[i] = 0.999 * v[i] + 0.001 * g[i] * g[i];
        double mean = m[i] / (1 - pow(0.9, t)), square = v[i] / (1 - pow(0.999, t));
        w[i] -= rate * (adam ? mean / (sqrt(square) + 1e-8) : g[i]);
    }
}

/* Batches of all rows in seven parts of 42 or 43, three a unit: the rate of a step is that
 * of the share of the epochs before it, in one job or several. */
static void test_rate(const char *schedule, const char *optimizer)
{
    enum { EACH = 3, UNITS = 4 };
    const char *options = printed(
        "train.batch=300 train.weight_decay=%g sgd.steps=%d sgd.keep=last sgd.parts=7 "
        "train.schedule=%s train.optimizer=%s "
        "train.decay=0.3 train.horizon=3 train.reductions=3",
        DECAY, EACH, schedule, optimizer);
    double w[WEIGHTS], m[WEIGHTS] = {0}, v[WEIGHTS] = {0}, off = 0;
    struct training training, pieces;
    set_up(&training, options);
    for (int i = 0; i < WEIGHTS; i++) w[i] = (double)training.state.x[i];
    go_on(&training, UNITS);
    for (int s = 0; s < EACH * UNITS; s++)
        step_by_hand(schedule, strcmp(optimizer, "adam") == 0, s, EACH, w, m, v);
    for (int i = 0; i < WEIGHTS; i++)
        off = worse(off, fabs((double)training.state.x[i] - w[i]));
    is_near(off, 0, 1e-4, "%s, %s: the weights of %d steps by hand", optimizer, schedule,
            EACH * UNITS);
    set_up(&pieces, options);
    for (int u = 0; u < UNITS; u++) go_on(&pieces, 1);
    ok(weft_state_hash(&pieces.state) == weft_state_hash(&training.state),
       "and those of %d jobs", UNITS);
}

static void test_rates(void)
{
    static const char *const schedules[] = {"constant", "exponential", "inverse",
                                            "linear",   "cosine",      "step"};
    for (int i = 0; i < 6; i++) test_rate(schedules[i], "sgd");
    test_rate("inverse", "adam");
}

/* A step with a decay of one layer's weights differs from one without by 0.5 l2 w there,
 * and nowhere else. */
static void test_layers(void)
{
    enum { HIDDEN = 3, SECOND = HIDDEN * (D + 1), LAYERS_END = SECOND + 2 * HIDDEN };
    static const int first[] = {0, SECOND}, end[] = {HIDDEN * D, LAYERS_END};
    for (int l = 0; l < 2; l++) {
        struct training plain, own;
        const char *options = "sgd.model=mlp mlp.hidden=3 train.batch=300 sgd.keep=last";
        set_up(&plain, options);
        set_up(&own, printed("%s train.l2_%d=0.2", options, l + 1));
        double begun[LAYERS_END + 2], off = 0, most = 0;
        for (int i = 0; i < LAYERS_END + 2; i++) begun[i] = (double)own.state.x[i];
        go_on(&plain, 1);
        go_on(&own, 1);
        for (int i = 0; i < LAYERS_END + 2; i++) {
            double want = i >= first[l] && i < end[l] ? 0.5 * 0.2 * begun[i] : 0;
            off = worse(off, fabs((double)(plain.state.x[i] - own.state.x[i]) - want));
            most = fmax(most, fabs(want));
        }
        is_near(off, 0, 1e-6, "weight decay of layer %d moves its weights alone", l + 1);
        ok(most > 1e-3, "which it does by up to %.3f", most);
    }
}

/* Four operations a weight and sample, a third of it where it is scored, ten a weight and
 * step. */
static void test_operations(void)
{
    static const struct {
        const char *options;
        int steps, batch;
    } of_epochs[] = {{"train.batch=10", 30, 10},
                     {"train.batch=64", 5, 64},
                     {"train.batch=10 sgd.steps=7", 7, 10},
                     {"train.batch=1000", 1, TRAIN}};
    for (size_t i = 0; i < LEN(of_epochs); i++) {
        struct training training;
        weft_cost cost = {0};
        int steps = of_epochs[i].steps;
        set_up(&training, of_epochs[i].options);
        training.job.resource = 3;
        sgd->cost(training.self, &training.job, &cost);
        double samples = steps * of_epochs[i].batch + VALID / 3.0;
        is_near(cost.flops, 3 * (samples * 4 * 2 * D + steps * 10.0 * 2 * (D + 1)), 1e-6,
                "%s: the operations of three epochs", of_epochs[i].options);
    }
}

/* A job of no epochs scores the weights as they begin, which are zeros, once. */
static void test_no_epochs(void)
{
    struct training training;
    set_up(&training, "sgd.keep=last");
    go_on(&training, 0);
    is_near(of(&training, "valid_loss"), log(2), 1e-6,
            "a job of no epochs has the loss of a guess");
    is_near(of(&training, "epochs"), 0, 0, "and trains nothing");
    set_up(&training, "sgd.keep=last train.batch=300 sgd.parts=7");
    go_on(&training, 1);
    is_near(of(&training, "train_loss"), log(2), 1e-6,
            "the training loss of a step is the mean over its rows, before it");
}

/* The largest state of all configurations, whichever axis values come first. */
static void test_largest(void)
{
    static const char *const optimizers[] = {"adam|sgd", "sgd|adam"};
    for (int i = 0; i < 2; i++) {
        struct training training;
        weft_state largest;
        set_up(&training, printed("sgd.keep=last train.optimizer=%s", optimizers[i]));
        sgd->nstate(training.self, NULL, &largest);
        is_near((double)largest.nx, 3 * WEIGHTS, 0,
                "%s: the largest state has the weights and two vectors of Adam",
                optimizers[i]);
    }
}

/* ---- rows that have weights ---- */

/* Rows from .. to are scored by weights w: loss, error, and mean error of the classes. */
static void score_by_hand(const double *w, int from, int to, double *loss, double *error,
                          double *balanced)
{
    double all[2] = {0}, wrong[2] = {0};
    *loss = 0;
    for (int i = from; i < to; i++) {
        double z[2];
        for (int c = 0; c < 2; c++) {
            z[c] = w[2 * D + c];
            for (int d = 0; d < D; d++) z[c] += w[c * D + d] * x[i][d];
        }
        double ahead = z[label[i]] - z[1 - label[i]];
        *loss += row_weight[i] * log1p(exp(-ahead));
        all[label[i]] += row_weight[i];
        wrong[label[i]] += row_weight[i] * !(ahead > 0);
    }
    *loss /= all[0] + all[1];
    *error = (wrong[0] + wrong[1]) / (all[0] + all[1]);
    *balanced = (wrong[0] / all[0] + wrong[1] / all[1]) / 2;
}

/* A step from weights of 0, where both classes are equally likely: rows count by their
 * weights, whose mean is 1, and with train.balance by n / (2 n_c) of their class, too. */
static void test_weighed(int balance)
{
    double w[WEIGHTS] = {0}, mean = 0, rare = 0, off = 0, loss, error, balanced;
    struct training training;
    for (int i = 0; i < TRAIN; i++) {
        mean += row_weight[i] / TRAIN;
        rare += label[i];
    }
    for (int i = 0; i < TRAIN; i++)
        for (int c = 0; c < 2; c++) {
            double class = TRAIN / (2 * (label[i] ? rare : TRAIN - rare));
            double e = row_weight[i] / mean * (balance ? class : 1) *
                       (0.5 - (c == label[i])) / TRAIN;
            for (int d = 0; d < D; d++) w[c * D + d] -= 0.5 * e * x[i][d];
            w[2 * D + c] -= 0.5 * e;
        }
    set_up(&training, printed("train.batch=300 sgd.steps=1 sgd.keep=last sgd.parts=7 "
                              "sgd.score=balanced train.balance=%s",
                              balance ? "yes" : "no"));
    go_on(&training, 1);
    for (int i = 0; i < WEIGHTS; i++)
        off = worse(off, fabs((double)training.state.x[i] - w[i]));
    const char *what = balance ? "balanced rows with weights" : "rows with weights";
    is_near(off, 0, 1e-6, "%s: a step is of the rows by these", what);
    score_by_hand(w, TRAIN, TRAIN + VALID, &loss, &error, &balanced);
    is_near(of(&training, "valid_loss"), loss, 1e-5, "%s: so is the loss", what);
    is_near(of(&training, "valid_error"), error, 1e-7, "%s: so are errors", what);
    is_near(training.res.loss, balanced, 1e-7, "%s: so are those of classes", what);
}

/* ---- all ---- */

int main(int argc, char **argv)
{
    scratch_begin(&argc, &argv);
    open_rows();
    test_rates();
    test_layers();
    test_operations();
    test_largest();
    test_no_epochs();
    weft_data_close(&data);
    row_weight = WEFT_NEW(mem, double, ALL);
    for (int i = 0; i < ALL; i++) row_weight[i] = 0.25 + i * 7 % 5;
    open_rows();
    test_weighed(0);
    test_weighed(1);
    weft_data_close(&data);
    return tap_end();
}
