/* Sentences in several languages: a file whose first line names the columns, separated by
 * TAB; each other line is one sentence in all languages that it has, with gaps. A line is
 * in a part by the hash of its text in the first language of the file that it has, so that
 * equal sentences are in one part, whatever languages and directions are taken. Pieces can
 * be those of another packed file or of a winner, whose languages come first then. */
#include "weft/data/translations.h"
#include "reader.h"
#include "weft/base/base.h"
#include "weft/base/conf.h"
#include "weft/base/random.h"
#include "weft/data/data.h"
#include "weft/store/file.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_COLUMNS = 200 };

/* Options of the reader. */
struct translations {
    const char *columns, *languages, *drop, *directions, *vocabulary, *like;
    int64_t longest, seed;
    int joint;
    double train, valid, test;
};

static const weft_opt options[] = {
    WEFT_TEXT_OPT("columns", struct translations, columns, "",
                  "names of the columns, separated by commas, of a file whose first line "
                  "names none"),
    WEFT_TEXT_OPT("languages", struct translations, languages, "",
                  "columns to take, separated by commas; empty: all but drop"),
    WEFT_TEXT_OPT("drop", struct translations, drop, "",
                  "columns that are no language, separated by commas"),
    WEFT_TEXT_OPT("directions", struct translations, directions, "all",
                  "SOURCE-TARGET, separated by commas; * is any other language; all: *-*; "
                  "a language to itself is trained, and not scored beside others"),
    WEFT_TEXT_OPT("vocabulary", struct translations, vocabulary, "4000",
                  "pieces of a language, 5 to 1000000, characters among them, by byte-pair "
                  "encoding of its training sentences; or a packed file or run, whose "
                  "languages come first, with its pieces: others learn as many"),
    WEFT_TEXT_OPT("like", struct translations, like, "",
                  "packed file or run: the sentences are to be translated or scored by a "
                  "winner that was trained on such; translations are not needed"),
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
    int *lack;                     /* [n] 1: a known language without a column */
    int scored;                    /* 1: by `like` */
    weft_translations known;       /* of `vocabulary` or `like`; n 0: none */
    weft_names texts[MOST_COLUMNS];
    int64_t sentences[MOST_COLUMNS];
    const char **language; /* [n] names of those taken */
    int n;
    weft_direction *direction;
    int64_t directions, room;
    int cross;            /* 1: a direction is from a language to another one */
    int64_t lines, empty; /* empty: without a sentence in any language that is taken */
    int64_t paired;       /* sources to be scored that have a translation */
    const char **text;    /* [n] of a line */
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

/* The index of a language among the first n taken; n: it is not there. */
static int language_of(const struct reading *reading, int n, const char *name)
{
    int i = 0;
    while (i < n && strcmp(reading->language[i], name) != 0) i++;
    return i;
}

static void drop_column(struct reading *reading, int column)
{
    reading->is_language[column] = 0;
}

static void take_column(struct reading *reading, int column)
{
    if (reading->place[column] >= 0) return;
    int i = language_of(reading, reading->n, reading->name[column]);
    reading->place[column] = i;
    reading->lack[i] = 0;
    if (i == reading->n) reading->language[reading->n++] = reading->name[column];
}

/* Begins with the languages that are known. */
static void take_known(struct reading *reading)
{
    int most = reading->columns + reading->known.n;
    reading->language = WEFT_NEW(reading->pack->mem, const char *, most);
    reading->lack = WEFT_NEW(reading->pack->mem, int, most);
    reading->text = WEFT_NEW(reading->pack->mem, const char *, most);
    for (reading->n = 0; reading->n < reading->known.n; reading->n++) {
        reading->language[reading->n] = reading->known.language[reading->n].name;
        reading->lack[reading->n] = 1;
    }
}

/* 1: the column is a language that can be taken where none are named: of sentences to be
 * scored it must be known. */
static int is_offered(const struct reading *reading, int column)
{
    int n = reading->known.n;
    return reading->is_language[column] &&
           (!reading->scored || language_of(reading, n, reading->name[column]) < n);
}

/* EDATA: a language is not known to the winner. */
static weft_status check_known(const struct reading *reading)
{
    if (!reading->scored || reading->n == reading->known.n) return WEFT_OK;
    return weft_fail(WEFT_ECONF, "languages: the winner of %s does not know '%s'",
                     reading->how->like, reading->language[reading->known.n]);
}

/* ECONF: fewer languages than are needed. */
static weft_status check_taken(const struct reading *reading)
{
    int n = 0;
    for (int i = 0; i < reading->n; i++) n += !reading->lack[i];
    if (n >= (reading->scored ? 1 : 2)) return WEFT_OK;
    const char *names = "";
    for (int i = 0; i < reading->known.n; i++)
        names = weft_arena_text(reading->pack->mem, "%s%s%s", names, i ? ", " : "",
                                reading->language[i]);
    const char *what =
        reading->scored
            ? weft_arena_text(reading->pack->mem,
                              "none of its columns is %s, which the winner of %s knows",
                              names, reading->how->like)
            : weft_arena_text(reading->pack->mem,
                              "%d of its %d columns are taken as languages where two or "
                              "more are needed",
                              n, reading->columns);
    return weft_fail(WEFT_ECONF,
                     "%s: %s; its first line names them, separated by TAB, or columns = "
                     "NAME,NAME",
                     reading->path, what);
}

static weft_status take_columns(struct reading *reading)
{
    const struct translations *how = reading->how;
    take_known(reading);
    for (int c = 0; c < reading->columns; c++) {
        reading->is_language[c] = 1;
        reading->place[c] = -1;
        reading->texts[c].mem = reading->pack->mem;
    }
    TRY(each_column(reading, "drop", how->drop, drop_column));
    TRY(each_column(reading, "languages", how->languages, take_column));
    for (int c = 0; c < reading->columns; c++) {
        if (*how->languages == '\0' && is_offered(reading, c)) take_column(reading, c);
        if (!reading->is_language[c] && reading->place[c] >= 0)
            return weft_fail(WEFT_ECONF, "'%s' is in languages and in drop",
                             reading->name[c]);
    }
    TRY(check_known(reading));
    return check_taken(reading);
}

/* ---- directions ---- */

static int is_either(const char *name, const char *wanted)
{
    return strcmp(wanted, "*") == 0 || strcmp(wanted, name) == 0;
}

/* 1: the direction has no column that it needs. */
static int is_lacking(const struct reading *reading, int32_t source, int32_t target)
{
    return reading->lack[source] || (reading->lack[target] && !reading->scored);
}

/* Adds the directions that a pair of names stands for; returns how many there are. */
static int add_directions(struct reading *reading, const char *source, const char *target)
{
    int found = 0, stars = strcmp(source, "*") == 0 || strcmp(target, "*") == 0;
    for (int32_t s = 0; s < reading->n; s++)
        for (int32_t t = 0; t < reading->n; t++) {
            if (!is_either(reading->language[s], source) ||
                !is_either(reading->language[t], target) ||
                (stars && (s == t || is_lacking(reading, s, t))))
                continue;
            weft_direction way = {s, t};
            int64_t i = weft_direction_find(reading->direction, reading->directions, way);
            found++;
            if (i < reading->directions) continue;
            reading->direction = weft_grow(reading->pack->mem, reading->direction,
                                           sizeof way, i, &reading->room);
            reading->direction[reading->directions++] = way;
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

/* Of sentences to be scored, the winner's directions from languages that have a column. */
static void take_directions(struct reading *reading)
{
    const weft_translations *known = &reading->known;
    reading->direction = WEFT_NEW(reading->pack->mem, weft_direction, known->directions);
    int cross = weft_directions_cross(known->directions, known->direction, NULL);
    for (int64_t d = 0; d < known->directions; d++) {
        weft_direction way = known->direction[d];
        if (!reading->lack[way.source] && (way.source != way.target || !cross))
            reading->direction[reading->directions++] = way;
    }
}

/* ECONF: a direction has no column. */
static weft_status check_columns(const struct reading *reading)
{
    for (int64_t d = 0; d < reading->directions; d++) {
        weft_direction way = reading->direction[d];
        if (is_lacking(reading, way.source, way.target))
            return weft_fail(
                WEFT_ECONF, "directions: %s has no column '%s', of %s-%s", reading->path,
                reading->language[reading->lack[way.source] ? way.source : way.target],
                reading->language[way.source], reading->language[way.target]);
    }
    if (reading->directions > 0) return WEFT_OK;
    return weft_fail(WEFT_ECONF,
                     "directions = %s names none from a language of %s; give "
                     "SOURCE-TARGET, or all",
                     reading->how->directions, reading->path);
}

static weft_status read_directions(struct reading *reading)
{
    const char *list = reading->how->directions;
    if (reading->scored && strcmp(list, "all") == 0) {
        take_directions(reading);
        return check_columns(reading);
    }
    char *rest, *words = weft_arena_text(reading->pack->mem, "%s",
                                         strcmp(list, "all") == 0 ? "*-*" : list);
    for (char *word = strtok_r(words, ", ", &rest); word;
         word = strtok_r(NULL, ", ", &rest))
        TRY(read_direction(reading, word));
    return check_columns(reading);
}

/* ---- the head ---- */

/* Cells of a line, ended by NUL; the cells that did not fit are counted, too. */
static int divide_cells(char *line, char by, char **cell)
{
    int n = 0;
    for (char *next; line != NULL; line = next, n++) {
        next = strchr(line, by);
        if (next != NULL) *next++ = '\0';
        if (n < MOST_COLUMNS) cell[n] = line;
    }
    return n;
}

/* Takes names of the columns, with `by` between them, and what the options take of them.
 * ECONF, EDATA. */
static weft_status read_head(struct reading *reading, char *names, char by)
{
    char *cell[MOST_COLUMNS];
    int n = divide_cells(names, by, cell);
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
    TRY(take_columns(reading));
    TRY(read_directions(reading));
    reading->cross = weft_directions_cross(reading->directions, reading->direction, NULL);
    return WEFT_OK;
}

/* ---- what is taken from elsewhere ---- */

/* Languages, directions and pieces of a packed file, or of a winner. */
static weft_status read_known(struct reading *reading, const char *option, const char *path)
{
    weft_h5 file;
    const char *group;
    weft_form form;
    TRY(weft_h5_open(&file, path, reading->pack->mem));
    weft_status st = weft_form_read(&file, &group, &form);
    if (st == WEFT_OK) st = weft_translations_known(&file, group, &reading->known);
    weft_h5_close(&file);
    TRY(st);
    if (reading->known.n == 0)
        return weft_fail(WEFT_EDATA,
                         "%s = %s: it has no pieces of sentences; give a packed file of "
                         "sentences, or a run that was trained on one",
                         option, path);
    if (!reading->how->joint || reading->known.joint) return WEFT_OK;
    return weft_fail(WEFT_ECONF,
                     "joint = yes, but %s = %s has a vocabulary for each language; take it "
                     "out",
                     option, path);
}

/* The pieces of a vocabulary that is learnt. */
static weft_status find_known(struct reading *reading, int64_t *pieces)
{
    const struct translations *how = reading->how;
    char *end;
    long number = strtol(how->vocabulary, &end, 10);
    int is_number = *how->vocabulary != '\0' && *end == '\0';
    int begins = end > how->vocabulary; /* 4k, if there is no such file */
    *pieces = number;
    if (is_number ? number < 5 || number > 1000000
                  : begins && !weft_file_is(how->vocabulary))
        return weft_fail(WEFT_ECONF,
                         "vocabulary = %s, but 5 to 1000000 pieces are expected, or a file",
                         how->vocabulary);
    if (*how->like != '\0') return read_known(reading, "like", how->like);
    if (is_number) return WEFT_OK;
    TRY(read_known(reading, "vocabulary", how->vocabulary));
    *pieces = weft_pieces_most(&reading->known, 0, reading->known.n);
    return WEFT_OK;
}

/* ---- lines ---- */

/* The part that a text is in, by its hash as a number from 0 to 1; -1: it is left out. */
static int part_of(const struct translations *how, const char *text)
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

static void put_line(struct reading *reading, weft_part part, int64_t number)
{
    const char *const *text = reading->text;
    for (int64_t d = 0; d < reading->directions && reading->scored; d++) {
        weft_direction way = reading->direction[d];
        reading->paired += (way.source != way.target || !reading->cross) &&
                           text[way.source] != NULL && text[way.target] != NULL;
    }
    weft_pack_sentence(reading->pack, part, number, text);
}

static weft_status read_line(struct reading *reading, int64_t number, char *line)
{
    char *cell[MOST_COLUMNS];
    const char *key = NULL;
    int n = divide_cells(line, '\t', cell), found = 0, part;
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
static void drop_others(struct reading *reading, const char *text, size_t n)
{
    enum { LINES = 10000 };
    weft_arena *tmp = weft_arena_new();
    weft_names *seen = WEFT_NEW(tmp, weft_names, reading->columns);
    int64_t *texts = WEFT_NEW(tmp, int64_t, reading->columns);
    char *cell[MOST_COLUMNS], *line, *at = weft_arena_alloc(tmp, n + 1, 1), *end = at;
    size_t length;
    for (int i = 0; i < LINES && end < at + n; i++) {
        const char *stop = memchr(text + (end - at), '\n', n - (size_t)(end - at));
        end = stop ? at + (stop - text) + 1 : at + n;
    }
    memcpy(at, text, (size_t)(end - at));
    for (int c = 0; c < reading->columns; c++) seen[c].mem = tmp;
    while ((line = weft_line(&at, end, &length)) != NULL) {
        int found = divide_cells(line, '\t', cell);
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
static weft_status check_texts(const struct reading *reading)
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

static weft_status read_lines(struct reading *reading, int64_t number, char *text, size_t n)
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
static weft_status declare(struct reading *reading, int64_t pieces)
{
    const struct translations *how = reading->how;
    weft_arena *mem = reading->pack->mem;
    int known = reading->known.n > 0;
    weft_pack_split(
        reading->pack, "%s",
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
static weft_status read_text(struct reading *reading, char *text, size_t n, int64_t pieces)
{
    char *at = text,
         *line = weft_arena_text(reading->pack->mem, "%s", reading->how->columns);
    size_t length;
    int named = *line != '\0';
    if (!named) line = weft_line(&at, text + n, &length);
    if (line == NULL || n == 0) return weft_fail(WEFT_EDATA, "%s is empty", reading->path);
    if (!named) TRY(check_line(reading, 1, line, length));
    TRY(read_head(reading, line, named ? ',' : '\t'));
    TRY(declare(reading, pieces));
    size_t head = (size_t)(at - text);
    if (*reading->how->languages != '\0' && head < n) drop_others(reading, at, n - head);
    TRY(read_lines(reading, named ? 1 : 2, at, head < n ? n - head : 0));
    if (reading->scored) weft_pack_scored(reading->pack, reading->paired > 0);
    return WEFT_OK;
}

static weft_status translations_read(const void *self, const char *source, weft_pack *pack)
{
    const struct translations *how = self;
    struct reading *reading = WEFT_NEW(pack->mem, struct reading, 1);
    char *text;
    size_t n;
    int64_t pieces;
    *reading = (struct reading){
        .how = how, .path = source, .scored = *how->like != '\0', .pack = pack};
    if (!(how->valid > 0) || how->valid + how->test >= 1)
        return weft_fail(WEFT_ECONF,
                         "valid = %g and test = %g where valid is above 0 and their sum "
                         "below 1",
                         how->valid, how->test);
    TRY(find_known(reading, &pieces));
    TRY(weft_pack_source(pack, source));
    TRY(weft_read_text(source, pack->mem, &text, &n));
    return read_text(reading, text, n, pieces);
}

WEFT_PLUGIN(reader, translations) = {
    .kind = WEFT_KIND("translations", struct translations, options,
                      "sentences in several languages, a column each"),
    .read = translations_read,
};
