/* A fitted model as an R object, and its predictions. */
#include "roofs_r.h"

static void model_release(SEXP pointer)
{
    roofs_model_destroy(R_ExternalPtrAddr(pointer));
    R_ClearExternalPtr(pointer);
}

static SEXP new_pointer(void)
{
    SEXP pointer = PROTECT(R_MakeExternalPtr(NULL, R_NilValue, R_NilValue));
    R_RegisterCFinalizerEx(pointer, model_release, TRUE);
    UNPROTECT(1);
    return pointer;
}

static roofs_model *model_of(SEXP pointer)
{
    roofs_model *m = TYPEOF(pointer) == EXTPTRSXP ? R_ExternalPtrAddr(pointer) : NULL;
    if (!m)
        Rf_error("this model is not open");
    return m;
}

/* An external pointer of an R object that was saved and read again is NULL. */
SEXP r_model_is_open(SEXP pointer)
{
    return r_flag(TYPEOF(pointer) == EXTPTRSXP && R_ExternalPtrAddr(pointer) != NULL);
}

SEXP r_model_read(SEXP path)
{
    roofs_model *m;
    roofs_error err;
    SEXP pointer = PROTECT(new_pointer());
    r_check(roofs_model_read(&m, Rf_translateChar(STRING_ELT(path, 0)), &err), &err);
    R_SetExternalPtrAddr(pointer, m);
    UNPROTECT(1);
    return pointer;
}

SEXP r_model_from(roofs_estimator *e)
{
    roofs_model *m;
    roofs_error err;
    SEXP pointer = PROTECT(new_pointer());
    r_check(roofs_model_create(&m, e, &err), &err);
    R_SetExternalPtrAddr(pointer, m);
    UNPROTECT(1);
    return pointer;
}

SEXP r_model_write(SEXP pointer, SEXP path)
{
    roofs_error err;
    r_check(roofs_model_write(model_of(pointer), Rf_translateChar(STRING_ELT(path, 0)), &err),
            &err);
    return R_NilValue;
}

SEXP r_model_view(SEXP pointer)
{
    roofs_result view;
    roofs_model_view(model_of(pointer), &view);
    return r_result(&view);
}

SEXP r_model_setting(SEXP pointer, SEXP name)
{
    char text[40];
    return r_text(roofs_model_setting(model_of(pointer), Rf_translateCharUTF8(STRING_ELT(name, 0)),
                                      text, sizeof text));
}

/* A matrix with one row per sample: the predictions, and with a level that is not NA the two ends
 * of the intervals. */
SEXP r_predict(SEXP pointer, SEXP x, SEXP names, SEXP level)
{
    roofs_model *m = model_of(pointer);
    roofs_error err;
    SEXP all = PROTECT(Rf_ScalarReal(-1)), first = PROTECT(Rf_ScalarReal(0));
    roofs_block block = r_block(x, names, first, all);
    int with_interval = !ISNAN(Rf_asReal(level));
    R_xlen_t n = (R_xlen_t)block.n;
    SEXP out = PROTECT(Rf_allocMatrix(REALSXP, (int)n, with_interval ? 3 : 1));
    double *at = REAL(out);
    r_check(with_interval ? roofs_predict_interval(m, &block, 0, Rf_asReal(level), at, at + n,
                                                   at + 2 * n, &err)
                          : roofs_predict(m, &block, at, &err),
            &err);
    UNPROTECT(3);
    return out;
}
