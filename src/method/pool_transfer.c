/* The pool in checkpoints. */
#include "base/memory.h"
#include "method/pool.h"

#include <string.h>

enum { PACK = 8 }; /* codes of so many entries are stored side by side: 8 bytes for each sample */

static void transfer_entry(pool_entry *e, archive *a)
{
    const char *name = e->name;
    archive_i64(a, &e->feature, 0, ARCHIVE_MOST);
    archive_i64(a, &e->head, -1, ARCHIVE_MOST);
    archive_finite(a, &e->near, 1);
    archive_finite(a, &e->step, 1);
    archive_finite(a, &e->factor, 1);
    archive_int(a, &e->exponent, -5000, 5000);
    archive_text(a, &name);
    if (a->loading && name && a->status == ROOFS_OK)
        a->status = memory_copy_text(&e->name, name, a->err);
}

static void transfer_codes(pool *p, int64_t first, archive *a)
{
    const int64_t n = p->f->n, last = first + PACK < p->count ? first + PACK : p->count;
    signed char *packed = NULL;
    if (a->status == ROOFS_OK)
        a->status = memory_get(&packed, PACK * n, 1, "the pool of dropped features", a->err);
    for (int64_t k = first; k < last && a->loading && a->status == ROOFS_OK; k++)
        a->status = memory_get(&p->entries[k].codes, n, 1, "the pool of dropped features", a->err);
    for (int64_t k = first; k < last && packed && !a->loading && a->status == ROOFS_OK; k++)
        for (int64_t i = 0; i < n; i++)
            packed[i * PACK + k - first] = p->entries[k].codes[i];
    archive_mark(a, ARCHIVE_SAMPLES);
    if (a->status == ROOFS_OK)
        archive_bytes(a, packed, PACK * n);
    for (int64_t k = first; k < last && packed && a->loading && a->status == ROOFS_OK; k++)
        for (int64_t i = 0; i < n; i++)
            p->entries[k].codes[i] = packed[i * PACK + k - first];
    memory_free(packed);
}

static void transfer_heads(pool *p, archive *a)
{
    int64_t count = p->head_count;
    archive_count(a, &count, ARCHIVE_MOST, sizeof(int64_t));
    if (a->loading) {
        pool_free_heads(p->heads, p->head_count);
        p->heads = NULL;
        p->head_count = 0;
        if (a->status == ROOFS_OK)
            a->status = memory_get(&p->heads, count, sizeof *p->heads,
                                   "the pool of dropped features", a->err);
        p->head_count = a->status == ROOFS_OK ? count : 0;
    }
    for (int64_t k = 0; k < p->head_count; k++)
        archive_i64(a, &p->heads[k].feature, 0, ARCHIVE_MOST);
}

void pool_transfer(pool *p, archive *a)
{
    int64_t count = p->count;
    if (p->capacity == 0)
        return;
    archive_int(a, &p->is_complete, 0, 1);
    transfer_heads(p, a);
    archive_count(a, &count, ARCHIVE_MOST, sizeof(int64_t));
    if (a->loading) {
        pool_clear(p);
        if (a->status == ROOFS_OK)
            a->status = memory_grow(&p->entries, &p->reserved, count, sizeof *p->entries,
                                    "the pool of dropped features", a->err);
        if (a->status != ROOFS_OK)
            return;
        if (count > 0)
            memset(p->entries, 0, (size_t)count * sizeof *p->entries);
        p->count = p->added = count;
    }
    for (int64_t k = 0; k < p->count; k++)
        transfer_entry(&p->entries[k], a);
    for (int64_t k = 0; k < p->count; k += PACK)
        transfer_codes(p, k, a);
}
