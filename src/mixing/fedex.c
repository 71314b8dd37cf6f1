/* FedEx: the clients of a trial draw from a mixture of its configuration and neighbours of
 * it (or from a grid of each client option's values); the task moves the mixture every
 * round by the clients' scores. Khodak, Tu, Li, Li, Balcan, Smith, Talwalkar, "Federated
 * Hyperparameter Tuning: Challenges, Baselines, and Connections to Weight-Sharing", NeurIPS
 * 2021, there within random search and successive halving. Options and defaults are those
 * of the released program's scripts, except sched = racing, which is an addition: with the
 * published step sizes a mixture concentrates on one configuration by noise alone
 * (tests/t_settle.c). */
#include "near.h"
#include "weft/base/random.h"

typedef struct fedex_mixing {
    weft_near near;
    int sched, diff;
    double eta;
} fedex_mixing;

/* In the order of the choices of option "sched". */
static const weft_update_schedule schedules[] = {
    WEFT_UPDATE_AGGRESSIVE, WEFT_UPDATE_ADAPTIVE, WEFT_UPDATE_ROOT,
    WEFT_UPDATE_CONSTANT,   WEFT_UPDATE_SCALE,    WEFT_UPDATE_RACING};

static const weft_opt fedex_opts[] = {
    WEFT_NEAR_OPTS(fedex_mixing),
    WEFT_CHOICE_OPT("sched", fedex_mixing, sched, "aggressive",
                    "aggressive|adaptive|root/auto|constant|scale|racing",
                    "schedule of the step size; racing: no steps, but elimination of "
                    "significantly worse configurations"),
    WEFT_REAL_OPT("eta", fedex_mixing, eta, "0", 0, 1e6, "step size; 0: sqrt(2 ln k)"),
    WEFT_BOOL_OPT("diff", fedex_mixing, diff, "no",
                  "score of a client: loss after minus before local training"),
    {0},
};

static weft_status fedex_setup(void *self, const weft_mixing_env *env)
{
    return weft_near_setup(&((fedex_mixing *)self)->near, "fedex", env);
}

static void fedex_make(void *self, int64_t id, const double *conf, weft_job *job)
{
    fedex_mixing *fedex = self;
    (void)id;
    weft_near_make(&fedex->near, conf, job);
    weft_rng4 rng =
        weft_rng_at(fedex->near.seed, WEFT_RNG_TUNER, (uint64_t)job->trial, 0, 0);
    weft_update_schedule schedule = schedules[fedex->sched];
    job->update = (weft_mix_update){
        .schedule = schedule,
        .eta = schedule == WEFT_UPDATE_RACING ? fedex->near.alpha : fedex->eta,
        .discount = weft_rng_unit(rng.v[0]), /* of past scores in the baseline */
        .diff = fedex->diff};
}

WEFT_PLUGIN(mixing, fedex) = {
    .kind = WEFT_KIND("fedex", fedex_mixing, fedex_opts,
                      "FedEx: clients draw from a mixture around the trial's configuration",
                      .when = weft_near_when),
    .moves = 1,
    .setup = fedex_setup,
    .make = fedex_make,
    .told = weft_near_told,
    .forget = weft_near_forget,
};
