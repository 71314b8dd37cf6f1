/* The log lines of a run that starts. */
#ifndef WEFT_RUN_GREET_H
#define WEFT_RUN_GREET_H

#include "host/host.h"
#include "instance.h"

/* Logs ranks and hosts with their memory and disk, and what is searched by what; warns of
 * what makes the run slow or unsafe. Collective over world. */
void weft_run_greet(const weft_run *run, const weft_placement *placement,
                    const char *hosts);

#endif
