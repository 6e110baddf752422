#include "cli/trace.h"

#include "base/memory.h"
#include "cli/print.h"
#include "cli/top.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- writing ----------------------------------------------------------- */

roofs_status trace_open(trace *t, const char *path, roofs_error *err)
{
    *t = (trace){0};
    if (!path)
        return ROOFS_OK;
    TRY(output_check(path, err));
    return output_open(&t->out, path, err);
}

/* Memory in use; 0 if the system has no /proc. */
static int64_t resident_bytes(void)
{
    long long all = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file && fscanf(file, "%lld %lld", &all, &resident) != 2)
        resident = 0;
    if (file)
        fclose(file);
    return (int64_t)resident * sysconf(_SC_PAGESIZE);
}

roofs_status trace_batch(trace *t, roofs_estimator *e, double reading, double fitting,
                         roofs_error *err)
{
    roofs_result view;
    int64_t top[TRACE_MOST];
    if (!t->out.file)
        return ROOFS_OK;
    TRY(roofs_view(e, &view, err));
    int64_t count = top_features(&view, TRACE_MOST, top);
    fprintf(t->out.file,
            "{\"batch\": %" PRId64 ", \"features_seen\": %" PRId64
            ", \"read_seconds\": %.6f, \"fit_seconds\": %.6f, \"bytes\": %" PRId64
            ", \"largest\": [",
            view.batches, view.features_seen, reading, fitting, resident_bytes());
    for (int64_t k = 0; k < count; k++) {
        const roofs_feature *f = &view.features[top[k]];
        fprintf(t->out.file, "%s[%" PRId64 ", %.9g]", k ? ", " : "", f->index, f->coef);
    }
    fputs("]}\n", t->out.file);
    return ROOFS_OK;
}

void trace_profile(trace *t, json_t *profile)
{
    json_t *line = json_pack("{s:o}", "profile", profile);
    char *text = line ? json_dumps(line, JSON_REAL_PRECISION(9)) : NULL;
    if (t->out.file && text)
        fprintf(t->out.file, "%s\n", text);
    free(text);
    json_decref(line);
}

roofs_status trace_commit(trace *t, roofs_error *err)
{
    return t->out.file ? output_commit(&t->out, err) : ROOFS_OK;
}

void trace_abandon(trace *t)
{
    output_abandon(&t->out);
}

/* ---- reading ----------------------------------------------------------- */

static roofs_status read_weights(trace_line *line, const json_t *list, roofs_error *err)
{
    int64_t count = (int64_t)json_array_size(list);
    TRY(memory_get(&line->weights, count, sizeof *line->weights, "a trace", err));
    for (int64_t k = 0; k < count; k++) {
        const json_t *pair = json_array_get(list, (size_t)k);
        line->weights[k] = (trace_weight){.index = json_integer_value(json_array_get(pair, 0)),
                                          .coef = json_number_value(json_array_get(pair, 1))};
    }
    line->count = count;
    return ROOFS_OK;
}

static roofs_status add_line(trace_lines *t, const char *text, const char *path, roofs_error *err)
{
    json_error_t why;
    json_t *object = json_loads(text, 0, &why);
    const json_t *list = json_object_get(object, "largest");
    json_t *profile = json_object_get(object, "profile");
    if (json_is_object(profile)) {
        json_decref(t->profile);
        t->profile = json_incref(profile);
        json_decref(object);
        return ROOFS_OK;
    }
    if (!json_is_array(list)) {
        json_decref(object);
        return fail(err, ROOFS_BAD_DATA,
                    "%s: line %" PRId64
                    " is not a line of a trace; give a file of 'roofs fit --trace'",
                    path, t->count + 1);
    }
    roofs_status status =
        memory_grow(&t->lines, &t->capacity, t->count + 1, sizeof *t->lines, "a trace", err);
    if (!status) {
        trace_line *line = &t->lines[t->count++];
        line->reading = json_number_value(json_object_get(object, "read_seconds"));
        line->fitting = json_number_value(json_object_get(object, "fit_seconds"));
        line->bytes = json_number_value(json_object_get(object, "bytes"));
        status = read_weights(line, list, err);
    }
    json_decref(object);
    return status;
}

roofs_status trace_read(trace_lines *t, const char *path, roofs_error *err)
{
    char *line = NULL;
    size_t size = 0;
    *t = (trace_lines){0};
    FILE *file = fopen(path, "r");
    if (!file)
        return fail(err, ROOFS_IO, "%s: %s", path, strerror(errno));
    roofs_status status = ROOFS_OK;
    while (!status && getline(&line, &size, file) > 0)
        status = add_line(t, line, path, err);
    if (!status && t->count == 0)
        status = fail(err, ROOFS_BAD_DATA,
                      "%s: no lines of a trace; give a file of 'roofs fit --trace'", path);
    free(line);
    fclose(file);
    return status;
}

void trace_free(trace_lines *t)
{
    for (int64_t k = 0; k < t->count; k++)
        memory_free(t->lines[k].weights);
    memory_free(t->lines);
    json_decref(t->profile);
    *t = (trace_lines){0};
}
