// Faces that meet: all corners of the one that lies within the other touch at once. Impulses push along the normal at
// the corners, by Newton's law for several contacts (Moreau 1988): each corner parts at least as fast as it came times
// e, and is pushed only if no faster. What the shares of the corners are beyond their sum and their moments is left
// open.
#include "control/blow.h"
#include "control/kinds.h"

static int carrier_side(const carom_blow *s) { return s->c->features.form == CAROM_FORM_VERTEX_A ? 0 : 1; }

// Bodies with the corners, and with the face.
typedef struct pair {
  int v, f, xv, xf;
} pair;

static pair pair_at(const carom_blow *s) {
  int side = carrier_side(s), v = s->c->def.body[side], f = s->c->def.body[1 - side];
  return (pair){v, f, carom_variable_x(s->plan, s->node, v), carom_variable_x(s->plan, s->node, f)};
}

// ---- where the corners are -----------------------------------------------------------------------------------------

static void add_height(const carom_blow *s, carom_vec3 n, carom_vec3 corner, double low, double high) {
  pair b = pair_at(s);
  int row = carom_blow_rows(s, 1, low, high, s->length);
  carom_program_add(s->P, &carom_kind_above, CAROM_OF({b.xv, 7}, {b.xf, 7}), CAROM_INTO({row, 1}),
                    CAROM_WITH(CAROM_XYZ(n), CAROM_XYZ(corner)));
}

// Corners stay over the other face. Bodies on a joint of their own are kept there by it.
static void add_insides(const carom_blow *s, carom_vec3 corner) {
  const carom_contact_features *f = &s->c->features;
  const carom_part *part = &s->plan->model->parts[f->part[1 - carrier_side(s)]];
  const carom_polytope *p = carom_shape_polytope(part->shape);
  for (int i = 0; p && i < p->face_count; i++) {
    carom_vec3 n = cm_rotate(part->pose.q, p->face_normals[i]);
    if (cm_dot(n, f->normal) > 1 - 1e-9) continue;
    add_height(s, n, corner, -INFINITY, p->face_offsets[i] + cm_dot(n, part->pose.p));
  }
}

// As many corners are put on the face as it takes; the others then are there.
static void add_geometry(const carom_blow *s) {
  const carom_contact_features *f = &s->c->features;
  carom_plan_contact all = *s->c;
  for (int i = 0; i < f->corner_count; i++) all.corners[i].decision = CAROM_SECOND_IS_ZERO;
  carom_complement_thin(&all);
  bool joined = carom_plan_are_joined(s->plan, s->c->def.body, s->node);
  for (int i = 0; i < f->corner_count; i++) {
    if (!all.corners[i].follows) add_height(s, f->normal, f->corners[i], f->offset, f->offset);
    if (!joined) add_insides(s, f->corners[i]);
  }
}

// ---- how they part -------------------------------------------------------------------------------------------------

static void add_push(const carom_blow *s, int corner, int balance) {
  pair b = pair_at(s);
  const carom_contact_features *f = &s->c->features;
  carom_program_add(s->P, &carom_kind_flat_push, CAROM_OF({b.xv, 7}, {b.xf, 7}, {s->c->corners[corner].a, 1}),
                    CAROM_INTO({carom_body_row(s->plan, balance, b.v), 6}, {carom_body_row(s->plan, balance, b.f), 6}),
                    CAROM_WITH(CAROM_XYZ(f->normal), CAROM_XYZ(f->corners[corner]), 1));
}

// Adds (before u_before + after u_after) of a corner, along the normal of the face, to a row.
static void add_speeds(const carom_blow *s, int corner, double before, double after, int row) {
  pair b = pair_at(s);
  const carom_contact_features *f = &s->c->features;
  for (int i = 0; i < 2; i++) {
    int body = i == 0 ? b.v : b.f;
    const carom_body *m = &s->plan->model->bodies[body];
    if (m->fixed) continue;
    carom_program_add(s->P, &carom_kind_flat_speed,
                      CAROM_OF({b.xv, 7}, {b.xf, 7}, {carom_variable_P(s->plan, s->node, body, false), 6},
                               {carom_variable_P(s->plan, s->node, body, true), 6}),
                      CAROM_INTO({row, 1}),
                      CAROM_WITH(CAROM_XYZ(f->normal), CAROM_XYZ(f->corners[corner]), m->inverse_mass,
                                 CAROM_XYZ(m->inverse_inertia), i == 0 ? 1 : -1, before, after, i));
  }
}

// A corner that does not approach is not struck; a little reserve for corners that do not move.
static void add_approach(const carom_blow *s, int corner) {
  add_speeds(s, corner, 1, 0, carom_blow_rows(s, 1, -INFINITY, 1e-9 * s->speed, s->speed));
}

static void add_corner(const carom_blow *s, int corner, int balance) {
  carom_complement *p = &s->c->corners[corner];
  p->size[0] = s->momentum, p->size[1] = s->speed;
  p->a = carom_program_variables(s->P, 1, 0, INFINITY, p->size[0]);
  p->b = carom_program_variables(s->P, 1, 0, INFINITY, p->size[1]);
  if (s->P->out_of_memory) return;
  s->P->x[p->a] = s->momentum / s->c->features.corner_count, s->P->x[p->b] = 0.01 * s->speed;
  add_push(s, corner, balance);
  int row = carom_blow_rows(s, 1, 0, 0, s->speed);
  add_speeds(s, corner, s->c->def.restitution, 1, row);
  carom_program_add(s->P, &carom_kind_linear, CAROM_OF({p->b, 1}), CAROM_INTO({row, 1}), CAROM_WITH(-1));
  add_approach(s, corner);
  carom_transcribe_complement(s->plan, p, carom_blow_label(s));
}

void carom_transcribe_flat(const carom_blow *s) {
  add_geometry(s);
  int balance = carom_blow_balance(s);
  carom_complement_thin(s->c);
  for (int i = 0; i < s->c->features.corner_count && !s->P->out_of_memory; i++) add_corner(s, i, balance);
}
