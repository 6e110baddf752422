/* What .bed files have beyond the contract of a format. */
#ifndef STREAM_BED_H
#define STREAM_BED_H

#include "stream/format.h"

/* For each variant of an open .bed file that `wanted` names: its name, place, alleles and mean, as
 * variant_to_json writes it, is appended to `out`. Does nothing with other files. */
roofs_status bed_describe(reader *r, const levels *wanted, json_t *out, roofs_error *err);

#endif
