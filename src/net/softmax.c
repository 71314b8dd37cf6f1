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

void weft_softmax_smooth(int c, const real *z, int label, double share, double smoothing,
                         real *dz, weft_score *score)
{
    real own = z[label];
    int better = 0;
    double top, sum;
    for (int j = 0; j < label; j++) better |= z[j] >= own;
    for (int j = label + 1; j < c; j++) better |= z[j] > own;
    double loss = weft_softmax_many(c, z, dz, &top, &sum) + top - (double)own;
    score->loss += loss;
    score->wrong += better || isnan(loss);
    score->count++;
    if (!dz) return;
    real times = (real)(share / sum), each = (real)(share * smoothing / c);
    for (int j = 0; j < c; j++) dz[j] = dz[j] * times - each;
    dz[label] -= (real)(share * (1 - smoothing));
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
