// Energies, forces, stresses and momenta of a solid.
#include "math/sum.h"
#include "solid/lanes.h"

enum { LANES = CAROM_SOLID_LANES };

static carom_elastic_sample sample_of(const carom_elastic *e, const carom_solid_sum *sum) {
  carom_elastic_sample s = {.least_J = sum->least_J, .least_tet = sum->least_tet};
  s.energy = carom_solid_sound(e, sum) ? carom_solid_energy(e) : (double)INFINITY;
  s.dissipation = carom_solid_power(e);
  return s;
}

void carom_elastic_measure(carom_elastic *e, const carom_vec3 *x, const carom_vec3 *v, carom_elastic_sample *sample) {
  carom_solid_sum sum = carom_solid_evaluate(e, x, v, true);
  *sample = sample_of(e, &sum);
}

carom_status carom_elastic_forces(carom_elastic *e, const carom_vec3 *x, const carom_vec3 *v, carom_vec3 *f,
                                  carom_elastic_sample *sample, carom_error *error) {
  carom_solid_sum sum = carom_solid_evaluate(e, x, v, sample != NULL);
  carom_solid_gather(e, f);
  if (sample) *sample = sample_of(e, &sum);
  if (carom_solid_sound(e, &sum)) return CAROM_OK;
  return carom_fail(error, CAROM_ERR_GEOMETRY,
                    "tetrahedron %d is inverted (J = %.3g), and the law %s has no forces there; begin from positions "
                    "without inversions, or take the law stable",
                    sum.least_tet, sum.least_J, carom_elastic_law_name(e->law));
}

void carom_elastic_stiffness_times(carom_elastic *e, const carom_vec3 *x, const carom_vec3 *u, carom_vec3 *y) {
  carom_solid_product(e, x, u);
  carom_solid_gather(e, y);
}

// ---- the energy alone -----------------------------------------------------------------------------------------------

LANEWISE void block_energy(const carom_elastic *e, const carom_solid_block *b, const carom_vec3 *x, eight *W,
                           eight *J) {
  eight3x3 F, c;
  lanes_strain s;
  lanes_law w;
  lanes_gradient(b, x, &F);
  lanes_cofactor(&F, &c);
  lanes_strain_of(&F, &c, &s);
  lanes_law_of(e->law, b, &s, &w);
  *W = w.W * lanes_load(b->volume);
  *J = s.J;
}

CAROM_SIMD_CLONES
double carom_elastic_energy(const carom_elastic *e, const carom_vec3 *x, double *least_J, int *least_tet) {
  carom_sum sum = {0};
  double least = INFINITY;
  int tet = 0;
  for (int number = 0; number < e->block_count; number++) {
    eight W, J;
    block_energy(e, &e->blocks[number], x, &W, &J);
    for (int l = 0; l < LANES && LANES * number + l < e->tet_count; l++) {
      carom_sum_add(&sum, ((const double *)&W)[l]);
      double j = ((const double *)&J)[l];
      if (!(j >= least) && !isnan(least)) least = j, tet = LANES * number + l;  // what is no number stays
    }
  }
  if (least_J) *least_J = least;
  if (least_tet) *least_tet = tet;
  bool sound = least > 0 || !carom_solid_has_pole(e->law);
  return sound ? carom_sum_value(&sum) : (double)INFINITY;
}

// ---- stresses -------------------------------------------------------------------------------------------------------

// sigma = P F' / J = (mu F F' + F S F') / J + h' 1.
LANEWISE void block_stress(const carom_elastic *e, const carom_solid_block *b, const carom_vec3 *x, const carom_vec3 *v,
                           eight3x3 *sigma) {
  eight3x3 F, c, rate, D, S, T;
  lanes_strain s;
  lanes_law w;
  lanes_gradient(b, x, &F);
  lanes_cofactor(&F, &c);
  lanes_strain_of(&F, &c, &s);
  lanes_law_of(e->law, b, &s, &w);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) S.m[i][j] = (eight){0};
  if (v) {
    lanes_gradient(b, v, &rate);
    lanes_strain_rate(&F, &rate, &D);
    lanes_viscous(b, &D, &S);
  }
  for (int i = 0; i < 3; i++) S.m[i][i] += lanes_load(b->matter->mu);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) T.m[i][j] = F.m[i][0] * S.m[0][j] + F.m[i][1] * S.m[1][j] + F.m[i][2] * S.m[2][j];
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      eight t = T.m[i][0] * F.m[j][0] + T.m[i][1] * F.m[j][1] + T.m[i][2] * F.m[j][2];
      sigma->m[i][j] = t / s.J;
      if (i == j) sigma->m[i][j] += w.h1;
    }
}

static double mises(const carom_mat3 *s) {
  double a = s->m[0][0] - s->m[1][1], b = s->m[1][1] - s->m[2][2], c = s->m[2][2] - s->m[0][0];
  double shear2 = s->m[0][1] * s->m[0][1] + s->m[1][2] * s->m[1][2] + s->m[0][2] * s->m[0][2];
  return sqrt(0.5 * (a * a + b * b + c * c) + 3 * shear2);
}

CAROM_SIMD_CLONES
void carom_elastic_stress(const carom_elastic *e, const carom_vec3 *x, const carom_vec3 *v, carom_mat3 *stress,
                          double *von_mises) {
  const carom_vec3 *rates = e->damped ? v : NULL;
  for (int number = 0; number < e->block_count; number++) {
    eight3x3 sigma;
    block_stress(e, &e->blocks[number], x, rates, &sigma);
    for (int l = 0; l < LANES && LANES * number + l < e->tet_count; l++) {
      carom_mat3 *one = &stress[LANES * number + l];
      for (int i = 0; i < 9; i++) one->m[i / 3][i % 3] = ((const double *)&sigma.m[i / 3][i % 3])[l];
      if (von_mises) von_mises[LANES * number + l] = mises(one);
    }
  }
}

// ---- momenta --------------------------------------------------------------------------------------------------------

double carom_elastic_kinetic_energy(const carom_elastic *e, const carom_vec3 *v) {
  carom_sum sum = {0};
  for (int i = 0; i < e->node_count; i++) carom_sum_add(&sum, 0.5 * e->mass[i] * cm_norm2(v[i]));
  return carom_sum_value(&sum);
}

carom_vec3 carom_elastic_linear_momentum(const carom_elastic *e, const carom_vec3 *v) {
  carom_sum3 sum = {0};
  for (int i = 0; i < e->node_count; i++) carom_sum3_add(&sum, cm_scale(e->mass[i], v[i]));
  return carom_sum3_value(&sum);
}

carom_vec3 carom_elastic_angular_momentum(const carom_elastic *e, const carom_vec3 *x, const carom_vec3 *v) {
  carom_sum3 sum = {0};
  for (int i = 0; i < e->node_count; i++) carom_sum3_add(&sum, cm_cross(x[i], cm_scale(e->mass[i], v[i])));
  return carom_sum3_value(&sum);
}
