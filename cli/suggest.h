/* The nearest known word to a mistyped one. */
#ifndef CLI_SUGGEST_H
#define CLI_SUGGEST_H

#include <stdint.h>

typedef struct suggestion {
    const char *typed;
    const char *best; /* NULL: no word was near */
    int distance;
} suggestion;

void suggest_offer(suggestion *s, const char *word);

#endif
