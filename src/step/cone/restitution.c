// Newton's law of restitution as right-hand sides of the program.
//
// A contact that its bodies' free velocities would close within the step, faster than what is an impact, is asked for
//
//     n.u' >= -e n.u + n.(u_free - u)
//
// instead of n.u' >= -gap / h: thrown back with e times the speed it came with, and then kicked by the forces as all
// else is. A ball on a floor so ends with the energy it had, e = 1, less m g^2 h^2 / 2: never with more. Impacts that
// follow from others within the same step (a row of balls that touch) are inelastic.
//
// Newton's law alone can make energy where bodies also slip or meet several others (Kane 1984). What the impacts of a
// step made is known when it is solved, and where it is more than nought all rebounds are cut down until it is not.
#include <math.h>

#include "step/cone/cone.h"

static const double SLOWEST = 2;     // impacts are faster than what weight adds in so many steps
static const double NOISE = 5e-4;    // and than the residual that sweeps leave, in radii per step
static const double SURPLUS = 1e-6;  // of what the impacts exchange: energy that is taken for round-off

bool carom_cone_may_bounce(const carom_model *model) {
  for (int i = 0; i < model->surface_count; i++)
    if (model->surfaces[i].surface.restitution > 0) return true;
  for (int i = 0; i < model->body_count; i++)  // of its own, a material that nothing is made of means nothing
    if (!model->bodies[i].fixed && model->materials[model->bodies[i].material].restitution > 0) return true;
  return false;
}

static carom_vec3 relative(const carom_near *near, const carom_vec3 *v, const carom_vec3 *w) {
  carom_vec3 u = cm_add(v[near->a], cm_cross(w[near->a], near->arm_a));
  if (near->b == CAROM_WORLD) return u;
  return cm_sub(u, cm_add(v[near->b], cm_cross(w[near->b], near->arm_b)));
}

void carom_cone_set_rebounds(carom_cone *cone, double h) {
  double slowest = SLOWEST * h * cm_norm(cone->model->gravity);
  if (!cone->exacting) slowest = fmax(slowest, NOISE * cone->size / h);
#pragma omp parallel for num_threads(cone->threads) schedule(static) if (cone->threads > 1)
  for (int i = 0; i < cone->near_count; i++) {
    const carom_near *near = &cone->near[i];
    double start = cm_dot(near->normal, relative(near, cone->v_start, cone->w_start));
    double free = cm_dot(near->normal, relative(near, cone->v_free, cone->w_free));
    bool impact = near->restitution > 0 && start < -slowest && near->gap + h * free <= 0;
    cone->rebound[i] = impact ? fmax(0, -(double)near->restitution * start + free - start) : 0;
  }
}

// Twice the energy that the impacts made: gamma.(u + u') of each, and the height that bodies gained because they are
// moved with u' where the forces act as if with (u + u')/2; and what they exchanged. What the other contacts do is the
// same without restitution.
static double surplus(const carom_cone *cone, double *exchanged) {
  double sum = 0, all = 0;
  for (int i = 0; i < cone->active_count; i++) {
    int k = cone->active[i];
    if (!(cone->rebound[k] > 0)) continue;
    const carom_near *near = &cone->near[k];
    carom_vec3 start = relative(near, cone->v_start, cone->w_start), after = relative(near, cone->v, cone->w);
    carom_vec3 free = relative(near, cone->v_free, cone->w_free);
    carom_vec3 u = cm_sub(cm_add(after, cm_scale(2, start)), free);
    sum += cm_dot(cone->impulses[k], u);
    all += cm_dot(cone->impulses[k], near->normal) * cone->rebound[k];
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
  for (int i = 0; i < cone->near_count; i++) cone->rebound[i] *= share;
  return true;
}
