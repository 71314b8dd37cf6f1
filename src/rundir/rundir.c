/* The directory of a run: names in it, its identity, and what to do where it cannot be
 * written. */
#include "rundir.h"

#include <string.h>

const char *weft_trace_journal(const char *dir, int team, weft_arena *mem)
{
    if (team == 0) return weft_arena_text(mem, "%s/journal", dir);
    return weft_arena_text(mem, "%s/journal-%d", dir, team);
}

void weft_trace_identify(weft_trace *t, const char *conf)
{
    uint64_t h = weft_hash(conf, strlen(conf), (uint64_t)t->began);
    t->id = weft_hash(t->data, strlen(t->data), h);
}

weft_status weft_trace_stuck(const weft_trace *t, weft_status st)
{
    if (st != WEFT_EFILE) return st;
    return weft_fail(st, "%s; then go on with `weft resume %s`", weft_error(), t->path);
}
