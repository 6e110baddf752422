#include "model/model_fields.h"

#include "base/memory.h"

#include <math.h>

json_t *append_item(json_t *list, json_t *item)
{
    if (list && item && json_array_append_new(list, item) == 0)
        return list;
    json_decref(list);
    return NULL;
}

roofs_status bad_field(const reading *in, const char *field, const char *wanted)
{
    return fail(in->err, ROOFS_BAD_DATA, "%s: not a usable roofs model: '%s' should be %s",
                in->path, field, wanted);
}

roofs_status get_int(const reading *in, const json_t *object, const char *field, int64_t high,
                     int64_t *out)
{
    const json_t *value = json_object_get(object, field);
    if (!json_is_integer(value))
        return bad_field(in, field, "a whole number");
    *out = json_integer_value(value);
    if (*out >= 0 && *out <= high)
        return ROOFS_OK;
    return fail(in->err, ROOFS_BAD_DATA,
                "%s: not a usable roofs model: '%s' is %lld, not between 0 and %lld", in->path,
                field, (long long)*out, (long long)high);
}

roofs_status get_real(const reading *in, const json_t *object, const char *field, double *out)
{
    const json_t *value = json_object_get(object, field);
    if (!json_is_number(value))
        return bad_field(in, field, "a number");
    *out = json_number_value(value);
    return isfinite(*out) ? ROOFS_OK : bad_field(in, field, "finite");
}

roofs_status get_text(const reading *in, const json_t *object, const char *field, char **out)
{
    const json_t *value = json_object_get(object, field);
    if (!json_is_string(value))
        return bad_field(in, field, "text");
    return memory_copy_text(out, json_string_value(value), in->err);
}

roofs_status get_list(const reading *in, const json_t *object, const char *field,
                      const json_t **out, int64_t *count)
{
    *out = json_object_get(object, field);
    *count = (int64_t)json_array_size(*out);
    return json_is_array(*out) ? ROOFS_OK : bad_field(in, field, "a list");
}

roofs_status get_share(const reading *in, const json_t *object, const char *field, double *out)
{
    TRY(get_real(in, object, field, out));
    return *out >= 0 && *out <= 1 ? ROOFS_OK : bad_field(in, field, "from 0 to 1");
}

roofs_status get_positive(const reading *in, const json_t *object, const char *field, double *out)
{
    TRY(get_real(in, object, field, out));
    return *out >= 0 ? ROOFS_OK : bad_field(in, field, "at least 0");
}

roofs_status get_name(const reading *in, const json_t *object, const char **out)
{
    char *name = NULL;
    if (json_is_null(json_object_get(object, "name")))
        return ROOFS_OK;
    TRY(get_text(in, object, "name", &name));
    *out = name;
    return ROOFS_OK;
}
