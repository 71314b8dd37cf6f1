/* States in the memory of programs; see held.h. */
#include "held.h"
#include "weft/holder.h"

int weft_held_is_on(const weft_sched *sched)
{
    const weft_holder *holder = sched->task->holder;
    return holder && sched->rundir && holder->holds(sched->task_self);
}

int weft_held_has(const weft_sched *sched, int64_t trial, int64_t job, weft_state *state)
{
    weft_team *team = sched->team;
    int has =
        team->rank == 0 && sched->task->holder->held(sched->task_self, trial, job, state);
    weft_bcast(team, &has, sizeof has, 0);
    if (has && state) weft_state_bcast(team, state);
    return has;
}

int weft_held_saves(const weft_sched *sched, int64_t trial, int64_t job)
{
    weft_team *team = sched->team;
    int saved = team->rank == 0 && sched->task->holder->save(sched->task_self, trial, job);
    weft_bcast(team, &saved, sizeof saved, 0);
    return saved;
}

void weft_held_forget(const weft_sched *sched, int64_t trial, int64_t job)
{
    if (weft_held_is_on(sched)) sched->task->holder->forget(sched->task_self, trial, job);
}
