// Newton's law of restitution as right-hand sides of the program.
//
// A contact that its bodies' free velocities would close within the step, faster than what is an impact, is asked for
//
//     n.u' >= -e n.u + n.(u_free - u)
//
// instead of n.u' >= -gap / h, or from where they meet if one of them does not move: thrown back with e times the speed
// it came with, and then kicked by the forces as all else is. A ball on a floor so ends with the energy it had, e = 1,
// less m g^2 h^2 / 2: never with more. Impacts that follow from others within the same step (a row of balls that touch)
// are inelastic.
//
// Newton's law alone can make energy where bodies also slip or meet several others (Kane 1984). What the impacts of a
// step made is known when it is solved, and where it is more than nought all rebounds are cut down until it is not.
#include <math.h>

#include "base/threads.h"
#include "step/cone/cone.h"

static const double SLOWEST = 2;      // impacts are faster than what weight adds in so many steps
static const double NOISE = 5e-4;     // and than the residual that sweeps leave, in radii per step
static const double TOGETHER = 0.01;  // of the step: places of a body that hit at one time
static const double SURPLUS = 1e-6;   // of what the impacts exchange: energy that is taken for round-off

bool carom_cone_may_bounce(const carom_model *model) {
  for (int i = 0; i < model->surface_count; i++)
    if (model->surfaces[i].surface.restitution > 0) return true;
  for (int i = 0; i < model->body_count; i++)  // of its own, a material that nothing is made of means nothing
    if (!model->bodies[i].fixed && model->materials[model->bodies[i].material].restitution > 0) return true;
  return false;
}

double carom_cone_time_to_close(double gap, double start, double more) {
  double root = start * start - 2 * more * gap, s = root >= 0 ? 2 * gap / (sqrt(root) - start) : 1;
  return s > 0 ? fmin(s, 1) : 0;
}

double carom_cone_meeting(const carom_cone *cone, const carom_near *near) {
  double start = cm_dot(near->normal, carom_near_velocity(near, &cone->bodies.start));
  double free = cm_dot(near->normal, carom_near_velocity(near, &cone->bodies.free));
  return carom_cone_time_to_close(near->gap / cone->h, start, free - start);
}

// Speed that an impact is thrown back with. One on what does not move happens when the bodies meet.
static double rebound_of(const carom_cone *cone, const carom_near *near, double start, double free) {
  bool met = cone->program.lawful && !carom_cone_moves(cone, near->b);
  double s = met ? carom_cone_meeting(cone, near) : 0, more = free - start;
  return fmax(0, -(double)near->restitution * (start + s * more) + (1 - s) * more);
}

// Of all places where a body will hit what does not move, those that it hits first.
static void keep_first(carom_cone *cone) {
  double *first = cone->bodies.share;  // free at this time
  const carom_near *near = cone->search.near;
  for (int i = 0; i < cone->model->body_count; i++) first[i] = 1;
  for (int pass = 0; pass < 2; pass++)
    for (int i = 0; i < cone->search.near_count; i++) {
      if (!(cone->program.rebound[i] > 0) || carom_cone_moves(cone, near[i].b)) continue;
      double meeting = carom_cone_meeting(cone, &near[i]);
      if (pass == 0) first[near[i].a] = fmin(first[near[i].a], meeting);
      if (pass == 1 && meeting > first[near[i].a] + TOGETHER) cone->program.rebound[i] = 0;
    }
  for (int i = 0; i < cone->model->body_count; i++) first[i] = 0;
}

void carom_cone_set_rebounds(carom_cone *cone) {
  const carom_cone_bodies *b = &cone->bodies;
  double slowest = SLOWEST * cone->h * cm_norm(cone->model->gravity);
  if (!cone->program.exacting && !cone->program.lawful) slowest = fmax(slowest, NOISE * b->smallest / cone->h);
  CAROM_PARALLEL_FOR(
      cone->threads, schedule(static), for (int i = 0; i < cone->search.near_count; i++) {
        const carom_near *near = &cone->search.near[i];
        double start = cm_dot(near->normal, carom_near_velocity(near, &b->start));
        double free = cm_dot(near->normal, carom_near_velocity(near, &b->free));
        if (cone->program.impacts) {
          cone->program.rebound[i] = carom_cone_awaited(cone, near, start, free);
          continue;
        }
        double last = cone->program.lawful ? 0.5 * (start + free) : free;
        bool impact = near->restitution > 0 && start < -slowest && near->gap + cone->h * last <= 0;
        cone->program.rebound[i] = impact ? rebound_of(cone, near, start, free) : 0;
      });
  if (cone->program.lawful && !cone->program.impacts) keep_first(cone);
}

// Twice the energy that the impacts made: gamma.(u + u') of each, and the height that bodies gained because they are
// moved with u' where the forces act as if with (u + u')/2; and what they exchanged. What the other contacts do is the
// same without restitution.
static double surplus(const carom_cone *cone, double *exchanged) {
  const carom_cone_bodies *b = &cone->bodies;
  const carom_cone_program *p = &cone->program;
  double sum = 0, all = 0;
  for (int i = 0; i < p->active_count; i++) {
    int k = p->active[i];
    if (!carom_cone_is_impact(cone, k)) continue;
    const carom_near *near = &cone->search.near[k];
    carom_vec3 start = carom_near_velocity(near, &b->start), after = carom_near_velocity(near, &b->after);
    carom_vec3 more = cm_sub(carom_near_velocity(near, &b->free), start);
    carom_vec3 u = cm_axpy(cm_add(start, after), 2 * b->share[near->a] - 1, more);
    sum += cm_dot(p->impulses[k], u);
    all += cm_dot(p->impulses[k], near->normal) * p->rebound[k];
  }
  *exchanged = all;
  return sum;
}

// dW/de of a single impact is 2 e m u^2, and gamma r = e (1 + e) m u^2: the share below is a Newton step for e = 1/2,
// and a little more or less for others.
bool carom_cone_soften(carom_cone *cone, bool last) {
  double exchanged, made = surplus(cone, &exchanged);
  if (!(exchanged > 0) || made <= SURPLUS * exchanged) return false;
  double share = last ? 0 : fmax(0, 1 - 0.8 * made / exchanged - SURPLUS);
  for (int i = 0; i < cone->search.near_count; i++) cone->program.rebound[i] *= share;
  return true;
}
