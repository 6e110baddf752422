#include "cli/fit_extras.h"

#include "base/memory.h"
#include "cli/folder.h"
#include "cli/print.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

const option_row extra_rows[] = {
    {TEXT(extra_args, weights, "weights", "NAME"),
     .help = "how often each sample counts, 0 or more: a column of the tables, a file with one "
             "number per sample, or FILE:COLUMN (roofs-bayes)"},
    {TEXT(extra_args, offset, "offset", "NAME"),
     .help = "a known part of each response, which is not fitted and which predictions include: "
             "a column, a file or FILE:COLUMN"},
    {TEXT(extra_args, always, "always", "NAMES"),
     .help = "features that never leave and are not shrunk, beside those of --mu: columns "
             "(names and globs), a file, or N, the first N features"},
    {0},
};

static int is_same(const char *a, const char *b)
{
    return a && b && strcmp(a, b) == 0;
}

int extras_check(const extra_args *a, const char *y, int64_t orders)
{
    const char *twice = is_same(a->weights, y) || is_same(a->weights, a->offset) ? a->weights
                        : is_same(a->offset, y)                                  ? a->offset
                                                                                 : NULL;
    if (twice)
        return usage_error("fit", "--y, --weights and --offset must differ; two of them are '%s'",
                           twice);
    if (orders > 1 && a->always)
        return usage_error("fit", "--orders shuffles the features, but those of --always come "
                                  "first; leave one of them out");
    if (path_is_standard(a->weights) || path_is_standard(a->offset) || path_is_standard(a->always))
        return usage_error("fit", "--weights, --offset and --always need files or columns; - is "
                                  "not possible");
    return OPTIONS_FINE;
}

/* True for a number without sign; *count = its value. */
static int is_count(const char *text, int64_t *count)
{
    *count = 0;
    for (const char *c = text; *c; c++) {
        if (*c < '0' || *c > '9' || *count > INT32_MAX)
            return 0;
        *count = 10 * *count + (*c - '0');
    }
    return *text != 0;
}

/* The file of --always comes first; if it is among the files, it moves. */
static roofs_status put_first(fit_extras *x, fit_session *f, const char *path, roofs_error *err)
{
    int64_t count = 0;
    TRY(memory_get(&x->files, f->files.count + 1, sizeof *x->files, "a list of files", err));
    x->files[count++] = path;
    for (int64_t k = 0; k < f->files.count; k++)
        if (strcmp(f->files.values[k], path) != 0)
            x->files[count++] = f->files.values[k];
    f->files = (operands){x->files, count};
    x->is_file = 1;
    return ROOFS_OK;
}

static roofs_status prepare_always(fit_extras *x, fit_session *f, roofs_settings *settings,
                                   roofs_error *err)
{
    const char *text = x->args.always;
    int64_t count = 0;
    if (!text)
        return ROOFS_OK;
    if (is_count(text, &count)) {
        settings->always = count;
        return ROOFS_OK;
    }
    if (access(text, F_OK) == 0)
        return put_first(x, f, text, err);
    f->in.table.always = text;
    return ROOFS_OK;
}

roofs_status extras_prepare(fit_extras *x, const extra_args *a, fit_session *f,
                            roofs_settings *settings, roofs_error *err)
{
    x->args = *a;
    TRY(given_numbers_parse(&x->weights, SPECIAL_WEIGHTS, a->weights, &f->in.table, err));
    TRY(given_numbers_parse(&x->offset, SPECIAL_OFFSET, a->offset, &f->in.table, err));
    return prepare_always(x, f, settings, err);
}

static roofs_status count_in_file(const fit_extras *x, const source *s, int64_t *count,
                                  roofs_error *err)
{
    *count = source_file_features(s, 0);
    if (*count >= 0 && strcmp(source_file_at(s, 0), x->args.always) == 0)
        return ROOFS_OK;
    return fail(err, ROOFS_BAD_DATA,
                "--always %s: the number of its features is not known before they are read; give "
                "one file that is no list of triplets, or --always N",
                x->args.always);
}

static roofs_status count_always(const fit_extras *x, const fit_session *f, int64_t *count,
                                 roofs_error *err)
{
    if (x->is_file)
        return count_in_file(x, f->source, count, err);
    if (!f->in.table.always)
        return ROOFS_OK;
    if (!source_has_column(f->source, NULL))
        return fail(err, ROOFS_BAD_DATA,
                    "--always %s: there is no such file, and the files of features are no text "
                    "tables with columns; give these features in a file of their own, or first "
                    "with --always N",
                    f->in.table.always);
    return source_always(f->source, count, err);
}

/* The name of the offset for the model: that of its column, or none. */
static const char *offset_name(const given_numbers *g)
{
    return g->at.column ? g->at.column : "";
}

static roofs_status subtract_offset(fit_extras *x, fit_session *f, const given_stream *s, double *y,
                                    roofs_error *err)
{
    TRY(given_numbers_take(&x->offset, s, &x->offsets, err));
    f->offsets = x->offsets;
    if (!x->offsets)
        return ROOFS_OK;
    f->offset = offset_name(&x->offset);
    for (int64_t i = 0; y && i < source_own_samples(s->source); i++) {
        y[i] -= x->offsets[i];
        if (!isfinite(y[i]))
            return fail(err, ROOFS_BAD_DATA,
                        "the response of sample %" PRId64 " (counted from 0) less its offset is "
                        "not a finite number",
                        source_first_sample(s->source) + i);
    }
    return ROOFS_OK;
}

roofs_status extras_take(fit_extras *x, fit_session *f, roofs_settings *settings, double *y,
                         int64_t n, roofs_error *err)
{
    const struct levels *own = source_ids(f->source);
    struct levels *ids = f->ids ? f->ids : own && own->words.count > 0 ? (levels *)own : NULL;
    const given_stream s = {
        .source = f->source, .in = &f->in, .ids = ids, .n = n, .limit = settings->max_memory};
    TRY(count_always(x, f, &settings->always, err));
    TRY(given_numbers_take(&x->weights, &s, &x->weight, err));
    f->weight = x->weight;
    return subtract_offset(x, f, &s, y, err);
}

void extras_free(fit_extras *x)
{
    given_numbers_free(&x->weights);
    given_numbers_free(&x->offset);
    memory_free(x->weight);
    memory_free(x->offsets);
    memory_free((void *)x->files);
}
