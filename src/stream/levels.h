/* The different words of a column, each with a code: 0, 1, ... in the order of arrival. */
#ifndef STREAM_LEVELS_H
#define STREAM_LEVELS_H

#include "stream/names.h"

/* The first and the last eight bytes of a word; shorter words repeat some. */
typedef struct word_key {
    uint64_t first, last;
} word_key;

typedef struct level_slot {
    word_key key;
    int64_t length;
    int64_t code; /* -1 = empty */
} level_slot;

typedef struct levels {
    names words;
    int64_t *counts; /* how often each word was counted */
    int64_t count_capacity;
    level_slot *table; /* open addressing; the size is a power of two */
    int64_t table_size;
} levels; /* an empty set is all zero */

void levels_free(levels *l);

/* The code of a word, or -1. */
int64_t levels_find(const levels *l, const char *text, int64_t length);

/* Adds a word that is not in the set. Its code is the largest one. */
roofs_status levels_add(levels *l, const char *text, int64_t length, roofs_error *err);

#endif
