/* The manual page in roff, from the same tables as --help. */
#include "cli/help.h"
#include "stream/format.h"

#include <string.h>

/* Prints text and escapes the characters that roff interprets. An empty line begins a paragraph. */
static void put_roff(FILE *file, const char *text)
{
    for (int start = 1; *text; start = *text == '\n', text++) {
        if (start && (*text == '.' || *text == '\''))
            fputs("\\&", file);
        if (*text == '\n' && text[1] == '\n')
            fputs("\n.PP", file);
        else if (*text == '\\')
            fputs("\\e", file);
        else if (*text == '-')
            fputs("\\-", file);
        else
            fputc(*text, file);
    }
}

static void put_option(FILE *file, const option_row *row)
{
    char limits[400];
    help_limits(row, limits, sizeof limits);
    fputs(".TP\n", file);
    if (row->letter)
        fprintf(file, "\\fB\\-%c\\fR, ", row->letter);
    fputs("\\fB\\-\\-", file);
    put_roff(file, row->name);
    fputs("\\fR", file);
    if (option_takes_value(row))
        fprintf(file, " \\fI%s\\fR", row->value);
    fputc('\n', file);
    put_roff(file, row->help);
    fputc(' ', file);
    put_roff(file, limits);
    fputc('\n', file);
}

static void put_examples(FILE *file, const verb *v)
{
    for (const example *e = v->examples; e->what; e++) {
        fputs(".PP\n", file);
        put_roff(file, e->what);
        fputs(":\n.PP\n.RS 4\n.nf\n", file);
        put_roff(file, e->line);
        fputs("\n.fi\n.RE\n", file);
    }
}

static void put_verb(FILE *file, const verb *v)
{
    option_list list;
    options_of(v, &list);
    fprintf(file, ".SS roofs %s ", v->name);
    put_roff(file, v->usage);
    fputs("\n", file);
    put_roff(file, v->summary);
    fputs(".\n", file);
    if (v->about) {
        fputs(".PP\n", file);
        put_roff(file, v->about);
        fputc('\n', file);
    }
    for (int64_t k = 0; k < list.count; k++)
        put_option(file, &list.rows[k]);
}

static void put_methods(FILE *file)
{
    fputs(".SH METHODS\n", file);
    for (int64_t k = 0; roofs_method_name(k); k++) {
        fputs(".TP\n\\fB", file);
        put_roff(file, roofs_method_name(k));
        fputs("\\fR\n", file);
        put_roff(file, roofs_method_summary(k));
        fputc('\n', file);
    }
}

/* One line per registered format: its name and its endings. */
static void put_formats(FILE *file)
{
    fputs(".SH FORMATS\nFiles with these endings hold features, plain or compressed (.gz, .xz):\n",
          file);
    for (int64_t k = 0; format_name(k); k++) {
        fprintf(file, ".TP\n.B %s\n", format_name(k));
        for (const char *const *ending = format_endings(k); *ending; ending++)
            fprintf(file, "\\&%s ", *ending);
        fputc('\n', file);
    }
}

static const char format_notes[] =
    ".PP\n"
    "In text tables a column is a feature, and the header gives the names. In arrays the axis\n"
    "with the length of y is that of the samples; a square array needs\n"
    ".BR \\-\\-orient .\n"
    "Several files are one stream. A single\n"
    ".B \\-\n"
    "is standard input. Text files use a decimal point in every locale.\n"
    ".PP\n"
    "A model is a JSON object: format, version, library, method, n, features_seen,\n"
    "intercept, features (index, name, coef), outliers (numbers of the samples that are\n"
    "not trusted, from 0), settings, history, stop. Coefficients are in the units of the\n"
    "data. Output files appear whole or not at all.\n"
    ".PP\n"
    "Sizes of memory may have a unit: K, M, G, T and KiB, MiB, ... are powers of 1024,\n"
    "KB, MB, ... are powers of 1000.\n";

static const char exit_status[] =
    ".SH EXIT STATUS\n"
    ".TP\n.B 0\nsuccess\n"
    ".TP\n.B 1\nfailure: an output cannot be written, or memory is exhausted\n"
    ".TP\n.B 2\nusage error: an option is unknown, missing or out of its range\n"
    ".TP\n.B 3\nbad input: a file is missing, damaged or does not fit the others\n"
    ".TP\n.B 5\nthe fit needs more memory than \\fB\\-\\-max\\-memory\\fR allows\n"
    ".TP\n.B 130\ninterrupted (143 after SIGTERM, 129 after SIGHUP); no incomplete file is left\n"
    ".SH ENVIRONMENT\n"
    ".TP\n.B NO_COLOR\nif it is set, no colours are used\n"
    ".TP\n.B LC_ALL, LC_CTYPE, LANG\n"
    "if the first that is set names UTF\\-8, drawings use its characters\n";

void man_page(FILE *file)
{
    fprintf(file,
            ".TH ROOFS 1 \"\" \"roofs %s\" \"User Commands\"\n"
            ".SH NAME\nroofs \\- robust regression on features that arrive as a stream\n"
            ".SH SYNOPSIS\n.B roofs\n.I VERB\n.RI [ options ]\n.SH DESCRIPTION\n"
            "The samples are fixed; features arrive in blocks; part of the responses may be\n"
            "corrupted.\n.B roofs\nkeeps at most mu features, their coefficients and the set of\n"
            "samples that can be trusted, in bounded memory. Results are printed on standard\n"
            "output, messages and progress on standard error.\n.SH VERBS\n",
            roofs_version());
    for (int64_t k = 0; verb_at(k); k++)
        put_verb(file, verb_at(k));
    put_methods(file);
    put_formats(file);
    fputs(format_notes, file);
    fputs(exit_status, file);
    fputs(".SH EXAMPLES\n", file);
    for (int64_t k = 0; verb_at(k); k++)
        put_examples(file, verb_at(k));
}
