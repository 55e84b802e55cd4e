#include "contact/reach.h"

#include <math.h>

static const double LEEWAY = 1.5;  // a body that is struck may get farther than its own speed takes it; forces not

// A half-space has no radius: it does not turn out of its place.
static double turning_radius(const carom_body *body) {
  return isfinite(body->bounding_radius) ? body->bounding_radius : 0;
}

static double way(double speed, double spin, double radius, double acceleration, double h) {
  return h * (LEEWAY * (speed + spin * radius) + h * acceleration);
}

void carom_reach(const carom_model *model, const carom_moving *m, double spare, double *reach) {
  double g = cm_norm(model->gravity);
  for (int i = 0; i < model->body_count; i++) {
    const carom_body *body = &model->bodies[i];
    reach[i] = 0;
    if (body->fixed) continue;
    double a = m->acceleration ? m->acceleration[i] : g;
    reach[i] = way(cm_norm(m->v[i]), cm_norm(m->w[i]), body->bounding_radius, a, m->h) + spare * body->bounding_radius;
  }
  for (int i = 0; i < model->drive_count; i++) {
    int body = model->drives[i].body;
    carom_vec3 v, w;
    carom_model_motion(model, body, m->time, m->h, &v, &w);
    reach[body] = way(cm_norm(v), cm_norm(w), turning_radius(&model->bodies[body]), 0, m->h);
  }
}
