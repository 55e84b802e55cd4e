// How a scene is run: duration, output, audit.
#include "scene/reader.h"

#define MOST_STEPS 1e12
enum { FRAMES = 300 };  // frames recorded when the scene does not say

static bool is_whole(double ratio) { return fabs(ratio - round(ratio)) <= 1e-9 * fmax(1, ratio); }

static void read_duration(carom_reader *r) {
  const carom_node *node = r->top[KEY_SCENE_DURATION];
  carom_scene *s = r->scene;
  bool good = carom_read_number(r, node, CAROM_TIME, CAROM_POSITIVE, &s->duration);
  if (!good) return;
  double steps = s->duration / s->step.step;
  carom_place place = node ? node->place : r->root->place;
  if (!(steps <= MOST_STEPS))
    carom_report(&r->reporter, place, "shorten the duration or enlarge the step", "%g s take %.3g steps of %g s",
                 s->duration, steps, s->step.step);
  else if (steps < 1 - 1e-9)
    carom_report(&r->reporter, place, "shorten the step or lengthen the duration",
                 "'duration' of %g s is shorter than the step of %g s", s->duration, s->step.step);
  else if (!is_whole(steps) && node)
    carom_warn(&r->reporter, place, NULL, "'duration' is not a whole number of steps: %g s / %g s = %.6g", s->duration,
               s->step.step, steps);
}

static void read_interval(carom_reader *r, const carom_node *interval, const carom_node *every) {
  carom_scene *s = r->scene;
  double h = s->step.step, frames = 0, given = 0;
  if (every) {
    if (carom_read_integer(r, every, 1, MOST_STEPS, &frames)) s->frame_interval = frames * h;
    return;
  }
  if (!carom_read_number(r, interval, CAROM_TIME, CAROM_POSITIVE, &given)) return;
  frames = round(given / h);
  if (given < h * (1 - 1e-9) || !(frames <= MOST_STEPS)) {
    carom_report(&r->reporter, interval->place, NULL, "'interval' of %g s is %s the step of %g s", given,
                 given < h ? "shorter than" : "too many times", h);
    return;
  }
  s->frame_interval = frames * h;
  if (!is_whole(given / h))
    carom_warn(&r->reporter, interval->place, NULL,
               "'interval' is not a whole number of steps: %g s is taken, not %g s", s->frame_interval, given);
}

static void read_camera(carom_reader *r, const carom_node *node) {
  const carom_node *f[CAROM_MOST_KEYS];
  if (!node || !carom_read_fields(r, node, CAROM_SECTION_CAMERA, "camera", f)) return;
  carom_camera *c = &r->scene->camera;
  c->given = carom_require(r, node, f[KEY_CAMERA_POSITION], "position", "camera");
  carom_read_vector(r, f[KEY_CAMERA_POSITION], CAROM_LENGTH, &c->position);
  carom_read_vector(r, f[KEY_CAMERA_TARGET], CAROM_LENGTH, &c->target);
}

static void read_output(carom_reader *r) {
  const carom_node *f[CAROM_MOST_KEYS], *node = r->top[KEY_SCENE_OUTPUT];
  carom_scene *s = r->scene;
  // The default: 300 frames, but never more often than every step.
  s->frame_interval = fmax(1, round(s->duration / FRAMES / s->step.step)) * s->step.step;
  if (!node || !carom_read_fields(r, node, CAROM_SECTION_OUTPUT, "output", f)) return;
  const carom_node *interval = f[KEY_OUTPUT_INTERVAL], *every = f[KEY_OUTPUT_EVERY];
  if ((interval || every) && carom_exclusive(r, interval, every, "interval and every", "output"))
    read_interval(r, interval, every);
  read_camera(r, f[KEY_OUTPUT_CAMERA]);
}

static void read_audit(carom_reader *r) {
  const carom_node *f[CAROM_MOST_KEYS], *node = r->top[KEY_SCENE_AUDIT];
  carom_audit_bounds *b = &r->scene->bounds;
  if (!node || !carom_read_fields(r, node, CAROM_SECTION_AUDIT, "audit", f)) return;
  const struct {
    int key;
    double *bound;
  } bounds[] = {
      {KEY_AUDIT_ENERGY, &b->energy},
      {KEY_AUDIT_ENERGY_DRIFT, &b->energy_drift},
      {KEY_AUDIT_ENERGY_MADE, &b->energy_made},
      {KEY_AUDIT_DISSIPATION, &b->dissipation},
      {KEY_AUDIT_UNLAWFUL_LOSS, &b->unlawful_loss},
      {KEY_AUDIT_MOMENTUM, &b->momentum},
      {KEY_AUDIT_ANGULAR_MOMENTUM, &b->angular_momentum},
      {KEY_AUDIT_BODY_MOMENTUM, &b->body_momentum},
      {KEY_AUDIT_POSITION, &b->position},
      {KEY_AUDIT_PENETRATION, &b->penetration},
      {KEY_AUDIT_PASSAGE, &b->passage},
      {KEY_AUDIT_COMPLEMENTARITY, &b->complementarity},
      {KEY_AUDIT_CONTACT_LAW, &b->contact_law},
      {KEY_AUDIT_FRICTION_LAW, &b->friction_law},
      {KEY_AUDIT_CONSTRAINT, &b->constraint},
      {KEY_AUDIT_EQUILIBRIUM, &b->equilibrium},
      {KEY_AUDIT_POWER, &b->power},
      {KEY_AUDIT_PASSIVITY, &b->passivity},
      {KEY_AUDIT_INVERSION, &b->inversion},
      {KEY_AUDIT_SOLID_OVERLAP, &b->solid_overlap},
      {KEY_AUDIT_PINS, &b->pins},
  };
  for (size_t i = 0; i < sizeof bounds / sizeof *bounds; i++)
    carom_read_number(r, f[bounds[i].key], CAROM_NUMBER, CAROM_POSITIVE, bounds[i].bound);
}

void carom_read_run(carom_reader *r) {
  r->scene->duration = 10;
  carom_read_start(r);
  carom_read_integrator(r);
  read_duration(r);
  read_output(r);
  read_audit(r);
}
