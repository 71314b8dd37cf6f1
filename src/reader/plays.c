/* The plays of Shakespeare by LEAF's rules (Caldas et al. 2018; its parser goes back to
 * McMahan et al. 2017), which take Project Gutenberg's text of 1994 as it is: "  NAME.
 * text" begins a speech, " text" continues it; in The Comedy of Errors neither is indented.
 * What comes before the second play of the file, and after its line 124,197, is left out.
 */
#include "plays.h"
#include "reader.h"
#include "weft/conf.h"
#include "weft/log.h"

#include <ctype.h>
#include <string.h>

#define AUTHOR     "by William Shakespeare"
#define END        "*** END OF TH" /* IS or E PROJECT GUTENBERG EBOOK */
#define LAST_LINE  124197
#define FIRST_PLAY 2 /* occurrence of the author's name; the sonnets come before */
#define ABOVE      7 /* lines above the author in which the title stands, from the 2nd on */
#define ODD_PLAY   "THE COMEDY OF ERRORS"
#define FEW_LINES  2

/* The play that is being read. */
struct play {
    const char *title;
    int odd; /* not indented */
    weft_role *role;
    int64_t n, room;
    weft_role *speaker; /* NULL: no role has begun */
};

struct script {
    weft_speech_line *line; /* of the whole file */
    int64_t n, room;
    weft_plays *out;
    weft_arena *mem;
};

/* ---- roles ---- */

/* "PLAY_ROLE": what is neither letter nor digit becomes _. Spaces become _ first, and runs
 * of the others one _. */
static const char *user_name(const char *title, const char *role, weft_arena *mem)
{
    char *name = weft_arena_text(mem, "%s_%s", title, role), *to = name;
    int odd = 0; /* the last one was neither letter, digit, space nor _ */
    for (const char *at = name; *at != '\0'; at++) {
        unsigned char c = *at == ' ' ? '_' : (unsigned char)*at;
        int word = isalnum(c) || c == '_' || c >= 0x80;
        if (word || !odd) *to++ = word ? (char)c : '_';
        odd = !word;
    }
    *to = '\0';
    return name;
}

static weft_role *find_role(weft_role *role, int64_t n, const char *name)
{
    for (int64_t i = 0; i < n; i++)
        if (strcmp(role[i].name, name) == 0) return &role[i];
    return NULL;
}

static weft_role *add_role(weft_role **role, int64_t *n, int64_t *room, const char *name,
                           weft_arena *mem)
{
    *role = weft_grow(mem, *role, sizeof **role, *n, room);
    weft_role *added = &(*role)[(*n)++];
    *added = (weft_role){.name = name};
    return added;
}

static void add_line(weft_role *role, weft_speech_line line, weft_arena *mem)
{
    role->line = weft_grow(mem, role->line, sizeof line, role->n, &role->room);
    role->line[role->n++] = line;
}

/* Hands the roles of a play over; those of two plays of one name become one. */
static void end_play(struct script *script, struct play *play)
{
    weft_plays *out = script->out;
    int alone = play->n <= 1;
    out->plays += !alone;
    for (int64_t i = 0; i < play->n; i++) {
        weft_role *from = &play->role[i];
        if (alone || from->n <= FEW_LINES) continue;
        const char *name = user_name(play->title, from->name, script->mem);
        weft_role *to = find_role(out->role, out->n, name);
        if (to == NULL) to = add_role(&out->role, &out->n, &out->room, name, script->mem);
        for (int64_t j = 0; j < from->n; j++) add_line(to, from->line[j], script->mem);
    }
}

/* ---- lines ---- */

/* 1 if a speech begins on the line; its NAME is the n bytes from *name, the text begins at
 * *text. */
static int is_speech(const char *line, int odd, const char **name, size_t *n,
                     const char **text)
{
    const char *at = line;
    if (!odd && strncmp(at, "  ", 2) != 0) return 0;
    if (!odd) at += 2;
    *name = at;
    if (!isalpha((unsigned char)*at)) return 0;
    while (isalpha((unsigned char)*at) || *at == ' ') at++;
    *n = (size_t)(at - *name);
    *text = at + 2;
    return at[0] == '.' && at[1] == ' ';
}

static void read_line(struct script *script, struct play *play,
                      const weft_speech_line *line)
{
    const char *name, *text;
    size_t n;
    weft_speech_line rest = *line;
    if (is_speech(line->text, play->odd, &name, &n, &text)) {
        char *upper = weft_arena_text(script->mem, "%.*s", (int)n, name);
        for (char *c = upper; *c != '\0'; c++) *c = (char)toupper((unsigned char)*c);
        play->speaker = NULL;
        if (play->odd && strncmp(upper, "ACT ", 4) == 0) return;
        play->speaker = find_role(play->role, play->n, upper);
        if (play->speaker == NULL)
            play->speaker =
                add_role(&play->role, &play->n, &play->room, upper, script->mem);
        rest.n -= (size_t)(text - line->text);
        rest.text = text;
        add_line(play->speaker, rest, script->mem);
        return;
    }
    if (play->speaker == NULL || (!play->odd && strncmp(line->text, "    ", 4) != 0))
        return;
    size_t indent = play->odd ? 0 : 4;
    rest.text += indent;
    rest.n -= indent;
    if (play->odd && *rest.text == '<')
        play->speaker = NULL;
    else
        add_line(play->speaker, rest, script->mem);
}

/* ---- plays ---- */

/* The text of a line without the blanks around it. */
static const char *trimmed(const weft_speech_line *line, weft_arena *mem)
{
    size_t n = line->n;
    const char *text = weft_trim(line->text, &n);
    return weft_arena_text(mem, "%.*s", (int)n, text);
}

static weft_status begin_play(const char *path, const struct script *script, int64_t at,
                              struct play *play)
{
    const char *title = "";
    for (int64_t up = 2; up <= ABOVE && *title == '\0' && up <= at; up++)
        title = trimmed(&script->line[at - up], script->mem);
    if (*title == '\0')
        return weft_fail(WEFT_EDATA,
                         "%s: line %lld is '" AUTHOR "', but no title stands in the %d "
                         "lines above; this is not Project Gutenberg's text",
                         path, (long long)script->line[at].number, ABOVE);
    *play = (struct play){.title = title, .odd = strcmp(title, ODD_PLAY) == 0};
    return WEFT_OK;
}

/* The line at which the plays begin. */
static weft_status find_start(const char *path, const struct script *script, int64_t *start)
{
    int named = 0, ended = 0;
    for (int64_t i = 0; i < script->n; i++) {
        if (i > 0 && strstr(script->line[i].text, AUTHOR) != NULL && ++named == FIRST_PLAY)
            *start = i;
        ended = ended || strncmp(script->line[i].text, END, strlen(END)) == 0;
    }
    if (named < FIRST_PLAY)
        return weft_fail(WEFT_EDATA,
                         "%s says '" AUTHOR "' on %d lines where %d or more are expected; "
                         "give Project Gutenberg's complete works of 1994 (100.txt)",
                         path, named, FIRST_PLAY);
    if (!ended && script->n < LAST_LINE)
        return weft_fail(WEFT_EDATA,
                         "%s has no line '" END "...' as Project Gutenberg's texts have at "
                         "their end: it is cut short after line %lld; fetch it again",
                         path, (long long)script->n);
    if (!ended) /* some copies lack it, as t8.shakespeare.txt */
        weft_log(WEFT_WARN,
                 "%s has no line '" END
                 "...' at its end; it is taken as whole, for it goes "
                 "beyond line %d, the last one that is read",
                 path, LAST_LINE);
    return WEFT_OK;
}

weft_status weft_plays_read(const char *path, char *text, size_t n, weft_plays *out,
                            weft_arena *mem)
{
    struct script script = {.out = out, .mem = mem};
    struct play play = {.title = NULL};
    size_t length;
    int64_t start = 0;
    char *at = text, *end = text + n, *line;
    *out = (weft_plays){0};
    while ((line = weft_line(&at, end, &length)) != NULL) {
        script.line =
            weft_grow(mem, script.line, sizeof *script.line, script.n, &script.room);
        script.line[script.n] = (weft_speech_line){line, length, script.n + 1};
        script.n++;
    }
    TRY(find_start(path, &script, &start));
    for (int64_t i = start; i < script.n && script.line[i].number <= LAST_LINE; i++) {
        if (strstr(script.line[i].text, AUTHOR) != NULL) {
            end_play(&script, &play);
            TRY(begin_play(path, &script, i, &play));
        } else {
            read_line(&script, &play, &script.line[i]);
        }
    }
    end_play(&script, &play);
    if (out->n == 0)
        return weft_fail(WEFT_EDATA,
                         "%s has no role of more than %d lines; give Project Gutenberg's "
                         "complete works of 1994 (100.txt)",
                         path, FEW_LINES);
    return WEFT_OK;
}
