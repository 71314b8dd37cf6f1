/* What rounds of federated training score and step, recomputed from the samples in doubles:
 * the worst clients, parts that are scored in portions and pieces, steps of the server
 * where cohorts are lost; what a job is said to cost. The rest of a round is compared in
 * t_fed_rounds.
 * RUN: np=1 np=2 np=3 */
#include "toy.h"

enum { N = 5, K = 2, BEFORE = 0, AFTER = 1 };

static struct toy *five_unlike(void)
{
    int64_t count[N][WEFT_NPART] = {
        {20, 1, 3}, {3, 2, 1}, {11, 4, 4}, {30, 8, 8}, {8, 16, 8}};
    return toy_new(N, count);
}

/* A client's sums before and after a full step from w. */
struct turn {
    struct sums s[2];
};

static struct turn turn_of(const struct toy *toy, int c, double lr, const double *w)
{
    double own[W];
    memcpy(own, w, sizeof own);
    full_step(toy, c, lr, own);
    return (struct turn){
        {part_score(toy, c, WEFT_VALID, w), part_score(toy, c, WEFT_VALID, own)}};
}

static void add(struct sums *to, struct sums s)
{
    to->loss += s.loss;
    to->wrong += s.wrong;
    to->n += s.n;
}

/* ---- scores ---- */

static void test_round(const double *row, const struct sums *seen, struct sums trained)
{
    double off = 0;
    off = worse(off, fabs(in_row(fed, row, "before_loss") - seen[BEFORE].loss / seen->n));
    off = worse(off, fabs(in_row(fed, row, "after_loss") - seen[AFTER].loss / seen->n));
    off = worse(off, fabs(in_row(fed, row, "train_loss") - trained.loss / trained.n));
    off = worse(off, fabs(in_row(fed, row, "before_error") - seen[BEFORE].wrong / seen->n));
    off = worse(off, fabs(in_row(fed, row, "after_error") - seen[AFTER].wrong / seen->n));
    is_near(off, 0, 1e-6, "scores of a round are those of its cohort");
    is_near(in_row(fed, row, "samples"), trained.n, 0, "which trained its samples");
}

/* Shares of wrong answers of the tenth of clients with the largest, in a round and in an
 * evaluation: 3 of 23. */
static void test_worst(const char *select)
{
    enum { MANY = 23 };
    int64_t count[MANY][WEFT_NPART];
    for (int c = 0; c < MANY; c++) {
        count[c][WEFT_TRAIN] = 4;
        count[c][WEFT_VALID] = 4 + 4 * (c % 2);
        count[c][WEFT_TEST] = 1;
    }
    struct toy *toy = toy_new(MANY, count);
    struct stand *stand =
        standing(toy,
                 printed("[fed]\ncohort = 23\nscore_weights = global\n"
                         "score = worst10\nselect = %s\neval_clients = 0\n",
                         select),
                 1);
    double w[W], rate[MANY], wrong[MANY], n[MANY], worst = 0, scored = 0;
    wide(stand->state.x, w);
    units(stand, 1, 0, 1);
    if (strcmp(select, "eval") == 0) wide(stand->state.x, w);
    for (int c = 0; c < MANY; c++) {
        struct sums one = part_score(toy, c, WEFT_VALID, w);
        wrong[c] = one.wrong;
        n[c] = one.n;
        rate[c] = one.wrong / one.n;
    }
    for (int i = 0; i < 3; i++) { /* of equally wrong ones the first */
        int at = 0;
        for (int c = 1; c < MANY; c++)
            if (rate[c] > rate[at]) at = c;
        worst += wrong[at];
        scored += n[at];
        rate[at] = -1;
    }
    is_near(stand->res.loss, worst / scored, 1e-12, "%s: the score is of the worst tenth",
            select);
    ok(isnan(stand->res.bound), "%s: of which there is no interval", select);
    ok(isnan(stand->res.bound) && stand->res.by_error, "an error rate without an interval");
}

/* More clients than are scored between two exchanges. */
static void test_portions(void)
{
    enum { MANY = 4100 };
    static int64_t count[MANY][WEFT_NPART];
    for (int c = 0; c < MANY; c++)
        for (int p = 0; p < WEFT_NPART; p++) count[c][p] = 1;
    struct toy *toy = toy_new(MANY, count);
    struct stand *stand =
        standing(toy,
                 "[fed]\ncohort = 50\nscore_weights = global\neval_clients = 0\n"
                 "[client]\nlr = 0.5\n",
                 1);
    units(stand, 1, 0, 1);
    for (int part = WEFT_VALID; part <= WEFT_TEST; part++) {
        double w[W];
        struct sums all = {0};
        wide(stand->state.x, w);
        for (int c = 0; c < MANY; c++) add(&all, part_score(toy, c, (weft_part)part, w));
        weft_scores out = scored(stand, (weft_part)part);
        is_near(out.count, MANY, 0, "%s: all of %d clients are scored",
                weft_part_name[part], MANY);
        is_near(score_of(fed, &out, "loss"), all.loss / MANY, 1e-6, "their mean loss");
        is_near(score_of(fed, &out, "error"), all.wrong / MANY, 1e-12, "and error");
        if (part == WEFT_VALID)
            is_near(measured(fed, &stand->res, "global_error"), all.wrong / MANY, 1e-12,
                    "which a job is told");
    }
}

/* The probability of each row's class gives the clients' losses, row by row. */
static void test_predictions(const struct toy *toy, struct stand *stand, const double *w)
{
    weft_predictions said;
    must(fed->winner.predict(stand->self, &stand->job, &stand->state, WEFT_VALID, &said,
                             mem));
    double off = 0;
    int64_t row = 0;
    for (int c = 0; c < toy->n; c++)
        for (int64_t i = 0; i < toy->count[c][WEFT_VALID]; i++, row++) {
            struct sums one = softmax(toy, c, first_of(toy, c, WEFT_VALID) + i, 1, w, NULL);
            double p = said.score[row * C + said.label[row]];
            off = worse(off, fabs(one.loss + log(p)));
        }
    is_near(off, 0, 1e-5, "%d rows of clients are predicted in their order", (int)row);
}

/* A client with more samples than are scored at once, trained beside others or, because of
 * dropout, which a linear network does not have, alone. */
static void test_pieces(double dropout)
{
    int64_t count[2][WEFT_NPART] = {{20, 150, 9}, {10, 64, 9}};
    struct toy *toy = toy_new(2, count);
    struct stand *stand = standing(toy,
                                   printed("[fed]\ncohort = 2\nscore_both = yes\n[client]\n"
                                           "lr = 0.5\nbatch = 20\ndropout = %g\n",
                                           dropout),
                                   1);
    struct sums seen[2] = {0}, trained = {0};
    double w[W];
    units(stand, 2, 0, 1);
    wide(stand->state.x, w);
    test_predictions(toy, stand, w);
    units(stand, 2, 1, 2);
    for (int c = 0; c < 2; c++) {
        struct turn one = turn_of(toy, c, 0.5, w);
        for (int e = 0; e < 2; e++) add(&seen[e], one.s[e]);
        add(&trained, part_score(toy, c, WEFT_TRAIN, w));
    }
    test_round(stand->row[1], seen, trained);
}

/* ---- the server ---- */

/* Adam's first step is taken by the first cohort that comes back. */
static void test_steps(void)
{
    enum { ROUNDS = 20 };
    int64_t count[1][WEFT_NPART] = {{20, 7, 9}};
    struct toy *toy = toy_new(1, count);
    struct stand *stand =
        standing(toy,
                 "[fed]\ncohort = 1\n[client]\nlr = 0.5\nbatch = 50\n[server]\n"
                 "optimizer = adam\nlr = 0.1\ntau = 0.01\ndecay = 0.3\n"
                 "[device]\ndropout = 0.8\n",
                 1);
    double mean[W] = {0}, square[W], off = 0;
    int steps = 0, lost = 0;
    for (int i = 0; i < W; i++) square[i] = 1e-4;
    for (int r = 0; r < ROUNDS; r++) {
        double w[W], own[W];
        wide(stand->state.x, w);
        memcpy(own, w, sizeof own);
        units(stand, ROUNDS, r, r + 1);
        int back = in_row(fed, stand->row[r], "clients") > 0;
        if (back) full_step(toy, 0, 0.5, own);
        for (int i = 0; i < W && back; i++) {
            double d = own[i] - w[i];
            mean[i] = 0.9 * mean[i] + 0.1 * d;
            square[i] = 0.99 * square[i] + 0.01 * d * d;
            w[i] += 0.1 * pow(0.7, steps) * mean[i] / (sqrt(square[i]) + 0.01);
        }
        off = worse(off, distance(stand->state.x, w));
        steps += back;
        lost += steps == 0;
    }
    ok(lost > 0 && steps > 1, "%d rounds are lost before the first of %d steps", lost,
       steps);
    is_near(off, 0, 1e-6, "steps of the server are counted, not rounds");
}

/* ---- costs ---- */

/* Of a job: a gradient of a linear network takes four operations a weight that is no bias,
 * a score a third of it. */
static void test_cost(void)
{
    enum { ROUNDS = 7, COHORT = 3 };
    static const double epochs[K] = {1, 3};
    double mean = (20 + 3 + 11 + 30 + 8) / 5.0, valid = 31 / 5.0, each = 4 * C * D;
    struct toy *toy = five_unlike();
    for (int both = 0; both < 2; both++) {
        struct stand *stand = standing(toy,
                                       printed("[fed]\ncohort = 3\nscore_both = %s\n"
                                               "[client]\nepochs = 1 .. 3\n",
                                               both ? "yes" : "no"),
                                       K);
        for (int i = 0; i < K; i++) stand->mix.conf[i] = epochs[i];
        stand->mix.logp[0] = log(0.25);
        stand->mix.logp[1] = log(0.75);
        stand->job.resource = ROUNDS;
        weft_cost cost = {0};
        fed->cost(stand->self, &stand->job, &cost);
        is_near(cost.flops, ROUNDS * COHORT * each * (2.5 * mean + (1 + both) * valid / 3),
                1e-6, "operations are those of all epochs and scores");
        is_near(cost.bytes, world.size > 1 ? ROUNDS * 8 * W * world.size : 0, 1e-9,
                "each rank sends the changes of a round");
    }
}

int main(int argc, char **argv)
{
    scratch_begin(&argc, &argv);
    test_worst("last");
    test_worst("eval");
    test_portions();
    test_pieces(0);
    test_pieces(0.5);
    return TESTS(test_steps, test_cost);
}
