/* The sections of a saved fit, behind the head of the file and sections of the caller. */
#ifndef API_CHECKPOINT_H
#define API_CHECKPOINT_H

#include "base/section.h"

/* The names of the sections: settings and responses, the state, the values of one column each, the
 * end. A rank also saves which samples it holds (before all others) and, behind the first two
 * sections, which of their bytes belong to these samples (see archive_mark). */
#define CHECKPOINT_BEGIN "begin"
#define CHECKPOINT_STATE "state"
#define CHECKPOINT_COLUMN "column"
#define CHECKPOINT_END "end"
#define CHECKPOINT_SHARD "part"
#define CHECKPOINT_MARKS "marks"

/* `a` holds the first section that belongs to the fit. `ranks` may be NULL. */
roofs_status checkpoint_load(roofs_estimator **out, archive *a, const section_source *from,
                             const roofs_settings *run, const roofs_comm *ranks, roofs_error *err);

/* Whether a section is the first that belongs to the fit. */
int checkpoint_begins(const char *section);

#endif
