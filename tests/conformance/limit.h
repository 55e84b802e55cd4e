// Limit analysis in a plane: whether forces in friction cones can balance weights.
#ifndef CAROM_TESTS_CONFORMANCE_LIMIT_H
#define CAROM_TESTS_CONFORMANCE_LIMIT_H

#include <stdbool.h>

enum { LIMIT_BODIES = 16, LIMIT_CONTACTS = 64 };

typedef struct limit_point {
  int on, from;  // bodies; -1 is the ground
  double x, y;
  double nx, ny;  // along which `on` is pushed
  double mu;
} limit_point;

typedef struct limit_problem {
  int bodies, contacts;
  double at[LIMIT_BODIES], weight[LIMIT_BODIES];  // x of the centre, and the weight along -y
  limit_point points[LIMIT_CONTACTS];
} limit_problem;

limit_problem limit_begin(int bodies);
void limit_weight(limit_problem *p, int body, double x, double weight);
void limit_contact(limit_problem *p, limit_point point);
bool limit_stands(const limit_problem *p);

#endif
