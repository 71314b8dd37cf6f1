/* The clients of a round or an evaluation: those drawn, the configurations that they draw
 * from the mixture, and the rank that trains each. All this is a function of the seed and
 * of identities, so that every rank computes it without communication. What they keep goes
 * to the rank that trains them and comes back, and the results of their turns go to all. */
#include "attack.h"
#include "compress.h"
#include "weft/base/base.h"

#include <math.h>
#include <string.h>

/* ---- who takes part ---- */

void fed_divide(fed_task *fed)
{
    int64_t n = fed->clients->n;
    weft_arena *mem = fed->env.mem;
    fed->old = (fed_group){.n = n};
    fed->fresh = (fed_group){0};
    if (!(fed->options.new_share > 0)) return;
    fed->old = (fed_group){.client = WEFT_NEW(mem, int64_t, n)};
    fed->fresh.client = WEFT_NEW(mem, int64_t, n);
    for (int64_t c = 0; c < n; c++) {
        weft_rng4 rng =
            weft_rng_at(fed->env.seed, WEFT_RNG_COHORT, UINT64_MAX, (uint64_t)c, 0);
        fed_group *group =
            weft_rng_unit(rng.v[0]) < fed->options.new_share ? &fed->fresh : &fed->old;
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
    WEFT_REWIND(tmp);
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
    for (int64_t i = 0; group->client && i < m; i++) client[i] = group->client[client[i]];
    weft_client_fetch(fed->clients, m, client);
}

/* Memory for the rows of n clients; nothing is kept: keep.n is 0. */
static fed_keep keep_new(const fed_task *fed, int64_t n, weft_arena *mem)
{
    fed_keep keep = {0};
    int64_t each = fed->at.each;
    const weft_team *team = fed->env.team;
    if (each == 0) return keep;
    keep.n = n;
    keep.client = WEFT_NEW(mem, int64_t, n);
    keep.of = WEFT_NEW(mem, int64_t, n);
    keep.row = WEFT_NEW(mem, real *, n);
    keep.bytes = WEFT_NEW(mem, size_t, team->size);
    if (team->rank == 0) keep.all = WEFT_NEW(mem, real, n * each);
    keep.own = team->size > 1 ? WEFT_NEW(mem, real, n * each) : keep.all;
    return keep;
}

fed_cohort fed_cohort_new(const fed_task *fed, const fed_turn *turn, int64_t trial,
                          const weft_mix *mix, int64_t most, weft_arena *mem)
{
    size_t bytes = fed->algorithm->kind.size;
    int dim = fed->env.space->dim;
    fed_cohort cohort = {.turn = *turn,
                         .trial = trial,
                         .mix = *mix,
                         .client = WEFT_NEW(mem, fed_client, most),
                         .told = WEFT_NEW(mem, fed_client_result, most),
                         .pick = WEFT_NEW(mem, int, most * mix->nblock),
                         .keep = keep_new(fed, most, mem)};
    double *conf = WEFT_NEW(mem, double, most *dim);
    char *special = weft_arena_alloc(mem, (size_t)most, bytes);
    for (int64_t j = 0; j < most; j++) {
        cohort.client[j].special = special + (size_t)j * bytes;
        cohort.client[j].conf = conf + j * dim;
    }
    return cohort;
}

void fed_configure(const fed_task *fed, fed_client *client)
{
    const weft_kind *kind = &fed->algorithm->kind;
    client->options = fed->client;
    memcpy(client->special, fed->special, kind->size);
    weft_space_put(fed->env.space, client->conf, &fed_training_kind, &client->options);
    weft_space_put(fed->env.space, client->conf, kind, client->special);
}

void fed_draw_configuration(const fed_task *fed, const fed_cohort *cohort, uint64_t key,
                            int *pick, fed_client *client)
{
    const weft_mix *mix = &cohort->mix;
    double unit[WEFT_MAX_BLOCKS];
    for (int b = 0; b < mix->nblock; b++) {
        weft_rng4 rng = weft_rng_at(fed->env.seed, WEFT_RNG_PICK, (uint64_t)cohort->trial,
                                    cohort->turn.round, key | (uint64_t)(b / 4) << 54);
        unit[b] = weft_rng_unit(rng.v[b % 4]);
    }
    weft_mix_pick(mix, unit, pick);
    weft_mix_compose(mix, pick, client->conf);
    fed_configure(fed, client);
}

void fed_cohort_fill(const fed_task *fed, fed_cohort *cohort, int64_t n,
                     const int64_t *number, int64_t first)
{
    cohort->n = n;
    for (int64_t j = 0; j < n; j++) {
        fed_client *client = &cohort->client[j];
        *client = (fed_client){.client = number ? number[first + j] : first + j,
                               .aged = 1,
                               .special = client->special,
                               .conf = client->conf};
        int64_t key = cohort->turn.round == FED_EVALUATION ? client->client : j;
        fed_draw_configuration(fed, cohort, (uint64_t)key,
                               cohort->pick + j * cohort->mix.nblock, client);
        if (cohort->turn.fresh) client->options.epochs = fed->options.new_epochs;
        fed_size(fed, &cohort->turn, client);
    }
}

fed_turns fed_turns_of(const fed_cohort *cohort, const real *from)
{
    return (fed_turns){.turn = &cohort->turn,
                       .from = from,
                       .n = cohort->n,
                       .client = cohort->client,
                       .told = cohort->told,
                       .row = cohort->keep.row};
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
    if (fed_attacks(fed, turn, client->client)) client->valid = 0;
}

/* Adds the validation predictions of a client to those of all, or takes them away. */
static void add_scored(fed_task *fed, int64_t c, int sign)
{
    int64_t valid = weft_client_count(fed->clients, c, WEFT_VALID);
    fed_client client = {.client = c, .valid = valid};
    double v = fed_predictions(fed, &client, WEFT_VALID);
    fed->size.all.sum += sign * v;
    fed->size.all.square += sign * v * v;
}

void fed_measure(fed_task *fed)
{
    enum { LOOKED_AT = 4096 };
    const weft_clients *clients = fed->clients;
    int64_t n = clients->n, m = n < LOOKED_AT ? n : LOOKED_AT;
    fed_turn round = {.part = WEFT_VALID, .cap = fed->options.max_valid};
    for (int64_t i = 0; i < m; i++) {
        fed_client client = {.client = (int64_t)((double)i * (double)n / (double)m),
                             .options = fed->client};
        fed_size(fed, &round, &client);
        fed->size.samples += (double)client.samples / (double)m;
        fed->size.valid += (double)client.valid / (double)m;
    }
    double each = fed_each(fed);
    fed->size.all.sum = each * (double)clients->size[WEFT_VALID].total;
    fed->size.all.square = each * each * clients->size[WEFT_VALID].square;
    if (weft_forms[fed->env.data->form]->predictions) {
        fed->size.all = (weft_population){0};
        for (int64_t c = 0; c < n; c++) add_scored(fed, c, 1);
    }
    for (int64_t i = 0; i < fed->fresh.n; i++) add_scored(fed, fed->fresh.client[i], -1);
}

/* Work of a turn in samples: a forward pass takes a third of a step. */
static double work_of(const fed_turn *turn, const fed_client *client)
{
    if (client->lost) return 0;
    int passes = turn->before + turn->after;
    return (turn->train ? (double)client->samples * client->options.epochs : 0) +
           (double)client->valid * passes / 3 + 1;
}

void fed_deal(const fed_task *fed, fed_cohort *cohort)
{
    int64_t n = cohort->n;
    if (fed->env.team->size == 1) return;
    WEFT_SCRATCH(tmp);
    double *cost = WEFT_NEW(tmp, double, n);
    int *rank = WEFT_NEW(tmp, int, n);
    for (int64_t j = 0; j < n; j++) cost[j] = work_of(&cohort->turn, &cohort->client[j]);
    weft_deal_costs(n, cost, fed->env.team->size, NULL, rank);
    for (int64_t j = 0; j < n; j++) cohort->client[j].rank = rank[j];
}

/* ---- the results of turns ---- */

/* Numbers of a client's result. */
static int64_t result_numbers(const fed_task *fed)
{
    return FED_CLIENT_NUMBERS + fed->told.n;
}

int64_t fed_room(const fed_task *fed, int64_t n)
{
    return n * result_numbers(fed) + 1;
}

/* One rank contributes the bits of a double as an integer, the others 0: the sum is these
 * bits. */
weft_status fed_exchange(fed_task *fed, weft_status st, int64_t *wire, int64_t head,
                         const fed_cohort *cohort)
{
    fed_client_result *told = cohort->told;
    int64_t n = cohort->n, each = result_numbers(fed), *bits = wire + head,
            *failed = bits + n * each;
    size_t bytes = (size_t)each * sizeof *bits;
    memset(bits, 0, (size_t)fed_room(fed, n) * sizeof *bits);
    for (int64_t j = 0; j < n; j++)
        if (cohort->client[j].rank == fed->env.team->rank)
            memcpy(bits + j * each, &told[j], bytes);
    *failed = st != WEFT_OK;
    weft_sum_i64(fed->env.team, wire, (size_t)(head + fed_room(fed, n)));
    if (*failed > 0) return weft_agree(st, fed->env.team);
    for (int64_t j = 0; j < n; j++) memcpy(&told[j], bits + j * each, bytes);
    return WEFT_OK;
}

/* ---- what clients keep: the first rank reads it from the state's files, the rank that
 * trains a client gets its row, and the first rank writes what it has become. So a rank has
 * the rows of a cohort in memory and not those of all clients. ---- */

double fed_keep_bytes(const fed_task *fed, int64_t n)
{
    int copies = fed->env.team->size > 1 ? 2 : 1;
    return copies * (double)n * (double)fed->at.each * sizeof(real);
}

double fed_keep_memory(const fed_task *fed)
{
    enum { PLACE = 17 }; /* bytes a client, see kept.h */
    int64_t started = weft_device_started(&fed->device, fed->options.cohort, fed->old.n);
    return fed_keep_bytes(fed, started) + PLACE * (double)fed->clients->n;
}

weft_status fed_keep_check(const fed_task *fed)
{
    double bytes = fed_keep_memory(fed);
    double disk = weft_kept_bytes(fed->clients->n, fed->at.each);
    long long each = (long long)fed->at.each, n = (long long)fed->clients->n;
    if (bytes > fed->env.memory)
        return weft_fail(WEFT_ELIMIT,
                         "fed.algorithm = %s%s keeps %lld numbers of each of %lld clients, "
                         "which takes %.3g GB of memory; run.memory allows %g GB a rank: "
                         "make the model or fed.cohort smaller, let clients "
                         "keep less, or allow more",
                         fed->options.algorithm_name,
                         fed_compress_kept(fed) > 0 ? " with compress.client = topk" : "",
                         each, n, bytes / 1e9, fed->env.memory / 1e9);
    weft_log(WEFT_INFO,
             "each of %lld clients keeps %lld numbers: a state takes at most %.4g MB on "
             "disk, and a round %.3g MB in memory",
             n, each, disk / 1e6, bytes / 1e6);
    return WEFT_OK;
}

/* Orders clients by ranks, and finds where the row of each of this rank's is. */
static void arrange(const fed_task *fed, fed_cohort *cohort)
{
    const weft_team *team = fed->env.team;
    const fed_client *client = cohort->client;
    fed_keep *keep = &cohort->keep;
    int64_t n = cohort->n, each = fed->at.each;
    WEFT_SCRATCH(tmp);
    int64_t *first = WEFT_NEW(tmp, int64_t, team->size + 1);
    for (int64_t j = 0; j < n; j++) first[client[j].rank + 1]++;
    for (int r = 0; r < team->size; r++) {
        keep->bytes[r] = (size_t)(first[r + 1] * each) * sizeof(real);
        first[r + 1] += first[r];
    }
    int64_t *next = WEFT_NEW(tmp, int64_t, team->size);
    memcpy(next, first, (size_t)team->size * sizeof *next);
    keep->n = n;
    for (int64_t j = 0; j < n; j++) {
        int r = client[j].rank;
        int64_t at = next[r]++;
        keep->client[at] = client[j].client;
        keep->of[at] = j;
        keep->row[j] = r == team->rank ? keep->own + each * (at - first[r]) : NULL;
    }
}

/* Sends rows from the first rank to all, or back. */
static void move_rows(const fed_task *fed, const fed_keep *keep, int back)
{
    weft_team *team = fed->env.team;
    if (team->size == 1) return;
    WEFT_SCRATCH(tmp);
    size_t *to = WEFT_NEW(tmp, size_t, team->size),
           *from = WEFT_NEW(tmp, size_t, team->size);
    from[0] = keep->bytes[team->rank];
    if (team->rank == 0) memcpy(to, keep->bytes, (size_t)team->size * sizeof *to);
    if (back)
        weft_exchange(team, keep->own, from, keep->all, to);
    else
        weft_exchange(team, keep->all, to, keep->own, from);
}

weft_status fed_keep_read(const fed_task *fed, const weft_kept *kept, fed_cohort *cohort)
{
    if (fed->at.each == 0) return WEFT_OK;
    weft_team *team = fed->env.team;
    const fed_keep *keep = &cohort->keep;
    arrange(fed, cohort);
    weft_status st =
        team->rank == 0 ? weft_kept_read(kept, keep->n, keep->client, keep->all) : WEFT_OK;
    return weft_agree(st, team);
}

void fed_keep_send(const fed_task *fed, const fed_keep *keep)
{
    if (fed->at.each > 0) move_rows(fed, keep, 0);
}

static weft_status write_rows(const fed_task *fed, weft_kept *kept,
                              const fed_cohort *cohort)
{
    int64_t m = 0;
    const fed_keep *keep = &cohort->keep;
    WEFT_REWIND(fed->work.tmp);
    const real **row = WEFT_NEW(fed->work.tmp, const real *, keep->n);
    for (int64_t i = 0; i < keep->n; i++) {
        int64_t j = keep->of[i];
        if (cohort->client[j].lost || cohort->told[j].diverged > 0) continue;
        row[m] = keep->all + i * fed->at.each;
        keep->client[m++] = keep->client[i];
    }
    return weft_kept_write(kept, m, keep->client, row);
}

weft_status fed_keep_write(const fed_task *fed, weft_kept *kept, double *mark,
                           const fed_cohort *cohort)
{
    if (fed->at.each == 0) return WEFT_OK;
    weft_team *team = fed->env.team;
    weft_status st = WEFT_OK;
    move_rows(fed, &cohort->keep, 1);
    if (team->rank == 0) {
        st = write_rows(fed, kept, cohort);
        weft_kept_mark(kept, mark);
    }
    weft_bcast(team, mark, WEFT_KEPT_MARK * sizeof *mark, 0);
    return weft_agree(st, team);
}
