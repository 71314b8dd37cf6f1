/* Whether locks in the directory of a run keep other processes out, on all its hosts.
 * Called when a run starts, and by `weft doctor`. */
#include "locks.h"
#include "weft/file.h"
#include "weft/filenames.h"
#include "weft/log.h"
#include "weft/par.h"

#include <string.h>

weft_status weft_locks_try(const char *dir, weft_team *team, weft_lock *found,
                           weft_arena *mem)
{
    int fd = -1;
    const char *name = weft_arena_text(mem, "%s/" WEFT_LOCK_NAME, dir);
    char *path = weft_file_temp(name, mem);
    weft_bcast(team, path, strlen(path), 0);
    if (team->rank == 0) weft_file_sweep(name, 0);
    weft_lock own = WEFT_LOCK_OWN;
    weft_status st = WEFT_OK;
    if (team->rank == 0) st = weft_disk_hold(path, &fd, &own);
    st = weft_agree(st, team);
    if (team->rank > 0 && st == WEFT_OK) own = weft_disk_meet(path);
    weft_collect(team, &own, sizeof own, found); /* all ranks have tried */
    if (fd >= 0) weft_disk_leave(path, fd);
    return st;
}

int weft_locks_warn(const char *dir, const weft_lock *found,
                    const weft_placement *placement, int size)
{
    for (int r = 0; r < size; r++) {
        if (found[r] == WEFT_LOCK_UNSEEN)
            weft_log(WEFT_WARN,
                     "%s is not the same directory on %s as on %s: keep runs on a file "
                     "system that all hosts share",
                     dir, placement[r].host, placement[0].host);
        else if (found[r] == WEFT_LOCK_SHARED || found[r] == WEFT_LOCK_NONE)
            weft_log(
                WEFT_WARN,
                "locks of files in %s %s: nothing keeps a second process from resuming "
                "a run that another process works on; avoid that, or keep runs elsewhere",
                dir,
                found[r] == WEFT_LOCK_NONE ? "are not supported"
                                           : "do not keep other processes out");
        else
            continue;
        return 1;
    }
    return 0;
}
