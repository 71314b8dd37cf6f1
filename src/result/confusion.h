/* The confusion matrix of a winner: in files, and as people read it. */
#ifndef WEFT_RESULT_CONFUSION_H
#define WEFT_RESULT_CONFUSION_H

#include "weft/h5.h"

/* Of the test part. */
typedef struct weft_confusion {
    int64_t classes;         /* 0: there is none */
    const char *const *name; /* [classes] */
    const double *rows;      /* [classes][classes] as weft_quality.confusion */
} weft_confusion;

/* /winner/confusion, of the classes /winner/class; nothing where there is none. EFILE. */
WEFT_CHECKED weft_status weft_confusion_put(const weft_confusion *confusion, weft_h5 *file);
WEFT_CHECKED weft_status weft_confusion_read(weft_confusion *confusion, weft_h5 *file);
/* Where the mean over the classes of the shares that are right is not above that of
 * guesses, 1 / classes, by more than 1.96 of its standard errors or two points: a text of
 * both, owned by mem; else NULL, and where there are fewer than two classes. */
const char *weft_confusion_guess(const weft_confusion *confusion, weft_arena *mem);
/* To stdout, if there are at most 12 classes. */
void weft_confusion_print(const weft_confusion *confusion);

#endif
