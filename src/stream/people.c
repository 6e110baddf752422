#include "stream/people.h"

#include "base/memory.h"

#include <math.h>
#include <string.h>

void people_free(people *p)
{
    levels_free(&p->ids);
    names_free(&p->response_names);
    names_free(&p->covariate_names);
    memory_free(p->responses);
    memory_free(p->covariates);
    *p = (people){0};
}

roofs_status people_fam_path(const char *bed, const genotype_options *o, char **out,
                             roofs_error *err)
{
    if (o && o->fam)
        return memory_copy_text(out, o->fam, err);
    return path_beside(bed, ".fam", out, err);
}

/* ---- who --------------------------------------------------------------- */

/* Takes people out who are in a file (`remove`), or who are not (`keep`). */
static roofs_status filter_by(const char *path, int removes, const fam *f, unsigned char *is_in,
                              int64_t *out, roofs_error *err)
{
    levels set = {0};
    int64_t met = 0;
    if (!path)
        return ROOFS_OK;
    roofs_status status = person_set_read(&set, path, err);
    for (int64_t k = 0; k < f->ids.words.count && status == ROOFS_OK; k++) {
        const int has = person_set_has(&set, f, k);
        met += has;
        *out += is_in[k] && has == removes;
        is_in[k] &= has != removes;
    }
    levels_free(&set);
    if (status == ROOFS_OK && met == 0)
        status =
            fail(err, ROOFS_BAD_DATA,
                 "%s names no person of the .fam file, whose first person is \"%.80s\" (FID IID)",
                 path, fam_id(f, 0));
    return status;
}

roofs_status people_filter(const fam *f, const genotype_options *o, unsigned char *is_in,
                           people_counts *counts, roofs_error *err)
{
    people_counts own = {0};
    people_counts *c = counts ? counts : &own;
    memset(is_in, 1, (size_t)f->ids.words.count);
    if (!o)
        return ROOFS_OK;
    TRY(filter_by(o->keep, 0, f, is_in, &c->not_kept, err));
    return filter_by(o->remove, 1, f, is_in, &c->removed, err);
}

/* Takes people out who have fewer than `needed` values of a table. */
static void drop_missing(const person_table *t, int64_t needed, int64_t all, unsigned char *is_in,
                         int64_t *out)
{
    for (int64_t k = 0; k < all; k++) {
        int64_t present = 0;
        for (int64_t c = 0; c < t->columns.count; c++)
            present += !isnan(t->values[c * all + k]);
        *out += is_in[k] && present < needed;
        is_in[k] &= present >= needed;
    }
}

/* Keeps the values of the people who stay. */
static roofs_status take(const double *values, int64_t columns, const fam *f,
                         const unsigned char *is_in, int64_t n, double **out, roofs_error *err)
{
    const int64_t all = f->ids.words.count;
    TRY(memory_get(out, columns * n, sizeof **out, "people", err));
    for (int64_t c = 0, at = 0; c < columns; c++)
        for (int64_t k = 0; k < all; k++)
            if (is_in[k])
                (*out)[at++] = values[c * all + k];
    return ROOFS_OK;
}

/* ---- responses --------------------------------------------------------- */

static roofs_status take_given(const double *given, int64_t count, const char *path, const fam *f,
                               person_table *t, roofs_error *err)
{
    if (count != f->ids.words.count)
        return fail(err, ROOFS_BAD_DATA,
                    "the response has %lld numbers, but %s has %lld people; give phenotypes by ID "
                    "with --pheno, or a number for each person",
                    (long long)count, path, (long long)f->ids.words.count);
    TRY(names_add(&t->columns, "y", 1, err));
    TRY(memory_get(&t->values, count, sizeof *t->values, "the response", err));
    memcpy(t->values, given, (size_t)count * sizeof *given);
    return ROOFS_OK;
}

static roofs_status take_sixth(const char *path, const genotype_options *o, const fam *f,
                               person_table *t, roofs_error *err)
{
    const char *name = "phenotype";
    TRY(names_add(&t->columns, name, (int64_t)strlen(name), err));
    TRY(memory_get(&t->values, f->ids.words.count, sizeof *t->values, "the response", err));
    return fam_responses(f, path, o->missing_code, t->values, &t->coded, err);
}

static roofs_status check_one(const person_table *t, const genotype_options *o, roofs_error *err)
{
    if (o->pheno_name || t->columns.count == 1)
        return ROOFS_OK;
    return fail(err, ROOFS_BAD_DATA,
                "%s has %lld phenotypes (%.40s, %.40s, ...); choose with --pheno-name", o->pheno,
                (long long)t->columns.count, names_get(&t->columns, 0), names_get(&t->columns, 1));
}

static roofs_status check_met(const person_table *t, const char *path, const fam *f,
                              roofs_error *err)
{
    for (int64_t k = 0; k < f->ids.words.count; k++)
        if (t->found[k])
            return ROOFS_OK;
    return fail(
        err, ROOFS_BAD_DATA,
        "%s has no line for a person of the .fam file, whose first person is \"%.80s\" (FID "
        "IID); compare the IDs",
        path, fam_id(f, 0));
}

static roofs_status read_responses(person_table *t, const char *path, const genotype_options *o,
                                   const fam *f, roofs_error *err)
{
    if (!o->pheno)
        return take_sixth(path, o, f, t, err);
    TRY(person_table_read(t, o->pheno, f, o->pheno_name, o->missing_code, err));
    TRY(check_one(t, o, err));
    return check_met(t, o->pheno, f, err);
}

/* ---- the choice -------------------------------------------------------- */

/* A choice that is being made. */
typedef struct choice {
    fam fam;
    char *fam_path;
    unsigned char *is_in;
    person_table responses, covariates;
    int64_t left; /* people who stay */
} choice;

static roofs_status no_person_left(const people *p, const choice *c, const genotype_options *o,
                                   roofs_error *err)
{
    const people_counts *k = &p->counts;
    return fail(err, ROOFS_BAD_DATA,
                "%s: no person is left of %lld: %lld are not in --keep, %lld in --remove, %lld "
                "have no phenotype%s (%lld of them the code %s for missing ones) and %lld lack a "
                "covariate%s",
                c->fam_path, (long long)k->in_file, (long long)k->not_kept, (long long)k->removed,
                (long long)k->no_response, o->pheno ? "" : " in its column 6", (long long)k->coded,
                o->missing_code ? o->missing_code : "none", (long long)k->no_covariate,
                o->pheno ? "" : "; give phenotypes with --pheno FILE");
}

static roofs_status add_ids(people *p, const choice *c, roofs_error *err)
{
    for (int64_t k = 0; k < c->fam.ids.words.count; k++) {
        const char *id = fam_id(&c->fam, k);
        if (c->is_in[k])
            TRY(levels_add(&p->ids, id, (int64_t)strlen(id), err));
    }
    return ROOFS_OK;
}

static void move_names(names *from, names *to)
{
    *to = *from;
    *from = (names){0};
}

static roofs_status choose_responses(people *p, choice *c, const genotype_options *o,
                                     const people_request *request, roofs_error *err)
{
    if (!request->has_responses)
        return ROOFS_OK;
    if (request->given)
        TRY(take_given(request->given, request->given_count, c->fam_path, &c->fam, &c->responses,
                       err));
    else
        TRY(read_responses(&c->responses, c->fam_path, o, &c->fam, err));
    p->counts.coded = c->responses.coded;
    p->counts.strangers = c->responses.strangers;
    drop_missing(&c->responses, 1, c->fam.ids.words.count, c->is_in, &p->counts.no_response);
    return ROOFS_OK;
}

static roofs_status choose_covariates(people *p, choice *c, const genotype_options *o,
                                      roofs_error *err)
{
    if (!o->covar)
        return ROOFS_OK;
    TRY(person_table_read(&c->covariates, o->covar, &c->fam, o->covar_name, NULL, err));
    TRY(check_met(&c->covariates, o->covar, &c->fam, err));
    drop_missing(&c->covariates, c->covariates.columns.count, c->fam.ids.words.count, c->is_in,
                 &p->counts.no_covariate);
    return ROOFS_OK;
}

static roofs_status choose(people *p, choice *c, const char *bed, const genotype_options *o,
                           const people_request *request, roofs_error *err)
{
    TRY(people_fam_path(bed, o, &c->fam_path, err));
    TRY(fam_read(&c->fam, c->fam_path, err));
    p->counts.in_file = c->fam.ids.words.count;
    TRY(memory_get(&c->is_in, p->counts.in_file, 1, "people", err));
    TRY(people_filter(&c->fam, o, c->is_in, &p->counts, err));
    TRY(choose_responses(p, c, o, request, err));
    TRY(choose_covariates(p, c, o, err));
    TRY(add_ids(p, c, err));
    const int64_t n = p->ids.words.count;
    if (n == 0)
        return no_person_left(p, c, o, err);
    TRY(take(c->responses.values, c->responses.columns.count, &c->fam, c->is_in, n, &p->responses,
             err));
    TRY(take(c->covariates.values, c->covariates.columns.count, &c->fam, c->is_in, n,
             &p->covariates, err));
    move_names(&c->responses.columns, &p->response_names);
    move_names(&c->covariates.columns, &p->covariate_names);
    return ROOFS_OK;
}

roofs_status people_choose(people *p, const char *bed, const genotype_options *o,
                           const people_request *request, roofs_error *err)
{
    choice c = {0};
    *p = (people){0};
    roofs_status status = choose(p, &c, bed, o, request, err);
    fam_free(&c.fam);
    memory_free(c.fam_path);
    memory_free(c.is_in);
    person_table_free(&c.responses);
    person_table_free(&c.covariates);
    if (status != ROOFS_OK)
        people_free(p);
    return status;
}
