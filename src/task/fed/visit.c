/* Turns of algorithms that do more than FedAvg: the client's model is scored, the algorithm
 * trains it by courses of local.c or of a worker, and it is scored again. What the client
 * keeps changes in its row, which becomes part of the state at the end of the round. */
#include "visit.h"
#include "local.h"
#include "score.h"
#include "weft/exact.h"
#include "worker.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* A turn of one client. */
struct visiting {
    fed_task *fed;
    const fed_client *client;
    const fed_turn *turn;
    weft_samples own, scored;
    int adapts; /* 1: in several turns of one pass each */
    int before; /* 1: a worker's score before training is still due */
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
    layout.live = layout.shared + layout.nshared;
    layout.nlive = fed->server.average == WEFT_LAST ? 0 : fed->nweight;
    layout.slots = layout.live + layout.nlive;
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

/* What a worker told of a course. */
static void add_told(const fed_turn *turn, const fed_client_result *told,
                     fed_client_result *out)
{
    for (int stage = FED_BEFORE; stage <= FED_AFTER; stage++) {
        if (!(stage == FED_BEFORE ? turn->before : turn->after)) continue;
        out->loss[stage] = told->loss[stage];
        out->wrong[stage] = told->wrong[stage];
        out->count = told->count;
    }
    if (!turn->train) return;
    if (!(out->train_count > 0)) {
        out->train_loss = told->train_loss;
        out->train_count = told->train_count;
    }
    out->steps += told->steps;
    out->diverged = told->diverged;
    memcpy(out->own, told->own, sizeof out->own);
}

/* A worker's course, the last or not. The scores come with it: that before with the first
 * that begins with the client's model, that after with the last, which ends with it. */
static weft_status train_there(struct visiting *visiting, const weft_course *course,
                               int last)
{
    fed_client client = *visiting->client;
    fed_turn turn = *visiting->turn;
    fed_client_result told;
    client.options.sgd = course->sgd;
    client.options.epochs = course->epochs;
    turn.before = visiting->before && !course->other;
    turn.train = !(visiting->out->diverged > 0);
    turn.after &= turn.train && last && !visiting->adapts;
    if (!turn.before && !turn.train) return WEFT_OK;
    fed_turns turns = {.turn = &turn,
                       .from = course->w,
                       .client = &client,
                       .told = &told,
                       .course = course};
    TRY(fed_worker_turn(visiting->fed, &turns, 0, -1));
    visiting->before &= !turn.before;
    add_told(&turn, &told, visiting->out);
    return WEFT_OK;
}

static weft_status train(struct visiting *visiting, const weft_course *course, int last)
{
    if (fed_worker_trains(visiting->fed)) return train_there(visiting, course, last);
    return fed_train(visiting->fed, course, visiting->client, visiting->turn,
                     &visiting->own, visiting->out);
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
    TRY(fed_worker_turn(visiting->fed, &turns, 0, -1));
    visiting->out->loss[stage] = told.loss[FED_BEFORE];
    visiting->out->wrong[stage] = told.wrong[FED_BEFORE];
    visiting->out->weighed[stage] = told.weighed[FED_BEFORE];
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

weft_visit fed_visit_new(const fed_task *fed, const fed_turns *turns, int64_t j)
{
    real *row = fed->at.each > 0 ? turns->row[j] : NULL;
    return visit_of(fed, &turns->client[j], turns->from, row);
}

void fed_visit_begin(const fed_task *fed, const fed_turns *turns, int64_t j,
                     weft_visit *visit)
{
    if (!turns->begun && fed->at.each > 0) begin(fed, visit, turns->row[j]);
}

/* 0 if a number is not finite, or larger than `most`. */
static int all_within(int64_t n, const real *x, double most)
{
    int good = 1;
    for (int64_t i = 0; i < n; i++) good &= fabs((double)x[i]) <= most;
    return good;
}

void fed_visit_check(const fed_task *fed, const fed_turns *turns, int64_t j,
                     const weft_visit *visit)
{
    int64_t nkept = fed->at.each > 0 ? fed->at.each - 1 : 0;
    if (!all_within(visit->n, visit->change, turns->client[j].options.max_change) ||
        !all_within(nkept, visit->kept, DBL_MAX))
        turns->told[j].diverged = 1;
}

void fed_visit_end(const fed_task *fed, const fed_turns *turns, int64_t j,
                   weft_visit *visit)
{
    const fed_client *client = &turns->client[j];
    if (fed->at.each > 0) turns->row[j][0]++;
    if (!turns->sum || turns->told[j].diverged > 0 || !(client->weight > 0)) return;
    if (fed->algorithm->add)
        fed->algorithm->add(visit, (real)client->weight, turns->scale_more,
                            turns->sum + fed->nweight);
    real weight = (real)(client->weight / fed_divisor(fed, client));
    for (int64_t i = 0; i < visit->n; i++) visit->change[i] *= weight;
    weft_exact_add(visit->n, visit->change, turns->scale, turns->sum);
}

/* Does the courses. */
static weft_status follow(struct visiting *visiting, weft_visit *visit)
{
    const weft_algorithm *algorithm = visiting->fed->algorithm;
    int repeats = visiting->adapts ? visit->epochs : 1;
    if (visiting->adapts) visit->epochs = 1;
    for (int i = 0; i < repeats && !(visiting->out->diverged > 0); i++) {
        weft_course course[WEFT_COURSES];
        if (algorithm->own && (i > 0 || !visiting->turn->before)) algorithm->own(visit);
        int n = algorithm->courses(visit, course);
        for (int c = 0; c < n; c++) TRY(train(visiting, &course[c], c == n - 1));
        algorithm->end(visit);
    }
    if (visiting->adapts) algorithm->own(visit);
    return WEFT_OK;
}

static weft_status take(struct visiting *visiting, const fed_turns *turns, int64_t j,
                        weft_visit *visit)
{
    fed_task *fed = visiting->fed;
    const fed_turn *turn = visiting->turn;
    const weft_algorithm *algorithm = fed->algorithm;
    TRY(read_samples(visiting));
    if (turn->before) {
        if (algorithm->own) algorithm->own(visit);
        TRY(score(visiting, algorithm->own ? visit->w : visit->x, FED_BEFORE));
    }
    if (!turn->train) return WEFT_OK;
    TRY(follow(visiting, visit));
    fed_visit_check(fed, turns, j, visit);
    if (turn->after && visiting->out->diverged > 0)
        fed_settle_failure(fed, visiting->client, turn, visiting->out);
    else if (turn->after)
        TRY(score(visiting, visit->w, FED_AFTER));
    return WEFT_OK;
}

weft_status fed_visit_take(fed_task *fed, const fed_turns *turns, int64_t j)
{
    weft_arena *tmp = fed->work.tmp;
    size_t mark = weft_arena_mark(tmp);
    weft_visit visit = fed_visit_new(fed, turns, j);
    fed_visit_begin(fed, turns, j, &visit);
    struct visiting visiting = {.fed = fed,
                                .client = &turns->client[j],
                                .turn = turns->turn,
                                .adapts = turns->turn->fresh && fed->algorithm->adapts,
                                .before = turns->turn->before,
                                .out = &turns->told[j]};
    turns->told[j] = (fed_client_result){0};
    weft_status st = take(&visiting, turns, j, &visit);
    if (st == WEFT_OK) fed_visit_end(fed, turns, j, &visit);
    weft_arena_reset(tmp, mark);
    return st;
}
