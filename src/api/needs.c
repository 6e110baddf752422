/* The device and the memory that a fit needs, and the settings that depend on them. */
#include "api/estimator.h"
#include "api/hypotheses.h"
#include "api/settings.h"
#include "base/memory.h"
#include "base/threads.h"

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

roofs_settings estimator_settings(const fit *f)
{
    roofs_settings set = f->set;
    set.threads = f->threads;
    return set;
}

device_shape estimator_shape(const roofs_settings *set, int64_t n, roofs_dtype dtype)
{
    return (device_shape){.n = n,
                          .slots = fit_capacity(set),
                          .batch = set->batch,
                          .dtype = dtype,
                          .threads = threads_count(set->threads),
                          .limit = set->max_memory};
}

roofs_dtype estimator_stored_type(const roofs_settings *set, const device_ops *ops,
                                  roofs_dtype arrived)
{
    if (set->storage != ROOFS_STORAGE_AUTO)
        return set->storage == ROOFS_STORAGE_F32 ? ROOFS_F32 : ROOFS_F64;
    return dtype_is_packed(arrived) && !ops->packs ? ROOFS_F64 : arrived;
}

int64_t estimator_bytes_besides(const roofs_settings *set, const device_shape *shape)
{
    const int64_t n = shape->n;
    int64_t vectors = memory_bytes(n, 4 * sizeof(double) + 1); /* y, weights, residual, the view */
    int64_t bytes = memory_sum(columns_list_bytes(shape), memory_sum(trust_bytes(n), vectors));
    bytes = memory_sum(bytes, method_named(set->method)->bytes(set, n));
    return memory_sum(bytes, memory_sum(undo_bytes(set, shape), FIRST_NAMES));
}

/* Settings and device decide whether packed types stay so. */
static roofs_dtype counted_type(const roofs_settings *set, const device_ops *ops,
                                roofs_dtype storage)
{
    return dtype_is_packed(storage) ? estimator_stored_type(set, ops, storage) : storage;
}

/* All bytes of a fit on this device. */
static int64_t bytes_of_fit(const roofs_settings *set, const device_ops *ops, int64_t n,
                            roofs_dtype storage, int64_t filled)
{
    if (n < 0 || n >= INT32_MAX) /* roofs_create refuses them */
        return INT64_MAX;
    device_shape shape = estimator_shape(set, n, counted_type(set, ops, storage));
    shape.filled = filled < n ? filled : n;
    return memory_bytes(memory_sum(estimator_bytes_besides(set, &shape), ops->bytes(&shape)),
                        hypotheses_most(set));
}

/* ---- settings that are left to the library ----------------------------- */

/* Columns of one fit by default: this many bytes of 64-bit values, within the bounds. More columns
 * do not help, and time grows with them. */
enum { DEFAULT_BYTES = 64 << 20, DEFAULT_FEWEST = 500, DEFAULT_MOST = 4000 };

static int64_t default_mu(int64_t total, int64_t features)
{
    int64_t mu = DEFAULT_BYTES / memory_bytes(total > 0 ? total : 1, sizeof(double));
    mu = mu < DEFAULT_FEWEST ? DEFAULT_FEWEST : mu > DEFAULT_MOST ? DEFAULT_MOST : mu;
    return features > 0 && features < mu ? features : mu;
}

/* Lowers set->mu to the most features that max_memory allows. bytes_of_fit counts all that a fit
 * holds, also where it follows several hypotheses. Sparse features may need less. */
static roofs_status limit_mu(roofs_settings *set, int64_t n, roofs_error *err)
{
    const roofs_dtype storage = set->storage == ROOFS_STORAGE_F32 ? ROOFS_F32 : ROOFS_F64;
    const device_ops *ops = &device_cpu;
    int64_t fits = 0, beyond = set->mu + 1;
    roofs_settings trial = *set;
    trial.threads = threads_count(set->threads);
    TRY(choose_device(set, device_lookup, &ops, err));
    while (beyond - fits > 1) {
        trial.mu = fits + (beyond - fits) / 2;
        if (bytes_of_fit(&trial, ops, n, storage, 0) <= set->max_memory)
            fits = trial.mu;
        else
            beyond = trial.mu;
    }
    trial.mu = 1;
    const int64_t least = bytes_of_fit(&trial, ops, n, storage, 0);
    set->mu = fits;
    if (fits > 0)
        return ROOFS_OK;
    return fail(err, ROOFS_OVER_LIMIT,
                "a fit with one feature needs %lld bytes, more than the limit of %lld: raise "
                "max_memory, or give mu if the features are sparse",
                (long long)least, (long long)set->max_memory);
}

roofs_status estimator_resolve(roofs_settings *set, int64_t n, int64_t total, int64_t features,
                               roofs_error *err)
{
    const method *m = method_named(set->method);
    const int is_given = set->mu > 0;
    if (set->select == ROOFS_SELECT_LIKELY)
        TRY(method_require(m, offsetof(method, has_probability),
                           "estimate probabilities (select must be kept or auto)", err));
    if (set->select == ROOFS_SELECT_AUTO)
        set->select = is_given || !m->has_probability ? ROOFS_SELECT_KEPT : ROOFS_SELECT_LIKELY;
    if (set->prior == ROOFS_PRIOR_AUTO)
        set->prior = is_given ? ROOFS_PRIOR_MU : ROOFS_PRIOR_SAMPLES;
    if (is_given)
        return ROOFS_OK;
    set->mu = default_mu(total, features);
    return set->max_memory > 0 ? limit_mu(set, n, err) : ROOFS_OK;
}

roofs_status roofs_settings_resolve(roofs_settings *s, int64_t n, int64_t total, int64_t features,
                                    roofs_error *err)
{
    roofs_settings own;
    REQUIRE(s);
    TRY(settings_import(s, &own, err));
    TRY(estimator_resolve(&own, n, total, features, err));
    s->mu = own.mu; /* older programs do not have the other fields */
    if (s->struct_size >= offsetof(roofs_settings, select) + sizeof s->select)
        s->select = own.select;
    if (s->struct_size >= offsetof(roofs_settings, prior) + sizeof s->prior)
        s->prior = own.prior;
    return ROOFS_OK;
}

/* ---- queries ----------------------------------------------------------- */

/* Checked settings without choices left to the library, and their device. The device cuda needs the
 * plug-in, but no GPU. */
static roofs_status import_resolved(const roofs_settings *settings, int64_t n, roofs_settings *own,
                                    const device_ops **ops, roofs_error *err)
{
    TRY(settings_import(settings, own, err));
    own->threads = threads_count(own->threads);
    TRY(choose_device(own, device_lookup, ops, err));
    return estimator_resolve(own, n, n, 0, err);
}

static roofs_status memory_needed(const roofs_settings *settings, int64_t n, roofs_dtype storage,
                                  int64_t filled, int64_t *bytes, roofs_error *err)
{
    roofs_settings own;
    const device_ops *ops = &device_cpu;
    TRY(import_resolved(settings, n, &own, &ops, err));
    *bytes = bytes_of_fit(&own, ops, n, storage, filled);
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
    TRY(import_resolved(settings, n, &own, &ops, err));
    const int is_possible = n >= 0 && n < INT32_MAX;
    const device_shape shape =
        estimator_shape(&own, is_possible ? n : INT32_MAX, counted_type(&own, ops, storage));
    *bytes = ops->bytes_on_device ? ops->bytes_on_device(&shape) : 0;
    *bytes = memory_bytes(*bytes, hypotheses_most(&own));
    *free_bytes = ops->free_on_device ? ops->free_on_device() : 0;
    return ROOFS_OK;
}

int64_t roofs_default_threads(void)
{
    return threads_count(0);
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
