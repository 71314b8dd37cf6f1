/* Private to net/: initial weights. */
#ifndef WEFT_NET_INIT_H
#define WEFT_NET_INIT_H

#include "weft/real.h"

#include <stdint.h>

/* w[n], a tensor of a network, uniform in +-bound; keyed by seed, tensor and index. */
void weft_init_uniform(uint64_t seed, int tensor, double bound, int64_t n, real *w);

#endif
