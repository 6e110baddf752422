/* Dates and times as numbers: days since 1970-01-01, with a fraction for the time of day. */
#ifndef TABLE_DATES_H
#define TABLE_DATES_H

/* The order of day and month in dates such as 03/04/2020. */
typedef enum date_order { DATE_ORDER_NONE = 0, DATE_ORDER_DMY = 1, DATE_ORDER_MDY = 2 } date_order;

typedef enum date_kind {
    DATE_NOT,
    DATE_FINE,
    DATE_UNCLEAR /* such as 03/04/2020, without an order of day and month */
} date_kind;

/* Reads all of [text, end): 2020-04-03, 2020/4/3, 3.4.2020, and 3/4/2020 by the order; then, after
 * a space or T, 14:05, 14:05:09.5, each also with Z or +02:00. A time with a zone becomes UTC. */
date_kind date_read(const char *text, const char *end, date_order order, double *days);

/* The common case, for speed: 2020-04-03 at `text`, which has ten characters. 0 = something else.
 */
int date_read_plain(const char *text, double *days);

enum { WEEKDAYS = 7, MONTHS = 12, HOURS = 24 };

int date_weekday(double days); /* 0 = Monday */
int date_month(double days);   /* 0 = January */
int date_hour(double days);

#endif
