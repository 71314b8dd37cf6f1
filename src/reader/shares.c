/* Dividing consecutive samples into train, valid and test. */
#include "shares.h"
#include "weft/log.h"
#include "weft/sample.h"

#include <math.h>

weft_status weft_shares_check(const weft_shares *shares)
{
    double valid = shares->rule == WEFT_RULE_LEAF ? 0 : shares->valid;
    if (valid + shares->test < 1) return WEFT_OK;
    return weft_fail(WEFT_ECONF,
                     "valid = %g and test = %g leave nothing for training; their sum must "
                     "be below 1",
                     valid, shares->test);
}

/* LEAF's data/utils/split_data.py, with its gap for text. */
static int by_leaf(double test, int64_t n, int64_t gap, int64_t *count)
{
    int64_t train = (int64_t)floor((1 - test) * (double)n);
    if (train < 1 || n == 2) train = 1;
    if (n < 2 || n - train <= gap) return 0;
    count[WEFT_TRAIN] = train;
    count[WEFT_TEST] = n - train - gap;
    return 1;
}

int weft_shares_count(const weft_shares *shares, int64_t n, int64_t gap, int64_t *count)
{
    for (int i = 0; i < WEFT_NPART; i++) count[i] = 0;
    if (shares->rule == WEFT_RULE_LEAF) return by_leaf(shares->test, n, gap, count);
    int64_t rest = n - gap * ((shares->valid > 0) + (shares->test > 0));
    if (rest < 1) return 0;
    count[WEFT_VALID] = llround((double)rest * shares->valid);
    count[WEFT_TEST] = llround((double)rest * shares->test);
    count[WEFT_TRAIN] = rest - count[WEFT_VALID] - count[WEFT_TEST];
    return count[WEFT_TRAIN] > 0 && (shares->valid <= 0 || count[WEFT_VALID] > 0) &&
           (shares->test <= 0 || count[WEFT_TEST] > 0);
}

void weft_shares_log(int64_t left, int64_t gap)
{
    if (left > 0)
        weft_log(WEFT_INFO,
                 "%lld users are left out, for one of their parts would be empty (%lld "
                 "samples lie between two parts)",
                 (long long)left, (long long)gap);
}
