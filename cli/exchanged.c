#include "cli/exchanged.h"

#include "base/memory.h"
#include "base/random.h"
#include "base/sorted.h"
#include "cli/print.h"
#include "table/levels.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    SAMPLES_MOST = 3000, /* more samples that are not trusted are not searched */
    DECOYS_LEAST = 1000, /* made-up samples */
    DECOYS_MOST = 20000,
    PAIRS_WANTED = 2000000
};

void exchanged_free(exchanged *e)
{
    memory_free(e->pairs);
    *e = (exchanged){0};
}

/* A response, and the prediction that does not fit it. */
typedef struct suspect {
    int64_t sample;
    double y, prediction;
} suspect;

/* Numbers, sorted at the end; `below` of them are at most the current distance. */
typedef struct distances {
    double *values;
    int64_t count, capacity, below;
} distances;

typedef struct search {
    const double *y;
    const roofs_result *r;
    suspect *suspects, *decoys;
    int64_t count, decoy_count;
    exchanged_pair *pairs;
    int64_t pair_count, pair_capacity;
    distances links;       /* of the response of a suspect to the prediction of another */
    distances to_decoys;   /* to the prediction of a decoy */
    distances from_decoys; /* of the response of a decoy to the prediction of a suspect */
    distances decoy_pairs; /* the larger one of both */
} search;

static suspect suspect_of(const search *s, int64_t response, int64_t prediction)
{
    return (suspect){.sample = response,
                     .y = s->y[response],
                     .prediction = s->y[prediction] - s->r->residual[prediction]};
}

static roofs_status list_suspects(search *s, roofs_error *err)
{
    TRY(memory_get(&s->suspects, s->r->n - s->r->trusted, sizeof *s->suspects, "the suspects",
                   err));
    for (int64_t i = 0; i < s->r->n; i++)
        if (!s->r->trust[i])
            s->suspects[s->count++] = suspect_of(s, i, i);
    return ROOFS_OK;
}

/* Made-up samples have the response of one trusted sample and the prediction of another: as if they
 * were exchanged, but not with a suspect. */
static roofs_status make_decoys(search *s, roofs_error *err)
{
    const random_key key = {.seed = 1, .stream = 78};
    const int64_t wanted =
        (int64_t)fmin(DECOYS_MOST, fmax(DECOYS_LEAST, (double)PAIRS_WANTED / (double)s->count));
    TRY(memory_get(&s->decoys, wanted, sizeof *s->decoys, "the suspects", err));
    for (int64_t k = 0; k < 50 * wanted && s->decoy_count < wanted; k++) {
        const int64_t i = (int64_t)(random_uniform(key, 0, (uint64_t)k) * (double)s->r->n);
        const int64_t j = (int64_t)(random_uniform(key, 1, (uint64_t)k) * (double)s->r->n);
        const suspect made = suspect_of(s, i, j);
        if (s->r->trust[i] && s->r->trust[j] && fabs(made.y - made.prediction) > s->r->cut)
            s->decoys[s->decoy_count++] = made;
    }
    return ROOFS_OK;
}

/* Keeps a distance if the response would be trusted. */
static roofs_status add_distance(const search *s, distances *d, double value, roofs_error *err)
{
    if (!(value <= s->r->cut))
        return ROOFS_OK;
    TRY(memory_grow_raw(&d->values, &d->capacity, d->count + 1, sizeof *d->values,
                        "pairs of samples", err));
    d->values[d->count++] = value;
    return ROOFS_OK;
}

static roofs_status add_pair(search *s, int64_t i, int64_t j, roofs_error *err)
{
    const suspect *a = &s->suspects[i], *b = &s->suspects[j];
    const double first = fabs(a->y - b->prediction), second = fabs(b->y - a->prediction);
    TRY(add_distance(s, &s->links, first, err));
    TRY(add_distance(s, &s->links, second, err));
    if (!(fmax(first, second) <= s->r->cut))
        return ROOFS_OK;
    TRY(memory_grow_raw(&s->pairs, &s->pair_capacity, s->pair_count + 1, sizeof *s->pairs,
                        "pairs of samples", err));
    s->pairs[s->pair_count++] = (exchanged_pair){a->sample, b->sample, fmax(first, second)};
    return ROOFS_OK;
}

static roofs_status compare_suspects(search *s, roofs_error *err)
{
    for (int64_t i = 0; i < s->count; i++)
        for (int64_t j = i + 1; j < s->count; j++)
            TRY(add_pair(s, i, j, err));
    return ROOFS_OK;
}

static roofs_status compare_decoys(search *s, roofs_error *err)
{
    for (int64_t i = 0; i < s->count; i++)
        for (int64_t j = 0; j < s->decoy_count; j++) {
            const suspect *a = &s->suspects[i], *b = &s->decoys[j];
            const double first = fabs(a->y - b->prediction), second = fabs(b->y - a->prediction);
            TRY(add_distance(s, &s->to_decoys, first, err));
            TRY(add_distance(s, &s->from_decoys, second, err));
            TRY(add_distance(s, &s->decoy_pairs, fmax(first, second), err));
        }
    return ROOFS_OK;
}

static roofs_status sort_distances(distances *d, roofs_error *err)
{
    double *sorted = NULL;
    if (d->count == 0)
        return ROOFS_OK;
    TRY(sorted_copy(&sorted, d->values, d->count, err));
    memory_free(d->values);
    d->values = sorted;
    return ROOFS_OK;
}

static double count_below(distances *d, double most)
{
    while (d->below < d->count && d->values[d->below] <= most)
        d->below++;
    return (double)d->below;
}

/* How many of `taken` pairs up to this distance are expected by chance. In a longer cycle the
 * response of a suspect fits the prediction of the next one, and only the way back is chance. */
static double expected_by_chance(search *s, double most, int64_t taken)
{
    const double suspects = (double)s->count, all = suspects * (double)s->decoy_count;
    const double pairs = 0.5 * suspects * (suspects - 1);
    const double both = (count_below(&s->decoy_pairs, most) + 1) / all * pairs;
    const double there = count_below(&s->to_decoys, most) / all * 2 * pairs;
    const double links = count_below(&s->links, most) - there - 2 * (double)taken;
    return both + fmax(links, 0) * (count_below(&s->from_decoys, most) + 1) / all;
}

static int by_distance(const void *left, const void *right)
{
    const exchanged_pair *a = left, *b = right;
    if (a->distance != b->distance)
        return a->distance < b->distance ? -1 : 1;
    if (a->a != b->a)
        return a->a < b->a ? -1 : 1;
    return (a->b > b->b) - (a->b < b->b);
}

/* Takes pairs, the best first, every sample once. The answer ends where the expected number of
 * pairs by chance is a tenth of the pairs. */
static roofs_status choose_pairs(search *s, exchanged *e, roofs_error *err)
{
    unsigned char *is_taken = NULL;
    int64_t taken = 0;
    TRY(memory_get(&is_taken, s->r->n, 1, "pairs of samples", err));
    qsort(s->pairs, (size_t)s->pair_count, sizeof *s->pairs, by_distance);
    for (int64_t k = 0; k < s->pair_count; k++) {
        const exchanged_pair pair = s->pairs[k];
        if (is_taken[pair.a] || is_taken[pair.b])
            continue;
        is_taken[pair.a] = is_taken[pair.b] = 1;
        s->pairs[taken++] = pair;
        if (expected_by_chance(s, pair.distance, taken) <= EXCHANGED_RATE * (double)taken)
            e->count = taken;
    }
    memory_free(is_taken);
    return ROOFS_OK;
}

static roofs_status sort_all(search *s, roofs_error *err)
{
    TRY(sort_distances(&s->links, err));
    TRY(sort_distances(&s->to_decoys, err));
    TRY(sort_distances(&s->from_decoys, err));
    return sort_distances(&s->decoy_pairs, err);
}

static roofs_status run_search(search *s, exchanged *e, roofs_error *err)
{
    TRY(list_suspects(s, err));
    TRY(make_decoys(s, err));
    if (s->decoy_count < DECOYS_LEAST) /* the model explains too little: all samples fit all */
        return ROOFS_OK;
    TRY(compare_suspects(s, err));
    if (s->pair_count == 0)
        return ROOFS_OK;
    TRY(compare_decoys(s, err));
    TRY(sort_all(s, err));
    TRY(choose_pairs(s, e, err));
    e->pairs = s->pairs;
    s->pairs = NULL;
    return ROOFS_OK;
}

roofs_status exchanged_find(exchanged *e, const double *y, const roofs_result *r, roofs_error *err)
{
    search s = {.y = y, .r = r};
    const int64_t suspects = r->n - r->trusted;
    *e = (exchanged){0};
    if (!r->residual || suspects < 2 || suspects > SAMPLES_MOST || !(r->cut > 0))
        return ROOFS_OK;
    roofs_status status = run_search(&s, e, err);
    memory_free(s.suspects);
    memory_free(s.decoys);
    memory_free(s.pairs);
    memory_free(s.links.values);
    memory_free(s.to_decoys.values);
    memory_free(s.from_decoys.values);
    memory_free(s.decoy_pairs.values);
    return status;
}

/* ---- the model --------------------------------------------------------- */

static roofs_status no_memory(roofs_error *err)
{
    return fail(err, ROOFS_NO_MEMORY, "no memory for pairs of samples");
}

json_t *exchanged_json(const exchanged *e)
{
    json_t *list = e->count > 0 ? json_array() : NULL;
    for (int64_t k = 0; k < e->count; k++)
        json_array_append_new(
            list, json_pack("[I, I]", (json_int_t)e->pairs[k].a, (json_int_t)e->pairs[k].b));
    return list;
}

static roofs_status pairs_to_model(const exchanged *e, roofs_model *m, roofs_error *err)
{
    const char *text = roofs_model_table(m);
    if (e->count == 0 || !text)
        return ROOFS_OK;
    json_t *table = json_loads(text, 0, NULL);
    const int is_set = json_object_set_new(table, "exchanged", exchanged_json(e)) == 0;
    char *changed = is_set ? json_dumps(table, JSON_COMPACT | JSON_REAL_PRECISION(17)) : NULL;
    roofs_status status = changed ? roofs_model_set_table(m, changed, err) : no_memory(err);
    free(changed);
    json_decref(table);
    return status;
}

roofs_status exchanged_complete(exchanged *e, const double *y, roofs_estimator *fit, roofs_model *m,
                                roofs_error *err)
{
    roofs_result r;
    TRY(roofs_view(fit, &r, err));
    TRY(exchanged_find(e, y, &r, err));
    return pairs_to_model(e, m, err);
}

static void print_sample(FILE *file, int64_t sample, const levels *ids)
{
    if (ids && sample < ids->words.count)
        print_clean(file, names_get(&ids->words, sample), 40);
    else
        fprintf(file, "sample %" PRId64, sample);
}

void exchanged_print(FILE *file, const exchanged *e, const levels *ids)
{
    enum { SHOWN = 5 };
    for (int64_t k = 0; k < e->count && k < SHOWN; k++) {
        fputs(k == 0 ? "exchanged  " : "           ", file);
        print_sample(file, e->pairs[k].a, ids);
        fputs(" and ", file);
        print_sample(file, e->pairs[k].b, ids);
        fputs(" look exchanged\n", file);
    }
    if (e->count > SHOWN)
        fprintf(file, "           and %s more pairs\n", text_of_count(e->count - SHOWN).text);
}

/* The ID of a sample that is not trusted: the table lists those of all of them. */
static const char *id_of(const json_t *table, const roofs_result *r, int64_t sample)
{
    size_t place = 0;
    if (sample < 0 || sample >= r->n || r->trust[sample])
        return NULL;
    for (int64_t i = 0; i < sample; i++)
        place += !r->trust[i];
    return json_string_value(json_array_get(json_object_get(table, "outliers"), place));
}

static void name_sample(char *text, size_t size, const json_t *table, const roofs_result *r,
                        int64_t sample)
{
    const char *id = id_of(table, r, sample);
    if (id)
        snprintf(text, size, "%s", id);
    else
        snprintf(text, size, "sample %" PRId64, sample);
}

json_t *exchanged_sentences(const roofs_model *m)
{
    const char *text = roofs_model_table(m);
    json_t *table = text ? json_loads(text, 0, NULL) : NULL;
    const json_t *pairs = json_object_get(table, "exchanged");
    json_t *list = json_is_array(pairs) && json_array_size(pairs) > 0 ? json_array() : NULL;
    roofs_result r;
    roofs_model_view(m, &r);
    for (size_t k = 0; list && k < json_array_size(pairs); k++) {
        const json_t *pair = json_array_get(pairs, k);
        char first[200], second[200], line[500];
        name_sample(first, sizeof first, table, &r, json_integer_value(json_array_get(pair, 0)));
        name_sample(second, sizeof second, table, &r, json_integer_value(json_array_get(pair, 1)));
        snprintf(line, sizeof line, "%s and %s look exchanged", first, second);
        json_array_append_new(list, json_string(line));
    }
    json_decref(table);
    return list;
}
