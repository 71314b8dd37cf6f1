/* BLEU and chrF: tokens of texts, the n-grams that two texts have in common, and the scores
 * of their counts. */
#include "char.h"
#include "weft/base/conf.h"
#include "weft/text/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- n-grams ---- */

/* Words or characters as numbers. */
struct symbols {
    int64_t n;
    const int32_t *at; /* [n] */
};

/* N-grams of a sequence. */
static int64_t count_ngrams(struct symbols symbols, int order)
{
    return symbols.n < order ? 0 : symbols.n - order + 1;
}

/* A place of a sequence. The places of both are sorted by what follows them, once, which
 * sorts the n-grams of all orders, and are then merged order by order. */
struct gram {
    const int32_t *at; /* [n] the symbols from there on, up to the highest order */
    int n;
};

/* By the first `order` symbols, the shorter one first. */
static int compare(const struct gram *x, const struct gram *y, int order)
{
    for (int i = 0; i < order && i < x->n && i < y->n; i++)
        if (x->at[i] != y->at[i]) return x->at[i] < y->at[i] ? -1 : 1;
    return x->n >= order && y->n >= order ? 0 : x->n - y->n;
}

static int by_symbols(const void *a, const void *b)
{
    const struct gram *x = a, *y = b;
    return compare(x, y, x->n > y->n ? x->n : y->n);
}

static struct gram *sort_grams(struct symbols symbols, int orders, weft_arena *tmp)
{
    struct gram *gram = WEFT_NEW(tmp, struct gram, symbols.n);
    for (int64_t i = 0; i < symbols.n; i++)
        gram[i] = (struct gram){symbols.at + i,
                                symbols.n - i < orders ? (int)(symbols.n - i) : orders};
    if (symbols.n > 0) qsort(gram, (size_t)symbols.n, sizeof *gram, by_symbols);
    return gram;
}

/* The n-grams of one order; places that have none are passed over. */
static int64_t count_common(const struct gram *x, int64_t n, const struct gram *y,
                            int64_t m, int order)
{
    int64_t i = 0, j = 0, common = 0;
    while (i < n && j < m) {
        int way = x[i].n < order ? -1 : y[j].n < order ? 1 : compare(&x[i], &y[j], order);
        common += way == 0;
        i += way <= 0;
        j += way >= 0;
    }
    return common;
}

/* Adds to common[orders] the n-grams of each order from 1 on that a and b have in common,
 * one that both have several times as often as the one that has it less. Cost O(n log n).
 */
static void add_common(struct symbols a, struct symbols b, int orders, int64_t *common,
                       weft_arena *tmp)
{
    WEFT_REWIND(tmp);
    const struct gram *x = sort_grams(a, orders, tmp), *y = sort_grams(b, orders, tmp);
    for (int order = 1; order <= orders; order++)
        common[order - 1] += count_common(x, a.n, y, b.n, order);
}

/* ---- tokens ---- */

/* The tokenizer of mteval-v13a, as sacrebleu has it: some texts are replaced, then four
 * rules put blanks around punctuation, each in one pass from left to right. Characters
 * outside ASCII are letters to it, so that bytes serve for characters. */

/* Bytes [0, n) of at, with a NUL behind them. */
struct bytes {
    char *at;
    size_t n;
};

/* Every `what` replaced by `by`, which is not longer. */
static void replace(struct bytes *text, const char *what, const char *by)
{
    size_t length = strlen(what), to = 0;
    for (size_t i = 0; i < text->n;) {
        if (strncmp(text->at + i, what, length) != 0) {
            text->at[to++] = text->at[i++];
            continue;
        }
        memcpy(text->at + to, by, strlen(by));
        to += strlen(by);
        i += length;
    }
    text->n = to;
    text->at[to] = '\0';
}

static void replace_all(struct bytes *text)
{
    static const char *const rule[][2] = {{"<skipped>", ""}, {"-\n", ""},    {"\n", " "},
                                          {"&quot;", "\""},  {"&amp;", "&"}, {"&lt;", "<"},
                                          {"&gt;", ">"}};
    for (size_t i = 0; i < sizeof rule / sizeof *rule; i++)
        replace(text, rule[i][0], rule[i][1]);
}

/* Signs that are tokens wherever they stand. */
static int stands_alone(char c)
{
    return (c >= '{' && c <= '~') || (c >= '[' && c <= '`') || (c >= ' ' && c <= '&') ||
           (c >= '(' && c <= '+') || (c >= ':' && c <= '@') || c == '/';
}

static int is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static int is_stop(char c)
{
    return c == '.' || c == ',';
}

/* The rules: a sign alone; a stop behind no digit, before no digit; a dash behind one. */
enum { ALONE, BEHIND, BEFORE, DASH, RULES };

/* The bytes that a rule takes together: 0, 1 or 2. The last one of a text is a blank. */
static int taken(int rule, char a, char b)
{
    switch (rule) {
    case ALONE: return stands_alone(a);
    case BEHIND: return 2 * (!is_digit(a) && is_stop(b));
    case BEFORE: return 2 * (is_stop(a) && !is_digit(b));
    default: return 2 * (is_digit(a) && b == '-');
    }
}

static struct bytes apply_rule(int rule, struct bytes text, weft_arena *mem)
{
    enum { GROWTH = 3 };
    struct bytes made = {WEFT_NEW(mem, char, GROWTH *text.n + 1), 0};
    for (size_t i = 0; i < text.n;) {
        int n = taken(rule, text.at[i], text.at[i + 1]);
        if (n > 0 && (rule == ALONE || rule == BEFORE)) made.at[made.n++] = ' ';
        made.at[made.n++] = text.at[i++];
        if (n > 0) made.at[made.n++] = ' ';
        if (n < 2) continue;
        made.at[made.n++] = text.at[i++];
        if (rule != BEFORE) made.at[made.n++] = ' ';
    }
    return made;
}

/* White space at the ends left out, single blanks between words. */
static void squeeze(struct bytes *text)
{
    const uint8_t *from = (const uint8_t *)text->at;
    size_t to = 0, step;
    for (size_t i = 0; i < text->n; i += step) {
        if (char_class(from + i, &step) & CHAR_SPACE) {
            if (to > 0 && text->at[to - 1] != ' ') text->at[to++] = ' ';
        } else {
            memmove(text->at + to, from + i, step);
            to += step;
        }
    }
    text->n = to > 0 && text->at[to - 1] == ' ' ? to - 1 : to;
    text->at[text->n] = '\0';
}

/* The bytes of a text up to white space at its end. */
static size_t ending(const char *text)
{
    size_t n = 0, step;
    for (size_t i = 0; text[i] != '\0'; i += step)
        if (!(char_class((const uint8_t *)text + i, &step) & CHAR_SPACE)) n = i + step;
    return n;
}

const char *weft_tokens_13a(const char *text, weft_arena *mem)
{
    struct bytes bytes = {NULL, ending(text)};
    bytes.at = weft_arena_text(mem, "%.*s", (int)bytes.n, text);
    replace_all(&bytes);
    bytes.at = weft_arena_text(mem, " %s ", bytes.at);
    bytes.n += 2;
    for (int rule = 0; rule < RULES; rule++) bytes = apply_rule(rule, bytes, mem);
    squeeze(&bytes);
    return bytes.at;
}

/* ---- BLEU ---- */

/* The 13a tokens of a text, numbered by their names. */
static struct symbols number_words(const char *text, weft_names *names, weft_arena *tmp)
{
    char *rest, *words = weft_arena_text(tmp, "%s", weft_tokens_13a(text, tmp));
    int32_t *number = WEFT_NEW(tmp, int32_t, strlen(words) / 2 + 1);
    int64_t n = 0;
    for (char *word = strtok_r(words, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
        number[n++] = (int32_t)weft_names_find(names, word);
    return (struct symbols){n, number};
}

void weft_bleu_add(weft_bleu *bleu, const char *translation, const char *reference,
                   weft_arena *tmp)
{
    WEFT_REWIND(tmp);
    weft_names names = {.mem = tmp};
    struct symbols made = number_words(translation, &names, tmp),
                   wanted = number_words(reference, &names, tmp);
    add_common(made, wanted, WEFT_BLEU_ORDER, bleu->match, tmp);
    for (int i = 0; i < WEFT_BLEU_ORDER; i++) bleu->total[i] += count_ngrams(made, i + 1);
    bleu->length += made.n;
    bleu->reference += wanted.n;
}

double weft_bleu_score(const weft_bleu *bleu)
{
    double sum = 0, smooth = 1, penalty = 1;
    int64_t matches = 0;
    for (int i = 0; i < WEFT_BLEU_ORDER; i++) matches += bleu->match[i];
    if (matches == 0 || bleu->total[WEFT_BLEU_ORDER - 1] == 0) return 0;
    for (int i = 0; i < WEFT_BLEU_ORDER; i++) {
        if (bleu->match[i] == 0) smooth *= 2;
        double share = bleu->match[i] > 0 ? (double)bleu->match[i] : 1 / smooth;
        sum += log(100 * share / (double)bleu->total[i]);
    }
    if (bleu->length < bleu->reference)
        penalty = exp(1 - (double)bleu->reference / (double)bleu->length);
    return penalty * exp(sum / WEFT_BLEU_ORDER);
}

/* ---- chrF ---- */

static struct symbols number_characters(const char *text, weft_arena *tmp)
{
    const uint8_t *from = (const uint8_t *)text;
    int32_t *code = WEFT_NEW(tmp, int32_t, strlen(text));
    int64_t n = 0;
    for (size_t step; *from != '\0'; from += step)
        if (!(char_class(from, &step) & CHAR_SPACE))
            code[n++] = weft_char_code(from, &step);
    return (struct symbols){n, code};
}

void weft_chrf_add(weft_chrf *chrf, const char *translation, const char *reference,
                   weft_arena *tmp)
{
    WEFT_REWIND(tmp);
    struct symbols made = number_characters(translation, tmp),
                   wanted = number_characters(reference, tmp);
    add_common(made, wanted, WEFT_CHRF_ORDER, chrf->match, tmp);
    for (int i = 0; i < WEFT_CHRF_ORDER; i++) {
        if (wanted.n > i) chrf->total[i] += count_ngrams(made, i + 1);
        chrf->reference[i] += count_ngrams(wanted, i + 1);
    }
}

double weft_chrf_score(const weft_chrf *chrf)
{
    const double factor = 4; /* beta^2 */
    double precision = 0, recall = 0;
    int orders = 0;
    for (int i = 0; i < WEFT_CHRF_ORDER; i++) {
        if (chrf->total[i] == 0 || chrf->reference[i] == 0) continue;
        precision += (double)chrf->match[i] / (double)chrf->total[i];
        recall += (double)chrf->match[i] / (double)chrf->reference[i];
        orders++;
    }
    if (!(precision + recall > 0)) return 0;
    return 100 * (1 + factor) * precision * recall / (factor * precision + recall) / orders;
}
