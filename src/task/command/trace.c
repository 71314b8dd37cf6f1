/* What programs are told and tell, and the progress of a trial. */
#include "command.h"
#include "weft/rng.h"

#include <string.h>

void command_put_trace(const struct trace *trace, weft_state *state)
{
    const double number[COMMAND_NUMBERS] = {trace->failed, (double)trace->jobs,
                                            (double)trace->trial, (double)trace->job,
                                            trace->resource};
    memcpy(state->aux, number, sizeof number);
}

struct trace command_trace(const weft_state *state)
{
    const double *x = state->aux;
    return (struct trace){(int)x[0], (int64_t)x[1], (int64_t)x[2], (int64_t)x[3], x[4]};
}

int64_t command_seed(const command_task *command, const weft_job *job)
{
    weft_rng4 rng =
        weft_rng_at(command->env.seed, WEFT_RNG_WEIGHTS, (uint64_t)job->trial, 0, 0);
    return (int64_t)(rng.v[0] >> 33);
}

const char *command_add_note(const char *text, const char *name, double x, weft_arena *mem)
{
    return weft_arena_text(mem, "%s%s%s=%.17g", text ? text : "", text ? " " : "", name, x);
}

double command_minimised(const command_task *command, double x)
{
    return *command->loss == '-' ? -x : x;
}
