/* Training several clients at once, for small models: each vector lane has the weights of
 * one client, and all take their steps together, each with its own batches and options,
 * until the last one has finished. Each lane has the same bits as local.c gives its
 * client. */
#include "compress.h"
#include "upload.h"

#include <math.h>
#include <string.h>

/* Rows of each client that are scored at once, and the memory that weights, gradients and
 * velocities of all lanes may take, so that a core's cache holds most of it; up to
 * FEW_BYTES lanes are worth while even if most of them are empty. */
enum { SCORED_ROWS = 16, MAX_BYTES = 2 << 20, FEW_BYTES = 64 << 10 };

struct fed_lanes {
    int lanes, most;               /* lanes; rows of a batch */
    void *net;                     /* the network's own */
    real *from, *w, *g, *velocity; /* [nweight][lanes] */
    real *start, *anchor, *drift;  /* likewise, of algorithms' courses, */
    real *kept, *at;               /* and of their blends */
    real *own;                     /* [lanes][room] vectors of visits */
    int64_t room;
    const float **x; /* [most][lanes] */
    int32_t *label;  /* [most][lanes] */
};

/* A client in training. */
struct lane {
    fed_visiting visiting;
    int epochs;    /* of its course, */
    fed_pass pass; /* and the batches of that */
    weft_course course[WEFT_COURSES];
};

/* A course of all clients: [nweight][lanes], or NULL where weft_course has none. */
struct course {
    weft_sgd sgd[WEFT_MAX_LANES];
    const real *start, *anchor, *drift;
    const char *fixed;
    weft_blend *blend[WEFT_MAX_LANES]; /* [0] NULL: none */
    fed_span span;                     /* that it changes */
};

/* The clients that are trained together. */
struct group {
    fed_task *fed;
    fed_lanes *lanes;
    const fed_turns *turns;
    int n; /* lanes in use */
    struct lane lane[WEFT_MAX_LANES];
    int count[WEFT_MAX_LANES]; /* rows of the batch */
};

fed_lanes *fed_lanes_new(const fed_task *fed, int batch, weft_arena *mem)
{
    int width = weft_lanes();
    size_t numbers = (size_t)fed->nweight * (size_t)width;
    if (fed->algorithm->needs & WEFT_NEEDS_PACE) return NULL; /* lanes keep no rates */
    if (!fed->net->lanes_work || fed->env.data->form == WEFT_CHARS) return NULL;
    if (fed->balance.train || fed->balance.valid) return NULL; /* they take no weights */
    if (fed->nweight > MAX_BYTES || 3 * numbers * sizeof(real) > MAX_BYTES) return NULL;
    fed_lanes *lanes = WEFT_NEW(mem, fed_lanes, 1);
    *lanes = (fed_lanes){.lanes = width, .most = batch};
    lanes->net = fed->net->lanes_work(fed->model, batch, mem);
    if (!lanes->net) return NULL;
    real **array[] = {&lanes->from,     &lanes->w,     &lanes->g,
                      &lanes->velocity, &lanes->start, &lanes->anchor,
                      &lanes->drift,    &lanes->kept,  &lanes->at};
    int some = !fed->algorithm->courses                      ? 4
               : !(fed->algorithm->needs & WEFT_NEEDS_BLEND) ? 7
                                                             : 9;
    for (int i = 0; i < some; i++) *array[i] = WEFT_NEW(mem, real, numbers);
    lanes->room = 2 * fed->nweight + fed_amounts(fed, NULL, 1).spare;
    if (fed->algorithm->courses || fed_uploads(fed))
        lanes->own = WEFT_NEW(mem, real, lanes->room * width);
    lanes->x = WEFT_NEW(mem, const float *, batch *width);
    lanes->label = WEFT_NEW(mem, int32_t, batch * width);
    return lanes;
}

int fed_lanes_take(const fed_task *fed, const fed_turn *turn, const fed_client *client)
{
    const fed_lanes *lanes = fed->work.lanes;
    if (turn->fresh && fed->algorithm->adapts) return 0; /* many turns of one pass each */
    return lanes && client->options.batch <= lanes->most && !(client->options.dropout > 0);
}

int fed_lanes_pay(const fed_task *fed, int64_t n)
{
    int lanes = fed->work.lanes->lanes;
    return 4 * n >= 3 * lanes ||
           3 * fed->nweight * lanes * (int64_t)sizeof(real) <= FEW_BYTES;
}

void fed_lanes_begin(const fed_task *fed, const real *from)
{
    const fed_lanes *lanes = fed->work.lanes;
    for (int64_t i = 0; i < fed->nweight; i++)
        for (int l = 0; l < lanes->lanes; l++) lanes->from[i * lanes->lanes + l] = from[i];
}

/* ---- batches ---- */

/* Row i of the batch of lane l is sample `at` of s. */
static void put_row(const struct group *group, int i, int l, const weft_samples *samples,
                    int64_t at)
{
    int slot = i * group->lanes->lanes + l;
    group->lanes->x[slot] = samples->x + at * group->fed->clients->d;
    group->lanes->label[slot] = samples->label[at];
}

/* The batch of the rows that were set; lanes with fewer rows have NULL behind them. */
static weft_lane_batch batch_of(const struct group *group)
{
    const fed_lanes *lanes = group->lanes;
    int n = 0;
    for (int l = 0; l < lanes->lanes; l++) n = group->count[l] > n ? group->count[l] : n;
    for (int l = 0; l < lanes->lanes; l++)
        for (int i = group->count[l]; i < n; i++) lanes->x[i * lanes->lanes + l] = NULL;
    return (weft_lane_batch){
        .n = n, .count = group->count, .x = lanes->x, .label = lanes->label};
}

/* ---- scoring ---- */

static void score(struct group *group, const real *w, int stage)
{
    int rows = group->lanes->most < SCORED_ROWS ? group->lanes->most : SCORED_ROWS;
    weft_score sum[WEFT_MAX_LANES] = {{0}};
    for (int64_t first = 0;; first += rows) {
        for (int l = 0; l < group->n; l++) {
            const fed_visiting *visiting = &group->lane[l].visiting;
            int64_t valid = visiting->client->valid, left = valid - first;
            group->count[l] = left <= 0 ? 0 : left < rows ? (int)left : rows;
            for (int e = 0; e < group->count[l]; e++)
                put_row(group, e, l, &visiting->scored,
                        fed_spread(first + e, valid, visiting->scored.n));
        }
        weft_lane_batch batch = batch_of(group);
        if (batch.n == 0) break;
        group->fed->net->lanes_score(group->fed->model, group->lanes->net, w, &batch, sum);
    }
    for (int l = 0; l < group->n; l++)
        fed_settle_score(sum[l], group->turns->turn, stage, group->lane[l].visiting.out);
}

/* ---- training ---- */

/* Sets up the next batch of a client. Returns 0 if it has finished training or diverged. */
static int next_batch(struct group *group, int l)
{
    struct lane *lane = &group->lane[l];
    int n = fed_pass_next(&lane->pass);
    for (int i = 0; i < n; i++)
        put_row(group, i, l, &lane->visiting.own, lane->pass.row[i]);
    return n;
}

/* Makes the steps of APFL's own weights, and of their shares, as local.c does. */
static void blend(const struct group *group, const struct course *course, const real *w,
                  const weft_lane_batch *batch, int *sound)
{
    const fed_lanes *lanes = group->lanes;
    const fed_task *fed = group->fed;
    real share[WEFT_MAX_LANES] = {0};
    double slope[WEFT_MAX_LANES];
    weft_score unused[WEFT_MAX_LANES] = {{0}};
    weft_sgd sgd[WEFT_MAX_LANES] = {{0}};
    for (int l = 0; l < group->n; l++) {
        share[l] = (real)course->blend[l]->share;
        sgd[l].lr = course->sgd[l].lr * course->blend[l]->share;
        sgd[l].clip = course->sgd[l].clip;
    }
    weft_lanes_blend(fed->nweight, share, lanes->kept, w, lanes->at);
    fed->net->lanes_grad(fed->model, lanes->net, lanes->at, batch, lanes->g, NULL, unused);
    weft_lanes_slope(fed->nweight, lanes->kept, w, lanes->g, slope);
    weft_lanes_move move = {
        .sgd = sgd, .live = group->count, .w = lanes->kept, .sound = sound};
    weft_lanes_step(&move, fed->nweight, lanes->g);
    for (int l = 0; l < group->n; l++) {
        weft_blend *own = course->blend[l];
        if (group->count[l] == 0) continue;
        own->share = fmin(fmax(own->share - own->rate * slope[l], 0), 1);
        sound[l] &= isfinite(slope[l]) != 0;
    }
}

/* Makes the step of all by the gradients of the batch. */
static void descend(const struct group *group, const struct course *course, int first,
                    const weft_lane_batch *batch, int *sound, weft_score *sum)
{
    const fed_task *fed = group->fed;
    const fed_lanes *lanes = group->lanes;
    const real *w = first ? course->start : lanes->w;
    const real *anchor =
        course->span.holes && course->anchor ? course->start : course->anchor;
    int whole = course->fixed != NULL;
    size_t at = (size_t)(course->span.from * lanes->lanes);
    for (int l = 0; l < group->n; l++)
        whole |= group->count[l] > 0 && course->sgd[l].clip > 0;
    weft_lanes_move move = {.sgd = course->sgd,
                            .live = group->count,
                            .first = first,
                            .w = lanes->w + at,
                            .velocity = lanes->velocity + at,
                            .start = course->start + at,
                            .anchor = anchor ? anchor + at : NULL,
                            .drift = course->drift ? course->drift + at : NULL,
                            .sound = sound};
    if (course->blend[0]) blend(group, course, w, batch, sound);
    fed->net->lanes_grad(fed->model, lanes->net, w, batch, lanes->g, whole ? NULL : &move,
                         sum);
    if (course->span.holes) fed_hold(fed, course->fixed, lanes->lanes, NULL, lanes->g);
    if (whole) weft_lanes_step(&move, course->span.end - course->span.from, lanes->g + at);
    if (course->span.holes)
        fed_hold(fed, course->fixed, lanes->lanes, course->start, lanes->w);
}

/* Does a step of every client that has one left; returns 0 if none has. */
static int step(struct group *group, const struct course *course, int first)
{
    weft_score sum[WEFT_MAX_LANES] = {{0}};
    int sound[WEFT_MAX_LANES];
    for (int l = 0; l < group->n; l++) {
        group->count[l] = next_batch(group, l);
        sound[l] = 1;
    }
    weft_lane_batch batch = batch_of(group);
    if (batch.n == 0) return 0;
    batch.frozen = course->span.frozen;
    descend(group, course, first, &batch, sound, sum);
    for (int l = 0; l < group->n; l++)
        if (group->count[l] > 0)
            fed_pass_count(&group->lane[l].pass, group->count[l], sound[l], &sum[l]);
    return 1;
}

/* Does a course; lanes->w are then the clients' weights. WEFT_STOP. */
static weft_status follow(struct group *group, const struct course *course)
{
    fed_task *fed = group->fed;
    fed_lanes *lanes = group->lanes;
    for (int l = 0; l < group->n; l++) {
        struct lane *lane = &group->lane[l];
        lane->pass = fed_pass_new(&lane->visiting, lane->epochs);
    }
    int first = 1;
    size_t bytes = (size_t)(fed->nweight * lanes->lanes) * sizeof *lanes->w;
    if (course->fixed) memcpy(lanes->w, course->start, bytes);
    for (; step(group, course, first); first = 0) TRY(fed_look(fed));
    if (first) memcpy(lanes->w, course->start, bytes);
    return WEFT_OK;
}

/* Trains all clients from the same weights, as FedAvg does. */
static weft_status train(struct group *group)
{
    fed_task *fed = group->fed;
    fed_lanes *lanes = group->lanes;
    struct course course = {.start = lanes->from,
                            .anchor = lanes->from,
                            .fixed = fed_fixed(fed),
                            .span = fed_span_of(fed, fed_fixed(fed))};
    double most[WEFT_MAX_LANES] = {0};
    int within[WEFT_MAX_LANES];
    for (int l = 0; l < group->n; l++) {
        const fed_training *options = &group->lane[l].visiting.client->options;
        course.sgd[l] = options->sgd;
        group->lane[l].epochs = options->epochs;
        most[l] = options->max_change;
    }
    TRY(follow(group, &course));
    weft_lanes_within(fed->nweight, lanes->w, lanes->from, most, within);
    for (int l = 0; l < group->n; l++)
        if (!within[l]) group->lane[l].visiting.out->diverged = 1;
    return WEFT_OK;
}

/* Copies a vector of every client into lanes; unused ones have that of the first. */
static const real *gather(const struct group *group, const real *const *row, real *to)
{
    const real *all[WEFT_MAX_LANES] = {NULL};
    for (int l = 0; l < group->lanes->lanes; l++) all[l] = row[l < group->n ? l : 0];
    weft_lanes_gather(group->fed->nweight, all, to);
    return to;
}

/* Copies lanes to the clients' vectors. */
static void scatter(const struct group *group, const real *from, real *const *row)
{
    const fed_lanes *lanes = group->lanes;
    real *all[WEFT_MAX_LANES] = {NULL};
    for (int l = 0; l < lanes->lanes; l++)
        all[l] = l < group->n ? row[l] : lanes->velocity; /* any scratch */
    weft_lanes_scatter(group->fed->nweight, from, all);
}

/* The clients' changes as vectors of their own. */
static void take_out(const struct group *group)
{
    const fed_task *fed = group->fed;
    real *change[WEFT_MAX_LANES] = {NULL};
    for (int l = 0; l < group->n; l++) change[l] = group->lane[l].visiting.visit.change;
    scatter(group, group->lanes->w, change);
    for (int l = 0; l < group->n; l++)
        for (int64_t i = 0; i < fed->nweight; i++) change[l][i] -= group->turns->from[i];
}

/* Adds the weighted changes of the clients that did not diverge. */
static void add(const struct group *group)
{
    real weight[WEFT_MAX_LANES] = {0};
    int use[WEFT_MAX_LANES] = {0};
    for (int l = 0; l < group->n; l++) {
        const fed_visiting *visiting = &group->lane[l].visiting;
        const fed_client *client = visiting->client;
        weight[l] = (real)(client->weight * client->aged / fed_divisor(group->fed, client));
        use[l] = !(visiting->out->diverged > 0) && client->weight > 0;
    }
    weft_lanes_add(group->fed->nweight, group->lanes->w, group->lanes->from, weight, use,
                   group->turns->scale, group->turns->sum);
}

/* ---- courses of algorithms ---- */

/* Does course i of all. */
static weft_status take_course(struct group *group, int i)
{
    const fed_lanes *lanes = group->lanes;
    const real *start[WEFT_MAX_LANES] = {NULL}, *anchor[WEFT_MAX_LANES] = {NULL},
               *drift[WEFT_MAX_LANES] = {NULL}, *own_w[WEFT_MAX_LANES] = {NULL};
    real *w[WEFT_MAX_LANES] = {NULL}, *kept[WEFT_MAX_LANES] = {NULL};
    struct course course = {.fixed = group->lane[0].course[i].fixed};
    int pulled = 0, common = 1;
    for (int l = 0; l < group->n; l++) {
        const weft_course *own = &group->lane[l].course[i];
        start[l] = w[l] = own->w;
        anchor[l] = own->anchor;
        drift[l] = own->drift;
        course.blend[l] = own->blend;
        if (own->blend) own_w[l] = kept[l] = own->blend->own;
        course.sgd[l] = own->sgd;
        group->lane[l].epochs = own->epochs;
        pulled |= own->sgd.mu > 0;
        common &= own->anchor == group->turns->from;
    }
    course.start = gather(group, start, lanes->start);
    if (pulled) course.anchor = common ? lanes->from : gather(group, anchor, lanes->anchor);
    if (drift[0]) course.drift = gather(group, drift, lanes->drift);
    if (own_w[0]) gather(group, own_w, group->lanes->kept);
    course.span = fed_span_of(group->fed, course.fixed);
    TRY(follow(group, &course));
    scatter(group, lanes->w, w);
    if (kept[0]) scatter(group, lanes->kept, kept);
    return WEFT_OK;
}

static weft_status take_courses(struct group *group)
{
    const weft_algorithm *algorithm = group->fed->algorithm;
    int n = 0;
    for (int l = 0; l < group->n; l++)
        n = algorithm->courses(&group->lane[l].visiting.visit, group->lane[l].course);
    for (int i = 0; i < n; i++) TRY(take_course(group, i));
    for (int l = 0; l < group->n; l++) {
        algorithm->end(&group->lane[l].visiting.visit);
        fed_visiting_check(&group->lane[l].visiting);
    }
    return WEFT_OK;
}

/* Copies the clients' models into lanes->w. */
static void load_models(const struct group *group)
{
    const real *w[WEFT_MAX_LANES] = {NULL};
    for (int l = 0; l < group->n; l++) w[l] = group->lane[l].visiting.visit.w;
    gather(group, w, group->lanes->w);
}

/* ---- turns ---- */

static weft_status take_visits(struct group *group)
{
    const fed_turn *turn = group->turns->turn;
    const fed_lanes *lanes = group->lanes;
    const weft_algorithm *algorithm = group->fed->algorithm;
    for (int l = 0; l < group->n; l++) {
        TRY(fed_visiting_read(&group->lane[l].visiting));
        fed_visiting_model(&group->lane[l].visiting);
        if (turn->train) fed_visiting_loss(&group->lane[l].visiting);
    }
    if (turn->before && algorithm->own) load_models(group);
    if (turn->before) score(group, algorithm->own ? lanes->w : lanes->from, FED_BEFORE);
    if (turn->train) TRY(algorithm->courses ? take_courses(group) : train(group));
    if (turn->train && group->turns->sum && !algorithm->courses)
        fed_uploads(group->fed) ? take_out(group) : add(group);
    if (!turn->after) return WEFT_OK;
    if (algorithm->courses) load_models(group);
    if (!algorithm->neighbours) score(group, lanes->w, FED_AFTER);
    for (int l = 0; l < group->n; l++) {
        fed_visiting *visiting = &group->lane[l].visiting;
        if (algorithm->neighbours)
            TRY(fed_neighbours_score(group->fed, group->turns->from, visiting->client, turn,
                                     visiting->out));
        if (visiting->out->diverged > 0)
            fed_settle_failure(group->fed, visiting->client, turn, visiting->out);
    }
    return WEFT_OK;
}

weft_status fed_lanes_visit(fed_task *fed, const fed_turns *turns, int n,
                            const int64_t *which)
{
    fed_lanes *lanes = fed->work.lanes;
    WEFT_REWIND(fed->work.tmp);
    struct group *group = WEFT_NEW(fed->work.tmp, struct group, 1);
    *group = (struct group){.fed = fed, .lanes = lanes, .turns = turns, .n = n};
    for (int l = 0; l < n; l++) {
        fed_visiting *visiting = &group->lane[l].visiting;
        *visiting = fed_visiting_new(fed, turns, which[l]);
        if (!lanes->own) continue;
        visiting->visit.w = lanes->own + l * lanes->room;
        visiting->visit.change = visiting->visit.w + fed->nweight;
        visiting->visit.spare = visiting->visit.change + fed->nweight;
    }
    weft_status st = take_visits(group);
    for (int l = 0; st == WEFT_OK && lanes->own && l < n; l++)
        fed_visiting_end(&group->lane[l].visiting);
    return st;
}
