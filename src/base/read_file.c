#include "base/read_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"

static bool fail_by_system(carom_error *why) {
  char text[128];
  if (strerror_r(errno, text, sizeof text) != 0) snprintf(text, sizeof text, "error %d", errno);
  carom_fail(why, CAROM_ERR_IO, "%s", text);
  return false;
}

static bool fail(carom_error *why, carom_status status, const char *text) {
  carom_fail(why, status, "%s", text);
  return false;
}

static bool read_all(int fd, char *data, size_t size, carom_error *why) {
  for (size_t done = 0; done < size;) {
    ssize_t n = read(fd, data + done, size - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return fail_by_system(why);
    if (n == 0) return fail(why, CAROM_ERR_IO, "it became shorter while being read");
    done += (size_t)n;
  }
  return true;
}

static bool check_file(int fd, int64_t limit, size_t *size, carom_error *why) {
  struct stat info;
  if (fstat(fd, &info) != 0) return fail_by_system(why);
  if (S_ISDIR(info.st_mode)) return fail(why, CAROM_ERR_IO, "it is a folder");
  if (!S_ISREG(info.st_mode)) return fail(why, CAROM_ERR_IO, "it is not a regular file");
  *size = (size_t)info.st_size;
  if ((int64_t)info.st_size <= limit) return true;
  carom_fail(why, CAROM_ERR_LIMIT, "it is too large (%.1f MB)", (double)info.st_size / 1e6);
  return false;
}

char *carom_read_file(const char *path, int64_t limit, const carom_allocator *allocator, size_t *size,
                      carom_error *why) {
  int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);  // non-blocking, or opening a pipe would wait for a writer
  if (fd < 0) return fail_by_system(why), NULL;
  char *data = NULL;
  if (check_file(fd, limit, size, why)) {
    data = carom_allocate(allocator, *size + 1, 1);
    if (!data) fail(why, CAROM_ERR_MEMORY, "out of memory");
    if (data && !read_all(fd, data, *size, why)) {
      carom_release(allocator, data);
      data = NULL;
    }
  }
  close(fd);
  return data;
}
