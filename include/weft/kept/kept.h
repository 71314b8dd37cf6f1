/* What clients keep from turn to turn: a sparse table of n rows, one a client, of `each`
 * numbers, most of which are in files. Only rows that were written exist; the others are
 * zeros. All functions are local, and called by the one process that owns the files. */
#ifndef LIBWEFT_KEPT_KEPT_H
#define LIBWEFT_KEPT_KEPT_H

#include "weft/base/base.h"

/* A version of a table. Its files are layers in a directory of its own, of which the
 * highest one that has a client holds. A copy shares the layers, as hard links, and writes
 * to a new one on top. A row of the last version that was synced is not overwritten before
 * another is durable, so that the files go back to it after a kill at any time. Memory: 17
 * bytes a client, once one has a row. Disk: at most twice the rows, and what changed since
 * the last version that was synced. */
typedef struct weft_kept weft_kept;

/* Which version of its files a state refers to, in two doubles, which are only copied: the
 * sum, modulo 2^64, over clients of a hash of client and row, and the number of writes. */
enum { WEFT_KEPT_MARK = 2 };

/* An empty table, in memory until weft_kept_place. Owned by mem. */
weft_kept *weft_kept_new(int64_t n, int64_t each, weft_arena *mem);
/* Bytes of a row in a file, and of all rows. */
double weft_kept_bytes(int64_t n, int64_t each);
/* From now on an empty table's rows are in files of the directory `dir`. What an earlier
 * process left there stays until the table is written, copied or synced, or is opened by
 * weft_kept_resume. */
void weft_kept_place(weft_kept *kept, const char *dir);
/* That directory; NULL: there is none. */
const char *weft_kept_dir(const weft_kept *kept);
/* Goes on with the version `mark` of its own files. EFILE: they are damaged, or do not have
 * it; the table is then empty. */
WEFT_CHECKED weft_status weft_kept_resume(weft_kept *kept, const double *mark);
/* The version `mark` of the files in another directory: shared where the table has a
 * directory, else to be read there. EFILE. */
WEFT_CHECKED weft_status weft_kept_take(weft_kept *kept, const char *dir,
                                        const double *mark);
/* Rows that are elsewhere, to be read and copied: client[m] have rows 0 .. m-1, those
 * outside the table left out; `read` reads rows first .. first + count - 1 to
 * to[count][each]. mark: what is told of them; a copy computes its own sum. */
typedef weft_status weft_kept_reader(void *of, int64_t first, int64_t count, real *to);
void weft_kept_source(weft_kept *kept, int64_t m, const int64_t *client, const double *mark,
                      weft_kept_reader *read, void *of);
/* Makes a table that of `from`, of as many numbers a client. EFILE. Cost: of the layers if
 * both are in files, else of the rows. */
WEFT_CHECKED weft_status weft_kept_copy(weft_kept *to, const weft_kept *from);
/* Reads the rows of client[m], to[m][each]. EFILE: damaged. */
WEFT_CHECKED weft_status weft_kept_read(const weft_kept *kept, int64_t m,
                                        const int64_t *client, real *to);
/* Writes the rows of client[m], all different, one behind the other at row[m]. EFILE. */
WEFT_CHECKED weft_status weft_kept_write(weft_kept *kept, int64_t m, const int64_t *client,
                                         const real *const *row);
void weft_kept_mark(const weft_kept *kept, double *mark);
/* Writes the version through to the disk, before a state that refers to it is. EFILE. */
WEFT_CHECKED weft_status weft_kept_sync(weft_kept *kept);
/* That state is durable: the version synced before is no longer needed. */
void weft_kept_saved(weft_kept *kept);
/* Paths of its files and directory, which a sync is to write through, in *path; returns
 * their number. Owned by mem. */
int weft_kept_files(const weft_kept *kept, const char ***path, weft_arena *mem);
/* Removes its own directory. NULL allowed. */
void weft_kept_drop(weft_kept *kept);
/* Number of clients that have a row; and these, increasing, from `first` on, at most `most`
 * of them: returns how many. */
int64_t weft_kept_count(const weft_kept *kept);
int64_t weft_kept_clients(const weft_kept *kept, int64_t first, int64_t most,
                          int64_t *client);
/* Numbers of clients, and numbers of each. */
int64_t weft_kept_n(const weft_kept *kept);
int64_t weft_kept_each(const weft_kept *kept);

#endif
