/* Rounds of federated training against closed forms: full-batch steps of softmax
 * regression in doubles, averages over subsets of clients, cohorts of clients with
 * recognisable sizes.
 * RUN: np=1 np=2 np=3 np=8 */
#include "toy.h"

static struct toy *one_client(void)
{
    int64_t count[1][WEFT_NPART] = {{20, 7, 9}};
    return toy_new(1, count);
}

/* Two epochs of one full batch, twice: momentum begins anew in each round, decay and the
 * pull to the server's weights as PyTorch takes them; server of rate 0.5. */
static void test_one_client(void)
{
    struct toy *toy = one_client();
    struct stand *stand =
        trained(toy,
                "[fed]\ncohort = 1\n[client]\nlr = 0.3\nmomentum = 0.8\nbatch = 50\n"
                "epochs = 2\nweight_decay = 0.1\nmu = 0.2\n[server]\nlr = 0.5\n",
                1, 2);
    double w[W] = {0};
    for (int round = 0; round < 2; round++) {
        double own[W], v[W] = {0};
        memcpy(own, w, sizeof w);
        for (int epoch = 0; epoch < 2; epoch++) {
            double g[W] = {0};
            softmax(toy, 0, 0, 20, own, g);
            for (int i = 0; i < W; i++) {
                double d = g[i] / 20 + 0.2 * (own[i] - w[i]) + 0.1 * own[i];
                v[i] = epoch ? 0.8 * v[i] + d : d;
                own[i] -= 0.3 * v[i];
            }
        }
        for (int i = 0; i < W; i++) w[i] += 0.5 * (own[i] - w[i]);
    }
    is_near(distance(stand->state.x, w), 0, 1e-6,
            "two rounds of one client are SGD by hand");
    ok(in_row(fed, stand->row[1], "samples") > 39.9 &&
           in_row(fed, stand->row[1], "samples") < 40.1,
       "two epochs of 20 samples");
    ok(in_row(fed, stand->row[0], "clients") > 0 && in_row(fed, stand->row[0], "bytes") > 0,
       "the row says so");
}

static void test_averages(void)
{
    struct toy *toy = five_clients();
    for (int plain = 0; plain < 2; plain++) {
        struct stand *stand =
            trained(toy,
                    printed("[fed]\ncohort = 5\naverage = %s\n[client]\nlr = 0.5\n"
                            "batch = 50\n",
                            plain ? "plain" : "weighted"),
                    1, 1);
        double mean[W] = {0}, sum = 0;
        for (int c = 0; c < 5; c++) {
            double w[W] = {0};
            full_step(toy, c, 0.5, w);
            double n = plain ? 1 : (double)toy->count[c][0];
            for (int i = 0; i < W; i++) mean[i] += n * w[i];
            sum += n;
        }
        for (int i = 0; i < W; i++) mean[i] /= sum;
        is_near(distance(stand->state.x, mean), 0, 1e-6, "the %s average of five clients",
                plain ? "plain" : "weighted");
    }
}

/* Sums over the clients' samples of a part, for the weights w and after a step on each. */
static void part_sums(struct toy *toy, weft_part part, const double *w, struct sums *before,
                      struct sums *after)
{
    *before = *after = (struct sums){0};
    for (int c = 0; c < 5; c++) {
        double own[W];
        memcpy(own, w, sizeof own);
        full_step(toy, c, 0.5, own);
        struct sums a = part_score(toy, c, part, w), b = part_score(toy, c, part, own);
        before->loss += a.loss;
        before->n += a.n;
        after->loss += b.loss;
        after->wrong += b.wrong;
    }
}

static void test_scores(void)
{
    struct toy *toy = five_clients();
    struct stand *stand =
        trained(toy,
                "[fed]\ncohort = 5\nscore_both = yes\nscore = loss\nselect = eval\n"
                "eval_clients = 0\neval_every = 1\n[client]\nlr = 0.5\nbatch = 50\n",
                1, 3);
    double w[W];
    wide(stand->state.x, w);
    for (int part = WEFT_VALID; part <= WEFT_TEST; part++) {
        struct sums sum, trained_sum;
        part_sums(toy, (weft_part)part, w, &sum, &trained_sum);
        double before = sum.loss / sum.n, after = trained_sum.loss / sum.n;
        weft_scores out = scored(stand, (weft_part)part);
        is_near(score_of(fed, &out, "loss"), before, 1e-6,
                "loss of the server's weights, %s", weft_part_name[part]);
        is_near(score_of(fed, &out, "personal_loss"), after, 1e-6,
                "loss after local training");
        is_near(score_of(fed, &out, "personal_error"), trained_sum.wrong / sum.n, 1e-12,
                "error after local training");
        if (part == WEFT_TEST) continue;
        is_near(in_row(fed, stand->row[2], "valid_loss"), before, 1e-6,
                "evaluation after a round");
        is_near(measured(fed, &stand->res, "personal_loss"), after, 1e-6,
                "evaluation after a job");
        is_near(measured(fed, &stand->res, "global_loss"), before, 1e-6, "both ways");
        is_near(stand->res.bound, 0, 0, "of all clients: no interval");
    }
    units(stand, 1, 0, 1);
    is_near(in_row(fed, stand->row[3], "before_loss"),
            in_row(fed, stand->row[2], "valid_loss"), 1e-12,
            "the scores before a round are those of the evaluation before it");
}

static void test_selection(void)
{
    static const char *const how[] = {"pooled", "last", "best", "bound"};
    struct toy *toy = forty_clients();
    for (int e = 0; e < 4; e++) {
        struct stand *stand = trained(toy,
                                      printed("[fed]\ncohort = 4\npool = 3\nscore = loss\n"
                                              "select = %s\n",
                                              how[e]),
                                      1, 7);
        double lowest = INFINITY, highest = -INFINITY, best = INFINITY;
        for (int r = 0; r < 7; r++) {
            best = fmin(best, in_row(fed, stand->row[r], "after_loss"));
            if (r < 4) continue;
            lowest = fmin(lowest, in_row(fed, stand->row[r], "after_loss"));
            highest = worse(highest, in_row(fed, stand->row[r], "after_loss"));
        }
        if (e == 0)
            ok(stand->res.loss > lowest && stand->res.loss < highest &&
                   stand->res.bound > 0,
               "pooled: between the scores of the last three rounds");
        if (e == 1)
            is_near(stand->res.loss, in_row(fed, stand->row[6], "after_loss"), 0,
                    "last: the last round's");
        if (e == 2) is_near(stand->res.loss, best, 0, "best: the lowest of any round");
        if (e == 3)
            is_near(stand->res.loss,
                    measured(fed, &stand->res, "valid_loss") + stand->res.bound, 1e-12,
                    "bound: the mean and half the interval");
    }
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

static void test_server(void)
{
    struct toy *toy = five_clients();
    const struct stand *stand =
        trained(toy,
                "[fed]\ncohort = 5\n[client]\nlr = 0.5\nbatch = 50\n[server]\n"
                "optimizer = adam\nlr = 0.1\ntau = 0.01\n",
                1, 1);
    double w[W] = {0}, delta[W];
    mean_step(toy, 31, 0.5, w, delta);
    for (int i = 0; i < W; i++) {
        double v = 0.99 * 1e-4 + 0.01 * delta[i] * delta[i];
        w[i] = 0.1 * 0.1 * delta[i] / (sqrt(v) + 0.01);
    }
    is_near(distance(stand->state.x, w), 0, 1e-6,
            "Adam takes the mean change as its gradient");
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

MAIN(scratch, test_one_client, test_averages, test_scores, test_selection, test_cohorts,
     test_options, test_divergence, test_devices, test_seconds, test_server, test_caps)
