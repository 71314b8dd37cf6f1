/* Vectors of words that are trained: most of the weights, of which a step changes only
 * those of its batch's words. So their gradients are rows for the words of the batch alone,
 * and the decays of an optimizer (of its squares and means, of weights) are taken when a
 * word is next read: to the bit the steps that all rows would have taken each time, without
 * passing through the memory of all of them. */
#include "words.h"
#include "data.h"

#include <string.h>

enum { OWED = 4096 }; /* steps that a row may owe */

int64_t sgd_gradient_size(const sgd *t, const sgd_model *m, int64_t batch)
{
    int64_t words = batch * t->shape.d, rows = m->table.rows;
    return m->table.at + (words < rows ? words : rows) * m->table.d;
}

sgd_words sgd_words_new(const sgd *t, const sgd_model *m, const sgd_pieces *p,
                        int64_t batch, int64_t steps, weft_arena *tmp)
{
    sgd_words k = {.table = m->table,
                   .team = t->env.team,
                   .sharers = p->sharers,
                   .exchange = p->exchange,
                   .room = steps < OWED ? steps : OWED};
    if (k.table.rows == 0) return k;
    k.pace = WEFT_NEW(tmp, weft_pace, k.room);
    k.most = (p->room - k.table.at) / k.table.d;
    k.seats = weft_seats_new(t->shape.words, batch * t->shape.d, tmp);
    k.row = WEFT_NEW(tmp, int64_t, k.most);
    k.taken = WEFT_NEW(tmp, int64_t, k.table.rows);
    return k;
}

void sgd_words_seat(sgd_words *k, const sgd *t, int n, const int64_t *row)
{
    if (k->table.rows == 0) return;
    weft_seats_clear(&k->seats);
    for (int i = 0; i < n; i++) {
        int length;
        const uint32_t *word = sgd_words_of(t, row[i], &length);
        weft_seats_add(&k->seats, length, word);
    }
    for (int i = 0; i < k->seats.n; i++) k->row[i] = (int64_t)k->seats.word[i] + 1;
}

/* ---- rows and ranks ---- */

/* The rank that keeps a row up to date, of those that share memory. */
static int keeper_of(const sgd_words *k, int64_t row)
{
    return (int)(row % k->sharers);
}

/* 1 if this rank does; where memory is not shared, every rank does. */
static int keeps(const sgd_words *k, int64_t row)
{
    return k->sharers == 1 || keeper_of(k, row) == k->team->rank;
}

int sgd_words_own(const sgd_words *k, int place)
{
    return keeps(k, k->row[place]);
}

/* The row k->row[i] in the weights, or a vector of the optimizer, x. */
static real *row_in(const sgd_words *k, real *x, int64_t i)
{
    return x + k->table.at + k->row[i] * k->table.d;
}

/* The rows k->row[n] of x, each from its keeper. */
static void get_rows(const sgd_words *k, int64_t n, real *x)
{
    int64_t d = k->table.d;
    size_t bytes = (size_t)d * sizeof *x;
    if (k->sharers == 1) return;
    for (int64_t i = 0; i < n; i++)
        if (keeps(k, k->row[i])) memcpy(k->exchange + i * d, row_in(k, x, i), bytes);
    weft_parts_meet(k->team);
    for (int64_t i = 0; i < n; i++) {
        if (keeps(k, k->row[i])) continue;
        const real *of = weft_parts_of(k->team, keeper_of(k, k->row[i]));
        memcpy(row_in(k, x, i), of + i * d, bytes);
    }
    weft_parts_meet(k->team);
}

/* ---- steps ---- */

/* A row that this rank keeps takes the steps that it owes. */
static void pay(sgd_words *k, const sgd_model *m, int64_t row, real *w, real *slots)
{
    int64_t from = k->taken[row], at = k->table.at + row * k->table.d;
    weft_descent_idle(&m->train.descent, k->pace + from, k->nstep - from, k->table.d,
                      w + at, slots + at, m->n);
    k->taken[row] = k->nstep;
}

/* The rows k->row[n]. */
static void settle(sgd_words *k, const sgd_model *m, int64_t n, real *w, real *slots)
{
    for (int64_t i = 0; i < n; i++)
        if (keeps(k, k->row[i])) pay(k, m, k->row[i], w, slots);
    get_rows(k, n, w);
}

/* All rows that this rank keeps, after which nothing is owed. */
static void settle_own(sgd_words *k, const sgd_model *m, real *w, real *slots)
{
    for (int64_t row = 0; row < k->table.rows; row++)
        if (keeps(k, row)) pay(k, m, row, w, slots);
    memset(k->taken, 0, (size_t)k->table.rows * sizeof *k->taken);
    k->nstep = 0;
}

void sgd_words_settle(sgd_words *k, const sgd_model *m, real *w, real *slots)
{
    settle(k, m, k->seats.n, w, slots);
}

void sgd_words_step(sgd_words *k, const sgd_model *m, weft_pace pace, real *w, real *g,
                    real *slots)
{
    const weft_descent *d = &m->train.descent;
    if (k->table.rows == 0) return;
    if (k->nstep == k->room) settle_own(k, m, w, slots);
    k->pace[k->nstep++] = pace;
    for (int i = 0; i < k->seats.n; i++) {
        if (!sgd_words_own(k, i)) continue;
        weft_descent_step(d, &pace, k->table.d, row_in(k, w, i),
                          g + (int64_t)i * k->table.d, row_in(k, slots, i), m->n);
        k->taken[k->row[i]] = k->nstep;
    }
}

void sgd_words_end(sgd_words *k, const sgd_model *m, real *w, real *slots)
{
    for (int64_t from = 0; from < k->table.rows; from += k->most) {
        int64_t left = k->table.rows - from, n = left < k->most ? left : k->most;
        for (int64_t i = 0; i < n; i++) k->row[i] = from + i;
        settle(k, m, n, w, slots);
        for (int s = 0; s < m->slots; s++) get_rows(k, n, slots + s * m->n);
    }
}
