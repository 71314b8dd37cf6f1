/* Trainings of task sgd, a linear network on rows of numbers: scores pooled over folds,
 * weights of classes, the epoch at which patience ends a training, and whose weights are
 * kept. RUN: np=1 np=2 */
#include "sgd_stand.h"

/* ---- folds ---- */

/* Probabilities of rows sum to 1, of weights as they are, and of some whose logits are too
 * large for an exponential. */
static void check_answers(struct training *all)
{
    weft_predictions said;
    double off = 0;
    for (int way = 0; way < 2; way++) {
        must(sgd->winner.predict(all->self, &all->job, &all->state, WEFT_TEST, &said, mem));
        for (int64_t i = 0; i < said.n; i++)
            off = worse(off, fabs(said.score[2 * i] + said.score[2 * i + 1] - 1));
        for (int64_t i = 0; i < all->state.nx; i++) all->state.x[i] *= 1e5f;
    }
    is_near(off, 0, 1e-12, "folds answer by the mean of their probabilities");
}

static void test_pooled(void)
{
    enum { FOLDS = 4, KINDS = 4 };
    static const char *const metric[KINDS] = {"valid_loss", "valid_error", "fold_loss",
                                              "fold_error"};
    struct training all = trained("sgd.folds=4");
    double sum[KINDS] = {0}, plain[KINDS] = {0}, count[KINDS] = {0};
    for (int f = 0; f < FOLDS; f++) {
        struct training one = trained(printed("sgd.folds=4 sgd.fold=%d", f));
        int n = TRAIN + VALID, held = n / FOLDS + (f < n % FOLDS);
        const double weight[KINDS] = {round(.1 * (n - held)), round(.1 * (n - held)), held,
                                      held};
        for (int k = 0; k < KINDS; k++) {
            sum[k] += weight[k] * of(&one, metric[k]);
            plain[k] += of(&one, metric[k]) / FOLDS;
            count[k] += weight[k];
        }
    }
    for (int k = 0; k < KINDS; k++)
        is_near(of(&all, metric[k]), sum[k] / count[k], 1e-14,
                "%s is the mean over the folds, weighted by their samples", metric[k]);
    struct training together = trained("sgd.folds=4 sgd.score=balanced");
    double classes = 0, rows = 0;
    for (int f = 0; f < FOLDS; f++) {
        struct training one =
            trained(printed("sgd.folds=4 sgd.fold=%d sgd.score=balanced", f));
        double weight = one.res.arm_count[0];
        classes += weight * one.res.loss;
        rows += weight;
    }
    is_near(together.res.loss, classes / rows, 1e-14,
            "a measure of all predictions is the mean over the folds");
    weft_scores test;
    must(sgd->winner.score(all.self, &all.job, &all.state, WEFT_TEST, &test));
    is_near(test.count, TEST, 0, "rows of the test count once, not by each network");
    ok(fabs(plain[3] - of(&all, "fold_error")) > 1e-6,
       "which is not the mean of the folds' errors: %.5g, not %.5g", of(&all, "fold_error"),
       plain[3]);
    double p = of(&all, "fold_error");
    is_near(of(&all, "fold_half"), 1.959964 * sqrt(p * (1 - p) / (TRAIN + VALID)), 1e-8,
            "its interval is of all samples");
    digest(weft_state_hash(&all.state));
    check_answers(&all);
}

/* ---- weights of classes ---- */

static void test_balance(void)
{
    struct training training = trained("train.lr=0.05 sgd.keep=last");
    struct training yes = trained("train.lr=0.05 sgd.keep=last train.balance=yes");
    double rare[2] = {scored(&training, WEFT_TEST, "error"),
                      scored(&yes, WEFT_TEST, "error")};
    double both[2] = {of(&training, "valid_error"), of(&yes, "valid_error")};
    ok(rare[0] > .5 && rare[1] < rare[0] - .2,
       "with weights of classes a rare one is found: %.3g of it wrong, not %.3g", rare[1],
       rare[0]);
    ok(both[1] > both[0],
       "at the cost of the common one: %.3g of all wrong, not %.3g, without weights",
       both[1], both[0]);
    double share = .1; /* of the rare class: the error of no rare one found */
    ok(both[0] <= share + .02, "errors are of the samples, not of their weights");
}

/* ---- patience and the best epoch ---- */

static int least_of(const double *loss, int n)
{
    int best = 0;
    for (int e = 1; e < n; e++)
        if (loss[e] < loss[best]) best = e;
    return best;
}

/* The number of epochs after which a training with these losses stops. */
static int stops_after(const double *loss, int patience)
{
    int n = 1;
    while (n < EPOCHS && n - 1 - least_of(loss, n) < patience) n++;
    return n;
}

static void test_best(void)
{
    struct training best = trained("train.lr=2"),
                    last = trained("train.lr=2 sgd.keep=last");
    int at = least_of(best.loss, EPOCHS);
    ok(at > 0 && at < EPOCHS - 1 && memcmp(best.loss, last.loss, sizeof best.loss) == 0,
       "the best of %d epochs is epoch %d, whatever is kept", EPOCHS, at + 1);
    is_near(of(&best, "best_epoch"), at + 1, 0, "which is told");
    is_near(best.res.loss, best.loss[at], 0, "its score is the result");
    is_near(scored(&best, WEFT_VALID, "loss"), best.loss[at], 1e-12,
            "and its weights are kept");
    is_near(last.res.loss, last.loss[EPOCHS - 1], 0, "or those of the last epoch");
    is_near(scored(&last, WEFT_VALID, "loss"), last.loss[EPOCHS - 1], 1e-12,
            "with their score");
    double held = of(&best, "fold_error");
    ok(isnan(held), "without folds nothing is held out");
    struct training short_one;
    set_up(&short_one, "train.lr=2");
    go_on(&short_one, at + 1);
    ok(weft_state_hash(&best.state) != weft_state_hash(&short_one.state) &&
           memcmp(best.state.x, short_one.state.x,
                  (size_t)(2 * (D + 1)) * sizeof *best.state.x) == 0,
       "they are those of a training that ends there");
}

static void test_patience(void)
{
    struct training free = trained("train.lr=2");
    int stopped = 0;
    for (int patience = 1; patience <= 6; patience++) {
        struct training training = trained(printed("train.lr=2 sgd.patience=%d", patience));
        int n = stops_after(free.loss, patience), best = least_of(free.loss, n), same = 1;
        for (int e = 0; e < EPOCHS; e++)
            same &= e < n ? !(fabs(training.loss[e] - free.loss[e]) > 0)
                          : isnan(training.loss[e]);
        stopped += n < EPOCHS;
        ok(same && !(fabs(of(&training, "epochs") - n) > 0) &&
               !(fabs(of(&training, "best_epoch") - best - 1) > 0),
           "patience %d: it stops after %d epochs, of which epoch %d is the best", patience,
           n, best + 1);
        is_near(scored(&training, WEFT_VALID, "loss"), free.loss[best], 1e-12,
                "whose weights are kept");
        struct training pieces;
        set_up(&pieces, printed("train.lr=2 sgd.patience=%d", patience));
        for (int e = 0; e < EPOCHS; e += 3) go_on(&pieces, 3);
        ok(weft_state_hash(&pieces.state) == weft_state_hash(&training.state) &&
               !(fabs(pieces.res.loss - training.res.loss) > 0),
           "and so it does in jobs of three epochs");
    }
    ok(stopped >= 3, "%d of them stop before the last epoch", stopped);
}

/* ---- the logarithm of errors ---- */

static void test_log(void)
{
    struct training log_of = trained("sgd.score=log_error train.lr=0.1"),
                    plain = trained("sgd.score=accuracy train.lr=0.1");
    is_near(log_of.res.loss, log(plain.res.loss), 1e-12,
            "the logarithm of an error keeps the epoch that the error keeps");
    ok(isnan(log_of.res.bound) && !log_of.res.by_error && plain.res.bound > 0 &&
           plain.res.by_error && of(&log_of, "valid_error") > 0,
       "and is no error rate with an interval");
}

/* ---- what a job costs ---- */

/* What jobs of five epochs cost, by the epochs that they trained on average. */
static void test_cost(const char *folds, int networks)
{
    struct training training;
    set_up(&training, printed("train.lr=2 sgd.patience=3 %s", folds));
    double before = 0, bound = 0;
    int same = 1, partly = 0;
    for (int j = 0; j < EPOCHS / 5; j++) {
        training.job.resource = 5;
        bound = sgd->timing.seconds(training.self, &training.job, 5 * j);
        training.epochs = 0;
        go_on(&training, 5);
        double trained = of(&training, "epochs") - before;
        before = of(&training, "epochs");
        same &= fabs(training.res.cost - trained) < 1e-9 && bound <= training.res.cost;
        partly += training.res.cost > 0 && training.res.cost < 5;
    }
    ok(same, "%d networks with patience: a job costs the epochs that it trained", networks);
    ok(partly > 0, "fewer where one stops");
    ok(!(training.res.cost > 0) && bound <= 0, "none after that");
    set_up(&training, printed("train.lr=2 sgd.patience=3 %s", folds));
    training.job.resource = 3;
    ok(sgd->timing.seconds(training.self, &training.job, 0) > 0,
       "a new trial costs something");
    set_up(&training, printed("train.lr=2 %s", folds));
    go_on(&training, 3);
    is_near(training.res.cost, 3, 0, "without patience it costs its resource");
    is_near(sgd->timing.seconds(training.self, &training.job, 7), 3, 0,
            "which is known before");
}

/* ---- batches that change on the way ---- */

/* Goes on with other values of the axes, as population based training does. */
static void go_on_with(struct training *training, int batch, double lr, int epochs)
{
    for (int a = 0; a < training->space.dim; a++)
        training->mix.conf[a] =
            weft_opt_is(training->space.axis[a].opt, "batch") ? batch : lr;
    go_on(training, epochs);
}

/* The mean loss over the samples of an epoch, while weights stay as they are, tells that
 * each is one of them. */
static void test_passes(void)
{
    struct training training;
    set_up(&training, "train.batch=7..64 train.lr=1e-12..1");
    go_on_with(&training, 64, 0.5, 2);
    go_on_with(&training, 64, 1e-12, 1);
    double each = training.train_loss;
    for (int e = 0; e < 3; e++) {
        go_on_with(&training, e % 2 ? 33 : 7, 1e-12, 1);
        is_near(training.train_loss, each, 1e-9,
                "an epoch has each sample once, after %d others", e + 3);
    }
    digest(weft_state_hash(&training.state));
}

static void test_schedule(void)
{
    for (int small = 0; small < 2; small++) {
        struct training training;
        set_up(&training,
               "train.batch=7..64 train.schedule=linear train.horizon=2 sgd.keep=last");
        go_on_with(&training, small ? 7 : 64, 0, 1);
        double first = training.loss[0];
        go_on_with(&training, small ? 64 : 7, 0, 2);
        ok(fabs(training.loss[1] - first) > 1e-6,
           "batches that become %s: the rate is not 0 before its horizon",
           small ? "larger" : "smaller");
        is_near(training.loss[2], training.loss[1], 0, "and is 0 after it");
    }
}

/* ---- divergence ---- */

/* Weight decay that is too large for the rate turns the weights and multiplies them by
 * lr - 1 in a step. */
static void test_diverged(const char *keep)
{
    struct training training;
    set_up(&training, printed("train.lr=1000 train.weight_decay=1 sgd.steps=1 "
                              "sgd.keep=%s sgd.score=accuracy",
                              keep));
    int first = 0, good = 1, ill = 1;
    for (int e = 0; e < EPOCHS; e++) {
        go_on(&training, 1);
        if (first == 0 && !isfinite(training.loss[e])) first = e + 1;
        if (first == 0)
            good &= isfinite(training.res.loss) && isfinite(training.res.bound);
        else
            ill &= isinf(training.res.loss) && training.res.loss > 0 &&
                   isnan(training.res.bound);
    }
    ok(first > 2 && good, "keep = %s: it diverges in epoch %d; before, losses are finite",
       keep, first);
    ok(ill, "from there on its loss is INFINITY, whatever was the best epoch");
    is_near(of(&training, "epochs"), first, 0, "and it is not trained");
}

int main(int argc, char **argv)
{
    scratch_begin(&argc, &argv);
    open_rows();
    test_pooled();
    test_balance();
    test_best();
    test_patience();
    test_log();
    test_cost("", 1);
    test_cost("sgd.folds=3", 3);
    test_passes();
    test_schedule();
    test_diverged("best");
    test_diverged("last");
    weft_data_close(&data);
    return tap_end();
}
