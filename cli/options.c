#include "cli/options.h"

#include "cli/help.h"
#include "cli/print.h"
#include "cli/suggest.h"
#include "cli/verbs.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int option_takes_value(const option_row *row)
{
    return row->kind != OPTION_FLAG && row->kind != OPTION_SETTING_ON &&
           row->kind != OPTION_SETTING_OFF;
}

const char *option_word(const option_row *row, int64_t c)
{
    if (row->words)
        return row->words[c];
    if (row->choice)
        return row->choice(c);
    return row->setting ? roofs_setting_choice(roofs_setting_find(row->setting), c) : NULL;
}

void option_words(const option_row *row, const char *between, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (int64_t c = 0; option_word(row, c) && used < size; c++)
        used += (size_t)snprintf(text + used, size - used, "%s%s", c ? between : "",
                                 option_word(row, c));
}

const char *device_word(int64_t c)
{
    return roofs_setting_choice(roofs_setting_find("device"), c);
}

/* ---- rows of the settings table ---------------------------------------- */

static option_kind setting_kind(const roofs_setting_info *info)
{
    if (info->kind != ROOFS_SETTING_FLAG)
        return OPTION_SETTING;
    return strcmp(info->default_text, "1") == 0 ? OPTION_SETTING_OFF : OPTION_SETTING_ON;
}

static const char *setting_value(const roofs_setting_info *info)
{
    return setting_is_memory(info->name)      ? "SIZE"
           : info->kind == ROOFS_SETTING_INT  ? "N"
           : info->kind == ROOFS_SETTING_REAL ? "X"
                                              : "NAME";
}

static void append_setting(option_list *list, const roofs_setting_info *info, size_t at)
{
    option_row *row = &list->rows[list->count];
    char *name = list->names[list->count], *help = list->helps[list->count++];
    int numeric = info->kind == ROOFS_SETTING_INT || info->kind == ROOFS_SETTING_REAL;
    *row = (option_row){
        .name = name, .kind = setting_kind(info), .at = at, .value = setting_value(info)};
    snprintf(name, OPTION_NAME_MOST, "%s%s", row->kind == OPTION_SETTING_OFF ? "no-" : "",
             info->name);
    for (char *c = name; *c; c++)
        if (*c == '_')
            *c = '-';
    row->standard = info->kind == ROOFS_SETTING_FLAG ? NULL : info->default_text;
    row->low = numeric ? info->low : 0;
    row->high = numeric ? info->high : 0;
    row->setting = info->name;
    row->help = info->help;
    if (strcmp(info->name, "mu") == 0) { /* a word of the program, not of the library */
        snprintf(help, OPTION_HELP_MOST, "%s; auto: by cross-validation", info->help);
        row->help = help;
    }
    if (row->kind == OPTION_SETTING_OFF) {
        snprintf(help, OPTION_HELP_MOST, "do not %s", info->help);
        row->help = help;
    }
}

/* The default is the value that was saved. */
static void append_saved_setting(option_list *list, const roofs_setting_info *info, size_t at)
{
    char *help = list->helps[list->count];
    append_setting(list, info, at);
    snprintf(help, OPTION_HELP_MOST, "%s; without it, as in the fit", info->help);
    list->rows[list->count - 1].help = help;
    list->rows[list->count - 1].standard = NULL;
}

/* `at`: offset of the struct of these rows in the arguments of the verb. */
static void append_rows(option_list *list, const option_row *rows, size_t at)
{
    for (const option_row *row = rows; row->name || row->group; row++) {
        if (row->group) {
            append_rows(list, row->group, at + row->at);
            continue;
        }
        list->rows[list->count] = *row;
        list->rows[list->count++].at += at;
    }
}

/* A verb may have an option of its own in the place of a setting. */
static int is_replaced(const option_list *list, int64_t own, const char *setting)
{
    for (int64_t k = 0; k < own; k++)
        if (strcmp(list->rows[k].name, setting) == 0)
            return 1;
    return 0;
}

void options_of(const verb *v, option_list *list)
{
    list->count = 0;
    append_rows(list, v->rows, 0);
    const int64_t own = list->count;
    roofs_setting_info info;
    for (int64_t k = 0; v->settings != SETTINGS_NONE && roofs_setting_describe(k, &info); k++)
        if (is_replaced(list, own, info.name))
            continue;
        else if (v->settings == SETTINGS_ALL)
            append_setting(list, &info, v->settings_at);
        else if (!info.in_model)
            append_saved_setting(list, &info, v->settings_at);
    list->rows[list->count++] = (option_row){
        .name = "help", .letter = 'h', .kind = OPTION_FLAG, .help = "print this help and exit"};
}

/* ---- parsing ----------------------------------------------------------- */

enum { LONG_ONLY = 256 }; /* getopt returns LONG_ONLY + k for row k if it has no letter */

typedef struct parser {
    const verb *verb;
    void *args;
    option_list list;
    struct option longs[OPTION_MOST + 1];
    char shorts[2 * OPTION_MOST + 2];
    unsigned char given[OPTION_MOST];
} parser;

static void fill_getopt(parser *p)
{
    char *to = p->shorts;
    *to++ = ':'; /* makes getopt return ':' for a missing value */
    for (int64_t k = 0; k < p->list.count; k++) {
        const option_row *row = &p->list.rows[k];
        int value = option_takes_value(row);
        p->longs[k] =
            (struct option){row->name, value, NULL, row->letter ? row->letter : LONG_ONLY + (int)k};
        if (row->letter) {
            *to++ = (char)row->letter;
            if (value)
                *to++ = ':';
        }
    }
    *to = '\0';
    p->longs[p->list.count] = (struct option){0};
}

static int64_t find_row(const parser *p, int code)
{
    if (code >= LONG_ONLY)
        return code - LONG_ONLY;
    for (int64_t k = 0; k < p->list.count; k++)
        if (p->list.rows[k].letter == code)
            return k;
    return -1;
}

/* Writes the options that start with `typed`, "--max-iter, --max-memory"; returns their number. */
static int list_matches(const parser *p, const char *typed, char *text, size_t size)
{
    int count = 0;
    text[0] = '\0';
    for (int64_t k = 0; k < p->list.count; k++) {
        if (strncmp(p->list.rows[k].name, typed, strlen(typed)) != 0)
            continue;
        size_t used = strlen(text);
        snprintf(text + used, size - used, "%s--%s", count++ ? ", " : "", p->list.rows[k].name);
    }
    return count;
}

static int refuse_unknown(const parser *p, const char *word)
{
    char typed[OPTION_NAME_MOST], several[400];
    snprintf(typed, sizeof typed, "%.*s", (int)strcspn(word + 2, "="), word + 2);
    if (list_matches(p, typed, several, sizeof several) > 1)
        return usage_error(p->verb->name, "--%s is ambiguous: it could be %s", typed, several);
    suggestion near = {.typed = typed};
    for (int64_t k = 0; k < p->list.count; k++)
        suggest_offer(&near, p->list.rows[k].name);
    return usage_error(p->verb->name, "unknown option '--%s'%s", typed,
                       suggest_hint(&near, "--").text);
}

static int refuse_option(const parser *p, int code, const char *word)
{
    if (code == ':')
        return usage_error(p->verb->name, "%s needs a value", word);
    int64_t k = optopt ? find_row(p, optopt) : -1;
    if (k >= 0)
        return usage_error(p->verb->name, "--%s takes no value", p->list.rows[k].name);
    if (optopt)
        return usage_error(p->verb->name, "unknown option '-%c'", optopt);
    return refuse_unknown(p, word);
}

static int store_defaults(parser *p)
{
    roofs_error err;
    for (int64_t k = 0; k < p->list.count; k++) {
        const option_row *row = &p->list.rows[k];
        if (!row->setting && row->standard && option_store(row, p->args, row->standard, &err))
            return usage_error(p->verb->name, "%s", err.text);
    }
    roofs_settings *settings = (roofs_settings *)(void *)((char *)p->args + p->verb->settings_at);
    if (p->verb->settings == SETTINGS_ALL)
        roofs_settings_init(settings);
    if (p->verb->settings == SETTINGS_EXECUTION)
        roofs_settings_as_saved(settings);
    return OPTIONS_FINE;
}

static int store_given(parser *p, int argc, char **argv)
{
    roofs_error err;
    int code;
    while ((code = getopt_long(argc, argv, p->shorts, p->longs, NULL)) != -1) {
        if (code == ':' || code == '?')
            return refuse_option(p, code, argv[optind - 1]);
        int64_t k = find_row(p, code);
        if (k == p->list.count - 1) {
            help_verb_text(p->verb, stdout);
            return EXIT_FINE;
        }
        if (option_store(&p->list.rows[k], p->args, optarg, &err))
            return usage_error(p->verb->name, "%s", err.text);
        p->given[k] = 1;
    }
    return OPTIONS_FINE;
}

static int check_required(const parser *p)
{
    for (int64_t k = 0; k < p->list.count; k++) {
        const option_row *row = &p->list.rows[k];
        char letter[2] = {(char)row->letter, '\0'};
        if (row->required && !p->given[k])
            return usage_error(p->verb->name, "%s%s %s is required: %s", row->letter ? "-" : "--",
                               row->letter ? letter : row->name, row->value, row->help);
    }
    return OPTIONS_FINE;
}

int options_parse(const verb *v, void *args, int argc, char **argv, operands *rest)
{
    parser p = {.verb = v, .args = args};
    options_of(v, &p.list);
    fill_getopt(&p);
    opterr = 0;
    optind = 1;
    int code = store_defaults(&p);
    if (code == OPTIONS_FINE)
        code = store_given(&p, argc, argv);
    if (code == OPTIONS_FINE)
        code = check_required(&p);
    *rest = (operands){(const char *const *)(argv + optind), argc - optind};
    return code;
}
