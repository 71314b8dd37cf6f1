/* Logistic regression with a penalty on weights and intercept, as in liblinear:
 *     1/2 |w|^2 + 1/2 b^2 + C sum_i log(1 + exp(-y_i (x_i . w + b))),
 * or, penalty = l1, |w|_1 + |b| in place of the squares, which makes most weights zero.
 * More than two classes: one against the rest, and the loss of a sample is the sum over
 * classes. */
#include "model.h"

#include <math.h>

struct logistic {
    int penalty;
    margin_problem margin;
};

enum { L2, L1 };

/* At the default tolerance the accuracy on new reviews was within 0.1 points of a fit to
 * 1e-6 for each of 64 maps of IMDB (inputs/imdb64.tsv). */
static const weft_opt opts[] = {
    WEFT_CHOICE_OPT("penalty", struct logistic, penalty, "l2", "l2|l1",
                    "penalty on the weights: half their squares (l2), or their magnitudes, "
                    "which makes most of them zero (l1)",
                    .role = WEFT_PER_TRIAL),
    MARGIN_OPTS(struct logistic, "3e-4"),
    {0},
};

static void fit(const void *self, const weft_matrix *matrix, const weft_answers *answers,
                double slack, real *w, weft_fitted *out, weft_arena *tmp)
{
    const struct logistic *logistic = self;
    margin_problem problem = logistic->margin;
    problem.kind = MARGIN_LOGISTIC;
    problem.l1 = logistic->penalty == L1;
    problem.tol *= slack;
    margin_fit(&problem, matrix, answers, w, out, tmp);
}

static double loss(const void *self, int classes, const double *s, int y, int *wrong)
{
    (void)self;
    return margin_score(MARGIN_LOGISTIC, classes, s, y, wrong);
}

static double chance(double s)
{
    return 1 / (1 + exp(-s));
}

static double bound(const void *self, int classes)
{
    (void)self;
    return 1000.0 * margin_outputs(classes); /* margin -1000 */
}

WEFT_PLUGIN(model, logistic) = {
    .kind = WEFT_KIND("logistic", struct logistic, opts,
                      "logistic regression, intercept penalised; losses of several classes "
                      "are added"),
    .serial = 1,
    .outputs = margin_outputs,
    .fit = fit,
    .loss = loss,
    .chance = chance,
    .bound = bound,
};
