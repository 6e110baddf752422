/* The table of a model: how its columns become features; and the name of its offset. */
#include "base/memory.h"
#include "model/model.h"

static const size_t TEXT_FLAGS = JSON_COMPACT | JSON_REAL_PRECISION(17);

roofs_status model_keep_table(roofs_model *m, json_t *table, roofs_error *err)
{
    char *text = NULL;
    const size_t size = json_dumpb(table, NULL, 0, TEXT_FLAGS);
    TRY(memory_get(&text, (int64_t)size + 1, 1, "the model", err));
    json_t *own = json_dumpb(table, text, size, TEXT_FLAGS) == size ? json_deep_copy(table) : NULL;
    if (!own) {
        memory_free(text);
        return fail(err, ROOFS_NO_MEMORY, "no memory for the table of the model");
    }
    json_decref(m->table);
    memory_free(m->table_text);
    m->table = own;
    m->table_text = text;
    return ROOFS_OK;
}

const char *roofs_model_table(const roofs_model *m)
{
    return m ? m->table_text : NULL;
}

roofs_status roofs_model_set_table(roofs_model *m, const char *json, roofs_error *err)
{
    REQUIRE(m);
    REQUIRE(json);
    json_t *table = json_loads(json, JSON_REJECT_DUPLICATES, NULL);
    roofs_status status =
        json_is_object(table)
            ? model_keep_table(m, table, err)
            : fail(err, ROOFS_BAD_CALL, "roofs_model_set_table: the text is not a JSON object");
    json_decref(table);
    return status;
}

const char *roofs_model_offset(const roofs_model *m)
{
    return m ? m->offset : NULL;
}

/* Names come from files, which may hold other bytes than UTF-8. */
roofs_status roofs_model_set_offset(roofs_model *m, const char *name, roofs_error *err)
{
    char *own = NULL;
    REQUIRE(m);
    if (name) {
        json_t *text = json_string(name);
        json_decref(text);
        if (!text)
            return fail(err, ROOFS_BAD_CALL, "roofs_model_set_offset: the name is not UTF-8");
        TRY(memory_copy_text(&own, name, err));
    }
    memory_free(m->offset);
    m->offset = own;
    return ROOFS_OK;
}
