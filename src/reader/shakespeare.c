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
#include <math.h>
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

struct plays {
    struct role *role; /* [n], in the order of the text */
    int64_t n, room;
    int64_t plays; /* with roles */
};

struct shakespeare {
    int64_t length, stride, least, most;
    int sampling, split, vocabulary;
    double fraction, iid_users;
    weft_shares shares;
    const char *unknown;
    int64_t seed;
};

/* What a role says, in symbols. */
struct user {
    const char *name;
    const uint8_t *text; /* [n] */
    int64_t n;
    int64_t windows; /* those that are taken: the first ones */
};

/* Windows that would overlap if no characters were left out between two parts. */
static int64_t window_gap(const struct shakespeare *shakespeare)
{
    return (shakespeare->length - 1) / shakespeare->stride;
}

enum { NIID, IID };
enum { BY_SAMPLE, BY_USER };

static const weft_opt options[] = {
    WEFT_LONG_OPT("length", struct shakespeare, length, "80", 1, 100000,
                  "characters of a window, before the one to predict"),
    WEFT_LONG_OPT("stride", struct shakespeare, stride, "1", 1, 100000,
                  "characters from one window to the next"),
    WEFT_CHOICE_OPT("sampling/s", struct shakespeare, sampling, "niid", "niid|iid",
                    "niid: clients are roles; iid: new clients draw windows of all roles"),
    WEFT_REAL_OPT(
        "fraction/sf", struct shakespeare, fraction, "1", 1e-6, 1,
        "share of all samples to take: whole roles in random order, the last one cut"),
    WEFT_REAL_OPT("iid_users/iu", struct shakespeare, iid_users, "0.01", 1e-6, 1,
                  "iid: clients, as a share of the number of roles"),
    WEFT_LONG_OPT("most", struct shakespeare, most, "0", 0, 1e9,
                  "samples kept of a client, its first ones; 0: all"),
    WEFT_LONG_OPT("least/k", struct shakespeare, least, "1", 1, 1e9,
                  "samples below which a client is left out"),
    WEFT_CHOICE_OPT("split/t", struct shakespeare, split, "sample", "sample|user",
                    "divide the samples of each client, or the clients"),
    WEFT_CHOICE_OPT("rule", struct shakespeare, shares.rule, "shares", "shares|leaf",
                    "leaf: train and test alone, the gap taken from the test"),
    WEFT_REAL_OPT("valid", struct shakespeare, shares.valid, "0.1", 0, 0.9,
                  "share for validation; not used by rule = leaf"),
    WEFT_REAL_OPT("test", struct shakespeare, shares.test, "0.1", 0, 0.9,
                  "share for the test"),
    WEFT_CHOICE_OPT("vocabulary", struct shakespeare, vocabulary, "leaf", WEFT_VOCAB_WORDS,
                    WEFT_VOCAB_ABOUT),
    WEFT_TEXT_OPT("unknown", struct shakespeare, unknown, "", WEFT_UNKNOWN_ABOUT),
    WEFT_LONG_OPT("seed", struct shakespeare, seed, "0", 0, 9e15,
                  "seed of the choice of roles, windows and clients"),
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
    struct role *role;
    int64_t n, room;
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

static struct role *find_role(struct role *role, int64_t n, const char *name)
{
    for (int64_t i = 0; i < n; i++)
        if (strcmp(role[i].name, name) == 0) return &role[i];
    return NULL;
}

static struct role *add_role(struct role **role, int64_t *n, int64_t *room,
                             const char *name, weft_arena *mem)
{
    *role = weft_grow(mem, *role, sizeof **role, *n, room);
    struct role *added = &(*role)[(*n)++];
    *added = (struct role){.name = name};
    return added;
}

static void add_line(struct role *role, struct speech_line line, weft_arena *mem)
{
    role->line = weft_grow(mem, role->line, sizeof line, role->n, &role->room);
    role->line[role->n++] = line;
}

/* Hands the roles of a play over; those of two plays of one name become one. */
static void end_play(struct script *script, struct play *play)
{
    struct plays *out = script->out;
    int alone = play->n <= 1;
    out->plays += !alone;
    for (int64_t i = 0; i < play->n; i++) {
        struct role *from = &play->role[i];
        if (alone || from->n <= FEW_LINES) continue;
        const char *name = user_name(play->title, from->name, script->mem);
        struct role *to = find_role(out->role, out->n, name);
        if (to == NULL) to = add_role(&out->role, &out->n, &out->room, name, script->mem);
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
    if (out->n == 0)
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
                alphabet,
                weft_arena_text(mem, "%s: line %lld", path, (long long)line->number),
                text + bad);
    }
    *user = (struct user){.name = role->name, .text = symbol, .n = n};
    return WEFT_OK;
}

/* Takes whole users in random order until their windows are a share of all; cuts the last.
 */
static void draw_users(const struct shakespeare *shakespeare, struct user *user, int64_t n,
                       weft_arena *mem)
{
    int64_t all = 0;
    for (int64_t i = 0; i < n; i++) all += user[i].windows;
    int64_t want = (int64_t)floor(shakespeare->fraction * (double)all);
    int64_t *order = WEFT_NEW(mem, int64_t, n);
    weft_shuffle(n, (uint64_t)shakespeare->seed, order, mem);
    for (int64_t i = 0; i < n; i++) {
        struct user *one = &user[order[i]];
        if (one->windows > want) one->windows = want;
        want -= one->windows;
    }
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
                              struct user **user, int64_t *n, int *symbols, weft_pack *pack)
{
    struct plays plays;
    weft_alphabet alphabet;
    char *text;
    size_t bytes;
    TRY(weft_alphabet_setup(&alphabet, shakespeare->vocabulary, shakespeare->unknown));
    *symbols = alphabet.n;
    TRY(weft_pack_source(pack, source));
    TRY(weft_read_all(source, pack->mem, &text, &bytes));
    TRY(weft_text_only(source, text, bytes));
    if (bytes != EDITION_BYTES || weft_hash(text, bytes, 0) != EDITION_HASH)
        weft_log(WEFT_WARN,
                 "%s is not the edition of 1994 (1994-01-100.zip), of which LEAF counts "
                 "1129 users; plays and roles may be others",
                 source);
    TRY(read_plays(source, text, bytes, &plays, pack->mem));
    *user = WEFT_NEW(pack->mem, struct user, plays.n);
    int64_t windows = 0;
    for (int64_t i = 0; i < plays.n; i++) {
        struct user *one = &(*user)[i];
        TRY(say(source, &plays.role[i], &alphabet, one, pack->mem));
        one->windows = one->n > shakespeare->length
                           ? (one->n - shakespeare->length - 1) / shakespeare->stride + 1
                           : 0;
        windows += one->windows;
    }
    *n = keep_users(*user, plays.n, 1);
    weft_log(WEFT_INFO,
             "%s: %lld plays, %lld roles with three lines or more, of these %lld users "
             "with %lld samples",
             source, (long long)plays.plays, (long long)plays.n, (long long)*n,
             (long long)windows);
    return WEFT_OK;
}

/* ---- clients of all roles ---- */

/* Clients with equal distributions: windows of all roles, pooled and dealt. Each role is
 * divided into parts first, with the gaps between them, and each part is pooled separately:
 * so no client trains on a window that contains a test target of another client.
 * Neighbouring windows go to different clients, so each is stored with its own characters,
 * a window after the other. */

/* The windows of a part, of all users, in random order. */
struct pool {
    const uint8_t **window; /* [n] */
    int64_t n, room;
};

static void add_windows(const struct shakespeare *shakespeare, const struct user *user,
                        const int64_t *count, struct pool *part, weft_arena *mem)
{
    for (int i = 0; i < WEFT_NPART; i++) {
        int64_t at = weft_client_place(count, i, window_gap(shakespeare));
        for (int64_t w = at; w < at + count[i]; w++) {
            struct pool *to = &part[i];
            to->window = weft_grow(mem, to->window, sizeof *to->window, to->n, &to->room);
            to->window[to->n++] = user->text + w * shakespeare->stride;
        }
    }
}

/* Draws a share of the windows without replacement. */
static void shuffle_pool(const struct shakespeare *shakespeare, int part, struct pool *from,
                         weft_arena *mem)
{
    const uint8_t **drawn = WEFT_NEW(mem, const uint8_t *, from->n);
    int64_t *order = WEFT_NEW(mem, int64_t, from->n);
    weft_shuffle(from->n, weft_hash(&part, sizeof part, (uint64_t)shakespeare->seed), order,
                 mem);
    for (int64_t i = 0; i < from->n; i++) drawn[i] = from->window[order[i]];
    from->window = drawn;
    from->n = (int64_t)floor(shakespeare->fraction * (double)from->n);
}

/* Client c of n; its parts are as even as they can be, and cut to `most` samples. */
static weft_status deal_client(const struct shakespeare *shakespeare,
                               const struct pool *part, int64_t c, int64_t n,
                               weft_pack *pack)
{
    size_t mark = weft_arena_mark(pack->scratch), width = (size_t)shakespeare->length + 1;
    int64_t from[WEFT_NPART], count[WEFT_NPART], sum = 0, at = 0;
    for (int i = 0; i < WEFT_NPART; i++) {
        from[i] = c * part[i].n / n;
        count[i] = (c + 1) * part[i].n / n - from[i];
        sum += count[i];
    }
    for (int i = 0; i < WEFT_NPART && shakespeare->most > 0 && sum > shakespeare->most; i++)
        count[i] = count[i] * shakespeare->most / sum;
    sum = count[0] + count[1] + count[2];
    uint8_t *text = WEFT_NEW(pack->scratch, uint8_t, (size_t)sum * width);
    for (int i = 0; i < WEFT_NPART; i++)
        for (int64_t j = 0; j < count[i]; j++, at++)
            memcpy(text + (size_t)at * width, part[i].window[from[i] + j], width);
    weft_status st = WEFT_OK;
    if (sum >= shakespeare->least)
        st = weft_pack_client_text(pack,
                                   weft_arena_text(pack->scratch, "%lld", (long long)c),
                                   count, text, sum * (int64_t)width);
    weft_arena_reset(pack->scratch, mark);
    return st;
}

/* Pools the windows of all users, part by part, and deals them to new clients. */
static weft_status pool_windows(const struct shakespeare *shakespeare,
                                const struct user *user, int64_t n, int symbols,
                                weft_pack *pack)
{
    struct pool part[WEFT_NPART] = {{0}};
    int64_t clients = llround(shakespeare->iid_users * (double)n), left = 0;
    if (clients < 1) clients = 1;
    for (int64_t i = 0; i < n; i++) {
        int64_t count[WEFT_NPART];
        if (weft_shares_count(&shakespeare->shares, user[i].windows,
                              window_gap(shakespeare), count))
            add_windows(shakespeare, &user[i], count, part, pack->mem);
        else
            left++;
    }
    for (int i = 0; i < WEFT_NPART; i++) shuffle_pool(shakespeare, i, &part[i], pack->mem);
    if (left > 0)
        weft_log(WEFT_INFO, "%lld users are left out, for a part would be empty",
                 (long long)left);
    weft_pack_split(pack,
                    "samples of each user in the order of its text, %lld left out between "
                    "two parts; then each part is pooled and dealt to %lld clients",
                    (long long)window_gap(shakespeare), (long long)clients);
    TRY(weft_pack_clients(pack, WEFT_CHARS,
                          &(weft_clients){.d = shakespeare->length,
                                          .stride = shakespeare->length + 1,
                                          .symbols = symbols,
                                          .named = 1}));
    for (int64_t c = 0; c < clients; c++)
        TRY(deal_client(shakespeare, part, c, clients, pack));
    return WEFT_OK;
}

/* ---- clients ---- */

/* All samples of a user are of one part. */
static void split_users(const struct shakespeare *shakespeare, int64_t n,
                        int64_t (*count)[WEFT_NPART], const struct user *user,
                        weft_arena *mem)
{
    int64_t part[WEFT_NPART], at = 0;
    int64_t *order = WEFT_NEW(mem, int64_t, n);
    weft_shuffle(n, (uint64_t)shakespeare->seed, order, mem);
    weft_shares_count(&shakespeare->shares, n, 0, part);
    for (int i = 0; i < WEFT_NPART; i++)
        for (int64_t j = 0; j < part[i]; j++, at++)
            count[order[at]][i] = user[order[at]].windows;
}

static weft_status hand_over(const struct shakespeare *shakespeare, struct user *user,
                             int64_t n, int symbols, weft_pack *pack)
{
    int64_t gap = window_gap(shakespeare), left = 0;
    int64_t(*count)[WEFT_NPART] = weft_arena_alloc(pack->mem, (size_t)n, sizeof *count);
    weft_pack_split(pack, "%s",
                    shakespeare->split == BY_USER
                        ? "users are divided"
                        : weft_arena_text(pack->mem,
                                          "samples of each user in the order of its "
                                          "text, %lld left out between two parts",
                                          (long long)gap));
    TRY(weft_pack_clients(pack, WEFT_CHARS,
                          &(weft_clients){.d = shakespeare->length,
                                          .stride = shakespeare->stride,
                                          .gap = gap,
                                          .symbols = symbols,
                                          .named = 1}));
    if (shakespeare->split == BY_USER) split_users(shakespeare, n, count, user, pack->mem);
    for (int64_t i = 0; i < n; i++) {
        const struct user *one = &user[i];
        if (shakespeare->split == BY_SAMPLE &&
            !weft_shares_count(&shakespeare->shares, one->windows, gap, count[i])) {
            left++;
            continue;
        }
        int64_t chars = (one->windows - 1) * shakespeare->stride + shakespeare->length + 1;
        TRY(weft_pack_client_text(pack, one->name, count[i], one->text, chars));
    }
    weft_shares_log(left, gap);
    return WEFT_OK;
}

static weft_status shakespeare_read(const void *self, const char *source, weft_pack *pack)
{
    const struct shakespeare *shakespeare = self;
    struct user *user;
    int64_t n;
    int symbols;
    TRY(weft_shares_check(&shakespeare->shares));
    if (shakespeare->sampling == IID && shakespeare->split == BY_USER)
        return weft_fail(WEFT_ECONF,
                         "sampling = iid mixes the samples of all users, so that split = "
                         "user has none to divide; give split = sample");
    TRY(read_users(shakespeare, source, &user, &n, &symbols, pack));
    weft_alphabet_classes(shakespeare->vocabulary, pack);
    if (shakespeare->sampling == IID)
        return pool_windows(shakespeare, user, n, symbols, pack);
    if (shakespeare->fraction < 1) draw_users(shakespeare, user, n, pack->mem);
    for (int64_t i = 0; i < n; i++)
        if (shakespeare->most > 0 && user[i].windows > shakespeare->most)
            user[i].windows = shakespeare->most;
    int64_t kept = keep_users(user, n, shakespeare->least);
    if (kept < n)
        weft_log(WEFT_INFO,
                 "%lld users are left out: not drawn, or fewer than %lld samples",
                 (long long)(n - kept), (long long)shakespeare->least);
    return hand_over(shakespeare, user, kept, symbols, pack);
}

extern const weft_reader weft_reader_shakespeare;
const weft_reader weft_reader_shakespeare = {
    .kind = {.name = "shakespeare",
             .about = "roles of Shakespeare's plays, from Project Gutenberg's text",
             .size = sizeof(struct shakespeare),
             .opts = options},
    .read = shakespeare_read,
};
