/* The elements of a report page: head, style, script, escaped text, figures and tables. Callers
 * write other HTML, and the closing tags, themselves. */
#ifndef CLI_REPORT_PAGE_H
#define CLI_REPORT_PAGE_H

#include <stdint.h>
#include <stdio.h>

void page_begin(FILE *page, const char *title);
void page_end(FILE *page);

/* UTF-8 text from input files, such as names: escapes HTML and replaces control characters. */
void page_text(FILE *page, const char *text);

/* The same, shortened to `columns` characters with an ellipsis. */
void page_text_short(FILE *page, const char *text, int64_t columns);

/* In characters, not bytes. */
int64_t page_text_length(const char *text);

/* Opens <section> and writes its heading. */
void page_section(FILE *page, const char *title);

/* The meaning of a colour in the plots. */
typedef struct page_key {
    const char *colour; /* a name of report_plot.c */
    const char *words;
} page_key;

/* Opens <span> for a key of this colour. */
void page_key_begin(FILE *page, const char *colour, int dashed);

/* Opens <figure> and writes its title, its caption (HTML) and the keys of its colours (ended by a
 * row of NULLs, or NULL). plot_end closes it. */
void page_figure(FILE *page, const char *title, const page_key *keys, const char *caption, ...)
    __attribute__((format(printf, 4, 5)));

/* A table that sorts by a click on a heading. Headings of numbers begin with '#'. A '-' before that
 * hides the column on a phone; its cells need the class "spare". The last heading is NULL. */
void page_table(FILE *page, const char *const *headings);
void page_table_end(FILE *page);

/* Opens <details>, which is folded until a click. The summary is HTML. */
void page_folded(FILE *page, const char *summary, ...) __attribute__((format(printf, 2, 3)));

#endif
