/* Jobs with the usual values. */
#include "weft/job.h"

weft_job weft_job_new(int64_t trial, double resource, const weft_mix *mix)
{
    weft_job job = {.trial = trial,
                    .from = -1,
                    .resource = resource,
                    .feature_fraction = 1,
                    .eligibility = WEFT_WINS_RESOURCE};
    if (mix) job.mix = *mix;
    return job;
}
