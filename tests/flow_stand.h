/* Task flow set up for a test, and its jobs. Included by t_flow*.c. */
#ifndef WEFT_TEST_FLOW_STAND_H
#define WEFT_TEST_FLOW_STAND_H

#include "task/flow/data.h"
#include "task/flow/optimum.h"
#include "task/flow/path.h"

#include "weft/registry.h"

#include <math.h>
#include <string.h>

#include "measured.h"
#include "tap.h"

static weft_team team;
static weft_arena *mem;
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
static inline void afresh(struct stand *s)
{
    s->state = weft_state_new(task, s->self, &s->job, mem);
}

static inline weft_status set_up(struct stand *s, const char *options, weft_data *data)
{
    *s = (struct stand){.self = weft_arena_alloc(mem, 1, task->kind.size)};
    weft_conf_init(&s->conf, mem);
    const weft_kind *tuned[WEFT_MAX_TUNED];
    int n = 0;
    TRY(weft_conf_text(&s->conf, "test", options));
    TRY(weft_conf_bind(&s->conf, &task->kind, s->self));
    TRY(task->tuned(s->self, tuned, &n));
    TRY(weft_space_read(&s->space, &s->conf, tuned, n, 1, mem));
    weft_env env = {.team = &team,
                    .conf = &s->conf,
                    .data = data,
                    .space = &s->space,
                    .seed = 3,
                    .memory = 1e9,
                    .mem = mem};
    TRY(task->setup(s->self, &env));
    weft_mix mix = weft_mix_new(1, s->space.dim, mem);
    s->job = weft_job_new(0, 0, &mix);
    weft_space_config(&s->space, 0, s->job.mix.conf);
    s->res = result_of(task, 1, mem);
    afresh(s);
    return WEFT_OK;
}

static inline struct stand *stand_up(const char *options, weft_data *data)
{
    struct stand *s = WEFT_NEW(mem, struct stand, 1);
    weft_check(set_up(s, options, data) == WEFT_OK, "%s", weft_error());
    return s;
}

static inline double train(struct stand *s, double resource)
{
    s->job.resource = resource;
    weft_check(task->step(s->self, &s->job, 0, &s->state, NULL, &s->res) == WEFT_OK, "%s",
               weft_error());
    s->job.index++;
    return s->res.loss;
}

/* Loss after `resource` units from the start. */
static inline double loss_at(const char *options, double resource)
{
    return train(stand_up(options, NULL), resource);
}

static inline const char *flow_of(double step, const char *more)
{
    return weft_arena_text(mem, "[flow]\nstep = %.17g\n%s\n", step, more);
}

/* The real numbers of a tensor of the state. */
static inline const real *tensor(const struct stand *s, const char *name)
{
    weft_tensor t[WEFT_MAX_TENSORS];
    int n = task->tensors(s->self, &s->job, t);
    for (int i = 0; i < n; i++)
        if (strcmp(t[i].name, name) == 0) return s->state.x + t[i].at;
    weft_die("no tensor %s", name);
}

#endif
