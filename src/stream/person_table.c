#include "stream/person_table.h"

#include "base/memory.h"
#include "stream/name_list.h"
#include "stream/word_reader.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { ID_MOST = 512 };

void person_table_free(person_table *t)
{
    names_free(&t->columns);
    memory_free(t->values);
    memory_free(t->found);
    *t = (person_table){0};
}

/* ---- people ------------------------------------------------------------ */

static int is_header(const word_reader *w)
{
    const field first = w->words[0];
    return word_is(first, "FID") || word_is(first, "#FID") || word_is(first, "IID") ||
           word_is(first, "#IID");
}

static int begins_with_iid(const word_reader *w)
{
    return word_is(w->words[0], "IID") || word_is(w->words[0], "#IID");
}

/* "FID IID", or "IID" alone. */
static roofs_status write_id(const word_reader *w, int ids, char out[ID_MOST], roofs_error *err)
{
    const int64_t first = word_length(w->words[0]), second = ids > 1 ? word_length(w->words[1]) : 0;
    if (first + second + 2 > ID_MOST)
        return word_reader_fail(w, "the IDs are longer than 500 bytes", err);
    if (ids > 1)
        snprintf(out, ID_MOST, "%.*s %.*s", (int)first, w->words[0].begin, (int)second,
                 w->words[1].begin);
    else
        snprintf(out, ID_MOST, "%.*s", (int)first, w->words[0].begin);
    return ROOFS_OK;
}

static roofs_status add_to_set(levels *set, const word_reader *w, int ids, roofs_error *err)
{
    char id[ID_MOST];
    TRY(write_id(w, ids, id, err));
    if (levels_find(set, id, (int64_t)strlen(id)) >= 0)
        return ROOFS_OK;
    return levels_add(set, id, (int64_t)strlen(id), err);
}

roofs_status person_set_read(levels *set, const char *path, roofs_error *err)
{
    word_reader w;
    int more = 1, one_id = 0;
    TRY(word_reader_open(&w, path, err));
    roofs_status status = ROOFS_OK;
    for (int first = 1; status == ROOFS_OK && more; first = 0) {
        status = word_reader_next(&w, &more, err);
        if (status != ROOFS_OK || !more)
            continue;
        if (first && is_header(&w))
            one_id = begins_with_iid(&w);
        else
            status = add_to_set(set, &w, one_id || w.count == 1 ? 1 : 2, err);
    }
    if (status == ROOFS_OK && set->words.count == 0)
        status = fail(err, ROOFS_BAD_DATA, "%s holds no people", bytes_name(w.input));
    word_reader_close(&w);
    return status;
}

static int has_word(const levels *set, const char *text)
{
    return levels_find(set, text, (int64_t)strlen(text)) >= 0;
}

int person_set_has(const levels *set, const fam *people, int64_t k)
{
    return has_word(set, fam_id(people, k)) || has_word(set, fam_iid(people, k));
}

/* ---- values ------------------------------------------------------------ */

/* True if the text means a missing value by the code. */
static int is_coded(double value, const char *missing_code)
{
    double code;
    if (!missing_code || number_read(missing_code, missing_code + strlen(missing_code), &code))
        return 0;
    return value == code;
}

/* NaN for missing values. */
static int read_value(field f, const char *missing_code, double *value, int64_t *coded)
{
    switch (number_read(f.begin, f.end, value)) {
    case NUMBER_MISSING:
        *value = (double)NAN;
        return 1;
    case NUMBER_FINE:
        if (is_coded(*value, missing_code)) {
            ++*coded;
            *value = (double)NAN;
        }
        return 1;
    default:
        return 0;
    }
}

roofs_status fam_responses(const fam *people, const char *path, const char *missing_code,
                           double *values, int64_t *coded, roofs_error *err)
{
    for (int64_t k = 0; k < people->ids.words.count; k++) {
        const char *text = names_get(&people->responses, k);
        if (!read_value((field){text, text + strlen(text), 0}, missing_code, &values[k], coded))
            return fail(err, ROOFS_BAD_DATA,
                        "%s: the phenotype of \"%.80s\" (column 6) is \"%.40s\", not a number",
                        path, fam_id(people, k), text);
    }
    return ROOFS_OK;
}

/* A table that is being read. */
typedef struct table_reading {
    word_reader words;
    const fam *people;
    levels iids;      /* of the people, where the table has no FID: codes are theirs */
    int ids;          /* columns of IDs: 2, or 1 = only IID */
    int64_t width;    /* columns of a line */
    int64_t *columns; /* the columns that are wanted */
    const char *missing_code;
} table_reading;

/* The names of all columns after the IDs, from the header or by number. */
static roofs_status name_columns(const table_reading *r, int has_header, names *all,
                                 roofs_error *err)
{
    for (int64_t c = r->ids; c < r->words.count; c++) {
        char number[24];
        if (has_header) {
            TRY(field_add_name(r->words.words[c], all, err));
            continue;
        }
        snprintf(number, sizeof number, "%lld", (long long)(c - r->ids + 1));
        TRY(names_add(all, number, (int64_t)strlen(number), err));
    }
    return ROOFS_OK;
}

static int64_t find_name(const names *all, const char *name)
{
    for (int64_t k = 0; k < all->count; k++)
        if (strcmp(names_get(all, k), name) == 0)
            return k;
    return -1;
}

static roofs_status no_such_column(const table_reading *r, const names *all, const char *name,
                                   roofs_error *err)
{
    enum { LISTED = 12 };
    char list[500] = "";
    for (int64_t k = 0; k < all->count && k < LISTED; k++) {
        const size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s%.30s", used ? ", " : "", names_get(all, k));
    }
    return fail(err, ROOFS_BAD_DATA, "%s has no column \"%.80s\"; its columns are %s%s",
                bytes_name(r->words.input), name, list, all->count > LISTED ? ", ..." : "");
}

static roofs_status choose_columns(table_reading *r, const names *all, const char *wanted,
                                   names *chosen, roofs_error *err)
{
    names items = {0};
    roofs_status status = name_list_split(wanted, &items, err);
    const int64_t count = wanted ? items.count : all->count;
    if (status == ROOFS_OK)
        status = memory_get(&r->columns, count, sizeof *r->columns, "columns", err);
    for (int64_t k = 0; k < count && status == ROOFS_OK; k++) {
        const char *name = wanted ? names_get(&items, k) : names_get(all, k);
        const int64_t at = find_name(all, name);
        if (at < 0)
            status = no_such_column(r, all, name, err);
        else if (find_name(chosen, name) >= 0)
            status = fail(err, ROOFS_BAD_DATA,
                          "%s: the column \"%.80s\" is there or asked for "
                          "twice",
                          bytes_name(r->words.input), name);
        else
            status = names_add(chosen, name, (int64_t)strlen(name), err);
        r->columns[k] = r->ids + at;
    }
    names_free(&items);
    return status;
}

/* A table without FID needs different IIDs. */
static roofs_status index_iids(table_reading *r, roofs_error *err)
{
    for (int64_t k = 0; k < r->people->ids.words.count; k++) {
        const char *iid = fam_iid(r->people, k);
        if (has_word(&r->iids, iid))
            return fail(err, ROOFS_BAD_DATA,
                        "%s has no FID, but two people have the IID \"%.80s\"; add a column FID",
                        bytes_name(r->words.input), iid);
        TRY(levels_add(&r->iids, iid, (int64_t)strlen(iid), err));
    }
    return ROOFS_OK;
}

static roofs_status find_person(const table_reading *r, int64_t *person, roofs_error *err)
{
    char id[ID_MOST];
    TRY(write_id(&r->words, r->ids, id, err));
    *person = levels_find(r->ids > 1 ? &r->people->ids : &r->iids, id, (int64_t)strlen(id));
    return ROOFS_OK;
}

static roofs_status read_line(table_reading *r, person_table *t, roofs_error *err)
{
    const word_reader *w = &r->words;
    int64_t person;
    if (w->count != r->width)
        return fail(err, ROOFS_BAD_DATA, "%s, line %lld: %lld columns, but the first line has %lld",
                    bytes_name(w->input), (long long)w->lines.number, (long long)w->count,
                    (long long)r->width);
    TRY(find_person(r, &person, err));
    if (person < 0) {
        t->strangers++;
        return ROOFS_OK;
    }
    if (t->found[person]++)
        return fail(err, ROOFS_BAD_DATA, "%s, line %lld: the person \"%.80s\" has a second line",
                    bytes_name(w->input), (long long)w->lines.number, fam_id(r->people, person));
    for (int64_t c = 0; c < t->columns.count; c++) {
        const field f = w->words[r->columns[c]];
        if (!read_value(f, r->missing_code, &t->values[c * t->people + person], &t->coded))
            return fail(err, ROOFS_BAD_DATA,
                        "%s, line %lld, column %.80s: \"%.*s\" is not a number; write words as "
                        "numbers, and missing values as NA",
                        bytes_name(w->input), (long long)w->lines.number, names_get(&t->columns, c),
                        (int)(word_length(f) < 40 ? word_length(f) : 40), f.begin);
    }
    return ROOFS_OK;
}

static roofs_status begin_table(table_reading *r, person_table *t, const char *wanted,
                                int *has_header, roofs_error *err)
{
    names all = {0};
    *has_header = is_header(&r->words);
    r->ids = *has_header && (begins_with_iid(&r->words) || r->words.count < 2 ||
                             !word_is(r->words.words[1], "IID"))
                 ? 1
                 : 2;
    r->width = r->words.count;
    if (r->width <= r->ids)
        return word_reader_fail(&r->words,
                                "a table of people has the columns FID, IID and at least one with "
                                "numbers, separated by spaces or tabs",
                                err);
    roofs_status status = name_columns(r, *has_header, &all, err);
    if (status == ROOFS_OK)
        status = choose_columns(r, &all, wanted, &t->columns, err);
    names_free(&all);
    if (status == ROOFS_OK && r->ids == 1)
        status = index_iids(r, err);
    TRY(status);
    t->people = r->people->ids.words.count;
    TRY(memory_get(&t->found, t->people, 1, "people", err));
    TRY(memory_get(&t->values, t->people * t->columns.count, sizeof *t->values, "a table of people",
                   err));
    for (int64_t k = 0; k < t->people * t->columns.count; k++)
        t->values[k] = (double)NAN;
    return ROOFS_OK;
}

static roofs_status read_table(table_reading *r, person_table *t, const char *wanted,
                               roofs_error *err)
{
    int more, has_header;
    TRY(word_reader_next(&r->words, &more, err));
    if (!more)
        return fail(err, ROOFS_BAD_DATA, "%s is empty", bytes_name(r->words.input));
    TRY(begin_table(r, t, wanted, &has_header, err));
    if (!has_header)
        TRY(read_line(r, t, err));
    for (;;) {
        TRY(word_reader_next(&r->words, &more, err));
        if (!more)
            return ROOFS_OK;
        TRY(read_line(r, t, err));
    }
}

roofs_status person_table_read(person_table *t, const char *path, const fam *people,
                               const char *wanted, const char *missing_code, roofs_error *err)
{
    table_reading r = {.people = people, .missing_code = missing_code};
    *t = (person_table){0};
    TRY(word_reader_open(&r.words, path, err));
    roofs_status status = read_table(&r, t, wanted, err);
    word_reader_close(&r.words);
    levels_free(&r.iids);
    memory_free(r.columns);
    if (status != ROOFS_OK)
        person_table_free(t);
    return status;
}
