// Lines of tables of comma-separated values, in the caller's memory. Fields may stand in quotation marks, but have no
// commas in them.
#ifndef CAROM_SRC_BASE_CSV_H
#define CAROM_SRC_BASE_CSV_H

#include <stdbool.h>
#include <string.h>

static inline char *carom_csv_trim(char *text) {
  while (*text == ' ' || *text == '"' || *text == '\t') text++;
  for (char *end = text + strlen(text); end > text && strchr(" \"\t\r\n", end[-1]);) *--end = 0;
  return text;
}

// Lines that tell nothing: empty ones and comments.
static inline bool carom_csv_is_idle(char *line) { return !*carom_csv_trim(line) || line[0] == '#'; }

// Cuts a line into its fields; returns how many.
static inline int carom_csv_split(char *line, char **fields, int most) {
  int count = 0;
  for (char *at = line; at && count < most;) {
    char *comma = strchr(at, ',');
    if (comma) *comma = 0;
    fields[count++] = carom_csv_trim(at);
    at = comma ? comma + 1 : NULL;
  }
  return count;
}

// Which field of a header is this column, "x (m)" being x; -1: none.
static inline int carom_csv_column(char *const *fields, int count, const char *name) {
  for (int i = count - 1; i >= 0; i--) {
    size_t length = strcspn(fields[i], " (");
    if (strlen(name) == length && strncmp(fields[i], name, length) == 0) return i;
  }
  return -1;
}

#endif
