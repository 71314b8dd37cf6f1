/* Logistic losses: of several outputs side by side, and of softmax. */
#ifndef WEFT_LOGISTIC_H
#define WEFT_LOGISTIC_H

#include "weft/real.h"

/* A step of dual coordinate ascent for one row in n outputs, whose dual variables a[n] are
 * 0..c:
 *     a_k <- argmin over t of 1/2 q (t - a_k)^2 + m_k (t - a_k) + conj(t),
 *     conj(t) = t log(t/c) + (c - t) log(1 - t/c),
 * to 1e-7 of t and c - t, or 1e-15 c, within 1e-14 c .. (1 - 1e-14) c.
 * n      a multiple of 8; each output has its own result, whatever the others are
 * q      at least 0, the row's squared length
 * m      [n] margins; the result where one is NaN is undefined
 * share  [n] out: half of (a_k - p_k) (log(a_k / (c - a_k)) + m_k), p_k = c / (1 +
 * exp(m_k)), for the a_k given, which is the row's part of the duality gap, c log(1 +
 * exp(-m_k))
 *        + conj(a_k) + a_k m_k, up to terms of third order in a_k - p_k; c where a_k = 0
 * Same bits on all CPUs. */
void weft_logistic_best(int n, double c, double q, const double *m, double *a,
                        double *share);
/* conj[n] <- conj(a_k), with a_k cut to 1e-14 c .. (1 - 1e-14) c, and loss[n] <- c log(1 +
 * exp(-m_k)); errors are below 1e-15 of c (1 + |m_k|). n is a multiple of 8. Same bits on
 * all CPUs. */
void weft_logistic_terms(int n, double c, const double *m, const double *a, double *conj,
                         double *loss);

/* Softmax of z[c]: e[c] = exp(z - top), *sum their sum in the order of z; returns log *sum.
 * top is the largest of z; e may be z, or NULL. NaN in z is NaN in the sum; what is below
 * top by more than 700 counts as 700. Errors below 1e-15. Same bits on all CPUs and with
 * all libraries. */
double weft_softmax_terms(int c, const real *z, double top, real *e, double *sum);
/* The same for many classes, several times as fast: exponentials are those of reals, with
 * relative errors below 4e-7 for floats, where what is below the top by more than 87 counts
 * as 87. *top is the largest of z[c], c > 0; *sum is in 16 parts, in double. */
double weft_softmax_many(int c, const real *z, real *e, double *top, double *sum);

#endif
