/* What the files of the accountant share. */
#ifndef WEFT_PRIVACY_PRIVACY_H
#define WEFT_PRIVACY_PRIVACY_H

#include "weft/privacy/accounting.h"

/* The epsilon at delta of n kinds of releases with Poisson sampling, by their privacy loss
 * distributions; NAN where these need too many points. */
double weft_epsilon_loss(int n, const weft_release *release, double delta, weft_arena *tmp);

#endif
