/* Files that appear under their name only when they are whole. Private to store. */
#ifndef WEFT_STORE_FILE_H
#define WEFT_STORE_FILE_H

#include "weft/base/base.h"

/* EFILE where the name is empty or a directory's. */
WEFT_CHECKED weft_status weft_file_name(const char *path);

/* Gives the written and closed file `temp` the name `path`: fsync, rename, fsync of the
 * directory. EFILE: `temp` is removed and what had that name stays. */
WEFT_CHECKED weft_status weft_file_publish(const char *temp, const char *path);

/* EFILE "cannot <what> PATH: <reason>; <remedy>" for a failed system call with that errno.
 */
WEFT_CHECKED weft_status weft_file_fail(const char *what, const char *path, int err);

/* What to do about an errno: "free space or choose another directory". */
const char *weft_file_remedy(int err);

/* Reads exactly `bytes` from fd. 0, or the errno. */
int weft_file_read(int fd, void *data, size_t bytes);

/* Locks the whole file for writing, without waiting. 0, or the errno. */
int weft_file_lock(int fd);

/* Makes the entries of the directory that holds `path` durable. 0, or the errno. */
int weft_file_sync_dir(const char *path);

#endif
