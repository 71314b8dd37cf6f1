/* Softmax and its cross-entropy; squared error. */
#include "softmax.h"
#include "weft/logistic.h"

#include <math.h>

void weft_softmax(int c, const real *z, int label, double share, real *dz,
                  weft_score *score)
{
    int best = 0;
    for (int j = 1; j < c; j++) best = z[j] > z[best] ? j : best;
    double top = (double)z[best], own = (double)z[label], sum;
    double loss = weft_softmax_terms(c, z, top, dz, &sum) + top - own;
    score->loss += loss;
    score->wrong += best != label || isnan(loss);
    score->count++;
    if (!dz) return;
    real times = (real)(share / sum);
    for (int j = 0; j < c; j++) dz[j] *= times;
    dz[label] -= (real)share;
}

void weft_squared(int c, const real *z, const double *target, double share, real *dz,
                  weft_score *score)
{
    double loss = 0;
    for (int j = 0; j < c; j++) {
        double off = (double)z[j] - target[j];
        loss += off * off / c;
        if (dz) dz[j] = (real)(share * 2 * off / c);
    }
    score->loss += loss;
    score->wrong += loss;
    score->count++;
}
