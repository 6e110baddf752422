/* roofs_save and roofs_load without the head of the file, for callers that write sections of
 * their own before it; roofs_load passes over these. */
#ifndef API_CHECKPOINT_H
#define API_CHECKPOINT_H

#include "base/section.h"

roofs_status checkpoint_save(roofs_estimator *e, const section_sink *to, roofs_error *err);

/* `a` holds the first section that belongs to the fit. */
roofs_status checkpoint_load(roofs_estimator **out, archive *a, const section_source *from,
                             const roofs_settings *run, roofs_error *err);

/* Whether a section is the first that belongs to the fit. */
int checkpoint_begins(const char *section);

#endif
