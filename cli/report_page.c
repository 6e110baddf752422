#include "cli/report_page.h"

#include "base/escape.h"
#include "cli/embedded.h"

#include <stdarg.h>
#include <string.h>

/* ---- the skeleton ------------------------------------------------------ */

/* The policy forbids the browser to load other files. */
static const char HEAD[] =
    "<!DOCTYPE html>\n"
    "<html lang=\"en\">\n"
    "<head>\n"
    "<meta charset=\"utf-8\">\n"
    "<meta http-equiv=\"Content-Security-Policy\"\n"
    " content=\"default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n"
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
    "<meta name=\"color-scheme\" content=\"light dark\">\n"
    "<meta name=\"generator\" content=\"roofs " ROOFS_VERSION "\">\n";

/* The point symbol of gnuplot, defined once for all plots. */
static const char MARKS[] = "<svg class=\"marks\" aria-hidden=\"true\"><defs>"
                            "<circle id=\"gpPt6\" r=\"1\" fill=\"currentColor\" stroke=\"none\"/>"
                            "</defs></svg>\n";

void page_begin(FILE *page, const char *title)
{
    fputs(HEAD, page);
    fputs("<title>", page);
    page_text(page, title);
    fputs("</title>\n<style>\n", page);
    fputs(embedded_text("report.css"), page);
    fputs("</style>\n</head>\n<body>\n", page);
    fputs(MARKS, page);
    fputs("<main>\n", page);
}

void page_end(FILE *page)
{
    fputs("<footer>Made by roofs " ROOFS_VERSION ". This page loads no other files."
          "</footer>\n</main>\n",
          page);
    fprintf(page, "<script>\n%s</script>\n</body>\n</html>\n", embedded_text("report.js"));
}

/* ---- text -------------------------------------------------------------- */

static int utf8_continues(char c)
{
    return ((unsigned char)c & 0xC0) == 0x80;
}

int64_t page_text_length(const char *text)
{
    int64_t columns = 0;
    for (; *text; text++)
        columns += !utf8_continues(*text);
    return columns;
}

/* The text that replaces a character in HTML; NULL if the character may stay. */
static const char *html_escape(char c)
{
    switch (c) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    case '\'':
        return "&#39;";
    default:
        return NULL;
    }
}

/* Writes the next character of *text; one that base/escape.h escapes becomes U+FFFD. */
static void page_put_next(FILE *page, const char **text)
{
    char safe[ESCAPE_MOST + 1];
    const char *from = *text;
    const size_t length = escape_next(text, safe);
    const int same = length == (size_t)(*text - from) && memcmp(safe, from, length) == 0;
    if (!same)
        fputs("\xEF\xBF\xBD", page);
    else if (html_escape(*from))
        fputs(html_escape(*from), page);
    else
        fwrite(from, 1, length, page);
}

void page_text(FILE *page, const char *text)
{
    while (*text)
        page_put_next(page, &text);
}

void page_text_short(FILE *page, const char *text, int64_t columns)
{
    int cut = page_text_length(text) > columns;
    for (int64_t left = columns - cut; *text && left > 0; left--)
        page_put_next(page, &text);
    if (cut)
        fputs("\xE2\x80\xA6", page);
}

/* ---- elements ------------------------------------------------------------- */

void page_section(FILE *page, const char *title)
{
    fprintf(page, "<section>\n<h2>%s</h2>\n", title);
}

void page_key_begin(FILE *page, const char *colour, int dashed)
{
    fprintf(page, "<span%s style=\"--key:var(--%s)\">", dashed ? " class=\"dashed\"" : "", colour);
}

void page_figure(FILE *page, const char *title, const page_key *keys, const char *caption, ...)
{
    va_list list;
    va_start(list, caption);
    fprintf(page, "<figure>\n<figcaption><h3>%s</h3><p>", title);
    vfprintf(page, caption, list);
    fputs("</p>", page);
    va_end(list);
    if (keys)
        fputs("<p class=\"keys\">", page);
    for (const page_key *k = keys; k && k->words; k++) {
        page_key_begin(page, k->colour, 0);
        fprintf(page, "%s</span> ", k->words);
    }
    fputs(keys ? "</p></figcaption>\n" : "</figcaption>\n", page);
}

static void page_put_heading(FILE *page, const char *text)
{
    int spare = text[0] == '-', number = text[spare] == '#';
    fprintf(page, "<th class=\"%s%s\" scope=\"col\"><button>%s</button></th>", number ? "n" : "",
            spare ? " spare" : "", text + spare + number);
}

void page_table(FILE *page, const char *const *headings)
{
    fputs("<div class=\"scroll\"><table>\n<thead><tr>", page);
    for (; *headings; headings++)
        page_put_heading(page, *headings);
    fputs("</tr></thead>\n<tbody>\n", page);
}

void page_table_end(FILE *page)
{
    fputs("</tbody>\n</table></div>\n", page);
}

void page_folded(FILE *page, const char *summary, ...)
{
    va_list list;
    va_start(list, summary);
    fputs("<details>\n<summary>", page);
    vfprintf(page, summary, list);
    fputs("</summary>\n", page);
    va_end(list);
}
