/* Worker and team of each job, and when they did it. */
#ifndef WEFT_RESULT_TIMELINE_H
#define WEFT_RESULT_TIMELINE_H

#include "history.h"

/* Writes /timeline. */
WEFT_CHECKED weft_status weft_put_timeline(weft_h5 *file, const weft_history *history);

#endif
