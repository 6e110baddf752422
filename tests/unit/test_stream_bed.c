/* Genotypes: codes of two bits, names of variants, people, and blocks. */
#include "test_stream_open.h"

#include "base/block.h"
#include "stream/bim.h"
#include "stream/people.h"
#include "stream/two_bit.h"
#include "stream/variants.h"

#include <math.h>

enum { MOST = 300 };

/* Codes that look random, the same every time. */
static int code_of(int64_t i)
{
    return (int)((uint64_t)(i + 3) * 0x9e3779b97f4a7c15u >> 61) & 3;
}

static void fill_row(unsigned char *row, int64_t n)
{
    memset(row, 0, (size_t)two_bit_bytes(n) + TWO_BIT_PADDING);
    for (int64_t i = 0; i < n; i++)
        row[i / 4] |= (unsigned char)(code_of(i) << 2 * (i % 4));
}

/* ---- two bits ---------------------------------------------------------- */

static void test_codes_are_counted_for_every_number_of_people(void **state)
{
    unsigned char row[MOST];
    (void)state;
    for (int64_t n = 0; n < MOST; n++) {
        int64_t counts[4], wanted[4] = {0};
        fill_row(row, n);
        memset(row + two_bit_bytes(n), 0xff, TWO_BIT_PADDING); /* what follows does not count */
        for (int64_t i = 0; i < n; i++)
            wanted[code_of(i)]++;
        two_bit_count(row, n, counts);
        assert_memory_equal(counts, wanted, sizeof counts);
    }
}

static void test_long_rows_of_one_code_are_counted(void **state)
{
    enum { BYTES = 4000 };
    static unsigned char row[BYTES];
    (void)state;
    for (int code = 0; code < 4; code++) {
        int64_t counts[4];
        memset(row, code * 0x55, sizeof row);
        two_bit_count(row, 4 * BYTES - 1, counts);
        for (int k = 0; k < 4; k++)
            assert_int_equal(counts[k], k == code ? 4 * BYTES - 1 : 0);
    }
}

static void test_runs_are_copied_from_any_place_to_any_place(void **state)
{
    unsigned char from[MOST], to[MOST];
    (void)state;
    fill_row(from, MOST);
    for (int64_t first = 0; first < 9; first++)
        for (int64_t count = 1; count < 70; count++) {
            const two_bit_run runs[] = {{first, count}, {150, 3}, {2, 1}, {100, count}};
            int64_t at = 0;
            memset(to, 0xff, sizeof to);
            two_bit_copy(from, runs, 4, to);
            for (int r = 0; r < 4; r++)
                for (int64_t i = 0; i < runs[r].count; i++, at++)
                    assert_int_equal(two_bit_get(to, at), code_of(runs[r].first + i));
            if (at % 4 != 0)
                assert_int_equal(to[at / 4] >> 2 * (at % 4), 0);
            assert_int_equal(to[two_bit_bytes(at)], 0xff);
        }
}

static void test_missing_values_are_the_mean_of_the_others(void **state)
{
    double level[4];
    (void)state;
    genotype_levels((const int64_t[]){3, 100, 1, 5}, level);
    assert_true(level[0] == 2 && level[1] == 7.0 / 9 && level[2] == 1 && level[3] == 0);
    genotype_levels((const int64_t[]){0, 4, 0, 0}, level);
    assert_true(level[1] == 0);
}

/* ---- names ------------------------------------------------------------- */

static void test_names_are_unique_over_files(void **state)
{
    static const char *const wanted[] = {"a",         "1:2:A:G", "1:3:A:G#3", "1:3:A:G#4",
                                         "1:9:C:T#5", "1:9:C:T", "2:1:A:G"};
    bim one, two;
    variant_ids ids = {0};
    names list = {0};
    (void)state;
    put_text("one.bim", "1 a 0 1 A G\n1 both 0 2 A G\n1 . 0 3 A G\n1 . 0 3 A G\n1 . 0 9 C T\n"
                        "1 1:9:C:T 0 9 C T\n");
    put_text("two.bim", "2 both 0 1 A G\n");
    assert_fine(bim_read(&one, "one.bim", &err));
    assert_fine(bim_read(&two, "two.bim", &err));
    assert_fine(variant_ids_add(&ids, 0, &one, &err));
    assert_fine(variant_ids_add(&ids, 0, &one, &err)); /* is already there */
    assert_fine(variant_ids_add(&ids, 1, &two, &err));
    assert_fine(bim_name_variants(&one, &ids, &err));
    assert_fine(bim_name_variants(&two, &ids, &err));
    for (int64_t k = 0; k < one.count; k++)
        assert_fine(bim_add_name(&one, k, &list, &err));
    assert_fine(bim_add_name(&two, 0, &list, &err));
    for (int64_t k = 0; k < list.count; k++)
        assert_string_equal(names_get(&list, k), wanted[k]);
    assert_int_equal(one.renamed, 4);
    names_free(&list);
    variant_ids_free(&ids);
    bim_free(&one);
    bim_free(&two);
}

static void test_names_of_the_same_chromosome_are_equal(void **state)
{
    static const char *const pairs[][2] = {{"chr1", "1"},  {"01", "1"},  {"X", "23"},
                                           {"chrx", "23"}, {"MT", "26"}, {"CHR22", "22"}};
    char out[CHROMOSOME_MOST];
    (void)state;
    for (size_t k = 0; k < sizeof pairs / sizeof *pairs; k++) {
        chromosome_normal(pairs[k][0], out);
        assert_string_equal(out, pairs[k][1]);
    }
}

/* ---- variants of a model ----------------------------------------------- */

static const char *const model_text =
    "{\"genotypes\": {\"response\": \"h\", \"variants\": ["
    "{\"name\": \"rs1\", \"chr\": \"1\", \"pos\": 10, \"a1\": \"A\", \"a2\": \"G\", \"mean\": 0.5},"
    "{\"name\": \"x\", \"id\": \"rs2\", \"chr\": \"X\", \"pos\": 7, \"a1\": \"C\", \"a2\": \"T\","
    " \"mean\": 1}]}}";

static void test_variants_are_matched_by_id_or_place_and_by_alleles(void **state)
{
    variant_list list;
    (void)state;
    assert_fine(variant_list_parse(&list, model_text, &err));
    assert_string_equal(list.response, "h");
    assert_null(variant_list_match(&list, (variant){"1", "rs1", "10", "T", "C"}, 0, 0));
    assert_int_equal(variant_list_count(&list, VARIANT_OTHER), 1);
    assert_null(variant_list_match(&list, (variant){"1", "other", "11", "A", "G"}, 0, 1));
    const fitted_variant *found =
        variant_list_match(&list, (variant){"9", "rs1", "99", "A", "G"}, 0, 2);
    assert_ptr_equal(found, variant_list_find(&list, "rs1"));
    assert_false(found->is_swapped);
    assert_null(variant_list_match(&list, (variant){"1", "rs1", "10", "A", "G"}, 0, 3));
    found = variant_list_match(&list, (variant){"chr23", ".", "7", "T", "C"}, 1, 0);
    assert_ptr_equal(found, variant_list_find(&list, "x"));
    assert_true(found->is_swapped);
    assert_int_equal(variant_list_swapped(&list), 1);
    variant_list_free(&list);
}

static void test_allele_that_no_person_has_is_not_compared(void **state)
{
    variant_list list;
    (void)state;
    assert_fine(variant_list_parse(&list, model_text, &err));
    assert_non_null(variant_list_match(&list, (variant){"1", "rs1", "10", "0", "G"}, 0, 0));
    assert_non_null(variant_list_match(&list, (variant){"X", "rs2", "7", "0", "C"}, 0, 1));
    assert_int_equal(variant_list_swapped(&list), 1);
    variant_list_free(&list);
}

static void test_damaged_variants_are_refused(void **state)
{
    static const char *const bad[] = {
        "{\"genotypes\": {}}", "{\"genotypes\": {\"variants\": [{\"name\": \"a\"}]}}",
        "{\"genotypes\": {\"variants\": [{\"name\": \"a\", \"chr\": \"1\", \"pos\": \"x\", "
        "\"a1\": \"A\", \"a2\": \"G\", \"mean\": 1}]}}"};
    variant_list list;
    (void)state;
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++)
        assert_refused(variant_list_parse(&list, bad[k], &err), ROOFS_BAD_DATA, "model is damaged");
    assert_fine(variant_list_parse(&list, "{\"columns\": []}", &err));
    assert_int_equal(list.count, 0);
    variant_list_free(&list);
}

/* ---- streams ----------------------------------------------------------- */

/* Five people and three variants: rows 0 1 2 3 0, 2 2 1 3 3 and 3 3 3 3 3. */
static void put_genotypes(const char *bed)
{
    static const unsigned char codes[] = {0x6c, 0x1b, 1, 0xe4, 0, 0xda, 3, 0xff, 3};
    put_bytes(bed, codes, sizeof codes);
    put_text("a.bim", "1 rs1 0 10 A G\n2 rs2 0 20 C T\n2 rs3 0 30 C T\n");
    put_text("a.fam", "F 1 0 0 1 5\nF 2 0 0 1 6\nF 3 0 0 1 7\nF 4 0 0 1 -9\nF 5 0 0 1 9\n");
}

static const double wanted[3][5] = {{2, 1.25, 1, 0, 2}, {1, 1, 0.5, 0, 0}, {0, 0, 0, 0, 0}};

static void assert_block(const roofs_block *b, int64_t first, const int64_t *place)
{
    for (int64_t k = 0; k < b->count; k++)
        for (int64_t i = 0; i < b->n; i++)
            assert_true(block_at(b, k, i) == wanted[first + k][place[i]]);
}

static void test_blocks_are_codes_with_levels(void **state)
{
    static const int64_t all[] = {0, 1, 2, 3, 4};
    const char *path = "a.bed";
    roofs_block block;
    source *s;
    (void)state;
    put_genotypes(path);
    assert_fine(source_open(&s, &path, 1, &(source_options){0}, &err));
    assert_int_equal(source_samples(s), 5);
    assert_int_equal(source_features(s), 3);
    assert_int_equal(source_kind_of(s).dtype, ROOFS_2BIT);
    assert_fine(source_next(s, 2, &block, &err));
    assert_int_equal(block.dtype, ROOFS_2BIT);
    assert_int_equal(block.feature_stride, 2);
    assert_string_equal(block.names[1], "rs2");
    assert_block(&block, 0, all);
    assert_int_equal(source_missing(s).values, 2);
    assert_fine(source_next(s, 2, &block, &err));
    assert_block(&block, 2, all);
    assert_int_equal(source_genotype_counts(s).constant, 1);
    source_close(s);
}

/* A rank has the mean of all people, and its own values. */
static void test_ranks_read_their_own_people(void **state)
{
    const char *path = "a.bed";
    roofs_block block;
    source *s;
    (void)state;
    put_genotypes(path);
    for (int64_t rank = 0; rank < 2; rank++) {
        const source_options options = {.rank = rank, .ranks = 2};
        assert_fine(source_open(&s, &path, 1, &options, &err));
        int64_t place[5];
        for (int64_t i = 0; i < 5; i++)
            place[i] = source_first_sample(s) + i;
        assert_fine(source_next(s, 9, &block, &err));
        assert_int_equal(block.n, source_own_samples(s));
        assert_block(&block, 0, place);
        source_close(s);
    }
}

static void test_covariates_are_blocks_of_their_own(void **state)
{
    const char *path = "a.bed";
    const double ages[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
    names list = {0};
    roofs_block block;
    source *s;
    (void)state;
    put_genotypes(path);
    assert_fine(names_add(&list, "age", 3, &err));
    assert_fine(names_add(&list, "sex", 3, &err));
    const source_lead lead = {.count = 2, .values = ages, .names = &list};
    assert_fine(source_open(&s, &path, 1, &(source_options){.lead = &lead}, &err));
    assert_int_equal(source_features(s), 5);
    assert_fine(source_next(s, 4, &block, &err));
    assert_int_equal(block.count, 2);
    assert_int_equal(block.dtype, ROOFS_F64);
    assert_same_doubles(block.values, ages, 10);
    assert_string_equal(block.names[1], "sex");
    assert_fine(source_next(s, 4, &block, &err));
    assert_int_equal(block.count, 3);
    assert_int_equal(source_position(s), 5);
    source_close(s);
    assert_fine(source_open(&s, &path, 1, &(source_options){.lead = &lead}, &err));
    assert_fine(source_skip(s, 3, &err));
    assert_fine(source_next(s, 1, &block, &err));
    assert_string_equal(block.names[0], "rs2");
    source_close(s);
    names_free(&list);
}

static void test_people_need_a_response_and_are_counted(void **state)
{
    people p;
    const people_request request = {.has_responses = 1};
    genotype_options o = {.missing_code = "-9"};
    (void)state;
    put_genotypes("a.bed");
    put_text("remove", "F 2\n");
    o.remove = "remove";
    assert_fine(people_choose(&p, "a.bed", &o, &request, &err));
    assert_int_equal(p.ids.words.count, 3);
    assert_string_equal(names_get(&p.ids.words, 1), "F 3");
    assert_int_equal(p.counts.removed, 1);
    assert_int_equal(p.counts.no_response, 1);
    assert_int_equal(p.counts.coded, 1);
    assert_same_doubles(p.responses, (const double[]){5, 7, 9}, 3);
    people_free(&p);
    put_text("p", "FID IID u v\nF 1 NA 3\nF 3 -9 -9\nF 5 2 nan\n");
    o = (genotype_options){.missing_code = "-9", .pheno = "p", .pheno_name = "v,u"};
    assert_fine(people_choose(&p, "a.bed", &o, &request, &err));
    assert_int_equal(p.ids.words.count, 2); /* either of the two responses is enough */
    assert_true(p.responses[0] == 3 && isnan(p.responses[1]));
    assert_true(isnan(p.responses[2]) && p.responses[3] == 2);
    people_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_codes_are_counted_for_every_number_of_people),
        cmocka_unit_test(test_long_rows_of_one_code_are_counted),
        cmocka_unit_test(test_runs_are_copied_from_any_place_to_any_place),
        cmocka_unit_test(test_missing_values_are_the_mean_of_the_others),
        cmocka_unit_test(test_names_are_unique_over_files),
        cmocka_unit_test(test_names_of_the_same_chromosome_are_equal),
        cmocka_unit_test(test_variants_are_matched_by_id_or_place_and_by_alleles),
        cmocka_unit_test(test_allele_that_no_person_has_is_not_compared),
        cmocka_unit_test(test_damaged_variants_are_refused),
        cmocka_unit_test(test_blocks_are_codes_with_levels),
        cmocka_unit_test(test_ranks_read_their_own_people),
        cmocka_unit_test(test_covariates_are_blocks_of_their_own),
        cmocka_unit_test(test_people_need_a_response_and_are_counted),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
