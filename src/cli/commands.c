/* The commands except `list`: each passes its arguments to the layer that does the work. */
#include "cli.h"
#include "host/doctor.h"
#include "result/unfinished.h"
#include "rundir/formats.h"
#include "weft/pack.h"
#include "weft/registry.h"
#include "weft/run.h"

#include <string.h>
#include <unistd.h>

/* Runs a command on rank 0 only; all ranks return its status. Collective. */
static weft_status by_root(const weft_cli *c, weft_status (*work)(const weft_cli *c))
{
    return weft_agree(c->world->rank == 0 ? work(c) : WEFT_OK, c->world);
}

/* The name without its directory, if asked, and without its ending. */
static const char *stem(const weft_cli *c, const char *path, const char *ending, int base)
{
    const char *slash = strrchr(path, '/');
    if (base && slash) path = slash + 1;
    size_t n = strlen(path), e = strlen(ending);
    size_t keep = n > e && strcmp(path + n - e, ending) == 0 ? n - e : n;
    return weft_arena_text(c->mem, "%.*s", (int)keep, path);
}

static weft_status pack(const weft_cli *c)
{
    const weft_reader *reader;
    TRY(weft_reader_find(c->arg[0], &reader));
    if (!c->output)
        return weft_fail(WEFT_ECONF,
                         "pack needs the name of the file to write: -o FILE.h5");
    void *self;
    weft_partition over;
    TRY(weft_pack_options(reader, c->n - 2, (const char *const *)c->arg + 2, &self, &over,
                          c->mem));
    TRY(weft_h5_replace(c->output, WEFT_DATA_FORMAT, c->force));
    return weft_pack_file(reader, self, &over, c->arg[1], c->output, c->mem);
}

weft_status weft_cli_pack(const weft_cli *c)
{
    return by_root(c, pack);
}

/* ECONF if an assignment stands where the name of a file is expected. */
static weft_status file_comes_first(const weft_cli *c, const char *name)
{
    if (!strchr(c->arg[0], '=') || access(c->arg[0], F_OK) == 0) return WEFT_OK;
    return weft_fail(WEFT_ECONF,
                     "%s: %s is expected first, and there is no file of this name; "
                     "section.key=value follows it",
                     c->arg[0], name);
}

static weft_status read_input(const weft_cli *c, weft_conf *conf)
{
    weft_conf_init(conf, c->mem);
    TRY(file_comes_first(c, "INPUT.ini"));
    TRY(weft_conf_read(conf, c->arg[0]));
    for (int i = 1; i < c->n; i++) TRY(weft_conf_set(conf, c->arg[i]));
    const char *output = c->output;
    if (!output && !weft_conf_find(conf, "run", "output"))
        output = weft_arena_text(c->mem, "%s-run.h5", stem(c, c->arg[0], ".ini", 1));
    if (output) TRY(weft_conf_set(conf, weft_arena_text(c->mem, "run.output=%s", output)));
    return WEFT_OK;
}

/* The table of a run that is complete, by rank 0, if it ended with status `end`, which is
 * returned. Collective. */
static weft_status show(const weft_cli *c, const char *run, weft_status end)
{
    if (end != WEFT_OK && end != WEFT_ENONE) return end;
    const char *text = weft_arena_text(c->mem, "%s", weft_error());
    weft_status st = c->world->rank == 0 ? weft_report(&run, 1, WEFT_TABLE) : WEFT_OK;
    TRY(weft_agree(st, c->world));
    weft_error_set(text);
    return end;
}

weft_status weft_cli_tune(const weft_cli *c)
{
    weft_conf conf;
    TRY(weft_agree(read_input(c, &conf), c->world));
    if (c->plan) return weft_run_plan(&conf, c->world);
    weft_status st = weft_run_tune(&conf, c->force, c->world);
    return show(c, weft_conf_find(&conf, "run", "output")->value, st);
}

weft_status weft_cli_resume(const weft_cli *c)
{
    TRY(weft_agree(file_comes_first(c, "RUN.h5"), c->world));
    weft_status st = weft_run_resume(c->arg[0], c->retry, c->n - 1, c->arg + 1, c->world);
    return show(c, c->arg[0], st);
}

weft_status weft_cli_eval(const weft_cli *c)
{
    return weft_run_eval(c->arg[0], c->arg[1], c->world);
}

static weft_status export(const weft_cli *c)
{
    const char *out = c->output;
    if (!out) out = weft_arena_text(c->mem, "%s-winner.h5", stem(c, c->arg[0], ".h5", 0));
    TRY(weft_h5_replace(out, WEFT_WINNER_FORMAT, c->force));
    return weft_run_export(c->arg[0], out);
}

weft_status weft_cli_export(const weft_cli *c)
{
    return by_root(c, export);
}

/* What there is of an unfinished run, as a file. */
static weft_status save_report(const weft_cli *c)
{
    if (c->n != 1 || c->csv || c->json)
        return weft_fail(WEFT_ECONF, "report -o writes one run, and neither CSV nor JSON");
    if (!weft_run_is_unfinished(c->arg[0]))
        return weft_fail(WEFT_ECONF,
                         "%s is no unfinished run: a run file is there already, "
                         "or no journal of one",
                         c->arg[0]);
    TRY(weft_h5_replace(c->output, WEFT_RUN_FORMAT, c->force));
    return weft_run_snapshot(c->arg[0], c->output, 1);
}

static weft_status report(const weft_cli *c)
{
    if (c->output) return save_report(c);
    const char **run = WEFT_NEW(c->mem, const char *, c->n);
    for (int i = 0; i < c->n; i++) run[i] = c->arg[i];
    return weft_report(run, c->n, c->json ? WEFT_JSON : c->csv ? WEFT_CSV : WEFT_TABLE);
}

weft_status weft_cli_report(const weft_cli *c)
{
    return by_root(c, report);
}

static weft_status info(const weft_cli *c)
{
    return weft_info(c->arg[0]);
}

weft_status weft_cli_info(const weft_cli *c)
{
    return by_root(c, info);
}

weft_status weft_cli_doctor(const weft_cli *c)
{
    return weft_doctor(c->n > 0 ? c->arg[0] : ".", c->world);
}
