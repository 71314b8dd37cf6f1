/* Task command, job by job: the directories that trials continue and copy, failing
 * programs, stopped runs, and parsing of a program's output. The test is its own
 * supervisor of programs.
 * RUN: np=1 np=2 */
#include "measured.h"
#include "scratch.h"
#include "task/command/command.h"
#include "weft/worker/link.h"

#include <fcntl.h>

static const weft_task *const task = &weft_task_command;

/* ---- the task ---- */

static const char program[] =
    "#!/bin/sh\n"
    "cd \"$WEFT_DIR\" || exit 1\n"
    "[ \"$PARAM_how\" != stale ] || [ \"$(ls -d ../files-0-9.tmp.* | grep -vc log)\" = 1 ] "
    "|| "
    "exit 8\n"
    "echo \"$WEFT_TRIAL $WEFT_JOB $WEFT_DONE $WEFT_TOTAL\" >>own\n"
    "mkdir -p sub/deep && echo \"$WEFT_JOB\" >sub/deep/last && chmod 600 sub/deep/last\n"
    "ln -sf own link\n"
    "[ \"$PARAM_how\" != fail ] || exit 7\n"
    "[ \"$PARAM_how\" != long ] || sleep 1000000\n"
    "[ \"$PARAM_how\" != told ] || { touch ../told; kill -USR1 $$; }\n"
    "case $PARAM_how in gone|file|empty) rm -r \"$WEFT_DIR\";; esac\n"
    "[ \"$PARAM_how\" != file ] || : >\"$WEFT_DIR\"\n"
    "[ \"$PARAM_how\" != empty ] || mkdir -p \"$WEFT_DIR/weft.log/x\" || exit 9\n"
    "case $PARAM_how in gone|file|empty) echo loss=1; exit;; esac\n"
    "printf '%s\\n' \"$WEFT_PARAMETERS\" >parameters\n"
    "echo loss=$(wc -l <own)\n";

struct stand {
    void *self;
    weft_conf *conf;
    weft_space space;
    weft_job job;
    weft_result res;
    weft_state state;
};

static int stops; /* when it is asked so often from then on that the program was told */

static int is_stopped(void)
{
    if (stops > 1 && access(at("told"), F_OK) == 0) stops--;
    return stops == 1;
}

/* The task, whose program does what `how` says. */
static weft_status set_up(struct stand *stand, const char *how)
{
    *stand = (struct stand){.self = weft_arena_alloc(mem, 1, task->kind.size)};
    stand->conf = WEFT_NEW(mem, weft_conf, 1);
    weft_conf_init(stand->conf, mem);
    const char *text =
        printed("[command]\nrun = sh %s\n[parameters]\nhow = %s\nx = 1 .. 9\n"
                "word = say \"a\\b\"\nnumber = 1e-3\nalmost = 01\nyes = true\n"
                "list = '[1, 2] | 3'\nother = (4)\n",
                at("program"), how);
    TRY(weft_conf_text(stand->conf, "test", text));
    TRY(open_task(task, stand->self, stand->conf, &stand->space,
                  (weft_env){.team = &world,
                             .seed = 3,
                             .memory = 1e9,
                             .mem = mem,
                             .dir = scratch,
                             .failed = at("failed"),
                             .stopped = is_stopped}));
    stand->res = result_of(task, 1);
    weft_mix mix = weft_mix_new(1, 1, mem);
    stand->job = weft_job_new(0, 0, &mix);
    stand->state = weft_state_new(task, stand->self, &stand->job, mem);
    stand->job.mix.conf[0] = 5;
    return WEFT_OK;
}

static weft_status run(struct stand *stand, int trial, int job, double resource)
{
    stand->job.trial = trial;
    stand->job.id = job;
    stand->job.resource = resource;
    return task->step(stand->self, &stand->job, 0, &stand->state, NULL, &stand->res);
}

/* A task with the state of another: its trial goes on, or another copies it. */
static struct stand *after(const struct stand *other, const char *how)
{
    struct stand *stand = WEFT_NEW(mem, struct stand, 1);
    must(set_up(stand, how));
    must(weft_state_copy(&stand->state, &other->state));
    return stand;
}

/* ---- files ---- */

/* The text of a file, "" where there is none. */
static const char *text_of(const char *name)
{
    char *text = weft_arena_alloc(mem, 1, 4096);
    FILE *file = fopen(at(name), "r");
    if (!file) return "";
    text[fread(text, 1, 4095, file)] = '\0';
    fclose(file);
    return text;
}

static int there(const char *name)
{
    struct stat info;
    return lstat(at(name), &info) == 0;
}

/* 1 where rank 0 runs the command with success. */
static int shell(const char *line)
{
    int good = 1;
    if (world.rank == 0) good = system(printed("cd %s && %s", scratch, line)) == 0;
    weft_bcast(&world, &good, sizeof good, 0);
    return good;
}

/* ---- jobs ---- */

static void test_directories(void)
{
    struct stand *a = WEFT_NEW(mem, struct stand, 1);
    must(set_up(a, "well"));
    ok(run(a, 0, 0, 2) == WEFT_OK && fabs(a->res.loss - 1) < 1e-15, "a program is run: %s",
       weft_error());
    ok(strcmp(text_of("files-0-0/own"), "0 0 0 2\n") == 0, "its directory has its name");
    ok(strcmp(text_of("files-0-0/parameters"),
              "{\"how\":\"well\",\"x\":5,\"word\":"
              "\"say \\\"a\\\\b\\\"\",\"number\":1e-3,"
              "\"almost\":\"01\",\"yes\":true,\"list\":\"[1, 2] | 3\","
              "\"other\":\"(4)\"}\n") == 0,
       "parameters are JSON");

    struct stand *b = after(a, "well"), *c = after(a, "well");
    ok(run(b, 7, 1, 3) == WEFT_OK &&
           strcmp(text_of("files-7-1/own"), "0 0 0 2\n7 1 2 5\n") == 0,
       "a copy begins with a copy of its parent's directory and resource");
    ok(run(c, 0, 2, 0.5) == WEFT_OK &&
           strcmp(text_of("files-0-2/own"), "0 0 0 2\n0 2 2 2.5\n") == 0,
       "so does the trial that goes on");
    ok(strcmp(text_of("files-0-0/own"), "0 0 0 2\n") == 0 &&
           strcmp(text_of("files-0-0/sub/deep/last"), "0\n") == 0,
       "the parent's directory stays as it was");
    struct stat mode, link;
    ok(stat(at("files-7-1/sub/deep/last"), &mode) == 0 && (mode.st_mode & 0777) == 0600 &&
           lstat(at("files-7-1/link"), &link) == 0 && S_ISLNK(link.st_mode),
       "modes and links are kept");
    struct stand *d = after(b, "well");
    ok(run(d, 8, 3, 1) == WEFT_OK && fabs(d->res.loss - 3) < 1e-15, "copies are copied");
    ok(run(d, 8, 3, 1) == WEFT_OK && fabs(d->res.loss - 4) < 1e-15,
       "a directory of a job that was done but not recorded is replaced");
    digest(weft_state_hash(&d->state));
    ok(shell("test \"$(ls -d files-* | wc -l)\" = 4"), "no attempt is left");
    ok(shell("rm -r files-0-2"), "a directory is lost");
    fails(run(c, 0, 4, 1), WEFT_EFILE, "files-0-2 is missing, which job 2 left", "--force",
          "what a job goes on from");
}

static void test_failures(void)
{
    struct stand *a = WEFT_NEW(mem, struct stand, 1);
    must(set_up(a, "fail"));
    ok(run(a, 1, 20, 1) == WEFT_OK && isinf(a->res.loss),
       "a program that fails is a result");
    ok(there("failed/1-20.log"), "its log stays");
    struct stand *b = after(a, "well");
    ok(run(b, 1, 21, 1) == WEFT_OK && isinf(b->res.loss) && !there("files-1-21"),
       "its trial is not trained again");
    ok(shell("mkdir files-0-9.tmp.1 files-0-9.tmp.77 && touch files-0-9.tmp.77/x"),
       "attempts were killed");
    struct stand *c = WEFT_NEW(mem, struct stand, 1);
    must(set_up(c, "stale"));
    ok(run(c, 0, 9, 1) == WEFT_OK && fabs(c->res.loss - 1) < 1e-15,
       "what they left is gone before the next");
    struct stand *d = WEFT_NEW(mem, struct stand, 1);
    must(set_up(d, "long"));
    stops = 1;
    ok(run(d, 3, 30, 1) == WEFT_STOP, "a run is stopped");
    ok(shell("! ls -d files-3-30* 2>/dev/null"), "and the attempt is gone");
    struct stand *e = WEFT_NEW(mem, struct stand, 1);
    must(set_up(e, "told"));
    stops = 4;
    ok(run(e, 3, 31, 1) == WEFT_STOP,
       "a program that a signal ended before the run was told has not failed");
    stops = 0;
}

/* Programs that remove what they are given. */
static void test_removed(void)
{
    static const char *const how[] = {"gone", "file"};
    for (int i = 0; i < 2; i++) {
        struct stand *a = WEFT_NEW(mem, struct stand, 1);
        must(set_up(a, how[i]));
        ok(run(a, 5, 50 + i, 1) == WEFT_OK,
           "where a program has no directory (%s) the run goes on", how[i]);
        ok(isinf(a->res.loss) && a->res.failure == WEFT_CRASHED, "the program has failed");
        ok(world.rank > 0 || strstr(a->res.why, "it removed its directory"),
           "it is told why");
    }
    struct stand *b = WEFT_NEW(mem, struct stand, 1);
    must(set_up(b, "empty"));
    ok(run(b, 5, 52, 1) == WEFT_OK && fabs(b->res.loss - 1) < 1e-15 &&
           strcmp(text_of("files-5-52/weft.log"), "loss=1\n") == 0,
       "one that empties it has its log nevertheless");
    ok(shell("! ls -d files-5-5[01]* files-*.tmp.* 2>/dev/null"),
       "and nothing else is left");
}

/* ---- what is printed ---- */

static const char lines[] = "loss=1 epoch\n--loss=2 xloss=3 loss=4s loss= =5\n"
                            "val/loss=0.5, acc=7e-1;\tn=-inf\r\n\nacc=x loss=nan\n"
                            "loss = 9\nend=1";

static const char *const wanted[] = {"loss", "error"};

/* What was printed in pieces of that many bytes. */
static weft_printed *printed_in(const char *text, size_t n, size_t piece)
{
    weft_printed *printed = weft_printed_new(2, wanted, mem);
    for (size_t i = 0; i < n; i += piece)
        weft_printed_add(printed, 0, text + i, piece < n - i ? piece : n - i);
    return printed;
}

static double found(const weft_printed *printed, const char *name)
{
    const weft_number *number = weft_printed_find(printed, 0, name);
    return number ? number->value : -77;
}

static void test_lines(void)
{
    int good = 1;
    for (size_t piece = 1; piece < sizeof lines; piece++) {
        weft_printed *p = printed_in(lines, sizeof lines - 1, piece);
        good = good && found(p, "end") < 0;
        weft_printed_end(p);
        good = good && isnan(found(p, "loss")) && fabs(found(p, "xloss") - 3) < 1e-15 &&
               fabs(found(p, "val/loss") - 0.5) < 1e-15 &&
               fabs(found(p, "acc") - 0.7) < 1e-15 && isinf(found(p, "n")) &&
               fabs(found(p, "end") - 1) < 1e-15 && p->stream[0].names.n == 7 &&
               !weft_printed_find(p, 0, "error") &&
               strcmp(weft_printed_last(p), "end=1") == 0;
    }
    ok(good, "numbers are read from lines that come in pieces of any size");
    weft_printed *p = weft_printed_new(2, wanted, mem);
    for (int i = 0; i < 2000; i++) {
        const char *text = printed("v%d=%d%s", i, i, i % 100 ? "\r" : ", ");
        weft_printed_add(p, 0, text, strlen(text));
    }
    ok(p->left_out && fabs(found(p, "v1023") - 1023) < 1e-12 && found(p, "v1024") < 0,
       "names beyond the most are left out");
    weft_printed_add(p, 0, "loss=7 v9=-1 error=8\n", 21);
    ok(fabs(found(p, "loss") - 7) < 1e-15 && fabs(found(p, "error") - 8) < 1e-15 &&
           fabs(found(p, "v9") + 1) < 1e-15,
       "but neither wanted ones nor those that are known");
    weft_printed_add(p, 1, "more=1\n", 7);
    ok(p->left_out, "which an unknown name among the errors does not change");
    weft_printed_add(p, 1, "oh\a no\n\n", 8);
    ok(strcmp(weft_printed_last(p), "oh  no") == 0, "errors go before output");
    p = printed_in("a\n\x1b[1mb\x1b[0m 7%\r 8%\r", 19, 1);
    ok(strcmp(weft_printed_last(p), " 8%") == 0, "the last line of a progress bar is told");
}

/* A loss as programs print it. */
struct loss {
    const char *text;
    weft_said said;
    double value; /* of numbers */
};

#define BAR "\rEpoch 0: 50%|##| 1/2 [00:01<00:00, 9.9it/s, loss=0.25"
static const struct loss losses[] = {
    {"loss=.25", WEFT_SAID_NUMBER, 0.25},
    {"loss=+25.e-2", WEFT_SAID_NUMBER, 0.25},
    {"loss=0x1p-2", WEFT_SAID_NUMBER, 0.25},
    {"loss=0.25D+00", WEFT_SAID_NUMBER, 0.25},
    {"loss=-2.5d-1", WEFT_SAID_NUMBER, -0.25},
    {"loss=0.25, loss=", WEFT_SAID_TEXT, 0},
    {"loss=1,acc=2", WEFT_SAID_NUMBER, 1},
    {"loss=1;loss=0.25,", WEFT_SAID_NUMBER, 0.25},
    {"loss=1\rloss=0.25\r", WEFT_SAID_NUMBER, 0.25},
    {BAR ", v_num=0]", WEFT_SAID_NUMBER, 0.25},
    {BAR "]", WEFT_SAID_NUMBER, 0.25},
    {"(loss=0.25)", WEFT_SAID_NUMBER, 0.25},
    {"loss=1 \b\b\b\b\b\b\b\bloss=0.25", WEFT_SAID_NUMBER, 0.25},
    {"loss=0.25999\b\b\b", WEFT_SAID_NUMBER, 0.25},
    {"\x1b[36mloss\x1b[0m=\x1b[1;35m0.25\x1b[0m", WEFT_SAID_NUMBER, 0.25},
    {"loss=1\x1b[2K\x1b[1Gloss=0.25\x1b(B\x1b[m", WEFT_SAID_NUMBER, 0.25},
    {"\x1b]0;title loss=7\aloss=0.25", WEFT_SAID_NUMBER, 0.25},
    {"loss=0.25 v\303\251lo loss\303\251=3 \303\251loss=4", WEFT_SAID_NUMBER, 0.25},
    {"loss=0.25 #loss=1 --loss=2 $loss=3 a:loss=4 f(loss=5", WEFT_SAID_NUMBER, 0.25},
    {"loss=inf", WEFT_SAID_NUMBER, INFINITY},
    {"loss=-Infinity", WEFT_SAID_NUMBER, -INFINITY},
    {"loss=1e400", WEFT_SAID_HUGE, 0},
    {"loss=0,25", WEFT_SAID_BROKEN, 0},
    {"loss=1,234.5", WEFT_SAID_BROKEN, 0},
    {"loss=,25", WEFT_SAID_BROKEN, 0},
    {"loss=1.234,5,", WEFT_SAID_BROKEN, 0},
    {"loss=1'234.5", WEFT_SAID_BROKEN, 0},
    {"loss=1\302\240234", WEFT_SAID_BROKEN, 0},
    {"loss=4s", WEFT_SAID_BROKEN, 0},
    {"loss=25%", WEFT_SAID_BROKEN, 0},
    {"loss=0.2loss=0.25", WEFT_SAID_BROKEN, 0},
    {"loss=0.1234-102", WEFT_SAID_BROKEN, 0},
    {"loss=1.#QNAN", WEFT_SAID_BROKEN, 0},
    {"loss=****", WEFT_SAID_TEXT, 0},
    {"loss=tensor(0.25, device='cuda')", WEFT_SAID_TEXT, 0},
    {"loss=[0.25]", WEFT_SAID_TEXT, 0},
    {"loss=1 loss=NA", WEFT_SAID_TEXT, 0},
    {"loss=None", WEFT_SAID_TEXT, 0}};

static void test_losses(void)
{
    for (size_t i = 0; i < LEN(losses); i++) {
        const struct loss *loss = &losses[i];
        int good = 1;
        for (size_t piece = 1; piece < 9; piece++) {
            weft_printed *p = printed_in(loss->text, strlen(loss->text), piece);
            weft_printed_end(p);
            const weft_number *x = weft_printed_find(p, 0, "loss");
            int number = loss->said == WEFT_SAID_NUMBER;
            good = good && x && x->said == loss->said &&
                   (number ? x->value >= loss->value && x->value <= loss->value
                           : isnan(x->value));
        }
        ok(good, "case %d of a loss is read as a whole or not at all", (int)i);
    }
    weft_printed *p = printed_in("loss=0.2\0005 \n", 12, 3);
    ok(weft_printed_find(p, 0, "loss")->said == WEFT_SAID_BROKEN,
       "a byte of zero in a number makes it none");
    char *text = weft_arena_alloc(mem, 1, 9000);
    memset(text, '3', 8999);
    memcpy(text, "loss=0.", 7);
    p = printed_in(text, 8999, 100);
    weft_printed_add(p, 0, "\b\n", 2);
    const weft_number *x = weft_printed_find(p, 0, "loss");
    ok(x->said == WEFT_SAID_LONG && strncmp(x->text, text, 80) == 0,
       "a number without end is not cut to one");
    memset(text, ' ', 8999);
    p = printed_in(text, 8999, 4096);
    weft_printed_add(p, 0, "loss=0.25 ", 10);
    ok(fabs(found(p, "loss") - 0.25) < 1e-15, "lines have any length");
}

/* What a log of at most 20 bytes keeps of n printed ones. */
static const char *log_of(int n, int piece)
{
    weft_output output;
    const char *name = printed("log.%d", world.rank);
    must(weft_output_open(&output, at(name), 20, mem));
    char *text = weft_arena_alloc(mem, 1, (size_t)n + 1);
    for (int i = 0; i < n; i++) text[i] = (char)('a' + i % 26);
    for (int i = 0; i < n; i += piece)
        weft_output_add(&output, text + i, (size_t)(piece < n - i ? piece : n - i));
    must(weft_output_close(&output, at(name)));
    return text_of(name);
}

static void test_log(void)
{
    int good = 1;
    for (int piece = 1; piece < 40; piece++)
        good = good && strcmp(log_of(7, piece), "abcdefg") == 0 &&
               strcmp(log_of(20, piece), "abcdefghijklmnopqrst") == 0 &&
               strcmp(log_of(13, piece), "abcdefghijklm") == 0 &&
               strcmp(log_of(30, piece),
                      "abcdefghij\n... 10 bytes are left out ...\nuvwxyzabcd") == 0;
    ok(good, "a log has the beginning and the end of what was printed");
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], WEFT_CHILD_WORD) == 0)
        return weft_process_child(argc, argv);
    scratch_begin(&argc, &argv);
    weft_log_set(WEFT_ERROR, world.rank);
    write_text("program", program);
    return TESTS(test_directories, test_failures, test_removed, test_lines, test_losses,
                 test_log);
}
