// Files of tetrahedra from strangers, through all that is done with what is read. TetGen's two files stand in one
// input, with a line of dashes between them.
#define _GNU_SOURCE  // memmem
#include <stdlib.h>
#include <string.h>

#include "carom/tets.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_skin(const carom_tets *m) {
  carom_tets_skin s;
  carom_tets_edges e;
  if (carom_tets_skin_init(m, NULL, &s, NULL) != CAROM_OK || carom_tets_edges_init(m, NULL, &e, NULL) != CAROM_OK)
    abort();
  if (s.triangle_count < 4 || s.component_count < 1 || e.count < 6 || e.count < s.edge_count) __builtin_trap();
  carom_tets_skin_release(&s);
  carom_tets_edges_release(&e);
}

static void use(carom_tets *m) {
  carom_tets_quality q = carom_tets_measure(m);
  if (!(q.volume >= 0) || m->node_count < 4 || m->tet_count < 1) __builtin_trap();
  for (int t = 0; t < m->tet_count; t++)
    for (int k = 0; k < 4; k++)
      if (m->tets[t][k] < 0 || m->tets[t][k] >= m->node_count) __builtin_trap();
  carom_mass mass;
  carom_error error;
  if (carom_tets_mass(m, 1000, &mass, &error) == CAROM_OK && !(mass.mass > 0)) __builtin_trap();
  check_skin(m);
  // What was read is sound, so it passes the same checks again.
  carom_tets again;
  if (carom_tets_init(m, NULL, NULL, &again, &error) != CAROM_OK) __builtin_trap();
  carom_tets_release(&again);
  carom_tets_release(m);
}

static void use_one(const char *name, const uint8_t *data, size_t size) {
  carom_tets m;
  carom_error error;
  const carom_tets_options options = {.scale = 1, .drop_loose = true};
  carom_bytes bytes = {name, data, size};
  if (carom_tets_parse(&bytes, NULL, NULL, &m, &error) == CAROM_OK) use(&m);
  if (carom_tets_parse(&bytes, &options, NULL, &m, &error) == CAROM_OK) use(&m);
}

static void use_pair(const uint8_t *data, size_t size) {
  static const char line[] = "---\n";
  carom_tets m;
  carom_error error;
  const uint8_t *middle = memmem(data, size, line, strlen(line));
  if (!middle) return;
  const uint8_t *second = middle + strlen(line);
  const carom_bytes files[2] = {{"x.node", data, (size_t)(middle - data)},
                                {"x.ele", second, (size_t)(data + size - second)}};
  if (carom_tets_parse_tetgen(files, NULL, NULL, &m, &error) == CAROM_OK) use(&m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  use_one("x.msh", data, size);
  use_pair(data, size);
  return 0;
}
