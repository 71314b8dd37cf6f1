/* The results of turns, given to all ranks by one sum of integers, so that their bits do
 * not change. */
#include "exchange.h"

#include <string.h>

/* Numbers of a client. */
static int64_t numbers(const fed_task *fed)
{
    return FED_CLIENT_NUMBERS + fed->nown;
}

int64_t fed_room(const fed_task *fed, int64_t n)
{
    return n * numbers(fed) + 1;
}

/* One rank contributes the bits of a double as an integer, the others 0: the sum is these
 * bits. */
weft_status fed_exchange(fed_task *fed, weft_status st, int64_t *wire, int64_t head,
                         int64_t n, const fed_client *client, fed_client_result *told)
{
    int64_t each = numbers(fed), *bits = wire + head, *failed = bits + n * each;
    size_t bytes = (size_t)each * sizeof *bits;
    memset(bits, 0, (size_t)fed_room(fed, n) * sizeof *bits);
    for (int64_t j = 0; j < n; j++)
        if (client[j].rank == fed->env.team->rank) memcpy(bits + j * each, &told[j], bytes);
    *failed = st != WEFT_OK;
    weft_sum_i64(fed->env.team, wire, (size_t)(head + fed_room(fed, n)));
    if (*failed > 0) return weft_agree(st, fed->env.team);
    for (int64_t j = 0; j < n; j++) memcpy(&told[j], bits + j * each, bytes);
    return WEFT_OK;
}
