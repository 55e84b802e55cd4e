// Other first guesses than the one that was asked for: the same way, bent at random; another sampled way; a free motion
// that begins with other velocities. All of it depends on the seed and the number of the start alone.
#include "control/plan.h"

static carom_vec3 draw(carom_random *random, double size) {
  double x = carom_random_normal(random), y = carom_random_normal(random), z = carom_random_normal(random);
  return cm_scale(size, cm_vec3(x, y, z));
}

carom_random carom_guess_random(const carom_plan *plan, uint64_t seed) {
  return carom_random_make(seed, (uint64_t)plan->variation);
}

static double travelled(const carom_plan *plan, size_t body) {
  size_t n = (size_t)plan->model->body_count, K = (size_t)plan->path.K;
  return cm_norm(cm_sub(plan->path.x[K * n + body], plan->path.x[body]));
}

// x + a sin(pi k/K), q exp(b sin(pi k/K)): the ends stay. Bodies on joints move together and do not turn.
void carom_guess_bend(carom_plan *plan, uint64_t seed) {
  static const double share = 0.25, size = 0.5, turn = 0.4;  // of the way, of a body; rad
  static const double pi = 3.14159265358979323846;
  carom_random random = carom_guess_random(plan, seed);
  size_t n = (size_t)plan->model->body_count;
  int K = plan->path.K;
  carom_vec3 common = draw(&random, size * plan->length_scale);
  for (size_t i = 0; i < n; i++) {
    carom_vec3 a = draw(&random, share * travelled(plan, i) + size * plan->length_scale), b = draw(&random, turn);
    if (plan->model->bodies[i].fixed) continue;
    if (plan->joint_count) a = common, b = plan->event_count || plan->periodic.set ? b : cm_zero3();
    if (plan->model->planar) a.z = b.x = b.y = 0;
    for (int k = 1; k < K; k++) {
      double s = sin(pi * k / K);
      size_t at = (size_t)k * n + i;
      plan->path.x[at] = cm_axpy(plan->path.x[at], s, a);
      plan->path.q[at] = cm_qmul(plan->path.q[at], cm_exp(cm_scale(s, b)));
    }
  }
}

static double between(carom_random *random, double reach) { return carom_random_between(random, -1, 1) * reach; }

static carom_vec3 within(carom_random *random, carom_vec3 reach) {
  double x = between(random, reach.x), y = between(random, reach.y), z = between(random, reach.z);
  return cm_vec3(x, y, z);
}

// Momenta within what the start leaves open, or off by a sixth where it leaves nothing.
void carom_guess_shake(const carom_plan *plan, uint64_t seed, carom_state *state) {
  static const double share = 0.15;
  carom_random random = carom_guess_random(plan, seed);
  for (int i = 0; i < plan->model->body_count; i++) {
    const carom_body *b = &plan->model->bodies[i];
    const carom_free_start *f = &plan->free_starts[i];
    if (b->fixed) continue;
    double J = fmin(b->inertia.x, fmin(b->inertia.y, b->inertia.z));
    carom_vec3 p =
        f->free ? within(&random, cm_scale(b->mass, f->velocity)) : draw(&random, share * cm_norm(state->p[i]));
    carom_vec3 l = f->free ? within(&random, cm_scale(J, f->angular_velocity))
                           : draw(&random, share * (cm_norm(state->l[i]) + sqrt(J / b->mass) * cm_norm(state->p[i])));
    state->p[i] = cm_add(state->p[i], p);
    state->l[i] = cm_add(state->l[i], l);
  }
}
