/* States in the memory of programs that are saved: where another team goes on with the
 * trial, before a stop, the winner's, and those above the number that is kept. */
#ifndef WEFT_SCHED_LEND_H
#define WEFT_SCHED_LEND_H

#include "sched.h"

/* For the order in which a team does its jobs: -1: its program has the state that the job
 * begins with; 1: another team's has; 0: else. */
int weft_lend_near(const weft_sched *sched, const weft_cached *parent);

/* Saves what later jobs may begin with; before a stop. By a leader. */
void weft_lend_save_all(weft_sched *sched);

/* Saves the winner's, at the end of a search: all teams then know whether it is on disk.
 * Collective over world. */
void weft_lend_save_winner(weft_sched *sched);

/* Saves the states with the highest losses, and has the program forget them, where it has
 * more than it should. By a leader. */
void weft_lend_bound(weft_sched *sched);

/* Asks the team whose program has the state that a job begins with, which this team has
 * claimed, to save it. By a leader. */
void weft_lend_want(weft_sched *sched, const weft_flight *flight);

/* 1: a job waits for that. */
int weft_lend_waits(weft_sched *sched);

/* Removes from the jobs that wait for that, and returns, one that need not wait any more;
 * NULL: none. By a leader. */
weft_flight *weft_lend_came(weft_sched *sched);

/* Takes a message of another team if it is one about states; 0 if not. */
int weft_lend_notice(weft_sched *sched, const weft_message *message);

#endif
