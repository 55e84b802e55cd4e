// The door between the library and its plug-in for PETSc/TAO, libcarom_tao.so. A plug-in, because PETSc brings MPI and
// the parallel MUMPS, whose symbols are also those of the sequential one that Ipopt brings; and so that programs that
// never ask for TAO do not load a hundred libraries.
#ifndef CAROM_SRC_CONTACT_SOLVE_TAO_H
#define CAROM_SRC_CONTACT_SOLVE_TAO_H

#include "contact/solve/problem.h"

// Raised when what the two sides share changes: carom_contact_system, carom_contact_info or the functions below.
enum { CAROM_CONTACT_TAO_VERSION = 3 };

typedef struct carom_contact_tao_plugin {
  int version;
  // Minimises from s->x and leaves the answer there, the same on every rank. Called by all ranks together.
  carom_status (*solve)(carom_contact_system *s, carom_contact_info *info, carom_error *error);
  carom_status (*ranks)(int *rank, int *count, carom_error *error);
  carom_status (*largest)(int *value, carom_error *error);  // over the ranks, on all of them
} carom_contact_tao_plugin;

// The one symbol of the plug-in.
const carom_contact_tao_plugin *carom_contact_tao_plugin_get(void);

bool carom_contact_tao_present(void);
carom_contact_solver carom_contact_tao;

#endif
