/* What is left out of documents. Of articles of newsgroups what identifies the author
 * rather than the subject: headers, signatures, quotations, found by the rules of
 * scikit-learn's fetch_20newsgroups(remove=). Of tokens those of the English stop list of
 * NLTK (stopwords corpus), 179 words, and each word capitalised and without its apostrophe.
 */
#include "char.h"
#include "weft/text/text.h"

#include <string.h>

static const char *const names[] = {"headers", "footers", "quotes"};

weft_status weft_news_flags(const char *list, int *flags, weft_arena *mem)
{
    char *rest, *words = weft_arena_text(mem, "%s", list);
    *flags = 0;
    for (char *w = strtok_r(words, ", ", &rest); w != NULL;
         w = strtok_r(NULL, ", ", &rest)) {
        int i = 0;
        while (i < 3 && strcmp(w, names[i]) != 0) i++;
        if (i == 3)
            return weft_fail(WEFT_ECONF,
                             "remove = %s: '%s' cannot be removed; did you mean '%s'? it "
                             "is a list of headers, footers, quotes",
                             list, w, weft_nearest(w, names, 3));
        *flags |= 1 << i;
    }
    return WEFT_OK;
}

/* ---- lines ---- */

/* Moves *from and *end inwards past whitespace, Python's str.strip(). */
static void trim(char **from, char **end)
{
    size_t step;
    while (*from < *end && char_class((uint8_t *)*from, &step) & CHAR_SPACE) *from += step;
    while (*end > *from) {
        char *last = *end - 1;
        while (last > *from && ((unsigned char)*last & 0xc0) == 0x80) last--;
        if (!(char_class((uint8_t *)last, &step) & CHAR_SPACE)) return;
        *end = last;
    }
}

/* 1 if the line is blank or has only hyphens. */
static int is_rule(char *from, char *end)
{
    trim(&from, &end);
    while (from < end && *from == '-') from++;
    return from == end;
}

static int has(const char *line, size_t n, const char *words)
{
    size_t length = strlen(words);
    for (size_t i = 0; i + length <= n; i++)
        if (memcmp(line + i, words, length) == 0) return 1;
    return 0;
}

static int is_quote(const char *line, size_t n)
{
    static const char *const first[] = {"In article", "Quoted from", "|", ">"};
    static const char *const within[] = {"writes in",
                                         "writes:", "wrote:", "says:", "said:"};
    for (int i = 0; i < 4; i++)
        if (has(line, n < strlen(first[i]) ? n : strlen(first[i]), first[i])) return 1;
    if (memchr(line, ':', n) == NULL && !has(line, n, within[0])) return 0;
    for (int i = 0; i < 5; i++)
        if (has(line, n, within[i])) return 1;
    return 0;
}

/* ---- removal ---- */

/* Removes all up to the first blank line; all text if there is none. */
static void strip_headers(char **text, size_t *n)
{
    char *end = *text + *n;
    for (char *at = *text; (at = memchr(at, '\n', (size_t)(end - at))) != NULL; at++) {
        char *next = at + 1 + (at + 2 < end && at[1] == '\r');
        if (next < end && *next == '\n') {
            *text = next + 1;
            *n = (size_t)(end - *text);
            return;
        }
    }
    *text = end;
    *n = 0;
}

/* Removes the last part, if blank lines or lines of hyphens divide the text. */
static void strip_footer(char **text, size_t *n)
{
    char *from = *text, *end = *text + *n;
    trim(&from, &end);
    for (char *stop = end; stop > from;) {
        char *line = stop;
        while (line > from && line[-1] != '\n') line--;
        if (line == from) return;
        if (is_rule(line, stop)) {
            *text = from;
            *n = (size_t)(line - 1 - from);
            return;
        }
        stop = line - 1;
    }
}

static void strip_quotes(char *text, size_t *n)
{
    char *to = text, *end = text + *n;
    for (char *line = text; line <= end;) {
        char *stop = memchr(line, '\n', (size_t)(end - line));
        if (stop == NULL) stop = end;
        size_t length = (size_t)(stop - line);
        if (!is_quote(line, length)) {
            memmove(to, line, length);
            to += length;
            *to++ = '\n';
        }
        line = stop + 1;
    }
    *n = to > text ? (size_t)(to - 1 - text) : 0; /* without the last line's end */
}

void weft_news_strip(int flags, char **text, size_t *n)
{
    if (flags & WEFT_NEWS_HEADERS) strip_headers(text, n);
    if (flags & WEFT_NEWS_FOOTERS) strip_footer(text, n);
    if (flags & WEFT_NEWS_QUOTES) strip_quotes(*text, n);
}

/* ---- stop words ---- */

/* The words that are not capitalised, between blanks. */
static const char list[] =
    " "
    "a about above after again against ain all am an and any are aren aren't arent as "
    "at be because been before being below between both but by can couldn couldn't "
    "couldnt d did didn didn't didnt do does doesn doesn't doesnt doing don don't dont "
    "down during each few for from further had hadn hadn't hadnt has hasn hasn't hasnt "
    "have haven haven't havent having he her here hers herself him himself his how i if "
    "in into is isn isn't isnt it it's its itself just ll m ma me mightn mightn't "
    "mightnt more most mustn mustn't mustnt my myself needn needn't neednt no nor not "
    "now o of off on once only or other our ours ourselves out over own re s same shan "
    "shan't shant she she's shes should should've shouldn shouldn't shouldnt shouldve "
    "so some such t than that that'll thatll the their theirs them themselves then "
    "there these they this those through to too under until up ve very was wasn wasn't "
    "wasnt we were weren weren't werent what when where which while who whom why will "
    "with won won't wont wouldn wouldn't wouldnt y you you'd you'll you're you've youd "
    "youll your youre yours yourself yourselves youve ";

enum { LONGEST = 10 }; /* bytes of a listed word */

int weft_is_stop(const char *token, size_t n)
{
    char word[LONGEST + 3] = " ";
    if (n == 0 || n > LONGEST || memchr(token, 0, n) || memchr(token, ' ', n)) return 0;
    memcpy(word + 1, token, n);
    if ('A' <= word[1] && word[1] <= 'Z') word[1] = (char)(word[1] - 'A' + 'a');
    word[n + 1] = ' ';
    return strstr(list, word) != NULL;
}
