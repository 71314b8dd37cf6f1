/* The sections that an input file may have, the treatment of keys that a run does not read
 * (typing errors, ranges that would have no effect, settings of other plug-ins), and the
 * keys that a resume may change. */
#include "run.h"
#include "weft/registry.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- sections ---- */

/* A plug-in that has a section in input files. */
struct section {
    const weft_kind *kind;
    const weft_task *task; /* the task that it is a part of; NULL: none */
    const char *by, *key;  /* section and key that select it; by = NULL: always used */
};

struct sections {
    int n;
    int64_t room;
    struct section *at;
    weft_arena *mem;
};

/* Adds a section; a part that several tasks share is listed once. */
static void push(struct sections *sections, struct section new)
{
    for (int i = 0; i < sections->n; i++)
        if (sections->at[i].kind == new.kind) return;
    WEFT_GROW(sections->mem, sections->at, sections->n, &sections->room);
    sections->at[sections->n++] = new;
}

/* Adds the parts of a search that run.KEY selects; one without options has no section. */
static void push_parts(struct sections *sections, const weft_kind *const *kind,
                       const char *key)
{
    for (; *kind; kind++)
        if ((*kind)->opts->name) push(sections, (struct section){*kind, NULL, "run", key});
}

static void push_choices(struct sections *sections, const weft_task *task)
{
    for (const weft_choice *choice = task->choices; choice && choice->key; choice++)
        for (const weft_kind *const *kind = choice->kinds; *kind; kind++)
            push(sections, (struct section){*kind, NULL, task->kind.name, choice->key});
}

/* `own` is the run's task, NULL: not known. It comes before others that choose from the
 * same plug-ins. */
static struct sections all_sections(const weft_task *own, weft_arena *mem)
{
    struct sections sections = {.mem = mem};
    push(&sections, (struct section){&weft_run_kind, NULL, NULL, NULL});
    push(&sections, (struct section){&weft_space_kind, NULL, NULL, NULL});
    for (int i = 0; weft_tasks[i]; i++) {
        const weft_task *task = weft_tasks[i];
        push(&sections, (struct section){&task->kind, task, "run", "task"});
        for (const weft_kind *const *part = task->parts; part && *part; part++)
            push(&sections, (struct section){*part, task, "run", "task"});
    }
    if (own) push_choices(&sections, own);
    for (int i = 0; weft_tasks[i]; i++) push_choices(&sections, weft_tasks[i]);
    push_parts(&sections, weft_tuner_kinds, "tuner");
    push_parts(&sections, weft_sampler_kinds, "sampler");
    push_parts(&sections, weft_mixing_kinds, "mixing");
    return sections;
}

const char *const *weft_run_sections(weft_arena *mem, int *n)
{
    struct sections sections = all_sections(NULL, mem);
    const char **name = WEFT_NEW(mem, const char *, sections.n);
    for (int i = 0; i < sections.n; i++) name[i] = sections.at[i].kind->name;
    *n = sections.n;
    return name;
}

/* The option of a key that was checked before. */
static const weft_opt *option_of(const weft_kind *kind, const char *key)
{
    for (const weft_opt *opt = kind->opts; opt->name; opt++)
        if (weft_opt_is(opt, key)) return opt;
    weft_die("[%s] has no option %s", kind->name, key);
}

/* The plug-in that an option of the run's task names. */
static const char *choice(const weft_run *run, const char *key)
{
    const weft_opt *opt = option_of(&run->task->kind, key);
    const char *const *text = (const void *)((const char *)run->task_self + opt->at);
    return *text;
}

/* 1 if the run uses the section: if it is always used, a part of the task, or named by the
 * task's options or as a part of the search. */
static int is_used(const weft_run *run, const struct section *section)
{
    const weft_search *own = &run->search;
    if (!section->by || section->kind == &own->tuner->kind ||
        section->kind == &own->sampler->kind || section->kind == &own->mixing->kind)
        return 1;
    for (const weft_kind *const *part = run->task->parts; part && *part; part++)
        if (*part == section->kind) return 1;
    if (section->task) return section->task == run->task;
    return strcmp(section->by, run->task->kind.name) == 0 &&
           strcmp(choice(run, section->key), section->kind->name) == 0;
}

/* ---- keys that are not read ---- */

static int is_default(const weft_kind *kind, const weft_entry *entry)
{
    if (kind->opts == weft_own_keys) return 0;
    const weft_opt *opt = option_of(kind, entry->key);
    double given, usual;
    if (opt->type == WEFT_TEXT) return strcmp(entry->value, opt->def) == 0;
    return weft_opt_parse(opt, entry->value, &given) == WEFT_OK &&
           weft_opt_parse(opt, opt->def, &usual) == WEFT_OK && !(fabs(given - usual) > 0);
}

int weft_run_typed(const weft_run *run, const char *section, const char *key)
{
    const weft_entry *entry = weft_conf_find(run->conf, section, key);
    return entry && weft_conf_is_typed(entry);
}

/* 1: one value, in a file. */
static int is_plain(const weft_entry *entry)
{
    return !weft_is_range(entry->value) && !weft_conf_is_typed(entry);
}

/* Adds a section that this run does not read to run->unread. */
static void note(weft_run *run, const char *name)
{
    const char *mark = weft_arena_text(run->mem, "[%s]", name);
    if (strstr(run->told.unread, mark)) return;
    run->told.unread = weft_arena_text(run->mem, "%s%s%s", run->told.unread,
                                       *run->told.unread ? " " : "", mark);
}

/* "run.task = fed and fed.model = lstm": the settings with which the section would be
 * used. */
static const char *remedy(const weft_run *run, const struct section *section)
{
    const char *task =
        strcmp(section->by, "run") == 0 || strcmp(section->by, run->task->kind.name) == 0
            ? ""
            : weft_arena_text(run->mem, "run.task = %s and ", section->by);
    const char *name = section->task ? section->task->kind.name : section->kind->name;
    return weft_arena_text(run->mem, "%s%s.%s = %s", task, section->by, section->key, name);
}

/* "run.tuner is sha": the setting of this run because of which the section is not used. */
static const char *instead(const weft_run *run, const struct section *section)
{
    const char *const part[][2] = {{"tuner", run->opts.tuner},
                                   {"sampler", run->opts.sampler},
                                   {"mixing", run->opts.mixing}};
    for (int i = 0; i < WEFT_COUNT(part); i++)
        if (strcmp(section->key, part[i][0]) == 0)
            return weft_arena_text(run->mem, "run.%s is %s", part[i][0], part[i][1]);
    if (strcmp(section->by, run->task->kind.name) != 0)
        return weft_arena_text(run->mem, "run.task is %s", run->opts.task);
    return weft_arena_text(run->mem, "%s.%s is %s", section->by, section->key,
                           choice(run, section->key));
}

static weft_status check_unused(weft_run *run, const struct section *section,
                                const weft_entry *entry)
{
    int chosen = weft_run_typed(run, section->by, section->key) ||
                 weft_run_typed(run, "run", "task");
    int part = strcmp(section->by, "run") == 0 && !section->task; /* of a search */
    int spared = part || chosen;
    int plain = is_plain(entry);
    if (plain && is_default(section->kind, entry)) return WEFT_OK;
    if (!plain || !spared)
        return weft_entry_fail(entry,
                               "nothing in this run reads it, for %s; take it out, or "
                               "choose %s",
                               instead(run, section), remedy(run, section));
    note(run, section->kind->name);
    return WEFT_OK;
}

/* Checks an entry of an option that is not read because another option has another
 * value. */
static weft_status check_idle(weft_run *run, const weft_kind *kind, const weft_when *when,
                              const weft_entry *entry)
{
    int plain = is_plain(entry);
    if (plain && (is_default(kind, entry) || weft_run_typed(run, kind->name, when->of)))
        return WEFT_OK;
    return weft_entry_fail(entry, "nothing in this run reads it; it is for %s.%s = %s",
                           kind->name, when->of, when->is);
}

/* 1: the value of option `of` is among the words "a|b". */
static int is_among(const weft_opt *opt, const void *self, const char *words)
{
    for (const char *at = words; *at; at += strspn(at, "|")) {
        char word[32];
        double is;
        snprintf(word, sizeof word, "%.*s", (int)strcspn(at, "|"), at);
        weft_check(weft_opt_parse(opt, word, &is) == WEFT_OK, "%s", weft_error());
        if (!(fabs(weft_opt_value(opt, self) - is) > 0)) return 1;
        at += strcspn(at, "|");
    }
    return 0;
}

int weft_run_reads(const weft_kind *kind, const void *self, const char *name)
{
    for (const weft_when *when = kind->when; when && when->name; when++)
        if (strcmp(when->name, name) == 0 &&
            !is_among(option_of(kind, when->of), self, when->is))
            return 0;
    return 1;
}

/* Checks the options of a section in use that depend on others. Where the other is an axis,
 * some configurations may read them. */
static weft_status check_when(weft_run *run, const weft_kind *kind)
{
    void *self = weft_arena_alloc(run->mem, 1, kind->size);
    for (const weft_when *when = kind->when; when && when->name; when++) {
        const weft_entry *entry = weft_conf_find(run->conf, kind->name, when->name);
        const weft_entry *other = weft_conf_find(run->conf, kind->name, when->of);
        if (!entry || (other && weft_is_range(other->value))) continue;
        const weft_opt *opt = option_of(kind, when->of);
        TRY(weft_conf_bind(run->conf, kind, self));
        if (!is_among(opt, self, when->is)) TRY(check_idle(run, kind, when, entry));
    }
    return WEFT_OK;
}

/* Checks a number of configurations that the schedule does not read. */
static weft_status check_configs(const weft_run *run)
{
    const weft_entry *entry = weft_conf_find(run->conf, "space", "configs");
    const weft_tuner *tuner = run->search.tuner;
    int random = run->space.source == 0 && run->space.dim > 0;
    if (!tuner->sizes || !random || !entry || is_default(&weft_space_kind, entry) ||
        (weft_run_typed(run, "run", "tuner") && !weft_conf_is_typed(entry)))
        return WEFT_OK;
    return weft_entry_fail(entry,
                           "run.tuner = %s does not read it: how many trials it begins "
                           "follows from %s; take it out",
                           tuner->kind.name, tuner->sizes);
}

weft_status weft_run_keys(weft_run *run, int fresh)
{
    if (fresh) TRY(check_configs(run));
    struct sections all = all_sections(run->task, run->mem);
    for (int i = 0; i < all.n; i++) {
        const struct section *section = &all.at[i];
        if (is_used(run, section)) {
            if (fresh) TRY(check_when(run, section->kind));
            continue;
        }
        TRY(weft_conf_bind(run->conf, section->kind,
                           weft_arena_alloc(run->mem, 1, section->kind->size)));
        for (int e = 0; e < run->conf->n; e++) {
            weft_entry *entry = &run->conf->entry[e];
            if (strcmp(entry->section, section->kind->name) != 0) continue;
            entry->used = 1;
            entry->names_file = 0;
            if (fresh) TRY(check_unused(run, section, entry));
        }
    }
    return WEFT_OK;
}

/* ---- what a resume may change ---- */

/* "run.data, run.memory ...": the options that a resume may change. */
static const char *session_keys(const struct sections *all)
{
    const char *text = "";
    for (int i = 0; i < all->n; i++)
        for (const weft_opt *opt = all->at[i].kind->opts; opt->name; opt++) {
            char name[128];
            if (opt->role != WEFT_PER_SESSION) continue;
            weft_opt_name(opt, name, sizeof name);
            text = weft_arena_text(all->mem, "%s%s%s.%s", text, *text ? ", " : "",
                                   all->at[i].kind->name, name);
        }
    return text;
}

/* The option of the entry if a resume may change it, else NULL. */
static const weft_opt *changed(const struct sections *all, const weft_entry *entry)
{
    for (int i = 0; i < all->n; i++) {
        if (strcmp(all->at[i].kind->name, entry->section) != 0) continue;
        for (const weft_opt *opt = all->at[i].kind->opts; opt->name; opt++)
            if ((opt->role == WEFT_PER_SESSION || opt->role == WEFT_GROWS) &&
                weft_opt_is(opt, entry->key))
                return opt;
    }
    return NULL;
}

/* ECONF if the run has more than the entry says. */
static weft_status check_growth(const weft_conf *conf, const weft_opt *opt,
                                const weft_entry *entry, int *grown)
{
    const weft_entry *old = weft_conf_find(conf, entry->section, opt->name);
    double had, has;
    TRY(weft_opt_parse(opt, old ? old->value : opt->def, &had));
    if (weft_opt_parse(opt, entry->value, &has) != WEFT_OK)
        return weft_entry_fail(entry, "%s", weft_error());
    if (has < had)
        return weft_entry_fail(entry,
                               "the run has %g; a resume may give it more, and for less "
                               "start another run by `weft tune`",
                               had);
    *grown |= has > had;
    return WEFT_OK;
}

weft_status weft_run_change(weft_conf *conf, const char *assignment, int *grown)
{
    struct sections all = all_sections(NULL, conf->mem);
    weft_conf one;
    weft_conf_init(&one, conf->mem);
    TRY(weft_conf_set(&one, assignment));
    const weft_opt *opt = changed(&all, one.entry);
    const weft_entry *old = weft_conf_find(conf, one.entry->section, one.entry->key);
    if (old && strcmp(old->value, one.entry->value) == 0) return WEFT_OK;
    if (!opt)
        return weft_entry_fail(one.entry,
                               "only %s may be changed, on which no result depends; "
                               "leave this out, or start another run by `weft tune`",
                               session_keys(&all));
    if (opt->role == WEFT_GROWS) TRY(check_growth(conf, opt, one.entry, grown));
    return weft_conf_set(conf, assignment);
}

weft_growth weft_run_grows(const char *assignment, weft_arena *mem)
{
    struct sections all = all_sections(NULL, mem);
    weft_conf one;
    weft_conf_init(&one, mem);
    if (weft_conf_set(&one, assignment) != WEFT_OK) return WEFT_STAYS;
    const weft_opt *opt = changed(&all, one.entry);
    if (!opt || opt->role != WEFT_GROWS) return WEFT_STAYS;
    return strcmp(opt->name, "resource") == 0 ? WEFT_MORE_RESOURCE : WEFT_MORE_JOBS;
}
