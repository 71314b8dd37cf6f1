/* Units of texts: runs of letters or of signs, with the blank behind them; their counts. */
#include "char.h"
#include "weft/bpe.h"

#include <string.h>
#include <utf8proc.h>

enum { BYTES = 4 }; /* of a character at most */

enum { LETTER, SIGN, SPACE };

/* The kind of the character that starts at p; its bytes in *n. */
static int kind_of(const uint8_t *p, size_t *n)
{
    unsigned classes = char_class(p, n);
    if ((classes & CHAR_SPACE) || *p == '\0') return SPACE;
    if (!(classes & CHAR_PUNCT)) return LETTER;
    utf8proc_category_t category = utf8proc_category(weft_char_code(p, n));
    return category >= UTF8PROC_CATEGORY_PC && category <= UTF8PROC_CATEGORY_SO ? SIGN
                                                                                : LETTER;
}

void weft_units(const char *text, size_t n, weft_token_fn fn, void *ctx)
{
    char unit[BYTES * WEFT_UNIT + 2];
    const uint8_t *at = (const uint8_t *)text, *end = at + n;
    size_t bytes = 0, step;
    int characters = 0, last = SPACE;
    for (; at < end; at += step) {
        int kind = kind_of(at, &step);
        if (characters > 0 && (kind != last || characters == WEFT_UNIT)) {
            if (kind == SPACE) unit[bytes++] = ' ';
            unit[bytes] = '\0';
            fn(ctx, unit, bytes);
            bytes = 0;
            characters = 0;
        }
        last = kind;
        if (kind == SPACE) continue;
        memcpy(unit + bytes, at, step);
        bytes += step;
        characters++;
    }
    if (characters == 0) return;
    unit[bytes++] = ' ';
    unit[bytes] = '\0';
    fn(ctx, unit, bytes);
}

void weft_unit_add(weft_unit_counts *counts, const char *unit, int64_t times)
{
    weft_arena *mem = counts->units.mem;
    int64_t i = weft_names_find(&counts->units, unit);
    counts->count = weft_grow(mem, counts->count, sizeof *counts->count, i, &counts->room);
    counts->count[i] += times;
}

static void add_one(void *ctx, const char *unit, size_t n)
{
    (void)n;
    weft_unit_add(ctx, unit, 1);
}

void weft_units_add(weft_unit_counts *counts, const char *text, size_t n)
{
    weft_units(text, n, add_one, counts);
}
