/* The methods, for callers. */
#include "base/sized.h"
#include "method/method.h"

#include <string.h>

int roofs_method_describe_sized(int64_t k, roofs_method_info *out, size_t size)
{
    static const sized_type type = {"roofs_method_info", sizeof *out, sizeof *out};
    const method *m = method_at(k);
    if (!m || !out)
        return 0;
    const roofs_method_info info = {
        .name = m->name,
        .summary = m->summary,
        .splits = m->splits,
        .gpu = m->has_engines,
        .reserve = m->has_reserve,
        .joint = m->has_joint,
        .probability = m->has_probability,
        .reads_again = m->reads_again,
    };
    sized_export(&type, out, size, &info);
    return 1;
}

int64_t roofs_method_find(const char *name)
{
    const method *m;
    for (int64_t k = 0; name && (m = method_at(k)) != NULL; k++)
        if (strcmp(m->name, name) == 0)
            return k;
    return -1;
}

const char *roofs_method_name(int64_t k)
{
    const method *m = method_at(k);
    return m ? m->name : NULL;
}

const char *roofs_method_summary(int64_t k)
{
    const method *m = method_at(k);
    return m ? m->summary : NULL;
}
