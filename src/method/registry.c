#include "method/method.h"

#include <string.h>

extern const method method_roofs, method_roofs_bayes, method_os, method_grafting, method_torrent,
    method_rlhh, method_homotopy, method_dalm;

static const method *const methods[] = {
    &method_roofs,   &method_roofs_bayes, &method_os,       &method_grafting,
    &method_torrent, &method_rlhh,        &method_homotopy, &method_dalm,
};

const method *method_at(int64_t k)
{
    int64_t count = (int64_t)(sizeof methods / sizeof methods[0]);
    return k >= 0 && k < count ? methods[k] : NULL;
}

const method *method_named(const char *name)
{
    const method *m;
    for (int64_t k = 0; (m = method_at(k)) != NULL; k++)
        if (strcmp(m->name, name) == 0)
            return m;
    return NULL;
}
