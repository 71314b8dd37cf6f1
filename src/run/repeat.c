/* Whether the programs that do a run repeat what they do: `weft doctor
 * INPUT.ini`. */
#include "setup.h"
#include "weft/file.h"
#include "weft/filenames.h"
#include "weft/run.h"

#include <stdio.h>
#include <stdlib.h>

static weft_status repeat(weft_run *run)
{
    const char *told = NULL, *above = getenv("TMPDIR");
    const char *name =
        weft_arena_text(run->mem, "%s/" WEFT_DOCTOR_NAME, above && *above ? above : "/tmp");
    const char *place = weft_file_temp(name, run->mem);
    if (run->world->rank == 0) weft_file_sweep(name, 0);
    if (run->task->repeats) TRY(run->task->repeats(run->task_self, place, &told));
    if (!told)
        return weft_fail(WEFT_ECONF, "no programs but weft do this run, so that there is "
                                     "nothing to try; choose fed.model = worker or "
                                     "run.task = command");
    if (run->world->rank == 0) printf("%s\n", told);
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
