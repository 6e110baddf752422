#include "cli/suggest.h"

#include <stdio.h>
#include <string.h>

enum { LONGEST = 40 };

static int least(int a, int b, int c)
{
    int ab = a < b ? a : b;
    return ab < c ? ab : c;
}

/* The number of letters to insert, drop, replace or swap with the next one. */
static int edit_distance(const char *a, const char *b)
{
    size_t rows = strlen(a), columns = strlen(b);
    int d[LONGEST + 1][LONGEST + 1];
    if (rows > LONGEST || columns > LONGEST)
        return LONGEST;
    for (size_t i = 0; i <= rows; i++)
        d[i][0] = (int)i;
    for (size_t j = 0; j <= columns; j++)
        d[0][j] = (int)j;
    for (size_t i = 1; i <= rows; i++)
        for (size_t j = 1; j <= columns; j++) {
            int same = a[i - 1] == b[j - 1];
            d[i][j] = least(d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + !same);
            int swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if (swapped && d[i - 2][j - 2] + 1 < d[i][j])
                d[i][j] = d[i - 2][j - 2] + 1;
        }
    return d[rows][columns];
}

/* Near: at most one edit of a short word, a third of the letters of a longer one. The beginning of
 * a word is near. */
void suggest_offer(suggestion *s, const char *word)
{
    size_t length = strlen(s->typed);
    int distance = edit_distance(s->typed, word);
    int allowed = length < 5 ? 1 : 1 + (int)(length / 3);
    if (length >= 3 && strncmp(s->typed, word, length) == 0)
        distance = 1;
    if (distance > allowed || (size_t)distance >= length)
        return;
    if (!s->best || distance < s->distance) {
        s->best = word;
        s->distance = distance;
    }
}

suggestion_hint suggest_hint(const suggestion *s, const char *prefix)
{
    suggestion_hint hint = {""};
    if (s->best)
        snprintf(hint.text, sizeof hint.text, "; did you mean '%s%s'?", prefix, s->best);
    return hint;
}
