// A limit on the address space (ulimit -v). OpenBLAS makes its threads, with tens of megabytes each, before main
// begins, and where the limit refuses them it waits for ever. Carom needs none of them: under such a limit the program
// starts anew, with one, before any library is initialised; and where even that one would have no room, it says so.
// MAP_ANONYMOUS is no part of POSIX.
#define _DEFAULT_SOURCE

#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "cli/cli.h"

static bool is_limited(struct rlimit *limit) {
  return getrlimit(RLIMIT_AS, limit) == 0 && limit->rlim_cur != RLIM_INFINITY;
}

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define SANITIZED 1
#endif
#endif
#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && !defined(SANITIZED)
enum { MOST_VARIABLES = 4096 };
static char one_thread[] = "OPENBLAS_NUM_THREADS=1";

static void start_with_one_thread(int argc, char **argv, char **variables) {
  static char *changed[MOST_VARIABLES + 2];
  struct rlimit limit;
  (void)argc;
  if (!is_limited(&limit)) return;
  int count = 0;
  for (char **v = variables; *v; v++) {
    if (strcmp(*v, one_thread) == 0) return;
    if (count == MOST_VARIABLES) return;
    if (strncmp(*v, one_thread, sizeof "OPENBLAS_NUM_THREADS=" - 1) != 0) changed[count++] = *v;
  }
  changed[count] = one_thread;
  execve("/proc/self/exe", argv, changed);  // comes back only where it cannot
}

// Called by the loader before the initialisers of shared libraries.
typedef void early_call(int argc, char **argv, char **variables);
__attribute__((section(".preinit_array"), used)) static early_call *const early = start_with_one_thread;
#endif

bool cli_has_room(void) {
  enum { NEEDED = 80 << 20 };  // for the scene; planning needs more and says so
  struct rlimit limit;
  if (!is_limited(&limit)) return true;
  void *room = mmap(NULL, NEEDED, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (room != MAP_FAILED) return munmap(room, NEEDED) == 0;
  return cli_error("the limit on memory leaves less than %d MB beside the program itself: raise it (ulimit -v %llu)",
                   NEEDED >> 20, ((unsigned long long)limit.rlim_cur + NEEDED) >> 10);
}
