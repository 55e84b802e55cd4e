// Piecewise linear schedules: value, slope and integral.
#include <math.h>

#include "model/joint_rows.h"

static double between(const carom_knot *a, const carom_knot *b, double time) {
  return a->factor + (b->factor - a->factor) * (time - a->time) / (b->time - a->time);
}

double carom_schedule_value(const carom_knot *k, int n, double time) {
  if (n == 0) return 1;
  if (time <= k[0].time) return k[0].factor;
  for (int i = 1; i < n; i++)
    if (time < k[i].time) return between(&k[i - 1], &k[i], time);
  return k[n - 1].factor;
}

// Clocks count steps, so that they pass a knot by some round-off: they are still before it.
static bool is_before(double time, double knot) { return time <= knot + 1e-12 * fmax(1, fabs(knot)); }

// At a knot the slope is that before it, but for a knot at the time 0, where runs begin.
double carom_schedule_rate(const carom_knot *k, int n, double time) {
  if (n == 0 || (is_before(time, k[0].time) && !(time == 0 && k[0].time == 0))) return 0;
  for (int i = 1; i < n; i++)
    if (is_before(time, k[i].time)) return (k[i].factor - k[i - 1].factor) / (k[i].time - k[i - 1].time);
  return 0;
}

// From the first knot to `time`, which may lie before it.
static double integral_from_first(const carom_knot *k, int n, double time) {
  if (time <= k[0].time) return k[0].factor * (time - k[0].time);
  double sum = 0;
  for (int i = 1; i < n; i++) {
    double end = time < k[i].time ? time : k[i].time;
    sum += 0.5 * (k[i - 1].factor + between(&k[i - 1], &k[i], end)) * (end - k[i - 1].time);
    if (time < k[i].time) return sum;
  }
  return sum + k[n - 1].factor * (time - k[n - 1].time);
}

double carom_schedule_integral(const carom_knot *knots, int count, double time) {
  if (count == 0) return time;
  return integral_from_first(knots, count, time) - integral_from_first(knots, count, 0);
}

static const carom_knot *knots_of(const carom_model *model, const carom_coordinate *c) {
  return c->knot_count > 0 ? model->knots + c->knot_start : NULL;
}

double carom_motor_coordinate(const carom_model *model, const carom_coordinate *c, double time) {
  const carom_knot *knots = knots_of(model, c);
  if (c->motor == CAROM_MOTOR_POSITION) return c->motor_value * carom_schedule_value(knots, c->knot_count, time);
  return c->start + c->motor_value * carom_schedule_integral(knots, c->knot_count, time);
}

double carom_motor_rate(const carom_model *model, const carom_coordinate *c, double time) {
  const carom_knot *knots = knots_of(model, c);
  if (c->motor == CAROM_MOTOR_POSITION) return c->motor_value * carom_schedule_rate(knots, c->knot_count, time);
  return c->motor_value * carom_schedule_value(knots, c->knot_count, time);
}

static double next_knot(const carom_model *model, const carom_coordinate *c, double time) {
  const carom_knot *knots = knots_of(model, c);
  for (int i = 0; i < c->knot_count && c->motor == CAROM_MOTOR_POSITION; i++)
    if (!is_before(knots[i].time, time)) return knots[i].time;
  return INFINITY;
}

double carom_motors_next_kink(const carom_model *model, double time) {
  double next = INFINITY;
  for (int i = 0; i < model->joint_count; i++)
    next = fmin(next,
                fmin(next_knot(model, &model->joints[i].slide, time), next_knot(model, &model->joints[i].turn, time)));
  return next;
}
