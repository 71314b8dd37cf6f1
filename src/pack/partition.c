/* Three ways to deal the rows of a labelled set to N clients, each row to one client.
 *
 * iid        rows in random order, client after client.
 * dirichlet  client c draws class shares q_c ~ Dirichlet(alpha p), p the shares of the
 *            classes among all training rows, then as many rows as every other client, one
 *            by one, without replacement: a class by q_c, among those that have rows left,
 * a row of it at random. Clients draw in turn, so that a class runs out for all at the same
 * time. Hsu, Qi, Brown, "Measuring the effects of non-identical data distribution for
 * federated visual classification", 2019 (Dirichlet over the classes of a client, not over
 * the clients of a class). With C equal classes their alpha is C times that of a symmetric
 * Dirichlet(alpha,
 * ..., alpha). shards     rows sorted by class are cut into N S pieces, of which each
 * client is dealt S. McMahan et al., "Communication-efficient learning of deep networks
 * from decentralized data", 2017.
 *
 * All parts are dealt in the same way: clients have the same q_c and the same shards in
 * each. Within a client rows are in random order. */
#include "partition.h"

#include <math.h>
#include <string.h>

/* First counters of WEFT_RNG_CLIENT for what is not of a client. */
#define SHUFFLE ((uint64_t)-1) /* (SHUFFLE, part): the key of a shuffle */

static const weft_opt options[] = {
    WEFT_LONG_OPT("clients", weft_partition, clients, "0", 0, 1e12,
                  "clients over which rows are split; 0: no federation"),
    WEFT_CHOICE_OPT("partition", weft_partition, rule, "none", "none|iid|dirichlet|shards",
                    "how rows are dealt to clients, all alike, by class or in pieces of "
                    "few classes; none: iid where clients are given"),
    WEFT_REAL_OPT(
        "alpha", weft_partition, alpha, "0.5", 0, 1e9,
        "of dirichlet, above 0: small, a client has few classes; large, all are alike"),
    WEFT_LONG_OPT("shards", weft_partition, shards, "2", 1, 1e6,
                  "pieces of few classes that a client gets"),
    WEFT_LONG_OPT("min_samples", weft_partition, least, "1", 1, 1e9,
                  "training rows that each client must get at least"),
    WEFT_LONG_OPT("seed", weft_partition, seed, "0", 0, 9e15, "of the partition"),
    {0},
};

const weft_kind weft_partition_kind = {
    .name = "partition",
    .about = "rows or documents of any reader, split over clients when packed",
    .size = sizeof(weft_partition),
    .opts = options,
};

/* First row of piece i when n rows are cut into `pieces` as evenly as can be. */
static int64_t cut(int64_t n, int64_t i, int64_t pieces)
{
    return n / pieces * i + n % pieces * i / pieces;
}

weft_status weft_partition_check(const weft_partition *o, int64_t rows)
{
    if (o->rule == WEFT_PART_DIRICHLET && !(o->alpha > 0))
        return weft_fail(WEFT_ECONF, "alpha = %g where dirichlet needs a number above 0",
                         o->alpha);
    int64_t pieces = o->rule == WEFT_PART_SHARDS ? o->shards : 1;
    if (o->clients > rows / pieces && pieces > 1)
        return weft_fail(WEFT_ECONF,
                         "clients = %lld of shards = %lld need %lld training rows where "
                         "there are %lld; give fewer of either",
                         (long long)o->clients, (long long)o->shards,
                         (long long)(o->clients * o->shards), (long long)rows);
    if (rows / (o->clients * pieces) * pieces >= o->least) return WEFT_OK;
    return weft_fail(WEFT_ECONF,
                     "clients = %lld share %lld training rows where each needs "
                     "min_samples = %lld; give fewer clients",
                     (long long)o->clients, (long long)rows, (long long)o->least);
}

const char *weft_partition_text(const weft_partition *o, weft_arena *mem)
{
    static const char *const name[] = {"iid", "iid", "dirichlet", "shards"};
    const char *rule = name[o->rule];
    if (o->rule == WEFT_PART_DIRICHLET)
        rule = weft_arena_text(mem, "%s, alpha %g", rule, o->alpha);
    if (o->rule == WEFT_PART_SHARDS)
        rule = weft_arena_text(mem, "%s, %lld a client", rule, (long long)o->shards);
    return weft_arena_text(mem, "dealt to %lld clients: %s, seed %lld",
                           (long long)o->clients, rule, (long long)o->seed);
}

/* ---- rows by class ---- */

/* A part in random order, and that order sorted by class: places first[k] .. first[k+1] of
 * `sorted` hold the rows of class k, as numbers into `shuffled`. */
typedef struct deck {
    int64_t *shuffled, *sorted; /* [n] */
    int64_t *first;             /* [classes + 1] */
} deck;

static deck shuffle(const weft_partition *o, const weft_labelled *l, weft_arena *tmp)
{
    deck d = {.shuffled = WEFT_NEW(tmp, int64_t, l->n),
              .sorted = WEFT_NEW(tmp, int64_t, l->n),
              .first = WEFT_NEW(tmp, int64_t, l->classes + 1)};
    weft_rng4 key =
        weft_rng_at((uint64_t)o->seed, WEFT_RNG_CLIENT, SHUFFLE, (uint64_t)l->part, 0);
    weft_shuffle(l->n, key.v[0], d.shuffled, tmp);
    for (int64_t i = 0; i < l->n; i++) d.first[l->label[i] + 1]++;
    for (int k = 0; k < l->classes; k++) d.first[k + 1] += d.first[k];
    int64_t *next = WEFT_NEW(tmp, int64_t, l->classes);
    memcpy(next, d.first, (size_t)l->classes * sizeof *next);
    for (int64_t i = 0; i < l->n; i++) d.sorted[next[l->label[d.shuffled[i]]]++] = i;
    return d;
}

/* ---- the three rules: owner[i] of row shuffled[i] ---- */

static void deal_iid(const weft_partition *o, const weft_labelled *l, int64_t *owner)
{
    for (int64_t c = 0; c < o->clients; c++)
        for (int64_t i = cut(l->n, c, o->clients); i < cut(l->n, c + 1, o->clients); i++)
            owner[i] = c;
}

static void deal_shards(const weft_partition *o, const weft_labelled *l, const deck *d,
                        int64_t *owner, weft_arena *tmp)
{
    int64_t pieces = o->clients * o->shards;
    int64_t *dealt = WEFT_NEW(tmp, int64_t, pieces);
    weft_rng4 key = weft_rng_at((uint64_t)o->seed, WEFT_RNG_CLIENT, SHUFFLE, WEFT_NPART, 0);
    weft_shuffle(pieces, key.v[0], dealt, tmp);
    for (int64_t s = 0; s < pieces; s++)
        for (int64_t i = cut(l->n, dealt[s], pieces); i < cut(l->n, dealt[s] + 1, pieces);
             i++)
            owner[d->sorted[i]] = s / o->shards;
}

/* Clients that draw classes: weights relative to the heaviest class that has rows left. */
typedef struct drawer {
    const weft_partition *o;
    int classes;
    double *log_share; /* [clients][classes] log q_c, but for a constant of the client */
    double *weight;    /* [clients][classes] */
    int *known;        /* [clients] classes that had run out when weights were made */
    int64_t *left;     /* [classes] rows */
    int out;           /* classes that have run out */
} drawer;

static void weigh(drawer *w, int64_t c)
{
    const double *q = w->log_share + c * w->classes;
    double most = -INFINITY;
    for (int k = 0; k < w->classes; k++)
        if (w->left[k] > 0) most = fmax(most, q[k]);
    for (int k = 0; k < w->classes; k++)
        w->weight[c * w->classes + k] = w->left[k] > 0 ? exp(q[k] - most) : 0;
    w->known[c] = w->out;
}

/* The class of client c's draw `t`. Some class has rows left. */
static int draw_class(drawer *w, int64_t c, weft_part part, int64_t t)
{
    if (w->known[c] != w->out) weigh(w, c);
    const double *p = w->weight + c * w->classes;
    weft_rng4 r = weft_rng_at((uint64_t)w->o->seed, WEFT_RNG_CLIENT, (uint64_t)c,
                              (uint64_t)(w->classes + (int)part), (uint64_t)t);
    double sum = 0;
    for (int k = 0; k < w->classes; k++) sum += p[k];
    double at = weft_rng_unit(r.v[0]) * sum;
    int class = -1; /* the last one with weight, where rounding leaves `at` above all */
    for (int k = 0; k < w->classes; k++) {
        if (p[k] == 0) continue;
        class = k;
        at -= p[k];
        if (at < 0) break;
    }
    if (--w->left[class] == 0) w->out++;
    return class;
}

static drawer drawer_new(const weft_partition *o, const weft_labelled *l, const deck *d,
                         weft_arena *tmp)
{
    int64_t n = o->clients * l->classes;
    drawer w = {.o = o,
                .classes = l->classes,
                .log_share = WEFT_NEW(tmp, double, n),
                .weight = WEFT_NEW(tmp, double, n),
                .known = WEFT_NEW(tmp, int, o->clients),
                .left = WEFT_NEW(tmp, int64_t, l->classes)};
    for (int k = 0; k < l->classes; k++) {
        w.left[k] = d->first[k + 1] - d->first[k];
        w.out += w.left[k] == 0;
    }
    for (int64_t i = 0; i < n; i++) {
        int64_t c = i / l->classes, k = i % l->classes;
        w.log_share[i] = weft_gamma_log((uint64_t)o->seed, (uint64_t)c, (uint64_t)k,
                                        o->alpha * l->share[k]);
    }
    for (int64_t c = 0; c < o->clients; c++) w.known[c] = -1;
    return w;
}

static void deal_dirichlet(const weft_partition *o, const weft_labelled *l, const deck *d,
                           int64_t *owner, weft_arena *tmp)
{
    drawer w = drawer_new(o, l, d, tmp);
    int64_t rows = (l->n + o->clients - 1) / o->clients;
    for (int64_t t = 0; t < rows; t++)
        for (int64_t c = 0; c < o->clients; c++) {
            if (t >= cut(l->n, c + 1, o->clients) - cut(l->n, c, o->clients)) continue;
            int k = draw_class(&w, c, l->part, t);
            owner[d->sorted[d->first[k] + w.left[k]]] = c;
        }
}

void weft_partition_deal(const weft_partition *o, const weft_labelled *l, int64_t *order,
                         int64_t *count, weft_arena *tmp)
{
    size_t mark = weft_arena_mark(tmp);
    deck d = shuffle(o, l, tmp);
    int64_t *owner = WEFT_NEW(tmp, int64_t, l->n);
    int64_t *next = WEFT_NEW(tmp, int64_t, o->clients + 1);
    for (int64_t i = 0; i < l->n; i++) owner[i] = -1;
    if (o->rule == WEFT_PART_DIRICHLET)
        deal_dirichlet(o, l, &d, owner, tmp);
    else if (o->rule == WEFT_PART_SHARDS)
        deal_shards(o, l, &d, owner, tmp);
    else
        deal_iid(o, l, owner);
    memset(count, 0, (size_t)o->clients * sizeof *count);
    for (int64_t i = 0; i < l->n; i++) {
        weft_check(owner[i] >= 0, "row %lld is dealt to no client",
                   (long long)d.shuffled[i]);
        count[owner[i]]++;
    }
    for (int64_t c = 0; c < o->clients; c++) next[c + 1] = next[c] + count[c];
    for (int64_t i = 0; i < l->n; i++) order[next[owner[i]]++] = d.shuffled[i];
    weft_arena_reset(tmp, mark);
}
