// Planned contacts as variables and elements (Johnson 2012, eq. 4.27; Leyendecker, Johnson and Ortiz 2012, 5.2).
#include <string.h>

#include "control/kinds.h"
#include "control/plan.h"

typedef struct scene {
  carom_plan *plan;
  carom_program *P;
  carom_plan_contact *c;
  int number, node;
  double length, speed, momentum;
} scene;

static int contact_rows(const scene *s, int count, double low, double high, double scale) {
  return carom_program_rows(s->P, count, low, high, scale,
                            (carom_row_label){CAROM_ROW_CONTACT, s->node, s->number, -1});
}

static int x_of(const scene *s, int side) { return carom_variable_x(s->plan, s->node, s->c->def.body[side]); }
static int q_of(const scene *s, int side) { return x_of(s, side) + 3; }

static void put3(carom_program *P, int first, carom_vec3 v) {
  if (P->out_of_memory) return;
  P->x[first] = v.x, P->x[first + 1] = v.y, P->x[first + 2] = v.z;
}

// r - R rho = 0
static void add_arm(const scene *s, int variable, int side, carom_vec3 rho, double scale) {
  int row = contact_rows(s, 3, 0, 0, scale);
  carom_program_element(s->P, &carom_kind_arm, NULL);
  carom_element_variables(s->P, variable, 3);
  carom_element_variables(s->P, q_of(s, side), 4);
  carom_element_rows(s->P, row, 3);
  carom_element_constant3(s->P, rho);
}

static void add_meet(const scene *s) {
  int row = contact_rows(s, 3, 0, 0, s->length);
  carom_program_element(s->P, &carom_kind_meet, NULL);
  for (int i = 0; i < 2; i++) {
    carom_element_variables(s->P, x_of(s, i), 3);
    carom_element_variables(s->P, s->c->arm[i], 3);
  }
  carom_element_rows(s->P, row, 3);
}

static void add_height(const scene *s, int side, double offset) {
  int row = contact_rows(s, 1, offset, offset, s->length);
  carom_program_element(s->P, &carom_kind_height, NULL);
  carom_element_variables(s->P, s->c->normal, 3);
  carom_element_variables(s->P, s->c->arm[side], 3);
  carom_element_rows(s->P, row, 1);
}

// The point stays within the face: below all other faces of its part.
static void add_insides(const scene *s, int side) {
  const carom_part *part = &s->plan->model->parts[s->c->features.part[side]];
  const carom_polytope *p = carom_shape_polytope(part->shape);
  for (int i = 0; p && i < p->face_count; i++) {
    carom_vec3 n = cm_rotate(part->pose.q, p->face_normals[i]);
    if (cm_dot(n, s->c->features.normal) > 1 - 1e-9) continue;
    int row = contact_rows(s, 1, -INFINITY, p->face_offsets[i] + cm_dot(n, part->pose.p), s->length);
    carom_program_element(s->P, &carom_kind_inside, NULL);
    carom_element_variables(s->P, q_of(s, side), 4);
    carom_element_variables(s->P, s->c->arm[side], 3);
    carom_element_rows(s->P, row, 1);
    carom_element_constant3(s->P, n);
  }
}

// All other vertices of the part that brings the vertex are on the free side of the face, at this node.
static void add_aboves(const scene *s, int node, int vertex_side) {
  const carom_contact_features *f = &s->c->features;
  const carom_part *part = &s->plan->model->parts[f->part[vertex_side]];
  const carom_polytope *p = carom_shape_polytope(part->shape);
  const int *body = s->c->def.body;
  for (int i = 0; i < p->vertex_count; i++) {
    if (i == f->vertex) continue;
    double low = vertex_side == 0 ? f->offset : -INFINITY, high = vertex_side == 0 ? INFINITY : -f->offset;
    int row = carom_program_rows(s->P, 1, low, high, s->length,
                                 (carom_row_label){CAROM_ROW_AVOIDANCE, node, body[0], body[1]});
    carom_program_element(s->P, &carom_kind_above, NULL);
    carom_element_variables(s->P, carom_variable_x(s->plan, node, body[vertex_side]), 7);
    carom_element_variables(s->P, carom_variable_x(s->plan, node, body[1 - vertex_side]), 3);
    carom_element_variables(s->P, s->c->normal, 3);
    carom_element_rows(s->P, row, 1);
    carom_element_constant3(s->P, cm_transform(part->pose, p->vertices[i]));
  }
}

static void add_face_geometry(const scene *s) {
  const carom_contact_features *f = &s->c->features;
  int side = f->form == CAROM_FORM_VERTEX_A ? 0 : 1;  // that brings the vertex
  double sign = side == 0 ? 1 : -1;                   // the normal points to a
  add_arm(s, s->c->arm[side], side, f->point, s->length);
  add_arm(s, s->c->normal, 1 - side, cm_scale(sign, f->normal), 1);
  add_meet(s);
  add_height(s, 1 - side, sign * f->offset);
  add_insides(s, 1 - side);
  add_aboves(s, s->node, side);
}

static void add_edge_geometry(const scene *s) {
  const carom_contact_features *f = &s->c->features;
  s->c->along = carom_program_variables(s->P, 2, 0, 1, 1);
  for (int i = 0; i < 2; i++) {
    int row = contact_rows(s, 3, 0, 0, s->length);
    carom_program_element(s->P, &carom_kind_edge_arm, NULL);
    carom_element_variables(s->P, s->c->arm[i], 3);
    carom_element_variables(s->P, q_of(s, i), 4);
    carom_element_variables(s->P, s->c->along + i, 1);
    carom_element_rows(s->P, row, 3);
    carom_element_constant3(s->P, f->origin[i]);
    carom_element_constant3(s->P, f->edge[i]);
    if (!s->P->out_of_memory) s->P->x[s->c->along + i] = 0.5;
  }
  // The edges are scaled so that the normal is about one long.
  double size = cm_norm(f->edge[0]) * cm_norm(f->edge[1]);
  int row = contact_rows(s, 3, 0, 0, 1);
  carom_program_element(s->P, &carom_kind_edge_normal, NULL);
  for (int i = 0; i < 2; i++) carom_element_variables(s->P, q_of(s, i), 4);
  carom_element_variables(s->P, s->c->normal, 3);
  carom_element_rows(s->P, row, 3);
  carom_element_constant3(s->P, cm_scale(f->sign / size, f->edge[0]));
  carom_element_constant3(s->P, f->edge[1]);
  add_meet(s);
}

// ---- momenta -------------------------------------------------------------------------------------------------------

static int add_impulse_rows(const scene *s) {
  int row = contact_rows(s, 3, 0, 0, s->momentum);
  contact_rows(s, 3, 0, 0, s->momentum * s->length);
  return row;
}

static void add_impulse(const scene *s, int side) {
  int body = s->c->def.body[side];
  if (s->plan->model->bodies[body].fixed) return;
  int row = add_impulse_rows(s);
  carom_program_element(s->P, &carom_kind_impulse, NULL);
  carom_element_variables(s->P, carom_variable_P(s->plan, s->node, body, false), 6);
  carom_element_variables(s->P, carom_variable_P(s->plan, s->node, body, true), 6);
  carom_element_variables(s->P, s->c->arm[side], 3);
  carom_element_variables(s->P, s->c->push, 3);
  carom_element_rows(s->P, row, 6);
  carom_element_constant(s->P, side == 0 ? 1 : -1);
}

// Bodies that have no part in it go on as they were.
static void add_bystander(const scene *s, int body) {
  int row = add_impulse_rows(s);
  for (int after = 0; after < 2; after++) {
    carom_program_element(s->P, &carom_kind_link6, NULL);
    carom_element_variables(s->P, carom_variable_P(s->plan, s->node, body, after == 1), 6);
    carom_element_rows(s->P, row, 6);
    carom_element_constant(s->P, after == 1 ? 1 : -1);
  }
}

static void add_point_velocity(const scene *s, int variable, bool after) {
  int row = contact_rows(s, 3, 0, 0, s->speed);
  carom_program_element(s->P, &carom_kind_link3, NULL);
  carom_element_variables(s->P, variable, 3);
  carom_element_rows(s->P, row, 3);
  carom_element_constant(s->P, -1);
  for (int i = 0; i < 2; i++) {
    int body = s->c->def.body[i];
    const carom_body *b = &s->plan->model->bodies[body];
    if (b->fixed) continue;
    carom_program_element(s->P, &carom_kind_velocity, NULL);
    carom_element_variables(s->P, q_of(s, i), 4);
    carom_element_variables(s->P, carom_variable_P(s->plan, s->node, body, after), 6);
    carom_element_variables(s->P, s->c->arm[i], 3);
    carom_element_rows(s->P, row, 3);
    carom_element_constants(s->P, (double[]){i == 0 ? 1 : -1, b->inverse_mass}, 2);
    carom_element_constant3(s->P, b->inverse_inertia);
  }
}

static void add_reflection(const scene *s) {
  int row = contact_rows(s, 3, 0, 0, s->momentum);
  carom_program_element(s->P, &carom_kind_slide, NULL);
  carom_element_variables(s->P, s->c->push, 3);
  carom_element_variables(s->P, s->c->mu, 1);
  carom_element_variables(s->P, s->c->normal, 3);
  carom_element_variables(s->P, s->c->before, 3);
  carom_element_rows(s->P, row, 3);
  carom_element_constant(s->P, s->c->def.friction);
  row = contact_rows(s, 1, 0, 0, s->speed);
  carom_program_element(s->P, &carom_kind_restitution, NULL);
  carom_element_variables(s->P, s->c->normal, 3);
  carom_element_variables(s->P, s->c->before, 3);
  carom_element_variables(s->P, s->c->after, 3);
  carom_element_rows(s->P, row, 1);
  carom_element_constant(s->P, s->c->def.restitution);
}

// ---- sticking ------------------------------------------------------------------------------------------------------

// The stuck point stays at the anchor, held by multipliers.
static void hold_at(const scene *s, int node, int multiplier, int row_of_balance) {
  int body = s->c->def.body[0];
  carom_vec3 rho = s->c->features.point;
  int row = carom_program_rows(s->P, 3, 0, 0, s->length, (carom_row_label){CAROM_ROW_CONTACT, node, s->number, -1});
  carom_program_element(s->P, &carom_kind_anchor, NULL);
  carom_element_variables(s->P, carom_variable_x(s->plan, node, body), 7);
  carom_element_variables(s->P, s->c->anchor, 3);
  carom_element_rows(s->P, row, 3);
  carom_element_constant3(s->P, rho);
  carom_program_element(s->P, &carom_kind_anchor_force, NULL);
  carom_element_variables(s->P, multiplier, 3);
  carom_element_variables(s->P, carom_variable_q(s->plan, node, body), 4);
  carom_element_rows(s->P, row_of_balance, 6);
  carom_element_constant3(s->P, rho);
}

// The momenta at the last node are those of a body that turns about its anchor.
static void end_consistently(const scene *s) {
  int K = s->plan->path.K, body = s->c->def.body[0];
  const carom_body *b = &s->plan->model->bodies[body];
  scene last = *s;
  last.node = K;
  int arm = carom_program_variables(s->P, 3, -INFINITY, INFINITY, s->length);
  size_t at = (size_t)K * (size_t)s->plan->model->body_count + (size_t)body;
  put3(s->P, arm, cm_rotate(s->plan->path.q[at], s->c->features.point));
  add_arm(&last, arm, 0, s->c->features.point, s->length);
  int row = contact_rows(&last, 3, 0, 0, s->speed);
  carom_program_element(s->P, &carom_kind_velocity, NULL);
  carom_element_variables(s->P, carom_variable_q(s->plan, K, body), 4);
  carom_element_variables(s->P, carom_variable_P(s->plan, K, body, false), 6);
  carom_element_variables(s->P, arm, 3);
  carom_element_rows(s->P, row, 3);
  carom_element_constants(s->P, (double[]){1, b->inverse_mass}, 2);
  carom_element_constant3(s->P, b->inverse_inertia);
}

static void add_sticking(const scene *s) {
  carom_plan *plan = s->plan;
  int body = s->c->def.body[0], K = plan->path.K, count = K - s->node + 1;
  for (int i = 0; i < 3; i++) carom_program_fix(s->P, s->c->after + i, 0);
  carom_program_fix(s->P, s->c->mu, 0);
  s->c->anchor = carom_program_variables(s->P, 3, -INFINITY, INFINITY, s->length);
  int held = carom_program_variables(s->P, 3 * count, -INFINITY, INFINITY, s->momentum);
  plan->layout.stick[s->number] = held;
  size_t at = (size_t)s->node * (size_t)plan->model->body_count + (size_t)body;
  put3(s->P, s->c->anchor, cm_add(plan->path.x[at], cm_rotate(plan->path.q[at], s->c->features.point)));
  for (int k = s->node; k <= K; k++) {
    int row = k < K ? carom_row_out(plan, k, body) : carom_row_in(plan, k, body);
    hold_at(s, k, held + 3 * (k - s->node), row);
    if (k > s->node) add_aboves(s, k, 0);
  }
  end_consistently(s);
}

// ---- all of it -----------------------------------------------------------------------------------------------------

static void add_variables(const scene *s) {
  carom_plan_contact *c = s->c;
  c->normal = carom_program_variables(s->P, 3, -INFINITY, INFINITY, 1);
  for (int i = 0; i < 2; i++) c->arm[i] = carom_program_variables(s->P, 3, -INFINITY, INFINITY, s->length);
  c->push = carom_program_variables(s->P, 3, -INFINITY, INFINITY, s->momentum);
  c->mu = carom_program_variables(s->P, 1, 0, INFINITY, s->momentum);
  c->before = carom_program_variables(s->P, 3, -INFINITY, INFINITY, s->speed);
  c->after = carom_program_variables(s->P, 3, -INFINITY, INFINITY, s->speed);
}

// Lifted variables begin at what the path says.
static void guess_variables(const scene *s) {
  const carom_contact_features *f = &s->c->features;
  const carom_path *path = &s->plan->path;
  size_t n = (size_t)s->plan->model->body_count, at = (size_t)s->node * n;
  const int *body = s->c->def.body;
  carom_vec3 xa = path->x[at + (size_t)body[0]], xb = path->x[at + (size_t)body[1]];
  carom_quat qa = path->q[at + (size_t)body[0]], qb = path->q[at + (size_t)body[1]];
  carom_vec3 normal, ra, rb;
  if (f->form == CAROM_FORM_VERTEX_A) {
    normal = cm_rotate(qb, f->normal), ra = cm_rotate(qa, f->point), rb = cm_sub(cm_add(xa, ra), xb);
  } else if (f->form == CAROM_FORM_VERTEX_B) {
    normal = cm_neg(cm_rotate(qa, f->normal)), rb = cm_rotate(qb, f->point), ra = cm_sub(cm_add(xb, rb), xa);
  } else {
    normal = cm_unit(cm_scale(f->sign, cm_cross(cm_rotate(qa, f->edge[0]), cm_rotate(qb, f->edge[1]))));
    ra = cm_rotate(qa, cm_axpy(f->origin[0], 0.5, f->edge[0]));
    rb = cm_rotate(qb, cm_axpy(f->origin[1], 0.5, f->edge[1]));
  }
  put3(s->P, s->c->normal, normal);
  put3(s->P, s->c->arm[0], ra);
  put3(s->P, s->c->arm[1], rb);
  // The push and the velocities follow from the momenta before and after.
  carom_vec3 p0, p1, l;
  carom_path_momentum(s->plan, path, s->node - 1, body[0], &p0, &l);
  carom_path_momentum(s->plan, path, s->node, body[0], &p1, &l);
  double mu = fmax(cm_dot(cm_sub(p1, p0), normal), 0.01 * s->momentum), m = s->plan->model->bodies[body[0]].mass;
  put3(s->P, s->c->push, cm_scale(mu, normal));
  if (!s->P->out_of_memory) s->P->x[s->c->mu] = mu;
  put3(s->P, s->c->before, cm_scale(1 / m, p0));
  put3(s->P, s->c->after, cm_scale(1 / m, p1));
}

static void add_contact(carom_plan *plan, int number) {
  carom_plan_contact *c = &plan->contacts[number];
  scene s = {.plan = plan, .P = &plan->program, .c = c, .number = number, .node = c->def.node};
  s.length = plan->length_scale;
  s.speed = plan->speed_scale;
  s.momentum = plan->mass_scale * s.speed;
  add_variables(&s);
  guess_variables(&s);
  if (c->features.form == CAROM_FORM_EDGES)
    add_edge_geometry(&s);
  else
    add_face_geometry(&s);
  for (int i = 0; i < 2; i++) add_impulse(&s, i);
  for (int i = 0; i < plan->model->body_count; i++)
    if (!plan->model->bodies[i].fixed && i != c->def.body[0] && i != c->def.body[1]) add_bystander(&s, i);
  add_point_velocity(&s, c->before, false);
  add_point_velocity(&s, c->after, true);
  if (c->def.impact == CAROM_PLANNED_STICK)
    add_sticking(&s);
  else
    add_reflection(&s);
}

void carom_transcribe_contacts(carom_plan *plan) {
  for (int i = 0; i < plan->contact_count && !plan->program.out_of_memory; i++) add_contact(plan, i);
}
