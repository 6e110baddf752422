#include "cli/several.h"

#include "base/memory.h"

#include <stdio.h>
#include <string.h>

/* Columns of the tables that are responses are no features. */
static roofs_status drop_responses(several_question *q, roofs_error *err)
{
    table_options *table = &q->shared->in.table;
    const char *given = table->drop ? table->drop : "", *list = q->given.column;
    const size_t size = strlen(given) + strlen(list) + 2;
    if (q->given.path)
        return ROOFS_OK;
    TRY(memory_get(&q->drop, (int64_t)size, 1, "a list of columns", err));
    snprintf(q->drop, size, "%s%s%s", given, *given ? "," : "", list);
    table->drop = q->drop;
    return ROOFS_OK;
}

roofs_status several_open(several_question *q, const char *y, roofs_error *err)
{
    fit_session *f = q->shared;
    TRY(given_response_parse(&q->given, y, err));
    TRY(responses_read(&q->y, &q->given, &f->in, &f->files, err));
    TRY(responses_check_missing(&q->y, f->in.table.drop_missing_response, err));
    TRY(drop_responses(q, err));
    f->ids = q->y.ids.words.count > 0 ? &q->y.ids : NULL;
    TRY(fit_session_open(f, q->y.n, &f->source, err));
    fit_session_print_notes(f);
    return source_check_columns(f->source, err);
}

void several_close(several_question *q)
{
    q->shared->ids = NULL;
    if (q->drop)
        q->shared->in.table.drop = NULL;
    responses_free(&q->y);
    given_response_free(&q->given);
    memory_free(q->drop);
}
