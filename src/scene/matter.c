// What solids are made of: Young's modulus and Poisson's ratio, or Lame's constants; damping and law.
#include "scene/reader.h"

static bool read_law(carom_reader *r, const carom_node *node, carom_elastic_law *law) {
  const char *words[CAROM_ELASTIC_LAWS + 1] = {0};
  int choice = (int)*law;
  for (int i = 0; i < CAROM_ELASTIC_LAWS; i++) words[i] = carom_elastic_law_name((carom_elastic_law)i);
  if (!carom_read_choice(r, node, words, &choice)) return false;
  *law = (carom_elastic_law)choice;
  return true;
}

// The ratio stands alone where a material leaves the modulus to its solids.
static bool read_young(carom_reader *r, const carom_matter_nodes *n, carom_solid_def *def) {
  double young = 1, poisson = 0;
  carom_elastic_material made;
  carom_error error;
  bool good = carom_read_number(r, n->young, CAROM_PRESSURE, CAROM_POSITIVE, &young);
  good = carom_read_number(r, n->poisson, CAROM_NUMBER, CAROM_ANY, &poisson) && good;
  if (!good || (!n->young && !n->poisson)) return good;
  if (carom_elastic_material_of(young, poisson, 1, &made, &error) != CAROM_OK)
    return carom_report(&r->reporter, (n->poisson ? n->poisson : n->young)->place, NULL, "%s", error.message);
  def->lambda = made.lambda, def->mu = made.mu;
  return true;
}

static bool read_lame(carom_reader *r, const carom_matter_nodes *n, carom_solid_def *def) {
  bool good = carom_read_number(r, n->mu, CAROM_PRESSURE, CAROM_POSITIVE, &def->mu);
  good = carom_read_number(r, n->lambda, CAROM_PRESSURE, CAROM_ANY, &def->lambda) && good;
  if (!good || !n->lambda || !n->mu || def->lambda > -2.0 / 3 * def->mu) return good;
  return carom_report(&r->reporter, n->lambda->place, NULL, "'lambda' must be more than -2/3 mu, %.6g Pa, got %.6g Pa",
                      -2.0 / 3 * def->mu, def->lambda);
}

static bool check_ways(carom_reader *r, const carom_matter_nodes *n, const char *label) {
  const carom_node *engineer = n->young ? n->young : n->poisson, *lame = n->lambda ? n->lambda : n->mu;
  if (!engineer || !lame) return true;
  return carom_report(&r->reporter, lame->key_at, "leave out the one or the other",
                      "%s takes 'young' and 'poisson', or 'lambda' and 'mu', not both", label);
}

bool carom_read_matter(carom_reader *r, const carom_matter_nodes *nodes, const char *label, carom_solid_def *def) {
  bool good = check_ways(r, nodes, label);
  good = read_young(r, nodes, def) && good;
  good = read_lame(r, nodes, def) && good;
  good = carom_read_number(r, nodes->damping, CAROM_TIME, CAROM_NOT_NEGATIVE, &def->damping) && good;
  return read_law(r, nodes->law, &def->law) && good;
}
