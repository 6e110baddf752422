/* Numbers as people write them. */
#ifndef TABLE_WRITTEN_H
#define TABLE_WRITTEN_H

#include "table/fields.h"

/* Reads 1,234.5 if there may be signs between thousands, 1,5 if the comma is decimal, and 1.234,5
 * if both. */
number_kind written_number(field f, int thousands, int decimal_comma, double *value);

#endif
