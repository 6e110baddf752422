/* Files that CMake writes into the program: experiments/ and cli/assets/. */
#ifndef CLI_EMBEDDED_H
#define CLI_EMBEDDED_H

typedef struct embedded_file {
    const char *name, *text;
} embedded_file;

extern const embedded_file embedded_files[]; /* the last row is {NULL, NULL} */

/* The text of the file `name`, given without its folder. NULL if it is not embedded. */
const char *embedded_text(const char *name);

#endif
