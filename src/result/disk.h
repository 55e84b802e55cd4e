// A file of HDF5's on a disk that may fail. HDF5 1.10 does not stand a write that fails: it can no longer close the
// file, and crashes at the end of the process, also of a host program's. So it never sees one. From the first failure
// on nothing reaches the disk, the file stays as the last good write left it, and HDF5 works on in memory until the
// file is closed. Who writes asks for the failure afterwards.
#ifndef CAROM_SRC_RESULT_DISK_H
#define CAROM_SRC_RESULT_DISK_H

#include <hdf5.h>

#include "carom/base.h"

typedef struct carom_disk_write carom_disk_write;

// What H5Fget_vfd_handle gives for such a file; the descriptor comes first, as with HDF5's own files.
typedef struct carom_disk {
  int descriptor;
  int failure;              // errno of the first write that failed, or 0
  int *told;                // gets the failure when the file is closed; may be null
  carom_disk_write *after;  // what was written since the failure, latest first
} carom_disk;

// Lets files that are opened with this access be such files.
bool carom_disk_use(hid_t access);
// Of an open file; null when it is of another kind.
carom_disk *carom_disk_of(hid_t file);

#endif
