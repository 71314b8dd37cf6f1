/* What is to be said of rows. Private to data. */
#ifndef WEFT_DATA_ANSWERS_H
#define WEFT_DATA_ANSWERS_H

#include "weft/data.h"

/* The first row of a part that is open, among those of the file. */
int64_t weft_window_first(const weft_data *data, int part);
/* Reads sizes and labels, or targets, and weights of this rank's rows of a part. EFILE;
 * EDATA. */
WEFT_CHECKED weft_status weft_answers_read(weft_data *data, int part);
/* Reads the groups of this rank's rows, once the sizes of all parts are known. EFILE;
 * EDATA. */
WEFT_CHECKED weft_status weft_answers_groups(weft_data *data);
/* Sets `counts` of all parts, where rows have weights. Collective over data->team. */
void weft_answers_count(weft_data *data);

#endif
