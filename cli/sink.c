#include "cli/sink.h"

#include "base/memory.h"
#include "base/number.h"
#include "cli/folder.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const sink_kind *const kinds[] = {&sink_npy, &sink_npz, &sink_table, &sink_libsvm,
                                         &sink_triplets};

static const sink_kind *find_sink(const char *path)
{
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        for (const char *const *ending = kinds[k]->endings; *ending; ending++)
            if (path_ends_in(path, *ending))
                return kinds[k];
    return NULL;
}

int sink_supports(const char *path)
{
    return find_sink(path) != NULL;
}

int sink_has_labels(const char *path)
{
    return find_sink(path) == &sink_libsvm;
}

const char *sink_endings(void)
{
    return ".npy .npz .csv .tsv .svm .triplets";
}

/* ---- life -------------------------------------------------------------- */

roofs_status sink_open(sink *s, const char *path, int64_t n, const double *labels, roofs_error *err)
{
    *s = (sink){.kind = find_sink(path),
                .n = n,
                .labels = labels,
                .separator = path_ends_in(path, ".tsv") ? '\t' : ','};
    TRY(output_open(&s->out, path, err));
    roofs_status status = s->kind->begin ? s->kind->begin(s, err) : ROOFS_OK;
    if (status)
        sink_abandon(s);
    return status;
}

static roofs_status fail_name(const sink *s, const char *name, const char *what, roofs_error *err)
{
    return fail(
        err, ROOFS_BAD_DATA,
        "feature %lld, named \"%.60s\": %s; choose another format, or give other names with "
        "--names",
        (long long)s->names.count, name, what);
}

/* Readers take a file with such characters for binary data. */
static int has_control_character(const char *name)
{
    for (; *name; name++)
        if ((unsigned char)*name < ' ' && !(*name >= '\t' && *name <= '\r'))
            return 1;
    return 0;
}

/* Refuses a name that would be read back as another one. */
static roofs_status check_name(sink *s, const char *name, roofs_error *err)
{
    int fresh = 1;
    if (s->kind->is_text && has_control_character(name))
        return fail_name(s, name, "text files cannot hold its control characters", err);
    if (s->kind->names_differ && *name)
        TRY(nameset_add(&s->seen, name, &fresh, err));
    if (!fresh)
        return fail_name(s, name, "another feature has this name, and the two would become one",
                         err);
    return ROOFS_OK;
}

static roofs_status add_names(sink *s, const char *const *feature_names, int64_t count,
                              roofs_error *err)
{
    s->named |= feature_names != NULL;
    for (int64_t k = 0; k < count; k++) {
        const char *name = feature_names ? feature_names[k] : "";
        TRY(check_name(s, name, err));
        TRY(names_add(&s->names, name, (int64_t)strlen(name), err));
    }
    return ROOFS_OK;
}

roofs_status sink_features(sink *s, const sparse *block, const char *const *feature_names,
                           roofs_error *err)
{
    TRY(add_names(s, feature_names, block->count, err));
    TRY(s->kind->features(s, block, err));
    s->count += block->count;
    if (block->count > 0)
        s->last_is_zero = block->starts[block->count - 1] == block->starts[block->count];
    return ferror(s->out.file) ? sink_failed(s, err) : ROOFS_OK;
}

static void sink_reset(sink *s)
{
    if (s->kind && s->kind->destroy)
        s->kind->destroy(s->state);
    else
        memory_free(s->state);
    names_free(&s->names);
    nameset_clear(&s->seen);
    *s = (sink){0};
}

roofs_status sink_end(sink *s, roofs_error *err)
{
    return s->kind->end ? s->kind->end(s, err) : ROOFS_OK;
}

roofs_status sink_commit(sink *s, roofs_error *err)
{
    roofs_status status = output_commit(&s->out, err);
    sink_reset(s);
    return status;
}

void sink_abandon(sink *s)
{
    output_abandon(&s->out);
    sink_reset(s);
}

roofs_status sink_failed(const sink *s, roofs_error *err)
{
    return fail(err, ROOFS_IO, "%s: cannot be written: %s",
                s->out.target ? s->out.target : "the output", strerror(errno));
}

void sink_number(double value, char text[SINK_NUMBER])
{
    double back;
    for (int digits = 15; digits <= 17; digits++) {
        int length = snprintf(text, SINK_NUMBER, "%.*g", digits, value);
        if (number_scan(text, text + length, &back) && back == value)
            return;
    }
}

/* Readers remove spaces around a field, and a byte order mark at the start of the file. */
static int needs_quotes(const char *name)
{
    size_t length = strlen(name);
    int padded = length > 0 && (name[0] == ' ' || name[length - 1] == ' ');
    return padded || strncmp(name, "\xef\xbb\xbf", 3) == 0 || strpbrk(name, "\",;\t\r\n") != NULL;
}

void sink_put_name(const sink *s, const char *name, int quoted)
{
    FILE *file = s->out.file;
    quoted |= needs_quotes(name);
    if (quoted)
        fputc('"', file);
    for (; *name; name++) {
        if (*name == '"')
            fputc('"', file);
        fputc(*name, file);
    }
    if (quoted)
        fputc('"', file);
}
