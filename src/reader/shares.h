/* How the samples of a client, or the clients, are divided into train, valid and test.
 * Private to reader. */
#ifndef WEFT_READER_SHARES_H
#define WEFT_READER_SHARES_H

#include "weft/status.h"

#include <stdint.h>

/* Choices of an option "rule". */
enum { WEFT_RULE_SHARES, WEFT_RULE_LEAF };

typedef struct weft_shares {
    double valid, test;
    int rule; /* WEFT_RULE_LEAF: train and test only; valid is not read */
} weft_shares;

/* ECONF where valid and test leave nothing for training. */
WEFT_CHECKED weft_status weft_shares_check(const weft_shares *shares);
/* Sizes of the parts of n samples in a row, `gap` of which are left out between two parts
 * that are wanted. Returns 1 where each part that has a share has a sample. By shares, the
 * parts share what the gaps leave; by LEAF's rule the gap is taken from the test. */
int weft_shares_count(const weft_shares *shares, int64_t n, int64_t gap, int64_t *count);
/* Logs how many users had to be left out, if any. */
void weft_shares_log(int64_t left, int64_t gap);

#endif
