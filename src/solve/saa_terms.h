// A two-stage problem in its own units, entry by entry: what its answers cost, and how good they are. Knows nothing of
// how they are found.
#ifndef CAROM_SRC_SOLVE_SAA_TERMS_H
#define CAROM_SRC_SOLVE_SAA_TERMS_H

#include "carom/saa.h"

// Terms of the cost that are random or of y, in a scenario; and all others.
double carom_saa_scenario_cost(const carom_saa_problem *p, const double *random, const double *x, const double *y);
double carom_saa_certain_cost(const carom_saa_problem *p, const double *x);
void carom_saa_scenario_name(const carom_saa_set *set, int number, char *text, size_t size);

// All ranks fail where one has, before the others wait for it in vain: the status of the first that failed.
carom_status carom_saa_agree(const carom_saa_ranks *ranks, carom_status own, carom_error *error);

#endif
