#include "cli/given_response.h"

#include "base/comm.h"
#include "base/memory.h"
#include "cli/folder.h"
#include "cli/process_comm.h"
#include "cli/suggest.h"
#include "stream/format.h"
#include "stream/response.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

void given_response_free(given_response *g)
{
    memory_free(g->own);
    *g = (given_response){0};
}

static int is_path(const char *text)
{
    return path_is_standard(text) || access(text, F_OK) == 0;
}

/* Splits at the first colon that ends the name of a file. */
static roofs_status split_at_colon(given_response *g, const char *text, roofs_error *err)
{
    TRY(memory_copy_text(&g->own, text, err));
    for (char *colon = strchr(g->own, ':'); colon; colon = strchr(colon + 1, ':')) {
        *colon = '\0';
        if (colon > g->own && access(g->own, F_OK) == 0) {
            g->path = g->own;
            g->column = colon + 1;
            return ROOFS_OK;
        }
        *colon = ':';
    }
    return ROOFS_OK;
}

/* A name with the ending of a data file that does not exist is a mistyped file, not a column. */
roofs_status given_response_parse(given_response *g, const char *text, roofs_error *err)
{
    *g = (given_response){.option = "--y"};
    if (is_path(text)) {
        g->path = text;
        return ROOFS_OK;
    }
    TRY(split_at_colon(g, text, err));
    if (g->path)
        return ROOFS_OK;
    if (format_matches_name(text) || strchr(text, '/'))
        g->path = text;
    else
        g->column = text;
    return ROOFS_OK;
}

/* ---- columns ----------------------------------------------------------- */

enum { LISTED = 12 };

/* "its columns are a, b, ...; did you mean 'a'?" */
roofs_status given_response_not_found(const given_response *g, const source *s, roofs_error *err)
{
    char list[500] = "";
    suggestion near = {.typed = g->column};
    int64_t count = 0;
    const char *name;
    for (; (name = source_column_name(s, count)) != NULL && count < 1000; count++) {
        const size_t used = strlen(list);
        suggest_offer(&near, name);
        if (count < LISTED)
            snprintf(list + used, sizeof list - used, "%s%.30s", used ? ", " : "", name);
    }
    if (count == 0)
        return fail(err, ROOFS_BAD_DATA,
                    "%s %.80s: there is no such file, and the files of features are no text "
                    "tables with columns",
                    g->option, g->column);
    return fail(err, ROOFS_BAD_DATA, "%s%.80s has no column \"%.80s\"; %s columns are %s%s%s",
                g->path ? "" : g->option,
                g->path ? g->path : ": there is no such file, and the table", g->column,
                g->path ? "its" : "the", list, count > LISTED ? ", ..." : "",
                suggest_hint(&near, "").text);
}

roofs_status given_take_shard(const double *all, int64_t n, double **out, const char *what,
                              roofs_error *err)
{
    const roofs_comm *ranks = process_comm();
    const int64_t first = shard_begin(n, ranks->rank, ranks->size);
    const int64_t own = shard_begin(n, ranks->rank + 1, ranks->size) - first;
    TRY(memory_get(out, own, sizeof **out, what, err));
    memcpy(*out, all + first, (size_t)own * sizeof **out);
    return ROOFS_OK;
}

roofs_status given_response_take(const given_response *g, const source *s, double **y, int64_t *n,
                                 roofs_error *err)
{
    const double *labels = source_response(s);
    *n = source_samples(s);
    return labels ? given_take_shard(labels, *n, y, "the response", err)
                  : given_response_not_found(g, s, err);
}

/* ---- files ------------------------------------------------------------- */

roofs_status given_response_read(const given_response *g, const input_args *in, int64_t limit,
                                 double **y, int64_t *n, levels *ids, roofs_error *err)
{
    const roofs_comm *ranks = process_comm();
    source *s = NULL;
    if (!g->column)
        return response_read_shard(g->path, ranks->rank, ranks->size, limit, y, n, err);
    table_options table = in->table;
    table.response = g->column;
    table.columns = table.drop = table.categories = table.always = NULL;
    table.special[SPECIAL_WEIGHTS] = table.special[SPECIAL_OFFSET] = NULL;
    table.only_response = 1;
    const source_options options = {
        .header = (header_choice)in->header, .table = &table, .ids = table.id ? ids : NULL};
    TRY(source_open(&s, &g->path, 1, &options, err));
    roofs_status status = given_response_take(g, s, y, n, err);
    source_close(s);
    return status;
}
