/* How lost clients count in a job's score: clients that miss the deadline or diverge
 * because of their options count as the worst loss, at every stage; clients that are lost
 * for other reasons do not count; one client alone is no evidence. The winner is evaluated
 * as its job was.
 * RUN: np=1 np=3 */
#include "report/report.h"
#include "toy.h"
#include "weft/run/run.h"

enum { ALL = 31 }; /* the set of all five clients */

/* Sums over the validation samples of a set of clients, under weights w after a step each
 * at that rate. */
static struct sums sums_of(const struct toy *toy, int set, double lr, const double *w)
{
    struct sums all = {0};
    for (int c = 0; c < toy->n; c++) {
        if (!(set >> c & 1)) continue;
        double own[W];
        memcpy(own, w, sizeof own);
        full_step(toy, c, lr, own);
        struct sums one = part_score(toy, c, WEFT_VALID, own);
        all.loss += one.loss;
        all.wrong += one.wrong;
        all.n += one.n;
    }
    return all;
}

/* ---- deadlines ---- */

/* An epoch takes as many seconds as a client has samples: after 10 two have answered, and
 * 12 of 22 validation samples are of those that have not. */
static void test_deadline(void)
{
    static const char text[] = "[fed]\ncohort = 5\npool = 1\nscore_both = yes\nscore = %s\n"
                               "score_weights = %s\n[client]\nlr = 0.5\nbatch = 50\n"
                               "[device]\nsample_seconds = 1\ndeadline = 10\n";
    int set = 2 | 16;
    struct toy *toy = five_clients();
    const double zero[W] = {0};
    for (int e = 0; e < 4; e++) {
        const char *score = e % 2 ? "loss" : "error",
                   *stage = e / 2 ? "global" : "personal";
        const struct stand *stand = trained(toy, printed(text, score, stage), 1, 1);
        struct sums own = sums_of(toy, set, e / 2 ? 0 : 0.5, zero);
        double good = e % 2 ? own.loss : own.wrong, worst = e % 2 ? 2 * log(C) : 1;
        is_near(stand->res.loss, (good + 12 * worst) / 22, 1e-6,
                "%s, %s: who misses the deadline has the worst score", score, stage);
        is_near(measured(fed, &stand->res, e % 2 ? "valid_loss" : "valid_error"),
                good / own.n, 1e-6, "the record is of those that answered");
        is_near(in_row(fed, stand->row[0], e / 2 ? "before_loss" : "after_loss"),
                own.loss / own.n, 1e-6, "and so is the round's");
        is_near(stand->res.arm_count[0], 22, 0, "all count for the configuration");
        is_near(in_row(fed, stand->row[0], "dropped"), 3, 0, "three are lost");
        is_near(in_row(fed, stand->row[0], "clients"), 2, 0, "two are averaged");
        double mean[W];
        mean_step(toy, set, 0.5, zero, mean);
        is_near(distance(stand->state.x, mean), 0, 1e-6, "and move the weights");
    }
}

/* What is said where nobody answers in time. */
static void test_nobody(void)
{
    struct toy *toy = five_clients();
    const char *path = at("said.txt");
    fflush(stderr);
    int kept = dup(STDERR_FILENO);
    weft_check(kept >= 0 && freopen(path, "a", stderr) != NULL, "no %s", path);
    weft_log_set(WEFT_WARN, world.rank);
    const struct stand *stand = trained(toy,
                                        "[fed]\ncohort = 5\n[device]\nsample_seconds = 1\n"
                                        "deadline = 2\n",
                                        1, 3);
    weft_log_set(WEFT_ERROR, world.rank);
    fflush(stderr);
    weft_check(dup2(kept, STDERR_FILENO) >= 0, "stderr is lost");
    close(kept);
    is_near(stand->res.loss, 1, 0, "nobody in time is the worst there is");
    const double zero[W] = {0};
    is_near(distance(stand->state.x, zero), 0, 0, "and the weights stay");
    FILE *file = fopen(path, "r");
    char line[512] = "";
    weft_check(file && (world.rank > 0 || fgets(line, sizeof line, file)),
               "nothing was said");
    ok(world.rank > 0 ||
           (strstr(line, "all 5 clients of round 0") && strstr(line, "device.deadline") &&
            !fgets(line, sizeof line, file)),
       "which is said, once");
    fclose(file);
}

/* The same cohorts without a deadline, where devices are lost for other reasons. */
static void test_uncharged(void)
{
    static const char slow[] = "over = 2\nspeed = exponential\nsample_seconds = 1",
                      patient[] = "over = 2\nspeed = exponential\nsample_seconds = 1\n"
                                  "deadline = 1e9",
                      *const device[] = {slow, patient, "dropout = 0.5",
                                         "availability = 0.5"};
    struct toy *toy = five_clients();
    for (int e = 0; e < 4; e++) {
        const char *text = printed("[fed]\ncohort = 2\npool = 1\nscore = loss\n"
                                   "[client]\nlr = 0.5\nbatch = 50\n[device]\n%s\n",
                                   device[e]);
        struct stand *stand = standing(toy, text, 1);
        double off = 0, lost = 0;
        for (int r = 0; r < 12; r++) {
            units(stand, 1, 0, 1);
            lost += in_row(fed, stand->row[r], "dropped") +
                    in_row(fed, stand->row[r], "surplus");
            if (in_row(fed, stand->row[r], "clients") > 0)
                off =
                    worse(off, stand->res.loss - in_row(fed, stand->row[r], "after_loss"));
        }
        ok(lost > 3, "%.0f are lost", lost);
        is_near(off, 0, 1e-12, "and no score is charged for it (case %d)", e);
    }
}

/* Of clients told to train 50 epochs in place of 1, half miss the deadline. */
static void test_mixture(void)
{
    enum { N = 40, ROUNDS = 60 };
    int64_t count[N][WEFT_NPART];
    for (int c = 0; c < N; c++) {
        count[c][WEFT_TRAIN] = 10;
        count[c][WEFT_VALID] = count[c][WEFT_TEST] = 6;
    }
    struct toy *toy = toy_new(N, count);
    for (int diff = 0; diff < 2; diff++) {
        struct stand *stand = standing(toy,
                                       "[fed]\ncohort = 10\nscore = error\n"
                                       "[client]\nlr = 0.1\nepochs = 1 .. 50\n"
                                       "[device]\nspeed = exponential\n"
                                       "sample_seconds = 1\ndeadline = 347\n",
                                       2);
        stand->mix.conf[0] = 1;
        stand->mix.conf[1] = 50;
        stand->job.update = (weft_mix_update){.schedule = WEFT_UPDATE_HORIZON,
                                              .horizon = ROUNDS,
                                              .discount = 1,
                                              .floor = 0.01,
                                              .diff = diff};
        units(stand, ROUNDS, 0, ROUNDS);
        double lost = 0;
        for (int r = 0; r < ROUNDS; r++) lost += in_row(fed, stand->row[r], "dropped");
        ok(lost > 5, "%.0f of %d clients are late", lost, 10 * ROUNDS);
        ok(exp(stand->res.logp[1]) < 0.1,
           "a configuration that loses half of its clients goes: p = %.4f%s",
           exp(stand->res.logp[1]), diff ? ", by differences" : "");
    }
}

/* ---- divergence ---- */

static const char two_rates[] =
    "[fed]\ncohort = 5\npool = 1\nscore = %s\nscore_weights = %s\n"
    "[client]\nbatch = 50\nlr = 0.5 .. 1e6\n";

static struct stand *stand_two(struct toy *toy, const char *score, const char *stage)
{
    struct stand *stand = standing(toy, printed(two_rates, score, stage), 2);
    stand->mix.conf[0] = 0.5;
    stand->mix.conf[1] = 1e6;
    return stand;
}

/* The set of clients whose mean step at rate 0.5 gives the weights. */
static int who_moved(const struct toy *toy, const double *w, const real *weights)
{
    for (int set = 1; set <= ALL; set++) {
        double mean[W];
        mean_step(toy, set, 0.5, w, mean);
        if (distance(weights, mean) < 1e-6) return set;
    }
    return 0;
}

static void test_global(void)
{
    struct toy *toy = five_clients();
    const struct stand *all = trained(
        toy, "[fed]\ncohort = 5\nscore_weights = global\n[client]\nlr = 1e6\n", 1, 3);
    is_near(all->res.loss, 1, 0, "clients that diverge are wrong, before training too");
    double off = 0;
    int rounds = 0;
    struct stand *stand = stand_two(toy, "error", "global");
    for (int r = 0; r < 8; r++) {
        double w[W], none[W];
        wide(stand->state.x, w);
        units(stand, 1, 0, 1);
        int good = who_moved(toy, w, stand->state.x);
        if (good == 0 || good == ALL) continue;
        memcpy(none, w, sizeof none);
        struct sums own = sums_of(toy, good, 0, none);
        off = worse(off, stand->res.loss - (own.wrong + 22 - own.n) / 22);
        rounds++;
    }
    ok(rounds > 3, "some of a cohort diverge");
    is_near(off, 0, 1e-12, "and are charged where server's weights are scored");
}

static void test_train_loss(void)
{
    struct toy *toy = five_clients();
    double off = 0;
    struct stand *stand = stand_two(toy, "loss", "personal");
    for (int r = 0; r < 8; r++) {
        double w[W];
        wide(stand->state.x, w);
        units(stand, 1, 0, 1);
        int good = who_moved(toy, w, stand->state.x);
        if (good == 0) continue;
        double loss = 0, n = 0;
        for (int c = 0; c < 5; c++) {
            if (!(good >> c & 1)) continue;
            loss += softmax(toy, c, 0, toy->count[c][WEFT_TRAIN], w, NULL).loss;
            n += (double)toy->count[c][WEFT_TRAIN];
        }
        off = worse(off, in_row(fed, stand->row[r], "train_loss") - loss / n);
    }
    is_near(off, 0, 1e-5, "the training loss is that of clients that did not diverge");
}

/* ---- intervals ---- */

static void test_bound(void)
{
    static const char text[] =
        "[fed]\ncohort = 1\nselect = bound\nscore = %s\n[client]\nlr = 0.5\n";
    struct toy *toy = five_clients();
    const struct stand *one = trained(toy, printed(text, "error"), 1, 1);
    is_near(one->res.loss, 1, 0, "one client bounds no error");
    ok(isnan(one->res.bound), "and gives no interval");
    one = trained(toy, printed(text, "loss"), 1, 1);
    is_near(one->res.loss, 2 * log(C), 1e-12, "nor a loss");
    const struct stand *ten = trained(toy, printed(text, "loss"), 1, 10);
    ok(ten->res.bound > 0 && ten->res.loss <= 2 * log(C) &&
           ten->res.loss > measured(fed, &ten->res, "valid_loss"),
       "ten do");
}

/* ---- winner ---- */

static double number_of_job(const weft_jobs *jobs, const char *name, int64_t i)
{
    return jobs->metric[weft_metrics_find(jobs->metrics, name)][i];
}

/* A job that evaluates all clients at its end and the winner of the run have the same
 * weights, mixture and draws. */
static void test_winner(void)
{
    const char *data = toys[0]->data.path;
    const char *path = at("winner.h5");
    weft_conf *conf = WEFT_NEW(mem, weft_conf, 1);
    weft_conf_init(conf, mem);
    const char *text = printed(
        "[run]\ntask = fed\ntuner = sha\nmixing = fedex\ndata = %s\noutput = %s\n"
        "[space]\nconfigs = 2\n[fed]\ncohort = 5\nscore = loss\n"
        "eval_clients = 0\n[client]\nlr = log 0.01 .. 3\nbatch = 2 .. 20\n"
        "[sha]\neliminations = 0\nmax_resource = 3\nbudget = 6\n[fedex]\nk = 5\neps = "
        "1\nsched = root\n",
        data, path);
    weft_status st = weft_conf_text(conf, "test", text);
    if (st == WEFT_OK) st = weft_run_tune(conf, 0, &world);
    ok(st == WEFT_OK, "a run that draws in evaluations");
    weft_summary summary;
    must(weft_summary_read(&summary, path, mem));
    int64_t trial = weft_summary_value(&summary, "winner_trial")->whole;
    int64_t i = 0;
    while (summary.jobs.trial[i] != trial) i++;
    is_near(weft_summary_score(&summary, WEFT_VALID, "loss"),
            number_of_job(&summary.jobs, "global_loss", i), 0,
            "the winner's weights are scored as at the end of its job");
    is_near(weft_summary_score(&summary, WEFT_VALID, "personal_loss"),
            number_of_job(&summary.jobs, "personal_loss", i), 0,
            "and so are its clients' own");
}

MAIN(scratch, test_deadline, test_nobody, test_uncharged, test_mixture, test_global,
     test_train_loss, test_bound, test_winner)
