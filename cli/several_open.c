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

int several_are_asked(const char *y, const input_args *in)
{
    return responses_are_several(y) || responses_are_several(in->genotypes.pheno_name);
}

/* The stream has all people with any of the phenotypes. */
static roofs_status open_genotypes(several_question *q, roofs_error *err)
{
    fit_session *f = q->shared;
    const people *p = &f->genotypes.people;
    responses *r = &q->y;
    TRY(genotypes_choose(&f->genotypes, q->bed, &f->in.genotypes, 1, err));
    if (!f->out.quiet)
        genotypes_print_people("fit", &f->genotypes, &f->in.genotypes);
    r->n = p->ids.words.count;
    r->count = p->response_names.count;
    r->from_file = 1;
    TRY(memory_get(&r->values, memory_bytes(r->count, r->n), sizeof *r->values, "the responses",
                   err));
    memcpy(r->values, p->responses, (size_t)(r->count * r->n) * sizeof *r->values);
    for (int64_t k = 0; k < r->count; k++) {
        const char *name = names_get(&p->response_names, k);
        TRY(names_add(&r->names, name, (int64_t)strlen(name), err));
    }
    return fit_session_open(f, r->n, &f->source, err);
}

roofs_status several_open(several_question *q, const char *y, roofs_error *err)
{
    fit_session *f = q->shared;
    TRY(genotypes_find(&f->files, &q->bed, err));
    if (q->bed && y)
        return fail(err, ROOFS_BAD_SETTING,
                    "several phenotypes of genotypes: give --pheno FILE --pheno-name A,B, not --y");
    if (q->bed)
        return open_genotypes(q, err);
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
    memory_free(q->bed);
}
