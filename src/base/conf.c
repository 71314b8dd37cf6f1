/* Input files: entries read by inih, which knows sections, keys and errors, and the binding
 * of the entries of a section to the options of a plug-in; sections whose keys the user
 * chooses. Lines reach inih through a reader that counts them (its handler has no line
 * number) and takes comments off; since inih cuts lines at 200 characters, the value is
 * taken from the reader's line. */
#include "weft/base/conf.h"

#include <ctype.h>
#include <errno.h>
#include <float.h>
#include <ini.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define DIGITS  "0123456789"

const weft_opt weft_own_keys[] = {{0}};

/* A text while inih reads it. */
struct source {
    weft_conf *conf;
    const char *name; /* for messages */
    const char *next; /* the next line */
    const char
        *line; /* the line that inih was given, [length] without comment and outer blanks */
    size_t length;
    int number;     /* of that line, from 1 */
    weft_status st; /* failure of the first line that was refused here */
};

static const char command_line[] = "command line", by_default[] = "default";

enum {
    LONGEST_SECTION = 49, /* inih cuts names that are longer */
    LONGEST_KEY = 63      /* longer names would be cut where they are shown */
};

void weft_conf_init(weft_conf *conf, weft_arena *mem)
{
    *conf = (weft_conf){.mem = mem};
}

const char *weft_trim(const char *text, size_t *n)
{
    while (*n > 0 && isspace((unsigned char)*text)) {
        text++;
        (*n)--;
    }
    while (*n > 0 && isspace((unsigned char)text[*n - 1])) (*n)--;
    return text;
}

/* Characters before a comment: ; or # at the start or after a blank. */
static size_t before_comment(const char *line, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        int mark = line[i] == ';' || line[i] == '#';
        if (mark && (i == 0 || isspace((unsigned char)line[i - 1]))) return i;
    }
    return n;
}

static weft_status check_section(const char *name, size_t n, const char *file, int line)
{
    if (n <= LONGEST_SECTION) return WEFT_OK;
    char place[16] = "";
    if (line > 0) snprintf(place, sizeof place, ":%d", line);
    return weft_fail(
        WEFT_ECONF, "%s%s: there is no section [%.*s...]: names have at most %d characters",
        file, place, 16, name, LONGEST_SECTION);
}

/* Characters of a line before its first = or :. */
static size_t key_of(const struct source *source)
{
    size_t n = 0;
    while (n < source->length && source->line[n] != '=' && source->line[n] != ':') n++;
    return n;
}

static weft_status check_name(const struct source *source)
{
    size_t n = key_of(source);
    weft_trim(source->line, &n);
    if (n <= LONGEST_KEY || key_of(source) == source->length) return WEFT_OK;
    return weft_fail(WEFT_ECONF, "%s:%d: a name has at most %d bytes, and \"%.*s...\" %zu",
                     source->name, source->number, LONGEST_KEY, 16, source->line, n);
}

/* Refuses a section's head whose name inih would cut, or whose rest it would ignore. */
static weft_status check_head(const struct source *source)
{
    const char *end = memchr(source->line, ']', source->length);
    if (*source->line != '[' || !end) return check_name(source);
    TRY(check_section(source->line + 1, (size_t)(end - source->line) - 1, source->name,
                      source->number));
    if (end == source->line + source->length - 1) return WEFT_OK;
    return weft_fail(WEFT_ECONF, "%s:%d: expected nothing behind \"%.*s\"", source->name,
                     source->number, (int)(end + 1 - source->line), source->line);
}

/* ini_reader: like fgets. */
static char *next_line(char *to, int room, void *stream)
{
    struct source *source = stream;
    if (*source->next == '\0') return NULL;
    size_t n = strcspn(source->next, "\n");
    source->length = before_comment(source->next, n);
    source->line = weft_trim(source->next, &source->length);
    source->next += n + (source->next[n] == '\n');
    source->number++;
    if (source->st == WEFT_OK && source->length > 0) source->st = check_head(source);
    size_t most = (size_t)room - 2;
    snprintf(to, (size_t)room, "%.*s\n",
             (int)(source->length < most ? source->length : most), source->line);
    return to;
}

static char *copy_text(const weft_conf *conf, const char *text, size_t n)
{
    return weft_arena_text(conf->mem, "%.*s", (int)n, text);
}

/* Adds an entry, or replaces that of another source with the same name. ECONF: the same
 * source has it already. Strings are owned by conf->mem. */
static weft_status put_entry(weft_conf *conf, const weft_entry *new)
{
    for (int i = 0; i < conf->n; i++) {
        weft_entry *entry = &conf->entry[i];
        if (strcmp(entry->section, new->section) != 0 || strcmp(entry->key, new->key) != 0)
            continue;
        if (entry->file == new->file && entry->line > 0)
            return weft_entry_fail(new, "is given in line %d already; keep one of them",
                                   entry->line);
        if (entry->file == new->file && entry->line == 0)
            return weft_entry_fail(new, "is given twice; keep one of them");
        *entry = *new;
        return WEFT_OK;
    }
    WEFT_GROW(conf->mem, conf->entry, conf->n, &conf->room);
    conf->entry[conf->n++] = *new;
    return WEFT_OK;
}

/* ini_handler: returns 0 for an entry that is refused. */
static int on_entry(void *user, const char *section, const char *key, const char *value)
{
    struct source *source = user;
    (void)value; /* inih may have cut it */
    if (source->st != WEFT_OK) return 0;
    if (*section == '\0' || *key == '\0') {
        source->st =
            weft_fail(WEFT_ECONF, "%s:%d: expected \"key = value\" below a [section]",
                      source->name, source->number);
        return 0;
    }
    size_t head = key_of(source);
    size_t n = source->length - head - 1;
    const char *text = weft_trim(source->line + head + 1, &n);
    weft_entry entry = {.section = copy_text(source->conf, section, strlen(section)),
                        .key = copy_text(source->conf, key, strlen(key)),
                        .value = copy_text(source->conf, text, n),
                        .file = source->name,
                        .line = source->number};
    source->st = put_entry(source->conf, &entry);
    return source->st == WEFT_OK;
}

weft_status weft_conf_text(weft_conf *conf, const char *name, const char *text)
{
    static const char mark[] = "\xef\xbb\xbf"; /* of UTF-8, as some editors write it */
    struct source source = {
        .conf = conf, .name = copy_text(conf, name, strlen(name)), .next = text};
    if (strncmp(text, mark, strlen(mark)) == 0) source.next += strlen(mark);
    int first = ini_parse_stream(next_line, &source, on_entry, &source);
    weft_check(first >= 0, "inih: out of memory");
    if (first == 0 || source.st != WEFT_OK) return source.st;
    return weft_fail(WEFT_ECONF, "%s:%d: expected \"[section]\" or \"key = value\"", name,
                     first);
}

static weft_status read_text(const char *path, weft_arena *mem, const char **text)
{
    FILE *file = fopen(path, "r");
    if (!file) return weft_fail(WEFT_EFILE, "cannot open %s: %s", path, strerror(errno));
    enum { MOST = 1 << 20 }; /* an input file is written by hand */
    char *bytes = weft_arena_alloc(mem, MOST + 1, 1);
    size_t n = fread(bytes, 1, MOST + 1, file);
    int error = ferror(file) ? errno : 0;
    fclose(file);
    if (error) return weft_fail(WEFT_EFILE, "cannot read %s: %s", path, strerror(error));
    if (n > MOST || memchr(bytes, '\0', n))
        return weft_fail(WEFT_EFILE, "%s is not an input file: expected up to 1 MB of text",
                         path);
    *text = bytes;
    return WEFT_OK;
}

weft_status weft_conf_read(weft_conf *conf, const char *path)
{
    WEFT_SCRATCH(tmp);
    const char *text = NULL;
    TRY(read_text(path, tmp, &text));
    return weft_conf_text(conf, path, text);
}

weft_status weft_conf_set(weft_conf *conf, const char *assignment)
{
    size_t section = strcspn(assignment, ".="), end = strcspn(assignment, "=");
    /* A name with one of these would be another one in the file of a resumed run. */
    int plain = strcspn(assignment, "[]:;#") >= end;
    int formed = assignment[section] == '.' && assignment[end] == '=' && plain;
    size_t n_key = formed ? end - section - 1 : 0, n_value = strlen(assignment + end);
    const char *key = weft_trim(assignment + section + 1, &n_key);
    if (section == 0 || n_key == 0)
        return weft_fail(WEFT_ECONF, "command line: '%s' is not section.key=value",
                         assignment);
    TRY(check_section(assignment, section, command_line, 0));
    n_value--; /* the = */
    const char *value = weft_trim(assignment + end + 1, &n_value);
    if (strchr(assignment, '\n') ||
        before_comment(assignment, strlen(assignment)) < strlen(assignment))
        return weft_fail(
            WEFT_ECONF,
            "command line: '%s': a value holds neither a line feed nor a comment, which a "
            "blank and then ; or # begin: take that blank away",
            assignment);
    weft_entry entry = {.section = copy_text(conf, assignment, section),
                        .key = copy_text(conf, key, n_key),
                        .value = copy_text(conf, value, n_value),
                        .file = command_line};
    return put_entry(conf, &entry);
}

void weft_conf_default(weft_conf *conf, const char *section, const char *key,
                       const char *value)
{
    weft_entry entry = {.section = copy_text(conf, section, strlen(section)),
                        .key = copy_text(conf, key, strlen(key)),
                        .value = copy_text(conf, value, strlen(value)),
                        .file = by_default,
                        .line = -1,
                        .used = 1};
    weft_status st = put_entry(conf, &entry);
    weft_check(st == WEFT_OK, "%s", weft_error());
}

int weft_conf_is_default(const weft_entry *entry)
{
    return entry->file == by_default;
}

int weft_conf_is_typed(const weft_entry *entry)
{
    return entry->file == command_line;
}

void weft_conf_drop(weft_conf *conf, const char *section, const char *key)
{
    weft_opt opt = {.name = key};
    int n = 0;
    for (int i = 0; i < conf->n; i++) {
        const weft_entry *entry = &conf->entry[i];
        int removed =
            strcmp(entry->section, section) == 0 && (!key || weft_opt_is(&opt, entry->key));
        if (!removed) conf->entry[n++] = *entry;
    }
    conf->n = n;
}

weft_entry *weft_conf_find(const weft_conf *conf, const char *section, const char *names)
{
    weft_opt opt = {.name = names};
    for (int i = 0; i < conf->n; i++) {
        weft_entry *entry = &conf->entry[i];
        if (strcmp(entry->section, section) == 0 && weft_opt_is(&opt, entry->key))
            return entry;
    }
    return NULL;
}

weft_status weft_entry_fail(const weft_entry *entry, const char *fmt, ...)
{
    char line[16] = "", why[768];
    va_list args;
    va_start(args, fmt);
    vsnprintf(why, sizeof why, fmt, args);
    va_end(args);
    if (entry->line > 0) snprintf(line, sizeof line, ":%d", entry->line);
    enum { SHOWN = 256 }; /* bytes of a value */
    return weft_fail(WEFT_ECONF, "%s%s: %s.%s = %.*s%s: %s", entry->file, line,
                     entry->section, entry->key, SHOWN, entry->value,
                     strlen(entry->value) > SHOWN ? " ..." : "", why);
}

static weft_status unknown_key(const weft_conf *conf, const weft_kind *kind,
                               const weft_entry *entry)
{
    int n = 0;
    while (kind->opts[n].name) n++;
    const char **list = WEFT_NEW(conf->mem, const char *, n);
    for (int i = 0; i < n; i++)
        list[i] = copy_text(conf, kind->opts[i].name, strcspn(kind->opts[i].name, "/"));
    if (n == 0) return weft_entry_fail(entry, "there is no such key; the section has none");
    return weft_entry_fail(entry, "there is no such key; did you mean %s?",
                           weft_nearest(entry->key, list, n));
}

static weft_status bind_entry(const weft_conf *conf, weft_entry *entry, const weft_opt *opt,
                              void *self)
{
    const weft_entry *first = weft_conf_find(conf, entry->section, opt->name);
    if (first && first != entry)
        return weft_entry_fail(entry, "is the same as %s; give one of them", first->key);
    if (opt->type == WEFT_TEXT) {
        *(const char **)(void *)((char *)self + opt->at) = entry->value;
        return WEFT_OK;
    }
    weft_entry_respell(entry, opt, conf->mem);
    if (weft_is_range(entry->value)) {
        if (weft_opt_tunable(opt)) return WEFT_OK;
        return weft_entry_fail(entry, "a range, but this option is not tunable: give one "
                                      "value");
    }
    double value;
    if (weft_opt_parse(opt, entry->value, &value) != WEFT_OK)
        return weft_entry_fail(entry, "%s", weft_error());
    weft_opt_set(opt, self, value);
    return WEFT_OK;
}

static void put_defaults(const weft_kind *kind, void *self)
{
    for (const weft_opt *opt = kind->opts; opt->name; opt++) {
        if (opt->type == WEFT_TEXT) {
            *(const char **)(void *)((char *)self + opt->at) = opt->def;
            continue;
        }
        double value;
        weft_check(weft_opt_parse(opt, opt->def, &value) == WEFT_OK,
                   "default of [%s] %s: %s", kind->name, opt->name, weft_error());
        weft_opt_set(opt, self, value);
    }
}

weft_status weft_conf_bind(weft_conf *conf, const weft_kind *kind, void *self)
{
    put_defaults(kind, self);
    for (int i = 0; i < conf->n; i++) {
        weft_entry *entry = &conf->entry[i];
        if (strcmp(entry->section, kind->name) != 0) continue;
        const weft_opt *opt = weft_opt_find(kind->opts, entry->key);
        if (!opt && kind->opts != weft_own_keys) return unknown_key(conf, kind, entry);
        entry->used = 1;
        entry->names_file = opt && opt->names_file;
        if (opt) TRY(bind_entry(conf, entry, opt, self));
    }
    return WEFT_OK;
}

weft_status weft_conf_unused(const weft_conf *conf, const char *const *sections, int n)
{
    for (int i = 0; i < conf->n; i++) {
        const weft_entry *entry = &conf->entry[i];
        if (entry->used) continue;
        for (int j = 0; j < n; j++)
            if (strcmp(entry->section, sections[j]) == 0)
                return weft_entry_fail(entry,
                                       "nothing in this run reads it: take it out, or "
                                       "choose what it belongs to");
        return weft_entry_fail(entry, "there is no such section; did you mean [%s]?",
                               weft_nearest(entry->section, sections, n));
    }
    return WEFT_OK;
}

static int section_seen(const weft_conf *conf, int i)
{
    for (int j = 0; j < i; j++)
        if (strcmp(conf->entry[j].section, conf->entry[i].section) == 0) return 1;
    return 0;
}

const char *weft_conf_echo(const weft_conf *conf, weft_arena *mem)
{
    size_t room = 1;
    for (int i = 0; i < conf->n; i++) {
        const weft_entry *entry = &conf->entry[i];
        room += strlen(entry->section) + strlen(entry->key) + strlen(entry->value) +
                sizeof "[]\n = \n";
    }
    char *text = WEFT_NEW(mem, char, room);
    size_t n = 0;
    for (int i = 0; i < conf->n; i++) {
        if (section_seen(conf, i)) continue;
        const char *section = conf->entry[i].section;
        n += (size_t)snprintf(text + n, room - n, "[%s]\n", section);
        for (int j = i; j < conf->n; j++) {
            const weft_entry *entry = &conf->entry[j];
            if (strcmp(entry->section, section) != 0) continue;
            /* After a blank, ; or # would begin a comment. */
            int marked = *entry->value == ';' || *entry->value == '#';
            n += (size_t)snprintf(text + n, room - n, "%s =%s%s\n", entry->key,
                                  marked ? "" : " ", entry->value);
        }
    }
    return text;
}

/* ---- sections whose keys the user chooses ---- */

/* Each key is an option, whose type follows from its value. */

/* Names of any language: each byte of a character beyond ASCII counts as a letter. Of
 * longer names two could be taken for one. */
static weft_status check_key(const weft_entry *entry)
{
    size_t n = strlen(entry->key);
    int first = (unsigned char)*entry->key >= 0x80 || strchr(LETTERS "_%", *entry->key);
    for (size_t i = 0; i < n; i++)
        if ((unsigned char)entry->key[i] < 0x80 &&
            !strchr(LETTERS DIGITS "_-.% ", entry->key[i]))
            first = 0;
    if (first && n <= LONGEST_KEY) return WEFT_OK;
    return weft_entry_fail(
        entry,
        "expected a name of at most %d bytes, of letters, digits, "
        "blanks, \"_\", \"-\", \".\" and \"%%\", that begins with a letter",
        LONGEST_KEY);
}

/* 1 if the n characters are a number; *whole 1: it is written as an integer. */
static int is_number(const char *text, size_t n, int *whole)
{
    static const weft_opt any = {.type = WEFT_REAL, .lo = -DBL_MAX, .hi = DBL_MAX};
    char word[64];
    double x;
    text = weft_trim(text, &n);
    if (n == 0 || n >= sizeof word) return 0;
    snprintf(word, sizeof word, "%.*s", (int)n, text);
    if (weft_opt_parse(&any, word, &x) != WEFT_OK) return 0;
    *whole = strcspn(word, ".eExX") == n && !(fabs(x - floor(x)) > 0);
    return 1;
}

/* "a .. b" where a or b is a number; an error in the other one is reported when the range
 * is read. */
static int is_interval(const char *value, weft_type *type)
{
    const char *from = strncmp(value, "log ", 4) == 0 ? value + 4 : value;
    const char *dots = strstr(from, "..");
    if (!dots) return 0;
    int whole[2] = {1, 1};
    const int number[2] = {is_number(from, (size_t)(dots - from), &whole[0]),
                           is_number(dots + 2, strlen(dots + 2), &whole[1])};
    if (!number[0] && !number[1]) return 0;
    *type = whole[0] && whole[1] ? WEFT_LONG : WEFT_REAL;
    return 1;
}

/* ---- ranges of other programs ---- */

/* The number of pieces that `by` divides a value into; 0 if one of them is empty, has
 * blanks or, where only numbers count, is no number. */
static int pieces(const char *value, const char *by, int numbers)
{
    int count = 0, whole;
    for (const char *at = value, *end; at; at = end ? end + strlen(by) : NULL, count++) {
        end = strstr(at, by);
        size_t n = end ? (size_t)(end - at) : strlen(at);
        const char *from = weft_trim(at, &n);
        if (n == 0 || strcspn(from, " \t") < n || (numbers && !is_number(from, n, &whole)))
            return 0;
    }
    return count;
}

/* 1 for what other programs take as a range or as several values: "[a, b]", "a, b",
 * "uniform(0, 1)", "1:5", "1 to 5", "log 1, 5". */
static int looks_ranged(const char *value)
{
    size_t n = strlen(value), name = strspn(value, LETTERS DIGITS "_.");
    const char *open = strchr("([{", value[name]);
    if (open && *open && n > name + 2 && value[n - 1] == ")]}"[open - "([{"]) {
        size_t inner = n - name - 2;
        const char *from = weft_trim(value + name + 1, &inner);
        return name > 0 || strcspn(from, ",;: \t") < inner;
    }
    return pieces(value, ",", 0) > 1 || pieces(value, ":", 1) > 1 ||
           pieces(value, " to ", 1) > 1 || pieces(value, " - ", 1) > 1 ||
           strncmp(value, "log ", 4) == 0;
}

/* "uniform(a, b)" or "loguniform(a, b)" as an interval of real numbers; NULL: neither. */
static const char *interval_of(const char *text, weft_arena *mem)
{
    static const char name[] = "uniform(";
    int log = strncmp(text, "log", 3) == 0, whole[2] = {0, 0};
    const char *from = text + (log ? 3 : 0);
    size_t n = strlen(from), head = strlen(name);
    if (n <= head || strncmp(from, name, head) != 0 || from[n - 1] != ')') return NULL;
    const char *ends = weft_arena_text(mem, "%.*s", (int)(n - head - 1), from + head);
    if (pieces(ends, ",", 1) != 2) return NULL;
    const char *last = strchr(ends, ',') + 1;
    size_t first_n = (size_t)(last - ends) - 1, last_n = strlen(last);
    const char *first = weft_trim(ends, &first_n);
    last = weft_trim(last, &last_n);
    is_number(first, first_n, &whole[0]);
    is_number(last, last_n, &whole[1]);
    return weft_arena_text(mem, "%s%.*s%s .. %.*s%s", log ? "log " : "", (int)first_n,
                           first, whole[0] ? ".0" : "", (int)last_n, last,
                           whole[1] ? ".0" : "");
}

/* Characters before the first comma that is in neither quotes nor brackets. */
static size_t before_comma(const char *text)
{
    size_t n = 0;
    int depth = 0;
    for (char quote = '\0'; text[n] && (text[n] != ',' || depth > 0 || quote); n++) {
        char c = text[n];
        if (quote)
            quote = c == quote ? '\0' : quote;
        else if (c == '"' || c == '\'')
            quote = c;
        else
            depth += strchr("([{", c) ? 1 : strchr(")]}", c) ? -1 : 0;
    }
    return n;
}

/* The words between the commas of a list as "x | y | z", without quotes around them; NULL:
 * there are fewer than two, or one is empty or could not be read again. */
static const char *values_of(const char *list, weft_arena *mem)
{
    char *out = WEFT_NEW(mem, char, 3 * strlen(list) + 1), *to = out;
    int words = 0;
    for (const char *at = list; at; words++) {
        size_t n = before_comma(at);
        const char *next = at[n] ? at + n + 1 : NULL, *word = weft_trim(at, &n);
        if (n > 1 && strchr("\"'", *word) && word[n - 1] == *word) {
            word++;
            n -= 2;
        }
        if (n == 0 || memchr(word, '\\', n) || strchr(" \t", *word)) return NULL;
        to += sprintf(to, "%s%.*s", words ? " | " : "", (int)n, word);
        at = next;
    }
    return words > 1 && !weft_clause(out, "when") ? out : NULL;
}

void weft_entry_respell(weft_entry *entry, const weft_opt *opt, weft_arena *mem)
{
    static const char mark[] = " per trial";
    const char *value = entry->value, *when = weft_clause(value, "when");
    size_t n = when ? (size_t)(when - value) : strlen(value), m = strlen(mark);
    if (!opt->own && (!weft_opt_tunable(opt) || opt->type == WEFT_TEXT)) return;
    if (strpbrk(value, "|") || weft_is_quoted(value)) return;
    weft_trim(value, &n);
    if (n > m && memcmp(value + n - m, mark, m) == 0) n -= m;
    weft_trim(value, &n);
    const char *text = weft_arena_text(mem, "%.*s", (int)n, value), *own = NULL;
    if (*text == '[' && text[n - 1] == ']')
        own = values_of(weft_arena_text(mem, "%.*s", (int)n - 2, text + 1), mem);
    else if (opt->own ? pieces(text, ",", 1) > 1 : text[before_comma(text)] == ',')
        own = values_of(text, mem);
    if (!own) own = interval_of(text, mem);
    if (own) entry->value = weft_arena_text(mem, "%s%s", own, value + n);
}

/* ---- options that the user chooses ---- */

/* The words of "x | y | z" without the blanks between them. */
static weft_status read_words(const weft_entry *entry, const char *value, weft_arena *mem,
                              const char **out)
{
    char *to = WEFT_NEW(mem, char, strlen(value) + 1);
    *out = to;
    for (const char *at = value; at;) {
        size_t n = strcspn(at, "|");
        const char *next = at[n] ? at + n + 1 : NULL;
        at = weft_trim(at, &n);
        if (n == 0)
            return weft_entry_fail(entry, "one of the values is empty; expected "
                                          "\"x | y | z\"");
        memcpy(to, at, n);
        to += n;
        *to++ = next ? '|' : '\0';
        at = next;
    }
    return WEFT_OK;
}

static weft_status make_option(weft_entry *entry, weft_opt *opt, weft_arena *mem)
{
    opt->name = entry->key;
    opt->about = "the user's own";
    opt->own = 1;
    weft_entry_respell(entry, opt, mem);
    opt->type = WEFT_TEXT;
    opt->def = entry->value;
    const char *when = weft_clause(entry->value, "when"), *value = entry->value;
    int per_trial, near, n = weft_range_length(value, &per_trial);
    if (when || per_trial || weft_range_near(value, &near))
        value = weft_arena_text(mem, "%.*s", n, value);
    if (!strchr(value, '|') && is_interval(value, &opt->type)) {
        opt->lo = -DBL_MAX;
        opt->hi = DBL_MAX;
        opt->def = "0";
    } else if (when || strchr(value, '|')) {
        opt->type = WEFT_WORDS;
        TRY(read_words(entry, value, mem, &opt->words));
        opt->def = weft_arena_text(mem, "%.*s", (int)strcspn(opt->words, "|"), opt->words);
    } else if (!weft_is_quoted(value) && looks_ranged(value)) {
        return weft_entry_fail(entry,
                               "looks like a range of another program; an axis is "
                               "written \"0.1 | 0.01\", \"1 .. 5\" or \"log 1e-4 .. 1\", "
                               "and a text that is passed on as it stands in quotes");
    }
    opt->role = opt->type == WEFT_TEXT ? WEFT_FIXED
                : per_trial            ? WEFT_PER_TRIAL
                                       : WEFT_PER_SAMPLE;
    return WEFT_OK;
}

weft_status weft_conf_open(const weft_conf *conf, const weft_kind *kind, weft_arena *mem,
                           const weft_kind **out)
{
    size_t slot = sizeof(int64_t); /* the largest member */
    weft_opt *opts = WEFT_NEW(mem, weft_opt, conf->n + 1);
    weft_kind *own = WEFT_NEW(mem, weft_kind, 1);
    int n = 0;
    for (int i = 0; i < conf->n; i++) {
        weft_entry *entry = &conf->entry[i];
        if (strcmp(entry->section, kind->name) != 0) continue;
        TRY(check_key(entry));
        TRY(make_option(entry, &opts[n], mem));
        opts[n].at = slot * (size_t)n;
        entry->used = 1;
        n++;
    }
    *own = *kind;
    own->opts = opts;
    own->size = slot * (size_t)(n + 1);
    *out = own;
    return WEFT_OK;
}
