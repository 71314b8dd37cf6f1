/* The directory of a run: names in it, its identity, and what to do where it cannot be
 * written. */
#include "rundir.h"
#include "weft/filenames.h"
#include "weft/hash.h"

#include <string.h>

const char *weft_rundir_journal(const char *dir, int team, weft_arena *mem)
{
    if (team == 0) return weft_arena_text(mem, "%s/" WEFT_JOURNAL_NAME, dir);
    return weft_arena_text(mem, "%s/" WEFT_TEAM_NAME, dir, team);
}

void weft_rundir_identify(weft_rundir *rundir, const char *conf)
{
    uint64_t h = weft_hash(conf, strlen(conf), (uint64_t)rundir->began);
    rundir->id = weft_hash(rundir->data, strlen(rundir->data), h);
}

weft_status weft_rundir_stuck(const weft_rundir *rundir, weft_status st)
{
    if (st != WEFT_EFILE) return st;
    return weft_fail(st, "%s; then go on with `weft resume %s`", weft_error(),
                     rundir->path);
}
