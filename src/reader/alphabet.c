/* Symbols of running text. LEAF's vocabulary for Shakespeare has 80 symbols (Caldas et al.,
 * "LEAF: A benchmark for federated settings", 2018). FedEx's has 101: pad, unknown, and
 * Python's string.printable without its last character, the form feed, for which its table
 * is one entry too short (Khodak et al., "Federated hyperparameter tuning", NeurIPS 2021).
 */
#include "alphabet.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define FEDEX_FIRST   2 /* 0 is pad, 1 unknown */
#define FEDEX_UNKNOWN 1

static const char *const symbols[] = {
    [WEFT_VOCAB_LEAF] = "\n !\"&'(),-.0123456789:;>?ABCDEFGHIJKLMNOPQRSTUVWXYZ[]"
                        "abcdefghijklmnopqrstuvwxyz}",
    [WEFT_VOCAB_FEDEX] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                         "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~ \t\n\r\v",
};

static int first_of(int vocabulary)
{
    return vocabulary == WEFT_VOCAB_FEDEX ? FEDEX_FIRST : 0;
}

weft_status weft_alphabet_setup(weft_alphabet *alphabet, int vocabulary,
                                const char *unknown)
{
    const char *all = symbols[vocabulary];
    int first = first_of(vocabulary), other = first > 0 ? FEDEX_UNKNOWN : -1;
    *alphabet = (weft_alphabet){.n = first + (int)strlen(all),
                                .name = first > 0 ? "fedex" : "leaf"};
    if (unknown != NULL && *unknown != '\0') {
        const char *at = strchr(all, *unknown);
        if (at == NULL || strlen(unknown) != 1)
            return weft_fail(WEFT_ECONF,
                             "unknown = %s is no symbol of the vocabulary %s; give one of "
                             "its %d symbols",
                             unknown, alphabet->name, alphabet->n);
        other = first + (int)(at - all);
    }
    for (int c = 0; c < 256; c++) alphabet->symbol[c] = (int16_t)other;
    for (int i = 0; all[i] != '\0'; i++)
        alphabet->symbol[(unsigned char)all[i]] = (int16_t)(first + i);
    return WEFT_OK;
}

int64_t weft_alphabet_map(const weft_alphabet *alphabet, const char *text, size_t n,
                          uint8_t *out, size_t *bad)
{
    int64_t count = 0;
    for (*bad = 0; *bad < n; (*bad)++) {
        unsigned char c = (unsigned char)text[*bad];
        if ((c & 0xc0) == 0x80) continue; /* a later byte of a character */
        if (alphabet->symbol[c] < 0) break;
        out[count++] = (uint8_t)alphabet->symbol[c];
    }
    return count;
}

weft_status weft_alphabet_fail(const weft_alphabet *alphabet, const char *where,
                               const char *text)
{
    char shown[8] = "";
    unsigned char c = (unsigned char)*text;
    if (c >= 0x80) {
        size_t n = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : 2;
        snprintf(shown, sizeof shown, "%.*s", (int)n, text);
    } else {
        snprintf(shown, sizeof shown, isprint(c) ? "%c" : "\\x%02x", c);
    }
    return weft_fail(WEFT_EDATA,
                     "%s has the character '%s', which is none of the %d symbols of "
                     "vocabulary = %s; mend it, or give unknown = SYMBOL to stand for such",
                     where, shown, alphabet->n, alphabet->name);
}

void weft_alphabet_classes(int vocabulary, weft_pack *pack)
{
    static const char *const control[] = {
        ['\t'] = "\\t", ['\n'] = "\\n", ['\v'] = "\\v", ['\r'] = "\\r"};
    static const char *const special[FEDEX_FIRST] = {"pad", "unknown"};
    char text[256][2] = {{0}};
    const char *name[256], *all = symbols[vocabulary];
    int n = 0;
    while (n < first_of(vocabulary)) {
        name[n] = special[n];
        n++;
    }
    for (; *all != '\0'; all++, n++) {
        unsigned char c = (unsigned char)*all;
        text[c][0] = *all;
        name[n] = c < ' ' ? control[c] : text[c];
    }
    weft_pack_classes(pack, n, name);
}
