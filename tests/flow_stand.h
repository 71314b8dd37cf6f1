/* Task flow set up for a test, and its jobs. Included by t_flow*.c. */
#ifndef WEFT_TEST_FLOW_STAND_H
#define WEFT_TEST_FLOW_STAND_H

#include "task/flow/flow.h"

#include "measured.h"

static const weft_task *const task = &weft_task_flow;

/* ---- the task ---- */

struct stand {
    void *self;
    weft_conf conf;
    weft_space space;
    weft_job job;
    weft_result res;
    weft_state state;
};

/* The trial begins again. */
static inline void afresh(struct stand *stand)
{
    stand->state = weft_state_new(task, stand->self, &stand->job, mem);
}

static inline weft_status set_up(struct stand *stand, const char *options, weft_data *data)
{
    *stand = (struct stand){.self = weft_arena_alloc(mem, 1, task->kind.size)};
    weft_conf_init(&stand->conf, mem);
    TRY(weft_conf_text(&stand->conf, "test", options));
    TRY(open_on(task, stand->self, &stand->conf, &stand->space, data, 3));
    weft_mix mix = first_configs(&stand->space, 1);
    stand->job = weft_job_new(0, 0, &mix);
    stand->res = result_of(task, 1);
    afresh(stand);
    return WEFT_OK;
}

static inline struct stand *stand_up(const char *options, weft_data *data)
{
    struct stand *stand = WEFT_NEW(mem, struct stand, 1);
    must(set_up(stand, options, data));
    return stand;
}

static inline double train(struct stand *stand, double resource)
{
    stand->job.resource = resource;
    must(task->step(stand->self, &stand->job, 0, &stand->state, NULL, &stand->res));
    stand->job.index++;
    return stand->res.loss;
}

/* Loss after `resource` units from the start. */
static inline double loss_at(const char *options, double resource)
{
    return train(stand_up(options, NULL), resource);
}

static inline const char *flow_of(double step, const char *more)
{
    return printed("[flow]\nstep = %.17g\n%s\n", step, more);
}

/* The real numbers of a tensor of the state. */
static inline const real *tensor(const struct stand *stand, const char *name)
{
    weft_tensor tensor[WEFT_MAX_TENSORS];
    int n = task->winner.tensors(stand->self, &stand->job, tensor);
    for (int i = 0; i < n; i++)
        if (strcmp(tensor[i].name, name) == 0) return stand->state.x + tensor[i].at;
    weft_die("no tensor %s", name);
}

#endif
