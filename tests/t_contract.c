/* Every schedule with every sampler and mixing that can be combined with it, on the
 * scheduler: a toy task with jobs of very different durations, some with NaN losses. A
 * search ends and keeps the contract of weft/tune.h; for each number of workers it has one
 * digest, with any number of teams, and after a stop or a kill after any job and a resume
 * with other ranks and teams. An axis exists in some configurations only. Schedules and
 * samplers with planted faults are detected.
 * RUN: np=1 np=4 */
#include "host/signals.h"
#include "rundir/journals.h"
#include "rundir/open.h"
#include "sched/teams.h"
#include "tuner_case.h"

#include "observed.h"
#include "scratch.h"
#include "watched.h"

#include <setjmp.h>
#include <unistd.h>

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
    {"tpe", "startup = 2"},
    {"kde", "points = 2"},
    {"forest", "design = 2\ntrees = 2\ngenerations = 2"},
    {"fedex", "k = 3"},
    {"mw", "k = 3\nknown = no"},
};

static const char *section(const char *name)
{
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        if (strcmp(settings[i][0], name) == 0)
            return weft_arena_text(mem, "[%s]\n%s\n", name, settings[i][1]);
    return "";
}

struct combo {
    const weft_tuner *tuner;
    const weft_sampler *sampler;
    const weft_mixing *mixing;
    const char *text; /* ini */
};

/* Where one trial is shared by the space, all axes are of clients. */
static struct combo combo_of(const weft_tuner *t, const weft_sampler *s,
                             const weft_mixing *m)
{
    return (struct combo){t, s, m,
                          weft_arena_text(mem,
                                          "[space]\nconfigs = 6\n[client]\nx = 0 .. 1\n"
                                          "n = 1 .. 5 when x = 0 .. 0.5\n%s"
                                          "[run]\nsampler = %s\nmixing = %s\n%s%s%s",
                                          t->shared ? "" : "[server]\ny = 0 .. 1\n",
                                          s->kind.name, m->kind.name, section(t->kind.name),
                                          section(s->kind.name),
                                          t->shared ? "" : section(m->kind.name))};
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

static weft_status read_search(struct bench *b, const struct combo *c,
                               const struct setting *how)
{
    static const weft_kind *const kinds[] = {&client_kind, &server_kind};
    weft_conf conf;
    weft_conf_init(&conf, b->mem);
    TRY(weft_conf_text(&conf, "t.ini", c->text));
    TRY(weft_space_read(&b->space, &conf, kinds, 2, 7, b->mem));
    TRY(search_bind(&b->search, c->tuner, &conf));
    b->table = observed_tuner(c->tuner);
    b->tuner = (struct observed){
        .own = c->tuner,
        .self = b->search.tuner_self,
        .fault = how->fault,
        .team = weft_team_of(how->world->size, how->teams, how->world->rank),
        .plain = how->plain,
        .task = &b->task,
        .second = b != benches};
    b->search.tuner = &b->table;
    b->search.tuner_self = &b->tuner;
    b->proposes = watched_sampler(c->sampler);
    b->sampler = (struct watched){
        .own = c->sampler, .self = b->search.sampler_self, .wrong = how->wrong};
    b->search.sampler = &b->proposes;
    b->search.sampler_self = &b->sampler;
    return weft_search_setup(&b->search, &b->space, 3, b->mem);
}

static weft_status prepare(struct bench *b, const struct combo *c,
                           const struct setting *how)
{
    *b = (struct bench){.mem = weft_arena_new()};
    if (how->teams > 1) weft_team_split(how->world, how->teams, &b->own);
    weft_team *team = how->teams > 1 ? &b->own : how->world;
    b->task = (struct toy){
        .team = team, .stop = how->stop, .bound = how->bound, .plain = how->plain};
    TRY(read_search(b, c, how));
    b->sched = (weft_sched){.world = how->world,
                            .team = team,
                            .teams = how->teams,
                            .task = &toy_task,
                            .task_self = &b->task,
                            .search = &b->search,
                            .checkpoint = 60,
                            .workers = how->workers,
                            .mem = b->mem};
    if (!how->path) return WEFT_OK;
    TRY(weft_rundir_open(&b->trace, how->path, how->fresh, how->world, b->mem));
    b->sched.rundir = &b->trace;
    return how->fresh ? weft_rundir_begin(&b->trace, "[toy]\n", "digest", 1e4) : WEFT_OK;
}

static void finish(struct bench *b, weft_team *all, int done)
{
    weft_cache_free(&b->sched);
    weft_sleep(all); /* another team may be reading the winner's state */
    if (b->sched.rundir) weft_rundir_close(&b->trace, done);
    if (b->sched.team == &b->own) weft_team_free(&b->own);
    weft_arena_free(b->mem);
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

static struct outcome run(const struct combo *c, const struct setting *how)
{
    struct bench *b = current = current == benches ? benches + 1 : benches;
    weft_die_hook(die);
    if (setjmp(death)) {
        weft_status st = weft_teams_end(&current->sched, WEFT_EFILE);
        finish(current, how->world, 0);
        return (struct outcome){.status = st, .refused = 1};
    }
    struct outcome o = {.status = WEFT_OK};
    if (how->stop) weft_signals_catch();
    o.status = prepare(b, c, how);
    if (o.status == WEFT_OK) o.status = weft_sched_run(&b->sched);
    if (how->stop) weft_signals_free();
    o.jobs = b->tuner.jobs;
    o.set = b->tuner.set;
    if (o.status == WEFT_OK) close_records(&b->tuner);
    o.fault = b->tuner.checked.fault ? b->tuner.checked.fault : b->sampler.fault;
    o.digest = o.status == WEFT_OK && !o.fault ? run_digest(&b->sched, b->tuner.order) : 0;
    finish(b, how->world, o.status == WEFT_OK);
    weft_die_hook(NULL);
    return o;
}

/* ---- stops and kills ---- */

/* What a kill leaves: the last record of the journal of a team is torn. */
static void tear(const char *dir, int team)
{
    const char *name = team > 0 ? weft_arena_text(mem, "%s/journal-%d", dir, team)
                                : weft_arena_text(mem, "%s/journal", dir);
    struct stat info;
    if (stat(name, &info) != 0 || info.st_size < HEADS) return;
    weft_check(truncate(name, info.st_size - TORN) == 0, "cannot cut %s", name);
}

/* A session on the first half of the ranks, or on all. */
static struct outcome session(const struct combo *c, struct setting *how, int number)
{
    weft_team half;
    struct outcome o;
    how->teams = number % 2 ? world.size : 1;
    how->bound = number % NBOUND;
    how->stop = 1 + number % 2;
    how->world = &world;
    if (number % 4 != 3 || world.size == 1) return run(c, how);
    weft_team_split(&world, 2, &half);
    if (weft_team_of(world.size, 2, world.rank) == 0) {
        how->world = &half;
        how->teams = half.size;
        o = run(c, how);
    }
    weft_bcast(&world, &o, sizeof o, 0);
    weft_team_free(&half);
    return o;
}

/* Stopped after every job or two of each team, and killed in between; goes on, each time on
 * other ranks and by other teams. The digest at the end. */
static uint64_t interrupted(const struct combo *c, int64_t workers, int fault)
{
    struct setting how = {
        .workers = workers, .fault = fault, .path = at("c.h5"), .fresh = 2};
    for (int i = 0; i < MAX_JOBS; i++) {
        struct outcome o = session(c, &how, i);
        if (o.status != WEFT_STOP) return o.digest;
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
static const char *broken(const struct combo *c, int fault, uint64_t found[NWORK])
{
    uint64_t set[NWORK];
    struct setting how = {.world = &world, .teams = 1, .fault = fault};
    for (int i = 0; i < NWORK; i++) {
        how.workers = workers[i];
        struct outcome o = run(c, &how);
        if (o.refused) return "the scheduler ends the program";
        if (o.fault) return o.fault;
        found[i] = o.digest;
        set[i] = o.set;
        if (o.digest == 0) return "it ends";
    }
    if (c->tuner->waits && !c->sampler->told && (set[1] != set[0] || set[2] != set[0]))
        return "a schedule that waits asks the same of any workers";
    how.plain = 1;
    how.workers = 1;
    return run(c, &how).fault;
}

/* The same for a digest by stops and kills. */
static const char *broken_by_stops(const struct combo *c, int fault, int turn,
                                   uint64_t whole)
{
    return interrupted(c, workers[turn % NWORK], fault) == whole
               ? NULL
               : "stops and kills leave the digest as it is";
}

/* By two teams, or one a rank. */
static struct outcome by_teams(const struct combo *c, int fault, int turn)
{
    struct setting how = {.world = &world,
                          .teams = turn / SHARE % 2 ? 2 : world.size,
                          .workers = workers[turn % NWORK],
                          .bound = turn % NBOUND,
                          .fault = fault,
                          .path = at("t.h5"),
                          .fresh = 2};
    return run(c, &how);
}

/* 1 if the three go together. */
static int is_search(const struct combo *c)
{
    struct bench *b = benches;
    struct setting how = {.world = &world, .teams = 1};
    *b = (struct bench){.mem = weft_arena_new()};
    weft_status st = read_search(b, c, &how);
    weft_arena_free(b->mem);
    return st == WEFT_OK;
}

/* One rank does all of it; of every fourth search several teams have the digest of that one
 * rank, and some of these are stopped. */
static const char *kept_by(const struct combo *c, int turn, uint64_t *whole)
{
    const char *fault = NULL;
    if (world.size == 1) {
        uint64_t found[NWORK] = {0};
        fault = broken(c, NONE, found);
        *whole = found[turn % NWORK];
    } else {
        struct outcome o = by_teams(c, NONE, turn);
        fault = o.refused ? "the teams end the program" : o.fault;
        *whole = o.digest;
    }
    if (fault || (world.size > 1 && turn / SHARE % 4)) return fault;
    return broken_by_stops(c, NONE, turn, *whole);
}

static int test_combo(const weft_tuner *t, const weft_sampler *s, const weft_mixing *m,
                      int turn)
{
    size_t mark = weft_arena_mark(mem);
    struct combo c = combo_of(t, s, m);
    uint64_t whole = 0;
    int goes = is_search(&c), shared = turn % SHARE == 0;
    if (goes && (world.size == 1 || shared)) {
        const char *fault = kept_by(&c, turn, &whole);
        ok(!fault, "%s, %s, %s keeps the contract%s%s", t->kind.name, s->kind.name,
           m->kind.name, fault ? ", but not that " : "", fault ? fault : "");
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
static struct outcome faulty(const struct combo *c, int fault)
{
    struct setting how = {.world = &world, .teams = 1, .workers = 3, .fault = fault};
    return run(c, &how);
}

static const char *caught_by_one(const struct combo *c, int fault)
{
    uint64_t found[NWORK] = {0};
    const char *caught = broken(c, fault, found);
    return caught ? caught : broken_by_stops(c, fault, 1, found[1]);
}

static const char *caught_by_teams(const struct combo *c, int fault)
{
    struct outcome one = faulty(c, fault), other = by_teams(c, fault, 4 * SHARE);
    if (one.refused) return "the ranks of a team end the program";
    if (other.refused) return "the teams end the program";
    return one.digest != other.digest ? "any teams have the same digest" : NULL;
}

/* A mistake that changes what the schedule asks is caught; one that goes by something else
 * than losses wherever the schedule goes by losses: then the worst kept changes it, too.
 * The end of a trial of a population is told by `ended`, too, so that no job need be the
 * last. */
static void test_fault(const weft_tuner *t, int fault)
{
    size_t mark = weft_arena_mark(mem);
    int outside = fault == BY_ARRIVAL || fault >= BY_TEAM;
    struct combo c = combo_of(t, &weft_sampler_space, &weft_mixing_none);
    struct outcome whole = faulty(&c, NONE), other = faulty(&c, outside ? WORST : fault);
    int matters = (other.refused || whole.jobs != other.jobs) &&
                  !(fault == LAST_NEVER && t->explore) &&
                  !(fault == BY_TEAM && world.size == 1);
    const char *caught = NULL;
    if (matters && world.size == 1) caught = caught_by_one(&c, fault);
    if (matters && world.size > 1) caught = caught_by_teams(&c, fault);
    if (matters)
        ok(caught, "%s: %s is caught: %s", t->kind.name, faults[fault],
           caught ? caught : "by nothing");
    weft_arena_reset(mem, mark);
}

/* By several ranks those that one alone would not make. */
static void test_faults(const weft_tuner *t)
{
    for (int f = NONE + 1; f < NFAULT; f++)
        if (world.size == 1 || f == BY_ARRIVAL || f >= BY_TEAM) test_fault(t, f);
}

/* Proposals that no trial can have end the program, whichever schedule asks for them. */
static void test_proposals(const weft_tuner *t)
{
    size_t mark = weft_arena_mark(mem);
    struct combo c = combo_of(t, &weft_sampler_space, &weft_mixing_none);
    for (int w = SOUND; w < NWRONG; w++) {
        struct setting how = {.world = &world, .teams = 1, .workers = 3, .wrong = w};
        struct outcome o = run(&c, &how);
        ok(o.refused == (w != SOUND), "%s: a sampler that proposes %s is %s", t->kind.name,
           wrongs[w], w == SOUND ? "heard" : "caught");
    }
    weft_arena_reset(mem, mark);
}

int main(int argc, char **argv)
{
    if (access("/dev/shm", W_OK) == 0)
        setenv("TMPDIR", "/dev/shm", 0); /* many small files */
    scratch_begin(&argc, &argv);
    test_all();
    for (int i = 0; weft_tuners[i] && world.size == 1; i++)
        if (weft_tuners[i]->shared == WEFT_SHARES_NOTHING) test_proposals(weft_tuners[i]);
    for (int i = 0; weft_tuners[i]; i++)
        if (weft_tuners[i]->shared == WEFT_SHARES_NOTHING &&
            (world.size == 1 || weft_tuners[i] == &weft_tuner_asha))
            test_faults(weft_tuners[i]);
    return scratch_end();
}
