/* Labelled texts: a file of lines LABEL TAB TEXT, with any two or more labels. Validation
 * and test parts are shares of it, or files of their own. */
#include "pack.h"

#include <stdlib.h>
#include <string.h>

typedef struct labelled {
    weft_split split;
    const char *valid_file, *test_file;
} labelled;

static const weft_opt options[] = {
    {"valid", WEFT_REAL, offsetof(labelled, split.valid), "0.1", 0, 0.9, NULL,
     "share of the lines for validation", 0},
    {"test", WEFT_REAL, offsetof(labelled, split.test), "0.1", 0, 0.9, NULL,
     "share of the lines for the test", 0},
    {"seed", WEFT_LONG, offsetof(labelled, split.seed), "0", 0, 9e15, NULL,
     "of the shuffle that divides the lines", 0},
    {"valid_file", WEFT_TEXT, offsetof(labelled, valid_file), "", 0, 0, NULL,
     "file of the validation part, instead of a share", 0},
    {"test_file", WEFT_TEXT, offsetof(labelled, test_file), "", 0, 0, NULL,
     "file of the test part, instead of a share", 0},
    {.name = NULL},
};

typedef struct document {
    const char *name, *text;
    size_t n;
} document;

typedef struct documents {
    document *document; /* [n] */
    int32_t *label;     /* [n] */
    int64_t n, room, label_room;
} documents;

/* Adds the lines of a file. Empty lines are skipped. */
static weft_status read_lines(const char *path, documents *d, weft_labels *l, weft_pack *p)
{
    char *text, *line;
    size_t n;
    TRY(weft_read_all(path, p->mem, &text, &n));
    l->path = path;
    char *at = text, *end = text + n;
    for (int64_t number = 1; (line = weft_line(&at, end, &n)) != NULL; number++) {
        if (n == 0) continue;
        char *tab = memchr(line, '\t', n);
        if (tab == NULL || tab == line)
            return weft_fail(
                WEFT_EDATA, "%s: line %lld has no %s; a line is LABEL TAB TEXT", path,
                (long long)number, tab == NULL ? "TAB" : "label before its TAB");
        size_t length = (size_t)(tab - line);
        d->document = weft_grow(p->mem, d->document, sizeof *d->document, d->n, &d->room);
        d->label = weft_grow(p->mem, d->label, sizeof *d->label, d->n, &d->label_room);
        d->document[d->n] =
            (document){.name = weft_arena_text(p->mem, "%s:%lld", weft_basename(path),
                                               (long long)number),
                       .text = tab + 1,
                       .n = n - length - 1};
        TRY(weft_labels_find(l, number, line, length, &d->label[d->n++]));
    }
    return weft_pack_source(p, path);
}

/* Says in the split rule that a part is a file of its own. */
static void note_file(weft_pack *p, weft_part part, const char *path)
{
    weft_pack_split(p, weft_arena_text(p->mem, "%s; %s is all of %s", p->split,
                                       weft_part_name[part], path));
}

static weft_status hand_over(const documents *d, weft_part part, int64_t first,
                             int64_t count, const int64_t *order, weft_pack *p)
{
    for (int64_t i = first; i < first + count; i++) {
        int64_t row = order != NULL ? order[i] : i;
        const document *x = &d->document[row];
        TRY(weft_pack_document(p, part, x->name, x->text, x->n, d->label[row]));
    }
    return WEFT_OK;
}

static weft_status text_read(const void *self, const char *source, weft_pack *p)
{
    const labelled *o = self;
    weft_split split = o->split;
    documents d = {0};
    weft_labels labels = {.mem = p->mem};
    int64_t
        end[WEFT_NPART]; /* of the documents of the file, the valid_file, the test_file */
    TRY(read_lines(source, &d, &labels, p));
    end[WEFT_TRAIN] = d.n;
    if (*o->valid_file != '\0') TRY(read_lines(o->valid_file, &d, &labels, p));
    end[WEFT_VALID] = d.n;
    if (*o->test_file != '\0') TRY(read_lines(o->test_file, &d, &labels, p));
    end[WEFT_TEST] = d.n;
    TRY(weft_labels_close(&labels, source, d.label, d.n, p));

    if (*o->valid_file != '\0') split.valid = 0;
    if (*o->test_file != '\0') split.test = 0;
    int64_t rows[WEFT_NPART], at = 0;
    int64_t *order = WEFT_NEW(p->mem, int64_t, end[WEFT_TRAIN]);
    TRY(weft_split_rows(&split, end[WEFT_TRAIN], order, rows, p));
    if (*o->valid_file != '\0') note_file(p, WEFT_VALID, o->valid_file);
    if (*o->test_file != '\0') note_file(p, WEFT_TEST, o->test_file);
    for (int i = 0; i < WEFT_NPART; i++) {
        TRY(hand_over(&d, (weft_part)i, at, rows[i], order, p));
        at += rows[i];
        if (i > 0)
            TRY(hand_over(&d, (weft_part)i, end[i - 1], end[i] - end[i - 1], NULL, p));
    }
    return WEFT_OK;
}

extern const weft_reader weft_reader_text;
const weft_reader weft_reader_text = {
    .kind = {.name = "text",
             .about = "labelled texts, a file of lines LABEL TAB TEXT",
             .size = sizeof(labelled),
             .opts = options},
    .read = text_read,
};
