// Costs.
#include "control/kinds.h"

static void effort(const double *c, const carom_hyper *z, carom_hyper *r) {
  *r = ch_mul(ch_scale(c[0] * c[1], z[1]), ch_mul(z[0], z[0]));
}
const carom_element_kind carom_kind_effort = {.name = "effort", .residual = effort};

static void square(const double *c, const carom_hyper *z, carom_hyper *r) {
  carom_hyper d = ch_sub(z[0], ch_number(c[1]));
  *r = ch_scale(c[0], ch_mul(d, d));
}
const carom_element_kind carom_kind_square = {.name = "square", .residual = square};

static void alignment(const double *c, const carom_hyper *z, carom_hyper *r) {
  carom_hyper d = ch_sub(ch_dot(ch_rotate(ch_pack4(z), ch_constant3(c + 1)), ch_constant3(c + 4)), ch_number(1));
  *r = ch_scale(c[0], ch_mul(d, d));
}
const carom_element_kind carom_kind_alignment = {.name = "alignment", .residual = alignment};

static void linear(const double *c, const carom_hyper *z, carom_hyper *r) { *r = ch_scale(c[0], z[0]); }
const carom_element_kind carom_kind_linear = {.name = "linear", .residual = linear};
