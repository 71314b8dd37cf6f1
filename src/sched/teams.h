/* The work of a team until the next result can be told. */
#ifndef WEFT_SCHED_TEAMS_H
#define WEFT_SCHED_TEAMS_H

#include "sched.h"

/* Connects the teams and opens their journals. Collective over world. */
WEFT_CHECKED weft_status weft_teams_begin(weft_sched *sched);

/* Receives results of other teams and does jobs until the result that is to be told next is
 * known: *next. Collective over team. WEFT_STOP, EFILE. */
WEFT_CHECKED weft_status weft_teams_work(weft_sched *sched, weft_flight **next);

/* Ends the search of this team, with its status `st`, and waits for the other teams.
 * Returns the common status. Collective over world. */
WEFT_CHECKED weft_status weft_teams_end(weft_sched *sched, weft_status st);
/* Enters a result, of this or another team, which is now known. */
void weft_teams_enter(weft_sched *sched, weft_flight *flight);

#endif
