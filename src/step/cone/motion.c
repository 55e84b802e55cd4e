// Velocities before the contacts, and how bodies are moved with those after them:
//
//   v_free = v + h (g + f / m)                  forces at the start of the step
//   x'     = x + h v',  R' = R F(h, l')         and bodies that touch nothing fall on a parabola
#include <math.h>

#include "base/threads.h"
#include "model/model.h"
#include "model/size.h"
#include "step/cone/cone.h"

static const double LASTING = 1e-6;  // of the thinnest body: overlap that a contact which lasts may come to in a step

// ---- forces -------------------------------------------------------------------------------------------------------

static carom_resultant evaluate_forces(carom_cone *c, const carom_state *state) {
  carom_cone_fields *f = &c->fields;
  for (int i = 0; i < state->body_count; i++) {
    f->directors[i] = cm_rotation(state->q[i]);
    f->director_rates[i] = cm_mmul(cm_hat(c->bodies.start.w[i]), f->directors[i]);
  }
  carom_configuration at = {.time = state->time,
                            .x = state->x,
                            .d = f->directors,
                            .v = c->bodies.start.v,
                            .dv = f->director_rates,
                            .joints = state->joints,
                            .inputs = state->inputs};
  carom_fields_evaluate(c->model, &at, &f->loads);
  return carom_fields_resultant(c->model, &at, &f->loads);
}

// Of all fields but gravity.
static void kick_fields(carom_cone *c, carom_state *state, carom_ledger *ledger) {
  const carom_loads *loads = &c->fields.loads;
  carom_resultant resultant = evaluate_forces(c, state);
  for (int i = 0; i < c->model->moving_count; i++) {
    int body = c->bodies.mover[i];
    carom_vec3 torque = cm_add(carom_director_torque(loads->g[body], c->fields.directors[body]), loads->torque[body]);
    state->p[body] = cm_axpy(state->p[body], c->h, loads->f[body]);
    state->l[body] = cm_axpy(state->l[body], c->h, torque);
  }
  carom_ledger_fields(ledger, &resultant, c->h);
}

// ---- velocities ---------------------------------------------------------------------------------------------------

static void set_velocities(const carom_cone *c, const carom_state *state, carom_velocities V) {
  const carom_cone_bodies *b = &c->bodies;
  CAROM_PARALLEL_FOR(
      c->threads, schedule(static), for (int i = 0; i < c->model->moving_count; i++) {
        int body = b->mover[i];
        V.v[body] = cm_scale(b->constants.inverse_mass[body], state->p[body]);
        V.w[body] = b->balls ? cm_scale(b->constants.over_scale[body], state->l[body])
                             : carom_state_angular_velocity(c->model, state, body);
      });
}

// Driven bodies move evenly over the step.
static void set_driven(const carom_cone *c, const carom_state *state) {
  const carom_cone_bodies *b = &c->bodies;
  for (int i = 0; i < c->model->drive_count; i++) {
    int body = c->model->drives[i].body;
    carom_model_motion(c->model, body, state->time, c->h, &b->free.v[body], &b->free.w[body]);
    b->start.v[body] = b->free.v[body];
    b->start.w[body] = b->free.w[body];
  }
}

void carom_cone_kick(carom_cone *c, carom_state *state, carom_ledger *ledger) {
  const carom_cone_bodies *b = &c->bodies;
  set_driven(c, state);
  set_velocities(c, state, b->start);
  if (c->fields.present) kick_fields(c, state, ledger);
  CAROM_PARALLEL_FOR(
      c->threads, schedule(static), for (int i = 0; i < c->model->moving_count; i++) {
        int body = b->mover[i];
        state->p[body] = cm_axpy(state->p[body], c->h * b->constants.mass[body], c->model->gravity);
      });
  set_velocities(c, state, b->free);
}

// ---- to the end of the step ---------------------------------------------------------------------------------------

// Bodies that touch nothing keep their momenta to the last bit.
void carom_cone_take_momenta(const carom_cone *c, carom_state *state) {
  const carom_cone_bodies *b = &c->bodies;
  CAROM_PARALLEL_FOR(
      c->threads, schedule(static), for (int i = 0; i < c->model->moving_count; i++) {
        int body = b->mover[i];
        if (!b->touches[body]) continue;
        const carom_body *def = &c->model->bodies[body];
        carom_vec3 change = cm_sub(b->after.w[body], b->free.w[body]);
        change = b->balls ? cm_scale(def->inertia.x, change) : carom_body_spin_momentum(def, state->q[body], change);
        state->p[body] = cm_scale(b->constants.mass[body], b->after.v[body]);
        state->l[body] = cm_add(state->l[body], change);
      });
}

// A body whose contacts last may move with the mean of its velocities before and after, as one does that touches
// nothing: then contacts and weight do the work that they are said to do. One that bounces goes to where it meets what
// it bounces on, and from there. Bodies that touch each other may do neither, since an impulse between them would act
// in two places.
static void classify(carom_cone *c, int body, const carom_group *g) {
  const carom_cone_program *p = &c->program;
  carom_cone_bodies *b = &c->bodies;
  bool lasts = g->moving == 1 && g->problem.row_count == 0, bounces = lasts;
  double meeting = 1;
  for (int i = 0; i < g->problem.contact_count && (lasts || bounces); i++) {
    int k = p->active[g->contact[i]];
    const carom_near *near = &c->search.near[k];
    if (cm_norm2(p->impulses[k]) == 0) continue;
    double u = cm_dot(near->normal, carom_near_velocity(near, &b->start)) +
               cm_dot(near->normal, carom_near_velocity(near, &b->after));
    bool impact = carom_cone_is_impact(c, k);
    lasts = lasts && !impact && near->gap + 0.5 * c->h * u >= -LASTING * b->smallest;
    bounces = bounces && impact;
    if (impact) meeting = fmin(meeting, carom_cone_meeting(c, near));
  }
  b->lasts[body] = lasts;
  b->bounces[body] = bounces && !lasts;
  b->share[body] = lasts ? 0.5 : bounces ? meeting : 0;
}

// A group that nothing holds falls on a parabola as a single body does: all of it is shifted alike.
static bool is_held(const carom_cone *c, const carom_group *g) {
  for (int i = 0; i < g->problem.contact_count; i++) {
    const carom_contact_point *contact = &g->contacts[i];
    bool outside = (unsigned)contact->a >= (unsigned)g->moving || (unsigned)contact->b >= (unsigned)g->moving;
    if (outside && cm_norm2(c->program.impulses[c->program.active[g->contact[i]]]) > 0) return true;
  }
  for (int i = 0; i < g->problem.row_count; i++)
    if ((unsigned)g->rows[i].a >= (unsigned)g->moving || (unsigned)g->rows[i].b >= (unsigned)g->moving) return true;
  return false;
}

void carom_cone_note_touches(carom_cone *c, const carom_state *state) {
  const carom_cone_program *p = &c->program;
  carom_cone_bodies *b = &c->bodies;
  for (int i = 0; i < c->model->body_count; i++)
    b->touches[i] = b->falls[i] = b->lasts[i] = b->bounces[i] = false, b->share[i] = 0;
  for (int i = 0; i < p->active_count; i++) {
    const carom_near *near = &c->search.near[p->active[i]];
    if (cm_norm2(p->impulses[p->active[i]]) == 0) continue;
    b->touches[near->a] = true;
    if (near->b != CAROM_WORLD) b->touches[near->b] = true;
  }
  carom_cone_joints_touch(c, state);
  for (int i = 0; i < c->model->moving_count; i++) {
    int group = p->groups->of_body[b->rank[b->mover[i]]];
    if (!b->touches[b->mover[i]] || group < 0) continue;
    b->falls[b->mover[i]] = !is_held(c, &p->groups->groups[group]);
    if (!b->falls[b->mover[i]]) classify(c, b->mover[i], &p->groups->groups[group]);
  }
}

// Velocity that forces add over the step.
static carom_vec3 added(const carom_cone *c, int body) {
  return cm_sub(c->bodies.free.v[body], c->bodies.start.v[body]);
}

carom_vec3 carom_cone_place(const carom_cone *c, const carom_state *state, int body) {
  const carom_cone_bodies *b = &c->bodies;
  double way = b->share[body] * c->h;
  carom_vec3 x = cm_axpy(state->x[body], way, b->start.v[body]);
  return b->bounces[body] ? cm_axpy(x, 0.5 * b->share[body] * way, added(c, body)) : x;
}

// For the drift, a share of what the step changed of the momenta is taken back,
static void take_share_back(const carom_cone *c, carom_state *state) {
  const carom_cone_bodies *b = &c->bodies;
  for (int i = 0; i < c->model->body_count && c->program.lawful; i++) {
    if (!b->lasts[i] && !b->bounces[i]) continue;
    carom_vec3 dw = cm_sub(b->after.w[i], b->start.w[i]);
    b->middle[i] = state->l[i];
    state->p[i] = cm_scale(b->constants.mass[i], cm_lerp(b->after.v[i], b->start.v[i], b->share[i]));
    state->l[i] = cm_axpy(state->l[i], -b->share[i], carom_body_spin_momentum(&c->model->bodies[i], state->q[i], dw));
  }
}

// and given again; both legs of a bounce are parabolas.
static void give_share_again(const carom_cone *c, carom_state *state) {
  const carom_cone_bodies *b = &c->bodies;
  for (int i = 0; i < c->model->body_count && c->program.lawful; i++) {
    if (!b->lasts[i] && !b->bounces[i]) continue;
    state->p[i] = cm_scale(b->constants.mass[i], b->after.v[i]);
    state->l[i] = b->middle[i];
    if (b->bounces[i]) state->x[i] = cm_axpy(state->x[i], (b->share[i] - 0.5) * c->h, added(c, i));
  }
}

static carom_status failed_turn(const carom_cone *c, const carom_state *state, int body, carom_error *error) {
  const char *name = c->model->bodies[body].name;
  if (!cm_finite(state->x[body]) || !cm_finite(state->l[body]))
    return carom_fail(error, CAROM_ERR_NUMBER,
                      "body '%s' is no longer finite at t = %.9g s: check its start state and the forces on it", name,
                      state->time);
  return carom_fail(error, CAROM_NOT_CONVERGED,
                    "body '%s' turns too fast for a step of %.3g s at t = %.9g s: use a smaller one", name, c->h,
                    state->time);
}

carom_status carom_cone_drift(carom_stepper *stepper, carom_state *state, double end, carom_error *error) {
  carom_cone *c = stepper->work;
  carom_vec3 fall = cm_scale(-0.5 * c->h * c->h, c->model->gravity);
  int failed = -1;
  take_share_back(c, state);
  CAROM_PARALLEL_FOR(
      c->threads,
      schedule(static) reduction(max
                                 : failed),
      for (int first = 0; first < state->body_count; first += CAROM_DMV_LANES) {
        carom_dmv_info info = {.failed = -1};
        carom_dmv_drift(&c->bodies.constants, first, c->h, stepper->options.max_halvings, state, &info);
        failed = info.failed > failed ? info.failed : failed;
      });
  if (failed >= 0) return failed_turn(c, state, failed, error);
  give_share_again(c, state);
  CAROM_PARALLEL_FOR(
      c->threads, schedule(static), for (int i = 0; i < c->model->moving_count; i++) {
        int body = c->bodies.mover[i];
        if (!c->bodies.touches[body] || c->bodies.falls[body]) state->x[body] = cm_add(state->x[body], fall);
      });
  carom_drives_place(c->model, state, end);
  return CAROM_OK;
}
