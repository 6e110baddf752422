/* The settings table, for the rest of the api. */
#ifndef API_SETTINGS_H
#define API_SETTINGS_H

#include "base/status.h"

#include <jansson.h>

/* What a model records: every setting that can change the result. NULL where
 * memory ran out. */
json_t *settings_to_json(const roofs_settings *s);

#endif
