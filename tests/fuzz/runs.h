/* Fuzz targets: input files, and what a run keeps on disk while it lives: journal, states,
 * checkpoints. Where a checksum stands before the bytes, it is put right first. */
#ifndef WEFT_FUZZ_RUNS_H
#define WEFT_FUZZ_RUNS_H

#include "fuzz.h"
#include "run/run.h"
#include "rundir/rundir.h"
#include "weft/store/file.h"

/* ---- input files ---- */

/* What was accepted is written as a text that reads as the same: so a run is resumed. */
static void check_echo(const weft_conf *conf)
{
    weft_conf again;
    const char *echo = weft_conf_echo(conf, mem);
    weft_conf_init(&again, mem);
    must(weft_conf_text(&again, "echo", echo));
    weft_check(strcmp(weft_conf_echo(&again, mem), echo) == 0, "the echo is another");
}

static void bind_run(weft_conf *conf)
{
    weft_run run;
    weft_status st = weft_run_bind(&run, conf, 1, &world, mem);
    fuzz_told(st);
    if (st == WEFT_OK) check_echo(conf);
}

/* The first byte says how many lines are of the command line. */
static void run_conf(struct input in)
{
    int typed = pick(&in, 4);
    weft_status st = WEFT_OK;
    weft_conf conf;
    weft_conf_init(&conf, mem);
    const char **word = WEFT_NEW(mem, const char *, typed + 1);
    for (int i = 0; i < typed; i++) word[i] = text_of(piece(&in, '\n'));
    st = weft_conf_text(&conf, "in.ini", text_of(in));
    for (int i = 0; i < typed && st == WEFT_OK; i++) st = weft_conf_set(&conf, word[i]);
    fuzz_told(st);
    if (st == WEFT_OK) bind_run(&conf);
}

/* A list of configurations, for one task or another. */
static void run_list(struct input in)
{
    static const char *const head[] = {
        "[run]\ndata = x.h5\n[fmap]\nfeature = rff\nmodel = ridge\n",
        "[run]\ndata = x.h5\ntask = fed\n[fed]\nmodel = mlp\n[client]\nmomentum = 0 .. 1\n",
        "[run]\ntask = command\n[command]\nprogram = /bin/true\n[options]\na = 1 .. 9\n"};
    weft_conf conf;
    weft_conf_init(&conf, mem);
    const char *which = head[pick(&in, WEFT_COUNT(head))];
    const char *text =
        printed("%s[space]\nsource = list\nfile = %s\n", which, fuzz_file("list", in));
    must(weft_conf_text(&conf, "in.ini", text));
    bind_run(&conf);
}

/* ---- journals ---- */

/* A file of any bytes. What is read without opening it is what is read by opening. */
static void run_journal(struct input in)
{
    const char *path = fuzz_file("journal", in);
    weft_record *seen, *rec, *again;
    int64_t nseen = 0, n = 0, nagain = 0;
    int in_use;
    fuzz_told(weft_journal_read(path, &seen, &nseen, &in_use, mem));
    weft_journal journal;
    weft_status st = weft_journal_open(&journal, path, &rec, &n, mem);
    fuzz_told(st);
    if (st == WEFT_OK) {
        weft_check(n == nseen, "%lld records, read %lld", (long long)n, (long long)nseen);
        must(weft_journal_add(&journal, 7, "x", 1));
        weft_journal_close(&journal);
        st = weft_journal_open(&journal, path, &again, &nagain, mem);
        weft_check(st == WEFT_OK && nagain == n + 1 && again[n].tag == 7, "a lost record");
        weft_journal_close(&journal);
    }
}

/* A packed record: what can be read is packed as what reads the same. */
static void run_record(struct input in)
{
    char *bytes = WEFT_NEW(mem, char, in.n); /* aligned, as those of the journal */
    if (in.n > 0) memcpy(bytes, in.at, in.n);
    int64_t job;
    weft_job_record record;
    if (weft_job_record_is(bytes, in.n, &job) &&
        weft_job_record_read(&record, bytes, mem)) {
        size_t n;
        const void *packed = weft_job_record_pack(&record, &n, mem);
        weft_job_record same;
        weft_check(weft_job_record_is(packed, n, &job) &&
                       weft_job_record_read(&same, packed, mem),
                   "what is packed is no record");
        weft_check(weft_job_record_digest(&record, 1) == weft_job_record_digest(&same, 1),
                   "another digest");
        weft_job_record mine = weft_job_record_new(&record.job, mem);
        weft_check(weft_job_record_unpack(&mine, packed, mem), "another job");
    }
}

/* Records, each of a tag, two bytes of length and what it holds, as two journals. */
static void write_journals(struct input in)
{
    static const char *const name[] = {"run.d/journal", "run.d/journal-1"};
    for (int i = 0; i < WEFT_COUNT(name); i++) {
        weft_record *rec;
        weft_journal journal;
        int64_t n;
        const char *path = fuzz_file(name[i], (struct input){0});
        must(weft_journal_open(&journal, path, &rec, &n, mem));
        int records = pick(&in, 8);
        for (int r = 0; r < records; r++) {
            uint64_t tag = (uint64_t)pick(&in, 32);
            int high = pick(&in, 256);
            size_t length = (size_t)high << 8 | (size_t)pick(&in, 256);
            size_t bytes = length < in.n ? length : in.n;
            must(weft_journal_add(&journal, tag, in.at, bytes));
            in.at += bytes;
            in.n -= bytes;
        }
        weft_journal_close(&journal);
    }
}

/* What a resume and a report make of them. */
static void run_trace(struct input in)
{
    write_journals(in);
    const char *path = at("run.h5"), *out = at("now.h5");
    weft_rundir rundir;
    weft_status st = weft_rundir_open(&rundir, path, 0, &world, mem);
    fuzz_told(st);
    if (st == WEFT_OK) {
        const int64_t *ticket;
        weft_rundir_ended(&rundir);
        weft_rundir_tickets(&rundir, &ticket, mem);
        weft_rundir_close(&rundir, 0);
    }
    nowhere = 1;
    fuzz_told(weft_run_snapshot(path, out));
    nowhere = 0;
}

/* ---- states and checkpoints ---- */

enum { NX = 3, NAUX = 2, UNITS = 4 };

static weft_rundir fuzz_trace(void)
{
    return (weft_rundir){
        .world = &world, .mem = mem, .dir = at("run.d"), .path = at("run.h5"), .id = 7};
}

static weft_state fuzz_state(void)
{
    weft_state state = {.x = WEFT_NEW(mem, real, NX),
                        .nx = NX,
                        .aux = WEFT_NEW(mem, double, NAUX),
                        .naux = NAUX};
    state.x[1] = 1;
    state.aux[1] = 2;
    return state;
}

static weft_job_record fuzz_record(void)
{
    weft_mix mix = weft_mix_new(2, 1, mem);
    weft_job job = weft_job_new(0, 4, &mix);
    weft_job_record record = weft_job_record_new(&job, mem);
    weft_job_record_room(&record, 1, UNITS, 2, mem);
    return record;
}

/* The bytes of a file as weft writes it. */
struct written {
    uint8_t at[1024]; /* [n] */
    size_t n;
};

static void keep_bytes(const char *path, struct written *written)
{
    struct stat info;
    weft_check(stat(path, &info) == 0 && (size_t)info.st_size <= sizeof written->at, "%s",
               path);
    written->n = (size_t)info.st_size;
    must(weft_file_load(path, written->at, written->n));
}

/* A copy that is longer by `more` bytes. */
static uint8_t *longer(const struct written *written, int64_t more, size_t *n)
{
    *n = (size_t)((int64_t)written->n + more);
    uint8_t *copy = WEFT_NEW(mem, uint8_t, *n);
    memcpy(copy, written->at, *n < written->n ? *n : written->n);
    return copy;
}

/* The first byte tells by how many bytes the file is longer or shorter, the others what is
 * changed. Half of the inputs have the right sum. */
static void run_checkpoint(struct input in)
{
    static struct written once;
    weft_rundir rundir = fuzz_trace();
    weft_state state = fuzz_state();
    weft_job_record record = fuzz_record();
    if (once.n == 0) {
        fuzz_file("run.d/x", (struct input){0});
        record.done = 2;
        must(weft_checkpoint_write(&rundir, &record, &state));
        keep_bytes(weft_checkpoint_name(&rundir, 0, mem), &once);
        record = fuzz_record();
    }
    int summed = pick(&in, 2), more = pick(&in, 256);
    size_t n;
    uint8_t *bytes = longer(&once, more > 128 ? more - 128 : -more, &n);
    fuzz_change(&in, bytes, n - sizeof(uint64_t));
    uint64_t sum = weft_hash(bytes, n - sizeof sum, 0);
    if (summed) memcpy(bytes + n - sizeof sum, &sum, sizeof sum);
    fuzz_file("run.d/checkpoint-0", (struct input){bytes, n});
    weft_checkpoint_read(&rundir, &record, &state, 0, mem);
    weft_check(record.done >= 0 && record.done < UNITS && record.nunit == UNITS,
               "%lld of %lld units", (long long)record.done, (long long)record.nunit);
    for (int64_t i = 0; i < record.done * record.ncolumn; i++) record.row[i] += 1;
}

/* Writes the state as a run does. */
static void write_state(weft_rundir *rundir, const weft_state_id *id,
                        const weft_state *state)
{
    int fresh;
    fuzz_file("run.d/x", (struct input){0});
    must(weft_journal_extend(&rundir->journal, at("run.d/journal"), &fresh, mem));
    weft_rundir_search(rundir);
    weft_status st = weft_rundir_state_put(rundir, id, state);
    if (st == WEFT_OK) st = weft_commit_end(rundir->commit);
    must(st);
    weft_journal_close(&rundir->journal);
}

static void run_state(struct input in)
{
    static const char *const name = "run.d/state-0-0";
    static struct written once;
    weft_rundir rundir = fuzz_trace();
    weft_state state = fuzz_state();
    weft_state_id id = {.nx = NX, .naux = NAUX, .hash = weft_state_hash(&state)};
    if (once.n == 0) {
        write_state(&rundir, &id, &state);
        keep_bytes(at(name), &once);
    }
    int more = pick(&in, 64);
    size_t n;
    uint8_t *bytes = longer(&once, more % 2 ? -(more / 2) - 1 : more / 2, &n);
    fuzz_change(&in, bytes, n);
    fuzz_file(name, (struct input){bytes, n});
    weft_status st = weft_rundir_state_load(&rundir, &world, &id, 0, &state);
    fuzz_told(st);
    weft_check(st != WEFT_OK || weft_state_hash(&state) == id.hash, "another state");
}

#endif
