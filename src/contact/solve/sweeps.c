#include "contact/solve/sweeps.h"

enum { CHECK_EVERY = 4 };     // sweeps between looks at the true residual, once their own estimate is small
enum { MOST_SETBACKS = 20 };  // in a row, before momentum is given up

typedef struct progress {
  double lowest, lowest_ever;  // energy of a sweep: since the last restart, and before it
  int setbacks;                // restarts in a row without a new lowest
} progress;

// Afresh after O'Donoghue and Candes (2015), and when sweeps have grown. Where that keeps happening without gain, plain
// Gauss-Seidel goes on.
static bool goes_back(progress *p, const carom_sweep_tally *tally, double setback) {
  bool grown = tally->energy > setback * p->lowest;
  p->lowest = fmin(p->lowest, tally->energy);
  if (grown) p->setbacks = p->lowest < p->lowest_ever ? 0 : p->setbacks + 1;
  if (!grown && !(tally->turn > 0) && p->setbacks < MOST_SETBACKS) return false;
  p->lowest_ever = fmin(p->lowest, p->lowest_ever);
  p->lowest = tally->energy;
  return true;
}

int carom_sweeps_run(const carom_sweeps *s, bool *solved) {
  carom_momentum m = {.theta = 1};
  progress p = {.lowest = INFINITY, .lowest_ever = INFINITY};
  int next_look = 0;
  *solved = false;
  for (int done = 1; done <= s->most; done++) {
    carom_sweep_tally tally = s->sweep(s->context, m.beta);
    carom_momentum_next(&m, goes_back(&p, &tally, s->setback));
    bool still = tally.most == 0, close = sqrt(tally.most) <= s->enough && done >= next_look;
    if (!close && !still) continue;
    *solved = s->judge ? s->judge(s->context) : close;
    if (*solved || still) return done;
    next_look = done + CHECK_EVERY;
  }
  return s->most;
}
