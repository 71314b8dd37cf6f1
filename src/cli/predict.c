/* `weft predict`: rows of a packed file, or a table, texts or sentences that are packed for
 * it. */
#include "cli.h"
#include "rundir/rundir.h"
#include "weft/data.h"
#include "weft/file.h"
#include "weft/filenames.h"
#include "weft/h5.h"
#include "weft/pack.h"
#include "weft/registry.h"
#include "weft/run.h"
#include "weft/text.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int is_h5_name(const char *path)
{
    size_t n = strlen(path);
    return n > 3 && strcmp(path + n - 3, ".h5") == 0;
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

/* EFILE: there is a file that may not be replaced. */
static weft_status check_output(const weft_cli *cli)
{
    const char *path = cli->output;
    char line[32];
    if (!path || access(path, F_OK) != 0) return WEFT_OK;
    if (is_h5_name(path)) return weft_h5_replace(path, WEFT_PREDICTIONS_FORMAT, cli->force);
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

int weft_cli_is_packed(const char *path)
{
    char head[8] = "";
    FILE *file = fopen(path, "rb");
    if (!file) return is_h5_name(path);
    size_t n = fread(head, 1, sizeof head, file);
    fclose(file);
    if (n < sizeof head || memcmp(head, "\x89HDF\r\n\x1a\n", sizeof head) != 0) return 0;
    weft_arena *tmp = weft_arena_new();
    weft_h5 h5;
    int packed = weft_h5_open(&h5, path, tmp) != WEFT_OK || weft_h5_has(&h5, "/@format");
    weft_h5_close(&h5);
    weft_arena_free(tmp);
    return packed;
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
static weft_status pack_rows(const weft_cli *cli, const char *rows, const char *to,
                             weft_arena *tmp)
{
    const weft_reader *reader;
    void *self;
    weft_partition over;
    weft_form form;
    int n = 0;
    const char **word = WEFT_NEW(tmp, const char *, cli->n), *notation;
    int tokenizer;
    TRY(read_form(cli->arg[0], &form, &notation, &tokenizer, tmp));
    int labelled = strncmp(notation, "label=", strlen("label=")) == 0;
    TRY(weft_reader_find(form == WEFT_TOKENS      ? "text"
                         : form == WEFT_SENTENCES ? "translations"
                                                  : "dense",
                         &reader));
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
    weft_arena *tmp = weft_arena_new(); /* packing takes much */
    signal(SIGPIPE, SIG_IGN);           /* a pipe that ends is an error as others */
    char *to = weft_arena_text(cli->mem, "%s" WEFT_ROWS_NAME, beside, weft_file_host(),
                               (long long)getpid());
    weft_bcast(cli->world, to, strlen(to), 0);
    if (root) weft_file_sweep(beside, 0);
    weft_status st = weft_agree(root ? take_name(to) : WEFT_OK, cli->world);
    if (st == WEFT_OK && root) st = pack_rows(cli, rows, to, tmp);
    weft_arena_free(tmp);
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
    double packed = root ? weft_cli_is_packed(rows) : 0;
    weft_max_f64(cli->world, &packed, 1);
    if (packed > 0 && cli->n > 2)
        return weft_fail(WEFT_ECONF, "%s is packed, so that %s has no effect; leave it out",
                         rows, cli->arg[2]);
    if (packed > 0) return weft_run_predict(cli->arg[0], rows, cli->output, cli->world);
    return predict_raw(cli, rows, beside);
}
