/* The numbers that a program prints, as words "name=number", and its last line. What is
 * printed is read byte by byte, so that lines may have any length: words end at blanks,
 * commas, semicolons and the ends of lines, of which \r is one, as progress bars print it.
 * Colours and movements of the cursor (ECMA-48, escape sequences) are left out. A comma
 * before a digit belongs to the number, which is none then: what follows the comma may be a
 * fraction or thousands. */
#include "command.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BLANKS  " \t\r\n\v\f;"
#define OPENERS "([{<\"'|" /* may precede a name */
#define CLOSERS ")]}>\"'|" /* may follow a number */

enum { ESCAPE = 27, BELL = 7, DELETE = 127 };

static int is_among(char c, const char *set)
{
    return c != '\0' && strchr(set, c) != NULL;
}

weft_printed *weft_printed_new(int nwanted, const char *const *wanted, weft_arena *mem)
{
    weft_printed *printed = WEFT_NEW(mem, weft_printed, 1);
    for (int s = 0; s < WEFT_STREAMS; s++) {
        weft_stream *to = &printed->stream[s];
        to->names.mem = mem;
        for (int i = 0; i < nwanted; i++) weft_names_find(&to->names, wanted[i]);
        to->nwanted = to->names.n;
        to->most = to->nwanted + (s == 0 ? WEFT_MAX_NUMBERS : 0);
        to->number = WEFT_NEW(mem, weft_number, to->most);
    }
    return printed;
}

/* ---- one line of text ---- */

/* Copies at most room - 1 bytes of text[n], cut before a character of UTF-8 that does not
 * fit; control characters become blanks. */
static void copy_line(char *to, size_t room, const char *text, size_t n)
{
    size_t all = n < room ? n : room - 1;
    while (all < n && all > 0 && ((unsigned char)text[all] & 0xc0) == 0x80) all--;
    for (size_t i = 0; i < all; i++) {
        unsigned char c = (unsigned char)text[i];
        to[i] = c < ' ' || c == DELETE ? ' ' : text[i];
    }
    to[all] = '\0';
}

static void end_line(weft_stream *stream)
{
    if (strspn(stream->line, BLANKS ",") < stream->nline)
        copy_line(stream->last, sizeof stream->last, stream->line, stream->nline);
    stream->nline = 0;
}

static void add_to_line(weft_stream *stream, char c)
{
    if (c == '\n' || c == '\r')
        end_line(stream);
    else if (stream->nline < sizeof stream->line - 1)
        stream->line[stream->nline++] = c;
    stream->line[stream->nline] = '\0';
}

/* ---- numbers ---- */

/* 1 if the text is a number as a whole, maybe with a D before its exponent, as Fortran
 * prints it. Changes the text. */
static int read_number(char *text, double *value)
{
    char *end, *exponent = strpbrk(text, "dD");
    if (exponent && strspn(text, WEFT_NAME_DIGITS "+-.") == (size_t)(exponent - text))
        *exponent = 'e';
    *value = strtod(text, &end);
    return end > text && *end == '\0';
}

/* What text[n] is; its value, NaN unless it is a number. Changes the text. */
static weft_said meaning(char *text, size_t n, double *value)
{
    int digit = n > 0 && strcspn(text, WEFT_NAME_DIGITS) == strspn(text, "+-.,");
    int whole = strlen(text) == n && read_number(text, value);
    for (; !whole && n > 0 && is_among(text[n - 1], CLOSERS); n--) {
        text[n - 1] = '\0';
        whole = strlen(text) == n - 1 && read_number(text, value);
    }
    if (whole && !(isinf(*value) && digit)) return WEFT_SAID_NUMBER;
    *value = (double)NAN;
    return whole ? WEFT_SAID_HUGE : digit ? WEFT_SAID_BROKEN : WEFT_SAID_TEXT;
}

/* Takes the word "name=text". Of a name that nobody wants only numbers are kept. */
static void end_number(weft_printed *printed, weft_stream *stream)
{
    weft_number found = {.said = WEFT_SAID_LONG, .value = (double)NAN};
    copy_line(found.text, sizeof found.text, stream->word, stream->n);
    stream->word[stream->n] = '\0';
    stream->word[stream->value - 1] = '\0'; /* the = */
    if (!stream->cut)
        found.said =
            meaning(stream->word + stream->value, stream->n - stream->value, &found.value);
    int64_t i = weft_names_index(&stream->names, stream->word);
    if ((i < 0 || i >= stream->nwanted) && found.said != WEFT_SAID_NUMBER) return;
    if (i < 0 && stream->names.n == stream->most)
        printed->left_out |= stream == printed->stream;
    if (i < 0 && stream->names.n == stream->most) return;
    stream->number[i < 0 ? weft_names_find(&stream->names, stream->word) : i] = found;
}

/* ---- words ---- */

enum { GAP, NAME, VALUE, OTHER }; /* where the last byte was; OTHER: in another word */

static void push(weft_stream *stream, char c)
{
    stream->cut = stream->n == sizeof stream->word - 1;
    if (!stream->cut) stream->word[stream->n++] = c;
}

/* A byte between words. */
static int begin_word(weft_stream *stream, char c)
{
    stream->n = 0;
    stream->cut = 0;
    if (is_among(c, BLANKS OPENERS ",\b")) return GAP;
    if (!is_among(c, WEFT_NAME_LETTERS)) return OTHER;
    push(stream, c);
    return NAME;
}

static int go_on_name(weft_stream *stream, char c)
{
    if (is_among(c, BLANKS ",\b")) return GAP;
    if (!is_among(c, WEFT_NAME_LETTERS WEFT_NAME_INNER "=") ||
        stream->n == sizeof stream->word - 1)
        return OTHER;
    push(stream, c);
    stream->value = stream->n;
    return c == '=' ? VALUE : NAME;
}

static int go_on_value(weft_printed *printed, weft_stream *stream, char c)
{
    int comma = stream->n > stream->value && stream->word[stream->n - 1] == ',';
    if (c == '\b' && stream->n > stream->value) {
        stream->n -= !stream->cut;
        return VALUE;
    }
    if (!is_among(c, BLANKS "\b") && (!comma || is_among(c, WEFT_NAME_DIGITS))) {
        push(stream, c);
        return VALUE;
    }
    if (comma) stream->n--;
    if (c != '\b') end_number(printed, stream);
    return begin_word(stream, c);
}

static void add_to_word(weft_printed *printed, weft_stream *stream, char c)
{
    if (stream->at == GAP)
        stream->at = begin_word(stream, c);
    else if (stream->at == NAME)
        stream->at = go_on_name(stream, c);
    else if (stream->at == VALUE)
        stream->at = go_on_value(printed, stream, c);
    else if (is_among(c, BLANKS ",\b"))
        stream->at = GAP;
}

/* ---- escape sequences ---- */

enum { NONE, BEGUN, CONTROL, TEXT, SHORT }; /* kind of the sequence that a byte is in */

/* Takes a byte of a sequence, after which only a movement of the cursor ends a word. */
static void go_on_escape(weft_printed *printed, weft_stream *stream, char c)
{
    int ends = c >= (stream->escape == CONTROL ? '@' : '0') && c < DELETE;
    if (stream->escape == BEGUN) {
        stream->escape = c == '['               ? CONTROL
                         : is_among(c, "]PX^_") ? TEXT
                         : ends                 ? NONE
                                                : SHORT;
    } else if (stream->escape == TEXT) {
        if (c == BELL || c == ESCAPE) stream->escape = c == BELL ? NONE : BEGUN;
    } else if (ends) {
        if (stream->escape == CONTROL && c != 'm') add_to_word(printed, stream, ' ');
        stream->escape = NONE;
    }
}

/* ---- public ---- */

void weft_printed_add(weft_printed *printed, int stream, const char *bytes, size_t n)
{
    weft_stream *one = &printed->stream[stream];
    for (size_t i = 0; i < n; i++) {
        char c = bytes[i];
        if (c == '\n' || c == '\r') one->escape = NONE;
        if (one->escape != NONE) {
            go_on_escape(printed, one, c);
        } else if (c == ESCAPE) {
            one->escape = BEGUN;
        } else {
            add_to_line(one, c);
            add_to_word(printed, one, c);
        }
    }
}

void weft_printed_end(weft_printed *printed)
{
    for (int s = 0; s < WEFT_STREAMS; s++) weft_printed_add(printed, s, "\n", 1);
}

const weft_number *weft_printed_find(const weft_printed *printed, int stream,
                                     const char *name)
{
    const weft_stream *one = &printed->stream[stream];
    int64_t i = weft_names_index(&one->names, name);
    return i >= 0 && one->number[i].said != WEFT_SAID_NOTHING ? &one->number[i] : NULL;
}

const char *weft_printed_last(const weft_printed *printed)
{
    return *printed->stream[1].last ? printed->stream[1].last : printed->stream[0].last;
}
