/* Evaluation: weights are scored on a part of all clients, or of some that are drawn by the
 * seed only, before and after local training. Clients are processed in portions, each
 * distributed over ranks, so that memory does not grow with their number. */
#include "eval.h"
#include "cohort.h"
#include "turns.h"

#include <math.h>

enum { PORTION = 2048 }; /* clients between two exchanges */

/* A portion of clients and the results of their turns. */
typedef struct portion {
    fed_turn turn;
    fed_participant *place;  /* [PORTION] */
    fed_client_result *told; /* [PORTION] */
    int64_t *wire;           /* [fed_room(PORTION)] */
    int *pick;               /* [nblock] */
} portion;

/* Clients [i, i + n) of m. */
static weft_status take(fed *t, portion *p, int stops, int64_t i, int64_t n, int64_t m,
                        const real *w)
{
    fed_turns q = {.turn = &p->turn,
                   .from = w,
                   .n = n,
                   .place = p->place,
                   .told = p->told,
                   .stops = stops,
                   .first = (double)i / (double)m,
                   .share = (double)n / (double)m};
    return fed_take_turns(t, &q);
}

static portion portion_new(const fed *t, const fed_evaluation *q, int nblock,
                           weft_arena *tmp)
{
    return (portion){.turn = {.round = FED_EVALUATION,
                              .before = 1,
                              .train = q->personal,
                              .after = q->personal,
                              .part = q->part,
                              .most = t->worst},
                     .place = WEFT_NEW(tmp, fed_participant, PORTION),
                     .told = WEFT_NEW(tmp, fed_client_result, PORTION),
                     .wire = WEFT_NEW(tmp, int64_t, fed_room(PORTION)),
                     .pick = WEFT_NEW(tmp, int, nblock)};
}

weft_status fed_evaluate(fed *t, const fed_evaluation *q, int64_t trial,
                         const weft_mix *mix, const real *w, fed_score_sums *out)
{
    weft_arena *tmp = weft_arena_new();
    t->work.tmp = tmp;
    int64_t clients = t->clients->n;
    int64_t m = q->clients > 0 && q->clients < clients ? q->clients : clients;
    int64_t *drawn = m < clients ? WEFT_NEW(tmp, int64_t, m) : NULL;
    if (drawn) fed_draw(t, FED_EVALUATION, clients, m, 0, drawn, tmp);
    portion p = portion_new(t, q, mix->nblock, tmp);
    weft_status st = WEFT_OK;
    *out = (fed_score_sums){0};
    for (int64_t i = 0; i < m && st == WEFT_OK; i += PORTION) {
        int64_t n = m - i < PORTION ? m - i : PORTION;
        for (int64_t j = 0; j < n; j++) {
            int64_t client = drawn ? drawn[i + j] : i + j;
            p.place[j] = (fed_participant){.client = client};
            p.place[j].options = fed_pick(t, mix, trial, FED_EVALUATION, client, p.pick);
            fed_size(t, &p.turn, &p.place[j]);
        }
        fed_deal(t, &p.turn, n, p.place, tmp);
        st = fed_exchange(t, take(t, &p, q->stops, i, n, m, w), p.wire, 0, n, p.place,
                          p.told);
        for (int64_t j = 0; j < n && st == WEFT_OK; j++) fed_sums_add(t, out, &p.told[j]);
    }
    weft_arena_free(tmp);
    return st;
}
