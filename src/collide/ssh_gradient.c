// Gradient of the gap. At a solution the program's value changes as its Lagrangian does with plane and weights held
// (Johnson 2012, eqs. 2.66-2.67): d gap = sum of w_i alpha . (dx_i - dy_i) - gap alpha . dbeta, where the last term is
// there when beta follows the bodies (eqs. 3.49-3.50, there for centres of mass at the origin of the directors). In the
// plane alpha and beta have no z, so that the same formulas see nothing but the shadows' motion.
#include "collide/beta_line.h"

carom_beta_line carom_beta_line_of(const carom_stand *a, const carom_stand *b, const carom_ssh_result *result,
                                   bool beta_moves) {
  carom_beta_line line = {.center_a = cm_mulv(a->R, a->shape->center), .center_b = cm_mulv(b->R, b->shape->center)};
  carom_vec3 c = cm_add(cm_sub(line.center_a, line.center_b), cm_sub(a->p, b->p));
  if (result->planar) c.z = 0;
  line.length = cm_norm(c);
  // A half-space that had to reset beta takes its own normal, to which alpha stays parallel: no change of first order.
  bool half = a->shape->kind == CAROM_SHAPE_HALFSPACE || b->shape->kind == CAROM_SHAPE_HALFSPACE;
  bool aligned = line.length > 0 && cm_norm(cm_sub(cm_unit(c), result->beta)) < 1e-6;
  line.moves = beta_moves && aligned && !(half && result->outcome == CAROM_SSH_RESET);
  return line;
}

carom_vec3 carom_beta_pull(const carom_beta_line *line, double gap, carom_vec3 alpha, carom_vec3 beta) {
  return line->moves ? cm_scale(-gap / line->length, cm_sub(alpha, beta)) : cm_zero3();
}

// A force `push` in the point r and `pull` in the centre c, both relative to the body's position: as a wrench, and in
// redundant coordinates x = p + sum of rho_k d_k (eqs. 3.42-3.46).
static carom_gap_gradient_body gather(const carom_stand *s, carom_vec3 r, carom_vec3 push, carom_vec3 c,
                                      carom_vec3 pull) {
  carom_gap_gradient_body g;
  g.linear = g.position = cm_add(push, pull);
  g.angular = cm_add(cm_cross(r, push), cm_cross(c, pull));
  carom_vec3 rho = cm_tmulv(s->R, r), center = s->shape->center;
  g.director[0] = cm_add(cm_scale(rho.x, push), cm_scale(center.x, pull));
  g.director[1] = cm_add(cm_scale(rho.y, push), cm_scale(center.y, pull));
  g.director[2] = cm_add(cm_scale(rho.z, push), cm_scale(center.z, pull));
  return g;
}

carom_status carom_ssh_gradient(const carom_placed *a, const carom_placed *b, const carom_ssh_result *result,
                                bool beta_moves, carom_gap_gradient *gradient) {
  const carom_ssh_result *r = result;
  if (!isfinite(r->gap) || !cm_finite(r->alpha) || r->column_count < 1) return CAROM_ERR_NUMBER;
  carom_stand sa = carom_stand_of(a), sb = carom_stand_of(b);
  *gradient = (carom_gap_gradient){0};
  carom_vec3 ra = cm_zero3(), rb = cm_zero3();
  for (int k = 0; k < r->column_count; k++) {
    ra = cm_axpy(ra, r->weight[k], carom_column_point(&sa, r->vertex_a[k], r->column_a[k]));
    rb = cm_axpy(rb, r->weight[k], carom_column_point(&sb, r->vertex_b[k], r->column_b[k]));
    gradient->column_a[k] = cm_scale(r->weight[k], r->alpha);
    gradient->column_b[k] = cm_scale(-r->weight[k], r->alpha);
  }
  carom_beta_line line = carom_beta_line_of(&sa, &sb, r, beta_moves);
  carom_vec3 pull = carom_beta_pull(&line, r->gap, r->alpha, r->beta);
  gradient->a = gather(&sa, ra, r->alpha, line.center_a, pull);
  gradient->b = gather(&sb, rb, cm_neg(r->alpha), line.center_b, cm_neg(pull));
  return CAROM_OK;
}
