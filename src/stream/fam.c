#include "stream/fam.h"

#include "base/memory.h"
#include "stream/word_reader.h"

#include <stdio.h>
#include <string.h>

void fam_free(fam *f)
{
    levels_free(&f->ids);
    names_free(&f->responses);
    memory_free(f->iid_at);
    *f = (fam){0};
}

const char *fam_id(const fam *f, int64_t k)
{
    return names_get(&f->ids.words, k);
}

const char *fam_iid(const fam *f, int64_t k)
{
    return fam_id(f, k) + f->iid_at[k];
}

/* FID and IID are words: "FID IID" as it stands in the line, but with one space. */
static roofs_status add_person(fam *f, const word_reader *w, roofs_error *err)
{
    enum { COLUMNS = 6 };
    char id[512];
    const int64_t fid = word_length(w->words[0]), length = fid + 1 + word_length(w->words[1]);
    if (length >= (int64_t)sizeof id)
        return word_reader_fail(w, "the IDs are longer than 500 bytes", err);
    snprintf(id, sizeof id, "%.*s %.*s", (int)fid, w->words[0].begin, (int)word_length(w->words[1]),
             w->words[1].begin);
    if (levels_find(&f->ids, id, length) >= 0)
        return fail(err, ROOFS_BAD_DATA,
                    "%s, line %lld: the person \"%.80s\" (FID IID) occurs twice; remove one of the "
                    "two with plink2",
                    bytes_name(w->input), (long long)w->lines.number, id);
    TRY(memory_grow(&f->iid_at, &f->at_capacity, f->ids.words.count + 1, sizeof *f->iid_at,
                    "people", err));
    f->iid_at[f->ids.words.count] = fid + 1;
    TRY(levels_add(&f->ids, id, length, err));
    if (w->count < COLUMNS)
        return names_add(&f->responses, "NA", 2, err);
    const field last = w->words[COLUMNS - 1];
    return names_add(&f->responses, last.begin, word_length(last), err);
}

static roofs_status read_lines(fam *f, word_reader *w, roofs_error *err)
{
    for (int more = 1;;) {
        TRY(word_reader_next(w, &more, err));
        if (!more)
            break;
        if (w->count < 5 || w->count > 6)
            return fail(err, ROOFS_BAD_DATA,
                        "%s, line %lld: a line of a .fam file has six columns (FID, IID, father, "
                        "mother, sex, phenotype), not %lld",
                        bytes_name(w->input), (long long)w->lines.number, (long long)w->count);
        TRY(add_person(f, w, err));
    }
    if (f->ids.words.count > 0)
        return ROOFS_OK;
    return fail(err, ROOFS_BAD_DATA, "%s holds no people", bytes_name(w->input));
}

roofs_status fam_read(fam *f, const char *path, roofs_error *err)
{
    word_reader w;
    *f = (fam){0};
    TRY(word_reader_open(&w, path, err));
    roofs_status status = read_lines(f, &w, err);
    word_reader_close(&w);
    if (status != ROOFS_OK)
        fam_free(f);
    return status;
}

static size_t length_before(const char *path, size_t length, const char *ending)
{
    const size_t tail = strlen(ending);
    return length > tail && memcmp(path + length - tail, ending, tail) == 0 ? length - tail
                                                                            : length;
}

roofs_status path_beside(const char *bed, const char *ending, char **out, roofs_error *err)
{
    size_t whole = strlen(bed), length = length_before(bed, whole, ".gz");
    if (length == whole)
        length = length_before(bed, whole, ".xz");
    length = length_before(bed, length, ".bed");
    const size_t size = length + strlen(ending) + 1;
    TRY(memory_get(out, (int64_t)size, 1, "a path", err));
    snprintf(*out, size, "%.*s%s", (int)length, bed, ending);
    return ROOFS_OK;
}
