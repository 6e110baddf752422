#include "stream/turn.h"

#include "base/memory.h"
#include "stream/spill.h"

#include <string.h>

static const int64_t DEFAULT_BUDGET = (int64_t)256 << 20;
enum { PANELS_IN_BUDGET = 16, TILE = 16 };

struct turner {
    int64_t width;
    roofs_dtype dtype;
    size_t value_size;
    int64_t budget;
    int64_t panel_rows; /* of every panel but the last */
    int64_t rows;       /* pushed so far */
    /* the panel being gathered, row by row */
    char *gathered;
    int64_t gathered_rows, gathered_bytes;
    /* transposed panels in memory; none once there is a file */
    char **panels;
    int64_t panel_count, panel_capacity;
    /* ... or in the file, panel k at k full panels from its start */
    int fd;
    char *scratch; /* one panel: on its way to the file, or back */
};

roofs_status turner_create(turner **out, int64_t width, roofs_dtype dtype, int64_t budget,
                           roofs_error *err)
{
    turner *t;
    TRY(memory_get(out, 1, sizeof **out, "turning rows into columns", err));
    t = *out;
    t->width = width;
    t->dtype = dtype;
    t->value_size = dtype == ROOFS_F32 ? sizeof(float) : sizeof(double);
    t->budget = budget > 0 ? budget : DEFAULT_BUDGET;
    t->fd = -1;
    int64_t row_bytes = memory_bytes(width, (int64_t)t->value_size);
    t->panel_rows = t->budget / PANELS_IN_BUDGET / (row_bytes > 0 ? row_bytes : 1);
    if (t->panel_rows < 1)
        t->panel_rows = 1;
    return ROOFS_OK;
}

static void drop_panels(turner *t)
{
    for (int64_t k = 0; k < t->panel_count && t->panels; k++)
        memory_free(t->panels[k]);
    memory_free(t->panels);
    t->panels = NULL;
    t->panel_capacity = 0;
}

void turner_destroy(turner *t)
{
    if (!t)
        return;
    drop_panels(t);
    spill_close(t->fd);
    memory_free(t->gathered);
    memory_free(t->scratch);
    memory_free(t);
}

static int64_t panel_bytes(const turner *t, int64_t rows)
{
    return rows * t->width * (int64_t)t->value_size;
}

int64_t turner_rows(const turner *t)
{
    return t->rows;
}

int turner_uses_file(const turner *t)
{
    return t->fd >= 0;
}

/* ---- transposing ------------------------------------------------------- */

/* In tiles, so that what is read by columns stays in cache. */
#define DEFINE_TRANSPOSE(name, type)                                                               \
    static void name(const type *from, int64_t rows, int64_t width, type *to)                      \
    {                                                                                              \
        for (int64_t i = 0; i < rows; i += TILE)                                                   \
            for (int64_t j = 0; j < width; j += TILE)                                              \
                for (int64_t b = j; b < j + TILE && b < width; b++)                                \
                    for (int64_t a = i; a < i + TILE && a < rows; a++)                             \
                        to[b * rows + a] = from[a * width + b];                                    \
    }
DEFINE_TRANSPOSE(transpose_f64, double)
DEFINE_TRANSPOSE(transpose_f32, float)

static void transpose_gathered(const turner *t, void *to)
{
    const void *from = t->gathered;
    if (t->dtype == ROOFS_F32)
        transpose_f32(from, t->gathered_rows, t->width, to);
    else
        transpose_f64(from, t->gathered_rows, t->width, to);
}

/* ---- keeping panels ---------------------------------------------------- */

static roofs_status keep_in_memory(turner *t, roofs_error *err)
{
    char *panel;
    TRY(memory_grow(&t->panels, &t->panel_capacity, t->panel_count + 1, sizeof *t->panels,
                    "turning rows into columns", err));
    TRY(memory_reserve(&panel, panel_bytes(t, t->gathered_rows), 1, "turning rows into columns",
                       err));
    transpose_gathered(t, panel);
    t->panels[t->panel_count++] = panel;
    return ROOFS_OK;
}

static roofs_status keep_in_file(turner *t, roofs_error *err)
{
    int64_t full = panel_bytes(t, t->panel_rows);
    if (!t->scratch)
        TRY(memory_reserve(&t->scratch, full, 1, "turning rows into columns", err));
    transpose_gathered(t, t->scratch);
    TRY(spill_write(t->fd, t->scratch, panel_bytes(t, t->gathered_rows), t->panel_count * full,
                    err));
    t->panel_count++;
    return ROOFS_OK;
}

/* All panels in memory are full ones: only the last panel of all may be shorter. */
static roofs_status move_to_file(turner *t, roofs_error *err)
{
    int64_t full = panel_bytes(t, t->panel_rows);
    TRY(spill_open(&t->fd, err));
    for (int64_t k = 0; k < t->panel_count; k++)
        TRY(spill_write(t->fd, t->panels[k], full, k * full, err));
    drop_panels(t);
    return ROOFS_OK;
}

static roofs_status keep_panel(turner *t, roofs_error *err)
{
    int64_t kept = t->panel_count * panel_bytes(t, t->panel_rows);
    int64_t needed = kept + t->gathered_bytes + panel_bytes(t, t->gathered_rows);
    if (t->fd < 0 && needed > t->budget)
        TRY(move_to_file(t, err));
    if (t->fd < 0)
        TRY(keep_in_memory(t, err));
    else
        TRY(keep_in_file(t, err));
    t->gathered_rows = 0;
    return ROOFS_OK;
}

/* ---- rows in ----------------------------------------------------------- */

roofs_status turner_row(turner *t, void **row, roofs_error *err)
{
    if (!t->gathered) { /* pages that no row reaches take no memory */
        t->gathered_bytes = panel_bytes(t, t->panel_rows);
        TRY(memory_reserve(&t->gathered, t->gathered_bytes, 1, "turning rows into columns", err));
    }
    *row = t->gathered + panel_bytes(t, t->gathered_rows);
    return ROOFS_OK;
}

roofs_status turner_push(turner *t, roofs_error *err)
{
    t->rows++;
    t->gathered_rows++;
    return t->gathered_rows == t->panel_rows ? keep_panel(t, err) : ROOFS_OK;
}

roofs_status turner_finish(turner *t, roofs_error *err)
{
    if (t->gathered_rows > 0)
        TRY(keep_panel(t, err));
    memory_free(t->gathered);
    t->gathered = NULL;
    t->gathered_bytes = 0;
    return ROOFS_OK;
}

/* ---- columns out ------------------------------------------------------- */

/* Rows first_row.. of `count` columns: from [column][panel row] to [column][row]. */
static void scatter(const turner *t, const char *from, int64_t first_row, int64_t rows,
                    int64_t count, roofs_dtype dtype, char *values)
{
    int widen = dtype == ROOFS_F64 && t->dtype == ROOFS_F32;
    size_t out_size = dtype == ROOFS_F32 ? sizeof(float) : sizeof(double);
    for (int64_t j = 0; j < count; j++) {
        const char *source = from + (size_t)(j * rows) * t->value_size;
        char *target = values + (size_t)(j * t->rows + first_row) * out_size;
        if (!widen) {
            memcpy(target, source, (size_t)rows * t->value_size);
            continue;
        }
        for (int64_t i = 0; i < rows; i++)
            ((double *)(void *)target)[i] = ((const float *)(const void *)source)[i];
    }
}

roofs_status turner_read(turner *t, int64_t first, int64_t count, roofs_dtype dtype, void *values,
                         roofs_error *err)
{
    for (int64_t k = 0; k < t->panel_count; k++) {
        int64_t first_row = k * t->panel_rows, rows = t->rows - first_row;
        rows = rows < t->panel_rows ? rows : t->panel_rows;
        int64_t start = first * rows * (int64_t)t->value_size;
        const char *from = t->panels ? t->panels[k] + start : t->scratch;
        if (!t->panels)
            TRY(spill_read(t->fd, t->scratch, count * rows * (int64_t)t->value_size,
                           k * panel_bytes(t, t->panel_rows) + start, err));
        scatter(t, from, first_row, rows, count, dtype, values);
    }
    return ROOFS_OK;
}
