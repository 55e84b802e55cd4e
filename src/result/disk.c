#include "result/disk.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

struct carom_disk_write {
  haddr_t at;
  size_t size;
  carom_disk_write *before;
  unsigned char bytes[];
};

typedef struct disk_file {
  H5FD_t base;  // must be first
  carom_disk disk;
  haddr_t allocated, end;
  dev_t device;
  ino_t inode;
} disk_file;

// ---- open and close ------------------------------------------------------------------------------------------------

// The reason in the words of HDF5's own drivers, which is where carom_h5_fail looks for it.
static H5FD_t *tell_why(int number) {
  H5Epush2(H5E_DEFAULT, __FILE__, __func__, __LINE__, H5E_ERR_CLS, H5E_FILE, H5E_CANTOPENFILE,
           "unable to open file: errno = %d", number);
  return NULL;
}

static H5FD_t *open_file(const char *name, unsigned flags, hid_t access, haddr_t most) {
  (void)access, (void)most;
  struct stat info;
  disk_file *file = calloc(1, sizeof *file);  // malloc's, as all of HDF5's
  if (!file) return tell_why(ENOMEM);
  file->disk.descriptor = open(name, (flags & H5F_ACC_RDWR ? O_RDWR : O_RDONLY) | O_CLOEXEC);
  if (file->disk.descriptor < 0 || fstat(file->disk.descriptor, &info) != 0) {
    int number = errno;
    if (file->disk.descriptor >= 0) close(file->disk.descriptor);
    free(file);
    return tell_why(number);
  }
  file->end = (haddr_t)info.st_size;
  file->device = info.st_dev, file->inode = info.st_ino;
  return &file->base;
}

static herr_t close_file(H5FD_t *base) {
  disk_file *file = (disk_file *)base;
  for (carom_disk_write *w = file->disk.after, *before; w; w = before) before = w->before, free(w);
  if (close(file->disk.descriptor) != 0 && !file->disk.failure) file->disk.failure = errno;
  if (file->disk.told) *file->disk.told = file->disk.failure;
  free(file);
  return 0;
}

static int compare(const H5FD_t *a, const H5FD_t *b) {
  const disk_file *x = (const disk_file *)a, *y = (const disk_file *)b;
  if (x->device != y->device) return x->device < y->device ? -1 : 1;
  return (x->inode > y->inode) - (x->inode < y->inode);
}

static herr_t query(const H5FD_t *base, unsigned long *flags) {
  (void)base;
  *flags = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_ACCUMULATE_METADATA | H5FD_FEAT_DATA_SIEVE |
           H5FD_FEAT_AGGREGATE_SMALLDATA | H5FD_FEAT_POSIX_COMPAT_HANDLE | H5FD_FEAT_SUPPORTS_SWMR_IO |
           H5FD_FEAT_DEFAULT_VFD_COMPATIBLE;
  return 0;
}

// Some file systems have no locks; then there are none.
static herr_t lock(H5FD_t *base, hbool_t write) {
  int how = (write ? LOCK_EX : LOCK_SH) | LOCK_NB;
  return flock(((disk_file *)base)->disk.descriptor, how) == 0 || errno == ENOSYS ? 0 : -1;
}

static herr_t unlock(H5FD_t *base) {
  return flock(((disk_file *)base)->disk.descriptor, LOCK_UN) == 0 || errno == ENOSYS ? 0 : -1;
}

static herr_t handle_of(H5FD_t *base, hid_t access, void **handle) {
  (void)access;
  *handle = &((disk_file *)base)->disk;
  return 0;
}

// ---- sizes ---------------------------------------------------------------------------------------------------------

static haddr_t allocated(const H5FD_t *base, H5FD_mem_t type) {
  (void)type;
  return ((const disk_file *)base)->allocated;
}

static herr_t set_allocated(H5FD_t *base, H5FD_mem_t type, haddr_t size) {
  (void)type;
  ((disk_file *)base)->allocated = size;
  return 0;
}

static haddr_t end_of(const H5FD_t *base, H5FD_mem_t type) {
  (void)type;
  return ((const disk_file *)base)->end;
}

static herr_t truncate_file(H5FD_t *base, hid_t transfer, hbool_t closing) {
  (void)transfer, (void)closing;
  disk_file *file = (disk_file *)base;
  if (file->end == file->allocated) return 0;
  if (!file->disk.failure && ftruncate(file->disk.descriptor, (off_t)file->allocated) != 0) file->disk.failure = errno;
  file->end = file->allocated;
  return 0;
}

// ---- bytes ---------------------------------------------------------------------------------------------------------

static void lay_over(const carom_disk_write *w, haddr_t at, size_t size, unsigned char *bytes) {
  if (!w) return;
  lay_over(w->before, at, size, bytes);
  haddr_t from = w->at > at ? w->at : at, to = w->at + w->size < at + size ? w->at + w->size : at + size;
  if (from < to) memcpy(bytes + (from - at), w->bytes + (from - w->at), (size_t)(to - from));
}

static herr_t read_bytes(H5FD_t *base, H5FD_mem_t type, hid_t transfer, haddr_t at, size_t size, void *bytes) {
  (void)type, (void)transfer;
  disk_file *file = (disk_file *)base;
  size_t got = 0;
  while (got < size) {
    ssize_t n = pread(file->disk.descriptor, (char *)bytes + got, size - got, (off_t)(at + got));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return -1;
    if (n == 0) break;
    got += (size_t)n;
  }
  memset((char *)bytes + got, 0, size - got);  // beyond the end of the file
  lay_over(file->disk.after, at, size, bytes);
  return 0;
}

static bool write_to_disk(disk_file *file, haddr_t at, size_t size, const void *bytes) {
  for (size_t put = 0; put < size;) {
    ssize_t n = pwrite(file->disk.descriptor, (const char *)bytes + put, size - put, (off_t)(at + put));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return file->disk.failure = n < 0 ? errno : ENOSPC, false;
    put += (size_t)n;
  }
  return true;
}

static herr_t write_bytes(H5FD_t *base, H5FD_mem_t type, hid_t transfer, haddr_t at, size_t size, const void *bytes) {
  (void)type, (void)transfer;
  disk_file *file = (disk_file *)base;
  if (file->end < at + size) file->end = at + size;
  if (!file->disk.failure && write_to_disk(file, at, size, bytes)) return 0;
  carom_disk_write *w = malloc(sizeof *w + size);
  if (!w) return 0;  // the file is given up in any case
  *w = (carom_disk_write){at, size, file->disk.after};
  memcpy(w->bytes, bytes, size);
  file->disk.after = w;
  return 0;
}

// ---- the driver ----------------------------------------------------------------------------------------------------

static const H5FD_class_t driver = {
    .name = "carom_disk",
    .maxaddr = ((haddr_t)1 << 62),
    .fc_degree = H5F_CLOSE_STRONG,
    .open = open_file,
    .close = close_file,
    .cmp = compare,
    .query = query,
    .get_eoa = allocated,
    .set_eoa = set_allocated,
    .get_eof = end_of,
    .get_handle = handle_of,
    .read = read_bytes,
    .write = write_bytes,
    .truncate = truncate_file,
    .lock = lock,
    .unlock = unlock,
    .fl_map = H5FD_FLMAP_DICHOTOMY,
};

static hid_t driver_id = H5I_INVALID_HID;

bool carom_disk_use(hid_t access) {
  if (H5Iis_valid(driver_id) <= 0) driver_id = H5FDregister(&driver);  // HDF5 may have been closed and opened anew
  return driver_id >= 0 && H5Pset_driver(access, driver_id, NULL) >= 0;
}

carom_disk *carom_disk_of(hid_t file) {
  void *handle = NULL;
  hid_t access = H5Fget_access_plist(file);
  bool own = access >= 0 && driver_id >= 0 && H5Pget_driver(access) == driver_id;
  if (access >= 0) H5Pclose(access);
  return own && H5Fget_vfd_handle(file, H5P_DEFAULT, &handle) >= 0 ? handle : NULL;
}
