/* `roofs inspect` for a checkpoint. */
#ifndef CLI_INSPECT_CHECKPOINT_H
#define CLI_INSPECT_CHECKPOINT_H

int inspect_checkpoint(const char *path, int json); /* returns the code to exit with */

#endif
