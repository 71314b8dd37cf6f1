/* Cells of tables: the number in each by every pair of marks, what is missing, how columns
 * of dates and of numbers with a unit are told from others.
 * RUN: np=1 */
#include "reader/dense.h"

#include "tap.h"

enum { PAIRS = 6 };
static const int pair[PAIRS][2] = {
    {WEFT_MARK_POINT, WEFT_MARK_NONE},  {WEFT_MARK_POINT, WEFT_MARK_COMMA},
    {WEFT_MARK_POINT, WEFT_MARK_BLANK}, {WEFT_MARK_COMMA, WEFT_MARK_NONE},
    {WEFT_MARK_COMMA, WEFT_MARK_POINT}, {WEFT_MARK_COMMA, WEFT_MARK_BLANK}};
#define NO NAN

/* clang-format off */
static const struct {
    const char *text;
    double value[PAIRS]; /* decimal point, with commas, blanks; comma, with points, blanks */
} cases[] = {
    {"1234", {1234, 1234, 1234, 1234, 1234, 1234}},
    {"1,234", {NO, 1234, NO, 1.234, 1.234, 1.234}},
    {"-1,234", {NO, -1234, NO, -1.234, -1.234, -1.234}},
    {"+1,234", {NO, 1234, NO, 1.234, 1.234, 1.234}},
    {"12,345", {NO, 12345, NO, 12.345, 12.345, 12.345}},
    {"123,456", {NO, 123456, NO, 123.456, 123.456, 123.456}},
    {"1234,567", {NO, NO, NO, 1234.567, 1234.567, 1234.567}},
    {"0,250", {NO, NO, NO, 0.25, 0.25, 0.25}},
    {"1,2345", {NO, NO, NO, 1.2345, 1.2345, 1.2345}},
    {"1,23", {NO, NO, NO, 1.23, 1.23, 1.23}},
    {"1,234,567", {NO, 1234567, NO, NO, NO, NO}},
    {"1,234,5678", {NO, NO, NO, NO, NO, NO}},
    {"1,234,56", {NO, NO, NO, NO, NO, NO}},
    {"12,34,567", {NO, NO, NO, NO, NO, NO}},
    {"1,234,", {NO, NO, NO, NO, NO, NO}},
    {"1,234.5", {NO, 1234.5, NO, NO, NO, NO}},
    {"1,234.567", {NO, 1234.567, NO, NO, NO, NO}},
    {"1,234e3", {NO, 1234e3, NO, 1.234e3, 1.234e3, 1.234e3}},
    {"1.234", {1.234, 1.234, 1.234, NO, 1234, NO}},
    {"1.234.567", {NO, NO, NO, NO, 1234567, NO}},
    {"1.234,5", {NO, NO, NO, NO, 1234.5, NO}},
    {"1.5,234", {NO, NO, NO, NO, NO, NO}},
    {"1 234", {NO, NO, 1234, NO, NO, 1234}},
    {"1 234.5", {NO, NO, 1234.5, NO, NO, NO}},
    {"1 234,5", {NO, NO, NO, NO, NO, 1234.5}},
    {"1 23", {NO, NO, NO, NO, NO, NO}},
    {"12.5", {12.5, 12.5, 12.5, NO, NO, NO}},
    {".5", {0.5, 0.5, 0.5, NO, NO, NO}},
    {",5", {NO, NO, NO, 0.5, 0.5, 0.5}},
    {"1.2.3", {NO, NO, NO, NO, NO, NO}},
    {"1e39", {NO, NO, NO, NO, NO, NO}},
    {"inf", {NO, NO, NO, NO, NO, NO}},
    {"9007199254740993", {NO, NO, NO, NO, NO, NO}},
    {"9007199254740992", {0x1p53, 0x1p53, 0x1p53, 0x1p53, 0x1p53, 0x1p53}},
    {"red", {NO, NO, NO, NO, NO, NO}},
    {"", {NO, NO, NO, NO, NO, NO}},
};
/* clang-format on */

static void test_numbers(void)
{
    for (size_t i = 0; i < LEN(cases); i++)
        for (int k = 0; k < PAIRS; k++) {
            weft_csv how = {.marks.decimal = pair[k][0], .marks.thousands = pair[k][1]};
            double x = 0, want = cases[i].value[k];
            int is = weft_cell_number(&how.marks, cases[i].text, &x, mem);
            ok(is == !isnan(want) && (!is || !(fabs(x - want) > 0)),
               "'%s' is %g by marks %d", cases[i].text, want, k);
        }
}

static void test_missing(void)
{
    static const char *const is[] = {"",    "?",   "NA",   "na",   "N/A",  "n/a",  "#N/A",
                                     "nan", "NaN", "-nan", "NULL", "null", "None", "-",
                                     ".",   "nil", "NaT",  "\\N",  "<NA>"};
    static const char *const none[] = {"0",  "n",       "nanx", "N A", "x",        "0.",
                                       "-1", "nullify", "??x",  "#",   "nonesuch", "/"};
    for (size_t i = 0; i < LEN(is); i++)
        ok(weft_cell_missing(is[i]), "'%s' is missing", is[i]);
    for (size_t i = 0; i < LEN(none); i++)
        ok(!weft_cell_missing(none[i]), "'%s' is not missing", none[i]);
    const weft_csv how = {.gaps = "-999,keine,9.50"};
    weft_gaps gaps = weft_gaps_of(&how, mem);
    ok(weft_gaps_have(&gaps, "Keine", NAN), "a gap is told in any case");
    ok(weft_gaps_have(&gaps, "-999.00", -999), "or as a number");
    ok(weft_gaps_have(&gaps, "9.5", 9.5), "whatever zeros it ends with");
    ok(!weft_gaps_have(&gaps, "-998.5", -998.5), "a number near one is none");
    ok(!weft_gaps_have(&gaps, "999", 999), "its negative is none");
    ok(!weft_gaps_have(&gaps, "keiner", NAN), "a longer text is none");
    ok(!weft_gaps_have(&gaps, "0", 0), "a text that is a gap makes none of 0");
    static const char *const label[] = {"none", "Nil", "-", "-1", "0"};
    for (size_t i = 0; i < LEN(label); i++)
        ok(!weft_label_missing(label[i]), "'%s' may be a label", label[i]);
    ok(weft_label_missing("NA"), "'NA' is no label");
    ok(weft_label_missing(""), "nor is an empty cell");
}

/* ---- days without marks, labels, first lines ---- */

/* 1: so many cells, of which some may be missing, are days. */
static int are_days(int n, const double *value)
{
    double copy[16];
    memcpy(copy, value, (size_t)n * sizeof *copy);
    weft_dense_rows rows = {.n = n, .d = 1, .value = copy};
    return weft_written_days(&rows, 0);
}

static void test_days(void)
{
    double value[12];
    for (int i = 0; i < 12; i++) value[i] = 20240120 + i;
    ok(are_days(10, value), "ten numbers that are days are dates");
    ok(!are_days(9, value), "nine are too few");
    value[3] = value[5] = NAN;
    ok(are_days(12, value), "some may be missing");
    ok(!are_days(11, value), "but are none of the ten");
    value[3] = 20240120.5;
    ok(!are_days(12, value), "a number that is not whole is no day");
    value[3] = 20240132;
    ok(!are_days(12, value), "nor is one that no month has");
}

static void test_labels(void)
{
    static const char *const names[][2] = {{"-0", "0"},     {"1.0", "1"}, {"+1", "1"},
                                           {"1e2 ", "100"}, {"x1", "x1"}, {"inf", "inf"},
                                           {"0x10", "16"},  {"", ""}};
    for (size_t i = 0; i < LEN(names); i++)
        ok(strcmp(weft_table_label(names[i][0], mem), names[i][1]) == 0,
           "the label '%s' is the class '%s'", names[i][0], names[i][1]);
}

static char separator_of(const char *text)
{
    return weft_table_separator(text, strlen(text), 1, mem);
}

/* 1: the first of two lines has names. */
static int has_names(const char *const *first, const char *const *second)
{
    const weft_csv how = {.label = "last", .marks.thousands = WEFT_MARK_NONE};
    weft_csv_head head = {.line = 1, .columns = 3};
    must(weft_csv_begin("t.csv", &how, first, second, &head, mem));
    return head.name != NULL;
}

static void test_first_lines(void)
{
    static const char *const names[] = {"a", "b", "y"}, *const row[] = {"1", "5", "no"},
                             *const gap[] = {"NA", "6", "no"};
    ok(separator_of("1,5;2,5;0,3\n") == ';',
       "semicolons separate numbers of which each has a decimal comma");
    ok(separator_of("a,b,c,d;e\n") == ',', "of more commas than that these do");
    ok(has_names(names, row), "a text above a number is a name");
    ok(!has_names(gap, row), "one that stands for a gap is none");
    ok(!has_names(row, gap), "nor is a number above such a one");
}

/* What a column of these texts, with | between them, is; its first value in *x. */
static const char *column_is(const char *texts, const weft_csv *how, double *x)
{
    weft_dense_column column = {.name = {.mem = mem}};
    char *rest, *copy = printed("%s", texts);
    const char *first = NULL, *doubt;
    for (char *one = strtok_r(copy, "|", &rest); one; one = strtok_r(NULL, "|", &rest)) {
        if (weft_cell_number(&how->marks, one, x, mem)) {
            column.seen.numbers++;
            continue;
        }
        column.seen.texts++;
        weft_hints_add(how, &column, one, mem);
        if (!first) first = one;
    }
    const weft_written *written =
        weft_hints_decide(how, &column, WEFT_DATE_NONE, &doubt, mem);
    if (doubt) return "?";
    if (!written) return "";
    const char *text = weft_written_text(written, mem);
    if (!weft_written_number(weft_written_of(text, mem), first, x, mem)) *x = NAN;
    return text;
}

/* clang-format off */
static const struct {
    const char *texts;
    weft_csv how;
    const char *is;
    double first;
} columns[] = {
    {"14%|2%", {.separator = ','}, "point none %", 14},
    {"14 %|2 %|7", {.separator = ','}, "point none %", 14},
    {"14,5 %|2 %", {.separator = ';'}, "comma none %", 14.5},
    {"$1,234|$56", {.separator = ','}, "point comma $", 1234},
    {"$1,234|$5,678", {.separator = ';'}, "point comma $", 1234},
    {"$1,234.50|-$5", {.separator = ','}, "point comma $", 1234.5},
    {"-$5|$7", {.separator = ','}, "point none $", -5},
    {"$-5|$7", {.separator = ','}, "point none $", -5},
    {"($5)|$7", {.separator = ','}, "point none $", -5},
    {"\xe2\x88\x92" "5 kg|7 kg", {.separator = ','}, "point none kg", -5},
    {"+5 kg|7 kg", {.separator = ','}, "point none kg", 5},
    {"1 234,5 kg|7 kg", {.separator = ','}, "comma blank kg", 1234.5},
    {"1\xc2\xa0" "234,5\xe2\x80\xaf" "kg|7 kg", {.separator = ','}, "comma blank kg", 1234.5},
    {"1.234,5 kg|7 kg", {.separator = ','}, "comma point kg", 1234.5},
    {"1.234 kg|7 kg", {.separator = ','}, "point none kg", 1.234},
    {"1,234 kg|5,678 kg", {.separator = ','}, "point comma kg", 1234},
    {"1,234 kg|5,678 kg", {.separator = ';'}, "?", 0},
    {"1,234 kg|5,678 kg", {.separator = ';', .marks.decimal = WEFT_MARK_COMMA, .marks.thousands = WEFT_MARK_NONE}, "comma none kg", 1.234},
    {"1,234 kg|5,678 kg", {.separator = ';', .marks.thousands = WEFT_MARK_COMMA}, "point comma kg", 1234},
    {"1,234 kg|5,67 kg", {.separator = ';'}, "comma none kg", 1.234},
    {"1 234,5 kg|7 kg", {.separator = ';', .marks.thousands = WEFT_MARK_BLANK}, "", 0},
    {"1 234.5 kg|7 kg", {.separator = ';', .marks.thousands = WEFT_MARK_BLANK}, "point blank kg", 1234.5},
    {"5kg|7kg", {.separator = ','}, "point none kg", 5},
    {"5k|7k|900", {.separator = ','}, "", 0},
    {"5kg|7|9", {.separator = ','}, "", 0},
    {"5 kg|7|9", {.separator = ','}, "point none kg", 5},
    {"5 kg|7kg|9|11", {.separator = ','}, "point none kg", 5},
    {"5kg|7 kg|9|11", {.separator = ','}, "point none kg", 5},
    {"5%|7|9", {.separator = ','}, "point none %", 5},
    {"$5k|7|9", {.separator = ','}, "point none $ k", 5},
    {"5 kg|7 lb", {.separator = ','}, "", 0},
    {"5 kg|7 kg|red", {.separator = ','}, "", 0},
    {"5 sq ft|7 sq ft", {.separator = ','}, "point none sq ft", 5},
    {"5 m2|7 m2", {.separator = ','}, "point none m2", 5},
    {"5e-3 mol|7 mol", {.separator = ','}, "point none mol", 0.005},
    {"5 \xe2\x82\xac|\xe2\x82\xac" "7", {.separator = ','}, "point none \xe2\x82\xac", 5},
    {"US$ 5/day|US$7/day", {.separator = ','}, "point none US$ /day", 5},
    {"$5/day|$7/day", {.separator = ','}, "point none $ /day", 5},
    {"(5 kg|(7 kg", {.separator = ','}, "", 0},
    {"EUR 5|EUR 7", {.separator = ','}, "point none EUR", 5},
    {"EUR5|EUR7", {.separator = ','}, "", 0},
    {"Room 5|Room 7", {.separator = ','}, "", 0},
    {"A5|A7", {.separator = ','}, "", 0},
    {"10+|20+", {.separator = ','}, "", 0},
    {"5-7|8-9", {.separator = ','}, "", 0},
    {"CHF 5|CHF 7", {.separator = ','}, "point none CHF", 5},
    {"XYZ 5|XYZ 7", {.separator = ','}, "", 0},
    {"ABC$5|ABC$7", {.separator = ','}, "", 0},
    {"7/10|10/10", {.separator = ','}, "point none /10", 7},
    {"1/2 cup|1/4 cup", {.separator = ','}, "", 0},
    {"5 of the longest units there are|7 of the longest units there are", {.separator = ','}, "", 0},
    {"1970-01-02|1970-01-03", {.separator = ','}, "ymd 0", 86400},
    {"02.01.1970|03.01.1970", {.separator = ','}, "dmy 0", 86400},
    {"2/1/1970|3/1/1970", {.separator = ','}, "?", 0},
    {"2/1/1970|3/1/1970", {.separator = ',', .dates = WEFT_DATES_DMY}, "dmy 0", 86400},
    {"1/2/1970|1/3/1970", {.separator = ',', .dates = WEFT_DATES_MDY}, "mdy 0", 86400},
    {"1/2/1970|1/13/1970", {.separator = ','}, "mdy 0", 86400},
    {"2/1/1970|13/1/1970", {.separator = ','}, "dmy 0", 86400},
    {"2.1.1970|1970-01-03", {.separator = ','}, "dmy 0", 86400},
    {"2/1/1970|1970-01-03", {.separator = ','}, "?", 0},
    {"1970-01-02T01:00+01:00|1970-01-03T00:00", {.separator = ','}, "ymd 60", 86400},
    {"1970-01-03T00:00|1970-01-02T01:00+01:00", {.separator = ','}, "ymd 60", 2 * 86400 - 3600},
    {"1970-01-02T01:00+01:00|1970-01-03T00:00+02:00", {.separator = ','}, "ymd 60", 86400},
    {"1970-01-02|1970-01-03", {.separator = ',', .dates = WEFT_DATES_DMY}, "ymd 0", 86400},
    {"2/1/1970|3.1.1970", {.separator = ','}, "?", 0},
    {"1970-01-02|red", {.separator = ','}, "", 0},
    {"1970-01-02|1970-01-03|1970-02-30", {.separator = ','}, "ymd 0", 86400},
    {"1970-01-02|3|4", {.separator = ','}, "", 0},
    {"1970-02|1970-05", {.separator = ','}, "ym 0", 31 * 86400},
    {"1970-02|red|1970-03", {.separator = ','}, "", 0},
    {"2010-11|2011-12|2000-01", {.separator = ','}, "", 0},
    {"1:00|23:59", {.separator = ','}, "time 0", 3600},
    {"1:00|25:00|3:00", {.separator = ','}, "", 0},
    {"Jan 2, 1970|3 February 1970", {.separator = ','}, "named 0", 86400},
};
/* clang-format on */

static void test_columns(void)
{
    for (size_t i = 0; i < LEN(columns); i++) {
        weft_csv how = columns[i].how;
        if (how.marks.thousands == 0) how.marks.thousands = WEFT_MARK_NONE;
        double x = NAN;
        const char *is = column_is(columns[i].texts, &how, &x);
        int same = strcmp(is, columns[i].is) == 0;
        ok(same, "a column of %s is '%s'", columns[i].texts, is);
        if (strlen(columns[i].is) > 1)
            ok(!(fabs(x - columns[i].first) > 0) && !isnan(x), "%s is %g there",
               columns[i].texts, x);
    }
    ok(weft_written_of("", mem) == NULL, "plain numbers are written plainly");
    ok(weft_written_of("point", mem) == NULL, "half of a spelling is none");
    ok(weft_written_of("dot none kg", mem) == NULL, "nor is one with other marks");
}

MAIN(ranks, test_numbers, test_missing, test_days, test_labels, test_first_lines,
     test_columns)
