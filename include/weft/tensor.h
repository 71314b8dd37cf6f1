/* Parts of a flat vector of weights. */
#ifndef WEFT_TENSOR_H
#define WEFT_TENSOR_H

#include "weft/real.h"
#include "weft/status.h"

#include <stdint.h>

/* A tensor in the flat weight vector, row-major. */
typedef struct weft_tensor {
    char name[64]; /* "lstm1.weight_hh" */
    int64_t at;    /* offset */
    int nd;
    int64_t dims[4];
} weft_tensor;
#define WEFT_MAX_TENSORS 256

/* Weights of which a batch reads and changes only a few rows, such as the vectors of words:
 * w + at is [rows][d], and the last of the weights. Row i + 1 belongs to word i, row 0 to
 * no word. */
typedef struct weft_table {
    int64_t at, rows;
    int d;
} weft_table;

/* Numbers of n tensors in all. */
int64_t weft_tensors_size(int n, const weft_tensor *tensor);

/* Sets part[ntensor] to 1 for the tensors that `names` lists with commas between them:
 * "last" (those of the last layer, whose names begin like the last tensor's), "all",
 * "none", or names; *n: their numbers in all. ECONF names section and key. */
WEFT_CHECKED weft_status weft_tensors_choose(const char *section, const char *key,
                                             const char *names, int ntensor,
                                             const weft_tensor *tensor,
                                             char part[WEFT_MAX_TENSORS], int64_t *n);
/* Copy the numbers of the tensors chosen from w[n] to packed, and back. */
void weft_tensors_take(const char *part, int ntensor, const weft_tensor *tensor,
                       const real *w, real *packed);
void weft_tensors_put(const char *part, int ntensor, const weft_tensor *tensor,
                      const real *packed, real *w);

#endif
