/* The turns of clients in a simulated run: they train nothing and take the time that was
 * measured for training. Linked into weft-sim in place of src/task/fed/turns.c. */
#include "task/fed/round.h"

#include "sim.h"

#include <mpi.h>
#include <stdlib.h>

/* Seconds by the environment: WEFT_SIM_CLIENT of a client, WEFT_SIM_SAMPLE of a sample that
 * is trained, WEFT_SIM_SCORE of one that is scored; and what every rank does in a round:
 * WEFT_SIM_PLACE for each client of the cohort, WEFT_SIM_UPDATE for the weights. */
static double seconds_of(const char *name)
{
    const char *text = getenv(name);
    weft_check(text, "%s is not set", name);
    return atof(text);
}

double charged[SIM_ROUNDS];

double __wrap_weft_cpu_sgemm(double seconds);

/* The rate that a run tells of at its start: simulated time does not pass while it is
 * measured. The linker calls this function in place of weft_cpu_sgemm. */
double __wrap_weft_cpu_sgemm(double seconds)
{
    (void)seconds;
    return 100;
}

static void score(const fed_task *task, fed_client_result *told)
{
    told->loss[0] = told->loss[1] = 0.5 * task->balance.worst * told->count;
    told->wrong[0] = told->wrong[1] = 0.5 * told->count;
}

weft_status fed_take_turns(fed_task *task, const fed_turns *turns)
{
    double client = seconds_of("WEFT_SIM_CLIENT"), sample = seconds_of("WEFT_SIM_SAMPLE"),
           scored = seconds_of("WEFT_SIM_SCORE");
    double seconds = 0;
    for (int64_t j = 0; j < turns->n; j++) {
        const fed_client *p = &turns->client[j];
        if (p->lost || p->rank != task->env.team->rank) continue;
        double steps = turns->turn->train ? (double)p->samples * p->options.epochs : 0;
        int passes = turns->turn->before + turns->turn->after;
        turns->told[j] =
            (fed_client_result){.count = fed_predictions(task, p, turns->turn->part),
                                .train_loss = steps,
                                .train_count = steps,
                                .steps = steps};
        score(task, &turns->told[j]);
        seconds += client + sample * steps + scored * (double)p->valid * passes;
    }
    if (turns->turn->train) charged[turns->turn->round % SIM_ROUNDS] += seconds;
    smpi_execute_flops(1e9 * (seconds + seconds_of("WEFT_SIM_PLACE") * (double)turns->n +
                              (turns->turn->train ? seconds_of("WEFT_SIM_UPDATE") : 0)));
    return WEFT_OK;
}
