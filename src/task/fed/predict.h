/* Predictions of single rows by the models of clients. */
#ifndef WEFT_TASK_FED_PREDICT_H
#define WEFT_TASK_FED_PREDICT_H

#include "fed.h"

/* weft_task.predict: probabilities of the classes of all samples of a part, client after
 * client, with their labels and the numbers of their clients: by the model that each client
 * has before its turn. The note says how many were never trained, known
 * to the first rank. ECONF: the network answers no
 * single rows; EFILE, EDATA. Collective. */
WEFT_CHECKED weft_status fed_predict(void *self, const weft_job *job,
                                     const weft_state *state, weft_part part,
                                     weft_predictions *out, weft_arena *mem);

/* 1: it can. */
int fed_answers(const fed_task *fed);
/* 1: fed.score is a measure of all validation samples together; sets res->loss to it at the
 * end of a job, of the weights before training. EFILE, EDATA. Collective. */
int fed_is_joint(const fed_task *fed);
WEFT_CHECKED weft_status fed_judge_all(fed_task *fed, const weft_job *job,
                                       const weft_state *state, weft_result *res);

/* How good these answers are, into metric[4] and *confusion, which lasts as the task;
 * nothing where the scores are of some clients or samples alone, of characters, of more
 * than 2^20 samples, or of answers that fed_predict does not give. EFILE, EDATA.
 * Collective. */
WEFT_CHECKED weft_status fed_judge(fed_task *fed, const weft_job *job,
                                   const weft_state *state, weft_part part, double *metric,
                                   const double **confusion);

#endif
