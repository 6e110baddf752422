#include "api/settings_table.h"

#include "base/sized.h"

#include <assert.h>
#include <string.h>

/* ---- the table --------------------------------------------------------- */

/* For each CHOICE a function that returns its words: word_device(0) is "cpu". */
#define INT(field, scope, standard, low, high, help)
#define AUTO(field, scope, high, help)
#define REAL(field, scope, standard, low, high, help)
#define FLAG(field, scope, standard, help)
#define TEXT(field, scope, words, standard, help)
#define CHOICE(field, scope, list, standard, help)                                                 \
    static const char *word_##field(int64_t c)                                                     \
    {                                                                                              \
        static const char *const words[] = {ROOFS_##list##_LIST(WORD)};                            \
        static_assert(sizeof words / sizeof *words == 0 ROOFS_##list##_LIST(ONE),                  \
                      "the numbers of a choice must be 0, 1, 2, ...");                             \
        return c >= 0 && c < (int64_t)(sizeof words / sizeof *words) ? words[c] : NULL;            \
    }
#define WORD(name, number, word) [number] = (word),
#define ONE(name, number, word) +1
#include "api/settings.def"

#define MODEL 1
#define EXECUTION 0
#define ROW(field, its_kind, scope)                                                                \
    .name = #field, .kind = ROOFS_SETTING_##its_kind, .in_model = scope,                           \
    .offset = offsetof(roofs_settings, field)
#define INT(field, scope, standard, lowest, highest, text)                                         \
    {ROW(field, INT, scope), .default_text = #standard, .low = (double)(lowest),                   \
     .high = (double)(highest), .help = (text)},
#define AUTO(field, scope, highest, text)                                                          \
    {ROW(field, INT, scope), .default_text = "auto", .zero = "auto", .high = (double)(highest),    \
     .help = (text)},
#define REAL(field, scope, standard, lowest, highest, text)                                        \
    {ROW(field, REAL, scope), .default_text = #standard, .low = (lowest), .high = (highest),       \
     .help = (text)},
#define FLAG(field, scope, standard, text)                                                         \
    {ROW(field, FLAG, scope), .default_text = #standard, .high = 1, .help = (text)},
#define TEXT(field, scope, list, standard, text)                                                   \
    {ROW(field, TEXT, scope), .default_text = (standard), .words = (list), .help = (text)},
#define CHOICE(field, scope, list, standard, text)                                                 \
    {ROW(field, CHOICE, scope), .default_choice = ROOFS_##list##_##standard,                       \
     .words = word_##field, .help = (text)},
const setting_row settings_rows[] = {
#include "api/settings.def"
};

const int64_t settings_count = (int64_t)(sizeof settings_rows / sizeof settings_rows[0]);

/* Compilation fails unless every row has a field of its type and every field has a row. */
#define BYTES(field, type)                                                                         \
    +_Generic(((const roofs_settings *)0)->field, type : sizeof(type), default : 0)
#define INT(field, scope, standard, low, high, help) BYTES(field, int64_t)
#define AUTO(field, scope, high, help) BYTES(field, int64_t)
#define REAL(field, scope, standard, low, high, help) BYTES(field, double)
#define FLAG(field, scope, standard, help) BYTES(field, int64_t)
#define TEXT(field, scope, words, standard, help) BYTES(field, const char *)
#define CHOICE(field, scope, list, standard, help) BYTES(field, int64_t)
static_assert(sizeof(roofs_settings) == sizeof(size_t)
#include "api/settings.def"
                  ,
              "settings.def and roofs_settings must have the same fields, of the same types");

/* ---- fields ------------------------------------------------------------ */

setting_value setting_get(const roofs_settings *s, const setting_row *r)
{
    const char *field = (const char *)s + r->offset;
    if (r->kind == ROOFS_SETTING_REAL)
        return (setting_value){.real = *(const double *)(const void *)field};
    if (r->kind == ROOFS_SETTING_TEXT)
        return (setting_value){.text = *(const char *const *)(const void *)field};
    return (setting_value){.number = *(const int64_t *)(const void *)field};
}

void setting_put(roofs_settings *s, const setting_row *r, setting_value v)
{
    void *field = (char *)s + r->offset;
    if (r->kind == ROOFS_SETTING_REAL)
        *(double *)field = v.real;
    else if (r->kind == ROOFS_SETTING_TEXT)
        *(const char **)field = v.text;
    else
        *(int64_t *)field = v.number;
}

void settings_defaults(roofs_settings *s)
{
    *s = (roofs_settings){.struct_size = sizeof *s};
#define INT(field, scope, standard, low, high, help) s->field = (standard);
#define AUTO(field, scope, high, help) s->field = 0;
#define REAL(field, scope, standard, low, high, help) s->field = (standard);
#define FLAG(field, scope, standard, help) s->field = (standard);
#define TEXT(field, scope, words, standard, help) s->field = (standard);
#define CHOICE(field, scope, list, standard, help) s->field = ROOFS_##list##_##standard;
#include "api/settings.def"
}

/* ---- descriptions ------------------------------------------------------ */

int64_t roofs_setting_find(const char *name)
{
    for (int64_t k = 0; name && k < settings_count; k++)
        if (strcmp(settings_rows[k].name, name) == 0)
            return k;
    return -1;
}

int roofs_setting_describe_sized(int64_t k, roofs_setting_info *out, size_t size)
{
    static const sized_type type = {"roofs_setting_info", sizeof *out, sizeof *out};
    if (k < 0 || k >= settings_count || !out)
        return 0;
    const setting_row *r = &settings_rows[k];
    const roofs_setting_info info = {
        .name = r->name,
        .kind = r->kind,
        .in_model = r->in_model,
        .default_text = r->default_text ? r->default_text : r->words(r->default_choice),
        .low = r->low,
        .high = r->high,
        .help = r->help,
    };
    sized_export(&type, out, size, &info);
    return 1;
}

const char *roofs_setting_choice(int64_t k, int64_t c)
{
    return k >= 0 && k < settings_count && settings_rows[k].words ? settings_rows[k].words(c)
                                                                  : NULL;
}
