/* What a file of sentences in several languages has: its columns, and which of them are
 * taken as languages; directions; what is taken of a packed file or winner. */
#include "translations.h"
#include "weft/data.h"
#include "weft/file.h"

#include <stdlib.h>
#include <string.h>

/* ---- columns ---- */

/* The column of that name. ECONF with the nearest name. */
static weft_status find_column(const weft_reading *reading, const char *option,
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
static weft_status each_column(weft_reading *reading, const char *option, const char *list,
                               void (*each)(weft_reading *reading, int column))
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

static void drop_column(weft_reading *reading, int column)
{
    reading->is_language[column] = 0;
}

static void take_column(weft_reading *reading, int column)
{
    int i = 0;
    if (reading->place[column] >= 0) return;
    while (i < reading->n && strcmp(reading->language[i], reading->name[column]) != 0) i++;
    reading->place[column] = i;
    reading->lack[i] = 0;
    if (i == reading->n) reading->language[reading->n++] = reading->name[column];
}

/* Languages that have a column. */
static int count_taken(const weft_reading *reading)
{
    int n = 0;
    for (int i = 0; i < reading->n; i++) n += !reading->lack[i];
    return n;
}

/* Begins with the languages that are known. */
static void take_known(weft_reading *reading)
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
static int is_offered(const weft_reading *reading, int column)
{
    int i = 0;
    while (i < reading->known.n && strcmp(reading->language[i], reading->name[column]) != 0)
        i++;
    return reading->is_language[column] && (!reading->scored || i < reading->known.n);
}

/* EDATA: a language is not known to the winner. */
static weft_status check_known(const weft_reading *reading)
{
    if (!reading->scored || reading->n == reading->known.n) return WEFT_OK;
    return weft_fail(WEFT_ECONF, "languages: the winner of %s does not know '%s'",
                     reading->how->like, reading->language[reading->known.n]);
}

/* ECONF: fewer languages than are needed. */
static weft_status check_taken(const weft_reading *reading)
{
    int n = count_taken(reading);
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

static weft_status take_columns(weft_reading *reading)
{
    const weft_reading_how *how = reading->how;
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
static int is_lacking(const weft_reading *reading, int32_t source, int32_t target)
{
    return reading->lack[source] || (reading->lack[target] && !reading->scored);
}

/* Adds the directions that a pair of names stands for; returns how many there are. */
static int add_directions(weft_reading *reading, const char *source, const char *target)
{
    int found = 0, stars = strcmp(source, "*") == 0 || strcmp(target, "*") == 0;
    for (int32_t s = 0; s < reading->n; s++)
        for (int32_t t = 0; t < reading->n; t++) {
            if (!is_either(reading->language[s], source) ||
                !is_either(reading->language[t], target) ||
                (stars && (s == t || is_lacking(reading, s, t))))
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
static weft_status read_direction(weft_reading *reading, const char *word)
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
static void take_directions(weft_reading *reading)
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
static weft_status check_columns(const weft_reading *reading)
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

static weft_status read_directions(weft_reading *reading)
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
int weft_reading_cells(char *line, char by, char **cell)
{
    int n = 0;
    for (char *next; line != NULL; line = next, n++) {
        next = strchr(line, by);
        if (next != NULL) *next++ = '\0';
        if (n < WEFT_MOST_COLUMNS) cell[n] = line;
    }
    return n;
}

weft_status weft_reading_head(weft_reading *reading, char *names, char by)
{
    char *cell[WEFT_MOST_COLUMNS];
    int n = weft_reading_cells(names, by, cell);
    if (n > WEFT_MOST_COLUMNS)
        return weft_fail(WEFT_EDATA, "%s: line 1 names %d columns where %d are the most",
                         reading->path, n, WEFT_MOST_COLUMNS);
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
static weft_status read_known(weft_reading *reading, const char *option, const char *path)
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
weft_status weft_reading_known(weft_reading *reading, int64_t *pieces)
{
    const weft_reading_how *how = reading->how;
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
    *pieces = 0;
    for (int i = 0; i < reading->known.n; i++)
        if (reading->known.language[i].bpe->n > *pieces)
            *pieces = reading->known.language[i].bpe->n;
    return WEFT_OK;
}
