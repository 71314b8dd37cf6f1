/* Results of jobs: scores of configurations, packed form. Called by tuners, run and store.
 */
#include "weft/space.h"

#include <math.h>
#include <string.h>

#define ARM_COLUMNS 4 /* arm_loss, arm_wrong, arm_count, z, one after the other */

/* The packed form: the members before the arms, then the columns of the arms. */
enum { HEAD = offsetof(weft_result, arm_loss), NUMBERS = 17 };
_Static_assert(HEAD == NUMBERS * sizeof(double), "the packed members have no gaps");

double weft_result_score(const weft_result *r, int i)
{
    if (!(r->arm_count[i] > 0)) return NAN;
    return (r->by_error ? r->arm_wrong : r->arm_loss)[i] / r->arm_count[i];
}

weft_result weft_result_new(int k, weft_arena *mem)
{
    double *arm = WEFT_NEW(mem, double, ARM_COLUMNS *(size_t)k);
    return (weft_result){.k = k,
                         .arm_loss = arm,
                         .arm_wrong = arm + k,
                         .arm_count = arm + 2 * (size_t)k,
                         .logp = arm + 3 * (size_t)k,
                         .global_loss = NAN,
                         .global_error = NAN,
                         .personal_loss = NAN,
                         .personal_error = NAN};
}

void weft_result_begin(weft_result *r, const weft_job *job)
{
    const size_t k = (size_t)r->k;
    memset(r->arm_loss, 0, k * sizeof(double));
    memset(r->arm_wrong, 0, k * sizeof(double));
    memset(r->arm_count, 0, k * sizeof(double));
    memcpy(r->logp, job->mix.logp, k * sizeof(double));
}

size_t weft_result_bytes(int64_t k)
{
    return HEAD + ARM_COLUMNS * (size_t)k * sizeof(double);
}

void weft_result_pack(const weft_result *r, void *to)
{
    const size_t n = (size_t)r->k * sizeof(double);
    char *at = to;
    memcpy(at, r, HEAD);
    memcpy(at + HEAD, r->arm_loss, n);
    memcpy(at + HEAD + n, r->arm_wrong, n);
    memcpy(at + HEAD + 2 * n, r->arm_count, n);
    memcpy(at + HEAD + 3 * n, r->logp, n);
}

void weft_result_unpack(weft_result *r, const void *from)
{
    const int64_t k = r->k;
    const char *at = from;
    memcpy(r, at, HEAD);
    weft_check(r->k == k, "packed result of %lld configurations, expected %lld",
               (long long)r->k, (long long)k);
    const size_t n = (size_t)k * sizeof(double);
    memcpy(r->arm_loss, at + HEAD, n);
    memcpy(r->arm_wrong, at + HEAD + n, n);
    memcpy(r->arm_count, at + HEAD + 2 * n, n);
    memcpy(r->logp, at + HEAD + 3 * n, n);
}
