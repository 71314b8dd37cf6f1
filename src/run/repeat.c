/* Whether the programs that do a run, such as workers, repeat what they do: `weft doctor
 * INPUT.ini`. */
#include "setup.h"
#include "weft/run.h"

#include <stdio.h>

static weft_status repeat(weft_run *run)
{
    int tried = 0, differ = 0;
    if (run->task->repeats) TRY(run->task->repeats(run->task_self, &tried, &differ));
    if (tried == 0)
        return weft_fail(WEFT_ECONF, "no programs but weft do this run, so that there is "
                                     "nothing to try; choose fed.model = worker");
    if (run->world->rank > 0) return WEFT_OK;
    int ranks = run->world->size;
    printf("workers   %d turns, each done twice on %d rank%s: ", tried, ranks,
           ranks > 1 ? "s" : "");
    if (differ == 0)
        printf("the same bits\n");
    else
        printf("OTHER BITS in %d; a digest is that of one run on this machine only\n",
               differ);
    return WEFT_OK;
}

weft_status weft_run_repeat(weft_conf *conf, weft_team *world)
{
    weft_arena *mem = weft_arena_new();
    weft_run run;
    weft_status st = weft_run_bind(&run, conf, 1, world, mem);
    if (st == WEFT_OK) st = weft_run_open(&run, run.opts.data);
    if (st == WEFT_OK) st = repeat(&run);
    weft_run_close(&run);
    weft_arena_free(mem);
    return st;
}
