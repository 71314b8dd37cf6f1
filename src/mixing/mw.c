/* Federated multiplicative weights: clients draw their configuration from a mixture, which
 * the task updates every round by their scores. In the publication the mixture is of the
 * whole space (run.tuner = ws_one); with other tuners it is of a trial's neighbourhood.
 * Khodak, Li, Roberts, Balcan, Talwalkar, "Weight-sharing beyond neural architecture
 * search: efficient feature map selection and federated hyperparameter tuning", SysML 2019,
 * section 4.1. As published (`literal`), configurations that are drawn more often are also
 * reduced more often, and probabilities converge to values proportional to 1 / score. The
 * default divides by the probability of the draw, subtracts the mean score of past rounds,
 * and has step size sqrt(2 ln k / rounds), with the number of rounds so far where the
 * schedule does not say how many a trial may have. With `racing` all configurations have
 * equal probabilities until they are eliminated (mix.h). */
#include "near.h"

typedef struct mw_mixing {
    weft_near near;
    int literal, racing;
    double rounds; /* largest total of a trial; 0: it is not known */
} mw_mixing;

static const weft_opt mw_opts[] = {
    WEFT_NEAR_OPTS(mw_mixing),
    WEFT_BOOL_OPT("literal", mw_mixing, literal, "no",
                  "as published: p_i *= exp(-score / sqrt(rounds))"),
    WEFT_BOOL_OPT("racing", mw_mixing, racing, "no",
                  "no steps, but elimination of significantly worse configurations"),
    {0},
};

static weft_status mw_setup(void *self, const weft_mixing_env *env)
{
    mw_mixing *mw = self;
    if (mw->racing && mw->literal)
        return weft_fail(WEFT_ECONF, "mw.racing = yes with mw.literal = yes: the published "
                                     "step eliminates nothing; set one of them to no");
    mw->rounds = env->resource;
    return weft_near_setup(&mw->near, "mw", env);
}

static weft_mix_update update_of(const mw_mixing *mw)
{
    if (mw->racing)
        return (weft_mix_update){.schedule = WEFT_UPDATE_RACING, .eta = mw->near.alpha};
    return (weft_mix_update){.schedule = mw->literal ? WEFT_UPDATE_AS_PUBLISHED
                                                     : WEFT_UPDATE_HORIZON,
                             .horizon = mw->rounds,
                             .discount = 1,
                             .floor = 0.01};
}

static void mw_make(void *self, int64_t id, const double *conf, weft_job *job)
{
    mw_mixing *mw = self;
    (void)id;
    weft_near_make(&mw->near, conf, job);
    job->update = update_of(mw);
}

WEFT_PLUGIN(mixing, mw) = {
    .kind = WEFT_KIND("mw", mw_mixing, mw_opts,
                      "multiplicative weights: clients draw from a mixture",
                      .when = weft_near_when),
    .moves = 1,
    .setup = mw_setup,
    .make = mw_make,
    .told = weft_near_told,
    .forget = weft_near_forget,
};
