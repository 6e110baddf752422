#include "cli/verbs.h"

#include <signal.h>
#include <string.h>

static const verb *const all[] = {
    &simulate_verb, &fit_verb,    &resume_verb,    &evaluate_verb, &predict_verb, &convert_verb,
    &inspect_verb,  &report_verb, &reproduce_verb, &bench_verb,    &help_verb,
};

const verb *verb_at(int64_t k)
{
    return k < (int64_t)(sizeof all / sizeof *all) ? all[k] : NULL;
}

const verb *verb_find(const char *name)
{
    for (int64_t k = 0; verb_at(k); k++)
        if (strcmp(verb_at(k)->name, name) == 0)
            return verb_at(k);
    return NULL;
}

int exit_after(roofs_status status)
{
    switch (status) {
    case ROOFS_OK:
        return EXIT_FINE;
    case ROOFS_BAD_SETTING:
        return EXIT_USAGE;
    case ROOFS_BAD_DATA:
        return EXIT_DATA;
    case ROOFS_OVER_LIMIT:
        return EXIT_MEMORY;
    case ROOFS_CANCELLED:
        return EXIT_SIGNAL + SIGINT;
    case ROOFS_FAILED:
    case ROOFS_NO_MEMORY:
    case ROOFS_IO:
    case ROOFS_BAD_CALL:
        break;
    }
    return EXIT_FAILED;
}

int exit_after_input(roofs_status status)
{
    return status == ROOFS_IO ? EXIT_DATA : exit_after(status);
}
