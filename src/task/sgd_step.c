/* Epochs of task sgd. A batch is divided into a number of pieces that does not depend on
 * the number of ranks. Each rank computes the gradients of some pieces, and their sum is
 * exact, so that its bits do not depend on the ranks: numbers are converted to integers, in
 * a unit for each block of weights that is set by the largest magnitude in all pieces. The
 * largest number of a block keeps 29 bits, less those for carries; floats have 24. Called
 * by sgd.c. */
#include "sgd.h"

#include <math.h>
#include <string.h>

enum { BLOCK = 256, SCORED = 64 };

#ifdef WEFT_DOUBLE
typedef int64_t whole; /* a number in the unit of its block */
#define ROOM 61        /* bits of a sum */
#else
typedef int32_t whole;
#define ROOM 30
#endif

/* The gradients of this rank's pieces. */
typedef struct pieces {
    int n, first, count; /* of the batch; this rank's are [first, first + count) */
    int *from;           /* [n + 1] samples of the batch before a piece */
    real *g;             /* [count][room] */
    whole *sum;          /* [room]; NULL where one rank has all pieces */
    double *most;        /* [blocks] largest magnitude, then the unit */
    int64_t room;        /* numbers of a gradient, at most */
} pieces;

/* ---- exact sums --------------------------------------------------------------------- */

static pieces pieces_new(const sgd *t, int64_t room, weft_arena *tmp)
{
    const weft_team *team = t->env.team;
    pieces p = {.n = t->parts, .room = room, .from = WEFT_NEW(tmp, int, t->parts + 1)};
    int alone = p.n == 1; /* each rank computes the same */
    p.first = alone ? 0 : (int)((int64_t)p.n * team->rank / team->size);
    p.count = alone ? 1 : (int)((int64_t)p.n * (team->rank + 1) / team->size) - p.first;
    p.g = WEFT_NEW(tmp, real, (p.count > 0 ? p.count : 1) * room);
    if (alone || team->size == 1) return p;
    p.sum = WEFT_NEW(tmp, whole, room);
    p.most = WEFT_NEW(tmp, double, (room + BLOCK - 1) / BLOCK);
    return p;
}

/* The share of the batch's samples that a piece of this rank has. */
static double share_of(const pieces *p, int i)
{
    const int *from = p->from + p->first + i;
    return (double)(from[1] - from[0]) / p->from[p->n];
}

static int length_of(int64_t block, int64_t n)
{
    int64_t left = n - block * BLOCK;
    return (int)(left < BLOCK ? left : BLOCK);
}

/* The largest magnitude of x[n], compared by bits, so that a number that is not finite is
 * the largest. */
static double largest(int n, const real *x)
{
    whole top = 0;
    for (int i = 0; i < n; i++) {
        whole bits;
        memcpy(&bits, &x[i], sizeof bits);
        bits &= (whole)(((uint64_t)1 << (8 * sizeof bits - 1)) - 1);
        top = bits > top ? bits : top;
    }
    real r;
    memcpy(&r, &top, sizeof r);
    return isfinite(r) ? (double)r : INFINITY;
}

/* The largest magnitude in block b of what this rank's pieces contribute. */
static double most_of(const pieces *p, int64_t b, int64_t n)
{
    double most = 0;
    for (int i = 0; i < p->count; i++) {
        double share = share_of(p, i);
        if (!(share > 0)) continue;
        double own = largest(length_of(b, n), p->g + i * p->room + b * BLOCK);
        most = fmax(most, share * own);
    }
    return most;
}

/* The power of two that the numbers of a block are multiplied by. */
static int scale_of(const pieces *p, double most)
{
    int exponent;
    frexp(most * p->n, &exponent);
    return ROOM - (exponent < -80 ? -80 : exponent); /* it and its inverse are finite */
}

/* sum = block b of what this rank's pieces contribute, times 2^up, each to the next whole
 * number towards zero. */
static void sum_block(const pieces *p, int64_t b, int64_t n, int up, whole *sum)
{
    int many = length_of(b, n);
    memset(sum, 0, (size_t)many * sizeof *sum);
    for (int i = 0; i < p->count; i++) {
        const real *x = p->g + i * p->room + b * BLOCK;
        real by = (real)ldexp(share_of(p, i), up);
        for (int e = 0; e < many && by > 0; e++) sum[e] += (whole)(x[e] * by);
    }
}

static void read_block(int n, const whole *sum, double unit, real *to)
{
    real by = (real)unit;
    for (int i = 0; i < n; i++) to[i] = (real)sum[i] * by;
}

/* Where one rank has all pieces: a block at a time, which stays in cache. */
static int sum_alone(pieces *p, int64_t n)
{
    whole sum[BLOCK];
    for (int64_t b = 0; b * BLOCK < n; b++) {
        double most = most_of(p, b, n);
        if (!isfinite(most)) return 0;
        if (p->n == 1) continue;
        int up = scale_of(p, most);
        sum_block(p, b, n, up, sum);
        read_block(length_of(b, n), sum, ldexp(1, -up), p->g + b * BLOCK);
    }
    return 1;
}

/* g[n] of the first piece = the sum of all pieces over all ranks; 0 where a number is not
 * finite, on all ranks. Collective. */
static int sum_pieces(const sgd *t, pieces *p, int64_t n)
{
    int64_t nblock = (n + BLOCK - 1) / BLOCK;
    if (!p->sum) return sum_alone(p, n);
    for (int64_t b = 0; b < nblock; b++) p->most[b] = most_of(p, b, n);
    weft_max_f64(t->env.team, p->most, (size_t)nblock);
    for (int64_t b = 0; b < nblock; b++) {
        if (!isfinite(p->most[b])) return 0;
        int up = scale_of(p, p->most[b]);
        sum_block(p, b, n, up, p->sum + b * BLOCK);
        p->most[b] = ldexp(1, -up);
    }
#ifdef WEFT_DOUBLE
    weft_sum_i64(t->env.team, p->sum, (size_t)n);
#else
    weft_sum_i32(t->env.team, p->sum, (size_t)n);
#endif
    for (int64_t b = 0; b < nblock; b++)
        read_block(length_of(b, n), p->sum + b * BLOCK, p->most[b], p->g + b * BLOCK);
    return 1;
}

/* ---- an epoch ----------------------------------------------------------------------- */

/* Work space of an epoch beside the network. */
typedef struct course {
    sgd *t;
    const sgd_model *m;
    const sgd_fold *fold;
    int f;
    sgd_work work;
    pieces p;
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

/* Numbers of the gradient of the batch whose words have places. */
static int64_t numbers(const course *c)
{
    return c->m->table.at + (int64_t)c->words.n * c->m->table.d;
}

/* The gradients of this rank's pieces. */
static void take_gradients(course *c, int64_t step, const int64_t *row, const real *w)
{
    const sgd *t = c->t;
    const double *weight = c->m->train.balance ? c->fold->weight : NULL;
    for (int i = 0; i < c->p.count; i++) {
        int64_t piece = c->p.first + i;
        int from = c->p.from[piece], n = c->p.from[piece + 1] - from;
        if (n == 0) continue;
        weft_batch b = sgd_batch(t, &c->work, n, row + from, weight);
        b.place = c->words.place;
        b.places = c->words.n;
        weft_rng4 key = weft_rng_at(t->env.seed, WEFT_RNG_DROPOUT, (uint64_t)step,
                                    (uint64_t)c->f, (uint64_t)piece);
        weft_score s = {0};
        t->net->grad(c->m->self, c->work.net, w, &b, c->m->train.dropout, key.v[0],
                     c->p.g + i * c->p.room, &s);
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

/* g += l2 w for the layers that have a weight decay of their own. */
static void add_decay(const sgd_model *m, const real *w, real *g)
{
    for (int l = 0; l < SGD_LAYERS; l++) {
        real l2 = (real)m->train.l2[l];
        for (int64_t i = m->first[l]; l2 > 0 && i < m->end[l]; i++) g[i] += l2 * w[i];
    }
}

static int take_step(course *c, sgd_head *h, real *w, real *slots)
{
    const sgd *t = c->t;
    int64_t n = c->fold->train.n, batch = c->m->train.batch;
    int64_t passes = (n + batch - 1) / batch, step = (int64_t)h->steps;
    int64_t from = step % passes * batch;
    shuffle(c, step / passes);
    int size = (int)(n - from < batch ? n - from : batch);
    const int64_t *row = divide(c, size, c->order + from);
    sgd_words_seat(&c->words, t, size, row);
    sgd_words_settle(&c->words, c->m, w, slots);
    take_gradients(c, step, row, w);
    if (!sum_pieces(t, &c->p, numbers(c))) return 0;
    add_decay(c->m, w, c->p.g);
    int64_t epoch = t->steps > 0 ? t->steps : passes;
    weft_pace pace =
        weft_descent_pace(&c->m->train.descent, h->steps / (double)epoch, step);
    sgd_words_step(&c->words, c->m, pace, w, c->p.g, slots);
    if (t->net->project) t->net->project(c->m->self, w);
    h->steps++;
    return 1;
}

int sgd_epoch(sgd *t, const sgd_model *m, int f, sgd_head *h, real *w, real *slots)
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
                .p = pieces_new(t, sgd_gradient_size(t, m, batch), tmp),
                .words = sgd_words_new(t, m, batch, steps, tmp),
                .length = WEFT_NEW(tmp, sgd_length, batch),
                .dealt = WEFT_NEW(tmp, int64_t, batch),
                .order = WEFT_NEW(tmp, int64_t, fold->train.n),
                .pass = -1,
                .told = WEFT_NEW(tmp, double, 2 * t->parts)};
    int good = 1;
    for (int64_t i = 0; good && i < steps; i++) good = take_step(&c, h, w, slots);
    sgd_words_end(&c.words, m, w, slots);
    tell(&c, h);
    weft_arena_free(tmp);
    return good && isfinite(h->train_loss);
}

/* ---- scores ------------------------------------------------------------------------- */

void sgd_sums_add(sgd_sums *to, const sgd_sums *s)
{
    to->loss += s->loss;
    to->wrong += s->wrong;
    to->count += s->count;
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
    for (int64_t b = n * team->rank / team->size; b < n * (team->rank + 1) / team->size;
         b++) {
        int64_t left = rows->n - b * SCORED;
        weft_batch x = sgd_batch(t, &k, (int)(left < SCORED ? left : SCORED),
                                 rows->row + b * SCORED, NULL);
        weft_score s = {0};
        t->net->score(m->self, k.net, w, &x, &s);
        told[b] = (sgd_sums){s.loss, (double)s.wrong, (double)s.count};
    }
    weft_join_f64(t->env.team, &told->loss, (size_t)(3 * n));
    for (int64_t b = 0; b < n; b++) sgd_sums_add(&all, &told[b]);
    weft_arena_free(tmp);
    return all;
}
