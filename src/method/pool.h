/* The pool of dropped neighbours (docs/uncertainty.md, "The pool"): features that were dropped but
 * look so much like a kept one, its head, that they might be the cause in its place. Their columns
 * are stored in 8 bits. Names are those of that page. */
#ifndef METHOD_POOL_H
#define METHOD_POOL_H

#include "method/screen.h"
#include "robust/mixture.h"

/* Inclusion probability of a head, and correlation with it of a column that may be the cause in its
 * place. */
static const double POOL_HEAD = 0.1, POOL_NEAR = 0.5;

typedef struct pool_entry {
    int64_t feature;
    int64_t head;  /* feature of the kept column that it looks most like; -1 = none */
    double near;   /* the correlation with it, in absolute value */
    double delta;  /* log likelihood in place of its head, in the last update */
    double step;   /* z = step times code */
    double factor; /* z = (x 2^-exponent - center) factor */
    int exponent;
    char *name;         /* owned; NULL = none */
    signed char *codes; /* n, owned */
} pool_entry;

/* A head, with some of its values: those of the samples that show which correlations are small. */
typedef struct pool_head {
    int64_t feature;
    int64_t column; /* in the columns of the fit */
    int is_new;     /* since the last update */
    double scale;   /* by the weights of this update; negative = not known */
    float *some;    /* owned */
} pool_head;

typedef struct pool {
    fit *f;
    int64_t capacity; /* entries that stay after an update; 0 = no pool */
    int is_complete;  /* no entry was left out for want of capacity */
    pool_entry *entries;
    int64_t count, added; /* entries after an update; those from `count` on were dropped since */
    pool_head *heads;
    int64_t head_count;
    int64_t reserved;             /* for entries */
    screen some;                  /* the samples of pool_head.some */
    screen_rows head_rows, chunk; /* of the heads, and of a chunk of other columns */
    float *values;                /* of the chunk */
    double *product;              /* chunk times heads */
    int64_t product_reserved;
    double *z, *h, *t, *f_h; /* scratch: n each */
} pool;

/* The entries that the settings allow. */
int64_t pool_capacity(const roofs_settings *set);

int64_t pool_bytes(const roofs_settings *set, int64_t n);

void pool_create(pool *p, fit *f);
void pool_destroy(pool *p);

/* Stores the columns with keep[j] == 0 that may be near a head, before they are dropped. W: the
 * weights of the samples. */
roofs_status pool_add(pool *p, const unsigned char *keep, const double *W, roofs_error *err);

/* After a batch: finds the head of what was stored, and keeps what may be the cause in its place.
 */
roofs_status pool_update(pool *p, const mixture *samples, roofs_error *err);

/* Every feature comes again: what was left out can still be found. */
void pool_begin_pass(pool *p);

void pool_clear(pool *p); /* drops all entries */
void pool_free_heads(pool_head *heads, int64_t count);

/* Saves or restores the entries. */
void pool_transfer(pool *p, archive *a);

/* Fills head_rows by the weights W, and reserves what a chunk needs. */
roofs_status pool_prepare(pool *p, const double *W, roofs_error *err);

/* product[c * head_count + k] = correlation of values c of the chunk with head k, on some samples;
 * 0 below `least`. */
roofs_status pool_compare_chunk(pool *p, int64_t count, double least, roofs_error *err);

/* The head, or NULL. */
pool_head *pool_find_head(const pool *p, int64_t feature);

/* Finds the head of each entry and delta, -infinity where it has none. */
roofs_status pool_rate(pool *p, const mixture *samples, roofs_error *err);

/* out = z */
void pool_decode(const pool_entry *e, int64_t n, double *out);

#endif
