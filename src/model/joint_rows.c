// The equations of the lower pairs (Johnson 2012, 3.25 and 3.29; the others likewise) and of a rigid link.
#include "model/joint_rows.h"

#include <math.h>
#include <string.h>

static const double PI = 3.14159265358979323846;

bool carom_joint_slides(carom_joint_kind kind) {
  return kind == CAROM_JOINT_PRISMATIC || kind == CAROM_JOINT_CYLINDRICAL;
}

bool carom_joint_turns(carom_joint_kind kind) {
  return kind == CAROM_JOINT_REVOLUTE || kind == CAROM_JOINT_CYLINDRICAL || kind == CAROM_JOINT_SCREW;
}

bool carom_motor_prescribes(carom_motor_kind motor) {
  return motor == CAROM_MOTOR_RATE || motor == CAROM_MOTOR_POSITION;
}

static bool moves(const carom_model *model, int body) { return body != CAROM_WORLD && !model->bodies[body].fixed; }

bool carom_joint_acts(const carom_model *model, const carom_state *state, int joint) {
  const carom_joint *j = &model->joints[joint];
  return state->joints[joint].active && (moves(model, j->body[0]) || moves(model, j->body[1]));
}

// ---- frames --------------------------------------------------------------------------------------------------------

carom_pose carom_body_place(const carom_state *state, int body) {
  return body == CAROM_WORLD ? cm_pose_identity() : cm_pose(state->x[body], state->q[body]);
}

static carom_vec3 column(carom_mat3 A, int j) { return cm_vec3(A.m[0][j], A.m[1][j], A.m[2][j]); }

carom_joint_place carom_joint_placed(const carom_joint *joint, const carom_joint_state *record,
                                     const carom_state *state) {
  carom_joint_place place;
  for (int end = 0; end < 2; end++) {
    carom_pose body = carom_body_place(state, joint->body[end]), frame = cm_compose(body, record->frame[end]);
    place.x[end] = body.p;
    place.r[end] = frame.p;
    place.axes[end] = cm_rotation(frame.q);
  }
  place.d = cm_sub(place.r[1], place.r[0]);
  place.u = column(place.axes[0], 0), place.v = column(place.axes[0], 1), place.n = column(place.axes[0], 2);
  place.u1 = column(place.axes[1], 0), place.v1 = column(place.axes[1], 1), place.n1 = column(place.axes[1], 2);
  return place;
}

double carom_joint_slide(const carom_joint_place *place) { return cm_dot(place->n, place->d); }

double carom_joint_turn(const carom_joint_place *place, double near) {
  double angle = atan2(cm_dot(place->v, place->u1), cm_dot(place->u, place->u1));
  return angle + 2 * PI * round((near - angle) / (2 * PI));
}

// ---- rows ----------------------------------------------------------------------------------------------------------

static carom_row row_between(const carom_joint *joint) { return (carom_row){.body = {joint->body[0], joint->body[1]}}; }

// Of a.d, where the direction a turns with body 0: body 0 feels the force at r1, so that the line of action is shared.
static carom_row direction_row(const carom_joint *joint, const carom_joint_place *place, carom_vec3 a) {
  carom_row row = row_between(joint);
  row.linear[0] = cm_neg(a);
  row.linear[1] = a;
  row.angular[0] = cm_neg(cm_cross(cm_sub(place->r[1], place->x[0]), a));
  row.angular[1] = cm_cross(cm_sub(place->r[1], place->x[1]), a);
  return row;
}

// Of a.b, where a turns with body 0 and b with body 1.
static carom_row angle_row(const carom_joint *joint, carom_vec3 a, carom_vec3 b) {
  carom_row row = row_between(joint);
  row.angular[0] = cm_cross(a, b);
  row.angular[1] = cm_neg(row.angular[0]);
  return row;
}

carom_row carom_joint_slide_row(const carom_joint *joint, const carom_joint_place *place) {
  return direction_row(joint, place, place->n);
}

// The turn is atan2(S, C) with S = v.u1, C = u.u1; on the constraint its gradient is n on body 1 and -n on body 0.
carom_row carom_joint_turn_row(const carom_joint *joint, const carom_joint_place *place) {
  double S = cm_dot(place->v, place->u1), C = cm_dot(place->u, place->u1), over = 1 / (S * S + C * C);
  carom_row row = angle_row(joint, cm_sub(cm_scale(C * over, place->v), cm_scale(S * over, place->u)), place->u1);
  return row;
}

// Collects equations one by one; g and rows may be null.
typedef struct collector {
  double *g;
  carom_row *rows;
  int count;
} collector;

static void put(collector *c, double g, carom_row row) {
  if (c->g) c->g[c->count] = g;
  if (c->rows) c->rows[c->count] = row;
  c->count++;
}

static void put_direction(collector *c, const carom_joint *joint, const carom_joint_place *p, carom_vec3 a) {
  put(c, cm_dot(a, p->d), direction_row(joint, p, a));
}

static void put_angle(collector *c, const carom_joint *joint, carom_vec3 a, carom_vec3 b) {
  put(c, cm_dot(a, b), angle_row(joint, a, b));
}

static void put_points(collector *c, const carom_joint *joint, const carom_joint_place *p) {
  put_direction(c, joint, p, p->u);
  put_direction(c, joint, p, p->v);
  put_direction(c, joint, p, p->n);
}

static void put_axes(collector *c, const carom_joint *joint, const carom_joint_place *p) {
  put_angle(c, joint, p->u, p->n1);
  put_angle(c, joint, p->v, p->n1);
}

// (d.d - L^2)/(2L): a length, equal to |d| - L to first order.
static void put_distance(collector *c, const carom_joint *joint, const carom_joint_place *p) {
  double L = joint->length;
  carom_row row = row_between(joint);
  carom_vec3 a = cm_scale(1 / L, p->d);
  row.linear[0] = cm_neg(a);
  row.linear[1] = a;
  row.angular[0] = cm_neg(cm_cross(cm_sub(p->r[0], p->x[0]), a));
  row.angular[1] = cm_cross(cm_sub(p->r[1], p->x[1]), a);
  double length = cm_norm(p->d);
  put(c, (length - L) * (length + L) / (2 * L), row);
}

static carom_row screw_row(const carom_joint *joint, const carom_joint_place *p) {
  carom_row slide = carom_joint_slide_row(joint, p), turn = carom_joint_turn_row(joint, p);
  for (int end = 0; end < 2; end++) {
    slide.linear[end] = cm_axpy(slide.linear[end], -joint->pitch, turn.linear[end]);
    slide.angular[end] = cm_axpy(slide.angular[end], -joint->pitch, turn.angular[end]);
  }
  return slide;
}

static void put_pair(collector *c, const carom_joint *joint, const carom_joint_state *record,
                     const carom_joint_place *p) {
  switch (joint->kind) {
    case CAROM_JOINT_SPHERICAL:
      put_points(c, joint, p);
      break;
    case CAROM_JOINT_REVOLUTE:
      put_points(c, joint, p), put_axes(c, joint, p);
      break;
    case CAROM_JOINT_FIXED:
      put_points(c, joint, p), put_axes(c, joint, p), put_angle(c, joint, p->v, p->u1);
      break;
    case CAROM_JOINT_PLANAR:
      put_direction(c, joint, p, p->n), put_axes(c, joint, p);
      break;
    case CAROM_JOINT_DISTANCE:
      put_distance(c, joint, p);
      break;
    case CAROM_JOINT_PRISMATIC:
    case CAROM_JOINT_CYLINDRICAL:
    case CAROM_JOINT_SCREW:
      put_direction(c, joint, p, p->u);
      put_direction(c, joint, p, p->v);
      put_axes(c, joint, p);
      if (joint->kind == CAROM_JOINT_PRISMATIC) put_angle(c, joint, p->v, p->u1);
      if (joint->kind == CAROM_JOINT_SCREW)
        put(c, carom_joint_slide(p) - record->slide - joint->pitch * carom_joint_turn(p, record->turn),
            screw_row(joint, p));
      break;
  }
}

void carom_joint_equations(const carom_model *model, const carom_state *state, int number, double time, double *g,
                           carom_row *rows) {
  const carom_joint *joint = &model->joints[number];
  const carom_joint_state *record = &state->joints[number];
  carom_joint_place p = carom_joint_placed(joint, record, state);
  collector c = {g, rows, 0};
  put_pair(&c, joint, record, &p);
  if (carom_motor_prescribes(joint->slide.motor))
    put(&c, carom_joint_slide(&p) - carom_motor_coordinate(model, &joint->slide, time),
        carom_joint_slide_row(joint, &p));
  if (carom_motor_prescribes(joint->turn.motor))
    put(&c, carom_joint_turn(&p, record->turn) - carom_motor_coordinate(model, &joint->turn, time),
        carom_joint_turn_row(joint, &p));
}

// ---- what the rows are ---------------------------------------------------------------------------------------------

// Lengths come first, then angles; the screw's own row, last of its five, is a length again.
static const struct {
  int lengths, rows;
} pairs[] = {
    [CAROM_JOINT_SPHERICAL] = {3, 3},   [CAROM_JOINT_REVOLUTE] = {3, 5}, [CAROM_JOINT_PRISMATIC] = {2, 5},
    [CAROM_JOINT_CYLINDRICAL] = {2, 4}, [CAROM_JOINT_PLANAR] = {1, 3},   [CAROM_JOINT_SCREW] = {2, 5},
    [CAROM_JOINT_FIXED] = {3, 6},       [CAROM_JOINT_DISTANCE] = {1, 1},
};

int carom_joint_row_count(const carom_joint *joint) {
  return pairs[joint->kind].rows + carom_motor_prescribes(joint->slide.motor) +
         carom_motor_prescribes(joint->turn.motor);
}

bool carom_joint_row_is_angle(const carom_joint *joint, int row) {
  int own = pairs[joint->kind].rows;
  if (row < own) return row >= pairs[joint->kind].lengths && !(joint->kind == CAROM_JOINT_SCREW && row == own - 1);
  return !(row == own && carom_motor_prescribes(joint->slide.motor));
}

void carom_joint_rates(const carom_model *model, const carom_joint *joint, double time, double *rates) {
  int row = pairs[joint->kind].rows;
  for (int i = 0; i < row; i++) rates[i] = 0;
  if (carom_motor_prescribes(joint->slide.motor)) rates[row++] = carom_motor_rate(model, &joint->slide, time);
  if (carom_motor_prescribes(joint->turn.motor)) rates[row] = carom_motor_rate(model, &joint->turn, time);
}

void carom_joints_note_turns(const carom_model *model, carom_state *state) {
  for (int i = 0; i < model->joint_count; i++) {
    const carom_joint *joint = &model->joints[i];
    carom_joint_state *record = &state->joints[i];
    if (!carom_joint_turns(joint->kind) || !record->active) continue;
    carom_joint_place p = carom_joint_placed(joint, record, state);
    record->turn = carom_joint_turn(&p, record->turn);
  }
}
