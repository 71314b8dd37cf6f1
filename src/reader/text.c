/* Labelled texts: a file of lines LABEL TAB TEXT, or LABEL BLANK TEXT, with any two or more
 * labels. Validation and test parts are shares of it, or files of their own. */
#include "documents.h"

#include <string.h>

enum { TAB, BLANK };
static const char separators[] = {'\t', ' '};
static const char *const names[] = {"TAB", "blank"};

typedef struct labelled {
    int separator;
    weft_split split;
    const char *valid_file, *test_file;
} labelled;

static const weft_opt options[] = {
    {"separator", WEFT_CHOICE, offsetof(labelled, separator), "tab", 0, 0, "tab|blank",
     "what stands between the label and the text of a line, the first of them", 0},
    {"valid", WEFT_REAL, offsetof(labelled, split.valid), "0.1", 0, 0.9, NULL,
     "share of the lines for validation", 0},
    {"test", WEFT_REAL, offsetof(labelled, split.test), "0.1", 0, 0.9, NULL,
     "share of the lines for the test", 0},
    WEFT_SHARES_OPTION(offsetof(labelled, split.shares)),
    {"seed", WEFT_LONG, offsetof(labelled, split.seed), "0", 0, 9e15, NULL,
     "of the shuffle that divides the lines", 0},
    {"valid_file", WEFT_TEXT, offsetof(labelled, valid_file), "", 0, 0, NULL,
     "file of the validation part, instead of a share", 0},
    {"test_file", WEFT_TEXT, offsetof(labelled, test_file), "", 0, 0, NULL,
     "file of the test part, instead of a share", 0},
    {.name = NULL},
};

/* Adds the lines of a file. Empty lines are skipped. */
static weft_status read_lines(const char *path, int separator, weft_documents *d,
                              weft_pack *p)
{
    char *text, *line;
    size_t n;
    TRY(weft_read_text(path, p->mem, &text, &n));
    d->labels.path = path;
    char *at = text, *end = text + n;
    for (int64_t number = 1; (line = weft_line(&at, end, &n)) != NULL; number++) {
        if (n == 0) continue;
        char *stop = memchr(line, separators[separator], n);
        if (stop == NULL || stop == line)
            return weft_fail(WEFT_EDATA,
                             "%s: line %lld has no %s; a line is LABEL %s TEXT "
                             "(separator = %s)",
                             path, (long long)number,
                             stop == NULL ? names[separator] : "label", names[separator],
                             separator == TAB ? "tab; or blank" : "blank; or tab");
        size_t length = (size_t)(stop - line);
        const char *name =
            weft_arena_text(p->mem, "%s:%lld", weft_basename(path), (long long)number);
        TRY(weft_documents_add(d, (weft_document){name, stop + 1, n - length - 1}, number,
                               line, length, p->mem));
    }
    return weft_pack_source(p, path);
}

static weft_status text_read(const void *self, const char *source, weft_pack *p)
{
    const labelled *o = self;
    const char *const file[WEFT_NPART] = {source, o->valid_file, o->test_file};
    weft_documents d = {.labels = {.mem = p->mem}};
    for (int i = 0; i < WEFT_NPART; i++) {
        if (*file[i] != '\0') TRY(read_lines(file[i], o->separator, &d, p));
        d.end[i] = d.n;
        d.own[i] = *file[i] != '\0' ? file[i] : NULL;
    }
    return weft_documents_pack(&d, source, o->split, p);
}

extern const weft_reader weft_reader_text;
const weft_reader weft_reader_text = {
    .kind =
        {.name = "text",
         .about =
             "labelled texts, a file of lines LABEL TAB TEXT (TREC, SST: separator=blank)",
         .size = sizeof(labelled),
         .opts = options},
    .read = text_read,
};
