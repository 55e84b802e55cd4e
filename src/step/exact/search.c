// The first time at which two bodies of a group touch (collide/path_time.h).
#include "collide/path_time.h"
#include "geometry/shape.h"
#include "step/exact/exact.h"

typedef struct couple {
  carom_stepper *stepper;
  const carom_state *state;
  const carom_part_pair *pair;
} couple;

static void poses_of(void *context, double time, carom_pose *a, carom_pose *b) {
  const couple *c = context;
  const carom_part *parts = c->stepper->model->parts;
  *a = cm_compose(carom_exact_pose(c->stepper, c->state, c->pair->body_a, time), parts[c->pair->part_a].pose);
  *b = cm_compose(carom_exact_pose(c->stepper, c->state, c->pair->body_b, time), parts[c->pair->part_b].pose);
}

// Points of a part move by at most this much.
static double part_travel(const carom_exact *e, int body, int part, double duration) {
  if (!carom_body_moves(e->model, body) && e->model->drive_count == 0) return 0;
  return carom_exact_travel(&e->bodies[body], e->part_radius[part], duration);
}

static carom_path_duel duel_of(const carom_exact *e, couple *c, double end, double travel) {
  const carom_part_pair *pair = c->pair;
  const carom_exact_body *a = &e->bodies[pair->body_a], *b = &e->bodies[pair->body_b];
  const carom_shape *shape_a = e->model->parts[pair->part_a].shape, *shape_b = e->model->parts[pair->part_b].shape;
  double apart = cm_norm(cm_sub(c->state->x[pair->body_a], c->state->x[pair->body_b]));
  double radii = e->part_radius[pair->part_a] + e->part_radius[pair->part_b];
  double balls = shape_a->radius + shape_b->radius;  // that fatten the two shapes
  return (carom_path_duel){.a = shape_a,
                           .b = shape_b,
                           .context = c,
                           .poses = poses_of,
                           .end = end,
                           .bend = carom_exact_bend(e, pair),
                           .rate = {a->spin, b->spin},
                           .turning = {a->turning, b->turning},
                           .speed = 2 * travel / end,
                           .reach = apart + radii + balls + travel,
                           .within = carom_exact_within(e, c->state, pair),
                           .planar = e->model->planar};
}

static carom_status search_pair(carom_stepper *stepper, const carom_state *state, int index,
                                carom_exact_landing *landing, carom_error *error) {
  carom_exact *e = stepper->work;
  carom_part_pair *pair = &e->contacts->pairs[index];
  double travel = part_travel(e, pair->body_a, pair->part_a, landing->time) +
                  part_travel(e, pair->body_b, pair->part_b, landing->time);
  if (e->near[index].distance > carom_exact_within(e, state, pair) + travel) return CAROM_OK;
  couple c = {stepper, state, pair};
  carom_path_duel duel = duel_of(e, &c, landing->time, travel);
  carom_path_impact impact;
  carom_status status = carom_path_impact_time(&duel, &e->near[index], &pair->cache, &impact);
  if (status != CAROM_OK)
    return carom_fail(error, status, "no time of impact of bodies '%s' and '%s' near t = %.9g s: use a smaller step",
                      e->model->bodies[pair->body_a].name, e->model->bodies[pair->body_b].name, state->time);
  if (impact.found) landing->time = impact.time, landing->impact = true;
  return CAROM_OK;
}

carom_status carom_exact_search(carom_stepper *stepper, const carom_state *state, const carom_exact_group *g,
                                carom_exact_landing *landing, carom_error *error) {
  carom_exact *e = stepper->work;
  for (int i = 0; i < e->contacts->pair_count; i++) {
    if (!carom_exact_in_group(e, state, g, i) || carom_exact_is_resting(e, &e->contacts->pairs[i])) continue;
    carom_status status = search_pair(stepper, state, i, landing, error);
    if (status == CAROM_OK) status = e->trial.status;
    if (status != CAROM_OK) return status;
  }
  carom_status status = carom_exact_search_held(stepper, state, landing, error);
  return status == CAROM_OK ? carom_exact_search_limits(stepper, state, landing, error) : status;
}
