// The SSH program while it is being solved, in space (ssh.c) and in the plane (ssh_planar.c).
#ifndef CAROM_SRC_COLLIDE_SSH_H
#define CAROM_SRC_COLLIDE_SSH_H

#include "collide/support.h"

// Lines that pass the origin within this part of the bodies' size are taken to meet it.
#define CAROM_SSH_TIE 3e-14
// Witness points that miss each other along beta by more than this are looked at again, over the size of the bodies.
#define CAROM_SSH_MISS 1e-14

// A column of the program: a difference of two points, and its projection along beta.
typedef struct carom_ssh_column {
  int a, b;           // vertices, or -1
  bool exact;         // the vertices say which points these are: not so on rounded bodies
  carom_vec3 xa, xb;  // points relative to the bodies' positions
  carom_vec3 d;
  double u, v;
} carom_ssh_column;

typedef struct carom_ssh_program {
  carom_supporter a, b;
  carom_vec3 delta;           // position of A minus position of B: differences are small even when coordinates are not
  carom_vec3 beta, e1, e2;    // right-handed frame (e1, e2, beta)
  double size;                // of the bodies, for tolerances
  double tie;                 // projections closer than this are taken for equal
  double slant;               // of the first looks
  carom_ssh_column basis[3];  // projections counter-clockwise
  carom_vec3 alpha;
  double t, lower;  // upper and lower bound of the gap
  int pivots, max_pivots;
} carom_ssh_program;

typedef enum carom_ssh_phase { CAROM_SSH_FOUND, CAROM_SSH_MISSED, CAROM_SSH_STUCK } carom_ssh_phase;

void carom_ssh_project(const carom_ssh_program *s, carom_ssh_column *column);
// The column with the lowest difference along a direction: one support query on each body.
carom_ssh_column carom_ssh_lowest(carom_ssh_program *s, carom_vec3 direction);
// The first `count` columns of a cached basis at today's poses; false when there is none that fits.
bool carom_ssh_recall(carom_ssh_program *s, const carom_ssh_cache *cache, int count);
static inline bool carom_ssh_same(const carom_ssh_column *p, const carom_ssh_column *q) {
  return p->exact && q->exact && p->a == q->a && p->b == q->b;
}

// The planar program: alpha and beta in the plane z = 0, two columns.
void carom_ssh_planar_frame(carom_ssh_program *s);
carom_ssh_phase carom_ssh_planar_solve(carom_ssh_program *s, const carom_ssh_cache *cache);
// The answer of a half-space, whose shadow is a half-plane if it stands upright.
void carom_ssh_planar_halfspace(carom_ssh_result *result);
void carom_ssh_planar_fill(const carom_ssh_program *s, carom_ssh_result *result);

#endif
