/* Configurations that stand in the input itself: "rff.gamma=1 rff.kernel=laplacian,
 * rff.gamma=10", in the form of weft_space_show, as a list in the form of a file. */
#include "list.h"

#include <string.h>

enum { MOST = 64 }; /* options that they name */

struct names {
    int n;
    const char *name[MOST];
};

/* The next word before a comma or the end, [*n] characters; 0: there is none. */
static int next_word(const char **at, const char **word, size_t *n)
{
    *at += strspn(*at, " \t");
    *n = strcspn(*at, " \t,");
    *word = *at;
    *at += *n;
    return *n > 0;
}

static int place_of(const struct names *names, const char *word, size_t n)
{
    int i = 0;
    while (i < names->n &&
           (strlen(names->name[i]) != n || strncmp(names->name[i], word, n) != 0))
        i++;
    return i;
}

/* Collects the options that are named. */
static weft_status find_names(const char *text, struct names *names, weft_arena *mem)
{
    const char *word;
    size_t n;
    for (const char *at = text; *at; at += *at == ',')
        while (next_word(&at, &word, &n)) {
            const char *end = memchr(word, '=', n);
            size_t length = end ? (size_t)(end - word) : 0;
            if (length == 0 || length + 1 == n)
                return weft_fail(WEFT_ECONF,
                                 "[space]: '%.*s' where section.key=value is expected: "
                                 "configurations are separated by commas",
                                 (int)n, word);
            if (place_of(names, word, length) < names->n) continue;
            if (names->n == MOST)
                return weft_fail(WEFT_ECONF,
                                 "[space]: the configurations name more than %d options; "
                                 "write them to a file, separated by TAB",
                                 MOST);
            names->name[names->n++] = weft_arena_text(mem, "%.*s", (int)length, word);
        }
    return WEFT_OK;
}

weft_status weft_space_inline(const char *text, char **list, weft_arena *mem)
{
    struct names names = {0};
    TRY(find_names(text, &names, mem));
    *list = weft_arena_text(mem, "%s", "");
    for (int i = 0; i < names.n; i++)
        *list = weft_arena_text(mem, "%s%s%s", *list, i ? "\t" : "", names.name[i]);
    for (const char *at = text; *at; at += *at == ',') {
        const char *value[MOST] = {0}, *word;
        size_t n;
        while (next_word(&at, &word, &n)) {
            size_t length = strcspn(word, "=");
            int i = place_of(&names, word, length);
            if (value[i])
                return weft_fail(WEFT_ECONF, "[space]: a configuration has %s twice; %s",
                                 names.name[i], "separate configurations by commas");
            value[i] =
                weft_arena_text(mem, "%.*s", (int)(n - length - 1), word + length + 1);
        }
        for (int i = 0; i < names.n; i++)
            *list = weft_arena_text(mem, "%s%s%s", *list, i ? "\t" : "\n",
                                    value[i] ? value[i] : "-");
    }
    *list = weft_arena_text(mem, "%s\n", *list);
    return WEFT_OK;
}
