/* `weft list`: the plug-ins that can be chosen by name, with their options; or all of them
 * as an input file. */
#include "cli.h"
#include "sched/sched.h"
#include "weft/pack/pack.h"
#include "weft/registry.h"
#include "weft/task/task.h"

#include <stdio.h>
#include <string.h>

/* The plug-ins of one kind. */
struct shelf {
    const char *name;             /* "tuners" */
    const weft_kind *const *kind; /* ended by NULL */
};

static const weft_kind *const section_kinds[] = {&weft_run_kind, &weft_space_kind,
                                                 &weft_partition_kind, NULL};

/* Those between the first and the last are in input files, in this order. */
static const struct shelf shelves[] = {
    {"readers", weft_reader_kinds},       {"tasks", weft_task_kinds},
    {"algorithms", weft_algorithm_kinds}, {"features", weft_feature_kinds},
    {"models", weft_model_kinds},         {"nets", weft_net_kinds},
    {"others", weft_other_kinds},         {"tuners", weft_tuner_kinds},
    {"samplers", weft_sampler_kinds},     {"mixings", weft_mixing_kinds},
    {"sections", section_kinds},
};
enum { NSHELF = sizeof shelves / sizeof *shelves };

enum { WIDTH = 96, INDENT = 15 }; /* columns of the output */

/* Prints a text that begins in column `at`; a line beyond WIDTH is broken, and the next one
 * begins with `margin`. */
static void print_text(const char *text, int at, const char *margin)
{
    for (size_t n; *text; text += n) {
        n = 1 + strcspn(text + 1, " ");
        if (*text == ' ' && at + (int)n > WIDTH) {
            printf("\n%s", margin);
            at = (int)strlen(margin);
            text++;
            n--;
        }
        printf("%.*s", (int)n, text);
        at += (int)n;
    }
    printf("\n");
}

/* The task of that kind; NULL if the plug-in is not a task. */
static const weft_task *task_of(const weft_kind *kind)
{
    for (int i = 0; weft_tasks[i]; i++)
        if (kind == &weft_tasks[i]->kind) return weft_tasks[i];
    return NULL;
}

/* The further sections of a task, ended by NULL; NULL if the plug-in is not a task. */
static const weft_kind *const *parts_of(const weft_kind *kind)
{
    const weft_task *task = task_of(kind);
    return task ? task->parts : NULL;
}

static void print_shelf(const struct shelf *shelf)
{
    printf("%s\n", shelf->name);
    for (const weft_kind *const *kind = shelf->kind; *kind; kind++) {
        printf("  %-12s %s\n", (*kind)->name, (*kind)->about);
        const weft_kind *const *part = parts_of(*kind);
        for (; part && *part; part++)
            printf("    %-10s %s\n", (*part)->name, (*part)->about);
    }
}

/* What an option may be: "1 .. 3", "no | yes", "text". */
static void show_bounds(const weft_opt *opt, char *text, size_t n)
{
    char word[256];
    size_t at = 0;
    text[0] = '\0';
    if (opt->type == WEFT_TEXT) snprintf(text, n, "text");
    if (opt->type == WEFT_BOOL) snprintf(text, n, "no | yes");
    if (opt->type == WEFT_INT || opt->type == WEFT_LONG)
        snprintf(text, n, "%.0f .. %.0f", opt->lo, opt->hi);
    if (opt->type == WEFT_REAL) snprintf(text, n, "%g .. %g", opt->lo, opt->hi);
    if (opt->type != WEFT_CHOICE && opt->words) {
        at = strlen(text);
        snprintf(text + at, n - at, "; %.0f: %s", opt->lo, opt->words);
    }
    if (opt->type != WEFT_CHOICE) return;
    int count = 1;
    for (const char *c = opt->words; *c; c++) count += *c == '|';
    for (int i = 0; i < count && at < n; i++) {
        weft_opt_show(opt, i, word, sizeof word);
        at += (size_t)snprintf(text + at, n - at, "%s%s", i ? " | " : "", word);
    }
}

static const char *role_text(const weft_opt *opt)
{
    if (opt->role == WEFT_PER_SESSION) return "; `weft resume` may change it";
    if (opt->role == WEFT_GROWS) return "; `weft resume` may raise it";
    return weft_opt_tunable(opt) ? "; may be a range" : "";
}

/* Prints one plug-in as a section of an input file, each option after its description. An
 * option without a default is commented out. */
static void print_section(const weft_kind *kind, weft_arena *mem)
{
    if (!kind->opts->name) return;
    printf("[%s]  ; %s\n", kind->name, kind->about);
    for (const weft_opt *opt = kind->opts; opt->name; opt++) {
        char name[128], bounds[512];
        weft_opt_name(opt, name, sizeof name);
        show_bounds(opt, bounds, sizeof bounds);
        printf("; ");
        print_text(weft_arena_text(mem, "%s (%s%s)", opt->about, bounds, role_text(opt)), 2,
                   "; ");
        printf("%s%s = %s\n", opt->def[0] ? "" : ";", name, opt->def);
    }
    printf("\n");
}

/* What a task gives to a search whose own options leave it open. */
static void print_defaults(const weft_task *task, weft_arena *mem)
{
    weft_conf none;
    weft_conf_init(&none, mem);
    void *self = weft_arena_alloc(mem, 1, task->kind.size);
    printf("  by default: run.tuner = %s", task->tuner);
    if (task->plan.resource && weft_conf_bind(&none, &task->kind, self) == WEFT_OK)
        printf(", a job of resource %lld", (long long)task->plan.resource(self));
    printf("\n");
}

static void print_options(const weft_kind *kind, weft_arena *mem)
{
    const char *margin = weft_arena_text(mem, "%*s", INDENT + 2, "");
    printf("%s: %s\n", kind->name, kind->about);
    for (const weft_opt *opt = kind->opts; opt->name; opt++) {
        char name[128], bounds[512];
        weft_opt_name(opt, name, sizeof name);
        show_bounds(opt, bounds, sizeof bounds);
        printf("  %-*s ", INDENT - 1, name);
        print_text(opt->about, INDENT + 2, margin);
        printf("%s%s; default %s%s\n", margin, bounds, opt->def[0] ? opt->def : "none",
               role_text(opt));
    }
    const weft_task *task = task_of(kind);
    if (task) print_defaults(task, mem);
}

static void print_sections(const weft_kind *kind, weft_arena *mem)
{
    print_section(kind, mem);
    const weft_kind *const *part = parts_of(kind);
    for (; part && *part; part++) print_section(*part, mem);
}

/* A whole input file: readers have options, too, but on the command line of `weft pack`. */
static void print_ini(weft_arena *mem)
{
    printf(
        "; Every option of weft with its default. An input file needs only what differs.\n"
        "; It may set only what its run reads, but for parts of a search that the command\n"
        "; line may choose. A range makes an option an axis of the search, as in\n"
        ";   gamma = log 1e-5 .. 10    order = 1 .. 3    kernel = gaussian | laplacian\n"
        "\n");
    print_section(&weft_run_kind, mem);
    print_section(&weft_space_kind, mem);
    for (int j = 1; j < NSHELF - 1; j++)
        for (const weft_kind *const *kind = shelves[j].kind; *kind; kind++)
            print_sections(*kind, mem);
}

static const weft_kind *kind_named(const char *name)
{
    const weft_kind *found = NULL;
    for (int j = 0; j < NSHELF; j++)
        for (const weft_kind *const *kind = shelves[j].kind; *kind; kind++) {
            /* the section [space], not the sampler, which has no options */
            if (strcmp((*kind)->name, name) == 0 && (!found || !found->opts->name))
                found = *kind;
            const weft_kind *const *part = parts_of(*kind);
            for (; part && *part; part++)
                if (strcmp((*part)->name, name) == 0 && !found) found = *part;
        }
    return found;
}

static weft_status unknown_name(const char *name, weft_arena *mem)
{
    int64_t room = 0;
    int n = 0;
    const char **list = NULL;
    for (int j = 0; j < NSHELF; j++) {
        WEFT_GROW(mem, list, n, &room);
        list[n++] = shelves[j].name;
        for (const weft_kind *const *kind = shelves[j].kind; *kind; kind++) {
            WEFT_GROW(mem, list, n, &room);
            list[n++] = (*kind)->name;
        }
    }
    return weft_fail(WEFT_ECONF, "there is nothing named \"%s\"; did you mean \"%s\"?",
                     name, weft_nearest(name, list, n));
}

static weft_status list_one(const weft_cli *cli, const char *name)
{
    size_t n = strlen(name);
    for (int j = 0; j < NSHELF; j++) {
        /* "tuner" or "tuners" */
        const struct shelf *shelf = &shelves[j];
        if (strncmp(name, shelf->name, n) != 0 || n + 1 < strlen(shelf->name)) continue;
        if (!cli->ini) print_shelf(shelf);
        for (const weft_kind *const *kind = shelf->kind; *kind && cli->ini; kind++)
            print_sections(*kind, cli->mem);
        return WEFT_OK;
    }
    const weft_kind *found = kind_named(name);
    if (!found) return unknown_name(name, cli->mem);
    if (cli->ini)
        print_sections(found, cli->mem);
    else
        print_options(found, cli->mem);
    return WEFT_OK;
}

/* Prints the input file for a packed file. Collective. */
static weft_status list_plan(const weft_cli *cli)
{
    const char *text;
    if (cli->n > 0 || cli->ini)
        return weft_fail(WEFT_ECONF,
                         "list --plan-for FILE.h5 takes nothing else; leave "
                         "%s out",
                         cli->n > 0 ? cli->arg[0] : "--ini");
    TRY(weft_cli_plan_for(cli, cli->data, &text));
    if (cli->world->rank == 0) printf("%s", text);
    return WEFT_OK;
}

weft_status weft_cli_list(const weft_cli *cli)
{
    weft_status st = WEFT_OK;
    if (cli->data) return list_plan(cli);
    if (cli->world->rank == 0) {
        if (cli->n == 1)
            st = list_one(cli, cli->arg[0]);
        else if (cli->ini)
            print_ini(cli->mem);
        else
            for (int j = 0; j < NSHELF; j++) print_shelf(&shelves[j]);
    }
    return weft_agree(st, cli->world);
}
