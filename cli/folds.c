#include "cli/folds.h"

#include "base/block.h"
#include "base/memory.h"
#include "base/random.h"

roofs_status folds_check(int64_t n, const char *option, roofs_error *err)
{
    if (n >= FOLDS * FEWEST_PER_FOLD)
        return ROOFS_OK;
    return fail(err, ROOFS_BAD_DATA,
                "%s needs at least %d samples, but the data has %lld; leave it out, or give a "
                "number for --mu",
                option, FOLDS * FEWEST_PER_FOLD, (long long)n);
}

roofs_status folds_create(folds *f, int64_t n, int64_t batch, const char *option, roofs_error *err)
{
    *f = (folds){.n = n, .batch = batch};
    TRY(folds_check(n, option, err));
    TRY(memory_get(&f->order, 3 * n, sizeof *f->order, "the folds", err));
    f->place = f->order + n;
    f->fitted = f->place + n;
    random_permutation((random_key){.seed = 1, .stream = 77}, n, f->order);
    for (int64_t i = 0; i < n; i++)
        f->place[f->order[i]] = i;
    return ROOFS_OK;
}

void folds_free(folds *f)
{
    sparse_free(&f->all);
    sparse_free(&f->subset);
    memory_free(f->order);
    memory_free(f->values);
}

void folds_choose(folds *f, int fold)
{
    f->train = 0;
    for (int64_t i = 0; i < f->n; i++)
        if (fold_of(f, i) != fold)
            f->fitted[f->train++] = i;
}

static roofs_status subset_dense(folds *f, const roofs_block *block, roofs_block *subset,
                                 roofs_error *err)
{
    if (!f->values)
        TRY(memory_reserve(&f->values, memory_bytes(f->batch, f->n), sizeof *f->values, "the folds",
                           err));
    double *to = f->values;
    for (int64_t k = 0; k < block->count; k++)
        for (int64_t i = 0; i < f->train; i++)
            *to++ = block_at(block, k, f->fitted[i]);
    *subset = (roofs_block){.count = block->count,
                            .n = f->train,
                            .dtype = ROOFS_F64,
                            .values = f->values,
                            .feature_stride = f->train,
                            .sample_stride = 1};
    return ROOFS_OK;
}

static roofs_status subset_sparse(folds *f, const roofs_block *block, roofs_block *subset,
                                  roofs_error *err)
{
    sparse_clear(&f->all);
    sparse_clear(&f->subset);
    TRY(sparse_append(&f->all, block, err));
    TRY(sparse_choose_samples(&f->all, f->fitted, f->train, &f->subset, err));
    sparse_view(&f->subset, 0, f->subset.count, subset);
    return ROOFS_OK;
}

roofs_status folds_subset(folds *f, const roofs_block *block, roofs_block *subset, roofs_error *err)
{
    return (block_is_sparse(block) ? subset_sparse : subset_dense)(f, block, subset, err);
}
