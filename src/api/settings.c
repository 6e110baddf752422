#include "api/settings.h"

#include "api/settings_table.h"
#include "base/number.h"
#include "base/sized.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- callers' structs -------------------------------------------------- */

static const sized_type settings_type = {
    .name = "roofs_settings",
    .size = sizeof(roofs_settings),
    .first = offsetof(roofs_settings, device) + sizeof(int64_t),
};

static void set_as_saved(roofs_settings *s)
{
    *s = (roofs_settings){.struct_size = sizeof *s};
    for (int64_t k = 0; k < settings_count; k++) {
        setting_value v = {.number = ROOFS_AS_SAVED};
        if (settings_rows[k].kind == ROOFS_SETTING_REAL)
            v.real = ROOFS_AS_SAVED;
        else if (settings_rows[k].kind == ROOFS_SETTING_TEXT)
            v.text = NULL;
        setting_put(s, &settings_rows[k], v);
    }
}

static int is_as_saved(const setting_row *r, setting_value v)
{
    return r->kind == ROOFS_SETTING_REAL   ? v.real == ROOFS_AS_SAVED
           : r->kind == ROOFS_SETTING_TEXT ? v.text == NULL
                                           : v.number == ROOFS_AS_SAVED;
}

/* The caller's struct may be longer than *own: struct_size is the caller's size. */
static void settings_export(roofs_settings *to, size_t size, const roofs_settings *own)
{
    sized_export(&settings_type, to, size, own);
    if (to && size >= sizeof size)
        to->struct_size = size;
}

void roofs_settings_init_sized(roofs_settings *s, size_t size)
{
    roofs_settings own;
    settings_defaults(&own);
    settings_export(s, size, &own);
}

void roofs_settings_as_saved_sized(roofs_settings *s, size_t size)
{
    roofs_settings own;
    set_as_saved(&own);
    settings_export(s, size, &own);
}

/* ---- checks ------------------------------------------------------------ */

static roofs_status out_of_range(const setting_row *r, double number, roofs_error *err)
{
    return fail(err, ROOFS_BAD_SETTING, "%s must be between %.15g and %.15g, not %.15g", r->name,
                r->low, r->high, number);
}

static roofs_status unknown_word(const setting_row *r, const char *word, roofs_error *err)
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

/* *number = the position of the word among the words of the row. */
static roofs_status find_word(const setting_row *r, const char *word, int64_t *number,
                              roofs_error *err)
{
    for (*number = 0; word && r->words(*number); ++*number)
        if (strcmp(r->words(*number), word) == 0)
            return ROOFS_OK;
    return unknown_word(r, word, err);
}

static roofs_status check_number(const setting_row *r, double number, roofs_error *err)
{
    return number >= r->low && number <= r->high ? ROOFS_OK : out_of_range(r, number, err);
}

/* Replaces a valid TEXT by the constant word of the row, because the caller's text is borrowed. */
static roofs_status check_value(const setting_row *r, setting_value *v, roofs_error *err)
{
    char digits[24];
    int64_t c = 0;
    switch (r->kind) {
    case ROOFS_SETTING_INT:
    case ROOFS_SETTING_FLAG:
        return check_number(r, (double)v->number, err);
    case ROOFS_SETTING_REAL:
        return check_number(r, v->real, err);
    case ROOFS_SETTING_TEXT:
        TRY(find_word(r, v->text, &c, err));
        v->text = r->words(c);
        return ROOFS_OK;
    case ROOFS_SETTING_CHOICE:
        break;
    }
    snprintf(digits, sizeof digits, "%" PRId64, v->number);
    return r->words(v->number) ? ROOFS_OK : unknown_word(r, digits, err);
}

static roofs_status settings_copy(const roofs_settings *given, roofs_settings *own,
                                  roofs_error *err)
{
    if (given->struct_size == 0)
        return fail(err, ROOFS_BAD_CALL,
                    "the settings have no struct_size: call roofs_settings_init first");
    return sized_import(&settings_type, own, given, given->struct_size, err);
}

roofs_status settings_import(const roofs_settings *given, roofs_settings *own, roofs_error *err)
{
    settings_defaults(own);
    TRY(settings_copy(given, own, err));
    for (int64_t k = 0; k < settings_count; k++) {
        setting_value v = setting_get(own, &settings_rows[k]);
        TRY(check_value(&settings_rows[k], &v, err));
        setting_put(own, &settings_rows[k], v);
    }
    return ROOFS_OK;
}

roofs_status roofs_settings_check(const roofs_settings *s, roofs_error *err)
{
    roofs_settings own;
    REQUIRE(s);
    return settings_import(s, &own, err);
}

roofs_status settings_override(roofs_settings *own, const roofs_settings *run, roofs_error *err)
{
    roofs_settings given;
    if (!run)
        return ROOFS_OK;
    set_as_saved(&given);
    TRY(settings_copy(run, &given, err));
    for (int64_t k = 0; k < settings_count; k++) {
        setting_value v = setting_get(&given, &settings_rows[k]);
        if (settings_rows[k].in_model || is_as_saved(&settings_rows[k], v))
            continue;
        TRY(check_value(&settings_rows[k], &v, err));
        setting_put(own, &settings_rows[k], v);
    }
    return ROOFS_OK;
}

/* ---- setting by name --------------------------------------------------- */

static roofs_status read_int(const setting_row *r, const char *text, int64_t *number,
                             roofs_error *err)
{
    char *end;
    if (r->zero && strcmp(text, r->zero) == 0) {
        *number = 0;
        return ROOFS_OK;
    }
    errno = 0;
    long long got = strtoll(text, &end, 10);
    if (end == text || *end)
        return fail(err, ROOFS_BAD_SETTING,
                    "%s must be a whole number between %.15g and %.15g%s%s, not '%s'", r->name,
                    r->low, r->high, r->zero ? ", or " : "", r->zero ? r->zero : "", text);
    *number = got;
    return errno ? out_of_range(r, (double)got, err) : check_number(r, (double)got, err);
}

static roofs_status read_real(const setting_row *r, const char *text, double *number,
                              roofs_error *err)
{
    if (number_read(text, text + strlen(text), number) != NUMBER_FINE)
        return fail(err, ROOFS_BAD_SETTING, "%s must be a number between %.15g and %.15g, not '%s'",
                    r->name, r->low, r->high, text);
    return check_number(r, *number, err);
}

static roofs_status read_value(const setting_row *r, const char *text, setting_value *v,
                               roofs_error *err)
{
    switch (r->kind) {
    case ROOFS_SETTING_INT:
    case ROOFS_SETTING_FLAG:
        return read_int(r, text, &v->number, err);
    case ROOFS_SETTING_REAL:
        return read_real(r, text, &v->real, err);
    case ROOFS_SETTING_TEXT:
        v->text = text;
        return check_value(r, v, err);
    case ROOFS_SETTING_CHOICE:
        break;
    }
    return find_word(r, text, &v->number, err);
}

roofs_status roofs_settings_set(roofs_settings *s, const char *name, const char *value,
                                roofs_error *err)
{
    roofs_settings own;
    setting_value v = {0};
    REQUIRE(s);
    REQUIRE(name);
    REQUIRE(value);
    TRY(settings_copy(s, &own, err));
    const int64_t k = roofs_setting_find(name);
    const setting_row *r = &settings_rows[k < 0 ? 0 : k];
    if (k < 0 || r->offset + sizeof(int64_t) > s->struct_size)
        return fail(err, ROOFS_BAD_SETTING, "unknown setting \"%s\"", name);
    TRY(read_value(r, value, &v, err));
    setting_put(s, r, v);
    return ROOFS_OK;
}
