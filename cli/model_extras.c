#include "cli/model_extras.h"

#include "cli/print.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Features of the stream that are forced: the first ones. */
static int64_t always_of(const roofs_model *m)
{
    char number[40];
    const char *value = roofs_model_setting(m, "always", number, sizeof number);
    return value ? strtoll(value, NULL, 10) : 0;
}

static void append_name(model_extras *x, const roofs_feature *f)
{
    enum { NAMED = 6 };
    const size_t used = strlen(x->names), left = sizeof x->names - used;
    if (x->forced > NAMED + 1)
        return;
    if (x->forced > NAMED)
        snprintf(x->names + used, left, ", ...");
    else if (f->name)
        snprintf(x->names + used, left, "%s%.30s", used ? ", " : "", f->name);
    else
        snprintf(x->names + used, left, "%sfeature %" PRId64, used ? ", " : "", f->index);
}

model_extras model_extras_of(const roofs_model *m)
{
    model_extras x = {.offset = roofs_model_offset(m)};
    const int64_t always = always_of(m);
    roofs_result v;
    roofs_model_view(m, &v);
    for (int64_t k = 0; k < v.selected && v.features[k].index < always; k++) {
        x.forced++;
        append_name(&x, &v.features[k]);
    }
    return x;
}

void model_extras_print(const model_extras *x)
{
    if (x->forced > 0) {
        printf("always     %s: ", text_of_count(x->forced).text);
        print_clean(stdout, x->names, (int)sizeof x->names);
        putchar('\n');
    }
    if (x->offset) {
        fputs("offset     subtracted from the response: ", stdout);
        print_clean(stdout, *x->offset ? x->offset : "numbers of a file", 60);
        putchar('\n');
    }
}

void model_extras_to_json(const roofs_model *m, json_t *summary)
{
    const int64_t always = always_of(m);
    const char *offset = roofs_model_offset(m);
    roofs_result v;
    roofs_model_view(m, &v);
    if (always > 0) {
        json_t *list = json_array();
        for (int64_t k = 0; k < v.selected && v.features[k].index < always; k++)
            json_array_append_new(list, json_integer(v.features[k].index));
        json_object_set_new(summary, "always", list);
    }
    if (offset)
        json_object_set_new(summary, "offset", json_string(offset));
}
