/* Epochs of task sgd. A batch is divided into pieces for the ranks, which are summed
 * exactly (sgd_sum.c); each rank takes the optimizer's steps of its part of the weights,
 * and all get them. */
#include "step.h"
#include "data.h"
#include "sum.h"
#include "words.h"

#include <math.h>
#include <string.h>

enum { SCORED = 64 };
#define LOOK 0.5 /* seconds between looks whether the run is to stop */

/* ---- an epoch ---- */

/* Work space of an epoch beside the network. */
typedef struct course {
    sgd *t;
    const sgd_model *m;
    const sgd_fold *fold;
    int f;
    sgd_work work;
    sgd_pieces p;
    sgd_words words;
    int64_t *order; /* [train.n] rows of the pass over the samples that `pass` is */
    int64_t pass;
    sgd_length *length; /* [batch] */
    int64_t *dealt;     /* [batch] rows of a batch by pieces */
    double *told; /* [2 parts] losses, predictions of the pieces of all steps of a rank */
} course;

/* The rows of a pass, in random order keyed by fold and pass. */
static void shuffle(course *c, int64_t pass)
{
    int64_t n = c->fold->train.n;
    weft_rng_row key = {c->t->env.seed, WEFT_RNG_BATCH, (uint64_t)pass, (uint64_t)c->f, 0};
    if (pass == c->pass) return;
    c->pass = pass;
    memcpy(c->order, c->fold->train.row, (size_t)n * sizeof *c->order);
    weft_shuffle_first(n, n, &key, c->order);
}

/* Documents: pieces with nearly equal numbers of words, so that ranks take equally long;
 * documents are assigned from the longest on, to the pieces in order and in reverse order
 * in turns. Other rows: in their order. Returns the rows by pieces. */
static const int64_t *divide(course *c, int n, const int64_t *row)
{
    int parts = c->p.n, *from = c->p.from;
    for (int i = 0; i <= parts; i++) from[i] = (int)((int64_t)n * i / parts);
    if (parts == 1 || c->t->shape.form != WEFT_TOKENS) return row;
    sgd_sort_by_length(c->t, n, row, c->length);
    for (int i = 0, at = 0; i < parts; i++) {
        from[i] = at;
        for (int lap = 0; lap * parts < n; lap++) {
            int j = lap * parts + (lap % 2 ? parts - 1 - i : i);
            if (j < n) c->dealt[at++] = c->length[j].row;
        }
    }
    return c->dealt;
}

/* The gradients of this rank's pieces. */
static void take_gradients(course *c, int64_t step, const int64_t *row, const real *w)
{
    const sgd *t = c->t;
    const double *weight = c->m->train.balance ? c->fold->weight : NULL;
    int again = 0;
    for (int i = 0; i < c->p.count; i++) {
        int piece = c->p.own[i];
        int from = c->p.from[piece], n = c->p.from[piece + 1] - from;
        if (n == 0) continue;
        weft_batch b = sgd_batch(t, &c->work, n, row + from, weight);
        b.place = c->words.seats.place;
        b.places = c->words.seats.n;
        b.again = again;
        again = 1;
        weft_rng4 key = weft_rng_at(t->env.seed, WEFT_RNG_DROPOUT, (uint64_t)step,
                                    (uint64_t)c->f, (uint64_t)piece);
        weft_score s = {0};
        t->net->grad(c->m->self, c->work.net, w, &b, c->m->train.dropout, key.v[0],
                     c->p.g[piece], &s);
        c->told[2 * piece] += s.loss;
        c->told[2 * piece + 1] += (double)s.count;
    }
}

/* Adds the sums of all ranks in the order of pieces; if every rank did all pieces, takes
 * those of one rank. */
static void tell(course *c, sgd_head *h)
{
    h->train_loss = h->train_count = 0;
    if (c->p.n > 1) weft_join_f64(c->t->env.team, c->told, (size_t)(2 * c->p.n));
    for (int i = 0; i < c->p.n; i++) {
        h->train_loss += c->told[2 * i];
        h->train_count += c->told[2 * i + 1];
    }
}

/* g += l2 w for the layers that have a weight decay of their own, in this rank's part. */
static void add_decay(const course *c, const real *w, real *g)
{
    const sgd_model *m = c->m;
    int64_t from = c->p.part, to = from + c->p.parts;
    for (int l = 0; l < SGD_LAYERS; l++) {
        real l2 = (real)m->train.l2[l];
        int64_t first = m->first[l] > from ? m->first[l] : from;
        int64_t end = m->end[l] < to ? m->end[l] : to;
        for (int64_t i = first; l2 > 0 && i < end; i++) g[i] += l2 * w[i];
    }
}

/* Changes all weights by the gradient c->p.out. */
static void change(course *c, weft_pace pace, real *w, real *slots)
{
    int64_t from = c->p.part;
    real *g = c->p.out;
    add_decay(c, w, g);
    weft_descent_step(&c->m->train.descent, &pace, c->p.parts, w + from, g + from,
                      slots + from, c->m->n);
    sgd_pieces_join(c->t, &c->p, w);
    sgd_words_step(&c->words, c->m, pace, w, g + c->m->table.at, slots);
    if (c->t->net->project) c->t->net->project(c->m->self, w);
}

/* The rows of the next step, at most `batch`: a pass over the samples goes on where the
 * last step left it, whatever batches it had. Returns their number. */
static int take_rows(course *c, sgd_head *h, const int64_t **row)
{
    int64_t n = c->fold->train.n, batch = c->m->train.batch;
    if ((int64_t)h->taken >= n) {
        h->pass++;
        h->taken = 0;
    }
    int64_t from = (int64_t)h->taken;
    shuffle(c, (int64_t)h->pass);
    *row = c->order + from;
    int size = (int)(n - from < batch ? n - from : batch);
    h->taken += size;
    return size;
}

/* `epoch`: epochs before the step, with the share of this one. */
static int take_step(course *c, double epoch, sgd_head *h, real *w, real *slots)
{
    const sgd *t = c->t;
    int64_t step = (int64_t)h->steps;
    const int64_t *row;
    int size = take_rows(c, h, &row);
    row = divide(c, size, row);
    sgd_words_seat(&c->words, t, size, row);
    sgd_words_settle(&c->words, c->m, w, slots);
    take_gradients(c, step, row, w);
    if (!sgd_pieces_sum(t, &c->p, &c->words)) return 0;
    change(c, weft_descent_pace(&c->m->train.descent, epoch, step), w, slots);
    h->steps++;
    return 1;
}

/* All steps of an epoch; *good 0: it diverged. About once in LOOK seconds, by the clock of
 * the first rank, the ranks agree whether the epoch is to be left. WEFT_STOP. */
static weft_status take_steps(course *c, int64_t steps, sgd_head *h, real *w, real *slots,
                              int *good)
{
    sgd *t = c->t;
    double before = (h->epochs - 1) * (double)steps, looked = weft_now();
    int64_t next = t->each;
    for (int64_t i = 0; *good && i < steps; i++) {
        *good = take_step(c, (before + (double)i) / (double)steps, h, w, slots);
        if (i + 1 < next) continue;
        double now = weft_now(), pace = fmin(2, LOOK / fmax(now - looked, 1e-9));
        double v[2] = {halt_is_due(&t->env, &t->asked),
                       t->env.team->rank == 0 ? fmax(pace * (double)t->each, 1) : 0};
        weft_max_f64(t->env.team, v, 2);
        if (v[0] > 0) return weft_fail(WEFT_STOP, "the run was stopped");
        looked = now;
        t->each = (int64_t)v[1];
        next = i + 1 + t->each;
    }
    return WEFT_OK;
}

weft_status sgd_epoch(sgd *t, const sgd_model *m, int f, sgd_head *h, real *w, real *slots,
                      int *good)
{
    weft_arena *tmp = weft_arena_new();
    const sgd_fold *fold = &t->at[f];
    int64_t batch = m->train.batch < fold->train.n ? m->train.batch : fold->train.n;
    int64_t passes = (fold->train.n + m->train.batch - 1) / m->train.batch;
    int64_t steps = t->steps > 0 ? t->steps : passes;
    course c = {.t = t,
                .m = m,
                .fold = fold,
                .f = t->fold < 0 ? f : (int)t->fold,
                .work = sgd_work_new(t, m, (int)(batch / t->parts + 1), tmp),
                .p = sgd_pieces_new(t, m, sgd_gradient_size(t, m, batch), tmp),
                .length = WEFT_NEW(tmp, sgd_length, batch),
                .dealt = WEFT_NEW(tmp, int64_t, batch),
                .order = WEFT_NEW(tmp, int64_t, fold->train.n),
                .pass = -1,
                .told = WEFT_NEW(tmp, double, 2 * t->parts)};
    c.words = sgd_words_new(t, m, &c.p, batch, steps, tmp);
    *good = 1;
    weft_status st = take_steps(&c, steps, h, w, slots, good);
    sgd_words_end(&c.words, m, w, slots);
    for (int s = 0; s < m->slots; s++) sgd_pieces_join(t, &c.p, slots + s * m->n);
    tell(&c, h);
    weft_arena_free(tmp);
    *good = *good && isfinite(h->train_loss);
    return st;
}

/* ---- scores ---- */

void sgd_sums_add(sgd_sums *to, const sgd_sums *s)
{
    to->loss += s->loss;
    to->wrong += s->wrong;
    to->count += s->count;
}

double sgd_sums_score(const sgd *t, const sgd_sums *s)
{
    if (!isfinite(s->loss)) return INFINITY;
    if (t->score == SGD_LOG_ERROR) return log(fmax(s->wrong, 0.5) / s->count);
    return (t->score == SGD_LOSS ? s->loss : s->wrong) / s->count;
}

/* Blocks of samples are distributed over ranks; their sums are added in order on all
 * ranks. */
sgd_sums sgd_score_rows(sgd *t, const sgd_model *m, const sgd_rows *rows, const real *w)
{
    weft_arena *tmp = weft_arena_new();
    const weft_team *team = t->env.team;
    int64_t n = (rows->n + SCORED - 1) / SCORED;
    sgd_work k = sgd_work_new(t, m, SCORED, tmp);
    sgd_sums *told = WEFT_NEW(tmp, sgd_sums, n), all = {0};
    int64_t first = n * team->rank / team->size;
    for (int64_t b = first; b < n * (team->rank + 1) / team->size; b++) {
        int64_t left = rows->n - b * SCORED;
        weft_batch x = sgd_batch(t, &k, (int)(left < SCORED ? left : SCORED),
                                 rows->row + b * SCORED, NULL);
        x.again = b > first;
        weft_score s = {0};
        t->net->score(m->self, k.net, w, &x, &s);
        told[b] = (sgd_sums){s.loss, (double)s.wrong, (double)s.count};
    }
    weft_join_f64(t->env.team, &told->loss, (size_t)(3 * n));
    for (int64_t b = 0; b < n; b++) sgd_sums_add(&all, &told[b]);
    weft_arena_free(tmp);
    return all;
}
