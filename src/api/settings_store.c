/* Settings in checkpoints and model files, and settings compared over ranks. */
#include "api/settings.h"
#include "api/settings_table.h"
#include "base/digest.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const char *setting_text(const roofs_settings *s, const setting_row *r, char digits[SETTING_DIGITS])
{
    const setting_value v = setting_get(s, r);
    if (r->kind == ROOFS_SETTING_TEXT)
        return v.text;
    if (r->kind == ROOFS_SETTING_CHOICE)
        return r->words(v.number);
    if (r->kind == ROOFS_SETTING_REAL)
        snprintf(digits, SETTING_DIGITS, "%.17g", v.real);
    else
        snprintf(digits, SETTING_DIGITS, "%" PRId64, v.number);
    return digits;
}

/* ---- for checkpoints --------------------------------------------------- */

static void setting_save(const roofs_settings *s, const setting_row *r, archive *a)
{
    char digits[SETTING_DIGITS];
    const char *name = r->name, *text = setting_text(s, r, digits);
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

/* ---- for ranks --------------------------------------------------------- */

static uint64_t digest_of_settings(const roofs_settings *s)
{
    uint64_t digest = 0;
    char digits[SETTING_DIGITS];
    for (int64_t k = 0; k < settings_count; k++) {
        const char *text = setting_text(s, &settings_rows[k], digits);
        if (settings_rows[k].in_model)
            digest = digest_of(text, (int64_t)strlen(text) + 1, digest);
    }
    return digest;
}

/* Finds a setting that differs between rank 0 and rank `other`, for the message. */
static roofs_status refuse_settings(const roofs_settings *s, comm *c, int64_t other,
                                    roofs_error *err)
{
    char digits[SETTING_DIGITS], own[SETTING_DIGITS], texts[2][SETTING_DIGITS] = {{0}};
    const char *name = "";
    for (int64_t k = 0; k < settings_count && strcmp(texts[0], texts[1]) == 0; k++) {
        name = settings_rows[k].name;
        snprintf(own, sizeof own, "%s", setting_text(s, &settings_rows[k], digits));
        comm_take_from(c, 0, own, sizeof own, texts[0]);
        comm_take_from(c, other, own, sizeof own, texts[1]);
        TRY(comm_status(c, err));
        if (!settings_rows[k].in_model)
            memcpy(texts[1], texts[0], sizeof texts[0]); /* may differ */
    }
    return fail(err, ROOFS_BAD_SETTING,
                "the ranks have different settings: %s is %s on rank 0 and %s on rank %" PRId64
                "; give all ranks the same",
                name, texts[0], texts[1], other);
}

roofs_status settings_agree(const roofs_settings *s, comm *c, roofs_error *err)
{
    const uint64_t own = digest_of_settings(s);
    uint64_t first, theirs;
    comm_gather(c, &own, sizeof own, c->each);
    TRY(comm_status(c, err));
    memcpy(&first, &c->each[0], sizeof first);
    for (int64_t k = 1; k < c->with.size; k++) {
        memcpy(&theirs, &c->each[k], sizeof theirs);
        if (theirs == first)
            continue;
        c->agreed = 1;
        return refuse_settings(s, c, k, err);
    }
    return ROOFS_OK;
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
