/* Robust rules of the server on vectors of many blocks, beside sorted columns, sums of
 * squares and steps in doubles; who keeps which change; who attacks; what is refused.
 * RUN: np=1 np=2 np=3 np=8 */
#include "task/fed/attack.h"
#include "task/fed/rule.h"
#include "toy.h"

enum { MOST_N = 101, HELD = 9 << 20 };

/* ---- rules by hand ---- */

/* Changes of n clients: multiples of 1/8 in -4/8 .. 4/8, of which many are equal, so that
 * sums are exact in doubles, or uniform numbers; weights 1, or 1 .. 4. Client k is of rank
 * 5 k % 7 % ranks. */
struct made {
    int64_t n, size;
    real **row;
    double *weight;
};

static struct made made_of(int64_t n, int64_t size, int coarse, int weighted)
{
    struct made made = {n, size, WEFT_NEW(mem, real *, n), WEFT_NEW(mem, double, n)};
    for (int64_t k = 0; k < n; k++) {
        made.row[k] = WEFT_NEW(mem, real, size);
        made.weight[k] = weighted ? (double)(1 + k * k % 4) : 1;
        for (int64_t i = 0; i < size; i++) {
            uint64_t word =
                weft_rng_at(9, WEFT_RNG_TEST, (uint64_t)k, (uint64_t)i, (uint64_t)coarse)
                    .v[0];
            double value =
                coarse ? ((double)(word % 9) - 4) / 8 : weft_rng_unit(word) - 0.5;
            made.row[k][i] = (real)value;
        }
    }
    return made;
}

/* What the rule makes of them; *held: bytes of the arena. */
static real *applied(const struct made *made, const struct fed_rule *rule, size_t *held)
{
    weft_arena *tmp = weft_arena_new();
    fed_changes changes = {.n = made->n,
                           .size = made->size,
                           .weight = made->weight,
                           .rank = WEFT_NEW(mem, int, made->n),
                           .row = WEFT_NEW(mem, const real *, made->n),
                           .most = 1,
                           .sum = WEFT_NEW(mem, double, made->size),
                           .tmp = tmp};
    for (int64_t k = 0; k < made->n; k++) {
        changes.rank[k] = (int)(5 * k % 7 % world.size);
        if (changes.rank[k] == world.rank) changes.row[k] = made->row[k];
    }
    real *delta = WEFT_NEW(mem, real, made->size);
    fed_rule_apply(rule, &world, &changes, delta);
    if (held) *held = weft_arena_held(tmp);
    weft_arena_free(tmp);
    return delta;
}

struct entry {
    double value;
    int64_t k;
};

static int by_value(const void *left, const void *right)
{
    const struct entry *a = left, *b = right;
    if (a->value < b->value || a->value > b->value) return a->value < b->value ? -1 : 1;
    return a->k < b->k ? -1 : 1;
}

static void column(const struct made *made, int64_t i, struct entry *entry)
{
    for (int64_t k = 0; k < made->n; k++)
        entry[k] = (struct entry){(double)made->row[k][i], k};
    qsort(entry, (size_t)made->n, sizeof *entry, by_value);
}

/* The least value with half of the weight below or at it, from both ends. */
static double median_by_hand(const struct made *made, int64_t i)
{
    struct entry entry[MOST_N];
    double all = 0, low = 0, high = 0;
    int64_t a = -1, b = made->n;
    column(made, i, entry);
    for (int64_t k = 0; k < made->n; k++) all += made->weight[k];
    while (low < all / 2) low += made->weight[entry[++a].k];
    while (high < all / 2) high += made->weight[entry[--b].k];
    return (entry[a].value + entry[b].value) / 2;
}

static double trimmed_by_hand(const struct made *made, int64_t i, int64_t f)
{
    struct entry entry[MOST_N];
    double sum = 0, all = 0;
    column(made, i, entry);
    for (int64_t e = f; e < made->n - f; e++) {
        sum += made->weight[entry[e].k] * entry[e].value;
        all += made->weight[entry[e].k];
    }
    return sum / all;
}

static double square_by_hand(const struct made *made, int64_t a, int64_t b)
{
    double sum = 0;
    for (int64_t i = 0; i < made->size; i++) {
        double d = (double)made->row[a][i] - (double)made->row[b][i];
        sum += d * d;
    }
    return sum;
}

/* The clients by their scores of krum. */
static void krum_by_hand(const struct made *made, int64_t f, struct entry *order)
{
    int64_t n = made->n;
    for (int64_t a = 0; a < n; a++) {
        struct entry other[MOST_N];
        int64_t m = 0;
        for (int64_t b = 0; b < n; b++)
            if (b != a) other[m++] = (struct entry){square_by_hand(made, a, b), b};
        qsort(other, (size_t)m, sizeof *other, by_value);
        order[a] = (struct entry){0, a};
        for (int64_t e = 0; e < n - f - 2; e++) order[a].value += other[e].value;
    }
    qsort(order, (size_t)n, sizeof *order, by_value);
}

/* The mean by weight times `share` of clients order[some], NULL: all. */
static void mean_by_hand(const struct made *made, int64_t some, const struct entry *order,
                         const double *share, double *mean)
{
    double all = 0;
    memset(mean, 0, (size_t)made->size * sizeof *mean);
    for (int64_t e = 0; e < some; e++) {
        int64_t k = order ? order[e].k : e;
        double part = made->weight[k] * (share ? share[k] : 1);
        for (int64_t i = 0; i < made->size; i++) mean[i] += part * (double)made->row[k][i];
        all += part;
    }
    for (int64_t i = 0; i < made->size; i++) mean[i] /= all;
}

static void geometric_by_hand(const struct made *made, int steps, double *z)
{
    double share[MOST_N];
    mean_by_hand(made, made->n, NULL, NULL, z);
    for (int s = 0; s < steps; s++) {
        for (int64_t k = 0; k < made->n; k++) {
            double sum = 0;
            for (int64_t i = 0; i < made->size; i++) {
                double d = (double)made->row[k][i] - z[i];
                sum += d * d;
            }
            share[k] = 1 / fmax(sqrt(sum), 1e-6);
        }
        mean_by_hand(made, made->n, NULL, share, z);
    }
}

/* ---- rules ---- */

static double farthest(int64_t n, const real *delta, const double *gold)
{
    double most = 0;
    for (int64_t i = 0; i < n; i++) most = worse(most, fabs((double)delta[i] - gold[i]));
    return most;
}

static int64_t harmful(double share, int64_t n)
{
    return (int64_t)ceil(share * (double)n - 1e-9);
}

static void test_coordinates(const struct made *made, const char *what)
{
    double *gold = WEFT_NEW(mem, double, made->size);
    struct fed_rule rule = {.kind = FED_MEDIAN};
    real *delta = applied(made, &rule, NULL);
    for (int64_t i = 0; i < made->size; i++) gold[i] = median_by_hand(made, i);
    is_near(farthest(made->size, delta, gold), 0, 0, "%s: the median", what);
    for (double share = 0; share < 0.5; share += 0.12) {
        int64_t f = harmful(share, made->n), most = (made->n - 1) / 2;
        rule = (struct fed_rule){.kind = FED_TRIMMED, .harmful = share};
        delta = applied(made, &rule, NULL);
        for (int64_t i = 0; i < made->size; i++)
            gold[i] = trimmed_by_hand(made, i, f < most ? f : most);
        is_near(farthest(made->size, delta, gold), 0, 1e-7, "%s: the mean but for %g", what,
                share);
    }
}

static void test_points(const struct made *made, const char *what)
{
    double *gold = WEFT_NEW(mem, double, made->size);
    struct entry order[MOST_N];
    for (double share = 0; share < 0.3 && made->n > 2; share += 0.12) {
        int64_t f = harmful(share, made->n);
        if (made->n < 2 * f + 3) continue;
        krum_by_hand(made, f, order);
        struct fed_rule rule = {.kind = FED_KRUM, .harmful = share};
        real *delta = applied(made, &rule, NULL);
        mean_by_hand(made, 1, order, NULL, gold);
        is_near(farthest(made->size, delta, gold), 0, 0, "%s: krum, %g", what, share);
        rule.kind = FED_MULTIKRUM;
        delta = applied(made, &rule, NULL);
        mean_by_hand(made, made->n - f, order, NULL, gold);
        is_near(farthest(made->size, delta, gold), 0, 1e-6, "%s: multikrum, %g", what,
                share);
    }
    struct fed_rule rule = {.kind = FED_GEOMETRIC, .iterations = 3};
    real *delta = applied(made, &rule, NULL);
    geometric_by_hand(made, 3, gold);
    is_near(farthest(made->size, delta, gold), 0, 1e-6, "%s: the geometric median", what);
}

static void test_rules(void)
{
    static const int64_t count[] = {1, 2, 3, 4, 7, 12, 37, 101};
    static const int64_t size[] = {1, 63, 64, 130, 9001};
    for (size_t a = 0; a < LEN(count); a++)
        for (size_t b = 0; b < LEN(size); b++) {
            int weighted = (int)(a + b) % 2;
            if (count[a] * size[b] > 400000) continue;
            const char *what =
                printed("%d clients of %d numbers, weights %s", (int)count[a], (int)size[b],
                        weighted ? "unlike" : "alike");
            struct made made = made_of(count[a], size[b], 1, weighted);
            test_coordinates(&made, what);
            test_points(&made, what);
        }
}

/* Of numbers whose sums are rounded. */
static void test_bits(void)
{
    struct made made = made_of(33, 20011, 0, 1);
    for (int kind = FED_MEDIAN; kind <= FED_GEOMETRIC; kind++) {
        struct fed_rule rule = {.kind = kind, .harmful = 0.2, .iterations = 8};
        const real *delta = applied(&made, &rule, NULL);
        digest(weft_hash(delta, (size_t)made.size * sizeof *delta, 0));
    }
}

/* Changes of all clients are 24 MB, or twice that. */
static void test_memory(void)
{
    struct made made = made_of(60, 100003, 0, 0);
    for (int kind = FED_MEDIAN; kind <= FED_KRUM; kind++) {
        struct fed_rule rule = {.kind = kind, .harmful = 0.2};
        size_t held;
        applied(&made, &rule, &held);
        ok(held < HELD, "rule %d takes %.1f MB beside the changes", kind,
           (double)held / 1e6);
    }
}

/* The point where most of a line is, and the harmful ones' effect on it. */
static void test_breakdown(void)
{
    struct made made = made_of(21, 500, 0, 0);
    for (int64_t k = 0; k < 6; k++)
        for (int64_t i = 0; i < made.size; i++) made.row[3 * k][i] = 16;
    for (int kind = FED_MEDIAN; kind <= FED_GEOMETRIC; kind++) {
        struct fed_rule rule = {.kind = kind, .harmful = 0.29, .iterations = 50};
        const real *delta = applied(&made, &rule, NULL);
        double most = 0;
        for (int64_t i = 0; i < made.size; i++) most = worse(most, fabs((double)delta[i]));
        ok(most < 1, "rule %d is among the honest where six of 21 are far: %g", kind, most);
    }
}

/* ---- rounds ---- */

static const char *with_rule(const char *kind, const char *more)
{
    return printed(
        "[fed]\ncohort = 23\n[client]\nlr = 0.3\nbatch = 4\n[rule]\nkind = %s\n%s", kind,
        more);
}

static void test_same(void)
{
    static const char *const kind[] = {"median", "trimmed", "krum", "multikrum",
                                       "geometric"};
    static const char *const more[] = {
        "[attack]\nkind = sign\n", "harmful = 0.3\n",
        "[attack]\nkind = labels\nshare = 0.3\n",
        "[attack]\nkind = noise\n[device]\ndropout = 0.3\n",
        "[attack]\nkind = scale\nstrength = 30\nshare = 0.2\n[server]\nmomentum = 0.3\n"};
    struct toy *toy = forty_clients();
    for (size_t i = 0; i < LEN(kind); i++) {
        const char *options = with_rule(kind[i], more[i]);
        struct stand *stand = trained(toy, options, 1, 5), *one = standing(toy, options, 1);
        digest(hash_of(stand));
        ((fed_task *)one->self)->work.lanes = NULL;
        units(one, 5, 0, 5);
        ok(hash_of(one) == hash_of(stand), "%s: the same bits one by one", kind[i]);
        ok(goes_on_alike(toy, options, 1, (weft_mix_update){0}, 5, 2, hash_of(stand)),
           "%s: the same bits after a stop", kind[i]);
    }
}

static void test_off(void)
{
    struct toy *toy = forty_clients();
    struct stand *plain = trained(toy, "[fed]\ncohort = 9\n", 1, 3),
                 *off = trained(toy,
                                "[fed]\ncohort = 9\n[rule]\nkind = mean\n[attack]\n"
                                "kind = none\n",
                                1, 3);
    ok(hash_of(plain) == hash_of(off), "a mean without attackers is what there was");
    off = trained(toy, "[fed]\ncohort = 9\n[attack]\nkind = sign\nshare = 0\n", 1, 3);
    ok(hash_of(plain) == hash_of(off), "so are attackers of whom there are none");
}

/* Clients that all one rank had. */
static void test_shares(void)
{
    struct stand *stand = standing(forty_clients(), with_rule("median", ""), 1);
    fed_task *own = stand->self;
    weft_arena *tmp = own->work.tmp = weft_arena_new();
    fed_turn turn = {.part = WEFT_VALID};
    fed_cohort cohort = fed_cohort_new(own, &turn, 0, &stand->mix, 23, tmp);
    int64_t count[8] = {0}, most = 0, lost = 0, right = 1;
    fed_cohort_fill(own, &cohort, 23, NULL, 0);
    for (int j = 0; j < 23; j++) cohort.client[j].lost = j % 5 == 0;
    fed_rule_begin(own, &cohort);
    for (int j = 0; j < 23; j++) {
        const fed_client *client = &cohort.client[j];
        lost += client->lost;
        if (!client->lost) count[client->rank]++;
        right &= (own->modes.rule->row[j] != NULL) ==
                 (!client->lost && client->rank == world.rank);
    }
    for (int r = 0; r < world.size; r++) most = count[r] > most ? count[r] : most;
    ok(lost == 5 && (double)most <= ceil(world.size > 1 ? 34.5 / world.size : 23),
       "no rank keeps more than half more changes than its share: %d", (int)most);
    ok(right, "a rank has room for those of its clients that are not lost");
    weft_arena_free(tmp);
}

static void test_qffl(void)
{
    struct toy *toy = forty_clients();
    const char *more = "cohort = 17\n[client]\nlr = 0.3\nbatch = 4\nmomentum = 0.5\n"
                       "[server]\nmomentum = 0.2\n";
    struct stand *plain = trained(toy, printed("[fed]\n%s", more), 1, 4),
                 *none = trained(
                     toy, printed("[fed]\nalgorithm = qffl\n%s[qffl]\nq = 0\n", more), 1,
                     4),
                 *some = trained(
                     toy, printed("[fed]\nalgorithm = qffl\n%s[qffl]\nq = 2\n", more), 1,
                     4);
    ok(memcmp(plain->state.x, none->state.x, W * sizeof(real)) == 0,
       "q = 0 gives the weights of fedavg to the bit");
    ok(memcmp(plain->state.x, some->state.x, W * sizeof(real)) != 0, "q = 2 gives others");
    digest(hash_of(some));
    const char *options = printed("[fed]\nalgorithm = qffl\n%s[qffl]\nq = 2\n", more);
    ok(goes_on_alike(toy, options, 1, (weft_mix_update){0}, 4, 1, hash_of(some)),
       "a stop changes nothing");
}

/* ---- attackers ---- */

/* Who attacks with that share: a bit for each of 40 clients. */
static uint64_t attackers(struct toy *toy, const char *share, int64_t *n)
{
    struct stand *stand =
        standing(toy, printed("[attack]\nkind = labels\nshare = %s\n", share), 1);
    fed_turn round = {.round = 7}, evaluation = {.round = FED_EVALUATION};
    uint64_t set = 0;
    *n = 0;
    for (int c = 0; c < toy->n; c++) {
        int attacks = fed_attacks(stand->self, &round, c);
        weft_check(!fed_attacks(stand->self, &evaluation, c), "it attacks evaluations");
        set |= (uint64_t)attacks << c;
        *n += attacks;
    }
    return set;
}

static void test_attackers(void)
{
    struct toy *toy = forty_clients();
    int64_t few, more, all;
    uint64_t a = attackers(toy, "0.1", &few), b = attackers(toy, "0.3", &more),
             c = attackers(toy, "1", &all);
    ok(few == 4 && more == 12 && all == 40, "as many attack as the share says");
    ok((a & b) == a && (b & c) == b,
       "those of a smaller share are among those of a larger");
    ok(a != 0xf && b != 0xfff, "they are not the first clients");
    digest(a ^ b);
}

/* The samples stay as they are. */
static void test_labels(void)
{
    struct toy *toy = forty_clients();
    trained(toy, "[fed]\ncohort = 40\n[attack]\nkind = labels\nshare = 1\n", 1, 2);
    int same = 1;
    for (int c = 0; c < toy->n; c++) {
        weft_samples samples;
        must(weft_client_read(toy->data.clients, c, WEFT_TRAIN, &samples, mem));
        for (int64_t i = 0; i < samples.n; i++)
            same &= samples.label[i] == toy->label[c][i];
    }
    ok(same, "labels are turned in a copy");
}

/* ---- what is refused ---- */

static void test_refused(void)
{
    struct toy *toy = forty_clients();
    stand_refused(toy, "[fed]\ncohort = 4\n[rule]\nkind = krum\n", "rule.harmful");
    stand_refused(toy, "[fed]\ncohort = 8\n[rule]\nkind = multikrum\nharmful = 0.3\n",
                  "2 f + 3 = 9");
    struct stand stand;
    ok(stand_up(&stand, toy, "[fed]\ncohort = 5\n[rule]\nkind = krum\n", 1) == WEFT_OK,
       "five are enough where one is harmful");
    stand_refused(toy, "[rule]\nkind = median\nharmful = 0.5\n", "harmful");
    stand_refused(toy, "[rule]\nkind = mode\n", "median");
    stand_refused(toy, "[attack]\nkind = scale\n", "attack.strength");
    stand_refused(toy, "[attack]\nkind = sign\nshare = 2\n", "share");
    const fed_task *with = standing(toy, with_rule("median", ""), 1)->self,
                   *without = standing(toy, "[fed]\ncohort = 23\n", 1)->self;
    double bytes = with->work.bytes;
    ok(bytes > without->work.bytes + 17.0 * W * (double)sizeof(real) / world.size,
       "memory of the changes is counted");
    toy->memory = bytes - 1;
    stand_refused(toy, with_rule("median", ""), "run.memory");
}

MAIN(scratch, test_rules, test_bits, test_memory, test_breakdown, test_same, test_off,
     test_shares, test_qffl, test_attackers, test_labels, test_refused)
