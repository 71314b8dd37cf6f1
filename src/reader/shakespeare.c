/* The works of William Shakespeare as a federation: each role is a client, and a sample is
 * a window of its text with the character that follows, as in LEAF (Caldas et al., "LEAF: A
 * benchmark for federated settings", 2018). Text is stored once, a window
 * being a place in it. Parts of a client are so far apart that no target of validation or
 * test stands in a training window, nor one of the test in a window of validation. */
#include "reader.h"
#include "weft/base/base.h"
#include "weft/base/conf.h"
#include "weft/base/files.h"
#include "weft/base/random.h"

#include <ctype.h>
#include <string.h>

struct speech_line {
    const char *text; /* [n] */
    size_t n;
    int64_t number; /* of the line in the file, from 1 */
};

/* A role with three lines or more in a play with two roles or more. */
struct role {
    const char *name; /* PLAY_ROLE */
    struct speech_line *line;
    int64_t n, room;
};

struct cast {
    struct role *role; /* [n], in the order of the text */
    int64_t n, room;
};

struct plays {
    struct cast cast; /* of all plays */
    int64_t n;        /* plays with roles */
};

struct shakespeare {
    int64_t length, stride, least, most;
    weft_shares shares;
};

/* What a role says, in symbols. */
struct user {
    const char *name;
    const uint8_t *text; /* [n] */
    int64_t n;
    int64_t windows; /* those that are taken: the first ones */
};

static const weft_opt options[] = {
    WEFT_LONG_OPT("length", struct shakespeare, length, "80", 1, 100000,
                  "characters of a window, before the one to predict"),
    WEFT_LONG_OPT("stride", struct shakespeare, stride, "1", 1, 100000,
                  "characters from one window to the next"),
    WEFT_LONG_OPT("most", struct shakespeare, most, "0", 0, 1e9,
                  "samples kept of a client, its first ones; 0: all"),
    WEFT_LONG_OPT("least/k", struct shakespeare, least, "1", 1, 1e9,
                  "samples below which a client is left out"),
    WEFT_CHOICE_OPT("rule", struct shakespeare, shares.rule, "shares", "shares|leaf",
                    "leaf: train and test alone, the gap taken from the test"),
    WEFT_REAL_OPT("valid", struct shakespeare, shares.valid, "0.1", 0, 0.9,
                  "share for validation; not used by rule = leaf"),
    WEFT_REAL_OPT("test", struct shakespeare, shares.test, "0.1", 0, 0.9,
                  "share for the test"),
    {0},
};

/* ---- plays ---- */

/* The plays of Shakespeare by LEAF's rules (Caldas et al. 2018; its parser goes back to
 * McMahan et al. 2017), which take Project Gutenberg's text of 1994 as it is: "  NAME.
 * text" begins a speech, " text" continues it; in The Comedy of Errors neither is indented.
 * What comes before the second play of the file, and after its line 124,197, is left out.
 */
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
    struct cast cast;
    struct role *speaker; /* NULL: no role has begun */
};

struct script {
    struct speech_line *line; /* of the whole file */
    int64_t n, room;
    struct plays *out;
    weft_arena *mem;
};

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

/* The role of that name, which is added where there is none. */
static struct role *find_role(struct cast *cast, const char *name, weft_arena *mem)
{
    for (int64_t i = 0; i < cast->n; i++)
        if (strcmp(cast->role[i].name, name) == 0) return &cast->role[i];
    cast->role = weft_grow(mem, cast->role, sizeof *cast->role, cast->n, &cast->room);
    cast->role[cast->n] = (struct role){.name = name};
    return &cast->role[cast->n++];
}

static void add_line(struct role *role, struct speech_line line, weft_arena *mem)
{
    role->line = weft_grow(mem, role->line, sizeof line, role->n, &role->room);
    role->line[role->n++] = line;
}

/* Hands the roles of a play over; those of two plays of one name become one. */
static void end_play(struct script *script, const struct play *play)
{
    if (play->cast.n <= 1) return;
    script->out->n++;
    for (int64_t i = 0; i < play->cast.n; i++) {
        struct role *from = &play->cast.role[i];
        if (from->n <= FEW_LINES) continue;
        struct role *to =
            find_role(&script->out->cast, user_name(play->title, from->name, script->mem),
                      script->mem);
        for (int64_t j = 0; j < from->n; j++) add_line(to, from->line[j], script->mem);
    }
}

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
                      const struct speech_line *line)
{
    const char *name, *text;
    size_t n;
    struct speech_line rest = *line;
    if (is_speech(line->text, play->odd, &name, &n, &text)) {
        char *upper = weft_arena_text(script->mem, "%.*s", (int)n, name);
        for (char *c = upper; *c != '\0'; c++) *c = (char)toupper((unsigned char)*c);
        play->speaker = NULL;
        if (play->odd && strncmp(upper, "ACT ", 4) == 0) return;
        play->speaker = find_role(&play->cast, upper, script->mem);
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

/* The text of a line without the blanks around it. */
static const char *trimmed(const struct speech_line *line, weft_arena *mem)
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

/* Reads the text[n] of the file `path`; lines are ended by NULs in it and stay there.
 * EDATA: it is another text, or cut short. */
static weft_status read_plays(const char *path, char *text, size_t n, struct plays *out,
                              weft_arena *mem)
{
    struct script script = {.out = out, .mem = mem};
    struct play play = {.title = NULL};
    size_t length;
    int64_t start = 0;
    char *at = text, *end = text + n, *line;
    *out = (struct plays){0};
    while ((line = weft_line(&at, end, &length)) != NULL) {
        script.line =
            weft_grow(mem, script.line, sizeof *script.line, script.n, &script.room);
        script.line[script.n] = (struct speech_line){line, length, script.n + 1};
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
    if (out->cast.n == 0)
        return weft_fail(WEFT_EDATA,
                         "%s has no role of more than %d lines; give Project Gutenberg's "
                         "complete works of 1994 (100.txt)",
                         path, FEW_LINES);
    return WEFT_OK;
}

/* The text of the edition of 1994, of which LEAF counts 1,129 users. */
#define EDITION_BYTES 5465102
#define EDITION_HASH  UINT64_C(0xe747345da69c3b34) /* weft_hash(text, bytes, 0) */

/* ---- users ---- */

/* Lines of a role, joined by blanks; several blanks become one. */
static weft_status say(const char *path, const struct role *role,
                       const weft_alphabet *alphabet, struct user *user, weft_arena *mem)
{
    size_t room = 1, bad;
    for (int64_t i = 0; i < role->n; i++) room += role->line[i].n + 1;
    char *text = WEFT_NEW(mem, char, room);
    uint8_t *symbol = WEFT_NEW(mem, uint8_t, room);
    int64_t n = 0;
    for (int64_t i = 0; i < role->n; i++) {
        const struct speech_line *line = &role->line[i];
        size_t kept = 0;
        char last = i > 0 ? ' ' : 'a';
        for (size_t j = 0; j <= line->n; j++) {
            char c = j < line->n ? line->text[j] : ' ';
            if (c != ' ' || last != ' ') text[kept++] = c;
            last = c;
        }
        n += weft_alphabet_map(alphabet, text, kept, symbol + n, &bad);
        if (bad < kept)
            return weft_alphabet_fail(
                weft_arena_text(mem, "%s: line %lld", path, (long long)line->number),
                text + bad);
    }
    *user = (struct user){.name = role->name, .text = symbol, .n = n};
    return WEFT_OK;
}

/* Leaves out users of fewer than `least` windows; returns how many stay. */
static int64_t keep_users(struct user *user, int64_t n, int64_t least)
{
    int64_t kept = 0;
    for (int64_t i = 0; i < n; i++)
        if (user[i].windows >= least) user[kept++] = user[i];
    return kept;
}

/* Text of each role; roles with too little text for a window are left out. */
static weft_status read_users(const struct shakespeare *shakespeare, const char *source,
                              struct user **user, int64_t *n, weft_pack *pack)
{
    struct plays plays;
    weft_alphabet alphabet = weft_alphabet_new();
    char *text;
    size_t bytes;
    TRY(weft_pack_source(pack, source));
    TRY(weft_read_all(source, pack->mem, &text, &bytes));
    TRY(weft_text_only(source, text, bytes));
    if (bytes != EDITION_BYTES || weft_hash(text, bytes, 0) != EDITION_HASH)
        weft_log(WEFT_WARN,
                 "%s is not the edition of 1994 (1994-01-100.zip), of which LEAF counts "
                 "1129 users; plays and roles may be others",
                 source);
    TRY(read_plays(source, text, bytes, &plays, pack->mem));
    *user = WEFT_NEW(pack->mem, struct user, plays.cast.n);
    int64_t windows = 0;
    for (int64_t i = 0; i < plays.cast.n; i++) {
        struct user *one = &(*user)[i];
        TRY(say(source, &plays.cast.role[i], &alphabet, one, pack->mem));
        one->windows = one->n > shakespeare->length
                           ? (one->n - shakespeare->length - 1) / shakespeare->stride + 1
                           : 0;
        windows += one->windows;
    }
    *n = keep_users(*user, plays.cast.n, 1);
    weft_log(WEFT_INFO,
             "%s: %lld plays, %lld roles with three lines or more, of these %lld users "
             "with %lld samples",
             source, (long long)plays.n, (long long)plays.cast.n, (long long)*n,
             (long long)windows);
    return WEFT_OK;
}

/* ---- clients ---- */

static weft_status hand_over(const struct shakespeare *shakespeare, struct user *user,
                             int64_t n, weft_pack *pack)
{
    int64_t gap = (shakespeare->length - 1) / shakespeare->stride, left = 0;
    weft_pack_split(pack,
                    "samples of each user in the order of its text, %lld left out between "
                    "two parts",
                    (long long)gap);
    TRY(weft_pack_clients(pack, WEFT_CHARS,
                          &(weft_clients){.d = shakespeare->length,
                                          .stride = shakespeare->stride,
                                          .gap = gap,
                                          .symbols = WEFT_SYMBOLS,
                                          .named = 1}));
    for (int64_t i = 0; i < n; i++) {
        const struct user *one = &user[i];
        int64_t count[WEFT_NPART];
        if (!weft_shares_count(&shakespeare->shares, one->windows, gap, count)) {
            left++;
            continue;
        }
        int64_t chars = (one->windows - 1) * shakespeare->stride + shakespeare->length + 1;
        TRY(weft_pack_client_text(pack, one->name, count, one->text, chars));
    }
    weft_shares_log(left, gap);
    return WEFT_OK;
}

static weft_status shakespeare_read(const void *self, const char *source, weft_pack *pack)
{
    const struct shakespeare *shakespeare = self;
    struct user *user;
    int64_t n;
    TRY(weft_shares_check(&shakespeare->shares));
    TRY(read_users(shakespeare, source, &user, &n, pack));
    weft_alphabet_classes(pack);
    for (int64_t i = 0; i < n; i++)
        if (shakespeare->most > 0 && user[i].windows > shakespeare->most)
            user[i].windows = shakespeare->most;
    int64_t kept = keep_users(user, n, shakespeare->least);
    if (kept < n)
        weft_log(WEFT_INFO, "%lld users are left out: fewer than %lld samples",
                 (long long)(n - kept), (long long)shakespeare->least);
    return hand_over(shakespeare, user, kept, pack);
}

WEFT_PLUGIN(reader, shakespeare) = {
    .kind = WEFT_KIND("shakespeare", struct shakespeare, options,
                      "roles of Shakespeare's plays, from Project Gutenberg's text"),
    .read = shakespeare_read,
};
