/* Queries of a model. */
#include "base/memory.h"
#include "model/model.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

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

static roofs_status check_orders(const roofs_model *m, int64_t orders, const double *frequency,
                                 double jaccard, double change, roofs_error *err)
{
    int is_valid = orders > 1 && jaccard >= 0 && jaccard <= 1 && change >= 0 && isfinite(change);
    for (int64_t k = 0; k < m->view.selected; k++)
        is_valid = is_valid && frequency[k] >= 0 && frequency[k] <= 1;
    if (is_valid)
        return ROOFS_OK;
    return fail(err, ROOFS_BAD_CALL,
                "roofs_model_set_orders: at least 2 orders, shares from 0 to 1 and a finite change "
                "of at least 0 are needed");
}

roofs_status roofs_model_set_orders(roofs_model *m, int64_t orders, const double *frequency,
                                    double jaccard, double change, roofs_error *err)
{
    double *own = NULL;
    REQUIRE(m);
    REQUIRE(frequency);
    TRY(check_orders(m, orders, frequency, jaccard, change, err));
    TRY(memory_get(&own, m->view.selected, sizeof *own, "the model", err));
    if (m->view.selected > 0)
        memcpy(own, frequency, (size_t)m->view.selected * sizeof *own);
    memory_free(m->frequency);
    m->frequency = own;
    m->view.frequency = own;
    m->view.orders = orders;
    m->view.jaccard = jaccard;
    m->view.change = change;
    return ROOFS_OK;
}

int half_widths_are_valid(const double *half_width, int64_t count)
{
    int is_valid = count > 0 && count < ROOFS_HALF_WIDTH_STEPS;
    for (int64_t k = 0; is_valid && k < count; k++)
        is_valid = half_width[k] >= (k > 0 ? half_width[k - 1] : 0) && isfinite(half_width[k]);
    return is_valid;
}

roofs_status roofs_model_set_half_widths(roofs_model *m, int64_t count, const double *half_width,
                                         roofs_error *err)
{
    double *own = NULL;
    REQUIRE(m);
    REQUIRE(half_width);
    if (!half_widths_are_valid(half_width, count))
        return fail(err, ROOFS_BAD_CALL,
                    "roofs_model_set_half_widths: 1 to %d finite numbers that ascend from 0 are "
                    "needed",
                    ROOFS_HALF_WIDTH_STEPS - 1);
    TRY(memory_get(&own, count, sizeof *own, "the model", err));
    memcpy(own, half_width, (size_t)count * sizeof *own);
    memory_free(m->half_width);
    m->half_width = own;
    m->view.half_width = own;
    m->view.half_widths = count;
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
