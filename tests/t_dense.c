/* Tables of numbers as text: the bits of strtod for every spelling, and lines for the fast
 * parser among lines for libcsv.
 * RUN: np=1 */
#include "machine.h"
#include "packing.h"

#include "reader/dense.h"

/* Whether the text has the bits that strtod gives, as a cell and where it is read at once;
 * this is no number with an exponent or of other than digits. */
static int agrees(const char *text)
{
    static const weft_csv how = {.marks.decimal = WEFT_MARK_POINT,
                                 .marks.thousands = WEFT_MARK_NONE};
    char *end;
    double want = strtod(text, &end), x = 0, cell = 0;
    const char *digits = text + (*text == '-' || *text == '+');
    int whole = strspn(digits, "0123456789") == strlen(digits);
    size_t zeros = strspn(digits, "0");
    int plain = !(whole && strlen(digits) - zeros > 15) && /* else see weft_number_lost */
                *end == '\0' && end != text && isfinite((float)want) &&
                strpbrk(text, "xXnN") == NULL;
    int good = !plain || (weft_cell_number(&how.marks, text, &cell, mem) &&
                          memcmp(&cell, &want, sizeof cell) == 0);
    if (weft_number_read(text, '.', &x))
        good = good && plain && memcmp(&x, &want, sizeof x) == 0;
    else
        good = good && (!plain || strlen(digits) > 15 || strpbrk(text, "eE"));
    if (!good) fprintf(stderr, "# '%s': %.17g, %.17g where %.17g\n", text, cell, x, want);
    return good;
}

/* clang-format off */
static const char *const spelling[] = {
    "0", "-0", "+7", "007", "255", "9999999", "16777217", "33554435", "99999999", ".5",
    "5.", "-.25", "1e5", "1E+5", "1e-5", "1e", "1e+", ".", "-", "", "+-1", "1.2.3", "0x10",
    "inf", "nan", "1e38", "3.4028235e38", "3.4028236e38", "1e39", "1e-38", "1e-45", "1e-46",
    "1.17549435e-38", "0e99999", "1e99999", "1e-99999", "0.1", "0.30000001192092896",
    "1.00000005960464477539", "1.000000059604644775390625", "1.0000000596046447753906251",
    "123456789012345", "1234567890123456", "0.00000000000000000000000000001",
    "100000000000000000000000", "1d5", "12a"};
/* clang-format on */

static void test_spellings(void)
{
    int good = 1;
    for (size_t i = 0; i < LEN(spelling); i++) good &= agrees(spelling[i]);
    ok(good, "numbers of every spelling are strtod's");
}

/* A number with so many digits before and after its point, and maybe an exponent. */
static const char *spell(int64_t i)
{
    weft_rng4 rng = weft_rng_at(5, WEFT_RNG_TEST, (uint64_t)i, 0, 0);
    char text[80];
    size_t n = 0;
    if (rng.v[0] % 3 == 0) text[n++] = rng.v[0] & 8 ? '-' : '+';
    uint64_t before = rng.v[0] >> 8 & 7, after = rng.v[0] >> 16 & 15;
    for (uint64_t k = 0; k < before; k++) text[n++] = (char)('0' + rng.v[1] / (k + 1) % 10);
    if (rng.v[0] & 16) text[n++] = '.';
    for (uint64_t k = 0; k < after; k++) text[n++] = (char)('0' + rng.v[2] / (k + 1) % 10);
    if (rng.v[0] & 32)
        n += (size_t)snprintf(text + n, 20, "e%d", (int)(rng.v[3] % 100) - 50);
    text[n] = '\0';
    return printed("%s", text);
}

static void test_random(void)
{
    int64_t bad = 0;
    size_t mark = weft_arena_mark(mem);
    for (int64_t i = 0; i < 300000; i++) {
        bad += !agrees(spell(i));
        weft_arena_reset(mem, mark);
    }
    ok(bad == 0, "300,000 numbers of random digits are strtod's");
    for (int64_t i = 0; i < 300000; i++) {
        weft_rng4 rng = weft_rng_at(6, WEFT_RNG_TEST, (uint64_t)i, 0, 0);
        float x;
        memcpy(&x, &rng.v[0], sizeof x);
        double middle = ((double)x + (double)nextafterf(x, INFINITY)) / 2;
        if (isfinite(middle))
            bad += !agrees(printed(rng.v[1] & 1 ? "%.17g" : "%.9g",
                                   rng.v[1] & 2 ? middle : (double)x));
        weft_arena_reset(mem, mark);
    }
    ok(bad == 0, "and of all floats and their middles");
}

/* ---- lines ---- */

/* The digest of a table's rows; "" where it is not packed. */
static const char *digest_of(const char *text, const char *options)
{
    options = printed("valid=0.25 test=0 %s", options);
    return packed(&weft_reader_dense, write_text("t.csv", text), options) ? data.digest
                                                                          : "";
}

static void test_lines(void)
{
    const char *plain = digest_of("1,2.5,a\n-3,40,b\n5,6,a\n7,8,b\n", "");
    ok(strlen(plain) == 32, "a table of plain lines is packed");
    ok(strcmp(digest_of("1,2.5,a\r\n -3 ,\t40,b \r\n\r\n  \n5.0,6e0,a\n+7,8,b", ""),
              plain) == 0,
       "with blanks, empty lines, other line ends and spellings, and without the last end");
    ok(strcmp(
           digest_of("\"x\",\"y,\n\"\"z\",c\n1,\"2.5\",a\n-3,40,\"b\"\n5,6,a\n\"7\",8,b\n",
                     ""),
           plain) == 0,
       "with lines in quotation marks, which may go on in the next one");
    ok(strcmp(digest_of("1,2.5,a\r-3,40,b\r5,6,a\r7,8,b\r", ""), plain) == 0,
       "with the line ends of old");
    ok(strcmp(digest_of("a,1,2.5\nb,-3,40\na,5,6\nb,7,8\n", "label=first"), plain) == 0 &&
           strcmp(digest_of("1,a,2.5\n-3,b,40\n5,a,6\n7,b,8\n", "label=2"), plain) == 0,
       "wherever the label stands");
    static const char *const bad[][4] = {
        {"1,2,a\n3,\"4\n5,6,b\n7,8,a\n", "q.csv: line", "quotation mark",
         "a quotation that does not end"},
        {"1,2,a\n3,4,in\"ch\"\n5,6,b\n", "line 2 has a quotation mark", "place",
         "one within a text"},
        {"1,2,a\n3,4\n5,6,b\n", "line 2 has 2 columns", "3",
         "a short line among plain ones"},
        {"1,2,a\n3,4,b,\n5,6,b\n", "line 2 has 4 columns", "3", "a long one"},
        {"1,2,a\n3,4,b\n5,1e39,b\n", "line 3, column 2 is '1e39'", "finite",
         "a number beyond floats"}};
    for (size_t i = 0; i < LEN(bad); i++)
        refuses(&weft_reader_dense, write_text("q.csv", bad[i][0]), "", WEFT_EDATA,
                bad[i][1], bad[i][2], bad[i][3]);
}

/* A table as large as MNIST's first tenth. */
static void test_speed(void)
{
    enum { ROWS = 7000, COLUMNS = 784 };
    char *text = WEFT_NEW(mem, char, ROWS *(COLUMNS * 4 + 3)), *to = text;
    for (int i = 0; i < ROWS; i++) {
        for (int j = 0; j < COLUMNS; j++)
            to += sprintf(to, "%d,",
                          j == 0                 ? i % 10
                          : (i * 31 + j * 7) % 5 ? 0
                                                 : (i + j) % 256);
        to += sprintf(to, "%d\n", i % 10);
    }
    write_bytes("s.csv", text, (size_t)(to - text));
    double start = weft_now();
    ok(packed(&weft_reader_dense, at("s.csv"), ""),
       "7,000 images of MNIST's size are packed");
    note("%.0f MB in %.2f s", (double)(to - text) * 1e-6, weft_now() - start);
    int64_t wrong = 0;
    for (int p = 0; p < WEFT_NPART; p++)
        for (int64_t i = 0; i < data.part[p].n; i++)
            wrong += (int32_t)data.part[p].value[i * COLUMNS] != data.part[p].label[i];
    ok(wrong == 0, "each beside its label");
}

static weft_status look_at(void *ctx, const char *at, size_t n, weft_csv_line *what)
{
    (void)ctx, (void)at, (void)n;
    *what = WEFT_CSV_PARSED;
    return WEFT_OK;
}

static weft_status take_row(void *ctx, const weft_csv_row *row)
{
    *(int64_t *)ctx += row->n;
    return WEFT_OK;
}

/* A file without ends of lines, as none of a table is. */
static void test_no_memory(void)
{
    enum { LONG = 1 << 27 };
    int64_t fields = 0;
    weft_csv_source source = {.path = "x.csv",
                              .separator = ',',
                              .row = mem,
                              .ctx = &fields,
                              .look = look_at,
                              .take = take_row};
    must(weft_csv_read(&source, "1,2\n3,4\n", 8));
    ok(fields == 4 && source.line == 2, "two rows of two fields are read");
    if (KEEPS_FREED) {
        skip(1, "a sanitizer needs address space");
        return;
    }
    char *text = WEFT_NEW(mem, char, LONG);
    memset(text, '0', LONG);
    rlim_t before = set_limit(RLIMIT_AS, (rlim_t)1 << 27);
    weft_status st = weft_csv_read(&source, text, LONG);
    set_limit(RLIMIT_AS, before);
    ok(st == WEFT_EDATA && fields == 4 && strstr(weft_error(), "x.csv: line 3: memory") &&
           !strstr(weft_error(), "quotation"),
       "a field without memory is not one with a quotation mark: %s", weft_error());
}

MAIN(scratch, test_spellings, test_random, test_lines, test_no_memory, test_speed)
