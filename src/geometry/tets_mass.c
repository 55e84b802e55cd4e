// Volumes, masses and the quality of tetrahedra.
#include <math.h>

#include "geometry/integrals.h"
#include "geometry/tets.h"
#include "math/sum.h"

static double volume_of(const carom_tets *m, int t) {
  const int *v = m->tets[t];
  return carom_tet_determinant(m->nodes[v[0]], m->nodes[v[1]], m->nodes[v[2]], m->nodes[v[3]]) / 6;
}

void carom_tets_volumes(const carom_tets *tets, double *volumes) {
  for (int t = 0; t < tets->tet_count; t++) volumes[t] = volume_of(tets, t);
}

void carom_tets_lump(const carom_tets *tets, double density, double *masses) {
  for (int i = 0; i < tets->node_count; i++) masses[i] = 0;
  for (int t = 0; t < tets->tet_count; t++) {
    double quarter = density * volume_of(tets, t) / 4;
    for (int k = 0; k < 4; k++) masses[tets->tets[t][k]] += quarter;
  }
}

carom_status carom_tets_mass(const carom_tets *tets, double density, carom_mass *mass, carom_error *error) {
  carom_status status = carom_check_density(density, error);
  if (status) return status;
  carom_integrals s = {0};
  carom_vec3 o = carom_mean_point(tets->nodes, tets->node_count);
  for (int t = 0; t < tets->tet_count; t++) {
    const int *v = tets->tets[t];
    const carom_vec3 corners[4] = {tets->nodes[v[0]], tets->nodes[v[1]], tets->nodes[v[2]], tets->nodes[v[3]]};
    carom_integrate_tetrahedron(&s, o, corners);
  }
  carom_mass m = carom_mass_of_integrals(&s, o, density);
  status = carom_check_mass(&m, error);
  if (!status) *mass = m;
  return status;
}

// ---- quality ------------------------------------------------------------------------------------

typedef struct measures {
  double volume, shape, altitude, shortest, longest;
} measures;

// The least altitude is 3 V / A with A the largest face.
static measures measure(const carom_tets *m, int t) {
  measures r = {.volume = volume_of(m, t), .shortest = INFINITY};
  const int *v = m->tets[t];
  double squares = 0, largest = 0;
  for (int e = 0; e < 6; e++) {
    double length = cm_norm(cm_sub(m->nodes[v[carom_tet_edge[e][1]]], m->nodes[v[carom_tet_edge[e][0]]]));
    squares += length * length;
    r.shortest = fmin(r.shortest, length);
    r.longest = fmax(r.longest, length);
  }
  for (int f = 0; f < 4; f++) {
    const int *c = carom_tet_face[f], face[3] = {v[c[0]], v[c[1]], v[c[2]]};
    largest = fmax(largest, cm_norm(carom_newell(m->nodes, face, 3)) / 2);
  }
  double root = cbrt(3 * r.volume);
  r.shape = 12 * root * root / squares;
  r.altitude = 3 * r.volume / largest;
  return r;
}

carom_tets_quality carom_tets_measure(const carom_tets *tets) {
  carom_tets_quality q = {.least_shape = INFINITY, .least_altitude = INFINITY, .shortest_edge = INFINITY};
  carom_sum volume = {0}, shape = {0};
  for (int t = 0; t < tets->tet_count; t++) {
    measures r = measure(tets, t);
    carom_sum_add(&volume, r.volume);
    carom_sum_add(&shape, r.shape);
    if (r.shape < q.least_shape) q.least_shape = r.shape, q.worst = t;
    if (r.altitude < q.least_altitude) q.least_altitude = r.altitude, q.flattest = t;
    q.shortest_edge = fmin(q.shortest_edge, r.shortest);
    q.longest_edge = fmax(q.longest_edge, r.longest);
  }
  q.volume = carom_sum_value(&volume);
  q.mean_shape = carom_sum_value(&shape) / tets->tet_count;
  return q;
}
