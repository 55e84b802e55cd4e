// libcarom_mpi.so: messages between ranks. A plug-in, so that programs that never ask for MPI do not load it.
#include <mpi.h>

#include "sweep/ranks.h"

enum { TAG = 14 };

static int begin(int *rank, int *count) {
  int ready = 0, code = MPI_Initialized(&ready);
  if (code == MPI_SUCCESS && !ready) code = MPI_Init(NULL, NULL);
  if (code == MPI_SUCCESS) code = MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  if (code == MPI_SUCCESS) code = MPI_Comm_rank(MPI_COMM_WORLD, rank);
  return code == MPI_SUCCESS ? MPI_Comm_size(MPI_COMM_WORLD, count) : code;
}

static int send(int to, const void *message, int size) {
  return MPI_Send(message, size, MPI_BYTE, to, TAG, MPI_COMM_WORLD);
}

static int receive(bool wait, void *message, int room, int *from, int *size) {
  MPI_Status status;
  int there = 1;
  int code = wait ? MPI_Probe(MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &status)
                  : MPI_Iprobe(MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &there, &status);
  *from = -1;
  *size = 0;
  if (code != MPI_SUCCESS || !there) return code;
  code = MPI_Recv(message, room, MPI_BYTE, status.MPI_SOURCE, TAG, MPI_COMM_WORLD, &status);
  if (code != MPI_SUCCESS) return code;
  *from = status.MPI_SOURCE;
  return MPI_Get_count(&status, MPI_BYTE, size);
}

static void end(void) {
  int over = 0;
  if (MPI_Finalized(&over) == MPI_SUCCESS && !over) MPI_Finalize();
}

__attribute__((visibility("default"))) const carom_ranks_plugin *carom_ranks_plugin_get(void) {
  static const carom_ranks_plugin plugin = {CAROM_RANKS_VERSION, begin, send, receive, end};
  return &plugin;
}
