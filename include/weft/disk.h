/* File systems: their type, space and speed, and whether locks work on them. */
#ifndef WEFT_DISK_H
#define WEFT_DISK_H

#include "weft/status.h"

enum { WEFT_DISK_TYPE = 64 };
typedef struct weft_disk {
    char type[WEFT_DISK_TYPE]; /* "ext4", "nfs4", "lustre"; "" unknown */
    double free;               /* bytes */
} weft_disk;
/* Type and free space of the file system of a directory. EFILE. */
WEFT_CHECKED weft_status weft_disk_look(const char *dir, weft_disk *disk);
/* Five times writes a file of 1 MB in the way states are written, reads it back and removes
 * it. *seconds: median time until it was synced and renamed. EFILE: not writable, or the
 * contents read differ from those written. */
WEFT_CHECKED weft_status weft_disk_write(const char *path, double *seconds);

/* What a process finds when it tries to lock a file that another has just made and
 * locked. */
typedef enum weft_lock {
    WEFT_LOCK_OWN,    /* this process itself holds the lock */
    WEFT_LOCK_KEPT,   /* the lock is refused: locks work */
    WEFT_LOCK_SHARED, /* the lock is granted too: locks do not work between these
                         processes */
    WEFT_LOCK_NONE,   /* the file system does not support locks */
    WEFT_LOCK_UNSEEN  /* the file is not visible after 5 seconds */
} weft_lock;
/* Makes a file and locks it, until weft_disk_leave is called with *fd. *found: OWN or NONE.
 * EFILE. */
WEFT_CHECKED weft_status weft_disk_hold(const char *path, int *fd, weft_lock *found);
/* Releases the lock and removes the file. */
void weft_disk_leave(const char *path, int fd);
/* Tries, from another process, to lock the file of weft_disk_hold. Waits up to 5 s for the
 * file to become visible. */
weft_lock weft_disk_meet(const char *path);

#endif
