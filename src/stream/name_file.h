/* Names of features from a text file, one per line. */
#ifndef STREAM_NAME_FILE_H
#define STREAM_NAME_FILE_H

#include "table/names.h"

roofs_status name_file_read(const char *path, names *list, roofs_error *err);

#endif
