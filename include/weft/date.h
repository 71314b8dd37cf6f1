/* Dates and times of day as people write them, and what a model is told of one. */
#ifndef WEFT_DATE_H
#define WEFT_DATE_H

#include <stdint.h>

/* In which order a text has the numbers of a date: 2024-12-31, 31.12.2024, 12/31/2024,
 * 2024-12, whose day is the first; names of months, 31 Dec 2024 or December 31, 2024; a
 * time of day alone, 23:59. */
typedef enum weft_date_order {
    WEFT_DATE_NONE,
    WEFT_DATE_YMD,
    WEFT_DATE_DMY,
    WEFT_DATE_MDY,
    WEFT_DATE_YM,
    WEFT_DATE_NAMED,
    WEFT_DATE_TIME,
    WEFT_DATE_ORDERS
} weft_date_order;
extern const char *const weft_date_order_name[WEFT_DATE_ORDERS];
extern const char *const weft_date_example[WEFT_DATE_ORDERS]; /* a text of each */

/* A date that was read. */
typedef struct weft_date {
    double seconds; /* since 1970 began, or midnight, by its own clock */
    int zone;       /* minutes that its clock is ahead of Greenwich's */
    int zoned;      /* 1: it says so; 0: it has no zone, and `zone` is 0 */
} weft_date;
/* Reads a date of that order, or, but for WEFT_DATE_YM, with the year first, a time behind
 * it where there is one, after T or a blank, with fractions of a second, AM or PM, and a
 * zone; 0: it is none, or there is no such day. Years have four digits; of two, where days
 * or months come first, 69 is 1969 and 68 is 2068. The calendar is Gregory's. */
int weft_date_read(const char *text, weft_date_order order, weft_date *date);

/* What models are told of a date, each a feature: the seconds since 1970 began by the clock
 * of Greenwich; the year; month and hour by sine and cosine of their angle, so that the
 * last is beside the first; the weekday by 0 and 1 for each, as any may be special. The
 * last but the seconds are by the clock that is `zone` minutes ahead. */
enum {
    WEFT_PART_SECONDS,
    WEFT_PART_YEAR,
    WEFT_PART_MONTH_SINE,
    WEFT_PART_MONTH_COSINE,
    WEFT_PART_MONDAY,
    WEFT_PART_HOUR_SINE = WEFT_PART_MONDAY + 7,
    WEFT_PART_HOUR_COSINE,
    WEFT_DATE_PARTS
};
extern const char *const weft_date_part_name[WEFT_DATE_PARTS];
/* value[WEFT_DATE_PARTS] of that moment. */
void weft_date_parts(double seconds, int zone, double *value);

/* Writes the day, or the time of day where order is WEFT_DATE_TIME, to text[room]. */
const char *weft_date_text(double seconds, int zone, weft_date_order order, char *text,
                           int room);

#endif
