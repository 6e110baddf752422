/* Codes of two bits, as in .bed files: code i of a row is in bits 2 (i % 4) of byte i / 4. */
#ifndef STREAM_TWO_BIT_H
#define STREAM_TWO_BIT_H

#include "base/status.h"

/* Consecutive codes of a row. */
typedef struct two_bit_run {
    int64_t first, count;
} two_bit_run;

/* Rows that are copied from have this many bytes behind their end, of any value. */
enum { TWO_BIT_PADDING = 8 };

/* Bytes of n codes. */
static inline int64_t two_bit_bytes(int64_t n)
{
    return n / 4 + (n % 4 != 0);
}

static inline int two_bit_get(const unsigned char *row, int64_t i)
{
    return row[i >> 2] >> (2 * (i & 3)) & 3;
}

/* How often each code occurs among the first n. */
void two_bit_count(const unsigned char *row, int64_t n, int64_t counts[4]);

/* Copies the codes of the runs, one run after the other. Unused bits of the last byte become 0. */
void two_bit_copy(const unsigned char *from, const two_bit_run *runs, int64_t count,
                  unsigned char *to);

/* values[i] = level[code i] */
void two_bit_decode(const unsigned char *row, int64_t n, const double level[4], double *values);

#endif
