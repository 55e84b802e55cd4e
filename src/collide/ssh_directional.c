// One-sided derivative of the gap along a motion. A program that is a saddle, max over planes of min over weights of
// its Lagrangian L, has the derivative (Golshtein 1972; with bounded X* and Y*)
//
//     gap' = max over alpha in X* of min over y in Y* of  alpha . (sum of y_i dx_i - sum of y_j dy_j - gap dbeta).
//
// Where X* is a point this is a linear program over Y*. Where it is a polygon one vertex meets one vertex, Y* is a
// point, and the maximum is a corner of the polygon. Where it is a segment both bodies touch along parallel lines (at
// most an edge each), Y* is a segment too, and the saddle is that of two straight lines; in the plane Y* may have more
// corners, as vertices over each other tie.
#include <float.h>

#include "collide/beta_line.h"

typedef struct motion {
  const carom_optimal_set *set;
  carom_weight_rows rows;
  const carom_vec3 *a, *b;  // twists
  carom_vec3 turn;          // gap dbeta
} motion;

static carom_vec3 velocity(const carom_vec3 twist[2], carom_vec3 r) { return cm_add(twist[0], cm_cross(twist[1], r)); }

// sum of y_i dx_i - sum of y_j dy_j - gap dbeta: alpha . rate is the derivative of L.
static carom_vec3 rate_of(const motion *m, const double *y) {
  const carom_optimal_side *a = &m->set->a, *b = &m->set->b;
  carom_vec3 rate = cm_neg(m->turn);
  for (int i = 0; i < a->count; i++) rate = cm_axpy(rate, y[i], velocity(m->a, a->point[i]));
  for (int j = 0; j < b->count; j++) rate = cm_axpy(rate, -y[a->count + j], velocity(m->b, b->point[j]));
  return rate;
}

// The rate whose weights are worst for the given plane. Weights on a curved surface satisfy their rows to the root of
// round-off only; if that is too little for the linear program, those of least norm stand for all.
static carom_vec3 worst_rate(const motion *m, carom_vec3 alpha) {
  const carom_optimal_side *a = &m->set->a, *b = &m->set->b;
  double c[CAROM_OPTIMAL_COLUMNS], y[CAROM_OPTIMAL_COLUMNS];
  for (int i = 0; i < a->count; i++) c[i] = cm_dot(alpha, velocity(m->a, a->point[i]));
  for (int j = 0; j < b->count; j++) c[a->count + j] = -cm_dot(alpha, velocity(m->b, b->point[j]));
  if (!carom_weights_minimize(&m->rows, c, y)) {
    for (int i = 0; i < a->count; i++) y[i] = a->weight[i];
    for (int j = 0; j < b->count; j++) y[a->count + j] = b->weight[j];
  }
  return rate_of(m, y);
}

// max over s of the least r . alpha(s): a roof of straight lines. It begins with those that are lowest at the ends;
// where a rising and a falling one meet, a line that lies lower takes the place of one of them.
static double saddle_on_segment(const motion *m) {
  const carom_optimal_set *set = m->set;
  carom_vec3 first = cm_axpy(set->alpha, set->low, set->tilt), last = cm_axpy(set->alpha, set->high, set->tilt);
  carom_vec3 r0 = worst_rate(m, first), r1 = worst_rate(m, last);
  double rise = cm_dot(r0, set->tilt), fall = cm_dot(r1, set->tilt);
  if (rise <= 0 || fall >= 0) return fmax(cm_dot(r0, first), cm_dot(r1, last));  // highest at an end
  double value = 0;
  for (int round = 0; round < CAROM_OPTIMAL_COLUMNS; round++) {
    double s = cm_dot(cm_sub(r1, r0), set->alpha) / (cm_dot(r0, set->tilt) - cm_dot(r1, set->tilt));
    carom_vec3 alpha = cm_axpy(set->alpha, fmin(fmax(s, set->low), set->high), set->tilt), r = worst_rate(m, alpha);
    value = fmin(cm_dot(r0, alpha), cm_dot(r1, alpha));
    if (cm_dot(r, alpha) >= value - 1e-14 * fabs(value)) break;  // no other line lies below the two
    if (cm_dot(r, set->tilt) > 0)
      r0 = r;
    else
      r1 = r;
    value = cm_dot(r, alpha);
  }
  return value;
}

// Half-space: each active point has its own foot, alpha is the normal; the worst point counts.
static double halfspace_rate(const motion *m, const carom_ssh_result *r) {
  const carom_optimal_side *a = &m->set->a, *b = &m->set->b;
  bool a_is_plane = a->body.shape->kind == CAROM_SHAPE_HALFSPACE;
  const carom_optimal_side *body = a_is_plane ? b : a, *plane = a_is_plane ? a : b;
  carom_vec3 shift = cm_axpy(cm_sub(body->body.p, plane->body.p), a_is_plane ? r->gap : -r->gap, r->beta);
  double least = DBL_MAX;
  for (int i = 0; i < body->count; i++) {
    carom_vec3 x = velocity(a_is_plane ? m->b : m->a, body->point[i]);
    carom_vec3 foot = velocity(a_is_plane ? m->a : m->b, cm_add(body->point[i], shift));
    carom_vec3 apart = a_is_plane ? cm_sub(foot, x) : cm_sub(x, foot);
    least = fmin(least, cm_dot(r->alpha, cm_sub(apart, m->turn)));
  }
  return least;
}

static carom_vec3 turn_of_beta(const carom_optimal_set *set, const carom_ssh_result *r, bool beta_moves,
                               const carom_vec3 twist_a[2], const carom_vec3 twist_b[2]) {
  carom_beta_line line = carom_beta_line_of(&set->a.body, &set->b.body, r, beta_moves);
  if (!line.moves) return cm_zero3();
  carom_vec3 dc = cm_sub(velocity(twist_a, line.center_a), velocity(twist_b, line.center_b));
  return cm_scale(r->gap / line.length, cm_axpy(dc, -cm_dot(dc, r->beta), r->beta));
}

carom_status carom_ssh_directional(const carom_placed *a, const carom_placed *b, const carom_ssh_result *result,
                                   bool beta_moves, const carom_vec3 twists[4], double *derivative) {
  carom_optimal_set set;
  carom_status status = carom_optimal_set_find(a, b, result, 0, &set);
  if (status != CAROM_OK) return status;
  motion m = {.set = &set, .a = twists, .b = twists + 2};
  m.turn = turn_of_beta(&set, result, beta_moves, m.a, m.b);
  if (a->shape->kind == CAROM_SHAPE_HALFSPACE || b->shape->kind == CAROM_SHAPE_HALFSPACE) {
    *derivative = halfspace_rate(&m, result);
    return CAROM_OK;
  }
  carom_weight_rows_fill(&set, &m.rows);
  if (set.plane_freedom == 1) {
    *derivative = saddle_on_segment(&m);
  } else {
    carom_vec3 rate = worst_rate(&m, set.alpha);
    *derivative = cm_dot(set.plane_freedom == 2 ? carom_optimal_corner(&set, &rate) : set.alpha, rate);
  }
  return isfinite(*derivative) ? CAROM_OK : CAROM_ERR_NUMBER;
}
