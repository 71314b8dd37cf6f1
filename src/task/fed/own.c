/* The weights that the training of a client can change. A network over words that trains
 * their vectors has a row of weights for each word of the vocabulary, most of which a
 * client does not know: their gradient is 0, and so are momentum and the pull of FedProx.
 * Only weight decay changes them. So a client's steps take time and memory for its own
 * words, and not for the vocabulary. */
#include "own.h"

#include <string.h>

fed_own fed_own_new(const fed *t, weft_arena *mem)
{
    fed_own k = {.table = {.at = t->nweight}, .n = t->nweight};
    if (t->net->table) k.table = t->net->table(t->model);
    if (k.table.rows > 0) k.seats = weft_seats_new(k.table.rows - 1, k.table.rows - 1, mem);
    return k;
}

static void seat(weft_seats *s, const weft_samples *x)
{
    for (int64_t i = 0; x && i < x->n; i++) weft_seats_add(s, x->length[i], x->word[i]);
}

void fed_own_choose(fed *t, const fed_client *options, const weft_samples *own,
                    const weft_samples *scored)
{
    fed_own *k = &t->work.own;
    if (k->table.rows == 0) return;
    weft_seats_clear(&k->seats);
    k->n = t->nweight;
    k->some = !(options->sgd.weight_decay > 0);
    if (!k->some) return;
    seat(&k->seats, own);
    seat(&k->seats, scored);
    k->n = k->table.at + (int64_t)k->seats.n * k->table.d;
}

/* Offset of a seat's row among all weights. */
static int64_t row_at(const fed_own *k, int seat)
{
    return k->table.at + ((int64_t)k->seats.word[seat] + 1) * k->table.d;
}

const real *fed_own_take(const fed *t, const real *from)
{
    const fed_own *k = &t->work.own;
    if (!k->some) return from;
    real *to = t->work.anchor;
    const size_t row = (size_t)k->table.d * sizeof *to;
    memcpy(to, from, (size_t)k->table.at * sizeof *to);
    to += k->table.at;
    for (int i = 0; i < k->seats.n; i++, to += k->table.d)
        memcpy(to, from + row_at(k, i), row);
    return t->work.anchor;
}

void fed_own_add(const fed_own *k, const real *x, int scale, double *sum)
{
    if (!k->some) {
        weft_exact_add(k->n, x, scale, sum);
        return;
    }
    weft_exact_add(k->table.at, x, scale, sum);
    x += k->table.at;
    for (int i = 0; i < k->seats.n; i++, x += k->table.d)
        weft_exact_add(k->table.d, x, scale, sum + row_at(k, i));
}
