/* The device and the memory that a fit needs. */
#include "api/estimator.h"
#include "api/hypotheses.h"
#include "api/settings.h"
#include "base/memory.h"

typedef roofs_status (*device_search)(const char *name, const device_ops **out, roofs_error *err);

/* Methods without engines for other devices run on the CPU. */
static roofs_status choose_device(const roofs_settings *set, device_search search,
                                  const device_ops **out, roofs_error *err)
{
    const method *m = method_named(set->method);
    if (m->has_engines)
        return search(roofs_setting_choice(roofs_setting_find("device"), set->device), out, err);
    if (set->device == ROOFS_DEVICE_CUDA)
        return method_require(m, offsetof(method, has_engines),
                              "run on a GPU (device must be cpu or auto)", err);
    *out = &device_cpu;
    return ROOFS_OK;
}

roofs_status estimator_device(const roofs_settings *set, const device_ops **out, roofs_error *err)
{
    return choose_device(set, device_find, out, err);
}

device_shape estimator_shape(const roofs_settings *set, int64_t n, roofs_dtype dtype)
{
    return (device_shape){.n = n,
                          .slots = fit_capacity(set),
                          .batch = set->batch,
                          .dtype = dtype,
                          .threads = set->threads,
                          .limit = set->max_memory};
}

int64_t estimator_bytes_besides(const roofs_settings *set, const device_shape *shape)
{
    const int64_t n = shape->n;
    int64_t vectors = memory_bytes(n, 3 * sizeof(double) + 1); /* y, residual, the view */
    int64_t bytes = memory_sum(columns_list_bytes(shape), memory_sum(trust_bytes(n), vectors));
    bytes = memory_sum(bytes, method_named(set->method)->bytes(set, n));
    return memory_sum(bytes, memory_sum(undo_bytes(set, shape), FIRST_NAMES));
}

/* The device cuda needs the plug-in, but no GPU. */
static roofs_status memory_needed(const roofs_settings *settings, int64_t n, roofs_dtype storage,
                                  int64_t filled, int64_t *bytes, roofs_error *err)
{
    roofs_settings own;
    const device_ops *ops = &device_cpu;
    TRY(settings_import(settings, &own, err));
    TRY(choose_device(&own, device_lookup, &ops, err));
    device_shape shape = estimator_shape(&own, n, storage);
    shape.filled = filled;
    *bytes = memory_bytes(memory_sum(estimator_bytes_besides(&own, &shape), ops->bytes(&shape)),
                          hypotheses_most(&own));
    return ROOFS_OK;
}

roofs_status roofs_memory_needed_sparse(const roofs_settings *settings, int64_t n,
                                        roofs_dtype storage, int64_t filled, int64_t *bytes,
                                        roofs_error *err)
{
    REQUIRE(settings);
    REQUIRE(bytes);
    return memory_needed(settings, n, storage, filled, bytes, err);
}

roofs_status roofs_memory_needed(const roofs_settings *settings, int64_t n, roofs_dtype storage,
                                 int64_t *bytes, roofs_error *err)
{
    REQUIRE(settings);
    REQUIRE(bytes);
    return memory_needed(settings, n, storage, 0, bytes, err);
}

roofs_status roofs_memory_on_device(const roofs_settings *settings, int64_t n, roofs_dtype storage,
                                    int64_t *bytes, int64_t *free_bytes, roofs_error *err)
{
    roofs_settings own;
    const device_ops *ops = &device_cpu;
    REQUIRE(settings);
    REQUIRE(bytes);
    REQUIRE(free_bytes);
    TRY(settings_import(settings, &own, err));
    TRY(choose_device(&own, device_lookup, &ops, err));
    const device_shape shape = estimator_shape(&own, n, storage);
    *bytes = ops->bytes_on_device ? ops->bytes_on_device(&shape) : 0;
    *bytes = memory_bytes(*bytes, hypotheses_most(&own));
    *free_bytes = ops->free_on_device ? ops->free_on_device() : 0;
    return ROOFS_OK;
}

int64_t roofs_features_held(const roofs_settings *settings)
{
    roofs_settings own;
    if (!settings || settings_import(settings, &own, NULL) != ROOFS_OK)
        return 0;
    return fit_capacity(&own);
}

int64_t roofs_hypotheses_followed(const roofs_settings *settings)
{
    roofs_settings own;
    if (!settings || settings_import(settings, &own, NULL) != ROOFS_OK)
        return 0;
    return hypotheses_most(&own);
}
