#include "table/dates.h"

#include <math.h>
#include <stdint.h>

/* ---- numbers of a date ------------------------------------------------- */

static int is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Reads up to `most` digits; returns how many. */
static int read_digits(const char **at, const char *end, int most, int *value)
{
    int count = 0;
    *value = 0;
    while (*at < end && count < most && is_digit(**at)) {
        *value = *value * 10 + (*(*at)++ - '0');
        count++;
    }
    return count;
}

static int is_leap(int year)
{
    return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

static int days_of_month(int year, int month)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    return days[month - 1] + (month == 2 && is_leap(year));
}

/* Days from 1970-01-01 to a date; years begin in March, so that the leap day is the last one. */
static int64_t days_since_1970(int year, int month, int day)
{
    const int64_t days_to_1970 = 719468; /* from 0000-03-01 */
    const int64_t y = month > 2 ? year : year - 1, m = (month + 9) % 12;
    const int64_t before = 365 * y + y / 4 - y / 100 + y / 400;
    return before + (153 * m + 2) / 5 + day - 1 - days_to_1970;
}

/* ---- reading ----------------------------------------------------------- */

typedef struct calendar {
    int year, month, day;
} calendar;

/* Numbers with one kind of separator between them: a year first, or day and month first. */
static date_kind read_calendar(const char **at, const char *end, date_order order, calendar *c)
{
    int first, second, third;
    const int digits = read_digits(at, end, 4, &first);
    if (*at == end || (digits != 4 && digits != 1 && digits != 2))
        return DATE_NOT;
    const char mark = *(*at)++;
    if (mark != '-' && mark != '/' && mark != '.')
        return DATE_NOT;
    if (!read_digits(at, end, 2, &second) || *at == end || *(*at)++ != mark)
        return DATE_NOT;
    const int last = read_digits(at, end, digits == 4 ? 2 : 4, &third);
    if (digits == 4) {
        *c = (calendar){first, second, third};
        return last > 0 ? DATE_FINE : DATE_NOT;
    }
    if (last != 4)
        return DATE_NOT;
    const int is_month_first = mark != '.' && order == DATE_ORDER_MDY;
    *c = is_month_first ? (calendar){third, first, second} : (calendar){third, second, first};
    return mark == '.' || order != DATE_ORDER_NONE ? DATE_FINE : DATE_UNCLEAR;
}

static int calendar_is_valid(const calendar *c)
{
    const int always = 28; /* days that every month has */
    return c->month >= 1 && c->month <= 12 && c->day >= 1 &&
           (c->day <= always || c->day <= days_of_month(c->year, c->month));
}

/* Z, +02:00, +0200, +02: adds the seconds to UTC. */
static int read_zone(const char **at, const char *end, double *seconds)
{
    int hours, minutes = 0;
    if (*at == end)
        return 1;
    const char sign = *(*at)++;
    if (sign == 'Z')
        return *at == end;
    if ((sign != '+' && sign != '-') || read_digits(at, end, 2, &hours) != 2)
        return 0;
    if (*at < end && **at == ':')
        ++*at;
    if (*at < end && read_digits(at, end, 2, &minutes) != 2)
        return 0;
    *seconds -= (sign == '+' ? 1 : -1) * (hours * 3600.0 + minutes * 60.0);
    return *at == end && hours < HOURS && minutes < 60;
}

static int read_time(const char **at, const char *end, double *seconds)
{
    int hour, minute, second = 0;
    double fraction = 0, unit = 1;
    if (read_digits(at, end, 2, &hour) == 0 || *at == end || *(*at)++ != ':' ||
        read_digits(at, end, 2, &minute) != 2)
        return 0;
    if (*at < end && **at == ':') {
        ++*at;
        if (read_digits(at, end, 2, &second) != 2)
            return 0;
        if (*at < end && **at == '.')
            for (++*at; *at < end && is_digit(**at); ++*at)
                fraction += (**at - '0') * (unit /= 10);
    }
    *seconds = hour * 3600.0 + minute * 60.0 + second + fraction;
    return hour < HOURS && minute < 60 && second <= 60 && read_zone(at, end, seconds);
}

int date_read_plain(const char *text, double *days)
{
    unsigned digit[8], largest = 0;
    static const int places[8] = {0, 1, 2, 3, 5, 6, 8, 9};
    for (int k = 0; k < 8; k++) {
        digit[k] = (unsigned)(text[places[k]] - '0');
        largest |= digit[k] + 6; /* 16 or more if it is no digit */
    }
    if (largest > 15 || text[4] != '-' || text[7] != '-')
        return 0;
    const calendar c = {(int)(digit[0] * 1000 + digit[1] * 100 + digit[2] * 10 + digit[3]),
                        (int)(digit[4] * 10 + digit[5]), (int)(digit[6] * 10 + digit[7])};
    *days = (double)days_since_1970(c.year, c.month, c.day);
    return calendar_is_valid(&c);
}

date_kind date_read(const char *text, const char *end, date_order order, double *days)
{
    const int shortest = 8; /* 1.1.2020 */
    const double seconds_of_day = 86400;
    calendar c;
    double seconds = 0;
    if (end - text == 10 && date_read_plain(text, days))
        return DATE_FINE;
    if (end - text < shortest || !is_digit(*text))
        return DATE_NOT;
    const date_kind kind = read_calendar(&text, end, order, &c);
    if (kind == DATE_NOT)
        return DATE_NOT;
    if (text < end) {
        if (*text != ' ' && *text != 'T')
            return DATE_NOT;
        text++;
        if (!read_time(&text, end, &seconds))
            return DATE_NOT;
    }
    if (kind == DATE_FINE && !calendar_is_valid(&c))
        return DATE_NOT;
    if (kind == DATE_FINE)
        *days = (double)days_since_1970(c.year, c.month, c.day) + seconds / seconds_of_day;
    return kind;
}

/* ---- what a date holds ------------------------------------------------- */

int date_weekday(double days)
{
    const int64_t thursday = 3; /* 1970-01-01 */
    const int64_t day = ((int64_t)floor(days) + thursday) % WEEKDAYS;
    return (int)(day < 0 ? day + WEEKDAYS : day);
}

int date_month(double days)
{
    const int64_t whole = (int64_t)floor(days);
    int year = (int)floor(1970 + days / 365.2425), month = 12;
    while (days_since_1970(year, 1, 1) > whole)
        year--;
    while (days_since_1970(year + 1, 1, 1) <= whole)
        year++;
    while (days_since_1970(year, month, 1) > whole)
        month--;
    return month - 1;
}

int date_hour(double days)
{
    const double rounding = 1e-9;
    const int hour = (int)floor((days - floor(days)) * HOURS + rounding);
    return hour < HOURS ? hour : HOURS - 1;
}
