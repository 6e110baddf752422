#include "cli/fit_store.h"

#include "base/memory.h"
#include "cli/fills.h"
#include "cli/fit_genotypes.h"
#include "cli/tables.h"

/* True if predictions need statistics that no recipe of a table has, and the files have them. */
static int wants_fills(const fit_session *f)
{
    const int replaces = f->in.missing == MISSING_MEDIAN || f->in.missing == MISSING_MEAN;
    return replaces && f->source && !f->genotypes.are_given &&
           !source_has_column(f->source, NULL) && fit_session_can_reread(f);
}

/* Reads the kept features once more. */
static roofs_status find_fills(fit_session *f, double **fills, roofs_error *err)
{
    roofs_result model;
    source_options options = inputs_options(&f->in, roofs_samples(f->estimator), 0);
    source *fitted = f->source;
    *fills = NULL;
    if (!wants_fills(f))
        return ROOFS_OK;
    options.missing = MISSING_KEEP;
    options.expected = (source_expectation){0};
    roofs_model_view(f->model, &model);
    f->source = NULL;
    roofs_status status = f->checkpoint.path ? fit_session_reopen(f, 0, &options, err)
                                             : source_open(&f->source, f->files.values,
                                                           f->files.count, &options, err);
    if (status == ROOFS_OK)
        status = fills_find(&model, f->source, (missing_policy)f->in.missing, fills, err);
    source_close(f->source);
    f->source = fitted;
    return status;
}

const levels *fit_session_ids(const fit_session *f)
{
    return f->fitted_ids            ? f->fitted_ids
           : f->genotypes.are_given ? &f->genotypes.people.ids
           : f->source              ? source_ids(f->source)
                                    : NULL;
}

roofs_status fit_store_tables(fit_session *f, roofs_error *err)
{
    json_t *recipes, *variants = NULL;
    double *fills = NULL;
    TRY(tables_collect(f->checkpoint.recipes, f->source, &recipes, err));
    const levels *ids = fit_session_ids(f);
    roofs_status status = find_fills(f, &fills, err);
    if (status == ROOFS_OK)
        status = fit_describe_genotypes(f, &variants, err);
    if (status == ROOFS_OK)
        status = tables_to_model(f->model, &f->in, recipes, ids, fills, variants, err);
    json_decref(variants);
    memory_free(fills);
    json_decref(recipes);
    return status;
}
