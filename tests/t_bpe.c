/* Byte-pair encoding: merges and pieces against subword-nmt, by tests/gold/bpe.tsv (bpe.py,
 * another file as argument); texts come back; units; bad pieces.
 * RUN: np=1 */
#include "weft/text/text.h"

#include "escaped.h"
#include "tap.h"

enum { FIELDS = 5, ROOM = 1 << 16, MANY = 1000000 };

/* ---- what subword-nmt says ---- */

enum { WORDS, UNITS, KINDS };
static const char *const kinds[KINDS] = {"words", "units"};

/* What was learnt from the texts of a set, by words and by units. */
struct set {
    char name[16];
    weft_unit_counts counts[KINDS];
    weft_bpe bpe[KINDS];
    int64_t merges[KINDS]; /* of subword-nmt, so far */
    int learnt;
};

struct tally {
    int sets;
    int64_t merges[KINDS], same[KINDS]; /* all, and those that are the same */
    int64_t texts[KINDS], pieces[KINDS], back;
};

/* Words between blanks as units. */
static void add_words(weft_unit_counts *counts, const char *text)
{
    char *rest, *copy = printed("%s", text);
    for (char *word = strtok_r(copy, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
        weft_unit_add(counts, printed("%s ", word), 1);
}

static void add_text(struct set *set, char **field)
{
    if (strcmp(set->name, field[1]) != 0) {
        *set = (struct set){.learnt = 0};
        snprintf(set->name, sizeof set->name, "%s", field[1]);
        for (int k = 0; k < KINDS; k++) set->counts[k].units.mem = mem;
    }
    add_words(&set->counts[WORDS], field[2]);
    weft_units_add(&set->counts[UNITS], field[2], strlen(field[2]));
}

/* subword-nmt's text of a piece, which ends with </w> where it has a blank. */
static const char *marked(const weft_bpe *bpe, uint32_t piece)
{
    const char *text = bpe->text + bpe->offset[piece];
    int n = (int)(bpe->offset[piece + 1] - bpe->offset[piece]);
    int blank = n > 0 && text[n - 1] == ' ';
    return printed("%.*s%s", n - blank, text, blank ? "</w>" : "");
}

static int kind_of(const char *name)
{
    return strcmp(name, kinds[UNITS]) == 0 ? UNITS : WORDS;
}

static void learn(struct set *set)
{
    for (int k = 0; k < KINDS && !set->learnt; k++)
        must(weft_bpe_learn(&set->counts[k], MANY, set->name, &set->bpe[k], mem));
    set->learnt = 1;
}

/* Merges of a set: LEFT RIGHT LEFT RIGHT ... */
static void check_merges(struct set *set, char **field, struct tally *tally)
{
    learn(set);
    int k = kind_of(field[1]);
    const weft_bpe *bpe = &set->bpe[k];
    char *rest, *left = strtok_r(field[3], " ", &rest), *right;
    for (; left && (right = strtok_r(NULL, " ", &rest));
         left = strtok_r(NULL, " ", &rest)) {
        int64_t i = set->merges[k]++;
        tally->merges[k]++;
        if (i >= bpe->merges) continue;
        const char *first = marked(bpe, bpe->merge[3 * i]),
                   *second = marked(bpe, bpe->merge[3 * i + 1]);
        int same = strcmp(first, left) == 0 && strcmp(second, right) == 0;
        tally->same[k] += same;
        if (!same)
            note("%s %s: merge %lld is %s %s, not %s %s", set->name, kinds[k], (long long)i,
                 first, second, left, right);
    }
}

/* The model with just the merges that subword-nmt was given. */
static weft_bpe shortened(const struct set *set, int k)
{
    weft_bpe bpe = set->bpe[k];
    if (set->merges[k] < bpe.merges) bpe.merges = set->merges[k];
    must(weft_bpe_open(&bpe, set->name, mem));
    return bpe;
}

/* Behind a text, pieces as subword-nmt shows them. */
static const char *shown(const weft_bpe *bpe, const uint32_t *piece, int64_t n,
                         const char *text)
{
    for (int64_t i = 0; i < n; i++) {
        const char *one = marked(bpe, piece[i]);
        text = printed("%s%s%s", text, i == 0 ? "" : " ", one);
    }
    return text;
}

static const char *shown_words(const weft_bpe *bpe, const char *text)
{
    uint32_t *piece = WEFT_NEW(mem, uint32_t, strlen(text) + 1);
    char *rest, *copy = printed("%s", text);
    const char *made = "";
    for (char *word = strtok_r(copy, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
        int64_t n = weft_bpe_encode_unit(bpe, printed("%s ", word), piece);
        made = shown(bpe, piece, n, *made != '\0' ? printed("%s ", made) : "");
    }
    return made;
}

/* 1: all characters of a text were learnt from, so that subword-nmt's pieces can be told.
 */
static int is_known(const uint32_t *piece, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (piece[i] < WEFT_PIECE_FIRST) return 0;
    return 1;
}

static void check_pieces(const struct set *set, char **field, struct tally *tally)
{
    int k = kind_of(field[1]);
    weft_bpe bpe = shortened(set, k);
    uint32_t *piece = WEFT_NEW(mem, uint32_t, strlen(field[3]) + 1);
    int64_t n = weft_bpe_encode(&bpe, field[3], strlen(field[3]), piece);
    if (!is_known(piece, n)) return;
    tally->texts[k]++;
    tally->back += strcmp(weft_bpe_decode(&bpe, piece, n, mem), field[3]) == 0;
    const char *made = k == UNITS ? shown(&bpe, piece, n, "") : shown_words(&bpe, field[3]);
    int same = strcmp(made, field[4]) == 0;
    tally->pieces[k] += same;
    if (!same) note("%s %s:\n# %s\n# not %s", set->name, kinds[k], made, field[4]);
}

static void test_gold(const char *path)
{
    struct tally tally = {.sets = 0};
    struct set set = {.learnt = 0};
    FILE *gold = fopen(path, "r");
    char *line = NULL, *field[FIELDS];
    size_t size = 0;
    weft_check(gold, "%s is missing: run tests in the top directory", path);
    while (getline(&line, &size, gold) > 0) {
        int n = split_line(line, field, FIELDS), text = strcmp(field[0], "text") == 0,
            merges = strcmp(field[0], "merges") == 0;
        for (int f = 0; f < n; f++) unescape(field[f]);
        weft_check(n == (text ? 3 : merges ? 4 : FIELDS), "%s: %d fields", path, n);
        if (text) {
            tally.sets += strcmp(set.name, field[1]) != 0;
            add_text(&set, field);
        } else if (merges) {
            check_merges(&set, field, &tally);
        } else {
            check_pieces(&set, field, &tally);
        }
    }
    free(line);
    fclose(gold);
    for (int k = 0; k < KINDS; k++) {
        ok(tally.same[k] == tally.merges[k] && tally.merges[k] > 700 && tally.sets > 5,
           "%s: %lld of %lld merges of %d sets are subword-nmt's", kinds[k],
           (long long)tally.same[k], (long long)tally.merges[k], tally.sets);
        ok(tally.pieces[k] == tally.texts[k] && tally.texts[k] > 40,
           "%s: the pieces of %lld of %lld texts are subword-nmt's", kinds[k],
           (long long)tally.pieces[k], (long long)tally.texts[k]);
    }
    ok(tally.back == tally.texts[WORDS] + tally.texts[UNITS], "all %lld texts come back",
       (long long)tally.back);
}

/* ---- units ---- */

static void join(void *ctx, const char *unit, size_t n)
{
    char *all = ctx;
    size_t length = strlen(all);
    weft_check(length + n + 2 < ROOM && strlen(unit) == n, "unit '%s'", unit);
    snprintf(all + length, ROOM - length, "%s|", unit);
}

static void is_split(const char *text, const char *units)
{
    char all[ROOM] = "";
    weft_units(text, strlen(text), join, all);
    ok(strcmp(all, units) == 0, "'%s' has the units %s", text, all);
}

static void test_units(void)
{
    is_split("", "");
    is_split(" \t \u2003", "");
    is_split("Save file, now.", "Save |file|, |now|. |");
    is_split("  two\u00a0 \u3000wide ", "two |wide |");
    is_split("l'image \u00ab\u00a010 % \u00bb...", "l|'|image |\u00ab |10 |% |\u00bb... |");
    is_split("cafe\u0301 \u0e44\u0e21\u0e48\u0e1e\u0e1a",
             "cafe\u0301 |\u0e44\u0e21\u0e48\u0e1e\u0e1a |");
    char *all = malloc(ROOM), text[2 * WEFT_UNIT + 2];
    memset(text, 'a', sizeof text);
    all[0] = '\0';
    weft_units(text, sizeof text, join, all);
    ok(strlen(all) == sizeof text + 4 && all[WEFT_UNIT] == '|' &&
           all[2 * WEFT_UNIT + 1] == '|',
       "a unit of more than %d letters is cut", WEFT_UNIT);
    free(all);
}

/* ---- texts that were not learnt from ---- */

static weft_bpe learnt_from(const char *text, int64_t pieces)
{
    weft_unit_counts counts = {.units = {.mem = mem}};
    weft_bpe bpe;
    weft_units_add(&counts, text, strlen(text));
    must(weft_bpe_learn(&counts, pieces, "text", &bpe, mem));
    return bpe;
}

static void comes_back(const weft_bpe *bpe, const char *text, const char *back)
{
    uint32_t *piece = WEFT_NEW(mem, uint32_t, strlen(text) + 1);
    int64_t n = weft_bpe_encode(bpe, text, strlen(text), piece);
    const char *made = weft_bpe_decode(bpe, piece, n, mem);
    ok(n <= (int64_t)strlen(text) + 1 && strcmp(made, back) == 0,
       "'%s' comes back as '%s', of %lld pieces", text, made, (long long)n);
}

static void test_back(void)
{
    weft_bpe bpe = learnt_from("low lower lowest, low new newer. newest", 100);
    comes_back(&bpe, "lower  newest\tlow.", "lower newest low.");
    comes_back(&bpe, "", "");
    comes_back(&bpe, " o l , ", "o l ,");
    comes_back(&bpe, "low\u00e9 n", "low\ufffd n");
    uint32_t piece[8];
    ok(weft_bpe_encode(&bpe, "low", 3, piece) == 1, "a frequent word is one piece");
    ok(weft_bpe_encode(&bpe, "o", 1, piece) == 2 && piece[1] == WEFT_PIECE_BLANK,
       "a character that was at no end has a blank of its own");
    ok(weft_bpe_encode(&bpe, "\u00e9", 2, piece) == 2 && piece[0] == WEFT_PIECE_UNKNOWN &&
           piece[1] == WEFT_PIECE_BLANK,
       "a new character is unknown, its blank is not");
    weft_bpe few = learnt_from("low lower lowest, low new newer. newest", 20);
    int same = few.n == 20 && few.merges == 20 - WEFT_PIECE_FIRST - 13;
    for (int64_t i = 0; i < 3 * few.merges && same; i++)
        same = few.merge[i] == bpe.merge[i];
    ok(same, "fewer pieces have the first of the merges, %lld", (long long)few.merges);
    ok(learnt_from("ab cd", 100).merges == 0 && learnt_from("ab cd ab", 100).merges == 1,
       "what occurs once is not merged, what occurs twice is");
    weft_bpe none = learnt_from("", 4);
    comes_back(&none, "ab", "\ufffd\ufffd");
}

/* Of "aab b ccc c cb d": 3 of "b " and c, 2 of a and "c ", 1 of "d ". */
static void test_numbers(void)
{
    weft_bpe bpe = learnt_from("aab b ccc c cb d", WEFT_PIECE_FIRST + 5);
    uint32_t piece[5];
    for (uint32_t i = 0; i < 5; i++) piece[i] = WEFT_PIECE_FIRST + i;
    const char *order = shown(&bpe, piece, 5, "");
    ok(bpe.merges == 0 && strcmp(order, "b</w> c a c</w> d</w>") == 0,
       "characters are numbered by falling counts, equal ones by their texts: %s", order);
}

static void test_bad(void)
{
    weft_unit_counts counts = {.units = {.mem = mem}};
    weft_bpe bpe;
    weft_units_add(&counts, "abc", 3);
    ok(weft_bpe_learn(&counts, 6, "cs", &bpe, mem) == WEFT_ECONF &&
           strcmp(weft_error(),
                  "cs: 6 pieces are too few for its 3 characters; give 7 or more") == 0,
       "%s", weft_error());
    weft_bpe good = learnt_from("ab ab ab", 100);
    uint32_t merge[3];
    int64_t offset[8];
    weft_check(good.n == 7 && good.merges == 1, "%lld pieces", (long long)good.n);
    int refused = 0;
    for (int i = 0; i < 3; i++) {
        bpe = good;
        memcpy(merge, good.merge, sizeof merge);
        merge[i] = i == 0 ? 7 : WEFT_PIECE_BLANK;
        bpe.merge = merge;
        refused += weft_bpe_open(&bpe, "m", mem) == WEFT_EDATA;
    }
    for (int i = 0; i < 8; i++) {
        bpe = good;
        memcpy(offset, good.offset, sizeof offset);
        offset[i] -= i < 7 ? 1 : -1;
        bpe.offset = offset;
        refused += i < 7 && weft_bpe_open(&bpe, "m", mem) == WEFT_EDATA;
    }
    ok(refused == 10, "wrong merges and offsets are refused: %d of 10", refused);
}

/* The same bits of text whatever its size: a million letters, and two million units. */
static void test_large(void)
{
    enum { LARGE = 1000000 };
    char *text = WEFT_NEW(mem, char, LARGE + 1);
    double began = processor_seconds();
    memset(text, 'a', LARGE);
    weft_bpe bpe = learnt_from(text, 50);
    uint32_t *piece = WEFT_NEW(mem, uint32_t, LARGE + 1);
    int64_t n = weft_bpe_encode(&bpe, text, LARGE, piece);
    ok(n < LARGE / 100, "a million equal letters are %lld pieces", (long long)n);
    ok(strcmp(weft_bpe_decode(&bpe, piece, n, mem), text) == 0, "they come back");
    uint64_t state = 1;
    for (int i = 0; i < LARGE; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        text[i] = (char)((state >> 60) < 3 ? ' ' : 'a' + (state >> 40) % 20);
    }
    bpe = learnt_from(text, 4000);
    n = weft_bpe_encode(&bpe, text, LARGE, piece);
    ok(bpe.n == 4000 && n < LARGE * 3 / 4, "letters at random are %lld pieces",
       (long long)n);
    note("%.2f s", processor_seconds() - began);
    digest(weft_hash(piece, (size_t)n * sizeof *piece, 0));
}

int main(int argc, char **argv)
{
    tap_begin();
    test_gold(argc > 1 ? argv[1] : "tests/gold/bpe.tsv");
    return TESTS(test_units, test_back, test_numbers, test_bad, test_large);
}
