// Finds the plug-in for PETSc/TAO beside the library and hands problems to it.
#define _GNU_SOURCE  // dladdr, RTLD_DEEPBIND
#include "contact/solve/tao.h"

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

// The plug-in must find its own MPI and MUMPS before those of the program: hence DEEPBIND. It is never unloaded, as
// PETSc cannot be; opening it again only counts.
static const carom_contact_tao_plugin *open_at(const char *path) {
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
  if (!library) return NULL;
  const carom_contact_tao_plugin *(*get)(void);
  *(void **)&get = dlsym(library, "carom_contact_tao_plugin_get");
  const carom_contact_tao_plugin *plugin = get ? get() : NULL;
  return plugin && plugin->version == CAROM_CONTACT_TAO_VERSION ? plugin : NULL;
}

// Beside the library, in its folder for plug-ins, and where the system looks.
static const carom_contact_tao_plugin *open_plugin(void) {
  static const char *const places[] = {"/", "/carom/"};
  Dl_info info;
  char path[PATH_MAX];
  const char *slash =
      dladdr(__extension__(void *) carom_contact_tao_present, &info) ? strrchr(info.dli_fname, '/') : NULL;
  for (int i = 0; slash && i < 2; i++) {
    int length =
        snprintf(path, sizeof path, "%.*s%slibcarom_tao.so", (int)(slash - info.dli_fname), info.dli_fname, places[i]);
    const carom_contact_tao_plugin *plugin = length < (int)sizeof path ? open_at(path) : NULL;
    if (plugin) return plugin;
  }
  return open_at("libcarom_tao.so");
}

#else

static const carom_contact_tao_plugin *open_plugin(void) { return NULL; }

#endif

bool carom_contact_tao_present(void) { return open_plugin(); }

static carom_status absent(carom_error *error) {
  return carom_fail(
      error, CAROM_ERR_UNSUPPORTED,
      "the plug-in libcarom_tao.so is not here; build with PETSc (package petsc-dev) or choose the solver "
      "pgs, apgd, spg or interior");
}

carom_status carom_contact_ranks(int *rank, int *count, carom_error *error) {
  const carom_contact_tao_plugin *plugin = open_plugin();
  return plugin ? plugin->ranks(rank, count, error) : absent(error);
}

carom_status carom_contact_ranks_largest(int *value, carom_error *error) {
  const carom_contact_tao_plugin *plugin = open_plugin();
  return plugin ? plugin->largest(value, error) : absent(error);
}

carom_status carom_contact_tao(carom_contact_system *s, carom_arena *arena, carom_contact_info *info,
                               carom_error *error) {
  if (!arena->memory) return CAROM_OK;
  const carom_contact_tao_plugin *plugin = open_plugin();
  if (!plugin) return absent(error);
  if (s->options.cone != CAROM_CONTACT_GENERATORS)
    return carom_fail(error, CAROM_ERR_ARGUMENT,
                      "the solver %s needs friction cones by generators, not circular ones; choose generators or the "
                      "solver pgs, apgd, spg or interior",
                      carom_contact_method_name(s->options.method));
  double asked = s->options.tolerance;
  carom_status status;
  // TAO stops by the residual; when a gap is asked for as well, by a smaller one until that is met.
  for (int i = 0; i < 5; i++, s->options.tolerance /= 10) {
    if ((status = plugin->solve(s, info, error))) break;
    carom_contact_refresh(s, info);
    if (info->outcome != CAROM_CONTACT_SOLVED || carom_contact_good_enough(s, info)) break;
  }
  s->options.tolerance = asked;
  return status;
}
