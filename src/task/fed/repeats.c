/* Whether what workers answer is a function of the turn: the same turns are done by all
 * ranks, twice, the second time in another order, and by workers that were just started. */
#include "repeats.h"
#include "cohort.h"
#include "weft/hash.h"
#include "weft/log.h"
#include "worker.h"

#include <string.h>

enum { TURNS = 3 };

/* The clients of the turns, those with training samples, spread over all. */
static fed_client *clients_of(const fed_task *fed, const fed_turn *turn, int n,
                              weft_arena *tmp)
{
    fed_client *client = fed_clients_new(fed, n, tmp);
    int64_t all = fed->clients->n;
    for (int i = 0; i < n; i++) {
        fed_client *one = &client[i];
        weft_space_config(fed->env.space, 0, one->conf);
        one->options = fed->client;
        weft_space_put(fed->env.space, one->conf, &fed_training_kind, &one->options);
        memcpy(one->special, fed->special, fed->algorithm->kind.size);
        one->client = i * all / n;
        while (one->client + 1 < all &&
               weft_client_count(fed->clients, one->client, WEFT_TRAIN) == 0)
            one->client++;
        fed_size(fed, turn, one);
    }
    return client;
}

/* Hash of what the turn gives. */
static weft_status hash_of(fed_task *fed, const fed_turns *turns, int j, uint64_t *hash)
{
    TRY(fed_worker_turn(fed, turns, j, -1));
    uint64_t told = weft_hash(&turns->told[j], sizeof *turns->told, 0);
    *hash = weft_hash(fed->work.g, (size_t)fed->nweight * sizeof *fed->work.g, told);
    return WEFT_OK;
}

/* hash[2][n] of n turns by this rank. */
static weft_status take(fed_task *fed, const fed_turns *turns, int anew, uint64_t *hash)
{
    int n = (int)turns->n;
    for (int i = 0; i < n; i++) TRY(hash_of(fed, turns, i, &hash[i]));
    if (anew) fed_worker_drop(fed);
    for (int i = 0; i < n; i++) {
        int j = (i + n - 1) % n; /* each at another place */
        TRY(hash_of(fed, turns, j, &hash[n + j]));
    }
    return WEFT_OK;
}

/* Has the workers of all ranks do the same n turns, twice, with anew 1 by workers that are
 * started again in between. *differ: of how many the bits were not all the same. */
static weft_status repeat(fed_task *fed, int n, int anew, int *differ)
{
    weft_arena *tmp = weft_arena_new();
    const fed_turn turn = {.round = FED_EVALUATION,
                           .before = 1,
                           .train = 1,
                           .after = 1,
                           .part = WEFT_VALID,
                           .most = fed->worst};
    real *from = WEFT_NEW(tmp, real, fed->nweight);
    fed->net->init(fed->model, fed->env.seed, from);
    fed->work.tmp = tmp;
    fed_turns turns = {.turn = &turn,
                       .from = from,
                       .n = n,
                       .client = clients_of(fed, &turn, n, tmp),
                       .told = WEFT_NEW(tmp, fed_client_result, n)};
    uint64_t *hash = WEFT_NEW(tmp, uint64_t, 2 * n), *first = WEFT_NEW(tmp, uint64_t, n);
    weft_status st = weft_agree(take(fed, &turns, anew, hash), fed->env.team);
    memcpy(first, hash, (size_t)n * sizeof *first);
    weft_bcast(fed->env.team, first, (size_t)n * sizeof *first, 0);
    double *other = WEFT_NEW(tmp, double, n);
    for (int i = 0; i < n; i++) other[i] = hash[i] != first[i] || hash[n + i] != first[i];
    weft_max_f64(fed->env.team, other, (size_t)n);
    *differ = 0;
    for (int i = 0; i < n; i++) *differ += other[i] > 0;
    weft_arena_free(tmp);
    return st;
}

weft_status fed_worker_repeats(void *self, const char *place, const char **told)
{
    (void)place;
    fed_task *fed = self;
    int ranks = fed->env.team->size, differ;
    if (!fed_worker_trains(fed)) return WEFT_OK;
    TRY(repeat(fed, TURNS, 1, &differ));
    const char *bits =
        differ == 0 ? "the same bits"
                    : weft_arena_text(fed->env.mem,
                                      "OTHER BITS in %d; a digest is that of one run on "
                                      "this machine only",
                                      differ);
    *told = weft_arena_text(fed->env.mem,
                            "workers   %d turns, each done twice on %d rank%s: %s", TURNS,
                            ranks, ranks > 1 ? "s" : "", bits);
    return WEFT_OK;
}

weft_status fed_worker_try(fed_task *fed)
{
    int differ;
    if (!fed_worker_trains(fed) || !fed->env.dir || fed->tried) return WEFT_OK;
    fed->tried = 1;
    TRY(repeat(fed, 1, 0, &differ));
    if (differ > 0)
        weft_log(
            WEFT_WARN,
            "a turn that workers repeated had other bits, so that the digest is that "
            "of this run on this machine only; `weft doctor INPUT.ini` tries more, and "
            "answers must be functions of the turn for runs to be repeated");
    return WEFT_OK;
}
