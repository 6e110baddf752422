#include "model/model.h"

#include "base/memory.h"
#include "model/selection.h"
#include "robust/order_statistics.h"

#include <stddef.h>
#include <string.h>

enum {
    CLEAN_MOST = 1 << 20, /* samples, if they are split over ranks; see keeps_clean */
    QUANTILES = 257       /* enough for a histogram and a plot of any n */
};

void roofs_model_destroy(roofs_model *m)
{
    if (!m)
        return;
    for (int64_t k = 0; m->features && k < m->view.selected; k++)
        memory_free((char *)m->features[k].name);
    for (int64_t k = 0; m->members && k < m->member_count; k++)
        memory_free((char *)m->members[k].name);
    memory_free(m->method);
    memory_free(m->library);
    memory_free(m->features);
    memory_free_ones(m->trust, m->view.n);
    memory_free(m->clean);
    memory_free(m->history);
    memory_free(m->quantile);
    memory_free(m->frequency);
    memory_free(m->groups);
    memory_free(m->members);
    memory_free(m->spread);
    memory_free(m->is_selected);
    memory_free(m->half_width);
    memory_free(m->scale);
    json_decref(m->settings);
    json_decref(m->table);
    memory_free(m->table_text);
    memory_free(m->offset);
    memory_free(m);
}

const sized_type result_type = {"roofs_result", sizeof(roofs_result),
                                offsetof(roofs_result, warnings)};

void roofs_model_view_sized(const roofs_model *m, roofs_result *out, size_t size)
{
    const roofs_result none = {0};
    sized_export(&result_type, out, size, m ? &m->view : &none);
}

/* Residuals at evenly spaced positions of their order, including the smallest and the largest. */
static roofs_status find_quantiles(roofs_model *m, comm *c, const roofs_result *view,
                                   roofs_error *err)
{
    int64_t n = m->view.n, wanted = m->view.quantiles, places[QUANTILES];
    for (int64_t k = 0; k < wanted; k++)
        places[k] = k * (n - 1) / (wanted - 1);
    return order_statistics_of(c, view->residual, view->n, places, wanted, m->quantile, err);
}

/* One number per sample needs as much memory as a feature. If very many samples are split over
 * ranks, one rank may not have the memory for all of them. */
static int keeps_clean(const roofs_result *view, const comm *c, int64_t n)
{
    return view->clean && (comm_is_alone(c) || n <= CLEAN_MOST);
}

static roofs_status reserve_samples(roofs_model *m, const comm *c, const roofs_result *view,
                                    roofs_error *err)
{
    const int64_t n = m->view.n = comm_samples(c, view->n);
    m->view.quantiles = n < QUANTILES ? n : QUANTILES;
    m->trust = memory_ones(n, "the model", err);
    if (!m->trust)
        return ROOFS_NO_MEMORY;
    if (keeps_clean(view, c, n))
        TRY(memory_get(&m->clean, n, sizeof *m->clean, "the model", err));
    return memory_get(&m->quantile, m->view.quantiles, sizeof *m->quantile, "the model", err);
}

static roofs_status gather_samples(roofs_model *m, comm *c, const roofs_result *view,
                                   roofs_error *err)
{
    comm_gather_samples(c, view->n, view->trust, sizeof *m->trust, m->trust);
    if (m->clean)
        comm_gather_samples(c, view->n, view->clean, sizeof *m->clean, m->clean);
    TRY(find_quantiles(m, c, view, err));
    return comm_status(c, err);
}

static roofs_status copy_name(const char **out, const char *name, roofs_error *err)
{
    char *own = NULL;
    *out = NULL;
    if (name)
        TRY(memory_copy_text(&own, name, err));
    *out = own;
    return ROOFS_OK;
}

static roofs_status copy_features(roofs_model *m, const roofs_result *view, roofs_error *err)
{
    TRY(memory_get(&m->features, view->selected, sizeof *m->features, "the model", err));
    for (int64_t k = 0; k < view->selected; k++) {
        m->features[k] = view->features[k];
        TRY(copy_name(&m->features[k].name, view->features[k].name, err));
    }
    return ROOFS_OK;
}

static roofs_status copy_groups(roofs_model *m, const roofs_result *view, roofs_error *err)
{
    for (int64_t k = 0; k < view->groups; k++)
        m->member_count += view->group[k].count;
    TRY(memory_get(&m->groups, view->groups, sizeof *m->groups, "the model", err));
    TRY(memory_get(&m->members, m->member_count, sizeof *m->members, "the model", err));
    roofs_member *to = m->members;
    for (int64_t k = 0; k < view->groups; k++) {
        m->groups[k] = view->group[k];
        m->groups[k].members = to;
        for (int64_t j = 0; j < view->group[k].count; j++, to++) {
            const roofs_member *from = &view->group[k].members[j];
            to->index = from->index;
            to->probability = from->probability;
            TRY(copy_name(&to->name, from->name, err));
        }
    }
    return ROOFS_OK;
}

static roofs_status copy_spread(roofs_model *m, const roofs_result *view, roofs_error *err)
{
    if (!view->spread)
        return ROOFS_OK;
    TRY(memory_get(&m->spread, view->selected, sizeof *m->spread, "the model", err));
    if (view->selected > 0)
        memcpy(m->spread, view->spread, (size_t)view->selected * sizeof *m->spread);
    return ROOFS_OK;
}

static roofs_status copy_scale(roofs_model *m, const roofs_result *view, roofs_error *err)
{
    if (!view->scale)
        return ROOFS_OK;
    TRY(memory_get(&m->scale, view->selected, sizeof *m->scale, "the model", err));
    if (view->selected > 0)
        memcpy(m->scale, view->scale, (size_t)view->selected * sizeof *m->scale);
    return ROOFS_OK;
}

/* What this rank does alone. */
static roofs_status copy_view(roofs_model *m, const comm *c, const roofs_result *view,
                              roofs_error *err)
{
    if (!m->settings)
        return fail(err, ROOFS_NO_MEMORY, "no memory for the settings of the model");
    TRY(memory_copy_text(&m->method, view->method, err));
    TRY(memory_copy_text(&m->library, roofs_version(), err));
    TRY(copy_features(m, view, err));
    TRY(copy_groups(m, view, err));
    TRY(copy_spread(m, view, err));
    TRY(copy_scale(m, view, err));
    TRY(memory_get(&m->history, view->batches, sizeof *m->history, "the model", err));
    if (view->batches > 0)
        memcpy(m->history, view->history, (size_t)view->batches * sizeof *m->history);
    return reserve_samples(m, c, view, err);
}

static roofs_status point_view(roofs_model *m, roofs_error *err)
{
    roofs_result *v = &m->view;
    v->method = m->method;
    v->features = m->features;
    v->trust = m->trust;
    v->clean = m->clean;
    v->history = m->history;
    v->residual = NULL;
    v->quantile = m->quantile;
    v->frequency = m->frequency;
    v->group = m->groups;
    v->spread = m->spread;
    v->half_width = m->half_width;
    v->scale = m->scale;
    TRY(memory_get(&m->is_selected, v->selected, sizeof *m->is_selected, "the model", err));
    selection_mark(v, m->is_selected);
    v->is_selected = m->is_selected;
    return ROOFS_OK;
}

roofs_status model_complete(roofs_model *m, roofs_status status, roofs_model **out,
                            roofs_error *err)
{
    if (status == ROOFS_OK)
        status = point_view(m, err);
    if (status == ROOFS_OK)
        *out = m;
    else
        roofs_model_destroy(m);
    return status;
}

static roofs_status begin_model(roofs_model **out, const roofs_result *view, const comm *c,
                                json_t *settings, roofs_error *err)
{
    roofs_status status = memory_get(out, 1, sizeof **out, "the model", err);
    if (status != ROOFS_OK) {
        json_decref(settings);
        return status;
    }
    (*out)->settings = settings;
    (*out)->index_base = -1;
    (*out)->view = *view;
    return copy_view(*out, c, view, err);
}

roofs_status model_build(roofs_model **out, roofs_status own, const roofs_result *view,
                         const model_samples *samples, comm *c, json_t *settings, roofs_error *err)
{
    roofs_model *m = NULL;
    *out = NULL;
    roofs_status status = own == ROOFS_OK ? begin_model(&m, view, c, settings, err) : own;
    status = comm_agree_at(c, (comm_point){.call = "roofs_model_create"}, status, err);
    if (!m)
        return status;
    if (status == ROOFS_OK) {
        m->view.quality = quality_of(samples, view, c);
        status = gather_samples(m, c, view, err);
    }
    return model_complete(m, status, out, err);
}
