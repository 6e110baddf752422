/* The sections of a saved fit. They follow the head of the file and the sections of the caller. */
#ifndef API_CHECKPOINT_H
#define API_CHECKPOINT_H

#include "base/section.h"

/* The names of the sections, in the order of the file. A fit whose samples are split over ranks
 * also has SHARD first, and MARKS after BEGIN and after STATE. */
#define CHECKPOINT_SHARD "part"    /* the samples of this rank */
#define CHECKPOINT_BEGIN "begin"   /* settings and responses */
#define CHECKPOINT_STATE "state"   /* the state without the values of columns */
#define CHECKPOINT_COLUMN "column" /* the values of one column; once per column */
                                   /* STATE and COLUMN again for each further hypothesis */
#define CHECKPOINT_END "end"       /* empty */
#define CHECKPOINT_MARKS                                                                           \
    "marks" /* the items of the section before that belong to samples, see                         \
             * archive_mark */

/* Loads a fit. `a` holds the section BEGIN; the others are read from `from`. `ranks` may be NULL.
 * On failure *out is NULL. */
roofs_status checkpoint_load(roofs_estimator **out, archive *a, const section_source *from,
                             const roofs_settings *run, const roofs_comm *ranks, roofs_error *err);

/* True if `section` is BEGIN. */
int checkpoint_begins(const char *section);

#endif
