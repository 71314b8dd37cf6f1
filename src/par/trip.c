/* Latency and rate of the connection of two ranks. */
#include "handle.h"
#include "timer.h"
#include "weft/clock.h"
#include "weft/par.h"

#include <math.h>
#include <string.h>

enum { SHORT = 8, LONG = 4 << 20 }; /* bytes of a message */
enum { TRIES = 50, TRIPS = 20 };    /* of a short message; the best of TRIES counts */

/* Seconds of the best of some round trips between ranks a and b, who call it. */
static double best_trip(const weft_team *team, int a, int b, char *bytes, int n, int tries,
                        int trips)
{
    double best = INFINITY;
    int other = team->rank == a ? b : a;
    for (int i = 0; i < tries; i++) {
        double start = weft_now();
        for (int j = 0; j < trips; j++) {
            if (team->rank == a) MPI_Send(bytes, n, MPI_BYTE, other, 0, comm_of(team));
            MPI_Recv(bytes, n, MPI_BYTE, other, 0, comm_of(team), MPI_STATUS_IGNORE);
            if (team->rank == b) MPI_Send(bytes, n, MPI_BYTE, other, 0, comm_of(team));
        }
        best = fmin(best, (weft_now() - start) / trips);
    }
    return best;
}

weft_trip weft_trip_try(weft_team *team, int a, int b)
{
    weft_trip trip = {0};
    if (team->rank == a || team->rank == b) {
        weft_arena *tmp = weft_arena_new();
        char *bytes = WEFT_NEW(tmp, char, LONG);
        best_trip(team, a, b, bytes, LONG, 1, 1); /* touches the pages */
        trip.latency = best_trip(team, a, b, bytes, SHORT, TRIES, TRIPS) / 2;
        trip.rate = 2.0 * LONG / best_trip(team, a, b, bytes, LONG, 10, 1);
        weft_arena_free(tmp);
    }
    weft_bcast(team, &trip, sizeof trip, a);
    return trip;
}

void weft_collect(weft_team *team, const void *mine, size_t bytes, void *all)
{
    weft_check(bytes <= INT32_MAX, "%zu bytes of each rank", bytes);
    if (team->size == 1) {
        memcpy(all, mine, bytes);
        return;
    }
    weft_timer_begin(team);
    MPI_Allgather(mine, (int)bytes, MPI_BYTE, all, (int)bytes, MPI_BYTE, comm_of(team));
    weft_timer_end(team, bytes * (size_t)team->size);
}
