#include "method/pool.h"

#include "base/memory.h"
#include "linalg/lanes.h"
#include "linalg/vector.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double WORST = -12; /* log likelihood in place of the head, of an entry that stays */

enum { LEVELS = 127 };

/* ---- life -------------------------------------------------------------------- */

int64_t pool_capacity(const roofs_settings *set)
{
    const int64_t exact = 32,
                  each = set->groups == ROOFS_GROUPS_EXACT && set->pool < exact ? exact : set->pool;
    return set->groups == ROOFS_GROUPS_OFF ? 0 : memory_bytes(each, set->mu);
}

/* Entries that a batch, or the end of the fit, adds before an update. */
static int64_t most_added(const roofs_settings *set)
{
    const int64_t reserve = fit_free_capacity(set) - set->mu;
    return reserve > set->batch ? reserve : set->batch;
}

int64_t pool_bytes(const roofs_settings *set, int64_t n)
{
    enum { NAME = 64, SCRATCH = 4 };
    const int64_t capacity = pool_capacity(set), heads = fit_capacity(set);
    if (capacity == 0)
        return 0;
    const int64_t entry = memory_sum(n, sizeof(pool_entry) * 2 + NAME);
    const int64_t head = 2 * (int64_t)sizeof(pool_head) + screen_value_bytes(n) +
                         screen_row_bytes(n) + SCREEN_MOST * (int64_t)sizeof(double);
    int64_t bytes = memory_bytes(memory_sum(capacity, most_added(set)), entry);
    bytes = memory_sum(bytes, memory_bytes(heads, head));
    bytes = memory_sum(bytes, screen_bytes(n));
    bytes = memory_sum(bytes, SCREEN_MOST * (screen_value_bytes(n) + screen_row_bytes(n)));
    return memory_sum(bytes, memory_bytes(n + LANES, SCRATCH * sizeof(double)));
}

void pool_create(pool *p, fit *f)
{
    *p = (pool){.f = f, .capacity = pool_capacity(&f->set), .is_complete = 1};
    screen_create(&p->some, f);
}

static void entry_free(pool_entry *e)
{
    memory_free(e->name);
    memory_free(e->codes);
}

void pool_free_heads(pool_head *heads, int64_t count)
{
    for (int64_t k = 0; k < count; k++)
        memory_free(heads[k].some);
    memory_free(heads);
}

void pool_clear(pool *p)
{
    for (int64_t k = 0; k < p->added; k++)
        entry_free(&p->entries[k]);
    p->count = p->added = 0;
}

void pool_destroy(pool *p)
{
    pool_clear(p);
    memory_free(p->entries);
    pool_free_heads(p->heads, p->head_count);
    screen_destroy(&p->some);
    screen_rows_destroy(&p->head_rows);
    screen_rows_destroy(&p->chunk);
    memory_free(p->values);
    memory_free(p->product);
    memory_free(p->z);
    *p = (pool){0};
}

void pool_begin_pass(pool *p)
{
    p->is_complete = 1;
}

static roofs_status reserve_scratch(pool *p, roofs_error *err)
{
    const int64_t n = lanes_padded(p->f->n);
    if (p->z)
        return ROOFS_OK;
    TRY(memory_get(&p->z, 4 * n, sizeof *p->z, "the pool of dropped features", err));
    p->h = p->z + n;
    p->t = p->h + n;
    p->f_h = p->t + n;
    return ROOFS_OK;
}

/* ---- columns in 8 bits ------------------------------------------------------- */

void pool_decode(const pool_entry *e, int64_t n, double *out)
{
    for (int64_t i = 0; i < n; i++)
        out[i] = e->step * e->codes[i];
}

static roofs_status encode(pool *p, const double *z, pool_entry *e, roofs_error *err)
{
    const int64_t n = p->f->n;
    const double largest = comm_largest_of(&p->f->comm, vector_largest(z, n));
    e->step = largest > 0 ? largest / LEVELS : 1;
    e->codes = memory_raw(n, 1, "the pool of dropped features", err);
    if (!e->codes)
        return ROOFS_NO_MEMORY;
    const double per_step = 1 / e->step;
    for (int64_t i = 0; i < n; i++)
        e->codes[i] = (signed char)rint(z[i] * per_step);
    return ROOFS_OK;
}

static roofs_status add_column(pool *p, int64_t j, roofs_error *err)
{
    const column *c = &p->f->cols.items[j];
    pool_entry e = {.feature = c->feature,
                    .head = -1,
                    .factor = p->f->cols.places[j].factor,
                    .exponent = c->exponent};
    TRY(reserve_scratch(p, err));
    TRY(memory_grow(&p->entries, &p->reserved, p->added + 1, sizeof *p->entries,
                    "the pool of dropped features", err));
    TRY(columns_fetch(&p->f->cols, j, p->z, err));
    roofs_status status = c->name ? memory_copy_text(&e.name, c->name, err) : ROOFS_OK;
    if (status == ROOFS_OK)
        status = encode(p, p->z, &e, err);
    if (status == ROOFS_OK)
        p->entries[p->added++] = e;
    else
        entry_free(&e);
    return status;
}

/* ---- candidates: entries by feature, without those that are kept ------------- */

static int by_feature(const void *left, const void *right)
{
    const pool_entry *a = left, *b = right;
    return (a->feature > b->feature) - (a->feature < b->feature);
}

static int by_number(const void *left, const void *right)
{
    const int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

static int is_among(const int64_t *sorted, int64_t count, int64_t feature)
{
    return count > 0 && bsearch(&feature, sorted, (size_t)count, sizeof *sorted, by_number) != NULL;
}

/* Merges what was stored since the last update into the entries. */
static roofs_status merge_added(pool *p, roofs_error *err)
{
    const columns *c = &p->f->cols;
    const int64_t fresh = p->added - p->count;
    int64_t *kept = NULL, *again = NULL, left = 0;
    TRY(memory_get(&kept, c->count + fresh + 1, sizeof *kept, "a list of features", err));
    again = kept + c->count;
    for (int64_t j = 0; j < c->count; j++)
        kept[j] = c->items[j].feature;
    for (int64_t k = 0; k < fresh; k++)
        again[k] = p->entries[p->count + k].feature;
    qsort(kept, (size_t)c->count, sizeof *kept, by_number);
    qsort(again, (size_t)fresh, sizeof *again, by_number);
    for (int64_t k = 0; k < p->added; k++) {
        pool_entry *e = &p->entries[k];
        if (is_among(kept, c->count, e->feature) ||
            (k < p->count && is_among(again, fresh, e->feature)))
            entry_free(e);
        else
            p->entries[left++] = *e;
    }
    memory_free(kept);
    p->count = p->added = left;
    if (left > 0)
        qsort(p->entries, (size_t)left, sizeof *p->entries, by_feature);
    return ROOFS_OK;
}

/* ---- heads ------------------------------------------------------------------- */

static int by_head(const void *left, const void *right)
{
    const pool_head *a = left, *b = right;
    return (a->feature > b->feature) - (a->feature < b->feature);
}

pool_head *pool_find_head(const pool *p, int64_t feature)
{
    const pool_head wanted = {.feature = feature};
    return p->head_count == 0
               ? NULL
               : bsearch(&wanted, p->heads, (size_t)p->head_count, sizeof *p->heads, by_head);
}

static roofs_status fill_head(pool *p, pool_head *head, roofs_error *err)
{
    TRY(memory_get(&head->some, p->some.length, sizeof *head->some, "the pool of dropped features",
                   err));
    return screen_take(&p->some, head->column, p->z, head->some, err);
}

/* The heads of now, by feature. Those that were heads before keep their values. */
static roofs_status find_heads(pool *p, roofs_error *err)
{
    const columns *c = &p->f->cols;
    pool_head *heads = NULL;
    int64_t count = 0;
    roofs_status status = ROOFS_OK;
    TRY(memory_get(&heads, c->count, sizeof *heads, "the pool of dropped features", err));
    for (int64_t j = 0; j < c->count; j++)
        if (c->items[j].probability > POOL_HEAD && !fit_is_forced(p->f, j))
            heads[count++] = (pool_head){.feature = c->items[j].feature, .column = j, .is_new = 1};
    if (count > 0)
        qsort(heads, (size_t)count, sizeof *heads, by_head);
    for (int64_t k = 0; k < count && status == ROOFS_OK; k++) {
        pool_head *old = pool_find_head(p, heads[k].feature);
        if (old) {
            heads[k].some = old->some;
            heads[k].is_new = old->is_new;
            old->some = NULL;
        }
        if (!heads[k].some) /* new, or from a checkpoint */
            status = fill_head(p, &heads[k], err);
    }
    pool_free_heads(p->heads, p->head_count);
    p->heads = heads;
    p->head_count = count;
    return comm_agree(&p->f->comm, status, err);
}

/* ---- correlations on some of the samples --------------------------------------- */

roofs_status pool_prepare(pool *p, const double *W, roofs_error *err)
{
    const char *what = "the pool of dropped features";
    const int64_t heads = p->head_count;
    if (!p->values)
        TRY(memory_get(&p->values, SCREEN_MOST * p->some.length, sizeof *p->values, what, err));
    TRY(memory_grow_raw(&p->product, &p->product_reserved, SCREEN_MOST * heads, sizeof *p->product,
                        what, err));
    TRY(screen_reserve(&p->some, &p->head_rows, heads, err));
    TRY(screen_reserve(&p->some, &p->chunk, SCREEN_MOST, err));
    TRY(screen_weigh(&p->some, W, err));
    for (int64_t k = 0; k < heads; k++)
        p->head_rows.some[k] = p->heads[k].some;
    for (int64_t c = 0; c < SCREEN_MOST; c++)
        p->chunk.some[c] = p->values + c * p->some.length;
    return screen_measure(&p->some, &p->head_rows, 0, heads, err);
}

roofs_status pool_compare_chunk(pool *p, int64_t count, double least, roofs_error *err)
{
    TRY(screen_measure(&p->some, &p->chunk, 0, count, err));
    screen_correlations(&p->some, &p->chunk, 0, count, &p->head_rows, p->head_count, least,
                        p->product);
    return ROOFS_OK;
}

/* ---- what is dropped ----------------------------------------------------------- */

/* Stores those of the columns which[0..count) that may be near a head. The weights are those before
 * the batch ends, so the margin is needed on all samples, too. */
static roofs_status add_chunk(pool *p, const int64_t *which, int64_t count, roofs_error *err)
{
    const double margin = 0.1;
    const int64_t heads = p->head_count;
    TRY(screen_take_columns(&p->some, which, count, p->z, p->values, err));
    TRY(pool_compare_chunk(p, count, POOL_NEAR - margin, err));
    for (int64_t c = 0; c < count; c++)
        if (vector_largest(p->product + c * heads, heads) > 0)
            TRY(comm_agree(&p->f->comm, add_column(p, which[c], err), err));
    return ROOFS_OK;
}

static roofs_status add_all(pool *p, const unsigned char *keep, roofs_error *err)
{
    int64_t which[SCREEN_MOST], count = 0;
    for (int64_t j = 0; j < p->f->cols.count; j++) {
        if (!keep[j])
            which[count++] = j;
        if (count == SCREEN_MOST || (count > 0 && j == p->f->cols.count - 1)) {
            TRY(add_chunk(p, which, count, err));
            count = 0;
        }
    }
    return ROOFS_OK;
}

roofs_status pool_add(pool *p, const unsigned char *keep, const double *W, roofs_error *err)
{
    if (p->capacity == 0)
        return ROOFS_OK;
    TRY(comm_agree(&p->f->comm, reserve_scratch(p, err), err));
    TRY(find_heads(p, err));
    if (p->head_count == 0)
        return ROOFS_OK;
    TRY(comm_agree(&p->f->comm, pool_prepare(p, W, err), err));
    return add_all(p, keep, err);
}

/* ---- the update ----------------------------------------------------------------------- */

/* The largest delta first; among equals the smaller feature. */
static int by_delta(const void *left, const void *right)
{
    const pool_entry *a = left, *b = right;
    if (a->delta != b->delta)
        return a->delta > b->delta ? -1 : 1;
    return by_feature(left, right);
}

static void keep_best(pool *p)
{
    int64_t good = 0;
    if (p->count > 0)
        qsort(p->entries, (size_t)p->count, sizeof *p->entries, by_delta);
    while (good < p->count && p->entries[good].delta > WORST)
        good++;
    if (good > p->capacity)
        p->is_complete = 0;
    const int64_t stay = good < p->capacity ? good : p->capacity;
    for (int64_t k = stay; k < p->count; k++)
        entry_free(&p->entries[k]);
    p->count = p->added = stay;
    if (stay > 0)
        qsort(p->entries, (size_t)stay, sizeof *p->entries, by_feature);
}

roofs_status pool_update(pool *p, const mixture *samples, roofs_error *err)
{
    if (p->capacity == 0)
        return ROOFS_OK;
    TRY(comm_agree(&p->f->comm, merge_added(p, err), err));
    TRY(comm_agree(&p->f->comm, reserve_scratch(p, err), err));
    TRY(find_heads(p, err));
    roofs_status status = pool_rate(p, samples, err);
    for (int64_t k = 0; k < p->head_count; k++)
        p->heads[k].is_new = 0;
    keep_best(p);
    return status;
}
