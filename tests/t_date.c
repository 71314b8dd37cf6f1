/* Dates as people write them, and their parts, against a calendar that counts day by day.
 * RUN: np=1 */
#include "weft/data/table.h"

#include "tap.h"

enum { DAY = 86400, HOUR = 3600 };

/* A day of the calendar, counted from 1970. */
struct day {
    int year, month, day; /* month from 0 */
    int weekday;          /* from 0, Monday */
    int64_t days;
};

/* 1: every order reads its spelling of the day, or none where there is no such day. */
static int is_read(const struct day *day, int exists)
{
    static const char *const name[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                       "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    static const weft_date_order order[] = {WEFT_DATE_YMD, WEFT_DATE_DMY, WEFT_DATE_MDY,
                                            WEFT_DATE_NAMED};
    int y = day->year, m = day->month, d = day->day, good = 1;
    char text[4][64];
    snprintf(text[0], sizeof text[0], "%04d-%02d-%02d", y, m + 1, d);
    snprintf(text[1], sizeof text[1], "%d.%d.%d", d, m + 1, y);
    snprintf(text[2], sizeof text[2], "%02d/%02d/%04d", m + 1, d, y);
    snprintf(text[3], sizeof text[3], "%d %s %d", d, name[m], y);
    for (int k = 0; k < 4; k++) {
        weft_date date;
        int is = weft_date_read(text[k], order[k], &date);
        good &= is == exists;
        good &= !is || !(fabs(date.seconds - (double)day->days * DAY) > 0);
    }
    return good;
}

/* 1: the parts of a time of that day are its own. */
static int has_parts(const struct day *day)
{
    const double turn = 8 * atan(1), near = 1e-6;
    double value[WEFT_DATE_PARTS];
    weft_date_parts((double)day->days * DAY + 13 * HOUR + 59, 0, value);
    int good = !(fabs(value[WEFT_PART_YEAR] - day->year) > 0);
    good &= fabs(value[WEFT_PART_MONTH_SINE] - sin(turn * day->month / 12)) < near;
    good &= fabs(value[WEFT_PART_MONTH_COSINE] - cos(turn * day->month / 12)) < near;
    good &= fabs(value[WEFT_PART_HOUR_SINE] - sin(turn * 13 / 24)) < near;
    good &= fabs(value[WEFT_PART_HOUR_COSINE] - cos(turn * 13 / 24)) < near;
    for (int k = 0; k < 7; k++)
        good &= !(fabs(value[WEFT_PART_MONDAY + k] - (k == day->weekday)) > 0);
    return good;
}

/* 1: the day is shown as it is. */
static int is_shown(const struct day *day)
{
    char text[16], want[64];
    snprintf(want, sizeof want, "%04d-%02d-%02d", day->year, day->month + 1, day->day);
    weft_date_text((double)day->days * DAY + 7, 0, WEFT_DATE_YMD, text, sizeof text);
    return strcmp(text, want) == 0;
}

static void test_days(void)
{
    static const int length[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int good = 1, parts = 1, shown = 1;
    /* 70 years, 17 of them leap years, before 1970; a Monday */
    struct day day = {.year = 1900, .days = -(70 * 365 + 17)};
    for (; day.year <= 2100; day.year++)
        for (day.month = 0; day.month < 12; day.month++) {
            int leap = day.year % 4 == 0 && (day.year % 100 != 0 || day.year % 400 == 0);
            int last = length[day.month] + (day.month == 1 && leap);
            for (day.day = 1; day.day <= last; day.day++, day.days++) {
                good &= is_read(&day, 1);
                parts &= has_parts(&day);
                shown &= is_shown(&day);
                day.weekday = (day.weekday + 1) % 7;
            }
            good &= is_read(&day, 0);
        }
    ok(good, "days of two centuries are read in each order, but none that there is not");
    ok(parts, "their year, month, weekday, hour are those of the calendar");
    ok(shown, "they are shown as they are");
}

/* Seconds since 2024-02-29 of texts that are dates of that order; NAN: they are none. */
static const struct {
    weft_date_order order;
    const char *text;
    double seconds;
    int zone;
} cases[] = {
    {WEFT_DATE_YMD, "2024-02-29T17:00:05", 61205, 0},
    {WEFT_DATE_YMD, "2024-02-29 17:00", 61200, 0},
    {WEFT_DATE_YMD, "2024-02-29T17:00:05.25Z", 61205.25, 0},
    {WEFT_DATE_YMD, "2024-02-29T17:00:05,5+02:00", 61205.5, 120},
    {WEFT_DATE_YMD, "2024-02-29T17:00-0530", 61200, -330},
    {WEFT_DATE_YMD, "2024-02-29T17:00+01", 61200, 60},
    {WEFT_DATE_YMD, "2024-02-29 17:00:05 UTC", 61205, 0},
    {WEFT_DATE_YMD, "2024-02-29T17:00+14:00", 61200, 840},
    {WEFT_DATE_YMD, "2024-02-29T17:00+19:00", NAN, 0},
    {WEFT_DATE_YMD, "2024-02-29T17:00+01:3", NAN, 0},
    {WEFT_DATE_YMD, "2024-02-29T17:00+01:60", NAN, 0},
    {WEFT_DATE_YMD, "2024-02-29 17:00 GMT", 61200, 0},
    {WEFT_DATE_YMD, "2024/02/29", 0, 0},
    {WEFT_DATE_YMD, "20240229T170005Z", 61205, 0},
    {WEFT_DATE_YMD, "2024-02-29T24:00", 86400, 0},
    {WEFT_DATE_YMD, "2024-02-29T24:01", NAN, 0},
    {WEFT_DATE_YMD, "2024-02-29T24:00:00.5", NAN, 0},
    {WEFT_DATE_YMD, "2024-02-29T23:59:60", 86400, 0},
    {WEFT_DATE_YMD, "2024-02-29T23:59:61", NAN, 0},
    {WEFT_DATE_YMD, "20240229T0123", 4980, 0},
    {WEFT_DATE_YMD, "20240229T01234", NAN, 0},
    {WEFT_DATE_YMD, "20240229T123", NAN, 0},
    {WEFT_DATE_YMD, "2024-02-29T25:00", NAN, 0},
    {WEFT_DATE_YMD, "2024-02-29T17:60", NAN, 0},
    {WEFT_DATE_YMD, "2024-02-29T", NAN, 0},
    {WEFT_DATE_YMD, "2024-02-29x", NAN, 0},
    {WEFT_DATE_YMD, "2024-02/29", NAN, 0},
    {WEFT_DATE_YMD, "0000-00-00", NAN, 0},
    {WEFT_DATE_YMD, "2024", NAN, 0},
    {WEFT_DATE_YMD, "", NAN, 0},
    {WEFT_DATE_DMY, "29.02.2024 17:00", 61200, 0},
    {WEFT_DATE_DMY, "29.2.24", 0, 0},
    {WEFT_DATE_DMY, "29-02-2024", 0, 0},
    {WEFT_DATE_DMY, "1.1.68", 1383436800, 0},
    {WEFT_DATE_DMY, "1.1.69", -1740700800, 0},
    {WEFT_DATE_DMY, "29.2.024", NAN, 0},
    {WEFT_DATE_DMY, "29.2.4", NAN, 0},
    {WEFT_DATE_YMD, "2024-2-9", -20 * 86400, 0},
    {WEFT_DATE_DMY, "02/29/2024", NAN, 0},
    {WEFT_DATE_DMY, "2024-02-29T17:00Z", 61200, 0},
    {WEFT_DATE_YMD, "20240229", 0, 0},
    {WEFT_DATE_YMD, "20240230", NAN, 0},
    {WEFT_DATE_YMD, "20240229.0", 0, 0},
    {WEFT_DATE_YMD, "20240229.5", NAN, 0},
    {WEFT_DATE_MDY, "02/29/2024 5:00 PM", 61200, 0},
    {WEFT_DATE_MDY, "2/29/2024 12:00:01 AM", 1, 0},
    {WEFT_DATE_MDY, "2/29/2024 12:00 PM", 43200, 0},
    {WEFT_DATE_MDY, "2/29/2024 0:30 PM", NAN, 0},
    {WEFT_DATE_MDY, "2/29/2024 13:00 PM", NAN, 0},
    {WEFT_DATE_NAMED, "February 29, 2024 12:30", 45000, 0},
    {WEFT_DATE_NAMED, "29FEB2024", 0, 0},
    {WEFT_DATE_NAMED, "Feb. 29, 2024", 0, 0},
    {WEFT_DATE_NAMED, "29-Feb-2024", 0, 0},
    {WEFT_DATE_NAMED, "30 Feb 2024", NAN, 0},
    {WEFT_DATE_NAMED, "29 Febr 2024", NAN, 0},
    {WEFT_DATE_YM, "2024-03", 86400, 0},
    {WEFT_DATE_YM, "2024-13", NAN, 0},
    {WEFT_DATE_YM, "2024-03-01", NAN, 0},
    {WEFT_DATE_YM, "2024/03/01", NAN, 0},
    {WEFT_DATE_YM, "2024-03 12:00", NAN, 0},
};

static void test_spellings(void)
{
    const double leap = 1709164800; /* 2024-02-29 */
    for (size_t i = 0; i < LEN(cases); i++) {
        weft_date date;
        int is = weft_date_read(cases[i].text, cases[i].order, &date);
        int good = is == !isnan(cases[i].seconds) && (!is || date.zone == cases[i].zone);
        if (is) good &= !(fabs(date.seconds - leap - cases[i].seconds) > 0);
        ok(good, "'%s' is %s", cases[i].text, is ? "read" : "no such date");
    }
}

static void test_times(void)
{
    weft_date date;
    double value[WEFT_DATE_PARTS];
    char text[16];
    static const struct {
        const char *text;
        double seconds; /* NAN: it is none */
    } spans[] = {{"1 days 02:03:04", 93784},
                 {"0 days 00:00:30", 30},
                 {"-1 days +23:59:30", -30},
                 {"1 day, 2:03:04.5", 93784.5},
                 {"-1 day, 23:59:59", -1},
                 {"106 days", 9158400},
                 {"1 days 24:00:00", NAN},
                 {"1 days 02:03:04 UTC", NAN},
                 {"1 hours 02:03:04", NAN},
                 {"02:03:04", 7384},
                 {"26:30:00", 95400},
                 {"-126:30:09.5", -455409.5},
                 {"26:30", NAN},
                 {"90:15.25", 5415.25},
                 {"-0:30,5", -30.5},
                 {"9:61.5", NAN},
                 {"9:5.5", NAN},
                 {"26:60:00", NAN},
                 {"13:00:00 pm", NAN},
                 {"12345678 days 02:03", NAN}};
    for (int i = 0; i < (int)(sizeof spans / sizeof *spans); i++) {
        int is = weft_date_read(spans[i].text, WEFT_DATE_SPAN, &date);
        ok(is == !isnan(spans[i].seconds) &&
               (!is || !(fabs(date.seconds - spans[i].seconds) > 0)),
           "'%s' is %s", spans[i].text, is ? "so many seconds" : "no time span");
    }
    ok(weft_date_read("12:30", WEFT_DATE_TIME, &date) && fabs(date.seconds - 45000) < 1e-9,
       "a time alone is seconds since midnight");
    ok(!weft_date_read("24:30", WEFT_DATE_TIME, &date), "which is a time of day");
    ok(!weft_date_read("9:51.676", WEFT_DATE_TIME, &date) &&
           weft_date_read("9:51:00.676", WEFT_DATE_TIME, &date),
       "minutes and seconds with a fraction are none");
    weft_date_parts(-0.5, 0, value);
    ok(value[WEFT_PART_MONDAY + 2] > 0, "half a second before 1970 was on Wednesday");
    weft_date_parts(0, -60, value);
    ok(value[WEFT_PART_MONDAY + 2] > 0, "by a clock behind Greenwich's 1970 began there");
    weft_date_parts(23 * HOUR, 120, value);
    ok(value[WEFT_PART_MONDAY + 4] > 0, "by one that is ahead a day begins before");
    ok(!(fabs(value[WEFT_PART_SECONDS] - 23 * HOUR) > 0),
       "seconds are those of Greenwich by any clock");
    ok(strcmp(weft_date_text(23 * HOUR, 120, WEFT_DATE_YMD, text, 16), "1970-01-02") == 0,
       "the day that is shown is that of the clock");
    ok(strcmp(weft_date_text(45000, 0, WEFT_DATE_TIME, text, 16), "12:30") == 0,
       "a time is shown as such");
    ok(strcmp(weft_date_text(93784.5, 0, WEFT_DATE_SPAN, text, 16), "93784.5 s") == 0,
       "a time span is shown in seconds");
}

MAIN(ranks, test_days, test_spellings, test_times)
