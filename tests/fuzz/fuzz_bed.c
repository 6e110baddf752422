/* Genotypes: the first byte says how to read, then .bed, .bim, .fam and a table of people follow,
 * each two bytes of length and that many bytes. */
#include "stream/people.h"
#include "tests/fuzz/stream.h"

#include <math.h>

/* The next file of the input. */
static const char *next_file(input *in, int k)
{
    size_t length = take(in);
    length |= (size_t)take(in) << 8;
    if (length > left(in))
        length = left(in);
    const char *path = file_number(k, in->at, length);
    in->at += length;
    return path;
}

/* People who were chosen have an ID, a response and all covariates. */
static void check_people(const char *bed, const genotype_options *o)
{
    roofs_error err = {0};
    people p;
    const people_request request = {.has_responses = 1};
    const roofs_status status = people_choose(&p, bed, o, &request, &err);
    must_be_explained(status, &err, bed);
    const int64_t n = p.ids.words.count;
    MUST(status || n > 0, "no person");
    for (int64_t i = 0; i < n; i++) {
        int64_t responses = 0;
        for (int64_t r = 0; r < p.response_names.count; r++)
            responses += !isnan(p.responses[r * n + i]);
        MUST(responses > 0, "person %lld has no response", (long long)i);
        for (int64_t c = 0; c < p.covariate_names.count; c++)
            MUST(isfinite(p.covariates[c * n + i]), "person %lld lacks a covariate", (long long)i);
    }
    people_free(&p);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
    input in = {data, data + size};
    const unsigned how = take(&in);
    const char *paths[FILES_MOST];
    for (int k = 0; k < FILES_MOST; k++)
        paths[k] = next_file(&in, k);
    genotype_options o = {.filters = how & 1,
                          .bim = paths[1],
                          .fam = paths[2],
                          .chromosomes = how & 1 ? "chr1-2,X" : NULL,
                          .least_maf = how & 1 ? 0.1 : 0,
                          .most_missing = how & 1 ? 0.5 : 1,
                          .keep = how & 2 ? paths[3] : NULL,
                          .remove = how & 8 ? paths[3] : NULL,
                          .covar = how & 4 ? paths[3] : NULL,
                          .missing_code = "-9"};
    const source_options options = {.format = "bed", .genotypes = &o, .unpacked = how >> 4 & 1};
    stream_check(paths[0], &options);
    o.pheno = how & 14 ? NULL : paths[3];
    o.pheno_name = how & 16 ? "h,w" : NULL;
    check_people(paths[0], &o);
    return 0;
}
