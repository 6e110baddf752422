/* The rows of settings.def, and the fields of roofs_settings that they describe. */
#ifndef API_SETTINGS_TABLE_H
#define API_SETTINGS_TABLE_H

#include "base/status.h"

typedef struct setting_row {
    const char *name;
    roofs_setting_kind kind;
    int in_model;
    size_t offset;
    const char *default_text; /* NULL for CHOICE, whose default is word default_choice */
    int64_t default_choice;
    const char *zero; /* of INT: the word for 0; NULL = it has none */
    double low, high;
    const char *(*words)(int64_t c); /* of TEXT and CHOICE: word c; NULL past the last */
    const char *help;
} setting_row;

typedef union setting_value {
    int64_t number; /* INT, FLAG, CHOICE */
    double real;
    const char *text;
} setting_value;

extern const setting_row settings_rows[];
extern const int64_t settings_count;

setting_value setting_get(const roofs_settings *s, const setting_row *r);
void setting_put(roofs_settings *s, const setting_row *r, setting_value v);

/* The value as text; `digits` is scratch. */
enum { SETTING_DIGITS = 40 };
const char *setting_text(const roofs_settings *s, const setting_row *r,
                         char digits[SETTING_DIGITS]);

void settings_defaults(roofs_settings *s);

#endif
