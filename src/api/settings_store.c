/* Settings in checkpoints and model files. */
#include "api/settings.h"
#include "api/settings_table.h"

#include <inttypes.h>
#include <stdio.h>

/* ---- for checkpoints --------------------------------------------------- */

static void setting_save(const roofs_settings *s, const setting_row *r, archive *a)
{
    char digits[40];
    const setting_value v = setting_get(s, r);
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
    int64_t count = settings_count;
    archive_count(a, &count, settings_count, 2 * sizeof(int64_t));
    if (a->loading)
        settings_defaults(s);
    for (int64_t k = 0; k < count && a->status == ROOFS_OK; k++) {
        if (a->loading)
            setting_load(s, a);
        else
            setting_save(s, &settings_rows[k], a);
    }
}

/* ---- for models -------------------------------------------------------- */

static json_t *value_to_json(const setting_row *r, setting_value v)
{
    switch (r->kind) {
    case ROOFS_SETTING_INT:
        return r->zero && v.number == 0 ? json_string(r->zero) : json_integer(v.number);
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
    for (int64_t k = 0; object && k < settings_count; k++) {
        const setting_row *r = &settings_rows[k];
        if (!r->in_model)
            continue;
        if (json_object_set_new(object, r->name, value_to_json(r, setting_get(s, r))) != 0) {
            json_decref(object);
            object = NULL;
        }
    }
    return object;
}
