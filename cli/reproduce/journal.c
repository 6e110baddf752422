#include "cli/reproduce/journal.h"

#include "base/memory.h"
#include "cli/folder.h"
#include "cli/print.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Ignores incomplete lines of a crash: their trials run again. */
static void journal_parse_line(journal *j, const char *line)
{
    json_t *entry = json_loads(line, 0, NULL);
    const char *key = json_string_value(json_object_get(entry, "trial"));
    if (key)
        json_object_set(j->known, key, entry);
    json_decref(entry);
}

/* Ends an incomplete last line, so that the next entry begins on a new line. */
static roofs_status journal_read_all(journal *j, roofs_error *err)
{
    char *line = NULL;
    size_t size = 0;
    ssize_t length;
    int ended = 1;
    rewind(j->file);
    while ((length = getline(&line, &size, j->file)) > 0) {
        journal_parse_line(j, line);
        ended = line[length - 1] == '\n';
    }
    free(line);
    if (ferror(j->file) || (!ended && fputc('\n', j->file) == EOF))
        return fail(err, ROOFS_IO, "%s: %s", j->path, strerror(errno));
    return ROOFS_OK;
}

roofs_status journal_open(journal *j, const char *path, roofs_error *err)
{
    *j = (journal){.known = json_object()};
    if (!j->known)
        return fail(err, ROOFS_NO_MEMORY, "no memory for the list of results");
    TRY(folder_join(&j->path, path, "trials.jsonl", err));
    j->file = fopen(j->path, "a+");
    if (!j->file)
        return fail(err, ROOFS_IO, "%s: %s", j->path, strerror(errno));
    return journal_read_all(j, err);
}

void journal_close(journal *j)
{
    if (j->file)
        fclose(j->file);
    memory_free(j->path);
    json_decref(j->known);
    *j = (journal){0};
}

int journal_find(const journal *j, const char *key, double *scores, const char **failure)
{
    const json_t *entry = json_object_get(j->known, key);
    if (!entry)
        return 0;
    for (int q = 0; q < MEASURES; q++) {
        const json_t *value = json_object_get(entry, measure_name((measure)q));
        scores[q] = json_is_number(value) ? json_number_value(value) : NAN;
    }
    *failure = json_string_value(json_object_get(entry, "failure"));
    return 1;
}

static json_t *entry_of(const char *key, const double *scores, const char *failure)
{
    json_t *entry = json_pack("{s:s}", "trial", key);
    for (int q = 0; q < MEASURES && entry; q++)
        if (isfinite(scores[q]))
            json_object_set_new(entry, measure_name((measure)q), json_real(scores[q]));
    if (failure && entry)
        json_object_set_new(entry, "failure", json_string(failure));
    return entry;
}

roofs_status journal_add(journal *j, const char *key, const double *scores, const char *failure,
                         roofs_error *err)
{
    json_t *entry = entry_of(key, scores, failure);
    char *line = entry ? json_dumps(entry, JSON_COMPACT | JSON_PRESERVE_ORDER) : NULL;
    if (!line || json_object_set_new(j->known, key, entry) != 0) {
        free(line);
        return fail(err, ROOFS_NO_MEMORY, "no memory for a result");
    }
    int failed = fprintf(j->file, "%s\n", line) < 0 || fflush(j->file) != 0;
    free(line);
    if (failed)
        return fail(err, ROOFS_IO, "%s: %s", j->path, strerror(errno));
    return ROOFS_OK;
}
