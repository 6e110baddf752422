/* R objects from the structs of the library, and the other way. */
#include "roofs_r.h"

#include <math.h>

_Static_assert(sizeof(void *) >= 8, "roofs needs a 64-bit processor and a 64-bit R");

void r_check(roofs_status status, const roofs_error *err)
{
    if (status != ROOFS_OK)
        Rf_errorcall(R_NilValue, "%s", err->text);
}

/* ---- R objects --------------------------------------------------------- */

SEXP r_list(int count, const char *const *names, const SEXP *values)
{
    SEXP list = PROTECT(Rf_allocVector(VECSXP, count)),
         labels = PROTECT(Rf_allocVector(STRSXP, count));
    for (int k = 0; k < count; k++) {
        SET_VECTOR_ELT(list, k, values[k]);
        SET_STRING_ELT(labels, k, Rf_mkChar(names[k]));
    }
    Rf_setAttrib(list, R_NamesSymbol, labels);
    UNPROTECT(2);
    return list;
}

static SEXP text_element(const char *text)
{
    return text ? Rf_mkCharCE(text, CE_UTF8) : NA_STRING;
}

SEXP r_text(const char *text)
{
    return Rf_ScalarString(text_element(text));
}

SEXP r_flag(int value)
{
    return Rf_ScalarLogical(value != 0);
}

SEXP r_number(double value)
{
    return Rf_ScalarReal(value);
}

static SEXP numbers(const double *from, int64_t count)
{
    if (!from)
        return R_NilValue;
    SEXP out = Rf_allocVector(REALSXP, (R_xlen_t)count);
    for (int64_t i = 0; i < count; i++)
        REAL(out)[i] = from[i];
    return out;
}

static SEXP flags(const unsigned char *from, int64_t count)
{
    if (!from)
        return R_NilValue;
    SEXP out = Rf_allocVector(LGLSXP, (R_xlen_t)count);
    for (int64_t i = 0; i < count; i++)
        LOGICAL(out)[i] = from[i];
    return out;
}

/* A list under construction. Its elements are protected by the list. */
typedef struct builder {
    SEXP list, labels;
    int count;
} builder;

enum { MOST_FIELDS = 32 };

static builder begin(void)
{
    builder b = {PROTECT(Rf_allocVector(VECSXP, MOST_FIELDS)),
                 PROTECT(Rf_allocVector(STRSXP, MOST_FIELDS)), 0};
    return b;
}

static void add(builder *b, const char *name, SEXP value)
{
    SET_VECTOR_ELT(b->list, b->count, value);
    SET_STRING_ELT(b->labels, b->count, Rf_mkChar(name));
    b->count++;
}

static SEXP end(builder *b)
{
    SEXP list = PROTECT(Rf_lengthgets(b->list, b->count)),
         labels = PROTECT(Rf_lengthgets(b->labels, b->count));
    Rf_setAttrib(list, R_NamesSymbol, labels);
    UNPROTECT(4);
    return list;
}

/* ---- blocks ------------------------------------------------------------ */

static const char **block_names(SEXP names, int64_t from, int64_t count)
{
    if (names == R_NilValue)
        return NULL;
    const char **out = (const char **)R_alloc((size_t)count + 1, sizeof *out);
    for (int64_t k = 0; k < count; k++)
        out[k] = Rf_translateCharUTF8(STRING_ELT(names, (R_xlen_t)(from + k)));
    return out;
}

static roofs_block sparse_block(SEXP x, int64_t from, int64_t count)
{
    SEXP size = R_do_slot(x, Rf_install("Dim"));
    int64_t all = INTEGER(size)[1];
    return (roofs_block){.count = count < 0 ? all - from : count,
                         .n = INTEGER(size)[0],
                         .values = REAL(R_do_slot(x, Rf_install("x"))),
                         .starts = INTEGER(R_do_slot(x, Rf_install("p"))) + from,
                         .samples = INTEGER(R_do_slot(x, Rf_install("i"))),
                         .dtype = ROOFS_F64,
                         .index = ROOFS_I32};
}

static roofs_block dense_block(SEXP x, int64_t from, int64_t count)
{
    SEXP size = Rf_getAttrib(x, R_DimSymbol);
    int64_t n = INTEGER(size)[0], all = INTEGER(size)[1];
    return (roofs_block){.count = count < 0 ? all - from : count,
                         .n = n,
                         .values = REAL(x) + from * n,
                         .feature_stride = n,
                         .sample_stride = 1,
                         .dtype = ROOFS_F64};
}

roofs_block r_block(SEXP x, SEXP names, SEXP from, SEXP count)
{
    int64_t first = (int64_t)Rf_asReal(from), length = (int64_t)Rf_asReal(count);
    roofs_block block =
        TYPEOF(x) == REALSXP ? dense_block(x, first, length) : sparse_block(x, first, length);
    block.struct_size = sizeof block;
    block.names = (const char *const *)block_names(names, first, block.count);
    return block;
}

/* ---- results ----------------------------------------------------------- */

static SEXP features_of(const roofs_result *v)
{
    R_xlen_t count = (R_xlen_t)v->selected;
    builder b = begin();
    add(&b, "index", Rf_allocVector(REALSXP, count));
    add(&b, "name", Rf_allocVector(STRSXP, count));
    add(&b, "coef", Rf_allocVector(REALSXP, count));
    add(&b, "error", Rf_allocVector(REALSXP, count));
    add(&b, "probability", Rf_allocVector(REALSXP, count));
    add(&b, "selected", flags(v->is_selected, count));
    for (R_xlen_t k = 0; k < count; k++) {
        const roofs_feature *f = &v->features[k];
        REAL(VECTOR_ELT(b.list, 0))[k] = (double)f->index + 1;
        SET_STRING_ELT(VECTOR_ELT(b.list, 1), k, text_element(f->name));
        REAL(VECTOR_ELT(b.list, 2))[k] = f->coef;
        REAL(VECTOR_ELT(b.list, 3))[k] = v->spread ? v->spread[k].error : NA_REAL;
        REAL(VECTOR_ELT(b.list, 4))[k] = isnan(f->probability) ? NA_REAL : f->probability;
    }
    return end(&b);
}

static SEXP members_of(const roofs_group *g)
{
    R_xlen_t count = (R_xlen_t)g->count;
    builder b = begin();
    add(&b, "index", Rf_allocVector(REALSXP, count));
    add(&b, "name", Rf_allocVector(STRSXP, count));
    add(&b, "probability", Rf_allocVector(REALSXP, count));
    for (R_xlen_t k = 0; k < count; k++) {
        REAL(VECTOR_ELT(b.list, 0))[k] = (double)g->members[k].index + 1;
        SET_STRING_ELT(VECTOR_ELT(b.list, 1), k, text_element(g->members[k].name));
        REAL(VECTOR_ELT(b.list, 2))[k] = g->members[k].probability;
    }
    return end(&b);
}

static SEXP group_of(const roofs_group *g)
{
    builder b = begin();
    add(&b, "members", members_of(g));
    add(&b, "mass", r_number(g->mass));
    add(&b, "exists", r_number(g->exists));
    add(&b, "fdr", r_number(g->fdr));
    add(&b, "correlation", r_number(g->correlation));
    add(&b, "effect", r_number(g->effect));
    add(&b, "error", r_number(g->error));
    add(&b, "coef", r_number(isnan(g->coef) ? NA_REAL : g->coef));
    add(&b, "coef_error", r_number(isnan(g->coef_error) ? NA_REAL : g->coef_error));
    add(&b, "complete", r_flag(g->complete != 0));
    return end(&b);
}

static SEXP groups_of(const roofs_result *v)
{
    if (!v->groups_known)
        return R_NilValue;
    SEXP out = PROTECT(Rf_allocVector(VECSXP, (R_xlen_t)v->groups));
    for (R_xlen_t k = 0; k < XLENGTH(out); k++)
        SET_VECTOR_ELT(out, k, group_of(&v->group[k]));
    UNPROTECT(1);
    return out;
}

static SEXP history_of(const roofs_result *v)
{
    static const char *const names[] = {"features", "rounds",  "selected",
                                        "entered",  "trusted", "cut"};
    builder b = begin();
    for (int j = 0; j < 6; j++)
        add(&b, names[j], Rf_allocVector(REALSXP, (R_xlen_t)v->batches));
    for (R_xlen_t k = 0; k < (R_xlen_t)v->batches; k++) {
        const roofs_batch *h = &v->history[k];
        const double values[] = {(double)h->features, (double)h->rounds,  (double)h->selected,
                                 (double)h->entered,  (double)h->trusted, h->cut};
        for (int j = 0; j < 6; j++)
            REAL(VECTOR_ELT(b.list, j))[k] = values[j];
    }
    return end(&b);
}

static SEXP warnings_of(const roofs_result *v)
{
    builder b = begin();
    for (int64_t k = 0; k < MOST_FIELDS && roofs_warning_name(k); k++)
        if (v->warnings >> k & 1)
            add(&b, roofs_warning_name(k), r_text(roofs_warning_text(k)));
    return end(&b);
}

SEXP r_result(const roofs_result *v)
{
    builder b = begin();
    add(&b, "method", r_text(v->method));
    add(&b, "n", r_number((double)v->n));
    add(&b, "features_seen", r_number((double)v->features_seen));
    add(&b, "features", features_of(v));
    add(&b, "intercept", r_number(v->intercept));
    add(&b, "trusted", flags(v->trust, v->n));
    add(&b, "clean", numbers(v->clean, v->n));
    add(&b, "residuals", numbers(v->residual, v->n));
    add(&b, "cut", r_number(v->cut));
    add(&b, "scale", r_number(v->spread ? v->noise.scale : NA_REAL));
    add(&b, "intercept_error", r_number(v->spread ? v->noise.intercept : NA_REAL));
    add(&b, "rounds", r_number((double)v->rounds));
    add(&b, "history", history_of(v));
    add(&b, "groups", groups_of(v));
    add(&b, "stop", r_text(roofs_stop_text(v->stop)));
    add(&b, "warnings", warnings_of(v));
    return end(&b);
}
