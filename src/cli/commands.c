/* The commands except `list`: each passes its arguments to the layer that does the work. */
#include "cli.h"
#include "host/host.h"
#include "result/result.h"
#include "rundir/rundir.h"
#include "weft/base/files.h"
#include "weft/data/data.h"
#include "weft/pack/pack.h"
#include "weft/registry.h"
#include "weft/report/report.h"
#include "weft/run/run.h"
#include "weft/store/file.h"
#include "weft/store/h5.h"
#include "weft/text/text.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- names of files ---- */

static int ends_with(const char *path, const char *ending)
{
    size_t n = strlen(path), e = strlen(ending);
    return n > e && strcmp(path + n - e, ending) == 0;
}

/* 1: the argument names a file, and is no assignment. */
static int names_file(const char *arg)
{
    return !strchr(arg, '=') || access(arg, F_OK) == 0;
}

/* 1: the file is HDF5, so that it is packed; or there is none, and its name is of such a
 * file. */
static int is_packed(const char *path)
{
    char head[8] = "";
    FILE *file = fopen(path, "rb");
    if (!file) return ends_with(path, ".h5");
    size_t n = fread(head, 1, sizeof head, file);
    fclose(file);
    if (n < sizeof head || memcmp(head, "\x89HDF\r\n\x1a\n", sizeof head) != 0) return 0;
    WEFT_SCRATCH(tmp);
    weft_h5 h5;
    int packed = weft_h5_open(&h5, path, tmp) != WEFT_OK || weft_h5_has(&h5, "/@format");
    weft_h5_close(&h5);
    return packed;
}

/* The name without its directory, if asked, and without its ending. */
static const char *stem(const weft_cli *cli, const char *path, const char *ending, int base)
{
    const char *slash = strrchr(path, '/');
    if (base && slash) path = slash + 1;
    size_t keep = strlen(path) - (ends_with(path, ending) ? strlen(ending) : 0);
    return weft_arena_text(cli->mem, "%.*s", (int)keep, path);
}

/* ---- weft pack ---- */

weft_status weft_cli_pack(const weft_cli *cli)
{
    const weft_reader *reader;
    TRY(weft_reader_find(cli->arg[0], &reader));
    if (cli->n < 2)
        return weft_fail(WEFT_ECONF,
                         "pack %s needs what it reads: a file, a directory, or "
                         "- for what comes by a pipe; `weft list %s` shows how",
                         reader->kind.name, reader->kind.name);
    if (!cli->output)
        return weft_fail(WEFT_ECONF,
                         "pack needs the name of the file to write: -o FILE.h5");
    void *self;
    weft_partition over;
    TRY(weft_pack_options(reader, cli->n - 2, (const char *const *)cli->arg + 2, &self,
                          &over, cli->mem));
    TRY(weft_h5_replace(cli->output, WEFT_DATA_FORMAT, cli->force));
    const char *source = cli->arg[1];
    TRY(weft_file_source(&source, cli->output));
    return weft_pack_file(reader, self, &over, source, cli->output, cli->mem);
}

/* ---- searches ---- */

/* ECONF if an assignment stands where the name of a file is expected. */
static weft_status file_comes_first(const weft_cli *cli, const char *name)
{
    if (names_file(cli->arg[0])) return WEFT_OK;
    return weft_fail(WEFT_ECONF,
                     "%s: %s is expected first, and there is no file of this name; "
                     "section.key=value follows it",
                     cli->arg[0], name);
}

/* The assignments from arg[first] on, and the name of the run file, where the input has
 * none: after `name`. */
static weft_status read_settings(const weft_cli *cli, int first, const char *name,
                                 weft_conf *conf)
{
    for (int i = first; i < cli->n; i++) TRY(weft_conf_set(conf, cli->arg[i]));
    const char *output = cli->output;
    if (!output && !weft_conf_find(conf, "run", "output"))
        output = weft_arena_text(cli->mem, "%s-run.h5", name);
    if (!output) return WEFT_OK;
    return weft_conf_set(conf, weft_arena_text(cli->mem, "run.output=%s", output));
}

static weft_status read_input(const weft_cli *cli, weft_conf *conf)
{
    weft_conf_init(conf, cli->mem);
    TRY(file_comes_first(cli, "INPUT.ini"));
    TRY(weft_conf_read(conf, cli->arg[0]));
    return read_settings(cli, 1, stem(cli, cli->arg[0], ".ini", 1), conf);
}

/* The packed file that is searched by the plan for it: --data, or run.data without an input
 * file; NULL: there is an input file. */
static weft_status find_data(const weft_cli *cli, const char **data)
{
    static const char key[] = "run.data=";
    *data = cli->data;
    int input = cli->n > 0 && names_file(cli->arg[0]);
    if (*data && input)
        return weft_fail(WEFT_ECONF,
                         "%s and --data: an input file names its data as run.data; leave "
                         "one of them out",
                         cli->arg[0]);
    for (int i = 0; i < cli->n && !input && !*data; i++)
        if (strncmp(cli->arg[i], key, sizeof key - 1) == 0)
            *data = cli->arg[i] + sizeof key - 1;
    if (*data || cli->n > 0) return WEFT_OK;
    return weft_fail(WEFT_ECONF,
                     "usage: weft tune INPUT.ini, or --data FILE.h5, for which a "
                     "plan is chosen");
}

weft_status weft_cli_plan_for(const weft_cli *cli, const char *data, const char **text)
{
    int packed = cli->world->rank > 0 || is_packed(data) || access(data, F_OK);
    weft_status st = WEFT_OK;
    if (!packed)
        st = weft_fail(WEFT_EDATA,
                       "%s is not packed; `weft pack dense %s -o FILE.h5` packs a table, "
                       "`weft list readers` says what packs other data",
                       data, data);
    TRY(weft_agree(st, cli->world));
    return weft_run_default(data, cli->world, text, cli->mem);
}

/* Chooses the plan for a packed file, and prints it. Collective. */
static weft_status read_default(const weft_cli *cli, const char *data, weft_conf *conf)
{
    const char *text;
    weft_conf_init(conf, cli->mem);
    TRY(weft_cli_plan_for(cli, data, &text));
    if (cli->world->rank == 0) printf("%s\n", text);
    fflush(stdout);
    TRY(weft_conf_text(conf, weft_arena_text(cli->mem, "plan for %s", data), text));
    return read_settings(cli, 0, stem(cli, data, ".h5", 1), conf);
}

/* The table of a run that is complete, by rank 0, if it ended with status `end`, which is
 * returned. Collective. */
static weft_status show(const weft_cli *cli, const char *run, weft_status end)
{
    if (end != WEFT_OK && end != WEFT_ENONE) return end;
    const char *text = weft_arena_text(cli->mem, "%s", weft_error());
    weft_status st = cli->world->rank == 0 ? weft_report(&run, 1, WEFT_TABLE, 0) : WEFT_OK;
    TRY(weft_agree(st, cli->world));
    weft_error_set(text);
    return end;
}

weft_status weft_cli_tune(const weft_cli *cli)
{
    weft_conf conf;
    const char *data;
    TRY(weft_agree(find_data(cli, &data), cli->world));
    weft_status st = data ? read_default(cli, data, &conf) : read_input(cli, &conf);
    TRY(weft_agree(st, cli->world));
    if (cli->plan) return weft_run_plan(&conf, cli->world);
    st = weft_run_tune(&conf, cli->force, cli->world);
    return show(cli, weft_conf_find(&conf, "run", "output")->value, st);
}

weft_status weft_cli_resume(const weft_cli *cli)
{
    TRY(weft_agree(file_comes_first(cli, "RUN.h5"), cli->world));
    weft_status st =
        weft_run_resume(cli->arg[0], cli->retry, cli->n - 1, cli->arg + 1, cli->world);
    return show(cli, cli->arg[0], st);
}

/* The input file of a search whose jobs are done by the program that started this one. */
static weft_status read_served(const weft_cli *cli, weft_conf *conf)
{
    TRY(read_input(cli, conf));
    const weft_entry *task = weft_conf_find(conf, "run", "task");
    if (!task) return weft_conf_set(conf, "run.task=ask");
    if (strcmp(task->value, "ask") == 0) return WEFT_OK;
    return weft_entry_fail(task, "the jobs of `weft serve` are done by the program that "
                                 "starts it, which is run.task = ask; leave this out");
}

weft_status weft_cli_serve(const weft_cli *cli)
{
    int run = ends_with(cli->arg[0], ".h5");
    if (run && (cli->output || cli->plan || cli->force))
        return weft_fail(WEFT_ECONF,
                         "%s is a run to go on with; -o, --plan and --force are for an "
                         "INPUT.ini",
                         cli->arg[0]);
    if (run) return weft_run_resume(cli->arg[0], 0, cli->n - 1, cli->arg + 1, cli->world);
    weft_conf conf;
    TRY(weft_agree(read_served(cli, &conf), cli->world));
    if (cli->plan) return weft_run_plan(&conf, cli->world);
    return weft_run_tune(&conf, cli->force, cli->world);
}

/* ---- winners ---- */

weft_status weft_cli_eval(const weft_cli *cli)
{
    int has = cli->n > 1 && names_file(cli->arg[1]);
    return weft_run_eval(cli->arg[0], has ? cli->arg[1] : NULL, cli->n - 1 - has,
                         cli->arg + 1 + has, cli->world);
}

/* The first line of a file, without its end; "" if it cannot be read. */
static void first_line(const char *path, char *line, int room)
{
    FILE *file = fopen(path, "r");
    *line = '\0';
    if (!file) return;
    if (!fgets(line, room, file)) *line = '\0';
    fclose(file);
}

/* EFILE: there is a file that may not be replaced; ECONF: it is to be HDF5. */
static weft_status check_output(const weft_cli *cli)
{
    const char *path = cli->output;
    char line[32];
    if (path && ends_with(path, ".h5"))
        return weft_fail(WEFT_ECONF,
                         "%s: predictions are written as text; choose a name that does not "
                         "end with .h5",
                         path);
    if (!path || access(path, F_OK) != 0) return WEFT_OK;
    first_line(path, line, sizeof line);
    static const char *const head[] = {"row,", "part,row,", "line\tdirection\t",
                                       "part\tline\tdirection\t"};
    int own = 0;
    for (int i = 0; i < 4; i++) own |= strncmp(line, head[i], strlen(head[i])) == 0;
    if (own && cli->force) return WEFT_OK;
    return weft_fail(WEFT_EFILE,
                     own ? "%s is there already; --force replaces it"
                         : "%s is there already, and holds no predictions; choose another "
                           "name by -o",
                     path);
}

/* 1 + the tokenizer of a winner of documents, of what its input file says; 0: not told. */
static weft_status read_tokenizer(weft_h5 *file, const char *group, int *tokenizer,
                                  weft_arena *tmp)
{
    static const weft_opt opt = {
        .name = "tokenizer/method", .type = WEFT_CHOICE, .words = WEFT_TOK_WORDS};
    const char *config;
    weft_conf conf;
    double value = WEFT_TOK_SPLIT;
    weft_conf_init(&conf, tmp);
    TRY(weft_h5_read_attr(file, group, "config", &config));
    TRY(weft_conf_text(&conf, file->path, config));
    for (int i = 0; i < conf.n; i++) {
        const weft_entry *entry = weft_conf_find(&conf, conf.entry[i].section, opt.name);
        if (entry) TRY(weft_opt_parse(&opt, entry->value, &value));
    }
    *tokenizer = (int)value + 1;
    return WEFT_OK;
}

/* What the run's winner was trained on, and how that was read, see weft_pack_notation. */
static weft_status read_form(const char *run, weft_form *form, const char **notation,
                             int *tokenizer, weft_arena *tmp)
{
    weft_h5 file;
    const char *group;
    *tokenizer = 0;
    *form = WEFT_NFORM;
    *notation = "";
    TRY(weft_run_file(&file, run, tmp));
    weft_status st = weft_form_read(&file, &group, form);
    if (st == WEFT_OK && *group != '\0')
        st = weft_h5_find_attr(&file, group, "notation", notation);
    if (st == WEFT_OK && *form == WEFT_TOKENS)
        st = read_tokenizer(&file, "/winner", tokenizer, tmp);
    weft_h5_close(&file);
    return st;
}

/* Packs the rows of a table, or texts, as the data of the run were. */
static weft_status pack_rows(const weft_cli *cli, const char *rows, const char *to)
{
    WEFT_SCRATCH(tmp);
    const weft_reader *reader;
    void *self;
    weft_partition over;
    weft_form form;
    int n = 0;
    const char **word = WEFT_NEW(tmp, const char *, cli->n), *notation;
    int tokenizer;
    TRY(read_form(cli->arg[0], &form, &notation, &tokenizer, tmp));
    int labelled = strncmp(notation, "label=", strlen("label=")) == 0;
    TRY(weft_reader_find(form < WEFT_NFORM ? weft_forms[form]->reader : "dense", &reader));
    word[n++] = weft_arena_text(tmp, "like=%s", cli->arg[0]);
    for (int i = 2; i < cli->n; i++) {
        word[n++] = cli->arg[i];
        labelled |= strncmp(cli->arg[i], "label=", strlen("label=")) == 0;
    }
    if (form == WEFT_TOKENS && !labelled) word[n++] = "label=none";
    TRY(weft_pack_options(reader, n, word, &self, &over, tmp));
    over.tokenizer =
        tokenizer; /* the words of others would make the file some 4 times larger */
    return weft_pack_file(reader, self, &over, rows, to, tmp);
}

/* A new file, by a name that no other process has. */
static weft_status take_name(const char *path)
{
    FILE *file = fopen(path, "w");
    if (file && fclose(file) == 0) return WEFT_OK;
    return weft_fail(
        WEFT_EFILE,
        "cannot write %s: %s; rows are packed beside the predictions, for which "
        "-o names a file",
        path, strerror(errno));
}

/* Predicts rows that are packed into a file that is removed again. */
static weft_status predict_raw(const weft_cli *cli, const char *rows, const char *beside)
{
    int root = cli->world->rank == 0;
    signal(SIGPIPE, SIG_IGN); /* a pipe that ends is an error as others */
    char *to = weft_arena_text(cli->mem, "%s" WEFT_ROWS_NAME, beside, weft_file_host(),
                               (long long)getpid());
    weft_bcast(cli->world, to, strlen(to), 0);
    if (root) weft_file_sweep(beside, 0);
    weft_status st = weft_agree(root ? take_name(to) : WEFT_OK, cli->world);
    if (st == WEFT_OK && root) st = pack_rows(cli, rows, to);
    st = weft_agree(st, cli->world);
    if (st == WEFT_OK) st = weft_run_predict(cli->arg[0], to, cli->output, cli->world);
    if (root) unlink(to);
    return st;
}

weft_status weft_cli_predict(const weft_cli *cli)
{
    int root = cli->world->rank == 0;
    const char *rows = cli->arg[1], *beside = cli->output ? cli->output : cli->arg[0];
    TRY(weft_agree(root ? check_output(cli) : WEFT_OK, cli->world));
    TRY(weft_agree(root ? weft_file_source(&rows, beside) : WEFT_OK, cli->world));
    double packed = root ? is_packed(rows) : 0;
    weft_max_f64(cli->world, &packed, 1);
    if (packed > 0 && cli->n > 2)
        return weft_fail(WEFT_ECONF, "%s is packed, so that %s has no effect; leave it out",
                         rows, cli->arg[2]);
    if (packed > 0) return weft_run_predict(cli->arg[0], rows, cli->output, cli->world);
    return predict_raw(cli, rows, beside);
}

weft_status weft_cli_export(const weft_cli *cli)
{
    const char *out = cli->output;
    if (!out)
        out = weft_arena_text(cli->mem, "%s-winner.h5", stem(cli, cli->arg[0], ".h5", 0));
    TRY(weft_h5_replace(out, WEFT_WINNER_FORMAT, cli->force));
    return weft_run_export(cli->arg[0], out);
}

/* ---- reports ---- */

static weft_status save_report(const weft_cli *cli)
{
    if (cli->n != 1 || cli->csv || cli->json || cli->trials || cli->importance)
        return weft_fail(WEFT_ECONF, "report -o writes one run, and neither CSV nor JSON");
    if (!weft_run_is_unfinished(cli->arg[0]))
        return weft_fail(WEFT_ECONF,
                         "%s is no unfinished run: a run file is there already, "
                         "or no journal of one",
                         cli->arg[0]);
    TRY(weft_h5_replace(cli->output, WEFT_RUN_FORMAT, cli->force));
    return weft_run_snapshot(cli->arg[0], cli->output);
}

weft_status weft_cli_report(const weft_cli *cli)
{
    if (cli->output) return save_report(cli);
    if (cli->trials && !cli->csv && !cli->json)
        return weft_fail(WEFT_ECONF, "report --trials prints a table for programs; add "
                                     "--csv or --json");
    if (cli->importance && (cli->trials || cli->json))
        return weft_fail(WEFT_ECONF,
                         "report --importance prints a table or, with --csv, a "
                         "row for each axis and pair; take out --%s",
                         cli->trials ? "trials" : "json");
    const char **run = WEFT_NEW(cli->mem, const char *, cli->n);
    for (int i = 0; i < cli->n; i++) run[i] = cli->arg[i];
    if (cli->importance) return weft_importance_print(run, cli->n, cli->csv);
    return weft_report(run, cli->n,
                       cli->json  ? WEFT_JSON
                       : cli->csv ? WEFT_CSV
                                  : WEFT_TABLE,
                       cli->trials);
}

weft_status weft_cli_info(const weft_cli *cli)
{
    if (cli->force && !cli->plot)
        return weft_fail(WEFT_ECONF,
                         "info: --force replaces the file of --plot; give that, "
                         "too");
    if (cli->plot) TRY(weft_picture_check(cli->plot, cli->force));
    TRY(weft_info(cli->arg[0]));
    return cli->plot ? weft_picture(cli->arg[0], cli->plot) : WEFT_OK;
}

weft_status weft_cli_doctor(const weft_cli *cli)
{
    const char *what = cli->n > 0 ? cli->arg[0] : ".";
    struct stat info;
    int file = stat(what, &info) == 0 && S_ISREG(info.st_mode);
    if (!file && cli->n > 1)
        return weft_fail(WEFT_ECONF, "usage: weft doctor [DIR | INPUT.ini "
                                     "[section.key=value ...]]");
    if (!file) return weft_doctor(what, cli->world);
    weft_conf conf;
    TRY(weft_agree(read_input(cli, &conf), cli->world));
    return weft_run_repeat(&conf, cli->world);
}
