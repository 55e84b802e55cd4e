// The inside of the reader of SMPS.
#ifndef CAROM_SRC_SCENE_SMPS_READER_H
#define CAROM_SRC_SCENE_SMPS_READER_H

#include "base/names.h"
#include "scene/diagnostics.h"
#include "scene/saa_tables.h"

enum { CAROM_SMPS_WORDS = 8 };

// A file line by line. A line that begins in its first column names a section; all others are data.
typedef struct carom_smps_lines {
  const char *path;
  char *rest;  // what is not read yet
  bool fixed;  // names by columns, which may have spaces
  int line;
  bool section;
  char *words[CAROM_SMPS_WORDS];
  int columns[CAROM_SMPS_WORDS];
  int count;
} carom_smps_lines;

typedef struct carom_smps_row {
  const char *name;
  char type;  // N, L, G, E
  double side, range;
  bool ranged;
  int random;  // first of the locations in it; -1: none
  int at;      // in the problem
} carom_smps_row;

typedef struct carom_smps_column {
  const char *name;
  double low, high;
  bool low_given;
} carom_smps_column;

typedef struct carom_smps_element {
  int row, column;
  double value;
} carom_smps_element;

// A number of the core that is random: at (row, column), or the side of the row where column is -1.
typedef struct carom_smps_location {
  int row, column, variable, next;
  double core;
} carom_smps_location;

typedef struct carom_smps {
  carom_pool pool;  // until the file is read
  carom_reporter reporter;
  carom_saa_file *file;
  carom_smps_lines lines;
  carom_names row_names, column_names;
  carom_smps_row *rows;
  carom_smps_column *columns;
  carom_smps_element *elements, *squares;
  carom_smps_location *locations;
  int row_count, row_capacity, column_count, column_capacity, element_count, element_capacity, square_count,
      square_capacity, location_count, location_capacity;
  int objective;          // -1: none yet
  const char *side_name;  // of the RHS section; null: none
  const char *range_name, *bound_name;
  double constant;
  int second_row, second_column;  // where the second stage begins
  const char *periods[2];
} carom_smps;

// smps_lines.c
bool carom_smps_next(carom_smps *s);  // false at the end
// An error at a word of the line, or at the line with -1. Always false.
bool carom_smps_wrong(carom_smps *s, int word, const char *hint, const char *format, ...) CAROM_PRINTF(4, 5);
bool carom_smps_number(carom_smps *s, int word, double *value);
// The row or column that a word names; -1 after a report with the nearest name.
int carom_smps_row_of(carom_smps *s, int word);
int carom_smps_column_of(carom_smps *s, int word);
bool carom_smps_is(const carom_smps *s, int word, const char *text);  // whatever its case

// Each reads its file, which is in s->lines.
bool carom_smps_read_core(carom_smps *s);
bool carom_smps_read_time(carom_smps *s);
bool carom_smps_read_stoch(carom_smps *s);

#endif
