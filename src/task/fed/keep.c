/* What clients keep from turn to turn: the first rank reads it from the state's files, the
 * rank that trains a client gets its row, and the first rank writes what it has become. So
 * a rank has the rows of a cohort in memory and not those of all clients. */
#include "keep.h"
#include "weft/log.h"

#include <string.h>

double fed_keep_bytes(const fed_task *fed, int64_t n)
{
    int copies = fed->env.team->size > 1 ? 2 : 1;
    return copies * (double)n * (double)fed->at.each * sizeof(real);
}

double fed_keep_memory(const fed_task *fed)
{
    enum { PLACE = 17 }; /* bytes a client, see kept.h */
    int64_t started = weft_device_started(&fed->device, fed->cohort, fed->old.n);
    return fed_keep_bytes(fed, started) + PLACE * (double)fed->clients->n;
}

weft_status fed_keep_check(const fed_task *fed)
{
    double bytes = fed_keep_memory(fed);
    double disk = weft_kept_bytes(fed->clients->n, fed->at.each);
    long long each = (long long)fed->at.each, n = (long long)fed->clients->n;
    if (bytes > fed->env.memory)
        return weft_fail(WEFT_ELIMIT,
                         "fed.algorithm = %s keeps %lld numbers of each of %lld clients, "
                         "which takes %.3g GB of memory; run.memory allows %g GB a rank: "
                         "make the model or fed.cohort smaller, let clients "
                         "keep less, or allow more",
                         fed->algorithm_name, each, n, bytes / 1e9, fed->env.memory / 1e9);
    weft_log(WEFT_INFO,
             "each of %lld clients keeps %lld numbers: a state takes at most %.4g MB on "
             "disk, and a round %.3g MB in memory",
             n, each, disk / 1e6, bytes / 1e6);
    return WEFT_OK;
}

fed_keep fed_keep_new(const fed_task *fed, int64_t n, weft_arena *mem)
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

/* Orders clients by ranks, and finds where the row of each of this rank's is. */
static void arrange(const fed_task *fed, fed_keep *keep, int64_t n,
                    const fed_client *client)
{
    const weft_team *team = fed->env.team;
    int64_t each = fed->at.each;
    weft_arena *tmp = weft_arena_new();
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
    weft_arena_free(tmp);
}

/* Sends rows from the first rank to all, or back. */
static void move_rows(const fed_task *fed, fed_keep *keep, int back)
{
    weft_team *team = fed->env.team;
    if (team->size == 1) return;
    weft_arena *tmp = weft_arena_new();
    size_t *to = WEFT_NEW(tmp, size_t, team->size),
           *from = WEFT_NEW(tmp, size_t, team->size);
    from[0] = keep->bytes[team->rank];
    if (team->rank == 0) memcpy(to, keep->bytes, (size_t)team->size * sizeof *to);
    if (back)
        weft_exchange(team, keep->own, from, keep->all, to);
    else
        weft_exchange(team, keep->all, to, keep->own, from);
    weft_arena_free(tmp);
}

weft_status fed_keep_read(const fed_task *fed, const weft_kept *kept, fed_keep *keep,
                          int64_t n, const fed_client *client)
{
    if (fed->at.each == 0) return WEFT_OK;
    weft_team *team = fed->env.team;
    arrange(fed, keep, n, client);
    weft_status st =
        team->rank == 0 ? weft_kept_read(kept, n, keep->client, keep->all) : WEFT_OK;
    return weft_agree(st, team);
}

void fed_keep_send(const fed_task *fed, fed_keep *keep)
{
    if (fed->at.each > 0) move_rows(fed, keep, 0);
}

static weft_status write_rows(const fed_task *fed, const fed_trial_state *trial,
                              const fed_keep *keep, const fed_client *client,
                              const fed_client_result *told)
{
    int64_t m = 0;
    size_t mark = weft_arena_mark(fed->work.tmp);
    const real **row = WEFT_NEW(fed->work.tmp, const real *, keep->n);
    for (int64_t i = 0; i < keep->n; i++) {
        int64_t j = keep->of[i];
        if (client[j].lost || told[j].diverged > 0) continue;
        row[m] = keep->all + i * fed->at.each;
        keep->client[m++] = keep->client[i];
    }
    weft_status st = weft_kept_write(trial->kept, m, keep->client, row);
    weft_arena_reset(fed->work.tmp, mark);
    return st;
}

weft_status fed_keep_write(const fed_task *fed, fed_trial_state *trial, fed_keep *keep,
                           const fed_client *client, const fed_client_result *told)
{
    if (fed->at.each == 0) return WEFT_OK;
    weft_team *team = fed->env.team;
    weft_status st = WEFT_OK;
    move_rows(fed, keep, 1);
    if (team->rank == 0) {
        st = write_rows(fed, trial, keep, client, told);
        weft_kept_mark(trial->kept, trial->mark);
    }
    weft_bcast(team, trial->mark, WEFT_KEPT_MARK * sizeof *trial->mark, 0);
    return weft_agree(st, team);
}
