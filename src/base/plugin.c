#define _GNU_SOURCE  // dladdr, RTLD_DEEPBIND
#include "base/plugin.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define CAN_BIND_DEEPLY 0  // sanitizers refuse RTLD_DEEPBIND
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define CAN_BIND_DEEPLY 0
#endif
#endif
#if !defined(CAN_BIND_DEEPLY) && defined(RTLD_DEEPBIND)
#define CAN_BIND_DEEPLY 1
#endif

#if CAN_BIND_DEEPLY

// A plug-in must find its own MPI and MUMPS before those of the program: hence DEEPBIND.
static void *open_at(const char *path, const char *symbol) {
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
  return library ? dlsym(library, symbol) : NULL;
}

void *carom_plugin_symbol(const char *file, const char *symbol) {
  static const char *const places[] = {"/", "/carom/"};
  Dl_info info;
  char path[PATH_MAX];
  const char *slash = dladdr(__extension__(void *) carom_plugin_symbol, &info) ? strrchr(info.dli_fname, '/') : NULL;
  for (int i = 0; slash && i < 2; i++) {
    int length =
        snprintf(path, sizeof path, "%.*s%s%s", (int)(slash - info.dli_fname), info.dli_fname, places[i], file);
    void *found = length < (int)sizeof path ? open_at(path, symbol) : NULL;
    if (found) return found;
  }
  return open_at(file, symbol);
}

#else

void *carom_plugin_symbol(const char *file, const char *symbol) {
  (void)file, (void)symbol;
  return 0;
}

#endif
