/* Evaluation: weights are scored on a part of all clients, or of some that are drawn by the
 * seed only, before and after local training. Clients are processed in portions, each
 * distributed over ranks, so that memory does not grow with their number. */
#include "eval.h"
#include "cohort.h"
#include "exchange.h"
#include "keep.h"
#include "metrics.h"
#include "turns.h"

#include <math.h>

enum {
    PORTION = 2048, /* clients between two exchanges, at most; fewer where they keep more */
    KEPT = 1 << 22  /* bytes than this, and than the cohort of a round */
};

/* A portion of clients and the results of their turns. */
struct portion {
    fed_turn turn;
    int64_t most;            /* clients */
    fed_client *client;      /* [most] */
    fed_client_result *told; /* [most] */
    int64_t *wire;           /* [fed_room of most] */
    int *pick;               /* [nblock] */
    fed_keep keep;           /* what they keep */
};

/* Clients [i, i + n) of m. */
static weft_status take(fed_task *fed, struct portion *portion, int stops, int64_t i,
                        int64_t n, int64_t m, const weft_state *state)
{
    fed_turns turns = {.turn = &portion->turn,
                       .from = state->x,
                       .row = portion->keep.row,
                       .n = n,
                       .client = portion->client,
                       .told = portion->told,
                       .stops = stops,
                       .first = (double)i / (double)m,
                       .share = (double)n / (double)m};
    return fed_take_turns(fed, &turns);
}

static struct portion portion_new(const fed_task *fed, const fed_evaluation *evaluation,
                                  int nblock, weft_arena *tmp)
{
    double few = fmax(KEPT / fmax(fed_keep_bytes(fed, 1), 1), (double)fed->cohort);
    int64_t most = fed->at.each > 0 ? (int64_t)fmin(few, PORTION) : PORTION;
    return (struct portion){
        .most = most,
        .turn = {.round = FED_EVALUATION,
                 .before = 1,
                 .train = evaluation->personal && !fed->algorithm->neighbours,
                 .after = evaluation->personal,
                 .part = evaluation->part,
                 .fresh = evaluation->fresh,
                 .most = evaluation->winner ? INFINITY : fed->worst},
        .client = fed_clients_new(fed, most, tmp),
        .told = WEFT_NEW(tmp, fed_client_result, most),
        .wire = WEFT_NEW(tmp, int64_t, fed_room(fed, most)),
        .pick = WEFT_NEW(tmp, int, nblock),
        .keep = fed_keep_new(fed, most, tmp)};
}

static weft_members *members_new(fed_task *fed, weft_members *members, int64_t n)
{
    weft_arena *mem = fed->env.mem;
    if (!members || fed->env.team->rank > 0) return NULL;
    const weft_metric *table =
        fed->env.data->pairs ? fed_direction_table : fed_client_table;
    int columns = weft_metrics_count(table);
    *members =
        (weft_members){.table = table,
                       .number = WEFT_NEW(mem, int64_t, n),
                       .name = fed->clients->named ? WEFT_NEW(mem, const char *, n) : NULL,
                       .count = WEFT_NEW(mem, double, n),
                       .score = WEFT_NEW(mem, double, n *columns)};
    return members;
}

/* Adds the scores of a client that answered. EFILE. */
static weft_status member_add(const fed_task *fed, weft_members *members, int64_t client,
                              const fed_client_result *told, int personal)
{
    if (!members || !(told->count > 0)) return WEFT_OK;
    int columns = weft_metrics_count(members->table);
    int64_t i = members->n++;
    members->number[i] = client;
    members->count[i] = told->count;
    for (int k = 2 * (FED_AFTER + 1); k < columns; k++)
        members->score[i * columns + k] = (double)NAN;
    for (int stage = FED_BEFORE; stage <= FED_AFTER; stage++) {
        double *score = members->score + i * columns + 2 * stage;
        int known = personal || stage == FED_BEFORE;
        score[0] = known ? told->loss[stage] / told->count : (double)NAN;
        score[1] = known ? told->wrong[stage] / told->count : (double)NAN;
    }
    if (!members->name) return WEFT_OK;
    return weft_client_name(fed->clients, client, &members->name[i], fed->env.mem);
}

weft_status fed_evaluate(fed_task *fed, const fed_evaluation *evaluation, int64_t trial,
                         const weft_mix *mix, const weft_state *state, fed_score_sums *out)
{
    weft_arena *tmp = weft_arena_new();
    fed->work.tmp = tmp;
    int worst = fed->score == FED_WORST;
    const fed_group *group = evaluation->fresh ? &fed->fresh : &fed->old;
    int64_t clients = group->n;
    int64_t m = evaluation->clients > 0 && evaluation->clients < clients
                    ? evaluation->clients
                    : clients;
    int64_t *drawn = m < clients ? WEFT_NEW(tmp, int64_t, m) : NULL;
    if (drawn) fed_draw(fed, group, FED_EVALUATION, m, 0, drawn, tmp);
    struct portion portion = portion_new(fed, evaluation, mix->nblock, tmp);
    weft_members *members = members_new(fed, evaluation->members, m);
    weft_status st = WEFT_OK;
    fed_client_result *all = WEFT_NEW(tmp, fed_client_result, worst ? m : 0);
    *out = (fed_score_sums){0};
    for (int64_t i = 0; i < m && st == WEFT_OK; i += portion.most) {
        int64_t n = m - i < portion.most ? m - i : portion.most;
        for (int64_t j = 0; j < n; j++) {
            int64_t client = drawn           ? drawn[i + j]
                             : group->client ? group->client[i + j]
                                             : i + j;
            portion.client[j] = (fed_client){.client = client,
                                             .special = portion.client[j].special,
                                             .conf = portion.client[j].conf};
            fed_pick(fed, mix, trial, FED_EVALUATION, client, portion.pick,
                     &portion.client[j]);
            if (evaluation->fresh) portion.client[j].options.epochs = fed->new_epochs;
            fed_size(fed, &portion.turn, &portion.client[j]);
        }
        fed_deal(fed, &portion.turn, n, portion.client, tmp);
        st = fed_keep_read(fed, state->kept, &portion.keep, n, portion.client);
        if (st != WEFT_OK) break;
        fed_keep_send(fed, &portion.keep);
        st = fed_exchange(fed, take(fed, &portion, evaluation->winner, i, n, m, state),
                          portion.wire, 0, n, portion.client, portion.told);
        for (int64_t j = 0; j < n && st == WEFT_OK; j++) {
            fed_sums_add(fed, out, &portion.told[j]);
            if (worst) all[i + j] = portion.told[j];
            st = member_add(fed, members, portion.client[j].client, &portion.told[j],
                            evaluation->personal);
        }
    }
    if (st == WEFT_OK) fed_sums_worst(fed, out, worst ? m : 0, all, tmp);
    weft_arena_free(tmp);
    return st;
}
