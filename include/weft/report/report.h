/* Run files as text, CSV or JSON. */
#ifndef LIBWEFT_REPORT_REPORT_H
#define LIBWEFT_REPORT_REPORT_H

#include "weft/base/base.h"

typedef enum weft_style { WEFT_TABLE, WEFT_CSV, WEFT_JSON } weft_style;
/* Prints the results of n runs, finished or not, in a style; trials 1: a row for each of
 * their trials, as CSV or JSON. EFILE. */
WEFT_CHECKED weft_status weft_report(const char *const *run, int n, weft_style style,
                                     int trials);
/* Prints which axis of the search space the results of each of n runs depend on, as a table
 * or as CSV. The results are those at the largest resource that 30 jobs reached, or else at
 * the one that most did: losses of different resources are not compared; of a mixture of
 * configurations their scores. Those that failed count as the worst other.
 *     share, low, high  of the variance of the loss over the space, which is uniform on the
 *                       ranges (on logarithms of log ones), by fANOVA on a forest of 64
 *                       trees: mean and quantiles 0.05 and 0.95 over these
 *     best              share of the axis in what tells the best tenth from all: PED-ANOVA
 *     explained         1 - squared errors of the forest at results that its trees have
 *                       not seen, over those of their mean
 * An axis that a configuration does not have has a place at random there, on which its loss
 * does not depend; the values of a list or a grid count alike. Methods and papers:
 * weft/math/anova.h. As CSV it has rows with a value, too, for up to 50 places
 * of each axis: the mean loss there over all other axes, and its quantiles. The same bits
 * everywhere. EFILE. Cost of 8 axes 0.02 s of a core for 200 results, 0.3 s for 2048, to
 * which more are thinned out. */
WEFT_CHECKED weft_status weft_importance_print(const char *const *run, int n, int csv);
/* Prints the contents of an HDF5 file of weft. EFILE. */
WEFT_CHECKED weft_status weft_info(const char *path);
/* Draws which classes the clients of a packed federation have, at most 200 clients and 200
 * classes, as SVG. EFILE, EDATA; ECONF: there are no clients. Cost O(their samples). */
WEFT_CHECKED weft_status weft_picture(const char *path, const char *out);
/* EFILE: `out` exists, and is not to be replaced; force 1: a picture of weft's may be. */
WEFT_CHECKED weft_status weft_picture_check(const char *out, int force);

#endif
