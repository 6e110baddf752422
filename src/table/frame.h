/* A table in memory: columns of the caller as features. docs/tables.md has the rules. */
#ifndef TABLE_FRAME_H
#define TABLE_FRAME_H

#include "table/decide.h"

typedef struct frame_column {
    roofs_column given; /* borrowed */
    recipe_column recipe;
    levels words;      /* that are no missing values */
    int32_t *slots;    /* see recipe_decide */
    double *meaning;   /* of each given word: a number, a date, 0 or 1, or the slot of a category */
    int64_t *counts;   /* samples with each given word */
    int64_t missing;   /* samples without a value */
    int64_t first_gap; /* the first of them */
    int64_t unknown;   /* samples with a word that a fitted category does not have */
    int64_t first_feature;
} frame_column;

/* The place of a feature of a model. */
typedef struct frame_place {
    int64_t column, feature; /* feature: of the column */
} frame_place;

typedef struct frame {
    int64_t n, count;
    frame_column *columns;
    int64_t features;
    names feature_names;
    names notes;
    frame_place *places; /* of each feature */
    recipe_choices choices;
    int thousands, decimal_comma;
    int is_fitted;
} frame; /* an empty frame is all zero */

void frame_free(frame *f);

/* Takes the columns in. The caller has set n, choices, thousands and decimal_comma. */
roofs_status frame_fill(frame *f, const roofs_column *columns, int64_t count, roofs_error *err);

/* Decides what the columns hold, and lists the features. */
roofs_status frame_decide(frame *f, roofs_error *err);

/* Reads the columns by a fitted recipe, and finds the features of the model `v`, in its order. */
roofs_status frame_apply(frame *f, recipe *fitted, const roofs_result *v, roofs_error *err);

/* Writes feature k. */
void frame_read(const frame *f, int64_t k, double *values);

/* ---- frame_words.c: what the words of a column are --------------------- */

/* Sets f->columns[column].meaning: codes of levels for words. *content is what the column holds. */
roofs_status frame_classify(frame *f, int64_t column, column_content *content, int *has_time,
                            roofs_error *err);

/* Reads the words of a column by a fitted recipe. */
roofs_status frame_read_words(frame *f, int64_t column, roofs_error *err);

/* Reads the words of a column as numbers. */
roofs_status frame_read_numbers(frame *f, int64_t column, roofs_error *err);

/* BAD_DATA with the column and the first sample of a word, and what is wrong with it. */
roofs_status frame_word_error(const frame *f, int64_t column, int64_t word, const char *what,
                              roofs_error *err);

#endif
