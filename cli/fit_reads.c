#include "cli/fit_reads.h"

#include "cli/print.h"

#include <stdio.h>

/* Whether the end of the fit reads the files once more. */
static int reads_for_groups(const roofs_settings *set, const fit_session *s)
{
    roofs_method_info method = {0};
    const int64_t features = source_features(s->source);
    const int keeps_all = features > 0 && features <= roofs_features_held(set);
    roofs_method_describe(roofs_method_find(set->method), &method);
    return method.probability && set->groups == ROOFS_GROUPS_EXACT && !keeps_all;
}

/* Prints how often the fit reads the files, and why. Returns the most times. */
static int64_t explain_passes(const roofs_settings *set, const fit_session *s)
{
    const int64_t features = source_features(s->source);
    roofs_method_info method = {0};
    roofs_method_describe(roofs_method_find(set->method), &method);
    if (set->passes > 0)
        printf("\nThe fit reads the features %s time%s (--passes).\n",
               text_of_count(set->passes).text, set->passes == 1 ? "" : "s");
    else if (!method.reads_again)
        printf("\nThe fit reads the features once: --passes auto does not repeat method %s.\n",
               set->method);
    else if (!fit_session_can_reread(s))
        printf("\nThe fit reads the features once: a pipe cannot be read again.\n");
    else if (features > 0 && features <= roofs_features_held(set))
        printf("\nThe fit reads the features once: it keeps all of them.\n");
    else {
        printf("\nThe fit reads the features up to %d times, until the selection stands still "
               "(--passes auto).\n",
               ROOFS_AUTO_PASSES);
        return ROOFS_AUTO_PASSES;
    }
    return set->passes > 0 ? set->passes : 1;
}

static void explain_orders(const roofs_settings *set, int64_t orders, int64_t passes)
{
    const int64_t reads = orders * passes;
    if (orders < 2)
        return;
    printf("--orders makes %s fits, one after the other in the same memory: %s%s reads in all.\n",
           text_of_count(orders).text, set->passes == 0 && passes > 1 ? "up to " : "",
           text_of_count(reads).text);
}

void fit_explain_reads(const roofs_settings *set, const fit_session *s, int64_t orders, int cv)
{
    const int64_t passes = explain_passes(set, s), further = reads_for_groups(set, s);
    if (further)
        printf("It reads them once more to complete the groups (--groups exact).\n");
    explain_orders(set, orders, passes + further);
    if (cv)
        printf("--intervals cv then makes five fits side by side, in five times the memory of the "
               "fit:\nup to %s further reads.\n",
               text_of_count(passes + 1).text);
}
