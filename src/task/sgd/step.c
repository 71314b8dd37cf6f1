/* Epochs of task sgd. A batch is divided into pieces for the ranks, which are summed
 * exactly; each rank takes the optimizer's steps of its part of the weights, and all get
 * them. */
#include "sgd.h"
#include "weft/base/base.h"

#include <math.h>
#include <string.h>

#define LOOK 0.5 /* seconds between looks whether the run is to stop */

/* ---- an epoch ---- */

/* Work space of an epoch beside the network. */
struct course {
    sgd_task *sgd;
    const sgd_model *model;
    const sgd_fold *fold;
    int f;
    sgd_work work;
    sgd_pieces pieces;
    sgd_words words;
    int64_t *order; /* [train.n] rows of the pass over the samples that `pass` is */
    int64_t pass;
    weft_length *length; /* [batch] */
    int64_t *dealt;      /* [batch] rows of a batch by pieces */
    double *told; /* [2 parts] losses, predictions of the pieces of all steps of a rank */
    int64_t *end; /* by context: ends of the batches of the pass, in `order`; else NULL */
    double *dots; /* [weft_contexts_dots] where weights are those of contexts */
};

/* The rows of a pass, in random order keyed by fold and pass. */
static void shuffle_pass(struct course *course, int64_t pass)
{
    int64_t n = course->fold->train.n;
    weft_rng_row key = {course->sgd->env.seed, WEFT_RNG_BATCH, (uint64_t)pass,
                        (uint64_t)course->f, 0};
    if (pass == course->pass) return;
    course->pass = pass;
    memcpy(course->order, course->fold->train.row, (size_t)n * sizeof *course->order);
    weft_shuffle_first(n, n, &key, course->order);
    key.c = 1;
    if (course->end)
        sgd_context_order(course->sgd, course->model, n, &key, course->order, course->end);
}

/* Documents: pieces with nearly equal numbers of words, so that ranks take equally long;
 * documents are assigned from the longest on, to the pieces in order and in reverse order
 * in turns. Other rows: in their order. Returns the rows by pieces. */
static const int64_t *divide_batch(struct course *course, int n, const int64_t *row)
{
    int parts = course->pieces.n, *from = course->pieces.from;
    for (int i = 0; i <= parts; i++) from[i] = (int)((int64_t)n * i / parts);
    if (parts == 1 || course->sgd->shape.words == 0) return row;
    sgd_sort_by_length(course->sgd, n, row, course->length);
    for (int i = 0, at = 0; i < parts; i++) {
        from[i] = at;
        for (int lap = 0; lap * parts < n; lap++) {
            int j = lap * parts + (lap % 2 ? parts - 1 - i : i);
            if (j < n) course->dealt[at++] = course->length[j].at;
        }
    }
    return course->dealt;
}

/* The gradients of this rank's pieces. */
static void take_gradients(struct course *course, int64_t step, const int64_t *row,
                           const real *w)
{
    const sgd_task *sgd = course->sgd;
    int balance = course->model->train.balance || sgd->env.balanced;
    const double *weight = balance ? course->fold->weight : NULL;
    int again = 0;
    for (int i = 0; i < course->pieces.count; i++) {
        int piece = course->pieces.own[i];
        int from = course->pieces.from[piece], n = course->pieces.from[piece + 1] - from;
        if (n == 0) continue;
        weft_batch batch =
            sgd_batch(sgd, course->model, &course->work, n, row + from, weight);
        if (sgd->source->thin)
            sgd->source->thin(sgd, course->model, &course->work, step, n, row + from);
        batch.place = course->words.seats.place;
        batch.places = course->words.seats.n;
        batch.again = again;
        again = 1;
        weft_rng4 key = weft_rng_at(sgd->env.seed, WEFT_RNG_DROPOUT, (uint64_t)step,
                                    (uint64_t)course->f, (uint64_t)piece);
        weft_score score = {0};
        sgd->net->grad(course->model->self, course->work.net, w, &batch,
                       course->model->train.dropout, key.v[0], course->pieces.g[piece],
                       &score);
        course->told[2 * piece] += score.loss;
        course->told[2 * piece + 1] += score.count;
    }
}

/* Adds the sums of all ranks in the order of pieces; if every rank did all pieces, takes
 * those of one rank. */
static void tell_losses(struct course *course, sgd_head *head)
{
    head->train_loss = head->train_count = 0;
    if (course->pieces.n > 1)
        weft_join_f64(course->sgd->env.team, course->told, (size_t)(2 * course->pieces.n));
    for (int i = 0; i < course->pieces.n; i++) {
        head->train_loss += course->told[2 * i];
        head->train_count += course->told[2 * i + 1];
    }
    head->train_loss *= course->sgd->unit;
}

/* g += l2 w for the layers that have a weight decay of their own, in this rank's part. */
static void add_decay(const struct course *course, const real *w, real *g)
{
    const sgd_model *model = course->model;
    int64_t from = course->pieces.part, to = from + course->pieces.parts;
    for (int l = 0; l < SGD_LAYERS; l++) {
        real l2 = (real)model->train.l2[l];
        int64_t first = model->first[l] > from ? model->first[l] : from;
        int64_t end = model->end[l] < to ? model->end[l] : to;
        for (int64_t i = first; l2 > 0 && i < end; i++) g[i] += l2 * w[i];
    }
}

/* ---- weights of contexts ---- */

/* Each rank has its part of theta, the weights of one context, and the numbers of all
 * contexts that these are made of. So ranks join theta alone, and the rest at the end of an
 * epoch. */
_Static_assert(WEFT_BLOCK % WEFT_CONTEXT_BLOCK == 0, "parts are whole blocks");

/* The weights for a context. */
static const real *theta_of(struct course *course, int context, const real *w)
{
    const sgd_pieces *pieces = &course->pieces;
    real *theta = course->work.theta;
    if (!course->model->contexts) return w;
    weft_contexts_form(course->model->contexts, w,
                       course->sgd->source->context(course->sgd, context), pieces->part,
                       pieces->parts, theta);
    sgd_pieces_join(course->sgd, pieces, theta);
    return theta;
}

/* A step of the optimizer on any of the weights of all contexts that are trained. */
struct change {
    const sgd_model *model;
    weft_pace pace;
    real *w, *slots;
    int n;
    weft_context_range range[WEFT_MAX_RANGES]; /* [n] */
};

static void take_change(void *self, int64_t at, int64_t n, real *g)
{
    const struct change *change = self;
    const sgd_model *model = change->model;
    for (int i = 0; i < change->n; i++) {
        weft_context_range range = change->range[i];
        int64_t from = range.from > at ? range.from : at;
        int64_t end = range.end < at + n ? range.end : at + n;
        if (from < end)
            weft_descent_step(&model->train.descent, &change->pace, end - from,
                              change->w + from, g + (from - at), change->slots + from,
                              model->n);
    }
}

/* Changes the weights of all contexts by the gradient with respect to those of one. */
static void change_contexts(struct course *course, weft_pace pace, weft_context at, real *w,
                            real *slots)
{
    const weft_contexts *contexts = course->model->contexts;
    const sgd_pieces *pieces = &course->pieces;
    struct change change = {.model = course->model, .pace = pace, .w = w, .slots = slots};
    change.n = weft_contexts_trained(contexts, change.range);
    weft_contexts_taker taker = {take_change, &change};
    size_t n = (size_t)weft_contexts_dots(contexts);
    memset(course->dots, 0, n * sizeof *course->dots);
    weft_contexts_spread(contexts, w, at, pieces->out, pieces->part, pieces->parts, &taker,
                         course->dots);
    if (pieces->exchange) weft_join_f64(course->sgd->env.team, course->dots, n);
    weft_contexts_spread_small(contexts, at, course->dots, &taker);
}

/* All ranks get all of x, the weights or a vector of the optimizer. */
static void join_weights(struct course *course, real *x)
{
    const sgd_pieces *pieces = &course->pieces;
    const weft_contexts *contexts = course->model->contexts;
    int copies = contexts && pieces->exchange ? weft_contexts_copies(contexts) : 0;
    real *theta = course->work.theta;
    if (!contexts) sgd_pieces_join(course->sgd, pieces, x);
    for (int c = 0; c < copies; c++) {
        weft_contexts_copy(contexts, c, pieces->part, pieces->parts, 0, x, theta);
        sgd_pieces_join(course->sgd, pieces, theta);
        weft_contexts_copy(contexts, c, 0, pieces->table.at, 1, x, theta);
    }
}

/* ---- steps ---- */

/* Changes all weights by the gradient course->pieces.out. */
static void change_weights(struct course *course, weft_pace pace, real *w, real *slots)
{
    int64_t from = course->pieces.part;
    real *g = course->pieces.out;
    add_decay(course, w, g);
    weft_descent_step(&course->model->train.descent, &pace, course->pieces.parts, w + from,
                      g + from, slots + from, course->model->n);
    sgd_pieces_join(course->sgd, &course->pieces, w);
    sgd_words_step(&course->words, course->model, pace, w, g + course->model->table.at,
                   slots);
    if (course->sgd->net->project) course->sgd->net->project(course->model->self, w);
}

/* The end of the batch in which place `from` of a pass is. */
static int64_t end_of_batch(const int64_t *end, int64_t from)
{
    while (*end <= from) end++;
    return *end;
}

/* The rows of the next step, at most `batch`: a pass over the samples goes on where the
 * last step left it, whatever batches it had. Returns their number. */
static int take_rows(struct course *course, sgd_head *head, const int64_t **row)
{
    int64_t n = course->fold->train.n, batch = course->model->train.batch;
    if ((int64_t)head->taken >= n) {
        head->pass++;
        head->taken = 0;
    }
    int64_t from = (int64_t)head->taken;
    shuffle_pass(course, (int64_t)head->pass);
    *row = course->order + from;
    int64_t end = from + batch < n ? from + batch : n;
    if (course->end) end = end_of_batch(course->end, from);
    int size = (int)(end - from);
    head->taken += size;
    return size;
}

/* `epoch`: epochs before the step, with the share of this one. */
static int take_step(struct course *course, double epoch, sgd_head *head, real *w,
                     real *slots)
{
    const sgd_task *sgd = course->sgd;
    int64_t step = (int64_t)head->steps;
    const int64_t *row;
    int size = take_rows(course, head, &row);
    int context = course->end ? sgd->source->context_of(sgd, row[0]) : 0;
    row = divide_batch(course, size, row);
    const real *theta = theta_of(course, context, w);
    sgd_words_seat(&course->words, sgd, size, row);
    sgd_words_settle(&course->words, course->model, course->words.seats.n, w, slots);
    take_gradients(course, step, row, theta);
    if (!sgd_pieces_sum(sgd, &course->pieces, &course->words)) return 0;
    weft_pace pace = weft_descent_pace(&course->model->train.descent, epoch, step);
    if (course->model->contexts)
        change_contexts(course, pace, sgd->source->context(sgd, context), w, slots);
    else
        change_weights(course, pace, w, slots);
    head->steps++;
    return 1;
}

/* All steps of an epoch; *good 0: it diverged. About once in LOOK seconds, by the clock of
 * the first rank, the ranks agree whether the epoch is to be left. WEFT_STOP. */
static weft_status take_steps(struct course *course, int64_t steps, sgd_head *head, real *w,
                              real *slots, int *good)
{
    sgd_task *sgd = course->sgd;
    double before = (head->epochs - 1) * (double)steps, looked = weft_now();
    int64_t next = sgd->each;
    for (int64_t i = 0; *good && i < steps; i++) {
        *good = take_step(course, (before + (double)i) / (double)steps, head, w, slots);
        if (i + 1 < next) continue;
        double now = weft_now(), pace = fmin(2, LOOK / fmax(now - looked, 1e-9));
        double v[2] = {halt_is_due(&sgd->env, &sgd->asked),
                       sgd->env.team->rank == 0 ? fmax(pace * (double)sgd->each, 1) : 0};
        weft_max_f64(sgd->env.team, v, 2);
        if (v[0] > 0) return weft_fail(WEFT_STOP, "the run was stopped");
        looked = now;
        sgd->each = (int64_t)v[1];
        next = i + 1 + sgd->each;
    }
    return WEFT_OK;
}

weft_status sgd_epoch(sgd_task *sgd, const sgd_model *model, int f, sgd_head *head, real *w,
                      real *slots, int *good)
{
    WEFT_SCRATCH(tmp);
    const sgd_fold *fold = &sgd->at[f];
    int64_t batch = model->train.batch < fold->train.n ? model->train.batch : fold->train.n;
    int64_t passes = sgd_blocks_new(sgd, model, &fold->train, model->train.batch, tmp).n;
    int64_t steps = sgd->opts.steps > 0 ? sgd->opts.steps : passes;
    struct course course = {
        .sgd = sgd,
        .model = model,
        .fold = fold,
        .f = sgd->opts.fold < 0 ? f : (int)sgd->opts.fold,
        .work = sgd_work_new(sgd, model, (int)(batch / sgd->opts.parts + 1), tmp),
        .pieces = sgd_pieces_new(sgd, model, sgd_gradient_size(sgd, model, batch), tmp),
        .length = WEFT_NEW(tmp, weft_length, batch),
        .dealt = WEFT_NEW(tmp, int64_t, batch),
        .order = WEFT_NEW(tmp, int64_t, fold->train.n),
        .pass = -1,
        .told = WEFT_NEW(tmp, double, 2 * sgd->opts.parts),
        .end = model->contexts ? WEFT_NEW(tmp, int64_t, passes) : NULL};
    if (model->contexts)
        course.dots = WEFT_NEW(tmp, double, weft_contexts_dots(model->contexts));
    course.words = sgd_words_new(sgd, model, &course.pieces, batch, steps, tmp);
    *good = 1;
    weft_status st = take_steps(&course, steps, head, w, slots, good);
    sgd_words_end(&course.words, model, w, slots);
    if (model->contexts) {
        join_weights(&course, w);
        sgd_contexts_fill(sgd, model, &fold->train, w);
    }
    for (int s = 0; s < model->slots; s++) join_weights(&course, slots + s * model->n);
    tell_losses(&course, head);
    *good = *good && isfinite(head->train_loss);
    return st;
}
