/* Correlations on some of the samples. They show which pairs of columns cannot have a large
 * correlation, so that only few pairs need all samples. First on a few: every fourth of them. */
#ifndef METHOD_SCREEN_H
#define METHOD_SCREEN_H

#include "linalg/rows.h"
#include "method/fit.h"

typedef struct screen {
    fit *f;
    int64_t stride, first; /* of the samples of this rank: first, first + stride, ... */
    int64_t some, length;  /* their number; that padded to whole lanes */
    int64_t few_first, few, few_length; /* every fourth of them, from few_first on; 0 = unused */
    double total[2];                    /* sums of the weights of some and of a few, of all ranks */
    float *weight;                      /* of some */
    float *few_weight, *few_root;
    float *rows; /* scratch: SCREEN_MOST rows */
} screen;

enum { SCREEN_MOST = 128 }; /* rows that are compared with others together */

/* Columns at these samples. */
typedef struct screen_rows {
    const float **some;     /* their values, borrowed */
    double *shift, *unit;   /* mean, and the factor that gives length 1 */
    float *few;             /* with weighted mean 0 (with an intercept) and length 1 */
    unsigned char *is_rare; /* a few samples show too little of this column */
    int64_t count;          /* capacity */
} screen_rows;

void screen_create(screen *s, fit *f); /* without weights */
void screen_destroy(screen *s);

/* The weights of all samples. */
roofs_status screen_weigh(screen *s, const double *W, roofs_error *err);

/* row = the values of column j; scratch: n numbers. row has s->length numbers. */
roofs_status screen_take(const screen *s, int64_t j, double *scratch, float *row, roofs_error *err);

/* The same for columns which[0..count), one row after the other. */
roofs_status screen_take_columns(const screen *s, const int64_t *which, int64_t count,
                                 double *scratch, float *rows, roofs_error *err);

/* row = values z of a column that is not stored. */
void screen_take_values(const screen *s, const double *z, float *row);

roofs_status screen_reserve(const screen *s, screen_rows *rows, int64_t count, roofs_error *err);
void screen_rows_destroy(screen_rows *rows);

/* Measures the rows [from, from + count), whose values are in rows->some. */
roofs_status screen_measure(const screen *s, screen_rows *rows, int64_t from, int64_t count,
                            roofs_error *err);

/* out[k * others + l] = correlation of row from + k with other l, 0 if it is below `least`; count
 * is at most SCREEN_MOST. */
void screen_correlations(const screen *s, const screen_rows *rows, int64_t from, int64_t count,
                         const screen_rows *other, int64_t others, double least, double *out);

/* The correlation of two rows. */
double screen_pair(const screen *s, const screen_rows *rows, int64_t k, int64_t l);

/* A correlation of at least `near` is at least this on these samples. */
double screen_least(const screen *s, double near);

/* The bytes of the values of a column, of a row without them, and of a screen, at most, for n
 * samples of this rank. */
int64_t screen_value_bytes(int64_t n);
int64_t screen_row_bytes(int64_t n);
int64_t screen_bytes(int64_t n);

#endif
