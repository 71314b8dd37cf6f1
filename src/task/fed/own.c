/* The weights that the training of a client can change. A network over words that trains
 * their vectors has a row of weights for each word of the vocabulary, most of which a
 * client does not know: their gradient is 0, and so are momentum and the pull of FedProx.
 * Only weight decay changes them. So a client's steps take time and memory for its own
 * words, and not for the vocabulary. */
#include "own.h"
#include "weft/exact.h"

#include <string.h>

fed_own fed_own_new(const fed_task *fed, weft_arena *mem)
{
    fed_own own = {.table = {.at = fed->nweight}, .n = fed->nweight};
    if (fed->net->table) own.table = fed->net->table(fed->model);
    if (own.table.rows > 0)
        own.seats = weft_seats_new(own.table.rows - 1, own.table.rows - 1, mem);
    return own;
}

static void seat(weft_seats *seats, const weft_samples *samples)
{
    for (int64_t i = 0; samples && i < samples->n; i++)
        weft_seats_add(seats, samples->length[i], samples->word[i]);
}

void fed_own_choose(fed_task *fed, const fed_training *options, const weft_samples *own,
                    const weft_samples *scored)
{
    fed_own *held = &fed->work.own;
    if (held->table.rows == 0) return;
    weft_seats_clear(&held->seats);
    held->n = fed->nweight;
    held->some = !(options->sgd.weight_decay > 0);
    if (!held->some) return;
    seat(&held->seats, own);
    seat(&held->seats, scored);
    held->n = held->table.at + (int64_t)held->seats.n * held->table.d;
}

/* Offset of a seat's row among all weights. */
static int64_t row_at(const fed_own *own, int seat)
{
    return own->table.at + ((int64_t)own->seats.word[seat] + 1) * own->table.d;
}

const real *fed_own_take(const fed_task *fed, const real *from)
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

void fed_own_add(const fed_own *own, const real *x, int scale, double *sum)
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
