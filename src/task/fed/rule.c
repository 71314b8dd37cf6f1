/* Robust rules of the server. Each rank keeps the changes of its clients. A rule by
 * coordinate, and distances between clients, need numbers of all clients: blocks of
 * coordinates go to ranks, block b of a wave to rank b, so that a rank never has the
 * changes of all. */
#include "rule.h"
#include "compress.h"
#include "weft/math/linear.h"

#include <math.h>
#include <string.h>

enum {
    BLOCK_BYTES = 2 << 20, /* of a block of all clients */
    BLOCKS = 64,           /* of a vector, at least, so that many ranks have one */
    TILE = 64,             /* coordinates that are sorted at once; blocks are multiples */
    LANES = 8              /* sums of squares beside one another */
};

static const double nearest = 1e-6; /* geometric: shorter distances count as this */

/* ---- options ---- */

static const weft_opt rule_opts[] = {
    WEFT_CHOICE_OPT("kind", struct fed_rule, kind, "mean",
                    "mean|median|trimmed|krum|multikrum|geometric",
                    "what the server makes of the clients' changes: their mean; by "
                    "coordinate their median, or their mean without extremes; the change "
                    "that is nearest to most others, or the mean of several; their "
                    "geometric median"),
    WEFT_REAL_OPT("harmful", struct fed_rule, harmful, "0.1", 0, 0.49,
                  "share of the clients of a round that may be harmful: trimmed leaves as "
                  "many out at each end, krum and multikrum as many of all"),
    WEFT_INT_OPT("iterations", struct fed_rule, iterations, "8", 1, 1000,
                 "steps to the geometric median, from the mean"),
    {0},
};

const weft_kind fed_rule_kind = WEFT_KIND("rule", struct fed_rule, rule_opts,
                                          "task fed: what the server makes of changes");

/* Warns of an option that the kind of rule does not use. */
static void look_at_option(const fed_task *fed, const char *key, int used)
{
    if (!used && weft_conf_find(fed->env.conf, "rule", key))
        weft_log(WEFT_WARN, "rule.%s has no effect with this rule.kind", key);
}

/* Of n clients, at most `most`. */
static int64_t harmful_of(const struct fed_rule *rule, int64_t n, int64_t most)
{
    int64_t f = (int64_t)ceil(rule->harmful * (double)n - 1e-9);
    return f > most ? (most > 0 ? most : 0) : f;
}

static weft_status check_cohort(const fed_task *fed, const struct fed_rule *rule)
{
    int64_t n = fed->options.cohort, f = harmful_of(rule, n, n);
    int krum = rule->kind == FED_KRUM || rule->kind == FED_MULTIKRUM;
    if (!krum || fed->env.scoring || n >= 2 * f + 3) return WEFT_OK;
    return weft_fail(
        WEFT_ECONF,
        "rule.kind = krum and multikrum need 2 f + 3 = %lld clients in a round "
        "where f = %lld of them may be harmful: fed.cohort = %lld is too small "
        "or rule.harmful = %g too large; change one of them, or take median",
        (long long)(2 * f + 3), (long long)f, (long long)n, rule->harmful);
}

/* Refuses modes that a rule would break, and says what stays a mean. */
static weft_status check_modes(const fed_task *fed)
{
    if (fed->modes.buffer)
        return weft_fail(WEFT_ECONF,
                         "rule.kind compares the clients of a round, and "
                         "fed.aggregation = buffered has no rounds; set rule.kind = mean, "
                         "or fed.aggregation = sync");
    if (fed->modes.compress && fed->modes.compress->client == FED_SKETCH)
        return weft_fail(WEFT_ECONF,
                         "compress.client = sketch sends a sum of clients, and rule.kind "
                         "needs the change of each; choose quantize or topk, or set "
                         "rule.kind = mean");
    if (fed->algorithm->add)
        weft_log(WEFT_INFO,
                 "rule.kind is of the changes of weights; what fed.algorithm = %s sums "
                 "beside them stays a mean",
                 fed->options.algorithm_name);
    return WEFT_OK;
}

weft_status fed_rule_setup(fed_task *fed)
{
    struct fed_rule *rule = WEFT_NEW(fed->env.mem, struct fed_rule, 1);
    fed->modes.rule = NULL;
    TRY(weft_conf_bind(fed->env.conf, &fed_rule_kind, rule));
    int counts =
        rule->kind == FED_TRIMMED || rule->kind == FED_KRUM || rule->kind == FED_MULTIKRUM;
    look_at_option(fed, "harmful", counts);
    look_at_option(fed, "iterations", rule->kind == FED_GEOMETRIC);
    if (rule->kind == FED_MEAN) return WEFT_OK;
    TRY(check_cohort(fed, rule));
    TRY(check_modes(fed));
    fed->modes.rule = rule;
    return WEFT_OK;
}

/* ---- cost ---- */

/* The most of n clients whose changes a rank keeps. */
static int64_t room_of(const fed_task *fed, int64_t n)
{
    int64_t size = fed->env.team->size;
    return size == 1 ? n : (3 * n + 2 * size - 1) / (2 * size);
}

double fed_rule_bytes(const fed_task *fed)
{
    if (!fed->modes.rule) return 0;
    int64_t n = fed_started(fed);
    int krum = fed->modes.rule->kind == FED_KRUM || fed->modes.rule->kind == FED_MULTIKRUM;
    double tables = krum ? 4.0 * (double)n * (double)n * (fed->env.team->size + 1) : 0;
    return (double)room_of(fed, n) * (double)fed->nweight * sizeof(real) + tables +
           (fed->env.team->size > 1 ? 3.0 * BLOCK_BYTES : 0) +
           (double)n * TILE * (sizeof(real) + sizeof(int32_t));
}

void fed_rule_cost(const fed_task *fed, double rounds, weft_cost *cost)
{
    const struct fed_rule *rule = fed->modes.rule;
    if (!rule) return;
    double n = (double)fed->options.cohort, all = n * (double)fed->nweight;
    double steps = log2(n + 1), ranks = fed->env.team->size;
    switch (rule->kind) {
    case FED_GEOMETRIC: cost->flops += rounds * rule->iterations * 5 * all; break;
    case FED_KRUM:
    case FED_MULTIKRUM: cost->flops += rounds * 1.5 * n * all; break;
    default: cost->flops += rounds * 2 * all * steps * steps;
    }
    if (ranks > 1)
        cost->bytes += rounds * (rule->kind == FED_GEOMETRIC
                                     ? rule->iterations * 8 * ranks * (double)fed->nweight
                                     : all * sizeof(real));
}

/* ---- rounds ---- */

/* The rank with the fewest clients; of several the lowest. */
static int emptiest(int ranks, const int64_t *count)
{
    int least = 0;
    for (int r = 1; r < ranks; r++) least = count[r] < count[least] ? r : least;
    return least;
}

void fed_rule_begin(fed_task *fed, fed_cohort *cohort)
{
    weft_arena *tmp = fed->work.tmp;
    const weft_team *team = fed->env.team;
    int64_t most = room_of(fed, cohort->n), *count = WEFT_NEW(tmp, int64_t, team->size);
    fed->modes.rule->row = WEFT_NEW(tmp, real *, cohort->n);
    for (int64_t j = 0; j < cohort->n; j++) {
        fed_client *client = &cohort->client[j];
        if (client->lost) continue;
        if (count[client->rank] == most) client->rank = emptiest(team->size, count);
        count[client->rank]++;
        if (client->rank == team->rank)
            fed->modes.rule->row[j] = WEFT_NEW(tmp, real, fed->nweight);
    }
}

void fed_rule_keep(const fed_visiting *visiting, double divisor)
{
    const fed_task *fed = visiting->fed;
    int64_t j = visiting->client - visiting->turns->client;
    real part = (real)(1 / divisor);
    real *row = fed->modes.rule->row[j];
    for (int64_t i = 0; i < fed->nweight; i++) row[i] = visiting->visit.change[i] * part;
}

void fed_rule_change(const fed_task *fed, const fed_cohort *cohort, double *sum,
                     real *delta)
{
    weft_arena *tmp = fed->work.tmp;
    fed_changes changes = {.size = fed->nweight,
                           .weight = WEFT_NEW(tmp, double, cohort->n),
                           .rank = WEFT_NEW(tmp, int, cohort->n),
                           .row = WEFT_NEW(tmp, const real *, cohort->n),
                           .most = fed->client.max_change,
                           .sum = sum,
                           .tmp = tmp};
    for (int64_t j = 0; j < cohort->n; j++) {
        const fed_client *client = &cohort->client[j];
        if (client->lost || cohort->told[j].diverged > 0 || !(client->weight > 0)) continue;
        changes.weight[changes.n] = client->weight;
        changes.rank[changes.n] = client->rank;
        changes.row[changes.n++] = fed->modes.rule->row[j];
    }
    fed_rule_apply(fed->modes.rule, fed->env.team, &changes, delta);
}

/* ---- means ---- */

/* delta = sum of share[n] times the changes, exact: shares sum up to 1. */
static void combine(weft_team *team, const fed_changes *changes, const double *share,
                    real *delta)
{
    int scale = weft_exact_scale(2 * changes->most);
    double unit = ldexp(1, -scale), *sum = changes->sum;
    memset(sum, 0, (size_t)changes->size * sizeof *sum);
    for (int64_t k = 0; k < changes->n; k++) {
        const real *row = changes->row[k];
        real part = (real)share[k];
        if (changes->rank[k] != team->rank || !(share[k] > 0)) continue;
        for (int64_t i = 0; i < changes->size; i++) delta[i] = row[i] * part;
        weft_exact_add(changes->size, delta, scale, sum);
    }
    weft_sum_whole_f64(team, sum, (size_t)changes->size);
    for (int64_t i = 0; i < changes->size; i++) delta[i] = (real)(sum[i] * unit);
}

/* |x - y|^2 of n numbers, in LANES sums whatever the width of vectors. */
static double square_between(int64_t n, const real *x, const real *y)
{
    double sum[LANES] = {0}, all = 0;
    int64_t whole = n / LANES * LANES;
    for (int64_t i = 0; i < whole; i += LANES)
        for (int l = 0; l < LANES; l++) {
            double d = (double)x[i + l] - (double)y[i + l];
            sum[l] += d * d;
        }
    for (int64_t i = whole; i < n; i++) {
        double d = (double)x[i] - (double)y[i];
        sum[i - whole] += d * d;
    }
    for (int l = 0; l < LANES; l++) all += sum[l];
    return all;
}

static void normalise(int64_t n, double *share)
{
    double sum = 0;
    for (int64_t k = 0; k < n; k++) sum += share[k];
    for (int64_t k = 0; k < n; k++) share[k] /= sum;
}

static void find_geometric(const struct fed_rule *rule, weft_team *team,
                           const fed_changes *changes, real *delta)
{
    int64_t n = changes->n;
    double *share = WEFT_NEW(changes->tmp, double, n);
    memcpy(share, changes->weight, (size_t)n * sizeof *share);
    normalise(n, share);
    combine(team, changes, share, delta);
    for (int i = 0; i < rule->iterations; i++) {
        memset(share, 0, (size_t)n * sizeof *share);
        for (int64_t k = 0; k < n; k++)
            if (changes->rank[k] == team->rank)
                share[k] = sqrt(square_between(changes->size, changes->row[k], delta));
        weft_join_f64(team, share, (size_t)n);
        for (int64_t k = 0; k < n; k++)
            share[k] = changes->weight[k] / fmax(nearest, share[k]);
        normalise(n, share);
        combine(team, changes, share, delta);
    }
}

/* ---- blocks of coordinates ---- */

/* The blocks of a wave, one for each rank: that of this rank begins at `first`. */
struct wave {
    weft_team *team;
    const fed_changes *changes;
    int64_t block;      /* coordinates of a whole block */
    int64_t at;         /* where the wave begins */
    int64_t first, len; /* of this rank's block */
    real *send, *receive;
    size_t *to, *from;    /* [ranks] bytes */
    const real **value;   /* [n][len] of this block, by client */
    const real **arrived; /* [ranks] scratch: the next number of each rank */
};

/* Depends on the number of clients alone, so that sums over blocks do. */
static int64_t block_of(const fed_changes *changes)
{
    int64_t even = (changes->size + BLOCKS - 1) / BLOCKS,
            most = (int64_t)(BLOCK_BYTES / sizeof(real)) / changes->n;
    int64_t block = even < most ? even : most;
    return (block / TILE + 1) * TILE;
}

static struct wave wave_new(weft_team *team, const fed_changes *changes)
{
    weft_arena *tmp = changes->tmp;
    struct wave wave = {.team = team, .changes = changes, .block = block_of(changes)};
    int64_t own = 0, ranks = team->size;
    for (int64_t k = 0; k < changes->n; k++) own += changes->rank[k] == team->rank;
    wave.send = WEFT_NEW(tmp, real, ranks > 1 ? own * wave.block * ranks : 0);
    wave.receive = WEFT_NEW(tmp, real, ranks > 1 ? changes->n * wave.block : 0);
    wave.to = WEFT_NEW(tmp, size_t, ranks);
    wave.from = WEFT_NEW(tmp, size_t, ranks);
    wave.value = WEFT_NEW(tmp, const real *, changes->n);
    wave.arrived = WEFT_NEW(tmp, const real *, ranks);
    return wave;
}

/* Coordinates of the block of a rank. */
static int64_t len_of(const struct wave *wave, int rank)
{
    int64_t left = wave->changes->size - wave->at - rank * wave->block;
    return left < 0 ? 0 : left < wave->block ? left : wave->block;
}

/* Writes this rank's numbers of all blocks of the wave, in the order of ranks. */
static void fill_send(const struct wave *wave)
{
    const fed_changes *changes = wave->changes;
    real *next = wave->send;
    for (int r = 0; r < wave->team->size; r++) {
        int64_t len = len_of(wave, r), first = wave->at + r * wave->block;
        real *begin = next;
        for (int64_t k = 0; k < changes->n; k++) {
            if (changes->rank[k] != wave->team->rank) continue;
            if (len > 0) memcpy(next, changes->row[k] + first, (size_t)len * sizeof *next);
            next += len;
        }
        wave->to[r] = (size_t)(next - begin) * sizeof *next;
    }
}

/* The next wave: value[n] has this rank's block of all clients. 0: there is none.
 * Collective. */
static int wave_next(struct wave *wave)
{
    const fed_changes *changes = wave->changes;
    int ranks = wave->team->size, own = wave->team->rank;
    if (wave->at >= changes->size) return 0;
    wave->first = wave->at + own * wave->block;
    wave->len = len_of(wave, own);
    if (ranks > 1) {
        fill_send(wave);
        memset(wave->from, 0, (size_t)ranks * sizeof *wave->from);
        for (int64_t k = 0; k < changes->n; k++)
            wave->from[changes->rank[k]] += (size_t)wave->len * sizeof(real);
        weft_exchange(wave->team, wave->send, wave->to, wave->receive, wave->from);
        wave->arrived[0] = wave->receive;
        for (int r = 1; r < ranks; r++)
            wave->arrived[r] = wave->arrived[r - 1] + wave->from[r - 1] / sizeof(real);
    }
    for (int64_t k = 0; k < changes->n; k++) {
        const real **next = &wave->arrived[changes->rank[k]];
        wave->value[k] = ranks > 1 ? *next : changes->row[k] + wave->first;
        if (ranks > 1) *next += wave->len;
    }
    wave->at += ranks * wave->block;
    return 1;
}

/* ---- order statistics ---- */

/* Values of TILE coordinates, and the clients that they are of: [n][TILE]. */
struct tile {
    int64_t n;
    real *value;
    int32_t *of;
};

/* Of each coordinate, row i gets the lesser of rows i and j, equal ones by client. */
static void exchange_rows(const struct tile *tile, int64_t i, int64_t j)
{
    real *a = tile->value + i * TILE, *b = tile->value + j * TILE;
    int32_t *x = tile->of + i * TILE, *y = tile->of + j * TILE;
    for (int c = 0; c < TILE; c++) {
        int swap = (a[c] > b[c]) | (!(a[c] < b[c]) & (x[c] > y[c]));
        real low = swap ? b[c] : a[c], high = swap ? a[c] : b[c];
        int32_t first = swap ? y[c] : x[c], second = swap ? x[c] : y[c];
        a[c] = low;
        b[c] = high;
        x[c] = first;
        y[c] = second;
    }
}

/* Sorts each coordinate by Batcher's merge exchange: Knuth, The Art of Computer
 * Programming, volume 3, 5.2.2, algorithm M. */
static void sort_tile(const struct tile *tile)
{
    int64_t top = 1;
    while (2 * top < tile->n) top *= 2;
    for (int64_t p = top; p > 0; p /= 2) {
        int64_t r = 0, d = p;
        for (int64_t q = top;; q /= 2) {
            for (int64_t i = 0; i + d < tile->n; i++)
                if ((i & p) == r) exchange_rows(tile, i, i + d);
            if (q == p) break;
            d = q - p;
            r = p;
        }
    }
}

/* The weighted median of the sorted column c. */
static double median_of(const struct tile *tile, int c, const double *weight, double all)
{
    double sum = 0;
    int64_t i = 0;
    for (;; i++) {
        sum += weight[tile->of[i * TILE + c]];
        if (2 * sum >= all || i + 1 == tile->n) break;
    }
    double value = (double)tile->value[i * TILE + c];
    if (2 * sum > all || i + 1 == tile->n) return value;
    return (value + (double)tile->value[(i + 1) * TILE + c]) / 2;
}

/* Its mean without f at each end. */
static double trimmed_of(const struct tile *tile, int c, const double *weight, int64_t f)
{
    double sum = 0, all = 0;
    for (int64_t i = f; i < tile->n - f; i++) {
        double part = weight[tile->of[i * TILE + c]];
        sum += part * (double)tile->value[i * TILE + c];
        all += part;
    }
    return sum / all;
}

/* out[len] = the rule's values of coordinates from `first` of the block. */
static void decide_tile(const struct fed_rule *rule, const struct wave *wave, int64_t first,
                        const struct tile *tile, real *out)
{
    const fed_changes *changes = wave->changes;
    int64_t f = harmful_of(rule, tile->n, (tile->n - 1) / 2);
    int len = (int)(wave->len - first < TILE ? wave->len - first : TILE);
    double all = 0;
    for (int64_t k = 0; k < tile->n; k++) {
        all += changes->weight[k];
        memcpy(tile->value + k * TILE, wave->value[k] + first,
               (size_t)len * sizeof *tile->value);
        for (int c = 0; c < TILE; c++) tile->of[k * TILE + c] = (int32_t)k;
    }
    sort_tile(tile);
    for (int c = 0; c < len; c++)
        out[first + c] =
            (real)(rule->kind == FED_MEDIAN ? median_of(tile, c, changes->weight, all)
                                            : trimmed_of(tile, c, changes->weight, f));
}

static void find_by_coordinate(const struct fed_rule *rule, weft_team *team,
                               const fed_changes *changes, real *delta)
{
    struct wave wave = wave_new(team, changes);
    int64_t n = changes->n;
    struct tile tile = {n, WEFT_NEW(changes->tmp, real, n * TILE),
                        WEFT_NEW(changes->tmp, int32_t, n * TILE)};
    size_t *count = WEFT_NEW(changes->tmp, size_t, team->size);
    for (int64_t at = 0; wave_next(&wave); at = wave.at) {
        real *out = delta + (wave.len > 0 ? wave.first : 0);
        for (int64_t i = 0; i < wave.len; i += TILE)
            decide_tile(rule, &wave, i, &tile, out);
        for (int r = 0; r < team->size; r++) {
            int64_t left = changes->size - at - r * wave.block;
            left = left < 0 ? 0 : left < wave.block ? left : wave.block;
            count[r] = (size_t)left * sizeof *delta;
        }
        weft_join_bytes(team, delta + at, count);
    }
}

/* ---- krum ---- */

/* square[n (n - 1) / 2] of the distances of clients i < j, i after i: the sums over blocks,
 * in order. Collective. */
static void measure_pairs(weft_team *team, const fed_changes *changes, double *square)
{
    struct wave wave = wave_new(team, changes);
    int64_t n = changes->n, pairs = n * (n - 1) / 2;
    double *part = WEFT_NEW(changes->tmp, double, team->size *pairs);
    size_t *count = WEFT_NEW(changes->tmp, size_t, team->size);
    for (int r = 0; r < team->size; r++) count[r] = (size_t)pairs * sizeof *part;
    while (wave_next(&wave)) {
        double *own = part + team->rank * pairs;
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = i + 1; j < n; j++)
                *own++ = square_between(wave.len, wave.value[i], wave.value[j]);
        weft_join_bytes(team, part, count);
        for (int r = 0; r < team->size; r++)
            for (int64_t e = 0; e < pairs; e++) square[e] += part[r * pairs + e];
    }
}

/* Place of i < j among pairs. */
static int64_t pair_of(int64_t n, int64_t i, int64_t j)
{
    return i * (2 * n - i - 1) / 2 + j - i - 1;
}

/* The clients in the order of krum's score, with f harmful ones. */
static weft_placed *order_clients(const fed_changes *changes, const double *square,
                                  int64_t f)
{
    int64_t n = changes->n, near = n - f - 2;
    weft_placed *order = WEFT_NEW(changes->tmp, weft_placed, n),
                *other = WEFT_NEW(changes->tmp, weft_placed, n);
    for (int64_t i = 0; i < n; i++) {
        int64_t m = 0;
        order[i].at = i;
        for (int64_t j = 0; j < n; j++)
            if (j != i)
                other[m++] =
                    (weft_placed){square[i < j ? pair_of(n, i, j) : pair_of(n, j, i)], j};
        weft_sort_rising(m, other);
        for (int64_t e = 0; e < near && e < m; e++) order[i].value += other[e].value;
    }
    weft_sort_rising(n, order);
    return order;
}

static void find_krum(const struct fed_rule *rule, weft_team *team,
                      const fed_changes *changes, real *delta)
{
    int64_t n = changes->n, f = harmful_of(rule, n, (n - 3) / 2);
    int64_t some = rule->kind == FED_KRUM ? 1 : n - f;
    double *square = WEFT_NEW(changes->tmp, double, n *(n - 1) / 2),
           *share = WEFT_NEW(changes->tmp, double, n);
    measure_pairs(team, changes, square);
    const weft_placed *order = order_clients(changes, square, f);
    for (int64_t e = 0; e < some; e++) share[order[e].at] = changes->weight[order[e].at];
    normalise(n, share);
    combine(team, changes, share, delta);
}

void fed_rule_apply(const struct fed_rule *rule, weft_team *team,
                    const fed_changes *changes, real *delta)
{
    WEFT_REWIND(changes->tmp);
    switch (rule->kind) {
    case FED_MEDIAN:
    case FED_TRIMMED: find_by_coordinate(rule, team, changes, delta); break;
    case FED_GEOMETRIC: find_geometric(rule, team, changes, delta); break;
    default: find_krum(rule, team, changes, delta);
    }
}
