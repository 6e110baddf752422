/* What the files of the R package share: objects of the library as external pointers, and blocks of
 * features from R's matrices. */
#ifndef ROOFS_R_H
#define ROOFS_R_H

#include "roofs/roofs.h"

#define R_NO_REMAP
#include <R.h>
#include <Rinternals.h>

/* Ends the call with an R error that has the text of the library. */
void r_check(roofs_status status, const roofs_error *err);

/* Features from, ..., from + count - 1 of a matrix of doubles or a dgCMatrix, without a copy.
 * `names` are the names of all features, or NULL. Names are allocated with R_alloc. */
roofs_block r_block(SEXP x, SEXP names, SEXP from, SEXP count);

/* A list with names from R objects that the caller protects. */
SEXP r_list(int count, const char *const *names, const SEXP *values);

SEXP r_text(const char *text); /* NA if text is NULL */
SEXP r_flag(int value);
SEXP r_number(double value);

/* A view of a fit or a model as a list. */
SEXP r_result(const roofs_result *view);

/* The model of a fit, as an R object. */
SEXP r_model_from(roofs_estimator *e);

/* Entry points of R: each returns an R object and takes R objects. */
SEXP r_version(void);
SEXP r_methods(void);
SEXP r_settings(void);
SEXP r_create(SEXP settings, SEXP y, SEXP features, SEXP callback);
SEXP r_batch(SEXP fit);
SEXP r_consume(SEXP fit, SEXP x, SEXP names, SEXP from, SEXP count);
SEXP r_wants_pass(SEXP fit);
SEXP r_next_pass(SEXP fit);
SEXP r_finish(SEXP fit);
SEXP r_view(SEXP fit);
SEXP r_model(SEXP fit);
SEXP r_model_is_open(SEXP model);
SEXP r_model_read(SEXP path);
SEXP r_model_write(SEXP model, SEXP path);
SEXP r_model_view(SEXP model);
SEXP r_model_setting(SEXP model, SEXP name);
SEXP r_predict(SEXP model, SEXP x, SEXP names, SEXP level);

#endif
