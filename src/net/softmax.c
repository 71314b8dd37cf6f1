/* Softmax and its cross-entropy. Called by stack.c and lstm_pass.c. */
#include "softmax.h"

#include <math.h>

void weft_softmax(int c, const real *z, int label, double share, real *dz, weft_score *s)
{
    int best = 0;
    for (int j = 1; j < c; j++) best = z[j] > z[best] ? j : best;
    double top = (double)z[best], own = (double)z[label];
    double sum = 0;
    for (int j = 0; j < c; j++) {
        double e = j == best ? top - top + 1 : exp((double)z[j] - top);
        sum += e;
        if (dz) dz[j] = (real)e;
    }
    double loss = log(sum) + top - own;
    s->loss += loss;
    s->wrong += best != label || isnan(loss);
    s->count++;
    if (!dz) return;
    for (int j = 0; j < c; j++) dz[j] *= (real)(share / sum);
    dz[label] -= (real)share;
}
