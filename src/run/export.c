/* `weft export`: a winner as a small file, with all that other programs need to use it. */
#include "result/result.h"
#include "sched/sched.h"
#include "weft/conf.h"
#include "weft/file.h"
#include "weft/registry.h"
#include "weft/run.h"
#include "weft/task.h"

#include <stdio.h>
#include <string.h>

/* The text of an option, as it was given or by default. */
static const char *text_of(const weft_conf *conf, const weft_kind *kind,
                           const weft_opt *opt)
{
    const weft_entry *entry = weft_conf_find(conf, kind->name, opt->name);
    return entry ? entry->value : opt->def;
}

/* Adds the values of a section, a line each. */
static weft_status add_section(weft_conf *conf, const weft_kind *kind, char **text)
{
    char name[64], value[64];
    void *self = weft_arena_alloc(conf->mem, 1, kind->size);
    if (kind->opts == weft_own_keys) return WEFT_OK;
    TRY(weft_conf_bind(conf, kind, self));
    for (const weft_opt *opt = kind->opts; opt->name; opt++) {
        weft_opt_name(opt, name, sizeof name);
        if (opt->type != WEFT_TEXT)
            weft_opt_show(opt, weft_opt_value(opt, self), value, sizeof value);
        *text = weft_arena_text(conf->mem, "%s%s.%s = %s\n", *text, kind->name, name,
                                opt->type == WEFT_TEXT ? text_of(conf, kind, opt) : value);
    }
    return WEFT_OK;
}

/* Adds the section of the plug-in that an option of the task names. */
static weft_status add_choice(weft_conf *conf, const weft_task *task,
                              const weft_choice *choice, char **text)
{
    const weft_opt *opt = task->kind.opts;
    while (opt->name && !weft_opt_is(opt, choice->key)) opt++;
    for (const weft_kind *const *kind = choice->kinds; opt->name && *kind; kind++)
        if (strcmp((*kind)->name, text_of(conf, &task->kind, opt)) == 0)
            TRY(add_section(conf, *kind, text));
    return WEFT_OK;
}

/* Writes the values of all options by which the winner's weights become predictions, those
 * that nobody gave too. */
static weft_status put_options(const weft_winner *winner, weft_h5 *file)
{
    weft_conf conf;
    weft_run_opts opts;
    const weft_task *task;
    char *text = weft_arena_text(file->mem, "%s", "");
    weft_conf_init(&conf, file->mem);
    TRY(weft_conf_text(&conf, "winner", winner->config));
    TRY(weft_conf_bind(&conf, &weft_run_kind, &opts));
    TRY(weft_task_find(opts.task, &task));
    if (!task->predict) return WEFT_OK;
    TRY(add_section(&conf, &weft_run_kind, &text));
    TRY(add_section(&conf, &task->kind, &text));
    for (const weft_choice *choice = task->choices; choice && choice->key; choice++)
        TRY(add_choice(&conf, task, choice, &text));
    for (const weft_kind *const *kind = task->parts; kind && *kind; kind++)
        TRY(add_section(&conf, *kind, &text));
    return weft_h5_put_attr(file, "/winner", "options", text);
}

weft_status weft_run_export(const char *run, const char *out)
{
    weft_arena *mem = weft_arena_new();
    weft_winner winner = {0};
    weft_h5 file;
    weft_status st = weft_winner_read(&winner, run, mem);
    if (st == WEFT_OK && weft_file_same(run, out))
        st = weft_fail(WEFT_ECONF,
                       "%s is the run file itself, which the winner would replace; choose "
                       "another name by -o",
                       out);
    if (st == WEFT_OK) {
        winner.kept = weft_stored_table(winner.rows, mem);
        st = weft_h5_create(&file, out, mem);
        if (st == WEFT_OK) st = weft_winner_export(&winner, run, &file);
        if (st == WEFT_OK) st = put_options(&winner, &file);
        if (st == WEFT_OK) st = weft_h5_commit(&file);
        weft_h5_close(&file);
    }
    if (st == WEFT_OK)
        printf("%s: %s, %lld numbers\n", out, winner.text,
               (long long)weft_tensors_size(winner.ntensor, winner.tensor));
    weft_winner_close(&winner);
    weft_arena_free(mem);
    return st;
}
