// What a file of a stochastic program is turned into: entries, names, random variables in independent groups, and the
// numbers of a scenario as formulas in those variables.
#ifndef CAROM_SRC_SCENE_SAA_TABLES_H
#define CAROM_SRC_SCENE_SAA_TABLES_H

#include "base/formula.h"
#include "carom/saa_file.h"
#include "scene/pool.h"

typedef enum carom_saa_kind {
  CAROM_SAA_DISCRETE,
  CAROM_SAA_UNIFORM,      // from a to b
  CAROM_SAA_NORMAL,       // mean a, standard deviation b
  CAROM_SAA_LOGNORMAL,    // of the logarithm
  CAROM_SAA_EXPONENTIAL,  // mean a
} carom_saa_kind;

// Variables first, first + 1, ..., drawn together and independently of other groups.
typedef struct carom_saa_group {
  carom_saa_kind kind;
  double a, b;
  int first, width;           // width is 1 unless discrete
  int count;                  // of realisations
  const double *values;       // (count x width)
  const double *probability;  // (count), of sum 1
  double *cumulative;         // (count)
  const char *const *names;   // (count); null: told by their values
} carom_saa_group;

enum { CAROM_SAA_MOST_VARIABLES = 4096 };

struct carom_saa_tables {
  carom_pool pool;
  carom_saa_group *groups;  // (group_count)
  int group_count, group_capacity;
  int variable_count, variable_capacity;
  const char **variables;        // (variable_count) names; null where they have none
  const carom_formula **random;  // (problem.random_count) in the variables
  int random_capacity;
  carom_saa_entry *entries;
  int entry_capacity;
  const char **files;
  int file_capacity;
};

carom_saa_file *carom_saa_file_new(const char *format, const carom_allocator *allocator);
bool carom_saa_note_file(carom_saa_file *file, const char *path);
// All false when out of memory, which the pool remembers.
bool carom_saa_add_entry(carom_saa_file *file, carom_saa_entry entry);
// The number of a new random number, -1 when out of memory.
int carom_saa_add_random(carom_saa_file *file, const carom_formula_step *steps, int count);
carom_saa_group *carom_saa_add_group(carom_saa_file *file, carom_saa_group group);
// The number of a new variable.
int carom_saa_add_variable(carom_saa_file *file, const char *name);
// Means of all variables, for the sizes of random numbers.
void carom_saa_means(const carom_saa_file *file, double *means);
// Once all is there.
bool carom_saa_file_finish(carom_saa_file *file);

#endif
