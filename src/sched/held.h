/* States in the memory of programs that teams keep (weft/holder.h): the first rank of a
 * team asks its own program. */
#ifndef WEFT_SCHED_HELD_H
#define WEFT_SCHED_HELD_H

#include "sched.h"

/* 1: states are kept so. */
int weft_held_is_on(const weft_sched *sched);

/* 1: the program of this team has the state of that name, *state unless it is NULL.
 * Collective over team. */
int weft_held_has(const weft_sched *sched, int64_t trial, int64_t job, weft_state *state);

/* 1: its directory is on disk, saved now or before. Collective over team. */
int weft_held_saves(const weft_sched *sched, int64_t trial, int64_t job);

/* The state is no longer needed. By a leader. */
void weft_held_forget(const weft_sched *sched, int64_t trial, int64_t job);

#endif
