// Colours and lays out a sweep of projected Gauss-Seidel.
#include <math.h>
#include <string.h>

#include "contact/solve/pgs.h"
#include "math/dense.h"

enum { LANES = CAROM_CONTACT_LANES, COLORS = CAROM_CONTACT_COLORS, UNCOLORED = CAROM_CONTACT_UNCOLORED };
enum { PACKS = CAROM_CONTACT_PACKS, SINGLES = CAROM_CONTACT_SINGLES, JOINTS = CAROM_CONTACT_JOINTS };

void carom_contact_plan_push(carom_contact_plan *plan, const carom_contact_system *s, carom_arena *arena) {
  size_t contacts = (size_t)s->problem.contact_count, rows = (size_t)s->problem.row_count;
  size_t bodies = (size_t)s->problem.body_count, packs = contacts / LANES + COLORS;
  plan->packs = CAROM_PUSH(arena, carom_contact_pack, packs);
  plan->lane = CAROM_PUSH(arena, int, LANES *packs);
  plan->singles = CAROM_PUSH(arena, carom_contact_single, contacts);
  plan->joints = CAROM_PUSH(arena, carom_contact_joint, rows);
  plan->V = CAROM_PUSH(arena, double, CAROM_CONTACT_STATE *(bodies + 1));
  plan->V_before = CAROM_PUSH(arena, double, CAROM_CONTACT_STATE *(bodies + 1));
  plan->x_before = CAROM_PUSH(arena, double, s->n);
  plan->tallies = CAROM_PUSH(arena, carom_sweep_tally, CAROM_CONTACT_SHARES(contacts, rows));
  plan->used = CAROM_PUSH(arena, uint64_t, bodies);
  plan->color = CAROM_PUSH(arena, unsigned char, contacts + rows);
}

// ---- colours ----------------------------------------------------------------------------------

// The first colour that neither body has (greedy, in the order given, so that it depends on the problem alone).
static int color_pair(carom_contact_plan *plan, const carom_contact_problem *p, int a, int b) {
  bool moves_a = carom_contact_can_move(p, a), moves_b = carom_contact_can_move(p, b);
  uint64_t taken = (moves_a ? plan->used[a] : 0) | (moves_b ? plan->used[b] : 0);
  if (taken == UINT64_MAX) return UNCOLORED;
  int color = __builtin_ctzll(~taken);
  if (moves_a) plan->used[a] |= (uint64_t)1 << color;
  if (moves_b) plan->used[b] |= (uint64_t)1 << color;
  return color;
}

// Rows first .. first + count - 1 join the same bodies.
static int rows_together(const carom_contact_problem *p, int first) {
  int count = 1;
  while (count < 6 && first + count < p->row_count && p->rows[first + count].a == p->rows[first].a &&
         p->rows[first + count].b == p->rows[first].b)
    count++;
  return count;
}

// ---- members ----------------------------------------------------------------------------------

// Spheres touch along the arms: then no product of matrices is needed to see it.
static bool spherical_metric(const carom_contact_system *s, const carom_contact_point *c, double *along,
                             double *across) {
  int bodies = s->problem.body_count;
  const double *A = carom_contact_body_state(s->state, bodies, c->a),
               *B = carom_contact_body_state(s->state, bodies, c->b);
  if (isnan(A[7]) || isnan(B[7])) return false;
  carom_vec3 off_a = cm_cross(c->arm_a, c->normal), off_b = cm_cross(c->arm_b, c->normal);
  double aa = cm_norm2(c->arm_a), bb = cm_norm2(c->arm_b);
  if (A[7] * cm_norm2(off_a) > 1e-24 * A[7] * aa || B[7] * cm_norm2(off_b) > 1e-24 * B[7] * bb) return false;
  *along = A[6] + B[6];
  *across = A[6] + B[6] + A[7] * aa + B[7] * bb;
  return *along > 0;
}

static void fill_lane(carom_contact_pack *pack, int lane, const carom_contact_point *c, const double *x) {
  const double geometry[3][3] = {{c->normal.x, c->normal.y, c->normal.z},
                                 {c->arm_a.x, c->arm_a.y, c->arm_a.z},
                                 {c->arm_b.x, c->arm_b.y, c->arm_b.z}};
  for (int k = 0; k < 3; k++) {
    pack->n[k][lane] = geometry[0][k];
    pack->arm_a[k][lane] = geometry[1][k];
    pack->arm_b[k][lane] = geometry[2][k];
    pack->impulse[k][lane] = pack->before[k][lane] = x[k];
  }
  pack->bias[lane] = c->bias, pack->mu[lane] = c->friction;
}

// A contact of the world with itself that is always open.
static void fill_padding(carom_contact_pack *pack, int lane, int world) {
  static const carom_contact_point open = {.bias = 1, .normal = {0, 0, 1}};
  fill_lane(pack, lane, &open, (const double[3]){0});
  pack->along[lane] = pack->across[lane] = 1;
  pack->a[lane] = pack->b[lane] = world;
}

static void fill_axis(carom_contact_axis *k, const carom_contact_problem *p, const carom_contact_point *c,
                      carom_vec3 axis) {
  const int body[2] = {c->a, c->b};
  const carom_vec3 arm[2] = {c->arm_a, c->arm_b};
  k->axis = axis;
  for (int end = 0; end < 2; end++) {
    carom_vec3 l = cm_cross(arm[end], axis);
    const double wrench[6] = {0, 0, 0, l.x, l.y, l.z};
    double twist[6];
    carom_contact_mobility(p, body[end], wrench, twist);
    k->lever[end] = body[end] < 0 ? cm_zero3() : l;
    k->turn[end] = cm_vec3(twist[3], twist[4], twist[5]);
  }
}

static void fill_single(carom_contact_single *single, const carom_contact_system *s, int contact) {
  const carom_contact_problem *p = &s->problem;
  const carom_contact_point *c = &p->contacts[contact];
  carom_contact_local local = carom_contact_local_of(p, c);
  single->contact = contact;
  single->friction = c->friction, single->bias = c->bias, single->rho = s->rho[contact];
  const int body[2] = {c->a, c->b};
  for (int end = 0; end < 2; end++) {
    single->body[end] = body[end] < 0 ? p->body_count : body[end];
    single->moves[end] = carom_contact_can_move(p, body[end]);
    single->inverse_mass[end] = body[end] < 0 ? 0 : p->bodies[body[end]].inverse_mass;
  }
  single->nn = local.nn;
  for (int k = 0; k < 2; k++) single->nt[k] = local.nt[k], single->tt[k] = local.tt[k];
  for (int k = 0; k < 3; k++) fill_axis(&single->along[k], p, c, local.axis[k]);
  if (s->options.cone == CAROM_CONTACT_GENERATORS) return;
  const double *x = s->x + 3 * (size_t)contact;
  single->impulse = single->before = carom_contact_to_axes(&local, cm_vec3(x[0], x[1], x[2]));
}

static void fill_joint(carom_contact_joint *joint, const carom_contact_system *s, int first, int count) {
  const carom_contact_problem *p = &s->problem;
  *joint = (carom_contact_joint){.first = first, .count = count, .free = true};
  double largest = 0;
  for (int j = 0; j < count; j++) {
    const carom_contact_row *row = &p->rows[first + j];
    double a[6], b[6];
    carom_contact_mobility(p, row->a, row->jacobian_a, a);
    carom_contact_mobility(p, row->b, row->jacobian_b, b);
    joint->free = joint->free && isinf(row->lower) && isinf(row->upper);
    for (int i = 0; i < count; i++) {
      const carom_contact_row *other = &p->rows[first + i];
      joint->A[i + 6 * j] = carom_contact_dot6(other->jacobian_a, a) + carom_contact_dot6(other->jacobian_b, b);
    }
    largest = fmax(largest, joint->A[j + 6 * j]);
  }
  memcpy(joint->L, joint->A, sizeof joint->L);
  for (int j = 0; j < count; j++) joint->L[j + 6 * j] += 1e-12 * largest;  // redundant rows share the multiplier
  if (carom_small_cholesky(count, joint->L, 6)) joint->free = false;       // row by row will do
}

// ---- the plan ---------------------------------------------------------------------------------

// Colours everything and counts: lanes, singles and joints of colour g in start[g + 1].
static void color_all(carom_contact_plan *plan, const carom_contact_system *s) {
  const carom_contact_problem *p = &s->problem;
  memset(plan->used, 0, (size_t)p->body_count * sizeof *plan->used);
  for (int i = 0; i < p->row_count;) {
    int count = rows_together(p, i), color = color_pair(plan, p, p->rows[i].a, p->rows[i].b);
    plan->color[p->contact_count + i] = (unsigned char)color;
    plan->start[JOINTS][color + 1]++;
    i += count;
  }
  for (int i = 0; i < p->contact_count; i++) {
    if (!(s->rho[i] > 0)) continue;
    const carom_contact_point *c = &p->contacts[i];
    int color = color_pair(plan, p, c->a, c->b);
    double along, across;
    bool packed =
        s->options.cone == CAROM_CONTACT_CIRCULAR && color < UNCOLORED && spherical_metric(s, c, &along, &across);
    plan->color[i] = (unsigned char)(packed ? color : color | 128);
    plan->start[packed ? PACKS : SINGLES][color + 1]++;
  }
}

// Counts to starts; lanes are rounded up to whole packs.
static void lay_out(carom_contact_plan *plan) {
  for (int g = 0; g < COLORS; g++)
    for (int kind = 0; kind < CAROM_CONTACT_KINDS; kind++) {
      int count = plan->start[kind][g + 1], members = kind == PACKS ? (count + LANES - 1) / LANES : count;
      if (members > 0) plan->colors = g + 1;
      plan->start[kind][g + 1] = plan->start[kind][g] + members;
    }
}

static void place_contacts(carom_contact_plan *plan, const carom_contact_system *s) {
  const carom_contact_problem *p = &s->problem;
  int lanes[COLORS], singles[COLORS];
  for (int g = 0; g < COLORS; g++) {
    lanes[g] = LANES * plan->start[PACKS][g];
    singles[g] = plan->start[SINGLES][g];
  }
  for (int i = 0; i < p->contact_count; i++) {
    if (!(s->rho[i] > 0)) continue;
    const carom_contact_point *c = &p->contacts[i];
    int color = plan->color[i] & 127;
    if (plan->color[i] & 128) {
      fill_single(&plan->singles[singles[color]++], s, i);
    } else {
      int k = lanes[color]++, lane = k % LANES;
      carom_contact_pack *pack = &plan->packs[k / LANES];
      fill_lane(pack, lane, c, s->x + 3 * (size_t)i);
      spherical_metric(s, c, &pack->along[lane], &pack->across[lane]);
      pack->a[lane] = c->a < 0 ? p->body_count : c->a, pack->b[lane] = c->b < 0 ? p->body_count : c->b;
      plan->lane[k] = i;
    }
  }
  for (int g = 0; g < COLORS; g++)
    for (int k = lanes[g]; k < LANES * plan->start[PACKS][g + 1]; k++) {
      fill_padding(&plan->packs[k / LANES], k % LANES, p->body_count);
      plan->lane[k] = -1;
    }
}

static void place_joints(carom_contact_plan *plan, const carom_contact_system *s) {
  const carom_contact_problem *p = &s->problem;
  int next[COLORS];
  memcpy(next, plan->start[JOINTS], sizeof next);
  for (int i = 0; i < p->row_count;) {
    int count = rows_together(p, i);
    fill_joint(&plan->joints[next[plan->color[p->contact_count + i]]++], s, i, count);
    i += count;
  }
}

void carom_contact_plan_make(carom_contact_plan *plan, const carom_contact_system *s) {
  color_all(plan, s);
  lay_out(plan);
  place_contacts(plan, s);
  place_joints(plan, s);
}
