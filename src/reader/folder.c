/* A directory of classes: one document a file of DIR/CLASS/, or a line of the file
 * DIR/CLASS. Where DIR has a directory of training documents, named train or
 * SOMETHING-train, classes are in that one, and directories so named of valid or test are
 * parts of their own; else parts are shares of all. Names that begin with a dot are left
 * out, symbolic links are followed. Documents stand by class and name. 20 Newsgroups by
 * date, the movie reviews of Pang and Lee and others have this form. */
#include "reader.h"
#include "weft/base/base.h"
#include "weft/base/files.h"

#include <string.h>
#include <sys/stat.h>

enum { FILES, LINES };

struct folder {
    int documents, encoding;
    const char *remove, *classes;
    weft_split split;
};

static const weft_opt options[] = {
    WEFT_CHOICE_OPT("documents", struct folder, documents, "files", "files|lines",
                    "files: each file of a class's directory is a document; lines: each "
                    "line of a class's file is one"),
    WEFT_CHOICE_OPT("encoding", struct folder, encoding, "auto", WEFT_ENCODING_WORDS,
                    "encoding of the documents; auto: a document that is not UTF-8 is "
                    "taken as Windows-1252"),
    WEFT_TEXT_OPT("remove", struct folder, remove, "",
                  "what to take out of newsgroup articles: any of headers,footers,quotes, "
                  "as scikit-learn does"),
    WEFT_TEXT_OPT(
        "classes", struct folder, classes, "",
        "names of the classes that are read, with commas between them; empty: all"),
    WEFT_CHOICE_OPT(
        "split", struct folder, split.shuffled, "bydate", "bydate/own|shuffled",
        "bydate: a part that has a directory is its documents (20 Newsgroups: the test's "
        "are later ones). shuffled: parts of the same sizes, of all documents shuffled"),
    WEFT_SPLIT_OPTS(struct folder, split, "documents", ", where it has no directory",
                    ", where it has no directory"),
    {0},
};

struct entry {
    const char *name, *path;
    int directory;
};

struct listing {
    struct entry *entry; /* [n] by name */
    int64_t n, room;
};

/* What is being read, and what is reported of it at the end. */
struct reading {
    const struct folder *how;
    const char *source;
    int news;          /* flags of what to remove */
    weft_names wanted; /* classes */
    weft_documents docs;
    int64_t recoded, empty, beside; /* documents; entries that are not documents */
    const char *first_recoded, *first_empty, *first_beside;
    weft_pack *pack;
};

/* ---- directories ---- */

static weft_status add_entry(const char *dir, const char *name, struct listing *listing,
                             weft_arena *mem)
{
    struct stat info;
    const char *path = weft_arena_text(mem, "%s/%s", dir, name);
    if (stat(path, &info) != 0) return weft_unreadable(path);
    if (!S_ISDIR(info.st_mode) && !S_ISREG(info.st_mode))
        return weft_fail(WEFT_EDATA, "%s is neither a file nor a directory; remove it",
                         path);
    listing->entry =
        weft_grow(mem, listing->entry, sizeof *listing->entry, listing->n, &listing->room);
    listing->entry[listing->n++] = (struct entry){name, path, S_ISDIR(info.st_mode)};
    return WEFT_OK;
}

static weft_status list(const char *path, struct listing *listing, weft_arena *mem)
{
    const char **name;
    int64_t n = weft_dir_list(path, &name, mem);
    *listing = (struct listing){0};
    if (n < 0) return weft_unreadable(path);
    for (int64_t i = 0; i < n; i++)
        if (*name[i] != '.') TRY(add_entry(path, name[i], listing, mem));
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
static weft_status holds_classes(const struct reading *reading, const char *path, int *yes)
{
    struct listing listing;
    *yes = reading->how->documents == LINES;
    if (*yes) return WEFT_OK;
    TRY(list(path, &listing, reading->pack->mem));
    for (int64_t i = 0; i < listing.n; i++) *yes |= listing.entry[i].directory;
    return WEFT_OK;
}

/* The directories of the parts, NULL where there is none; all NULL: the entries are
 * classes. */
static weft_status find_parts(const struct reading *reading, const struct listing *listing,
                              const struct entry *part[WEFT_NPART])
{
    int yes = 0;
    for (int64_t i = 0; i < listing->n; i++) {
        const struct entry *entry = &listing->entry[i];
        weft_part is = entry->directory ? part_of(entry->name) : WEFT_NPART;
        if (is == WEFT_NPART) continue;
        if (part[is] != NULL)
            return weft_fail(WEFT_EDATA, "%s and %s are both %s parts; give one of them",
                             part[is]->path, entry->path, weft_part_name[is]);
        part[is] = entry;
    }
    if (part[WEFT_TRAIN] != NULL) TRY(holds_classes(reading, part[WEFT_TRAIN]->path, &yes));
    for (int i = 0; i < WEFT_NPART && !yes; i++) part[i] = NULL;
    return WEFT_OK;
}

/* ---- documents ---- */

static void count_first(int64_t *count, const char **first, const char *name)
{
    if ((*count)++ == 0) *first = name;
}

static weft_status add(struct reading *reading, const char *name, char *text, size_t n,
                       const char *class)
{
    if (weft_text_decode((weft_encoding)reading->how->encoding, &text, &n,
                         reading->pack->mem))
        count_first(&reading->recoded, &reading->first_recoded, name);
    weft_mark_skip(&text, &n);
    weft_news_strip(reading->news, &text, &n);
    if (n == 0) count_first(&reading->empty, &reading->first_empty, name);
    return weft_documents_add(&reading->docs, (weft_document){name, text, n, NULL}, 0,
                              class, strlen(class), reading->pack->mem);
}

/* The files of the directory of a class; their names and bytes are a line of /source. */
static weft_status read_files(struct reading *reading, const struct entry *class)
{
    struct listing listing;
    weft_arena *mem = reading->pack->mem;
    weft_digest *digest = weft_digest_new(mem);
    int64_t bytes = 0;
    TRY(list(class->path, &listing, mem));
    for (int64_t i = 0; i < listing.n; i++) {
        const struct entry *entry = &listing.entry[i];
        char *text;
        size_t n;
        if (entry->directory)
            return weft_fail(WEFT_EDATA,
                             "%s is a directory where a document is expected; a class is "
                             "a directory of files: DIR/CLASS/FILE or DIR/train/CLASS/FILE",
                             entry->path);
        TRY(weft_pack_apart(reading->pack, entry->path));
        TRY(weft_read_all(entry->path, mem, &text, &n));
        TRY(weft_text_only(entry->path, text, n));
        weft_digest_add(digest, entry->name, strlen(entry->name) + 1);
        weft_digest_add(digest, text, n);
        bytes += (int64_t)n;
        TRY(add(reading, entry->path + strlen(reading->source) + 1, text, n, class->name));
    }
    weft_pack_source_sum(reading->pack, class->path, digest, bytes);
    return WEFT_OK;
}

static weft_status read_lines(struct reading *reading, const struct entry *class)
{
    char *text, *line;
    size_t n;
    TRY(weft_read_text(class->path, reading->pack->mem, &text, &n));
    char *at = text, *end = text + n;
    for (int64_t number = 1; (line = weft_line(&at, end, &n)) != NULL; number++) {
        if (n == 0) continue;
        const char *name =
            weft_arena_text(reading->pack->mem, "%s:%lld",
                            class->path + strlen(reading->source) + 1, (long long)number);
        TRY(add(reading, name, line, n, class->name));
    }
    return weft_pack_source(reading->pack, class->path);
}

/* The classes that are to be read, in a list with commas; none: all. */
static weft_names wanted_classes(const char *list, weft_arena *mem)
{
    weft_names wanted = {.mem = mem};
    char *rest, *copy = weft_arena_text(mem, "%s", list);
    for (char *one = strtok_r(copy, ",", &rest); one; one = strtok_r(NULL, ",", &rest)) {
        size_t n = strlen(one);
        const char *name = weft_trim(one, &n);
        if (n > 0) weft_names_find(&wanted, weft_arena_text(mem, "%.*s", (int)n, name));
    }
    return wanted;
}

/* ECONF if a class is asked for and there is none of that name. */
static weft_status check_wanted(const struct reading *reading)
{
    for (int64_t k = 0; k < reading->wanted.n; k++) {
        const char *name = reading->wanted.name[k];
        int i = 0;
        while (i < reading->docs.labels.n &&
               strcmp(reading->docs.labels.name[i], name) != 0)
            i++;
        if (i == reading->docs.labels.n)
            return weft_fail(WEFT_ECONF,
                             "classes = %s: %s has no class %s; a class is the name of a "
                             "directory of documents",
                             reading->how->classes, reading->source, name);
    }
    return WEFT_OK;
}

/* The classes among these entries: directories, or files if lines are documents. */
static weft_status read_classes(struct reading *reading, const struct listing *listing)
{
    int lines = reading->how->documents == LINES;
    for (int64_t i = 0; i < listing->n; i++) {
        const struct entry *entry = &listing->entry[i];
        if (entry->directory == lines) {
            count_first(&reading->beside, &reading->first_beside, entry->path);
            continue;
        }
        if (reading->wanted.n > 0 && weft_names_index(&reading->wanted, entry->name) < 0)
            continue;
        int64_t before = reading->docs.n;
        reading->docs.labels.path = entry->path;
        TRY(lines ? read_lines(reading, entry) : read_files(reading, entry));
        if (reading->docs.n == before)
            return weft_fail(WEFT_EDATA,
                             "%s holds no documents; remove it, or unpack it again",
                             entry->path);
    }
    return WEFT_OK;
}

static weft_status read_part(struct reading *reading, const struct listing *all,
                             const struct entry *const part[WEFT_NPART], weft_part which)
{
    struct listing listing = {0};
    if (part[which] != NULL)
        TRY(list(part[which]->path, &listing, reading->pack->mem));
    else if (which == WEFT_TRAIN)
        listing = *all;
    TRY(read_classes(reading, &listing));
    reading->docs.end[which] = reading->docs.n;
    reading->docs.own[which] = part[which] != NULL ? part[which]->name : NULL;
    return WEFT_OK;
}

/* ---- the reader ---- */

static void tell(const struct reading *reading)
{
    const long long n = (long long)reading->docs.n;
    if (reading->recoded > 0)
        weft_log(WEFT_WARN,
                 "%lld of %lld documents are not UTF-8 and are taken as Windows-1252, the "
                 "first is %s; encoding = ... says otherwise",
                 (long long)reading->recoded, n, reading->first_recoded);
    if (reading->empty > 0)
        weft_log(WEFT_WARN, "%lld of %lld documents are empty, the first is %s",
                 (long long)reading->empty, n, reading->first_empty);
    if (reading->beside > 0)
        weft_log(WEFT_WARN, "%lld %s beside the classes left out, the first is %s",
                 (long long)reading->beside,
                 reading->how->documents == LINES ? "directories" : "files and directories",
                 reading->first_beside);
}

/* EDATA where nothing was read because classes are the other kind of entries. */
static weft_status check_kind(const struct reading *reading)
{
    const int lines = reading->how->documents == LINES;
    if (reading->docs.n > 0 || reading->beside == 0 || reading->wanted.n > 0)
        return WEFT_OK;
    return weft_fail(WEFT_EDATA,
                     lines ? "%s holds only directories, the first is %s; with documents = "
                             "files each is a class, and its files are documents"
                           : "%s holds only files, the first is %s; with documents = lines "
                             "each is a class, and its lines are documents",
                     reading->source, reading->first_beside);
}

static weft_status folder_read(const void *self, const char *source, weft_pack *pack)
{
    const struct folder *folder = self;
    size_t length = strlen(source);
    while (length > 1 && source[length - 1] == '/') length--;
    source = weft_arena_text(pack->mem, "%.*s", (int)length, source);
    struct reading reading = {.how = folder,
                              .source = source,
                              .wanted = wanted_classes(folder->classes, pack->mem),
                              .docs.labels.mem = pack->mem,
                              .pack = pack};
    const struct entry *part[WEFT_NPART] = {NULL};
    struct listing all;
    TRY(weft_news_flags(folder->remove, &reading.news, pack->mem));
    if (reading.news != 0 && folder->documents == LINES)
        return weft_fail(WEFT_ECONF,
                         "remove = %s takes lines out of articles; with documents = lines "
                         "there is nothing to remove",
                         folder->remove);
    TRY(list(source, &all, pack->mem));
    TRY(find_parts(&reading, &all, part));
    for (int64_t i = 0; i < all.n && part[WEFT_TRAIN] != NULL; i++)
        if (part_of(all.entry[i].name) == WEFT_NPART || !all.entry[i].directory)
            count_first(&reading.beside, &reading.first_beside, all.entry[i].path);
    for (int i = 0; i < WEFT_NPART; i++) TRY(read_part(&reading, &all, part, (weft_part)i));
    TRY(check_kind(&reading));
    TRY(check_wanted(&reading));
    tell(&reading);
    return weft_documents_pack(&reading.docs, source, &folder->split, pack);
}

WEFT_PLUGIN(reader, folder) = {
    .kind =
        WEFT_KIND("folder", struct folder, options,
                  "a directory of classes, one document a file (20 Newsgroups) or line"),
    .read = folder_read,
};
