/* What the words of a column are: numbers, dates, booleans or levels. */
#include "base/memory.h"
#include "table/frame.h"
#include "table/written.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static int is_space(char c)
{
    return c == ' ' || c == '\t';
}

/* A word without spaces around it, as the fields of text tables. */
static field field_of(const frame_column *c, int64_t word)
{
    const char *begin = c->given.words[word], *end = begin + strlen(begin);
    while (begin < end && is_space(*begin))
        begin++;
    while (end > begin && is_space(end[-1]))
        end--;
    return (field){begin, end, 0};
}

roofs_status frame_word_error(const frame *f, int64_t column, int64_t word, const char *what,
                              roofs_error *err)
{
    const frame_column *c = &f->columns[column];
    char text[FIELD_QUOTED];
    int64_t i = 0;
    while (i < f->n - 1 && c->given.codes[i] != word)
        i++;
    field_quote(field_of(c, word), text);
    return fail(err, ROOFS_BAD_DATA, "column \"%.80s\", sample %lld (counted from 0): \"%s\" %s",
                c->given.name, (long long)i, text, what);
}

static roofs_status misfit(const frame *f, int64_t column, int64_t word, const char *what,
                           roofs_error *err)
{
    char text[200];
    snprintf(text, sizeof text,
             "%s; correct it, leave the column out, or make it a category with the option "
             "categories",
             what);
    return frame_word_error(f, column, word, text, err);
}

static number_kind read_number(const frame *f, field word, double *value)
{
    if (f->thousands || f->decimal_comma)
        return written_number(word, f->thousands, f->decimal_comma, value);
    return field_number(word, value);
}

static roofs_status not_a_number(const frame *f, int64_t column, int64_t word, number_kind kind,
                                 roofs_error *err)
{
    const field text = field_of(&f->columns[column], word);
    if (kind == NUMBER_TOO_LARGE)
        return frame_word_error(f, column, word, "is too large for a double", err);
    if (kind == NUMBER_INFINITE)
        return frame_word_error(f, column, word, "is not a finite number", err);
    if (memchr(text.begin, ',', (size_t)(text.end - text.begin)))
        return frame_word_error(f, column, word,
                                "is not a number (the decimal sign must be a point; see the "
                                "options decimal-comma and thousands)",
                                err);
    return misfit(f, column, word, "is not a number, as other values of the column are", err);
}

/* ---- a fit ------------------------------------------------------------- */

typedef struct search {
    frame *f;
    int64_t column;
    column_content content;
    int is_empty; /* no value so far */
    int has_time;
} search;

static void set_missing(frame_column *c, int64_t word)
{
    c->meaning[word] = NAN;
    c->missing += c->counts[word];
}

static int64_t most_words(const search *s)
{
    const int64_t most_of_request = 1 << 20;
    if (s->content == HOLDS_CATEGORY)
        return most_of_request;
    return s->f->choices.max_levels > 0 ? s->f->choices.max_levels : MAX_LEVELS;
}

static roofs_status add_word(search *s, int64_t word, field text, roofs_error *err)
{
    frame_column *c = &s->f->columns[s->column];
    int64_t code = levels_find(&c->words, text.begin, text.end - text.begin);
    if (code < 0 && c->words.words.count >= most_words(s)) {
        s->content = HOLDS_MANY;
        return ROOFS_OK;
    }
    if (code < 0 && !names_are_utf8(text.begin, text.end))
        return frame_word_error(s->f, s->column, word, "is not UTF-8", err);
    if (code < 0) {
        TRY(levels_add(&c->words, text.begin, text.end - text.begin, err));
        code = c->words.words.count - 1;
    }
    c->words.counts[code] += c->counts[word];
    c->meaning[word] = (double)code;
    return ROOFS_OK;
}

/* A word of a column whose values before are words. */
static roofs_status check_among_words(const search *s, int64_t word, field text, number_kind kind,
                                      roofs_error *err)
{
    double other;
    if (kind != NUMBER_TEXT)
        return misfit(s->f, s->column, word, "is a number, but other values are words", err);
    if (field_resembles_number(text) == FIELD_WRITTEN_AS)
        return not_a_number(s->f, s->column, word, kind, err);
    if (date_read(text.begin, text.end, s->f->choices.order, &other) != DATE_NOT)
        return misfit(s->f, s->column, word, "is a date, but other values are other words", err);
    return ROOFS_OK;
}

static roofs_status add_date(search *s, int64_t word, field text, roofs_error *err)
{
    const int64_t longest_date = 10; /* without a time */
    double *days = &s->f->columns[s->column].meaning[word];
    if (date_read(text.begin, text.end, s->f->choices.order, days) != DATE_FINE)
        return misfit(s->f, s->column, word, "is not a date, as other values are", err);
    s->has_time |= text.end - text.begin > longest_date;
    return ROOFS_OK;
}

/* The first value that is not missing decides what the others must be. */
static roofs_status choose_content(search *s, int64_t word, field text, number_kind kind,
                                   roofs_error *err)
{
    double days;
    s->is_empty = 0;
    if (s->content == HOLDS_CATEGORY)
        return ROOFS_OK;
    if (kind == NUMBER_FINE) {
        s->content = HOLDS_NUMBERS;
        return ROOFS_OK;
    }
    if (kind != NUMBER_TEXT)
        return not_a_number(s->f, s->column, word, kind, err);
    const date_kind date = date_read(text.begin, text.end, s->f->choices.order, &days);
    if (date == DATE_NOT && field_resembles_number(text) == FIELD_WRITTEN_AS)
        return not_a_number(s->f, s->column, word, kind, err);
    s->content = date == DATE_FINE ? HOLDS_DATES : date == DATE_NOT ? HOLDS_WORDS : HOLDS_UNCLEAR;
    return ROOFS_OK;
}

static roofs_status classify_word(search *s, int64_t word, roofs_error *err)
{
    frame_column *c = &s->f->columns[s->column];
    const field text = field_of(c, word);
    double value;
    const number_kind kind = read_number(s->f, text, &value);
    if (kind == NUMBER_MISSING) {
        set_missing(c, word);
        return ROOFS_OK;
    }
    if (s->is_empty)
        TRY(choose_content(s, word, text, kind, err));
    switch (s->content) {
    case HOLDS_NUMBERS:
        c->meaning[word] = value;
        return kind == NUMBER_FINE ? ROOFS_OK : not_a_number(s->f, s->column, word, kind, err);
    case HOLDS_DATES:
        return add_date(s, word, text, err);
    case HOLDS_WORDS:
        TRY(check_among_words(s, word, text, kind, err));
        return add_word(s, word, text, err);
    case HOLDS_CATEGORY:
        return add_word(s, word, text, err);
    default:
        return ROOFS_OK; /* the column is left out */
    }
}

roofs_status frame_classify(frame *f, int64_t column, column_content *content, int *has_time,
                            roofs_error *err)
{
    frame_column *c = &f->columns[column];
    unsigned char *seen = NULL;
    search s = {.f = f, .column = column, .is_empty = 1, .content = HOLDS_NUMBERS};
    if (c->given.kind == ROOFS_COLUMN_CATEGORY)
        s.content = HOLDS_CATEGORY;
    TRY(memory_get(&seen, c->given.word_count, 1, "the words of a column", err));
    roofs_status status = ROOFS_OK;
    for (int64_t i = 0; i < f->n && status == ROOFS_OK; i++) {
        const int64_t word = c->given.codes[i];
        if (word < 0 || seen[word])
            continue;
        seen[word] = 1;
        status = classify_word(&s, word, err);
    }
    memory_free(seen);
    *content = s.content;
    *has_time = s.has_time;
    return status;
}

/* ---- a fitted recipe --------------------------------------------------- */

static roofs_status read_fitted(frame *f, int64_t column, int64_t word, roofs_error *err)
{
    frame_column *c = &f->columns[column];
    const recipe_column *r = &c->recipe;
    const field text = field_of(c, word);
    double *value = &c->meaning[word];
    const number_kind kind = read_number(f, text, value);
    if (r->kind == COLUMN_CATEGORY) {
        *value = (double)levels_find(&c->words, text.begin, text.end - text.begin);
        if (*value >= 0)
            return ROOFS_OK;
    }
    if (kind == NUMBER_MISSING) {
        set_missing(c, word);
        return ROOFS_OK;
    }
    if (r->kind == COLUMN_CATEGORY) {
        c->unknown += c->counts[word];
        *value = r->has_rare ? (double)r->levels.count : -1;
        return ROOFS_OK;
    }
    if (r->kind == COLUMN_NUMBER)
        return kind == NUMBER_FINE ? ROOFS_OK : not_a_number(f, column, word, kind, err);
    if (r->kind == COLUMN_BOOLEAN) {
        *value = boolean_read(text.begin, text.end);
        return *value >= 0
                   ? ROOFS_OK
                   : frame_word_error(f, column, word, "is not yes or no, as in the fit", err);
    }
    return date_read(text.begin, text.end, r->order, value) == DATE_FINE
               ? ROOFS_OK
               : frame_word_error(f, column, word, "is not a date, as in the fit", err);
}

roofs_status frame_read_words(frame *f, int64_t column, roofs_error *err)
{
    frame_column *c = &f->columns[column];
    for (int64_t k = 0; k < c->recipe.levels.count; k++) {
        const char *level = names_get(&c->recipe.levels, k);
        TRY(levels_add(&c->words, level, (int64_t)strlen(level), err));
    }
    for (int64_t k = 0; k < c->given.word_count; k++)
        if (c->counts[k] > 0)
            TRY(read_fitted(f, column, k, err));
    return ROOFS_OK;
}

roofs_status frame_read_numbers(frame *f, int64_t column, roofs_error *err)
{
    frame_column *c = &f->columns[column];
    for (int64_t k = 0; k < c->given.word_count; k++) {
        const field text = field_of(c, k);
        const number_kind kind = read_number(f, text, &c->meaning[k]);
        const int truth = kind == NUMBER_TEXT ? boolean_read(text.begin, text.end) : -1;
        if (c->counts[k] == 0)
            continue;
        if (kind == NUMBER_MISSING)
            set_missing(c, k);
        else if (truth >= 0)
            c->meaning[k] = truth;
        else if (kind == NUMBER_TEXT && !memchr(text.begin, ',', (size_t)(text.end - text.begin)))
            return frame_word_error(f, column, k, "is not a number; correct the value", err);
        else if (kind != NUMBER_FINE)
            return not_a_number(f, column, k, kind, err);
    }
    return ROOFS_OK;
}
