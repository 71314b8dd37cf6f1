/* Directories with all that is in them. */
#ifndef WEFT_TREE_H
#define WEFT_TREE_H

#include "weft/status.h"

/* Copies the directory `from` and everything in it to `to`, which may exist if it is empty:
 * contents, modes and times of files, symbolic links as links; no sockets, pipes or
 * devices. EFILE: what was copied so far stays. */
WEFT_CHECKED weft_status weft_tree_copy(const char *from, const char *to);
/* Writes all files in a directory through to the disk (fsync; one syncfs for many), so that
 * they survive a crash of the node. EFILE. */
WEFT_CHECKED weft_status weft_tree_sync(const char *path);
/* Removes a directory and everything in it, as far as permissions allow; does nothing if
 * there is none. Symbolic links are not followed. */
void weft_tree_remove(const char *path);

#endif
