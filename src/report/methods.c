/* Which runs of a comparison are of one method, and means over these. */
#include "result/result.h"
#include "sched/sched.h"
#include "summary.h"
#include "weft/names.h"
#include "weft/registry.h"
#include "weft/student.h"
#include "weft/task.h"

#include <math.h>
#include <string.h>

/* 1 if the option tells nothing of the method: a name, the seed, or what no result depends
 * on. The data are told apart by their digest. */
static int is_aside(const weft_entry *entry)
{
    if (strcmp(entry->section, weft_run_kind.name) != 0) return 0;
    if (strcmp(entry->key, "seed") == 0 || strcmp(entry->key, "output") == 0) return 1;
    for (const weft_opt *opt = weft_run_kind.opts; opt->name; opt++)
        if (opt->role == WEFT_PER_SESSION && weft_opt_is(opt, entry->key)) return 1;
    return 0;
}

/* ---- options ---- */

static const weft_opt *option_among(const weft_kind *const *kind, const char *section,
                                    const char *key)
{
    for (; kind && *kind; kind++)
        for (const weft_opt *opt = (*kind)->opts; opt->name; opt++)
            if (strcmp((*kind)->name, section) == 0 && weft_opt_is(opt, key)) return opt;
    return NULL;
}

/* NULL where the user chooses the keys. */
static const weft_opt *option_of(const char *section, const char *key)
{
    const weft_kind *const own[] = {&weft_run_kind, &weft_space_kind, NULL};
    const weft_kind *const *const lists[] = {own,
                                             weft_task_kinds,
                                             weft_feature_kinds,
                                             weft_model_kinds,
                                             weft_net_kinds,
                                             weft_algorithm_kinds,
                                             weft_tuner_kinds,
                                             weft_sampler_kinds,
                                             weft_mixing_kinds};
    const weft_opt *opt = NULL;
    for (int i = 0; !opt && i < WEFT_COUNT(lists); i++)
        opt = option_among(lists[i], section, key);
    for (int i = 0; !opt && weft_tasks[i]; i++)
        opt = option_among(weft_tasks[i]->parts, section, key);
    return opt;
}

/* As an input file has it, numbers and words in one form: 0.1 for 1e-1. */
static const char *in_one_form(const weft_opt *opt, const char *text, weft_arena *mem)
{
    char shown[256];
    double value;
    if (!opt || opt->type == WEFT_TEXT || weft_opt_parse(opt, text, &value) != WEFT_OK)
        return text;
    weft_opt_show(opt, value, shown, sizeof shown);
    return weft_arena_text(mem, "%s", shown);
}

/* The options of all runs: names "section.key", and their values by run, NULL where a run
 * does not set it. */
struct table {
    weft_names names;
    const char ***value; /* [names][runs] */
    const char **usual;  /* [names] the default; NULL: none */
    int64_t room, roomusual;
    int runs;
    weft_arena *mem;
};

static void put(struct table *all, const char *section, const char *key, int run,
                const char *value)
{
    const weft_opt *opt = option_of(section, key);
    int64_t n = all->names.n;
    int64_t at =
        weft_names_find(&all->names, weft_arena_text(all->mem, "%s.%s", section, key));
    if (at == n) {
        all->value = weft_grow(all->mem, all->value, sizeof *all->value, n, &all->room);
        all->usual =
            weft_grow(all->mem, all->usual, sizeof *all->usual, n, &all->roomusual);
        all->value[at] = WEFT_NEW(all->mem, const char *, all->runs);
        all->usual[at] = opt ? in_one_form(opt, opt->def, all->mem) : NULL;
    }
    all->value[at][run] = in_one_form(opt, value, all->mem);
}

static weft_status take(struct table *all, const weft_summary *summary, int run)
{
    weft_conf conf;
    weft_conf_init(&conf, all->mem);
    TRY(weft_conf_text(&conf, summary->path, summary->config));
    for (int e = 0; e < conf.n; e++) {
        const weft_entry *entry = &conf.entry[e];
        if (!is_aside(entry)) put(all, entry->section, entry->key, run, entry->value);
    }
    const char *data = weft_summary_value(summary, "data")->text;
    const char *digest = weft_summary_value(summary, "data_digest")->text;
    if (data && digest)
        put(all, "run", "data", run, weft_arena_text(all->mem, "%s %s", digest, data));
    return WEFT_OK;
}

/* ---- methods ---- */

/* The data are told apart by the first word, their digest. */
static int is_same(const struct table *all, int64_t name, int run, int other)
{
    const char *a = all->value[name][run], *b = all->value[name][other];
    if (!a) a = all->usual[name];
    if (!b) b = all->usual[name];
    if (!a || !b) return a == b;
    if (strcmp(all->names.name[name], "run.data") != 0) return strcmp(a, b) == 0;
    size_t n = strcspn(a, " ");
    return n == strcspn(b, " ") && strncmp(a, b, n) == 0;
}

/* Divides each method by the values of an option, and tells these where they differ. */
static void divide(const struct table *all, int64_t name, weft_methods *methods,
                   const char **text)
{
    const char *key = all->names.name[name], **value = all->value[name];
    int same = 1, n = 0, *first = WEFT_NEW(all->mem, int, all->runs);
    for (int r = 1; r < all->runs; r++) same &= is_same(all, name, 0, r);
    if (same) return;
    int *of = WEFT_NEW(all->mem, int, all->runs);
    for (int r = 0; r < all->runs; r++) {
        int m = 0;
        while (m < n && !(methods->of[first[m]] == methods->of[r] &&
                          is_same(all, name, first[m], r)))
            m++;
        if (m == n) first[n++] = r;
        of[r] = m;
        if (!value[r]) continue;
        const char *shown =
            strcmp(key, "run.data") == 0 ? strchr(value[r], ' ') + 1 : value[r];
        text[r] = weft_arena_text(all->mem, "%s%s%s=%s", text[r], *text[r] ? " " : "", key,
                                  shown);
    }
    methods->of = of;
    methods->n = n;
}

weft_status weft_methods_find(const weft_summary *summary, int n, weft_methods *methods,
                              weft_arena *mem)
{
    *methods = (weft_methods){.n = 0};
    const char *task = weft_summary_value(summary, "task")->text;
    for (int r = 1; r < n; r++)
        if (strcmp(weft_summary_value(&summary[r], "task")->text, task) != 0)
            return WEFT_OK;
    struct table all = {.names = {.mem = mem}, .runs = n, .mem = mem};
    for (int r = 0; r < n; r++) TRY(take(&all, &summary[r], r));
    methods->n = 1;
    methods->of = WEFT_NEW(mem, int, n);
    const char **text = WEFT_NEW(mem, const char *, n);
    for (int r = 0; r < n; r++) text[r] = "";
    for (int64_t name = 0; name < all.names.n; name++) divide(&all, name, methods, text);
    methods->settings = WEFT_NEW(mem, const char *, methods->n);
    for (int r = n - 1; r >= 0; r--) methods->settings[methods->of[r]] = text[r];
    return WEFT_OK;
}

const char *weft_methods_settings(const weft_methods *methods, int run)
{
    return methods->n > 0 ? methods->settings[methods->of[run]] : "";
}

/* 1 if an earlier run of the method has the seed of run r. */
static int is_again(const weft_methods *methods, const weft_summary *summary, int r)
{
    int64_t seed = weft_summary_value(&summary[r], "seed")->whole;
    for (int i = 0; i < r; i++)
        if (methods->of[i] == methods->of[r] &&
            weft_summary_value(&summary[i], "seed")->whole == seed)
            return 1;
    return 0;
}

int weft_methods_mean(const weft_methods *methods, int method, const weft_summary *summary,
                      int n, const double *x, double *mean, double *half)
{
    int count = 0;
    double sum = 0, around = 0;
    *mean = *half = NAN;
    for (int pass = 0; pass < 2; pass++)
        for (int r = 0; r < n; r++) {
            if (methods->of[r] != method || isnan(x[r]) || is_again(methods, summary, r))
                continue;
            if (pass == 0) {
                sum += x[r];
                *mean = sum / ++count;
            } else {
                around += (x[r] - *mean) * (x[r] - *mean);
            }
        }
    if (count > 1) *half = weft_student(count - 1) * sqrt(around / (count - 1) / count);
    return count;
}
