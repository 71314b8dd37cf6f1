/* Sentences in several languages: a file whose first line names the columns, separated by
 * TAB; each other line is one sentence in all languages that it has, with gaps. A line is
 * in a part by the hash of its text in the first language of the file that it has, so that
 * equal sentences are in one part, whatever languages and directions are taken. */
#include "reader.h"
#include "weft/hash.h"
#include "weft/log.h"
#include "weft/names.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_COLUMNS = 200 };

struct translations {
    const char *languages, *drop, *directions;
    int64_t vocabulary, longest, seed;
    int joint;
    double train, valid, test;
};

static const weft_opt options[] = {
    WEFT_TEXT_OPT("languages", struct translations, languages, "",
                  "columns to take, separated by commas; empty: all but drop"),
    WEFT_TEXT_OPT("drop", struct translations, drop, "",
                  "columns that are no language, separated by commas"),
    WEFT_TEXT_OPT("directions", struct translations, directions, "all",
                  "SOURCE-TARGET, separated by commas; * is any other language; all: *-*"),
    WEFT_LONG_OPT(
        "vocabulary", struct translations, vocabulary, "4000", 5, 1e6,
        "pieces of a language, characters among them, by byte-pair encoding of its "
        "training sentences"),
    WEFT_BOOL_OPT("joint", struct translations, joint, "no",
                  "one vocabulary, of all languages together"),
    WEFT_LONG_OPT("longest", struct translations, longest, "100", 0, 1e6,
                  "pieces of a training sentence; longer ones are left out; 0: any"),
    WEFT_REAL_OPT("train", struct translations, train, "1", 1e-6, 1,
                  "share of the training lines that is kept, by hash; the other parts are "
                  "whole"),
    WEFT_REAL_OPT("valid", struct translations, valid, "0.05", 0, 0.9,
                  "share of the lines for validation, by hash"),
    WEFT_REAL_OPT("test", struct translations, test, "0.05", 0, 0.9,
                  "share of the lines for the test, by hash"),
    WEFT_LONG_OPT("seed", struct translations, seed, "0", 0, 9e15, "seed of the hash"),
    {0},
};

/* A file that is being read. */
struct reading {
    const struct translations *how;
    const char *path;
    const char *name[MOST_COLUMNS]; /* of the columns */
    int columns;
    int is_language[MOST_COLUMNS]; /* 0: dropped */
    int place[MOST_COLUMNS];       /* index of a language that is taken; -1: it is not */
    weft_names texts[MOST_COLUMNS];
    int64_t sentences[MOST_COLUMNS];
    const char **language; /* [n] names of those taken */
    int n;
    weft_direction *direction;
    int64_t directions, room;
    int64_t lines, empty; /* empty: without a sentence in any language that is taken */
    weft_pack *pack;
};

/* ---- columns ---- */

/* The column of that name. ECONF with the nearest name. */
static weft_status find_column(const struct reading *reading, const char *option,
                               const char *name, int *column)
{
    *column = 0;
    while (*column < reading->columns && strcmp(reading->name[*column], name) != 0)
        ++*column;
    if (*column < reading->columns) return WEFT_OK;
    return weft_fail(WEFT_ECONF, "%s = %s: '%s' is no column of %s; did you mean '%s'?",
                     option, name, name, reading->path,
                     weft_nearest(name, reading->name, reading->columns));
}

/* Calls `each` with the column of every name of a list. */
static weft_status each_column(struct reading *reading, const char *option,
                               const char *list,
                               void (*each)(struct reading *reading, int column))
{
    char *rest, *words = weft_arena_text(reading->pack->mem, "%s", list);
    int column;
    for (char *word = strtok_r(words, ", ", &rest); word;
         word = strtok_r(NULL, ", ", &rest)) {
        TRY(find_column(reading, option, word, &column));
        each(reading, column);
    }
    return WEFT_OK;
}

static void drop_column(struct reading *reading, int column)
{
    reading->is_language[column] = 0;
}

static void take_column(struct reading *reading, int column)
{
    if (reading->place[column] >= 0) return;
    reading->place[column] = reading->n;
    reading->language[reading->n++] = reading->name[column];
}

static weft_status take_columns(struct reading *reading)
{
    const struct translations *how = reading->how;
    reading->language = WEFT_NEW(reading->pack->mem, const char *, reading->columns);
    for (int c = 0; c < reading->columns; c++) {
        reading->is_language[c] = 1;
        reading->place[c] = -1;
        reading->texts[c].mem = reading->pack->mem;
    }
    TRY(each_column(reading, "drop", how->drop, drop_column));
    TRY(each_column(reading, "languages", how->languages, take_column));
    for (int c = 0; c < reading->columns; c++) {
        if (*how->languages == '\0' && reading->is_language[c]) take_column(reading, c);
        if (!reading->is_language[c] && reading->place[c] >= 0)
            return weft_fail(WEFT_ECONF, "'%s' is in languages and in drop",
                             reading->name[c]);
    }
    if (reading->n >= 2) return WEFT_OK;
    return weft_fail(
        WEFT_ECONF,
        "%s: %d of its %d columns are taken as languages where two or more are "
        "needed; its first line names them, separated by TAB",
        reading->path, reading->n, reading->columns);
}

/* Cells of a line, ended by NUL; the cells that did not fit are counted, too. */
static int split_cells(char *line, char **cell)
{
    int n = 0;
    for (char *next; line != NULL; line = next, n++) {
        next = strchr(line, '\t');
        if (next != NULL) *next++ = '\0';
        if (n < MOST_COLUMNS) cell[n] = line;
    }
    return n;
}

static weft_status read_head(struct reading *reading, char *line)
{
    char *cell[MOST_COLUMNS];
    int n = split_cells(line, cell);
    if (n > MOST_COLUMNS)
        return weft_fail(WEFT_EDATA, "%s: line 1 names %d columns where %d are the most",
                         reading->path, n, MOST_COLUMNS);
    for (int c = 0; c < n; c++) {
        if (*cell[c] == '\0' || strpbrk(cell[c], "/, *") || strcmp(cell[c], ".") == 0)
            return weft_fail(WEFT_EDATA,
                             "%s: line 1: '%s', the name of column %d, is none of a "
                             "language: give a word without / , * or blanks",
                             reading->path, cell[c], c + 1);
        for (int b = 0; b < c; b++)
            if (strcmp(cell[b], cell[c]) == 0)
                return weft_fail(WEFT_EDATA,
                                 "%s: line 1: columns %d and %d are both called '%s'; "
                                 "rename one",
                                 reading->path, b + 1, c + 1, cell[c]);
        reading->name[c] = cell[c];
    }
    reading->columns = n;
    return take_columns(reading);
}

/* ---- directions ---- */

static int is_either(const char *name, const char *wanted)
{
    return strcmp(wanted, "*") == 0 || strcmp(wanted, name) == 0;
}

/* Adds the directions that a pair of names stands for; returns how many there are. */
static int add_directions(struct reading *reading, const char *source, const char *target)
{
    int found = 0, stars = strcmp(source, "*") == 0 || strcmp(target, "*") == 0;
    for (int32_t s = 0; s < reading->n; s++)
        for (int32_t t = 0; t < reading->n; t++) {
            if (!is_either(reading->language[s], source) ||
                !is_either(reading->language[t], target) || (stars && s == t))
                continue;
            int64_t i = 0;
            found++;
            while (i < reading->directions &&
                   (reading->direction[i].source != s || reading->direction[i].target != t))
                i++;
            if (i < reading->directions) continue;
            reading->direction = weft_grow(reading->pack->mem, reading->direction,
                                           sizeof(weft_direction), i, &reading->room);
            reading->direction[reading->directions++] = (weft_direction){s, t};
        }
    return found;
}

/* A word SOURCE-TARGET: names may have hyphens, too. */
static weft_status read_direction(struct reading *reading, const char *word)
{
    weft_arena *mem = reading->pack->mem;
    for (const char *at = strchr(word, '-'); at != NULL; at = strchr(at + 1, '-')) {
        const char *source = weft_arena_text(mem, "%.*s", (int)(at - word), word);
        if (add_directions(reading, source, at + 1) > 0) return WEFT_OK;
    }
    const char **name = WEFT_NEW(mem, const char *, reading->n * reading->n);
    int n = 0;
    for (int s = 0; s < reading->n; s++)
        for (int t = 0; t < reading->n; t++)
            name[n++] =
                weft_arena_text(mem, "%s-%s", reading->language[s], reading->language[t]);
    return weft_fail(WEFT_ECONF,
                     "directions: '%s' is no SOURCE-TARGET of the languages taken; did you "
                     "mean '%s'?",
                     word, weft_nearest(word, name, n));
}

static weft_status read_directions(struct reading *reading)
{
    const char *list = reading->how->directions;
    char *rest, *words = weft_arena_text(reading->pack->mem, "%s",
                                         strcmp(list, "all") == 0 ? "*-*" : list);
    for (char *word = strtok_r(words, ", ", &rest); word;
         word = strtok_r(NULL, ", ", &rest))
        TRY(read_direction(reading, word));
    if (reading->directions > 0) return WEFT_OK;
    return weft_fail(WEFT_ECONF, "directions = %s names none; give SOURCE-TARGET, or all",
                     list);
}

/* ---- lines ---- */

/* The part that a text is in, by its hash as a number from 0 to 1; -1: it is left out. */
static int part_of(const struct translations *how, const char *text)
{
    double at = (double)weft_hash(text, strlen(text), (uint64_t)how->seed) * 0x1p-64;
    double held = how->test + how->valid;
    return at < how->test                         ? WEFT_TEST
           : at < held                            ? WEFT_VALID
           : at <= held + how->train * (1 - held) ? WEFT_TRAIN
                                                  : -1;
}

static int is_blank(const char *cell)
{
    return cell[strspn(cell, " ")] == '\0';
}

static weft_status check_line(const struct reading *reading, int64_t number,
                              const char *line, size_t n)
{
    size_t good = weft_utf8_check(line, n);
    if (good < n)
        return weft_fail(
            WEFT_EDATA, "%s: line %lld: byte %zu (0x%02x) is not UTF-8; convert the file",
            reading->path, (long long)number, good, (unsigned)(unsigned char)line[good]);
    if (memchr(line, '\0', n) != NULL)
        return weft_fail(WEFT_EDATA, "%s: line %lld has a NUL byte; is this text in UTF-8?",
                         reading->path, (long long)number);
    return WEFT_OK;
}

static weft_status read_line(struct reading *reading, int64_t number, char *line)
{
    char *cell[MOST_COLUMNS];
    const char *text[MOST_COLUMNS] = {NULL}, *key = NULL;
    int n = split_cells(line, cell), found = 0, part;
    if (n > reading->columns)
        return weft_fail(WEFT_EDATA,
                         "%s: line %lld has %d columns where line 1 names %d; has a text a "
                         "TAB in it?",
                         reading->path, (long long)number, n, reading->columns);
    for (int c = 0; c < n; c++) {
        if (!reading->is_language[c] || is_blank(cell[c])) continue;
        if (key == NULL) key = cell[c];
        weft_names_find(&reading->texts[c], cell[c]);
        reading->sentences[c]++;
        if (reading->place[c] < 0) continue;
        text[reading->place[c]] = cell[c];
        found++;
    }
    reading->lines += key != NULL;
    reading->empty += key != NULL && found == 0;
    if (found > 0 && (part = part_of(reading->how, key)) >= 0)
        weft_pack_sentence(reading->pack, (weft_part)part, number, text);
    return WEFT_OK;
}

/* EDATA where a column has so few different texts that it is no language. */
static weft_status check_texts(const struct reading *reading)
{
    enum { MANY = 100, TIMES = 20 };
    for (int c = 0; c < reading->columns; c++)
        if (reading->sentences[c] >= MANY &&
            reading->texts[c].n * TIMES < reading->sentences[c])
            return weft_fail(
                WEFT_EDATA,
                "%s: column '%s' has %lld different texts in %lld lines: if it "
                "is no language, drop = %s leaves it out",
                reading->path, reading->name[c], (long long)reading->texts[c].n,
                (long long)reading->sentences[c], reading->name[c]);
    return WEFT_OK;
}

static weft_status read_lines(struct reading *reading, char *text, size_t n)
{
    char *at = text, *line;
    size_t length;
    for (int64_t number = 2; (line = weft_line(&at, text + n, &length)) != NULL; number++) {
        TRY(check_line(reading, number, line, length));
        TRY(read_line(reading, number, line));
    }
    TRY(check_texts(reading));
    if (reading->empty > 0)
        weft_log(WEFT_INFO, "%s: %lld of %lld lines have none of the languages taken",
                 reading->path, (long long)reading->empty, (long long)reading->lines);
    if (reading->lines > reading->empty) return WEFT_OK;
    return weft_fail(WEFT_EDATA, "%s has no sentences", reading->path);
}

/* What the packer is told before the first line. */
static weft_status declare(struct reading *reading)
{
    const struct translations *how = reading->how;
    weft_pack_split(
        reading->pack,
        weft_arena_text(reading->pack->mem,
                        "by the hash, with seed %lld, of each line's text in the "
                        "first language that it has: %g valid, %g test",
                        (long long)how->seed, how->valid, how->test));
    return weft_pack_sentences(
        reading->pack, &(weft_pack_languages){.n = reading->n,
                                              .name = reading->language,
                                              .directions = reading->directions,
                                              .direction = reading->direction,
                                              .all = strcmp(how->directions, "all") == 0,
                                              .pieces = how->vocabulary,
                                              .joint = how->joint,
                                              .longest = how->longest});
}

static weft_status translations_read(const void *self, const char *source, weft_pack *pack)
{
    const struct translations *how = self;
    struct reading *reading = WEFT_NEW(pack->mem, struct reading, 1);
    char *text, *at, *line;
    size_t n, length;
    *reading = (struct reading){.how = how, .path = source, .pack = pack};
    if (!(how->valid > 0) || how->valid + how->test >= 1)
        return weft_fail(WEFT_ECONF,
                         "valid = %g and test = %g where valid is above 0 and their sum "
                         "below 1",
                         how->valid, how->test);
    TRY(weft_pack_source(pack, source));
    TRY(weft_read_text(source, pack->mem, &text, &n));
    at = text;
    line = weft_line(&at, text + n, &length);
    if (line == NULL) return weft_fail(WEFT_EDATA, "%s is empty", source);
    TRY(check_line(reading, 1, line, length));
    TRY(read_head(reading, line));
    TRY(read_directions(reading));
    TRY(declare(reading));
    size_t head = (size_t)(at - text);
    return read_lines(reading, at, head < n ? n - head : 0);
}

extern const weft_reader weft_reader_translations;
const weft_reader weft_reader_translations = {
    .kind = {.name = "translations",
             .about = "sentences in several languages, a column each",
             .size = sizeof(struct translations),
             .opts = options},
    .read = translations_read,
};
