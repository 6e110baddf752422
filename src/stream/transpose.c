#include "stream/transpose.h"

#include "base/memory.h"
#include "stream/spill.h"

#include <string.h>

static const int64_t DEFAULT_BUDGET = (int64_t)256 << 20;
enum { PANELS_IN_BUDGET = 16, TILE = 16 };

struct transposer {
    int64_t width;
    roofs_dtype dtype;
    size_t value_size;
    int64_t budget;
    int64_t panel_rows; /* of every panel but the last */
    int64_t rows;       /* pushed so far */
    /* the rows of the current panel */
    char *gathered;
    int64_t gathered_rows, gathered_bytes;
    /* transposed panels in memory; NULL once there is a file */
    char **panels;
    int64_t panel_count, panel_capacity;
    /* ... or in the file: panel k begins at k times the size of a full panel */
    int fd;
    int64_t peak;  /* most bytes of rows and panels in memory */
    char *scratch; /* one panel that is written to the file or read from it */
};

roofs_status transposer_create(transposer **out, int64_t width, roofs_dtype dtype, int64_t budget,
                               roofs_error *err)
{
    transposer *t;
    TRY(memory_get(out, 1, sizeof **out, "transposing rows", err));
    t = *out;
    t->width = width;
    t->dtype = dtype;
    t->value_size = (size_t)dtype_size(dtype);
    t->budget = budget > 0 ? budget : DEFAULT_BUDGET;
    t->fd = -1;
    int64_t row_bytes = memory_bytes(width, (int64_t)t->value_size);
    t->panel_rows = t->budget / PANELS_IN_BUDGET / (row_bytes > 0 ? row_bytes : 1);
    if (t->panel_rows < 1)
        t->panel_rows = 1;
    return ROOFS_OK;
}

static void drop_panels(transposer *t)
{
    for (int64_t k = 0; k < t->panel_count && t->panels; k++)
        memory_free(t->panels[k]);
    memory_free(t->panels);
    t->panels = NULL;
    t->panel_capacity = 0;
}

void transposer_destroy(transposer *t)
{
    if (!t)
        return;
    drop_panels(t);
    spill_close(t->fd);
    memory_free(t->gathered);
    memory_free(t->scratch);
    memory_free(t);
}

static int64_t panel_bytes(const transposer *t, int64_t rows)
{
    return rows * t->width * (int64_t)t->value_size;
}

int64_t transposer_rows(const transposer *t)
{
    return t->rows;
}

int transposer_uses_file(const transposer *t)
{
    return t->fd >= 0;
}

/* ---- transposing ------------------------------------------------------- */

/* Works in tiles, so that the columns it writes stay in cache. */
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
DEFINE_TRANSPOSE(transpose_bytes, char)

void transpose_values(const void *from, int64_t rows, int64_t width, roofs_dtype dtype, void *to)
{
    if (dtype == ROOFS_F32)
        transpose_f32(from, rows, width, to);
    else if (dtype_is_packed(dtype))
        transpose_bytes(from, rows, width, to);
    else
        transpose_f64(from, rows, width, to);
}

/* ---- storing panels ---------------------------------------------------- */

static roofs_status store_in_memory(transposer *t, roofs_error *err)
{
    char *panel;
    TRY(memory_grow(&t->panels, &t->panel_capacity, t->panel_count + 1, sizeof *t->panels,
                    "transposing rows", err));
    TRY(memory_reserve(&panel, panel_bytes(t, t->gathered_rows), 1, "transposing rows", err));
    transpose_values(t->gathered, t->gathered_rows, t->width, t->dtype, panel);
    t->panels[t->panel_count++] = panel;
    return ROOFS_OK;
}

static roofs_status store_in_file(transposer *t, roofs_error *err)
{
    int64_t full = panel_bytes(t, t->panel_rows);
    if (!t->scratch)
        TRY(memory_reserve(&t->scratch, full, 1, "transposing rows", err));
    transpose_values(t->gathered, t->gathered_rows, t->width, t->dtype, t->scratch);
    TRY(spill_write(t->fd, t->scratch, panel_bytes(t, t->gathered_rows), t->panel_count * full,
                    err));
    t->panel_count++;
    return ROOFS_OK;
}

/* All panels in memory are full; only the last panel of all can be shorter. */
static roofs_status panels_to_file(transposer *t, roofs_error *err)
{
    int64_t full = panel_bytes(t, t->panel_rows);
    TRY(spill_open(&t->fd, err));
    for (int64_t k = 0; k < t->panel_count; k++)
        TRY(spill_write(t->fd, t->panels[k], full, k * full, err));
    drop_panels(t);
    return ROOFS_OK;
}

int64_t transposer_peak(const transposer *t)
{
    return t->peak;
}

static roofs_status store_panel(transposer *t, roofs_error *err)
{
    int64_t stored = t->panel_count * panel_bytes(t, t->panel_rows);
    const int64_t used = (t->fd < 0 ? stored : 0) + 2 * panel_bytes(t, t->gathered_rows);
    t->peak = used > t->peak ? used : t->peak;
    int64_t needed = stored + t->gathered_bytes + panel_bytes(t, t->gathered_rows);
    if (t->fd < 0 && needed > t->budget)
        TRY(panels_to_file(t, err));
    if (t->fd < 0)
        TRY(store_in_memory(t, err));
    else
        TRY(store_in_file(t, err));
    t->gathered_rows = 0;
    return ROOFS_OK;
}

/* ---- rows in ----------------------------------------------------------- */

roofs_status transposer_row(transposer *t, void **row, roofs_error *err)
{
    if (!t->gathered) { /* pages that no row reaches take no memory */
        t->gathered_bytes = panel_bytes(t, t->panel_rows);
        TRY(memory_reserve(&t->gathered, t->gathered_bytes, 1, "transposing rows", err));
    }
    *row = t->gathered + panel_bytes(t, t->gathered_rows);
    return ROOFS_OK;
}

roofs_status transposer_push(transposer *t, roofs_error *err)
{
    t->rows++;
    t->gathered_rows++;
    return t->gathered_rows == t->panel_rows ? store_panel(t, err) : ROOFS_OK;
}

roofs_status transposer_finish(transposer *t, roofs_error *err)
{
    if (t->gathered_rows > 0)
        TRY(store_panel(t, err));
    memory_free(t->gathered);
    t->gathered = NULL;
    t->gathered_bytes = 0;
    return ROOFS_OK;
}

/* ---- columns out ------------------------------------------------------- */

static void widen_values(const void *from, roofs_dtype dtype, int64_t count, double *to)
{
    for (int64_t i = 0; i < count; i++)
        to[i] = dtype == ROOFS_F32  ? (double)((const float *)from)[i]
                : dtype == ROOFS_I8 ? ((const signed char *)from)[i]
                                    : ((const unsigned char *)from)[i];
}

/* Copies a panel to rows first_row.. of `count` columns: [column][panel row] to [column][row]. */
static void panel_to_columns(const transposer *t, const char *from, int64_t first_row, int64_t rows,
                             int64_t count, roofs_dtype dtype, char *values)
{
    const int widen = dtype != t->dtype; /* to F64 */
    size_t out_size = (size_t)dtype_size(dtype);
    for (int64_t j = 0; j < count; j++) {
        const char *source = from + (size_t)(j * rows) * t->value_size;
        char *target = values + (size_t)(j * t->rows + first_row) * out_size;
        if (!widen) {
            memcpy(target, source, (size_t)rows * t->value_size);
            continue;
        }
        widen_values(source, t->dtype, rows, (double *)(void *)target);
    }
}

roofs_status transposer_read(transposer *t, int64_t first, int64_t count, roofs_dtype dtype,
                             void *values, roofs_error *err)
{
    for (int64_t k = 0; k < t->panel_count; k++) {
        int64_t first_row = k * t->panel_rows, rows = t->rows - first_row;
        rows = rows < t->panel_rows ? rows : t->panel_rows;
        int64_t start = first * rows * (int64_t)t->value_size;
        const char *from = t->panels ? t->panels[k] + start : t->scratch;
        if (!t->panels)
            TRY(spill_read(t->fd, t->scratch, count * rows * (int64_t)t->value_size,
                           k * panel_bytes(t, t->panel_rows) + start, err));
        panel_to_columns(t, from, first_row, rows, count, dtype, values);
    }
    return ROOFS_OK;
}
