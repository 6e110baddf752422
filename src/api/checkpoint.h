/* roofs_save and roofs_load without the head of the file, for callers that write sections of
 * their own before it; roofs_load passes over these. */
#ifndef API_CHECKPOINT_H
#define API_CHECKPOINT_H

#include "base/section.h"

roofs_status checkpoint_save(roofs_estimator *e, const section_sink *to, roofs_error *err);

/* The names of the sections: settings and responses, the state, the values of one column each, the
 * end. Of a part of the samples also which it is (before all others) and, behind the first two,
 * where they are of these samples (see archive_mark). */
#define CHECKPOINT_BEGIN "begin"
#define CHECKPOINT_STATE "state"
#define CHECKPOINT_COLUMN "column"
#define CHECKPOINT_END "end"
#define CHECKPOINT_PART "part"
#define CHECKPOINT_MARKS "marks"

/* `a` holds the first section that belongs to the fit. `ranks` may be NULL. */
roofs_status checkpoint_load(roofs_estimator **out, archive *a, const section_source *from,
                             const roofs_settings *run, const roofs_comm *ranks, roofs_error *err);

/* Whether a section is the first that belongs to the fit. */
int checkpoint_begins(const char *section);

#endif
