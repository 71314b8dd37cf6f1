/* Privacy by client: clipping, noise and fixed divisors of rounds beside softmax regression
 * in doubles, who is drawn, the tree beside sums over its nodes, scores, the ledger beside
 * releases counted by hand, what is refused; the same bits on any ranks and after any stop.
 * RUN: np=1 np=2 np=3 */
#include "task/fed/privacy.h"
#include "toy.h"

#include "weft/privacy/accounting.h"

#define STEP  "[client]\nlr = 0.5\nbatch = 50\n"
#define STILL "[client]\nlr = 0\n"

static struct toy *four_trainers(void)
{
    int64_t count[5][WEFT_NPART] = {
        {20, 7, 9}, {3, 2, 1}, {11, 4, 4}, {0, 1, 8}, {8, 8, 8}};
    return toy_new(5, count);
}

static const fed_task *task_of(const struct stand *stand)
{
    return stand->self;
}

/* ---- changes ---- */

/* x[W] += the changes from w of five clients, shortened to `clip`; returns how many were
 * no longer. */
static int add_changes(struct toy *toy, const double *w, double clip, double *x)
{
    int below = 0;
    for (int c = 0; c < 5; c++) {
        double own[W], norm = 0;
        if (toy->count[c][WEFT_TRAIN] == 0) continue;
        memcpy(own, w, sizeof own);
        full_step(toy, c, 0.5, own);
        for (int i = 0; i < W; i++) norm += (own[i] - w[i]) * (own[i] - w[i]);
        norm = sqrt(norm);
        below += norm <= clip;
        for (int i = 0; i < W; i++) x[i] += (own[i] - w[i]) * fmin(1, clip / norm);
    }
    return below;
}

/* Norms of the first round: 0.54, 0.74, 0.59, 0.51. */
static void test_clips(void)
{
    static const double clips[] = {0.1, 0.56, 10};
    struct toy *toy = four_trainers();
    for (int e = 0; e < 3; e++) {
        struct stand *stand = trained(
            toy, printed("[fed]\ncohort = 5\n[privacy]\nclip = %g\n" STEP, clips[e]), 1, 2);
        double w[W] = {0};
        for (int round = 0; round < 2; round++) {
            double x[W] = {0};
            int below = add_changes(toy, w, clips[e], x);
            if (round == 0)
                ok(e == 0   ? below == 0
                   : e == 1 ? below == 2
                            : below == 4,
                   "%d of four changes are within %g", below, clips[e]);
            for (int i = 0; i < W; i++) w[i] += x[i] / 5;
        }
        is_near(distance(stand->state.x, w), 0, 2e-6,
                "two rounds: changes clipped to %g, equal weights, a fifth of their sum "
                "although one client has no samples",
                clips[e]);
        ok(isnan(in_row(fed, stand->row[0], "clients")) &&
               isnan(in_row(fed, stand->row[0], "train_loss")) &&
               isnan(in_row(fed, stand->row[0], "samples")) &&
               isnan(in_row(fed, stand->row[0], "diverged")),
           "what has no noise is not told");
    }
    int64_t count[1][WEFT_NPART] = {{20, 7, 9}};
    struct stand *one = trained(toy_new(1, count),
                                "[fed]\ncohort = 1\n[privacy]\nclip = 0.01\n" STEP, 1, 1);
    double norm = 0;
    for (int i = 0; i < W; i++) norm += (double)one->state.x[i] * one->state.x[i];
    ok(sqrt(norm) <= 0.01 && sqrt(norm) > 0.01 * (1 - 2e-6),
       "a change that was shortened is not longer than the clip: %.9f", sqrt(norm));
}

static void test_quantile(void)
{
    struct toy *toy = four_trainers();
    struct stand *stand = trained(toy,
                                  "[fed]\ncohort = 5\n[privacy]\nclip = 0.35\n"
                                  "quantile = 0.7\n" STEP,
                                  1, 12);
    double w[W] = {0}, clip = 0.35;
    for (int round = 0; round < 12; round++) {
        double x[W] = {0};
        int below = add_changes(toy, w, clip, x);
        for (int i = 0; i < W; i++) w[i] += x[i] / 5;
        /* of the five one sends nothing, which counts as half */
        clip *= exp(-0.2 * ((below - 0.5 * 4) / 5 + 0.5 - 0.7));
    }
    is_near(distance(stand->state.x, w), 0, 1e-5, "the clip follows the quantile");
    struct stand *plain = standing(toy, "[fed]\ncohort = 5\n", 1);
    ok(stand->state.naux == plain->state.naux + 1, "of which the state has one number");
    is_near(stand->state.aux[stand->state.naux - 1], clip, 1e-6, "which is the clip");
    stand = standing(toy, "[fed]\ncohort = 5\n[privacy]\nclip = 0.35\n", 1);
    ok(stand->state.naux == plain->state.naux, "and none where it stays");
    /* the count with noise: 1 / z^2 = 1 / z_changes^2 + 1 / z_count^2 */
    stand = standing(toy,
                     "[fed]\ncohort = 5\n[privacy]\nclip = 1\nquantile = 0.5\nnoise = 3\n"
                     "quantile_noise = 5\n",
                     1);
    is_near(task_of(stand)->modes.privacy->change_noise, 3.75, 1e-12,
            "noise 3 is 3.75 of changes and 5 of the count");
}

/* ---- noise ---- */

/* Statistics of x[n], with correlation to the number before. */
struct moments {
    double mean, sd, fourth, next;
};

static struct moments moments_of(int n, const double *x)
{
    struct moments m = {0};
    for (int i = 0; i < n; i++) m.mean += x[i] / n;
    for (int i = 0; i < n; i++) m.sd += (x[i] - m.mean) * (x[i] - m.mean) / n;
    for (int i = 0; i < n; i++) m.fourth += pow(x[i] - m.mean, 4) / n;
    for (int i = 1; i < n; i++) m.next += (x[i] - m.mean) * (x[i - 1] - m.mean) / n / m.sd;
    m.fourth /= m.sd * m.sd;
    m.sd = sqrt(m.sd);
    return m;
}

/* Clients that do not move: the server's weights move by noise alone. */
static void test_noise(void)
{
    enum { ROUNDS = 400, N = ROUNDS * W };
    static const char *const how[] = {"sampling = fixed", "sampling = poisson",
                                      "quantile = 0.5\nquantile_noise = 3"};
    static const double sd[] = {2.5 * 2 * 0.1 / 5, 2.5 * 0.1 / 5, NAN};
    struct toy *toy = forty_clients();
    static double x[3][N];
    for (int e = 0; e < 2; e++) {
        struct stand *stand = standing(
            toy,
            printed("[fed]\ncohort = 5\n[privacy]\nclip = 0.1\nnoise = 2.5\n%s\n" STILL,
                    how[e]),
            1);
        double before[W] = {0}, after[W];
        for (int r = 0; r < ROUNDS; r++) {
            units(stand, ROUNDS, r, r + 1);
            wide(stand->state.x, after);
            for (int i = 0; i < W; i++) x[e][r * W + i] = after[i] - before[i];
            memcpy(before, after, sizeof after);
        }
        struct moments m = moments_of(N, x[e]);
        is_near(m.sd, sd[e], 0.03 * sd[e], "%s: the noise's deviation, over the cohort",
                how[e]);
        is_near(m.mean, 0, 4 * sd[e] / sqrt(N), "its mean");
        is_near(m.fourth, 3, 0.25, "its fourth moment is that of a normal distribution");
        is_near(m.next, 0, 4 / sqrt(N), "neighbours are independent");
    }
    double same = 0, rounds = 0;
    for (int i = 0; i < N; i++) same += x[0][i] * x[0][i] / N;
    for (int i = W; i < N; i++) rounds += x[0][i] * x[0][i - W] / N;
    is_near(rounds / same, 0, 4 / sqrt(N), "so are rounds");
    struct stand *other =
        standing(toy, "[fed]\ncohort = 5\n[privacy]\nclip = 0.1\nnoise = 2.5\n" STILL, 1);
    other->job.trial = 1;
    units(other, 1, 0, 1);
    double cross = 0;
    for (int i = 0; i < W; i++) cross += other->state.x[i] * x[0][i] / same / W;
    ok(fabs(cross) < 0.9, "and trials");
}

/* N(t): of the binary digits of t, from the highest, each has a node. */
static void add_nodes(uint64_t begun, uint64_t t, double *sum)
{
    uint64_t done = 0;
    for (int level = 20; level >= 0; level--) {
        if (!(t >> level & 1)) continue;
        done += (uint64_t)1 << level;
        for (int i = 0; i < W; i++) {
            double z[4];
            weft_rng4 rng =
                weft_rng_at(3, WEFT_RNG_PRIVACY, 0,
                            (uint64_t)7 << 56 | (uint64_t)level << 48 | (begun + done),
                            (uint64_t)i / 4);
            weft_rng_normal(&rng, z);
            sum[i] += z[i % 4];
        }
    }
}

static void test_tree(void)
{
    enum { EVERY = 6, ROUNDS = 16 };
    struct toy *toy = forty_clients();
    struct stand *stand = standing(toy,
                                   "[fed]\ncohort = 6\n[privacy]\nclip = 0.5\nnoise = 4\n"
                                   "mechanism = tree\n" STILL,
                                   1);
    double base[W] = {0}, most = 0;
    for (int r = 0; r < ROUNDS; r++) {
        units(stand, ROUNDS, r, r + 1);
        double x[W], n[W] = {0};
        add_nodes((uint64_t)(r - r % EVERY), (uint64_t)(r % EVERY + 1), n);
        wide(stand->state.x, x);
        for (int i = 0; i < W; i++)
            most = fmax(most, fabs(x[i] - base[i] - 4 * 0.5 / 6 * n[i]));
        if (r % EVERY == EVERY - 1) memcpy(base, x, sizeof x);
    }
    is_near(most, 0, 2e-6, "sums since a restart have the noise of their nodes");
    const fed_task *task = task_of(stand);
    int seen[40] = {0}, once = 1, moved = 0;
    weft_arena *tmp = weft_arena_new();
    for (int r = 0; r < 2 * EVERY; r++) {
        int64_t *client, n = fed_privacy_draw(task, 0, r, &client, tmp);
        for (int64_t i = 0; i < n; i++) {
            once &= seen[client[i]] == r / EVERY || r < EVERY || seen[client[i]] == 0;
            seen[client[i]] += 1;
        }
        if (r == EVERY - 1)
            for (int c = 0; c < 40; c++) once &= seen[c] <= 1;
    }
    for (int c = 0; c < 40; c++) {
        once &= seen[c] <= 2;
        moved += seen[c] == 1;
    }
    ok(once && moved > 0, "between restarts a client takes part at most once");
    weft_arena_free(tmp);
}

/* ---- who takes part ---- */

static void test_draws(void)
{
    enum { ROUNDS = 4000 };
    struct toy *toy = forty_clients();
    static const char *const how[] = {"fixed", "poisson"};
    for (int e = 0; e < 2; e++) {
        struct stand *stand = standing(
            toy, printed("[fed]\ncohort = 8\n[privacy]\nclip = 1\nsampling = %s\n", how[e]),
            1);
        const fed_task *task = task_of(stand);
        double n = 0, square = 0, each[40] = {0}, pair = 0, both = 0, most = 0;
        weft_arena *tmp = weft_arena_new();
        for (int r = 0; r < ROUNDS; r++) {
            int in[2][40] = {{0}};
            for (int trial = 0; trial < 2; trial++) {
                int64_t *client, m = fed_privacy_draw(task, trial, r, &client, tmp);
                for (int64_t i = 0; i < m; i++) in[trial][client[i]]++;
                if (trial == 1) continue;
                n += (double)m / ROUNDS;
                square += (double)(m * m) / ROUNDS;
            }
            for (int c = 0; c < 40; c++) {
                each[c] += (double)in[0][c] / ROUNDS;
                most = fmax(most, in[0][c]);
                both += (double)(in[0][c] * in[1][c]) / ROUNDS / 40;
            }
            pair += (double)(in[0][3] * in[0][4]) / ROUNDS;
        }
        double apart = 0;
        for (int c = 0; c < 40; c++) apart = fmax(apart, fabs(each[c] - 0.2));
        is_near(apart, 0, 0.025, "%s: a client is in a round of five", how[e]);
        is_near(most, 1, 0, "once");
        is_near(both, 0.04, 0.003, "trials draw independently");
        is_near(n, 8, 0.15, "eight clients a round");
        is_near(square - n * n, e == 0 ? 0 : 40 * 0.2 * 0.8, e == 0 ? 1e-6 : 0.6,
                "the variance of their number");
        is_near(pair, e == 0 ? 8.0 * 7 / 40 / 39 : 0.04, 0.012, "two of them together");
        weft_arena_free(tmp);
    }
    struct stand *few = trained(toy,
                                "[fed]\ncohort = 1\n[privacy]\nclip = 1\n"
                                "sampling = poisson\n" STILL,
                                1, 30);
    ok(few->rows == 30 && isnan(in_row(fed, few->row[0], "bytes")),
       "rounds may have no client, and do not tell their number");
}

/* ---- scores ---- */

/* The mean over clients of each one's mean, after a step of rate lr from w. */
static void means_of(struct toy *toy, const double *w, double lr, double *loss,
                     double *wrong)
{
    *loss = *wrong = 0;
    for (int c = 0; c < toy->n; c++) {
        double own[W];
        memcpy(own, w, sizeof own);
        if (toy->count[c][WEFT_TRAIN] > 0) full_step(toy, c, lr, own);
        struct sums sums = part_score(toy, c, WEFT_VALID, own);
        if (!(sums.n > 0)) continue;
        *loss += fmin(sums.loss / sums.n, 2 * log(C)) / toy->n;
        *wrong += sums.wrong / sums.n / toy->n;
    }
}

static void test_scores(void)
{
    enum { ROUNDS = 400 };
    struct toy *toy = forty_clients();
    struct stand *stand = standing(toy,
                                   "[fed]\ncohort = 40\nscore = loss\npool = 400\n"
                                   "eval_clients = 0\neval_every = 1\n"
                                   "[privacy]\nclip = 1\nscore_noise = 3\n" STILL,
                                   1);
    double w[W], loss, wrong, x[4][ROUNDS];
    for (int i = 0; i < W; i++)
        w[i] = stand->state.x[i] = (real)(40 * normal_of(1, i, 0, 0));
    means_of(toy, w, 0, &loss, &wrong);
    units(stand, ROUNDS, 0, ROUNDS);
    for (int r = 0; r < ROUNDS; r++) {
        x[0][r] = in_row(fed, stand->row[r], "after_loss");
        x[1][r] = in_row(fed, stand->row[r], "after_error");
        x[2][r] = in_row(fed, stand->row[r], "valid_loss");
        x[3][r] = in_row(fed, stand->row[r], "valid_error");
    }
    for (int k = 0; k < 4; k++) {
        /* the last round's evaluation is personal, of four numbers */
        struct moments m = moments_of(ROUNDS - (k > 1), x[k]);
        double sd = 3 * sqrt(2) / 40 * (k % 2 ? 1 : 2 * log(C));
        is_near(m.mean, k % 2 ? wrong : loss, 4 * sd / sqrt(ROUNDS),
                "%s: the mean of all clients' means",
                k % 2 ? "error" : "loss within its worst");
        is_near(m.sd, sd, 0.15 * sd, "with noise");
        is_near(m.next, 0, 0.2, "that is new each time");
    }
    double mean = 0;
    for (int r = 0; r < ROUNDS; r++) mean += x[0][r] / ROUNDS;
    is_near(stand->res.loss, mean, 1e-9, "the tuner is told the noised scores");
    ok(stand->res.noised == 1, "which it knows");
    is_near(stand->res.bound, 1.96 * 3 * sqrt(2) / 40 * 2 * log(C) / sqrt(ROUNDS), 1e-12,
            "and half of the interval of the noise of their mean");
    weft_scores valid = scored(stand, WEFT_VALID), again = scored(stand, WEFT_VALID),
                test = scored(stand, WEFT_TEST);
    is_near(score_of(fed, &valid, "loss"), loss, 5 * 3 * 2 / 40.0 * 2 * log(C),
            "the winner's score has noise");
    ok(fabs(score_of(fed, &valid, "loss") - loss) > 1e-6 &&
           fabs(score_of(fed, &valid, "error") - wrong) > 1e-6,
       "which is not 0");
    is_near(score_of(fed, &again, "loss"), score_of(fed, &valid, "loss"), 0,
            "the same noise each time that it is computed");
    ok(fabs(score_of(fed, &test, "loss") - score_of(fed, &valid, "loss")) > 1e-6,
       "another of another part");
    ok(!valid.members && !valid.confusion, "no scores of clients, no confusion matrix");
    stand =
        trained(toy, "[fed]\ncohort = 5\n[privacy]\nclip = 1\n[client]\nlr = 1e6\n", 1, 1);
    ok(isnan(in_row(fed, stand->row[0], "diverged")) && isfinite(stand->res.loss),
       "clients that diverge have the worst scores, with noise");
    stand = trained(
        toy, "[fed]\ncohort = 5\nselect = eval\neval_clients = 0\n[privacy]\nclip = 1\n", 1,
        3);
    ok(isnan(in_row(fed, stand->row[2], "after_error")) && isfinite(stand->res.loss),
       "rounds are not scored where an evaluation decides");
    is_near(stand->res.arm_count[0], 0, 0, "and count nobody");
}

/* ---- the ledger ---- */

static weft_planned plan;
static const weft_planned *planned(void *planner)
{
    (void)planner;
    return &plan;
}

/* As stand_up, with that plan. */
static weft_status stand_planned(struct stand *stand, struct toy *toy, const char *options)
{
    weft_conf *conf = WEFT_NEW(mem, weft_conf, 1);
    *stand = (struct stand){.self = weft_arena_alloc(mem, 1, fed->kind.size)};
    weft_conf_init(conf, mem);
    TRY(weft_conf_text(conf, "test", options));
    weft_env env = {.team = &world,
                    .data = &toy->data,
                    .seed = 3,
                    .memory = 1e9,
                    .mem = mem,
                    .planned = planned};
    return weft_agree(open_task(fed, stand->self, conf, &stand->space, env), &world);
}

/* Three trials: of 20 rounds in two jobs, of 30, and of 10 that copy the first. */
static void three_trials(weft_job job[4])
{
    static const int64_t trial[] = {0, 1, 0, 2};
    static const double rounds[] = {12, 30, 8, 10};
    for (int i = 0; i < 4; i++) {
        job[i] = weft_job_new(trial[i], rounds[i], NULL);
        job[i].id = i;
    }
    job[3].from = 0;
}

static weft_ledger ledger_of(struct toy *toy, const char *options, int n,
                             const weft_job *job)
{
    weft_ledger ledger = {0};
    struct stand *stand = standing(toy, options, 1);
    ok(fed->ledger(stand->self, n, job, 2, &ledger) == 1, "there is a ledger");
    return ledger;
}

static double by_hand(int n, const weft_release *release, double delta)
{
    weft_arena *tmp = weft_arena_new();
    double epsilon = weft_epsilon(n, release, delta, tmp);
    weft_arena_free(tmp);
    return epsilon;
}

static void test_ledger(void)
{
    weft_job job[4];
    struct toy *toy = forty_clients();
    const double delta = pow(40, -1.1);
    three_trials(job);
    for (int e = 0; e < 2; e++) {
        weft_sampling how = e == 0 ? WEFT_SAMPLED_FIXED : WEFT_SAMPLED_EACH;
        weft_ledger ledger = ledger_of(
            toy,
            printed("[fed]\ncohort = 4\neval_clients = 0\neval_every = 5\n"
                    "[privacy]\nclip = 1\nnoise = 3\nscore_noise = 4\nsampling = %s\n",
                    e == 0 ? "fixed" : "poisson"),
            4, job);
        /* evaluations: after rounds 5, 10, 12, 15, 20; six; 25, 30 and perhaps one more;
         * two of the winner */
        weft_release all[2] = {{how, 0.1, 12 / 5.0, 60, 0}, {how, 1, 4, 5 + 6 + 3 + 2, 0}};
        weft_release weights = {how, 0.1, 3, 60, 0};
        weft_release scores[2] = {{how, 0.1, 4, 60, 0}, all[1]};
        is_near(ledger.delta, delta, 1e-15, "delta");
        is_near(ledger.epsilon, by_hand(2, all, delta), 1e-9, "all trials together: %g",
                ledger.epsilon);
        is_near(ledger.weights, by_hand(1, &weights, delta), 1e-9, "weights: %g",
                ledger.weights);
        is_near(ledger.scores, by_hand(2, scores, delta), 1e-9, "scores: %g",
                ledger.scores);
        ok(ledger.rounds == 60 && ledger.scored == 60 && ledger.evaluations == 16,
           "in numbers, %lld evaluations", (long long)ledger.evaluations);
    }
    weft_ledger ledger = ledger_of(toy,
                                   "[fed]\ncohort = 4\nselect = eval\neval_clients = 0\n"
                                   "[privacy]\nclip = 1\nnoise = 3\nscore_noise = 4\n"
                                   "delta = 1e-4\n",
                                   4, job);
    weft_release eval[2] = {{WEFT_SAMPLED_FIXED, 0.1, 3, 60, 0},
                            {WEFT_SAMPLED_FIXED, 1, 4, 4 + 2, 0}};
    is_near(ledger.epsilon, by_hand(2, eval, 1e-4), 1e-9,
            "where an evaluation decides, rounds have no scores");
    ledger = ledger_of(toy,
                       "[fed]\ncohort = 4\n[privacy]\nclip = 1\nnoise = 3\n"
                       "score_noise = 4\nmechanism = tree\n",
                       4, job);
    /* restarts after 10 rounds: 2 of 20, 3 of 30, 1 of 10 and one that the copy is within
     */
    weft_release tree[3] = {{WEFT_SAMPLED_TREE, 0, 3, 2 + 3 + 2, 10},
                            {WEFT_SAMPLED_EACH, 1, 4, 2 + 3 + 2, 0},
                            {WEFT_SAMPLED_EACH, 1, 4, 2, 0}};
    is_near(ledger.epsilon, by_hand(3, tree, delta), 1e-9, "a tree");
    is_near(ledger.weights, by_hand(1, tree, delta), 1e-9, "its weights");
    ledger = ledger_of(toy, "[fed]\ncohort = 4\n[privacy]\nclip = 1\n", 4, job);
    ok(isinf(ledger.epsilon) && isfinite(ledger.scores), "without noise of changes");
    struct stand *none = standing(toy, "[fed]\ncohort = 4\n", 1);
    ok(!fed->ledger(none->self, 4, job, 2, &ledger), "without privacy there is none");
}

static void test_target(void)
{
    static const char *const how[] = {"sampling = fixed", "sampling = poisson",
                                      "mechanism = tree",
                                      "quantile = 0.5\nquantile_noise = 90"};
    weft_job job[4];
    struct toy *toy = forty_clients();
    three_trials(job);
    plan = (weft_planned){4, job};
    for (int e = 0; e < 4; e++) {
        struct stand stand;
        must(stand_planned(&stand, toy,
                           printed("[fed]\ncohort = 4\n[privacy]\nclip = 1\nepsilon = 3\n"
                                   "score_noise = 30\n%s\n",
                                   how[e])));
        weft_ledger ledger;
        fed_task *task = stand.self;
        must(fed->ledger(stand.self, 4, job, 2, &ledger) ? WEFT_OK : WEFT_ECONF);
        ok(ledger.epsilon <= 3 && ledger.epsilon > 3 * 0.985, "%s: epsilon 3 is %g", how[e],
           ledger.epsilon);
        task->modes.privacy->noise *= 0.989;
        must(fed->ledger(stand.self, 4, job, 2, &ledger) ? WEFT_OK : WEFT_ECONF);
        ok(ledger.epsilon > 3, "with noise of a hundredth less it is more: %g",
           ledger.epsilon);
    }
    struct stand stand;
    weft_status st = stand_planned(
        &stand, toy,
        "[fed]\ncohort = 4\n[privacy]\nclip = 1\nepsilon = 1\nscore_noise = 1\n");
    fails(st, WEFT_ECONF, "privacy.epsilon = 1", "privacy.score_noise",
          "a target that scores alone exceed");
}

/* ---- what is refused ---- */

static void test_refusals(void)
{
    static const struct {
        const char *options, *word;
    } refused[] = {
        {"[fed]\ncohort = 5\nreplacement = yes\n", "fed.replacement"},
        {"[fed]\ncohort = 5\nalgorithm = scaffold\n", "fedavg"},
        {"[fed]\ncohort = 5\nalgorithm = feddyn\n", "fedavg"},
        {"[fed]\ncohort = 5\nalgorithm = fednova\n", "fedavg"},
        {"[fed]\ncohort = 5\nalgorithm = fedexp\n", "fedavg"},
        {"[fed]\ncohort = 5\nalgorithm = ditto\n", "fedavg"},
        {"[fed]\ncohort = 5\nscore = worst10\n", "fed.score"},
        {"[fed]\ncohort = 5\nscore = balanced\n", "fed.score"},
        {"[fed]\ncohort = 5\nselect = bound\n", "fed.select"},
        {"[fed]\ncohort = 5\nnew_clients = 0.2\n", "fed.new_clients"},
        {"[fed]\ncohort = 5\n[device]\nover = 1.5\n", "device.over"},
        {"[fed]\ncohort = 5\n[device]\nsample_seconds = 1\n", "device.sample_seconds"},
        {"[fed]\ncohort = 5\n[device]\nup = 1e6\n", "device.sample_seconds"},
        {"[fed]\ncohort = 5\n[run]\nmixing = fedex\n", "run.mixing"},
        {"[fed]\ncohort = 5\n[run]\ntuner = ws_sha\n", "run.tuner"},
        {"[fed]\ncohort = 5\n[privacy]\nnoise = 1\nepsilon = 2\n", "privacy.noise"},
        {"[fed]\ncohort = 5\n[privacy]\nepsilon = 2\n", "planned"},
        {"[fed]\ncohort = 5\n[privacy]\nmechanism = tree\nsampling = poisson\n",
         "privacy.sampling"},
        {"[fed]\ncohort = 5\n[privacy]\nmechanism = tree\nquantile = 0.5\n",
         "privacy.quantile"},
        {"[fed]\ncohort = 5\n[privacy]\nquantile_noise = 3\n", "privacy.quantile"},
        {"[fed]\ncohort = 5\n[privacy]\nquantile = 0.5\nnoise = 1\n", "fed.cohort"},
    };
    struct toy *toy = forty_clients();
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        stand_refused(toy, printed("%s[privacy]\nclip = 1\n", refused[i].options),
                      refused[i].word);
    stand_refused(toy, "[fed]\ncohort = 5\n[privacy]\nnoise = 1\n", "privacy.clip");
    struct stand *two = standing(
        toy, "[fed]\ncohort = 5\n[client]\nlr = 0.1 .. 1\n[privacy]\nclip = 1\n", 2);
    two->job.resource = 1;
    weft_result_begin(&two->res, &two->job);
    fails(fed->step(two->self, &two->job, 0, &two->state, two->row[0], &two->res),
          WEFT_ECONF, "run.mixing", "privacy", "a mixture");
}

/* ---- the same bits ---- */

static void test_same_bits(void)
{
    static const char *const how[] = {
        "sampling = poisson\nquantile = 0.5\nnoise = 0.2",
        "sampling = fixed\nquantile = 0.3\nquantile_noise = 8\nnoise = 1",
        "mechanism = tree\nnoise = 2"};
    struct toy *toy = forty_clients();
    const weft_mix_update none = {.schedule = WEFT_UPDATE_NONE};
    for (int e = 0; e < 3; e++)
        for (int lanes = 0; lanes < 2; lanes++) {
            const char *options = printed(
                "[fed]\ncohort = 7\nscore_both = yes\neval_clients = 9\neval_every = 4\n"
                "[device]\ndropout = 0.2\n[privacy]\nclip = 0.3\n%s\n"
                "[client]\nmomentum = 0.5\nbatch = %d\n",
                how[e], lanes ? 4 : 3000);
            struct stand *whole = standing(toy, options, 1);
            units(whole, 12, 0, 12);
            digest(hash_of(whole));
            ok(goes_on_alike(toy, options, 1, none, 12, 1, hash_of(whole)),
               "a job stopped after any round goes on to the same bits");
        }
}

MAIN(scratch, test_clips, test_quantile, test_noise, test_tree, test_draws, test_scores,
     test_ledger, test_target, test_refusals, test_same_bits)
