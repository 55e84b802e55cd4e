// realpath is an X/Open function in glibc.
#define _XOPEN_SOURCE 700

#include "base/atomic_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"

#ifndef PATH_MAX
#define PATH_MAX 4096
#endif

// ---- messages ------------------------------------------------------------------------------------------------------

static const char *remedy_of(int number, bool reading) {
  switch (number) {
    case ENOSPC:
      return "free some space or choose another place";
    case EDQUOT:
      return "your quota is used up: free some space or choose another place";
    case EFBIG:
      return "the file would exceed the size limit of this shell (ulimit -f) or file system";
    case ENOENT:
      return reading ? "correct the path" : "create the folder first (mkdir -p) or correct the path";
    case ENOTDIR:
      return "a part of the path is a file, not a folder; correct the path";
    case EISDIR:
      return "it is a folder; give the name of a file";
    case EACCES:
    case EPERM:
      return "choose a place you have access to, or change the permissions";
    case EROFS:
      return "choose a place that can be written";
    case EMFILE:
    case ENFILE:
      return "too many files are open; close some or raise the limit (ulimit -n)";
    case ENOMEM:
      return "close other programs or raise the limit on memory (ulimit -v)";
    case ENXIO:
      return "nobody reads from that pipe; start its reader first";
    case ENAMETOOLONG:
      return "choose a shorter name";
    default:
      return "check the disk and the path";
  }
}

carom_status carom_fail_file(carom_error *error, const char *verb, const char *path, int number) {
  char reason[128];
  if (strerror_r(number, reason, sizeof reason) != 0) snprintf(reason, sizeof reason, "error %d", number);
  carom_status status = number == ENOMEM ? CAROM_ERR_MEMORY : CAROM_ERR_IO;
  return carom_fail(error, status, "cannot %s '%.700s': %s; %s", verb, path, reason,
                    remedy_of(number, strcmp(verb, "read") == 0));
}

// ---- opening -------------------------------------------------------------------------------------------------------

// The file that `path` leads to, so that a symbolic link stays a link and its target is what gets replaced.
static carom_status find_target(carom_atomic_file *file, bool *device, carom_error *error) {
  struct stat info;
  char resolved[PATH_MAX];
  const char *target = file->path;
  *device = false;
  if (stat(file->path, &info) == 0) {
    if (S_ISDIR(info.st_mode)) return carom_fail_file(error, "write", file->path, EISDIR);
    *device = !S_ISREG(info.st_mode);
    if (!*device && realpath(file->path, resolved)) target = resolved;
  } else if (errno != ENOENT) {
    return carom_fail_file(error, "write", file->path, errno);
  } else if (lstat(file->path, &info) == 0) {
    return carom_fail(error, CAROM_ERR_IO,
                      "cannot write '%.700s': it is a link that leads nowhere; remove it or choose "
                      "another name",
                      file->path);
  }
  file->target = carom_copy_text(&file->allocator, target);
  return file->target ? CAROM_OK : carom_fail(error, CAROM_ERR_MEMORY, "out of memory while opening '%.700s'", target);
}

// Our own names instead of mkstemp: open() gives the permissions of the user's umask, mkstemp would give 0600.
static carom_status open_temporary(carom_atomic_file *file, carom_error *error) {
  enum { ATTEMPTS = 100 };
  size_t size = strlen(file->target) + 48;
  file->temporary = CAROM_NEW(&file->allocator, char, size);
  if (!file->temporary) return carom_fail(error, CAROM_ERR_MEMORY, "out of memory while opening '%.700s'", file->path);
  for (int i = 0; i < ATTEMPTS; i++) {
    snprintf(file->temporary, size, "%s.%ld-%d.part", file->target, (long)getpid(), i);
    file->descriptor = open(file->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file->descriptor >= 0) return CAROM_OK;
    if (errno != EEXIST) break;
  }
  carom_status status = carom_fail_file(error, "write", file->path, errno);
  carom_release(&file->allocator, file->temporary);  // not ours: must not be unlinked
  file->temporary = NULL;
  return status;
}

static carom_status open_any(carom_atomic_file *file, carom_error *error) {
  bool device;
  carom_status status = find_target(file, &device, error);
  if (status != CAROM_OK) return status;
  if (!device) return open_temporary(file, error);
  file->descriptor = open(file->target, O_WRONLY | O_CLOEXEC | O_NONBLOCK);  // or a pipe would wait for a reader
  if (file->descriptor < 0) return carom_fail_file(error, "write", file->path, errno);
  int flags = fcntl(file->descriptor, F_GETFL);
  if (flags >= 0) (void)fcntl(file->descriptor, F_SETFL, flags & ~O_NONBLOCK);
  return CAROM_OK;
}

carom_status carom_atomic_file_open(carom_atomic_file *file, const char *path, const carom_allocator *allocator,
                                    carom_error *error) {
  *file = (carom_atomic_file){.descriptor = -1, .allocator = carom_allocator_or_default(allocator)};
  file->path = carom_copy_text(&file->allocator, path);
  carom_status status = file->path ? open_any(file, error)
                                   : carom_fail(error, CAROM_ERR_MEMORY, "out of memory while opening '%.700s'", path);
  if (status != CAROM_OK) carom_atomic_file_abandon(file);
  return status;
}

// ---- writing -------------------------------------------------------------------------------------------------------

carom_status carom_atomic_file_write(carom_atomic_file *file, const void *data, size_t size, carom_error *error) {
  const char *bytes = data;
  while (size > 0) {
    ssize_t written = write(file->descriptor, bytes, size);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return carom_fail_file(error, "write", file->path, errno);
    bytes += written;
    size -= (size_t)written;
  }
  return CAROM_OK;
}

void carom_atomic_file_close(carom_atomic_file *file) {
  if (file->descriptor >= 0) close(file->descriptor);
  file->descriptor = -1;
}

void carom_sync_folder(const char *path) {
  char folder[PATH_MAX];
  const char *slash = strrchr(path, '/');
  size_t length = slash ? (size_t)(slash - path) + 1 : 0;
  if (length >= sizeof folder) return;
  memcpy(folder, path, length);
  folder[length] = 0;
  int descriptor = open(length ? folder : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;
  (void)fsync(descriptor);
  close(descriptor);
}

carom_status carom_atomic_file_publish(carom_atomic_file *file, bool replace, carom_error *error) {
  if (!file->temporary) return CAROM_OK;
  // link() refuses an existing name, which rename() would silently replace; some file systems have no links.
  int failed = replace ? -1 : link(file->temporary, file->target);
  if (!replace && failed && errno == EEXIST) {
    return carom_fail(error, CAROM_ERR_IO, "'%.700s' exists already; choose another name or overwrite it with --force",
                      file->path);
  }
  if (failed == 0)
    unlink(file->temporary);
  else if (rename(file->temporary, file->target) != 0)
    return carom_fail_file(error, "write", file->path, errno);
  if (!file->quick) carom_sync_folder(file->target);
  carom_release(&file->allocator, file->temporary);
  file->temporary = NULL;
  return CAROM_OK;
}

// fsync says EINVAL or EROFS for pipes and terminals, which have nothing to sync.
static carom_status sync_and_close(carom_atomic_file *file, carom_error *error) {
  int descriptor = file->descriptor;
  file->descriptor = -1;
  bool failed = file->temporary && !file->quick && fsync(descriptor) != 0;
  int number = errno;
  if (close(descriptor) != 0 && !failed) {  // NFS reports a full disk here
    failed = true;
    number = errno;
  }
  return failed ? carom_fail_file(error, "write", file->path, number) : CAROM_OK;
}

carom_status carom_atomic_file_commit(carom_atomic_file *file, carom_error *error) {
  carom_status status = sync_and_close(file, error);
  if (status == CAROM_OK) status = carom_atomic_file_publish(file, true, error);
  carom_atomic_file_abandon(file);
  return status;
}

void carom_atomic_file_abandon(carom_atomic_file *file) {
  if (!file->path) return;  // zeroed, or released before
  carom_atomic_file_close(file);
  if (file->temporary) unlink(file->temporary);
  CAROM_RELEASE_ALL(&file->allocator, file->temporary, file->target, file->path);
  file->temporary = file->target = file->path = NULL;
}

carom_status carom_write_file(const carom_bytes *bytes, carom_error *error) {
  carom_atomic_file file;
  carom_status status = carom_atomic_file_open(&file, bytes->name, NULL, error);
  if (status == CAROM_OK) status = carom_atomic_file_write(&file, bytes->data, bytes->size, error);
  if (status == CAROM_OK) return carom_atomic_file_commit(&file, error);
  carom_atomic_file_abandon(&file);
  return status;
}
