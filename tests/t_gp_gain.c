/* What gp proposes has the largest expected improvement, by a Gaussian process of this
 * file: dense, with the losses bent by the most likely of 2,001 powers, and its maximum by
 * draws and steps of their own. Lengths and noise are gp's, which must be as likely by this
 * file's losses as a fit to them: another fit may end in another minimum, whose largest
 * improvement is elsewhere. RUN: np=1 */
#include "functions.h"
#include "sampler/process.h"

enum { MOST = 80, AXES = 4 };

/* Points, of which the last ones have no loss: they count with their means. */
struct process {
    const weft_space *space;
    int levels[AXES], dim, known, n;
    double conf[MOST][AXES], x[MOST][AXES], y[MOST];
    double theta[AXES + 2], root[MOST][MOST], weight[MOST], goal;
};

/* ---- the losses ---- */

static void standard(int n, double *y)
{
    double mean = 0, square = 0;
    for (int i = 0; i < n; i++) mean += y[i] / n;
    for (int i = 0; i < n; i++) square += (y[i] - mean) * (y[i] - mean) / n;
    for (int i = 0; i < n; i++) y[i] = (y[i] - mean) / sqrt(square);
}

/* Yeo and Johnson's transform, as they print it. */
static double yeo_johnson(double y, double power)
{
    if (y >= 0) return power > 0 ? (pow(y + 1, power) - 1) / power : log(y + 1);
    return power < 2 ? -(pow(1 - y, 2 - power) - 1) / (2 - power) : -log(1 - y);
}

/* Of values bent by it, the profile of a normal density's logarithm. */
static double likelihood(int n, const double *y, double power)
{
    double mean = 0, square = 0, jacobian = 0;
    for (int i = 0; i < n; i++) mean += yeo_johnson(y[i], power) / n;
    for (int i = 0; i < n; i++) {
        double off = yeo_johnson(y[i], power) - mean;
        square += off * off / n;
        jacobian += (power - 1) * copysign(log(1 + fabs(y[i])), y[i]);
    }
    return jacobian - n / 2. * log(square);
}

static double bend_all(int n, double *y)
{
    double best = 0, most = -INFINITY, worst = -INFINITY;
    for (int i = 0; i < n; i++)
        if (isfinite(y[i])) worst = fmax(worst, y[i]);
    for (int i = 0; i < n; i++) y[i] = fmin(y[i], worst);
    standard(n, y);
    for (int k = 0; k <= 2000; k++) {
        double at = likelihood(n, y, k / 1000.);
        if (at > most) best = k / 1000.;
        most = fmax(most, at);
    }
    for (int i = 0; i < n; i++) y[i] = yeo_johnson(y[i], best);
    standard(n, y);
    return best;
}

/* ---- the process ---- */

static double gap(int levels, double a, double b)
{
    if (levels) return isnan(a) != isnan(b) || fabs(a - b) > 0;
    if (isnan(a) && isnan(b)) return 0;
    if (isnan(a) || isnan(b)) return pow((isnan(a) ? b : a) - .5, 2) + .75;
    return (a - b) * (a - b);
}

static double covariance(const struct process *own, const double *a, const double *b)
{
    double square = 0;
    for (int k = 0; k < own->dim; k++)
        square += gap(own->levels[k], a[k], b[k]) / exp(2 * own->theta[k]);
    double u = sqrt(5 * square);
    return exp(own->theta[own->dim]) * (1 + u + u * u / 3) * exp(-u);
}

/* v[n] <- root^-1 v */
static void forward(const struct process *own, int n, double *v)
{
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < i; j++) v[i] -= own->root[i][j] * v[j];
        v[i] /= own->root[i][i];
    }
}

/* Mean by the known points, variance by all n. */
static double mean_of(const struct process *own, const double *x, double *variance)
{
    double k[MOST], mean = 0;
    for (int i = 0; i < own->n; i++) k[i] = covariance(own, x, own->x[i]);
    for (int i = 0; i < own->known; i++) mean += k[i] * own->weight[i];
    forward(own, own->n, k);
    *variance = exp(own->theta[own->dim]);
    for (int i = 0; i < own->n; i++) *variance -= k[i] * k[i];
    return mean;
}

static void place(const struct process *own, const double *conf, double *x)
{
    for (int a = 0; a < own->dim; a++)
        x[a] = isnan(conf[a])   ? NAN
               : own->levels[a] ? weft_axis_index(&own->space->axis[a], conf[a])
                                : weft_axis_unit(&own->space->axis[a], conf[a]);
}

/* How much less likely theirs is than a fit, by the logarithm. */
static double learn(struct process *own, const weft_process *gp)
{
    double x[MOST * AXES], slope[AXES + 2], variance, less;
    int dim = own->dim, m = own->known;
    for (int i = 0; i < own->n; i++) {
        place(own, own->conf[i], own->x[i]);
        memcpy(x + i * dim, own->x[i], (size_t)dim * sizeof *x);
    }
    bend_all(m, own->y);
    weft_gauss_data data = {dim, 0, own->levels, m, x, own->y};
    weft_gauss_fit(&data, gp->seed + (uint64_t)m, own->theta, mem);
    less = weft_gauss_evidence(&data, gp->gauss.theta, slope, mem) -
           weft_gauss_evidence(&data, own->theta, slope, mem);
    memcpy(own->theta, gp->gauss.theta, (size_t)(dim + 2) * sizeof *own->theta);
    for (int i = 0; i < own->n; i++) {
        for (int j = 0; j <= i; j++)
            own->root[i][j] = covariance(own, own->x[i], own->x[j]);
        own->root[i][i] += exp(own->theta[dim + 1]);
        for (int j = 0; j < i; j++) {
            for (int l = 0; l < j; l++)
                own->root[i][j] -= own->root[i][l] * own->root[j][l];
            own->root[i][j] /= own->root[j][j];
            own->root[i][i] -= own->root[i][j] * own->root[i][j];
        }
        own->root[i][i] = sqrt(own->root[i][i]);
    }
    memcpy(own->weight, own->y, sizeof own->y);
    forward(own, m, own->weight);
    for (int i = m - 1; i >= 0; i--) {
        for (int j = i + 1; j < m; j++) own->weight[i] -= own->root[j][i] * own->weight[j];
        own->weight[i] /= own->root[i][i];
    }
    own->goal = INFINITY;
    for (int i = 0; i < own->n; i++)
        own->goal = fmin(own->goal, mean_of(own, own->x[i], &variance));
    return less;
}

/* The logarithm of the expected improvement on the least mean. */
static double gain_of(const struct process *own, const double *conf)
{
    double x[AXES], variance, mean;
    place(own, conf, x);
    mean = mean_of(own, x, &variance);
    double sd = sqrt(fmax(variance, 1e-12)), z = (own->goal - mean) / sd;
    double slope;
    return log(sd) + (z > -3
                          ? log(exp(-z * z / 2) / sqrt(2 * PI) + z * erfc(-z / sqrt(2)) / 2)
                          : weft_gauss_gain(z, &slope));
}

static int is_known(const struct process *own, const double *conf)
{
    for (int i = 0; i < own->n; i++) {
        int same = 1;
        for (int a = 0; a < own->dim; a++)
            same &= !(fabs(conf[a] - own->conf[i][a]) > 0) &&
                    isnan(conf[a]) == isnan(own->conf[i][a]);
        if (same) return 1;
    }
    return 0;
}

/* ---- the maximum ---- */

/* The best of all that differs from conf in one axis: by so much, or in any level. */
static double step_from(const struct process *own, double reach, double *conf, double value)
{
    double best[AXES];
    memcpy(best, conf, sizeof best);
    for (int a = 0; a < own->dim; a++) {
        const weft_axis *axis = &own->space->axis[a];
        int choices = isnan(conf[a]) ? 0 : axis->nvalue > 0 ? axis->nvalue : 2;
        for (int c = 0; c < choices; c++) {
            double next[AXES];
            memcpy(next, conf, sizeof next);
            double at = weft_axis_unit(axis, conf[a]) + (c ? reach : -reach);
            next[a] = axis->nvalue > 0 ? axis->value[c]
                                       : weft_axis_value(axis, fmin(fmax(at, 0), 1));
            weft_space_settle(own->space, 1, (uint64_t)(1e9 * reach), next);
            if (is_known(own, next)) continue;
            double to = gain_of(own, next);
            if (to > value) memcpy(best, next, sizeof best);
            value = fmax(value, to);
        }
    }
    memcpy(conf, best, sizeof best);
    return value;
}

/* The largest gain that draws, and steps from the best of them, find. */
static double search(const struct process *own)
{
    enum { DRAWS = 3000, ROUNDS = 8 };
    double most = -INFINITY;
    for (int round = 0; round < ROUNDS; round++) {
        double conf[AXES], best[AXES], value = -INFINITY;
        for (int i = 0; i < DRAWS; i++) {
            weft_space_config(own->space, i + 100000 * (1 + round), conf);
            double to = is_known(own, conf) ? -INFINITY : gain_of(own, conf);
            if (to > value) memcpy(best, conf, sizeof best);
            value = fmax(value, to);
        }
        for (double reach = .2; reach > 1e-4;) {
            double to = step_from(own, reach, best, value);
            if (!(to > value)) reach /= 2;
            value = to;
        }
        most = fmax(most, value);
    }
    return most;
}

/* ---- cases ---- */

struct trials {
    const char *name, *axes;
    double (*value)(const double *conf);
    int known, flying, lower; /* lower: told at a smaller resource alone */
    double least;             /* of the first argument: what is below exceeds a limit */
};

static double smooth(const double *v)
{
    double far = pow(v[0] - .31, 2) + pow(v[1] - .62, 2) + pow(v[2] - .48, 2);
    return exp(6 * far) + .2 * sin(7 * v[0]);
}

static double failing(const double *v)
{
    return v[0] > .8 ? INFINITY : -1e3 * exp(-3 * smooth(v));
}

static double stepped(const double *v)
{
    return 1e-3 * (pow(v[0] - 77, 2) + 20 * pow(v[1] - 4, 2)) + (v[2] > 0) + (v[2] > 2);
}

static double branched(const double *v)
{
    return v[2] < 1 ? .3 + pow(v[0] - .4, 2) : isnan(v[1]) ? 1 : pow(log10(v[1]) + 1, 2);
}

/* With noise that shows where trials have the same values: the least loss is not the least
 * mean. */
static double noisy(const double *v)
{
    static int draws = 0;
    double far = pow(v[0] / 30 - .31, 2) + pow(v[1] / 3 - .62, 2);
    return far + .3 * normal_of(3, draws++, 0, 0);
}

/* Of any order of its second argument's values. */
static double jumps(const double *v)
{
    return fmod(v[1] * 7, 23) / 23 + .2 * pow(v[0] - .4, 2);
}

static double chained(const double *v)
{
    if (isnan(v[0])) return .5 + 1e-5 * pow(v[1] - 40, 2);
    return pow(v[0] - .7, 2) + 1e-5 * pow(v[1] - 160, 2);
}

static double counted(const double *v)
{
    return isnan(v[1]) ? .3 + pow(v[0] - .4, 2) : pow(v[0] - .8, 2) + .1 * fabs(v[1] - 6);
}

static const struct trials cases[] = {
    {"three numbers", "x0 = 0 .. 1\nx1 = 0 .. 1\nx2 = 0 .. 1\n", smooth, 30, 0, 0, 0},
    {"trials in flight", "x0 = 0 .. 1\nx1 = 0 .. 1\nx2 = 0 .. 1\n", smooth, 24, 6, 0, 0},
    {"failures", "x0 = 0 .. 1\nx1 = 0 .. 1\nx2 = 0 .. 1\n", failing, 36, 0, 0, 0},
    {"two resources", "x0 = 0 .. 1\nx1 = 0 .. 1\nx2 = 0 .. 1\n", smooth, 20, 3, 15, 0},
    {"whole numbers and words", "i0 = 1 .. 200\ni1 = 1 .. 9\nf = a | b | c | d | e\n",
     stepped, 30, 2, 0, 0},
    {"axes of some", "x0 = 0 .. 1\nx1 = log 1e-4 .. 10 when a = q\na = p | q\n", branched,
     24, 0, 0, 0},
    {"noise", "i0 = 1 .. 30\ni1 = 1 .. 3\n", noisy, 60, 0, 0, 0},
    {"values in no order",
     "x0 = 0 .. 1\ni0 = 3 | 9 | 1 | 22 | 14 | 7 | 30 | 2 | 18 | 11 | 25 | "
     "5 | 27 | 16 | 8 | 20 | 12 | 29 | 4 | 23 | 10 | 6\n",
     jumps, 26, 0, 0, 0},
    {"an axis of some whole numbers", "x0 = 0 .. 1 when i0 = 100 .. 200\ni0 = 1 .. 200\n",
     chained, 24, 0, 0, 0},
    {"whole numbers of some", "x0 = 0 .. 1\ni0 = 1 .. 9 when a = q\na = p | q\n", counted,
     24, 0, 0, 0},
    {"limits", "x0 = 0 .. 1\nx1 = 0 .. 1\nx2 = 0 .. 1\n", smooth, 30, 0, 0, .4},
};

/* Values that are no numbers, or in no order, are levels. */
static int levels_of(const weft_axis *axis)
{
    int rises = weft_axis_is_ordered(axis);
    for (int i = 1; i < axis->nvalue; i++) rises &= axis->value[i] > axis->value[i - 1];
    return rises ? 0 : axis->nvalue;
}

static void tell(struct minimizer *minimizer, int64_t trial, const double *conf,
                 double resource, double loss, double excess)
{
    weft_result res = {.loss = loss, .aims.excess = excess};
    weft_observation seen = {.conf = conf, .resource = resource, .loss = loss, .res = &res};
    minimizer->search.sampler->pending(minimizer->search.sampler_self, trial, conf,
                                       resource);
    minimizer->search.sampler->told(minimizer->search.sampler_self, trial, &seen);
}

static void test_case(const struct trials *of, uint64_t seed)
{
    struct minimizer *minimizer =
        minimizer_new(of->axes, "[run]\nsampler = gp\n", 99, seed);
    struct process *own = WEFT_NEW(mem, struct process, 1);
    own->space = &minimizer->space;
    own->dim = own->space->dim;
    own->known = of->known;
    own->n = of->known + of->flying + of->lower;
    for (int a = 0; a < own->dim; a++) own->levels[a] = levels_of(&own->space->axis[a]);
    for (int i = 0; i < own->n; i++) {
        double *conf = own->conf[i];
        weft_space_config(own->space, i, conf);
        double loss = own->y[i] = of->value(conf);
        double excess = fmax(0, of->least - conf[0]);
        if (of->least > 0 && excess > 0) own->y[i] = INFINITY;
        int low = i >= of->known + of->flying;
        if (i >= of->known && !low)
            sampler_sees(minimizer, i, conf, NAN);
        else
            tell(minimizer, i, conf, 1, low ? -loss : loss - 5 * (of->lower > 0), excess);
        if (of->lower > 0 && i < of->known) tell(minimizer, i, conf, 3, loss, 0);
    }
    double conf[AXES] = {0};
    sampler_proposes(minimizer, own->n, conf);
    double less = learn(own, minimizer->search.sampler_self);
    ok(less < .01, "%s: its lengths and noise are e^-%.4f as likely as a fit's", of->name,
       less);
    double has = gain_of(own, conf), most = search(own);
    ok(has > most - .002,
       "%s: what is proposed has e^%.4f of the largest expected improvement", of->name,
       has - most);
    ok(!is_known(own, conf) && weft_space_misfit(own->space, conf) < 0,
       "and is a configuration that no trial has");
}

static void test_gain(void)
{
    for (int i = 0; i < (int)LEN(cases); i++)
        for (uint64_t seed = 1; seed < 4; seed++) test_case(&cases[i], seed);
}

MAIN(alone, test_gain)
