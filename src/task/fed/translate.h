/* Translations by the models of clients that are directions. */
#ifndef WEFT_TASK_FED_TRANSLATE_H
#define WEFT_TASK_FED_TRANSLATE_H

#include "fed.h"
#include "weft/scores.h"

/* BLEU and chrF of a part, by the model that each client has before its turn: into those
 * columns of out->members that are the last two of fed_direction_table, and their means
 * into score[2]; nothing where the data are no sentences, and of the train part. EFILE,
 * EDATA. Collective. */
WEFT_CHECKED weft_status fed_translate(fed_task *fed, const weft_job *job,
                                       const weft_state *state, weft_part part,
                                       weft_members *members, double *score);

#endif
