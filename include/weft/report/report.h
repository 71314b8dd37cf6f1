/* Run files as text, CSV or JSON. */
#ifndef LIBWEFT_REPORT_REPORT_H
#define LIBWEFT_REPORT_REPORT_H

#include "weft/base/base.h"

typedef enum weft_style { WEFT_TABLE, WEFT_CSV, WEFT_JSON } weft_style;
/* Prints the results of n runs, finished or not, in a style; trials 1: a row for each of
 * their trials, as CSV or JSON. EFILE. */
WEFT_CHECKED weft_status weft_report(const char *const *run, int n, weft_style style,
                                     int trials);
/* Prints the contents of an HDF5 file of weft. EFILE. */
WEFT_CHECKED weft_status weft_info(const char *path);
/* Draws which classes the clients of a packed federation have, at most 200 clients and 200
 * classes, as SVG. EFILE, EDATA; ECONF: there are no clients. Cost O(their samples). */
WEFT_CHECKED weft_status weft_picture(const char *path, const char *out);
/* EFILE: `out` exists, and is not to be replaced; force 1: a picture of weft's may be. */
WEFT_CHECKED weft_status weft_picture_check(const char *out, int force);

#endif
