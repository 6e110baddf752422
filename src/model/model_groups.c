#include "model/model_groups.h"

#include "base/memory.h"
#include "base/student.h"
#include "robust/noise.h"

#include <math.h>
#include <stdlib.h>

/* ---- writing ----------------------------------------------------------- */

static json_t *members_to_json(const roofs_group *g)
{
    json_t *list = json_array();
    for (int64_t k = 0; list && k < g->count; k++) {
        const roofs_member *m = &g->members[k];
        list = append_item(list, json_pack("{s:I, s:s?, s:f}", "index", (json_int_t)m->index,
                                           "name", m->name, "probability", m->probability));
    }
    return list;
}

/* Sets a number and returns the object. On failure frees it and returns NULL. */
static json_t *with_number(json_t *object, const char *field, double number)
{
    if (object && json_object_set_new(object, field, json_real(number)) == 0)
        return object;
    json_decref(object);
    return NULL;
}

static json_t *group_to_json(const roofs_group *g)
{
    json_t *object =
        json_pack("{s:o, s:f, s:f, s:f, s:f, s:f, s:f, s:b}", "members", members_to_json(g), "mass",
                  g->mass, "exists", g->exists, "fdr", g->fdr, "correlation", g->correlation,
                  "effect", g->effect, "error", g->error, "complete", (int)(g->complete != 0));
    if (isnan(g->coef))
        return object;
    return with_number(with_number(object, "coef", g->coef), "coef_error", g->coef_error);
}

json_t *groups_to_json(const roofs_result *v)
{
    json_t *list = json_array();
    for (int64_t k = 0; list && k < v->groups; k++)
        list = append_item(list, group_to_json(&v->group[k]));
    return list;
}

/* JSON has no infinite number: normal noise has no nu. */
json_t *noise_to_json(const roofs_noise *of)
{
    json_t *object = json_pack("{s:f, s:f, s:f, s:f}", "scale", of->scale, "intercept",
                               of->intercept, "skew", of->skew, "tail", of->tail);
    return isinf(of->nu) ? object : with_number(object, "nu", of->nu);
}

json_t *quality_to_json(const roofs_quality *of)
{
    return json_pack("{s:f, s:f, s:f}", "error", of->error, "constant_error", of->constant_error,
                     "r2", of->r2);
}

json_t *spread_to_json(json_t *feature, const roofs_spread *s)
{
    return with_number(with_number(feature, "center", s->center), "error", s->error);
}

/* ---- reading ----------------------------------------------------------- */

static const double MASS_TOLERANCE = 1e-9; /* rounding of a sum of probabilities */

static roofs_status read_member(const reading *in, const json_t *from, int64_t seen,
                                roofs_member *to)
{
    TRY(get_int(in, from, "index", seen - 1, &to->index));
    TRY(get_share(in, from, "probability", &to->probability));
    return get_name(in, from, &to->name);
}

/* The most probable first; their sum is the mass. */
static roofs_status read_members(const reading *in, const json_t *list, int64_t seen,
                                 roofs_member *to, const roofs_group *g)
{
    double sum = 0;
    for (int64_t k = 0; k < g->count; k++) {
        TRY(read_member(in, json_array_get(list, (size_t)k), seen, &to[k]));
        if (k > 0 && to[k].probability > to[k - 1].probability)
            return bad_field(in, "members", "in the order of their probability");
        sum += to[k].probability;
    }
    return fabs(sum - g->mass) <= MASS_TOLERANCE && sum <= 1 + MASS_TOLERANCE
               ? ROOFS_OK
               : bad_field(in, "mass", "the sum of the probabilities of the members, at most 1");
}

static roofs_status read_coef(const reading *in, const json_t *from, roofs_group *to)
{
    to->coef = to->coef_error = NAN;
    if (!json_object_get(from, "coef"))
        return ROOFS_OK;
    if (to->count != 1)
        return bad_field(in, "coef", "only in groups of one feature");
    TRY(get_real(in, from, "coef", &to->coef));
    return get_positive(in, from, "coef_error", &to->coef_error);
}

/* All but the members. */
static roofs_status read_group(const reading *in, const json_t *from, roofs_group *to)
{
    const json_t *members, *complete = json_object_get(from, "complete");
    TRY(get_list(in, from, "members", &members, &to->count));
    if (to->count < 1)
        return bad_field(in, "members", "a list that is not empty");
    TRY(get_real(in, from, "mass", &to->mass));
    TRY(get_share(in, from, "exists", &to->exists));
    TRY(get_share(in, from, "fdr", &to->fdr));
    TRY(get_real(in, from, "effect", &to->effect));
    TRY(get_positive(in, from, "error", &to->error));
    TRY(get_positive(in, from, "correlation", &to->correlation));
    if (!json_is_boolean(complete))
        return bad_field(in, "complete", "true or false");
    to->complete = json_is_true(complete);
    return read_coef(in, from, to);
}

static int compare_members(const void *left, const void *right)
{
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

static roofs_status check_disjoint(const reading *in, const roofs_model *m)
{
    int64_t *index = NULL;
    int is_disjoint = 1;
    TRY(memory_get(&index, m->member_count, sizeof *index, "the model", in->err));
    for (int64_t k = 0; k < m->member_count; k++)
        index[k] = m->members[k].index;
    if (m->member_count > 0)
        qsort(index, (size_t)m->member_count, sizeof *index, compare_members);
    for (int64_t k = 1; k < m->member_count; k++)
        is_disjoint = is_disjoint && index[k] != index[k - 1];
    memory_free(index);
    return is_disjoint ? ROOFS_OK : bad_field(in, "groups", "without a feature in two of them");
}

/* Models without groups and those of earlier versions have no list. */
roofs_status read_groups(const reading *in, const json_t *root, roofs_model *m)
{
    const json_t *list;
    roofs_result *v = &m->view;
    if (!json_object_get(root, "groups"))
        return ROOFS_OK;
    TRY(get_list(in, root, "groups", &list, &v->groups));
    TRY(memory_get(&m->groups, v->groups, sizeof *m->groups, "the model", in->err));
    for (int64_t k = 0; k < v->groups; k++) {
        TRY(read_group(in, json_array_get(list, (size_t)k), &m->groups[k]));
        m->member_count += m->groups[k].count;
    }
    TRY(memory_get(&m->members, m->member_count, sizeof *m->members, "the model", in->err));
    roofs_member *to = m->members;
    for (int64_t k = 0; k < v->groups; k++) {
        const json_t *from = json_array_get(list, (size_t)k);
        m->groups[k].members = to;
        TRY(read_members(in, json_object_get(from, "members"), v->features_seen, to,
                         &m->groups[k]));
        to += m->groups[k].count;
    }
    v->groups_known = 1;
    return check_disjoint(in, m);
}

static roofs_status read_noise(const reading *in, const json_t *from, roofs_noise *to)
{
    TRY(get_positive(in, from, "scale", &to->scale));
    TRY(get_positive(in, from, "intercept", &to->intercept));
    TRY(get_real(in, from, "skew", &to->skew));
    TRY(get_share(in, from, "tail", &to->tail));
    to->nu = INFINITY;
    if (json_object_get(from, "nu"))
        TRY(get_real(in, from, "nu", &to->nu));
    if (!student_is_known(to->nu))
        return bad_field(in, "nu", "a whole number from 1 to 1000");
    if (fabs(to->skew) > NOISE_SKEWEST)
        return bad_field(in, "skew", "from -4 to 4");
    return to->tail < 1 ? ROOFS_OK : bad_field(in, "tail", "below 1");
}

/* Models with noise have the errors of all coefficients. */
roofs_status read_spread(const reading *in, const json_t *root, roofs_model *m)
{
    const json_t *object = json_object_get(root, "noise"), *list;
    int64_t count;
    if (!object)
        return ROOFS_OK;
    TRY(read_noise(in, object, &m->view.noise));
    TRY(get_list(in, root, "features", &list, &count));
    TRY(memory_get(&m->spread, count, sizeof *m->spread, "the model", in->err));
    for (int64_t k = 0; k < count; k++) {
        const json_t *from = json_array_get(list, (size_t)k);
        TRY(get_real(in, from, "center", &m->spread[k].center));
        TRY(get_positive(in, from, "error", &m->spread[k].error));
    }
    return ROOFS_OK;
}

roofs_status read_half_widths(const reading *in, const json_t *root, roofs_model *m)
{
    const json_t *list;
    int64_t count;
    if (!json_object_get(root, "half_widths"))
        return ROOFS_OK;
    TRY(get_list(in, root, "half_widths", &list, &count));
    TRY(memory_get(&m->half_width, count, sizeof *m->half_width, "the model", in->err));
    for (int64_t k = 0; k < count; k++) {
        const json_t *value = json_array_get(list, (size_t)k);
        m->half_width[k] = json_is_number(value) ? json_number_value(value) : -1;
    }
    m->view.half_widths = count;
    return half_widths_are_valid(m->half_width, count)
               ? ROOFS_OK
               : bad_field(in, "half_widths", "1 to 199 numbers that ascend from 0");
}

/* All features have a scale, or none has. */
roofs_status read_scale(const reading *in, const json_t *root, roofs_model *m)
{
    const json_t *list;
    int64_t count;
    int has_scale = 0;
    TRY(get_list(in, root, "features", &list, &count));
    for (int64_t k = 0; k < count; k++)
        has_scale |= json_object_get(json_array_get(list, (size_t)k), "scale") != NULL;
    if (!has_scale)
        return ROOFS_OK;
    TRY(memory_get(&m->scale, count, sizeof *m->scale, "the model", in->err));
    for (int64_t k = 0; k < count; k++)
        TRY(get_positive(in, json_array_get(list, (size_t)k), "scale", &m->scale[k]));
    return ROOFS_OK;
}

roofs_status read_quality(const reading *in, const json_t *root, roofs_model *m)
{
    const json_t *from = json_object_get(root, "quality");
    if (!from)
        return ROOFS_OK;
    if (!json_is_object(from))
        return bad_field(in, "quality", "an object");
    TRY(get_positive(in, from, "error", &m->view.quality.error));
    TRY(get_positive(in, from, "constant_error", &m->view.quality.constant_error));
    TRY(get_real(in, from, "r2", &m->view.quality.r2));
    return m->view.quality.r2 <= 1 ? ROOFS_OK : bad_field(in, "r2", "at most 1");
}
