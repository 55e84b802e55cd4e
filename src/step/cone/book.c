// What the contacts did in a step: impulses of the outside, work of driven bodies, losses, events.
//
// Over a step from v to v' all impulses together change the kinetic energy by their product with (v + v')/2: of a
// contact, gamma.(u + u')/2 with u relative, and gamma.u_b more where the other surface is driven with u_b.
#include <string.h>

#include "step/cone/cone.h"

// A step of a flow has thousands of contacts: only small scenes are told contact by contact. The stress of larger ones
// is known from what the contacts do to each body, below.
enum { MOST_EVENTS = 256 };

static carom_vec3 point_velocity(carom_vec3 v, carom_vec3 w, carom_vec3 arm) { return cm_add(v, cm_cross(w, arm)); }

typedef struct balance {
  double normal_loss, friction_loss, work;
  carom_vec3 impulse, angular_impulse;
} balance;

static void add_contact(const carom_cone *cone, const carom_state *state, int i, balance *sum) {
  const carom_near *near = &cone->near[i];
  carom_vec3 g = cone->impulses[i], n = near->normal;
  carom_vec3 before = point_velocity(cone->v_start[near->a], cone->w_start[near->a], near->arm_a);
  carom_vec3 after = point_velocity(cone->v[near->a], cone->w[near->a], near->arm_a);
  carom_vec3 mean = cm_scale(0.5, cm_add(before, after)), other = cm_zero3();
  bool outside = near->b == CAROM_WORLD || cone->model->bodies[near->b].fixed;
  if (near->b != CAROM_WORLD)
    other = cm_scale(0.5, cm_add(point_velocity(cone->v_start[near->b], cone->w_start[near->b], near->arm_b),
                                 point_velocity(cone->v[near->b], cone->w[near->b], near->arm_b)));
  carom_vec3 u = cm_sub(mean, other);
  double normal = -cm_dot(g, n) * cm_dot(u, n), sliding = -cm_dot(g, u) - normal;
  sum->normal_loss += normal;
  sum->friction_loss += sliding;
  if (!outside) return;
  sum->work += cm_dot(g, other);
  sum->impulse = cm_add(sum->impulse, g);
  sum->angular_impulse = cm_add(sum->angular_impulse, cm_cross(cm_add(state->x[near->a], near->arm_a), g));
}

// In blocks, whose sums are added in order: the same for any number of threads.
enum { BLOCK = 4096 };

void carom_cone_book(carom_cone *cone, const carom_state *state, double h, carom_step_report *report) {
  (void)h;
  int blocks = (cone->active_count + BLOCK - 1) / BLOCK;
  balance total = {0};
#pragma omp parallel for ordered num_threads(cone->threads) schedule(static, 1) if (cone->threads > 1)
  for (int b = 0; b < blocks; b++) {
    balance part = {0};
    int last = (b + 1) * BLOCK < cone->active_count ? (b + 1) * BLOCK : cone->active_count;
    for (int i = b * BLOCK; i < last; i++) add_contact(cone, state, cone->active[i], &part);
#pragma omp ordered
    {
      total.normal_loss += part.normal_loss;
      total.friction_loss += part.friction_loss;
      total.work += part.work;
      total.impulse = cm_add(total.impulse, part.impulse);
      total.angular_impulse = cm_add(total.angular_impulse, part.angular_impulse);
    }
  }
  for (int i = 0; cone->bounces && i < cone->active_count; i++)
    report->collisions += cone->rebound[cone->active[i]] > 0 && cm_norm2(cone->impulses[cone->active[i]]) > 0;
  report->restitution_loss += total.normal_loss;
  report->friction_loss += total.friction_loss;
  report->work += total.work;
  report->impulse = cm_add(report->impulse, total.impulse);
  report->angular_impulse = cm_add(report->angular_impulse, total.angular_impulse);
}

carom_status carom_cone_events(carom_cone *cone, const carom_state *state, double end, carom_step_report *report,
                               carom_error *error) {
  if (cone->active_count > MOST_EVENTS) return CAROM_OK;
  if (!carom_cone_room(&cone->allocator, (void **)&cone->events, &cone->event_capacity, cone->active_count,
                       sizeof *cone->events))
    return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for %d contact events", cone->active_count);
  int count = 0;
  for (int i = 0; i < cone->active_count; i++) {
    const carom_near *near = &cone->near[cone->active[i]];
    carom_vec3 impulse = cone->impulses[cone->active[i]];
    if (cm_norm2(impulse) == 0) continue;
    bool impact = cone->bounces && cone->rebound[cone->active[i]] > 0;
    cone->events[count++] = (carom_contact_event){.kind = impact ? CAROM_EVENT_IMPACT : CAROM_EVENT_CONTACT,
                                                  .time = end,
                                                  .body_a = near->a,
                                                  .body_b = near->b,
                                                  .point = cm_add(state->x[near->a], near->arm_a),
                                                  .normal = near->normal,
                                                  .impulse = impulse};
  }
  report->events = cone->events;
  report->event_count = count;
  return CAROM_OK;
}

// ---- what they do to the inside of the bodies -----------------------------------------------------------------------

static void add_outer(carom_mat3 *sum, double s, carom_vec3 a, carom_vec3 b) {
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) sum->m[i][j] += s * (&a.x)[i] * (&b.x)[j];
}

// Force (x) (centre - point) on either body. Both together are the force times the branch from centre to centre, whose
// sum over a volume is its stress (Love 1927, note B; Weber 1966).
bool carom_cone_contact_moments(const carom_stepper *stepper, carom_mat3 *moments) {
  const carom_cone *cone = stepper->work;
  if (!(cone->h > 0)) return false;
  memset(moments, 0, (size_t)cone->model->body_count * sizeof *moments);
  for (int i = 0; i < cone->active_count; i++) {
    const carom_near *near = &cone->near[cone->active[i]];
    carom_vec3 impulse = cone->impulses[cone->active[i]];
    add_outer(&moments[near->a], -1 / cone->h, impulse, near->arm_a);
    if (near->b != CAROM_WORLD && !cone->model->bodies[near->b].fixed)
      add_outer(&moments[near->b], 1 / cone->h, impulse, near->arm_b);
  }
  return true;
}
