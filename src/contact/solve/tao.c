// Finds the plug-in for PETSc/TAO beside the library and hands problems to it.
#include "contact/solve/tao.h"

#include "base/plugin.h"

static const carom_contact_tao_plugin *open_plugin(void) {
  const carom_contact_tao_plugin *(*get)(void);
  *(void **)&get = carom_plugin_symbol("libcarom_tao.so", "carom_contact_tao_plugin_get");
  const carom_contact_tao_plugin *plugin = get ? get() : NULL;
  return plugin && plugin->version == CAROM_CONTACT_TAO_VERSION ? plugin : NULL;
}

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
