#include "cli/folds.h"

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

roofs_status folds_create(folds *f, int64_t n, const char *option, roofs_error *err)
{
    *f = (folds){.n = n};
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
    subset_free(&f->subset);
    memory_free(f->order);
}

void folds_choose(folds *f, int fold)
{
    f->train = 0;
    for (int64_t i = 0; i < f->n; i++)
        if (fold_of(f, i) != fold)
            f->fitted[f->train++] = i;
}

roofs_status folds_subset(folds *f, const roofs_block *block, roofs_block *subset, roofs_error *err)
{
    TRY(subset_block(&f->subset, block, f->fitted, f->train, ROOFS_F64, subset, err));
    subset->names = NULL; /* predictions need none */
    return ROOFS_OK;
}
