#include "method/method.h"

#include <stdio.h>
#include <string.h>

extern const method method_roofs, method_roofs_bayes, method_os, method_grafting, method_torrent,
    method_rlhh, method_homotopy, method_dalm;

/* clang-format off */
static const method *const methods[] = {
    &method_roofs,
    &method_roofs_bayes,
    &method_os,
    &method_grafting,
    &method_torrent,
    &method_rlhh,
    &method_homotopy,
    &method_dalm,
};
/* clang-format on */

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

static int has_flag(const method *m, size_t flag)
{
    return *(const int *)(const void *)((const char *)m + flag);
}

roofs_status method_require(const method *m, size_t flag, const char *cannot, roofs_error *err)
{
    char able[400] = "";
    const method *other;
    if (has_flag(m, flag))
        return ROOFS_OK;
    for (int64_t k = 0; (other = method_at(k)) != NULL; k++) {
        size_t used = strlen(able);
        if (has_flag(other, flag))
            snprintf(able + used, sizeof able - used, "%s%s", used ? ", " : "", other->name);
    }
    return fail(err, ROOFS_BAD_SETTING, "method %s cannot %s; these can: %s", m->name, cannot,
                able);
}
