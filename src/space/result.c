/* Results of jobs: scores of configurations, packed form. Called by tuners, run and store.
 */
#include "weft/space.h"

#include <math.h>
#include <string.h>

#define ARM_COLUMNS 4 /* arm_loss, arm_wrong, arm_count, z, one after the other */

/* The packed form: this head, then the columns of the arms. */
typedef struct head {
    int64_t job, trial;
    double resource, loss, valid_loss, valid_error, train_loss, cost, residual, bound,
        global_loss, global_error, personal_loss, personal_error;
    int64_t iterations, by_error, k;
} head;

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
                         .z = arm + 3 * (size_t)k,
                         .global_loss = NAN,
                         .global_error = NAN,
                         .personal_loss = NAN,
                         .personal_error = NAN};
}

size_t weft_result_bytes(int k)
{
    return sizeof(head) + ARM_COLUMNS * (size_t)k * sizeof(double);
}

void weft_result_pack(const weft_result *r, void *to)
{
    const head h = {.job = r->job,
                    .trial = r->trial,
                    .resource = r->resource,
                    .loss = r->loss,
                    .valid_loss = r->valid_loss,
                    .valid_error = r->valid_error,
                    .train_loss = r->train_loss,
                    .cost = r->cost,
                    .residual = r->residual,
                    .bound = r->bound,
                    .global_loss = r->global_loss,
                    .global_error = r->global_error,
                    .personal_loss = r->personal_loss,
                    .personal_error = r->personal_error,
                    .iterations = r->iterations,
                    .by_error = r->by_error,
                    .k = r->k};
    const size_t n = (size_t)r->k * sizeof(double);
    char *at = to;
    memcpy(at, &h, sizeof h);
    memcpy(at + sizeof h, r->arm_loss, n);
    memcpy(at + sizeof h + n, r->arm_wrong, n);
    memcpy(at + sizeof h + 2 * n, r->arm_count, n);
    memcpy(at + sizeof h + 3 * n, r->z, n);
}

void weft_result_unpack(weft_result *r, const void *from)
{
    head h;
    const char *at = from;
    memcpy(&h, at, sizeof h);
    weft_check(h.k == r->k, "packed result of %lld configurations, expected %d",
               (long long)h.k, r->k);
    r->job = h.job;
    r->trial = h.trial;
    r->resource = h.resource;
    r->loss = h.loss;
    r->valid_loss = h.valid_loss;
    r->valid_error = h.valid_error;
    r->train_loss = h.train_loss;
    r->cost = h.cost;
    r->residual = h.residual;
    r->bound = h.bound;
    r->global_loss = h.global_loss;
    r->global_error = h.global_error;
    r->personal_loss = h.personal_loss;
    r->personal_error = h.personal_error;
    r->iterations = (int)h.iterations;
    r->by_error = (int)h.by_error;
    const size_t n = (size_t)r->k * sizeof(double);
    memcpy(r->arm_loss, at + sizeof h, n);
    memcpy(r->arm_wrong, at + sizeof h + n, n);
    memcpy(r->arm_count, at + sizeof h + 2 * n, n);
    memcpy(r->z, at + sizeof h + 3 * n, n);
}
