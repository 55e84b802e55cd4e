// Springs and dampers against the length of a step. Most integrators take forces at the ends of a step: energy on a
// spring of frequency w then swings by (h w)^2/4, or by h w/2 where the method is of first order, and what a damper of
// rate c/m takes is off by as much with c/m in place of w; beyond h w = 2 all is lost (Hairer, Lubich and Wanner 2006,
// I.5.3). Springs are constants of the model, and so is the step: it is taken in as many equal parts as keep the swing
// below half of what the audit allows. The number is the same in all steps, so that symplectic methods stay symplectic.
// Steps with h w > 2 are refused all the same: their ends do not show the motion any more. `moreau` solves for springs;
// but across its line a spring of no rest length is as stiff as along it, and there `moreau` goes by what it was.
#include <math.h>

#include "model/row.h"
#include "step/step.h"

static const double ENERGY[] = {0, 1e-2, 5e-3};  // by order: half of the audit's bound, as table in mechanics/verdict.c

// Joints share a body's mass out among others: how much, the model alone does not tell.
static bool is_jointed(const carom_model *model, int body) {
  for (int i = 0; i < model->joint_count; i++)
    if (model->joints[i].body[0] == body || model->joints[i].body[1] == body) return true;
  return false;
}

// What a unit force at the end of a spring does to the velocity there, at most, 1/kg: 1/m and r x (J^-1 (r x n)), by
// its Frobenius norm.
static double mobility_of(const carom_model *model, const carom_spring *spring, int end) {
  int body = spring->body[end];
  if (!carom_body_moves(model, body)) return 0;
  const carom_body *b = &model->bodies[body];
  carom_mat3 arm = cm_hat(spring->point[end]),
             J = cm_diag3(b->inverse_inertia.x, b->inverse_inertia.y, b->inverse_inertia.z);
  carom_mat3 K = cm_mmul(arm, cm_mmul(J, cm_transpose(arm)));
  double sum = 0;
  for (int i = 0; i < 9; i++) sum += K.m[i / 3][i % 3] * K.m[i / 3][i % 3];
  return b->inverse_mass + sqrt(sum);
}

// How a body couples spring i with all springs on it: the row of the matrix k_i^1/2 J_i M^-1 J_j' k_j^1/2, whose
// largest sum bounds its largest eigenvalue (Gershgorin). By stiffness or by damping.
static double coupling_of(const carom_model *model, int spring, int end, bool damping) {
  const carom_spring *s = &model->springs[spring];
  double own = sqrt((damping ? s->damping : s->stiffness) * mobility_of(model, s, end)), sum = 0;
  for (int j = 0; j < model->spring_count && own > 0; j++)
    for (int k = 0; k < 2; k++) {
      const carom_spring *other = &model->springs[j];
      if (other->body[k] == s->body[end])
        sum += sqrt((damping ? other->damping : other->stiffness) * mobility_of(model, other, k));
    }
  return own * sum;
}

// Of a spring with all that hangs on it, 1/s.
typedef struct spring_rates {
  double frequency, damping;
} spring_rates;

static spring_rates rates_of(const carom_model *model, int spring) {
  spring_rates r = {0, 0};
  for (int end = 0; end < 2; end++) {
    r.frequency += coupling_of(model, spring, end, false);
    r.damping += coupling_of(model, spring, end, true);
  }
  r.frequency = sqrt(r.frequency);
  return r;
}

// The longest part of a step, times the rate. The midpoint rule keeps the energy of springs, and is solved up to 2.
static double longest_part(const carom_integrator *integrator, const carom_step_options *options) {
  int order = integrator->honours->spring_order;
  if (order == 0 || options->quadrature == CAROM_QUADRATURE_MIDPOINT) return 2;
  double swing = ENERGY[order] / (1 + ENERGY[order]);
  return order == 1 ? 2 * swing : 2 * sqrt(swing);
}

static int most_parts(const carom_integrator *integrator, const carom_step_options *options) {
  bool splits = integrator->honours->spring_order > 0 && options->quadrature == CAROM_QUADRATURE_ENDPOINT;
  return splits ? CAROM_MOST_PARTS : 1;
}

static bool is_solved(const carom_integrator *integrator, const carom_model *model, const carom_step_options *options,
                      int spring) {
  bool (*solves)(const carom_model *, const carom_step_options *) = integrator->honours->solves_springs;
  return solves && solves(model, options) && model->springs[spring].rest_length > 0;
}

// The longest step that a spring allows, and the longest part of one, s; infinite where that cannot be told.
static double longest_step(const carom_integrator *integrator, const carom_model *model,
                           const carom_step_options *options, int spring, double *part) {
  const carom_spring *s = &model->springs[spring];
  if (is_solved(integrator, model, options, spring)) return *part = INFINITY;
  spring_rates r = rates_of(model, spring);
  *part = longest_part(integrator, options) / hypot(r.frequency, r.damping);
  double step = fmin(2 / r.frequency, *part * most_parts(integrator, options));
  bool known = !is_jointed(model, s->body[0]) && !is_jointed(model, s->body[1]);
  if (known || options->step <= step) return step;
  return *part = INFINITY;
}

int carom_springs_parts(const carom_integrator *integrator, const carom_model *model,
                        const carom_step_options *options) {
  double part, shortest = INFINITY;
  for (int i = 0; i < model->spring_count; i++) {
    longest_step(integrator, model, options, i, &part);
    shortest = fmin(shortest, part);
  }
  double parts = ceil(options->step / shortest * (1 - 1e-12));
  return (int)fmax(1, fmin(parts, most_parts(integrator, options)));
}

carom_status carom_springs_check(const carom_integrator *integrator, const carom_model *model,
                                 const carom_step_options *options, carom_error *error) {
  for (int i = 0; i < model->spring_count; i++) {
    const carom_spring *spring = &model->springs[i];
    double part, longest = longest_step(integrator, model, options, i, &part);
    if (options->step <= longest) continue;
    return carom_fail(error, CAROM_ERR_UNSUPPORTED,
                      "the spring between '%s' and '%s' is too stiff, or its damper too strong, for steps of %g s by "
                      "'%s': use a step below %.2g s",
                      carom_body_name(model, spring->body[0]), carom_body_name(model, spring->body[1]), options->step,
                      integrator->name, 0.99 * longest);
  }
  return CAROM_OK;
}
