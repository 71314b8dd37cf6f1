/* What task fed measures. */
#ifndef WEFT_TASK_FED_METRICS_H
#define WEFT_TASK_FED_METRICS_H

#include "fed.h"

enum {
    FED_VALID_LOSS,
    FED_VALID_ERROR,
    FED_GLOBAL_LOSS,
    FED_GLOBAL_ERROR,
    FED_PERSONAL_LOSS,
    FED_PERSONAL_ERROR,
    FED_TRAIN_LOSS
};
enum {
    FED_ROW_AFTER_LOSS,
    FED_ROW_BEFORE_LOSS,
    FED_ROW_TRAIN_LOSS,
    FED_ROW_AFTER_ERROR,
    FED_ROW_BEFORE_ERROR,
    FED_ROW_CLIENTS,
    FED_ROW_DIVERGED,
    FED_ROW_DROPPED,
    FED_ROW_SURPLUS,
    FED_ROW_SAMPLES,
    FED_ROW_BYTES,
    FED_ROW_SECONDS,
    FED_ROW_ENERGY,
    FED_ROW_ENTROPY,
    FED_ROW_VALID_LOSS,
    FED_ROW_VALID_ERROR
};
/* The first score of new clients; the first of weft_quality_put. */
enum { FED_NEW_SCORES = 4, FED_QUALITY_SCORES = 8, FED_TRANSLATED_SCORES = 12 };
extern const weft_metric fed_metrics[], fed_rows[], fed_score_table[], fed_client_table[],
    fed_direction_table[]; /* of clients that are directions of sentences */

#endif
