/* Completion scripts, from the same tables as --help. */
#include "cli/help.h"

#include <string.h>

static int takes_path(const option_row *row, const char *kind)
{
    return row->kind == OPTION_TEXT && strcmp(row->value, kind) == 0;
}

/* ---- bash -------------------------------------------------------------- */

static void bash_words(FILE *file, const option_list *list)
{
    for (int64_t k = 0; k < list->count; k++) {
        if (list->rows[k].letter)
            fprintf(file, "-%c ", list->rows[k].letter);
        fprintf(file, "--%s%s", list->rows[k].name, k + 1 < list->count ? " " : "");
    }
}

/* One case for each option with a value: the words that may follow it. */
static void bash_values(FILE *file, const option_list *list, const char *verb_name)
{
    char words[400];
    for (int64_t k = 0; k < list->count; k++) {
        const option_row *row = &list->rows[k];
        if (!option_takes_value(row))
            continue;
        fprintf(file, "        %s:--%s", verb_name, row->name);
        if (row->letter)
            fprintf(file, "|%s:-%c", verb_name, row->letter);
        fputs(") ", file);
        option_words(row, " ", words, sizeof words);
        if (words[0])
            fprintf(file, "mapfile -t COMPREPLY < <(compgen -W \"%s\" -- \"$word\"); ", words);
        else if (takes_path(row, "FILE") || takes_path(row, "DIR"))
            fprintf(file, "mapfile -t COMPREPLY < <(compgen -%c -- \"$word\"); ",
                    takes_path(row, "DIR") ? 'd' : 'f');
        fputs("return ;;\n", file);
    }
}

void completion_bash(FILE *file)
{
    option_list list;
    fputs("# bash completion for roofs; made by 'roofs help --completion bash'\n"
          "_roofs()\n{\n"
          "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}\n"
          "    local verb=${COMP_WORDS[1]} options= verbs=\"",
          file);
    for (int64_t k = 0; verb_at(k); k++)
        fprintf(file, "%s%s", k ? " " : "", verb_at(k)->name);
    fputs("\"\n"
          "    COMPREPLY=()\n"
          "    if ((COMP_CWORD == 1)); then\n"
          "        mapfile -t COMPREPLY < <(compgen -W \"--help --version $verbs\" -- \"$word\")\n"
          "        return\n    fi\n    case $verb:$before in\n",
          file);
    for (int64_t k = 0; verb_at(k); k++) {
        options_of(verb_at(k), &list);
        bash_values(file, &list, verb_at(k)->name);
    }
    fputs("    esac\n    case $verb in\n", file);
    for (int64_t k = 0; verb_at(k); k++) {
        options_of(verb_at(k), &list);
        fprintf(file, "        %s) options=\"", verb_at(k)->name);
        bash_words(file, &list);
        fputs("\" ;;\n", file);
    }
    fputs("    esac\n"
          "    if [[ $word == -* ]]; then\n"
          "        mapfile -t COMPREPLY < <(compgen -W \"$options\" -- \"$word\")\n"
          "    elif [[ $verb == help ]]; then\n"
          "        mapfile -t COMPREPLY < <(compgen -W \"$verbs\" -- \"$word\")\n"
          "    else\n"
          "        mapfile -t COMPREPLY < <(compgen -f -- \"$word\")\n"
          "    fi\n}\n"
          "complete -o filenames -F _roofs roofs\n",
          file);
}

/* ---- zsh --------------------------------------------------------------- */

/* Replaces the characters that '...[help]' cannot hold by blanks. */
static void zsh_text(FILE *file, const char *text)
{
    for (; *text; text++)
        fputc(strchr("'[]:\\`$", *text) ? ' ' : *text, file);
}

static void zsh_value(FILE *file, const option_row *row)
{
    char words[400];
    option_words(row, " ", words, sizeof words);
    fprintf(file, ":%s:", row->value);
    if (words[0])
        fprintf(file, "(%s)", words);
    else if (takes_path(row, "DIR"))
        fputs("_files -/", file);
    else if (takes_path(row, "FILE"))
        fputs("_files", file);
}

static void zsh_option(FILE *file, const option_row *row)
{
    const char letter[2] = {(char)row->letter, '\0'};
    for (int is_long = row->letter ? 0 : 1; is_long < 2; is_long++) {
        fprintf(file, " \\\n                '%s%s[", is_long ? "--" : "-",
                is_long ? row->name : letter);
        zsh_text(file, row->help);
        fputc(']', file);
        if (option_takes_value(row))
            zsh_value(file, row);
        fputc('\'', file);
    }
}

void completion_zsh(FILE *file)
{
    option_list list;
    fputs("#compdef roofs\n# zsh completion for roofs; made by 'roofs help --completion zsh'\n"
          "_roofs()\n{\n    local -a verbs\n    verbs=(",
          file);
    for (int64_t k = 0; verb_at(k); k++) {
        fprintf(file, "\n        '%s:", verb_at(k)->name);
        zsh_text(file, verb_at(k)->summary);
        fputc('\'', file);
    }
    fputs("\n    )\n"
          "    if ((CURRENT == 2)); then\n"
          "        _describe verb verbs\n        return\n    fi\n"
          "    local verb=${words[2]}\n    shift words\n    ((CURRENT--))\n    case $verb in\n",
          file);
    for (int64_t k = 0; verb_at(k); k++) {
        options_of(verb_at(k), &list);
        fprintf(file, "        %s)\n            _arguments", verb_at(k)->name);
        for (int64_t o = 0; o < list.count; o++)
            zsh_option(file, &list.rows[o]);
        fputs(verb_at(k) == &help_verb ? " \\\n                '*:verb:_describe verb verbs' ;;\n"
                                       : " \\\n                '*:file:_files' ;;\n",
              file);
    }
    fputs("    esac\n}\n"
          "if [[ $funcstack[1] == _roofs ]]; then\n    _roofs \"$@\"\nelse\n"
          "    compdef _roofs roofs\nfi\n",
          file);
}

/* ---- fish -------------------------------------------------------------- */

/* Quotes for fish: in single quotes only ' and the backslash are special. */
static void fish_text(FILE *file, const char *text)
{
    fputc('\'', file);
    for (; *text; text++)
        fprintf(file, strchr("'\\", *text) ? "\\%c" : "%c", *text);
    fputc('\'', file);
}

static void fish_option(FILE *file, const char *verb_name, const option_row *row)
{
    char words[400];
    fprintf(file, "complete -c roofs -n '__fish_seen_subcommand_from %s' -l %s", verb_name,
            row->name);
    if (row->letter)
        fprintf(file, " -s %c", row->letter);
    if (option_takes_value(row)) {
        option_words(row, " ", words, sizeof words);
        if (words[0])
            fprintf(file, " -x -a '%s'", words);
        else if (takes_path(row, "DIR"))
            fputs(" -x -a '(__fish_complete_directories)'", file);
        else
            fputs(takes_path(row, "FILE") ? " -r -F" : " -x", file);
    }
    fputs(" -d ", file);
    fish_text(file, row->help);
    fputc('\n', file);
}

void completion_fish(FILE *file)
{
    option_list list;
    fputs("# fish completion for roofs; made by 'roofs help --completion fish'\n", file);
    for (int64_t k = 0; verb_at(k); k++) {
        fprintf(file, "complete -c roofs -f -n __fish_use_subcommand -a %s -d ", verb_at(k)->name);
        fish_text(file, verb_at(k)->summary);
        fputc('\n', file);
    }
    fputs("complete -c roofs -f -n '__fish_seen_subcommand_from help' -a '", file);
    for (int64_t k = 0; verb_at(k); k++)
        fprintf(file, "%s%s", k ? " " : "", verb_at(k)->name);
    fputs("'\n", file);
    for (int64_t k = 0; verb_at(k); k++) {
        options_of(verb_at(k), &list);
        for (int64_t o = 0; o < list.count; o++)
            fish_option(file, verb_at(k)->name, &list.rows[o]);
    }
}
