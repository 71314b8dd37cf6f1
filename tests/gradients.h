/* Gradients of a network, compared tensor by tensor. */
#ifndef GRADIENTS_H
#define GRADIENTS_H

#include "weft/net/net.h"

#include <math.h>

/* The largest |a - b| / |b| of a tensor of two gradients of n numbers. */
static inline double worst_tensor(const weft_net *net, const void *self, int64_t n,
                                  const real *a, const real *b)
{
    weft_tensor tensor[WEFT_MAX_TENSORS];
    int ntensor = net->tensors(self, tensor);
    double most = 0;
    for (int k = 0; k < ntensor; k++) {
        int64_t end = k + 1 < ntensor ? tensor[k + 1].at : n;
        double off = 0, norm = 0;
        for (int64_t i = tensor[k].at; i < end; i++) {
            off += ((double)a[i] - (double)b[i]) * ((double)a[i] - (double)b[i]);
            norm += (double)b[i] * (double)b[i];
        }
        off = sqrt(off / norm);
        if (!(off <= most)) most = off;
    }
    return most;
}

#endif
