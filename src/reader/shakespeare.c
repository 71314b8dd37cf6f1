/* The works of William Shakespeare as a federation: each role is a client, and a sample is
 * a window of its text with the character that follows, as in LEAF (Caldas et al., "LEAF: A
 * benchmark for federated settings", 2018). Roles: plays.c. Text is stored once, a window
 * being a place in it. Parts of a client are so far apart that no target of validation or
 * test stands in a training window, nor one of the test in a window of validation. */
#include "shakespeare.h"
#include "plays.h"
#include "reader.h"
#include "weft/hash.h"
#include "weft/log.h"
#include "weft/magic.h"
#include "weft/shuffle.h"

#include <math.h>

enum { NIID, IID };
enum { BY_SAMPLE, BY_USER };

static const weft_opt options[] = {
    WEFT_LONG_OPT("length", weft_shakespeare, length, "80", 1, 100000,
                  "characters of a window, before the one to predict"),
    WEFT_LONG_OPT("stride", weft_shakespeare, stride, "1", 1, 100000,
                  "characters from one window to the next"),
    WEFT_CHOICE_OPT("sampling/s", weft_shakespeare, sampling, "niid", "niid|iid",
                    "niid: clients are roles; iid: new clients draw windows of all roles"),
    WEFT_REAL_OPT(
        "fraction/sf", weft_shakespeare, fraction, "1", 1e-6, 1,
        "share of all samples to take: whole roles in random order, the last one cut"),
    WEFT_REAL_OPT("iid_users/iu", weft_shakespeare, iid_users, "0.01", 1e-6, 1,
                  "iid: clients, as a share of the number of roles"),
    WEFT_LONG_OPT("most", weft_shakespeare, most, "0", 0, 1e9,
                  "samples kept of a client, its first ones; 0: all"),
    WEFT_LONG_OPT("least/k", weft_shakespeare, least, "1", 1, 1e9,
                  "samples below which a client is left out"),
    WEFT_CHOICE_OPT("split/t", weft_shakespeare, split, "sample", "sample|user",
                    "divide the samples of each client, or the clients"),
    WEFT_CHOICE_OPT("rule", weft_shakespeare, shares.rule, "shares", "shares|leaf",
                    "leaf: train and test alone, the gap taken from the test"),
    WEFT_REAL_OPT("valid", weft_shakespeare, shares.valid, "0.1", 0, 0.9,
                  "share for validation; not used by rule = leaf"),
    WEFT_REAL_OPT("test", weft_shakespeare, shares.test, "0.1", 0, 0.9,
                  "share for the test"),
    WEFT_CHOICE_OPT("vocabulary", weft_shakespeare, vocabulary, "leaf", WEFT_VOCAB_WORDS,
                    WEFT_VOCAB_ABOUT),
    WEFT_TEXT_OPT("unknown", weft_shakespeare, unknown, "", WEFT_UNKNOWN_ABOUT),
    WEFT_LONG_OPT("seed", weft_shakespeare, seed, "0", 0, 9e15,
                  "seed of the choice of roles, windows and clients"),
    {0},
};

/* The text of the edition of 1994, of which LEAF counts 1,129 users. */
#define EDITION_BYTES 5465102
#define EDITION_HASH  UINT64_C(0xe747345da69c3b34) /* weft_hash(text, bytes, 0) */

/* ---- users ---- */

/* Lines of a role, joined by blanks; several blanks become one. */
static weft_status say(const char *path, const weft_role *role,
                       const weft_alphabet *alphabet, weft_user *user, weft_arena *mem)
{
    size_t room = 1, bad;
    for (int64_t i = 0; i < role->n; i++) room += role->line[i].n + 1;
    char *text = WEFT_NEW(mem, char, room);
    uint8_t *symbol = WEFT_NEW(mem, uint8_t, room);
    int64_t n = 0;
    for (int64_t i = 0; i < role->n; i++) {
        const weft_speech_line *line = &role->line[i];
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
    *user = (weft_user){.name = role->name, .text = symbol, .n = n};
    return WEFT_OK;
}

/* Takes whole users in random order until their windows are a share of all; cuts the last.
 */
static void draw_users(const weft_shakespeare *shakespeare, weft_user *user, int64_t n,
                       weft_arena *mem)
{
    int64_t all = 0;
    for (int64_t i = 0; i < n; i++) all += user[i].windows;
    int64_t want = (int64_t)floor(shakespeare->fraction * (double)all);
    int64_t *order = WEFT_NEW(mem, int64_t, n);
    weft_shuffle(n, (uint64_t)shakespeare->seed, order, mem);
    for (int64_t i = 0; i < n; i++) {
        weft_user *one = &user[order[i]];
        if (one->windows > want) one->windows = want;
        want -= one->windows;
    }
}

/* Leaves out users of fewer than `least` windows; returns how many stay. */
static int64_t keep_users(weft_user *user, int64_t n, int64_t least)
{
    int64_t kept = 0;
    for (int64_t i = 0; i < n; i++)
        if (user[i].windows >= least) user[kept++] = user[i];
    return kept;
}

/* Text of each role; roles with too little text for a window are left out. */
static weft_status read_users(const weft_shakespeare *shakespeare, const char *source,
                              weft_user **user, int64_t *n, int *symbols, weft_pack *pack)
{
    weft_plays plays;
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
    TRY(weft_plays_read(source, text, bytes, &plays, pack->mem));
    *user = WEFT_NEW(pack->mem, weft_user, plays.n);
    int64_t windows = 0;
    for (int64_t i = 0; i < plays.n; i++) {
        weft_user *one = &(*user)[i];
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

/* ---- clients ---- */

/* All samples of a user are of one part. */
static void split_users(const weft_shakespeare *shakespeare, int64_t n,
                        int64_t (*count)[WEFT_NPART], const weft_user *user,
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

static weft_status hand_over(const weft_shakespeare *shakespeare, weft_user *user,
                             int64_t n, int symbols, weft_pack *pack)
{
    int64_t gap = weft_bard_gap(shakespeare), left = 0;
    int64_t(*count)[WEFT_NPART] = weft_arena_alloc(pack->mem, (size_t)n, sizeof *count);
    weft_pack_split(pack, shakespeare->split == BY_USER
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
        const weft_user *one = &user[i];
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
    const weft_shakespeare *shakespeare = self;
    weft_user *user;
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
        return weft_bard_pool(shakespeare, user, n, symbols, pack);
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
             .size = sizeof(weft_shakespeare),
             .opts = options},
    .read = shakespeare_read,
};
