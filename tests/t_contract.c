/* Every schedule with every sampler and mixing that can be combined with it, on the
 * scheduler: a toy task with jobs of very different durations, some with NaN losses. A
 * search ends and keeps the contract of weft/tune/tune.h; for each number of workers it has
 * one digest, with any number of teams, and after a stop or a kill after any job and a
 * resume with other ranks and teams. An axis exists in some configurations only. Schedules
 * and samplers with planted faults are detected. RUN: np=1 np=4 */
#include "tuner_case.h"

#include "observed.h"
#include "scratch.h"
#include "watched.h"

#include <setjmp.h>

enum { TORN = 37, HEADS = 1000 }; /* bytes of a record; of a journal without any, at most */

/* ---- a run ---- */

/* Options that make searches short; parts without a line have their defaults. */
static const char *const settings[][2] = {
    {"random", "resource = 1"},
    {"sha", "reduction = 2\nrungs = geometric\nmax_resource = 4"},
    {"asha", "reduction = 2\nmax_resource = 4"},
    {"hyperband", "reduction = 2\nmax_resource = 4\nrepeats = 2"},
    {"pbt", "population = 4\ninterval = 2\nmax_resource = 6"},
    {"ws_sha", "resource = 1"},
    {"ws_eg", "resource = 1\nrounds = 4\nswitch = 2"},
    {"ws_one", "resource = 4"},
    {"one", "resource = 24\nexplore = 0.5\nparts = 3\nothers = 2"},
    {"tpe", "startup = 2"},
    {"kde", "points = 2"},
    {"forest", "design = 2\ntrees = 2\ngenerations = 2"},
    {"mobster", "design = 3"},
    {"fedex", "k = 3"},
    {"mw", "k = 3"},
};

static const char *section(const char *name)
{
    for (size_t i = 0; i < LEN(settings); i++)
        if (strcmp(settings[i][0], name) == 0)
            return printed("[%s]\n%s\n", name, settings[i][1]);
    return "";
}

struct combo {
    const weft_tuner *tuner;
    const weft_sampler *sampler;
    const weft_mixing *mixing;
    const char *text; /* ini */
};

/* Where one trial is shared by the space, all axes are of clients. */
static struct combo combo_of(const weft_tuner *tuner, const weft_sampler *sampler,
                             const weft_mixing *mixing)
{
    return (struct combo){tuner, sampler, mixing,
                          printed("[space]\nconfigs = 6\n[client]\nx = 0 .. 1\n"
                                  "n = 1 .. 5 when x = 0 .. 0.5\n%s"
                                  "[run]\nsampler = %s\nmixing = %s\n%s%s%s",
                                  tuner->shared ? "" : "[server]\ny = 0 .. 1\n",
                                  sampler->kind.name, mixing->kind.name,
                                  section(tuner->kind.name), section(sampler->kind.name),
                                  tuner->shared ? "" : section(mixing->kind.name))};
}

/* How a run is made; path NULL: without a trace. */
struct setting {
    weft_team *world;
    int64_t workers;
    int teams, bound, fault, plain;
    int wrong; /* what the sampler does wrong */
    int stop;  /* of the jobs of a team, the one after which it is; 0: none */
    int fresh; /* 2: replaces what is there; 0: goes on with it */
    const char *path;
};

struct bench {
    weft_arena *mem;
    weft_team own;
    struct toy task;
    struct observed tuner;
    weft_tuner table;
    struct watched sampler;
    weft_sampler proposes;
    weft_space space;
    weft_search search;
    weft_sched sched;
    weft_rundir trace;
};

static struct bench benches[2], *current; /* in turn: addresses differ from run to run */

static weft_status read_search(struct bench *bench, const struct combo *combo,
                               const struct setting *how)
{
    static const weft_kind *const kinds[] = {&client_kind, &server_kind};
    weft_conf conf;
    weft_conf_init(&conf, bench->mem);
    TRY(weft_conf_text(&conf, "t.ini", combo->text));
    TRY(weft_space_read(&bench->space, &conf, kinds, 2, 7, bench->mem));
    TRY(search_bind(&bench->search, combo->tuner, &conf));
    bench->table = observed_tuner(combo->tuner);
    bench->tuner = (struct observed){
        .own = combo->tuner,
        .self = bench->search.tuner_self,
        .fault = how->fault,
        .team = weft_team_of(how->world->size, how->teams, how->world->rank),
        .plain = how->plain,
        .task = &bench->task,
        .second = bench != benches};
    bench->search.tuner = &bench->table;
    bench->search.tuner_self = &bench->tuner;
    bench->proposes = watched_sampler(combo->sampler);
    bench->sampler = (struct watched){.own = combo->sampler,
                                      .self = bench->search.sampler_self,
                                      .wrong = how->wrong,
                                      .placed = combo->tuner->place != NULL};
    bench->search.sampler = &bench->proposes;
    bench->search.sampler_self = &bench->sampler;
    return weft_search_setup(&bench->search, &bench->space, 3, bench->mem);
}

static weft_status prepare(struct bench *bench, const struct combo *combo,
                           const struct setting *how)
{
    *bench = (struct bench){.mem = weft_arena_new()};
    weft_team *team = team_of(how->world, how->teams, &bench->own);
    bench->task = (struct toy){
        .team = team, .stop = how->stop, .bound = how->bound, .plain = how->plain};
    bench->sched = (weft_sched){.world = how->world,
                                .team = team,
                                .teams = how->teams,
                                .task = &toy_task,
                                .task_self = &bench->task,
                                .search = &bench->search,
                                .limits.checkpoint = 60,
                                .workers = how->workers,
                                .mem = bench->mem};
    TRY(read_search(bench, combo, how));
    return open_trace(&bench->sched, how->path, how->fresh, &bench->trace);
}

/* What came of a run. */
struct outcome {
    weft_status status;
    uint64_t digest;    /* 0 where it did not end */
    uint64_t jobs, set; /* hashes of the jobs asked, in order and not */
    const char *fault;
    int refused; /* 1: the scheduler ended the program */
};

static jmp_buf death;

static void die(void)
{
    longjmp(death, 1);
}

static struct outcome run(const struct combo *combo, const struct setting *how)
{
    struct bench *bench = current = current == benches ? benches + 1 : benches;
    weft_die_hook(die);
    if (setjmp(death)) {
        weft_status st = weft_teams_end(&current->sched, WEFT_EFILE);
        end_run(&current->sched, 0);
        return (struct outcome){.status = st, .refused = 1};
    }
    struct outcome outcome = {.status = WEFT_OK};
    if (how->stop) weft_signals_catch();
    outcome.status = prepare(bench, combo, how);
    if (outcome.status == WEFT_OK) outcome.status = weft_sched_run(&bench->sched);
    if (how->stop) weft_signals_free();
    outcome.jobs = bench->tuner.jobs;
    outcome.set = bench->tuner.set;
    if (outcome.status == WEFT_OK) close_records(&bench->tuner);
    outcome.fault =
        bench->tuner.checked.fault ? bench->tuner.checked.fault : bench->sampler.fault;
    outcome.digest = outcome.status == WEFT_OK && !outcome.fault
                         ? run_digest(&bench->sched, bench->tuner.order)
                         : 0;
    end_run(&bench->sched, outcome.status == WEFT_OK);
    weft_die_hook(NULL);
    return outcome;
}

/* ---- stops and kills ---- */

/* What a kill leaves: the last record of the journal of a team is torn. */
static void tear(const char *dir, int team)
{
    const char *name =
        team > 0 ? printed("%s/journal-%d", dir, team) : printed("%s/journal", dir);
    struct stat info;
    if (stat(name, &info) != 0 || info.st_size < HEADS) return;
    weft_check(truncate(name, info.st_size - TORN) == 0, "cannot cut %s", name);
}

/* A session on the first half of the ranks, or on all. */
static struct outcome session(const struct combo *combo, struct setting *how, int number)
{
    weft_team half;
    struct outcome outcome;
    how->teams = number % 2 ? world.size : 1;
    how->bound = number % NBOUND;
    how->stop = 1 + number % 2;
    how->world = &world;
    if (number % 4 != 3 || world.size == 1) return run(combo, how);
    weft_team_split(&world, 2, &half);
    if (weft_team_of(world.size, 2, world.rank) == 0) {
        how->world = &half;
        how->teams = half.size;
        outcome = run(combo, how);
    }
    weft_bcast(&world, &outcome, sizeof outcome, 0);
    weft_team_free(&half);
    return outcome;
}

/* Stopped after every job or two of each team, and killed in between; goes on, each time on
 * other ranks and by other teams. The digest at the end. */
static uint64_t interrupted(const struct combo *combo, int64_t workers, int fault)
{
    struct setting how = {
        .workers = workers, .fault = fault, .path = at("c.h5"), .fresh = 2};
    for (int i = 0; i < MAX_JOBS; i++) {
        struct outcome outcome = session(combo, &how, i);
        if (outcome.status != WEFT_STOP) return outcome.digest;
        if (i % 2 && world.rank == 0) tear(at("c.d"), i % 4 == 3 && world.size > 1);
        weft_sleep(&world);
        how.fresh = 0;
    }
    return 0;
}

/* ---- the contract ---- */

static const int64_t workers[] = {1, 3, 10};
enum { NWORK = 3, SHARE = 4 }; /* one search of SHARE is done by several ranks, too */

/* What of the contract is not kept; NULL: nothing. One rank. */
static const char *broken(const struct combo *combo, int fault, uint64_t found[NWORK])
{
    uint64_t set[NWORK];
    struct setting how = {.world = &world, .teams = 1, .fault = fault};
    for (int i = 0; i < NWORK; i++) {
        how.workers = workers[i];
        struct outcome outcome = run(combo, &how);
        if (outcome.refused) return "the scheduler ends the program";
        if (outcome.fault) return outcome.fault;
        found[i] = outcome.digest;
        set[i] = outcome.set;
        if (outcome.digest == 0) return "it ends";
    }
    if (combo->tuner->waits && !combo->sampler->told &&
        (set[1] != set[0] || set[2] != set[0]))
        return "a schedule that waits asks the same of any workers";
    how.plain = 1;
    how.workers = 1;
    return run(combo, &how).fault;
}

/* The same for a digest by stops and kills. */
static const char *broken_by_stops(const struct combo *combo, int fault, int turn,
                                   uint64_t whole)
{
    return interrupted(combo, workers[turn % NWORK], fault) == whole
               ? NULL
               : "stops and kills leave the digest as it is";
}

/* By two teams, or one a rank. */
static struct outcome by_teams(const struct combo *combo, int fault, int turn)
{
    struct setting how = {.world = &world,
                          .teams = turn / SHARE % 2 ? 2 : world.size,
                          .workers = workers[turn % NWORK],
                          .bound = turn % NBOUND,
                          .fault = fault,
                          .path = at("t.h5"),
                          .fresh = 2};
    return run(combo, &how);
}

/* 1 if the three go together. */
static int is_search(const struct combo *combo)
{
    struct bench *bench = benches;
    struct setting how = {.world = &world, .teams = 1};
    *bench = (struct bench){.mem = weft_arena_new()};
    weft_status st = read_search(bench, combo, &how);
    weft_arena_free(bench->mem);
    return st == WEFT_OK;
}

/* One rank does all of it; of every fourth search several teams have the digest of that one
 * rank, and some of these are stopped. */
static const char *kept_by(const struct combo *combo, int turn, uint64_t *whole)
{
    const char *fault = NULL;
    if (world.size == 1) {
        uint64_t found[NWORK] = {0};
        fault = broken(combo, NONE, found);
        *whole = found[turn % NWORK];
    } else {
        struct outcome outcome = by_teams(combo, NONE, turn);
        fault = outcome.refused ? "the teams end the program" : outcome.fault;
        *whole = outcome.digest;
    }
    if (fault || (world.size > 1 && turn / SHARE % 4)) return fault;
    return broken_by_stops(combo, NONE, turn, *whole);
}

static int test_combo(const weft_tuner *tuner, const weft_sampler *sampler,
                      const weft_mixing *mixing, int turn)
{
    size_t mark = weft_arena_mark(mem);
    struct combo combo = combo_of(tuner, sampler, mixing);
    uint64_t whole = 0;
    int goes = is_search(&combo), shared = turn % SHARE == 0;
    if (goes && (world.size == 1 || shared)) {
        const char *fault = kept_by(&combo, turn, &whole);
        ok(!fault, "%s, %s, %s keeps the contract%s%s", tuner->kind.name,
           sampler->kind.name, mixing->kind.name, fault ? ", but not that " : "",
           fault ? fault : "");
        if (shared) digest(whole);
    }
    weft_arena_reset(mem, mark);
    return goes;
}

static void test_all(void)
{
    int turn = 0;
    for (int t = 0; weft_tuners[t]; t++) {
        int before = turn;
        for (int s = 0; weft_samplers[s]; s++)
            for (int m = 0; weft_mixings[m]; m++)
                turn += test_combo(weft_tuners[t], weft_samplers[s], weft_mixings[m], turn);
        ok(turn > before, "%s is part of a search", weft_tuners[t]->kind.name);
    }
}

/* ---- faults ---- */

/* What the schedule asks with a mistake, and where several teams do it. */
static struct outcome faulty(const struct combo *combo, int fault)
{
    struct setting how = {.world = &world, .teams = 1, .workers = 3, .fault = fault};
    return run(combo, &how);
}

static const char *caught_by_one(const struct combo *combo, int fault)
{
    uint64_t found[NWORK] = {0};
    const char *caught = broken(combo, fault, found);
    return caught ? caught : broken_by_stops(combo, fault, 1, found[1]);
}

static const char *caught_by_teams(const struct combo *combo, int fault)
{
    struct outcome one = faulty(combo, fault), other = by_teams(combo, fault, 4 * SHARE);
    if (one.refused) return "the ranks of a team end the program";
    if (other.refused) return "the teams end the program";
    return one.digest != other.digest ? "any teams have the same digest" : NULL;
}

/* A mistake that changes what the schedule asks is caught; one that goes by something else
 * than losses wherever the schedule goes by losses: then the worst kept changes it, too.
 * The end of a trial of a population is told by `ended`, too, so that no job need be the
 * last; where no trial's resource is known beforehand, none is too much. */
static void test_fault(const weft_tuner *tuner, int fault)
{
    size_t mark = weft_arena_mark(mem);
    int outside = fault == BY_ARRIVAL || fault >= BY_TEAM;
    struct combo combo = combo_of(tuner, &weft_sampler_space, &weft_mixing_none);
    struct outcome whole = faulty(&combo, NONE),
                   other = faulty(&combo, outside ? WORST : fault);
    int matters = (other.refused || whole.jobs != other.jobs) &&
                  !(fault == LAST_NEVER && tuner->explore) &&
                  !(fault == RESOURCE && !tuner->extent && tuner->place) &&
                  !(fault == BY_TEAM && world.size == 1);
    const char *caught = NULL;
    if (matters && world.size == 1) caught = caught_by_one(&combo, fault);
    if (matters && world.size > 1) caught = caught_by_teams(&combo, fault);
    if (matters)
        ok(caught, "%s: %s is caught: %s", tuner->kind.name, faults[fault],
           caught ? caught : "by nothing");
    weft_arena_reset(mem, mark);
}

/* By several ranks those that one alone would not make. */
static void test_faults(const weft_tuner *tuner)
{
    for (int f = NONE + 1; f < NFAULT; f++)
        if (world.size == 1 || f == BY_ARRIVAL || f >= BY_TEAM) test_fault(tuner, f);
}

/* Proposals that no trial can have end the program, whichever schedule asks for them. */
static void test_proposals(const weft_tuner *tuner)
{
    size_t mark = weft_arena_mark(mem);
    struct combo combo = combo_of(tuner, &weft_sampler_space, &weft_mixing_none);
    for (int w = SOUND; w < NWRONG; w++) {
        struct setting how = {.world = &world, .teams = 1, .workers = 3, .wrong = w};
        struct outcome outcome = run(&combo, &how);
        ok(outcome.refused == (w != SOUND), "%s: a sampler that proposes %s is %s",
           tuner->kind.name, wrongs[w], w == SOUND ? "heard" : "caught");
    }
    weft_arena_reset(mem, mark);
}

int main(int argc, char **argv)
{
    scratch_in_memory();
    scratch_begin(&argc, &argv);
    test_all();
    for (int i = 0; weft_tuners[i] && world.size == 1; i++)
        if (weft_tuners[i]->shared == WEFT_SHARES_NOTHING) test_proposals(weft_tuners[i]);
    for (int i = 0; weft_tuners[i]; i++)
        if (weft_tuners[i]->shared == WEFT_SHARES_NOTHING &&
            (world.size == 1 || weft_tuners[i] == &weft_tuner_asha))
            test_faults(weft_tuners[i]);
    return tap_end();
}
