/* Vectors of words that are trained: most of the weights, of which a step changes only
 * those of its batch's words. So their gradients are rows for the words of the batch alone,
 * and the decays of an optimizer (of its squares and means, of weights) are taken when a
 * word is next read: to the bit the steps that all rows would have taken each time, without
 * passing through the memory of all of them. Called by sgd_step.c. */
#include "sgd.h"

#include <string.h>

int64_t sgd_gradient_size(const sgd *t, const sgd_model *m, int64_t batch)
{
    int64_t words = batch * t->shape.d, rows = m->table.rows;
    return m->table.at + (words < rows ? words : rows) * m->table.d;
}

sgd_words sgd_words_new(const sgd *t, const sgd_model *m, int64_t batch, int64_t steps,
                        weft_arena *tmp)
{
    sgd_words k = {.table = m->table, .pace = WEFT_NEW(tmp, weft_pace, steps)};
    if (k.table.rows == 0) return k;
    k.seats = weft_seats_new(t->shape.words, batch * t->shape.d, tmp);
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
}

/* Offset of a row of the table. */
static int64_t row_at(const weft_table *t, int64_t row)
{
    return t->at + row * t->d;
}

static void settle(sgd_words *k, const sgd_model *m, int64_t row, real *w, real *slots)
{
    int64_t at = row_at(&k->table, row), from = k->taken[row];
    weft_descent_idle(&m->train.descent, k->pace + from, k->nstep - from, k->table.d,
                      w + at, slots + at, m->n);
    k->taken[row] = k->nstep;
}

void sgd_words_settle(sgd_words *k, const sgd_model *m, real *w, real *slots)
{
    const weft_seats *s = &k->seats;
    for (int i = 0; i < s->n; i++) settle(k, m, (int64_t)s->word[i] + 1, w, slots);
}

void sgd_words_step(sgd_words *k, const sgd_model *m, weft_pace pace, real *w, real *g,
                    real *slots)
{
    const weft_descent *d = &m->train.descent;
    const weft_table *t = &k->table;
    k->pace[k->nstep++] = pace;
    for (int i = 0; i < k->seats.n; i++) {
        int64_t row = (int64_t)k->seats.word[i] + 1, at = row_at(t, row);
        weft_descent_step(d, &pace, t->d, w + at, g + (int64_t)i * t->d, slots + at, m->n);
        k->taken[row] = k->nstep;
    }
}

void sgd_words_end(sgd_words *k, const sgd_model *m, real *w, real *slots)
{
    for (int64_t i = 0; i < k->table.rows; i++) settle(k, m, i, w, slots);
}
