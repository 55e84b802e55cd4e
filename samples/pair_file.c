#include "pair_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const pair_regime_names[PAIR_REGIMES] = {"separated", "near", "overlap"};

void pair_set_release(pair_set *set) {
  for (int i = 0; set->bodies && i < set->body_count; i++) carom_shape_release(set->bodies[i]);
  free(set->bodies);
  free(set->cases);
  *set = (pair_set){0};
}

static bool allocate(pair_set *set) {
  set->bodies = calloc((size_t)set->body_count, sizeof *set->bodies);
  set->cases = calloc((size_t)PAIR_REGIMES * (size_t)set->pair_count, sizeof *set->cases);
  if (set->bodies && set->cases) return true;
  pair_set_release(set);
  return false;
}

// ---- reading -------------------------------------------------------------------------------------------------------

static bool read_body(FILE *file, int vertex_count, const carom_shape **shape) {
  int32_t head[2];
  carom_vec3 *v = calloc((size_t)vertex_count, sizeof *v);
  bool good = v && fread(head, sizeof head, 1, file) == 1 && head[0] > 0 &&
              fread(v, sizeof *v, (size_t)vertex_count, file) == (size_t)vertex_count;
  if (good) {
    long skip = (long)sizeof(int32_t) * (3L * head[0] + (head[0] & 1));
    good = fseek(file, skip, SEEK_CUR) == 0 && carom_shape_create_hull(v, vertex_count, NULL, shape, NULL) == CAROM_OK;
  }
  free(v);
  return good;
}

static bool read_case(FILE *file, const pair_set *set, pair_case *c) {
  int32_t body[2];
  double x[18];
  if (fread(body, sizeof body, 1, file) != 1 || fread(x, sizeof x, 1, file) != 1) return false;
  c->a = body[0], c->b = body[1];
  c->pose_a = cm_pose(cm_vec3(x[4], x[5], x[6]), cm_quat(x[0], x[1], x[2], x[3]));
  c->pose_b = cm_pose(cm_vec3(x[11], x[12], x[13]), cm_quat(x[7], x[8], x[9], x[10]));
  c->distance = x[14];
  c->normal = cm_vec3(x[15], x[16], x[17]);
  return c->a >= 0 && c->a < set->body_count && c->b >= 0 && c->b < set->body_count;
}

static const char *read_all(FILE *file, pair_set *set) {
  char magic[8];
  int32_t head[6];
  if (fread(magic, 8, 1, file) != 1 || memcmp(magic, "SSHPAIR1", 8) != 0) return "not a pair file";
  if (fread(head, sizeof head, 1, file) != 1 || head[0] < 4 || head[1] < 1 || head[2] < 1 || head[3] != PAIR_REGIMES)
    return "bad header";
  *set = (pair_set){.vertex_count = head[0], .body_count = head[1], .pair_count = head[2], .sequence_length = head[4]};
  if (!allocate(set)) return "out of memory";
  for (int i = 0; i < set->body_count; i++)
    if (!read_body(file, set->vertex_count, &set->bodies[i])) return "bad body";
  for (int i = 0; i < PAIR_REGIMES * set->pair_count; i++)
    if (!read_case(file, set, &set->cases[i])) return "bad pair";
  return NULL;
}

bool pair_set_read(pair_set *set, const char *path, char *message) {
  *set = (pair_set){0};
  FILE *file = fopen(path, "rb");
  const char *reason = file ? read_all(file, set) : "cannot be opened";
  if (file) fclose(file);
  if (!reason) return true;
  snprintf(message, 200, "%.150s: %s", path, reason);
  pair_set_release(set);
  return false;
}

// ---- the judge of gaps ---------------------------------------------------------------------------------------------

typedef long double real;
typedef struct real3 {
  real x, y, z;
} real3;

static real3 r_sub(real3 a, real3 b) { return (real3){a.x - b.x, a.y - b.y, a.z - b.z}; }
static real r_dot(real3 a, real3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
static real3 r_axpy(real3 a, real s, real3 b) { return (real3){a.x + s * b.x, a.y + s * b.y, a.z + s * b.z}; }
static real3 r_cross(real3 a, real3 b) {
  return (real3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
static carom_vec3 to_double(real3 a) { return cm_vec3((double)a.x, (double)a.y, (double)a.z); }

// R(q) v + p, as cm_rotate does it but without its round-off.
static real3 place(carom_pose X, carom_vec3 v) {
  real3 u = {X.q.x, X.q.y, X.q.z}, r = {v.x, v.y, v.z}, t = r_cross(u, r);
  real3 w = r_axpy(r, 2 * (real)X.q.w, t);
  w = r_axpy(w, 2, r_cross(u, t));
  return (real3){w.x + X.p.x, w.y + X.p.y, w.z + X.p.z};
}

static real3 *place_all(const carom_polytope *p, carom_pose X) {
  real3 *v = malloc((size_t)p->vertex_count * sizeof *v);
  if (!v) abort();
  for (int i = 0; i < p->vertex_count; i++) v[i] = place(X, p->vertices[i]);
  return v;
}

// The vertex with the least dot product with d.
static int lowest(const real3 *v, int count, real3 d) {
  int best = 0;
  real least = r_dot(v[0], d);
  for (int i = 1; i < count; i++) {
    real s = r_dot(v[i], d);
    if (s < least) least = s, best = i;
  }
  return best;
}

typedef struct simplex {
  int count;
  real3 p[4];
} simplex;

// Weights of the point of least norm in the affine hull of 1 to 3 points: the normal equations in the differences from
// the first point. False when the points are dependent or a weight is negative.
static bool least_of_plane(const simplex *s, real w[3]) {
  real3 e = s->count > 1 ? r_sub(s->p[1], s->p[0]) : s->p[0], f = s->count > 2 ? r_sub(s->p[2], s->p[0]) : s->p[0];
  w[0] = 1, w[1] = w[2] = 0;
  if (s->count == 2) w[1] = -r_dot(e, s->p[0]) / r_dot(e, e);
  if (s->count == 3) {
    real ee = r_dot(e, e), ef = r_dot(e, f), ff = r_dot(f, f), a = -r_dot(e, s->p[0]), b = -r_dot(f, s->p[0]);
    real3 n = r_cross(e, f);
    real det = r_dot(n, n);  // ee ff - ef^2 without the cancellation
    if (!(det > 0)) return false;
    w[1] = (a * ff - b * ef) / det, w[2] = (b * ee - a * ef) / det;
  }
  w[0] = 1 - w[1] - w[2];
  return w[0] >= 0 && w[1] >= 0 && w[2] >= 0;
}

static real3 foot_on_plane(const simplex *s) {
  real3 n = r_cross(r_sub(s->p[1], s->p[0]), r_sub(s->p[2], s->p[0]));
  real h = r_dot(n, s->p[0]) / r_dot(n, n);
  return (real3){h * n.x, h * n.y, h * n.z};
}

// The point of least norm of a simplex that does not hold the origin, over all its faces; keeps the face only.
static real3 least_of_simplex(simplex *s) {
  real least = -1;
  real3 best = s->p[0];
  simplex kept = *s;
  for (int mask = 1; mask < 1 << s->count; mask++) {
    simplex face = {0};
    for (int i = 0; i < s->count; i++)
      if (mask >> i & 1) face.p[face.count++] = s->p[i];
    real w[3];
    if (face.count > 3 || !least_of_plane(&face, w)) continue;
    real3 v = {0, 0, 0};
    for (int i = 0; i < face.count; i++) v = r_axpy(v, w[i], face.p[i]);
    if (face.count == 3) v = foot_on_plane(&face);  // the same point, with less round-off
    real n = r_dot(v, v);
    if (least < 0 || n < least) least = n, best = v, kept = face;
  }
  *s = kept;
  return best;
}

// Wolfe's algorithm (1976) in three dimensions: keep the face that holds the nearest point, add the vertex of A - B
// that is lowest along it. Lower bound: all of A - B lies beyond the plane through that vertex.
bool pair_reference_gap(const carom_polytope *a, carom_pose pose_a, const carom_polytope *b, carom_pose pose_b,
                        pair_reference *reference) {
  real3 *va = place_all(a, pose_a), *vb = place_all(b, pose_b);
  simplex s = {1, {r_sub(va[0], vb[0])}};
  real bound = 0, norm = 0;
  real3 v = s.p[0], n = v;
  for (int i = 0; i < 1000; i++) {
    real length = sqrtl(r_dot(v, v));
    if (!(length > 0)) break;
    real3 d = {v.x / length, v.y / length, v.z / length}, up = {-d.x, -d.y, -d.z};
    real3 w = r_sub(va[lowest(va, a->vertex_count, d)], vb[lowest(vb, b->vertex_count, up)]);
    real low = r_dot(w, d);
    if (i > 0 && length >= norm) break;  // no progress: round-off
    norm = length;
    if (low > bound) bound = low, n = d;
    if (norm - bound <= 1e-19L * norm) break;
    s.p[s.count++] = w;
    v = least_of_simplex(&s);
  }
  free(va), free(vb);
  // A bound above what it bounds, by more than round-off, is a fault of the judge: then it has nothing to say.
  real error = norm - bound, round_off = 1e-17L * (norm + 1);
  if (!(bound > 0) || error < -round_off) return false;
  *reference = (pair_reference){(double)norm, to_double(n), error > 0 ? (double)error : 0};
  return true;
}

// ---- the judge of depths -------------------------------------------------------------------------------------------

typedef struct depth_search {
  const carom_polytope *a, *b;
  carom_pose pose_a, pose_b;
  real3 *va, *vb;
  carom_vec3 *na, *nb;  // face normals, world; those of B negated
  real least;
  real3 normal;
} depth_search;

static carom_vec3 *turn_normals(const carom_polytope *p, carom_quat q, double sign) {
  carom_vec3 *n = malloc((size_t)p->face_count * sizeof *n);
  if (!n) abort();
  for (int i = 0; i < p->face_count; i++) n[i] = cm_scale(sign, cm_rotate(q, p->face_normals[i]));
  return n;
}

// The support of A - B along n: how far A must move along -n to leave B. Any n gives an upper bound of the depth, so a
// candidate too many does no harm.
static void try_normal(depth_search *s, real3 n) {
  real length = sqrtl(r_dot(n, n));
  if (!(length > 0)) return;
  n = (real3){n.x / length, n.y / length, n.z / length};
  real3 m = {-n.x, -n.y, -n.z};
  real h =
      r_dot(n, s->va[lowest(s->va, s->a->vertex_count, m)]) - r_dot(n, s->vb[lowest(s->vb, s->b->vertex_count, n)]);
  if (h < s->least) s->least = h, s->normal = n;
}

// From three corners, so that the normal is as good as long double allows.
static void try_faces(depth_search *s, const carom_polytope *p, const real3 *v, real sign) {
  for (int f = 0; f < p->face_count; f++) {
    const int *c = p->face_vertices + p->face_start[f];
    real3 n = r_cross(r_sub(v[c[1]], v[c[0]]), r_sub(v[c[2]], v[c[0]]));
    try_normal(s, (real3){sign * n.x, sign * n.y, sign * n.z});
  }
}

// Arcs a-b of A and c-d of -B on the Gauss sphere cross when c, d lie on either side of the plane of a, b, and
// conversely, and both on one hemisphere (Gregorius, GDC 2013). Slack admits the doubtful.
static bool arcs_cross(carom_vec3 a, carom_vec3 b, carom_vec3 c, carom_vec3 d) {
  const double slack = 1e-12;
  carom_vec3 ab = cm_cross(a, b), cd = cm_cross(c, d);
  double cab = cm_dot(c, ab), dab = cm_dot(d, ab), acd = cm_dot(a, cd), bcd = cm_dot(b, cd);
  return cab * dab <= slack && acd * bcd <= slack && cab * bcd >= -slack;
}

static void try_edges(depth_search *s) {
  for (int i = 0; i < s->a->edge_count; i++) {
    const carom_polytope_edge *e = &s->a->edges[i];
    real3 ea = r_sub(s->va[e->v[1]], s->va[e->v[0]]);
    for (int j = 0; j < s->b->edge_count; j++) {
      const carom_polytope_edge *f = &s->b->edges[j];
      if (!arcs_cross(s->na[e->f[0]], s->na[e->f[1]], s->nb[f->f[0]], s->nb[f->f[1]])) continue;
      real3 n = r_cross(ea, r_sub(s->vb[f->v[1]], s->vb[f->v[0]]));
      carom_vec3 side = cm_add(s->na[e->f[0]], s->na[e->f[1]]);
      real sign = n.x * side.x + n.y * side.y + n.z * side.z < 0 ? -1 : 1;
      try_normal(s, (real3){sign * n.x, sign * n.y, sign * n.z});
    }
  }
}

// Depth is the support of A - B along -normal (normal from B to A), least over all directions; the search runs over
// outward normals m of A - B, and normal = -m: A leaves B by moving against the shallowest facet.
pair_reference pair_reference_depth(const carom_polytope *a, carom_pose pose_a, const carom_polytope *b,
                                    carom_pose pose_b) {
  depth_search s = {.a = a, .b = b, .pose_a = pose_a, .pose_b = pose_b, .least = 1e300L};
  s.va = place_all(a, pose_a), s.vb = place_all(b, pose_b);
  s.na = turn_normals(a, pose_a.q, 1), s.nb = turn_normals(b, pose_b.q, -1);
  try_faces(&s, a, s.va, 1);
  try_faces(&s, b, s.vb, -1);
  try_edges(&s);
  free(s.va), free(s.vb), free(s.na), free(s.nb);
  return (pair_reference){(double)-s.least, cm_neg(to_double(s.normal)), 0};
}

pair_reference pair_reference_of(const carom_polytope *a, carom_pose pose_a, const carom_polytope *b,
                                 carom_pose pose_b) {
  pair_reference reference;
  if (pair_reference_gap(a, pose_a, b, pose_b, &reference)) return reference;
  return pair_reference_depth(a, pose_a, b, pose_b);
}

// ---- making --------------------------------------------------------------------------------------------------------

static const double regime_distance[PAIR_REGIMES] = {1, 1e-3, -0.05};

static carom_vec3 random_axis(carom_random *r) {
  double x = carom_random_normal(r), y = carom_random_normal(r);
  return cm_unit(cm_vec3(x, y, carom_random_normal(r)));
}

static carom_quat random_turn(carom_random *r) {
  double w = carom_random_normal(r), x = carom_random_normal(r), y = carom_random_normal(r);
  return cm_qunit(cm_quat(w, x, y, carom_random_normal(r)));
}

static bool make_body(carom_random *r, int count, const carom_shape **shape) {
  carom_vec3 *v = malloc((size_t)count * sizeof *v), mean = cm_zero3();
  for (int i = 0; v && i < count; i++) {
    v[i] = random_axis(r);
    mean = cm_axpy(mean, 1.0 / count, v[i]);
  }
  for (int i = 0; v && i < count; i++) v[i] = cm_sub(v[i], mean);
  bool good = v && carom_shape_create_hull(v, count, NULL, shape, NULL) == CAROM_OK;
  free(v);
  return good;
}

static void judge(const pair_set *set, pair_case *c) {
  const carom_polytope *a = carom_shape_polytope(set->bodies[c->a]), *b = carom_shape_polytope(set->bodies[c->b]);
  pair_reference reference = pair_reference_of(a, c->pose_a, b, c->pose_b);
  c->distance = reference.distance, c->normal = reference.normal;
}

// Newton's method for the distance r along the axis u at which the signed distance is `target`: moving A along u by dr
// changes it by normal.u dr, exactly as long as the features stay. Where it does not settle (the shallowest facet jumps
// on a thin body) the pair is kept as it is: its distance is judged anyway.
static double settle(const pair_set *set, pair_case *c, carom_vec3 u, double r, double target) {
  carom_vec3 base = c->pose_b.p;
  for (int i = 0; i < 8; i++) {
    c->pose_a.p = cm_axpy(base, r, u);
    judge(set, c);
    double slope = cm_dot(c->normal, u);
    if (fabs(c->distance - target) < 1e-6 * fabs(target) || slope < 0.1) break;
    r += (target - c->distance) / slope;
  }
  return r;
}

static void make_sequence(const pair_set *set, carom_random *r, double target, pair_case *cases, int length) {
  int bodies = set->body_count;
  pair_case c = {.a = (int)carom_random_below(r, (uint32_t)bodies), .b = (int)carom_random_below(r, (uint32_t)bodies)};
  carom_vec3 u = random_axis(r), turn = random_axis(r), orbit = cm_unit(cm_cross(u, random_axis(r)));
  c.pose_a.q = random_turn(r), c.pose_b.q = random_turn(r);
  c.pose_b.p = random_axis(r);
  double distance = 1.5 + fmax(target, 0);
  for (int i = 0; i < length; i++) {
    distance = settle(set, &c, u, distance, target);
    cases[i] = c;
    c.pose_b.q = cm_qunit(cm_qmul(cm_axis_angle(turn, 0.01), c.pose_b.q));
    u = cm_rotate(cm_axis_angle(orbit, 0.01), u);
  }
}

bool pair_set_generate(pair_set *set, int vertex_count, int body_count, int pair_count, int sequence_length,
                       uint64_t seed) {
  int length = sequence_length > 1 ? sequence_length : 1;
  carom_random r = carom_random_make(seed, (uint64_t)vertex_count);
  *set = (pair_set){vertex_count, body_count, pair_count, sequence_length, NULL, NULL};
  if (!allocate(set)) return false;
  for (int i = 0; i < body_count; i++) {
    if (make_body(&r, vertex_count, &set->bodies[i])) continue;
    pair_set_release(set);
    return false;
  }
  for (int regime = 0; regime < PAIR_REGIMES; regime++)
    for (int i = 0; i + length <= pair_count; i += length)
      make_sequence(set, &r, regime_distance[regime], &set->cases[regime * pair_count + i], length);
  return true;
}
