// Trajectories through poses. Between two knots position and rotation are polynomials of degree 5 that meet value,
// velocity and acceleration at both: of x itself, and of the rotation vector psi of R = R_k exp(psi).
#include "control/trajectory.h"

#include <math.h>

#include "base/memory.h"
#include "control/hyper.h"

// ---- rotations along psi(t)
// ------------------------------------------------------------------------------------------

typedef struct turn {
  carom_quat q;          // exp(psi)
  carom_vec3 w, w_rate;  // in its own axes
} turn;

// sin(x/2)/x over s = x^2, with derivatives in s. Closed forms are 0/0 at 0; below, the series are exact to round-off.
static carom_hyper half_sinc(carom_hyper s) {
  double x = sqrt(s.v), f, df, ddf;
  if (s.v < 0.05) {
    f = 0.5 - s.v * (1.0 / 48 - s.v * (1.0 / 3840 - s.v * (1.0 / 645120 - s.v / 185794560)));
    df = -1.0 / 48 + s.v * (1.0 / 1920 - s.v * (1.0 / 215040 - s.v / 46448640));
    ddf = 1.0 / 1920 - s.v * (1.0 / 107520 - s.v * (1.0 / 15482880 - s.v / 4087480320));
  } else {
    f = sin(x / 2) / x;
    df = (cos(x / 2) / 2 - f) / (2 * s.v);
    ddf = -(f / 8 + 3 * df) / (2 * s.v);
  }
  return ch_apply(s, f, df, ddf);
}

static carom_quat quaternion_of(double w, carom_vec3 u) { return cm_quat(w, u.x, u.y, u.z); }
static carom_vec3 vector_of(carom_quat q) { return cm_vec3(q.x, q.y, q.z); }

// q = (cos(x/2), psi sin(x/2)/x), w = 2 q* q' and w' = 2 q* q'', of which the vectors count.
static turn turn_along(carom_vec3 psi, carom_vec3 rate, carom_vec3 second) {
  carom_hyper3 p = {psi, rate, rate, second};
  carom_hyper s = ch_dot(p, p), f = half_sinc(s);
  double f_slope = half_sinc((carom_hyper){s.v, 1, 0, 0}).a;
  carom_hyper c = ch_apply(s, cos(sqrt(s.v) / 2), -f.v / 4, -f_slope / 4);
  carom_hyper3 u = ch_scale3(f, p);
  carom_quat q = quaternion_of(c.v, u.v), back = cm_qconj(q);
  return (turn){q, cm_scale(2, vector_of(cm_qmul(back, quaternion_of(c.a, u.a)))),
                cm_scale(2, vector_of(cm_qmul(back, quaternion_of(c.ab, u.ab))))};
}

// ---- polynomials
// -----------------------------------------------------------------------------------------------------

// Through value, first and second derivative at 0 and at h.
static void fit(const carom_vec3 from[3], const carom_vec3 to[3], double h, carom_vec3 c[6]) {
  c[0] = from[0], c[1] = from[1], c[2] = cm_scale(0.5, from[2]);
  carom_vec3 at_end = cm_axpy(cm_axpy(c[0], h, c[1]), h * h, c[2]);
  carom_vec3 p = cm_scale(1 / (h * h * h), cm_sub(to[0], at_end));
  carom_vec3 v = cm_scale(1 / (h * h), cm_sub(to[1], cm_axpy(c[1], 2 * h, c[2])));
  carom_vec3 a = cm_scale(1 / h, cm_axpy(to[2], -2, c[2]));
  // p = c3 + c4 h + c5 h^2, v = 3 c3 + 4 c4 h + 5 c5 h^2, a = 6 c3 + 12 c4 h + 20 c5 h^2
  c[3] = cm_add(cm_axpy(cm_scale(10, p), -4, v), cm_scale(0.5, a));
  c[4] = cm_scale(1 / h, cm_sub(cm_axpy(cm_scale(-15, p), 7, v), a));
  c[5] = cm_scale(1 / (h * h), cm_add(cm_axpy(cm_scale(6, p), -3, v), cm_scale(0.5, a)));
}

// Value, first and second derivative.
static void evaluate(const carom_vec3 c[6], double t, carom_vec3 out[3]) {
  out[0] = out[1] = out[2] = cm_zero3();
  for (int k = 5; k >= 0; k--) {
    out[2] = cm_axpy(cm_scale(2, out[1]), t, out[2]);
    out[1] = cm_axpy(out[0], t, out[1]);
    out[0] = cm_axpy(c[k], t, out[0]);
  }
}

// ---- accelerations
// ---------------------------------------------------------------------------------------------------

// Mean acceleration from one knot to the next.
static carom_vec3 mean_rate(const carom_trajectory_knot *knot, bool spin) {
  const carom_trajectory_slope *from = spin ? knot[0].spin : knot[0].way, *to = spin ? knot[1].spin : knot[1].way;
  return cm_scale(1 / (knot[1].time - knot[0].time), cm_sub(to[0].rate, from[1].rate));
}

static void accelerate(int count, carom_trajectory_knot *knots, int i, bool spin) {
  carom_trajectory_knot *knot = &knots[i];
  bool has_before = i > 0, has_after = i + 1 < count;
  carom_vec3 before = has_before ? mean_rate(knot - 1, spin) : cm_zero3(),
             after = has_after ? mean_rate(knot, spin) : before;
  if (!has_before) before = after;
  if (has_before && has_after && !knot->jumps)
    before = after = carom_parabola_slope(before, after, knot[0].time - knot[-1].time, knot[1].time - knot[0].time);
  carom_trajectory_slope *out = spin ? knot->spin : knot->way;
  out[0].second = before, out[1].second = after;
}

void carom_trajectory_accelerate(int count, carom_trajectory_knot *knots) {
  for (int i = 0; i < count; i++) accelerate(count, knots, i, false), accelerate(count, knots, i, true);
}

// ---- from knots to polynomials
// ---------------------------------------------------------------------------------------

typedef struct segment {
  carom_vec3 x[6], psi[6];
  carom_quat q;  // R_k
} segment;

struct carom_trajectory {
  carom_allocator allocator;
  int count;
  double *times;      // (count)
  segment *segments;  // (count - 1)
  carom_reference first, last;
};

// psi at the end of a segment: T w = psi', and w' is linear in psi'', so that what it is without psi'' tells the rest.
static void end_of_turn(carom_quat q0, const carom_trajectory_knot *to, carom_vec3 psi[3]) {
  psi[0] = cm_log(cm_qmul(cm_qconj(q0), to->q));
  carom_mat3 inverse = cm_exp_tangent_inverse(cm_neg(psi[0]));
  psi[1] = cm_mulv(inverse, to->spin[0].rate);
  turn without = turn_along(psi[0], psi[1], cm_zero3());
  psi[2] = cm_mulv(inverse, cm_sub(to->spin[0].second, without.w_rate));
}

static segment segment_between(const carom_trajectory_knot *from, const carom_trajectory_knot *to) {
  segment s = {.q = from->q};
  double h = to->time - from->time;
  carom_vec3 start[3] = {from->x, from->way[1].rate, from->way[1].second};
  carom_vec3 end[3] = {to->x, to->way[0].rate, to->way[0].second};
  fit(start, end, h, s.x);
  carom_vec3 begun[3] = {cm_zero3(), from->spin[1].rate, from->spin[1].second}, ended[3];
  end_of_turn(from->q, to, ended);
  fit(begun, ended, h, s.psi);
  return s;
}

static carom_reference rest_at(const carom_trajectory_knot *knot) {
  return carom_reference_rest(cm_pose(knot->x, knot->q));
}

carom_status carom_trajectory_through(int count, const carom_trajectory_knot *knots, const carom_allocator *allocator,
                                      carom_trajectory **trajectory, carom_error *error) {
  carom_allocator a = carom_allocator_or_default(allocator);
  carom_trajectory *p = CAROM_NEW(&a, carom_trajectory, 1);
  double *times = CAROM_NEW(&a, double, count);
  segment *segments = CAROM_NEW(&a, segment, count - 1);
  if (!p || !times || !segments) {
    CAROM_RELEASE_ALL(&a, p, times, segments);
    return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for a trajectory of %d knots", count);
  }
  *p = (carom_trajectory){a, count, times, segments, rest_at(&knots[0]), rest_at(&knots[count - 1])};
  for (int i = 0; i < count; i++) times[i] = knots[i].time;
  for (int i = 0; i + 1 < count; i++) segments[i] = segment_between(&knots[i], &knots[i + 1]);
  *trajectory = p;
  return CAROM_OK;
}

void carom_trajectory_destroy(carom_trajectory *trajectory) {
  if (!trajectory) return;
  carom_allocator a = trajectory->allocator;
  CAROM_RELEASE_ALL(&a, trajectory->times, trajectory->segments, trajectory);
}

double carom_trajectory_start(const carom_trajectory *trajectory) { return trajectory->times[0]; }
double carom_trajectory_end(const carom_trajectory *trajectory) { return trajectory->times[trajectory->count - 1]; }

// The segment that holds a time between the first and the last.
static int segment_at(const carom_trajectory *trajectory, double time) {
  int low = 0, high = trajectory->count - 1;
  while (high - low > 1) {
    int middle = (low + high) / 2;
    if (time < trajectory->times[middle])
      high = middle;
    else
      low = middle;
  }
  return low;
}

carom_reference carom_trajectory_at(const carom_trajectory *trajectory, double time) {
  if (time < carom_trajectory_start(trajectory)) return trajectory->first;
  if (!(time <= carom_trajectory_end(trajectory))) return trajectory->last;
  int i = segment_at(trajectory, time);
  const segment *s = &trajectory->segments[i];
  carom_vec3 x[3], psi[3];
  evaluate(s->x, time - trajectory->times[i], x);
  evaluate(s->psi, time - trajectory->times[i], psi);
  turn t = turn_along(psi[0], psi[1], psi[2]);
  return (carom_reference){.position = x[0],
                           .rotation = cm_qunit(cm_qmul(s->q, t.q)),
                           .velocity = x[1],
                           .acceleration = x[2],
                           .angular_velocity_body = t.w,
                           .angular_acceleration_body = t.w_rate};
}
