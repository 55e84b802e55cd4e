// Problems of Coulomb friction made to order, for tests and benchmarks: piles of bodies whose contacts are known by
// their places, normals and lever arms.
#ifndef CAROM_SAMPLES_FRICTION_SAMPLES_H
#define CAROM_SAMPLES_FRICTION_SAMPLES_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "carom/friction.h"
#include "carom/vec.h"

typedef struct friction_sample {
  carom_friction_problem problem;
  int *start, *column;
  double *W, *q, *mu;
} friction_sample;

static inline void friction_sample_free(friction_sample *s) {
  free(s->start), free(s->column), free(s->W), free(s->q), free(s->mu);
}

// A pile: bodies on a cubic grid, shaken, each touching its neighbours and the ground at one point (as balls do) or at
// the four corners of a face (as boxes do, which makes contacts redundant).
typedef struct friction_pile {
  int contacts;       // about; whole faces
  double faces;       // share of pairs that touch in a face
  double mass_ratio;  // heaviest over lightest
  double mu;          // of all contacts
  double shake;       // m/s, of bodies beside their fall of 0.1 m/s
  double open;        // share of pairs with a gap between them
  unsigned seed;
} friction_pile;

// A row: the gradients of a contact's velocity in the twists of two bodies (-1: ground).
typedef struct friction_row {
  int body[2];
  double J[2][6];
} friction_row;

typedef struct friction_bodies {
  int count, contacts, most;
  double open;
  carom_vec3 *x;
  double *inverse_mass, *inverse_inertia;  // of a ball
  carom_vec3 *v, *w;
  friction_row *rows;  // (3 most)
  double *gap;         // (most) over the time of a step, m/s
} friction_bodies;

// A contact of a against b (-1: ground) at a point, with the normal from b to a.
static inline void friction_pile_add(friction_bodies *p, int a, int b, carom_vec3 point, carom_vec3 normal) {
  carom_vec3 axis[3] = {normal, cm_zero3(), cm_zero3()};
  cm_frame(normal, &axis[1], &axis[2]);
  for (int k = 0; k < 3; k++) {
    friction_row *row = &p->rows[3 * p->contacts + k];
    int body[2] = {a, b};
    for (int e = 0; e < 2; e++) {
      row->body[e] = body[e];
      if (body[e] < 0) continue;
      carom_vec3 d = cm_scale(e ? -1 : 1, axis[k]), l = cm_cross(cm_sub(point, p->x[body[e]]), d);
      double J[6] = {d.x, d.y, d.z, l.x, l.y, l.z};
      memcpy(row->J[e], J, sizeof J);
    }
  }
  p->contacts++;
}

static inline void friction_pile_touch(friction_bodies *p, int a, int b, bool face, carom_random *r) {
  carom_vec3 below = b < 0 ? cm_vec3(p->x[a].x, p->x[a].y, -0.5) : p->x[b], n = cm_unit(cm_sub(p->x[a], below)), t, s;
  carom_vec3 middle = b < 0 ? cm_vec3(below.x, below.y, 0) : cm_scale(0.5, cm_add(p->x[a], below));
  cm_frame(n, &t, &s);
  double size = face ? carom_random_between(r, 0.2, 0.4) : 0;
  double gap = carom_random_uniform(r) < p->open ? carom_random_between(r, 0, 0.3) : 0;
  for (int k = 0; k < (face ? 4 : 1) && p->contacts < p->most; k++) {
    p->gap[p->contacts] = gap;
    friction_pile_add(p, a, b, cm_axpy(cm_axpy(middle, k % 2 ? size : -size, t), k / 2 ? size : -size, s), n);
  }
}

static inline double friction_pile_inverse(const friction_bodies *p, int body, int k) {
  return k < 3 ? p->inverse_mass[body] : p->inverse_inertia[body];
}

static inline void friction_pile_block(const friction_bodies *p, int i, int j, double *W, bool *coupled) {
  *coupled = false;
  for (int c = 0; c < 3; c++)
    for (int r = 0; r < 3; r++) {
      const friction_row *x = &p->rows[3 * i + r], *y = &p->rows[3 * j + c];
      W[r + 3 * c] = 0;
      for (int e = 0; e < 4; e++) {
        if (x->body[e / 2] < 0 || x->body[e / 2] != y->body[e % 2]) continue;
        *coupled = true;
        for (int k = 0; k < 6; k++)
          W[r + 3 * c] += x->J[e / 2][k] * y->J[e % 2][k] * friction_pile_inverse(p, x->body[e / 2], k);
      }
    }
}

static inline friction_sample friction_pile_problem(const friction_bodies *p, double mu) {
  size_t n = (size_t)p->contacts, room = 64, blocks = 0;
  friction_sample s = {.start = (int *)calloc(n + 1, sizeof(int)),
                       .column = (int *)calloc(room, sizeof(int)),
                       .W = (double *)calloc(9 * room, sizeof(double)),
                       .q = (double *)calloc(3 * n + 1, sizeof(double)),
                       .mu = (double *)calloc(n + 1, sizeof(double))};
  for (int i = 0; i < p->contacts; i++) {
    s.start[i] = (int)blocks;
    for (int j = 0; j < p->contacts; j++) {
      bool coupled;
      if (blocks == room) {
        room *= 2;
        s.column = (int *)realloc(s.column, room * sizeof(int));
        s.W = (double *)realloc(s.W, 9 * room * sizeof(double));
      }
      friction_pile_block(p, i, j, s.W + 9 * blocks, &coupled);
      if (coupled) s.column[blocks++] = j;
    }
    s.mu[i] = mu;
    s.q[3 * i] = p->gap[i];
    for (int k = 0; k < 3; k++)
      for (int e = 0; e < 2; e++) {
        const friction_row *row = &p->rows[3 * i + k];
        int b = row->body[e];
        if (b < 0) continue;
        s.q[3 * i + k] += row->J[e][0] * p->v[b].x + row->J[e][1] * p->v[b].y + row->J[e][2] * p->v[b].z +
                          row->J[e][3] * p->w[b].x + row->J[e][4] * p->w[b].y + row->J[e][5] * p->w[b].z;
      }
  }
  s.start[n] = (int)blocks;
  s.problem = (carom_friction_problem){3, p->contacts, s.start, s.column, s.W, s.q, s.mu};
  return s;
}

static inline carom_vec3 friction_pile_shaken(carom_random *r, double size) {
  double x = carom_random_normal(r), y = carom_random_normal(r), z = carom_random_normal(r);
  return cm_scale(size, cm_vec3(x, y, z));
}

static inline void friction_pile_place(friction_bodies *p, const friction_pile *pile, int wide, carom_random *r) {
  for (int i = 0; i < p->count; i++) {
    double mass = pow(pile->mass_ratio, carom_random_uniform(r));
    p->x[i] = cm_add(cm_vec3(i % wide, i / wide % wide, 0.5 + i / (wide * wide)), friction_pile_shaken(r, 0.05));
    p->inverse_mass[i] = 1 / mass, p->inverse_inertia[i] = 10 / mass;
    p->v[i] = cm_add(cm_vec3(0, 0, -0.0981), friction_pile_shaken(r, pile->shake));
    p->w[i] = friction_pile_shaken(r, pile->shake);
  }
}

static inline friction_sample friction_sample_pile(const friction_pile *pile) {
  carom_random r = carom_random_make(pile->seed, 7);
  double each = 3 * (1 + 3 * pile->faces);
  int count = (int)fmax(2, ceil(pile->contacts / each * 1.2)), wide = (int)ceil(cbrt(count));
  size_t n = (size_t)count;
  friction_bodies p = {.count = count,
                       .most = pile->contacts,
                       .open = pile->open,
                       .gap = (double *)calloc((size_t)pile->contacts + 1, sizeof(double)),
                       .x = (carom_vec3 *)calloc(n, sizeof(carom_vec3)),
                       .inverse_mass = (double *)calloc(n, sizeof(double)),
                       .inverse_inertia = (double *)calloc(n, sizeof(double)),
                       .v = (carom_vec3 *)calloc(n, sizeof(carom_vec3)),
                       .w = (carom_vec3 *)calloc(n, sizeof(carom_vec3)),
                       .rows = (friction_row *)calloc(3 * (size_t)pile->contacts + 1, sizeof(friction_row))};
  friction_pile_place(&p, pile, wide, &r);
  for (int i = 0; i < count; i++) {
    bool face = carom_random_uniform(&r) < pile->faces;
    friction_pile_touch(&p, i, i < wide * wide ? -1 : i - wide * wide, face, &r);
    if (i % wide > 0) friction_pile_touch(&p, i, i - 1, carom_random_uniform(&r) < pile->faces, &r);
    if (i / wide % wide > 0) friction_pile_touch(&p, i, i - wide, carom_random_uniform(&r) < pile->faces, &r);
  }
  friction_sample s = friction_pile_problem(&p, pile->mu);
  free(p.x), free(p.inverse_mass), free(p.inverse_inertia), free(p.v), free(p.w), free(p.rows), free(p.gap);
  return s;
}

// Pile number i of a series: 10 to `largest` contacts, of balls, boxes and both, mass ratios of 1, 10 and 100, mu from
// 0.2 to 0.8, at rest and shaken, up to two fifths of the pairs a little apart.
static inline friction_pile friction_pile_of_series(int i, int largest) {
  carom_random r = carom_random_make((uint64_t)i, 3);
  return (friction_pile){.contacts = (int)(10 * pow(0.1 * largest, carom_random_uniform(&r))),
                         .faces = 0.5 * (i % 3),
                         .mass_ratio = i % 4 == 0   ? 100
                                       : i % 4 == 1 ? 1
                                                    : 10,
                         .mu = 0.2 + 0.1 * (i % 7),
                         .shake = i % 2 ? 0.1 : 0.01,
                         .open = 0.1 * (i % 5),
                         .seed = (unsigned)i};
}

#endif
