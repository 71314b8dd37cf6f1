/* `weft list`: the plug-ins that can be chosen by name, with their options; or all of them
 * as an input file. */
#include "cli.h"
#include "sched/options.h"
#include "weft/registry.h"

#include <string.h>

/* The plug-ins of one kind. */
typedef struct shelf {
    const char *name; /* "tuners" */
    const weft_kind **kind;
    int n;
} shelf;

enum { READERS, FEATURES, MODELS, NETS, TASKS, TUNERS, SAMPLERS, MIXINGS, NSHELF };

#define FILL_SHELF(s, list, mem)                                                           \
    do {                                                                                   \
        while ((list)[(s).n]) (s).n++;                                                     \
        (s).kind = WEFT_NEW(mem, const weft_kind *, (s).n);                                \
        for (int i_ = 0; i_ < (s).n; i_++) (s).kind[i_] = &(list)[i_]->kind;               \
    } while (0)

static void fill_shelves(shelf s[NSHELF], weft_arena *mem)
{
    static const char *const names[NSHELF] = {"readers", "features", "models",   "nets",
                                              "tasks",   "tuners",   "samplers", "mixings"};
    for (int i = 0; i < NSHELF; i++) s[i] = (shelf){.name = names[i]};
    FILL_SHELF(s[READERS], weft_readers, mem);
    FILL_SHELF(s[FEATURES], weft_features, mem);
    FILL_SHELF(s[MODELS], weft_models, mem);
    FILL_SHELF(s[NETS], weft_nets, mem);
    FILL_SHELF(s[TASKS], weft_tasks, mem);
    FILL_SHELF(s[TUNERS], weft_tuners, mem);
    FILL_SHELF(s[SAMPLERS], weft_samplers, mem);
    FILL_SHELF(s[MIXINGS], weft_mixings, mem);
}

/* The further sections of a task, ended by NULL; NULL if the plug-in is not a task. */
static const weft_kind *const *parts_of(const weft_kind *kind)
{
    for (int i = 0; weft_tasks[i]; i++)
        if (kind == &weft_tasks[i]->kind) return weft_tasks[i]->parts;
    return NULL;
}

static void print_shelf(const shelf *s)
{
    printf("%s\n", s->name);
    for (int i = 0; i < s->n; i++) {
        printf("  %-10s %s\n", s->kind[i]->name, s->kind[i]->about);
        const weft_kind *const *part = parts_of(s->kind[i]);
        for (; part && *part; part++)
            printf("    %-8s %s\n", (*part)->name, (*part)->about);
    }
}

/* What an option may be: "1 .. 3", "no | yes", "text". */
static void show_bounds(const weft_opt *o, char *text, size_t n)
{
    char word[256];
    size_t at = 0;
    text[0] = '\0';
    if (o->type == WEFT_TEXT) snprintf(text, n, "text");
    if (o->type == WEFT_BOOL) snprintf(text, n, "no | yes");
    if (o->type == WEFT_INT || o->type == WEFT_LONG)
        snprintf(text, n, "%.0f .. %.0f", o->lo, o->hi);
    if (o->type == WEFT_REAL) snprintf(text, n, "%g .. %g", o->lo, o->hi);
    if (o->type != WEFT_CHOICE && o->words) {
        at = strlen(text);
        snprintf(text + at, n - at, "; %.0f: %s", o->lo, o->words);
    }
    if (o->type != WEFT_CHOICE) return;
    int count = 1;
    for (const char *c = o->words; *c; c++) count += *c == '|';
    for (int i = 0; i < count && at < n; i++) {
        weft_opt_show(o, i, word, sizeof word);
        at += (size_t)snprintf(text + at, n - at, "%s%s", i ? " | " : "", word);
    }
}

/* Where its values may differ, for a person. */
static const char *role_text(const weft_opt *o)
{
    if (o->role == WEFT_PER_SESSION) return "; `weft resume` may change it";
    return weft_opt_tunable(o) ? "; may be a range" : "";
}

/* Prints one plug-in as a section of an input file, each option after its description. An
 * option without a default is commented out. */
static void print_section(const weft_kind *k)
{
    if (!k->opts->name) return;
    printf("[%s]  ; %s\n", k->name, k->about);
    for (const weft_opt *o = k->opts; o->name; o++) {
        char name[128], bounds[512];
        weft_opt_name(o, name, sizeof name);
        show_bounds(o, bounds, sizeof bounds);
        printf("; %s (%s%s)\n", o->about, bounds, role_text(o));
        printf("%s%s = %s\n", o->def[0] ? "" : ";", name, o->def);
    }
    printf("\n");
}

static void print_options(const weft_kind *k)
{
    printf("%s: %s\n", k->name, k->about);
    for (const weft_opt *o = k->opts; o->name; o++) {
        char name[128], bounds[512];
        weft_opt_name(o, name, sizeof name);
        show_bounds(o, bounds, sizeof bounds);
        printf("  %-14s %s\n  %-14s %s; default %s%s\n", name, o->about, "", bounds,
               o->def[0] ? o->def : "none", role_text(o));
    }
}

/* A plug-in and its parts. */
static void print_sections(const weft_kind *k)
{
    print_section(k);
    const weft_kind *const *part = parts_of(k);
    for (; part && *part; part++) print_section(*part);
}

/* A whole input file: readers have options, too, but on the command line of `weft pack`. */
static void print_ini(const shelf *s)
{
    printf("; Every option of weft with its default. An input file needs only what "
           "differs, and\n"
           "; may set only what its run reads, but for parts of a search that the command "
           "line may "
           "choose.\n"
           "; An option that may be a range becomes an axis of the search, as in\n"
           ";   gamma = log 1e-5 .. 10    order = 1 .. 3    kernel = gaussian | "
           "laplacian\n\n");
    print_section(&weft_run_kind);
    print_section(&weft_space_kind);
    static const int order[] = {TASKS, FEATURES, MODELS, NETS, TUNERS, SAMPLERS, MIXINGS};
    for (size_t j = 0; j < sizeof order / sizeof *order; j++)
        for (int i = 0; i < s[order[j]].n; i++) print_sections(s[order[j]].kind[i]);
}

/* The plug-in or part of that name, or [run], [space] or the partition of `weft pack`. */
static const weft_kind *kind_named(const shelf *s, const char *name)
{
    if (strcmp(name, weft_run_kind.name) == 0) return &weft_run_kind;
    if (strcmp(name, weft_space_kind.name) == 0) return &weft_space_kind;
    if (strcmp(name, weft_partition_kind.name) == 0) return &weft_partition_kind;
    for (int j = 0; j < NSHELF; j++)
        for (int i = 0; i < s[j].n; i++) {
            if (strcmp(s[j].kind[i]->name, name) == 0) return s[j].kind[i];
            const weft_kind *const *part = parts_of(s[j].kind[i]);
            for (; part && *part; part++)
                if (strcmp((*part)->name, name) == 0) return *part;
        }
    return NULL;
}

static weft_status unknown_name(const shelf *s, const char *name, weft_arena *mem)
{
    int n = NSHELF, at = 0;
    for (int j = 0; j < NSHELF; j++) n += s[j].n;
    const char **list = WEFT_NEW(mem, const char *, n);
    for (int j = 0; j < NSHELF; j++) {
        list[at++] = s[j].name;
        for (int i = 0; i < s[j].n; i++) list[at++] = s[j].kind[i]->name;
    }
    return weft_fail(WEFT_ECONF, "there is nothing named \"%s\"; did you mean \"%s\"?",
                     name, weft_nearest(name, list, n));
}

static weft_status list_one(const weft_cli *c, const shelf *s, const char *name)
{
    size_t n = strlen(name);
    for (int j = 0; j < NSHELF; j++) {
        /* "tuner" or "tuners" */
        if (strncmp(name, s[j].name, n) != 0 || n + 1 < strlen(s[j].name)) continue;
        if (!c->ini) print_shelf(&s[j]);
        for (int i = 0; i < s[j].n && c->ini; i++) print_sections(s[j].kind[i]);
        return WEFT_OK;
    }
    const weft_kind *k = kind_named(s, name);
    if (!k) return unknown_name(s, name, c->mem);
    if (c->ini)
        print_sections(k);
    else
        print_options(k);
    return WEFT_OK;
}

weft_status weft_cli_list(const weft_cli *c)
{
    shelf s[NSHELF];
    fill_shelves(s, c->mem);
    weft_status st = WEFT_OK;
    if (c->world->rank == 0) {
        if (c->n == 1)
            st = list_one(c, s, c->arg[0]);
        else if (c->ini)
            print_ini(s);
        else
            for (int j = 0; j < NSHELF; j++) print_shelf(&s[j]);
    }
    return weft_agree(st, c->world);
}
