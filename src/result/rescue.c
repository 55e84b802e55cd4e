#include "result/rescue.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/atomic_file.h"

carom_whereabouts carom_file_whereabouts(const char *path, int descriptor) {
  struct stat ours, there;
  if (fstat(descriptor, &ours) != 0) return CAROM_FILE_IN_PLACE;  // nothing can be told
  if (ours.st_nlink == 0) return CAROM_FILE_REMOVED;
  bool same = stat(path, &there) == 0 && there.st_dev == ours.st_dev && there.st_ino == ours.st_ino;
  return same ? CAROM_FILE_IN_PLACE : CAROM_FILE_MOVED;
}

// Each folder on the way, from the outermost on; those that are there refuse, which is fine.
static void make_folders(const char *path) {
  char folder[4096];
  size_t length = strlen(path);
  if (length >= sizeof folder) return;
  memcpy(folder, path, length + 1);
  for (char *slash = strchr(folder + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
    *slash = '\0';
    (void)mkdir(folder, 0777);
    *slash = '/';
  }
}

static carom_status copy_bytes(carom_atomic_file *copy, int descriptor, carom_error *error) {
  char block[65536];
  carom_status status = CAROM_OK;
  for (off_t at = 0; status == CAROM_OK;) {
    ssize_t n = pread(descriptor, block, sizeof block, at);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return carom_fail_file(error, "read", copy->path, errno);
    if (n == 0) break;
    status = carom_atomic_file_write(copy, block, (size_t)n, error);
    at += n;
  }
  return status;
}

static carom_status write_copy(const char *path, int descriptor, const carom_allocator *allocator, carom_error *error) {
  carom_atomic_file copy;
  carom_status status = carom_atomic_file_open(&copy, path, allocator, error);
  if (status != CAROM_OK) return status;
  status = copy_bytes(&copy, descriptor, error);
  carom_atomic_file_close(&copy);
  if (status == CAROM_OK) status = carom_atomic_file_publish(&copy, false, error);
  carom_atomic_file_abandon(&copy);
  return status;
}

static carom_status go_over(const char *path, int descriptor, carom_error *error) {
  int copy = open(path, O_RDWR | O_CLOEXEC);
  if (copy < 0) return carom_fail_file(error, "write", path, errno);
  int moved = dup2(copy, descriptor);
  int number = errno;
  close(copy);
  return moved >= 0 ? CAROM_OK : carom_fail_file(error, "write", path, number);
}

static carom_status put_back(char *path, size_t size, int descriptor, const carom_allocator *allocator,
                             carom_error *error) {
  struct stat other;
  size_t length = strlen(path);
  for (int i = 1; lstat(path, &other) == 0 && i < 100; i++) snprintf(path + length, size - length, ".rescued-%d", i);
  make_folders(path);
  carom_status status = write_copy(path, descriptor, allocator, error);
  return status == CAROM_OK ? go_over(path, descriptor, error) : status;
}

carom_status carom_file_rescue(char *path, size_t size, int descriptor, const carom_allocator *allocator,
                               carom_error *error) {
  char name[256];
  const char *slash = strrchr(path, '/');
  snprintf(name, sizeof name, "%s", slash ? slash + 1 : path);
  carom_status status = put_back(path, size, descriptor, allocator, error);
  if (status == CAROM_OK || !slash) return status;
  snprintf(path, size, "%s", name);
  return put_back(path, size, descriptor, allocator, NULL) == CAROM_OK ? CAROM_OK : status;
}
