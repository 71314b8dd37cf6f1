/* Translations of the pairs' sources, and their scores. */
#ifndef WEFT_TASK_SGD_TRANSLATE_H
#define WEFT_TASK_SGD_TRANSLATE_H

#include "sgd.h"
#include "weft/scores.h"

/* Translates the sources of a part, which have references, by weights w[model->n], and
 * compares them with the texts of the targets. Sets the scores by direction, out->members,
 * and of out->metric those of `bleu` and `chrf`, means over the directions that have pairs.
 * Collective. */
void sgd_translations_score(const sgd_task *sgd, const sgd_model *model, weft_part part,
                            const sgd_rows *rows, const real *w, weft_scores *out);

/* The translations of all rows, equal on all ranks, in mem. Collective. */
void sgd_translations_say(const sgd_task *sgd, const sgd_model *model, weft_part part,
                          const sgd_rows *rows, const real *w, weft_predictions *out,
                          weft_arena *mem);

#endif
