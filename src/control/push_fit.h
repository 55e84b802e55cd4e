// Fitting recorded pushes: what the files of it share.
//
//     push_fit.c           the search, residuals, intervals
//     push_fit_numbers.c   numbers that are searched <-> support, friction, and what is told of them
//     push_fit_pusher.c    pushes simulated with a support and frictions that are not the model's
//
// The search knows a simulator, not the pusher, so that it can be tried on pushes in closed form.
#ifndef CAROM_SRC_CONTROL_PUSH_FIT_H
#define CAROM_SRC_CONTROL_PUSH_FIT_H

#include "carom/push_fit.h"

// What a simulation is run with.
typedef struct carom_push_guess {
  double E[3][3];  // about the centre of mass, along the axes of the body frame
  double mu[CAROM_PUSH_FIT_GROUPS];
} carom_push_guess;

// Simulates recorded pushes. One thread at a time.
typedef struct carom_push_simulator {
  void *context;
  // From now on with this guess.
  carom_status (*take)(void *context, const carom_push_guess *guess, carom_error *error);
  // Poses and forces at the times of the record's samples; CAROM_NOT_CONVERGED: it comes to no end.
  carom_status (*run)(void *context, const carom_push_record *record, carom_push_sample *samples);
} carom_push_simulator;

// ---- push_fit_numbers.c ----

// What is searched: u[i] between low[i] and high[i], logarithms of ratios and logits of frictions.
typedef struct carom_push_numbers {
  const carom_push_fit_def *def;
  int shapes;          // numbers of the support; frictions follow
  int count;           // of all
  double damping;      // (E_xx + E_yy) / 2 of the model: what E is given with
  double radius;       // m: of the model's E
  double given[3][3];  // the model's E
  carom_vec3 center;   // of mass, body frame
  double low[CAROM_PUSH_FIT_MOST], high[CAROM_PUSH_FIT_MOST], first[CAROM_PUSH_FIT_MOST];  // (count)
} carom_push_numbers;

// E (of the model) and the centre tell where the search begins and what does not depend on it.
carom_push_numbers carom_push_numbers_make(const carom_push_fit_def *def, const double E[3][3], carom_vec3 center,
                                           double length);
carom_push_guess carom_push_numbers_guess(const carom_push_numbers *numbers, const double *u);
// What a user is told: how many parameters, which, and their values at u. The i-th belongs to number i, but for points,
// which have a share each.
int carom_push_numbers_told(const carom_push_numbers *numbers);
void carom_push_numbers_name(const carom_push_numbers *numbers, int i, carom_push_parameter *parameter);
double carom_push_numbers_value(const carom_push_numbers *numbers, const double *u, int i);
// The search variable that moves parameter i most; of shares, the one that is its own.
int carom_push_numbers_of(const carom_push_numbers *numbers, int i);

// ---- push_fit_pusher.c ----

// E of a body of a model along the axes of its body frame, and where its centre of mass is in that frame.
void carom_push_fit_support(const carom_model *model, int body, double E[3][3], carom_vec3 *center);
typedef struct carom_push_trial carom_push_trial;
carom_status carom_push_trial_create(const carom_push_fit_def *def, const carom_allocator *allocator,
                                     carom_push_trial **trial, carom_error *error);
void carom_push_trial_destroy(carom_push_trial *trial);  // null is fine
carom_push_simulator carom_push_trial_simulator(carom_push_trial *trial);

// ---- push_fit.c ----

// What is the same for all searches.
typedef struct carom_push_fit_job {
  const carom_push_fit_def *def;
  carom_push_numbers numbers;
  double length;
  carom_push_simulator *simulators;  // (threads)
  int threads;
  const carom_allocator *allocator;
} carom_push_fit_job;

carom_status carom_push_fit_search(const carom_push_fit_job *job, carom_push_fit *fit, carom_error *error);

#endif
