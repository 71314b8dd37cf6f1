/* Asynchronous rounds against a program of its own: a plain simulation of clients in flight
 * in doubles, which takes the same draws and nothing else from weft. With turns of equal
 * length they are synchronous rounds.
 * RUN: np=1 np=2 np=3 np=4 */
#include "task/fed/fed.h"
#include "toy.h"

enum { CLIENTS = 11, MOST = 16, STEPS = 40 };

static struct toy *clients_of(void)
{
    int64_t count[CLIENTS][WEFT_NPART] = {{12, 4, 3}, {7, 3, 2}, {16, 5, 2}, {4, 2, 2},
                                          {9, 1, 3},  {5, 2, 1}, {23, 6, 4}, {20, 1, 1},
                                          {11, 2, 2}, {2, 3, 1}, {8, 2, 2}};
    return toy_new(CLIENTS, count);
}

/* ---- the simulation: times are since the beginning ---- */

struct flying {
    int client; /* -1: free */
    int version, late;
    double end, from[W], fromc[W];
};

struct sim {
    struct toy *toy;
    int size, most, oldest; /* updates of a step, clients in flight, most staleness */
    int rule;               /* 0 constant, 1 polynomial, 2 hinge */
    double a, b, deadline;
    const double *speed;
    int scaffold;
    int even; /* 1: all turns last equally long */
    int some; /* samples that a turn sees; 0: all */
    /* what changes */
    double x[W], c[W], own[CLIENTS][W], now;
    int step, started;
    char out[CLIENTS];
    struct flying flying[MOST];
    /* of the last step */
    double seconds, staleness, stalest, wrong, scored;
    int clients, dropped, surplus;
};

static double seen_by(const struct sim *sim, int c)
{
    int n = (int)sim->toy->count[c][0];
    return sim->some > 0 && sim->some < n ? sim->some : n;
}

/* The gradient of the samples that client c draws at this step, at w. */
static void gradient(const struct sim *sim, int c, int step, const double *w, double *g)
{
    int64_t order[32], n = sim->toy->count[c][0], seen = (int64_t)seen_by(sim, c);
    weft_rng_row key = {3, WEFT_RNG_BATCH, (uint64_t)step, (uint64_t)c, 0};
    for (int64_t i = 0; i < n; i++) order[i] = i;
    weft_shuffle_first(seen, n, &key, order);
    for (int64_t i = 0; i < seen; i++) softmax(sim->toy, c, order[i], 1, w, g);
}

static double lasting(const struct sim *sim, int c)
{
    return 2 * 0.5 + (sim->even ? 0 : seen_by(sim, c) / sim->speed[c]);
}

static void start_one(struct sim *sim, int c)
{
    struct flying *one = sim->flying;
    while (one->client >= 0) one++;
    double takes = lasting(sim, c);
    one->client = c;
    one->version = sim->step;
    one->late = sim->deadline > 0 && takes > sim->deadline;
    one->end = sim->now + (one->late ? sim->deadline : takes);
    memcpy(one->from, sim->x, sizeof one->from);
    memcpy(one->fromc, sim->c, sizeof one->fromc);
    sim->out[c] = 1;
}

/* Clients start in the free places: drawn as a shuffle of those that can. */
static void start_free(struct sim *sim)
{
    int can[CLIENTS], n = 0, free = 0;
    for (int c = 0; c < CLIENTS; c++)
        if (!sim->out[c]) can[n++] = c;
    for (int i = 0; i < sim->most; i++) free += sim->flying[i].client < 0;
    if (free > n) free = n;
    uint64_t key = (uint64_t)sim->step;
    if (sim->started > 0) key |= (uint64_t)1 << 62 | (uint64_t)sim->started << 40;
    for (int i = 0; i < free; i++) {
        double u = weft_rng_unit(weft_rng_at(3, WEFT_RNG_COHORT, key, (uint64_t)i, 0).v[0]);
        int j = i + (int)(u * (n - i)), drawn = can[j];
        can[j] = can[i];
        start_one(sim, drawn);
    }
    sim->started += free;
}

static struct flying *first_to_end(struct sim *sim)
{
    struct flying *first = NULL;
    for (int i = 0; i < sim->most; i++) {
        struct flying *one = &sim->flying[i];
        if (one->client < 0) continue;
        int before = !first || one->end < first->end ||
                     (one->end <= first->end && one->client < first->client);
        if (before) first = one;
    }
    return first;
}

static double factor(const struct sim *sim, int s)
{
    if (sim->rule == 1) return pow(1 + s, -sim->a);
    if (sim->rule == 2 && s > sim->b) return 1 / (sim->a * (s - sim->b) + 1);
    return 1;
}

/* The update of a client: adds to sum[W] and sumc[W]; returns its weight. */
static double update(struct sim *sim, const struct flying *one, double *sum, double *sumc)
{
    const struct toy *toy = sim->toy;
    int c = one->client, age = sim->step - one->version;
    double g[W] = {0}, w[W], n = seen_by(sim, c), f = factor(sim, age);
    double weight = sim->scaffold ? 1 : n;
    gradient(sim, c, one->version, one->from, g);
    for (int i = 0; i < W; i++) {
        double drift = sim->scaffold ? one->fromc[i] - sim->own[c][i] : 0;
        double change = -0.5 * (g[i] / n + drift), moved = -change / 0.5;
        w[i] = one->from[i] + change;
        sum[i] += weight * f * change;
        sumc[i] += weight * moved;
        sim->own[c][i] += moved - one->fromc[i];
    }
    struct sums scored = part_score(toy, c, WEFT_VALID, w);
    sim->wrong += scored.wrong;
    sim->scored += scored.n;
    sim->staleness += age;
    sim->stalest = fmax(sim->stalest, age);
    sim->clients++;
    return weight;
}

static void move(struct sim *sim, double weight, const double *sum, const double *sumc)
{
    double share = (double)sim->clients / CLIENTS;
    for (int i = 0; weight > 0 && i < W; i++) {
        sim->x[i] += sum[i] / weight;
        sim->c[i] += share * (sumc[i] / weight - sim->c[i]);
    }
    sim->staleness /= sim->clients;
    sim->step++;
}

static void sim_step(struct sim *sim)
{
    double sum[W] = {0}, sumc[W] = {0}, weight = 0, began = sim->now;
    sim->started = sim->clients = sim->dropped = sim->surplus = 0;
    sim->staleness = sim->stalest = sim->wrong = sim->scored = 0;
    memset(sim->out, 0, sizeof sim->out);
    for (int i = 0; i < sim->most; i++)
        if (sim->flying[i].client >= 0) sim->out[sim->flying[i].client] = 1;
    while (sim->clients < sim->size) {
        struct flying *one = first_to_end(sim);
        if (!one || one->end > sim->now) {
            start_free(sim);
            one = first_to_end(sim);
        }
        if (!one) break;
        sim->now = one->end;
        if (one->late) {
            sim->dropped++;
            sim->wrong += (double)sim->toy->count[one->client][1];
            sim->scored += (double)sim->toy->count[one->client][1];
        } else if (sim->step - one->version > sim->oldest) {
            sim->surplus++;
        } else {
            weight += update(sim, one, sum, sumc);
        }
        one->client = -1;
    }
    move(sim, weight, sum, sumc);
    sim->seconds = sim->now - began;
}

/* ---- weft beside it ---- */

/* Speeds of eleven devices; weft reads them of a table. */
static const double speed[CLIENTS] = {1,   0.31, 2.7, 0.9, 4.1, 0.17,
                                      3.3, 1.9,  0.6, 0.4, 7.7};

static void write_devices(void)
{
    const char *text = "client\tspeed\n";
    for (int c = 0; c < CLIENTS; c++) text = printed("%s%d\t%.17g\n", text, c, speed[c]);
    write_text("speeds.tsv", text);
    weft_sum_i64(&world, &(int64_t){0}, 1); /* no rank reads it before */
}

static const char *devices(void)
{
    return printed(
        "[device]\nspeed = trace\nfile = %s\nsample_seconds = 1\nlatency = 0.5\n",
        at("speeds.tsv"));
}

static const char local[] = "[client]\nlr = 0.5\nbatch = 50\n";

/* The options of a simulation. */
static const char *input_of(const struct sim *sim)
{
    static const char *const rule[] = {"constant", "polynomial", "hinge"};
    const char *numbers = sim->rule == 0 ? ""
                          : sim->rule == 1
                              ? printed("a = %.17g\n", sim->a)
                              : printed("a = %.17g\nb = %.17g\n", sim->a, sim->b);
    return printed("[fed]\naggregation = buffered\ncohort = %d\nselect = last\n"
                   "algorithm = %s\n[buffer]\nconcurrency = %d\nstaleness = %s\n%s"
                   "max_staleness = %d\n%smax_samples = %d\n%s%s",
                   sim->size, sim->scaffold ? "scaffold" : "fedavg", sim->most,
                   rule[sim->rule], numbers, sim->oldest, local, sim->some,
                   sim->even ? "[device]\nlatency = 0.5\n" : devices(),
                   sim->deadline > 0 ? printed("deadline = %g\n", sim->deadline) : "");
}

static struct sim *sim_new(struct toy *toy, int size, int most, int rule, int oldest)
{
    struct sim *sim = WEFT_NEW(mem, struct sim, 1);
    *sim = (struct sim){.toy = toy, .size = size, .most = most, .rule = rule};
    sim->oldest = oldest;
    sim->a = rule == 2 ? 3 : 0.7;
    sim->b = 1;
    sim->speed = speed;
    for (int i = 0; i < MOST; i++) sim->flying[i].client = -1;
    return sim;
}

static int row_is(const struct sim *sim, const double *row)
{
    const struct {
        const char *name;
        double is;
    } cell[] = {{"seconds", sim->seconds},
                {"clients", sim->clients},
                {"dropped", sim->dropped},
                {"surplus", sim->surplus},
                {"staleness", sim->clients ? sim->staleness : 0},
                {"stalest", sim->stalest}};
    int same = 1;
    for (int i = 0; i < 6; i++)
        same &= fabs(in_row(fed, row, cell[i].name) - cell[i].is) < 1e-9;
    return same;
}

/* Steps of both; one job a step, so that each has a score. */
static void beside(struct sim *sim, const char *what)
{
    struct stand *stand = standing(sim->toy, input_of(sim), 1);
    double off = 0, score = 0, oldest = 0;
    int rows = 1, lost = 0, surplus = 0;
    for (int i = 0; i < STEPS; i++) {
        sim_step(sim);
        units(stand, 1, 0, 1);
        rows &= row_is(sim, stand->row[i]);
        off = worse(off, distance(stand->state.x, sim->x));
        if (sim->scaffold) off = worse(off, distance(stand->state.x + W, sim->c));
        score = worse(score, fabs(stand->res.loss - sim->wrong / sim->scored));
        oldest = fmax(oldest, sim->stalest);
        lost += sim->dropped;
        surplus += sim->surplus;
    }
    is_near(off, 0, 2e-6, "%s: the weights are those of the simulation", what);
    is_near(score, 0, 1e-9, "%s: and so are scores", what);
    ok(rows, "%s: and rows", what);
    ok((oldest > 0.5) == (sim->oldest > 0) && (sim->deadline > 0) == (lost > 0) &&
           (sim->oldest < 9) == (surplus > 0),
       "%s: with staleness up to %g, %d late, %d too old", what, oldest, lost, surplus);
}

static void test_rules(struct toy *toy)
{
    beside(sim_new(toy, 3, 7, 0, 99), "constant");
    beside(sim_new(toy, 3, 7, 1, 99), "polynomial");
    beside(sim_new(toy, 2, 8, 2, 99), "hinge");
    beside(sim_new(toy, 1, 6, 1, 99), "one update a step");
    beside(sim_new(toy, 4, CLIENTS, 1, 99), "all clients in flight");
    beside(sim_new(toy, 2, 8, 1, 2), "old updates are dropped");
    beside(sim_new(toy, 3, 8, 1, 0), "all old updates are dropped");
    struct sim *late = sim_new(toy, 3, 7, 1, 99);
    late->deadline = 14;
    beside(late, "a deadline");
    struct sim *even = sim_new(toy, 3, 7, 1, 99);
    even->even = 1;
    beside(even, "ends at the same time");
    struct sim *some = sim_new(toy, 2, 7, 1, 99);
    some->some = 6;
    beside(some, "samples that are drawn");
    struct sim *kept = sim_new(toy, 2, 7, 1, 99);
    kept->scaffold = 1;
    beside(kept, "clients that keep numbers");
}

/* Nobody is in time: until the deadline each computes, and sends a half or less. */
static void test_late(struct toy *toy)
{
    struct stand *stand =
        standing(toy,
                 "[fed]\naggregation = buffered\ncohort = 3\n[device]\nsample_seconds = 1\n"
                 "power = 2\nbyte_energy = 0.5\ndeadline = 0.5\n",
                 1);
    units(stand, 1, 0, 1);
    double late = in_row(fed, stand->row[0], "dropped"),
           bytes = in_row(fed, stand->row[0], "bytes");
    ok(late > 0 && bytes > 0 && bytes <= late * W * sizeof(float), "all are late");
    is_near(in_row(fed, stand->row[0], "energy"), late + 0.5 * bytes, 1e-9 * late,
            "a late client has cost what it did until the deadline");
}

/* ---- synchronous rounds ---- */

static const weft_mix_update moving = {
    .schedule = WEFT_UPDATE_ROOT, .discount = 1, .floor = 0.01};

static const char *alike(const char *algorithm, const char *mode)
{
    return printed("[fed]\nalgorithm = %s\ncohort = 7\nscore_both = yes\n"
                   "new_clients = 0.2\n%s\n[client]\nlr = log 0.01 .. 1\n"
                   "batch = 2 .. 9\n[server]\nmomentum = 0.5\naverage = tail\n"
                   "[device]\nlatency = 1\n",
                   algorithm, mode);
}

static void test_synchronous(void)
{
    static const char *const algorithm[] = {"fedavg", "scaffold", "fedexp", "fednova"};
    struct toy *toy = forty_clients();
    for (int i = 0; i < 4; i++) {
        struct stand *rounds = standing(toy, alike(algorithm[i], ""), 3),
                     *steps = standing(
                         toy,
                         alike(algorithm[i],
                               "aggregation = buffered\n[buffer]\nconcurrency = 7\n"),
                         3);
        rounds->job.update = steps->job.update = moving;
        units(rounds, 9, 0, 9);
        units(steps, 9, 0, 9);
        ok(memcmp(rounds->state.x, steps->state.x,
                  (size_t)rounds->state.nx * sizeof(real)) == 0,
           "%s: steps of all in flight are rounds", algorithm[i]);
        ok(result_hash(&rounds->res, 0) == result_hash(&steps->res, 0) &&
               memcmp(rounds->row, steps->row, sizeof rounds->row) == 0,
           "%s: with their rows, scores and mixtures", algorithm[i]);
    }
}

/* ---- the same bits ---- */

static const char lossy[] =
    "speed = lognormal\nsample_seconds = 1\nlatency = 0.1\navailability = 0.8\n"
    "dropout = 0.2\ndeadline = 40\n";

static const char *mixed(const char *algorithm)
{
    return printed("[fed]\naggregation = buffered\nalgorithm = %s\nscore_both = yes\n"
                   "cohort = 4\neval_clients = 9\neval_every = 4\nscore = loss\n"
                   "[buffer]\nconcurrency = 13\nmax_staleness = 2\n"
                   "[client]\nlr = log 0.01 .. 1\nmomentum = 0 .. 0.9\nbatch = 2 .. 9\n"
                   "epochs = 1 .. 3\nmax_samples = 25\n"
                   "[server]\nmomentum = 0.5\nlr = 0.3 .. 1\n[device]\n%s",
                   algorithm, lossy);
}

static void test_same_bits(const char *algorithm)
{
    enum { K = 5, ROUNDS = 14 };
    struct toy *toy = toys[0];
    const char *input = mixed(algorithm);
    struct stand *whole = standing(toy, input, K), *alone = standing(toy, input, K);
    whole->job.update = alone->job.update = moving;
    units(whole, ROUNDS, 0, ROUNDS);
    digest(hash_of(whole));
    ((fed_task *)alone->self)->work.lanes = NULL;
    units(alone, ROUNDS, 0, ROUNDS);
    ok(hash_of(whole) == hash_of(alone), "%s: as clients one by one", algorithm);
    double moved = 0, lost = 0, old = 0;
    for (int u = 0; u < ROUNDS; u++) {
        lost += in_row(fed, whole->row[u], "dropped");
        old += in_row(fed, whole->row[u], "surplus");
    }
    for (int i = 0; i < K; i++) moved += fabs(whole->res.logp[i] + log(K));
    ok(moved > 0.01 && lost > 5 && old > 0, "%s: of %g clients lost, %g too old", algorithm,
       lost, old);
    if (strcmp(algorithm, "fedavg") == 0)
        ok(goes_on_alike(toy, input, K, moving, ROUNDS, 1, hash_of(whole)),
           "a job stopped after any step goes on to the same bits");
}

/* Jobs of one trial, and a trial that copies another. */
static void test_jobs(struct toy *toy)
{
    const char *input = printed("[fed]\naggregation = buffered\ncohort = 3\n[buffer]\n"
                                "concurrency = 8\n%s%s",
                                local, devices());
    struct stand *two = trained(toy, input, 1, 4);
    units(two, 3, 0, 3);
    struct stand *one = trained(toy, input, 1, 7);
    ok(weft_hash(one->state.x, (size_t)one->state.nx * sizeof(real), 0) ==
           weft_hash(two->state.x, (size_t)two->state.nx * sizeof(real), 0),
       "seven steps are four and three");
    is_near(one->res.loss, two->res.loss, 0, "with the same pooled score");
    struct stand *copy = trained(toy, input, 1, 4);
    copy->job.trial = 1;
    units(copy, 3, 0, 3);
    ok(memcmp(one->state.x, copy->state.x, W * sizeof(real)) == 0,
       "a copied trial goes on with the clients in flight");
}

/* Clients in flight drew from a mixture that is gone: they are averaged, and score for
 * nobody. */
static void test_mixtures(struct toy *toy)
{
    const char *input = printed("[fed]\naggregation = buffered\ncohort = 3\nselect = last\n"
                                "[buffer]\nconcurrency = 9\n[client]\nlr = 0.1 .. 0.9\n%s",
                                devices());
    struct stand *stand = trained(toy, input, 2, 3);
    double all = 0, after = 0;
    for (int i = 0; i < 2; i++) all += stand->res.arm_count[i];
    ok(all > 9, "every update scores for the entry that it drew");
    stand->mix.conf[0] = 0.11; /* of two entries one is another */
    units(stand, 1, 0, 1);
    for (int i = 0; i < 2; i++) after += stand->res.arm_count[i];
    ok(in_row(fed, stand->row[3], "clients") > 2.5 &&
           in_row(fed, stand->row[3], "stalest") > 0.5 && after < 9 &&
           !(stand->res.arm_count[0] > 0),
       "entries that are new have no score of clients that began before");
}

/* An old update weighs less for the mixture, too: seen where weights stay as they are. */
static void test_old_scores(struct toy *toy)
{
    struct stand *stand[2];
    for (int i = 0; i < 2; i++) {
        stand[i] = standing(toy,
                            printed("[fed]\naggregation = buffered\ncohort = 3\n"
                                    "score = loss\n[buffer]\nconcurrency = 9\n"
                                    "staleness = %s\n[client]\nlr = 0.1 .. 0.9\n"
                                    "[server]\nlr = 0\n%s",
                                    i ? "polynomial" : "constant", devices()),
                            2);
        stand[i]->job.update = moving;
        units(stand[i], 6, 0, 6);
    }
    double weights[W];
    wide(stand[0]->state.x, weights);
    ok(distance(stand[1]->state.x, weights) <= 0 &&
           fabs(stand[0]->res.logp[0] - stand[1]->res.logp[0]) > 1e-4,
       "the mixture moves less by old scores");
}

/* ---- virtual time ---- */

static void test_seconds(struct toy *toy)
{
    static const char *const device[] = {"speed = exponential\nsample_seconds = 1\n", lossy,
                                         "up = 100\nlatency = 1\n"};
    int exact = 1, bounded = 1, tight = 0;
    for (int d = 0; d < 3; d++)
        for (int varies = 0; varies < 2; varies++) {
            const char *text =
                printed("[fed]\naggregation = buffered\ncohort = 3\n[buffer]\n"
                        "concurrency = 5\n[client]\nlr = 0.1 .. 0.2\n%smax_samples = 9\n"
                        "[device]\n%s",
                        varies ? "epochs = 1 .. 4\n" : "", device[d]);
            struct stand *stand = trained(toy, text, 1, 4);
            exact &= fabs(fed->timing.seconds(stand->self, &stand->job, 0) -
                          stand->res.cost) <= 0;
            units(stand, 30, 0, 30);
            double least = fed->timing.seconds(stand->self, &stand->job, 4);
            exact &= varies || fabs(least - stand->res.cost) <= 0;
            bounded &= least >= 0 && least <= stand->res.cost;
            stand = trained(toy, text, 4, 30);
            least = fed->timing.seconds(stand->self, &stand->job, 0);
            exact &= varies || fabs(least - stand->res.cost) <= 0;
            bounded &= least >= 0 && least <= stand->res.cost;
            tight += varies && least > 0.1 * stand->res.cost;
        }
    ok(exact, "the virtual seconds of a job are known before it is run");
    ok(bounded && tight >= 1, "or bounded, where configurations take unlike times");
}

/* ---- options ---- */

static void test_options(struct toy *toy)
{
    static const char *const wrong[][2] = {
        {"[fed]\ncohort = 5\n[buffer]\nconcurrency = 4\n", "buffer.concurrency = 4"},
        {"[buffer]\nsize = 3\nconcurrency = 12\n", "11 clients"},
        {"[fed]\ncohort = 4\n[buffer]\nsize = 3\n", "buffer.size = 3"},
        {"[fed]\nreplacement = yes\ncohort = 4\n", "fed.replacement"},
        {"[fed]\ncohort = 4\n[device]\nover = 1.5\n", "device.over"},
    };
    for (int i = 0; i < 5; i++)
        stand_refused(toy,
                      printed("%s[device]\nlatency = 1\n[fed]\naggregation = buffered\n",
                              wrong[i][0]),
                      wrong[i][1]);
    stand_refused(toy, "[fed]\naggregation = buffered\ncohort = 4\n",
                  "device.sample_seconds");
    stand_refused(toy, "[fed]\ncohort = 4\n[buffer]\nsize = 4\n", "buffer.size");
    struct stand stand;
    struct toy *forty = toys[0];
    forty->memory = 12000;
    const char *many = "[fed]\naggregation = buffered\nalgorithm = scaffold\n[device]\n"
                       "latency = 1\n[buffer]\nconcurrency = 40\nmax_staleness = 90\n";
    fails(stand_up(&stand, forty, many, 1), WEFT_ELIMIT, "40 versions", "max_staleness",
          "versions that do not fit");
    forty->memory = 0;
}

int main(int argc, char **argv)
{
    scratch_begin(&argc, &argv);
    write_devices();
    struct toy *forty = forty_clients();
    static const char *const algorithm[] = {"fedavg", "scaffold", "ditto"};
    for (int i = 0; i < 3; i++) test_same_bits(algorithm[i]);
    test_seconds(forty);
    struct toy *toy = clients_of();
    test_rules(toy);
    test_jobs(toy);
    test_mixtures(toy);
    test_old_scores(toy);
    test_options(toy);
    test_late(clients_of());
    test_synchronous();
    return tap_end();
}
