// The explicit step as one writes it down first: a loop over tetrahedra, inverse and logarithm from the textbook,
// forces added to nodes as they come.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "carom/vec.h"
#include "elastic.h"

typedef struct naive {
  elastic_job job;
  carom_mat3 *B;
  double *volume;
  carom_vec3 *x, *v, *a, *f;
} naive;

static carom_vec3 read3(const double *p) { return cm_vec3(p[0], p[1], p[2]); }

static carom_mat3 edges(const carom_vec3 *x, const int *t) {
  carom_mat3 D;
  for (int k = 0; k < 3; k++) {
    carom_vec3 e = cm_sub(x[t[k + 1]], x[t[0]]);
    D.m[0][k] = e.x, D.m[1][k] = e.y, D.m[2][k] = e.z;
  }
  return D;
}

static void add_tet(naive *w, int i) {
  const int *t = w->job.tets + 4 * i;
  carom_mat3 F = cm_mmul(edges(w->x, t), w->B[i]), G;
  double J = cm_det(F);
  if (!cm_inverse3(F, &G)) return;
  G = cm_transpose(G);
  carom_mat3 P = cm_madd(cm_mscale(w->job.mu, cm_msub(F, G)), cm_mscale(w->job.lambda * log(J), G));
  carom_mat3 H = cm_mscale(-w->volume[i], cm_mmul(P, cm_transpose(w->B[i])));
  for (int k = 0; k < 3; k++) {
    carom_vec3 f = cm_vec3(H.m[0][k], H.m[1][k], H.m[2][k]);
    w->f[t[k + 1]] = cm_add(w->f[t[k + 1]], f);
    w->f[t[0]] = cm_sub(w->f[t[0]], f);
  }
}

static void find_accelerations(naive *w) {
  memset(w->f, 0, (size_t)w->job.node_count * sizeof *w->f);
  for (int i = 0; i < w->job.tet_count; i++) add_tet(w, i);
  for (int i = 0; i < w->job.node_count; i++) w->a[i] = cm_scale(1 / w->job.mass[i], w->f[i]);
}

static void destroy(void *world) {
  naive *w = world;
  free(w->B), free(w->volume), free(w->x), free(w->v), free(w->a), free(w->f);
  free(w);
}

static void *create(const elastic_job *job, char *message) {
  naive *w = calloc(1, sizeof *w);
  size_t n = (size_t)job->node_count, tets = (size_t)job->tet_count;
  (void)message;
  w->job = *job;
  w->B = calloc(tets, sizeof *w->B), w->volume = calloc(tets, sizeof *w->volume);
  w->x = calloc(n, sizeof *w->x), w->v = calloc(n, sizeof *w->v), w->a = calloc(n, sizeof *w->a);
  w->f = calloc(n, sizeof *w->f);
  for (size_t i = 0; i < n; i++) w->x[i] = read3(job->nodes + 3 * i), w->v[i] = read3(job->velocity + 3 * i);
  for (size_t i = 0; i < tets; i++) {
    carom_mat3 D = edges(w->x, job->tets + 4 * i);
    w->volume[i] = cm_det(D) / 6;
    cm_inverse3(D, &w->B[i]);
  }
  find_accelerations(w);
  return w;
}

static void step(void *world, int steps) {
  naive *w = world;
  double h = w->job.dt;
  for (int s = 0; s < steps; s++) {
    for (int i = 0; i < w->job.node_count; i++) {
      w->v[i] = cm_axpy(w->v[i], 0.5 * h, w->a[i]);
      w->x[i] = cm_axpy(w->x[i], h, w->v[i]);
    }
    find_accelerations(w);
    for (int i = 0; i < w->job.node_count; i++) w->v[i] = cm_axpy(w->v[i], 0.5 * h, w->a[i]);
  }
}

static void read_node(void *world, int node, double x[3], double v[3]) {
  naive *w = world;
  x[0] = w->x[node].x, x[1] = w->x[node].y, x[2] = w->x[node].z;
  v[0] = w->v[node].x, v[1] = w->v[node].y, v[2] = w->v[node].z;
}

const elastic_engine elastic_naive = {"a plain loop", NULL, "double", 1000000, create, step, read_node, destroy};
