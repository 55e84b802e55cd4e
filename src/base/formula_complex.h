// Formulas of complex numbers: the same code, run in the complex plane where every operation in it is analytic.
#ifndef CAROM_SRC_BASE_FORMULA_COMPLEX_H
#define CAROM_SRC_BASE_FORMULA_COMPLEX_H

#include <complex.h>

#include "base/formula.h"

// What in it has no derivative in the complex plane ("abs", "a comparison", ...); null when all has.
const char *carom_formula_not_analytic(const carom_formula *formula);
// Value and derivative with respect to the slot `t` of a formula that is analytic. Roots, logarithms and powers are on
// their principal branches, cut along the negative real axis.
void carom_formula_complex(const carom_formula *formula, const double complex *slots, int t, double complex out[2]);

#endif
