/* The account of time around a collective. Private to src/par. */
#ifndef WEFT_PAR_TIMER_H
#define WEFT_PAR_TIMER_H

#include "weft/par.h"

/* Waits for the others, so that the time of the collective that follows is its own. Time so
 * far is computing, that of the barrier waiting. Collective. */
void weft_timer_begin(weft_team *t);
/* After the collective: time since is communication, of so many bytes. Local. */
void weft_timer_end(weft_team *t, size_t bytes);
/* A collective of the team begins (waits 1), ends (0). Local. */
void weft_activity_wait(const weft_team *t, int waits);

#endif
