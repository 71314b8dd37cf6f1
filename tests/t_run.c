/* The scheduler with its journal: order of jobs, states passed on, winner, and restart
 * after every job of a run. The task is a toy whose state records the jobs that it went
 * through.
 * RUN: np=1 np=2 np=3 */
#include "rundir/rundir.h"
#include "toy_run.h"
#include "weft/base/base.h"
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
enum { NLINE = sizeof lines / sizeof *lines };

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
    weft_check(weft_rundir_sync(rundir, 1) == WEFT_OK, "%s", weft_error());
    DIR *dir = opendir(rundir->dir);
    weft_check(dir, "cannot read %s", rundir->dir);
    for (struct dirent *entry; (entry = readdir(dir));)
        n += strncmp(entry->d_name, "state-", 6) == 0;
    closedir(dir);
    return n;
}

static weft_status script_setup(void *self, const weft_space *space, uint64_t seed,
                                weft_arena *mem)
{
    struct script *script = self;
    (void)seed;
    *script = (struct script){
        .in_order = 1, .space = space, .mix = weft_mix_new(1, space->dim, mem)};
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

static void test_order(weft_team *team)
{
    struct bench bench;
    weft_status st = prepare(&bench, team, &script_tuner, 1, NULL, 0);
    if (st == WEFT_OK) st = weft_sched_run(&bench.sched);
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
    finish(&bench, 0);
}

/* Of jobs that wait for nothing, and are alike to the task, the expensive ones are done
 * first, so that no team has a long one left at the end. */
static void test_costs(weft_team *team)
{
    struct bench bench;
    weft_status st = prepare(&bench, team, &weft_tuner_random, 1, NULL, 0);
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
    finish(&bench, 0);
}

/* States that no later job can begin with are removed while the search goes on: of those
 * that the script's jobs leave on disk, only that of trial 2, which may go on, is there at
 * the end.
 */
static void test_states(weft_team *team, const char *dir)
{
    char path[256];
    snprintf(path, sizeof path, "%s/s.h5", dir);
    struct bench bench;
    weft_status st = prepare(&bench, team, &script_tuner, 1, path, 1);
    ((struct script *)bench.search.tuner_self)->rundir = &bench.trace;
    if (st == WEFT_OK) st = weft_sched_run(&bench.sched);
    int states = ((struct script *)bench.search.tuner_self)->states;
    ok(st == WEFT_OK && (team->rank > 0 || states == 1),
       "states that no job needs are removed (%d are left)", states);
    finish(&bench, 1);
}

/* The lowest loss among single configurations at the most resource. */
static void test_winner(weft_team *team)
{
    struct bench bench;
    weft_status st = prepare(&bench, team, &weft_tuner_random, 1, NULL, 0);
    if (st == WEFT_OK) st = weft_sched_run(&bench.sched);
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
    finish(&bench, 0);

    st = prepare(&bench, team, &weft_tuner_random, 1, NULL, 0);
    bench.sched.limits.target = 100;
    if (st == WEFT_OK) st = weft_sched_run(&bench.sched);
    ok(st == WEFT_OK && bench.sched.queue.n == 1, "a target that is met ends the search");
    finish(&bench, 0);
    st = prepare(&bench, team, &weft_tuner_ws_sha, 1, NULL, 0);
    bench.sched.limits.target = 100;
    if (st == WEFT_OK) st = weft_sched_run(&bench.sched);
    ok(st == WEFT_OK && bench.sched.queue.n == 4 && bench.sched.queue.winner.job.mix.k == 1,
       "but not by a fit that maps share");
    finish(&bench, 0);
}

/* Stops a run after each of its jobs, resumes it, and compares with one that was not
 * stopped. */
static void test_restart(weft_team *team, const weft_tuner *tuner, const char *dir)
{
    char path[256], journal[256];
    snprintf(path, sizeof path, "%s/r.h5", dir);
    snprintf(journal, sizeof journal, "%s/r.d/journal", dir);
    struct bench bench;
    weft_status st = prepare(&bench, team, tuner, 1, NULL, 0);
    if (st == WEFT_OK) st = weft_sched_run(&bench.sched);
    int64_t n = bench.sched.queue.n;
    uint64_t whole = sched_digest(&bench.sched);
    digest(whole);
    finish(&bench, 0);
    int stopped = 1, same = 1, steps = 1, gone = 1;
    for (int64_t at = 0; at + 1 < n; at++) {
        st = prepare(&bench, team, tuner, 1, path, 1);
        bench.task.stop_at = (int)at;
        weft_signals_catch();
        if (st == WEFT_OK) st = weft_sched_run(&bench.sched);
        weft_signals_free();
        stopped &= st == WEFT_STOP && bench.task.steps == at + 1;
        finish(&bench, 0);
        st = prepare(&bench, team, tuner, 1, path, 0);
        if (st == WEFT_OK) st = weft_sched_run(&bench.sched);
        same &= st == WEFT_OK && sched_digest(&bench.sched) == whole;
        steps &= bench.task.steps == n - at - 1 && bench.sched.queue.replayed == at + 1;
        finish(&bench, 1);
        gone &= team->rank != 0 || !exists(journal);
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
    weft_arena *mem = weft_arena_new();
    weft_journal j;
    weft_record *rec, *none;
    int64_t n, nothing;
    weft_check(weft_journal_open(&j, journal, &rec, &n, mem) == WEFT_OK, "%s",
               weft_error());
    weft_journal_close(&j);
    unlink(journal);
    weft_check(weft_journal_open(&j, journal, &none, &nothing, mem) == WEFT_OK, "%s",
               weft_error());
    for (int64_t i = 0; i < n; i++) {
        char *data = WEFT_NEW(mem, char, rec[i].bytes);
        memcpy(data, rec[i].data, rec[i].bytes);
        int text = rec[i].bytes > 0 && data[rec[i].bytes - 1] == 0;
        char *number = text ? strstr(data, "real_bytes = ") : NULL;
        if (number) {
            number += strlen("real_bytes = ");
            *number = *number == '4' ? '8' : '4';
        }
        weft_check(weft_journal_add(&j, rec[i].tag, data, rec[i].bytes) == WEFT_OK, "%s",
                   weft_error());
    }
    weft_journal_close(&j);
    weft_arena_free(mem);
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

static void test_refusals(weft_team *team, const char *dir)
{
    char path[256], state[300], journal[256];
    snprintf(path, sizeof path, "%s/x.h5", dir);
    struct bench bench;
    weft_status st = prepare(&bench, team, &weft_tuner_ws_sha, 1, NULL, 0);
    if (st == WEFT_OK) st = weft_sched_run(&bench.sched);
    uint64_t whole = sched_digest(&bench.sched);
    finish(&bench, 0);
    st = prepare(&bench, team, &weft_tuner_ws_sha, 1, path, 0);
    ok(st == WEFT_EFILE, "what was never begun is not resumed");
    finish(&bench, 0);
    st = prepare(&bench, team, &weft_tuner_ws_sha, 1, path, 1);
    bench.task.stop_at = 1;
    weft_signals_catch();
    if (st == WEFT_OK) st = weft_sched_run(&bench.sched);
    weft_signals_free();
    snprintf(state, sizeof state, "%s/x.d/state-%lld-1", dir,
             st == WEFT_STOP ? (long long)bench.sched.queue.record[1].job.trial : -1);
    finish(&bench, 0);
    st = prepare(&bench, team, &weft_tuner_ws_sha, 1, path, 1);
    ok(st == WEFT_EFILE && strstr(weft_error(), "weft resume"),
       "an unfinished run is not overwritten");
    finish(&bench, 0);
    st = prepare(&bench, team, &weft_tuner_random, 1, path, 0);
    if (st == WEFT_OK) st = weft_sched_run(&bench.sched);
    ok(st == WEFT_EFILE && strstr(weft_error(), "not the one"),
       "a journal of other jobs is refused");
    finish(&bench, 0);
    snprintf(journal, sizeof journal, "%s/x.d/journal", dir);
    if (team->rank == 0) change_numbers(journal);
    st = prepare(&bench, team, &weft_tuner_ws_sha, 1, path, 0);
    ok(st == WEFT_EFILE &&
           strstr(weft_error(),
                  sizeof(real) == 4 ? "built with REAL=double" : "built with REAL=float"),
       "a run of numbers of another size is refused");
    finish(&bench, 0);
    if (team->rank == 0) change_numbers(journal);
    if (team->rank == 0) damage(state);
    st = prepare(&bench, team, &weft_tuner_ws_sha, 1, path, 0);
    if (st == WEFT_OK) st = weft_sched_run(&bench.sched);
    ok(st == WEFT_OK && sched_digest(&bench.sched) == whole,
       "in place of a damaged state its jobs are done again");
    finish(&bench, 1);
}

/* A disk that fills: a limit on the size of files does to write(2) what it does. */
static void test_full(weft_team *team, const char *dir)
{
    char path[256];
    snprintf(path, sizeof path, "%s/f.h5", dir);
    struct bench bench;
    weft_status st = prepare(&bench, team, &weft_tuner_ws_sha, 1, path, 1);
    struct rlimit limit;
    getrlimit(RLIMIT_FSIZE, &limit);
    rlim_t whole = limit.rlim_cur;
    limit.rlim_cur = 1000;
    setrlimit(RLIMIT_FSIZE, &limit);
    if (st == WEFT_OK) st = weft_sched_run(&bench.sched);
    limit.rlim_cur = whole;
    setrlimit(RLIMIT_FSIZE, &limit);
    ok(st == WEFT_EFILE && strstr(weft_error(), "free space") &&
           strstr(weft_error(), "then go on with `weft resume "),
       "a full disk is told, with how to go on");
    finish(&bench, 0);
    st = prepare(&bench, team, &weft_tuner_ws_sha, 1, path, 0);
    if (st == WEFT_OK) st = weft_sched_run(&bench.sched);
    ok(st == WEFT_OK && bench.sched.queue.n == 4, "and so it goes on");
    finish(&bench, 1);
}

/* A file that says that it is a run. */
static weft_status put_run(const char *path)
{
    weft_arena *mem = weft_arena_new();
    weft_h5 file;
    weft_status st = weft_h5_create(&file, path, mem);
    if (st == WEFT_OK) {
        st = weft_h5_put_attr(&file, "/", "format", WEFT_RUN_FORMAT);
        if (st == WEFT_OK) st = weft_h5_commit(&file);
        weft_h5_close(&file);
    }
    weft_arena_free(mem);
    return st;
}

/* A file of this name, as a kill can leave it. */
static void leave_file(const char *dir, const char *name)
{
    char path[600];
    snprintf(path, sizeof path, "%s/%s", dir, name);
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
static void test_names(int rank, const char *dir)
{
    static const char *const others[] = {"state-1",   "journal.txt", "state-1-2.tmp",
                                         "claim-1.h", "1-2.log.1",   "files-1-2.tmp.x"};
    enum { OTHERS = 6 };
    char run[256], own[256], failed[256], path[512];
    snprintf(run, sizeof run, "%s/n%d.h5", dir, rank);
    snprintf(own, sizeof own, "%s/n%d.d", dir, rank);
    snprintf(failed, sizeof failed, "%s/n%d.failed", dir, rank);
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
        snprintf(path, sizeof path, "%s/%s", own, others[i]);
        there += exists(path);
        unlink(path);
    }
    ok(there == OTHERS, "files by other names stay");
    rmdir(own);
}

/* What is left beside a file goes if who wrote it is gone. */
static void test_sweep(int rank, const char *dir)
{
    enum { NONE = 99999999 }; /* no process has this number */
    char path[256], of_ours[512], gone[512], ended[512], own[512], elsewhere[512],
        other[512];
    pid_t child = fork();
    if (child == 0) _exit(0);
    siginfo_t info;
    waitid(P_PID, (id_t)child, &info,
           WEXITED | WNOWAIT); /* ended, and still has its number */
    unsigned host = weft_file_host();
    snprintf(path, sizeof path, "%s/s%d.h5", dir, rank);
    snprintf(of_ours, sizeof of_ours, "%s" WEFT_TEMP_NAME, path, host,
             (long long)getppid());
    snprintf(gone, sizeof gone, "%s" WEFT_ROWS_NAME WEFT_TEMP_NAME, path, host,
             (long long)NONE, host, (long long)NONE);
    snprintf(ended, sizeof ended, "%s" WEFT_TEMP_NAME, path, host, (long long)child);
    snprintf(own, sizeof own, "%s" WEFT_TEMP_NAME, path, host, (long long)getpid());
    snprintf(elsewhere, sizeof elsewhere, "%s" WEFT_TEMP_NAME, path, host + 1,
             (long long)NONE);
    snprintf(other, sizeof other, "%s.tmp.1", path);
    const char *const all[] = {of_ours, gone, ended, own, elsewhere, other};
    for (int i = 0; i < 6; i++) leave_file(dir, strrchr(all[i], '/') + 1);
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
static void test_removal(weft_team *team, const char *dir)
{
    enum { DONE = 4 }; /* the tag of its last record */
    char path[256], own[256];
    snprintf(path, sizeof path, "%s/d.h5", dir);
    snprintf(own, sizeof own, "%s/d.d", dir);
    struct bench bench;
    weft_status st = prepare(&bench, team, &weft_tuner_ws_sha, 1, path, 1);
    if (st == WEFT_OK) st = weft_sched_run(&bench.sched);
    if (st == WEFT_OK && team->rank == 0)
        st = weft_journal_add(&bench.trace.journal, DONE, NULL, 0);
    finish(&bench, 0);
    if (team->rank == 0) {
        weft_place_empty(own);
        weft_check(put_run(path) == WEFT_OK, "%s", weft_error());
        leave_file(own, "weft-lock.tmp.0000abcd.0000123");
        leave_file(own, "state-3-17.tmp.5");
        leave_file(own, "stalled-1");
    }
    weft_sleep(team);
    if (st == WEFT_OK) st = prepare(&bench, team, &weft_tuner_ws_sha, 1, path, 0);
    ok(st == WEFT_OK && bench.trace.done,
       "a run that is complete but for its removal is known");
    finish(&bench, 1);
    ok(team->rank != 0 || !exists(own), "and removed");
    if (team->rank == 0) unlink(path);
}

int main(int argc, char **argv)
{
    weft_team team;
    if (weft_par_start(&argc, &argv, &team) != WEFT_OK) return 1;
    weft_log_set(WEFT_ERROR, team.rank);
    char dir[TEMPORARY];
    temporary(dir);
    if (team.rank == 0 && !mkdtemp(dir)) dir[0] = '\0';
    weft_bcast(&team, dir, sizeof dir, 0);
    test_order(&team);
    test_costs(&team);
    test_states(&team, dir);
    test_winner(&team);
    test_restart(&team, &script_tuner, dir);
    test_restart(&team, &weft_tuner_random, dir);
    test_restart(&team, &weft_tuner_ws_sha, dir);
    test_restart(&team, &weft_tuner_ws_eg, dir);
    test_refusals(&team, dir);
    signal(SIGXFSZ, SIG_IGN);
    test_full(&team, dir);
    test_removal(&team, dir);
    test_names(team.rank, dir);
    test_sweep(team.rank, dir);
    weft_sleep(&team);
    ok(team.rank != 0 || rmdir(dir) == 0, "no file is left");
    int failed = tap_done();
    weft_par_end(&team);
    return failed;
}
