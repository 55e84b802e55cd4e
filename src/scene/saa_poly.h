// Expressions as polynomials of second degree in the unknowns of a stochastic program, with coefficients that are
// numbers or formulas in the random variables: "price*sold + 2*cost*order" gives the entries of a matrix.
#ifndef CAROM_SRC_SCENE_SAA_POLY_H
#define CAROM_SRC_SCENE_SAA_POLY_H

#include "base/formula.h"
#include "scene/pool.h"

// A number, or with count > 0 code for one in random variables.
typedef struct carom_saa_coefficient {
  double number;
  int count;
  const carom_formula_step *steps;
} carom_saa_coefficient;

// coefficient * unknown a * unknown b; -1 for none, a >= b.
typedef struct carom_saa_term {
  int a, b;
  carom_saa_coefficient c;
} carom_saa_term;

typedef struct carom_saa_poly {
  int count;
  carom_saa_term *terms;  // by a, then b
} carom_saa_poly;

// From code whose slots are unknowns below `unknowns` and random variables above. Null, or what is wrong with it; that
// memory is out is told by the pool. Slots of random variables are numbered from 0 in the coefficients.
const char *carom_saa_poly_make(const carom_formula *formula, int unknowns, carom_pool *pool, carom_saa_poly *poly);
// a - b.
const char *carom_saa_poly_subtract(carom_pool *pool, const carom_saa_poly *a, const carom_saa_poly *b,
                                    carom_saa_poly *difference);
// Whether it has no unknowns; and then its coefficient.
bool carom_saa_poly_is_plain(const carom_saa_poly *poly);
carom_saa_coefficient carom_saa_poly_constant(const carom_saa_poly *poly);

#endif
