/* Six ways to deal the rows of a labelled set to N clients, each row to one client.
 *
 * iid        rows in random order, client after client.
 * shards     rows sorted by class are cut into N S pieces, of which each client is dealt S.
 *            McMahan et al., "Communication-efficient learning of deep networks from
 *            decentralized data", 2017.
 * dirichlet  client c draws class shares q_c ~ Dirichlet(alpha p), p the shares of the
 *            classes among all training rows, then its rows, one by one, without
 *            replacement: a class by q_c, among those that have rows left, a row of it at
 *            random. Clients draw in turn, those of more rows more often, so that a class
 *            runs out for all at the same time. Hsu, Qi, Brown, "Measuring the effects of
 *            non-identical data distribution for federated visual classification", 2019
 *            (Dirichlet over the classes of a client, not over the clients of a class).
 *            With C equal classes their alpha is C times that of a symmetric Dirichlet.
 * quantity   as iid, with sizes in proportion to q ~ Dirichlet(alpha, ..., alpha), after
 *            each client has min_samples for training. Li, Diao, Chen, He, "Federated
 *            learning on non-IID data silos: an experimental study", ICDE 2022, NIID-Bench,
 *            whose program draws q until the smallest client has 10 rows.
 * labels     a client has rows of L = `labels` classes: of N clients client c has class c
 *            mod K of K, where N < K the classes c, c + N, ..., and others at random; the
 *            rows of a class are cut evenly among the clients that have it. As #C = L of
 *            NIID-Bench.
 *
 * pachinko   of classes in groups (CIFAR-100): client c draws shares of the groups by
 *            Dirichlet(alpha, ..., alpha), and in each shares of its classes by
 *            Dirichlet(beta, ..., beta), then its rows, one by one, without replacement: a
 *            group, a class of it, a row at random. Where a class has run out the shares of
 *            the others in its group rise, where a group has, those of the other groups.
 *            One client draws after the other, so that the last have what is left. Reddi
 *            et al., "Adaptive federated optimization", ICLR 2021, appendix F: alpha = 0.1,
 *            beta = 10, 500 clients of 100 rows.
 *
 * By iid, dirichlet and pachinko clients have equally many rows, or so many in proportion
 * to exp(deviation z), z normal (lognormal) or exponential (power: P(size > s) falls as
 * s^(-1/deviation)), after each has min_samples for training.
 *
 * All parts are dealt in the same way: clients have the same q_c, shards and classes in
 * each. Within a client rows are in random order. */
#include "pack.h"
#include "weft/base/random.h"

#include <math.h>
#include <string.h>

enum { SIZES_EQUAL, SIZES_LOGNORMAL, SIZES_POWER };

/* First counters of WEFT_RNG_CLIENT for what is not of a client. */
#define SHUFFLE ((uint64_t)-1) /* (SHUFFLE, part): the key of a shuffle */
#define SIZES   ((uint64_t)-2) /* (SIZES, client) */

static const weft_opt options[] = {
    WEFT_LONG_OPT("clients", weft_partition, clients, "0", 0, 1e12,
                  "clients over which rows are split; 0: no federation"),
    WEFT_CHOICE_OPT("partition", weft_partition, rule, "none",
                    "none|iid|dirichlet|shards|quantity|labels|pachinko",
                    "how rows are dealt to clients. iid: at random; dirichlet: by class; "
                    "shards: in pieces of few classes; quantity: at random, of very "
                    "different sizes; labels: of some classes each; pachinko: by "
                    "groups of classes and by class; none: iid where "
                    "clients are given"),
    WEFT_REAL_OPT(
        "alpha", weft_partition, alpha, "0.5", 0, 1e9,
        "parameter of dirichlet, quantity and pachinko, above 0. Small: a client has few "
        "classes, or few clients most rows; large: all are alike"),
    WEFT_REAL_OPT("beta", weft_partition, beta, "10", 0, 1e9,
                  "parameter of pachinko for the classes of a group, above 0"),
    WEFT_CHOICE_OPT(
        "sizes", weft_partition, sizes, "equal", "equal|lognormal|power",
        "rows of a client, for iid, dirichlet and pachinko: equally many, or by a "
        "log-normal or power law"),
    WEFT_REAL_OPT("deviation", weft_partition, deviation, "1", 0, 10,
                  "unequal sizes: standard deviation of their logarithm"),
    WEFT_LONG_OPT("shards", weft_partition, shards, "2", 1, 1e6,
                  "pieces of few classes that a client gets"),
    WEFT_LONG_OPT("labels", weft_partition, labels, "2", 1, 1e6,
                  "classes of which a client has rows, by partition = labels"),
    WEFT_REAL_OPT("noise", weft_partition, noise, "0", 0, 1e9,
                  "variance of normal noise on the pixels of the last client, of bytes in "
                  "units of white; the first of N has an N-th of it, the second two, ..."),
    WEFT_CHOICE_OPT("rotations", weft_partition, rotations, "1", "1|2|4",
                    "ways in which images are turned, client by client: by half turns or "
                    "quarters; 1: they are not"),
    WEFT_LONG_OPT("min_samples", weft_partition, least, "1", 1, 1e9,
                  "training rows that each client must get at least"),
    WEFT_LONG_OPT("seed", weft_partition, seed, "0", 0, 9e15, "seed of the partition"),
    {0},
};

const weft_kind weft_partition_kind =
    WEFT_KIND("partition", weft_partition, options,
              "rows or documents of any reader, split over clients when packed");

/* The labels of a part, and its rows in random order and by class: places first[k] ..
 * first[k+1] of `sorted` hold the rows of class k, as numbers into `shuffled`. */
struct deck {
    const weft_labelled *labelled;
    int64_t *shuffled, *sorted; /* [n] */
    int64_t *first;             /* [classes + 1] */
};

/* owner[i] of row shuffled[i]. ECONF where the classes do not suit it. */
typedef weft_status dealing(const weft_partition *partition, const struct deck *deck,
                            int64_t *owner, weft_arena *tmp);
static dealing deal_iid, deal_shards, deal_dirichlet, deal_labels, deal_pachinko;

/* A way to deal, in the order of the option's words. */
static const struct rule {
    const char *name;
    int alpha; /* 1: it reads alpha */
    int sizes; /* 1: clients may have sizes by a law */
    dealing *deal;
} rules[] = {
    {"iid", 0, 1, deal_iid},
    {"iid", 0, 1, deal_iid},
    {"dirichlet", 1, 1, deal_dirichlet},
    {"shards", 0, 0, deal_shards},
    {"quantity", 1, 0, deal_iid},
    {"labels", 0, 0, deal_labels},
    {"pachinko", 1, 1, deal_pachinko},
};

/* First row of piece i when n rows are cut into `pieces` as evenly as can be. */
static int64_t first_row(int64_t n, int64_t i, int64_t pieces)
{
    return n / pieces * i + n % pieces * i / pieces;
}

/* ECONF: the option `name` is given, and read by others alone. */
static weft_status check_read(const weft_partition *partition, const char *name, int read,
                              const char *by)
{
    WEFT_SCRATCH(tmp);
    const char *value = read ? NULL : weft_opt_given(options, partition, name, tmp);
    weft_status st = WEFT_OK;
    if (value)
        st = weft_fail(WEFT_ECONF, "%s = %s has no effect without %s; give that, too", name,
                       value, by);
    return st;
}

weft_status weft_partition_check(const weft_partition *partition, int64_t rows)
{
    const struct rule *rule = &rules[partition->rule];
    TRY(check_read(partition, "alpha", rule->alpha,
                   "partition = dirichlet, quantity or pachinko"));
    TRY(check_read(partition, "beta", partition->rule == WEFT_PART_PACHINKO,
                   "partition = pachinko"));
    TRY(check_read(partition, "shards", partition->rule == WEFT_PART_SHARDS,
                   "partition = shards"));
    TRY(check_read(partition, "labels", partition->rule == WEFT_PART_LABELS,
                   "partition = labels"));
    TRY(check_read(partition, "deviation", partition->sizes != SIZES_EQUAL,
                   "sizes = lognormal or power"));
    if (rule->alpha && !(partition->alpha > 0))
        return weft_fail(WEFT_ECONF, "alpha = %g where %s needs a number above 0",
                         partition->alpha, rule->name);
    if (partition->rule == WEFT_PART_PACHINKO && !(partition->beta > 0))
        return weft_fail(WEFT_ECONF, "beta = %g where pachinko needs a number above 0",
                         partition->beta);
    if (!rule->sizes && partition->sizes != SIZES_EQUAL)
        return weft_fail(WEFT_ECONF,
                         "partition = %s gives clients their sizes by itself; leave out "
                         "sizes, or use partition=dirichlet or iid",
                         rule->name);
    int64_t pieces = partition->rule == WEFT_PART_SHARDS ? partition->shards : 1;
    if (partition->clients > rows / pieces && pieces > 1)
        return weft_fail(WEFT_ECONF,
                         "clients = %lld of shards = %lld need %lld training rows where "
                         "there are %lld; give fewer of either",
                         (long long)partition->clients, (long long)partition->shards,
                         (long long)(partition->clients * partition->shards),
                         (long long)rows);
    if (rows / (partition->clients * pieces) * pieces >= partition->least) return WEFT_OK;
    return weft_fail(WEFT_ECONF,
                     "clients = %lld share %lld training rows where each needs min_samples "
                     "= %lld; give fewer clients",
                     (long long)partition->clients, (long long)rows,
                     (long long)partition->least);
}

int weft_partition_ways(const weft_partition *partition)
{
    return 1 << partition->rotations;
}

const char *weft_partition_text(const weft_partition *partition, weft_arena *mem)
{
    const char *rule = rules[partition->rule].name;
    if (rules[partition->rule].alpha)
        rule = weft_arena_text(mem, "%s, alpha %g", rule, partition->alpha);
    if (partition->rule == WEFT_PART_PACHINKO)
        rule = weft_arena_text(mem, "%s, beta %g", rule, partition->beta);
    if (partition->rule == WEFT_PART_SHARDS)
        rule =
            weft_arena_text(mem, "%s, %lld a client", rule, (long long)partition->shards);
    if (partition->rule == WEFT_PART_LABELS)
        rule =
            weft_arena_text(mem, "%s, %lld a client", rule, (long long)partition->labels);
    if (partition->noise > 0)
        rule = weft_arena_text(mem, "%s, noise up to %g", rule, partition->noise);
    if (partition->rotations > 0)
        rule = weft_arena_text(mem, "%s, turned in %d ways", rule,
                               weft_partition_ways(partition));
    if (partition->sizes != SIZES_EQUAL)
        rule = weft_arena_text(mem, "%s, %s sizes, deviation %g", rule,
                               partition->sizes == SIZES_POWER ? "power-law" : "log-normal",
                               partition->deviation);
    return weft_arena_text(mem, "dealt to %lld clients: %s, seed %lld",
                           (long long)partition->clients, rule, (long long)partition->seed);
}

/* ---- rows by class ---- */

static struct deck shuffle_part(const weft_partition *partition,
                                const weft_labelled *labelled, weft_arena *tmp)
{
    struct deck deck = {.labelled = labelled,
                        .shuffled = WEFT_NEW(tmp, int64_t, labelled->n),
                        .sorted = WEFT_NEW(tmp, int64_t, labelled->n),
                        .first = WEFT_NEW(tmp, int64_t, labelled->classes + 1)};
    weft_rng4 key = weft_rng_at((uint64_t)partition->seed, WEFT_RNG_CLIENT, SHUFFLE,
                                (uint64_t)labelled->part, 0);
    weft_shuffle(labelled->n, key.v[0], deck.shuffled, tmp);
    for (int64_t i = 0; i < labelled->n; i++) deck.first[labelled->label[i] + 1]++;
    for (int k = 0; k < labelled->classes; k++) deck.first[k + 1] += deck.first[k];
    int64_t *next = WEFT_NEW(tmp, int64_t, labelled->classes);
    memcpy(next, deck.first, (size_t)labelled->classes * sizeof *next);
    for (int64_t i = 0; i < labelled->n; i++)
        deck.sorted[next[labelled->label[deck.shuffled[i]]]++] = i;
    return deck;
}

/* ---- sizes ---- */

/* Logarithm of a gamma variate of this shape > 0 and scale 1, a function of (seed, a, b);
 * as a logarithm, a shape of 1e-6, whose variates are below every positive double, still
 * gives proportions. Marsaglia, Tsang, "A simple method for generating gamma variables",
 * ACM TOMS 26(3), 2000, for shape + 1, times U^(1 / shape). An attempt takes one block of
 * keyed numbers; more than one is rare. */
static double gamma_log(uint64_t seed, uint64_t a, uint64_t b, double shape)
{
    double d = shape + 1 - 1.0 / 3, c = 1 / sqrt(9 * d);
    for (uint64_t attempt = 0;; attempt++) {
        weft_rng4 rng = weft_rng_at(seed, WEFT_RNG_CLIENT, a, b, attempt);
        double z[2], u = 1 - weft_rng_unit(rng.v[2]), power = 1 - weft_rng_unit(rng.v[3]);
        weft_rng_normal_pair(&rng, z);
        double v = 1 + c * z[0];
        if (v <= 0) continue;
        v = v * v * v;
        if (log(u) < z[0] * z[0] / 2 + d * (1 - v + log(v)))
            return log(d * v) + log(power) / shape;
    }
}

static double weight_of(const weft_partition *partition, int64_t c)
{
    weft_rng4 rng =
        weft_rng_at((uint64_t)partition->seed, WEFT_RNG_CLIENT, SIZES, (uint64_t)c, 0);
    double z[2];
    weft_rng_normal_pair(&rng, z);
    if (partition->sizes == SIZES_POWER) z[0] = -log(1 - weft_rng_unit(rng.v[0]));
    return exp(partition->deviation * z[0]);
}

/* weight[clients] in proportion to shares by Dirichlet(alpha, ..., alpha), the largest 1.
 */
static void draw_shares(const weft_partition *partition, double *weight)
{
    double most = -INFINITY;
    for (int64_t c = 0; c < partition->clients; c++) {
        weight[c] =
            gamma_log((uint64_t)partition->seed, SIZES, (uint64_t)c, partition->alpha);
        most = fmax(most, weight[c]);
    }
    for (int64_t c = 0; c < partition->clients; c++) weight[c] = exp(weight[c] - most);
}

/* Bounds of the clients' rows: client c has the numbers from[c] .. from[c+1] - 1 of n. */
static int64_t *bounds(const weft_partition *partition, const weft_labelled *labelled,
                       weft_arena *tmp)
{
    int64_t clients = partition->clients, n = labelled->n;
    int64_t *from = WEFT_NEW(tmp, int64_t, clients + 1);
    int drawn = partition->rule == WEFT_PART_QUANTITY;
    int equal = partition->sizes == SIZES_EQUAL && !drawn;
    for (int64_t c = 0; c <= clients && equal; c++) from[c] = first_row(n, c, clients);
    if (equal) return from;
    int64_t least = labelled->part == WEFT_TRAIN ? partition->least : 0;
    double *upto = WEFT_NEW(tmp, double, clients + 1);
    double *weight = WEFT_NEW(tmp, double, clients);
    for (int64_t c = 0; c < clients && !drawn; c++) weight[c] = weight_of(partition, c);
    if (drawn) draw_shares(partition, weight);
    for (int64_t c = 0; c < clients; c++) upto[c + 1] = upto[c] + weight[c];
    double each = (double)(n - least * clients) / upto[clients];
    for (int64_t c = 0; c < clients; c++)
        from[c] = least * c + (int64_t)floor(each * upto[c]);
    from[clients] = n;
    return from;
}

/* ---- the rules ---- */

static weft_status deal_iid(const weft_partition *partition, const struct deck *deck,
                            int64_t *owner, weft_arena *tmp)
{
    const int64_t *from = bounds(partition, deck->labelled, tmp);
    for (int64_t c = 0; c < partition->clients; c++)
        for (int64_t i = from[c]; i < from[c + 1]; i++) owner[i] = c;
    return WEFT_OK;
}

static weft_status deal_shards(const weft_partition *partition, const struct deck *deck,
                               int64_t *owner, weft_arena *tmp)
{
    int64_t pieces = partition->clients * partition->shards;
    int64_t *dealt = WEFT_NEW(tmp, int64_t, pieces);
    weft_rng4 key =
        weft_rng_at((uint64_t)partition->seed, WEFT_RNG_CLIENT, SHUFFLE, WEFT_NPART, 0);
    weft_shuffle(pieces, key.v[0], dealt, tmp);
    for (int64_t s = 0; s < pieces; s++)
        for (int64_t i = first_row(deck->labelled->n, dealt[s], pieces);
             i < first_row(deck->labelled->n, dealt[s] + 1, pieces); i++)
            owner[deck->sorted[i]] = s / partition->shards;
    return WEFT_OK;
}

/* Clients that draw classes: weights relative to the heaviest class that has rows left. */
struct drawer {
    const weft_partition *partition;
    int classes;
    double *log_share; /* [clients][classes] log q_c, but for a constant of the client */
    double *weight;    /* [clients][classes] */
    int *known;        /* [clients] classes that had run out when weights were made */
    int64_t *left;     /* [classes] rows */
    int out;           /* classes that have run out */
    /* pachinko alone */
    const int *group; /* [classes]; NULL: classes have no groups */
    int groups;
    double *log_root;  /* [clients][groups] shares of groups, but for a constant of each */
    double *joint;     /* [classes] */
    double *top, *sum; /* [groups] largest log share of its classes that are left; their sum
                          in units of that */
};

/* log shares of client c's classes that are left: of their group, and among those that are
 * left of it. */
static const double *log_joint(const struct drawer *drawer, int64_t c)
{
    const double *q = drawer->log_share + c * drawer->classes;
    const double *root = drawer->log_root + c * drawer->groups;
    for (int g = 0; g < drawer->groups; g++) {
        drawer->top[g] = -INFINITY;
        drawer->sum[g] = 0;
    }
    for (int k = 0; k < drawer->classes; k++) {
        double *top = &drawer->top[drawer->group[k]];
        if (drawer->left[k] > 0) *top = fmax(*top, q[k]);
    }
    for (int k = 0; k < drawer->classes; k++) {
        int g = drawer->group[k];
        if (drawer->left[k] > 0) drawer->sum[g] += exp(q[k] - drawer->top[g]);
    }
    for (int k = 0; k < drawer->classes; k++) {
        int g = drawer->group[k];
        if (drawer->left[k] == 0) continue;
        drawer->joint[k] = root[g] + q[k] - drawer->top[g] - log(drawer->sum[g]);
    }
    return drawer->joint;
}

static void weigh(struct drawer *drawer, int64_t c)
{
    const double *q =
        drawer->group ? log_joint(drawer, c) : drawer->log_share + c * drawer->classes;
    double most = -INFINITY;
    for (int k = 0; k < drawer->classes; k++)
        if (drawer->left[k] > 0) most = fmax(most, q[k]);
    for (int k = 0; k < drawer->classes; k++)
        drawer->weight[c * drawer->classes + k] =
            drawer->left[k] > 0 ? exp(q[k] - most) : 0;
    drawer->known[c] = drawer->out;
}

/* The class of client c's draw `t`. Some class has rows left. */
static int draw_class(struct drawer *drawer, int64_t c, weft_part part, int64_t t)
{
    if (drawer->known[c] != drawer->out) weigh(drawer, c);
    const double *p = drawer->weight + c * drawer->classes;
    weft_rng4 rng =
        weft_rng_at((uint64_t)drawer->partition->seed, WEFT_RNG_CLIENT, (uint64_t)c,
                    (uint64_t)(drawer->classes + (int)part), (uint64_t)t);
    double sum = 0;
    for (int k = 0; k < drawer->classes; k++) sum += p[k];
    double at = weft_rng_unit(rng.v[0]) * sum;
    int class = -1; /* the last one with weight, where rounding leaves `at` above all */
    for (int k = 0; k < drawer->classes; k++) {
        if (p[k] == 0) continue;
        class = k;
        at -= p[k];
        if (at < 0) break;
    }
    if (--drawer->left[class] == 0) drawer->out++;
    return class;
}

/* Shares of groups, and room for those of classes by them. */
static void draw_groups(struct drawer *drawer, const weft_labelled *labelled,
                        weft_arena *tmp)
{
    const weft_partition *partition = drawer->partition;
    int64_t n = partition->clients * labelled->groups;
    drawer->group = labelled->group;
    drawer->groups = labelled->groups;
    drawer->log_root = WEFT_NEW(tmp, double, n);
    drawer->joint = WEFT_NEW(tmp, double, labelled->classes);
    drawer->top = WEFT_NEW(tmp, double, labelled->groups);
    drawer->sum = WEFT_NEW(tmp, double, labelled->groups);
    for (int64_t i = 0; i < n; i++) {
        int64_t c = i / labelled->groups, g = i % labelled->groups;
        /* behind the counters of classes and of draws of the parts */
        uint64_t at = (uint64_t)(labelled->classes + WEFT_NPART + g);
        drawer->log_root[i] =
            gamma_log((uint64_t)partition->seed, (uint64_t)c, at, partition->alpha);
    }
}

static struct drawer drawer_new(const weft_partition *partition, const struct deck *deck,
                                weft_arena *tmp)
{
    const weft_labelled *labelled = deck->labelled;
    int grouped = partition->rule == WEFT_PART_PACHINKO;
    int64_t n = partition->clients * labelled->classes;
    struct drawer drawer = {.partition = partition,
                            .classes = labelled->classes,
                            .log_share = WEFT_NEW(tmp, double, n),
                            .weight = WEFT_NEW(tmp, double, n),
                            .known = WEFT_NEW(tmp, int, partition->clients),
                            .left = WEFT_NEW(tmp, int64_t, labelled->classes)};
    for (int k = 0; k < labelled->classes; k++) {
        drawer.left[k] = deck->first[k + 1] - deck->first[k];
        drawer.out += drawer.left[k] == 0;
    }
    for (int64_t i = 0; i < n; i++) {
        int64_t c = i / labelled->classes, k = i % labelled->classes;
        double shape = grouped ? partition->beta : partition->alpha * labelled->share[k];
        drawer.log_share[i] =
            gamma_log((uint64_t)partition->seed, (uint64_t)c, (uint64_t)k, shape);
    }
    if (grouped) draw_groups(&drawer, labelled, tmp);
    for (int64_t c = 0; c < partition->clients; c++) drawer.known[c] = -1;
    return drawer;
}

/* In each of as many turns as the largest client has rows, a client of fewer draws in as
 * many of the turns, evenly spread. */
static weft_status deal_dirichlet(const weft_partition *partition, const struct deck *deck,
                                  int64_t *owner, weft_arena *tmp)
{
    struct drawer drawer = drawer_new(partition, deck, tmp);
    const int64_t *from = bounds(partition, deck->labelled, tmp);
    int64_t *drawn = WEFT_NEW(tmp, int64_t, partition->clients), turns = 0;
    for (int64_t c = 0; c < partition->clients; c++)
        if (from[c + 1] - from[c] > turns) turns = from[c + 1] - from[c];
    for (int64_t t = 0; t < turns; t++)
        for (int64_t c = 0; c < partition->clients; c++) {
            int64_t rows = from[c + 1] - from[c];
            /* drawn = ceil(t rows / turns) is before the turn, one more after it */
            if (drawn[c] == rows || drawn[c] * turns >= (t + 1) * rows) continue;
            int k = draw_class(&drawer, c, deck->labelled->part, drawn[c]++);
            owner[deck->sorted[deck->first[k] + drawer.left[k]]] = c;
        }
    return WEFT_OK;
}

/* One client after the other, as the paper has it. */
static weft_status deal_pachinko(const weft_partition *partition, const struct deck *deck,
                                 int64_t *owner, weft_arena *tmp)
{
    if (deck->labelled->group == NULL)
        return weft_fail(WEFT_ECONF,
                         "partition = pachinko needs groups of classes, such as CIFAR-100 "
                         "has; use partition=dirichlet");
    struct drawer drawer = drawer_new(partition, deck, tmp);
    const int64_t *from = bounds(partition, deck->labelled, tmp);
    for (int64_t c = 0; c < partition->clients; c++)
        for (int64_t i = from[c]; i < from[c + 1]; i++) {
            int k = draw_class(&drawer, c, deck->labelled->part, i - from[c]);
            owner[deck->sorted[deck->first[k] + drawer.left[k]]] = c;
        }
    return WEFT_OK;
}

/* ECONF: there are not so many classes, or too few clients for all of them. */
static weft_status check_classes(const weft_partition *partition, int classes)
{
    long long clients = (long long)partition->clients,
              labels = (long long)partition->labels;
    if (labels > classes)
        return weft_fail(WEFT_ECONF, "labels = %lld where there are %d classes; give fewer",
                         labels, classes);
    if (clients >= (classes + labels - 1) / labels) return WEFT_OK;
    return weft_fail(WEFT_ECONF,
                     "clients = %lld of labels = %lld leave some of %d classes to nobody; "
                     "give more of either",
                     clients, labels, classes);
}

/* The classes of client c, of[labels]. */
static void draw_labels(const weft_partition *partition, int classes, int64_t c, int *of,
                        weft_arena *tmp)
{
    WEFT_REWIND(tmp);
    int64_t *order = WEFT_NEW(tmp, int64_t, classes), n = 0;
    int first = (int)(c % classes);
    weft_rng_row key = {(uint64_t)partition->seed, WEFT_RNG_CLIENT, (uint64_t)c, 0, 0};
    for (int k = 0; k < classes; k++) order[k] = k;
    weft_shuffle_first(classes, classes, &key, order);
    for (int64_t k = first; k < classes; k += partition->clients) of[n++] = (int)k;
    for (int i = 0; n < partition->labels; i++) {
        int own = order[i] >= first && (order[i] - first) % partition->clients == 0;
        if (!own) of[n++] = (int)order[i];
    }
}

static weft_status deal_labels(const weft_partition *partition, const struct deck *deck,
                               int64_t *owner, weft_arena *tmp)
{
    int classes = deck->labelled->classes;
    int64_t each = partition->labels, all = partition->clients * each;
    TRY(check_classes(partition, classes));
    int *of = WEFT_NEW(tmp, int, all);
    int64_t *pieces = WEFT_NEW(tmp, int64_t, classes);
    int64_t *next = WEFT_NEW(tmp, int64_t, classes);
    for (int64_t c = 0; c < partition->clients; c++)
        draw_labels(partition, classes, c, of + c * each, tmp);
    for (int64_t i = 0; i < all; i++) pieces[of[i]]++;
    for (int k = 0; k < classes && deck->labelled->part == WEFT_TRAIN; k++)
        if (deck->first[k + 1] - deck->first[k] < pieces[k])
            return weft_fail(WEFT_ECONF,
                             "class %d has %lld training rows for %lld clients; give fewer "
                             "clients, or labels",
                             k, (long long)(deck->first[k + 1] - deck->first[k]),
                             (long long)pieces[k]);
    for (int64_t i = 0; i < all; i++) {
        int k = of[i];
        int64_t rows = deck->first[k + 1] - deck->first[k], piece = next[k]++;
        for (int64_t j = first_row(rows, piece, pieces[k]);
             j < first_row(rows, piece + 1, pieces[k]); j++)
            owner[deck->sorted[deck->first[k] + j]] = i / each;
    }
    return WEFT_OK;
}

/* ECONF: a client has too few rows. */
static weft_status check_least(const weft_partition *partition, const int64_t *count)
{
    for (int64_t c = 0; c < partition->clients; c++)
        if (count[c] < partition->least)
            return weft_fail(WEFT_ECONF,
                             "client %lld gets %lld training rows where each needs "
                             "min_samples = %lld; give fewer clients, or another seed",
                             (long long)c, (long long)count[c],
                             (long long)partition->least);
    return WEFT_OK;
}

weft_status weft_partition_deal(const weft_partition *partition,
                                const weft_labelled *labelled, int64_t *order,
                                int64_t *count, weft_arena *tmp)
{
    WEFT_REWIND(tmp);
    struct deck deck = shuffle_part(partition, labelled, tmp);
    int64_t *owner = WEFT_NEW(tmp, int64_t, labelled->n);
    int64_t *next = WEFT_NEW(tmp, int64_t, partition->clients + 1);
    for (int64_t i = 0; i < labelled->n; i++) owner[i] = -1;
    TRY(rules[partition->rule].deal(partition, &deck, owner, tmp));
    memset(count, 0, (size_t)partition->clients * sizeof *count);
    for (int64_t i = 0; i < labelled->n; i++) {
        weft_check(owner[i] >= 0, "row %lld is dealt to no client",
                   (long long)deck.shuffled[i]);
        count[owner[i]]++;
    }
    for (int64_t c = 0; c < partition->clients; c++) next[c + 1] = next[c] + count[c];
    for (int64_t i = 0; i < labelled->n; i++) order[next[owner[i]]++] = deck.shuffled[i];
    return labelled->part == WEFT_TRAIN ? check_least(partition, count) : WEFT_OK;
}
