#include "sweep/ranks.h"

#include <limits.h>

#include "base/plugin.h"

static const carom_ranks_plugin *open_plugin(void) {
  const carom_ranks_plugin *(*get)(void);
  *(void **)&get = carom_plugin_symbol("libcarom_mpi.so", "carom_ranks_plugin_get");
  const carom_ranks_plugin *plugin = get ? get() : NULL;
  return plugin && plugin->version == CAROM_RANKS_VERSION ? plugin : NULL;
}

static carom_status absent(carom_error *error) {
  return carom_fail(
      error, CAROM_ERR_UNSUPPORTED,
      "the plug-in libcarom_mpi.so is not here; build with MPI (package libopenmpi-dev), or run without a "
      "launcher");
}

static carom_status judge(int code, const char *what, carom_error *error) {
  return code == 0 ? CAROM_OK : carom_fail(error, CAROM_ERR_IO, "MPI cannot %s (its error %d)", what, code);
}

carom_status carom_ranks_begin(int *rank, int *count, carom_error *error) {
  const carom_ranks_plugin *plugin = open_plugin();
  return plugin ? judge(plugin->begin(rank, count), "start", error) : absent(error);
}

carom_status carom_ranks_send(int to, const void *message, size_t size, carom_error *error) {
  const carom_ranks_plugin *plugin = open_plugin();
  if (size > INT_MAX) return carom_fail(error, CAROM_ERR_LIMIT, "a message of %zu bytes is too long", size);
  return plugin ? judge(plugin->send(to, message, (int)size), "send", error) : absent(error);
}

carom_status carom_ranks_receive(bool wait, void *message, size_t room, int *from, size_t *size, carom_error *error) {
  const carom_ranks_plugin *plugin = open_plugin();
  int received = 0;
  if (!plugin) return absent(error);
  int code = plugin->receive(wait, message, room > INT_MAX ? INT_MAX : (int)room, from, &received);
  *size = (size_t)received;
  return judge(code, "receive", error);
}

void carom_ranks_end(void) {
  const carom_ranks_plugin *plugin = open_plugin();
  if (plugin) plugin->end();
}
