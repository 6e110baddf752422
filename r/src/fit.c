/* A running fit as an R object. */
#include "roofs_r.h"

#include <time.h>

/* The callback and the responses belong to the external pointer, which protects them. */
typedef struct fit {
    roofs_estimator *estimator;
    SEXP callback;    /* a function that returns FALSE after Ctrl-C, or NULL */
    int interrupted;  /* Ctrl-C */
    int failed;       /* the callback has failed */
    double last_call; /* of the callback, in seconds */
} fit;

static void fit_release(SEXP pointer)
{
    fit *f = R_ExternalPtrAddr(pointer);
    if (!f)
        return;
    roofs_destroy(f->estimator);
    R_ClearExternalPtr(pointer);
    R_Free(f);
}

static fit *fit_of(SEXP pointer)
{
    fit *f = TYPEOF(pointer) == EXTPTRSXP ? R_ExternalPtrAddr(pointer) : NULL;
    if (!f || !f->estimator)
        Rf_error("this fit has ended");
    return f;
}

/* ---- the monitor ------------------------------------------------------- */

static void check_interrupt(void *unused)
{
    (void)unused;
    R_CheckUserInterrupt();
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void call_back(fit *f, const roofs_progress *now)
{
    static const char *const names[] = {"batch", "round", "features", "selected", "trusted"};
    const double values[] = {(double)now->batch, (double)now->round, (double)now->features_seen,
                             (double)now->selected, (double)now->trusted};
    SEXP numbers[5];
    for (int k = 0; k < 5; k++)
        numbers[k] = PROTECT(Rf_ScalarReal(values[k]));
    SEXP state = PROTECT(r_list(5, names, numbers));
    SEXP call = PROTECT(Rf_lang2(f->callback, state));
    SEXP answer = R_tryEvalSilent(call, R_GlobalEnv, &f->failed);
    f->interrupted = !f->failed && !Rf_asLogical(answer);
    UNPROTECT(7);
}

/* R jumps over C frames at an interrupt and at an error. The library must return instead. */
static int monitor(void *user, const roofs_progress *now)
{
    enum { CALLS_PER_SECOND = 10 };
    fit *f = user;
    f->interrupted = !R_ToplevelExec(check_interrupt, NULL);
    double time = seconds();
    if (!f->interrupted && f->callback != R_NilValue &&
        time - f->last_call > 1.0 / CALLS_PER_SECOND) {
        f->last_call = time;
        call_back(f, now);
    }
    return f->interrupted || f->failed ? ROOFS_MONITOR_STOP : ROOFS_MONITOR_CONTINUE;
}

/* "done", "interrupt" or "callback"; R signals the last two. Other failures are errors. */
static SEXP outcome(fit *f, roofs_status status, const roofs_error *err)
{
    if (status == ROOFS_CANCELLED)
        return Rf_mkString(f->interrupted ? "interrupt" : "callback");
    r_check(status, err);
    return Rf_mkString("done");
}

/* ---- entry points ------------------------------------------------------ */

static void set_settings(roofs_settings *s, SEXP settings)
{
    SEXP names = Rf_getAttrib(settings, R_NamesSymbol);
    roofs_error err;
    roofs_settings_init(s);
    for (R_xlen_t k = 0; k < XLENGTH(settings); k++) {
        const char *name = Rf_translateCharUTF8(STRING_ELT(names, k));
        r_check(roofs_settings_set(s, name, Rf_translateCharUTF8(STRING_ELT(settings, k)), &err),
                &err);
    }
}

SEXP r_create(SEXP settings, SEXP y, SEXP features, SEXP callback)
{
    roofs_settings s;
    roofs_error err;
    int64_t n = XLENGTH(y);
    set_settings(&s, settings);
    if (Rf_asReal(features) > 0)
        r_check(roofs_settings_resolve(&s, n, n, (int64_t)Rf_asReal(features), &err), &err);
    fit *f = R_Calloc(1, fit);
    f->callback = callback;
    SEXP pointer = PROTECT(R_MakeExternalPtr(f, R_NilValue, callback));
    R_RegisterCFinalizerEx(pointer, fit_release, TRUE);
    r_check(roofs_create(&f->estimator, &s, REAL(y), n, &err), &err);
    roofs_set_monitor(f->estimator, monitor, f);
    UNPROTECT(1);
    return pointer;
}

SEXP r_batch(SEXP pointer)
{
    roofs_description now;
    roofs_describe(fit_of(pointer)->estimator, &now);
    return r_number((double)now.settings->batch);
}

SEXP r_consume(SEXP pointer, SEXP x, SEXP names, SEXP from, SEXP count)
{
    fit *f = fit_of(pointer);
    roofs_error err;
    roofs_block block = r_block(x, names, from, count);
    return outcome(f, roofs_consume(f->estimator, &block, &err), &err);
}

SEXP r_wants_pass(SEXP pointer)
{
    return r_flag(roofs_wants_pass(fit_of(pointer)->estimator));
}

SEXP r_next_pass(SEXP pointer)
{
    fit *f = fit_of(pointer);
    roofs_error err;
    return outcome(f, roofs_next_pass(f->estimator, &err), &err);
}

SEXP r_finish(SEXP pointer)
{
    fit *f = fit_of(pointer);
    roofs_error err;
    return outcome(f, roofs_finish(f->estimator, &err), &err);
}

SEXP r_view(SEXP pointer)
{
    roofs_result view;
    roofs_error err;
    r_check(roofs_view(fit_of(pointer)->estimator, &view, &err), &err);
    return r_result(&view);
}

SEXP r_model(SEXP pointer)
{
    return r_model_from(fit_of(pointer)->estimator);
}
