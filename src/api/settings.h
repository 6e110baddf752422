/* The settings table, for the rest of the api. */
#ifndef API_SETTINGS_H
#define API_SETTINGS_H

#include "base/archive.h"

#include <jansson.h>

/* Copies the caller's settings into *own and checks them. Texts of *own are constants. */
roofs_status settings_take(const roofs_settings *given, roofs_settings *own, roofs_error *err);

/* Changes how a loaded fit runs: takes over every EXECUTION setting of `run` (which may be NULL)
 * that is not ROOFS_AS_SAVED. */
roofs_status settings_override(roofs_settings *own, const roofs_settings *run, roofs_error *err);

/* What a model records: every setting that can change the result. NULL if memory ran out. */
json_t *settings_to_json(const roofs_settings *s);

/* All settings, by name. Those that a checkpoint does not have get their defaults. */
void settings_transfer(roofs_settings *s, archive *a);

#endif
