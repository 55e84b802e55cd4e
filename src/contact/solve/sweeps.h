// Gauss-Seidel for all layouts of the contact problem: bodies by colour (pgs.c), balls in single precision (balls.c),
// rows of W (assembled.c). A layout sweeps once over its contacts; here is what happens between sweeps. Impulses and
// velocities, which are affine in each other, are carried on along their last change: for stiff piles this takes the
// place of squaring the number of sweeps.
#ifndef CAROM_SRC_CONTACT_SOLVE_SWEEPS_H
#define CAROM_SRC_CONTACT_SOLVE_SWEEPS_H

#include <math.h>

#include "carom/base.h"

// The weights of Nesterov (1983): theta begins at 1, beta at 0.
typedef struct carom_momentum {
  double theta, beta;
} carom_momentum;

static inline void carom_momentum_next(carom_momentum *m, bool afresh) {
  double next = 0.5 * m->theta * (sqrt(m->theta * m->theta + 4) - m->theta);
  m->beta = afresh ? 0 : m->theta * (1 - m->theta) / (m->theta * m->theta + next);
  m->theta = afresh ? 1 : next;
}

// What a sweep saw, with y the extrapolated impulse where a visit began, x the one where it ended and x_before the one
// where the sweep before ended.
typedef struct carom_sweep_tally {
  double most;    // max (rho |x - y|)^2, (m/s)^2: an estimate of the residual
  double energy;  // sum of rho |x - y|^2
  double turn;    // sum of rho (y - x) . (x - x_before): positive when the momentum leads uphill
} carom_sweep_tally;

// The tally of several parts.
static inline void carom_sweep_add(carom_sweep_tally *sum, const carom_sweep_tally *part) {
  sum->most = part->most > sum->most ? part->most : sum->most;
  sum->energy += part->energy;
  sum->turn += part->turn;
}

// Sets m numbers to where the momentum leads, and keeps where they were.
static inline void carom_sweep_extrapolate(int m, double beta, double *x, double *before) {
  for (int k = 0; k < m; k++) {
    double now = x[k];
    x[k] += beta * (x[k] - before[k]);
    before[k] = now;
  }
}

typedef struct carom_sweeps {
  void *context;
  // One sweep that begins every visit at x + beta (x - x_before), velocities included.
  carom_sweep_tally (*sweep)(void *context, double beta);
  bool (*judge)(void *context);  // whether the residual will do; null: the estimate will
  double enough;                 // estimate from which on it is asked, m/s
  double setback;                // growth of the energy that drops the momentum
  int most;                      // sweeps
} carom_sweeps;

// Returns how many sweeps it made, *solved when the residual will do. Stops as well where nothing changes any more.
int carom_sweeps_run(const carom_sweeps *sweeps, bool *solved);

#endif
