/* Dates, times of day, and their parts. */
#define _DEFAULT_SOURCE 1 /* timegm */
#include "weft/data/table.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <time.h>

enum { HOUR = 3600, MINUTE = 60, FIRST_YEAR = 1900 /* of struct tm */ };

const char *const weft_date_order_name[WEFT_DATE_ORDERS] = {"",   "ymd",   "dmy",  "mdy",
                                                            "ym", "named", "time", "span"};
const char *const weft_date_example[WEFT_DATE_ORDERS] = {
    "",        "2024-12-31",  "31.12.2024", "12/31/2024",
    "2024-12", "31 Dec 2024", "23:59",      "1 days 02:03:04"};
const char *const weft_date_part_name[WEFT_DATE_PARTS] = {
    "seconds", "year",      "month sine", "month cosine", "Monday",
    "Tuesday", "Wednesday", "Thursday",   "Friday",       "Saturday",
    "Sunday",  "hour sine", "hour cosine"};

/* ---- reading ---- */

/* Reads least .. most digits; returns what follows, NULL where there are others. */
static const char *take(const char *at, int least, int most, int *number)
{
    int n = 0;
    if (!at) return NULL;
    for (*number = 0; n < most && isdigit((unsigned char)at[n]); n++)
        *number = 10 * *number + (at[n] - '0');
    return n < least || isdigit((unsigned char)at[n]) ? NULL : at + n;
}

/* Passes that character. */
static const char *pass(const char *at, char mark)
{
    return at && *at == mark ? at + 1 : NULL;
}

static const char *take_mark(const char *at, char *mark)
{
    if (!at || *at == '\0' || !strchr("-./", *at)) return NULL;
    *mark = *at;
    return at + 1;
}

/* The name of a month, or its first three letters and a point. */
static const char *take_month(const char *at, int *month)
{
    static const char *const name[] = {"January",   "February", "March",    "April",
                                       "May",       "June",     "July",     "August",
                                       "September", "October",  "November", "December"};
    size_t n = 0;
    while (at && isalpha((unsigned char)at[n])) n++;
    for (int i = 0; i < 12 && n >= 3; i++)
        if (strncasecmp(at, name[i], n) == 0 && (n == 3 || n == strlen(name[i]))) {
            *month = i + 1;
            return at + n + (at[n] == '.');
        }
    return NULL;
}

static const char *pass_blanks(const char *at)
{
    return at ? at + strspn(at, " -,") : NULL;
}

/* 31 Dec 2024, 31-Dec-2024, 31DEC2024, Dec 31, 2024. */
static const char *take_named(const char *at, int *year, int *month, int *day)
{
    int first = isdigit((unsigned char)*at);
    if (first) at = pass_blanks(take(at, 1, 2, day));
    at = pass_blanks(take_month(at, month));
    if (!first) at = pass_blanks(take(at, 1, 2, day));
    return take(at, 4, 4, year);
}

/* Years of two digits, as POSIX has them. */
static const char *take_year(const char *at, int *year)
{
    const char *end = take(at, 2, 4, year);
    if (!end || end - at == 3) return NULL;
    if (end - at == 2) *year += *year < 69 ? 2000 : 1900;
    return end;
}

/* The numbers of a date between equal marks. */
static const char *take_numbers(const char *at, weft_date_order order, int *year,
                                int *month, int *day)
{
    char mark;
    *day = 1;
    if (order == WEFT_DATE_YM) return take(pass(take(at, 4, 4, year), '-'), 2, 2, month);
    if (order == WEFT_DATE_YMD) {
        at = take(take_mark(take(at, 4, 4, year), &mark), 1, 2, month);
        return take(pass(at, mark), 1, 2, day);
    }
    int *first = order == WEFT_DATE_DMY ? day : month,
        *second = order == WEFT_DATE_DMY ? month : day;
    at = take(take_mark(take(at, 1, 2, first), &mark), 1, 2, second);
    return take_year(pass(at, mark), year);
}

/* 20241231, alone, with T and a time behind it, or as a number is written, with .0. */
static const char *take_short(const char *at, int *year, int *month, int *day)
{
    int all;
    const char *end = take(at, 8, 8, &all);
    if (end && strcmp(end, ".0") == 0) end += strlen(end);
    if (!end || (*end != 'T' && *end != '\0')) return NULL;
    *year = all / 10000;
    *month = all / 100 % 100;
    *day = all % 100;
    return end;
}

/* AM or PM behind an hour of 1 .. 12; 0: it is another hour. */
static int take_half(const char **at, int *hour)
{
    const char *text = *at + strspn(*at, " ");
    int pm = strncasecmp(text, "pm", 2) == 0;
    if (!pm && strncasecmp(text, "am", 2) != 0) return 1;
    if (*hour < 1 || *hour > 12) return 0;
    *hour = *hour % 12 + 12 * pm;
    *at = text + 2;
    return 1;
}

/* Adds .25 or ,25, and passes it. */
static const char *take_part(const char *at, double *seconds)
{
    double digits = 0, power = 1;
    if ((*at != '.' && *at != ',') || !isdigit((unsigned char)at[1])) return at;
    for (at++; isdigit((unsigned char)*at); power *= 10)
        digits = 10 * digits + (*at++ - '0');
    *seconds += digits / power;
    return at;
}

/* 23:59, 23:59:59.9, 11:59 PM; also 2359 and 235959 where `brief`. NULL: there is no such
 * time. */
static const char *take_time(const char *at, int brief, double *seconds)
{
    int hour, minute, second = 0, all;
    double part = 0;
    const char *end = take(at, 4, 6, &all);
    if (brief && end && end - at != 5) {
        second = end - at == 6 ? all % 100 : 0;
        if (end - at == 6) all /= 100;
        hour = all / 100;
        minute = all % 100;
    } else {
        end = take(pass(take(at, 1, 2, &hour), ':'), 2, 2, &minute);
        if (end && *end == ':')
            end = take(end + 1, 2, 2, &second);
        else if (end && take_part(end, &part) > end)
            return NULL; /* minutes and seconds */
    }
    if (end) end = take_part(end, &part);
    if (!end || !take_half(&end, &hour)) return NULL;
    int midnight = hour == 24 && minute == 0 && second == 0 && !(part > 0);
    if ((hour > 23 && !midnight) || minute > 59 || second > 60) return NULL;
    *seconds += hour * HOUR + minute * MINUTE + second + part;
    return end;
}

/* Z, UTC, +02:00, +0200, +02, or nothing. */
static const char *take_zone(const char *at, weft_date *date)
{
    int hour = 0, minute = 0, blanks = (int)strspn(at, " ");
    const char *text = at + blanks;
    if (*text == '\0') return text;
    date->zoned = 1;
    if (*text == 'Z' || *text == 'z') return text + 1;
    if (strncmp(text, "UTC", 3) == 0 || strncmp(text, "GMT", 3) == 0) return text + 3;
    int minus = *text == '-';
    if (*text != '+' && !minus) return NULL;
    const char *end = take(text + 1, 4, 4, &hour);
    if (end) {
        minute = hour % 100;
        hour /= 100;
    } else {
        end = take(text + 1, 2, 2, &hour);
        if (end && *end == ':') end = take(end + 1, 2, 2, &minute);
    }
    if (!end || hour > 18 || minute > 59) return NULL;
    date->zone = (hour * 60 + minute) * (minus ? -1 : 1);
    return end;
}

/* The seconds of a day that begins; 0: there is none, of a year of four digits. */
static int read_day(int year, int month, int day, double *seconds)
{
    if (year < 1 || month < 1 || month > 12 || day < 1 || day > 31) return 0;
    struct tm tm = {.tm_year = year - FIRST_YEAR, .tm_mon = month - 1, .tm_mday = day};
    *seconds = (double)timegm(&tm);
    return tm.tm_mday == day;
}

/* The rest of 90:15.25, behind its minutes. */
static const char *take_minutes(const char *at, int minutes, double *seconds)
{
    int second;
    double part = 0;
    at = take(at + 1, 2, 2, &second);
    const char *end = at && second < MINUTE ? take_part(at, &part) : at;
    if (end == at) return NULL;
    *seconds = minutes * (double)MINUTE + second + part;
    return end;
}

/* The rest of 26:30:00, behind its hours. */
static const char *take_hours(const char *at, int hours, double *seconds)
{
    double time = 0; /* from the last digit of the hours on */
    if (at[strspn(at, ":.,0123456789")] != '\0') return NULL;
    if (!strchr(at + 1, ':')) return take_minutes(at, hours, seconds);
    at = take_time(at - 1, 0, &time);
    *seconds = (hours - hours % 10) * (double)HOUR + time;
    return at;
}

/* 1 days 02:03:04, -1 days +23:59:30, 1 day, 2:03:04, 3 days, 26:30:00, 90:15.25. */
static const char *take_span(const char *at, double *seconds)
{
    enum { DAY = 24 * HOUR, DIGITS = 6 };
    int days, minus = *at == '-';
    double time = 0;
    at = take(at + minus, 1, DIGITS, &days);
    if (at && *at == ':') {
        at = take_hours(at, days, &time);
        *seconds = minus ? -time : time;
        return at;
    }
    if (!at || strncmp(at, " day", strlen(" day")) != 0) return NULL;
    at += strlen(" day");
    at += *at == 's';
    if (*at != '\0') {
        at += *at == ',';
        if (!(at = pass(at, ' '))) return NULL;
        at = take_time(at + (*at == '+'), 0, &time);
    }
    *seconds = (minus ? -days : days) * (double)DAY + time;
    return time < DAY ? at : NULL;
}

int weft_date_read(const char *text, weft_date_order order, weft_date *date)
{
    int year, month, day, brief = 0;
    *date = (weft_date){0};
    if (order == WEFT_DATE_TIME || order == WEFT_DATE_SPAN) {
        const char *end = order == WEFT_DATE_TIME ? take_time(text, 0, &date->seconds)
                                                  : take_span(text, &date->seconds);
        return end && *end == '\0';
    }
    const char *at = order == WEFT_DATE_NAMED
                         ? take_named(text, &year, &month, &day)
                         : take_numbers(text, order, &year, &month, &day);
    if (!at && order != WEFT_DATE_YM)
        at = take_numbers(text, WEFT_DATE_YMD, &year, &month, &day);
    if (!at && order == WEFT_DATE_YMD)
        brief = (at = take_short(text, &year, &month, &day)) != NULL;
    if (!at || !read_day(year, month, day, &date->seconds)) return 0;
    if (*at == '\0') return 1;
    if (order == WEFT_DATE_YM || (*at != 'T' && *at != 't' && *at != ' ')) return 0;
    at = take_time(at + strspn(at, "Tt "), brief, &date->seconds);
    if (at) at = take_zone(at, date);
    return at && *at == '\0';
}

/* ---- parts ---- */

/* The sine of so much of a turn, rounded so that floats hold it, as equal ones are to be
 * equal. */
static double sine(double share)
{
    const double steps = 1 << 20;
    return nearbyint(sin(8 * atan(1) * share) * steps) / steps;
}

/* The clock of that zone. */
static struct tm clock_of(double seconds, int zone)
{
    struct tm tm = {0};
    time_t local = (time_t)floor(seconds) + zone * MINUTE;
    gmtime_r(&local, &tm);
    return tm;
}

void weft_date_parts(double seconds, int zone, double *value)
{
    struct tm tm = clock_of(seconds, zone);
    memset(value, 0, WEFT_DATE_PARTS * sizeof *value);
    value[WEFT_PART_SECONDS] = seconds;
    value[WEFT_PART_YEAR] = tm.tm_year + FIRST_YEAR;
    value[WEFT_PART_MONTH_SINE] = sine(tm.tm_mon / 12.0);
    value[WEFT_PART_MONTH_COSINE] = sine(tm.tm_mon / 12.0 + 0.25);
    value[WEFT_PART_MONDAY + (tm.tm_wday + 6) % 7] = 1; /* tm's first is Sunday */
    value[WEFT_PART_HOUR_SINE] = sine(tm.tm_hour / 24.0);
    value[WEFT_PART_HOUR_COSINE] = sine(tm.tm_hour / 24.0 + 0.25);
}

const char *weft_date_text(double seconds, int zone, weft_date_order order, char *text,
                           int room)
{
    struct tm tm = clock_of(seconds, zone);
    if (order == WEFT_DATE_SPAN)
        snprintf(text, (size_t)room, "%.6g s", seconds);
    else if (order == WEFT_DATE_TIME)
        snprintf(text, (size_t)room, "%02d:%02d", tm.tm_hour, tm.tm_min);
    else
        snprintf(text, (size_t)room, "%04d-%02d-%02d", tm.tm_year + FIRST_YEAR,
                 tm.tm_mon + 1, tm.tm_mday);
    return text;
}
