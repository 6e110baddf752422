#include "cli/truth.h"

#include "base/memory.h"
#include "cli/folder.h"
#include "stream/npy.h"

#include <inttypes.h>

static roofs_status read_one(const char *path, const char *name, double **values, int64_t *count,
                             roofs_error *err)
{
    char *full = NULL;
    TRY(folder_join(&full, path, name, err));
    roofs_status status = npy_read_all(full, values, count, err);
    memory_free(full);
    return status;
}

roofs_status truth_read(truth_files *t, const char *path, const roofs_result *model,
                        roofs_error *err)
{
    int64_t p = 0, n = 0;
    TRY(read_one(path, "beta.npy", &t->beta, &p, err));
    TRY(read_one(path, "clean.npy", &t->flags, &n, err));
    if (p != model->features_seen)
        return fail(err, ROOFS_BAD_DATA,
                    "%s/beta.npy has %" PRId64 " features, but the model was fitted on %" PRId64
                    "; give the folder of its data",
                    path, p, model->features_seen);
    if (n != model->n)
        return fail(err, ROOFS_BAD_DATA,
                    "%s/clean.npy has %" PRId64 " samples, but the model was fitted on %" PRId64
                    "; give the folder of its data",
                    path, n, model->n);
    TRY(memory_get(&t->clean, n, sizeof *t->clean, "the truth", err));
    for (int64_t i = 0; i < n; i++)
        t->clean[i] = t->flags[i] != 0;
    t->view = (truth){.beta = t->beta, .p = p, .clean = t->clean, .n = n};
    return ROOFS_OK;
}

void truth_destroy(truth_files *t)
{
    memory_free(t->beta);
    memory_free(t->flags);
    memory_free(t->clean);
}
