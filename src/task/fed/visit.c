/* Turns of algorithms that do more than FedAvg: the client's model is scored, the algorithm
 * trains it by courses of local.c or of a worker, and it is scored again. What the client
 * keeps changes in its row, which becomes part of the state at the end of the round. */
#include "visit.h"
#include "local.h"
#include "score.h"
#include "worker.h"

#include <math.h>
#include <string.h>

/* What `train` needs beside the visit. */
struct visiting {
    fed_task *fed;
    const fed_client *client;
    const fed_turn *turn;
    weft_samples own, scored;
    int adapts;  /* 1: by the algorithm's `adapt`, in several courses */
    int courses; /* that were done */
    fed_client_result *out;
};

/* ---- what algorithms need ---- */

weft_amounts fed_amounts(const fed_task *fed, const void *special, int epochs)
{
    double n = (double)fed->nweight;
    weft_amounts amounts = {.down = n, .up = n, .epochs = epochs};
    if (fed->algorithm->amounts)
        fed->algorithm->amounts(special ? special : fed->special, fed->nweight, epochs,
                                &amounts);
    return amounts;
}

fed_layout fed_layout_of(const fed_task *fed)
{
    weft_amounts amounts = fed_amounts(fed, NULL, 1);
    fed_layout layout = {.shared = fed->nweight,
                         .nshared = amounts.shared,
                         .each = amounts.kept > 0 ? 1 + amounts.kept : 0};
    layout.slots = layout.shared + layout.nshared;
    return layout;
}

int64_t fed_steps(const fed_client *client)
{
    int batch = client->options.batch;
    return client->options.epochs * ((client->samples + batch - 1) / batch);
}

/* The client's turn from the state x and its row; NULL: it keeps nothing. */
static weft_visit visit_of(const fed_task *fed, const fed_client *client, const real *x,
                           real *row)
{
    const fed_layout *layout = &fed->at;
    const fed_workspace *work = &fed->work;
    weft_visit visit = {.n = fed->nweight,
                        .ntensor = fed->ntensor,
                        .tensor = fed->tensor,
                        .seed = fed->env.seed,
                        .client = client->client,
                        .options = client->special,
                        .sgd = client->options.sgd,
                        .epochs = client->options.epochs,
                        .steps = fed_steps(client),
                        .x = x,
                        .shared = x ? x + layout->shared : NULL,
                        .w = work->w,
                        .change = work->change,
                        .spare = work->spare};
    if (row) visit.kept = row + 1;
    return visit;
}

/* What the client keeps before its first turn. */
static void begin(const fed_task *fed, weft_visit *visit, const real *row)
{
    if (row && !(row[0] > 0) && fed->algorithm->first) fed->algorithm->first(visit);
}

double fed_divisor(const fed_task *fed, const fed_client *client)
{
    if (!fed->algorithm->divisor) return 1;
    weft_visit visit = visit_of(fed, client, NULL, NULL);
    return fed->algorithm->divisor(&visit);
}

double fed_bound(const fed_task *fed, const fed_client *client, const real *x, real *row)
{
    if (!fed->algorithm->bound) return 0;
    weft_visit visit = visit_of(fed, client, x, row);
    begin(fed, &visit, row);
    return fed->algorithm->bound(&visit, client->options.max_change);
}

/* ---- courses and scores ---- */

static weft_status train(weft_visit *visit, weft_course *course)
{
    struct visiting *visiting = visit->by;
    TRY(fed_train(visiting->fed, course, visiting->client, visiting->turn, &visiting->own,
                  visiting->out));
    visit->diverged = visiting->out->diverged > 0;
    return WEFT_OK;
}

/* A worker's course; its scores come with it where a turn is one course, which begins with
 * the client's model and ends with it. */
static weft_status train_there(weft_visit *visit, weft_course *course)
{
    struct visiting *visiting = visit->by;
    fed_client client = *visiting->client;
    fed_turn turn = *visiting->turn;
    fed_client_result told;
    int first = visiting->courses++ == 0;
    client.options.sgd = course->sgd;
    client.options.epochs = course->epochs;
    turn.before &= first;
    turn.after &= !visiting->adapts;
    fed_turns turns = {.turn = &turn, .from = course->w, .client = &client, .told = &told};
    TRY(fed_worker_turn(visiting->fed, &turns, 0, course->w));
    if (first) {
        *visiting->out = told;
    } else {
        visiting->out->steps += told.steps;
        visiting->out->diverged = told.diverged;
    }
    visit->diverged = visiting->out->diverged > 0;
    return WEFT_OK;
}

static weft_status score_there(const struct visiting *visiting, const real *w, int stage)
{
    fed_turn turn = *visiting->turn;
    fed_client_result told;
    if (turn.train && !(stage == FED_AFTER && visiting->adapts))
        return WEFT_OK; /* by a course */
    turn.before = 1;
    turn.train = turn.after = 0;
    fed_turns turns = {.turn = &turn, .from = w, .client = visiting->client, .told = &told};
    TRY(fed_worker_turn(visiting->fed, &turns, 0, NULL));
    visiting->out->loss[stage] = told.loss[FED_BEFORE];
    visiting->out->wrong[stage] = told.wrong[FED_BEFORE];
    visiting->out->count = told.count;
    return WEFT_OK;
}

static weft_status score(const struct visiting *visiting, const real *w, int stage)
{
    if (fed_worker_trains(visiting->fed)) return score_there(visiting, w, stage);
    fed_score_model(visiting->fed, w, NULL, &visiting->scored, visiting->client,
                    visiting->turn, stage, visiting->out);
    return WEFT_OK;
}

/* Reads the samples that the turn needs, which workers have. */
static weft_status read_samples(struct visiting *visiting)
{
    fed_task *fed = visiting->fed;
    const fed_turn *turn = visiting->turn;
    const weft_client *client = &visiting->client->at;
    if (fed_worker_trains(fed)) return WEFT_OK;
    if (turn->before || turn->after)
        TRY(weft_client_take(fed->clients, client, turn->part, &visiting->scored,
                             fed->work.tmp));
    if (!turn->train) return WEFT_OK;
    return weft_client_take(fed->clients, client, WEFT_TRAIN, &visiting->own,
                            fed->work.tmp);
}

/* ---- turns ---- */

/* 0 if a number is not finite, or larger than `most`. */
static int all_within(int64_t n, const real *x, double most)
{
    int good = 1;
    for (int64_t i = 0; i < n; i++) good &= fabs((double)x[i]) <= most;
    return good;
}

static weft_status take(weft_visit *visit, int64_t nkept)
{
    struct visiting *visiting = visit->by;
    fed_task *fed = visiting->fed;
    const fed_client *client = visiting->client;
    const fed_turn *turn = visiting->turn;
    const weft_algorithm *algorithm = fed->algorithm;
    TRY(read_samples(visiting));
    if (turn->before) {
        if (algorithm->own) algorithm->own(visit);
        TRY(score(visiting, algorithm->own ? visit->w : visit->x, FED_BEFORE));
    }
    if (!turn->train) return WEFT_OK;
    TRY(visiting->adapts ? algorithm->adapt(visit) : algorithm->turn(visit));
    if (!all_within(visit->n, visit->change, client->options.max_change) ||
        !all_within(nkept, visit->kept, DBL_MAX))
        visiting->out->diverged = 1;
    if (turn->after && visiting->out->diverged > 0)
        fed_settle_failure(fed, client, visiting->out);
    else if (turn->after)
        TRY(score(visiting, visit->w, FED_AFTER));
    return WEFT_OK;
}

weft_status fed_visit_take(fed_task *fed, const fed_turns *turns, int64_t j)
{
    const fed_client *client = &turns->client[j];
    weft_arena *tmp = fed->work.tmp;
    size_t mark = weft_arena_mark(tmp);
    int64_t each = fed->at.each;
    real *row = each > 0 ? turns->row[j] : NULL;
    weft_visit visit = visit_of(fed, client, turns->from, row);
    if (!turns->begun) begin(fed, &visit, row);
    fed_client_result *out = &turns->told[j];
    struct visiting visiting = {.fed = fed,
                                .client = client,
                                .turn = turns->turn,
                                .adapts = turns->turn->fresh && fed->algorithm->adapt,
                                .out = out};
    *out = (fed_client_result){0};
    visit.train = fed_worker_trains(fed) ? train_there : train;
    visit.by = &visiting;
    weft_status st = take(&visit, each > 0 ? each - 1 : 0);
    if (each > 0) row[0]++;
    if (st == WEFT_OK && turns->sum && fed->algorithm->add && !(out->diverged > 0))
        fed->algorithm->add(&visit, (real)client->weight, turns->scale_more,
                            turns->sum + fed->nweight);
    weft_arena_reset(tmp, mark);
    return st;
}
