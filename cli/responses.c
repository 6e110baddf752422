#include "cli/responses.h"

#include "base/block.h"
#include "base/memory.h"
#include "cli/folder.h"
#include "stream/name_list.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

void responses_free(responses *r)
{
    names_free(&r->names);
    levels_free(&r->ids);
    memory_free(r->values);
    *r = (responses){0};
}

/* A file may have a comma in its name. */
int responses_are_several(const char *text)
{
    return text && strchr(text, ',') && access(text, F_OK) != 0;
}

/* ---- the columns ------------------------------------------------------- */

/* The columns as features: names, and values in the order of the file. */
typedef struct columns_read {
    names found;
    double *values;
    int64_t n, capacity;
} columns_read;

static roofs_status take_block(columns_read *c, const roofs_block *b, roofs_error *err)
{
    const int64_t first = c->found.count;
    c->n = b->n;
    TRY(memory_grow_raw(&c->values, &c->capacity, memory_bytes(first + b->count, b->n),
                        sizeof *c->values, "the responses", err));
    for (int64_t k = 0; k < b->count; k++) {
        TRY(names_add(&c->found, b->names[k], (int64_t)strlen(b->names[k]), err));
        for (int64_t i = 0; i < b->n; i++)
            c->values[(first + k) * b->n + i] = block_at(b, k, i);
    }
    return ROOFS_OK;
}

static roofs_status take_columns(columns_read *c, source *s, roofs_error *err)
{
    roofs_block block = {0};
    do {
        TRY(source_next(s, 64, &block, err));
        if (block.count > 0 && !block.names)
            return fail(err, ROOFS_BAD_DATA,
                        "--y names several columns, but the file of the responses is no table with "
                        "names");
        if (block.count > 0)
            TRY(take_block(c, &block, err));
    } while (block.count > 0);
    return ROOFS_OK;
}

/* ---- the order of the command line ------------------------------------- */

static int is_taken(const responses *r, const char *name)
{
    for (int64_t k = 0; k < r->names.count; k++)
        if (strcmp(names_get(&r->names, k), name) == 0)
            return 1;
    return 0;
}

static roofs_status not_found(const source *s, const char *item, roofs_error *err)
{
    if (source_has_column(s, item))
        return fail(err, ROOFS_BAD_DATA,
                    "--y: the column \"%.80s\" holds words; a response needs numbers", item);
    return fail(err, ROOFS_BAD_DATA, "--y: there is no column \"%.80s\"", item);
}

/* Adds the columns that match one item of the list. */
static roofs_status take_item(responses *r, const columns_read *c, const source *s,
                              const char *item, roofs_error *err)
{
    int matches = 0;
    for (int64_t k = 0; k < c->found.count; k++) {
        const char *name = names_get(&c->found, k);
        if (!name_list_matches(item, name))
            continue;
        matches = 1;
        if (is_taken(r, name))
            continue;
        memcpy(r->values + r->count * c->n, c->values + k * c->n, (size_t)c->n * sizeof *c->values);
        TRY(names_add(&r->names, name, (int64_t)strlen(name), err));
        r->count++;
    }
    return matches ? ROOFS_OK : not_found(s, item, err);
}

static roofs_status take_list(responses *r, const columns_read *c, const source *s,
                              const char *list, roofs_error *err)
{
    names items = {0};
    roofs_status status = name_list_split(list, &items, err);
    r->n = c->n;
    if (status == ROOFS_OK)
        status = memory_get(&r->values, memory_bytes(c->found.count, c->n), sizeof *r->values,
                            "the responses", err);
    for (int64_t k = 0; k < items.count && status == ROOFS_OK; k++)
        status = take_item(r, c, s, names_get(&items, k), err);
    names_free(&items);
    return status;
}

roofs_status responses_read(responses *r, const given_response *g, const input_args *in,
                            const operands *files, roofs_error *err)
{
    source *s = NULL;
    columns_read c = {0};
    table_options table = in->table;
    table.response = table.drop = table.categories = NULL;
    table.columns = g->column;
    r->from_file = g->path != NULL;
    const source_options options = {.header = (header_choice)in->header,
                                    .table = &table,
                                    .ids = table.id ? &r->ids : NULL,
                                    .missing = MISSING_KEEP};
    roofs_status status = g->path ? source_open(&s, &g->path, 1, &options, err)
                                  : source_open(&s, files->values, files->count, &options, err);
    if (status == ROOFS_OK && !source_has_column(s, NULL))
        status = fail(err, ROOFS_BAD_DATA,
                      "--y %.80s: there is no such file, and the files are no text tables with "
                      "columns; give FILE:%.80s",
                      g->column, g->column);
    if (status == ROOFS_OK)
        status = take_columns(&c, s, err);
    if (status == ROOFS_OK)
        status = take_list(r, &c, s, g->column, err);
    source_close(s);
    names_free(&c.found);
    memory_free(c.values);
    return status;
}

roofs_status responses_check_missing(const responses *r, int64_t leave_out, roofs_error *err)
{
    for (int64_t k = 0; k < r->count && !leave_out; k++) {
        int64_t missing = 0;
        for (int64_t i = 0; i < r->n; i++)
            missing += isnan(r->values[k * r->n + i]) != 0;
        if (missing > 0)
            return fail(
                err, ROOFS_BAD_DATA,
                "the response \"%.80s\" is missing in %lld of the %lld samples; --missing-y "
                "drop fits every response without the samples that lack it",
                names_get(&r->names, k), (long long)missing, (long long)r->n);
    }
    return ROOFS_OK;
}
