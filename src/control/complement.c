// What chooses: pairs of quantities of which one must be nought, such as the slip of a point and what is left of its
// friction. Products are bounded by a relaxation that goes to nought (Scholtes 2001), which leads the solver to one of
// the sides; from there that side is fixed, so that what is left is smooth and the product is nought, not just small.
#include "control/kinds.h"
#include "control/plan.h"

static bool chooses(const carom_plan_contact *c) {
  return c->def.impact == CAROM_PLANNED_REFLECT && c->def.friction > 0 && c->def.friction_mode == CAROM_FRICTION_CHOOSE;
}

// The pair of this number, of all that there are; null past the last.
static carom_complement *pair_of(const carom_plan *plan, int number) {
  for (int i = 0; i < plan->contact_count; i++) {
    carom_plan_contact *c = &plan->contacts[i];
    if (number < c->features.corner_count) return &c->corners[number];
    number -= c->features.corner_count;
    if (chooses(c) && number-- == 0) return &c->slip;
  }
  return NULL;
}

#define EACH(p, plan) for (int number = 0; (p = pair_of(plan, number)) != NULL; number++)

void carom_complement_open(carom_plan_contact *contact) {
  contact->slip.decision = CAROM_OPEN;
  for (int i = 0; i < CAROM_FLAT_CORNERS; i++) contact->corners[i].decision = CAROM_OPEN;
}

bool carom_complement_is_open(const carom_plan *plan) {
  const carom_complement *p;
  EACH(p, plan) if (p->decision == CAROM_OPEN) return true;
  return false;
}

// The product is then nought whatever the other does.
static void settle(carom_program *P, const carom_complement *p) {
  if (p->follows)
    P->x_low[p->b] = -INFINITY;
  else
    carom_program_fix(P, p->decision == CAROM_FIRST_IS_ZERO ? p->a : p->b, 0);
  P->x_high[p->product] = INFINITY;
}

static const double first_relaxation = 0.1;

void carom_transcribe_complement(carom_plan *plan, carom_complement *p, carom_row_label label) {
  carom_program *P = &plan->program;
  p->product = carom_program_variables(P, 1, -INFINITY, first_relaxation, 1);
  int row = carom_program_rows(P, 1, 0, 0, 1, label);
  carom_program_add(P, &carom_kind_product, CAROM_OF({p->a, 1}, {p->b, 1}, {p->product, 1}), CAROM_INTO({row, 1}),
                    CAROM_WITH(1 / p->size[0], 1 / p->size[1]));
  if (!P->out_of_memory && p->decision != CAROM_OPEN) settle(P, p);
}

void carom_complement_relax(carom_plan *plan, double relaxation) {
  carom_complement *p;
  EACH(p, plan) if (p->decision == CAROM_OPEN) plan->program.x_high[p->product] = relaxation;
}

void carom_complement_decide(carom_plan *plan) {
  const double *x = plan->program.x;
  carom_complement *p;
  EACH(p, plan) {
    bool first = x[p->a] / p->size[0] < x[p->b] / p->size[1];
    p->decision = first ? CAROM_FIRST_IS_ZERO : CAROM_SECOND_IS_ZERO;
  }
  for (int i = 0; i < plan->contact_count; i++) carom_complement_thin(&plan->contacts[i]);
  EACH(p, plan) settle(&plan->program, p);
}

double carom_complement_residual(const carom_plan *plan) {
  double worst = 0;
  const double *x = plan->program.x;
  carom_complement *p;
  EACH(p, plan) worst = fmax(worst, fabs(x[p->a] * x[p->b]) / (p->size[0] * p->size[1]));
  return worst;
}
