#include "contact/reach.h"

#include <math.h>

#include "model/size.h"

static const double LEEWAY = 1.5;  // a body that is struck may get farther than its own speed takes it; forces not

// A half-space has no radius, and a ball stays what it is: neither turns out of its place.
static double turning_radius(const carom_model *model, const carom_body *body) {
  return isfinite(body->bounding_radius) && !carom_body_is_ball(model, body) ? body->bounding_radius : 0;
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
    double own = way(cm_norm(m->v[i]), cm_norm(m->w[i]), turning_radius(model, body), a, m->h);
    reach[i] = own + spare * body->bounding_radius;
  }
  for (int i = 0; i < model->drive_count; i++) {
    int body = model->drives[i].body;
    carom_vec3 v, w;
    carom_model_motion(model, body, m->time, m->h, &v, &w);
    reach[body] = way(cm_norm(v), cm_norm(w), turning_radius(model, &model->bodies[body]), 0, m->h);
  }
}
