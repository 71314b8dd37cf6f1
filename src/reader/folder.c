/* A directory of classes: one document a file of DIR/CLASS/, or a line of the file
 * DIR/CLASS. Where DIR has a directory of training documents, named train or
 * SOMETHING-train, classes are in that one, and directories so named of valid or test are
 * parts of their own; else parts are shares of all. Names that begin with a dot are left
 * out, symbolic links are followed. Documents stand by class and name. 20 Newsgroups by
 * date, the movie reviews of Pang and Lee and others have this form. */
#include "documents.h"
#include "weft/log.h"
#include "weft/magic.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { FILES, LINES };
enum { AUTO, YES, NO };

typedef struct folder {
    int documents, encoding, header;
    const char *remove, *classes;
    weft_split split;
} folder;

static const weft_opt options[] = {
    WEFT_CHOICE_OPT("documents", folder, documents, "files", "files|lines",
                    "files: each file of a class's directory is a document; lines: each "
                    "line of a class's file is one"),
    WEFT_CHOICE_OPT("header", folder, header, "auto", "auto|yes|no",
                    "documents = lines: the first line of each file is a name; auto: where "
                    "all files have the same"),
    WEFT_CHOICE_OPT("encoding", folder, encoding, "auto", WEFT_ENCODING_WORDS,
                    "encoding of the documents; auto: a document that is not UTF-8 is "
                    "taken as Windows-1252"),
    WEFT_TEXT_OPT("remove", folder, remove, "",
                  "what to take out of newsgroup articles: any of headers,footers,quotes, "
                  "as scikit-learn does"),
    WEFT_TEXT_OPT(
        "classes", folder, classes, "",
        "names of the classes that are read, with commas between them; empty: all"),
    WEFT_CHOICE_OPT(
        "split", folder, split.shuffled, "bydate", "bydate/own|shuffled",
        "bydate: a part that has a directory is its documents (20 Newsgroups: the test's "
        "are later ones). shuffled: parts of the same sizes, of all documents shuffled"),
    WEFT_REAL_OPT("valid", folder, split.valid, "0.1", 0, 0.9,
                  "share of the documents for validation, where it has no directory"),
    WEFT_REAL_OPT("test", folder, split.test, "0.1", 0, 0.9,
                  "share of the documents for the test, where it has no directory"),
    WEFT_SHARES_OPT(folder, split.shares),
    WEFT_LONG_OPT("seed", folder, split.seed, "0", 0, 9e15,
                  "seed of the shuffle that divides the documents"),
    {0},
};

typedef struct entry {
    const char *name, *path;
    int directory;
} entry;

typedef struct listing {
    entry *entry; /* [n] by name */
    int64_t n, room;
} listing;

/* What is being read, and what is reported of it at the end. */
typedef struct reading {
    const folder *how;
    const char *source;
    int news; /* flags of what to remove */
    weft_documents docs;
    int64_t recoded, empty, beside; /* documents; entries that are not documents */
    const char *first_recoded, *first_empty, *first_beside;
    int64_t *head; /* [heads] documents that are the first lines of files */
    int64_t heads, head_room;
    weft_pack *p;
} reading;

/* ---- directories ---- */

static int by_name(const void *a, const void *b)
{
    return strcmp(((const entry *)a)->name, ((const entry *)b)->name);
}

static weft_status add_entry(const char *dir, const char *name, listing *l, weft_arena *mem)
{
    struct stat info;
    const char *path = weft_arena_text(mem, "%s/%s", dir, name);
    if (stat(path, &info) != 0) return weft_unreadable(path);
    if (!S_ISDIR(info.st_mode) && !S_ISREG(info.st_mode))
        return weft_fail(WEFT_EDATA, "%s is neither a file nor a directory; remove it",
                         path);
    l->entry = weft_grow(mem, l->entry, sizeof *l->entry, l->n, &l->room);
    l->entry[l->n++] =
        (entry){weft_arena_text(mem, "%s", name), path, S_ISDIR(info.st_mode)};
    return WEFT_OK;
}

static weft_status list(const char *path, listing *l, weft_arena *mem)
{
    DIR *dir = opendir(path);
    weft_status st = WEFT_OK;
    *l = (listing){0};
    if (dir == NULL) return weft_unreadable(path);
    for (const struct dirent *e; st == WEFT_OK && (e = readdir(dir)) != NULL;)
        if (e->d_name[0] != '.') st = add_entry(path, e->d_name, l, mem);
    closedir(dir);
    TRY(st);
    if (l->n > 0) qsort(l->entry, (size_t)l->n, sizeof *l->entry, by_name);
    return WEFT_OK;
}

/* The part whose name is the last word of a directory's name; WEFT_NPART: none. */
static weft_part part_of(const char *name)
{
    static const struct {
        const char *word;
        weft_part part;
    } known[] = {{"train", WEFT_TRAIN}, {"training", WEFT_TRAIN},
                 {"valid", WEFT_VALID}, {"val", WEFT_VALID},
                 {"dev", WEFT_VALID},   {"validation", WEFT_VALID},
                 {"test", WEFT_TEST},   {"testing", WEFT_TEST}};
    size_t n = strlen(name);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        size_t length = strlen(known[i].word);
        if (n < length || strcmp(name + n - length, known[i].word) != 0) continue;
        if (n == length || strchr("-_. ", name[n - length - 1]) != NULL)
            return known[i].part;
    }
    return WEFT_NPART;
}

/* 1 if a directory can hold classes, 0 if it can only hold the documents of one. */
static weft_status holds_classes(const reading *r, const char *path, int *yes)
{
    listing l;
    *yes = r->how->documents == LINES;
    if (*yes) return WEFT_OK;
    TRY(list(path, &l, r->p->mem));
    for (int64_t i = 0; i < l.n; i++) *yes |= l.entry[i].directory;
    return WEFT_OK;
}

/* The directories of the parts, NULL where there is none; all NULL: the entries are
 * classes. */
static weft_status find_parts(const reading *r, const listing *l,
                              const entry *part[WEFT_NPART])
{
    int yes = 0;
    for (int64_t i = 0; i < l->n; i++) {
        const entry *e = &l->entry[i];
        weft_part is = e->directory ? part_of(e->name) : WEFT_NPART;
        if (is == WEFT_NPART) continue;
        if (part[is] != NULL)
            return weft_fail(WEFT_EDATA, "%s and %s are both %s parts; give one of them",
                             part[is]->path, e->path, weft_part_name[is]);
        part[is] = e;
    }
    if (part[WEFT_TRAIN] != NULL) TRY(holds_classes(r, part[WEFT_TRAIN]->path, &yes));
    for (int i = 0; i < WEFT_NPART && !yes; i++) part[i] = NULL;
    return WEFT_OK;
}

/* ---- documents ---- */

static void count_first(int64_t *count, const char **first, const char *name)
{
    if ((*count)++ == 0) *first = name;
}

static weft_status add(reading *r, const char *name, char *text, size_t n,
                       const char *class)
{
    if (weft_text_decode((weft_encoding)r->how->encoding, &text, &n, r->p->mem))
        count_first(&r->recoded, &r->first_recoded, name);
    weft_mark_skip(&text, &n);
    weft_news_strip(r->news, &text, &n);
    if (n == 0) count_first(&r->empty, &r->first_empty, name);
    return weft_documents_add(&r->docs, (weft_document){name, text, n}, 0, class,
                              strlen(class), r->p->mem);
}

/* The files of the directory of a class; their names and bytes are a line of /source. */
static weft_status read_files(reading *r, const entry *class)
{
    listing l;
    weft_arena *mem = r->p->mem;
    weft_digest *digest = weft_digest_new(mem);
    int64_t bytes = 0;
    TRY(list(class->path, &l, mem));
    for (int64_t i = 0; i < l.n; i++) {
        const entry *e = &l.entry[i];
        char *text;
        size_t n;
        if (e->directory)
            return weft_fail(WEFT_EDATA,
                             "%s is a directory where a document is expected; a class is "
                             "a directory of files: DIR/CLASS/FILE or DIR/train/CLASS/FILE",
                             e->path);
        TRY(weft_pack_apart(r->p, e->path));
        TRY(weft_read_all(e->path, mem, &text, &n));
        TRY(weft_text_only(e->path, text, n));
        weft_digest_add(digest, e->name, strlen(e->name) + 1);
        weft_digest_add(digest, text, n);
        bytes += (int64_t)n;
        TRY(add(r, e->path + strlen(r->source) + 1, text, n, class->name));
    }
    weft_pack_source_sum(r->p, class->path, digest, bytes);
    return WEFT_OK;
}

static weft_status read_lines(reading *r, const entry *class)
{
    char *text, *line;
    size_t n;
    TRY(weft_read_text(class->path, r->p->mem, &text, &n));
    char *at = text, *end = text + n;
    r->head = weft_grow(r->p->mem, r->head, sizeof *r->head, r->heads, &r->head_room);
    r->head[r->heads++] = r->docs.n;
    for (int64_t number = 1; (line = weft_line(&at, end, &n)) != NULL; number++) {
        if (n == 0) continue;
        const char *name = weft_arena_text(
            r->p->mem, "%s:%lld", class->path + strlen(r->source) + 1, (long long)number);
        TRY(add(r, name, line, n, class->name));
    }
    return weft_pack_source(r->p, class->path);
}

/* Takes the first lines of all files out, if they are a header. */
static void drop_headers(reading *r)
{
    const weft_documents *d = &r->docs;
    int same = r->heads > 1;
    for (int64_t i = 1; i < r->heads && same; i++) {
        const weft_document *a = &d->document[r->head[0]], *b = &d->document[r->head[i]];
        same = a->n == b->n && memcmp(a->text, b->text, a->n) == 0;
    }
    if (r->how->header == NO || (r->how->header == AUTO && !same)) return;
    if (r->how->header == AUTO)
        weft_log(
            WEFT_WARN,
            "%s: the first line of each file is taken as a header, as all have '%.*s'; "
            "header = no reads it, header = yes says so",
            r->source, (int)d->document[r->head[0]].n, d->document[r->head[0]].text);
    for (int64_t i = r->heads - 1; i >= 0; i--) weft_documents_drop(&r->docs, r->head[i]);
}

/* The next name in a list, without the blanks around it; NULL: there is none. */
static const char *next_name(const char **list, size_t *n)
{
    const char *name = *list + strspn(*list, " ,");
    if (*name == '\0') return NULL;
    *n = strcspn(name, ",");
    *list = name + *n;
    while (name[*n - 1] == ' ') --*n;
    return name;
}

/* 1: the class is one of those that are to be read. */
static int is_wanted(const reading *r, const char *class)
{
    const char *list = r->how->classes, *name;
    size_t n;
    if (*list == '\0') return 1;
    while ((name = next_name(&list, &n)) != NULL)
        if (strlen(class) == n && memcmp(name, class, n) == 0) return 1;
    return 0;
}

/* ECONF if a class is asked for and there is none of that name. */
static weft_status check_wanted(const reading *r)
{
    const char *list = r->how->classes, *name;
    size_t n;
    while ((name = next_name(&list, &n)) != NULL) {
        int found = 0;
        for (int i = 0; i < r->docs.labels.n; i++)
            found |= strlen(r->docs.labels.name[i]) == n &&
                     memcmp(r->docs.labels.name[i], name, n) == 0;
        if (!found)
            return weft_fail(WEFT_ECONF,
                             "classes = %s: %s has no class %.*s; a class is the name of a "
                             "directory of documents",
                             r->how->classes, r->source, (int)n, name);
    }
    return WEFT_OK;
}

/* The classes among these entries: directories, or files if lines are documents. */
static weft_status read_classes(reading *r, const listing *l)
{
    int lines = r->how->documents == LINES;
    for (int64_t i = 0; i < l->n; i++) {
        const entry *e = &l->entry[i];
        if (e->directory == lines) {
            count_first(&r->beside, &r->first_beside, e->path);
            continue;
        }
        if (!is_wanted(r, e->name)) continue;
        int64_t before = r->docs.n;
        r->docs.labels.path = e->path;
        TRY(lines ? read_lines(r, e) : read_files(r, e));
        if (r->docs.n == before)
            return weft_fail(WEFT_EDATA,
                             "%s holds no documents; remove it, or unpack it again",
                             e->path);
    }
    return WEFT_OK;
}

static weft_status read_part(reading *r, const listing *all,
                             const entry *const part[WEFT_NPART], weft_part which)
{
    listing l = {0};
    if (part[which] != NULL)
        TRY(list(part[which]->path, &l, r->p->mem));
    else if (which == WEFT_TRAIN)
        l = *all;
    TRY(read_classes(r, &l));
    r->docs.end[which] = r->docs.n;
    r->docs.own[which] = part[which] != NULL ? part[which]->name : NULL;
    return WEFT_OK;
}

/* ---- the reader ---- */

static void tell(const reading *r)
{
    const long long n = (long long)r->docs.n;
    if (r->recoded > 0)
        weft_log(WEFT_WARN,
                 "%lld of %lld documents are not UTF-8 and are taken as Windows-1252, the "
                 "first is %s; encoding = ... says otherwise",
                 (long long)r->recoded, n, r->first_recoded);
    if (r->empty > 0)
        weft_log(WEFT_WARN, "%lld of %lld documents are empty, the first is %s",
                 (long long)r->empty, n, r->first_empty);
    if (r->beside > 0)
        weft_log(WEFT_WARN, "%lld %s beside the classes left out, the first is %s",
                 (long long)r->beside,
                 r->how->documents == LINES ? "directories" : "files and directories",
                 r->first_beside);
}

/* EDATA where nothing was read because classes are the other kind of entries. */
static weft_status check_kind(const reading *r)
{
    const int lines = r->how->documents == LINES;
    if (r->docs.n > 0 || r->beside == 0 || *r->how->classes != '\0') return WEFT_OK;
    return weft_fail(WEFT_EDATA,
                     lines ? "%s holds only directories, the first is %s; with documents = "
                             "files each is a class, and its files are documents"
                           : "%s holds only files, the first is %s; with documents = lines "
                             "each is a class, and its lines are documents",
                     r->source, r->first_beside);
}

static weft_status folder_read(const void *self, const char *source, weft_pack *p)
{
    const folder *o = self;
    size_t length = strlen(source);
    while (length > 1 && source[length - 1] == '/') length--;
    source = weft_arena_text(p->mem, "%.*s", (int)length, source);
    reading r = {.how = o, .source = source, .docs.labels.mem = p->mem, .p = p};
    const entry *part[WEFT_NPART] = {NULL};
    listing all;
    TRY(weft_news_flags(o->remove, &r.news, p->mem));
    if (r.news != 0 && o->documents == LINES)
        return weft_fail(WEFT_ECONF,
                         "remove = %s takes lines out of articles; with documents = lines "
                         "there is nothing to remove",
                         o->remove);
    TRY(list(source, &all, p->mem));
    TRY(find_parts(&r, &all, part));
    for (int64_t i = 0; i < all.n && part[WEFT_TRAIN] != NULL; i++)
        if (part_of(all.entry[i].name) == WEFT_NPART || !all.entry[i].directory)
            count_first(&r.beside, &r.first_beside, all.entry[i].path);
    for (int i = 0; i < WEFT_NPART; i++) TRY(read_part(&r, &all, part, (weft_part)i));
    TRY(check_kind(&r));
    TRY(check_wanted(&r));
    drop_headers(&r);
    tell(&r);
    return weft_documents_pack(&r.docs, source, o->split, p);
}

extern const weft_reader weft_reader_folder;
const weft_reader weft_reader_folder = {
    .kind = {.name = "folder",
             .about = "a directory of classes, one document a file (20 Newsgroups) or line",
             .size = sizeof(folder),
             .opts = options},
    .read = folder_read,
};
