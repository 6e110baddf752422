/* Help for people at the terminal, the man page, shell completion: all from the
 * verbs' tables. */
#ifndef CLI_HELP_H
#define CLI_HELP_H

#include "cli/verbs.h"

#include <stdio.h>

void help_overview(FILE *file);
void help_verb_text(const verb *v, FILE *file);

/* "(required, 1 to 10)", "(default 100, at least 1)" and the like; may be empty. */
void help_limits(const option_row *row, char *text, size_t size);

void man_page(FILE *file);
void completion_bash(FILE *file);
void completion_zsh(FILE *file);

#endif
