/* Journals: files to which records are appended that survive the end of the process. */
#ifndef WEFT_JOURNAL_H
#define WEFT_JOURNAL_H

#include "weft/arena.h"
#include "weft/status.h"

#include <stddef.h>
#include <stdint.h>

/* A file of framed records: tag, length, checksums, payload. Each is appended by one
 * write(2), so that it survives the end of this process; it survives a crash of the node
 * only after weft_journal_sync. An incomplete record at the end is removed when the journal
 * is opened; damage before whole records is reported and not changed. */
typedef struct weft_journal {
    int fd;
    char *path;
} weft_journal;
typedef struct weft_record {
    uint64_t tag; /* kind of record, not 0; 0: bytes that are not a record */
    size_t bytes;
    const void *data; /* owned by the arena; NULL: damaged */
} weft_record;
/* Opens or makes a journal, locks it, and reads all records. EFILE: not writable, in use,
 * of another kind or version. */
WEFT_CHECKED weft_status weft_journal_open(weft_journal *journal, const char *path,
                                           weft_record **rec, int64_t *n, weft_arena *mem);
/* Opens or makes a journal for appending, without reading it; *fresh 1: it was made, and
 * survives a crash of the node only after a commit (below). EFILE: not writable, in use. */
WEFT_CHECKED weft_status weft_journal_extend(weft_journal *journal, const char *path,
                                             int *fresh, weft_arena *mem);
/* 1 if the file is a journal, of any version, or the beginning of one. */
int weft_journal_is(const char *path);
/* Reads the records of a journal, also while another process writes it; *in_use 1: a
 * process has it open. Does not change the file. EFILE. */
WEFT_CHECKED weft_status weft_journal_read(const char *path, weft_record **rec, int64_t *n,
                                           int *in_use, weft_arena *mem);
/* Removes all records. */
WEFT_CHECKED weft_status weft_journal_clear(weft_journal *journal);
/* Appends one record by one write(2). */
WEFT_CHECKED weft_status weft_journal_add(weft_journal *journal, uint64_t tag,
                                          const void *data, size_t bytes);
/* Writes all records through to the disk (fsync), so that they survive a crash of the
 * node. */
WEFT_CHECKED weft_status weft_journal_sync(weft_journal *journal);
/* Syncs and closes the journal. */
void weft_journal_close(weft_journal *journal);

#endif
