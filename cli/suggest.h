/* Finds the known word nearest to a mistyped one. */
#ifndef CLI_SUGGEST_H
#define CLI_SUGGEST_H

typedef struct suggestion {
    const char *typed;
    const char *best; /* NULL: no word is near */
    int distance;
} suggestion;

typedef struct suggestion_hint {
    char text[80];
} suggestion_hint;

void suggest_offer(suggestion *s, const char *word); /* a known word */

/* "; did you mean 'fit'?" with `prefix` before the word; empty if no word is near. */
suggestion_hint suggest_hint(const suggestion *s, const char *prefix);

#endif
