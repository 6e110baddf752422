/* Import, override and storage of settings. */
#ifndef API_SETTINGS_H
#define API_SETTINGS_H

#include "base/archive.h"
#include "base/comm.h"

#include <jansson.h>

/* Copies the caller's settings into *own and checks them. Texts of *own are constants. */
roofs_status settings_import(const roofs_settings *given, roofs_settings *own, roofs_error *err);

/* Copies the EXECUTION settings of `run` to *own, except those that are ROOFS_AS_SAVED. `run` may
 * be NULL. */
roofs_status settings_override(roofs_settings *own, const roofs_settings *run, roofs_error *err);

/* BAD_SETTING on all ranks unless the settings of scope MODEL are the same on all ranks. */
roofs_status settings_agree(const roofs_settings *s, comm *c, roofs_error *err);

/* The settings of scope MODEL, for the model file. NULL if there is no memory. */
json_t *settings_to_json(const roofs_settings *s);

/* Transfers all settings by name. Settings that are missing in a checkpoint get their defaults. */
void settings_transfer(roofs_settings *s, archive *a);

#endif
