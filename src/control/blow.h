// What the transcriptions of planned contacts share: corner contacts (transcribe_contacts.c) and flat ones
// (transcribe_flat.c).
#ifndef CAROM_SRC_CONTROL_BLOW_H
#define CAROM_SRC_CONTROL_BLOW_H

#include "control/plan.h"

typedef struct carom_blow {
  carom_plan *plan;
  carom_program *P;
  carom_plan_contact *c;
  int number, node;
  double length, speed, momentum;  // scales
} carom_blow;

static inline carom_row_label carom_blow_label(const carom_blow *s) {
  return (carom_row_label){CAROM_ROW_CONTACT, s->node, s->number, -1};
}

static inline int carom_blow_rows(const carom_blow *s, int count, double low, double high, double scale) {
  return carom_program_rows(s->P, count, low, high, scale, carom_blow_label(s));
}

// 6 rows for every moving body: P_after - P_before = 0, to which impulses are added; those of the joints are there.
int carom_blow_balance(const carom_blow *s);
void carom_transcribe_flat(const carom_blow *s);

#endif
