// Planned contacts as variables and elements (Johnson 2012, eq. 4.27; Leyendecker, Johnson and Ortiz 2012, 5.2).
#include <string.h>

#include "control/blow.h"
#include "control/kinds.h"

static int x_of(const carom_blow *s, int side) { return carom_variable_x(s->plan, s->node, s->c->def.body[side]); }
static int q_of(const carom_blow *s, int side) { return x_of(s, side) + 3; }

static void put3(carom_program *P, int first, carom_vec3 v) {
  if (P->out_of_memory) return;
  P->x[first] = v.x, P->x[first + 1] = v.y, P->x[first + 2] = v.z;
}

// r - R rho = 0
static int add_arm(const carom_blow *s, int variable, int side, carom_vec3 rho, double scale) {
  int row = carom_blow_rows(s, 3, 0, 0, scale);
  carom_program_add(s->P, &carom_kind_arm, CAROM_OF({variable, 3}, {q_of(s, side), 4}), CAROM_INTO({row, 3}),
                    CAROM_WITH(CAROM_XYZ(rho)));
  return row;
}

// To a vertex; if a ball is about it, to where that reaches the face.
static void add_vertex_arm(const carom_blow *s, int side) {
  const carom_contact_features *f = &s->c->features;
  int row = add_arm(s, s->c->arm[side], side, f->point, s->length);
  if (f->radius > 0)
    carom_program_add(s->P, &carom_kind_link3, CAROM_OF({s->c->normal, 3}), CAROM_INTO({row, 3}),
                      CAROM_WITH(side == 0 ? f->radius : -f->radius));
}

static void add_meet(const carom_blow *s) {
  int row = carom_blow_rows(s, 3, 0, 0, s->length);
  const int *arm = s->c->arm;
  carom_program_add(s->P, &carom_kind_meet, CAROM_OF({x_of(s, 0), 3}, {arm[0], 3}, {x_of(s, 1), 3}, {arm[1], 3}),
                    CAROM_INTO({row, 3}), CAROM_PLAIN);
}

static void add_height(const carom_blow *s, int side, double offset) {
  int row = carom_blow_rows(s, 1, offset, offset, s->length);
  carom_program_add(s->P, &carom_kind_height, CAROM_OF({s->c->normal, 3}, {s->c->arm[side], 3}), CAROM_INTO({row, 1}),
                    CAROM_PLAIN);
}

// The point stays within the face: below all other faces of its part.
static void add_insides(const carom_blow *s, int side) {
  const carom_part *part = &s->plan->model->parts[s->c->features.part[side]];
  const carom_polytope *p = carom_shape_polytope(part->shape);
  for (int i = 0; p && i < p->face_count; i++) {
    carom_vec3 n = cm_rotate(part->pose.q, p->face_normals[i]);
    double lean = cm_dot(n, s->c->features.normal), radius = carom_shape_radius(part->shape);
    if (lean > 1 - 1e-9) continue;
    int row = carom_blow_rows(s, 1, -INFINITY, p->face_offsets[i] + cm_dot(n, part->pose.p) + radius * lean, s->length);
    carom_program_add(s->P, &carom_kind_inside, CAROM_OF({q_of(s, side), 4}, {s->c->arm[side], 3}),
                      CAROM_INTO({row, 1}), CAROM_WITH(CAROM_XYZ(n)));
  }
}

// Which body brings the vertex to a face.
static int vertex_side(const carom_blow *s) { return s->c->features.form == CAROM_FORM_VERTEX_A ? 0 : 1; }

// All other vertices of the part that brings the vertex are on the free side of the face, at this node.
static void add_aboves(const carom_blow *s, int node) {
  const carom_contact_features *f = &s->c->features;
  int side = vertex_side(s);
  const carom_part *part = &s->plan->model->parts[f->part[side]];
  carom_vec3 ends[2];
  const carom_vec3 *points;
  int count = carom_core_points(part->shape, ends, &points);
  const int *body = s->c->def.body;
  for (int i = 0; i < count; i++) {
    if (i == f->vertex) continue;
    int row = carom_program_rows(s->P, 1, f->offset + f->radius, INFINITY, s->length,
                                 (carom_row_label){CAROM_ROW_AVOIDANCE, node, body[0], body[1]});
    carom_vec3 corner = cm_transform(part->pose, points[i]);
    carom_program_add(s->P, &carom_kind_above,
                      CAROM_OF({carom_variable_x(s->plan, node, body[side]), 7},
                               {carom_variable_x(s->plan, node, body[1 - side]), 7}),
                      CAROM_INTO({row, 1}), CAROM_WITH(CAROM_XYZ(f->normal), CAROM_XYZ(corner)));
  }
}

static void add_face_geometry(const carom_blow *s) {
  const carom_contact_features *f = &s->c->features;
  int side = vertex_side(s);
  double sign = side == 0 ? 1 : -1;  // the normal points to a
  add_vertex_arm(s, side);
  add_arm(s, s->c->normal, 1 - side, cm_scale(sign, f->normal), 1);
  add_meet(s);
  add_height(s, 1 - side, sign * f->offset);
  add_insides(s, 1 - side);
  add_aboves(s, s->node);
}

static void add_edge_geometry(const carom_blow *s) {
  const carom_contact_features *f = &s->c->features;
  s->c->along = carom_program_variables(s->P, 2, 0, 1, 1);
  for (int i = 0; i < 2; i++) {
    int row = carom_blow_rows(s, 3, 0, 0, s->length);
    carom_program_add(s->P, &carom_kind_edge_arm, CAROM_OF({s->c->arm[i], 3}, {q_of(s, i), 4}, {s->c->along + i, 1}),
                      CAROM_INTO({row, 3}), CAROM_WITH(CAROM_XYZ(f->origin[i]), CAROM_XYZ(f->edge[i])));
    if (!s->P->out_of_memory) s->P->x[s->c->along + i] = 0.5;
  }
  // The edges are scaled so that the normal is about one long.
  double size = cm_norm(f->edge[0]) * cm_norm(f->edge[1]);
  int row = carom_blow_rows(s, 3, 0, 0, 1);
  carom_vec3 edge = cm_scale(f->sign / size, f->edge[0]);
  carom_program_add(s->P, &carom_kind_edge_normal, CAROM_OF({q_of(s, 0), 4}, {q_of(s, 1), 4}, {s->c->normal, 3}),
                    CAROM_INTO({row, 3}), CAROM_WITH(CAROM_XYZ(edge), CAROM_XYZ(f->edge[1])));
  add_meet(s);
}

// ---- momenta -------------------------------------------------------------------------------------------------------

// 6 rows for every moving body: P_after - P_before - impulses = 0.
static int add_impulse_rows(const carom_blow *s) {
  int first = s->P->m;
  for (int i = 0; i < s->plan->layout.moving_count; i++) {
    carom_blow_rows(s, 3, 0, 0, s->momentum);
    carom_blow_rows(s, 3, 0, 0, s->momentum * s->length);
  }
  return first;
}

static void add_impulse(const carom_blow *s, int rows, int side) {
  int body = s->c->def.body[side];
  if (s->plan->model->bodies[body].fixed) return;
  carom_program_add(
      s->P, &carom_kind_impulse,
      CAROM_OF({carom_variable_P(s->plan, s->node, body, false), 6},
               {carom_variable_P(s->plan, s->node, body, true), 6}, {s->c->arm[side], 3}, {s->c->push, 3}),
      CAROM_INTO({rows + 6 * s->plan->slot[body], 6}), CAROM_WITH(side == 0 ? 1 : -1));
}

// Bodies that are not struck go on as they were, but for what joints make of it.
static void add_bystander(const carom_blow *s, int rows, int body) {
  for (int after = 0; after < 2; after++) {
    carom_program_add(s->P, &carom_kind_link6, CAROM_OF({carom_variable_P(s->plan, s->node, body, after == 1), 6}),
                      CAROM_INTO({rows + 6 * s->plan->slot[body], 6}), CAROM_WITH(after == 1 ? 1 : -1));
  }
}

static int add_impulses(const carom_blow *s) {
  int rows = add_impulse_rows(s);
  const int *body = s->c->def.body;
  for (int i = 0; i < 2; i++) add_impulse(s, rows, i);
  for (int i = 0; i < s->plan->model->body_count; i++)
    if (!s->plan->model->bodies[i].fixed && i != body[0] && i != body[1]) add_bystander(s, rows, i);
  return rows;
}

static void add_point_velocity(const carom_blow *s, int variable, bool after) {
  int row = carom_blow_rows(s, 3, 0, 0, s->speed);
  carom_program_add(s->P, &carom_kind_link3, CAROM_OF({variable, 3}), CAROM_INTO({row, 3}), CAROM_WITH(-1));
  for (int i = 0; i < 2; i++) {
    int body = s->c->def.body[i];
    const carom_body *b = &s->plan->model->bodies[body];
    if (b->fixed) continue;
    carom_program_add(
        s->P, &carom_kind_velocity,
        CAROM_OF({q_of(s, i), 4}, {carom_variable_P(s->plan, s->node, body, after), 6}, {s->c->arm[i], 3}),
        CAROM_INTO({row, 3}), CAROM_WITH(i == 0 ? 1 : -1, b->inverse_mass, CAROM_XYZ(b->inverse_inertia)));
  }
}

// The law of sliding holds as long as the point goes on to slide; a little reserve for blows straight on.
static void add_sliding(const carom_blow *s) {
  int row = carom_blow_rows(s, 1, -1e-4 * s->speed * s->speed, INFINITY, s->speed * s->speed);
  carom_program_add(s->P, &carom_kind_sliding, CAROM_OF({s->c->normal, 3}, {s->c->before, 3}, {s->c->after, 3}),
                    CAROM_INTO({row, 1}), CAROM_PLAIN);
}

// ---- friction that stops the point, or chooses ---------------------------------------------------------------------

static bool is_coulomb(const carom_planned_contact_def *d) {
  return d->impact == CAROM_PLANNED_REFLECT && d->friction > 0 && d->friction_mode != CAROM_FRICTION_SLIDE;
}

static double length_along(const carom_blow *s, int variable) {
  const double *x = s->P->x + variable, *n = s->P->x + s->c->normal;
  return x[0] * n[0] + x[1] * n[1] + x[2] * n[2];
}

// What the first guess makes of the pair: half the cone, and the slip that the guess has after the blow.
static void guess_slip(const carom_blow *s) {
  const double *u = s->P->x + s->c->after;
  double along = length_along(s, s->c->after), size = fmax(s->P->x[s->c->mu], 1e-3 * s->momentum);
  double slip = sqrt(fmax(0, u[0] * u[0] + u[1] * u[1] + u[2] * u[2] - along * along));
  s->P->x[s->c->slip.a] = slip / (s->c->def.friction * size);
  s->P->x[s->c->slip.b] = 0.5 * s->c->def.friction * s->c->def.friction * size * size;
}

// No blow brings energy. The reserve is what a blow without friction and loss needs to have an inside.
static void add_work(const carom_blow *s) {
  double size = s->momentum * s->speed;
  int row = carom_blow_rows(s, 1, -INFINITY, 1e-9 * size, size);
  carom_program_add(s->P, &carom_kind_blow_work, CAROM_OF({s->c->push, 3}, {s->c->before, 3}, {s->c->after, 3}),
                    CAROM_INTO({row, 1}), CAROM_PLAIN);
}

// Newton's law along the normal and Coulomb's across it (Moreau 1988): 0 <= gamma and 0 <= what is left in the cone,
// one of them nought.
static void add_coulomb(const carom_blow *s) {
  carom_plan_contact *c = s->c;
  double mu = c->def.friction;
  c->slip.size[0] = s->speed / s->momentum, c->slip.size[1] = mu * mu * s->momentum * s->momentum;
  c->slip.a = carom_program_variables(s->P, 1, 0, INFINITY, c->slip.size[0]);
  c->slip.b = carom_program_variables(s->P, 1, 0, INFINITY, c->slip.size[1]);
  if (s->P->out_of_memory) return;
  guess_slip(s);
  int row = carom_blow_rows(s, 1, 0, 0, s->momentum);
  carom_blow_rows(s, 3, 0, 0, s->speed);
  carom_program_add(s->P, &carom_kind_coulomb,
                    CAROM_OF({c->push, 3}, {c->mu, 1}, {c->normal, 3}, {c->before, 3}, {c->after, 3}, {c->slip.a, 1}),
                    CAROM_INTO({row, 4}), CAROM_WITH(c->def.restitution));
  row = carom_blow_rows(s, 1, 0, 0, c->slip.size[1]);
  carom_program_add(s->P, &carom_kind_blow_cone, CAROM_OF({c->push, 3}, {c->mu, 1}, {c->normal, 3}, {c->slip.b, 1}),
                    CAROM_INTO({row, 1}), CAROM_WITH(mu));
  add_work(s);
  if (c->def.friction_mode == CAROM_FRICTION_STOP)
    carom_program_fix(s->P, c->slip.a, 0);
  else
    carom_transcribe_complement(s->plan, &c->slip, carom_blow_label(s));
}

static void add_reflection(const carom_blow *s) {
  int row = carom_blow_rows(s, 3, 0, 0, s->momentum);
  carom_program_add(s->P, &carom_kind_slide,
                    CAROM_OF({s->c->push, 3}, {s->c->mu, 1}, {s->c->normal, 3}, {s->c->before, 3}),
                    CAROM_INTO({row, 3}), CAROM_WITH(s->c->def.friction));
  row = carom_blow_rows(s, 1, 0, 0, s->speed);
  carom_program_add(s->P, &carom_kind_restitution, CAROM_OF({s->c->normal, 3}, {s->c->before, 3}, {s->c->after, 3}),
                    CAROM_INTO({row, 1}), CAROM_WITH(s->c->def.restitution));
  if (s->c->def.friction > 0) add_sliding(s);
}

// ---- sticking: a spherical joint from the contact on, at points that are variables ---------------------------------

static void add_hold(const carom_blow *s, int node) {
  int row = carom_program_rows(s->P, 3, 0, 0, s->length, (carom_row_label){CAROM_ROW_CONTACT, node, s->number, -1});
  const int *body = s->c->def.body, *grip = s->c->grip;
  int x[2] = {carom_variable_x(s->plan, node, body[0]), carom_variable_x(s->plan, node, body[1])};
  carom_program_add(s->P, &carom_kind_hold, CAROM_OF({x[0], 7}, {grip[0], 3}, {x[1], 7}, {grip[1], 3}),
                    CAROM_INTO({row, 3}), CAROM_PLAIN);
}

// In the 6 rows per moving body that begin at `row`.
static void add_hold_force(const carom_blow *s, int node, int multiplier, int row) {
  const int *body = s->c->def.body, *grip = s->c->grip;
  int q[2] = {carom_variable_q(s->plan, node, body[0]), carom_variable_q(s->plan, node, body[1])};
  carom_program_add(
      s->P, &carom_kind_hold_force, CAROM_OF({multiplier, 3}, {q[0], 4}, {grip[0], 3}, {q[1], 4}, {grip[1], 3}),
      CAROM_INTO({carom_body_row(s->plan, row, body[0]), 6}, {carom_body_row(s->plan, row, body[1]), 6}), CAROM_PLAIN);
}

// The grips do not move apart.
static void add_hold_speed(const carom_blow *s, int node, bool after) {
  int row = carom_program_rows(s->P, 3, 0, 0, s->speed, (carom_row_label){CAROM_ROW_CONTACT, node, s->number, -1});
  for (int i = 0; i < 2; i++) {
    int body = s->c->def.body[i];
    const carom_body *b = &s->plan->model->bodies[body];
    if (b->fixed) continue;
    carom_program_add(s->P, &carom_kind_hold_speed,
                      CAROM_OF({carom_variable_q(s->plan, node, body), 4},
                               {carom_variable_P(s->plan, node, body, after), 6}, {s->c->grip[i], 3}),
                      CAROM_INTO({row, 3}),
                      CAROM_WITH(i == 0 ? -1 : 1, b->inverse_mass, CAROM_XYZ(b->inverse_inertia)));
  }
}

// Where the contact happened, in the frame of a body.
static void add_grip(const carom_blow *s, int side) {
  const carom_path *path = &s->plan->path;
  s->c->grip[side] = carom_program_variables(s->P, 3, -INFINITY, INFINITY, s->length);
  int row = carom_blow_rows(s, 3, 0, 0, s->length);
  carom_program_add(s->P, &carom_kind_grip, CAROM_OF({s->c->arm[side], 3}, {q_of(s, side), 4}, {s->c->grip[side], 3}),
                    CAROM_INTO({row, 3}), CAROM_PLAIN);
  if (s->P->out_of_memory) return;
  size_t at = (size_t)s->node * (size_t)s->plan->model->body_count + (size_t)s->c->def.body[side];
  const double *r = s->P->x + s->c->arm[side];
  put3(s->P, s->c->grip[side], cm_unrotate(path->q[at], cm_vec3(r[0], r[1], r[2])));
}

static void add_sticking(const carom_blow *s) {
  carom_plan *plan = s->plan;
  const carom_layout *L = &plan->layout;
  int K = plan->path.K, count = K - s->node + 1;
  for (int i = 0; i < 3; i++) carom_program_fix(s->P, s->c->after + i, 0);
  carom_program_fix(s->P, s->c->mu, 0);
  for (int i = 0; i < 2; i++) add_grip(s, i);
  int held = carom_program_variables(s->P, 3 * count, -INFINITY, INFINITY, s->momentum);
  for (int k = s->node; k <= K; k++) {
    add_hold_force(s, k, held + 3 * (k - s->node), k < K ? L->out[k] : L->in[k]);
    if (k == s->node) continue;
    add_hold(s, k);
    if (s->c->features.form != CAROM_FORM_EDGES) add_aboves(s, k);
  }
  add_hold_speed(s, K, false);
}

static carom_blow blow_of(carom_plan *plan, int number) {
  carom_blow s = {.plan = plan, .P = &plan->program, .c = &plan->contacts[number], .number = number};
  s.node = s.c->def.node;
  s.length = plan->length_scale;
  s.speed = plan->speed_scale;
  s.momentum = plan->mass_scale * s.speed;
  return s;
}

// ---- joints at impacts ---------------------------------------------------------------------------------------------

static int add_multipliers(const carom_blow *s, int count) {
  return carom_program_variables(s->P, count, -INFINITY, INFINITY, s->momentum);
}

// The reflection happens in velocities that the joints allow (Leyendecker, Johnson and Ortiz 2012, 5.2, in multipliers
// instead of the null space): impulses of the joints, and of what stuck before, make the momenta before agree with
// them, and pass the blow on so that those after agree again: G M^-1 P = 0 on both sides.
static void add_joint_impulses(const carom_blow *s, int impulses) {
  for (int after = 0; after < 2; after++) {
    int row = after == 1 ? impulses : s->plan->layout.in[s->node];
    carom_transcribe_hold(s->plan, s->node, after == 1, row);
    for (int i = 0; i < s->number; i++) {
      if (s->plan->contacts[i].def.impact != CAROM_PLANNED_STICK) continue;
      carom_blow earlier = blow_of(s->plan, i);
      add_hold_force(&earlier, s->node, add_multipliers(s, 3), row);
      add_hold_speed(&earlier, s->node, after == 1);
    }
  }
}

// ---- all of it -----------------------------------------------------------------------------------------------------

static void add_variables(const carom_blow *s) {
  carom_plan_contact *c = s->c;
  c->normal = carom_program_variables(s->P, 3, -INFINITY, INFINITY, 1);
  for (int i = 0; i < 2; i++) c->arm[i] = carom_program_variables(s->P, 3, -INFINITY, INFINITY, s->length);
  c->push = carom_program_variables(s->P, 3, -INFINITY, INFINITY, s->momentum);
  c->mu = carom_program_variables(s->P, 1, 0, INFINITY, s->momentum);
  c->before = carom_program_variables(s->P, 3, -INFINITY, INFINITY, s->speed);
  c->after = carom_program_variables(s->P, 3, -INFINITY, INFINITY, s->speed);
}

// Lifted variables begin at what the path says.
static void guess_variables(const carom_blow *s) {
  const carom_contact_features *f = &s->c->features;
  const carom_path *path = &s->plan->path;
  size_t n = (size_t)s->plan->model->body_count, at = (size_t)s->node * n;
  const int *body = s->c->def.body;
  carom_vec3 xa = path->x[at + (size_t)body[0]], xb = path->x[at + (size_t)body[1]];
  carom_quat qa = path->q[at + (size_t)body[0]], qb = path->q[at + (size_t)body[1]];
  carom_vec3 normal, ra, rb;
  if (f->form == CAROM_FORM_VERTEX_A) {
    normal = cm_rotate(qb, f->normal), ra = cm_axpy(cm_rotate(qa, f->point), -f->radius, normal),
    rb = cm_sub(cm_add(xa, ra), xb);
  } else if (f->form == CAROM_FORM_VERTEX_B) {
    normal = cm_neg(cm_rotate(qa, f->normal)), rb = cm_axpy(cm_rotate(qb, f->point), f->radius, normal),
    ra = cm_sub(cm_add(xb, rb), xa);
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

int carom_blow_balance(const carom_blow *s) {
  int rows = add_impulse_rows(s);
  for (int i = 0; i < s->plan->model->body_count; i++)
    if (!s->plan->model->bodies[i].fixed) add_bystander(s, rows, i);
  add_joint_impulses(s, rows);
  return rows;
}

static void add_contact(carom_plan *plan, int number) {
  carom_blow s = blow_of(plan, number);
  if (s.c->def.flat) {
    carom_transcribe_flat(&s);
    return;
  }
  add_variables(&s);
  guess_variables(&s);
  if (s.c->features.form == CAROM_FORM_EDGES)
    add_edge_geometry(&s);
  else
    add_face_geometry(&s);
  add_joint_impulses(&s, add_impulses(&s));
  add_point_velocity(&s, s.c->before, false);
  add_point_velocity(&s, s.c->after, true);
  if (s.c->def.impact == CAROM_PLANNED_STICK)
    add_sticking(&s);
  else if (is_coulomb(&s.c->def))
    add_coulomb(&s);
  else
    add_reflection(&s);
}

// What sticks makes the momenta at the last node agree with it; joints then do so, too.
static void end_consistently(carom_plan *plan) {
  bool sticks = false;
  for (int i = 0; i < plan->contact_count; i++) sticks = sticks || plan->contacts[i].def.impact == CAROM_PLANNED_STICK;
  int K = plan->path.K;
  if (!sticks || plan->joint_count == 0 || plan->layout.multiplier[K] >= 0) return;
  carom_transcribe_hold(plan, K, false, plan->layout.in[K]);
}

void carom_transcribe_contacts(carom_plan *plan) {
  for (int i = 0; i < plan->contact_count && !plan->program.out_of_memory; i++) add_contact(plan, i);
  if (!plan->program.out_of_memory) end_consistently(plan);
}
