/* The frame of a report page: head, style, script, text and tables. The callers write the
 * content. */
#ifndef CLI_REPORT_PAGE_H
#define CLI_REPORT_PAGE_H

#include <stdint.h>
#include <stdio.h>

void page_begin(FILE *page, const char *title);
void page_end(FILE *page);

/* Text from outside, such as names, in UTF-8: escapes HTML and replaces control characters. */
void page_text(FILE *page, const char *text);

/* The same, shortened to `columns` characters with an ellipsis. */
void page_text_short(FILE *page, const char *text, int64_t columns);

/* In characters, not bytes. */
int64_t page_text_length(const char *text);

/* A section with its heading, open until page_section_end. */
void page_section(FILE *page, const char *title);
void page_section_end(FILE *page);

/* Figures are side by side if the page is wide enough. */
void page_figures(FILE *page);
void page_figures_end(FILE *page);

/* The meaning of a colour in the plots. */
typedef struct page_key {
    const char *colour; /* blue, soft, orange, plum */
    const char *words;
} page_key;

/* A figure with title, caption (HTML) and the keys of its colours (ended by a row
 * of NULLs, or NULL). The plot follows. */
void page_figure(FILE *page, const char *title, const page_key *keys, const char *caption, ...)
    __attribute__((format(printf, 4, 5)));
void page_figure_end(FILE *page);

/* A table that sorts by a click on a heading. Headings of numbers begin with '#'; a '-' before it
 * hides the column on a phone (give its cells the class "spare"). The last heading is NULL. */
void page_table(FILE *page, const char *const *headings);
void page_table_end(FILE *page);

/* A section that is folded until a click. The summary is HTML. */
void page_folded(FILE *page, const char *summary, ...) __attribute__((format(printf, 2, 3)));
void page_folded_end(FILE *page);

#endif
