/* The records of a journal. */
#include "records.h"
#include "weft/job.h"

int weft_record_is_job(const weft_record *record, int64_t *id)
{
    return record->tag >= TAG_JOB && record->data &&
           weft_job_record_is(record->data, record->bytes, id) &&
           record->tag - TAG_JOB == (uint64_t)*id;
}

const char *weft_record_text(const weft_record *record)
{
    const char *text = record->data;
    return text && record->bytes > 0 && text[record->bytes - 1] == '\0' ? text : NULL;
}
