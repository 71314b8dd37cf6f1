/* How lost clients count in a job's score: where all miss the deadline it is the worst, and
 * a configuration that makes clients late goes; clients that are lost for other reasons do
 * not count; one client alone is no evidence. The winner is evaluated as its job was. What
 * late and diverged clients cost otherwise is compared in t_fed_rounds.
 * RUN: np=1 np=3 */
#include "report/report.h"
#include "toy.h"
#include "weft/run/run.h"

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

MAIN(scratch, test_nobody, test_uncharged, test_mixture, test_bound, test_winner)
