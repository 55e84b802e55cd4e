// The integrator `quasistatic`: the kernel with driven bodies, its books, and what it says when a step has no solution.
//
//     quasistatic.h   the kernel                      quasistatic.c   the step, as a pipeline
//     gather.c        contacts, supports, loads       books.c         ledger and events
//     solve.c         the problem and its solution    jam.c           forces that cancel out
//     modes.c         steps in given modes            honours.c       what is honoured
//     dry.c           strains of dry supports         setup.c         memory of the kernel
//     cone.c          friction cones
#ifndef CAROM_SRC_STEP_QUASISTATIC_INTEGRATOR_H
#define CAROM_SRC_STEP_QUASISTATIC_INTEGRATOR_H

#include "step/quasistatic/quasistatic.h"
#include "step/step.h"

// ---- books.c
// Tells the ledger the step that was found, before bodies move; it ends at `end`.
carom_status carom_quasi_book(const carom_quasi *quasi, double end, carom_ledger *ledger, carom_error *error);

// ---- jam.c
// The failure of a step that was not solved: CAROM_ERR_SINGULAR, with who carries it, where contact forces cancel out;
// else CAROM_NOT_CONVERGED.
carom_status carom_quasi_blame(carom_quasi *quasi, const carom_quasi_outcome *outcome, carom_error *error);

#endif
