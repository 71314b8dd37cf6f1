/* What the files of the accountant share. */
#ifndef WEFT_PRIVACY_PRIVACY_H
#define WEFT_PRIVACY_PRIVACY_H

#include "weft/privacy/accounting.h"

/* log(1 - q + q r(x)), r(x) = exp((2 x - 1) / (2 s^2)) with s the noise: the privacy loss
 * at x of the mixture (1 - q) N(0, s^2) + q N(1, s^2) beside N(0, s^2), without overflow.
 */
double weft_loss_at(double q, double noise, double x);
/* The epsilon at delta of n kinds of releases with Poisson sampling, by their privacy loss
 * distributions; NAN where these need too many points. */
double weft_epsilon_loss(int n, const weft_release *release, double delta, weft_arena *tmp);

#endif
