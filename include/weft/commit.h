/* Group commit: a journal, and other files, are made durable in the background. */
#ifndef WEFT_COMMIT_H
#define WEFT_COMMIT_H

#include "weft/journal.h"

/* Writes a journal, and other files, through to the disk in the background: a second after
 * the last commit, or ten times as long as that took, if this is longer, everything that
 * was asked for by then is committed together: first the files, then the journal. A thread
 * does this, so that the caller does not wait for the disk; if no thread can be made, the
 * caller commits in weft_commit_soon. To be used by one thread. */
typedef struct weft_commit weft_commit;
/* For a journal, which must stay open until weft_commit_end. Owned by mem. */
weft_commit *weft_commit_begin(weft_journal *journal, weft_arena *mem);
/* Adds a file or directory to the next commit; if it does not exist any more then, it is
 * passed over. */
void weft_commit_file(weft_commit *commit, const char *path);
/* Removes a file or directory after the next commit. */
void weft_commit_remove(weft_commit *commit, const char *path);
/* Asks for a commit of all records, files and removals so far, and returns at once. EFILE:
 * an earlier commit failed; then there are no further ones. */
WEFT_CHECKED weft_status weft_commit_soon(weft_commit *commit);
/* The same, and waits until it is done. EFILE: likewise. */
WEFT_CHECKED weft_status weft_commit_now(weft_commit *commit);
/* Ends the thread, after the commit that it is doing; what was added since is not
 * committed, and not removed. EFILE: a commit failed. */
WEFT_CHECKED weft_status weft_commit_end(weft_commit *commit);

#endif
