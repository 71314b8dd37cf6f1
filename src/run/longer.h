/* A search that is made longer than it was begun. */
#ifndef WEFT_RUN_LONGER_H
#define WEFT_RUN_LONGER_H

#include "weft/conf.h"
#include "weft/team.h"

/* Checks that the search of the configuration `after`, a text, begins as that of `before`
 * and has more jobs. run: name of its file. ECONF. Collective over world. */
WEFT_CHECKED weft_status weft_run_check_longer(const char *run, const char *before,
                                               const char *after, weft_team *world,
                                               weft_arena *mem);

#endif
