/* The packed form of a job with a mixture, used to compare mixtures. */
#include "weft/space/job.h"

#include "tap.h"

static const void *packed(const weft_mix *mix, size_t *n)
{
    weft_job job = weft_job_new(0, 1, mix);
    return weft_job_pack(&job, n, mem);
}
