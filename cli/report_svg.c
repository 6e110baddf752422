#include "cli/report_svg.h"

#include "cli/report_page.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static int svg_begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* "rgb(  0,   0,   4)" is colour 4. Returns the text after it; NULL if it is not a colour. */
static const char *put_colour(const char *text, FILE *page)
{
    int blue = 0, length = 0;
    sscanf(text, "rgb( 0, 0, %3d )%n", &blue, &length);
    const char *name = length > 0 ? plot_colour_name(blue) : NULL;
    if (!name)
        return NULL;
    fprintf(page, "var(--%s)", name);
    return text + length;
}

/* "@12" is name 12. */
static const char *put_name(const plot *p, const char *text, FILE *page)
{
    if (!p->name || !isdigit((unsigned char)text[1]))
        return NULL;
    char *end;
    p->name(page, p->user, strtoll(text + 1, &end, 10));
    return end;
}

/* Removes the font: the page sets its own. */
static const char *skip_font(const char *text)
{
    static const char font[] = "font-family=\"Arial\" ";
    return svg_begins(text, font) ? text + strlen(font) : NULL;
}

static void copy_line(const plot *p, const char *text, FILE *page)
{
    while (*text) {
        const char *next = NULL;
        if (*text == 'r')
            next = put_colour(text, page);
        else if (*text == '@')
            next = put_name(p, text, page);
        else if (*text == 'f')
            next = skip_font(text);
        if (next)
            text = next;
        else
            fputc(*text++, page);
    }
}

/* Lines that the page does not need; browsers would show titles as tooltips. */
static int svg_is_needless(const char *line)
{
    return svg_begins(line, "<?xml") || svg_begins(line, "<title>") || svg_begins(line, "<desc>") ||
           svg_begins(line, " xmlns") || *line == '\n';
}

static void put_opening(FILE *page, const char *label)
{
    fputs("<svg role=\"img\" aria-label=\"", page);
    page_text(page, label);
    fputs("\"\n", page);
}

/* True inside <defs>, including its last line. */
static int in_marks(const char *line, int *inside)
{
    if (svg_begins(line, "<defs>"))
        *inside = 1;
    int was = *inside;
    if (svg_begins(line, "</defs>"))
        *inside = 0;
    return was;
}

/* Holds the opening of a group back until the group has content: gnuplot writes many empty groups.
 */
static void copy_body_line(const plot *p, const char *line, char **held, FILE *page)
{
    int opens = svg_begins(line, "<g fill=\"none\"");
    if (*held && svg_begins(line, "</g>")) {
        free(*held);
        *held = NULL;
        return;
    }
    if (*held)
        copy_line(p, *held, page);
    free(*held);
    *held = opens ? strdup(line) : NULL;
    if (*held)
        return;
    if (svg_begins(line, "<g id=") || svg_begins(line, "\t<g id="))
        fputs("<g>\n", page);
    else
        copy_line(p, line, page);
}

roofs_status svg_copy(const plot *p, FILE *svg, FILE *page, const char *label, roofs_error *err)
{
    char *line = NULL, *held = NULL;
    size_t size = 0;
    int opened = 0, closed = 0, marks = 0;
    while (getline(&line, &size, svg) > 0) {
        if (svg_is_needless(line) || in_marks(line, &marks))
            continue;
        if (svg_begins(line, "<svg")) {
            put_opening(page, label);
            opened = 1;
        } else if (opened) {
            copy_body_line(p, line, &held, page);
        }
        closed |= svg_begins(line, "</svg>");
    }
    free(line);
    free(held);
    return opened && closed ? ROOFS_OK : fail(err, ROOFS_FAILED, "gnuplot wrote no complete SVG");
}
