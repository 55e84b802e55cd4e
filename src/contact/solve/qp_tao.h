// The door between the library and its plug-in for PETSc/TAO, libcarom_tao.so. A plug-in, because PETSc brings MPI and
// the parallel MUMPS, whose symbols are also those of the sequential one that Ipopt brings; and so that programs that
// never ask for TAO do not load a hundred libraries.
#ifndef CAROM_SRC_CONTACT_SOLVE_QP_TAO_H
#define CAROM_SRC_CONTACT_SOLVE_QP_TAO_H

#include "contact/solve/qp.h"

// Raised when what the two sides share changes: carom_qp_system, carom_qp_info or the functions below.
enum { CAROM_QP_TAO_VERSION = 2 };

typedef struct carom_qp_tao_plugin {
  int version;
  // Minimises from s->x and leaves the answer there, the same on every rank. Called by all ranks together.
  carom_status (*solve)(carom_qp_system *s, carom_qp_info *info, carom_error *error);
  carom_status (*ranks)(int *rank, int *count, carom_error *error);
  carom_status (*largest)(int *value, carom_error *error);  // over the ranks, on all of them
} carom_qp_tao_plugin;

// The one symbol of the plug-in.
const carom_qp_tao_plugin *carom_qp_tao_plugin_get(void);

bool carom_qp_tao_present(void);
carom_status carom_qp_tao(carom_qp_system *s, carom_arena *arena, carom_qp_info *info, carom_error *error);

#endif
