// Pages made of a template (.html, with style and tools that they share) and of numbers, as one JSON object in it.
#ifndef CAROM_SRC_CLI_PAGE_DATA_H
#define CAROM_SRC_CLI_PAGE_DATA_H

#include "cli/cli.h"

// Writes the template of that name up to its data; returns what comes after them.
const char *cli_page_until_data(cli_page *page, const char *template);
int cli_page_after_data(cli_page *page, const char *rest, const char *path);  // and the file; an exit code

// Members of the data. Texts cannot end the script element that they stand in.
void cli_page_text(FILE *out, const char *text);
void cli_page_member(FILE *out, const char *name, const char *text);              // with a comma
void cli_page_names(FILE *out, const char *name, char *const *texts, int count);  // a list, with a comma
void cli_page_number(FILE *out, double value);                                    // null for none, "inf", "-inf"
void cli_page_finite(FILE *out, double value);                                    // null for all that is not finite

#endif
