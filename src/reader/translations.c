/* Sentences in several languages: a file whose first line names the columns, separated by
 * TAB; each other line is one sentence in all languages that it has, with gaps. A line is
 * in a part by the hash of its text in the first language of the file that it has, so that
 * equal sentences are in one part, whatever languages and directions are taken. Pieces can
 * be those of another packed file or of a winner, whose languages come first then. */
#include "translations.h"
#include "weft/hash.h"
#include "weft/log.h"

#include <string.h>

static const weft_opt options[] = {
    WEFT_TEXT_OPT("columns", weft_reading_how, columns, "",
                  "names of the columns, separated by commas, of a file whose first line "
                  "names none"),
    WEFT_TEXT_OPT("languages", weft_reading_how, languages, "",
                  "columns to take, separated by commas; empty: all but drop"),
    WEFT_TEXT_OPT("drop", weft_reading_how, drop, "",
                  "columns that are no language, separated by commas"),
    WEFT_TEXT_OPT("directions", weft_reading_how, directions, "all",
                  "SOURCE-TARGET, separated by commas; * is any other language; all: *-*; "
                  "a language to itself is trained, and not scored beside others"),
    WEFT_TEXT_OPT("vocabulary", weft_reading_how, vocabulary, "4000",
                  "pieces of a language, 5 to 1000000, characters among them, by byte-pair "
                  "encoding of its training sentences; or a packed file or run, whose "
                  "languages come first, with its pieces: others learn as many"),
    WEFT_TEXT_OPT("like", weft_reading_how, like, "",
                  "packed file or run: the sentences are to be translated or scored by a "
                  "winner that was trained on such; translations are not needed"),
    WEFT_BOOL_OPT("joint", weft_reading_how, joint, "no",
                  "one vocabulary, of all languages together"),
    WEFT_LONG_OPT("longest", weft_reading_how, longest, "100", 0, 1e6,
                  "pieces of a training sentence; longer ones are left out; 0: any"),
    WEFT_REAL_OPT("train", weft_reading_how, train, "1", 1e-6, 1,
                  "share of the training lines that is kept, by hash; the other parts are "
                  "whole"),
    WEFT_REAL_OPT("valid", weft_reading_how, valid, "0.05", 0, 0.9,
                  "share of the lines for validation, by hash"),
    WEFT_REAL_OPT("test", weft_reading_how, test, "0.05", 0, 0.9,
                  "share of the lines for the test, by hash"),
    WEFT_LONG_OPT("seed", weft_reading_how, seed, "0", 0, 9e15, "seed of the hash"),
    {0},
};

/* ---- lines ---- */

/* The part that a text is in, by its hash as a number from 0 to 1; -1: it is left out. */
static int part_of(const weft_reading_how *how, const char *text)
{
    if (*how->like != '\0') return WEFT_TEST;
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

static weft_status check_line(const weft_reading *reading, int64_t number, const char *line,
                              size_t n)
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

static void put_line(weft_reading *reading, weft_part part, int64_t number)
{
    const char *const *text = reading->text;
    for (int64_t d = 0; d < reading->directions && reading->scored; d++) {
        weft_direction way = reading->direction[d];
        reading->paired += (way.source != way.target || !reading->cross) &&
                           text[way.source] != NULL && text[way.target] != NULL;
    }
    weft_pack_sentence(reading->pack, part, number, text);
}

static weft_status read_line(weft_reading *reading, int64_t number, char *line)
{
    char *cell[WEFT_MOST_COLUMNS];
    const char *key = NULL;
    int n = weft_reading_cells(line, '\t', cell), found = 0, part;
    memset(reading->text, 0, (size_t)reading->n * sizeof *reading->text);
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
        reading->text[reading->place[c]] = cell[c];
        found++;
    }
    reading->lines += key != NULL;
    reading->empty += key != NULL && found == 0;
    if (found > 0 && (part = part_of(reading->how, key)) >= 0)
        put_line(reading, (weft_part)part, number);
    return WEFT_OK;
}

enum { MANY = 100, TIMES = 20 };

/* 1: a column with so many texts, so few of which differ, is no language. */
static int is_none(int64_t different, int64_t texts)
{
    return texts >= MANY && different * TIMES < texts;
}

/* Columns beside `languages` that are none by their first lines put no line in a part. */
static void drop_others(weft_reading *reading, const char *text, size_t n)
{
    enum { LINES = 10000 };
    weft_arena *tmp = weft_arena_new();
    weft_names *seen = WEFT_NEW(tmp, weft_names, reading->columns);
    int64_t *texts = WEFT_NEW(tmp, int64_t, reading->columns);
    char *cell[WEFT_MOST_COLUMNS], *line, *at = weft_arena_alloc(tmp, n + 1, 1), *end = at;
    size_t length;
    for (int i = 0; i < LINES && end < at + n; i++) {
        const char *stop = memchr(text + (end - at), '\n', n - (size_t)(end - at));
        end = stop ? at + (stop - text) + 1 : at + n;
    }
    memcpy(at, text, (size_t)(end - at));
    for (int c = 0; c < reading->columns; c++) seen[c].mem = tmp;
    while ((line = weft_line(&at, end, &length)) != NULL) {
        int found = weft_reading_cells(line, '\t', cell);
        for (int c = 0; c < found && c < reading->columns; c++) {
            if (reading->place[c] >= 0 || is_blank(cell[c])) continue;
            weft_names_find(&seen[c], cell[c]);
            texts[c]++;
        }
    }
    for (int c = 0; c < reading->columns; c++)
        if (is_none(seen[c].n, texts[c])) reading->is_language[c] = 0;
    weft_arena_free(tmp);
}

/* EDATA where a column has so few different texts that it is no language; those that the
 * winner knows are. */
static weft_status check_texts(const weft_reading *reading)
{
    int named = *reading->how->languages != '\0';
    for (int c = 0; c < reading->columns && !reading->scored; c++)
        if ((!named || reading->place[c] >= 0) &&
            is_none(reading->texts[c].n, reading->sentences[c]))
            return weft_fail(
                WEFT_EDATA,
                "%s: column '%s' has %lld different texts in %lld lines: if it "
                "is no language, drop = %s leaves it out",
                reading->path, reading->name[c], (long long)reading->texts[c].n,
                (long long)reading->sentences[c], reading->name[c]);
    return WEFT_OK;
}

static weft_status read_lines(weft_reading *reading, int64_t number, char *text, size_t n)
{
    char *at = text, *line;
    size_t length;
    for (; (line = weft_line(&at, text + n, &length)) != NULL; number++) {
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

/* What the packer is told before the first line: where and how sentences are packed. */
static weft_status declare(weft_reading *reading, int64_t pieces)
{
    const weft_reading_how *how = reading->how;
    weft_arena *mem = reading->pack->mem;
    int known = reading->known.n > 0;
    weft_pack_split(
        reading->pack,
        reading->scored
            ? "all sentences are to be translated or scored"
            : weft_arena_text(mem,
                              "by the hash, with seed %lld, of each line's text in the "
                              "first language that it has: %g valid, %g test",
                              (long long)how->seed, how->valid, how->test));
    if (reading->scored) weft_pack_scored(reading->pack, 1);
    return weft_pack_sentences(
        reading->pack,
        &(weft_pack_languages){.n = reading->n,
                               .name = reading->language,
                               .directions = reading->directions,
                               .direction = reading->direction,
                               .all = strcmp(how->directions, "all") == 0,
                               .pieces = pieces,
                               .joint = known ? reading->known.joint : how->joint,
                               .lack = reading->lack,
                               .known = known ? &reading->known : NULL,
                               .longest = how->longest});
}

/* The names of the columns and the lines behind them. */
static weft_status read_text(weft_reading *reading, char *text, size_t n, int64_t pieces)
{
    char *at = text,
         *line = weft_arena_text(reading->pack->mem, "%s", reading->how->columns);
    size_t length;
    int named = *line != '\0';
    if (!named) line = weft_line(&at, text + n, &length);
    if (line == NULL || n == 0) return weft_fail(WEFT_EDATA, "%s is empty", reading->path);
    if (!named) TRY(check_line(reading, 1, line, length));
    TRY(weft_reading_head(reading, line, named ? ',' : '\t'));
    TRY(declare(reading, pieces));
    size_t head = (size_t)(at - text);
    if (*reading->how->languages != '\0' && head < n) drop_others(reading, at, n - head);
    TRY(read_lines(reading, named ? 1 : 2, at, head < n ? n - head : 0));
    if (reading->scored) weft_pack_scored(reading->pack, reading->paired > 0);
    return WEFT_OK;
}

static weft_status translations_read(const void *self, const char *source, weft_pack *pack)
{
    const weft_reading_how *how = self;
    weft_reading *reading = WEFT_NEW(pack->mem, weft_reading, 1);
    char *text;
    size_t n;
    int64_t pieces;
    *reading = (weft_reading){
        .how = how, .path = source, .scored = *how->like != '\0', .pack = pack};
    if (!(how->valid > 0) || how->valid + how->test >= 1)
        return weft_fail(WEFT_ECONF,
                         "valid = %g and test = %g where valid is above 0 and their sum "
                         "below 1",
                         how->valid, how->test);
    TRY(weft_reading_known(reading, &pieces));
    TRY(weft_pack_source(pack, source));
    TRY(weft_read_text(source, pack->mem, &text, &n));
    return read_text(reading, text, n, pieces);
}

extern const weft_reader weft_reader_translations;
const weft_reader weft_reader_translations = {
    .kind = {.name = "translations",
             .about = "sentences in several languages, a column each",
             .size = sizeof(weft_reading_how),
             .opts = options},
    .read = translations_read,
};
