#include "method/pool.h"

#include "base/memory.h"
#include "linalg/lanes.h"
#include "linalg/vector.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double FAMILY = 0.7; /* of heads that share an effect */
static const double WORST = -12;  /* log likelihood in place of the head, of an entry that stays */

enum { CHUNK = 64, LEVELS = 127 };

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
    const int64_t reserve = fit_capacity(set) - set->mu;
    return reserve > set->batch ? reserve : set->batch;
}

int64_t pool_bytes(const roofs_settings *set, int64_t n)
{
    enum { NAME = 64, SCRATCH = 4 };
    const int64_t capacity = pool_capacity(set), heads = fit_capacity(set);
    if (capacity == 0)
        return 0;
    const int64_t entry = memory_sum(n, sizeof(pool_entry) * 2 + NAME);
    const int64_t head = 2 * (int64_t)sizeof(pool_head) + 2 * screen_row_bytes();
    int64_t bytes = memory_bytes(memory_sum(capacity, most_added(set)), entry);
    bytes = memory_sum(bytes, memory_bytes(heads, head));
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

static pool_head *find_head(const pool *p, int64_t feature)
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
    TRY(columns_fetch(&p->f->cols, head->column, p->z, err));
    screen_take(&p->some, p->z, head->some);
    return ROOFS_OK;
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
        if (c->items[j].probability > POOL_HEAD)
            heads[count++] = (pool_head){.feature = c->items[j].feature, .column = j, .is_new = 1};
    if (count > 0)
        qsort(heads, (size_t)count, sizeof *heads, by_head);
    for (int64_t k = 0; k < count && status == ROOFS_OK; k++) {
        pool_head *old = find_head(p, heads[k].feature);
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

typedef struct some_rows {
    float *heads;    /* their rows */
    float *chunk;    /* CHUNK candidates */
    double *product; /* CHUNK times heads */
} some_rows;

static void rows_free(some_rows *rows)
{
    memory_free(rows->heads);
    memory_free(rows->product);
}

static roofs_status rows_create(pool *p, some_rows *rows, const double *W, roofs_error *err)
{
    const int64_t length = p->some.length, heads = rows_padded(p->head_count);
    TRY(memory_get(&rows->heads, memory_bytes(length, heads + CHUNK), sizeof(float),
                   "the pool of dropped features", err));
    TRY(memory_get(&rows->product, CHUNK * p->head_count, sizeof(double),
                   "the pool of dropped features", err));
    rows->chunk = rows->heads + heads * length;
    for (int64_t k = 0; k < p->head_count; k++)
        memcpy(rows->heads + k * length, p->heads[k].some,
               (size_t)p->some.some * sizeof *rows->heads);
    TRY(screen_weigh(&p->some, W, err));
    return screen_normalise(&p->some, rows->heads, p->head_count, err);
}

/* ---- what is dropped ----------------------------------------------------------- */

/* Whether a row of products shows a column that may be near. The weights are those before the
 * batch ends, so the margin is needed on all samples, too. */
static int may_be_near(const double *product, int64_t count)
{
    const double margin = 0.1;
    for (int64_t k = 0; k < count; k++)
        if (fabs(product[k]) >= POOL_NEAR - margin)
            return 1;
    return 0;
}

/* Stores those of the columns which[0..count) that may be near a head. */
static roofs_status add_chunk(pool *p, const some_rows *rows, const int64_t *which, int64_t count,
                              roofs_error *err)
{
    const int64_t heads = p->head_count;
    for (int64_t c = 0; c < count; c++) {
        TRY(columns_fetch(&p->f->cols, which[c], p->z, err));
        screen_take(&p->some, p->z, rows->chunk + c * p->some.length);
    }
    TRY(screen_normalise(&p->some, rows->chunk, count, err));
    screen_products(&p->some, rows->chunk, count, rows->heads, heads, rows->product);
    comm_sum(&p->f->comm, rows->product, count * heads);
    for (int64_t c = 0; c < count; c++)
        if (may_be_near(rows->product + c * heads, heads))
            TRY(comm_agree(&p->f->comm, add_column(p, which[c], err), err));
    return ROOFS_OK;
}

static roofs_status add_all(pool *p, const some_rows *rows, const unsigned char *keep,
                            roofs_error *err)
{
    int64_t which[CHUNK], count = 0;
    for (int64_t j = 0; j < p->f->cols.count; j++) {
        if (!keep[j])
            which[count++] = j;
        if (count == CHUNK || (count > 0 && j == p->f->cols.count - 1)) {
            TRY(add_chunk(p, rows, which, count, err));
            count = 0;
        }
    }
    return ROOFS_OK;
}

roofs_status pool_add(pool *p, const unsigned char *keep, const double *W, roofs_error *err)
{
    some_rows rows = {0};
    if (p->capacity == 0)
        return ROOFS_OK;
    TRY(comm_agree(&p->f->comm, reserve_scratch(p, err), err));
    TRY(find_heads(p, err));
    if (p->head_count == 0)
        return ROOFS_OK;
    roofs_status status = comm_agree(&p->f->comm, rows_create(p, &rows, W, err), err);
    if (status == ROOFS_OK)
        status = add_all(p, &rows, keep, err);
    rows_free(&rows);
    return status;
}

/* ---- a column with weighted mean 0 and scale 1 ------------------------------------ */

/* Returns the scale; a column without one becomes 0. */
static double standardise(pool *p, const double *W, double total, double *z)
{
    const int64_t n = p->f->n;
    double mean = 0;
    if (p->f->set.intercept)
        mean = comm_dot(&p->f->comm, W, z, n) / total;
    for (int64_t i = 0; i < n; i++)
        z[i] -= mean;
    const double scale = sqrt(comm_weighted_dot(&p->f->comm, W, z, z, n, p->t) / total);
    for (int64_t i = 0; i < n; i++)
        z[i] = scale > 0 ? z[i] / scale : 0;
    return scale;
}

/* ---- the head of each candidate ----------------------------------------------------- */

/* Compares a candidate, p->z, with the heads that are new, or with all if it has none. */
static roofs_status compare(pool *p, pool_entry *e, const double *product, const double *W,
                            double total, roofs_error *err)
{
    int is_ready = 0;
    const int has_head = find_head(p, e->head) != NULL;
    if (!has_head) {
        e->head = -1;
        e->near = 0;
    }
    for (int64_t k = 0; k < p->head_count; k++) {
        if ((has_head && !p->heads[k].is_new) ||
            fabs(product[k]) < screen_least(&p->some, POOL_NEAR))
            continue;
        if (!is_ready) {
            pool_decode(e, p->f->n, p->z);
            standardise(p, W, total, p->z);
            is_ready = 1;
        }
        TRY(columns_fetch(&p->f->cols, p->heads[k].column, p->h, err));
        standardise(p, W, total, p->h);
        const double near =
            fabs(comm_weighted_dot(&p->f->comm, W, p->z, p->h, p->f->n, p->t)) / total;
        if (near > e->near) {
            e->near = near;
            e->head = p->heads[k].feature;
        }
    }
    return ROOFS_OK;
}

static void fill_chunk(pool *p, const some_rows *rows, int64_t from, int64_t count)
{
    const screen *some = &p->some;
    for (int64_t c = 0; c < count; c++)
        for (int64_t k = 0; k < some->some; k++)
            rows->chunk[c * some->length + k] =
                (float)p->entries[from + c].codes[some->first + k * some->stride];
}

/* Whether a candidate must be compared with any head at all. */
static int is_due(const pool *p, const pool_entry *e, int has_new)
{
    return has_new || !find_head(p, e->head);
}

static roofs_status compare_chunk(pool *p, const some_rows *rows, int64_t from, int64_t count,
                                  const double *W, double total, roofs_error *err)
{
    const int64_t heads = p->head_count;
    fill_chunk(p, rows, from, count);
    TRY(screen_normalise(&p->some, rows->chunk, count, err));
    screen_products(&p->some, rows->chunk, count, rows->heads, heads, rows->product);
    comm_sum(&p->f->comm, rows->product, count * heads);
    for (int64_t c = 0; c < count; c++)
        TRY(compare(p, &p->entries[from + c], rows->product + c * heads, W, total, err));
    return ROOFS_OK;
}

static roofs_status compare_all(pool *p, const some_rows *rows, const double *W, double total,
                                roofs_error *err)
{
    int has_new = 0, is_any_due = 0;
    for (int64_t k = 0; k < p->head_count; k++)
        has_new |= p->heads[k].is_new;
    for (int64_t from = 0; from < p->count; from += CHUNK) {
        const int64_t count = from + CHUNK < p->count ? CHUNK : p->count - from;
        is_any_due = 0;
        for (int64_t c = 0; c < count; c++)
            is_any_due |= is_due(p, &p->entries[from + c], has_new);
        if (is_any_due)
            TRY(compare_chunk(p, rows, from, count, W, total, err));
    }
    return ROOFS_OK;
}

/* ---- in place of the head ----------------------------------------------------------- */

/* p->f_h = the part of the fit that the head shares with heads near it. */
static roofs_status share_family(pool *p, const some_rows *rows, int64_t head, const double *W,
                                 double total, roofs_error *err)
{
    const int64_t n = p->f->n;
    double *product = rows->product;
    TRY(columns_fetch(&p->f->cols, p->heads[head].column, p->h, err));
    standardise(p, W, total, p->h);
    screen_products(&p->some, rows->heads + head * p->some.length, 1, rows->heads, p->head_count,
                    product);
    comm_sum(&p->f->comm, product, p->head_count);
    memset(p->f_h, 0, (size_t)n * sizeof *p->f_h);
    for (int64_t k = 0; k < p->head_count; k++) {
        if (fabs(product[k]) < screen_least(&p->some, FAMILY))
            continue;
        TRY(columns_fetch(&p->f->cols, p->heads[k].column, p->z, err));
        const double scale = standardise(p, W, total, p->z);
        if (fabs(comm_weighted_dot(&p->f->comm, W, p->z, p->h, p->f->n, p->t)) / total > FAMILY)
            vector_add(p->f_h, p->f->cols.items[p->heads[k].column].coef * scale, p->z, n);
    }
    return ROOFS_OK;
}

/* delta of the candidates of one head; the head is in p->h. */
static void rate_family(pool *p, int64_t feature, const mixture *m, double total)
{
    const int64_t n = p->f->n;
    double head = 0;
    for (int64_t i = 0; i < n; i++)
        p->f_h[i] = m->weight[i] * (m->r[i] + p->f_h[i]);
    head = comm_dot(&p->f->comm, p->h, p->f_h, n);
    for (int64_t k = 0; k < p->count; k++) {
        pool_entry *e = &p->entries[k];
        if (e->head != feature || !(e->near > POOL_NEAR))
            continue;
        pool_decode(e, n, p->z);
        standardise(p, m->weight, total, p->z);
        const double own = comm_dot(&p->f->comm, p->z, p->f_h, n);
        e->delta = (own * own - head * head) / (2 * m->now.tau2 * total);
    }
}

static roofs_status rate_all(pool *p, const some_rows *rows, const mixture *m, double total,
                             roofs_error *err)
{
    for (int64_t h = 0; h < p->head_count; h++) {
        int is_used = 0;
        for (int64_t k = 0; k < p->count && !is_used; k++)
            is_used = p->entries[k].head == p->heads[h].feature && p->entries[k].near > POOL_NEAR;
        if (!is_used)
            continue;
        TRY(share_family(p, rows, h, m->weight, total, err));
        rate_family(p, p->heads[h].feature, m, total);
    }
    return ROOFS_OK;
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

static roofs_status update(pool *p, const mixture *m, some_rows *rows, roofs_error *err)
{
    const double total = comm_total(&p->f->comm, m->weight, p->f->n);
    if (!(total > 0))
        return ROOFS_OK;
    TRY(comm_agree(&p->f->comm, rows_create(p, rows, m->weight, err), err));
    TRY(compare_all(p, rows, m->weight, total, err));
    TRY(rate_all(p, rows, m, total, err));
    return comm_status(&p->f->comm, err);
}

roofs_status pool_update(pool *p, const mixture *samples, roofs_error *err)
{
    some_rows rows = {0};
    if (p->capacity == 0)
        return ROOFS_OK;
    TRY(comm_agree(&p->f->comm, merge_added(p, err), err));
    TRY(comm_agree(&p->f->comm, reserve_scratch(p, err), err));
    TRY(find_heads(p, err));
    for (int64_t k = 0; k < p->count; k++)
        p->entries[k].delta = -INFINITY;
    roofs_status status = ROOFS_OK;
    if (p->count > 0 && p->head_count > 0)
        status = update(p, samples, &rows, err);
    rows_free(&rows);
    for (int64_t k = 0; k < p->head_count; k++)
        p->heads[k].is_new = 0;
    keep_best(p);
    return status;
}
