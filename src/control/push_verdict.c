// Steps that were not solved. With a copositive matrix M, the problem z >= 0, M z + q >= 0, z'(M z + q) = 0 has a
// solution unless there is a z >= 0 with M z >= 0, z'M z = 0 and q'z < 0 (Cottle, Pang and Stone 1992, theorem 3.8.6).
// In the step without inertia (Gavrea 2008, (2.4.20)) these are forces in the cones of the contacts that cancel out, W
// lambda = 0, while walls and probes work against them:
//
//     lambda_n'(Psi_n / h + dPsi_n/dt) + lambda_f'dPsi_f/dt < 0.
//
// That the cone is not pointed (theorem 2.4.1) is weaker: two walls of a slot make it so, and do no harm. Both are one
// question when each edge of a cone gets its rate as one more row, and that row an edge of its own: the larger cone is
// pointed if and only if there are no such forces. A wall among what carries them is a jam, probes alone do damage.
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "control/push.h"

// Over the speed of the fastest probe, added to all rates: walls that just touch do not work against anything.
static const double IDLE = 1e-6;
static const double NOTHING = 1e-12;  // of the forces of a certificate, which sum to 1

void carom_push_cone_release(carom_push_cone *cone, const carom_allocator *allocator) {
  carom_cone_work_destroy(cone->work);
  CAROM_RELEASE_ALL(allocator, cone->N, cone->D, cone->mu, cone->impulse, cone->members);
  *cone = (carom_push_cone){0};
}

static carom_status make_room(carom_pusher *p, carom_error *error) {
  const carom_allocator *a = &p->arena.allocator;
  carom_push_cone *k = &p->cone;
  int contacts = p->quasi->count + 1, rows = 3 * p->def.model->moving_count + 1;
  if (contacts <= k->room) return CAROM_OK;
  carom_push_cone_release(k, a);
  contacts += contacts / 2;
  carom_status status = carom_cone_work_create(rows + 1 + 2 * contacts, a, &k->work, error);
  if (status != CAROM_OK) return status;
  if (!CAROM_NEW_ALL(a, CAROM_ROOM(k->N, rows * contacts), CAROM_ROOM(k->D, 2 * rows * contacts),
                     CAROM_ROOM(k->mu, contacts), CAROM_ROOM(k->impulse, 3 * contacts),
                     CAROM_ROOM(k->members, contacts))) {
    carom_push_cone_release(k, a);
    return carom_fail(error, CAROM_ERR_MEMORY, "push: out of memory for the cones of %d contacts", contacts);
  }
  k->room = contacts;
  return CAROM_OK;
}

// ---- the larger cone ------------------------------------------------------------------------------------------------

// What an item's normal row asks for, and how its surface slips, over the fastest probe.
typedef struct rates {
  double normal, slip;
} rates;

static rates rates_of(const carom_push_way *way, const carom_quasi_item *item, bool overlaps) {
  double gap = overlaps ? item->contact.gap : fmax(item->contact.gap, 0), speed = way->fastest > 0 ? way->fastest : 1;
  return (rates){(gap / way->h - item->surface[0]) / speed + (overlaps ? 0 : IDLE), -item->surface[1] / speed};
}

// A column with one more row.
static void put(double *to, const double *from, int rows, double last) {
  memcpy(to, from, sizeof(double) * (size_t)rows);
  to[rows] = last;
}

static void enlarge(const carom_push_way *way, const carom_friction_cone *cone, bool overlaps) {
  const carom_pusher *p = way->pusher;
  const carom_push_cone *k = &p->cone;
  int rows = cone->rows, more = rows + 1, last = cone->contacts;
  memset(k->N + last * more, 0, sizeof(double) * (size_t)more);
  memset(k->D + 2 * last * more, 0, 2 * sizeof(double) * (size_t)more);
  k->N[last * more + rows] = 1;
  k->mu[last] = 0;
  for (int i = 0; i < cone->contacts; i++) {
    rates r = rates_of(way, &p->quasi->items[k->members[i]], overlaps);
    put(k->N + i * more, cone->N + i * rows, rows, r.normal);
    put(k->D + 2 * i * more, cone->D + 2 * i * rows, rows, r.slip);
    put(k->D + (2 * i + 1) * more, cone->D + (2 * i + 1) * rows, rows, -r.slip);
    k->mu[i] = cone->mu[i];
  }
}

// Are there forces that cancel out while probes (or with `overlaps`, walls that are too near) work against them?
static carom_status find_forces(carom_push_way *way, bool overlaps, bool *found, carom_error *error) {
  carom_pusher *p = way->pusher;
  carom_push_cone *k = &p->cone;
  carom_friction_cone cone;
  *found = false;
  carom_status status = make_room(p, error);
  if (status == CAROM_OK) status = carom_quasi_cone(p->quasi, INFINITY, &cone, k->members, error);
  if (status != CAROM_OK || cone.contacts == 0) return status;
  enlarge(way, &cone, overlaps);
  carom_friction_cone larger = {
      .rows = cone.rows + 1, .contacts = cone.contacts + 1, .directions = 2, .N = k->N, .D = k->D, .mu = k->mu};
  carom_friction_cone_answer answer = {.impulse = k->impulse};
  status = carom_cone_work_pointed(k->work, &larger, &answer, error);
  if (status == CAROM_NOT_CONVERGED) return CAROM_OK;  // nothing is proven
  *found = status == CAROM_OK && !answer.pointed;
  return status;
}

// ---- the certificate ------------------------------------------------------------------------------------------------

static double sum_of_normals(const carom_pusher *p, int contacts) {
  double sum = 0;
  for (int i = 0; i < contacts; i++) sum += p->cone.impulse[i];
  return sum;
}

// |W lambda| with all that is written: rows of the cone are forces, and moments over the size of the body.
static double left_over(const carom_pusher *p, int contacts, double sum) {
  const carom_push_cone *k = &p->cone;
  int more = 3 * p->def.model->moving_count + 1;
  double square = 0;
  for (int row = 0; row < more - 1; row++) {
    double s = 0;
    for (int i = 0; i < contacts; i++) {
      const double *beta = k->impulse + contacts + 1 + 2 * i;
      s += k->N[row + i * more] * k->impulse[i];
      s += k->D[row + 2 * i * more] * beta[0] + k->D[row + (2 * i + 1) * more] * beta[1];
    }
    square += s * s / (sum * sum);
  }
  return sqrt(square);
}

static carom_push_force force_of(const carom_pusher *p, int contact, int contacts, double sum) {
  const carom_push_cone *k = &p->cone;
  const carom_quasi_item *item = &p->quasi->items[k->members[contact]];
  const double *beta = k->impulse + contacts + 1 + 2 * contact;
  carom_vec3 along = cm_scale(k->impulse[contact] / sum, item->contact.normal);
  return (carom_push_force){.body_a = item->contact.body_a,
                            .body_b = item->contact.body_b,
                            .point = cm_lerp(item->contact.point_a, item->contact.point_b, 0.5),
                            .normal = item->contact.normal,
                            .force = cm_axpy(along, (beta[0] - beta[1]) / sum, item->row[1].linear[0])};
}

static bool is_wall(const carom_pusher *p, int body) {
  return p->def.model->bodies[body].fixed && !carom_push_is_probe(p, body);
}

static void tell(carom_push_way *way) {
  const carom_pusher *p = way->pusher;
  carom_push_result *r = way->result;
  int contacts = p->quasi->count;  // all are members
  double sum = sum_of_normals(p, contacts);
  r->ending = CAROM_PUSH_DAMAGE;
  r->force_count = 0;
  for (int i = 0; i < contacts; i++) {
    if (!(p->cone.impulse[i] > NOTHING * sum)) continue;
    if (is_wall(p, p->quasi->items[p->cone.members[i]].contact.body_b)) r->ending = CAROM_PUSH_JAM;
    if (r->force_count < CAROM_PUSH_FORCES) r->forces[r->force_count++] = force_of(p, i, contacts, sum);
  }
  r->cancel = left_over(p, contacts, sum);
}

carom_status carom_push_judge(carom_push_way *way, carom_error *error) {
  bool found = false;
  carom_status status = find_forces(way, false, &found, error);
  if (status == CAROM_OK && !found) status = find_forces(way, true, &found, error);
  if (status != CAROM_OK) return status;
  way->over = true;
  way->result->ending = CAROM_PUSH_FAILED;
  if (found) tell(way);
  return CAROM_OK;
}

static double largest_force(const carom_quasi *q) {
  double most = 0;
  for (int i = 0; i < q->count; i++) most = fmax(most, hypot(q->items[i].impulse[0], q->items[i].impulse[1]) / q->h);
  return most;
}

carom_status carom_push_judge_forces(carom_push_way *way, carom_error *error) {
  bool found = false;
  if (!(largest_force(way->pusher->quasi) > way->pusher->def.force_limit)) return CAROM_OK;
  carom_status status = find_forces(way, false, &found, error);
  if (status != CAROM_OK || !found) return status;
  way->over = true;
  tell(way);
  return CAROM_OK;
}
