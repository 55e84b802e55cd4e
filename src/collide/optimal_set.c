#include "collide/optimal_set.h"

#include <float.h>
#include <string.h>

#include "collide/round_points.h"

static const double DEFAULT_TOLERANCE = 1e-10;
// On curved surfaces the program stops when the gap is right to round-off; the plane is then right to its square root.
static const double CURVED_TOLERANCE = 3e-8;

carom_stand carom_stand_of(const carom_placed *placed) {
  return (carom_stand){placed->shape, cm_rotation(placed->pose.q), placed->pose.p};
}

// With vertices, sharp or rounded; with sharp ones.
static bool has_vertices(const carom_stand *s) { return s->shape->kind == CAROM_SHAPE_POLYTOPE; }
static bool is_polytope(const carom_stand *s) { return has_vertices(s) && s->shape->radius == 0; }
static bool is_halfspace(const carom_stand *s) { return s->shape->kind == CAROM_SHAPE_HALFSPACE; }

carom_vec3 carom_column_point(const carom_stand *body, int vertex, carom_vec3 column) {
  return vertex >= 0 && body->shape->radius == 0 ? carom_stand_vertex(body, vertex) : cm_sub(column, body->p);
}

// ---- points in the plane of the query ------------------------------------------------------------------------------

static void add_point(carom_optimal_side *side, int vertex, carom_vec3 point) {
  side->vertex[side->count] = vertex;
  side->point[side->count++] = point;
}

static bool has_vertex(const int *list, int count, int vertex) {
  for (int i = 0; i < count; i++)
    if (list[i] == vertex) return true;
  return false;
}

static double lowest_vertex(const carom_polytope *p, carom_vec3 local) {
  double least = DBL_MAX;
  for (int i = 0; i < p->vertex_count; i++) least = fmin(least, cm_dot(local, p->vertices[i]));
  return least;
}

// Vertices within `reach` of the lowest along `direction`. If there are more than fit, those that carry the query's
// weights are kept and the others thinned out evenly.
static void collect_vertices(carom_optimal_side *side, carom_vec3 direction, double reach, const int *columns,
                             int column_count) {
  const carom_polytope *p = &side->body.shape->polytope;
  carom_vec3 local = cm_tmulv(side->body.R, direction);
  double limit = lowest_vertex(p, local) + reach;
  carom_vec3 round = cm_scale(-side->body.shape->radius, cm_unit(direction));
  int active = 0, room = CAROM_OPTIMAL_MAX - column_count, seen = 0;
  for (int i = 0; i < p->vertex_count; i++) active += cm_dot(local, p->vertices[i]) <= limit ? 1 : 0;
  for (int i = 0; i < p->vertex_count; i++) {
    bool carries = has_vertex(columns, column_count, i), in_plane = cm_dot(local, p->vertices[i]) <= limit;
    if (in_plane) seen++;
    bool fits = active == 0 || active <= room;
    bool spaced = fits || (int64_t)seen * room / active > (int64_t)(seen - 1) * room / active;
    if (carries || (in_plane && spaced)) add_point(side, i, cm_add(round, carom_stand_vertex(&side->body, i)));
  }
}

// Points of a curved shape; RIM of them stand for the disc on which a cylinder or a cone may stand.
static void collect_curved(carom_optimal_side *side, carom_vec3 direction, double reach) {
  enum { RIM = 48 };
  carom_vec3 points[CAROM_ROUND_MAX];
  carom_vec3 local = cm_unit(cm_tmulv(side->body.R, direction));
  int count = carom_round_points(side->body.shape, local, reach / cm_norm(direction), RIM, points);
  for (int i = 0; i < count && i < CAROM_OPTIMAL_MAX; i++) add_point(side, -1, cm_mulv(side->body.R, points[i]));
}

static void collect(carom_optimal_side *side, carom_vec3 direction, double reach, const int *columns,
                    int column_count) {
  if (has_vertices(&side->body))
    collect_vertices(side, direction, reach, columns, column_count);
  else if (is_halfspace(&side->body))
    add_point(side, -1, side->witness);
  else
    collect_curved(side, direction, reach);
}

// ---- weights -------------------------------------------------------------------------------------------------------

// Offset of a point from its body's witness point, seen along beta.
static void offset_of(const carom_optimal_set *set, const carom_optimal_side *side, carom_vec3 point, double at[2]) {
  carom_vec3 d = cm_sub(point, side->witness);
  at[0] = cm_dot(set->e1, d), at[1] = set->planar ? 0 : cm_dot(set->e2, d);
}

void carom_weight_rows_fill(const carom_optimal_set *set, carom_weight_rows *rows) {
  double longest = 0;
  memset(rows, 0, sizeof *rows);
  for (int k = 0; k < 2; k++) {
    const carom_optimal_side *side = k == 0 ? &set->a : &set->b;
    for (int i = 0; i < side->count; i++) {
      double at[2];
      offset_of(set, side, side->point[i], at);
      int j = rows->count++;
      rows->E[k][j] = 1;
      rows->E[2][j] = k == 0 ? at[0] : -at[0], rows->E[3][j] = k == 0 ? at[1] : -at[1];
      longest = fmax(longest, hypot(at[0], at[1]));
    }
  }
  double scale = longest > set->tolerance ? 1 / longest : 0;  // a lone point each: nothing but round-off
  for (int j = 0; j < rows->count; j++) rows->E[2][j] *= scale, rows->E[3][j] *= scale;
}

// The weights of the query, summed by vertex.
static void first_weights(const carom_optimal_side *side, const int *columns, const carom_ssh_result *r, double *y) {
  for (int i = 0; i < side->count; i++)
    for (int k = 0; k < r->column_count; k++)
      if (columns[k] == side->vertex[i]) y[i] += r->weight[k];
}

static void keep_weights(carom_optimal_side *side, const double *y) {
  double sum = 0;
  for (int i = 0; i < side->count; i++) sum += y[i];
  for (int i = 0; i < side->count; i++) side->weight[i] = sum > 0 ? y[i] / sum : 1.0 / side->count;
}

static void weigh(carom_optimal_set *set, const carom_ssh_result *r) {
  bool plane_a = is_halfspace(&set->a.body), plane_b = is_halfspace(&set->b.body);
  double y[CAROM_OPTIMAL_COLUMNS] = {0};
  if (!plane_a && !plane_b) {
    carom_weight_rows rows;
    carom_weight_rows_fill(set, &rows);
    if (has_vertices(&set->a.body) && has_vertices(&set->b.body)) {
      first_weights(&set->a, r->vertex_a, r, y);
      first_weights(&set->b, r->vertex_b, r, y + set->a.count);
    } else {
      const double nothing[CAROM_OPTIMAL_COLUMNS] = {0};
      carom_weights_minimize(&rows, nothing, y);
    }
    carom_weights_least_norm(&rows, y);
  } else {  // any weights will do: a half-space has a foot for each point
    for (int i = 0; i < set->a.count + set->b.count; i++) y[i] = 1;
  }
  keep_weights(&set->a, y);
  keep_weights(&set->b, y + set->a.count);
}

// ---- planes --------------------------------------------------------------------------------------------------------

// Rank of the offsets of the points with a weight above `least`, and the direction of the longest.
static int rank_of(const carom_optimal_set *set, double least, double direction[2]) {
  double longest = 0, across = 0;
  for (int pass = 0; pass < 2; pass++)
    for (int k = 0; k < 2; k++) {
      const carom_optimal_side *side = k == 0 ? &set->a : &set->b;
      for (int i = 0; i < side->count; i++) {
        double at[2];
        offset_of(set, side, side->point[i], at);
        double length = hypot(at[0], at[1]);
        if (side->weight[i] <= least) continue;
        if (pass == 0 && length > longest)
          longest = length, direction[0] = at[0] / length, direction[1] = at[1] / length;
        if (pass == 1) across = fmax(across, fabs(direction[0] * at[1] - direction[1] * at[0]));
      }
    }
  if (longest <= set->tolerance) return 0;
  return across <= set->tolerance ? 1 : 2;
}

// One constraint of X*: all points of A lie above the plane through its witness, those of B below theirs.
static carom_vec3 constraint(const carom_optimal_set *set, int k) {
  int in_a = set->a.body.shape->polytope.vertex_count;
  if (k < in_a) return cm_sub(carom_stand_vertex(&set->a.body, k), set->a.witness);
  return cm_sub(set->b.witness, carom_stand_vertex(&set->b.body, k - in_a));
}

static int constraint_count(const carom_optimal_set *set) {
  return set->a.body.shape->polytope.vertex_count + set->b.body.shape->polytope.vertex_count;
}

// X* as a segment: how far alpha can tilt about the line of the weighted points until it hits another vertex. The
// query's own plane has s = 0 and is feasible, so low <= 0 <= high.
static void find_segment(carom_optimal_set *set) {
  set->low = -DBL_MAX, set->high = DBL_MAX;
  for (int k = 0; k < constraint_count(set); k++) {
    carom_vec3 d = constraint(set, k);
    double slope = cm_dot(set->tilt, d), slack = fmax(0, cm_dot(set->alpha, d));
    if (fabs(slope) <= set->tolerance) continue;  // on the line, or parallel to it: never hit
    if (slack <= set->tolerance * cm_norm(set->alpha)) slack = 0;
    if (slope > 0)
      set->low = fmax(set->low, -slack / slope);
    else
      set->high = fmin(set->high, slack / -slope);
  }
}

// Moves alpha along the segment to its least norm.
static void center_segment(carom_optimal_set *set) {
  double s = -cm_dot(set->alpha, set->tilt);
  s = fmin(fmax(s, set->low), set->high);
  set->alpha = cm_axpy(set->alpha, s, set->tilt);
  set->low -= s, set->high -= s;
}

// A side keeps the points that lie in all planes of X*.
static void drop_loose(const carom_optimal_set *set, carom_optimal_side *side) {
  int kept = 0;
  for (int i = 0; i < side->count; i++) {
    double at[2];
    offset_of(set, side, side->point[i], at);
    bool loose = set->plane_freedom == 2
                     ? hypot(at[0], at[1]) > set->tolerance
                     : fabs(cm_dot(set->tilt, cm_sub(side->point[i], side->witness))) > set->tolerance;
    if (loose) continue;
    side->vertex[kept] = side->vertex[i], side->point[kept] = side->point[i], side->weight[kept++] = side->weight[i];
  }
  side->count = kept;
  double y[CAROM_OPTIMAL_MAX];
  memcpy(y, side->weight, sizeof y);
  keep_weights(side, y);
}

static void find_planes(carom_optimal_set *set) {
  double m[2] = {0, 0};
  if (!is_polytope(&set->a.body) || !is_polytope(&set->b.body)) return;  // a smooth D has one plane at each point
  int rank = rank_of(set, set->tolerance / set->size, m);
  set->plane_freedom = (set->planar ? 1 : 2) - rank;
  if (set->plane_freedom == 0) return;
  bool segment = set->plane_freedom == 1;
  if (segment) {
    set->tilt = set->planar ? set->e1 : cm_add(cm_scale(-m[1], set->e1), cm_scale(m[0], set->e2));
    find_segment(set);
    if (set->high - set->low <= set->tolerance / set->size * cm_norm(set->alpha)) set->plane_freedom = 0;
  }
  if (set->plane_freedom == 0) return;
  drop_loose(set, &set->a);
  drop_loose(set, &set->b);
  if (segment)
    center_segment(set);
  else
    set->alpha = carom_optimal_corner(set, NULL);
}

// ---- polygons of planes --------------------------------------------------------------------------------------------

// Range of z0 + s t that satisfies the first `count` constraints.
static void range_on_line(const carom_optimal_set *set, int count, const double z0[2], const double t[2], double *low,
                          double *high) {
  for (int k = 0; k < count; k++) {
    carom_vec3 d = constraint(set, k);
    double c[2] = {cm_dot(set->e1, d), cm_dot(set->e2, d)};
    double slack = c[0] * z0[0] + c[1] * z0[1] + cm_dot(set->beta, d), slope = c[0] * t[0] + c[1] * t[1];
    if (fabs(slope) <= 1e-14 * set->size) continue;
    if (slope > 0)
      *low = fmax(*low, -slack / slope);
    else
      *high = fmin(*high, -slack / slope);
  }
}

// Seidel's incremental method (1991) in the plane (u, v): when a constraint cuts off the best point so far, the new one
// lies on its line. Without a `rate` the goal is the point closest to beta, that is u = v = 0.
carom_vec3 carom_optimal_corner(const carom_optimal_set *set, const carom_vec3 *rate) {
  double far = 1e6, g[2] = {0, 0};
  if (rate) g[0] = cm_dot(set->e1, *rate), g[1] = cm_dot(set->e2, *rate);
  double z[2] = {rate ? copysign(far, g[0]) : 0, rate ? copysign(far, g[1]) : 0};
  for (int k = 0; k < constraint_count(set); k++) {
    carom_vec3 d = constraint(set, k);
    double c[2] = {cm_dot(set->e1, d), cm_dot(set->e2, d)}, length = hypot(c[0], c[1]), height = cm_dot(set->beta, d);
    if (length <= set->tolerance || c[0] * z[0] + c[1] * z[1] + height >= -1e-15 * set->size) continue;
    double t[2] = {-c[1] / length, c[0] / length}, low = -far, high = far;
    double z0[2] = {-height * c[0] / (length * length), -height * c[1] / (length * length)};
    range_on_line(set, k, z0, t, &low, &high);
    double gain = g[0] * t[0] + g[1] * t[1];
    double s = !rate ? fmin(fmax(0, low), high) : gain > 0 ? high : low;
    z[0] = z0[0] + s * t[0], z[1] = z0[1] + s * t[1];
  }
  return cm_add(set->beta, cm_add(cm_scale(z[0], set->e1), cm_scale(z[1], set->e2)));
}

// ---- the set -------------------------------------------------------------------------------------------------------

static carom_vec3 witness_of(const carom_stand *body, const int *vertex, const carom_vec3 *column,
                             const carom_ssh_result *r) {
  carom_vec3 sum = cm_zero3();
  for (int k = 0; k < r->column_count; k++)
    sum = cm_axpy(sum, r->weight[k], carom_column_point(body, vertex[k], column[k]));
  return sum;
}

static double length_of(const carom_stand *s) { return is_halfspace(s) ? 0 : s->shape->bounding_radius; }

carom_status carom_optimal_set_find(const carom_placed *a, const carom_placed *b, const carom_ssh_result *r,
                                    double tolerance, carom_optimal_set *set) {
  bool sound = isfinite(r->gap) && cm_finite(r->alpha) && r->column_count > 0 && cm_norm(r->alpha) > 0;
  if (!sound || !(tolerance >= 0)) return CAROM_ERR_NUMBER;
  set->a.body = carom_stand_of(a), set->b.body = carom_stand_of(b);
  set->a.count = set->b.count = 0;
  set->beta = r->beta, set->alpha = r->alpha, set->planar = r->planar;
  cm_frame(set->beta, &set->e1, &set->e2);
  if (set->planar) set->e1 = cm_vec3(-r->beta.y, r->beta.x, 0), set->e2 = cm_vec3(0, 0, 1);
  set->size = length_of(&set->a.body) + length_of(&set->b.body);
  bool polytopes = (is_polytope(&set->a.body) || is_halfspace(&set->a.body)) &&
                   (is_polytope(&set->b.body) || is_halfspace(&set->b.body));
  double relative = tolerance > 0 ? tolerance : DEFAULT_TOLERANCE;
  set->tolerance = (polytopes ? relative : fmax(relative, CURVED_TOLERANCE)) * set->size;
  set->plane_freedom = 0, set->tilt = cm_zero3(), set->low = set->high = 0;
  set->a.witness = witness_of(&set->a.body, r->vertex_a, r->column_a, r);
  set->b.witness = witness_of(&set->b.body, r->vertex_b, r->column_b, r);
  double reach = set->tolerance * cm_norm(r->alpha);
  collect(&set->a, r->alpha, reach, r->vertex_a, r->column_count);
  collect(&set->b, cm_neg(r->alpha), reach, r->vertex_b, r->column_count);
  weigh(set, r);
  find_planes(set);
  double m[2] = {0, 0};
  bool plane = is_halfspace(&set->a.body) || is_halfspace(&set->b.body);
  set->weight_freedom = set->a.count + set->b.count - 2 - (plane ? 0 : rank_of(set, -1, m));
  return CAROM_OK;
}
