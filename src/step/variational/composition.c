#include "step/variational/composition.h"

#include <stddef.h>

// Order 4: Suzuki's fractal of five (1990), w = 1/(4 - 4^(1/3)); its error is a tenth of that of the triple jump, whose
// parts are longer than the step. Order 6: Kahan and Li (1997), nine parts, none longer than the step (Hairer, Lubich
// and Wanner 2006, V.3.11).
static const carom_composition compositions[] = {
    {.order = 2, .stages = 1, .weights = {1}},
    {.order = 4,
     .stages = 5,
     .weights = {0.41449077179437573714, 0.41449077179437573714, -0.65796308717750294857, 0.41449077179437573714,
                 0.41449077179437573714}},
    {.order = 6,
     .stages = 9,
     .weights = {0.39216144400731413928, 0.33259913678935943860, -0.70624617255763935981, 0.08221359629355080023,
                 0.79854399093482996340, 0.08221359629355080023, -0.70624617255763935981, 0.33259913678935943860,
                 0.39216144400731413928}},
};

const carom_composition *carom_composition_of(int order) {
  for (size_t i = 0; i < sizeof compositions / sizeof *compositions; i++)
    if (compositions[i].order == order) return &compositions[i];
  return NULL;
}
