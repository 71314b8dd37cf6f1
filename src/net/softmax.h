/* Private to net/: the loss at the end of a network. */
#ifndef WEFT_SOFTMAX_H
#define WEFT_SOFTMAX_H

#include "weft/net.h"

/* Adds the cross-entropy -log softmax(z)[label] of logits z[c] to *s; NaN counts as a wrong
 * answer. dz = share (softmax(z) - onehot(label)), its gradient, unless NULL; may be z.
 * Cost O(c). */
void weft_softmax(int c, const real *z, int label, double share, real *dz,
                  weft_score *score);

/* The same for many classes, by weft_softmax_many. dz has label smoothing: share
 * (softmax(z)
 * - (1 - smoothing) onehot(label) - smoothing / c); the loss has none. */
void weft_softmax_smooth(int c, const real *z, int label, double share, double smoothing,
                         real *dz, weft_score *score);

/* Adds the squared error, the mean over j of (z[j] - target[j])^2, to loss and wrong of *s.
 * dz[c] = share times its gradient, unless NULL. Cost O(c). */
void weft_squared(int c, const real *z, const double *target, double share, real *dz,
                  weft_score *score);

#endif
