/* The turn of one client: its samples are read, and its weights are scored, trained with
 * its options and scored again. They are the weights received, or the model that an
 * algorithm makes of them and of what the client keeps, which it trains by courses, here
 * or by a worker. The result is a function of weights, samples, options and identities,
 * without communication. */
#include "attack.h"
#include "compress.h"
#include "rule.h"
#include "upload.h"
#include "weft/math/linear.h"

#include <math.h>
#include <string.h>

/* ---- the weights that training can change ---- */

fed_own fed_own_new(const fed_task *fed, weft_arena *mem)
{
    fed_own own = {.table = {.at = fed->nweight}, .n = fed->nweight};
    if (fed->net->table) own.table = fed->net->table(fed->model);
    if (own.table.rows > 0)
        own.seats = weft_seats_new(own.table.rows - 1, own.table.rows - 1, mem);
    return own;
}

static void seat_words(weft_seats *seats, const weft_samples *samples)
{
    for (int64_t i = 0; samples && i < samples->n; i++)
        weft_seats_add(seats, samples->length[i], samples->word[i]);
}

/* The weights that training on `own` can change or that `scored` reads (n 0: nothing); all
 * of them with weight decay, which changes the vectors of all words, and where changes
 * take further steps on their way. */
static void choose_own(fed_task *fed, const fed_training *options, const weft_samples *own,
                       const weft_samples *scored)
{
    fed_own *held = &fed->work.own;
    if (held->table.rows == 0) return;
    weft_seats_clear(&held->seats);
    held->n = fed->nweight;
    held->some = !(options->sgd.weight_decay > 0) && !fed_uploads(fed);
    if (!held->some) return;
    seat_words(&held->seats, own);
    seat_words(&held->seats, scored);
    held->n = held->table.at + (int64_t)held->seats.n * held->table.d;
}

/* Offset of a seat's row among all weights. */
static int64_t row_at(const fed_own *own, int seat)
{
    return own->table.at + ((int64_t)own->seats.word[seat] + 1) * own->table.d;
}

/* These of from[nweight], in work.anchor where they are some. */
static const real *take_own(const fed_task *fed, const real *from)
{
    const fed_own *own = &fed->work.own;
    if (!own->some) return from;
    real *to = fed->work.anchor;
    const size_t row = (size_t)own->table.d * sizeof *to;
    memcpy(to, from, (size_t)own->table.at * sizeof *to);
    to += own->table.at;
    for (int i = 0; i < own->seats.n; i++, to += own->table.d)
        memcpy(to, from + row_at(own, i), row);
    return fed->work.anchor;
}

/* weft_exact_add of x[own->n] to these of sum[nweight]. */
static void add_own(const fed_own *own, const real *x, int scale, double *sum)
{
    if (!own->some) {
        weft_exact_add(own->n, x, scale, sum);
        return;
    }
    weft_exact_add(own->table.at, x, scale, sum);
    x += own->table.at;
    for (int i = 0; i < own->seats.n; i++, x += own->table.d)
        weft_exact_add(own->table.d, x, scale, sum + row_at(own, i));
}

fed_span fed_span_of(const fed_task *fed, const char *fixed)
{
    fed_span span = {.end = fed->work.own.n};
    int last = fed->ntensor;
    if (!fixed) return span;
    while (span.frozen < fed->ntensor && fixed[span.frozen]) span.frozen++;
    while (last > span.frozen && fixed[last - 1]) last--;
    span.from = span.end = 0;
    if (last == span.frozen) return span;
    span.from = fed->tensor[span.frozen].at;
    span.end = fed->tensor[last - 1].at + weft_tensors_size(1, &fed->tensor[last - 1]);
    for (int i = span.frozen; i < last; i++) span.holes |= fixed[i];
    return span;
}

/* ---- what algorithms need ---- */

weft_amounts fed_amounts(const fed_task *fed, const void *special, int epochs)
{
    double n = (double)fed->nweight;
    weft_amounts amounts = {.down = n, .up = n, .epochs = epochs};
    if (fed->algorithm->amounts)
        fed->algorithm->amounts(special ? special : fed->special, fed->nweight, epochs,
                                &amounts);
    fed_compress_amounts(fed, &amounts);
    return amounts;
}

weft_work fed_work_of(const fed_task *fed, const fed_client *client)
{
    weft_amounts needed = fed_amounts(fed, client->special, client->options.epochs);
    double samples = (double)client->samples * needed.epochs;
    return (weft_work){.samples = samples,
                       .flops = samples * fed->net->flops(fed->model),
                       .down = sizeof(float) * needed.down,
                       .up = sizeof(float) * needed.up};
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
                        .spare = work->spare,
                        .max_change = client->options.max_change};
    if (row) visit.kept = row + 1;
    return visit;
}

/* What the client keeps before its first turn. */
static void begin_row(const fed_task *fed, weft_visit *visit, const real *row)
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
    begin_row(fed, &visit, row);
    return fed->algorithm->bound(&visit, client->options.max_change);
}

fed_visiting fed_visiting_new(fed_task *fed, const fed_turns *turns, int64_t j)
{
    real *row = fed->at.each > 0 ? turns->row[j] : NULL;
    const fed_client *client = &turns->client[j];
    fed_visiting visiting = {.fed = fed,
                             .turns = turns,
                             .turn = turns->turn,
                             .client = client,
                             .out = turns->told ? &turns->told[j] : NULL,
                             .row = row,
                             .visit = visit_of(fed, client, turns->from, row)};
    if (!turns->begun) begin_row(fed, &visiting.visit, row);
    if (visiting.out) *visiting.out = (fed_client_result){0};
    return visiting;
}

weft_status fed_visiting_read(fed_visiting *visiting)
{
    const fed_turn *turn = visiting->turn;
    const weft_client *at = &visiting->client->at;
    weft_clients *clients = visiting->fed->clients;
    weft_arena *tmp = visiting->fed->work.tmp;
    if (turn->before || turn->after)
        TRY(weft_client_take(clients, at, turn->part, &visiting->scored, tmp));
    if (!turn->train) return WEFT_OK;
    TRY(weft_client_take(clients, at, WEFT_TRAIN, &visiting->own, tmp));
    fed_attack_labels(visiting);
    return WEFT_OK;
}

void fed_visiting_loss(fed_visiting *visiting)
{
    const fed_task *fed = visiting->fed;
    if (!(fed->algorithm->needs & WEFT_NEEDS_LOSS) || !visiting->turns->sum) return;
    fed_client all = {.valid = visiting->own.n};
    fed_client_result told = {0};
    fed_score_model(fed, visiting->turns->from, NULL, &visiting->own, &all, visiting->turn,
                    FED_BEFORE, &told);
    if (told.count > 0) visiting->visit.loss = told.loss[FED_BEFORE] / told.count;
}

const real *fed_visiting_model(fed_visiting *visiting)
{
    const weft_algorithm *algorithm = visiting->fed->algorithm;
    if (!algorithm->own) return visiting->visit.x;
    algorithm->own(&visiting->visit);
    return visiting->visit.w;
}

/* ---- the end of a turn ---- */

/* 0 if a number is not finite, or larger than `most`. */
static int all_within(int64_t n, const real *x, real most)
{
    int good = 1;
    for (int64_t i = 0; i < n; i++) good &= (x[i] <= most) & (x[i] >= -most);
    return good;
}

void fed_visiting_check(const fed_visiting *visiting)
{
    const fed_task *fed = visiting->fed;
    const weft_visit *visit = &visiting->visit;
    int64_t nkept = fed->at.each > 0 ? fed->at.each - 1 : 0;
    if (!all_within(visit->n, visit->change, (real)visiting->client->options.max_change) ||
        !all_within(nkept, visit->kept, WEFT_REAL_MAX))
        visiting->out->diverged = 1;
}

void fed_visiting_end(fed_visiting *visiting)
{
    const fed_task *fed = visiting->fed;
    const fed_turns *turns = visiting->turns;
    const fed_client *client = visiting->client;
    const fed_own *own = &fed->work.own;
    real *change = visiting->visit.change;
    if (visiting->row) visiting->row[0]++;
    if (!turns->sum || visiting->out->diverged > 0 || !(client->weight > 0)) return;
    if (fed_uploads(fed)) fed_upload(visiting);
    double aged = client->aged;
    if (fed->algorithm->add) {
        for (int64_t i = 0; aged < 1 && i < own->n; i++) change[i] *= (real)aged;
        aged = 1;
        fed->algorithm->add(&visiting->visit, (real)client->weight, turns->scale_more,
                            turns->sum + fed->nweight);
    }
    if (fed->modes.rule) {
        fed_rule_keep(visiting, fed_divisor(fed, client));
        return;
    }
    real weight = (real)(client->weight * aged / fed_divisor(fed, client));
    for (int64_t i = 0; i < own->n; i++) change[i] *= weight;
    add_own(own, change, turns->scale, turns->sum);
}

/* ---- steps ---- */

fed_pass fed_pass_new(const fed_visiting *visiting, int epochs)
{
    int64_t *order = WEFT_NEW(visiting->fed->work.tmp, int64_t, visiting->own.n);
    return (fed_pass){.visiting = visiting,
                      .epochs = epochs,
                      .order = order,
                      .losses = !(visiting->out->train_count > 0)};
}

int fed_pass_next(fed_pass *pass)
{
    const fed_visiting *visiting = pass->visiting;
    const fed_client *client = visiting->client;
    int64_t left = client->samples - pass->at;
    if (visiting->out->diverged > 0 || pass->epoch == pass->epochs || client->samples == 0)
        return 0;
    if (pass->at == 0)
        fed_shuffle(visiting->fed, visiting->turn, client->client, pass->epoch,
                    visiting->own.n, client->samples, pass->order);
    int n = left < client->options.batch ? (int)left : client->options.batch;
    pass->row = pass->order + pass->at;
    pass->key = (uint64_t)pass->epoch << 40 | (uint64_t)pass->at;
    pass->at += n;
    if (pass->at < client->samples) return n;
    pass->at = 0;
    pass->epoch++;
    return n;
}

void fed_pass_count(const fed_pass *pass, int n, int sound, const weft_score *sum)
{
    fed_client_result *out = pass->visiting->out;
    if (!sound || !isfinite(sum->loss)) {
        out->diverged = 1;
        return;
    }
    out->steps += n;
    if (!pass->losses) return;
    out->train_loss += sum->loss;
    out->train_count += sum->count;
}

void fed_hold(const fed_task *fed, const char *fixed, int wide, const real *from, real *to)
{
    for (int i = 0; i < fed->ntensor; i++) {
        if (!fixed[i]) continue;
        size_t n = (size_t)(weft_tensors_size(1, &fed->tensor[i]) * wide);
        int64_t at = fed->tensor[i].at * wide;
        if (from)
            memcpy(to + at, from + at, n * sizeof *to);
        else
            memset(to + at, 0, n * sizeof *to);
    }
}

/* The gradient of a batch at w, into work.g; adds to *sum. */
static void gradient(const fed_task *fed, const fed_training *training, const real *w,
                     const weft_batch *batch, uint64_t key, weft_score *sum)
{
    const fed_workspace *work = &fed->work;
    fed->net->grad(fed->model, work->net, w, batch, training->dropout, key, work->g, sum);
}

/* The step of APFL's own weights, and of their share. Returns 0 if it diverged. */
static int step_blend(const fed_task *fed, const fed_training *training,
                      const weft_course *course, const weft_batch *batch, uint64_t key)
{
    weft_blend *blend = course->blend;
    const real *g = fed->work.g;
    int64_t n = fed->nweight;
    real share = (real)blend->share;
    double slope = 0;
    weft_score unused = {0};
    for (int64_t i = 0; i < n; i++)
        blend->at[i] = share * blend->own[i] + (1 - share) * course->w[i];
    gradient(fed, training, blend->at, batch, key, &unused);
    for (int64_t i = 0; i < n; i++)
        slope += ((double)blend->own[i] - (double)course->w[i]) * (double)g[i];
    weft_sgd sgd = {.lr = course->sgd.lr * blend->share, .clip = course->sgd.clip};
    blend->share = fmin(fmax(blend->share - blend->rate * slope, 0), 1);
    return weft_sgd_step(&sgd, n, 1, blend->own, fed->work.g, NULL, NULL) &&
           isfinite(slope);
}

/* The rate of the next step on the gradient work.g, which takes the place of the last. */
static double rate_of(const fed_task *fed, const weft_course *course)
{
    weft_adapted_rate *pace = course->pace;
    int64_t n = fed->work.own.n;
    const real *w = course->w, *g = fed->work.g;
    double rate = course->sgd.lr, ratio = 1, moved = 0, turned = 0;
    if (pace->rate > 0) {
        for (int64_t i = 0; i < n; i++) {
            double dw = (double)w[i] - (double)pace->w[i],
                   dg = (double)g[i] - (double)pace->g[i];
            moved += dw * dw;
            turned += dg * dg;
        }
        rate = sqrt(1 + pace->growth * pace->ratio) * pace->rate;
        if (moved > 0 && turned > 0) rate = fmin(rate, pace->amount * sqrt(moved / turned));
        ratio = rate / pace->rate;
    }
    pace->rate = rate;
    pace->ratio = ratio;
    memcpy(pace->w, w, (size_t)n * sizeof *w);
    memcpy(pace->g, g, (size_t)n * sizeof *g);
    return rate;
}

/* A step of course->w on a batch. held: the weights that it began with, where tensors
 * within the span are fixed. Returns 0 if it diverged. */
static int descend(const fed_task *fed, const fed_training *training,
                   const weft_course *course, const fed_span *span, const real *held,
                   int first, const weft_batch *batch, uint64_t key, weft_score *sum)
{
    const fed_workspace *work = &fed->work;
    int64_t n = work->own.n, at = span->from;
    const real *anchor = held && course->anchor ? held : course->anchor;
    int sound = !course->blend || step_blend(fed, training, course, batch, key);
    gradient(fed, training, course->w, batch, key, sum);
    for (int64_t i = 0; course->drift && i < n; i++) work->g[i] += course->drift[i];
    if (held) fed_hold(fed, course->fixed, 1, NULL, work->g);
    weft_sgd sgd = course->sgd;
    if (course->pace) sgd.lr = rate_of(fed, course);
    sound &= weft_sgd_step(&sgd, span->end - at, first, course->w + at, work->g + at,
                           work->velocity + at, anchor ? anchor + at : NULL);
    if (held) fed_hold(fed, course->fixed, 1, held, course->w);
    return sound;
}

/* The representations of all samples by w, if a course trains the last layer alone, and
 * each is used: stored[samples->n][width]; else NULL. Of a sample it has the same bits in
 * any batch. */
static const real *represent(const fed_task *fed, const weft_course *course,
                             const fed_span *span, const fed_client *client,
                             const weft_samples *samples)
{
    enum { MOST = 4 << 20 }; /* bytes */
    const fed_workspace *work = &fed->work;
    int64_t n = samples->n;
    if (!fed->net->resumes || client->options.dropout > 0 || span->frozen == 0 ||
        span->frozen < fed->ntensor - 2 || client->samples * course->epochs < n)
        return NULL;
    int64_t wide = fed->net->width(fed->model);
    if (n * wide * (int64_t)sizeof(real) > MOST) return NULL;
    real *stored = WEFT_NEW(work->tmp, real, n * wide);
    for (int64_t i = 0; i < n; i += work->most) {
        weft_batch batch = fed_batch_from(fed, &work->own, samples, i, n, n);
        fed->net->represent(fed->model, work->net, course->w, &batch, stored + i * wide,
                            NULL);
    }
    return stored;
}

/* Does a course of the client's training; weights, anchor and the rest are of work.own.
 * WEFT_STOP. */
static weft_status train_here(const fed_visiting *visiting, const weft_course *course)
{
    fed_task *fed = visiting->fed;
    const fed_workspace *work = &fed->work;
    const fed_client *client = visiting->client;
    const weft_samples *samples = &visiting->own;
    fed_pass pass = fed_pass_new(visiting, course->epochs);
    fed_span span = fed_span_of(fed, course->fixed);
    real *held = span.holes ? WEFT_NEW(work->tmp, real, fed->nweight) : NULL;
    const real *stored = represent(fed, course, &span, client, samples);
    int64_t wide = stored ? fed->net->width(fed->model) : 0;
    const real **row = WEFT_NEW(work->tmp, const real *, client->options.batch);
    if (held) memcpy(held, course->w, (size_t)fed->nweight * sizeof *held);
    for (int n, first = 1; (n = fed_pass_next(&pass)) > 0; first = 0) {
        TRY(fed_look(fed));
        weft_batch batch = fed_batch_of(fed, &work->own, samples, pass.row, n);
        batch.frozen = span.frozen;
        if (fed->balance.train)
            batch.weight = fed_class_weights(fed, fed->balance.train, &batch);
        for (int e = 0; stored && e < n; e++) row[e] = stored + pass.row[e] * wide;
        if (stored) batch.stored = row;
        weft_rng4 rng = weft_rng_at(fed->env.seed, WEFT_RNG_DROPOUT, visiting->turn->round,
                                    (uint64_t)client->client, pass.key);
        weft_score sum = {0};
        int sound = descend(fed, &client->options, course, &span, held, first, &batch,
                            rng.v[0], &sum);
        fed_pass_count(&pass, n, sound, &sum);
        if (visiting->out->diverged > 0) break;
        if (fed->net->project) fed->net->project(fed->model, course->w);
    }
    return WEFT_OK;
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
static weft_status train_by_worker(fed_visiting *visiting, const weft_course *course,
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

static weft_status score_by_worker(const fed_visiting *visiting, const real *w, int stage)
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

/* own: of which weights w is; NULL: all. */
static weft_status score(const fed_visiting *visiting, const real *w, const fed_own *own,
                         int stage)
{
    fed_task *fed = visiting->fed;
    if (fed_worker_trains(fed)) return score_by_worker(visiting, w, stage);
    if (stage == FED_AFTER && fed->algorithm->neighbours)
        return fed_neighbours_score(fed, visiting->turns->from, visiting->client,
                                    visiting->turn, visiting->out);
    fed_score_model(fed, w, own, &visiting->scored, visiting->client, visiting->turn, stage,
                    visiting->out);
    return WEFT_OK;
}

/* As FedAvg: one course from the weights received, of those that it can change. */
static int plain_course(fed_visiting *visiting, weft_course *course)
{
    weft_visit *visit = &visiting->visit;
    choose_own(visiting->fed, &visiting->client->options, &visiting->own,
               visiting->turn->after ? &visiting->scored : NULL);
    visit->n = visiting->fed->work.own.n;
    visit->x = take_own(visiting->fed, visit->x);
    *course = weft_visit_course(visit, visit->x);
    course->fixed = fed_fixed(visiting->fed);
    return 1;
}

/* Does the courses of the algorithm: visit.change becomes the update. */
static weft_status follow(fed_visiting *visiting)
{
    fed_task *fed = visiting->fed;
    weft_visit *visit = &visiting->visit;
    const weft_algorithm *algorithm = fed->algorithm;
    int repeats = visiting->adapts ? visit->epochs : 1;
    if (visiting->adapts) visit->epochs = 1;
    for (int i = 0; i < repeats && !(visiting->out->diverged > 0); i++) {
        weft_course course[WEFT_COURSES];
        if (algorithm->own && i > 0) algorithm->own(visit);
        int n = algorithm->courses ? algorithm->courses(visit, course)
                                   : plain_course(visiting, course);
        for (int c = 0; c < n; c++)
            TRY(fed_worker_trains(fed) ? train_by_worker(visiting, &course[c], c == n - 1)
                                       : train_here(visiting, &course[c]));
        if (algorithm->end)
            algorithm->end(visit);
        else
            weft_visit_end(visit);
    }
    if (visiting->adapts) algorithm->own(visit);
    fed_visiting_check(visiting);
    return WEFT_OK;
}

/* ---- turns ---- */

static weft_status take_visit(fed_visiting *visiting)
{
    fed_task *fed = visiting->fed;
    const fed_turn *turn = visiting->turn;
    visiting->adapts = turn->fresh && fed->algorithm->adapts;
    visiting->before = turn->before;
    if (!fed_worker_trains(fed)) TRY(fed_visiting_read(visiting)); /* workers have them */
    const real *model = fed_visiting_model(visiting);
    if (turn->before) TRY(score(visiting, model, NULL, FED_BEFORE));
    if (turn->train) fed_visiting_loss(visiting);
    if (turn->train) TRY(follow(visiting));
    if (!turn->after) return WEFT_OK;
    if (!(visiting->out->diverged > 0))
        return score(visiting, visiting->visit.w, &fed->work.own, FED_AFTER);
    fed_settle_failure(fed, visiting->client, turn, visiting->out);
    return WEFT_OK;
}

weft_status fed_visit_take(fed_task *fed, const fed_turns *turns, int64_t j, int64_t next)
{
    WEFT_REWIND(fed->work.tmp);
    fed_visiting visiting = fed_visiting_new(fed, turns, j);
    if (!fed->algorithm->courses) visiting.visit.change = fed->work.g;
    int plain = !fed->algorithm->courses && !fed_fixed(fed);
    weft_status st = plain && fed_worker_trains(fed) ? fed_worker_turn(fed, turns, j, next)
                                                     : take_visit(&visiting);
    if (st == WEFT_OK) fed_visiting_end(&visiting);
    return st;
}
