/* Decides whether the first row of a text table holds names or numbers. A row of numbers with a
 * damaged field must not become a header, because its values would be lost. */
#ifndef STREAM_FIRST_ROW_H
#define STREAM_FIRST_ROW_H

#include "stream/rows.h"
#include "stream/source.h"

/* Features are columns: sets *named if the current row, the first one, holds their names. */
roofs_status first_row_is_header(rows *r, header_choice choice, int *named, roofs_error *err);

/* True if a row of these names, all in quotes, before rows of numbers is read as a header. */
int header_is_clear(const names *list);

/* Features are rows: sets *skip if the current row holds names of samples. */
roofs_status first_row_names_samples(const rows *r, header_choice choice, int *skip,
                                     roofs_error *err);

/* Features are rows: sets *named if the rows begin with a name, as the current one. */
roofs_status first_field_is_name(const rows *r, header_choice choice, int *named, roofs_error *err);

/* Features are rows with names: refuses a number in place of the name of the current row. */
roofs_status first_field_stays_name(const rows *r, header_choice choice, roofs_error *err);

#endif
