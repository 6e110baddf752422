/* Reads and writes model files: JSON with one feature or batch per line. */
#include "base/escape.h"
#include "base/output.h"
#include "model/model.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

enum { DUMP = JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(17) };

static int is_list_of_objects(const json_t *value)
{
    return json_array_size(value) > 0 && json_is_object(json_array_get(value, 0));
}

/* Jansson ends a piece where a character ends. */
static int write_escaped(const char *piece, size_t size, void *file)
{
    const char *end = piece + size, *at = piece;
    while (at < end && (unsigned char)*at < 0x7f)
        at++;
    const size_t plain = (size_t)(at - piece); /* all of it but for rare names */
    if (fwrite(piece, 1, plain, file) != plain)
        return -1;
    piece = at;
    while (piece < end) {
        char next[2 * ESCAPE_MOST + 1];
        const size_t length = escape_next_json(&piece, end, next);
        if (fwrite(next, 1, length, file) != length)
            return -1;
    }
    return 0;
}

/* The model may go to a terminal. */
static int dump_value(FILE *file, const json_t *value)
{
    return json_dump_callback(value, write_escaped, file, DUMP);
}

/* Returns 0, or -1 if jansson fails and the value is incomplete. */
static int write_value(FILE *file, const json_t *value)
{
    if (!is_list_of_objects(value))
        return dump_value(file, value);
    int failed = 0;
    size_t count = json_array_size(value);
    fputs("[\n", file);
    for (size_t k = 0; k < count; k++) {
        fputs("  ", file);
        failed |= dump_value(file, json_array_get(value, k));
        fputs(k + 1 < count ? ",\n" : "\n", file);
    }
    fputs(" ]", file);
    return failed;
}

static int write_object(FILE *file, json_t *root)
{
    int failed = 0;
    const char *separator = "{\n";
    for (void *at = json_object_iter(root); at; at = json_object_iter_next(root, at)) {
        fprintf(file, "%s \"%s\": ", separator, json_object_iter_key(at));
        failed |= write_value(file, json_object_iter_value(at));
        separator = ",\n";
    }
    fputs("\n}\n", file);
    return failed;
}

roofs_status roofs_model_write(const roofs_model *m, const char *path, roofs_error *err)
{
    output out;
    json_t *root = NULL;
    REQUIRE(m);
    REQUIRE(path);
    TRY(output_open(&out, path, err));
    roofs_status status = model_to_json(m, &root, err);
    if (status == ROOFS_OK) {
        errno = 0;
        if (write_object(out.file, root) != 0)
            status = fail(err, errno ? ROOFS_IO : ROOFS_FAILED, "%s: cannot be written: %s", path,
                          errno ? strerror(errno) : "the model is not valid JSON");
        else
            status = output_commit(&out, err);
    }
    output_abandon(&out);
    json_decref(root);
    return status;
}

roofs_status roofs_model_read(roofs_model **out, const char *path, roofs_error *err)
{
    json_error_t where;
    REQUIRE(out);
    *out = NULL;
    REQUIRE(path);
    FILE *file = fopen(path, "rb");
    if (!file)
        return fail(err, ROOFS_BAD_DATA, "%s: cannot be read: %s", path, strerror(errno));
    struct stat kind;
    if (fstat(fileno(file), &kind) == 0 && S_ISDIR(kind.st_mode)) {
        fclose(file);
        return fail(err, ROOFS_BAD_DATA,
                    "%s: not a roofs model but a folder (give the model first)", path);
    }
    json_t *root = json_loadf(file, JSON_REJECT_DUPLICATES, &where);
    fclose(file);
    if (!root)
        return fail(err, ROOFS_BAD_DATA, "%s: not a roofs model: line %d, column %d: %s", path,
                    where.line, where.column, where.text);
    roofs_status status = model_from_json(out, root, path, err);
    json_decref(root);
    return status;
}
