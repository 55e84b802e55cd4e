// p is the point of least norm of a few columns; the column lowest along p either proves that nothing of D lies nearer
// (p . d >= |p|^2 for all d in D) or joins them. Which of them carry the new p is found by feet of perpendiculars and
// signed areas, as in Montanari, Petrinic and Barbieri (2017), "Improving the GJK algorithm for faster and more
// reliable distance queries between convex objects": no normal equations, whose condition is the square of the
// simplex's.
//
// |p| falls with every column; a column that does not bring it down ends the search at round-off.
#include "collide/gjk.h"

#include <float.h>

enum { MAX_QUERIES = 500, MAX_DETOURS = 8 };

// The best point found so far among the faces of a simplex.
typedef struct nearest {
  int count, index[3];  // ascending
  double w[3];
  carom_vec3 p;
  double norm2;
} nearest;

static void try_corner(const carom_simplex *s, int i, nearest *best) {
  carom_vec3 p = s->c[i].d;
  double norm2 = cm_norm2(p);
  if (!(norm2 < best->norm2)) return;
  *best = (nearest){1, {i}, {1}, p, norm2};
}

static void try_edge(const carom_simplex *s, int i, int j, nearest *best) {
  double w[2];
  carom_vec3 p;
  if (carom_foot_on_edge(s->c[i].d, s->c[j].d, w, &p)) {
    double norm2 = cm_norm2(p);
    if (norm2 < best->norm2) *best = (nearest){2, {i, j}, {w[0], w[1]}, p, norm2};
  } else {
    try_corner(s, w[0] > 0 ? i : j, best);
  }
}

// Where a weight is negative the nearest point lies on the edge across, or beyond it.
static void try_face(const carom_simplex *s, int i, int j, int k, nearest *best) {
  carom_vec3 a = s->c[i].d, b = s->c[j].d, c = s->c[k].d, ab = cm_sub(b, a), ac = cm_sub(c, a), n = cm_cross(ab, ac);
  double nn = cm_norm2(n);
  if (!(nn > carom_flat_area2(ab, ac))) {
    try_edge(s, i, j, best), try_edge(s, j, k, best), try_edge(s, i, k, best);
    return;
  }
  double h = cm_dot(n, a) / nn, w[3];
  if (!(h * h * nn < best->norm2)) return;  // its edges lie no nearer than its plane
  carom_vec3 p = carom_foot_on_plane(a, b, c, n, h, w);
  if (w[0] > 0 && w[1] > 0 && w[2] > 0) {
    double sum = w[0] + w[1] + w[2];
    *best = (nearest){3, {i, j, k}, {w[0] / sum, w[1] / sum, w[2] / sum}, p, h * h * nn};
    return;
  }
  if (!(w[0] > 0)) try_edge(s, j, k, best);
  if (!(w[1] > 0)) try_edge(s, i, k, best);
  if (!(w[2] > 0)) try_edge(s, i, j, best);
}

// Faces at the newest corner that part the origin from the corner across: only these can carry a nearer point. In a
// tetrahedron without volume sides mean nothing and all faces are tried. False when the origin is inside.
static bool try_tetrahedron(const carom_simplex *s, nearest *best) {
  carom_vec3 o = s->c[3].d, e[3];
  for (int i = 0; i < 3; i++) e[i] = cm_sub(s->c[i].d, o);
  double volume = cm_dot(e[0], cm_cross(e[1], e[2]));
  double flat = 16 * DBL_EPSILON * sqrt(cm_norm2(e[0]) * cm_norm2(e[1]) * cm_norm2(e[2]));
  bool inside = true;
  for (int i = 0; i < 3; i++) {
    int j = i == 2 ? 0 : i + 1;
    double side = -cm_dot(o, cm_cross(e[i], e[j]));  // volume that the origin spans with the face
    bool parted = fabs(volume) <= flat || (volume > 0 ? side < 0 : side > 0);
    if (!parted) continue;
    inside = false;
    try_face(s, i == 2 ? 0 : i, i == 2 ? 2 : j, 3, best);
  }
  return !inside;
}

static void keep(carom_simplex *s, const nearest *best) {
  s->count = best->count;
  for (int i = 0; i < best->count; i++) {
    if (best->index[i] != i) s->c[i] = s->c[best->index[i]];
    s->w[i] = best->w[i];
  }
  s->p = best->p;
  s->norm2 = best->norm2;
}

// The nearest point of the columns becomes p. False, and p stays, when it is no nearer than `norm2`.
static bool reduce(carom_simplex *s, double norm2, bool *inside) {
  nearest best = {.norm2 = norm2};
  *inside = false;
  switch (s->count) {
    case 1:
      try_corner(s, 0, &best);
      break;
    case 2:
      try_edge(s, 0, 1, &best);
      break;
    case 3:
      try_face(s, 0, 1, 2, &best);
      break;
    default:
      *inside = !try_tetrahedron(s, &best);
  }
  if (best.count == 0) return *inside;
  keep(s, &best);
  return true;
}

void carom_simplex_nearest(carom_simplex *s) {
  bool inside;
  reduce(s, DBL_MAX, &inside);
}

// The residual p - sum w d is taken out along the longest edge; across it, errors of w hardly count.
void carom_simplex_polish(carom_simplex *s) {
  if (s->count < 3) return;
  int from = 0, to = 1;
  double longest = 0;
  carom_vec3 e = cm_zero3(), r = s->p;
  for (int i = 0; i < 3; i++) {
    int j = i == 2 ? 0 : i + 1;
    carom_vec3 edge = cm_sub(s->c[j].d, s->c[i].d);
    double length2 = cm_norm2(edge);
    r = cm_axpy(r, -s->w[i], s->c[i].d);
    if (length2 > longest) longest = length2, e = edge, from = i, to = j;
  }
  double shift = cm_dot(r, e) / longest;
  if (!(s->w[to] + shift > 0 && s->w[from] - shift > 0)) return;
  s->w[to] += shift, s->w[from] -= shift;
}

static bool holds(const carom_simplex *s, const carom_column *c) {
  for (int i = 0; i < s->count; i++)
    if (carom_column_same(&s->c[i], c)) return true;
  return false;
}

// A column that promises more than round-off and yet brings p no nearer: the columns are so thin that |p| no longer
// tells good normals from bad ones. Steps aside to columns as near as these, as long as there are tries left.
typedef struct detour {
  int tries;
  double slack;  // of the best columns so far
  carom_simplex best;
} detour;

static bool step_aside(detour *t, double slack, carom_simplex *s, const carom_column *c) {
  bool inside;
  if (t->tries == 0 || slack < t->slack) t->best = *s, t->slack = slack;
  if (t->tries++ == MAX_DETOURS) return false;
  s->c[s->count++] = *c;
  return reduce(s, s->norm2 * (1 + 8 * DBL_EPSILON), &inside) && !inside;
}

carom_gjk_outcome carom_gjk(carom_difference *D, carom_simplex *s) {
  double touch2 = 16 * D->round_off * D->round_off;
  bool inside;
  detour aside;
  aside.tries = 0, aside.slack = DBL_MAX;
  carom_simplex_nearest(s);
  while (s->norm2 > touch2) {
    carom_column c = carom_difference_lowest(D, s->p);
    s->lowest = cm_dot(s->p, c.d);
    double slack = s->norm2 - s->lowest;  // |p| times the duality gap
    if (slack <= 0 || slack * slack <= D->round_off * D->round_off * s->norm2) return CAROM_GJK_APART;
    if (holds(s, &c) || D->queries >= MAX_QUERIES) {
      if (aside.slack < slack) *s = aside.best;
      return CAROM_GJK_APART;
    }
    carom_difference_spread(D);
    s->c[s->count++] = c;
    if (reduce(s, s->norm2, &inside)) {
      if (inside) return CAROM_GJK_INSIDE;
    } else {
      s->count--;
      if (step_aside(&aside, slack, s, &c)) continue;
      *s = aside.best;
      return CAROM_GJK_APART;
    }
  }
  return CAROM_GJK_TOUCHING;
}
