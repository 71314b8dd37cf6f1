/* BLEU, chrF and the 13a tokens against sacrebleu: the pairs and sets of
 * tests/gold/bleu.tsv (bleu.py); counts that are added over ranks; closed forms. RUN: np=1
 * np=2 */
#include "weft/text/text.h"

#include "escaped.h"
#include "tap.h"

enum { PAIR_FIELDS = 7, SCORE_FIELDS = 14 };
static const double tolerance = 1e-9; /* of scores from 0 to 100 */

/* What was counted, and how much of it was right. */
struct tally {
    weft_bleu bleu; /* of the set */
    weft_chrf chrf;
    int pairs, tokens, scores, sets;
    double error; /* the largest of a score */
};

static void add_pair(struct tally *tally, char **field, weft_arena *tmp)
{
    char *made = unescape(field[2]), *wanted = unescape(field[3]);
    weft_bleu bleu = {.length = 0};
    weft_chrf chrf = {.total = {0}};
    weft_bleu_add(&bleu, made, wanted, tmp);
    weft_chrf_add(&chrf, made, wanted, tmp);
    weft_bleu_add(&tally->bleu, made, wanted, tmp);
    weft_chrf_add(&tally->chrf, made, wanted, tmp);
    double error = worse(fabs(weft_bleu_score(&bleu) - strtod(field[5], NULL)),
                         fabs(weft_chrf_score(&chrf) - strtod(field[6], NULL)));
    const char *tokens = weft_tokens_13a(made, tmp), *right = unescape(field[4]);
    tally->pairs++;
    tally->tokens += strcmp(tokens, right) == 0;
    tally->scores += error < tolerance;
    tally->error = worse(tally->error, error);
    if (strcmp(tokens, right) != 0) note("is %s\n# not %s", tokens, right);
    if (!(error < tolerance)) note("%s | %s: %g away", made, wanted, error);
}

static void end_set(struct tally *tally, char **field)
{
    int64_t wrong = 0;
    const weft_bleu *bleu = &tally->bleu;
    for (int i = 0; i < WEFT_BLEU_ORDER; i++)
        wrong += (bleu->match[i] != atoll(field[6 + i])) +
                 (bleu->total[i] != atoll(field[6 + WEFT_BLEU_ORDER + i]));
    ok(wrong == 0 && bleu->length == atoll(field[4]) && bleu->reference == atoll(field[5]),
       "%s: n-grams and tokens are as many as sacrebleu's", field[1]);
    is_near(weft_bleu_score(bleu), strtod(field[2], NULL), tolerance,
            "%s: BLEU is sacrebleu's, %.4s", field[1], field[2]);
    is_near(weft_chrf_score(&tally->chrf), strtod(field[3], NULL), tolerance,
            "%s: chrF is sacrebleu's, %.4s", field[1], field[3]);
    tally->sets++;
    tally->bleu = (weft_bleu){.length = 0};
    tally->chrf = (weft_chrf){.total = {0}};
}

static void test_gold(void)
{
    struct tally tally = {.pairs = 0};
    FILE *gold = gold_of("bleu.tsv");
    char *line = NULL, *field[SCORE_FIELDS];
    size_t size = 0;
    while (getline(&line, &size, gold) > 0) {
        int n = split_line(line, field, SCORE_FIELDS), pair = strcmp(field[0], "pair") == 0;
        weft_check(n == (pair ? PAIR_FIELDS : SCORE_FIELDS), "bleu.tsv: %d fields", n);
        if (pair)
            add_pair(&tally, field, mem);
        else
            end_set(&tally, field);
    }
    free(line);
    fclose(gold);
    ok(tally.tokens == tally.pairs && tally.pairs > 150,
       "the 13a tokens of %d of %d texts are sacrebleu's", tally.tokens, tally.pairs);
    ok(tally.scores == tally.pairs && tally.sets == 9,
       "both scores of %d of %d single pairs are sacrebleu's, within %.1e", tally.scores,
       tally.pairs, tally.error);
}

/* N-grams of a text of single letters that stand in another one, each of those once. */
static int64_t count_common(const char *a, const char *b, int order)
{
    char used[64] = {0};
    int64_t common = 0;
    for (size_t i = 0; i + (size_t)order <= strlen(a); i++)
        for (size_t j = 0; j + (size_t)order <= strlen(b); j++)
            if (!used[j] && strncmp(a + i, b + j, (size_t)order) == 0) {
                used[j] = 1;
                common++;
                break;
            }
    return common;
}

/* Texts of few letters have many n-grams in common, of which some are cut off at the end.
 */
static void test_counts(void)
{
    enum { PAIRS = 400, LETTERS = 40 };
    uint64_t state = 1;
    int64_t wrong = 0;
    for (int k = 0; k < PAIRS; k++) {
        char text[2][LETTERS + 1] = {{0}};
        for (int i = 0; i < 2; i++)
            for (int c = 0, n = (int)(state >> 33) % (LETTERS + 1); c < n; c++) {
                state = state * 6364136223846793005u + 1442695040888963407u;
                text[i][c] = (char)('a' + (state >> 40) % 2);
            }
        weft_chrf chrf = {.total = {0}};
        weft_chrf_add(&chrf, text[0], text[1], mem);
        for (int i = 0; i < WEFT_CHRF_ORDER; i++)
            wrong += chrf.match[i] != count_common(text[0], text[1], i + 1);
    }
    ok(wrong == 0, "n-grams in common of %d pairs are those that are found one by one",
       PAIRS);
}

/* Every rank counts some of the pairs. */
static void test_ranks(void)
{
    static const char *const text[] = {"a b c d e", "a b d c e", "f g",
                                       "f g h i",   "a, b. c",   ""};
    enum { TEXTS = LEN(text) };
    weft_bleu all = {.length = 0}, own = {.length = 0};
    weft_chrf all_chars = {.total = {0}}, own_chars = {.total = {0}};
    for (int i = 0; i < TEXTS * TEXTS; i++) {
        const char *made = text[i / TEXTS], *wanted = text[i % TEXTS];
        weft_bleu_add(&all, made, wanted, mem);
        weft_chrf_add(&all_chars, made, wanted, mem);
        if (i % world.size != world.rank) continue;
        weft_bleu_add(&own, made, wanted, mem);
        weft_chrf_add(&own_chars, made, wanted, mem);
    }
    weft_sum_i64(&world, (int64_t *)&own, sizeof own / sizeof(int64_t));
    weft_sum_i64(&world, (int64_t *)&own_chars, sizeof own_chars / sizeof(int64_t));
    ok(memcmp(&own, &all, sizeof all) == 0, "counts of BLEU are added over ranks");
    ok(memcmp(&own_chars, &all_chars, sizeof all_chars) == 0,
       "counts of chrF are added over ranks");
    double score = weft_bleu_score(&own) + weft_chrf_score(&own_chars);
    uint64_t bits;
    memcpy(&bits, &score, sizeof bits);
    digest(bits);
}

/* Scores that can be written down. */
static void test_closed(void)
{
    weft_bleu bleu = {.length = 0};
    weft_chrf chrf = {.total = {0}};
    ok(weft_bleu_score(&bleu) <= 0 && weft_chrf_score(&chrf) <= 0,
       "both scores of nothing are 0");
    size_t held = weft_arena_held(mem);
    weft_bleu_add(&bleu, "a b c d e f", "a b c d x y z w", mem);
    /* 4/6, 3/5, 2/4, 1/3: their product is 1/15. */
    is_near(weft_bleu_score(&bleu), 100 * exp(1 - 8.0 / 6) * pow(1.0 / 15, 0.25), 1e-12,
            "BLEU is the mean of precisions times the penalty");
    weft_chrf_add(&chrf, "ab", "abc", mem);
    /* n = 1: 2 of 2, 2 of 3; n = 2: 1 of 1, 1 of 2. */
    double p = 1, r = (2.0 / 3 + 1.0 / 2) / 2;
    is_near(weft_chrf_score(&chrf), 100 * 5 * p * r / (4 * p + r), 1e-12,
            "chrF weighs recall twice");
    ok(weft_arena_held(mem) == held, "scratch memory is given back");
}

int main(int argc, char **argv)
{
    ranks_begin(&argc, &argv);
    test_gold();
    ok(strcmp(weft_tokens_13a("9.5, 5.9 9-1 9.", mem), "9.5 , 5.9 9 - 1 9 .") == 0,
       "stops within numbers stay, dashes behind them do not");
    ok(strcmp(weft_tokens_13a("&amp;quot;b", mem), "& quot ; b") == 0,
       "what an ampersand is written by is replaced after quotation marks");
    return TESTS(test_counts, test_ranks, test_closed);
}
