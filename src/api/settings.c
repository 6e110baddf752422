#include "api/settings.h"

#include "base/number.h"
#include "base/sized.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the table --------------------------------------------------------- */

typedef const char *(*word_list)(int64_t c); /* word c; NULL past the last */

typedef struct row {
    const char *name;
    roofs_setting_kind kind;
    int in_model;
    size_t offset;
    const char *default_text; /* NULL for CHOICE: word default_choice */
    int64_t default_choice;
    double low, high;
    word_list words; /* of TEXT and CHOICE */
    const char *help;
} row;

/* Words of the choices: word_device(0) is "cpu". */
#define INT(field, scope, standard, low, high, help)
#define REAL(field, scope, standard, low, high, help)
#define FLAG(field, scope, standard, help)
#define TEXT(field, scope, words, standard, help)
#define CHOICE(field, scope, list, standard, help)                                                 \
    static const char *word_##field(int64_t c)                                                     \
    {                                                                                              \
        static const char *const words[] = {ROOFS_##list##_LIST(WORD)};                            \
        return c >= 0 && c < (int64_t)(sizeof words / sizeof *words) ? words[c] : NULL;            \
    }
#define WORD(name, number, word) [number] = (word),
#include "api/settings.def"

#define MODEL 1
#define EXECUTION 0
#define ROW(field, its_kind, scope)                                                                \
    .name = #field, .kind = ROOFS_SETTING_##its_kind, .in_model = scope,                           \
    .offset = offsetof(roofs_settings, field)
#define INT(field, scope, standard, lowest, highest, text)                                         \
    {ROW(field, INT, scope), .default_text = #standard, .low = (double)(lowest),                   \
     .high = (double)(highest), .help = (text)},
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
static const row rows[] = {
#include "api/settings.def"
};

static const int64_t row_count = (int64_t)(sizeof rows / sizeof rows[0]);

/* Every row has a field of its type, and every field has a row. */
#define BYTES(field, type)                                                                         \
    +_Generic(((const roofs_settings *)0)->field, type : sizeof(type), default : 0)
#define INT(field, scope, standard, low, high, help) BYTES(field, int64_t)
#define REAL(field, scope, standard, low, high, help) BYTES(field, double)
#define FLAG(field, scope, standard, help) BYTES(field, int64_t)
#define TEXT(field, scope, words, standard, help) BYTES(field, const char *)
#define CHOICE(field, scope, list, standard, help) BYTES(field, int64_t)
static_assert(sizeof(roofs_settings) == sizeof(size_t)
#include "api/settings.def"
                  ,
              "settings.def and roofs_settings must have the same fields, of the same types");

static const sized_type settings_type = {
    .name = "roofs_settings",
    .size = sizeof(roofs_settings),
    .first = offsetof(roofs_settings, device) + sizeof(int64_t),
};

int64_t roofs_setting_find(const char *name)
{
    for (int64_t k = 0; name && k < row_count; k++)
        if (strcmp(rows[k].name, name) == 0)
            return k;
    return -1;
}

/* ---- fields ------------------------------------------------------------ */

typedef union setting_value {
    int64_t number; /* INT, FLAG, CHOICE */
    double real;
    const char *text;
} setting_value;

static setting_value field_get(const roofs_settings *s, const row *r)
{
    const char *field = (const char *)s + r->offset;
    if (r->kind == ROOFS_SETTING_REAL)
        return (setting_value){.real = *(const double *)(const void *)field};
    if (r->kind == ROOFS_SETTING_TEXT)
        return (setting_value){.text = *(const char *const *)(const void *)field};
    return (setting_value){.number = *(const int64_t *)(const void *)field};
}

static void field_set(roofs_settings *s, const row *r, setting_value v)
{
    void *field = (char *)s + r->offset;
    if (r->kind == ROOFS_SETTING_REAL)
        *(double *)field = v.real;
    else if (r->kind == ROOFS_SETTING_TEXT)
        *(const char **)field = v.text;
    else
        *(int64_t *)field = v.number;
}

static void set_defaults(roofs_settings *s)
{
    *s = (roofs_settings){.struct_size = sizeof *s};
#define INT(field, scope, standard, low, high, help) s->field = (standard);
#define REAL(field, scope, standard, low, high, help) s->field = (standard);
#define FLAG(field, scope, standard, help) s->field = (standard);
#define TEXT(field, scope, words, standard, help) s->field = (standard);
#define CHOICE(field, scope, list, standard, help) s->field = ROOFS_##list##_##standard;
#include "api/settings.def"
}

static void set_as_saved(roofs_settings *s)
{
    *s = (roofs_settings){.struct_size = sizeof *s};
    for (int64_t k = 0; k < row_count; k++) {
        setting_value v = {.number = ROOFS_AS_SAVED};
        if (rows[k].kind == ROOFS_SETTING_REAL)
            v.real = ROOFS_AS_SAVED;
        else if (rows[k].kind == ROOFS_SETTING_TEXT)
            v.text = NULL;
        field_set(s, &rows[k], v);
    }
}

static int is_as_saved(const row *r, setting_value v)
{
    return r->kind == ROOFS_SETTING_REAL   ? v.real == ROOFS_AS_SAVED
           : r->kind == ROOFS_SETTING_TEXT ? v.text == NULL
                                           : v.number == ROOFS_AS_SAVED;
}

/* The caller's struct may be longer than *own; export gives its size back to it. */
static void give_settings(roofs_settings *to, size_t size, const roofs_settings *own)
{
    sized_export(&settings_type, to, size, own);
    if (to && size >= sizeof size)
        to->struct_size = size;
}

void roofs_settings_init_sized(roofs_settings *s, size_t size)
{
    roofs_settings own;
    set_defaults(&own);
    give_settings(s, size, &own);
}

void roofs_settings_as_saved_sized(roofs_settings *s, size_t size)
{
    roofs_settings own;
    set_as_saved(&own);
    give_settings(s, size, &own);
}

/* ---- checks ------------------------------------------------------------ */

static roofs_status out_of_range(const row *r, double number, roofs_error *err)
{
    return fail(err, ROOFS_BAD_SETTING, "%s must be between %.15g and %.15g, not %.15g", r->name,
                r->low, r->high, number);
}

static roofs_status unknown_word(const row *r, const char *word, roofs_error *err)
{
    char known[400] = "";
    for (int64_t c = 0; r->words(c); c++) {
        size_t used = strlen(known);
        snprintf(known + used, sizeof known - used, "%s%s", c ? ", " : "", r->words(c));
    }
    if (!word)
        return fail(err, ROOFS_BAD_SETTING, "%s is not set; choose one of: %s", r->name, known);
    return fail(err, ROOFS_BAD_SETTING, "unknown %s \"%s\"; choose one of: %s", r->name, word,
                known);
}

/* Which of the row's words it is; -1 if none. */
static int64_t word_number(const row *r, const char *word)
{
    for (int64_t c = 0; word && r->words(c); c++)
        if (strcmp(r->words(c), word) == 0)
            return c;
    return -1;
}

static roofs_status check_number(const row *r, double number, roofs_error *err)
{
    return number >= r->low && number <= r->high ? ROOFS_OK : out_of_range(r, number, err);
}

static roofs_status check_value(const row *r, setting_value v, roofs_error *err)
{
    char digits[24];
    switch (r->kind) {
    case ROOFS_SETTING_INT:
    case ROOFS_SETTING_FLAG:
        return check_number(r, (double)v.number, err);
    case ROOFS_SETTING_REAL:
        return check_number(r, v.real, err);
    case ROOFS_SETTING_TEXT:
        return word_number(r, v.text) >= 0 ? ROOFS_OK : unknown_word(r, v.text, err);
    case ROOFS_SETTING_CHOICE:
        break;
    }
    snprintf(digits, sizeof digits, "%" PRId64, v.number);
    return r->words(v.number) ? ROOFS_OK : unknown_word(r, digits, err);
}

static roofs_status import(const roofs_settings *given, roofs_settings *own, roofs_error *err)
{
    if (given->struct_size == 0)
        return fail(err, ROOFS_BAD_CALL,
                    "the settings have no struct_size: call roofs_settings_init first");
    return sized_import(&settings_type, own, given, given->struct_size, err);
}

roofs_status settings_take(const roofs_settings *given, roofs_settings *own, roofs_error *err)
{
    set_defaults(own);
    TRY(import(given, own, err));
    if (own->mu == 0)
        return fail(err, ROOFS_BAD_SETTING,
                    "mu, the number of features to keep, must be given and be at least 1");
    for (int64_t k = 0; k < row_count; k++)
        TRY(check_value(&rows[k], field_get(own, &rows[k]), err));
    return ROOFS_OK;
}

roofs_status roofs_settings_check(const roofs_settings *s, roofs_error *err)
{
    roofs_settings own;
    REQUIRE(s);
    return settings_take(s, &own, err);
}

roofs_status settings_override(roofs_settings *own, const roofs_settings *run, roofs_error *err)
{
    roofs_settings given;
    if (!run)
        return ROOFS_OK;
    set_as_saved(&given);
    TRY(import(run, &given, err));
    for (int64_t k = 0; k < row_count; k++) {
        const setting_value v = field_get(&given, &rows[k]);
        if (rows[k].in_model || is_as_saved(&rows[k], v))
            continue;
        TRY(check_value(&rows[k], v, err));
        field_set(own, &rows[k], v);
    }
    return ROOFS_OK;
}

/* ---- setting by name --------------------------------------------------- */

static roofs_status read_int(const row *r, const char *text, int64_t *number, roofs_error *err)
{
    char *end;
    errno = 0;
    long long got = strtoll(text, &end, 10);
    if (end == text || *end)
        return fail(err, ROOFS_BAD_SETTING,
                    "%s must be a whole number between %.15g and %.15g, not '%s'", r->name, r->low,
                    r->high, text);
    *number = got;
    return errno ? out_of_range(r, (double)got, err) : check_number(r, (double)got, err);
}

static roofs_status read_real(const row *r, const char *text, double *number, roofs_error *err)
{
    if (number_read(text, text + strlen(text), number) != NUMBER_FINE)
        return fail(err, ROOFS_BAD_SETTING, "%s must be a number between %.15g and %.15g, not '%s'",
                    r->name, r->low, r->high, text);
    return check_number(r, *number, err);
}

static roofs_status read_value(const row *r, const char *text, setting_value *v, roofs_error *err)
{
    switch (r->kind) {
    case ROOFS_SETTING_INT:
    case ROOFS_SETTING_FLAG:
        return read_int(r, text, &v->number, err);
    case ROOFS_SETTING_REAL:
        return read_real(r, text, &v->real, err);
    case ROOFS_SETTING_TEXT:
        v->text = text;
        return check_value(r, *v, err);
    case ROOFS_SETTING_CHOICE:
        break;
    }
    v->number = word_number(r, text);
    return v->number >= 0 ? ROOFS_OK : unknown_word(r, text, err);
}

roofs_status roofs_settings_set(roofs_settings *s, const char *name, const char *value,
                                roofs_error *err)
{
    roofs_settings own;
    setting_value v = {0};
    REQUIRE(s);
    REQUIRE(name);
    REQUIRE(value);
    TRY(import(s, &own, err));
    const int64_t k = roofs_setting_find(name);
    const row *r = &rows[k < 0 ? 0 : k];
    if (k < 0 || r->offset + sizeof(int64_t) > s->struct_size)
        return fail(err, ROOFS_BAD_SETTING, "there is no setting '%s'", name);
    TRY(read_value(r, value, &v, err));
    field_set(s, r, v);
    return ROOFS_OK;
}

/* ---- descriptions ------------------------------------------------------ */

int roofs_setting_describe_sized(int64_t k, roofs_setting_info *out, size_t size)
{
    static const sized_type type = {"roofs_setting_info", sizeof *out, sizeof *out};
    if (k < 0 || k >= row_count || !out)
        return 0;
    const row *r = &rows[k];
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
    return k >= 0 && k < row_count && rows[k].words ? rows[k].words(c) : NULL;
}

/* ---- for checkpoints --------------------------------------------------- */

static void setting_save(const roofs_settings *s, const row *r, archive *a)
{
    char digits[40];
    const setting_value v = field_get(s, r);
    const char *name = r->name, *text = digits;
    if (r->kind == ROOFS_SETTING_TEXT)
        text = v.text;
    else if (r->kind == ROOFS_SETTING_CHOICE)
        text = r->words(v.number);
    else if (r->kind == ROOFS_SETTING_REAL)
        snprintf(digits, sizeof digits, "%.17g", v.real);
    else
        snprintf(digits, sizeof digits, "%" PRId64, v.number);
    archive_text(a, &name);
    archive_text(a, &text);
}

static void setting_load(roofs_settings *s, archive *a)
{
    const char *name = NULL, *text = NULL;
    archive_text(a, &name);
    archive_text(a, &text);
    if (a->status == ROOFS_OK && name && text)
        a->status = roofs_settings_set(s, name, text, a->err);
    else
        archive_refuse(a, "a setting has no value");
    if (a->status == ROOFS_BAD_SETTING)
        a->status = ROOFS_BAD_DATA;
}

void settings_transfer(roofs_settings *s, archive *a)
{
    int64_t count = row_count;
    archive_count(a, &count, row_count, 2 * sizeof(int64_t));
    if (a->loading)
        set_defaults(s);
    for (int64_t k = 0; k < count && a->status == ROOFS_OK; k++) {
        if (a->loading)
            setting_load(s, a);
        else
            setting_save(s, &rows[k], a);
    }
}

/* ---- for models -------------------------------------------------------- */

static json_t *value_to_json(const row *r, setting_value v)
{
    switch (r->kind) {
    case ROOFS_SETTING_INT:
        return json_integer(v.number);
    case ROOFS_SETTING_FLAG:
        return json_boolean(v.number != 0);
    case ROOFS_SETTING_REAL:
        return json_real(v.real);
    case ROOFS_SETTING_TEXT:
        return json_string(v.text);
    case ROOFS_SETTING_CHOICE:
        break;
    }
    return json_string(r->words(v.number));
}

json_t *settings_to_json(const roofs_settings *s)
{
    json_t *object = json_object();
    for (int64_t k = 0; object && k < row_count; k++) {
        const row *r = &rows[k];
        if (!r->in_model)
            continue;
        if (json_object_set_new(object, r->name, value_to_json(r, field_get(s, r))) != 0) {
            json_decref(object);
            object = NULL;
        }
    }
    return object;
}
