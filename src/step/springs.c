// Springs and dampers that are too stiff for a step. `moreau` solves for them; but across its line a spring of no rest
// length is as stiff as along it, and there `moreau` goes by what it was. For the others, forces are taken at its ends,
// so that a mass on a spring is followed up to h w = 2, and one that is damped up to h c / m = 2 (Hairer, Lubich and
// Wanner 2006, I.5.3). Beyond, nothing that comes out means anything.
#include <math.h>

#include "model/row.h"
#include "step/step.h"

// Joints share a body's mass out among others: how much, the model alone does not tell.
static bool is_jointed(const carom_model *model, int body) {
  for (int i = 0; i < model->joint_count; i++)
    if (model->joints[i].body[0] == body || model->joints[i].body[1] == body) return true;
  return false;
}

// The longest step; infinite where there is no limit, or none that is known.
static double longest_step(const carom_model *model, const carom_spring *spring) {
  double mobility = 0;
  for (int end = 0; end < 2; end++) {
    int body = spring->body[end];
    if (!carom_body_moves(model, body)) continue;
    if (is_jointed(model, body)) return INFINITY;
    mobility += model->bodies[body].inverse_mass;
  }
  return fmin(2 / sqrt(spring->stiffness * mobility), 2 / (spring->damping * mobility));
}

carom_status carom_springs_check(const carom_model *model, double step, bool solved, carom_error *error) {
  for (int i = 0; i < model->spring_count; i++) {
    const carom_spring *spring = &model->springs[i];
    if (solved && spring->rest_length > 0) continue;
    double longest = longest_step(model, spring);
    if (step <= longest) continue;
    return carom_fail(
        error, CAROM_ERR_UNSUPPORTED,
        "the spring between '%s' and '%s' is too stiff, or its damper too strong, for steps of %g s: use a "
        "step below %.2g s (a tenth of that to follow its motion)",
        carom_body_name(model, spring->body[0]), carom_body_name(model, spring->body[1]), step, longest);
  }
  return CAROM_OK;
}
