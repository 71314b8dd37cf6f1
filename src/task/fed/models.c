/* The models of clients: they are taken in portions, as in evaluations, so that a rank
 * holds the rows of what a portion keeps. */
#include "models.h"
#include "cohort.h"
#include "keep.h"
#include "visit.h"

#include <math.h>

enum {
    PORTION = 2048, /* clients at a time, at most; fewer where they keep more */
    KEPT = 1 << 22  /* bytes than this */
};

struct using
{
    fed_task *fed;
    fed_turn turn;
    const weft_job *job;
    const weft_state *state;
    fed_client *client; /* [most] of a portion */
    int *pick;          /* [nblock] */
    fed_keep keep;
    fed_use *use;
    void *of;
};

/* One client of this rank. */
static weft_status take(struct using *using, const fed_turns *turns, int64_t j)
{
    fed_task *fed = using->fed;
    const fed_client *client = &turns->client[j];
    weft_arena *tmp = fed->work.tmp;
    size_t mark = weft_arena_mark(tmp);
    weft_samples samples = {0};
    const real *w = turns->from;
    TRY(weft_client_take(fed->clients, &client->at, using->turn.part, &samples, tmp));
    if (fed->algorithm->courses && fed->algorithm->own) {
        weft_visit visit = fed_visit_new(fed, turns, j);
        fed_visit_begin(fed, turns, j, &visit);
        fed->algorithm->own(&visit);
        w = visit.w;
    }
    using->use(using->of, client->client, &samples, w);
    weft_arena_reset(tmp, mark);
    return WEFT_OK;
}

static int64_t count_untrained(const fed_task *fed, const fed_keep *keep,
                               const fed_client *client)
{
    int64_t untrained = 0;
    for (int64_t i = 0; keep->all && i < keep->n; i++)
        if (!(keep->all[i * fed->at.each] > 0)) untrained += client[keep->of[i]].valid;
    return untrained;
}

/* Clients [from, from + n). */
static weft_status take_portion(struct using *using, int64_t from, int64_t n,
                                int64_t *untrained)
{
    fed_task *fed = using->fed;
    const weft_job *job = using->job;
    fed_client *client = using->client;
    int rank = fed->env.team->rank;
    for (int64_t j = 0; j < n; j++) {
        client[j] = (fed_client){
            .client = from + j, .special = client[j].special, .conf = client[j].conf};
        fed_pick(fed, &job->mix, job->trial, FED_EVALUATION, from + j, using->pick,
                 &client[j]);
        fed_size(fed, &using->turn, &client[j]);
    }
    fed_deal(fed, &using->turn, n, client, fed->work.tmp);
    TRY(fed_keep_read(fed, using->state->kept, &using->keep, n, client));
    *untrained += count_untrained(fed, &using->keep, client);
    fed_keep_send(fed, &using->keep);
    fed_turns turns = {.turn = &using->turn,
                       .from = using->state->x,
                       .row = using->keep.row,
                       .n = n,
                       .client = client};
    weft_status st = WEFT_OK;
    for (int64_t j = 0; j < n && st == WEFT_OK; j++)
        if (client[j].rank == rank && client[j].valid > 0) st = take(using, &turns, j);
    return weft_agree(st, fed->env.team);
}

weft_status fed_models_use(fed_task *fed, const weft_job *job, const weft_state *state,
                           weft_part part, fed_use *use, void *of, int64_t *untrained)
{
    weft_arena *tmp = fed->work.tmp;
    int64_t most = (int64_t)fmin(PORTION, fmax(KEPT / fmax(fed_keep_bytes(fed, 1), 1), 1));
    struct using using = {
        .fed = fed,
        .turn = {.round = FED_EVALUATION, .before = 1, .part = part, .most = fed->worst},
        .job = job,
        .state = state,
        .client = fed_clients_new(fed, most, tmp),
        .pick = WEFT_NEW(tmp, int, job->mix.nblock),
        .keep = fed_keep_new(fed, most, tmp),
        .use = use,
        .of = of};
    int64_t clients = fed->clients->n;
    *untrained = 0;
    for (int64_t c = 0; c < clients; c += most)
        TRY(take_portion(&using, c, clients - c < most ? clients - c : most, untrained));
    return weft_agree(weft_client_sound(fed->clients), fed->env.team);
}
