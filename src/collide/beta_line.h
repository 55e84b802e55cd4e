// How beta follows the bodies: beta = c / |c| with c the line from B's inner point to A's, as carom_ssh chooses it.
#ifndef CAROM_SRC_COLLIDE_BETA_LINE_H
#define CAROM_SRC_COLLIDE_BETA_LINE_H

#include "collide/optimal_set.h"

typedef struct carom_beta_line {
  bool moves;                     // false: beta stays
  carom_vec3 center_a, center_b;  // relative to the bodies' positions, world axes
  double length;                  // |c|
} carom_beta_line;

carom_beta_line carom_beta_line_of(const carom_stand *a, const carom_stand *b, const carom_ssh_result *result,
                                   bool beta_moves);

// The gap changes by pull . dc while beta turns: its multiplier is the gap itself, so that the change is
// -gap alpha . dbeta with dbeta = (I - beta beta') dc / |c| and alpha . beta = 1.
carom_vec3 carom_beta_pull(const carom_beta_line *line, double gap, carom_vec3 alpha, carom_vec3 beta);

#endif
