#include "cli/help.h"

#include "cli/print.h"
#include "cli/suggest.h"

#include <string.h>

enum { HELP_COLUMN = 28, HELP_WIDEST = 100 };

/* ---- options ----------------------------------------------------------- */

static void append_limit(char *text, size_t size, const char *piece)
{
    size_t used = strlen(text);
    snprintf(text + used, size - used, "%s%s", used ? "; " : "(", piece);
}

void help_limits(const option_row *row, char *text, size_t size)
{
    char piece[300];
    text[0] = '\0';
    if (row->required)
        append_limit(text, size, "required");
    option_words(row, ", ", piece, sizeof piece);
    if (piece[0])
        append_limit(text, size, piece);
    option_range(row, piece, sizeof piece);
    if (piece[0])
        append_limit(text, size, piece);
    if (row->standard && row->standard[0]) {
        snprintf(piece, sizeof piece, "default %s", row->standard);
        append_limit(text, size, piece);
    }
    size_t used = strlen(text);
    if (used)
        snprintf(text + used, size - used, ")");
}

static int help_width(FILE *file)
{
    int width = terminal_width(file);
    return width < HELP_WIDEST ? width : HELP_WIDEST;
}

static void print_option(const option_row *row, FILE *file)
{
    char limits[400], text[800], left[80] = "    ";
    help_limits(row, limits, sizeof limits);
    snprintf(text, sizeof text, "%s%s%s", row->help, limits[0] ? " " : "", limits);
    if (row->letter)
        snprintf(left, sizeof left, "-%c, ", row->letter);
    size_t used = strlen(left);
    snprintf(left + used, sizeof left - used, "--%s%s%s", row->name,
             option_takes_value(row) ? " " : "", option_takes_value(row) ? row->value : "");
    int columns = fprintf(file, "  %s", left);
    if (columns > HELP_COLUMN - 2)
        columns = fprintf(file, "\n") - 1;
    fprintf(file, "%*s", HELP_COLUMN - columns, "");
    print_wrapped(file, text, help_width(file), HELP_COLUMN, HELP_COLUMN);
}

/* ---- whole texts ------------------------------------------------------- */

void help_verb_text(const verb *v, FILE *file)
{
    option_list list;
    options_of(v, &list);
    fprintf(file, "roofs %s - %s\n\nExamples:\n", v->name, v->summary);
    for (const example *e = v->examples; e->what; e++)
        fprintf(file, "  # %s\n  %s\n", e->what, e->line);
    fprintf(file, "\nUsage:\n  roofs %s %s\n", v->name, v->usage);
    if (v->about) {
        fputc('\n', file);
        print_wrapped(file, v->about, help_width(file), 0, 0);
    }
    fprintf(file, "\nOptions:\n");
    for (int64_t k = 0; k < list.count; k++)
        print_option(&list.rows[k], file);
    if (v->settings == SETTINGS_ALL)
        fputs("\nMethods:\n", file);
    for (int64_t k = 0; v->settings == SETTINGS_ALL && roofs_method_name(k); k++) {
        int columns = fprintf(file, "  %s", roofs_method_name(k));
        fprintf(file, "%*s", HELP_COLUMN - columns, "");
        print_wrapped(file, roofs_method_summary(k), help_width(file), HELP_COLUMN, HELP_COLUMN);
    }
}

void help_overview(FILE *file)
{
    fprintf(file,
            "roofs %s - robust regression on features that arrive as a stream\n\n"
            "Example:\n"
            "  roofs simulate --n 1000 --p 2000 --mu 50 --corruption 0.2 -o data\n"
            "  roofs fit --y data/y.npy --mu 50 data/X.npy -o model.json\n"
            "  roofs inspect model.json\n"
            "  roofs evaluate model.json data\n\n"
            "Usage:\n  roofs VERB [options]\n\nVerbs:\n",
            roofs_version());
    for (int64_t k = 0; verb_at(k); k++)
        fprintf(file, "  %-10s %s\n", verb_at(k)->name, verb_at(k)->summary);
    fprintf(file, "\nSee 'roofs VERB --help' for a verb and 'roofs help --man' for the manual.\n");
}

/* ---- the verb ---------------------------------------------------------- */

typedef struct help_args {
    int man;
    int64_t shell;
} help_args;

static const option_row help_rows[] = {
    {FLAG(help_args, man, "man"), .help = "print the manual page (roff, for man)"},
    {WORDS(help_args, shell, "completion", "SHELL", "bash", "zsh", "fish"),
     .help = "print a completion script for a shell"},
    {0},
};

static const example help_examples[] = {
    {"the options of one verb", "roofs help fit"},
    {"read the manual", "roofs help --man | man -l -"},
    {"complete verbs and options in this shell", "source <(roofs help --completion bash)"},
    {0},
};

int help_unknown_verb(const char *typed)
{
    suggestion near = {.typed = typed};
    for (int64_t k = 0; verb_at(k); k++)
        suggest_offer(&near, verb_at(k)->name);
    return usage_error(NULL, "unknown verb '%s'%s", typed, suggest_hint(&near, "").text);
}

static int print_topic(const char *topic)
{
    const verb *v = verb_find(topic);
    if (!v)
        return help_unknown_verb(topic);
    help_verb_text(v, stdout);
    return EXIT_FINE;
}

static int help_main(int argc, char **argv)
{
    help_args args = {.shell = -1};
    operands rest;
    int code = options_parse(&help_verb, &args, argc, argv, &rest);
    if (code != OPTIONS_FINE)
        return code;
    if (rest.count > 1)
        return usage_error("help", "give one verb, not %lld", (long long)rest.count);
    if (args.man)
        man_page(stdout);
    else if (args.shell == 0)
        completion_bash(stdout);
    else if (args.shell == 1)
        completion_zsh(stdout);
    else if (args.shell == 2)
        completion_fish(stdout);
    else if (rest.count == 1)
        return print_topic(rest.values[0]);
    else
        help_overview(stdout);
    return EXIT_FINE;
}

const verb help_verb = {
    .name = "help",
    .summary = "explain a verb, print the manual or a completion script",
    .usage = "[VERB] [--man] [--completion bash|zsh|fish]",
    .examples = help_examples,
    .rows = help_rows,
    .main = help_main,
};
