/* Vectors of words that are trained: most of the weights, of which a step changes only
 * those of its batch's words. So their gradients are rows for the words of the batch alone,
 * and the decays of an optimizer (of its squares and means, of weights) are taken when a
 * word is next read: to the bit the steps that all rows would have taken each time, without
 * passing through the memory of all of them. */
#include "words.h"
#include "data.h"

#include <string.h>

enum { OWED = 4096 }; /* steps that a row may owe */

int64_t sgd_gradient_size(const sgd_task *sgd, const sgd_model *model, int64_t batch)
{
    int64_t words = batch * sgd->shape.d, rows = model->table.rows;
    return model->table.at + (words < rows ? words : rows) * model->table.d;
}

sgd_words sgd_words_new(const sgd_task *sgd, const sgd_model *model,
                        const sgd_pieces *pieces, int64_t batch, int64_t steps,
                        weft_arena *tmp)
{
    sgd_words words = {.table = model->table,
                       .team = sgd->env.team,
                       .sharers = pieces->sharers,
                       .exchange = pieces->exchange,
                       .room = steps < OWED ? steps : OWED};
    if (words.table.rows == 0) return words;
    words.pace = WEFT_NEW(tmp, weft_pace, words.room);
    words.most = (pieces->room - words.table.at) / words.table.d;
    words.seats = weft_seats_new(sgd->shape.words, batch * sgd->shape.d, tmp);
    words.row = WEFT_NEW(tmp, int64_t, words.most);
    words.taken = WEFT_NEW(tmp, int64_t, words.table.rows);
    return words;
}

void sgd_words_seat(sgd_words *words, const sgd_task *sgd, int n, const int64_t *row)
{
    if (words->table.rows == 0) return;
    weft_seats_clear(&words->seats);
    for (int i = 0; i < n; i++) {
        int length;
        const uint32_t *word = sgd_words_of(sgd, row[i], &length);
        weft_seats_add(&words->seats, length, word);
    }
    for (int i = 0; i < words->seats.n; i++)
        words->row[i] = (int64_t)words->seats.word[i] + 1;
}

/* ---- rows and ranks ---- */

/* The rank that keeps a row up to date, of those that share memory. */
static int keeper_of(const sgd_words *words, int64_t row)
{
    return (int)(row % words->sharers);
}

/* 1 if this rank does; where memory is not shared, every rank does. */
static int keeps(const sgd_words *words, int64_t row)
{
    return words->sharers == 1 || keeper_of(words, row) == words->team->rank;
}

int sgd_words_own(const sgd_words *words, int place)
{
    return keeps(words, words->row[place]);
}

/* The row words->row[i] in the weights, or a vector of the optimizer, x. */
static real *row_in(const sgd_words *words, real *x, int64_t i)
{
    return x + words->table.at + words->row[i] * words->table.d;
}

/* The rows words->row[n] of x, each from its keeper. */
static void get_rows(const sgd_words *words, int64_t n, real *x)
{
    int64_t d = words->table.d;
    size_t bytes = (size_t)d * sizeof *x;
    if (words->sharers == 1) return;
    for (int64_t i = 0; i < n; i++)
        if (keeps(words, words->row[i]))
            memcpy(words->exchange + i * d, row_in(words, x, i), bytes);
    weft_parts_meet(words->team);
    for (int64_t i = 0; i < n; i++) {
        if (keeps(words, words->row[i])) continue;
        const real *of = weft_parts_of(words->team, keeper_of(words, words->row[i]));
        memcpy(row_in(words, x, i), of + i * d, bytes);
    }
    weft_parts_meet(words->team);
}

/* ---- steps ---- */

/* A row that this rank keeps takes the steps that it owes. */
static void pay(sgd_words *words, const sgd_model *model, int64_t row, real *w, real *slots)
{
    int64_t from = words->taken[row], at = words->table.at + row * words->table.d;
    weft_descent_idle(&model->train.descent, words->pace + from, words->nstep - from,
                      words->table.d, w + at, slots + at, model->n);
    words->taken[row] = words->nstep;
}

/* The rows words->row[n]. */
static void settle(sgd_words *words, const sgd_model *model, int64_t n, real *w,
                   real *slots)
{
    for (int64_t i = 0; i < n; i++)
        if (keeps(words, words->row[i])) pay(words, model, words->row[i], w, slots);
    get_rows(words, n, w);
}

/* All rows that this rank keeps, after which nothing is owed. */
static void settle_own(sgd_words *words, const sgd_model *model, real *w, real *slots)
{
    for (int64_t row = 0; row < words->table.rows; row++)
        if (keeps(words, row)) pay(words, model, row, w, slots);
    memset(words->taken, 0, (size_t)words->table.rows * sizeof *words->taken);
    words->nstep = 0;
}

void sgd_words_settle(sgd_words *words, const sgd_model *model, real *w, real *slots)
{
    settle(words, model, words->seats.n, w, slots);
}

void sgd_words_step(sgd_words *words, const sgd_model *model, weft_pace pace, real *w,
                    real *g, real *slots)
{
    const weft_descent *descent = &model->train.descent;
    if (words->table.rows == 0) return;
    if (words->nstep == words->room) settle_own(words, model, w, slots);
    words->pace[words->nstep++] = pace;
    for (int i = 0; i < words->seats.n; i++) {
        if (!sgd_words_own(words, i)) continue;
        weft_descent_step(descent, &pace, words->table.d, row_in(words, w, i),
                          g + (int64_t)i * words->table.d, row_in(words, slots, i),
                          model->n);
        words->taken[words->row[i]] = words->nstep;
    }
}

void sgd_words_end(sgd_words *words, const sgd_model *model, real *w, real *slots)
{
    for (int64_t from = 0; from < words->table.rows; from += words->most) {
        int64_t left = words->table.rows - from,
                n = left < words->most ? left : words->most;
        for (int64_t i = 0; i < n; i++) words->row[i] = from + i;
        settle(words, model, n, w, slots);
        for (int s = 0; s < model->slots; s++) get_rows(words, n, slots + s * model->n);
    }
}
