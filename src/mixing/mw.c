/* Federated multiplicative weights: clients draw their configuration from a mixture, which
 * the task updates every round by their scores. In the publication the mixture is of the
 * whole space (run.tuner = ws_one); with other tuners it is of a trial's neighbourhood.
 * Khodak, Li, Roberts, Balcan, Talwalkar, "Weight-sharing beyond neural architecture
 * search: efficient feature map selection and federated hyperparameter tuning", SysML 2019,
 * section 4.1. As published (`literal`), configurations that are drawn more often are also
 * reduced more often, and probabilities converge to values proportional to 1 / score. The
 * default divides by the probability of the draw, subtracts the mean score of past rounds,
 * and has step size sqrt(2 ln k / rounds). With `racing` all configurations have equal
 * probabilities until they are eliminated (mix.h). */
#include "near.h"

typedef struct mw_mixing {
    weft_near near;
    int literal, known, racing;
    double eta, alpha;
    double rounds; /* largest total of a trial */
} mw_mixing;

static const weft_opt mw_opts[] = {
    WEFT_NEAR_OPTS(mw_mixing),
    WEFT_BOOL_OPT("literal", mw_mixing, literal, "no",
                  "as published: p_i *= exp(-score / sqrt(rounds))"),
    WEFT_BOOL_OPT("known", mw_mixing, known, "yes",
                  "step size from the total number of rounds; no: from the number so far, "
                  "if the total is not known"),
    WEFT_REAL_OPT("eta", mw_mixing, eta, "0", 0, 1e6,
                  "step size times sqrt(rounds), per unit of the score; 0: sqrt(2 ln k)"),
    WEFT_NEAR_FLOOR_OPT(mw_mixing, "0.01"),
    WEFT_BOOL_OPT("racing", mw_mixing, racing, "no",
                  "no steps, but elimination of significantly worse configurations"),
    WEFT_REAL_OPT(
        "alpha", mw_mixing, alpha, "0.1", 1e-9, 0.5,
        "racing: bound of the probability that the best configuration is ever eliminated"),
    {0},
};

static const weft_when mw_when[] = {WEFT_NEAR_WHEN, {NULL, NULL, NULL}};

static weft_status mw_setup(void *self, const weft_mixing_env *env)
{
    mw_mixing *mw = self;
    if (mw->racing && mw->literal)
        return weft_fail(WEFT_ECONF, "mw.racing = yes with mw.literal = yes: the published "
                                     "step eliminates nothing; set one of them to no");
    if (mw->known && !mw->racing && !(env->resource > 0))
        return weft_fail(WEFT_ECONF,
                         "mw.known = yes: this schedule does not say how long a "
                         "trial may be; use mw.known = no");
    mw->rounds = env->resource;
    return weft_near_setup(&mw->near, "mw", env);
}

static weft_mix_update update_of(const mw_mixing *mw)
{
    if (mw->racing)
        return (weft_mix_update){.schedule = WEFT_UPDATE_RACING, .eta = mw->alpha};
    return (weft_mix_update){.schedule = mw->literal ? WEFT_UPDATE_AS_PUBLISHED
                                                     : WEFT_UPDATE_HORIZON,
                             .eta = mw->eta,
                             .horizon = mw->known ? mw->rounds : 0,
                             .discount = 1,
                             .floor = mw->near.floor};
}

static void mw_make(void *self, int64_t id, const double *conf, weft_job *job)
{
    mw_mixing *mw = self;
    (void)id;
    weft_near_make(&mw->near, conf, job);
    job->update = update_of(mw);
}

extern const weft_mixing weft_mixing_mw;
const weft_mixing weft_mixing_mw = {
    .kind = {.name = "mw",
             .about = "multiplicative weights: clients draw from a mixture",
             .size = sizeof(mw_mixing),
             .opts = mw_opts,
             .when = mw_when},
    .moves = 1,
    .setup = mw_setup,
    .make = mw_make,
    .told = weft_near_told,
    .forget = weft_near_forget,
};
