/* Federated multiplicative weights: clients draw their configuration from a mixture (in the
 * publication of the whole space, run.tuner = ws_one; else of a trial's neighbourhood),
 * which the task moves every round by their scores. Khodak, Li, Roberts, Balcan, Talwalkar,
 * "Weight-sharing beyond neural architecture search: efficient feature map selection and
 * federated hyperparameter tuning", SysML 2019, section 4.1. To the letter (`literal`)
 * popular configurations are punished more often, and probabilities settle in proportion to
 * 1 / score; the default divides by the probability of a draw, takes scores less their mean
 * over past rounds, and steps by sqrt(2 ln k / rounds). With `racing` configurations are
 * drawn alike until they are eliminated (space.h). */
#include "near.h"

typedef struct mw {
    weft_near near;
    int literal, known, racing;
    double eta, floor, alpha;
    double rounds; /* of a trial at most */
} mw;

static const weft_opt mw_opts[] = {
    WEFT_NEAR_OPTS(mw),
    {"literal", WEFT_BOOL, offsetof(mw, literal), "no", 0, 1, NULL,
     "as published: p_i *= exp(-score / sqrt(rounds))", 0},
    {"known", WEFT_BOOL, offsetof(mw, known), "yes", 0, 1, NULL,
     "step by the number of rounds; no: by the number so far, for runs that may go on", 0},
    {"eta", WEFT_REAL, offsetof(mw, eta), "0", 0, 1e6, NULL,
     "step size times sqrt(rounds), per unit of the score; 0: sqrt(2 ln k)", 0},
    {"floor", WEFT_REAL, offsetof(mw, floor), "0.01", 0, 1, NULL,
     "scores are divided by no probability below floor / k", 0},
    {"racing", WEFT_BOOL, offsetof(mw, racing), "no", 0, 1, NULL,
     "no steps: configurations are eliminated once significantly worse", 0},
    {"alpha", WEFT_REAL, offsetof(mw, alpha), "0.1", 1e-9, 0.5, NULL,
     "racing: chance that the best configuration is ever eliminated", 0},
    {0}};

static const weft_when mw_when[] = {WEFT_NEAR_WHEN, {NULL, NULL, NULL}};

static weft_status mw_setup(void *self, const weft_mixing_env *env)
{
    mw *t = self;
    if (t->racing && t->literal)
        return weft_fail(WEFT_ECONF, "mw.racing = yes with mw.literal = yes: the published "
                                     "step makes no race; set one of them to no");
    if (t->known && !t->racing && !(env->resource > 0))
        return weft_fail(WEFT_ECONF,
                         "mw.known = yes: this schedule does not say how long a "
                         "trial may be; use mw.known = no");
    t->rounds = env->resource;
    return weft_near_setup(&t->near, "mw", env);
}

static weft_mix_update update_of(const mw *t)
{
    if (t->racing)
        return (weft_mix_update){.schedule = WEFT_UPDATE_RACING, .eta = t->alpha};
    return (weft_mix_update){.schedule = t->literal ? WEFT_UPDATE_AS_PUBLISHED
                                                    : WEFT_UPDATE_HORIZON,
                             .eta = t->eta,
                             .horizon = t->known ? t->rounds : 0,
                             .discount = 1,
                             .floor = t->floor};
}

static void mw_make(void *self, int64_t id, const double *conf, weft_job *job)
{
    mw *t = self;
    (void)id;
    weft_near_make(&t->near, conf, job);
    job->update = update_of(t);
}

static void mw_told(void *self, const weft_result *res)
{
    mw *t = self;
    weft_near_told(&t->near, res);
}

static void mw_forget(void *self, int64_t trial)
{
    mw *t = self;
    weft_near_forget(&t->near, trial);
}

extern const weft_mixing weft_mixing_mw;
const weft_mixing weft_mixing_mw = {
    .kind = {.name = "mw",
             .about = "multiplicative weights: clients draw from a mixture",
             .size = sizeof(mw),
             .opts = mw_opts,
             .when = mw_when},
    .moves = 1,
    .setup = mw_setup,
    .make = mw_make,
    .told = mw_told,
    .forget = mw_forget,
};
