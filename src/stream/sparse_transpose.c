#include "stream/sparse_transpose.h"

#include "base/memory.h"
#include "stream/spill.h"

#include <string.h>

static const int64_t DEFAULT_BUDGET = (int64_t)256 << 20;
enum { RUNS_IN_BUDGET = 16, FEWEST_ENTRIES = 256, RADIX_BITS = 11, RADIX = 1 << RADIX_BITS };

/* Entries sorted by column; the order within a column is the order of arrival. */
typedef struct run {
    int64_t size;          /* entries */
    int64_t taken;         /* entries already read */
    int64_t offset;        /* in the file, in entries */
    sparse_entry *entries; /* in memory: all; with a file: those read ahead */
    int64_t ahead, loaded; /* with a file: position in and number of those read ahead */
} run;

struct sparse_transposer {
    int64_t budget;
    sparse_entry *gathered, *spare;
    int64_t gathered_count, gathered_capacity, run_size;
    run *runs;
    int64_t run_count, run_capacity;
    int64_t stored; /* entries in runs */
    int fd;         /* -1: runs are in memory */
    int64_t read_ahead;
    sparse_entry *batch; /* entries of the columns being read, run after run */
    int64_t batch_count, batch_capacity;
    int64_t *place; /* per column of the batch: the position of its next entry */
    int64_t place_capacity;
};

roofs_status sparse_transposer_create(sparse_transposer **out, int64_t budget, roofs_error *err)
{
    TRY(memory_get(out, 1, sizeof **out, "transposing sparse rows", err));
    sparse_transposer *t = *out;
    t->fd = -1;
    t->budget = budget > 0 ? budget : DEFAULT_BUDGET;
    t->run_size = t->budget / RUNS_IN_BUDGET / (int64_t)sizeof *t->gathered;
    if (t->run_size < FEWEST_ENTRIES)
        t->run_size = FEWEST_ENTRIES;
    return ROOFS_OK;
}

static void drop_gathered(sparse_transposer *t)
{
    memory_free(t->gathered);
    memory_free(t->spare);
    t->gathered = t->spare = NULL;
}

void sparse_transposer_destroy(sparse_transposer *t)
{
    if (!t)
        return;
    drop_gathered(t);
    for (int64_t k = 0; k < t->run_count; k++)
        memory_free(t->runs[k].entries);
    memory_free(t->runs);
    memory_free(t->batch);
    memory_free(t->place);
    spill_close(t->fd);
    memory_free(t);
}

int sparse_transposer_uses_file(const sparse_transposer *t)
{
    return t->fd >= 0;
}

/* ---- sorting ----------------------------------------------------------- */

/* Stable sort by the digit of `column` at bit `shift`. */
static void sort_digit(const sparse_entry *from, int64_t count, int shift, sparse_entry *to)
{
    int64_t place[RADIX] = {0}, sum = 0;
    for (int64_t k = 0; k < count; k++)
        place[from[k].column >> shift & (RADIX - 1)]++;
    for (int d = 0; d < RADIX; d++) {
        int64_t size = place[d];
        place[d] = sum;
        sum += size;
    }
    for (int64_t k = 0; k < count; k++)
        to[place[from[k].column >> shift & (RADIX - 1)]++] = from[k];
}

static void sort_gathered(sparse_transposer *t)
{
    int32_t largest = 0;
    for (int64_t k = 0; k < t->gathered_count; k++)
        largest = t->gathered[k].column > largest ? t->gathered[k].column : largest;
    for (int shift = 0; shift < 31 && largest >> shift > 0; shift += RADIX_BITS) {
        sort_digit(t->gathered, t->gathered_count, shift, t->spare);
        sparse_entry *sorted = t->spare;
        t->spare = t->gathered;
        t->gathered = sorted;
    }
}

/* ---- storing runs ------------------------------------------------------ */

static int64_t bytes_of(int64_t entries)
{
    return memory_bytes(entries, sizeof(sparse_entry));
}

static roofs_status runs_to_file(sparse_transposer *t, roofs_error *err)
{
    TRY(spill_open(&t->fd, err));
    for (int64_t k = 0; k < t->run_count; k++) {
        run *r = &t->runs[k];
        TRY(spill_write(t->fd, r->entries, bytes_of(r->size), bytes_of(r->offset), err));
        memory_free(r->entries);
        r->entries = NULL;
    }
    return ROOFS_OK;
}

static roofs_status store_run(sparse_transposer *t, roofs_error *err)
{
    int64_t size = t->gathered_count;
    sort_gathered(t);
    if (t->fd < 0 && bytes_of(t->stored + size + 2 * t->gathered_capacity) > t->budget)
        TRY(runs_to_file(t, err));
    TRY(memory_grow(&t->runs, &t->run_capacity, t->run_count + 1, sizeof *t->runs,
                    "transposing sparse rows", err));
    run *r = &t->runs[t->run_count];
    *r = (run){.size = size, .offset = t->stored};
    if (t->fd >= 0) {
        TRY(spill_write(t->fd, t->gathered, bytes_of(size), bytes_of(r->offset), err));
    } else {
        TRY(memory_reserve(&r->entries, size, sizeof *r->entries, "transposing sparse rows", err));
        memcpy(r->entries, t->gathered, (size_t)bytes_of(size));
    }
    t->run_count++;
    t->stored += size;
    t->gathered_count = 0;
    return ROOFS_OK;
}

/* Both buffers grow together, so that small files take little memory. */
static roofs_status grow_gathered(sparse_transposer *t, roofs_error *err)
{
    int64_t capacity = t->gathered_capacity;
    TRY(memory_grow(&t->gathered, &capacity, t->gathered_count + 1, sizeof *t->gathered,
                    "transposing sparse rows", err));
    memory_free(t->spare);
    TRY(memory_reserve(&t->spare, capacity, sizeof *t->spare, "transposing sparse rows", err));
    t->gathered_capacity = capacity;
    return ROOFS_OK;
}

roofs_status sparse_transposer_add(sparse_transposer *t, sparse_entry entry, roofs_error *err)
{
    if (t->gathered_count == t->run_size)
        TRY(store_run(t, err));
    if (t->gathered_count == t->gathered_capacity)
        TRY(grow_gathered(t, err));
    t->gathered[t->gathered_count++] = entry;
    return ROOFS_OK;
}

roofs_status sparse_transposer_finish(sparse_transposer *t, roofs_error *err)
{
    enum { LEAST_AHEAD = 256, MOST_AHEAD = 1 << 16 };
    if (t->gathered_count > 0)
        TRY(store_run(t, err));
    drop_gathered(t);
    int64_t share = t->budget / 4 / (int64_t)sizeof(sparse_entry) / (t->run_count + 1);
    t->read_ahead = share < LEAST_AHEAD ? LEAST_AHEAD : share > MOST_AHEAD ? MOST_AHEAD : share;
    return ROOFS_OK;
}

/* ---- columns out ------------------------------------------------------- */

/* Sets *next to the next entry of a run; NULL past the last. */
static roofs_status run_peek(const sparse_transposer *t, run *r, const sparse_entry **next,
                             roofs_error *err)
{
    *next = NULL;
    if (r->taken == r->size)
        return ROOFS_OK;
    if (t->fd < 0) {
        *next = &r->entries[r->taken];
        return ROOFS_OK;
    }
    if (!r->entries)
        TRY(memory_reserve(&r->entries, t->read_ahead, sizeof *r->entries,
                           "transposing sparse rows", err));
    if (r->ahead == r->loaded) {
        int64_t left = r->size - r->taken;
        r->loaded = left < t->read_ahead ? left : t->read_ahead;
        r->ahead = 0;
        TRY(spill_read(t->fd, r->entries, bytes_of(r->loaded), bytes_of(r->offset + r->taken),
                       err));
    }
    *next = &r->entries[r->ahead];
    return ROOFS_OK;
}

/* Adds the entries of columns first..end-1 of a run to the batch and skips those before. */
static roofs_status collect_from_run(sparse_transposer *t, run *r, int64_t first, int64_t end,
                                     roofs_error *err)
{
    for (;;) {
        const sparse_entry *next;
        TRY(run_peek(t, r, &next, err));
        if (!next || next->column >= end)
            return ROOFS_OK;
        if (next->column >= first) {
            TRY(memory_grow(&t->batch, &t->batch_capacity, t->batch_count + 1, sizeof *t->batch,
                            "a block of sparse features", err));
            t->batch[t->batch_count++] = *next;
        }
        r->taken++;
        r->ahead++;
    }
}

/* Counting sort of the batch by column. */
static roofs_status sort_batch(sparse_transposer *t, int64_t first, int64_t count,
                               sparse_entry **out, roofs_error *err)
{
    TRY(memory_grow(&t->place, &t->place_capacity, count + 1, sizeof *t->place,
                    "a block of sparse features", err));
    TRY(memory_reserve(out, t->batch_count, sizeof **out, "a block of sparse features", err));
    memset(t->place, 0, (size_t)(count + 1) * sizeof *t->place);
    for (int64_t k = 0; k < t->batch_count; k++)
        t->place[t->batch[k].column - first + 1]++;
    for (int64_t j = 0; j < count; j++)
        t->place[j + 1] += t->place[j];
    for (int64_t k = 0; k < t->batch_count; k++)
        (*out)[t->place[t->batch[k].column - first]++] = t->batch[k];
    return ROOFS_OK;
}

static roofs_status append_sorted(const sparse_transposer *t, const sparse_entry *sorted,
                                  int64_t count, sparse *out, roofs_error *err)
{
    int64_t k = 0;
    TRY(sparse_reserve(out, count, t->batch_count, err));
    for (int64_t j = 0; j < count; j++) {
        for (; k < t->place[j]; k++) /* the end of column j after sort_batch */
            TRY(sparse_add(out, sorted[k].row, sorted[k].value, err));
        TRY(sparse_end_feature(out, err));
    }
    return ROOFS_OK;
}

roofs_status sparse_transposer_read(sparse_transposer *t, int64_t first, int64_t count, sparse *out,
                                    roofs_error *err)
{
    sparse_entry *sorted = NULL;
    t->batch_count = 0;
    for (int64_t k = 0; k < t->run_count; k++)
        TRY(collect_from_run(t, &t->runs[k], first, first + count, err));
    roofs_status status = sort_batch(t, first, count, &sorted, err);
    if (!status)
        status = append_sorted(t, sorted, count, out, err);
    memory_free(sorted);
    return status;
}
