/* Reader of Shakespeare's plays: roles, lines and samples by LEAF's rules, on a small text
 * and on the real one; no sample is in two parts; the one-line error for other texts.
 * RUN: np=1 */
#include "packing.h"

/* ---- a small text ---- */

#define HEAD                                                                               \
    "Contents\n"                                                                           \
    "\n"                                                                                   \
    "  NOBODY. Not in a play\n"                                                            \
    "1609\nTHE SONNETS\n\n"                                                                \
    "by William Shakespeare\n"                                                             \
    "    From fairest creatures we desire increase\n"                                      \
    "  LOST. before the second play\n"                                                     \
    "1602\n\nA PLAY, IT'S MINE\n\n\n"                                                      \
    "by William Shakespeare\n\n"

#define PLAY                                                                               \
    "  Sir Toby. One two\n"                                                                \
    "    three  four\n"                                                                    \
    "      five\n"                                                                         \
    "\n"                                                                                   \
    "  SIR TOBY. six.\n"                                                                   \
    "  MARIA.no speech\n"                                                                  \
    "    seven\n"                                                                          \
    "  MARIA. A,\n"                                                                        \
    "   three blanks\n"                                                                    \
    "    B!\n"                                                                             \
    "  OLIVIA. gone\n"                                                                     \
    "    [Exit]\n"                                                                         \
    "    now\n"                                                                            \
    "  MARIA. C?  \n"

#define ODD                                                                                \
    "1593\n\nTHE COMEDY OF ERRORS\n\n"                                                     \
    "by William Shakespeare\n\n"                                                           \
    "AEGEON. Proceed, Solinus\n"                                                           \
    "\n"                                                                                   \
    "and by the doom\n"                                                                    \
    "ACT I. not said\n"                                                                    \
    "nor this\n"                                                                           \
    "DUKE. Merchant\n"                                                                     \
    "of Syracuse\n"                                                                        \
    "<<THIS IS NOT SAID>>\n"                                                               \
    "nor this\n"                                                                           \
    "DUKE. plead no more\n"                                                                \
    "<<NOR THIS>>\n"

#define ALONE                                                                              \
    "1600\nALONE\n\nby William Shakespeare\n"                                              \
    "  HERMIT. one\n    two\n    three\n    four\n"

#define TAIL "*** END OF THIS PROJECT GUTENBERG EBOOK ***\n"

/* Packs and opens the small text. */
static int small(const char *options)
{
    return packed(&weft_reader_shakespeare, write_text("s.txt", HEAD PLAY ODD ALONE TAIL),
                  options);
}

/* The characters of a client's windows of a part. */
static const char *characters(int64_t c, weft_part part)
{
    weft_samples samples;
    if (weft_client_read(data.clients, c, part, &samples, mem) != WEFT_OK || samples.n == 0)
        return "";
    int64_t n = (samples.n - 1) * data.clients->stride + data.clients->d + 1;
    char *text = WEFT_NEW(mem, char, n + 1);
    for (int64_t i = 0; i < n; i++) text[i] = data.class_name[samples.text[i]][0];
    return text;
}

static int client_is(int64_t c, const char *name, const char *text)
{
    const char *found = "";
    int good = weft_client_name(data.clients, c, &found, mem) == WEFT_OK;
    good = good && strcmp(found, name) == 0 && strcmp(characters(c, WEFT_TRAIN), text) == 0;
    if (!good)
        fprintf(stderr, "# client %d: '%s' says '%s'\n", (int)c, found,
                characters(c, WEFT_TRAIN));
    return good;
}

static int counts_are(int64_t c, int64_t train, int64_t valid, int64_t test)
{
    const weft_clients *clients = data.clients;
    int good = weft_client_count(clients, c, WEFT_TRAIN) == train &&
               weft_client_count(clients, c, WEFT_VALID) == valid &&
               weft_client_count(clients, c, WEFT_TEST) == test;
    if (!good)
        fprintf(stderr, "# client %d: %d %d %d\n", (int)c,
                (int)weft_client_count(clients, c, WEFT_TRAIN),
                (int)weft_client_count(clients, c, WEFT_VALID),
                (int)weft_client_count(clients, c, WEFT_TEST));
    return good;
}

static void test_rules(void)
{
    if (!ok(small("length=5 valid=0 test=0"), "a small text is packed and opened")) return;
    ok(data.clients->n == 5,
       "roles of three lines or more, in plays of two roles or more, are clients");
    ok(data.classes == 80 && data.form == WEFT_CHARS && data.clients->d == 5,
       "characters are of 80 symbols, in windows of the length that is given");
    ok(client_is(0, "A_PLAY__IT_S_MINE_SIR_TOBY", "One two three four five six. seven "),
       "speeches of a role are joined, whatever the case of its name, with single blanks");
    ok(client_is(1, "A_PLAY__IT_S_MINE_MARIA", "A, B! C? ") &&
           client_is(2, "A_PLAY__IT_S_MINE_OLIVIA", "gone [Exit] now "),
       "what is not indented as a speech is nobody's");
    ok(client_is(3, "THE_COMEDY_OF_ERRORS_AEGEON", "Proceed, Solinus and by the doom ") &&
           client_is(4, "THE_COMEDY_OF_ERRORS_DUKE", "Merchant of Syracuse plead no more "),
       "the play without indents is read by its own rules");
    ok(counts_are(0, 35 - 5, 0, 0) && counts_are(1, 9 - 5, 0, 0) &&
           data.part[WEFT_TRAIN].total == 30 + 4 + 11 + 28 + 30,
       "a text of n characters has n - 5 windows of 5 and the one that follows");
}

static void test_options(void)
{
    int good = small("length=5 stride=4 valid=0 test=0");
    ok(good && counts_are(0, 8, 0, 0) && counts_are(1, 1, 0, 0),
       "a stride leaves windows out");
    ok(good && client_is(1, "A_PLAY__IT_S_MINE_MARIA", "A, B! "),
       "with the characters after the last");
    good = small("length=5 most=11 least=5 valid=0 test=0");
    ok(good && data.clients->n == 4, "clients of few samples are left out");
    ok(good && counts_are(0, 11, 0, 0) &&
           client_is(0, "A_PLAY__IT_S_MINE_SIR_TOBY", "One two three fo"),
       "of others the first samples are kept");
    good = small("length=5 valid=0.2 test=0.2");
    ok(good && data.clients->gap == 4 && counts_are(0, 14, 4, 4) && counts_are(1, 1, 1, 1),
       "parts share what two gaps leave");
    ok(good && data.clients->n == 4, "a client with an empty part is left out");
    ok(strcmp(characters(0, WEFT_VALID), " five six") == 0 &&
           strcmp(characters(0, WEFT_TEST), "x. seven ") == 0,
       "and begin after the gaps");
    good = small("length=5 rule=leaf test=0.25");
    ok(good && data.clients->n == 3 && data.part[WEFT_VALID].total == 0,
       "by LEAF's rule there is no validation");
    ok(good && counts_are(0, 22, 0, 4) && counts_are(1, 21, 0, 3),
       "the test loses the gap");
}

/* ---- parts that do not leak ---- */

/* The windows of a part of a client, in places of the text. Marks what they cover; returns
 * how many of their targets are marked `bad`. */
static int64_t cover(int64_t c, weft_part part, const uint8_t *origin, uint8_t *mark,
                     int bad, int own)
{
    const weft_clients *clients = data.clients;
    weft_samples samples;
    int64_t leaks = 0;
    must(weft_client_read(clients, c, part, &samples, mem));
    for (int64_t i = 0; i < samples.n; i++)
        for (int64_t j = 0; j <= clients->d; j++) {
            uint8_t *m = &mark[samples.text - origin + i * clients->stride + j];
            leaks += j > 0 && (*m & bad) != 0;
            *m |= (uint8_t)own;
        }
    return leaks;
}

/* Targets of validation (at every place of a window) that stand in training windows, and of
 * the test in either, over all clients. */
static int64_t leaks(void)
{
    const weft_clients *clients = data.clients;
    int64_t n = 0, found = 0;
    weft_samples samples;
    for (int64_t c = 0; c < clients->n; c++)
        for (int i = 0; i < WEFT_NPART; i++)
            n += weft_client_count(clients, c, (weft_part)i) + clients->gap;
    size_t mark = weft_arena_mark(mem);
    for (int64_t c = 0; c < clients->n; c++) {
        size_t room = (size_t)((n + 1) * clients->stride + clients->d + 1);
        int64_t own = 2 * clients->gap;
        for (int i = 0; i < WEFT_NPART; i++)
            own += weft_client_count(clients, c, (weft_part)i);
        if ((size_t)own * (size_t)clients->stride + (size_t)clients->d + 1 < room)
            room = (size_t)own * (size_t)clients->stride + (size_t)clients->d + 1;
        uint8_t *marks = WEFT_NEW(mem, uint8_t, room);
        must(weft_client_read(clients, c, WEFT_TRAIN, &samples, mem));
        found += cover(c, WEFT_TRAIN, samples.text, marks, 0, 1);
        found += cover(c, WEFT_VALID, samples.text, marks, 1, 2);
        found += cover(c, WEFT_TEST, samples.text, marks, 1 | 2, 4);
        weft_arena_reset(mem, mark);
    }
    return found;
}

static void test_leaks(void)
{
    static const char *const option[] = {
        "length=5 stride=1", "length=5 stride=2", "length=5 stride=5 valid=0.2 test=0.2",
        "length=4 stride=3", "length=5 rule=leaf test=0.25"};
    for (size_t i = 0; i < LEN(option); i++) {
        int good = small(option[i]);
        ok(good && data.part[WEFT_TEST].total > 0, "there is a test (%s)", option[i]);
        ok(good && leaks() == 0, "no target stands in a window of an earlier part (%s)",
           option[i]);
    }
}

/* ---- copies without Project Gutenberg's last line ---- */

enum { ALL_LINES = 124197 }; /* lines that are read of a text */

static void test_endless(void)
{
    const char *text = HEAD PLAY ODD ALONE;
    size_t n = strlen(text);
    char *whole = WEFT_NEW(mem, char, n + ALL_LINES + 1);
    memset(whole, '\n', n + ALL_LINES);
    memcpy(whole, text, n);
    ok(packed(&weft_reader_shakespeare, write_text("e.txt", whole),
              "length=5 valid=0 test=0") &&
           data.clients->n == 5,
       "a text of all lines that are read needs no last line of Project Gutenberg's");
}

/* The real text without its last lines, the licence, as t8.shakespeare.txt is. */
static void test_real_endless(const char *source)
{
    enum { ROOM = 6000000 };
    char *text = WEFT_NEW(mem, char, ROOM);
    FILE *file = fopen(source, "rb");
    weft_check(file != NULL && fread(text, 1, ROOM - 1, file) > 0, "%s", source);
    fclose(file);
    char *end = strstr(text, "*** END OF THIS PROJECT");
    weft_check(end != NULL, "%s has no end", source);
    *end = '\0';
    ok(packed(&weft_reader_shakespeare, write_text("endless.txt", text),
              "valid=0 test=0") &&
           data.clients->n == 1129 && data.part[WEFT_TRAIN].total == 4226158,
       "Shakespeare without the licence has the same users and samples");
}

/* ---- bad input ---- */

static void test_bad(void)
{
    static const struct {
        const char *text, *options;
        weft_status st;
        const char *a, *b, *what;
    } bad[] = {
        {"To be, or not to be\n", "", WEFT_EDATA, "bad.txt", "on 0 lines", "another text"},
        {"", "", WEFT_EDATA, "bad.txt", "100.txt", "an empty text"},
        {HEAD PLAY, "", WEFT_EDATA, "cut short after line 30", "bad.txt",
         "a text cut short"},
        {HEAD TAIL, "", WEFT_EDATA, "no role", "bad.txt", "a text without roles"},
        {"\nby William Shakespeare\n\n\n\n\n\n\n\n\n\n\nby William Shakespeare\n" TAIL, "",
         WEFT_EDATA, "line 13", "no title", "a play without title"},
        {HEAD PLAY "  MARIA. a curly {brace\n" TAIL, "length=5", WEFT_EDATA,
         "bad.txt: line 31 has the character '{'", "replace it",
         "a character without symbol"},
        {HEAD PLAY "  MARIA. caf\xc3\xa9\n" TAIL, "length=5", WEFT_EDATA,
         "line 31 has the character '\xc3\xa9'", "80 symbols", "a letter with an accent"},
        {HEAD PLAY TAIL, "valid=0.6 test=0.5", WEFT_ECONF, "valid = 0.6", "test = 0.5",
         "shares without rest"},
        {HEAD PLAY TAIL, "length=80", WEFT_EDATA, "no client has training", "split",
         "windows longer than all texts"},
        {HEAD PLAY TAIL, "length=0", WEFT_ECONF, "length", "0", "windows of no characters"},
    };
    const weft_reader *reader = &weft_reader_shakespeare;
    for (size_t i = 0; i < LEN(bad); i++)
        refuses(reader, write_text("bad.txt", bad[i].text), bad[i].options, bad[i].st,
                bad[i].a, bad[i].b, bad[i].what);
    refuses(reader, at("none.txt"), "", WEFT_EFILE, "none.txt", "cannot read",
            "a missing file");
    refuses(reader, scratch, "", WEFT_EFILE, scratch, "read", "a directory");
}

/* ---- the real text ---- */

enum { GOLD_CRC = 0x3bc17674 }; /* the last line of tests/gold/shakespeare.py */

/* Goes on with a CRC-32 from that of the bytes before these; 0 begins. */
static uint32_t crc32(uint32_t crc, const char *text, size_t n)
{
    crc = ~crc;
    for (size_t i = 0; i < n; i++) {
        crc ^= (unsigned char)text[i];
        for (int k = 0; k < 8; k++) crc = (crc >> 1) ^ (crc & 1 ? 0xedb88320u : 0);
    }
    return ~crc;
}

/* Of a line for each client: its name, its windows and the CRC-32 of its text. */
static uint32_t users_crc(void)
{
    uint32_t crc = 0;
    for (int64_t c = 0; c < data.clients->n; c++) {
        size_t mark = weft_arena_mark(mem);
        const char *name, *text = characters(c, WEFT_TRAIN);
        must(weft_client_name(data.clients, c, &name, mem));
        long long windows = weft_client_count(data.clients, c, WEFT_TRAIN);
        const char *line =
            printed("%s\t%lld\t%u\n", name, windows, crc32(0, text, strlen(text)));
        crc = crc32(crc, line, strlen(line));
        weft_arena_reset(mem, mark);
    }
    return crc;
}

static void test_real(void)
{
    const char *dir = getenv("WEFT_DATA");
    const char *source = printed("%s/shakespeare/raw_data.txt", dir != NULL ? dir : "");
    struct stat info;
    if (dir == NULL || stat(source, &info) != 0) {
        skip(11, "WEFT_DATA has no shakespeare/raw_data.txt");
        return;
    }
    double start = processor_seconds();
    int good = packed(&weft_reader_shakespeare, source, "valid=0 test=0");
    double seconds = processor_seconds() - start;
    ok(good && data.clients->n == 1129, "Shakespeare has 1,129 users");
    ok(good && data.part[WEFT_TRAIN].total == 4226158, "of 4,226,158 samples");
    ok(good && users_crc() == GOLD_CRC, "user by user those of an independent program");
    ok(stat(at("d.h5"), &info) == 0 && info.st_size < 10000000, "in a file under 10 MB");
    ok(seconds < 5, "within 5 seconds of a processor");
    note("packed and opened in %.2f s, %lld bytes", seconds, (long long)info.st_size);
    ok(packed(&weft_reader_shakespeare, source, "rule=leaf") && data.clients->n == 660,
       "LEAF's split keeps 660 users");
    ok(leaks() == 0, "it does not leak");
    ok(packed(&weft_reader_shakespeare, source, "") && data.clients->gap == 79,
       "80/10/10 has two gaps");
    ok(leaks() == 0, "it does not leak either");
    note("%lld clients, %lld samples", (long long)data.clients->n,
         (long long)(data.part[0].total + data.part[1].total + data.part[2].total));
    ok(packed(&weft_reader_shakespeare, source, "stride=80 most=64") &&
           data.clients->gap == 0 && leaks() == 0,
       "nor do windows side by side");
    test_real_endless(source);
}

MAIN(scratch, test_rules, test_options, test_leaks, test_endless, test_bad, test_real)
