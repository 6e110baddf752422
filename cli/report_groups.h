/* The section of a report about credible groups. */
#ifndef CLI_REPORT_GROUPS_H
#define CLI_REPORT_GROUPS_H

#include "stream/variants.h"

#include <stdio.h>

/* Nothing if groups were not searched for. */
void report_put_groups(FILE *page, const roofs_result *m, const variant_list *variants);

#endif
