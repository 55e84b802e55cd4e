// Approach curves along the field lines of a virtual dipole (Johnson 2012, 4.5.5). Derivatives in time are carried
// along as hyperdual numbers with both directions the same: value, first and second derivative, exact to round-off.
#include <math.h>

#include "carom/track.h"
#include "control/hyper.h"

carom_field_line carom_field_line_default(void) {
  return (carom_field_line){.docked = {1, 0, 0, 0}, .speed = 5e-2, .stop = 1e-2, .limit = 0.1, .ahead = 1e-3};
}

// c0
static carom_vec3 port_axis(const carom_field_line *line) { return cm_rotate(line->docked, cm_vec3(-1, 0, 0)); }

// ---- the field
// -------------------------------------------------------------------------------------------------------

static carom_hyper3 in_time(carom_vec3 value, carom_vec3 rate, carom_vec3 second) {
  return (carom_hyper3){value, rate, rate, second};
}

// b = 3 (c0.d) d/d.d - c0
static carom_hyper3 field(carom_hyper3 d, carom_vec3 axis) {
  carom_hyper3 c0 = ch_vector(axis);
  carom_hyper factor = ch_scale(3, ch_mul(ch_dot(c0, d), ch_inverse(ch_dot(d, d))));
  return ch_sub3(ch_scale3(factor, d), c0);
}

// The field along the line through d: d' = -eta b, d'' = -eta b'.
static carom_hyper3 field_along(const carom_field_line *line, carom_vec3 d, carom_vec3 axis) {
  double eta = line->speed;
  carom_vec3 rate = cm_scale(-eta, field(ch_vector(d), axis).v);
  carom_vec3 second = cm_scale(-eta, field(in_time(d, rate, cm_zero3()), axis).a);
  return field(in_time(d, rate, second), axis);
}

static carom_vec3 velocity_at(const carom_field_line *line, carom_vec3 position, carom_vec3 axis) {
  return cm_scale(-line->speed, field(ch_vector(cm_sub(position, line->center)), axis).v);
}

static carom_hyper3 unit(carom_hyper3 a) { return ch_scale3(ch_inverse(ch_sqrt(ch_dot(a, a))), a); }

// ---- the craft's frame
// -----------------------------------------------------------------------------------------------

typedef struct frame {
  carom_hyper3 d1, d2, d3;
} frame;

// d1 along the path, and one axis of the docked frame projected across it (eq. 4.30).
static frame frame_along(const carom_field_line *line, carom_hyper3 b, int axis) {
  frame f = {.d1 = ch_times3(-1, unit(b))};
  carom_hyper3 e = ch_vector(cm_rotate(line->docked, axis == 2 ? cm_vec3(0, 1, 0) : cm_vec3(0, 0, 1)));
  carom_hyper3 a = unit(ch_sub3(e, ch_scale3(ch_dot(f.d1, e), f.d1)));
  f.d2 = axis == 2 ? a : ch_cross(a, f.d1);
  f.d3 = axis == 2 ? ch_cross(f.d1, a) : a;
  return f;
}

static carom_quat rotation_of(const frame *f) {
  carom_vec3 a = f->d1.v, b = f->d2.v, c = f->d3.v;
  carom_mat3 R = {{{a.x, b.x, c.x}, {a.y, b.y, c.y}, {a.z, b.z, c.z}}};
  return cm_quat_of(R);
}

// hat(w) = R'R', so that w = (d3.d2', d1.d3', d2.d1').
static carom_vec3 spin_of(const frame *f) {
  return cm_vec3(cm_dot(f->d3.v, f->d2.a), cm_dot(f->d1.v, f->d3.a), cm_dot(f->d2.v, f->d1.a));
}

static double spin_rate(carom_hyper3 x, carom_hyper3 y) { return cm_dot(x.a, y.a) + cm_dot(x.v, y.ab); }

int carom_field_line_axis(const carom_field_line *line, carom_vec3 position) {
  carom_vec3 across = cm_cross(cm_sub(position, line->center), port_axis(line));
  carom_vec3 in_port = cm_unrotate(line->docked, across);
  return fabs(in_port.z) > fabs(in_port.y) ? 3 : 2;
}

static carom_reference docked_reference(const carom_field_line *line) {
  return carom_reference_rest(cm_pose(cm_axpy(line->center, line->stop, port_axis(line)), line->docked));
}

static bool has_arrived(const carom_field_line *line, carom_vec3 position) {
  return !(cm_norm(cm_sub(position, line->center)) > line->stop);
}

carom_reference carom_field_line_at(const carom_field_line *line, carom_vec3 position, int axis) {
  if (has_arrived(line, position)) return docked_reference(line);
  carom_hyper3 b = field_along(line, cm_sub(position, line->center), port_axis(line));
  frame f = frame_along(line, b, axis);
  return (carom_reference){
      .position = position,
      .rotation = rotation_of(&f),
      .velocity = cm_scale(-line->speed, b.v),
      .acceleration = cm_scale(-line->speed, b.a),
      .angular_velocity_body = spin_of(&f),
      .angular_acceleration_body = cm_vec3(spin_rate(f.d3, f.d2), spin_rate(f.d1, f.d3), spin_rate(f.d2, f.d1)),
  };
}

// ---- where it may start
// ----------------------------------------------------------------------------------------------

static carom_status check_line(const carom_field_line *line, carom_error *error) {
  if (!(line->speed > 0) || !isfinite(line->speed))
    return carom_fail(error, CAROM_ERR_NUMBER, "field line: the speed is %g m/s, but must be positive", line->speed);
  if (!(line->stop > 0) || !isfinite(line->stop))
    return carom_fail(error, CAROM_ERR_NUMBER, "field line: stop is %g m, but must be positive", line->stop);
  if (!(line->limit > 0) || !(line->ahead >= 0))
    return carom_fail(error, CAROM_ERR_NUMBER, "field line: limit %g m must be positive, and ahead %g s not negative",
                      line->limit, line->ahead);
  if (!(fabs(cm_qdot(line->docked, line->docked) - 1) <= 2e-6) || !cm_finite(line->center))
    return carom_fail(error, CAROM_ERR_NUMBER,
                      "field line: the docked rotation must be a unit quaternion (w, x, y, z), and the centre finite");
  return CAROM_OK;
}

// Field lines are r = R sin^2(angle from the axis): R is the farthest they go.
carom_status carom_field_line_check(const carom_field_line *line, carom_vec3 start, carom_error *error) {
  carom_status status = check_line(line, error);
  if (status != CAROM_OK) return status;
  carom_vec3 d = cm_sub(start, line->center), across = cm_cross(d, port_axis(line));
  double distance = cm_norm(d), along = cm_dot(d, port_axis(line)), sine = cm_norm(across) / distance;
  if (!(distance > line->stop))
    return carom_fail(error, CAROM_ERR_ARGUMENT,
                      "the craft starts %g m from the dipole, within the %g m at which it counts as docked", distance,
                      line->stop);
  double farthest = distance / (sine * sine);
  if (along >= 0 || farthest <= line->reach) return CAROM_OK;
  return carom_fail(error, CAROM_ERR_ARGUMENT,
                    "the craft starts behind the dipole, %.1f degrees off the port's axis, where field lines lead away "
                    "from it: start in front of the port, or set 'reach' to %.3g m or more to fly round",
                    180 - asin(fmin(sine, 1)) * (180 / 3.14159265358979323846), farthest);
}

// ---- along the line
// --------------------------------------------------------------------------------------------------

// Runge and Kutta's step of order 4.
static carom_vec3 advance(const carom_field_line *line, carom_vec3 x, carom_vec3 axis, double h) {
  carom_vec3 k1 = velocity_at(line, x, axis), k2 = velocity_at(line, cm_axpy(x, h / 2, k1), axis);
  carom_vec3 k3 = velocity_at(line, cm_axpy(x, h / 2, k2), axis), k4 = velocity_at(line, cm_axpy(x, h, k3), axis);
  carom_vec3 sum = cm_add(cm_add(k1, k4), cm_scale(2, cm_add(k2, k3)));
  return cm_axpy(x, h / 6, sum);
}

// In steps that are short against the time to the dipole.
static void advance_to(const carom_field_line *line, double time, carom_field_line_memory *memory) {
  carom_vec3 axis = port_axis(line);
  double left = time - memory->time;
  while (left > 0 && !has_arrived(line, memory->position)) {
    double short_step = 0.005 * cm_norm(cm_sub(memory->position, line->center)) / line->speed,
           h = fmin(left, short_step);
    memory->position = advance(line, memory->position, axis, h);
    left -= h;
  }
  memory->time = time;
}

static carom_status begin(const carom_field_line *line, double time, carom_vec3 position,
                          carom_field_line_memory *memory, carom_error *error) {
  carom_status status = carom_field_line_check(line, position, error);
  if (status == CAROM_OK) *memory = (carom_field_line_memory){.position = position, .time = time};
  if (status == CAROM_OK) memory->axis = carom_field_line_axis(line, position);
  return status;
}

static void take_up(const carom_field_line *line, carom_vec3 position, carom_field_line_memory *memory) {
  double strayed = cm_norm(cm_sub(position, memory->position));
  bool integrates = line->mode == CAROM_FIELD_LINE_INTEGRATE;
  if ((integrates && !(strayed > line->limit)) || has_arrived(line, memory->position)) return;
  if (carom_field_line_check(line, position, NULL) != CAROM_OK)
    return;  // behind, no line leads to the port: keep to the old one
  memory->position = position;
  memory->rebased += integrates;
}

// Another axis only where the one that was aligned lies along the path, which no undisturbed line comes to.
static void keep_axis(const carom_field_line *line, carom_field_line_memory *memory) {
  carom_vec3 d1 = cm_unit(velocity_at(line, memory->position, port_axis(line))), seen = cm_unrotate(line->docked, d1);
  double along = memory->axis == 2 ? seen.y : seen.z;
  if (fabs(along) > 0.99) memory->axis = 5 - memory->axis;
}

carom_status carom_field_line_follow(const carom_field_line *line, double time, carom_vec3 position,
                                     carom_field_line_memory *memory, carom_reference *reference, carom_error *error) {
  if (memory->axis == 0) {
    carom_status status = begin(line, time, position, memory, error);
    if (status != CAROM_OK) return status;
  }
  if (time < memory->time)
    return carom_fail(error, CAROM_ERR_ARGUMENT,
                      "a field line is followed at t = %.9g s, after t = %.9g s: put its memory back with the state",
                      time, memory->time);
  advance_to(line, time, memory);
  take_up(line, position, memory);
  if (has_arrived(line, memory->position)) {
    *reference = docked_reference(line);
    return CAROM_OK;
  }
  keep_axis(line, memory);
  *reference = carom_field_line_at(line, memory->position, (int)memory->axis);
  if (line->mode == CAROM_FIELD_LINE_REBASE)
    reference->position = cm_axpy(reference->position, line->ahead, reference->velocity);
  return CAROM_OK;
}
