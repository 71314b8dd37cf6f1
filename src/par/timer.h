/* The account of time around a collective. Private to src/par. */
#ifndef WEFT_PAR_TIMER_H
#define WEFT_PAR_TIMER_H

#include "weft/team.h"

/* Waits for the other ranks, so that the next collective does not include their delay. Time
 * before the barrier counts as computing, time in it as waiting. Collective. */
void weft_timer_begin(weft_team *team);
/* After the collective: time since is communication, of so many bytes. */
void weft_timer_end(weft_team *team, size_t bytes);
/* A collective of the team begins (waits 1), ends (0). */
void weft_activity_wait(const weft_team *team, int waits);

#endif
