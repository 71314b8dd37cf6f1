/* The results of turns, given to all ranks by one sum of integers, so that their bits do
 * not change. */
#include "exchange.h"

#include <string.h>

int64_t fed_room(int64_t n)
{
    return n * FED_CLIENT_NUMBERS + 1;
}

/* One rank contributes the bits of a double as an integer, the others 0: the sum is these
 * bits. */
weft_status fed_exchange(fed_task *fed, weft_status st, int64_t *wire, int64_t head,
                         int64_t n, const fed_client *client, fed_client_result *told)
{
    int64_t *bits = wire + head, *failed = bits + n * FED_CLIENT_NUMBERS;
    memset(bits, 0, (size_t)fed_room(n) * sizeof *bits);
    for (int64_t j = 0; j < n; j++)
        if (client[j].rank == fed->env.team->rank)
            memcpy(bits + j * FED_CLIENT_NUMBERS, &told[j], sizeof *told);
    *failed = st != WEFT_OK;
    weft_sum_i64(fed->env.team, wire, (size_t)(head + fed_room(n)));
    if (*failed > 0) return weft_agree(st, fed->env.team);
    memcpy(told, bits, (size_t)n * sizeof *told);
    return WEFT_OK;
}
