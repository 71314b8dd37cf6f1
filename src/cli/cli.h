/* The parsed command line, and the commands. */
#ifndef WEFT_CLI_H
#define WEFT_CLI_H

#include "weft/par/team.h"

typedef struct weft_cli {
    weft_team *world;
    weft_arena *mem;
    const char *output; /* -o, or NULL */
    const char *data;   /* --data, --plan-for: a packed file; or NULL */
    const char *plot;   /* --plot: the picture to write, or NULL */
    int plan, force, retry, csv, json, trials, importance, ini;
    int n;
    char **arg; /* [n] arguments that are not options */
} weft_cli;

/* Prints the plug-ins, or an input file with all their options. */
WEFT_CHECKED weft_status weft_cli_list(const weft_cli *cli);
/* The plan for a packed file: weft_run_default. EDATA if it is not packed. Collective. */
WEFT_CHECKED weft_status weft_cli_plan_for(const weft_cli *cli, const char *data,
                                           const char **text);
WEFT_CHECKED weft_status weft_cli_pack(const weft_cli *cli);
WEFT_CHECKED weft_status weft_cli_tune(const weft_cli *cli);
WEFT_CHECKED weft_status weft_cli_resume(const weft_cli *cli);
WEFT_CHECKED weft_status weft_cli_serve(const weft_cli *cli);
WEFT_CHECKED weft_status weft_cli_eval(const weft_cli *cli);
WEFT_CHECKED weft_status weft_cli_predict(const weft_cli *cli);
WEFT_CHECKED weft_status weft_cli_export(const weft_cli *cli);
WEFT_CHECKED weft_status weft_cli_report(const weft_cli *cli);
WEFT_CHECKED weft_status weft_cli_info(const weft_cli *cli);
WEFT_CHECKED weft_status weft_cli_doctor(const weft_cli *cli);

#endif
