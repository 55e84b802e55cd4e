// Why a step has no solution (Gavrea 2008, 2.4, figure 2.8): forces of contact that cancel out may grow without bound.
// Where a wall is among what carries them the part is jammed; where only what is driven, it is crushed.
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "model/row.h"
#include "step/quasistatic/integrator.h"

static const double TAKES_PART = 1e-9;  // of the forces that cancel out, which sum to 1

typedef struct proof {
  int *members;     // (count) items of the cone
  double *impulse;  // that cancels out
} proof;

static bool is_driven(const carom_quasi *s, int body) {
  return cm_norm2(s->driven.v[body]) + cm_norm2(s->driven.w[body]) > 0;
}

static bool has_wall(const carom_quasi *s, const proof *p, int count) {
  for (int c = 0; c < count; c++) {
    int body = s->items[p->members[c]].contact.body_b;
    if (p->impulse[c] > TAKES_PART && s->model->bodies[body].fixed && !is_driven(s, body)) return true;
  }
  return false;
}

// "'part' and 'probe', 'part' and 'wall'": who carries the forces, each pair once.
static void say_pairs(const carom_quasi *s, const proof *p, int count, char *text, size_t size) {
  text[0] = '\0';
  for (int c = 0; c < count; c++) {
    const carom_contact *contact = &s->items[p->members[c]].contact;
    char pair[220];
    snprintf(pair, sizeof pair, "'%.100s' and '%.100s'", s->model->bodies[contact->body_a].name,
             s->model->bodies[contact->body_b].name);
    size_t n = strlen(text);
    if (p->impulse[c] <= TAKES_PART || strstr(text, pair) || n + strlen(pair) + 3 > size) continue;
    snprintf(text + n, size - n, "%s%s", n > 0 ? ", " : "", pair);
  }
}

static carom_status say(const carom_quasi *s, const proof *p, int count, carom_error *error) {
  char pairs[600];
  double time = s->at->time + s->h;
  say_pairs(s, p, count, pairs, sizeof pairs);
  if (has_wall(s, p, count))
    return carom_fail(error, CAROM_ERR_SINGULAR,
                      "jammed at t = %.9g s: forces between %s cancel out and would grow without bound; let what is "
                      "driven stop before, push elsewhere, or with less friction",
                      time, pairs);
  return carom_fail(error, CAROM_ERR_SINGULAR,
                    "crushed at t = %.9g s: forces between %s cancel out and would grow without bound; let what is "
                    "driven stop before, or push at places farther from each other's line",
                    time, pairs);
}

static carom_status not_solved(const carom_quasi *s, const carom_quasi_outcome *o, carom_error *error) {
  return carom_fail(error, CAROM_NOT_CONVERGED,
                    "the contact problem of %d contacts at t = %.9g s was not solved (relative residual %.2g after %d "
                    "iterations), though their forces cannot cancel out: use a smaller step",
                    s->count, s->at->time + s->h, o->residual, o->iterations);
}

static carom_status judge(carom_quasi *s, const proof *p, const carom_quasi_outcome *outcome, carom_error *error) {
  carom_friction_cone cone;
  carom_status status = carom_quasi_cone(s, INFINITY, &cone, p->members, error);
  if (status != CAROM_OK) return status;
  carom_friction_cone_answer answer = {.impulse = p->impulse};
  status = carom_friction_cone_pointed(&cone, &s->allocator, &answer, error);
  if (status == CAROM_ERR_MEMORY) return status;
  return status == CAROM_OK && !answer.pointed ? say(s, p, cone.contacts, error) : not_solved(s, outcome, error);
}

carom_status carom_quasi_blame(carom_quasi *s, const carom_quasi_outcome *outcome, carom_error *error) {
  enum { NUMBERS = 9 };  // of a contact: its normal, and at most 8 directions
  proof p = {0};
  if (!CAROM_NEW_ALL(&s->allocator, CAROM_ROOM(p.members, s->count), CAROM_ROOM(p.impulse, NUMBERS * s->count))) {
    CAROM_RELEASE_ALL(&s->allocator, p.members, p.impulse);
    return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for the %d contacts of a step", s->count);
  }
  carom_status status = judge(s, &p, outcome, error);
  CAROM_RELEASE_ALL(&s->allocator, p.members, p.impulse);
  return status;
}
