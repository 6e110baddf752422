#include "stream/two_bit.h"

#include <string.h>

static const uint64_t pairs = 0x5555555555555555, quads = 0x3333333333333333,
                      nibbles = 0x0f0f0f0f0f0f0f0f;

/* ---- counting ---------------------------------------------------------- */

/* Adds the ones in the low bit of each pair of bits to the eight bytes of a sum. */
static inline uint64_t add_pairs(uint64_t sum, uint64_t bits)
{
    bits = (bits & quads) + (bits >> 2 & quads);
    return sum + (bits & nibbles) + (bits >> 4 & nibbles);
}

static int64_t sum_of_bytes(uint64_t bytes)
{
    int64_t sum = 0;
    for (; bytes; bytes >>= 8)
        sum += (int64_t)(bytes & 255);
    return sum;
}

/* Codes with the low bit, with the high bit and with both. */
typedef struct bit_counts {
    int64_t low, high, both;
} bit_counts;

static void count_words(const unsigned char *row, int64_t words, bit_counts *c)
{
    enum { TOGETHER = 60 }; /* a byte of a sum gains at most 4 per word */
    while (words > 0) {
        const int64_t count = words < TOGETHER ? words : TOGETHER;
        uint64_t low = 0, high = 0, both = 0;
        for (int64_t k = 0; k < count; k++) {
            uint64_t word;
            memcpy(&word, row + k * (int64_t)sizeof word, sizeof word);
            low = add_pairs(low, word & pairs);
            high = add_pairs(high, word >> 1 & pairs);
            both = add_pairs(both, word & word >> 1 & pairs);
        }
        c->low += sum_of_bytes(low);
        c->high += sum_of_bytes(high);
        c->both += sum_of_bytes(both);
        row += count * (int64_t)sizeof low;
        words -= count;
    }
}

void two_bit_count(const unsigned char *row, int64_t n, int64_t counts[4])
{
    const int64_t words = n / 32;
    bit_counts c = {0};
    count_words(row, words, &c);
    counts[3] = c.both;
    counts[2] = c.high - c.both;
    counts[1] = c.low - c.both;
    counts[0] = 32 * words - c.low - c.high + c.both;
    for (int64_t i = 32 * words; i < n; i++)
        counts[two_bit_get(row, i)]++;
}

/* ---- copying ----------------------------------------------------------- */

/* Bits that wait to be written. */
typedef struct bit_writer {
    uint64_t bits;
    int used;
    unsigned char *to;
} bit_writer;

/* Adds `count` bits, fewer than 64, and writes 64 when there are so many. */
static inline void put_bits(bit_writer *w, uint64_t bits, int count)
{
    const int free_bits = 64 - w->used;
    w->bits |= bits << w->used;
    w->used += count;
    if (count < free_bits)
        return;
    for (int k = 0; k < 8; k++)
        w->to[k] = (unsigned char)(w->bits >> (8 * k));
    w->to += 8;
    w->bits = count > free_bits ? bits >> free_bits : 0;
    w->used = count - free_bits;
}

static void put_rest(bit_writer *w)
{
    for (; w->used > 0; w->used -= 8, w->bits >>= 8)
        *w->to++ = (unsigned char)w->bits;
}

/* At least 28 codes from code i on, whatever the order of bytes in memory. */
static inline uint64_t load_codes(const unsigned char *from, int64_t i)
{
    const unsigned char *at = from + (i >> 2);
    uint64_t bits = 0;
    for (int k = 0; k < 8; k++)
        bits |= (uint64_t)at[k] << (8 * k);
    return bits >> (2 * (i & 3));
}

void two_bit_copy(const unsigned char *from, const two_bit_run *runs, int64_t count,
                  unsigned char *to)
{
    enum { MOST = 28 }; /* as load_codes gives */
    bit_writer w = {.to = to};
    for (int64_t k = 0; k < count; k++)
        for (int64_t done = 0; done < runs[k].count;) {
            const int64_t left = runs[k].count - done, some = left < MOST ? left : MOST;
            const uint64_t mask = ((uint64_t)1 << (2 * some)) - 1;
            put_bits(&w, load_codes(from, runs[k].first + done) & mask, 2 * (int)some);
            done += some;
        }
    put_rest(&w);
}

/* ---- decoding ---------------------------------------------------------- */

void two_bit_decode(const unsigned char *row, int64_t n, const double level[4], double *values)
{
    int64_t i = 0;
    for (; i + 4 <= n; i += 4) {
        const unsigned byte = row[i >> 2];
        values[i] = level[byte & 3];
        values[i + 1] = level[byte >> 2 & 3];
        values[i + 2] = level[byte >> 4 & 3];
        values[i + 3] = level[byte >> 6];
    }
    for (; i < n; i++)
        values[i] = level[two_bit_get(row, i)];
}
