/* The records of a journal. */
#ifndef WEFT_RUNDIR_RECORDS_H
#define WEFT_RUNDIR_RECORDS_H

#include "weft/journal.h"

/* Tags of the records of a journal; that of job i is TAG_JOB + i. */
enum {
    TAG_CONF = 1,
    TAG_ABOUT,
    TAG_BEGUN,
    TAG_DONE,
    TAG_RUN,
    TAG_TABLES,
    TAG_TIME,
    TAG_DIRECTORY,
    TAG_RETRY,
    TAG_GROWN, /* the configuration of a run that was given more */
    TAG_VOID,  /* of no journal: a record that does not count */
    TAG_JOB = 16
};

/* 1 if the record is of a job that is done; *id is that of the job. */
int weft_record_is_job(const weft_record *record, int64_t *id);

/* The text of a record, which ends with NUL; NULL where it does not, or is damaged. */
const char *weft_record_text(const weft_record *record);

#endif
