/* The records of a journal. */
#include "records.h"
#include "weft/space.h"

int weft_record_is_job(const weft_record *r, int64_t *id)
{
    return r->tag >= TAG_JOB && r->data && weft_job_record_is(r->data, r->bytes, id) &&
           r->tag - TAG_JOB == (uint64_t)*id;
}

const char *weft_record_text(const weft_record *r)
{
    const char *text = r->data;
    return text && r->bytes > 0 && text[r->bytes - 1] == '\0' ? text : NULL;
}
