/* Files: directory trees that are copied, written through to the disk, removed; the names
 * of a run's files; files that are no text, known by their first bytes; texts of CSV files
 * (RFC 4180); tables of text, read with libcsv line by line, so that every message can name
 * the line. */
#ifdef __linux__
#define _GNU_SOURCE /* syncfs */
#endif
#include "weft/base/files.h"
#include "weft/base/base.h"
#include "weft/base/random.h"

#include <csv.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- directory trees ---- */

/* Symbolic links below the root are copied as links and never followed; sockets, pipes and
 * devices are left out. */

/* A walk through a tree. `visit` is called for each file and directory, with `at` its path
 * below the root ("" the root itself, "/a/b"), for a directory before its contents. */
struct walk {
    const char *root, *to;
    weft_status (*visit)(const struct walk *walk, const char *at, const struct stat *info,
                         weft_arena *tmp);
    weft_arena *mem;
    int64_t n, room;
    const char **dir; /* [n] directories found so far, paths below the root */
    int64_t *synced;  /* number of files and directories that sync_one has met */
    uint64_t *sum;    /* of what sum_one has met */
};

static weft_status tree_fail(const char *what, const char *path, int err)
{
    return weft_fail(WEFT_EFILE,
                     "cannot %s %s: %s; check its permissions, and the space there", what,
                     path, strerror(err));
}

static weft_status visit(struct walk *walk, const char *at)
{
    struct stat info;
    WEFT_SCRATCH(tmp);
    const char *path = weft_arena_text(tmp, "%s%s", walk->root, at);
    weft_status st = WEFT_OK;
    if ((*at ? lstat : stat)(path, &info) != 0)
        st = tree_fail("read", path, errno);
    else
        st = walk->visit(walk, at, &info, tmp);
    if (st == WEFT_OK && S_ISDIR(info.st_mode)) {
        WEFT_GROW(walk->mem, walk->dir, walk->n, &walk->room);
        walk->dir[walk->n++] = weft_arena_text(walk->mem, "%s", at);
    }
    return st;
}

static weft_status visit_all(struct walk *walk, const char *at)
{
    WEFT_SCRATCH(tmp);
    const char *path = weft_arena_text(tmp, "%s%s", walk->root, at);
    DIR *dir = opendir(path);
    weft_status st = dir ? WEFT_OK : tree_fail("read", path, errno);
    for (const struct dirent *entry = dir ? readdir(dir) : NULL; entry && st == WEFT_OK;
         entry = readdir(dir))
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            st = visit(walk, weft_arena_text(tmp, "%s/%s", at, entry->d_name));
    if (dir) closedir(dir);
    return st;
}

/* Visits the root and all that is in it, breadth first. */
static weft_status walk_tree(struct walk *walk)
{
    TRY(visit(walk, ""));
    for (int64_t i = 0; i < walk->n; i++) TRY(visit_all(walk, walk->dir[i]));
    return WEFT_OK;
}

/* ---- copies ---- */

static int copy_bytes(int in, int out, char *buffer, size_t n)
{
    for (;;) {
        ssize_t got = read(in, buffer, n);
        if (got == 0) return 0;
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return errno;
        for (ssize_t done = 0; done < got;) {
            ssize_t put = write(out, buffer + done, (size_t)(got - done));
            if (put < 0 && errno != EINTR) return errno;
            if (put > 0) done += put;
        }
    }
}

/* Copies a file with its mode and the time of its last change. */
static weft_status copy_file(const char *from, const char *to, const struct stat *info,
                             weft_arena *tmp)
{
    enum { PIECE = 1 << 20 };
    int in = open(from, O_RDONLY | O_CLOEXEC);
    if (in < 0) return tree_fail("read", from, errno);
    mode_t mode = info->st_mode & 07777;
    int out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode | 0200);
    int err = out < 0 ? errno : copy_bytes(in, out, WEFT_NEW(tmp, char, PIECE), PIECE);
    const struct timespec times[2] = {info->st_atim, info->st_mtim};
    if (out >= 0 && err == 0 && (fchmod(out, mode) != 0 || futimens(out, times) != 0))
        err = errno;
    if (out >= 0 && close(out) != 0 && err == 0) err = errno;
    close(in);
    return err == 0 ? WEFT_OK : tree_fail("write", to, err);
}

static weft_status copy_link(const char *from, const char *to, weft_arena *tmp)
{
    enum { MOST = 4096 };
    char *text = WEFT_NEW(tmp, char, MOST + 1);
    if (readlink(from, text, MOST) < 0) return tree_fail("read", from, errno);
    return symlink(text, to) == 0 ? WEFT_OK : tree_fail("write", to, errno);
}

static weft_status copy(const struct walk *walk, const char *at, const struct stat *info,
                        weft_arena *tmp)
{
    const char *from = weft_arena_text(tmp, "%s%s", walk->root, at);
    const char *to = weft_arena_text(tmp, "%s%s", walk->to, at);
    if (S_ISREG(info->st_mode)) return copy_file(from, to, info, tmp);
    if (S_ISLNK(info->st_mode)) return copy_link(from, to, tmp);
    if (!S_ISDIR(info->st_mode)) return WEFT_OK;
    int made = mkdir(to, (info->st_mode & 0777) | 0700);
    return made == 0 || (*at == '\0' && errno == EEXIST) ? WEFT_OK
                                                         : tree_fail("make", to, errno);
}

weft_status weft_tree_copy(const char *from, const char *to)
{
    struct walk walk = {.root = from, .to = to, .visit = copy, .mem = weft_arena_new()};
    weft_status st = walk_tree(&walk);
    weft_arena_free(walk.mem);
    return st;
}

/* ---- durability ---- */

/* More files than these are written through by one call for their file system, which takes
 * as long as a few of them, but for what others have just written there. */
enum { FEW = 100 };

static weft_status sync_one(const struct walk *walk, const char *at,
                            const struct stat *info, weft_arena *tmp)
{
    if (!S_ISREG(info->st_mode) && !S_ISDIR(info->st_mode)) return WEFT_OK;
    if (++*walk->synced > FEW) return WEFT_OK;
    const char *path = weft_arena_text(tmp, "%s%s", walk->root, at);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return errno == EACCES ? WEFT_OK : tree_fail("read", path, errno);
    int err = fsync(fd) == 0 || errno == EINVAL ? 0 : errno;
    close(fd);
    return err == 0 ? WEFT_OK : tree_fail("write", path, err);
}

static weft_status sync_all(const char *path)
{
#ifdef __linux__
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return tree_fail("read", path, errno);
    int err = syncfs(fd) == 0 ? 0 : errno;
    close(fd);
    return err == 0 ? WEFT_OK : tree_fail("write", path, err);
#else
    (void)path;
    sync();
    return WEFT_OK;
#endif
}

weft_status weft_tree_sync(const char *path)
{
    int64_t n = 0;
    struct walk walk = {
        .root = path, .visit = sync_one, .mem = weft_arena_new(), .synced = &n};
    weft_status st = walk_tree(&walk);
    weft_arena_free(walk.mem);
    return st == WEFT_OK && n > FEW ? sync_all(path) : st;
}

/* ---- sums ---- */

/* A file that may not be read counts by its name and size. */
static weft_status sum_file(const char *path, uint64_t *hash, weft_arena *tmp)
{
    enum { PIECE = 1 << 20 };
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return errno == EACCES ? WEFT_OK : tree_fail("read", path, errno);
    char *piece = WEFT_NEW(tmp, char, PIECE);
    size_t n = 0;
    ssize_t got;
    while ((got = read(fd, piece + n, PIECE - n)) != 0) {
        if (got < 0 && errno != EINTR) break;
        if (got > 0) n += (size_t)got;
        if (n < PIECE) continue;
        *hash = weft_hash(piece, n, *hash);
        n = 0;
    }
    int err = got < 0 ? errno : 0;
    *hash = weft_hash(piece, n, *hash);
    close(fd);
    return err == 0 ? WEFT_OK : tree_fail("read", path, err);
}

static weft_status sum_one(const struct walk *walk, const char *at, const struct stat *info,
                           weft_arena *tmp)
{
    enum { MOST = 4096 };
    const char *path = weft_arena_text(tmp, "%s%s", walk->root, at);
    uint64_t hash = weft_hash(at, strlen(at), info->st_mode & S_IFMT);
    if (S_ISREG(info->st_mode)) {
        hash = weft_hash(&info->st_size, sizeof info->st_size, hash);
        TRY(sum_file(path, &hash, tmp));
    } else if (S_ISLNK(info->st_mode)) {
        char *text = WEFT_NEW(tmp, char, MOST);
        ssize_t n = readlink(path, text, MOST);
        if (n < 0) return tree_fail("read", path, errno);
        hash = weft_hash(text, (size_t)n, hash);
    } else if (!S_ISDIR(info->st_mode)) {
        return WEFT_OK;
    }
    *walk->sum += hash; /* in whatever order the directory names them */
    return WEFT_OK;
}

weft_status weft_tree_sum(const char *path, uint64_t *sum)
{
    *sum = 0;
    if (access(path, F_OK) != 0) return WEFT_OK;
    struct walk walk = {
        .root = path, .visit = sum_one, .mem = weft_arena_new(), .sum = sum};
    weft_status st = walk_tree(&walk);
    weft_arena_free(walk.mem);
    return st;
}

/* ---- removal ---- */

static weft_status remove_one(const struct walk *walk, const char *at,
                              const struct stat *info, weft_arena *tmp)
{
    const char *path = weft_arena_text(tmp, "%s%s", walk->root, at);
    if (S_ISDIR(info->st_mode))
        chmod(path, 0700);
    else
        unlink(path);
    return WEFT_OK;
}

void weft_tree_remove(const char *path)
{
    if (unlink(path) == 0 || errno == ENOENT) return;
    struct walk walk = {.root = path, .visit = remove_one, .mem = weft_arena_new()};
    const char *before = weft_arena_text(walk.mem, "%s", weft_error());
    weft_status st = walk_tree(&walk);
    if (st != WEFT_OK) weft_error_set(before);
    while (walk.n-- > 0) rmdir(weft_arena_text(walk.mem, "%s%s", path, walk.dir[walk.n]));
    weft_arena_free(walk.mem);
}

/* ---- names of a run's files ---- */

const char *const weft_run_names[] = {
    WEFT_JOURNAL_NAME,    WEFT_TEAM_NAME,    WEFT_STATE_NAME,  WEFT_FILES_NAME,
    WEFT_CHECKPOINT_NAME, WEFT_CLAIM_NAME,   WEFT_TICKET_NAME, WEFT_STALLED_NAME,
    WEFT_WORKER_NAME,     WEFT_PROGRAM_NAME, WEFT_LOCK_NAME,   NULL};
const char *const weft_failed_names[] = {WEFT_JOURNAL_NAME, WEFT_TEAM_NAME, WEFT_STATE_NAME,
                                         WEFT_FAILED_NAME, NULL};
/* Of a process, then those without. */
const char *const weft_name_endings[] = {WEFT_TEMP_NAME,  WEFT_SCRATCH_NAME, WEFT_ROWS_NAME,
                                         WEFT_ASIDE_NAME, WEFT_LOG_NAME,     NULL};
enum { OF_PROCESS = 3 };

/* The rest of a name behind what the format prints; NULL: it begins otherwise. */
static const char *rest_behind(const char *name, const char *format)
{
    while (*format) {
        if (*format != '%') {
            if (*name++ != *format++) return NULL;
            continue;
        }
        format += strcspn(format, "dx");
        size_t n = strspn(name, *format++ == 'x' ? "0123456789abcdef" : "0123456789");
        if (n == 0) return NULL;
        name += n;
    }
    return name;
}

int weft_is_named(const char *name, const char *format)
{
    const char *rest = rest_behind(name, format);
    return rest && *rest == '\0';
}

/* 1 if the text is endings, one or more, or none. */
static int is_endings(const char *text)
{
    while (*text) {
        const char *rest = NULL;
        for (int i = 0; weft_name_endings[i]; i++) {
            const char *other = rest_behind(text, weft_name_endings[i]);
            if (other && (!rest || other > rest)) rest = other; /* the longest */
        }
        if (!rest) return 0;
        text = rest;
    }
    return 1;
}

static int is_in_table(const char *const *table, const char *name)
{
    for (int i = 0; table[i]; i++) {
        const char *rest = rest_behind(name, table[i]);
        if (rest && is_endings(rest)) return 1;
    }
    return 0;
}

int weft_is_of_run(const char *name)
{
    return is_in_table(weft_run_names, name);
}

int weft_is_of_failed(const char *name)
{
    return is_in_table(weft_failed_names, name);
}

int weft_is_temporary(const char *ending, unsigned *host, long long *process)
{
    for (int i = 0; i < OF_PROCESS; i++) {
        const char *rest = rest_behind(ending, weft_name_endings[i]);
        if (!rest || !is_endings(rest)) continue;
        const char *number = strchr(ending + 1, '.') + 1;
        *host = (unsigned)strtoul(number, NULL, 16);
        *process = strtoll(strchr(number, '.') + 1, NULL, 10);
        return 1;
    }
    return 0;
}

/* ---- files that are no text ---- */

#define GZIP  "unpack it by gunzip"
#define TABLE "write it as text, as analysis/totable.py or pandas' to_csv does"
#define OWN   "write it as text, by the program that it is of"
#define ARRAY                                                                              \
    "'python3 analysis/toh5.py X.npy Y.npy -o F.h5' writes HDF5, which "                   \
    "'weft pack dense F.h5 x=X y=Y' takes"
#define ZIP                                                                                \
    "unpack it, or, of NumPy, 'python3 analysis/toh5.py F.npz -o F.h5' writes HDF5, "      \
    "which 'weft pack dense F.h5 x=NAME y=NAME' takes; of Excel, analysis/totable.py CSV"
#define PACKED "unpack it"
#define IMAGE                                                                              \
    "images are arrays here: make one of all of them and one of their labels in "          \
    "NumPy; " ARRAY
#define MATLAB                                                                             \
    "its arrays lie transposed: h5py reads X[:].T, which numpy.save writes; " ARRAY

static const struct {
    const char *bytes;
    int n, at; /* bytes, and where in the file they stand */
    const char *kind, *remedy;
} known[] = {
    {"\x1f\x8b", 2, 0, "compressed by gzip", GZIP},
    {"1AY&SY", 6, 4, "compressed by bzip2", "unpack it by bunzip2"},
    {"\xfd"
     "7zXZ",
     5, 0, "compressed by xz", "unpack it by unxz"},
    {"\x28\xb5\x2f\xfd", 4, 0, "compressed by zstd", "unpack it by unzstd"},
    {"PK\x03\x04", 4, 0, "a zip archive (.zip, .npz, .xlsx)", ZIP},
    {"7z\xbc\xaf", 4, 0, "a 7z archive", PACKED},
    {"ustar", 5, 257, "a tar archive", "unpack it by tar xf"},
    {"\x89HDF\r\n", 6, 0, "an HDF5 file",
     "write its arrays as text; a file that weft packed is read as it is, by run.data"},
    {"\x93NUMPY", 6, 0, "an array of NumPy (.npy)", ARRAY},
    {"\x80\x02", 2, 0, "a pickle of Python", TABLE},
    {"\x80\x03", 2, 0, "a pickle of Python", TABLE},
    {"\x80\x04", 2, 0, "a pickle of Python", TABLE},
    {"\x80\x05", 2, 0, "a pickle of Python", TABLE},
    {"PAR1", 4, 0, "a Parquet file", TABLE},
    {"ARROW1", 6, 0, "an Arrow file", TABLE},
    {"FEA1", 4, 0, "a Feather file", TABLE},
    {"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", 8, 0, "an Excel file (.xls)", TABLE},
    {"<stata_dta>", 11, 0, "a file of Stata", TABLE},
    {"$FL2", 4, 0, "a file of SPSS", OWN},
    {"MATLAB 5.0 MAT-file", 19, 0, "a file of MATLAB", OWN},
    {"MATLAB 7.3 MAT-file", 19, 0, "a file of MATLAB 7.3", MATLAB},
    {"\x89PNG", 4, 0, "an image (PNG)", IMAGE},
    {"\xff\xd8\xff", 3, 0, "an image (JPEG)", IMAGE},
    {"SQLite format 3", 16, 0, "a data base of SQLite", "write its table as text"},
    {"%PDF-", 5, 0, "a PDF document", "write its text to a file"},
    {"\xba\x16\x4f\x2f", 4, 0, "a model of fastText (.bin)", "give its vectors, the .vec"},
    {"\xff\xfe\0\0", 4, 0, "text in UTF-32", "convert it by iconv -f UTF-32 -t UTF-8"},
    {"version https://git-lfs", 23, 0, "a pointer of Git LFS",
     "fetch the file by git lfs pull"},
    {"\xff\xfe", 2, 0, "text in UTF-16", "convert it by iconv -f UTF-16 -t UTF-8"},
    {"\xfe\xff", 2, 0, "text in UTF-16", "convert it by iconv -f UTF-16 -t UTF-8"}};

weft_status weft_text_only(const char *path, const char *text, size_t n)
{
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        size_t at = (size_t)known[i].at, end = at + (size_t)known[i].n;
        if (n < end || memcmp(text + at, known[i].bytes, end - at) != 0) continue;
        return weft_fail(WEFT_EDATA, "%s is %s where text in UTF-8 is expected; %s", path,
                         known[i].kind, known[i].remedy);
    }
    return WEFT_OK;
}

/* ---- texts of CSV files ---- */

const char *weft_csv_number(double x, char *text)
{
    enum { SURE = 15, ENOUGH = 17 }; /* digits that a double keeps, and that tell it */
    if (isnan(x)) x = NAN;           /* without a sign */
    int whole = fabs(x) < 1e17 && floor(x) >= x;
    snprintf(text, WEFT_CSV_NUMBER, "%.*g", whole ? ENOUGH : SURE, x);
    for (int n = SURE + 1; n <= ENOUGH && fabs(strtod(text, NULL) - x) > 0; n++)
        snprintf(text, WEFT_CSV_NUMBER, "%.*g", n, x);
    return text;
}

void weft_csv_quote(FILE *file, const char *text)
{
    putc('"', file);
    for (; *text; text++) {
        if (*text == '"') putc('"', file);
        putc(*text, file);
    }
    putc('"', file);
}

void weft_csv_text(FILE *file, const char *text)
{
    if (strpbrk(text, ",\"\r\n"))
        weft_csv_quote(file, text);
    else
        fputs(text, file);
}

/* ---- tables ---- */

static void on_field(void *text, size_t n, void *self)
{
    weft_lines *rows = self;
    (void)n;
    WEFT_GROW(rows->mem, rows->field, rows->n, &rows->room);
    rows->field[rows->n++] = weft_arena_text(rows->mem, "%s", (const char *)text);
}

static void on_row(int end, void *self)
{
    (void)end;
    ((weft_lines *)self)->whole = 1;
}

static weft_status take_row(weft_lines *rows,
                            weft_status (*take)(void *own, const weft_lines *row),
                            void *own)
{
    if (!rows->whole) return WEFT_OK;
    if (rows->width == 0) rows->width = rows->n;
    if (rows->n != rows->width)
        return weft_fail(rows->wrong, "%s:%d: %d fields, expected the %d of the first line",
                         rows->path, rows->line, rows->n, rows->width);
    TRY(take(own, rows));
    rows->n = rows->whole = 0;
    rows->room = 0;
    weft_arena_reset(rows->mem, 0);
    return WEFT_OK;
}

weft_status weft_lines_read(weft_lines *rows, FILE *in,
                            weft_status (*take)(void *own, const weft_lines *row),
                            void *own)
{
    static const char mark[] = "\xef\xbb\xbf"; /* of UTF-8, as some editors write it */
    struct csv_parser csv;
    char *text = NULL;
    size_t room = 0;
    weft_status st = WEFT_OK;
    weft_check(csv_init(&csv, CSV_APPEND_NULL) == 0, "libcsv does not start");
    rows->mem = weft_arena_new();
    errno = 0;
    for (ssize_t n; st == WEFT_OK && (n = getline(&text, &room, in)) > 0;) {
        int first = rows->line++ == 0, marked = first && strncmp(text, mark, 3) == 0;
        const char *from = marked ? text + strlen(mark) : text;
        size_t bytes = (size_t)(text + n - from);
        if (first)
            csv_set_delim(&csv, rows->commas && !strchr(text, '\t') ? CSV_COMMA : CSV_TAB);
        weft_check(csv_parse(&csv, from, bytes, on_field, on_row, rows) == bytes,
                   "libcsv: %s", csv_strerror(csv_error(&csv)));
        st = take_row(rows, take, own);
    }
    if (st == WEFT_OK && ferror(in))
        st = weft_fail(WEFT_EFILE, "%s: %s", rows->path, strerror(errno));
    csv_fini(&csv, on_field, on_row, rows);
    if (st == WEFT_OK) st = take_row(rows, take, own);
    csv_free(&csv);
    free(text);
    fclose(in);
    weft_arena_free(rows->mem);
    return st;
}
