/* Who is in a round of federated training and who is left out of its average, by cohorts of
 * clients with recognisable sizes and averages over subsets of clients; virtual seconds;
 * options. The arithmetic of rounds is in t_fed_rounds.
 * RUN: np=1 np=2 np=3 np=8 */
#include "toy.h"

static struct toy *one_client(void)
{
    int64_t count[1][WEFT_NPART] = {{20, 7, 9}};
    return toy_new(1, count);
}

/* Client c trains 2^c samples, so that a round's number of samples is a set of clients. */
static void test_cohorts(void)
{
    enum { N = 8, ROUNDS = 400 };
    int64_t count[N][WEFT_NPART];
    for (int c = 0; c < N; c++) {
        count[c][WEFT_TRAIN] = (int64_t)1 << c;
        count[c][WEFT_VALID] = count[c][WEFT_TEST] = 1;
    }
    struct toy *toy = toy_new(N, count);
    struct stand *stand =
        trained(toy, "[fed]\ncohort = 3\n[client]\nbatch = 300\n", 1, ROUNDS);
    int seen[N] = {0}, three = 1;
    for (int r = 0; r < ROUNDS; r++) {
        int drawn = 0;
        for (int c = 0; c < N; c++) {
            int in = (int)in_row(fed, stand->row[r], "samples") >> c & 1;
            drawn += in;
            seen[c] += in;
        }
        three &= drawn == 3;
    }
    ok(three, "a cohort has no client twice");
    int even = 1; /* 150 of 400; standard deviation 9.7 */
    for (int c = 0; c < N; c++) even &= seen[c] > 100 && seen[c] < 200;
    ok(even, "every client is drawn about as often");
    struct stand *other = trained(toy, "[fed]\ncohort = 3\n[client]\nbatch = 7\n", 1, 5);
    int same = 1;
    for (int r = 0; r < 5; r++)
        same &= fabs(in_row(fed, other->row[r], "samples") -
                     in_row(fed, stand->row[r], "samples")) < 0.5;
    ok(same, "trials share their cohorts");
    struct stand again;
    fails(stand_up(&again, toy, "[fed]\ncohort = 9\n", 1), WEFT_ECONF, "9", "8 clients",
          "a cohort larger than the population");
    stand = trained(toy, "[fed]\ncohort = 20\nreplacement = yes\n", 1, 1);
    is_near(in_row(fed, stand->row[0], "clients"), 20, 0,
            "with replacement it may be larger");
}

static void test_options(void)
{
    struct toy *toy = one_client();
    struct stand stand;
    weft_clients *clients = toy->data.clients;
    toy->data.clients = NULL;
    fails(stand_up(&stand, toy, "", 1), WEFT_EDATA, "toy", "fmap", "rows without clients");
    toy->data.clients = clients;
    fails(stand_up(&stand, toy, "[fed]\ncohort = 1\nselect = eval\n", 1), WEFT_ECONF,
          "eval_clients", "select", "selection by an evaluation that is not made");
    fails(stand_up(&stand, toy, "[fed]\nmodel = linaer\n", 1), WEFT_ECONF, "linaer",
          "linear", "an unknown network");
    toy->memory = 100;
    fails(stand_up(&stand, toy, "[fed]\ncohort = 1\n", 1), WEFT_ELIMIT, "linear",
          "18 weights", "a network that does not fit");
    toy->memory = 2000;
    fails(stand_up(&stand, toy, "[fed]\ncohort = 1\n", 1), WEFT_ELIMIT, "batches of 64",
          "client.batch", "batches that do not fit");
    toy->memory = 1e6;
    ok(stand_up(&stand, toy, "[fed]\ncohort = 1\n[client]\nbatch = 65536\n", 1) == WEFT_OK,
       "a batch takes no more memory than clients have samples for");
    toy->memory = 0;
    fails(stand_up(&stand, toy, "[fed]\ncohort = 1\n[client]\nbatch = 0\n", 1), WEFT_ECONF,
          "batch", "0", "no batch");
}

static void test_divergence(void)
{
    struct toy *toy = five_clients();
    struct stand *stand = trained(toy, "[fed]\ncohort = 4\n[client]\nlr = 1e6\n", 1, 2);
    is_near(in_row(fed, stand->row[1], "diverged"), 4, 0, "all clients diverge");
    is_near(in_row(fed, stand->row[1], "clients"), 0, 0, "none is averaged");
    double zero[W] = {0};
    is_near(distance(stand->state.x, zero), 0, 0, "the weights stay");
    is_near(stand->res.loss, 1, 0, "and all is wrong");
    stand = trained(toy, "[fed]\ncohort = 5\nscore = loss\n[client]\nlr = 1e6\n", 1, 2);
    is_near(stand->res.loss, 2 * log(C), 1e-12, "or as lossy as it gets");

    /* two rates, one of them hopeless: the average is that of the others */
    struct stand both;
    must(stand_up(&both, toy, "[fed]\ncohort = 5\n[client]\nbatch = 50\nlr = 0.5 .. 1e6\n",
                  2));
    both.mix.conf[0] = 0.5;
    both.mix.conf[1] = 1e6;
    int found = 0, rounds = 0;
    for (int round = 0; round < 12; round++) {
        double w[W];
        wide(both.state.x, w);
        units(&both, 1, 0, 1);
        const double *row = both.row[round];
        if (in_row(fed, row, "clients") < 1 || in_row(fed, row, "diverged") < 1) continue;
        found += sets_giving(toy, 0.5, w, both.state.x) == 1;
        rounds++;
    }
    ok(rounds > 5 && found == rounds, "a client that diverged is left out of the average");
}

/* Whoever drops out, the rest are averaged as if they were all, and nothing else changes.
 */
static void test_devices(void)
{
    struct toy *toy = five_clients();
    struct stand stand;
    must(stand_up(&stand, toy,
                  "[fed]\ncohort = 5\nscore_both = yes\n[client]\nlr = 0.5\nbatch = 50\n"
                  "[device]\ndropout = 0.4\n",
                  1));
    int right = 1, lost = 0;
    for (int round = 0; round < 10; round++) {
        double w[W];
        wide(stand.state.x, w);
        units(&stand, 1, 0, 1);
        const double *row = stand.row[round];
        right &= in_row(fed, row, "clients") + in_row(fed, row, "dropped") > 4.5 &&
                 in_row(fed, row, "diverged") < 0.5;
        if (in_row(fed, row, "clients") > 0)
            right &= sets_giving(toy, 0.5, w, stand.state.x) == 1;
        else
            right &= distance(stand.state.x, w) <= 0;
        lost += (int)in_row(fed, row, "dropped");
    }
    ok(right, "the average is that of the devices that came back");
    ok(lost > 8 && lost < 32, "about 20 of 50 are lost");

    struct stand *over =
        trained(toy,
                "[fed]\ncohort = 2\n[device]\nover = 2\nspeed = exponential\n"
                "sample_seconds = 1\npower = 2\n",
                1, 6);
    right = 1;
    for (int r = 0; r < 6; r++)
        right &= fabs(in_row(fed, over->row[r], "clients") - 2) < 0.5 &&
                 fabs(in_row(fed, over->row[r], "surplus") - 2) < 0.5 &&
                 in_row(fed, over->row[r], "dropped") < 0.5 &&
                 in_row(fed, over->row[r], "seconds") > 0 &&
                 in_row(fed, over->row[r], "energy") > 0;
    ok(right, "of four that are started the first two are averaged");
    double seconds = 0;
    for (int r = 0; r < 6; r++) seconds += in_row(fed, over->row[r], "seconds");
    is_near(over->res.cost, seconds, 1e-9, "a job costs its virtual seconds");
}

/* The virtual time of a job is known before it is run; of a mixture a bound of it. */
static void test_seconds(void)
{
    static const char *const devices[] = {
        "", "speed = exponential\nsample_seconds = 1\n", "up = 100\ndropout = 0.3\n",
        "sample_seconds = 1\ndeadline = 15\navailability = 0.7\n",
        "over = 1.5\nlatency = 1\nspeed = lognormal\nflops = 1e3\n"};
    struct toy *toy = five_clients();
    int exact = 1, bounded = 1, tight = 0;
    for (int d = 0; d < 5; d++) {
        const char *text =
            printed("[fed]\ncohort = 3\n[client]\nepochs = 1 .. 4\nmax_samples = 9\n"
                    "[device]\n%s",
                    devices[d]);
        struct stand *stand = trained(toy, text, 1, 4);
        exact &=
            fabs(fed->timing.seconds(stand->self, &stand->job, 0) - stand->res.cost) <= 0;
        units(stand, 3, 0, 3); /* goes on */
        exact &=
            fabs(fed->timing.seconds(stand->self, &stand->job, 4) - stand->res.cost) <= 0;
        stand = trained(toy, text, 5, 6);
        double least = fed->timing.seconds(stand->self, &stand->job, 0);
        bounded &= least >= 0 && least <= stand->res.cost;
        tight += least > 0.25 * stand->res.cost;
    }
    ok(exact, "the virtual seconds of a job are known before it is run");
    ok(bounded && tight == 5, "those of a mixture have a bound");
}

static void test_caps(void)
{
    struct toy *toy = five_clients();
    const struct stand *stand =
        trained(toy,
                "[fed]\ncohort = 5\nmax_valid = 1\nscore = loss\nscore_weights = global\n"
                "[client]\nmax_samples = 8\nepochs = 3\n",
                1, 2);
    is_near(in_row(fed, stand->row[1], "samples"), 3 * (8 + 3 + 8 + 8 + 8), 0,
            "at most 8 samples an epoch");
    ok(isnan(in_row(fed, stand->row[1], "after_loss")), "only what is asked for is scored");
    struct stand again;
    must(stand_up(&again, toy,
                  "[fed]\ncohort = 5\nscore = loss\nmax_valid = 1\n"
                  "score_weights = global\n",
                  1));
    units(&again, 1, 0, 1);
    double w[W], loss = 0;
    wide(again.state.x, w);
    units(&again, 1, 0, 1);
    for (int c = 0; c < 5; c++)
        loss += softmax(toy, c, first_of(toy, c, WEFT_VALID), 1, w, NULL).loss;
    is_near(in_row(fed, again.row[1], "before_loss"), loss / 5, 1e-6,
            "one validation sample a client");

    again.job.resource = 0;
    double was[W];
    wide(again.state.x, was);
    double row[WEFT_MAX_METRICS] = {0};
    weft_status st = fed->step(again.self, &again.job, 0, &again.state, row, &again.res);
    double all = 0;
    for (int c = 0; c < 5; c++) all += part_score(toy, c, WEFT_VALID, was).loss;
    ok(st == WEFT_OK && fed->units(again.self, &again.job) == 1 &&
           distance(again.state.x, was) <= 0,
       "a job of no rounds leaves the weights");
    is_near(in_row(fed, row, "valid_loss"), all / 22, 1e-6, "and scores them");
}

MAIN(scratch, test_cohorts, test_options, test_divergence, test_devices, test_seconds,
     test_caps)
