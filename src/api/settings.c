#include "api/settings.h"

#include "base/number.h"
#include "method/method.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct row {
    roofs_setting_info info;
    size_t offset;
    int part_of_model;
} row;

#define AT(field) offsetof(roofs_settings, field)
#define INT(field, standard, low, high, help)                                                      \
    {{#field, ROOFS_SETTING_INT, #standard, (double)(low), (double)(high), help}, AT(field), 1},
#define RUN(field, standard, low, high, help)                                                      \
    {{#field, ROOFS_SETTING_INT, #standard, (double)(low), (double)(high), help}, AT(field), 0},
#define REAL(field, standard, low, high, help)                                                     \
    {{#field, ROOFS_SETTING_REAL, #standard, low, high, help}, AT(field), 1},
#define FLAG(field, standard, help)                                                                \
    {{#field, ROOFS_SETTING_FLAG, #standard, 0, 1, help}, AT(field), 1},
#define TEXT(field, standard, help)                                                                \
    {{#field, ROOFS_SETTING_TEXT, standard, 0, 0, help}, AT(field), 1},
#define HOW(field, standard, help)                                                                 \
    {{#field, ROOFS_SETTING_TEXT, standard, 0, 0, help}, AT(field), 0},
static const row rows[] = {
#include "api/settings.def"
};
#undef INT
#undef RUN
#undef REAL
#undef FLAG
#undef TEXT
#undef HOW

/* A field of the struct that has no row would be missed by everyone. */
#define INT(field, standard, low, high, help) +sizeof(int64_t)
#define RUN(field, standard, low, high, help) +sizeof(int64_t)
#define REAL(field, standard, low, high, help) +sizeof(double)
#define FLAG(field, standard, help) +sizeof(int32_t)
#define TEXT(field, standard, help) +sizeof(const char *)
#define HOW(field, standard, help) +sizeof(const char *)
static_assert(sizeof(roofs_settings) == 0
#include "api/settings.def"
              ,
              "settings.def and roofs_settings must have the same fields");
#undef INT
#undef RUN
#undef REAL
#undef FLAG
#undef TEXT
#undef HOW

static const int64_t row_count = (int64_t)(sizeof rows / sizeof rows[0]);

void roofs_settings_init(roofs_settings *s)
{
#define INT(field, standard, low, high, help) s->field = standard;
#define RUN(field, standard, low, high, help) s->field = standard;
#define REAL(field, standard, low, high, help) s->field = standard;
#define FLAG(field, standard, help) s->field = standard;
#define TEXT(field, standard, help) s->field = standard;
#define HOW(field, standard, help) s->field = standard;
#include "api/settings.def"
}

int roofs_setting_describe(int64_t k, roofs_setting_info *out)
{
    if (k < 0 || k >= row_count)
        return 0;
    *out = rows[k].info;
    return 1;
}

static const void *field_of(const roofs_settings *s, const row *r)
{
    return (const char *)s + r->offset;
}

static double number_of(const roofs_settings *s, const row *r)
{
    const void *field = field_of(s, r);
    switch (r->info.kind) {
    case ROOFS_SETTING_INT:
        return (double)*(const int64_t *)field;
    case ROOFS_SETTING_FLAG:
        return (double)*(const int32_t *)field;
    case ROOFS_SETTING_REAL:
        return *(const double *)field;
    case ROOFS_SETTING_TEXT:
        break;
    }
    return 0;
}

static const char *text_of(const roofs_settings *s, const row *r)
{
    return *(const char *const *)field_of(s, r);
}

static roofs_status out_of_range(const row *r, double value, roofs_error *err)
{
    return fail(err, ROOFS_BAD_SETTING, "%s must be between %.15g and %.15g, not %.15g",
                r->info.name, r->info.low, r->info.high, value);
}

static roofs_status check_method(const char *name, roofs_error *err)
{
    if (name && method_named(name))
        return ROOFS_OK;
    char known[400] = "";
    const method *m;
    for (int64_t k = 0; (m = method_at(k)) != NULL; k++) {
        size_t used = strlen(known);
        snprintf(known + used, sizeof known - used, "%s%s", k ? ", " : "", m->name);
    }
    return fail(err, ROOFS_BAD_SETTING, "method '%s' is not known; there is: %s",
                name ? name : "(none)", known);
}

static roofs_status check_storage(const char *name, roofs_error *err)
{
    if (name && (!strcmp(name, "auto") || !strcmp(name, "f64") || !strcmp(name, "f32")))
        return ROOFS_OK;
    return fail(err, ROOFS_BAD_SETTING, "storage must be auto, f64 or f32, not '%s'",
                name ? name : "(none)");
}

static roofs_status check_reading(const char *name, roofs_error *err)
{
    if (name && (!strcmp(name, "alone") || !strcmp(name, "joint")))
        return ROOFS_OK;
    return fail(err, ROOFS_BAD_SETTING, "reading must be alone or joint, not '%s'",
                name ? name : "(none)");
}

static roofs_status check_device(const char *name, roofs_error *err)
{
    if (name && (!strcmp(name, "cpu") || !strcmp(name, "cuda") || !strcmp(name, "auto")))
        return ROOFS_OK;
    return fail(err, ROOFS_BAD_SETTING, "device must be cpu, cuda or auto, not '%s'",
                name ? name : "(none)");
}

roofs_status roofs_settings_check(const roofs_settings *s, roofs_error *err)
{
    if (s->mu == 0)
        return fail(err, ROOFS_BAD_SETTING,
                    "mu, the number of features to keep, must be given and be at least 1");
    for (int64_t k = 0; k < row_count; k++) {
        const row *r = &rows[k];
        if (r->info.kind == ROOFS_SETTING_TEXT)
            continue;
        double value = number_of(s, r);
        if (!(value >= r->info.low && value <= r->info.high))
            return out_of_range(r, value, err);
    }
    TRY(check_method(s->method, err));
    TRY(check_reading(s->reading, err));
    TRY(check_device(s->device, err));
    return check_storage(s->storage, err);
}

/* ---- setting by name --------------------------------------------------- */

static roofs_status set_int(const row *r, void *field, const char *value, roofs_error *err)
{
    char *end;
    errno = 0;
    long long number = strtoll(value, &end, 10);
    if (end == value || *end)
        return fail(err, ROOFS_BAD_SETTING,
                    "%s must be a whole number between %.15g and %.15g, not '%s'", r->info.name,
                    r->info.low, r->info.high, value);
    if (errno || (double)number < r->info.low || (double)number > r->info.high)
        return out_of_range(r, (double)number, err);
    if (r->info.kind == ROOFS_SETTING_FLAG)
        *(int32_t *)field = (int32_t)number;
    else
        *(int64_t *)field = number;
    return ROOFS_OK;
}

static roofs_status set_real(const row *r, double *field, const char *value, roofs_error *err)
{
    double number = 0;
    if (number_read(value, value + strlen(value), &number) != NUMBER_FINE)
        return fail(err, ROOFS_BAD_SETTING, "%s must be a number between %.15g and %.15g, not '%s'",
                    r->info.name, r->info.low, r->info.high, value);
    if (!(number >= r->info.low && number <= r->info.high))
        return out_of_range(r, number, err);
    *field = number;
    return ROOFS_OK;
}

static roofs_status check_text(const row *r, const char *value, roofs_error *err)
{
    if (r->offset == AT(method))
        return check_method(value, err);
    if (r->offset == AT(device))
        return check_device(value, err);
    return r->offset == AT(reading) ? check_reading(value, err) : check_storage(value, err);
}

roofs_status roofs_settings_set(roofs_settings *s, const char *name, const char *value,
                                roofs_error *err)
{
    int64_t k = 0;
    while (k < row_count && strcmp(rows[k].info.name, name) != 0)
        k++;
    if (k == row_count)
        return fail(err, ROOFS_BAD_SETTING, "there is no setting '%s'", name);
    const row *r = &rows[k];
    void *field = (char *)s + r->offset;
    switch (r->info.kind) {
    case ROOFS_SETTING_INT:
    case ROOFS_SETTING_FLAG:
        return set_int(r, field, value, err);
    case ROOFS_SETTING_REAL:
        return set_real(r, field, value, err);
    case ROOFS_SETTING_TEXT:
        break;
    }
    TRY(check_text(r, value, err));
    *(const char **)field = value;
    return ROOFS_OK;
}

/* ---- for checkpoints --------------------------------------------------- */

static void setting_save(const roofs_settings *s, const row *r, archive *a)
{
    char text[40];
    const char *name = r->info.name, *value = text;
    if (r->info.kind == ROOFS_SETTING_TEXT)
        value = text_of(s, r);
    else if (r->info.kind == ROOFS_SETTING_REAL)
        snprintf(text, sizeof text, "%.17g", number_of(s, r));
    else if (r->info.kind == ROOFS_SETTING_INT)
        snprintf(text, sizeof text, "%" PRId64, *(const int64_t *)field_of(s, r));
    else
        snprintf(text, sizeof text, "%d", number_of(s, r) != 0);
    archive_text(a, &name);
    archive_text(a, &value);
}

static void setting_load(roofs_settings *s, archive *a)
{
    const char *name = NULL, *value = NULL;
    archive_text(a, &name);
    archive_text(a, &value);
    if (a->status == ROOFS_OK && name && value)
        a->status = roofs_settings_set(s, name, value, a->err);
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
        roofs_settings_init(s);
    for (int64_t k = 0; k < count && a->status == ROOFS_OK; k++) {
        if (a->loading)
            setting_load(s, a);
        else
            setting_save(s, &rows[k], a);
    }
}

/* ---- for models and people --------------------------------------------- */

static json_t *value_to_json(const roofs_settings *s, const row *r)
{
    switch (r->info.kind) {
    case ROOFS_SETTING_INT:
        return json_integer(*(const int64_t *)field_of(s, r));
    case ROOFS_SETTING_FLAG:
        return json_boolean(number_of(s, r) != 0);
    case ROOFS_SETTING_REAL:
        return json_real(number_of(s, r));
    case ROOFS_SETTING_TEXT:
        break;
    }
    return json_string(text_of(s, r));
}

json_t *settings_to_json(const roofs_settings *s)
{
    json_t *object = json_object();
    for (int64_t k = 0; object && k < row_count; k++) {
        if (!rows[k].part_of_model)
            continue;
        if (json_object_set_new(object, rows[k].info.name, value_to_json(s, &rows[k])) != 0) {
            json_decref(object);
            object = NULL;
        }
    }
    return object;
}

const char *roofs_method_name(int64_t k)
{
    const method *m = method_at(k);
    return m ? m->name : NULL;
}

const char *roofs_method_summary(int64_t k)
{
    const method *m = method_at(k);
    return m ? m->summary : NULL;
}
