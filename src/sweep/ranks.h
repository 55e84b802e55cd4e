// The door between the library and its plug-in for MPI, libcarom_mpi.so.
#ifndef CAROM_SRC_SWEEP_RANKS_H
#define CAROM_SRC_SWEEP_RANKS_H

#include "carom/sweep.h"

enum { CAROM_RANKS_VERSION = 1 };  // raised when the functions below change

// Each returns 0, or MPI's error code.
typedef struct carom_ranks_plugin {
  int version;
  int (*begin)(int *rank, int *count);
  int (*send)(int to, const void *message, int size);
  int (*receive)(bool wait, void *message, int room, int *from, int *size);
  void (*end)(void);
} carom_ranks_plugin;

// The one symbol of the plug-in.
const carom_ranks_plugin *carom_ranks_plugin_get(void);

#endif
