// Numbers that are searched, and what they stand for. A support is searched by logarithms of ratios, so that it stays
// positive and no unit matters; a friction by its logit, so that it stays in (0, 1).
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "control/push_fit.h"

static const double MOST_RATIO = 1000;  // of damping at spots, or of both axes
static const double MOST_RADIUS = 10;   // over the length
static const double LEAST_MU = 1e-3;    // and 1 - the greatest

static double logit(double mu) { return log(mu / (1 - mu)); }
static double logistic(double u) { return 1 / (1 + exp(-u)); }
static double within(double x, double low, double high) { return fmin(fmax(x, low), high); }

static int shapes_of(const carom_push_fit_def *def) {
  switch (def->support) {
    case CAROM_PUSH_SUPPORT_ISOTROPIC:
      return 1;
    case CAROM_PUSH_SUPPORT_DIAGONAL:
      return 2;
    case CAROM_PUSH_SUPPORT_POINTS:
      return def->point_count - 1;
    default:
      return 0;
  }
}

static void add(carom_push_numbers *n, double low, double high, double first) {
  double room = 0.02 * (high - low);
  n->low[n->count] = low, n->high[n->count] = high;
  n->first[n->count++] = within(first, low + room, high - room);
}

static void add_support(carom_push_numbers *n, double length) {
  double ratio = log(MOST_RATIO);
  switch (n->def->support) {
    case CAROM_PUSH_SUPPORT_DIAGONAL:
      add(n, -ratio, ratio, log(n->given[1][1] / n->given[0][0]));  // fall through
    case CAROM_PUSH_SUPPORT_ISOTROPIC:
      add(n, log(length / MOST_RADIUS), log(length * MOST_RADIUS), log(n->radius));
      break;
    case CAROM_PUSH_SUPPORT_POINTS:
      for (int i = 1; i < n->def->point_count; i++) add(n, -ratio, ratio, 0);
      break;
    default:
      break;
  }
}

carom_push_numbers carom_push_numbers_make(const carom_push_fit_def *def, const double E[3][3], carom_vec3 center,
                                           double length) {
  carom_push_numbers n = {.def = def, .shapes = shapes_of(def), .center = center};
  memcpy(n.given, E, sizeof n.given);
  n.damping = 0.5 * (E[0][0] + E[1][1]);
  n.radius = sqrt(E[2][2] / n.damping);
  add_support(&n, length);
  for (int g = 0; g < def->group_count; g++) {
    double mu = carom_model_surface(def->pusher.model, def->body, def->groups[g].bodies[0]).friction;
    add(&n, logit(LEAST_MU), -logit(LEAST_MU), logit(within(mu, LEAST_MU, 1 - LEAST_MU)));
  }
  return n;
}

// ---- to supports ---------------------------------------------------------------------------------------------------

// Shares of the damping at spots: c_i over their sum.
static void shares(const carom_push_numbers *n, const double *u, double *share) {
  double sum = share[0] = 1;
  for (int i = 1; i < n->def->point_count; i++) sum += share[i] = exp(u[i - 1]);
  for (int i = 0; i < n->def->point_count; i++) share[i] /= sum;
}

// E = sum of c_i A_i'A_i, A_i = [1 0 -y; 0 1 x].
static void points_support(const carom_push_numbers *n, const double *u, double E[3][3]) {
  double share[CAROM_PUSH_FIT_POINTS];
  shares(n, u, share);
  memset(E, 0, 9 * sizeof(double));
  for (int i = 0; i < n->def->point_count; i++) {
    carom_vec3 r = cm_sub(n->def->points[i], n->center);
    double c = n->damping * share[i];
    E[0][0] += c, E[1][1] += c, E[2][2] += c * (r.x * r.x + r.y * r.y);
    E[0][2] -= c * r.y, E[1][2] += c * r.x;
  }
  E[2][0] = E[0][2], E[2][1] = E[1][2];
}

static void axes_support(const carom_push_numbers *n, double ratio, double radius, double E[3][3]) {
  double c = n->damping;  // (cx + cy)/2 = c, cy/cx = ratio
  memset(E, 0, 9 * sizeof(double));
  E[0][0] = 2 * c / (1 + ratio), E[1][1] = 2 * c * ratio / (1 + ratio), E[2][2] = c * radius * radius;
}

carom_push_guess carom_push_numbers_guess(const carom_push_numbers *n, const double *u) {
  carom_push_guess guess;
  switch (n->def->support) {
    case CAROM_PUSH_SUPPORT_ISOTROPIC:
      axes_support(n, 1, exp(u[0]), guess.E);
      break;
    case CAROM_PUSH_SUPPORT_DIAGONAL:
      axes_support(n, exp(u[0]), exp(u[1]), guess.E);
      break;
    case CAROM_PUSH_SUPPORT_POINTS:
      points_support(n, u, guess.E);
      break;
    default:
      memcpy(guess.E, n->given, sizeof guess.E);
  }
  for (int g = 0; g < CAROM_PUSH_FIT_GROUPS; g++)
    guess.mu[g] = g < n->def->group_count ? logistic(u[n->shapes + g]) : 0;
  return guess;
}

// ---- what is told --------------------------------------------------------------------------------------------------

static int shapes_told(const carom_push_numbers *n) {
  return n->def->support == CAROM_PUSH_SUPPORT_POINTS ? n->def->point_count : n->shapes;
}

int carom_push_numbers_told(const carom_push_numbers *n) { return shapes_told(n) + n->def->group_count; }

int carom_push_numbers_of(const carom_push_numbers *n, int i) {
  if (i >= shapes_told(n)) return n->shapes + i - shapes_told(n);
  return n->def->support == CAROM_PUSH_SUPPORT_POINTS ? (i > 0 ? i - 1 : 0) : i;
}

double carom_push_numbers_value(const carom_push_numbers *n, const double *u, int i) {
  double share[CAROM_PUSH_FIT_POINTS];
  if (i >= shapes_told(n)) return logistic(u[carom_push_numbers_of(n, i)]);
  if (n->def->support != CAROM_PUSH_SUPPORT_POINTS) return exp(u[i]);
  shares(n, u, share);
  return share[i];
}

static void name_it(const carom_push_numbers *n, int i, char *name, size_t size) {
  int group = i - shapes_told(n);
  if (group >= 0 && n->def->groups[group].name)
    snprintf(name, size, "mu of %.40s", n->def->groups[group].name);
  else if (group >= 0)
    snprintf(name, size, "mu of group %d", group);
  else if (n->def->support == CAROM_PUSH_SUPPORT_POINTS)
    snprintf(name, size, "share %d", i);
  else
    snprintf(name, size, "%s", n->def->support == CAROM_PUSH_SUPPORT_DIAGONAL && i == 0 ? "ratio" : "radius");
}

void carom_push_numbers_name(const carom_push_numbers *n, int i, carom_push_parameter *p) {
  *p = (carom_push_parameter){.identified = true};
  name_it(n, i, p->name, sizeof p->name);
  bool share = i < shapes_told(n) && n->def->support == CAROM_PUSH_SUPPORT_POINTS;
  p->least = share ? 0 : carom_push_numbers_value(n, n->low, i);
  p->most = share ? 1 : carom_push_numbers_value(n, n->high, i);
}
