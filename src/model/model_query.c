/* Queries of a model. */
#include "model/model.h"

#include <inttypes.h>
#include <stdio.h>

int32_t roofs_model_index_base(const roofs_model *m)
{
    return m ? m->index_base : -1;
}

roofs_status roofs_model_set_index_base(roofs_model *m, int32_t base, roofs_error *err)
{
    REQUIRE(m);
    if (base < -1 || base > 1)
        return fail(err, ROOFS_BAD_CALL,
                    "roofs_model_set_index_base: the base must be -1, 0 or 1; it is %" PRId32,
                    base);
    m->index_base = base;
    return ROOFS_OK;
}

const char *roofs_model_setting(const roofs_model *m, const char *name, char *text, size_t size)
{
    const json_t *value = m && name ? json_object_get(m->settings, name) : NULL;
    if (!value || json_is_string(value))
        return json_string_value(value);
    if (!text)
        return NULL;
    if (json_is_real(value))
        snprintf(text, size, "%.17g", json_real_value(value));
    else
        snprintf(text, size, "%" JSON_INTEGER_FORMAT,
                 json_is_true(value) ? 1 : json_integer_value(value));
    return text;
}
