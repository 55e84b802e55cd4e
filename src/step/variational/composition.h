// Symmetric compositions: a symmetric step of second order, made with the parts w_1 h, ..., w_s h of the time one after
// the other, is a step of higher order (Suzuki 1990; Hairer, Lubich and Wanner 2006, V.3.2). Some parts go back in
// time. What every part keeps (momenta, constraints, symplecticity), the whole keeps.
#ifndef CAROM_SRC_STEP_VARIATIONAL_COMPOSITION_H
#define CAROM_SRC_STEP_VARIATIONAL_COMPOSITION_H

enum { CAROM_MOST_STAGES = 9 };

typedef struct carom_composition {
  int order, stages;
  double weights[CAROM_MOST_STAGES];  // (stages) their sum is 1
} carom_composition;

// Of order 2 (the step itself), 4 or 6; null for others.
const carom_composition *carom_composition_of(int order);

#endif
