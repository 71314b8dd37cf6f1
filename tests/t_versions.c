/* Files of other versions are refused by one line that names the file, its version and the
 * remedy; a change of the packed form of records without a new number fails.
 * RUN: np=1 */
#include "result/result.h"
#include "rundir/rundir.h"
#include "scratch.h"
#include "weft/report/report.h"

#define PACKED 0x746ff9e06328eea2 /* hash of the packed form of format 7 */

/* ---- journals ---- */

/* A journal of a run of so many records whose head says this. */
static void write_journal(const char *name, const char *head)
{
    weft_journal journal;
    weft_record *rec;
    int64_t n;
    const char *dir = at(name);
    mkdir(dir, 0777);
    must(weft_journal_open(&journal, printed("%s/journal", dir), &rec, &n, mem));
    must(weft_journal_add(&journal, TAG_CONF, "[run]\n", 7));
    must(weft_journal_add(&journal, TAG_ABOUT, head, strlen(head) + 1));
    must(weft_journal_add(&journal, TAG_TABLES, "[metrics]\n", 11));
    must(weft_journal_add(&journal, TAG_JOB, "another form", 12));
    weft_journal_close(&journal);
}

/* Resume, report and search beside it are refused. */
static void test_journal(const char *name, const char *head, const char *says)
{
    const char *run = at(printed("%s.h5", name));
    const char *dir = printed("%s.d", name);
    weft_rundir rundir;
    write_journal(dir, head);
    weft_status st = weft_rundir_open(&rundir, run, 0, &world, mem);
    fails(st, WEFT_EFILE, dir, says, "a resume");
    fails(st, WEFT_EFILE, "reads format", "begin the run anew by `weft tune --force`",
          "with what to do, it");
    st = weft_run_snapshot(run, at("now.h5"));
    fails(st, WEFT_EFILE, dir, says, "a report");
    st = weft_rundir_open(&rundir, run, 1, &world, mem);
    fails(st, WEFT_EFILE, run, "unfinished", "a search that would replace it");
    st = weft_rundir_open(&rundir, run, 2, &world, mem);
    ok(st == WEFT_OK && rundir.past.done == 0 && !rundir.conf,
       "but by force it is replaced");
    if (st == WEFT_OK) weft_rundir_close(&rundir, 1);
}

/* ---- run files ---- */

static void test_file(const char *name, const char *format, const char *version,
                      const char *says)
{
    const char *path = at(name);
    weft_h5 file;
    weft_winner winner;
    weft_status st = weft_h5_create(&file, path, mem);
    if (st == WEFT_OK) st = weft_h5_put_attr(&file, "/", "format", format);
    if (st == WEFT_OK && version) st = weft_h5_put_attr(&file, "/", "version", version);
    if (st == WEFT_OK) st = weft_h5_commit(&file);
    must(st);
    weft_h5_close(&file);
    fails(weft_winner_read(&winner, path, mem), WEFT_EFILE, path, says, "an evaluation");
    if (strncmp(format, "weft run", 8) == 0)
        fails(weft_report(&path, 1, WEFT_TABLE, 0), WEFT_EFILE, path, says, "a report");
    fails(weft_info(path), WEFT_EFILE, path, says, "information");
}

/* ---- the packed form of records ---- */

/* Hash of the packed form of a record in which every member differs from 0. */
static uint64_t packed_form(void)
{
    weft_mix mix = weft_mix_new(2, 3, mem);
    for (int i = 0; i < 6; i++) mix.conf[i] = i + 0.5;
    weft_job job = weft_job_new(1, 2, &mix);
    job.id = 3;
    job.from = 4;
    job.index = 5;
    job.last = 1;
    job.feature_fraction = 0.5;
    job.update = (weft_mix_update){WEFT_UPDATE_RACING, 0.1, 0.2, 0.3, 0.4, 1};
    weft_job_record record = weft_job_record_new(&job, mem);
    weft_job_record_room(&record, 2, 2, 3, mem);
    record.res.metric[0] = record.res.metric[1] = record.res.loss = record.res.cost = 0.25;
    record.res.note = "a=1 b=2";
    record.done = 2;
    for (int i = 0; i < 6; i++) record.row[i] = i;
    record.parent = 6;
    record.worker = 7;
    record.start = record.began = 8;
    record.end = record.seconds = 9;
    record.hash = record.weights = 10;
    size_t bytes;
    const void *packed = weft_job_record_pack(&record, &bytes, mem);
    return weft_hash(packed, bytes, WEFT_RECORD_FORMAT);
}

int main(int argc, char **argv)
{
    scratch_begin(&argc, &argv);
    test_journal("older", "[journal]\ndata = d\nbegan = 1\nreal_bytes = 4\n",
                 "format 0, written by weft of another version");
    test_journal("newer", "[journal]\nfuture = 1\nrecords = 99\nversion = 9.9\n",
                 "format 99, written by weft 9.9");
    test_file("old.h5", "weft run 1", "0.0.1", "\"weft run 1\", written by weft 0.0.1");
    test_file("unnamed.h5", "weft run 1", NULL, "written by weft of another version");
    test_file("new.h5", "weft winner 99", "9.9", "\"weft winner 99\", written by weft 9.9");
    if (packed_form() != PACKED)
        fprintf(stderr, "# packed form: %#llx\n", (unsigned long long)packed_form());
    ok(packed_form() == PACKED,
       "WEFT_RECORD_FORMAT numbers the packed form of records: where "
       "that changed, count on "
       "and put its hash here");
    return tap_end();
}
