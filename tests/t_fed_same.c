/* Rounds of federated training have the same bits on any number of ranks, after any stop,
 * and for any division into jobs.
 * RUN: np=1 np=2 np=3 np=8 */
#include "toy.h"

/* What the many-ranks and the stopped runs must agree on. */
static const char mixed[] = "[fed]\ncohort = 7\nscore_both = yes\neval_clients = 9\n"
                            "eval_every = 4\nscore = loss\n"
                            "[client]\nlr = log 0.01 .. 1\nmomentum = 0 .. 0.9\n"
                            "batch = 2 .. 9\nmax_samples = 25\n"
                            "[server]\nmomentum = 0.5\nlr = 0.3 .. 1\n";
static const weft_mix_update rules[] = {
    {.schedule = WEFT_UPDATE_ROOT, .discount = 1, .floor = 0.01},
    {.schedule = WEFT_UPDATE_RACING, .eta = 0.999}};

static void test_same_bits(struct toy *toy, weft_mix_update moving)
{
    enum { K = 5, ROUNDS = 12 };
    struct stand *whole = standing(toy, mixed, K);
    whole->job.update = moving;
    units(whole, ROUNDS, 0, ROUNDS);
    digest(hash_of(whole));
    double sum = 0, arms = 0;
    int moved = 0;
    for (int i = 0; i < K; i++) {
        sum += exp(whole->res.logp[i]);
        moved |= fabs(whole->res.logp[i] + log(K)) > 0.01;
        arms += whole->res.arm_count[i];
    }
    is_near(sum, 1, 1e-12, "the mixture moved to another mixture");
    ok(moved && arms > 20, "by the scores of the arms");
    ok(goes_on_alike(toy, mixed, K, moving, ROUNDS, 1, hash_of(whole)),
       "a job stopped after any round goes on to the same bits");
}

/* Two jobs of one trial, and a trial that copies another's weights. */
static void test_jobs(void)
{
    struct toy *toy = forty_clients();
    struct stand *two = trained(toy, "[fed]\ncohort = 7\n", 1, 4);
    units(two, 3, 0, 3);
    struct stand *one = trained(toy, "[fed]\ncohort = 7\n", 1, 7);
    ok(memcmp(one->state.x, two->state.x, W * sizeof(real)) == 0,
       "seven rounds are four and three");
    is_near(one->res.loss, two->res.loss, 0, "with the same pooled score");
    struct stand *copy = trained(toy, "[fed]\ncohort = 7\n", 1, 4);
    copy->job.trial = 1;
    units(copy, 3, 0, 3);
    ok(memcmp(one->state.x, copy->state.x, W * sizeof(real)) == 0 &&
           fabs(copy->res.loss - one->res.loss) > 0,
       "a copied trial begins its own scores");
}

int main(int argc, char **argv)
{
    scratch_begin(&argc, &argv);
    struct toy *forty = forty_clients();
    for (int i = 0; i < 2; i++) test_same_bits(forty, rules[i]);
    test_jobs();
    return tap_end();
}
