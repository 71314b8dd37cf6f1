/* The trace of a run on disk, from which a run that was killed goes on: NAME.d/journal
 * holds the configuration and one record a job done, NAME.d/state-TRIAL-JOB the state after
 * a job that a later one may continue; unit.c adds checkpoints of jobs in flight. A state
 * is written before its job's record and removed after the record that makes it useless is
 * durable, so at any moment the two fit together. Called by the scheduler. */
#include "run_private.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { TAG_CONF = 1, TAG_ABOUT, TAG_JOB };

static const char *state_name(const weft_trace *t, const weft_event *e, weft_arena *mem)
{
    return weft_arena_text(mem, "%s/state-%lld-%lld", t->dir, (long long)e->job.trial,
                           (long long)e->job.id);
}

static const char *dir_of(const char *path, weft_arena *mem)
{
    const size_t n = strlen(path);
    const size_t stem = n > 3 && strcmp(path + n - 3, ".h5") == 0 ? n - 3 : n;
    return weft_arena_text(mem, "%.*s.d", (int)stem, path);
}

/* ---- opening ------------------------------------------------------------------------ */

static int is_file(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0;
}

static weft_status make_dir(const char *dir)
{
    if (mkdir(dir, 0777) == 0 || errno == EEXIST) return WEFT_OK;
    return weft_fail(WEFT_EFILE,
                     "cannot make the directory %s: %s; choose another output by -o", dir,
                     strerror(errno));
}

/* Removes what a run leaves in its directory, and the directory. */
static void remove_dir(const char *dir)
{
    DIR *d = opendir(dir);
    if (d == NULL) return;
    weft_arena *tmp = weft_arena_new();
    for (const struct dirent *e = readdir(d); e != NULL; e = readdir(d))
        if (strcmp(e->d_name, "journal") == 0 || strncmp(e->d_name, "state-", 6) == 0 ||
            strncmp(e->d_name, "unit-", 5) == 0 || strcmp(e->d_name, "space") == 0)
            unlink(weft_arena_text(tmp, "%s/%s", dir, e->d_name));
    closedir(d);
    rmdir(dir);
    weft_arena_free(tmp);
}

/* What rank 0 finds before the journal is opened. */
static weft_status look(const weft_trace *t, int fresh, const char *journal)
{
    if (fresh == 1 && is_file(t->path))
        return weft_fail(WEFT_EFILE,
                         "%s exists; choose another name by -o, or replace it by "
                         "--force",
                         t->path);
    if (fresh) return make_dir(t->dir);
    if (is_file(journal)) return WEFT_OK;
    if (is_file(t->path))
        return weft_fail(WEFT_EFILE, "%s is complete: there is nothing to resume", t->path);
    return weft_fail(WEFT_EFILE, "there is no run %s: neither it nor its journal %s",
                     t->path, journal);
}

static weft_status open_journal(weft_trace *t, int fresh, weft_record **rec, int64_t *n)
{
    const char *path = weft_arena_text(t->mem, "%s/journal", t->dir);
    TRY(look(t, fresh, path));
    TRY(weft_journal_open(&t->journal, path, rec, n, t->mem));
    int begun = 0;
    for (int64_t i = 0; i < *n; i++) begun |= (*rec)[i].tag == TAG_ABOUT;
    if (!fresh || !begun) return WEFT_OK;
    weft_journal_close(&t->journal);
    if (fresh == 1)
        return weft_fail(WEFT_EFILE,
                         "%s is unfinished; go on with it by `weft resume %s`, or "
                         "begin anew by --force",
                         t->path, t->path);
    remove_dir(t->dir);
    TRY(make_dir(t->dir));
    return weft_journal_open(&t->journal, path, rec, n, t->mem);
}

/* Gives all ranks the records that rank 0 read. Collective. */
static weft_record *share(const weft_trace *t, weft_record *rec, int64_t *n)
{
    weft_bcast(t->world, n, sizeof *n, 0);
    if (t->world->rank != 0) rec = WEFT_NEW(t->mem, weft_record, *n);
    for (int64_t i = 0; i < *n; i++) {
        weft_record *r = &rec[i];
        uint64_t head[2] = {r->tag, r->bytes};
        weft_bcast(t->world, head, sizeof head, 0);
        char *data = WEFT_NEW(t->mem, char, head[1]);
        if (t->world->rank == 0) memcpy(data, r->data, r->bytes);
        weft_bcast(t->world, data, head[1], 0);
        *r = (weft_record){.tag = (uint32_t)head[0], .bytes = head[1], .data = data};
    }
    return rec;
}

/* The journal's own notes, kept as a small input file. */
typedef struct about {
    const char *data;
    int64_t began;
    int real_bytes;
} about;

static const weft_opt about_opts[] = {
    {.name = "data", .type = WEFT_TEXT, .at = offsetof(about, data), .def = ""},
    {.name = "began",
     .type = WEFT_LONG,
     .at = offsetof(about, began),
     .def = "0",
     .hi = 9e15},
    {.name = "real_bytes",
     .type = WEFT_INT,
     .at = offsetof(about, real_bytes),
     .def = "0",
     .hi = 16},
    {0}};

static const weft_kind about_kind = {
    .name = "journal", .about = "notes", .size = sizeof(about), .opts = about_opts};

static weft_status read_about(weft_trace *t, const char *text)
{
    weft_conf c;
    about a;
    weft_conf_init(&c, t->mem);
    TRY(weft_conf_text(&c, "journal", text));
    TRY(weft_conf_bind(&c, &about_kind, &a));
    if (a.real_bytes != (int)sizeof(real))
        return weft_fail(WEFT_EFILE,
                         "%s was begun with numbers of %d bytes, this program has "
                         "%d; resume it with a program built with REAL=%s",
                         t->path, a.real_bytes, (int)sizeof(real),
                         a.real_bytes == 8 ? "double" : "float");
    t->data = a.data;
    t->began = a.began;
    return WEFT_OK;
}

/* 1 if the record is of a job that is done; *id is that of the job. */
static int is_job(const weft_record *r, int64_t *id)
{
    return r->tag == TAG_JOB && weft_event_is(r->data, r->bytes, id);
}

/* Takes the records apart; a text's record ends with its NUL. Local. */
static weft_status take(weft_trace *t, const weft_record *rec, int64_t n)
{
    const char *conf = NULL;
    int64_t id;
    for (int64_t i = 0; i < n; i++) {
        if (rec[i].tag == TAG_CONF) conf = rec[i].data;
        if (rec[i].tag == TAG_ABOUT) {
            TRY(read_about(t, rec[i].data));
            t->conf = conf;
        }
        if (is_job(&rec[i], &id) && id >= t->npast) t->npast = id + 1;
    }
    t->past = WEFT_NEW(t->mem, const void *, t->npast);
    for (int64_t i = 0; i < n; i++) {
        if (!is_job(&rec[i], &id)) continue;
        t->past[id] = rec[i].data;
        t->ndone++;
    }
    return WEFT_OK;
}

weft_status weft_trace_open(weft_trace *t, const char *path, int fresh, weft_team *world,
                            weft_arena *mem)
{
    *t = (weft_trace){.world = world, .mem = mem, .path = path, .journal = {.fd = -1}};
    t->dir = dir_of(path, mem);

    weft_record *rec = NULL;
    int64_t nrec = 0;
    TRY(weft_agree(world->rank == 0 ? open_journal(t, fresh, &rec, &nrec) : WEFT_OK,
                   world));
    rec = share(t, rec, &nrec);
    weft_status st = take(t, rec, nrec);
    if (st == WEFT_OK && !fresh && t->conf == NULL)
        st = weft_fail(WEFT_EFILE,
                       "%s was stopped before it began; begin again by `weft tune`",
                       t->path);
    if (st != WEFT_OK) weft_trace_close(t, 0);
    return st;
}

weft_status weft_run_file(weft_h5 *f, const char *path, weft_arena *mem)
{
    const char *journal = weft_arena_text(mem, "%s/journal", dir_of(path, mem));
    if (!is_file(path) && is_file(journal))
        return weft_fail(WEFT_EFILE, "%s is unfinished; go on with it by `weft resume %s`",
                         path, path);
    return weft_h5_open(f, path, mem);
}

/* ---- writing ------------------------------------------------------------------------ */

/* Makes sure that the states will fit, by taking and giving back that much space. */
static weft_status try_space(const weft_trace *t, double bytes)
{
    const char *path = weft_arena_text(t->mem, "%s/space", t->dir);
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    int err = fd < 0 ? errno : posix_fallocate(fd, 0, (off_t)bytes);
    if (err == EINVAL || err == EOPNOTSUPP) err = 0; /* a file system that cannot say */
    if (fd >= 0) close(fd);
    unlink(path);
    if (err == 0) return WEFT_OK;
    return weft_fail(WEFT_EFILE,
                     "cannot write %.1f MB to %s: %s; free space or choose another "
                     "output by -o",
                     bytes / 1e6, t->dir, strerror(err));
}

static weft_status begin(weft_trace *t, const char *conf, double bytes)
{
    TRY(try_space(t, bytes));
    const char *text =
        weft_arena_text(t->mem, "[journal]\ndata = %s\nbegan = %lld\nreal_bytes = %d\n",
                        t->data, (long long)t->began, (int)sizeof(real));
    TRY(weft_journal_add(&t->journal, TAG_CONF, conf, strlen(conf) + 1));
    TRY(weft_journal_add(&t->journal, TAG_ABOUT, text, strlen(text) + 1));
    return weft_journal_sync(&t->journal);
}

weft_status weft_trace_begin(weft_trace *t, const char *conf, const char *data,
                             double bytes)
{
    t->data = data;
    t->began = (int64_t)time(NULL);
    weft_bcast(t->world, &t->began, sizeof t->began, 0);
    return weft_agree(t->world->rank == 0 ? begin(t, conf, bytes) : WEFT_OK, t->world);
}

/* A file is removed once the record that makes it useless is durable. */
static void drop(weft_trace *t, const char *path)
{
    t->drop = weft_grow(t->mem, t->drop, sizeof *t->drop, t->ndrop, &t->roomdrop);
    t->drop[t->ndrop++] = path;
}

static weft_status add(weft_trace *t, const weft_event *e, const real *state, int64_t n)
{
    weft_arena *tmp = weft_arena_new();
    size_t bytes;
    const void *data = weft_event_pack(e, &bytes, tmp);
    weft_status st = WEFT_OK;
    if (state) st = weft_file_put(state_name(t, e, tmp), state, (size_t)n * sizeof *state);
    if (st == WEFT_OK) st = weft_journal_add(&t->journal, TAG_JOB, data, bytes);
    if (st == WEFT_OK && t->journal.synced > t->dropped) {
        for (int i = 0; i < t->ndrop; i++) unlink(t->drop[i]);
        t->ndrop = 0;
        t->dropped = t->journal.synced;
    }
    if (e->nunit > 1) drop(t, weft_unit_name(t, e, t->mem));
    weft_arena_free(tmp);
    return st;
}

weft_status weft_trace_add(weft_trace *t, const weft_event *e, const real *state, int64_t n)
{
    return weft_agree(t->world->rank == 0 ? add(t, e, state, n) : WEFT_OK, t->world);
}

weft_status weft_trace_sync(weft_trace *t)
{
    return weft_agree(t->world->rank == 0 ? weft_journal_sync(&t->journal) : WEFT_OK,
                      t->world);
}

void weft_trace_drop(weft_trace *t, const weft_event *e)
{
    if (t->world->rank == 0) drop(t, state_name(t, e, t->mem));
}

void weft_trace_close(weft_trace *t, int done)
{
    if (t->journal.fd < 0) return;
    weft_journal_close(&t->journal);
    if (done) remove_dir(t->dir);
}

/* ---- replay ------------------------------------------------------------------------- */

weft_status weft_trace_find(const weft_trace *t, weft_event *e, int *found, weft_arena *mem)
{
    *found = e->job.id < t->npast && t->past[e->job.id] != NULL;
    if (!*found || weft_event_unpack(e, t->past[e->job.id], mem)) return WEFT_OK;
    return weft_fail(WEFT_EFILE,
                     "job %lld in the journal of %s is not the one that this program asks "
                     "for: another version began the run; resume it with that one, or "
                     "begin anew by `weft tune --force`",
                     (long long)e->job.id, t->path);
}

static weft_status load(const weft_trace *t, const weft_event *e, real *state, int64_t n)
{
    weft_arena *tmp = weft_arena_new();
    const size_t bytes = (size_t)n * sizeof *state;
    const char *path = state_name(t, e, tmp);
    weft_status st = weft_file_get(path, state, bytes);
    if (st == WEFT_OK && weft_hash(state, bytes, 0) != e->hash)
        st =
            weft_fail(WEFT_EFILE, "%s is damaged; begin anew by `weft tune --force`", path);
    weft_arena_free(tmp);
    return st;
}

weft_status weft_trace_load(const weft_trace *t, weft_team *team, const weft_event *e,
                            real *state, int64_t n)
{
    TRY(weft_agree(team->rank == 0 ? load(t, e, state, n) : WEFT_OK, team));
    weft_bcast(team, state, (size_t)n * sizeof *state, 0);
    return WEFT_OK;
}
