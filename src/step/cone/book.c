// What weight and contacts did in a step: impulses of the outside, work of driven bodies, losses, events.
//
// Over a step from v to v' all impulses together change the kinetic energy by their product with (v + v')/2: of a
// contact, gamma.(u + u')/2 with u relative, and gamma.u_b more where the other surface is driven with u_b.
#include <math.h>
#include <string.h>

#include "base/threads.h"
#include "step/cone/cone.h"

// A step of a flow has thousands of contacts: only small scenes are told contact by contact. The stress of larger ones
// is known from what the contacts do to each body, below.

// ---- weight -------------------------------------------------------------------------------------------------------

// It acts where a body is, or half way along its parabola; of two parabolas, such that angular momentum is right.
static carom_vec3 place_of_weight(const carom_cone *cone, const carom_state *state, int body) {
  const carom_cone_bodies *b = &cone->bodies;
  carom_vec3 x = state->x[body], v = b->start.v[body];
  double s = b->share[body], h = cone->h;
  if (b->bounces[body])
    return cm_axpy(cm_axpy(x, h * (s - 0.5 * s * s), v), 0.5 * h * (1 - s) * (1 - s), b->after.v[body]);
  if (b->falls[body]) return cm_axpy(x, 0.5 * h, b->after.v[body]);
  return b->touches[body] ? cm_axpy(x, s * h, v) : cm_axpy(x, 0.5 * h, v);
}

static void book_weight(carom_cone *cone, const carom_state *state, carom_ledger *ledger) {
  const carom_cone_bodies *b = &cone->bodies;
  CAROM_PARALLEL_FOR(
      cone->threads, schedule(static), for (int i = 0; i < cone->model->moving_count; i++) {
        b->middle[b->mover[i]] = place_of_weight(cone, state, b->mover[i]);
      });
  carom_ledger_weight(ledger, b->middle, cone->h);
}

// Forces are evaluated at the start. On a body that goes with the mean of its velocities they act half way.
static void book_lever(carom_cone *cone, const carom_state *state, carom_ledger *ledger) {
  const carom_cone_bodies *b = &cone->bodies;
  for (int i = 0; i < cone->model->moving_count && cone->fields.present; i++) {
    int body = b->mover[i];
    if (!b->lasts[body]) continue;
    carom_vec3 gained = cm_sub(b->free.v[body], cm_axpy(b->start.v[body], cone->h, cone->model->gravity));
    carom_vec3 impulse = cm_scale(b->constants.mass[body], gained);
    carom_vec3 lever = cm_sub(carom_cone_place(cone, state, body), state->x[body]);
    carom_ledger_outside(ledger, cm_zero3(), cm_cross(lever, impulse));
  }
}

// ---- contacts -----------------------------------------------------------------------------------------------------

typedef struct balance {
  double normal_loss, friction_loss, work;
  carom_vec3 impulse, moment;
} balance;

static carom_vec3 mean_velocity(const carom_cone_bodies *b, int body, carom_vec3 arm) {
  carom_vec3 v = cm_add(b->start.v[body], b->after.v[body]), w = cm_add(b->start.w[body], b->after.w[body]);
  return cm_scale(0.5, cm_add(v, cm_cross(w, arm)));
}

static void add_contact(const carom_cone *cone, const carom_state *state, int i, balance *sum) {
  const carom_near *near = &cone->search.near[i];
  carom_vec3 g = cone->program.impulses[i], n = near->normal, other = cm_zero3();
  if (near->b != CAROM_WORLD) other = mean_velocity(&cone->bodies, near->b, near->arm_b);
  carom_vec3 u = cm_sub(mean_velocity(&cone->bodies, near->a, near->arm_a), other);
  double normal = -cm_dot(g, n) * cm_dot(u, n), sliding = -cm_dot(g, u) - normal;
  sum->normal_loss += normal;
  sum->friction_loss += sliding;
  if (carom_cone_moves(cone, near->b)) return;
  sum->work += cm_dot(g, other);
  sum->impulse = cm_add(sum->impulse, g);
  sum->moment = cm_add(sum->moment, cm_cross(cm_add(carom_cone_place(cone, state, near->a), near->arm_a), g));
}

// In shares, whose sums are added in order: the same for any number of threads.
enum { SHARES = 64 };

static balance sum_of_share(const carom_cone *cone, const carom_state *state, int share) {
  int count = cone->program.active_count, size = count / SHARES + 1;
  balance sum = {0};
  for (int i = share * size; i < (share + 1) * size && i < count; i++)
    add_contact(cone, state, cone->program.active[i], &sum);
  return sum;
}

// Bodies that touch are moved with the velocities after, while weight acts as if with the mean: so they gain or lose
// height.
static double height_gained(const carom_cone *cone, bool pushed) {
  const carom_cone_bodies *b = &cone->bodies;
  double gain = 0;
  for (int i = 0; i < cone->model->moving_count; i++) {
    int body = b->mover[i];
    if (b->pushed[body] != pushed || !b->touches[body] || b->falls[body] || b->lasts[body]) continue;
    carom_vec3 from = b->bounces[body] ? b->free.v[body] : b->start.v[body];
    double way = cone->h * (b->share[body] - 0.5) * b->constants.mass[body];
    gain += way * cm_dot(cone->model->gravity, cm_sub(b->after.v[body], from));
  }
  return gain;
}

// What bodies that are pushed gain goes with what the contacts took. Grains that fall past others lose height which no
// contact took: that is not booked, but what they gain when they are stopped makes it good first.
static void book_height(carom_cone *cone) {
  double gain = height_gained(cone, true), good = fmin(cone->forgone, fmax(gain, 0));
  cone->owed += gain - good;
  cone->forgone -= good;
  if (!cone->program.lawful) cone->forgone = fmax(0, cone->forgone - height_gained(cone, false));
}

static void book_contacts(carom_cone *cone, const carom_state *state, carom_ledger *ledger) {
  balance sums[SHARES];
  CAROM_PARALLEL_FOR(cone->threads, schedule(static),
                     for (int k = 0; k < SHARES; k++) sums[k] = sum_of_share(cone, state, k));
  for (int k = 0; k < SHARES; k++) {
    double taken = sums[k].normal_loss + sums[k].friction_loss;
    cone->owed -= taken;
    carom_ledger_loss(ledger, -sums[k].friction_loss, sums[k].friction_loss);
    carom_ledger_work(ledger, sums[k].work);
    carom_ledger_outside(ledger, sums[k].impulse, sums[k].moment);
  }
  book_height(cone);
}

// Where bodies speed up and are stopped again, height is lent and given back.
void carom_cone_book_losses(carom_cone *cone, carom_ledger *ledger) {
  carom_ledger_loss(ledger, fmax(0, -cone->owed), 0);
  cone->owed = fmax(0, cone->owed);
}

// ---- events -------------------------------------------------------------------------------------------------------

static carom_contact_event event_of(const carom_cone *cone, const carom_state *state, int i, double end) {
  const carom_near *near = &cone->search.near[i];
  return (carom_contact_event){
      .kind = carom_cone_is_impact(cone, i) ? CAROM_EVENT_IMPACT : CAROM_EVENT_CONTACT,
      .time = end - (cone->bodies.bounces[near->a] ? (1 - cone->bodies.share[near->a]) * cone->h : 0),
      .body_a = near->a,
      .body_b = near->b,
      .point = cm_add(carom_cone_place(cone, state, near->a), near->arm_a),
      .normal = near->normal,
      .impulse = cone->program.impulses[i]};
}

static carom_status tell(const carom_cone *cone, const carom_state *state, double end, carom_ledger *ledger,
                         carom_error *error) {
  const carom_cone_program *p = &cone->program;
  bool told = p->active_count <= CAROM_EVENTS_TOLD;
  carom_status status = CAROM_OK;
  if (!told) ledger->report.untold += p->active_count;
  if (!told && !p->bounces) return CAROM_OK;
  for (int i = 0; i < p->active_count && status == CAROM_OK; i++) {
    if (cm_norm2(p->impulses[p->active[i]]) == 0) continue;
    carom_contact_event event = event_of(cone, state, p->active[i], end);
    if (told)
      status = carom_ledger_event(ledger, &event, error);
    else if (event.kind == CAROM_EVENT_IMPACT)
      carom_ledger_collision(ledger);
  }
  return status;
}

carom_status carom_cone_book(carom_cone *cone, const carom_state *state, double end, carom_ledger *ledger,
                             carom_error *error) {
  book_weight(cone, state, ledger);
  book_lever(cone, state, ledger);
  book_contacts(cone, state, ledger);
  if (cone->model->joint_count > 0) carom_cone_joints_book(cone, state, ledger);
  return tell(cone, state, end, ledger, error);
}

// ---- what they do to the inside of the bodies -----------------------------------------------------------------------

// Force (x) (centre - point) on either body. Both together are the force times the branch from centre to centre, whose
// sum over a volume is its stress (Love 1927, note B; Weber 1966).
bool carom_cone_contact_moments(const carom_stepper *stepper, carom_mat3 *moments) {
  const carom_cone *cone = stepper->work;
  if (!(cone->h > 0)) return false;
  memset(moments, 0, (size_t)cone->model->body_count * sizeof *moments);
  for (int i = 0; i < cone->program.active_count; i++) {
    const carom_near *near = &cone->search.near[cone->program.active[i]];
    carom_vec3 force = cm_scale(1 / cone->h, cone->program.impulses[cone->program.active[i]]);
    carom_mat3 *a = &moments[near->a], *b = carom_cone_moves(cone, near->b) ? &moments[near->b] : NULL;
    *a = cm_msub(*a, cm_outer(force, near->arm_a));
    if (b) *b = cm_madd(*b, cm_outer(force, near->arm_b));
  }
  return true;
}
