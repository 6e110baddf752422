#include "cli/given_numbers.h"

#include "base/comm.h"
#include "cli/process_comm.h"
#include "stream/response.h"

#include <math.h>

static const char *const names_of[SPECIALS] = {"--weights", "--offset"};

void given_numbers_free(given_numbers *g)
{
    given_response_free(&g->at);
}

roofs_status given_numbers_parse(given_numbers *g, special_column which, const char *text,
                                 table_options *table, roofs_error *err)
{
    *g = (given_numbers){.which = which, .text = text};
    table->special[which] = NULL;
    if (!text)
        return ROOFS_OK;
    TRY(given_response_parse(&g->at, text, err));
    g->at.option = names_of[which];
    if (g->at.path)
        return ROOFS_OK;
    table->special[which] = g->at.column;
    return ROOFS_OK;
}

static roofs_status check_count(const given_numbers *g, int64_t got, int64_t n, roofs_error *err)
{
    if (got == n)
        return ROOFS_OK;
    return fail(err, ROOFS_BAD_DATA,
                "%s: %s has %lld numbers, but there are %lld samples; give one for each, in the "
                "same order%s",
                names_of[g->which], g->at.path, (long long)got, (long long)n,
                got > n ? " (samples without a response are left out, too: a column of their table "
                          "has no such problem)"
                        : "");
}

/* A file that holds nothing else. The table reader checks the weights of tables. */
static roofs_status read_file(const given_numbers *g, const given_stream *s, double **out,
                              roofs_error *err)
{
    const roofs_comm *ranks = process_comm();
    int64_t n = 0;
    TRY(response_read_shard(g->at.path, ranks->rank, ranks->size, s->limit, out, &n, err));
    TRY(check_count(g, n, s->n, err));
    const int64_t first = shard_begin(n, ranks->rank, ranks->size);
    const int64_t own = shard_begin(n, ranks->rank + 1, ranks->size) - first;
    for (int64_t i = 0; i < own && g->which == SPECIAL_WEIGHTS; i++)
        if (!((*out)[i] >= 0))
            return fail(err, ROOFS_BAD_DATA,
                        "%s: number %lld is %g; weights say how often samples count, 0 or more",
                        g->at.path, (long long)(first + i + 1), (*out)[i]);
    return ROOFS_OK;
}

/* A column of another table, which --id joins. */
static roofs_status read_column(const given_numbers *g, const given_stream *s, double **out,
                                roofs_error *err)
{
    source *other = NULL;
    table_options table = s->in->table;
    table.response = table.columns = table.drop = table.categories = table.always = NULL;
    table.special[SPECIAL_WEIGHTS] = table.special[SPECIAL_OFFSET] = NULL;
    table.special[g->which] = g->at.column;
    table.fitted = NULL;
    table.only_response = 1;
    const source_options options = {
        .header = (header_choice)s->in->header, .table = &table, .ids = table.id ? s->ids : NULL};
    TRY(source_open(&other, &g->at.path, 1, &options, err));
    const double *all = source_special(other, g->which);
    roofs_status status = check_count(g, source_samples(other), s->n, err);
    if (status == ROOFS_OK)
        status = all ? given_take_shard(all, s->n, out, "numbers of the samples", err)
                     : given_response_not_found(&g->at, other, err);
    source_close(other);
    return status;
}

roofs_status given_numbers_take(const given_numbers *g, const given_stream *s, double **out,
                                roofs_error *err)
{
    *out = NULL;
    if (!g->text)
        return ROOFS_OK;
    if (g->at.path)
        return (g->at.column ? read_column : read_file)(g, s, out, err);
    const double *all = source_special(s->source, g->which);
    return all ? given_take_shard(all, s->n, out, "numbers of the samples", err)
               : given_response_not_found(&g->at, s->source, err);
}
