// The inside of a search: samples in the unit cube, what is allowed, and the surrogate of what was told.
#ifndef CAROM_SRC_SOLVE_SURROGATE_H
#define CAROM_SRC_SOLVE_SURROGATE_H

#include "carom/lcp.h"
#include "carom/surrogate.h"

enum { CAROM_SEARCH_DIM = CAROM_KRIGING_MOST_VARIABLES };

typedef enum carom_sample_state { CAROM_SAMPLE_ASKED, CAROM_SAMPLE_GOOD, CAROM_SAMPLE_FAILED } carom_sample_state;

// What is searched, scaled: variables u in [0, 1], and half-spaces in v, which is u but for logarithmic variables.
typedef struct carom_region {
  int d, count;
  double low[CAROM_SEARCH_DIM], high[CAROM_SEARCH_DIM];
  bool logarithmic[CAROM_SEARCH_DIM];
  double *rows, *most;  // (count x d), (count): rows v <= most, rows of length 1

  // The linear complementarity problem of the nearest point that is allowed; scratch.
  int pairs;
  double *M, *q, *z, *w;
  carom_lcp_work *work;
} carom_region;

struct carom_search {
  carom_search_def def;  // its pointers are not kept
  carom_region region;
  double *x, *u;  // (room x d) as told, and scaled
  double *value;
  carom_sample_state *state;
  int count, room, asked;
  double *starts;  // (start_count x d) scaled
  int start_count, started;
  bool golden;  // the first of them are golden sections

  carom_kriging *kriging;
  int fitted;             // samples and lies that it goes through; 0: too few
  bool fresh;             // it goes through all that was told
  double knee, tail;      // values above the knee are drawn in: knee + tail ln(1 + (value - knee)/tail)
  double shift, unit;     // values are shift + unit x those of the surrogate
  double *fit_u, *fit_y;  // (room x d), (room) good ones, then lies
  double *knot_x, *knot_y, *second, *work;  // (room), (2 room): a spline in one variable
  int knots;

  double reference;    // the value to be improved, as the surrogate's
  double best_before;  // the least value when it was asked for the round before
  carom_search_end ending;
  carom_allocator allocator;
};

// ---- surrogate_region.c ----
double carom_region_to_unit(const carom_region *region, int i, double x);
double carom_region_from_unit(const carom_region *region, int i, double u);
carom_status carom_region_prepare(carom_region *region, const carom_allocator *allocator, carom_error *error);
void carom_region_release(carom_region *region, const carom_allocator *allocator);
// Moves u to the nearest point that is allowed (nearest in v); false where there is none.
bool carom_region_project(const carom_region *region, double *u);
bool carom_region_allows(const carom_region *region, const double *u, double slack);

// ---- surrogate_model.c ----
// Fits kriging to what was told, and then puts in lies for what was asked; fitted = 0 where there are too few values.
carom_status carom_search_model(carom_search *search);
// Values as kriging sees them, and back.
double carom_search_to_surrogate(const carom_search *search, double value);
double carom_search_from_surrogate(const carom_search *search, double y);
// In one variable: a spline through all good samples, if there are two.
bool carom_search_spline(carom_search *search);
// How likely it is that a point does not fail, from those that did: 1 where none has.
double carom_search_chance(const carom_search *search, const double *u);

// ---- surrogate_propose.c ----
// Something to be made as small as it gets.
typedef double carom_merit(carom_search *search, const double *u);
// The best of many points, and from there downhill.
double carom_search_minimise(carom_search *search, carom_merit *merit, double *u);
// The next point, scaled, and what it is for; false: none is worth it.
bool carom_search_propose(carom_search *search, double *u);
void carom_search_spread_starts(carom_search *search);  // the points to begin with, where the caller has none
double carom_search_apart(const carom_search *search, const double *u);  // from the nearest sample, largest component
double carom_search_least(const carom_search *search);                   // of the good values; infinite: none
double carom_search_spread(const carom_search *search);                  // of the good values

#endif
