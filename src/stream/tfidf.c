#include "stream/tfidf.h"
#include "base/block.h"

#include "base/memory.h"
#include "base/portable_math.h"

#include <math.h>
#include <string.h>

roofs_status tfidf_create(tfidf *t, int64_t n, const double *idf, int64_t count, roofs_error *err)
{
    *t = (tfidf){.n = n, .given = idf ? count : -1};
    TRY(memory_get(&t->length, n, sizeof *t->length, "lengths of samples", err));
    if (!idf)
        return ROOFS_OK;
    TRY(memory_grow(&t->idf, &t->capacity, count, sizeof *t->idf, "idf weights", err));
    memcpy(t->idf, idf, (size_t)count * sizeof *idf);
    return ROOFS_OK;
}

void tfidf_free(tfidf *t)
{
    memory_free(t->idf);
    memory_free(t->length);
    *t = (tfidf){0};
}

/* ---- measuring --------------------------------------------------------- */

static roofs_status bad_count(int64_t feature, int64_t sample, double value, roofs_error *err)
{
    fail(err, ROOFS_BAD_DATA,
         "feature %lld, sample %lld (counted from 0): %g is not a count; tf-idf needs values above "
         "0",
         (long long)feature, (long long)sample, value);
    if (err)
        err->feature = feature;
    return ROOFS_BAD_DATA;
}

static roofs_status learn_idf(tfidf *t, int64_t samples, roofs_error *err)
{
    TRY(memory_grow(&t->idf, &t->capacity, t->count + 1, sizeof *t->idf, "idf weights", err));
    t->idf[t->count] = math_log((double)t->n / (double)(samples > 1 ? samples : 1));
    return ROOFS_OK;
}

static roofs_status measure_feature(tfidf *t, const roofs_block *b, int64_t k, roofs_error *err)
{
    int64_t start = block_start(b, k), end = block_start(b, k + 1);
    if (t->given < 0)
        TRY(learn_idf(t, end - start, err));
    else if (t->count >= t->given)
        return fail(err, ROOFS_BAD_DATA, "idf weights are given for only %lld features",
                    (long long)t->given);
    for (int64_t at = start; at < end; at++) {
        int64_t sample = block_sample(b, at);
        double count = block_value(b, at);
        if (!(count > 0))
            return bad_count(t->count, sample, count, err);
        double weight = (1 + math_log(count)) * t->idf[t->count];
        t->length[sample] += weight * weight;
    }
    t->count++;
    return ROOFS_OK;
}

roofs_status tfidf_measure(tfidf *t, const roofs_block *block, roofs_error *err)
{
    for (int64_t k = 0; k < block->count; k++)
        TRY(measure_feature(t, block, k, err));
    return ROOFS_OK;
}

void tfidf_measured(tfidf *t)
{
    for (int64_t i = 0; i < t->n; i++)
        t->length[i] = sqrt(t->length[i]);
}

/* ---- weighing ---------------------------------------------------------- */

void tfidf_weigh(const tfidf *t, int64_t first, const roofs_block *block, double *weights)
{
    int64_t origin = block_start(block, 0);
    for (int64_t k = 0; k < block->count; k++) {
        int64_t end = block_start(block, k + 1);
        for (int64_t at = block_start(block, k); at < end; at++) {
            double length = t->length[block_sample(block, at)];
            double weight = (1 + math_log(block_value(block, at))) * t->idf[first + k];
            weights[at - origin] = length > 0 ? weight / length : 0.0;
        }
    }
}
