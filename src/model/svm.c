/* Linear support vector machine, as in liblinear:
 *     1/2 |w|^2 + 1/2 b^2 + C sum_i loss(y_i (x_i . w + b)),
 * hinge max(0, 1 - m) or its square. More than two classes: one against the rest, and the
 * loss of a sample is the sum over classes. */
#include "model.h"

struct svm {
    int hinge;
    margin_problem margin;
};

static const weft_opt opts[] = {
    WEFT_CHOICE_OPT("loss", struct svm, hinge, "hinge", "hinge|squared",
                    "max(0, 1 - margin), or its square"),
    MARGIN_OPTS(struct svm, "3e-4"),
    {0},
};

static margin_kind kind_of(const struct svm *svm)
{
    return svm->hinge == 0 ? MARGIN_HINGE : MARGIN_SQUARED;
}

static void fit(const void *self, const weft_matrix *matrix, const weft_answers *answers,
                double slack, real *w, weft_fitted *out, weft_arena *tmp)
{
    const struct svm *svm = self;
    margin_problem problem = svm->margin;
    problem.kind = kind_of(svm);
    problem.tol *= slack;
    margin_fit(&problem, matrix, answers, w, out, tmp);
}

static double loss(const void *self, int classes, const double *s, int y, int *wrong)
{
    return margin_score(kind_of(self), classes, s, y, wrong);
}

static double bound(const void *self, int classes)
{
    const struct svm *svm = self;
    return (svm->hinge == 0 ? 1e3 : 1e6) * margin_outputs(classes); /* margin -1000 */
}

WEFT_PLUGIN(model, svm) = {
    .kind = WEFT_KIND("svm", struct svm, opts,
                      "linear support vector machine, intercept penalised; losses of "
                      "classes are added"),
    .serial = 1,
    .outputs = margin_outputs,
    .fit = fit,
    .loss = loss,
    .bound = bound,
};
