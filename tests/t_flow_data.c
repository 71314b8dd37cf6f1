/* Task flow on data: against gradient descent in doubles and draws of the noise; what it
 * refuses.
 * RUN: np=1 np=2 np=4 */
#include "flow_stand.h"
#include "in_memory.h"

/* ---- data ---- */

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
            weft_rng4 rng = weft_rng_at(5, WEFT_RNG_TEST, (uint64_t)i, (uint64_t)j, 0);
            weft_rng_normal(&rng, z);
            value[i * d + j] = (float)(2 + z[0] / (1 + (double)(j % 7)) + 0.3 * z[1]);
            byte[i * d + j] = (uint8_t)fmin(fmax(20 * (double)value[i * d + j], 0), 255);
            y += ((double)value[i * d + j] - 2) * (j % 3 == 0 ? 1 : -0.2) / sqrt((double)d);
        }
        label[i] = (int32_t)floor(fmin(fmax(5 + 4 * y, 0), 9));
    }
    weft_data data = data_of(form, 10);
    weft_rows *rows = deal_rows(&data, WEFT_TRAIN, n, d);
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
    const char *options = printed(
        "[flow]\nspectrum = data\nstep = 0.7\nlambda = 0.01\nsigma = 1\nresponse = %s\n",
        out < 0 ? "label" : printed("%d", (int)out + 1));
    const char *what = printed("%d rows of %d %s, response %d", (int)n, (int)d,
                               form == WEFT_BYTES ? "bytes" : "reals", (int)out);
    struct stand *stand = stand_up(options, &data);
    train(stand, 11);
    train(stand, 20);
    double *x = WEFT_NEW(mem, double, n *d), *y = WEFT_NEW(mem, double, n);
    double *b = WEFT_NEW(mem, double, d), off = 0, most = 0;
    centred(n, d, out, x, y);
    descend(x, y, n, d, power_method(x, n, d), 0.7, 0.01, 31, b);
    const real *w = tensor(stand, "weights");
    for (int64_t j = 0; j < d; j++) {
        off = worse(off, fabs((double)w[j] - b[j]));
        most = fmax(most, fabs(b[j]));
    }
    is_near(off / most, 0, sizeof(real) == 4 ? 3e-6 : 1e-9, "%s: weights of real descent",
            what);
    digest(weft_state_hash(&stand->state));
    /* their squared error is that of the residuals */
    weft_scores score;
    must(task->winner.score(stand->self, &stand->job, &stand->state, WEFT_TRAIN, &score));
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
enum { DRAWS = 1000, STEPS = 6 };

/* The three losses of gradient descent on draw e of the response, x truth + noise, in the
 * units of X / sqrt(unit). */
static void draw_losses(int e, const double *x, const double *truth, double unit,
                        double sigma, double *loss)
{
    double *y = WEFT_NEW(mem, double, 200), b[5];
    for (int i = 0; i < 200; i++) {
        y[i] = sigma * normal_of(7, e, i, 0);
        for (int j = 0; j < 5; j++) y[i] += x[i * 5 + j] * truth[j];
    }
    descend(x, y, 200, 5, unit, 0.4, 0, STEPS, b);
    for (int j = 0; j < 5; j++) loss[0] += unit * pow(b[j] - truth[j], 2);
    for (int i = 0; i < 200; i++) {
        double off = 0, left = y[i];
        for (int j = 0; j < 5; j++) {
            off += x[i * 5 + j] * (b[j] - truth[j]);
            left -= x[i * 5 + j] * b[j];
        }
        loss[1] += off * off / 200;
        loss[2] += left * left / 200;
    }
}

static void test_draws(void)
{
    weft_data data = make_data(200, 5, WEFT_REALS);
    double sigma = 1.5;
    struct stand *stand[2];
    for (int k = 0; k < 2; k++) {
        stand[k] = stand_up(printed("[flow]\nspectrum = data\nstep = 0.4\n"
                                    "sigma = %g\nloss = %s\n",
                                    sigma, k ? "prediction" : "estimation"),
                            &data);
        train(stand[k], STEPS);
    }
    double *x = WEFT_NEW(mem, double, 200 * 5), *y = WEFT_NEW(mem, double, 200);
    double truth[5], mean[3] = {0}, square[3] = {0};
    centred(200, 5, -1, x, y);
    double unit = power_method(x, 200, 5);
    descend(x, y, 200, 5, unit, 0.4, 0, 20000, truth); /* the least squares fit */
    for (int e = 0; e < DRAWS; e++) {
        size_t mark = weft_arena_mark(mem);
        double loss[3] = {0};
        draw_losses(e, x, truth, unit, sigma, loss);
        for (int k = 0; k < 3; k++) {
            mean[k] += loss[k] / DRAWS;
            square[k] += loss[k] * loss[k] / DRAWS;
        }
        weft_arena_reset(mem, mark);
    }
    static const char *const what[] = {"estimation", "prediction", "training loss"};
    const double exact[3] = {stand[0]->res.loss, stand[1]->res.loss,
                             measured(task, &stand[0]->res, "train_loss")};
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

/* ---- what is refused ---- */

static void refuses(const char *option, weft_data *data, const char *word)
{
    struct stand stand;
    weft_status st = set_up(&stand, printed("[flow]\n%s\n", option), data);
    const char *text = weft_error();
    ok(st != WEFT_OK && strstr(text, word) && !strchr(text, '\n'),
       "refused in one line with '%s'", word);
}

static void test_refusals(void)
{
    weft_data data = make_data(FEW, WIDE, WEFT_REALS);
    refuses("spectrum = data", NULL, "run.data");
    refuses("decay = -1", NULL, "flow.decay");
    refuses("p = 10 .. 20", NULL, "flow.p");
    refuses("spectrum = power", &data, "flow.spectrum = data");
    refuses("spectrum = data", &data, "flow.sigma");
    refuses("spectrum = data\nresponse = price", &data, "flow.response");
    refuses("spectrum = data\nresponse = 301", &data, "1 to 300");
    struct stand *stand = stand_up("[flow]\nstep = log 0.1 .. 1\n", NULL);
    ok(strstr(task->plan.single(stand->self), "flow") != NULL, "mixtures are refused");
}

MAIN(ranks, test_data, test_refusals)
