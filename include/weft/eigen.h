/* Eigenvalues of symmetric matrices. */
#ifndef WEFT_EIGEN_H
#define WEFT_EIGEN_H

#include "weft/arena.h"

/* All eigenvalues value[n], increasing, of the symmetric matrix a[n][n], of which the lower
 * triangle is read; row i of a becomes the eigenvector of value[i], of length 1. Cost
 * about 9 n^3 flops. */
void weft_eigen(int n, double *a, double *value, weft_arena *tmp);
double weft_eigen_bytes(int n); /* bytes of scratch that weft_eigen takes */

#endif
