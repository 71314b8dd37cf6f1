/* The network of a configuration. */
#ifndef WEFT_TASK_SGD_MODEL_H
#define WEFT_TASK_SGD_MODEL_H

#include "sgd.h"

/* The network and the steps of configuration conf[dim]; NULL: of the options. ECONF, EDATA.
 */
WEFT_CHECKED weft_status sgd_model_new(const sgd_task *sgd, const double *conf,
                                       weft_arena *mem, sgd_model *model);
/* That of a job, whose configuration was checked at setup. */
sgd_model sgd_model_of(const sgd_task *sgd, const weft_job *job, weft_arena *mem);
/* As weft_task.cost. */
void sgd_cost(const void *self, const weft_job *job, weft_cost *out);
/* The tensors of a winner that knows the known languages and directions alone; 0: these are
 * all. */
int sgd_known_tensors(const sgd_task *sgd, const weft_job *job,
                      weft_tensor out[WEFT_MAX_TENSORS]);
/* ECONF: a direction for which the winner has no weights; or there is nothing that
 * context.train could train. */
WEFT_CHECKED weft_status sgd_check_known(const sgd_task *sgd);
/* Numbers of the state of a trial. */
int64_t sgd_state_size(const sgd_task *sgd, const sgd_model *model);
/* Those of the configuration that has the largest state. ECONF, EDATA: a configuration
 * cannot be trained, or a layer that none has is to have a weight decay. */
WEFT_CHECKED weft_status sgd_model_largest(const sgd_task *sgd, weft_arena *tmp,
                                           sgd_model *model);
/* Bytes of a rank: the state, gradients of the pieces and their sum. */
double sgd_memory(const sgd_task *sgd, const sgd_model *model);
/* ELIMIT if those of the configuration with the largest state exceed the memory. */
WEFT_CHECKED weft_status sgd_check_memory(const sgd_task *sgd);

#endif
