/* The program weft: parses the command line and calls the command; or, if started by a rank
 * for that purpose, supervises a program of task command. All ranks call all commands but
 * those that need only one, which rank 0 does. */
#include "cli.h"
#include "weft/math/kernels.h"
#include "weft/par/par.h"
#include "weft/worker/link.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Who does a command: all ranks, or rank 0; ALONE: it may be one process without MPI. */
enum { ALL = 0, ROOT = 1, ALONE = 2 };

struct command {
    const char *name;
    const char *options; /* the letters of those it takes */
    int least, most;     /* arguments */
    int by;
    weft_status (*run)(const weft_cli *cli);
    const char *more; /* help text */
    const char *usage, *about;
};

enum { MANY = 1 << 20 };

/* ---- what `weft COMMAND --help` says besides ---- */

static const char pack_text[] =
    "READER is one of `weft list readers`. SOURCE is its file or directory, - standard\n"
    "input: what that is tells `weft list READER`. key=value is an option of the reader, "
    "or of `weft list\n"
    "partition`, which splits images, rows or documents over clients (clients=N).\n"
    "Text is tokenized here, once for all runs. Runs on one rank.\n";

static const char tune_text[] =
    "INPUT.ini has the sections [run], [space], and one for each plug-in that the run\n"
    "uses; `weft list --ini` prints them all. An option with a range is an axis:\n"
    "  a .. b    log a .. b    x | y | z\n"
    "section.key=value replaces an entry of the file. Every key must be read by the run;\n"
    "only plain values of parts that another choice replaced may stay in the file.\n"
    "--data FILE.h5, or run.data=FILE.h5 without INPUT.ini, chooses an input file by what\n"
    "the data are, and prints it; `weft list --plan-for FILE.h5` prints it alone.\n"
    "Without -o and run.output the run file is NAME-run.h5 after INPUT or FILE, here.\n"
    "Stopped by SIGTERM, SIGUSR1, SIGINT, SIGHUP or run.time_limit it ends with status "
    "75,\n"
    "and `weft resume RUN.h5` goes on, on any number of ranks, to the same result.\n";

static const char resume_text[] =
    "Reads RUN.d beside RUN.h5. Give the name of the run file, whether it exists or not.\n"
    "Programs start, and paths of the input file begin, where the run was begun.\n"
    "section.key=value replaces, for this start, an option on which no result depends:\n"
    "a limit of time, memory or disk, the number of teams, the path of the data;\n"
    "`weft list run` marks them. random.resource may be raised where the run is of one\n"
    "federation, complete or not: it goes on from the rounds that it has. space.configs "
    "or\n"
    "hyperband.repeats makes a search longer: it ends as one that was so long at once.\n"
    "--retry-failed repeats failed programs, of a complete run too, and the jobs that\n"
    "depended on them where they no longer agree.\n";

static const char serve_text[] =
    "A search whose jobs are done by the program that starts it, over standard input and\n"
    "output, by lines of JSON; from Python: import weft. INPUT.ini is as for `weft tune`,\n"
    "with what is tuned in section [parameters]; RUN.h5 is a run to go on with, as by\n"
    "`weft resume`. It ends as after SIGTERM when its input ends.\n";

static const char eval_text[] =
    "RUN.h5 may be an exported winner, too. Classes are told by name, and columns where\n"
    "both files have names (the first line of a CSV file). What the winner does not know,\n"
    "and data of another form, shape or alphabet, is refused. Without DATA.h5 the clients\n"
    "of the run's worker are scored, or, by worker.run=COMMAND, those of another one.\n"
    "Where numbers are predicted, the loss is the mean squared error, the error 1 - R2 by\n"
    "the variance of the training rows; MSE, RMSE and R2 of the rows of a part follow for\n"
    "each target.\n";

static const char predict_text[] =
    "ROWS is a packed file, or a table with the columns that the run was trained on, by\n"
    "name, or texts, one a line or in columns as these; - is standard input. One row is\n"
    "enough, and a label is not needed. key=value is an option of `weft list dense`, or\n"
    "`weft list text`. A line for each row has its class, and the probability or score of\n"
    "each class; or the value of each target, where these are numbers. Clients of a\n"
    "federation are found by their names and have their own weights, others the server's,\n"
    "or the mean of all. A network that translates takes sentences in the languages that\n"
    "the first line names, or, by columns=en, plain lines: directions=en-de,en-fr says\n"
    "what they are translated to; OUT is a table with TABs. Other options: `weft list\n"
    "translations`.\n";

static const char export_text[] =
    "Without -o it is named RUN-winner.h5. It has all that predictions need:\n"
    "analysis/predict.py tells them by h5py and NumPy alone.\n";

static const char report_text[] =
    "One run in full, several line by line. A run that is going on, or was stopped, is\n"
    "shown as far as it is. --trials prints a row for each trial, as CSV or JSON, with a\n"
    "column for each option that varies. --importance prints the share of each axis in "
    "the\n"
    "variance of the loss, by fANOVA, and in what tells the best tenth of the trials from\n"
    "all, by PED-ANOVA. -o writes the run so far as a file for other programs.\n";

static const char info_text[] =
    "Of a packed file what was read, and how; of a federation, how many samples clients\n"
    "have and how their classes differ. --plot draws the classes of clients of a packed\n"
    "federation, at most 200 clients.\n";

static const char list_text[] =
    "KIND: readers, features, models, nets, algorithms, tasks, tuners, samplers, mixings,\n"
    "others or sections.\n"
    "NAME: one of them, or run, space, partition.\n"
    "--ini prints an input file with every option, its default, bounds and meaning.\n"
    "--plan-for FILE.h5 prints that by which `weft tune --data FILE.h5` searches.\n";

static const char doctor_text[] =
    "DIR is where runs are to be kept, here if none is named; files that are tried there\n"
    "are removed again. Start it as runs are to be started: mpirun -n RANKS, or srun.\n"
    "Warnings say what to do.\n"
    "Of an INPUT.ini with fed.model = worker, three turns are repeated by the workers of "
    "all\n"
    "ranks: whether their bits agree is whether runs can be repeated.\n";

static const struct command commands[] = {
    {"pack", "of", 1, MANY, ROOT, weft_cli_pack, pack_text,
     "READER SOURCE -o FILE.h5 [key=value ...] [--force]",
     "read a data set and write a packed file"},
    {"tune", "opfd", 0, MANY, ALL, weft_cli_tune, tune_text,
     "INPUT.ini | --data FILE.h5 [section.key=value ...] [-o RUN.h5] [--plan] [--force]",
     "search as an input file says, or by the plan for a packed file"},
    {"resume", "r", 1, MANY, ALL, weft_cli_resume, resume_text,
     "RUN.h5 [section.key=value ...] [--retry-failed]",
     "go on with a run that was stopped or killed"},
    {"serve", "opf", 1, MANY, ALONE, weft_cli_serve, serve_text,
     "INPUT.ini | RUN.h5 [section.key=value ...] [-o RUN.h5] [--plan] [--force]",
     "search, with jobs done by the program that starts it"},
    {"eval", "", 1, MANY, ALL, weft_cli_eval, eval_text,
     "RUN.h5 [DATA.h5] [section.key=value ...]",
     "score the winner of a run on another packed file"},
    {"predict", "of", 2, MANY, ALL, weft_cli_predict, predict_text,
     "RUN.h5 ROWS [key=value ...] [-o OUT.csv] [--force]",
     "the classes, values or translations of new rows by the winner of a run"},
    {"export", "of", 1, 1, ROOT, weft_cli_export, export_text,
     "RUN.h5 [-o OUT.h5] [--force]",
     "write the winner's weights and configuration to a small file"},
    {"report", "cjtmof", 1, MANY, ROOT | ALONE, weft_cli_report, report_text,
     "RUN.h5 ... [[--trials] --csv | --json | --importance [--csv] | -o NOW.h5 [--force]]",
     "print the results of runs"},
    {"info", "gf", 1, 1, ROOT | ALONE, weft_cli_info, info_text,
     "FILE.h5 [--plot OUT.svg [--force]]", "tell what a file of weft's holds"},
    {"list", "iP", 0, 1, ALONE, weft_cli_list, list_text,
     "[KIND | NAME] [--ini] | --plan-for FILE.h5",
     "list what can be chosen by name, and its options"},
    {"doctor", "", 0, MANY, ALL, weft_cli_doctor, doctor_text,
     "[DIR | INPUT.ini [section.key=value ...]]",
     "try launcher, cores, memory, connection and file system, or workers"},
};
#define NCOMMAND (int)(sizeof commands / sizeof *commands)

static const struct option long_options[] = {{"output", required_argument, NULL, 'o'},
                                             {"plan", no_argument, NULL, 'p'},
                                             {"force", no_argument, NULL, 'f'},
                                             {"retry-failed", no_argument, NULL, 'r'},
                                             {"csv", no_argument, NULL, 'c'},
                                             {"json", no_argument, NULL, 'j'},
                                             {"trials", no_argument, NULL, 't'},
                                             {"importance", no_argument, NULL, 'm'},
                                             {"ini", no_argument, NULL, 'i'},
                                             {"data", required_argument, NULL, 'd'},
                                             {"plan-for", required_argument, NULL, 'P'},
                                             {"plot", required_argument, NULL, 'g'},
                                             {"help", no_argument, NULL, 'h'},
                                             {"version", no_argument, NULL, 'v'},
                                             {NULL, 0, NULL, 0}};
#define NOPTION (int)(sizeof long_options / sizeof *long_options - 1)

static const char *const option_help[NOPTION] = {
    "-o, --output FILE  name of the file to write",
    ("    --plan         print what the run would take; trains for about a second, or one\n"
     "                     unit of training where that takes longer"),
    "    --force        replace a file that exists",
    ("    --retry-failed repeat the programs that failed (task command), of a complete\n"
     "                     run, too, and what depended on them"),
    "    --csv          comma separated values",
    "    --json         JSON",
    "    --trials       a row for each trial",
    "    --importance   which axis of the search the loss depends on",
    "    --ini          as an input file",
    "    --data FILE.h5 search by the plan for these data",
    "    --plan-for FILE.h5  the input file of that plan",
    "    --plot OUT.svg a picture of the clients' classes",
    "-h, --help         this",
    "    --version      version and build"};

/* ---- help ---- */

static void print_help(void)
{
    printf("weft: weight-sharing tuning of feature maps and of federated learning\n\n"
           "usage: weft COMMAND ...        [mpirun -n RANKS] weft tune INPUT.ini\n\n");
    for (int i = 0; i < NCOMMAND; i++)
        printf("  %-8s %s\n", commands[i].name, commands[i].about);
    printf(
        "\n  weft help COMMAND      tells more, as weft COMMAND --help\n"
        "  weft --version         version and build\n"
        "\nExit status: 0 done, 2 wrong input or command line, 3 file, 4 data, 5 limit,\n"
        "6 all jobs failed, 75 stopped and to be resumed.\n");
}

static void print_command_help(const struct command *command)
{
    printf("usage: weft %s %s\n\n%s\n\n%s%s", command->name, command->usage, command->about,
           command->more, *command->more ? "\n" : "");
    for (int i = 0; i < NOPTION; i++)
        if (long_options[i].val == 'h' || strchr(command->options, long_options[i].val))
            printf("  %s\n", option_help[i]);
}

static void print_version(void)
{
    char mpi[256];
    weft_par_library(mpi, sizeof mpi);
    printf("weft %s\n%s numbers, kernel %s\n%s\n%s\n", WEFT_VERSION,
           sizeof(real) == 8 ? "double" : "float", weft_cpu_kernel(), WEFT_COMPILER, mpi);
}

/* ---- the command line ---- */

static weft_status find_command(const char *name, const struct command **command)
{
    const char *list[NCOMMAND];
    for (int i = 0; i < NCOMMAND; i++) {
        list[i] = commands[i].name;
        *command = &commands[i];
        if (strcmp(name, list[i]) == 0) return WEFT_OK;
    }
    return weft_fail(WEFT_ECONF,
                     "there is no command \"%s\"; did you mean `weft %s`? `weft "
                     "--help` lists all",
                     name, weft_nearest(name, list, NCOMMAND));
}

static weft_status wrong_option(const struct command *command, const char *text)
{
    const char *list[NOPTION];
    int n = 0;
    for (int i = 0; i < NOPTION; i++)
        if (long_options[i].val == 'h' || strchr(command->options, long_options[i].val))
            list[n++] = long_options[i].name;
    return weft_fail(WEFT_ECONF,
                     "%s: option %s is unknown; did you mean --%s? `weft %s --help` lists "
                     "all",
                     command->name, text, weft_nearest(text + strspn(text, "-"), list, n),
                     command->name);
}

/* Notes an option. */
static void keep(weft_cli *cli, int o)
{
    if (o == 'o') cli->output = optarg;
    if (o == 'd' || o == 'P') cli->data = optarg;
    if (o == 'g') cli->plot = optarg;
    cli->plan |= o == 'p';
    cli->force |= o == 'f';
    cli->retry |= o == 'r';
    cli->csv |= o == 'c';
    cli->json |= o == 'j';
    cli->trials |= o == 't';
    cli->importance |= o == 'm';
    cli->ini |= o == 'i';
}

/* The option for a file that is given once more; NULL: it is not. */
static const char *given(const weft_cli *cli, int o)
{
    if (o == 'o') return cli->output ? "-o" : NULL;
    if (o == 'g') return cli->plot ? "--plot" : NULL;
    return (o == 'd' || o == 'P') && cli->data ? "--data" : NULL;
}

/* Parses the options of a command; other arguments are stored in cli->arg. *help 1: help is
 * requested. */
static weft_status parse(const struct command *command, int argc, char **argv,
                         weft_cli *cli, int *help)
{
    opterr = 0;
    optind = 1;
    for (int o; (o = getopt_long(argc, argv, ":o:h", long_options, NULL)) != -1;) {
        if (o == 'h') *help = 1;
        if (o == ':' && (optopt == 'd' || optopt == 'P'))
            return weft_fail(WEFT_ECONF, "%s: %s needs a value, the packed file",
                             command->name, argv[optind - 1]);
        if (o == ':' && optopt == 'g' && strchr(command->options, 'g'))
            return weft_fail(WEFT_ECONF,
                             "%s: --plot needs a value, the name of the picture",
                             command->name);
        int lacks = o == ':' || (o == 'o' && *optarg == '-');
        if (lacks && strchr(command->options, 'o'))
            return weft_fail(
                WEFT_ECONF, "%s: -o needs a value, the name of the file to write%s%s",
                command->name, o == 'o' ? ", not the option " : "", o == 'o' ? optarg : "");
        if (o != 'h' && (o == '?' || o == ':' || !strchr(command->options, o)))
            return wrong_option(command,
                                argv[optind - 1 - (optarg && argv[optind - 1] == optarg)]);
        if (given(cli, o))
            return weft_fail(WEFT_ECONF, "%s: %s is given twice; keep one of them",
                             command->name, given(cli, o));
        keep(cli, o);
    }
    cli->n = argc - optind;
    cli->arg = argv + optind;
    if (!*help && (cli->n < command->least || cli->n > command->most))
        return weft_fail(WEFT_ECONF, "usage: weft %s %s", command->name, command->usage);
    if (cli->csv && cli->json)
        return weft_fail(WEFT_ECONF, "--csv and --json exclude each other");
    return WEFT_OK;
}

static weft_status run(int argc, char **argv, weft_cli *cli)
{
    const char *name = argc > 1 ? argv[1] : "--help";
    int root = cli->world->rank == 0;
    int helps = strcmp(name, "help") == 0;
    if ((helps && argc == 2) || strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) {
        if (root) print_help();
        return WEFT_OK;
    }
    if (strcmp(name, "--version") == 0) {
        if (root) print_version();
        return WEFT_OK;
    }
    const struct command *command;
    TRY(find_command(helps ? argv[2] : name, &command));
    int help = helps; /* `weft help COMMAND` */
    if (!helps) TRY(parse(command, argc - 1, argv + 1, cli, &help));
    if (!help && command->by & ROOT)
        return weft_agree(root ? command->run(cli) : WEFT_OK, cli->world);
    if (!help) return command->run(cli);
    if (root) print_command_help(command);
    return WEFT_OK;
}

/* 1 if the command line can be done without MPI: help, and commands that only read. */
static int goes_alone(int argc, char **argv)
{
    if (weft_par_launched() > 1) return 0;
    if (argc > 2 && (strcmp(argv[2], "--help") == 0 || strcmp(argv[2], "-h") == 0))
        return 1;
    for (int i = 0; argc > 1 && i < NCOMMAND; i++)
        if (strcmp(argv[1], commands[i].name) == 0) return commands[i].by & ALONE;
    return 1; /* help, the version, or no command */
}

/* What was printed may be still in memory, or lost. */
static weft_status flush_output(void)
{
    errno = 0;
    if (fflush(stdout) == 0 && !ferror(stdout)) return WEFT_OK;
    return weft_fail(WEFT_EFILE,
                     "cannot write all of the output: %s; free space, or send it elsewhere",
                     errno ? strerror(errno) : "an earlier write failed");
}

/* The message of a failure. Open MPI's mpirun tells of the exit status at length on stderr,
 * after all that ranks print there, so that what was wrong is out of sight. */
static void tell(void)
{
    if (weft_par_hides_stderr()) printf("weft: %s\n", weft_error());
    fflush(stdout);
    fprintf(stderr, "weft: %s\n", weft_error());
}

/* Descriptors 0 to 2 that the caller closed stay so: nothing that is opened later, a run
 * file or a journal, takes their numbers, and is written what is printed. */
static void keep_closed(void)
{
    int fd;
    do fd = open("/dev/null", O_RDONLY);
    while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd >= 0) close(fd);
}

/* Memory that one job frees serves the next: a fresh page costs a fault and its zeros. */
static void keep_memory(void)
{
#ifdef __GLIBC__
    mallopt(M_MMAP_MAX, 0);
    mallopt(M_TRIM_THRESHOLD, INT_MAX);
#endif
}

int main(int argc, char **argv)
{
    weft_team world;
    if (argc > 1 && strcmp(argv[1], WEFT_CHILD_WORD) == 0)
        return weft_process_child(argc, argv);
    keep_closed();
    keep_memory();
    signal(SIGXFSZ, SIG_IGN); /* a write beyond a limit of file size fails with an error, as
                                 on a full disk */
    weft_status st = weft_par_begin();
    if (st != WEFT_OK) {
        tell();
        _exit(st);
    }
    if (goes_alone(argc, argv))
        weft_par_alone(&world);
    else
        st = weft_par_start(&argc, &argv, &world);
    if (st != WEFT_OK) {
        if (*weft_error()) tell();
        return st;
    }
    weft_cli cli = {.world = &world, .mem = weft_arena_new()};
    st = weft_agree(weft_par_room(), &world);
    const int cramped = st != WEFT_OK;
    if (st == WEFT_OK) st = run(argc, argv, &cli);
    st = weft_agree(st == WEFT_OK ? flush_output() : st, &world);
    if (st != WEFT_OK && world.rank == 0) tell();
    weft_arena_free(cli.mem);
    weft_par_end(&world);
    if (cramped) _exit(st); /* OpenBLAS asks for its room without end, and is waited for */
    return st == WEFT_EWORKER ? WEFT_STOP : st;
}
