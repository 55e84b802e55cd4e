// What a model asks of an integrator.
#include <math.h>
#include <stdio.h>

#include "model/model.h"
#include "step/honours.h"

// Which thing of the model has a trait, and how it is called in messages.
typedef enum user_kind { NOTHING, A_BODY, A_JOINT, A_DRIVE, A_BOUNDARY, A_SOLID } user_kind;

typedef struct trait_row {
  carom_trait_info info;
  int (*first)(const carom_model *model, int detail);  // null: no model asks for it by itself
  int detail;
  user_kind user;
  const char *consequence;  // of going without; may be null
} trait_row;

// ---- bodies --------------------------------------------------------------------------------------------------------

static bool solid(const carom_model *m, int body) { return m->bodies[body].part_count > 0; }

static bool set_apart(const carom_model *m, int a, int b) {
  for (int i = 0; i < m->apart_count; i++) {
    const int *pair = m->aparts[i].body;
    if ((pair[0] == a && pair[1] == b) || (pair[0] == b && pair[1] == a)) return true;
  }
  return false;
}

static bool may_touch_another(const carom_model *m, int body) {
  for (int other = 0; other < m->body_count; other++)
    if (other != body && solid(m, other) && !set_apart(m, body, other)) return true;
  return false;
}

// A solid and something else, or itself. Solids count from body_count on where a trait asks for a body.
bool carom_solids_may_touch(const carom_model *m) {
  if (m->ignores_contacts) return false;
  if (m->solid_count > 1) return true;
  if (m->solid_count == 0) return false;
  for (int i = 0; i < m->body_count; i++)
    if (solid(m, i)) return true;
  return m->solids[0].self_contact;
}

// Bodies with shapes, one of them moving. Where there are more of them than pairs that are held apart, it need not be
// asked which.
int carom_find_touching(const carom_model *m) {
  double moving = 0, fixed = 0;
  int first = -1;
  if (m->ignores_contacts) return -1;
  for (int i = 0; i < m->body_count; i++) {
    if (!solid(m, i)) continue;
    if (!m->bodies[i].fixed && first < 0) first = i;
    *(m->bodies[i].fixed ? &fixed : &moving) += 1;
  }
  if (moving * (moving - 1) / 2 + moving * fixed > m->apart_count) return first;
  for (int i = 0; i < m->body_count; i++)
    if (!m->bodies[i].fixed && solid(m, i) && may_touch_another(m, i)) return i;
  return -1;
}

static int first_contact(const carom_model *m, int detail) {
  int body = carom_find_touching(m);
  (void)detail;
  return body < 0 && carom_solids_may_touch(m) ? m->body_count : body;
}

static int first_of_material(const carom_model *m, int material, bool moving) {
  for (int i = 0; i < m->body_count; i++)
    if (solid(m, i) && m->bodies[i].material == material && !(moving && m->bodies[i].fixed)) return i;
  for (int i = 0; i < m->solid_count; i++)
    if (m->solids[i].material == material) return m->body_count + i;
  return -1;
}

static bool bounds_with(const carom_model *m, int material) {
  for (int i = 0; i < m->boundary_count; i++)
    if (m->boundaries[i].material == material) return true;
  return false;
}

// The first moving body whose material may meet another where the surface is not as asked. It is not asked whether it
// is the pair alone that is held apart.
int carom_find_surface(const carom_model *m, bool (*asked)(carom_contact_surface surface)) {
  if (first_contact(m, 0) < 0 && m->boundary_count == 0) return -1;
  for (int a = 0; a < m->material_count; a++) {
    int body = first_of_material(m, a, true);
    for (int b = 0; b < m->material_count && body >= 0; b++)
      if ((first_of_material(m, b, false) >= 0 || bounds_with(m, b)) && asked(carom_materials_surface(m, a, b)))
        return body;
  }
  return -1;
}

static bool bounces(carom_contact_surface s) { return s.restitution > 0; }
static bool rubs(carom_contact_surface s) { return s.friction > 0; }

// What has no inertia does not bounce, whatever its material says.
static int first_surface(const carom_model *m, int friction) {
  if (!friction && m->support_count > 0 && m->support_count == m->moving_count) return -1;
  return carom_find_surface(m, friction ? rubs : bounces);
}

static int first_bounded_point(const carom_model *m, int detail) {
  (void)detail;
  for (int i = 0; i < m->body_count && m->boundary_count > 0; i++)
    if (!m->bodies[i].fixed && !solid(m, i)) return i;
  return -1;
}

// ---- joints --------------------------------------------------------------------------------------------------------

static int first_of_kind(const carom_model *m, int kind) {
  for (int i = 0; i < m->joint_count; i++)
    if ((int)m->joints[i].kind == kind) return i;
  return -1;
}

static bool limited(const carom_coordinate *c) { return c->lower > -INFINITY || c->upper < INFINITY; }

static int first_limited(const carom_model *m, int bouncing) {
  for (int i = 0; i < m->joint_count; i++) {
    const carom_coordinate *c[] = {&m->joints[i].slide, &m->joints[i].turn};
    for (int k = 0; k < 2; k++)
      if (limited(c[k]) && (!bouncing || c[k]->restitution > 0)) return i;
  }
  return -1;
}

// One that holds from the start is a joint as others are: nothing can open it unless another latch is gained.
static int first_latch(const carom_model *m, int detail) {
  (void)detail;
  for (int i = 0; i < m->joint_count; i++)
    if (m->joints[i].latch && !m->joints[i].engaged) return i;
  return -1;
}

// An input along a joint is a motor by force whose force is told from outside.
static bool has_motor(const carom_coordinate *c, int kind) {
  return (int)c->motor == kind || (kind == CAROM_MOTOR_FORCE && c->input >= 0);
}

static int first_motor(const carom_model *m, int kind) {
  for (int i = 0; i < m->joint_count; i++)
    if (has_motor(&m->joints[i].slide, kind) || has_motor(&m->joints[i].turn, kind)) return i;
  return -1;
}

static bool sprung(const carom_coordinate *c) { return c->stiffness > 0 || c->damping > 0; }

static int first_sprung(const carom_model *m, int detail) {
  (void)detail;
  for (int i = 0; i < m->joint_count; i++)
    if (sprung(&m->joints[i].slide) || sprung(&m->joints[i].turn)) return i;
  return -1;
}

// ---- forces, walls and drives --------------------------------------------------------------------------------------

static int first_gravity(const carom_model *m, int detail) {
  (void)detail;
  return cm_norm2(m->gravity) > 0 ? 0 : -1;
}

static int first_spring(const carom_model *m, int damped) {
  for (int i = 0; i < m->spring_count; i++)
    if (damped ? m->springs[i].damping > 0 : m->springs[i].stiffness > 0) return i;
  return -1;
}

static int wrench_count(const carom_model *m) {
  int count = 0;
  for (int i = 0; i < m->input_count; i++) count += m->inputs[i].kind == CAROM_INPUT_WRENCH;
  return count;
}

static int count_of(const carom_model *m, int trait) {
  switch (trait) {
    case CAROM_TRAIT_CHARGES:
      return m->charge_count;
    case CAROM_TRAIT_APPLIED_FORCES:
      return m->force_count + m->electromagnet_count + wrench_count(m);
    case CAROM_TRAIT_BOUNDARIES:
      return m->boundary_count;
    case CAROM_TRAIT_RECIRCULATION:
      return m->recirculation_count;
    case CAROM_TRAIT_SOLIDS:
      return m->solid_count;
    default:
      return 0;
  }
}

static int first_of_count(const carom_model *m, int trait) { return count_of(m, trait) > 0 ? 0 : -1; }

static int first_support(const carom_model *m, int detail) {
  (void)detail;
  for (int i = 0; i < m->body_count && m->support_count > 0; i++)
    if (m->supports[i].kind != CAROM_SUPPORT_NONE) return i;
  return -1;
}

static int first_plane(const carom_model *m, int detail) {
  (void)detail;
  return m->planar ? 0 : -1;
}

static int first_drive(const carom_model *m, int unbounded) {
  for (int i = 0; i < m->drive_count; i++) {
    const carom_drive *d = &m->drives[i];
    if (!unbounded || (d->angular_velocity != 0 && isinf(m->bodies[d->body].bounding_radius))) return i;
  }
  return -1;
}

// ---- the list ------------------------------------------------------------------------------------------------------

static const trait_row traits[CAROM_TRAIT_COUNT] = {
    [CAROM_TRAIT_CONTACTS] = {{"contacts", "bodies that touch"},
                              first_contact,
                              0,
                              A_BODY,
                              "bodies would pass through each other, which 'contacts: ignore' asks for"},
    [CAROM_TRAIT_RESTITUTION] = {{"restitution", "bodies that bounce"}, first_surface, false, A_BODY, NULL},
    [CAROM_TRAIT_FRICTION_CONE] =
        {{"friction, exact cone", "Coulomb friction in its round cone"}, first_surface, true, A_BODY, NULL},
    [CAROM_TRAIT_FRICTION_PYRAMID] =
        {{"friction, pyramid", "Coulomb friction in a polyhedral cone"}, NULL, 0, NOTHING, NULL},
    [CAROM_TRAIT_SPHERICAL] =
        {{"spherical joints", "points that stay together"}, first_of_kind, CAROM_JOINT_SPHERICAL, A_JOINT, NULL},
    [CAROM_TRAIT_REVOLUTE] = {{"revolute joints", "hinges"}, first_of_kind, CAROM_JOINT_REVOLUTE, A_JOINT, NULL},
    [CAROM_TRAIT_PRISMATIC] = {{"prismatic joints", "slides"}, first_of_kind, CAROM_JOINT_PRISMATIC, A_JOINT, NULL},
    [CAROM_TRAIT_CYLINDRICAL] =
        {{"cylindrical joints", "slides that turn"}, first_of_kind, CAROM_JOINT_CYLINDRICAL, A_JOINT, NULL},
    [CAROM_TRAIT_PLANAR] =
        {{"planar joints", "points that stay in a plane"}, first_of_kind, CAROM_JOINT_PLANAR, A_JOINT, NULL},
    [CAROM_TRAIT_SCREW] = {{"screw joints", "slides tied to turns"}, first_of_kind, CAROM_JOINT_SCREW, A_JOINT, NULL},
    [CAROM_TRAIT_FIXED] = {{"fixed joints", "nothing is free"}, first_of_kind, CAROM_JOINT_FIXED, A_JOINT, NULL},
    [CAROM_TRAIT_DISTANCE] =
        {{"distance joints", "massless links"}, first_of_kind, CAROM_JOINT_DISTANCE, A_JOINT, NULL},
    [CAROM_TRAIT_LIMITS] = {{"limits of joints", "stops of a slide or turn"}, first_limited, false, A_JOINT, NULL},
    [CAROM_TRAIT_BOUNCING_LIMITS] =
        {{"limits that bounce", "stops with restitution"}, first_limited, true, A_JOINT, NULL},
    [CAROM_TRAIT_LATCHES] = {{"latches", "joints that are gained by a collision"}, first_latch, 0, A_JOINT, NULL},
    [CAROM_TRAIT_FORCE_MOTORS] =
        {{"motors by force", "a force or torque along a coordinate"}, first_motor, CAROM_MOTOR_FORCE, A_JOINT, NULL},
    [CAROM_TRAIT_RATE_MOTORS] = {{"motors by rate", "a prescribed rate"}, first_motor, CAROM_MOTOR_RATE, A_JOINT, NULL},
    [CAROM_TRAIT_POSITION_MOTORS] =
        {{"motors by position", "a prescribed coordinate"}, first_motor, CAROM_MOTOR_POSITION, A_JOINT, NULL},
    [CAROM_TRAIT_JOINT_SPRINGS] =
        {{"springs in joints", "stiffness and damping along a coordinate"}, first_sprung, 0, A_JOINT, NULL},
    [CAROM_TRAIT_GRAVITY] = {{"gravity", "a uniform acceleration"}, first_gravity, 0, NOTHING, NULL},
    [CAROM_TRAIT_SPRINGS] = {{"springs", "between two points"}, first_spring, false, NOTHING, NULL},
    [CAROM_TRAIT_DAMPERS] = {{"dampers", "between two points"}, first_spring, true, NOTHING, NULL},
    [CAROM_TRAIT_CHARGES] = {{"charges", "that act at a distance"}, first_of_count, CAROM_TRAIT_CHARGES, NOTHING, NULL},
    [CAROM_TRAIT_APPLIED_FORCES] =
        {{"applied forces", "and torques, with schedules"}, first_of_count, CAROM_TRAIT_APPLIED_FORCES, NOTHING, NULL},
    [CAROM_TRAIT_DRIVES] = {{"driven bodies", "fixed bodies with a given motion"}, first_drive, false, A_DRIVE, NULL},
    [CAROM_TRAIT_TURNING_PLANES] =
        {{"driven half-spaces that turn", "bodies without bounds, turned"}, first_drive, true, A_DRIVE, NULL},
    [CAROM_TRAIT_BOUNDARIES] =
        {{"boundaries", "walls that need not be convex"}, first_of_count, CAROM_TRAIT_BOUNDARIES, A_BOUNDARY, NULL},
    [CAROM_TRAIT_BOUNDED_POINTS] = {{"bodies without a shape beside boundaries", "points that move"},
                                    first_bounded_point,
                                    0,
                                    A_BODY,
                                    "it would fall through"},
    [CAROM_TRAIT_RECIRCULATION] = {{"recirculation", "grains that leave and come back"},
                                   first_of_count,
                                   CAROM_TRAIT_RECIRCULATION,
                                   NOTHING,
                                   NULL},
    [CAROM_TRAIT_PLANAR_SCENES] = {{"planar scenes", "motion in the plane z = 0"}, first_plane, 0, NOTHING, NULL},
    [CAROM_TRAIT_SUPPORTS] =
        {{"supports", "bodies without inertia"}, first_support, 0, A_BODY, "it would have inertia"},
    [CAROM_TRAIT_SOLIDS] = {{"solids", "that deform"}, first_of_count, CAROM_TRAIT_SOLIDS, A_SOLID, NULL},
};

const carom_trait_info *carom_trait_describe(int which) {
  return which >= 0 && which < CAROM_TRAIT_COUNT ? &traits[which].info : NULL;
}

int carom_model_uses(const carom_model *model, carom_trait which) {
  const trait_row *f = &traits[which];
  return f->first ? f->first(model, f->detail) : -1;
}

void carom_trait_explain(const carom_model *model, carom_trait which, int user, char *text, size_t size) {
  const char *thing = NULL, *name = NULL, *consequence = traits[which].consequence;
  switch (traits[which].user) {
    case A_BODY:
      thing = user < model->body_count ? "body" : "solid";
      name = user < model->body_count ? model->bodies[user].name : model->solids[user - model->body_count].name;
      break;
    case A_JOINT:
      thing = "joint", name = model->joints[user].name;
      break;
    case A_DRIVE:
      thing = "body", name = model->bodies[model->drives[user].body].name;
      break;
    case A_BOUNDARY:
      thing = "boundary", name = model->boundaries[user].name;
      break;
    case A_SOLID:
      thing = "solid", name = model->solids[user].name;
      break;
    case NOTHING:
      break;
  }
  int n = thing ? snprintf(text, size, " (%s '%.100s')", thing, name) : snprintf(text, size, "%s", "");
  if (consequence) snprintf(text + n, size - (size_t)n, ": %s", consequence);
}
