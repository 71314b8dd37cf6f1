/* The tokenizer of mteval-v13a, as sacrebleu has it: some texts are replaced, then four
 * rules put blanks around punctuation, each in one pass from left to right. Characters
 * outside ASCII are letters to it, so that bytes serve for characters. */
#include "char.h"
#include "weft/bleu.h"

#include <string.h>

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

static struct bytes apply(int rule, struct bytes text, weft_arena *mem)
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
    for (int rule = 0; rule < RULES; rule++) bytes = apply(rule, bytes, mem);
    squeeze(&bytes);
    return bytes.at;
}
