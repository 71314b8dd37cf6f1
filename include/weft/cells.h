/* Cells of an LSTM. */
#ifndef WEFT_CELLS_H
#define WEFT_CELLS_H

#include "weft/real.h"

#include <stddef.h>

/* n samples at one step of time, h units. */
typedef struct weft_cells {
    int n, h;
    real *z; /* [n][ldz] gates, blocks of h columns: input, forget, update, output */
    size_t ldz;
    const real *before; /* [n][ld] cells of the step before; NULL: zeros */
    real *c, *y;        /* [n][ld] cells and outputs */
    size_t ld;
} weft_cells;
/* To row i of z adds plus[i][4h], then
 *     z <- sigmoid, sigmoid, tanh, sigmoid of its blocks i, f, g, o;
 *     c = f before + i g;  y = o tanh(c).
 * Relative error of a function below 4e-7. Hochreiter, Schmidhuber 1997; Gers et al. 2000.
 */
void weft_cells_forward(const weft_cells *cells, const real *const *plus);
/* Backward pass. dy[n][ld] is the gradient with respect to y; dc[n][ld] that with respect
 * to c, on return that with respect to `before`. z is as weft_cells_forward left it, on
 * return the gradient with respect to the sums before sigmoid and tanh. Row i of it is also
 * added to into[i][4h]. y is not read. */
void weft_cells_backward(const weft_cells *cells, const real *dy, real *dc,
                         real *const *into);
/* x[n] <- tanh(x). Relative error below 4e-7. */
void weft_tanh(int n, real *x);

#endif
