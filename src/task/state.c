/* States of trials: made, copied, broadcast and hashed. */
#include "weft/hash.h"
#include "weft/task.h"

#include <string.h>

static size_t bytes_of_x(const weft_state *state)
{
    return (size_t)state->nx * sizeof *state->x;
}

int weft_task_tensors(const weft_task *task, const void *self, const weft_job *job,
                      weft_tensor out[WEFT_MAX_TENSORS])
{
    return task->tensors ? task->tensors(self, job, out) : 0;
}

weft_state weft_state_new(const weft_task *task, const void *self, const weft_job *job,
                          weft_arena *mem)
{
    weft_state state = {0};
    task->nstate(self, job, &state);
    state.x = WEFT_NEW(mem, real, state.nx);
    state.aux = WEFT_NEW(mem, double, state.naux);
    if (state.each > 0) state.kept = weft_kept_new(state.members, state.each, mem);
    return state;
}

weft_status weft_state_copy(weft_state *to, const weft_state *from)
{
    weft_check(to->nx == from->nx, "a state of %lld weights for a job of %lld",
               (long long)from->nx, (long long)to->nx);
    int64_t n = to->naux < from->naux ? to->naux : from->naux;
    if (to->nx > 0) memcpy(to->x, from->x, bytes_of_x(to));
    if (n > 0) memcpy(to->aux, from->aux, (size_t)n * sizeof *to->aux);
    return to->kept && from->kept ? weft_kept_copy(to->kept, from->kept) : WEFT_OK;
}

double weft_state_bytes(const weft_state *state)
{
    return (double)state->nx * sizeof(real) + (double)state->naux * sizeof(double);
}

double weft_state_kept_bytes(const weft_state *state)
{
    return state->each > 0 ? weft_kept_bytes(state->members, state->each) : 0;
}

void weft_state_bcast(weft_team *team, weft_state *state)
{
    weft_bcast(team, state->x, bytes_of_x(state), 0);
    weft_bcast(team, state->aux, (size_t)state->naux * sizeof *state->aux, 0);
}

uint64_t weft_state_hash(const weft_state *state)
{
    return weft_hash(state->aux, (size_t)state->naux * sizeof *state->aux,
                     weft_hash(state->x, bytes_of_x(state), 0));
}
