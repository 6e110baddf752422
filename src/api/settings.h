/* The settings table, for the rest of the api. */
#ifndef API_SETTINGS_H
#define API_SETTINGS_H

#include "base/archive.h"

#include <jansson.h>

/* What a model records: every setting that can change the result. NULL where
 * memory ran out. */
json_t *settings_to_json(const roofs_settings *s);

/* All of them, by name: those a checkpoint does not know have their defaults. Loaded texts
 * are views into the archive. */
void settings_transfer(roofs_settings *s, archive *a);

#endif
