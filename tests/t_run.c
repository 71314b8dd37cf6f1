/* The scheduler with its journal: order of jobs, states passed on, winner, and restart
 * after every job of a run. The task is a toy whose state records the jobs that it went
 * through.
 * RUN: np=1 np=2 np=3 */
#include "toy_run.h"
#include "weft/base/files.h"
#include "weft/store/file.h"

#include <dirent.h>
#include <sys/wait.h>

/* ---- a tuner that follows a script ---- */

struct line {
    int64_t trial, from;
    int index, last, config, told; /* asked when so many results were told */
};

/* Trials go on, and are copied while a job of theirs is in flight. */
static const struct line lines[] = {
    {0, -1, 0, 0, 1, 0}, {1, -1, 0, 0, 0, 0}, {0, -1, 1, 0, 0, 1}, {2, 0, 0, 0, 2, 1},
    {1, -1, 1, 1, 4, 2}, {0, -1, 2, 1, 3, 3}, {2, -1, 1, 0, 0, 4}, {3, 2, 0, 1, 6, 5},
};
enum { NLINE = LEN(lines) };

struct script {
    int asked, told, in_order;
    const weft_space *space;
    weft_mix mix;
    weft_rundir *rundir; /* whose states are counted at the end; NULL: nothing is */
    int states;
};

/* The states in the directory of a run, once those that are to be removed are. */
static int states_in(weft_rundir *rundir)
{
    int n = 0;
    must(weft_rundir_sync(rundir, 1));
    DIR *dir = opendir(rundir->dir);
    weft_check(dir, "cannot read %s", rundir->dir);
    for (struct dirent *entry; (entry = readdir(dir));)
        n += strncmp(entry->d_name, "state-", 6) == 0;
    closedir(dir);
    return n;
}

static weft_status script_setup(void *self, const weft_space *space, uint64_t seed,
                                weft_arena *own)
{
    struct script *script = self;
    (void)seed;
    *script = (struct script){
        .in_order = 1, .space = space, .mix = weft_mix_new(1, space->dim, own)};
    return WEFT_OK;
}

static weft_asked script_ask(void *self, weft_job *job)
{
    struct script *script = self;
    if (script->asked == NLINE) return script->told == NLINE ? WEFT_DONE : WEFT_WAIT;
    const struct line *line = &lines[script->asked];
    if (script->told < line->told) return WEFT_WAIT;
    script->asked++;
    script->mix.id[0] = line->config;
    weft_space_config(script->space, line->config, script->mix.conf);
    *job = weft_job_new(line->trial, 1, &script->mix);
    job->from = line->from;
    job->index = line->index;
    job->last = line->last;
    return WEFT_JOB;
}

static void script_tell(void *self, const weft_result *res)
{
    struct script *script = self;
    if (res->job != script->told++) script->in_order = 0;
    if (script->rundir && script->told == NLINE && script->rundir->world->rank == 0)
        script->states = states_in(script->rundir);
}

static int64_t script_jobs(const void *self)
{
    (void)self;
    return NLINE;
}

static const weft_tuner script_tuner = {
    .kind = {.name = "script", .size = sizeof(struct script)},
    .shared = WEFT_SHARES_SPACE,
    .setup = script_setup,
    .ask = script_ask,
    .tell = script_tell,
    .jobs = script_jobs};

/* ---- tests ---- */

static int exists(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0;
}

static void test_order(void)
{
    struct bench bench;
    weft_status st = run_to(&bench, &script_tuner, NULL, 0, -1);
    ok(st == WEFT_OK && bench.sched.queue.n == NLINE,
       "a scripted tuner's jobs are all run");
    ok(((const struct script *)bench.search.tuner_self)->in_order,
       "results are told in the order of the jobs");
    /* of those in flight the even configurations first, but not for ever */
    static const int64_t order[NLINE] = {1, 0, 2, 3, 4, 6, 7, 5};
    ok(memcmp(order, bench.task.order, sizeof order) == 0,
       "jobs in flight run by affinity");
    static const double expected[NLINE] = {1, 1, 2, 2, 2, 3, 3, 3};
    double resource[NLINE];
    for (int i = 0; i < NLINE; i++) resource[i] = bench.sched.queue.record[i].res.resource;
    ok(memcmp(expected, resource, sizeof resource) == 0,
       "resources add up along trials; a copy is of the last job that was told");
    end_run(&bench.sched, 0);
}

/* Of jobs that wait for nothing, and are alike to the task, the expensive ones are done
 * first, so that no team has a long one left at the end. */
static void test_costs(void)
{
    struct bench bench;
    weft_status st = prepare(&bench, &weft_tuner_random, NULL, 0);
    bench.task.costly = 1;
    if (st == WEFT_OK) st = weft_sched_run(&bench.sched);
    int falls = st == WEFT_OK && bench.sched.queue.n == 8;
    for (int i = 1; falls && i < 8; i++) {
        const weft_job *job = &bench.sched.queue.record[bench.task.order[i]].job;
        const weft_job *before = &bench.sched.queue.record[bench.task.order[i - 1]].job;
        int alike = job->mix.id[0] % 2 == before->mix.id[0] % 2;
        falls = !alike || job->mix.conf[0] < before->mix.conf[0];
    }
    ok(falls, "jobs that are asked for together run by falling cost");
    end_run(&bench.sched, 0);
}

/* States that no later job can begin with are removed while the search goes on: of those
 * that the script's jobs leave on disk, only that of trial 2, which may go on, is there at
 * the end.
 */
static void test_states(void)
{
    const char *path = at("s.h5");
    struct bench bench;
    weft_status st = prepare(&bench, &script_tuner, path, 1);
    ((struct script *)bench.search.tuner_self)->rundir = &bench.trace;
    if (st == WEFT_OK) st = weft_sched_run(&bench.sched);
    int states = ((struct script *)bench.search.tuner_self)->states;
    ok(st == WEFT_OK && (world.rank > 0 || states == 1),
       "states that no job needs are removed (%d are left)", states);
    end_run(&bench.sched, 1);
}

/* The lowest loss among single configurations at the most resource. */
static void test_winner(void)
{
    struct bench bench;
    weft_status st = run_to(&bench, &weft_tuner_random, NULL, 0, -1);
    ok(st == WEFT_OK && bench.sched.queue.n == 8, "a sweep of eight runs eight jobs");
    int best = 0;
    for (int i = 0; i < 8; i++)
        if (bench.sched.queue.record[i].res.loss < bench.sched.queue.record[best].res.loss)
            best = i;
    ok(bench.sched.queue.winner.job.id == best,
       "the winner of a sweep has the lowest loss");
    const weft_state *state = NULL;
    st = weft_cache_winner(&bench.sched, &state);
    ok(st == WEFT_OK && state->x[0] >= 1 && state->x[0] <= 1, "its state is kept");
    is_near((double)state->x[1], best, 0, "and is its own");
    digest(sched_digest(&bench.sched));
    end_run(&bench.sched, 0);

    st = prepare(&bench, &weft_tuner_random, NULL, 0);
    bench.sched.limits.target = 100;
    if (st == WEFT_OK) st = weft_sched_run(&bench.sched);
    ok(st == WEFT_OK && bench.sched.queue.n == 1, "a target that is met ends the search");
    end_run(&bench.sched, 0);
    st = prepare(&bench, &weft_tuner_ws_sha, NULL, 0);
    bench.sched.limits.target = 100;
    if (st == WEFT_OK) st = weft_sched_run(&bench.sched);
    ok(st == WEFT_OK && bench.sched.queue.n == 4 && bench.sched.queue.winner.job.mix.k == 1,
       "but not by a fit that maps share");
    end_run(&bench.sched, 0);
}

/* Stops a run after each of its jobs, resumes it, and compares with one that was not
 * stopped. */
static void test_restart(const weft_tuner *tuner)
{
    const char *path = at("r.h5");
    const char *journal = at("r.d/journal");
    struct bench bench;
    weft_status st = run_to(&bench, tuner, NULL, 0, -1);
    int64_t n = bench.sched.queue.n;
    uint64_t whole = sched_digest(&bench.sched);
    digest(whole);
    end_run(&bench.sched, 0);
    int stopped = 1, same = 1, steps = 1, gone = 1;
    for (int64_t at = 0; at + 1 < n; at++) {
        st = run_to(&bench, tuner, path, 1, (int)at);
        stopped &= st == WEFT_STOP && bench.task.steps == at + 1;
        end_run(&bench.sched, 0);
        st = run_to(&bench, tuner, path, 0, -1);
        same &= st == WEFT_OK && sched_digest(&bench.sched) == whole;
        steps &= bench.task.steps == n - at - 1 && bench.sched.queue.replayed == at + 1;
        end_run(&bench.sched, 1);
        gone &= world.rank != 0 || !exists(journal);
    }
    const char *name = tuner->kind.name;
    ok(stopped, "%s: a signal stops the run after the job in flight", name);
    ok(same, "%s: resumed after any job it ends with the same digest", name);
    ok(steps, "%s: no job is done twice", name);
    ok(gone, "%s: nothing is left beside the run file", name);
}

/* Rewrites the journal to be that of a program with numbers of 8 bytes where this one has
 * 4, or back. */
static void change_numbers(const char *journal)
{
    weft_journal j;
    weft_record *rec, *none;
    int64_t n, nothing;
    must(weft_journal_open(&j, journal, &rec, &n, mem));
    weft_journal_close(&j);
    unlink(journal);
    must(weft_journal_open(&j, journal, &none, &nothing, mem));
    for (int64_t i = 0; i < n; i++) {
        char *data = WEFT_NEW(mem, char, rec[i].bytes);
        memcpy(data, rec[i].data, rec[i].bytes);
        int text = rec[i].bytes > 0 && data[rec[i].bytes - 1] == 0;
        char *number = text ? strstr(data, "real_bytes = ") : NULL;
        if (number) {
            number += strlen("real_bytes = ");
            *number = *number == '4' ? '8' : '4';
        }
        must(weft_journal_add(&j, rec[i].tag, data, rec[i].bytes));
    }
    weft_journal_close(&j);
}

/* Overwrites the first number of a state. */
static void damage(const char *state)
{
    real wrong = 42;
    int fd = open(state, O_WRONLY);
    weft_check(fd >= 0 && write(fd, &wrong, sizeof wrong) == sizeof wrong, "no state %s",
               state);
    close(fd);
}

static void test_refusals(void)
{
    const char *path = at("x.h5");
    struct bench bench;
    weft_status st = run_to(&bench, &weft_tuner_ws_sha, NULL, 0, -1);
    uint64_t whole = sched_digest(&bench.sched);
    end_run(&bench.sched, 0);
    st = prepare(&bench, &weft_tuner_ws_sha, path, 0);
    ok(st == WEFT_EFILE, "what was never begun is not resumed");
    end_run(&bench.sched, 0);
    st = run_to(&bench, &weft_tuner_ws_sha, path, 1, 1);
    const char *state =
        printed("%s/x.d/state-%d-1", scratch,
                st == WEFT_STOP ? (int)bench.sched.queue.record[1].job.trial : -1);
    end_run(&bench.sched, 0);
    st = prepare(&bench, &weft_tuner_ws_sha, path, 1);
    ok(st == WEFT_EFILE && says("weft resume"), "an unfinished run is not overwritten");
    end_run(&bench.sched, 0);
    st = run_to(&bench, &weft_tuner_random, path, 0, -1);
    ok(st == WEFT_EFILE && says("not the one"), "a journal of other jobs is refused");
    end_run(&bench.sched, 0);
    const char *journal = at("x.d/journal");
    if (world.rank == 0) change_numbers(journal);
    st = prepare(&bench, &weft_tuner_ws_sha, path, 0);
    ok(st == WEFT_EFILE &&
           says(sizeof(real) == 4 ? "built with REAL=double" : "built with REAL=float"),
       "a run of numbers of another size is refused");
    end_run(&bench.sched, 0);
    if (world.rank == 0) change_numbers(journal);
    if (world.rank == 0) damage(state);
    st = run_to(&bench, &weft_tuner_ws_sha, path, 0, -1);
    ok(st == WEFT_OK && sched_digest(&bench.sched) == whole,
       "in place of a damaged state its jobs are done again");
    end_run(&bench.sched, 1);
}

/* A disk that fills: a limit on the size of files does to write(2) what it does. */
static void test_full(void)
{
    const char *path = at("f.h5");
    struct bench bench;
    weft_status st = prepare(&bench, &weft_tuner_ws_sha, path, 1);
    rlim_t whole = set_limit(RLIMIT_FSIZE, 1000);
    if (st == WEFT_OK) st = weft_sched_run(&bench.sched);
    set_limit(RLIMIT_FSIZE, whole);
    ok(st == WEFT_EFILE && says("free space") && says("then go on with `weft resume "),
       "a full disk is told, with how to go on");
    end_run(&bench.sched, 0);
    st = run_to(&bench, &weft_tuner_ws_sha, path, 0, -1);
    ok(st == WEFT_OK && bench.sched.queue.n == 4, "and so it goes on");
    end_run(&bench.sched, 1);
}

/* A file that says that it is a run. */
static weft_status put_run(const char *path)
{
    weft_h5 file;
    weft_status st = weft_h5_create(&file, path, mem);
    if (st == WEFT_OK) {
        st = weft_h5_put_attr(&file, "/", "format", WEFT_RUN_FORMAT);
        if (st == WEFT_OK) st = weft_h5_commit(&file);
        weft_h5_close(&file);
    }
    return st;
}

/* A file of this name, as a kill can leave it. */
static void leave_file(const char *dir, const char *name)
{
    const char *path = printed("%s/%s", dir, name);
    int fd = open(path, O_WRONLY | O_CREAT, 0666);
    weft_check(fd >= 0, "cannot write %s", path);
    close(fd);
}

/* A name as the format prints it, with the same number everywhere. */
static void print_name(char *name, const char *format)
{
    for (; *format; format++) {
        if (*format == '%') {
            format += strcspn(format, "dx");
            name += sprintf(name, "%08d", 17);
        } else {
            *name++ = *format;
        }
    }
    *name = '\0';
}

/* Makes files by all names of the table, and those with all endings. */
static void leave_all(const char *dir, const char *const *table)
{
    char name[256];
    mkdir(dir, 0777);
    for (int i = 0; table[i]; i++) {
        print_name(name, table[i]);
        leave_file(dir, name);
        char *end = name + strlen(name);
        for (int k = 0; weft_name_endings[k]; k++) {
            print_name(end, weft_name_endings[k]);
            leave_file(dir, name);
            print_name(end + strlen(end), weft_name_endings[k]);
            leave_file(dir, name);
        }
    }
}

/* What weft may have left goes, by whichever name of the table it was written. */
static void test_names(void)
{
    static const char *const others[] = {"state-1",   "journal.txt", "state-1-2.tmp",
                                         "claim-1.h", "1-2.log.1",   "files-1-2.tmp.x"};
    enum { OTHERS = 6 };
    const char *run = printed("%s/n%d.h5", scratch, world.rank);
    const char *own = printed("%s/n%d.d", scratch, world.rank);
    const char *failed = printed("%s/n%d.failed", scratch, world.rank);
    leave_all(own, weft_run_names);
    leave_all(failed, weft_failed_names);
    weft_place_remove(own);
    ok(!exists(own), "a run's directory goes with all files whose names are in the table");
    weft_place_forget(run);
    ok(!exists(failed), "so does that of failed jobs");
    mkdir(own, 0777);
    for (int i = 0; i < OTHERS; i++) leave_file(own, others[i]);
    weft_place_remove(own);
    int there = 0;
    for (int i = 0; i < OTHERS; i++) {
        const char *path = printed("%s/%s", own, others[i]);
        there += exists(path);
        unlink(path);
    }
    ok(there == OTHERS, "files by other names stay");
    rmdir(own);
}

/* What is left beside a file goes if who wrote it is gone. */
static void test_sweep(void)
{
    enum { NONE = 99999999 }; /* no process has this number */
    pid_t child = fork();
    if (child == 0) _exit(0);
    siginfo_t info;
    waitid(P_PID, (id_t)child, &info,
           WEXITED | WNOWAIT); /* ended, and still has its number */
    unsigned host = weft_file_host();
    const char *path = printed("%s/s%d.h5", scratch, world.rank);
    const char *of_ours = printed("%s" WEFT_TEMP_NAME, path, host, (long long)getppid());
    const char *gone = printed("%s" WEFT_ROWS_NAME WEFT_TEMP_NAME, path, host,
                               (long long)NONE, host, (long long)NONE);
    const char *ended = printed("%s" WEFT_TEMP_NAME, path, host, (long long)child);
    const char *own = printed("%s" WEFT_TEMP_NAME, path, host, (long long)getpid());
    const char *elsewhere = printed("%s" WEFT_TEMP_NAME, path, host + 1, (long long)NONE);
    const char *other = printed("%s.tmp.1", path);
    const char *const all[] = {of_ours, gone, ended, own, elsewhere, other};
    for (int i = 0; i < 6; i++) leave_file(scratch, strrchr(all[i], '/') + 1);
    weft_file_sweep(path, 0);
    ok(!exists(gone), "what a process that is gone was writing is removed");
    ok(!exists(ended),
       "so is that of one that was killed, and that its parent still counts");
    waitpid(child, NULL, 0);
    ok(exists(of_ours), "that of a living one stays");
    ok(exists(elsewhere), "so does that of another host");
    ok(exists(other), "so does what has another ending");
    weft_file_sweep(path, 1);
    ok(!exists(elsewhere), "who holds the run's lock removes what other hosts have left");
    ok(!exists(of_ours),
       "and those of a process that is still ending, which lost the lock");
    ok(exists(own), "but not its own");
    unlink(own);
    unlink(other);
}

/* A run that was killed while its directory was removed: some of it is gone, the journal,
 * which goes last, says that it is not missed. What else kills leave goes, too. */
static void test_removal(void)
{
    enum { DONE = 4 }; /* the tag of its last record */
    const char *path = at("d.h5");
    const char *own = at("d.d");
    struct bench bench;
    weft_status st = run_to(&bench, &weft_tuner_ws_sha, path, 1, -1);
    if (st == WEFT_OK && world.rank == 0)
        st = weft_journal_add(&bench.trace.journal, DONE, NULL, 0);
    end_run(&bench.sched, 0);
    if (world.rank == 0) {
        weft_place_empty(own);
        must(put_run(path));
        leave_file(own, "weft-lock.tmp.0000abcd.0000123");
        leave_file(own, "state-3-17.tmp.5");
        leave_file(own, "stalled-1");
    }
    weft_sleep(&world);
    if (st == WEFT_OK) st = prepare(&bench, &weft_tuner_ws_sha, path, 0);
    ok(st == WEFT_OK && bench.trace.done,
       "a run that is complete but for its removal is known");
    end_run(&bench.sched, 1);
    ok(world.rank != 0 || !exists(own), "and removed");
    if (world.rank == 0) unlink(path);
}

static void test_restarts(void)
{
    test_restart(&script_tuner);
    test_restart(&weft_tuner_random);
    test_restart(&weft_tuner_ws_sha);
    test_restart(&weft_tuner_ws_eg);
}

static void test_left(void)
{
    weft_sleep(&world);
    ok(world.rank != 0 || rmdir(scratch) == 0, "no file is left");
}

int main(int argc, char **argv)
{
    scratch_begin(&argc, &argv);
    signal(SIGXFSZ, SIG_IGN);
    return TESTS(test_order, test_costs, test_states, test_winner, test_restarts,
                 test_refusals, test_full, test_removal, test_names, test_sweep, test_left);
}
