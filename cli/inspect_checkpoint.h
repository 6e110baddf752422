/* What `roofs inspect` says of a checkpoint. */
#ifndef CLI_INSPECT_CHECKPOINT_H
#define CLI_INSPECT_CHECKPOINT_H

int inspect_checkpoint(const char *path, int json); /* the code to exit with */

#endif
