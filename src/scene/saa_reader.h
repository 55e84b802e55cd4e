// The inside of the reader of stochastic programs in YAML. It borrows the scene reader's machinery, as that of plans
// does.
#ifndef CAROM_SRC_SCENE_SAA_READER_H
#define CAROM_SRC_SCENE_SAA_READER_H

#include "scene/problem.h"
#include "scene/reader.h"
#include "scene/saa_poly.h"
#include "scene/saa_tables.h"

enum { CAROM_SAA_MOST_KEYS = 16, CAROM_SAA_MOST_UNKNOWNS = 100000 };

// "for: {k: [0, 9]}": what stands in braces is evaluated for every k.
typedef struct carom_saa_loop {
  const char *name;  // null: once
  int from, to, at;
} carom_saa_loop;

typedef struct carom_saa_reader {
  carom_reader r;
  carom_saa_file *file;
  carom_names unknowns;   // of both stages, to their numbers: x, then y
  carom_names variables;  // random ones, to theirs
  const char **unknown_names;
  int unknown_count, unknown_capacity;
  const char **row_names[3];  // of first-stage rows, expectations, rows of scenarios
  int row_capacity[3];
  carom_names rows;
  double *means;  // of variables
  carom_saa_loop loop;
} carom_saa_reader;

bool carom_saa_has_errors(const carom_saa_reader *p);
// Whether a name may be given: letters, digits, '_', no meaning of its own, and not given yet.
bool carom_saa_check_name(carom_saa_reader *p, const carom_node *node, const char *name, const char *what);
// Text with its braces evaluated, in the pool; the text itself where there are none, null after a report.
const char *carom_saa_expand(carom_saa_reader *p, const carom_node *node, const char *text);
// A loop from its node, which may be null: then it runs once.
bool carom_saa_read_loop(carom_saa_reader *p, const carom_node *node, carom_saa_loop *loop);

// saa_random.c: random variables and scenarios
void carom_saa_read_random(carom_saa_reader *p, const carom_node *map);
void carom_saa_read_scenarios(carom_saa_reader *p, const carom_node *node);
// saa_rows.c: bounds, costs and rows
void carom_saa_read_unknowns(carom_saa_reader *p, const carom_node *map, bool second);
void carom_saa_read_costs(carom_saa_reader *p, const carom_node *node);
void carom_saa_read_rows(carom_saa_reader *p, const carom_node *map, bool means);

#endif
