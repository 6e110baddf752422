/* The tables of the library, and the list of entry points. */
#include "roofs_r.h"

#include <R_ext/Rdynload.h>
#include <R_ext/Visibility.h>

SEXP r_version(void)
{
    return r_text(roofs_version());
}

SEXP r_methods(void)
{
    static const char *const names[] = {"method", "summary"};
    R_xlen_t count = 0;
    while (roofs_method_name(count))
        count++;
    SEXP columns[] = {PROTECT(Rf_allocVector(STRSXP, count)),
                      PROTECT(Rf_allocVector(STRSXP, count))};
    for (R_xlen_t k = 0; k < count; k++) {
        SET_STRING_ELT(columns[0], k, Rf_mkCharCE(roofs_method_name(k), CE_UTF8));
        SET_STRING_ELT(columns[1], k, Rf_mkCharCE(roofs_method_summary(k), CE_UTF8));
    }
    SEXP out = r_list(2, names, columns);
    UNPROTECT(2);
    return out;
}

SEXP r_settings(void)
{
    static const char *const names[] = {"setting", "default", "kind", "help"};
    static const char *const kinds[] = {"whole number", "number", "flag", "word", "word"};
    roofs_setting_info info;
    R_xlen_t count = 0;
    while (roofs_setting_describe(count, &info))
        count++;
    SEXP columns[4];
    for (int j = 0; j < 4; j++)
        columns[j] = PROTECT(Rf_allocVector(STRSXP, count));
    for (R_xlen_t k = 0; k < count; k++) {
        roofs_setting_describe(k, &info);
        const char *const row[] = {info.name, info.default_text, kinds[info.kind], info.help};
        for (int j = 0; j < 4; j++)
            SET_STRING_ELT(columns[j], k, Rf_mkCharCE(row[j], CE_UTF8));
    }
    SEXP out = r_list(4, names, columns);
    UNPROTECT(4);
    return out;
}

static const R_CallMethodDef entries[] = {
    {"r_version", (DL_FUNC)&r_version, 0},       {"r_methods", (DL_FUNC)&r_methods, 0},
    {"r_settings", (DL_FUNC)&r_settings, 0},     {"r_create", (DL_FUNC)&r_create, 4},
    {"r_batch", (DL_FUNC)&r_batch, 1},           {"r_consume", (DL_FUNC)&r_consume, 5},
    {"r_wants_pass", (DL_FUNC)&r_wants_pass, 1}, {"r_next_pass", (DL_FUNC)&r_next_pass, 1},
    {"r_finish", (DL_FUNC)&r_finish, 1},         {"r_view", (DL_FUNC)&r_view, 1},
    {"r_model", (DL_FUNC)&r_model, 1},           {"r_model_is_open", (DL_FUNC)&r_model_is_open, 1},
    {"r_model_read", (DL_FUNC)&r_model_read, 1}, {"r_model_write", (DL_FUNC)&r_model_write, 2},
    {"r_model_view", (DL_FUNC)&r_model_view, 1}, {"r_model_setting", (DL_FUNC)&r_model_setting, 2},
    {"r_predict", (DL_FUNC)&r_predict, 4},       {NULL, NULL, 0},
};

void attribute_visible R_init_roofs(DllInfo *library)
{
    R_registerRoutines(library, NULL, entries, NULL, NULL);
    R_useDynamicSymbols(library, FALSE);
    R_forceSymbols(library, TRUE);
}
