/* Who is asked in a round, by each rule of fed.choose: chances beside those of the formula,
 * an unbiased mean, the clients of highest loss, utilities by a loop of their own; what is
 * remembered; the same bits on any ranks and after any stop.
 * RUN: np=1 np=2 np=3 */
#include "task/fed/choice.h"
#include "toy.h"

enum { N = 9, FORTY = 40, DRAWS = 20000 };

static const int64_t trained_on[N] = {3, 40, 0, 11, 7, 1, 120, 25, 6};

static struct toy *nine_clients(void)
{
    int64_t count[N][WEFT_NPART];
    for (int c = 0; c < N; c++) {
        count[c][WEFT_TRAIN] = trained_on[c];
        count[c][WEFT_VALID] = count[c][WEFT_TEST] = 1 + c % 3;
    }
    return toy_new(N, count);
}

/* A task by a rule, with further sections. */
static struct stand *by_rule(struct toy *toy, const char *rule, int cohort,
                             const char *more)
{
    return standing(toy, printed("[fed]\nchoose = %s\ncohort = %d\n%s", rule, cohort, more),
                    1);
}

/* The clients of a round, into of[N]: 1 if asked. Returns their number; -1: one twice. */
static int64_t asked(const struct stand *stand, int64_t round, const double *memory,
                     int64_t n, int *of)
{
    int64_t client[N];
    weft_arena *tmp = weft_arena_new();
    int64_t found = fed_choice_draw(stand->self, round, memory, n, client, tmp);
    weft_arena_free(tmp);
    memset(of, 0, N * sizeof *of);
    for (int64_t i = 0; i < found; i++)
        if (of[client[i]]++) return -1;
    return found;
}

static double *memory_of(const struct stand *stand)
{
    const fed_task *task = stand->self;
    return stand->state.aux + stand->state.naux - fed_choice_remembered(task);
}

/* ---- by size ---- */

/* Chances by the definition: the largest is taken out as long as its chance is above 1. */
static void chances(int m, double *chance)
{
    int out[N] = {0};
    for (;;) {
        double sum = 0;
        int left = m, largest = -1;
        for (int c = 0; c < N; c++) {
            left -= out[c];
            if (out[c]) continue;
            sum += (double)trained_on[c];
            if (largest < 0 || trained_on[c] > trained_on[largest]) largest = c;
        }
        if (left > 0 && (double)left * (double)trained_on[largest] >= sum) {
            out[largest] = 1;
            continue;
        }
        for (int c = 0; c < N; c++)
            chance[c] = out[c] ? 1 : left * (double)trained_on[c] / sum;
        return;
    }
}

/* A value of a client, of which the mean is taken. */
static double value(int c)
{
    return sin(3.0 * c) + c;
}

static void test_size(struct toy *toy, int m)
{
    struct stand *stand = by_rule(toy, "size", m, "");
    double chance[N], square = 0, sum = 0, squares = 0, aim = 0, all = 0;
    int64_t seen[N] = {0};
    int whole = 1, of[N], free_ones = 0;
    chances(m, chance);
    for (int64_t r = 0; r < DRAWS; r++) {
        double mean = 0, weight = 0;
        whole &= asked(stand, r, NULL, m, of) == m;
        for (int c = 0; c < N; c++) {
            seen[c] += of[c];
            if (!of[c]) continue;
            fed_client client = {.client = c, .samples = trained_on[c]};
            double w = fed_choice_weight(stand->self, &client);
            mean += w * value(c);
            weight += w;
        }
        sum += mean / weight / DRAWS;
        squares += mean / weight * (mean / weight) / DRAWS;
    }
    int bounds = 1;
    for (int c = 0; c < N; c++) {
        double expected = chance[c] * DRAWS;
        aim += (double)trained_on[c] * value(c);
        all += (double)trained_on[c];
        bounds &=
            (chance[c] > 0 && chance[c] < 1) || fabs((double)seen[c] - expected) < 0.5;
        if (!(chance[c] > 0 && chance[c] < 1)) continue;
        square += ((double)seen[c] - expected) * ((double)seen[c] - expected) /
                  (expected * (1 - chance[c]));
        free_ones++;
    }
    ok(whole, "%d different clients by size", m);
    ok(bounds, "none without samples, and those whose chance is 1 always");
    /* a sum of free_ones squares of unit variance, of negative correlation */
    ok(square < free_ones + 4 * sqrt(2.0 * free_ones), "in proportion to samples (%.1f)",
       square);
    double deviation = sqrt((squares - sum * sum) / DRAWS);
    ok(fabs(sum - aim / all) < 4 * deviation + 1e-12,
       "so that the mean is that by samples: %.4f of %.4f", sum, aim / all);
}

/* The mean is of equal weights but for clients that are always asked: of 213 samples the
 * one of 120 is, and with 3 asked the other two share 93. */
static void test_weights(struct toy *toy)
{
    struct stand *stand = by_rule(toy, "size", 3, "[client]\nlr = 0.5\nbatch = 200\n");
    int good = 1, of[N];
    for (int round = 0; round < 5; round++) {
        double w[W], mean[W] = {0}, sum = 0;
        wide(stand->state.x, w);
        asked(stand, round, NULL, 3, of);
        units(stand, 1, 0, 1);
        for (int c = 0; c < N; c++) {
            if (!of[c]) continue;
            double own[W], weight = c == 6 ? 120.0 * 2 / 93 : 1;
            memcpy(own, w, sizeof own);
            full_step(toy, c, 0.5, own);
            for (int i = 0; i < W; i++) mean[i] += weight * own[i];
            sum += weight;
        }
        for (int i = 0; i < W; i++) mean[i] /= sum;
        good &= of[6] && distance(stand->state.x, mean) < 1e-6;
    }
    ok(good, "a round by size is the mean that it says");
}

/* ---- by loss ---- */

static void test_loss(struct toy *toy)
{
    static const double loss[N] = {0.5, 1.5, 9, 0.2, INFINITY, 0.1, 2.5, INFINITY, 1.5};
    struct stand *stand = by_rule(toy, "loss", 2, "[choose]\ncandidates = 2.5\n"),
                 *five = by_rule(toy, "size", 5, "");
    int of[N], candidate[N], good = 1, varied = 0, before[N] = {0};
    for (int64_t r = 0; r < 200; r++) {
        int64_t n = asked(stand, r, loss, 2, of);
        asked(five, r, NULL, 5, candidate);
        double least = INFINITY;
        for (int c = 0; c < N; c++)
            if (of[c]) least = fmin(least, loss[c]);
        for (int c = 0; c < N; c++) {
            good &= !of[c] || candidate[c];
            good &= of[c] || !candidate[c] || loss[c] <= least;
        }
        good &= n == 2;
        varied += memcmp(before, of, sizeof of) != 0;
        memcpy(before, of, sizeof of);
    }
    ok(good && varied > 20, "two of five by size: those with the highest loss");

    struct stand *one = by_rule(toy, "loss", 3, "[client]\nlr = 0.5\nbatch = 200\n");
    double w[W], *memory = memory_of(one), mean[W] = {0};
    int right = fed_choice_remembered(one->self) == N, known = 0;
    wide(one->state.x, w);
    asked(one, 0, memory, 3, of);
    units(one, 1, 0, 1);
    for (int c = 0; c < N; c++) {
        double own[W];
        right &= of[c] == isfinite(memory[c]);
        if (!of[c]) continue;
        struct sums sums = softmax(toy, c, 0, trained_on[c], w, NULL);
        right &= fabs(memory[c] - sums.loss / sums.n) < 1e-6;
        memcpy(own, w, sizeof own);
        full_step(toy, c, 0.5, own);
        for (int i = 0; i < W; i++) mean[i] += own[i] / 3;
        known++;
    }
    ok(right && known == 3, "the loss of its training is remembered of each that answered");
    is_near(distance(one->state.x, mean), 0, 1e-6, "the mean of those asked is plain");
}

/* ---- oort ---- */

struct remembered {
    double utility, round, seconds;
};

/* The larger of each two neighbours to the right, until all are in order. */
static void sort(int n, double *x)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j + 1 < n; j++) {
            double less = fmin(x[j], x[j + 1]);
            x[j + 1] = worse(x[j], x[j + 1]);
            x[j] = less;
        }
}

/* The utility of each of n clients, 0 of those that are not known, by the formula of
 * choice.h. */
static void utilities(int n, const struct remembered *of, double round, double *utility)
{
    double u[FORTY], t[FORTY];
    int known = 0;
    for (int c = 0; c < n; c++) {
        if (isinf(of[c].utility)) continue;
        u[known] = of[c].utility;
        t[known++] = of[c].seconds;
    }
    sort(known, u);
    sort(known, t);
    double most = u[(int)(known * 0.95)], usual = t[(int)(known * 0.3)];
    for (int c = 0; c < n; c++) {
        utility[c] = 0;
        if (isinf(of[c].utility)) continue;
        utility[c] = fmin(of[c].utility / most, 1) + sqrt(0.1 * log(round) / of[c].round);
        if (of[c].seconds > usual) utility[c] *= pow(usual / of[c].seconds, 2);
    }
}

/* One that is asked for its use, of those near the best: chances in proportion. */
static void test_useful(void)
{
    struct stand *stand = by_rule(forty_clients(), "oort", 1, "");
    fed_task *task = stand->self;
    struct remembered of[FORTY];
    double utility[FORTY], best = 0, sum = 0, square = 0;
    int near = 0, none = 1, clipped = 0, slow = 0;
    int64_t seen[FORTY] = {0};
    for (int c = 0; c < FORTY; c++)
        of[c] = (struct remembered){40 + c % 11, 60 + c % 9, c % 4 ? 4 : 4.05};
    utilities(FORTY, of, 100, utility);
    for (int c = 0; c < FORTY; c++) best = worse(best, utility[c]);
    for (int c = 0; c < FORTY; c++) {
        if (utility[c] < 0.95 * best) utility[c] = 0;
        sum += utility[c];
        near += utility[c] > 0;
        clipped += utility[c] > 0 && of[c].utility > 47;
        slow += utility[c] > 0 && of[c].seconds > 4;
    }
    for (uint64_t seed = 0; seed < DRAWS; seed++) {
        int64_t client;
        task->env.seed = seed;
        weft_arena *tmp = weft_arena_new();
        none &= fed_choice_draw(task, 99, (const double *)of, 1, &client, tmp) == 1;
        weft_arena_free(tmp);
        seen[client]++;
    }
    for (int c = 0; c < FORTY; c++) {
        double expected = DRAWS * utility[c] / sum;
        none &= utility[c] > 0 || seen[c] == 0;
        if (utility[c] > 0)
            square +=
                ((double)seen[c] - expected) * ((double)seen[c] - expected) / expected;
    }
    ok(none && near > 2,
       "oort asks those near the best utility (%d, %d of the largest, %d slow)", near,
       clipped, slow);
    ok(square < near - 1 + 4 * sqrt(2.0 * near), "in proportion to it (chi-square %.1f)",
       square);
}

static const struct remembered some[N] = {
    {8, 3, 2},    {32, 9, 4}, {INFINITY, INFINITY, INFINITY}, {31.9, 1, 1}, {16, 8, 16},
    {31.8, 9, 1}, {64, 7, 8}, {INFINITY, INFINITY, INFINITY}, {24, 2, 32}};

/* Of four asked, floor(4 (1 - e)) are known; of the rest the third has no samples, so that
 * only the eighth is new. */
static void test_explored(struct toy *toy)
{
    struct stand *stand = by_rule(toy, "oort", 4, "");
    struct remembered three[N];
    double utility[N], sorted[N];
    int of[N], new = 1, high = 1, two = 1;
    utilities(N, some, 10, utility);
    memcpy(sorted, utility, sizeof sorted);
    sort(N, sorted);
    for (int c = 0; c < N; c++) three[c] = some[c < 2 || c == 3 ? c : 2];
    for (int seed = 0; seed < 300; seed++) {
        ((fed_task *)stand->self)->env.seed = (uint64_t)seed;
        new &= asked(stand, 9, (const double *)some, 4, of) == 4 && of[7] && !of[2];
        for (int c = 0; c < N; c++)
            high &= c == 7 || !of[c] || utility[c] >= 0.95 * sorted[N - 3] - 1e-12;
        for (int k = 0; k < 3; k++) {
            static const int round[] = {0, 40, 99}, old[] = {0, 2, 3};
            two &= asked(stand, round[k], (const double *)three, 4, of) == 4;
            two &= of[0] + of[1] + of[3] == old[k];
        }
    }
    ok(new, "clients that have not answered are asked, if they can train");
    ok(high, "the others are those of most use");
    ok(two,
       "of three known none in the first round, then two, three in a late one: e falls");
    struct stand *first = by_rule(toy, "oort", 8, "");
    ok(asked(first, 0, memory_of(first), 8, of) == 8 && !of[2], "in the first all are new");
}

static void test_oort_memory(struct toy *toy)
{
    struct stand *stand = by_rule(toy, "oort", 4,
                                  "[client]\nlr = 0.5\nbatch = 200\n[device]\n"
                                  "sample_seconds = 2\nlatency = 1\ndropout = 0.3\n");
    const struct remembered *of = (const struct remembered *)(const void *)memory_of(stand);
    struct remembered before[N];
    int right = 1, lost = 0, drawn[N];
    for (int round = 0; round < 12; round++) {
        double w[W], answered = 0;
        wide(stand->state.x, w);
        memcpy(before, of, sizeof before);
        asked(stand, round, memory_of(stand), 4, drawn);
        units(stand, 1, 0, 1);
        for (int c = 0; c < N; c++) {
            if (memcmp(&before[c], &of[c], sizeof *of) == 0) {
                lost += drawn[c];
                continue;
            }
            struct sums sums = softmax(toy, c, 0, trained_on[c], w, NULL);
            right &= drawn[c] && fabs(of[c].utility / sums.loss - 1) < 1e-5 &&
                     fabs(of[c].round - round - 1) < 0.5 &&
                     fabs(of[c].seconds - 2 - 2.0 * (double)trained_on[c]) < 1e-9;
            answered++;
        }
        right &= fabs(answered - in_row(fed, stand->row[round], "clients")) < 0.5;
    }
    ok(right && lost > 0, "utility, round and seconds of those that answered (%d did not)",
       lost);
}

/* ---- those that are there ---- */

static void test_available(struct toy *toy)
{
    static const char device[] = "[device]\navailability = 0.5\n";
    struct stand *stand = by_rule(toy, "available", 3, device);
    const fed_task *task = stand->self;
    weft_work work = {0};
    int good = 1, few = 0, of[N];
    int64_t seen[N] = {0}, all = 0;
    for (int64_t r = 0; r < 4000; r++) {
        int there = 0;
        int64_t n = asked(stand, r, NULL, 3, of);
        for (int c = 0; c < N; c++) {
            int away = weft_device_turn(&task->device, c, r, &work).status == WEFT_AWAY;
            there += !away;
            good &= !(of[c] && away);
            seen[c] += of[c];
            all += of[c];
        }
        good &= n == (there < 3 ? there : 3);
        few += there < 3;
    }
    ok(good && few > 200, "those that are there are asked, all if they are too few");
    double square = 0, each = (double)all / N;
    for (int c = 0; c < N; c++)
        square += ((double)seen[c] - each) * ((double)seen[c] - each) / each;
    ok(square < 8 + 4 * 4, "with equal chances (chi-square %.1f)", square);
    units(stand, 30, 0, 30);
    double lost = 0;
    for (int r = 0; r < 30; r++) lost += in_row(fed, stand->row[r], "dropped");
    is_near(lost, 0, 0, "none is lost for being away");
    stand = by_rule(toy, "available", 3, "[device]\navailability = 1e-9\n");
    units(stand, 5, 0, 5);
    double zero[W] = {0};
    is_near(distance(stand->state.x, zero), 0, 0, "a round without any changes nothing");
}

/* ---- the whole ---- */

static const char *const rule_of[] = {"size", "loss", "oort", "available"};

static const char *mixed(const char *rule)
{
    return printed("[fed]\nchoose = %s\ncohort = 5\nnew_clients = 0.2\nalgorithm = "
                   "fednova\n[client]\nlr = log 0.01 .. 1\nbatch = 2 .. 9\n[device]\n"
                   "speed = lognormal\nsample_seconds = 1\nover = 1.4\ndropout = 0.1\n"
                   "availability = 0.8\n",
                   rule);
}

static void test_same_bits(struct toy *toy)
{
    enum { K = 3, ROUNDS = 9 };
    weft_mix_update moving = {.schedule = WEFT_UPDATE_ROOT, .discount = 1, .floor = 0.01};
    for (int i = 0; i < 4; i++) {
        struct stand *whole = standing(toy, mixed(rule_of[i]), K),
                     *alone = standing(toy, mixed(rule_of[i]), K);
        whole->job.update = alone->job.update = moving;
        ((fed_task *)alone->self)->work.lanes = NULL;
        units(whole, ROUNDS, 0, ROUNDS);
        units(alone, ROUNDS, 0, ROUNDS);
        digest(hash_of(whole));
        ok(hash_of(whole) == hash_of(alone), "%s: in lanes as one by one", rule_of[i]);
        ok(goes_on_alike(toy, mixed(rule_of[i]), K, moving, ROUNDS, 2, hash_of(whole)),
           "%s: goes on after any stop", rule_of[i]);
    }
}

/* A trial that copies another has its weights and what is remembered. */
static void test_copies(struct toy *toy)
{
    for (int i = 1; i < 3; i++) {
        const char *text = printed("[fed]\nchoose = %s\ncohort = 4\n", rule_of[i]);
        struct stand *one = trained(toy, text, 1, 7), *copy = trained(toy, text, 1, 4);
        copy->job.trial = 1;
        units(copy, 3, 0, 3);
        int64_t n = fed_choice_remembered(one->self);
        ok(n > 0 && memcmp(one->state.x, copy->state.x, W * sizeof(real)) == 0 &&
               memcmp(memory_of(one), memory_of(copy), (size_t)n * sizeof(double)) == 0,
           "%s: a copy asks on as the trial that it copies", rule_of[i]);
    }
    struct stand *usual = standing(toy, "[fed]\ncohort = 4\n", 1);
    ok(fed_choice_remembered(usual->self) == 0 &&
           usual->state.naux == by_rule(toy, "size", 4, "")->state.naux,
       "nothing is remembered where nothing is needed");
}

static void test_seconds(struct toy *toy)
{
    static const char device[] = "[device]\nsample_seconds = 1\nspeed = exponential\n"
                                 "availability = 0.7\nover = 1.5\n";
    for (int i = 0; i < 4; i++) {
        struct stand *stand = by_rule(toy, rule_of[i], 3, device);
        stand->job.resource = 6;
        double told = fed->timing.seconds(stand->self, &stand->job, 0);
        units(stand, 6, 0, 6);
        int known = i == 0 || i == 3;
        ok(known ? fabs(told - stand->res.cost) < 1e-9 : told <= stand->res.cost,
           "%s: virtual time is %s", rule_of[i], known ? "known" : "no less than told");
    }
}

static void test_refused(struct toy *toy)
{
    static const char *const bad[][2] = {
        {"[fed]\nchoose = best\n", "best"},
        {"[fed]\nchoose = size\ncohort = 9\n", "8 with training samples"},
        {"[fed]\nchoose = loss\nreplacement = yes\ncohort = 3\n", "fed.replacement = no"},
        {"[fed]\nchoose = size\naverage = plain\ncohort = 3\n", "take fed.average out"},
        {"[fed]\nchoose = size\nalgorithm = scaffold\ncohort = 3\n", "scaffold"},
        {"[fed]\nchoose = oort\ncohort = 3\n[choose]\ncandidates = 3\n",
         "fed.choose = loss"},
        {"[fed]\nchoose = loss\ncohort = 3\n[choose]\ncandidates = 0.5\n", "candidates"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        stand_refused(toy, bad[i][0], bad[i][1]);
}

int main(int argc, char **argv)
{
    scratch_begin(&argc, &argv);
    struct toy *nine = nine_clients();
    for (int m = 1; m < 6; m += 2) test_size(nine, m);
    test_weights(nine);
    test_loss(nine);
    test_useful();
    test_explored(nine);
    test_oort_memory(nine);
    test_available(nine);
    test_same_bits(forty_clients());
    test_copies(nine);
    test_seconds(nine);
    test_refused(nine);
    return tap_end();
}
