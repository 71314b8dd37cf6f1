/* The clients of a round: those drawn, the configurations that they draw from
 * the mixture, and the rank that trains each. All this is a function of the seed and of
 * identities, so that every rank computes it without communication. */
#include "cohort.h"
#include "score.h"
#include "weft/rng.h"

#include <math.h>
#include <string.h>

/* ---- who takes part ---- */

void fed_divide(fed_task *fed)
{
    int64_t n = fed->clients->n;
    weft_arena *mem = fed->env.mem;
    fed->old = (fed_group){.n = n};
    fed->fresh = (fed_group){0};
    if (!(fed->new_share > 0)) return;
    fed->old = (fed_group){.client = WEFT_NEW(mem, int64_t, n)};
    fed->fresh.client = WEFT_NEW(mem, int64_t, n);
    for (int64_t c = 0; c < n; c++) {
        weft_rng4 rng =
            weft_rng_at(fed->env.seed, WEFT_RNG_COHORT, UINT64_MAX, (uint64_t)c, 0);
        fed_group *group =
            weft_rng_unit(rng.v[0]) < fed->new_share ? &fed->fresh : &fed->old;
        group->client[group->n++] = c;
    }
}

/* ---- drawing ---- */

/* A permutation of 0, 1 ... n-1 after some swaps, as a hash table that stores only the
 * positions that were changed. */
struct shuffled {
    int64_t *place, *client; /* [room], place -1: free */
    uint64_t room;           /* power of two, at least twice the number of changed
                                positions */
};

static int64_t *at_place(struct shuffled *shuffled, int64_t place)
{
    uint64_t i = (uint64_t)place * 0x9e3779b97f4a7c15u & (shuffled->room - 1);
    while (shuffled->place[i] >= 0 && shuffled->place[i] != place)
        i = (i + 1) & (shuffled->room - 1);
    if (shuffled->place[i] < 0) {
        shuffled->place[i] = place;
        shuffled->client[i] = place;
    }
    return &shuffled->client[i];
}

static struct shuffled shuffled_new(int64_t m, weft_arena *tmp)
{
    struct shuffled shuffled = {.room = 8};
    while (shuffled.room < 4 * (uint64_t)m) shuffled.room *= 2;
    shuffled.place = WEFT_NEW(tmp, int64_t, shuffled.room);
    shuffled.client = WEFT_NEW(tmp, int64_t, shuffled.room);
    for (uint64_t i = 0; i < shuffled.room; i++) shuffled.place[i] = -1;
    return shuffled;
}

/* Without replacement: the first m of a Fisher-Yates shuffle, so that a larger cohort
 * begins with the smaller one. */
void fed_draw(const fed_task *fed, const fed_group *group, uint64_t round, int64_t m,
              int replacement, int64_t *client, weft_arena *tmp)
{
    int64_t n = group->n;
    size_t mark = weft_arena_mark(tmp);
    struct shuffled shuffled = shuffled_new(replacement ? 0 : m, tmp);
    for (int64_t i = 0; i < m; i++) {
        weft_rng4 rng = weft_rng_at(fed->env.seed, WEFT_RNG_COHORT, round, (uint64_t)i, 0);
        double unit = weft_rng_unit(rng.v[0]);
        if (replacement) {
            client[i] = (int64_t)(unit * (double)n);
            continue;
        }
        int64_t *drawn = at_place(&shuffled, i + (int64_t)(unit * (double)(n - i)));
        client[i] = *drawn;
        *drawn = *at_place(&shuffled, i);
    }
    weft_arena_reset(tmp, mark);
    for (int64_t i = 0; group->client && i < m; i++) client[i] = group->client[client[i]];
    weft_client_fetch(fed->clients, m, client);
}

fed_client *fed_clients_new(const fed_task *fed, int64_t n, weft_arena *mem)
{
    size_t bytes = fed->algorithm->kind.size;
    int dim = fed->env.space->dim;
    fed_client *client = WEFT_NEW(mem, fed_client, n);
    double *conf = WEFT_NEW(mem, double, n *dim);
    char *special = weft_arena_alloc(mem, (size_t)n, bytes);
    for (int64_t j = 0; j < n; j++) {
        client[j].special = special + (size_t)j * bytes;
        client[j].conf = conf + j * dim;
    }
    return client;
}

void fed_pick(const fed_task *fed, const weft_mix *mix, int64_t trial, uint64_t round,
              int64_t j, int *pick, fed_client *client)
{
    weft_arena *tmp = fed->work.tmp;
    size_t mark = weft_arena_mark(tmp);
    double unit[WEFT_MAX_BLOCKS], *conf = client->conf;
    for (int b = 0; b < mix->nblock; b++) {
        uint64_t which = (uint64_t)j | (uint64_t)(b / 4) << 54;
        weft_rng4 rng =
            weft_rng_at(fed->env.seed, WEFT_RNG_PICK, (uint64_t)trial, round, which);
        unit[b] = weft_rng_unit(rng.v[b % 4]);
    }
    if (fed->eval_mode && round == FED_EVALUATION)
        weft_mix_best(mix, pick);
    else
        weft_mix_pick(mix, unit, pick);
    weft_mix_compose(mix, pick, conf);
    const weft_kind *kind = &fed->algorithm->kind;
    client->options = fed->client;
    memcpy(client->special, fed->special, kind->size);
    weft_space_put(fed->env.space, conf, &fed_training_kind, &client->options);
    weft_space_put(fed->env.space, conf, kind, client->special);
    weft_arena_reset(tmp, mark);
}

/* ---- dealing ---- */

void fed_size(const fed_task *fed, const fed_turn *turn, fed_client *client)
{
    const weft_clients *clients = fed->clients;
    client->at = weft_client_find(clients, client->client);
    int64_t train = client->at.count[WEFT_TRAIN], valid = client->at.count[turn->part];
    int64_t most = client->options.max_samples;
    client->samples = most > 0 && most < train ? most : train;
    client->valid = turn->cap > 0 && turn->cap < valid ? turn->cap : valid;
}

/* Adds the validation predictions of a client to those of all, or takes them away. */
static void add_scored(fed_task *fed, int64_t c, int sign)
{
    int64_t valid = weft_client_count(fed->clients, c, WEFT_VALID);
    fed_client client = {.client = c, .valid = valid};
    double v = fed_predictions(fed, &client, WEFT_VALID);
    fed->all.sum += sign * v;
    fed->all.square += sign * v * v;
}

void fed_measure(fed_task *fed)
{
    enum { LOOKED_AT = 4096 };
    const weft_clients *clients = fed->clients;
    int64_t n = clients->n, m = n < LOOKED_AT ? n : LOOKED_AT;
    fed_turn round = {.part = WEFT_VALID, .cap = fed->max_valid};
    for (int64_t i = 0; i < m; i++) {
        fed_client client = {.client = (int64_t)((double)i * (double)n / (double)m),
                             .options = fed->client};
        fed_size(fed, &round, &client);
        fed->mean_samples += (double)client.samples / (double)m;
        fed->mean_valid += (double)client.valid / (double)m;
    }
    double each = fed_each(fed);
    fed->all.sum = each * (double)clients->size[WEFT_VALID].total;
    fed->all.square = each * each * clients->size[WEFT_VALID].square;
    if (fed->env.data->pairs) {
        fed->all = (weft_population){0};
        for (int64_t c = 0; c < n; c++) add_scored(fed, c, 1);
    }
    for (int64_t i = 0; i < fed->fresh.n; i++) add_scored(fed, fed->fresh.client[i], -1);
}

/* Work of a turn in samples: a forward pass takes a third of a step. */
static double work(const fed_turn *turn, const fed_client *client)
{
    if (client->lost) return 0;
    int passes = turn->before + turn->after;
    return (turn->train ? (double)client->samples * client->options.epochs : 0) +
           (double)client->valid * passes / 3 + 1;
}

void fed_deal(const fed_task *fed, const fed_turn *turn, int64_t n, fed_client *client,
              weft_arena *tmp)
{
    for (int64_t j = 0; j < n; j++) client[j].rank = 0;
    if (fed->env.team->size == 1) return;
    size_t mark = weft_arena_mark(tmp);
    double *cost = WEFT_NEW(tmp, double, n);
    int *rank = WEFT_NEW(tmp, int, n);
    for (int64_t j = 0; j < n; j++) cost[j] = work(turn, &client[j]);
    weft_deal_costs(n, cost, fed->env.team->size, NULL, rank);
    for (int64_t j = 0; j < n; j++) client[j].rank = rank[j];
    weft_arena_reset(tmp, mark);
}
