/* Help, the man page and shell completion, from the tables of the verbs. */
#ifndef CLI_HELP_H
#define CLI_HELP_H

#include "cli/verbs.h"

#include <stdio.h>

void help_overview(FILE *file);
void help_verb_text(const verb *v, FILE *file);

/* Prints that `typed` is no verb, with a suggestion; returns the code to exit with. */
int help_unknown_verb(const char *typed);

/* "(required; 1 to 10)", "(at least 1; default 100)"; may be empty. */
void help_limits(const option_row *row, char *text, size_t size);

void man_page(FILE *file);
void completion_bash(FILE *file);
void completion_zsh(FILE *file);
void completion_fish(FILE *file);

#endif
