/* Plain files, which appear complete or not at all, and names of files. The only failure
 * is EFILE. */
#ifndef WEFT_FILE_H
#define WEFT_FILE_H

#include "weft/arena.h"
#include "weft/status.h"

#include <stddef.h>
#include <stdio.h>

/* The name under which this process writes `path`, which ends with WEFT_TEMP_NAME and has
 * the same length for every process. Owned by mem. */
char *weft_file_temp(const char *path, weft_arena *mem);
/* What such a name has for the host: a number of its name and of its processes' numbers,
 * which containers have of their own. */
unsigned weft_file_host(void);
/* Removes what killed processes have left beside `path`, which they were writing: if
 * `locked`, where only who has a lock writes, and the caller has it, all but its own, also
 * of processes that end only now; else those of this host whose process has ended. Cost: a
 * look at the directory. */
void weft_file_sweep(const char *path, int locked);

/* Writes a file through a temporary file, fsync and rename; reads exactly `bytes` bytes of
 * a file. EFILE. */
WEFT_CHECKED weft_status weft_file_put(const char *path, const void *data, size_t bytes);
WEFT_CHECKED weft_status weft_file_load(const char *path, void *data, size_t bytes);
/* The same with n parts, one after the other: part i is bytes[i] bytes at at[i]. */
WEFT_CHECKED weft_status weft_file_put_parts(const char *path, int n, const void *const *at,
                                             const size_t *bytes);
WEFT_CHECKED weft_status weft_file_load_parts(const char *path, int n, void *const *at,
                                              const size_t *bytes);
/* Like weft_file_put_parts, but without fsync: until weft_file_sync a crash of the node can
 * lose or damage the file. EFILE. */
WEFT_CHECKED weft_status weft_file_put_lazy(const char *path, int n, const void *const *at,
                                            const size_t *bytes);
/* A text that appears complete or not at all: created, written to `file`, checked now and
 * then for errors, committed; closed in any case. EFILE. */
typedef struct weft_text {
    FILE *file; /* NULL: not open */
    const char *path, *temp;
} weft_text;
WEFT_CHECKED weft_status weft_text_create(weft_text *text, const char *path,
                                          weft_arena *mem);
WEFT_CHECKED weft_status weft_text_check(const weft_text *text);
WEFT_CHECKED weft_status weft_text_commit(weft_text *text);
/* Removes what was written, unless it was committed. */
void weft_text_close(weft_text *text);
/* Syncs a file, or the entries of a directory, if it still exists, so that it survives a
 * crash of the node. EFILE. */
WEFT_CHECKED weft_status weft_file_sync(const char *path);
/* Tests that a file of that name can be written, by making and removing its temporary file.
 * EFILE: the name is empty, too long or that of a directory, or the directory is missing or
 * not writable. */
WEFT_CHECKED weft_status weft_file_try(const char *path);
/* 1 if something has that name. */
int weft_file_is(const char *path);
/* The directory that a file of that name is in: "." where the name has no slash. Owned by
 * mem. */
const char *weft_file_dir(const char *path, weft_arena *mem);
/* 1 if both names are of the same file, also through links. */
int weft_file_same(const char *a, const char *b);
/* Opens a new file without a name, for reading and writing, in the directory of `beside`:
 * it ends with its descriptor. EFILE. */
WEFT_CHECKED weft_status weft_file_scratch(const char *beside, int *fd);
/* Makes *path "/dev/stdin" where it is "-" or that, and standard input a file that can be
 * read from its beginning, several times: that of a pipe is copied to a file without a name
 * in the directory of `beside`. EFILE, also where that is empty, or *path another pipe.
 * Cost: its bytes, on disk. */
WEFT_CHECKED weft_status weft_file_source(const char **path, const char *beside);

#endif
