/* Converts a model to JSON and back. Reading checks every field. */
#include "base/memory.h"
#include "model/model_fields.h"
#include "model/model_groups.h"
#include "model/selection.h"

#include <math.h>
#include <string.h>

enum { VERSION = 1, MOST_SAMPLES = INT32_MAX - 1 }; /* of a fit */

/* ---- writing ----------------------------------------------------------- */

static json_t *features_to_json(const roofs_model *m)
{
    json_t *list = json_array();
    for (int64_t k = 0; list && k < m->view.selected; k++) {
        const roofs_feature *f = &m->features[k];
        json_t *item = json_pack("{s:I, s:s?, s:f}", "index", (json_int_t)f->index, "name", f->name,
                                 "coef", f->coef);
        if (item && !isnan(f->probability))
            json_object_set_new(item, "probability", json_real(f->probability));
        if (item && m->frequency)
            json_object_set_new(item, "frequency", json_real(m->frequency[k]));
        if (item && m->spread)
            item = spread_to_json(item, &m->spread[k]);
        if (item && m->scale)
            json_object_set_new(item, "scale", json_real(m->scale[k]));
        list = append_item(list, item);
    }
    return list;
}

static json_t *outliers_to_json(const roofs_model *m)
{
    json_t *list = json_array();
    for (int64_t i = 0; list && i < m->view.n; i++)
        if (!m->trust[i])
            list = append_item(list, json_integer(i));
    return list;
}

static json_t *history_to_json(const roofs_model *m)
{
    json_t *list = json_array();
    for (int64_t k = 0; list && k < m->view.batches; k++) {
        const roofs_batch *b = &m->history[k];
        list = append_item(list, json_pack("{s:I, s:I, s:I, s:I, s:I, s:f, s:f}", "features",
                                           (json_int_t)b->features, "rounds", (json_int_t)b->rounds,
                                           "selected", (json_int_t)b->selected, "entered",
                                           (json_int_t)b->entered, "trusted",
                                           (json_int_t)b->trusted, "cut", b->cut, "step", b->step));
    }
    return list;
}

static json_t *numbers_to_json(const double *numbers, int64_t count)
{
    json_t *list = json_array();
    for (int64_t k = 0; list && k < count; k++)
        list = append_item(list, json_real(numbers[k]));
    return list;
}

static json_t *hypothesis_to_json(const roofs_result *v)
{
    return json_pack("{s:s, s:I}", "chosen", roofs_hypothesis_text(v->hypothesis), "compared",
                     (json_int_t)v->hypotheses);
}

static json_t *orders_to_json(const roofs_result *v)
{
    return json_pack("{s:I, s:f, s:f}", "count", (json_int_t)v->orders, "jaccard", v->jaccard,
                     "change", v->change);
}

/* The words of the flags. Flags without a word are those of a later version. */
static json_t *warnings_to_json(int64_t flags)
{
    const char *word;
    json_t *list = json_array();
    for (int64_t k = 0; list && (word = roofs_warning_name(k)) != NULL; k++)
        if (flags & (int64_t)1 << k)
            list = append_item(list, json_string(word));
    return list;
}

roofs_status model_to_json(const roofs_model *m, json_t **out, roofs_error *err)
{
    const roofs_result *v = &m->view;
    *out = json_pack(
        "{s:s, s:i, s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:f, s:o, s:o, s:{s:f, s:o}, s:O, s:o, s:s}",
        "format", "roofs-model", "version", VERSION, "library", m->library, "method", m->method,
        "n", (json_int_t)v->n, "features_seen", (json_int_t)v->features_seen, "constant_features",
        (json_int_t)v->constant, "trusted", (json_int_t)v->trusted, "rounds", (json_int_t)v->rounds,
        "intercept", v->intercept, "features", features_to_json(m), "outliers", outliers_to_json(m),
        "residuals", "cut", v->cut, "quantiles", numbers_to_json(m->quantile, v->quantiles),
        "settings", m->settings, "history", history_to_json(m), "stop", roofs_stop_text(v->stop));
    int complete = *out != NULL;
    if (complete && m->clean)
        complete =
            json_object_set_new(*out, "clean_probability", numbers_to_json(m->clean, v->n)) == 0;
    if (complete && m->table)
        complete = json_object_set(*out, "table", m->table) == 0;
    if (complete && m->offset)
        complete = json_object_set_new(*out, "offset", json_string(m->offset)) == 0;
    if (complete && m->index_base >= 0)
        complete = json_object_set_new(*out, "index_base", json_integer(m->index_base)) == 0;
    if (complete && v->hypotheses > 0)
        complete = json_object_set_new(*out, "hypothesis", hypothesis_to_json(v)) == 0;
    if (complete && m->frequency)
        complete = json_object_set_new(*out, "orders", orders_to_json(v)) == 0;
    if (complete && v->warnings)
        complete = json_object_set_new(*out, "warnings", warnings_to_json(v->warnings)) == 0;
    if (complete && v->groups_known)
        complete = json_object_set_new(*out, "groups", groups_to_json(v)) == 0;
    if (complete && m->spread)
        complete = json_object_set_new(*out, "noise", noise_to_json(&v->noise)) == 0;
    if (complete && v->quality.constant_error > 0)
        complete = json_object_set_new(*out, "quality", quality_to_json(&v->quality)) == 0;
    if (complete && m->half_width)
        complete = json_object_set_new(*out, "half_widths",
                                       numbers_to_json(m->half_width, v->half_widths)) == 0;
    if (!complete)
        return fail(err, ROOFS_FAILED,
                    "the model cannot be written as JSON: a name that is not UTF-8, a number that "
                    "is not finite, or no memory");
    return ROOFS_OK;
}

/* ---- reading ----------------------------------------------------------- */

static roofs_status read_feature(const reading *in, const json_t *from, int64_t seen,
                                 roofs_feature *to)
{
    TRY(get_int(in, from, "index", seen - 1, &to->index));
    TRY(get_real(in, from, "coef", &to->coef));
    to->probability = NAN;
    if (json_object_get(from, "probability"))
        TRY(get_real(in, from, "probability", &to->probability));
    return get_name(in, from, &to->name);
}

/* Indices must ascend: searches for a feature rely on it. */
static roofs_status read_features(const reading *in, const json_t *root, roofs_model *m)
{
    const json_t *list;
    TRY(get_list(in, root, "features", &list, &m->view.selected));
    TRY(memory_get(&m->features, m->view.selected, sizeof *m->features, "the model", in->err));
    for (int64_t k = 0; k < m->view.selected; k++) {
        TRY(read_feature(in, json_array_get(list, (size_t)k), m->view.features_seen,
                         &m->features[k]));
        if (k > 0 && m->features[k].index <= m->features[k - 1].index)
            return bad_field(in, "features", "in the order of their index");
    }
    return ROOFS_OK;
}

static roofs_status read_outliers(const reading *in, const json_t *root, roofs_model *m)
{
    const json_t *list;
    int64_t outliers;
    TRY(get_list(in, root, "outliers", &list, &outliers));
    m->trust = memory_ones(m->view.n, "the model", in->err);
    if (!m->trust)
        return ROOFS_NO_MEMORY;
    for (int64_t k = 0; k < outliers; k++) {
        const json_t *value = json_array_get(list, (size_t)k);
        json_int_t sample = json_is_integer(value) ? json_integer_value(value) : -1;
        if (sample < 0 || sample >= m->view.n || !m->trust[sample])
            return bad_field(in, "outliers", "different sample numbers below n");
        m->trust[sample] = 0;
    }
    if (m->view.trusted + outliers != m->view.n)
        return bad_field(in, "trusted", "n less the number of outliers");
    return ROOFS_OK;
}

/* One probability per sample, or none at all. */
static roofs_status read_clean(const reading *in, const json_t *root, roofs_model *m)
{
    const json_t *list = json_object_get(root, "clean_probability");
    if (!list)
        return ROOFS_OK;
    if (!json_is_array(list) || (int64_t)json_array_size(list) != m->view.n)
        return bad_field(in, "clean_probability", "a list of n numbers");
    TRY(memory_get(&m->clean, m->view.n, sizeof *m->clean, "the model", in->err));
    for (int64_t i = 0; i < m->view.n; i++) {
        m->clean[i] = json_number_value(json_array_get(list, (size_t)i));
        if (!(m->clean[i] >= 0 && m->clean[i] <= 1))
            return bad_field(in, "clean_probability", "probabilities");
    }
    return ROOFS_OK;
}

static roofs_status read_history(const reading *in, const json_t *root, roofs_model *m)
{
    const json_t *list;
    TRY(get_list(in, root, "history", &list, &m->view.batches));
    TRY(memory_get(&m->history, m->view.batches, sizeof *m->history, "the model", in->err));
    for (int64_t k = 0; k < m->view.batches; k++) {
        const json_t *from = json_array_get(list, (size_t)k);
        roofs_batch *to = &m->history[k];
        TRY(get_int(in, from, "features", INT64_MAX, &to->features));
        TRY(get_int(in, from, "rounds", INT64_MAX, &to->rounds));
        TRY(get_int(in, from, "selected", INT64_MAX, &to->selected));
        TRY(get_int(in, from, "entered", INT64_MAX, &to->entered));
        TRY(get_int(in, from, "trusted", m->view.n, &to->trusted));
        TRY(get_real(in, from, "cut", &to->cut));
        TRY(get_real(in, from, "step", &to->step));
    }
    return ROOFS_OK;
}

static roofs_status read_residuals(const reading *in, const json_t *root, roofs_model *m)
{
    const json_t *object = json_object_get(root, "residuals");
    const json_t *list;
    if (!json_is_object(object))
        return bad_field(in, "residuals", "an object");
    TRY(get_real(in, object, "cut", &m->view.cut));
    TRY(get_list(in, object, "quantiles", &list, &m->view.quantiles));
    TRY(memory_get(&m->quantile, m->view.quantiles, sizeof *m->quantile, "the model", in->err));
    for (int64_t k = 0; k < m->view.quantiles; k++) {
        const json_t *value = json_array_get(list, (size_t)k);
        if (!json_is_number(value))
            return bad_field(in, "quantiles", "numbers");
        m->quantile[k] = json_number_value(value);
    }
    return ROOFS_OK;
}

static roofs_status read_stop(const reading *in, const json_t *root, roofs_model *m)
{
    const char *text = json_string_value(json_object_get(root, "stop"));
    const char *known;
    for (int k = 0; text && (known = roofs_stop_text((roofs_stop)k)) != NULL; k++)
        if (strcmp(text, known) == 0) {
            m->view.stop = (roofs_stop)k;
            return ROOFS_OK;
        }
    return bad_field(in, "stop", "a reason to stop");
}

/* The flag of a word; 0 for a word of a later version. */
static int64_t warning_flag(const char *word)
{
    const char *known;
    for (int64_t k = 0; (known = roofs_warning_name(k)) != NULL; k++)
        if (strcmp(word, known) == 0)
            return (int64_t)1 << k;
    return 0;
}

/* A model without warnings, or of a version that had none, has no list. */
static roofs_status read_warnings(const reading *in, const json_t *root, roofs_model *m)
{
    const json_t *list;
    int64_t count;
    if (!json_object_get(root, "warnings"))
        return ROOFS_OK;
    TRY(get_list(in, root, "warnings", &list, &count));
    for (int64_t k = 0; k < count; k++) {
        const char *word = json_string_value(json_array_get(list, (size_t)k));
        if (!word)
            return bad_field(in, "warnings", "a list of words");
        m->view.warnings |= warning_flag(word);
    }
    return ROOFS_OK;
}

static roofs_status read_index_base(const reading *in, const json_t *root, roofs_model *m)
{
    int64_t base = -1;
    if (json_object_get(root, "index_base"))
        TRY(get_int(in, root, "index_base", 1, &base));
    m->index_base = (int)base;
    return ROOFS_OK;
}

/* The program checks what is in it. */
static roofs_status read_table(const reading *in, const json_t *root, roofs_model *m)
{
    json_t *table = json_object_get(root, "table");
    if (!table)
        return ROOFS_OK;
    if (!json_is_object(table))
        return bad_field(in, "table", "an object");
    return model_keep_table(m, table, in->err);
}

static roofs_status read_offset(const reading *in, const json_t *root, roofs_model *m)
{
    const json_t *offset = json_object_get(root, "offset");
    if (!offset)
        return ROOFS_OK;
    if (!json_is_string(offset))
        return bad_field(in, "offset", "a text");
    return roofs_model_set_offset(m, json_string_value(offset), in->err);
}

/* Models of versions without these settings have selected all features that they hold. */
static roofs_status read_selection(const reading *in, const json_t *settings, roofs_model *m)
{
    const char *word = json_string_value(json_object_get(settings, "select"));
    if (json_object_get(settings, "fdr"))
        TRY(get_share(in, settings, "fdr", &m->view.fdr));
    m->view.by_probability = m->view.fdr > 0                       ? SELECTED_BY_GROUP
                             : word && strcmp(word, "likely") == 0 ? SELECTED_LIKELY
                                                                   : SELECTED_ALL;
    return ROOFS_OK;
}

/* Optional: methods without hypotheses and earlier versions do not write it. */
static roofs_status read_hypothesis(const reading *in, const json_t *root, roofs_model *m)
{
    const json_t *object = json_object_get(root, "hypothesis");
    const char *text = json_string_value(json_object_get(object, "chosen")), *known;
    if (!object)
        return ROOFS_OK;
    TRY(get_int(in, object, "compared", INT32_MAX, &m->view.hypotheses));
    for (int64_t k = 0; text && (known = roofs_hypothesis_text(k)) != NULL; k++)
        if (strcmp(text, known) == 0) {
            m->view.hypothesis = k;
            return ROOFS_OK;
        }
    return bad_field(in, "chosen", "a hypothesis");
}

/* Optional: only fits with several orders write it, and a frequency for each feature. */
static roofs_status read_orders(const reading *in, const json_t *root, roofs_model *m)
{
    const json_t *object = json_object_get(root, "orders"), *list;
    roofs_result *v = &m->view;
    int64_t count;
    if (!object)
        return ROOFS_OK;
    TRY(get_int(in, object, "count", INT32_MAX, &v->orders));
    TRY(get_share(in, object, "jaccard", &v->jaccard));
    TRY(get_real(in, object, "change", &v->change));
    if (v->orders < 2 || v->change < 0)
        return bad_field(in, "orders", "at least 2, with a change of at least 0");
    TRY(get_list(in, root, "features", &list, &count));
    TRY(memory_get(&m->frequency, count, sizeof *m->frequency, "the model", in->err));
    for (int64_t k = 0; k < count; k++)
        TRY(get_share(in, json_array_get(list, (size_t)k), "frequency", &m->frequency[k]));
    return ROOFS_OK;
}

static roofs_status check_format(const reading *in, const json_t *root)
{
    const char *format = json_string_value(json_object_get(root, "format"));
    int64_t version = 0;
    if (!format || strcmp(format, "roofs-model") != 0)
        return bad_field(in, "format", "\"roofs-model\"");
    TRY(get_int(in, root, "version", INT64_MAX, &version));
    if (version != VERSION)
        return fail(in->err, ROOFS_BAD_DATA,
                    "%s: the model file has version %lld; this program reads version %d", in->path,
                    (long long)version, VERSION);
    return ROOFS_OK;
}

static roofs_status read_model(const reading *in, const json_t *root, roofs_model *m)
{
    roofs_result *v = &m->view;
    TRY(check_format(in, root));
    TRY(get_text(in, root, "library", &m->library));
    TRY(get_text(in, root, "method", &m->method));
    TRY(get_int(in, root, "n", MOST_SAMPLES, &v->n));
    TRY(get_int(in, root, "features_seen", INT64_MAX, &v->features_seen));
    TRY(get_int(in, root, "constant_features", v->features_seen, &v->constant));
    TRY(get_int(in, root, "trusted", v->n, &v->trusted));
    TRY(get_int(in, root, "rounds", INT64_MAX, &v->rounds));
    TRY(get_real(in, root, "intercept", &v->intercept));
    TRY(read_features(in, root, m));
    TRY(read_outliers(in, root, m));
    TRY(read_clean(in, root, m));
    TRY(read_residuals(in, root, m));
    TRY(read_history(in, root, m));
    TRY(read_stop(in, root, m));
    TRY(read_warnings(in, root, m));
    TRY(read_index_base(in, root, m));
    TRY(read_table(in, root, m));
    TRY(read_offset(in, root, m));
    TRY(read_hypothesis(in, root, m));
    TRY(read_orders(in, root, m));
    TRY(read_groups(in, root, m));
    TRY(read_spread(in, root, m));
    TRY(read_half_widths(in, root, m));
    TRY(read_scale(in, root, m));
    TRY(read_quality(in, root, m));
    if (!json_is_object(json_object_get(root, "settings")))
        return bad_field(in, "settings", "an object");
    TRY(read_selection(in, json_object_get(root, "settings"), m));
    m->settings = json_deep_copy(json_object_get(root, "settings"));
    return m->settings ? ROOFS_OK : fail(in->err, ROOFS_NO_MEMORY, "no memory for the model");
}

roofs_status model_from_json(roofs_model **out, const json_t *root, const char *path,
                             roofs_error *err)
{
    reading in = {.path = path, .err = err};
    roofs_model *m = NULL;
    *out = NULL;
    TRY(memory_get(&m, 1, sizeof *m, "the model", err));
    return model_complete(m, read_model(&in, root, m), out, err);
}
