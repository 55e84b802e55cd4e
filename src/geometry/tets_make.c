#include "geometry/tets_make.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/memory.h"
#include "geometry/shape.h"

carom_tets_maker carom_tets_maker_make(const carom_allocator *allocator, carom_error *error) {
  return (carom_tets_maker){{.allocator = carom_allocator_or_default(allocator)}, CAROM_OK, error};
}

carom_status carom_tets_maker_finish(carom_tets_maker *m, carom_tets *tets) {
  const carom_tets_options options = {.scale = 1, .drop_loose = true};
  if (!m->status) return carom_tet_soup_finish(&m->soup, &options, tets, m->error);
  carom_tet_soup_release(&m->soup);
  return m->status;
}

void carom_tets_maker_refuse(carom_tets_maker *m, const char *format, ...) {
  char text[400];
  if (m->status) return;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  m->status = carom_fail(m->error, CAROM_ERR_ARGUMENT, "%s", text);
}

void carom_tets_maker_no_memory(carom_tets_maker *m) {
  if (!m->status) m->status = carom_fail(m->error, CAROM_ERR_MEMORY, "out of memory for a mesh of tetrahedra");
}

void carom_tets_check_positive(carom_tets_maker *m, const char *what, double length) {
  if (!m->status) m->status = carom_check_length(what, length, m->error);
}

void carom_tets_check_count(carom_tets_maker *m, const char *what, int count, int least) {
  if (count < least) carom_tets_maker_refuse(m, "%s is %d; expected %d or more", what, count, least);
}

void carom_tets_check_size(carom_tets_maker *m, double tets) {
  if (m->status || tets <= CAROM_TETS_MAX) return;
  m->status = carom_fail(m->error, CAROM_ERR_LIMIT, "a mesh of %.3g tetrahedra; expected at most %.3g: make it coarser",
                         tets, (double)CAROM_TETS_MAX);
}

int carom_tets_maker_add_node(carom_tets_maker *m, carom_vec3 at) {
  int number = m->soup.node_count;
  if (!m->status) m->status = carom_tet_soup_add_node(&m->soup, &(carom_tet_node){at, number, 0}, m->error);
  return number;
}

void carom_tets_maker_add(carom_tets_maker *m, int a, int b, int c, int d) {
  if (m->status || a == b || a == c || a == d || b == c || b == d || c == d) return;
  const carom_tet_node *n = m->soup.nodes;
  bool negative = carom_tet_determinant(n[a].at, n[b].at, n[c].at, n[d].at) < 0;
  carom_tet tet = {{a, b, negative ? d : c, negative ? c : d}, 0, 0, m->soup.tet_count};
  m->status = carom_tet_soup_add_tet(&m->soup, &tet, m->error);
}

static void order(int *a, int *b) {
  int low = *a < *b ? *a : *b, high = *a < *b ? *b : *a;
  *a = low;
  *b = high;
}

void carom_tets_maker_add_stack(carom_tets_maker *m, const carom_tets_stack *s) {
  for (int level = 0; level + 1 < s->level_count; level++) {
    const int *low = s->nodes + (size_t)level * (size_t)s->column_count, *high = low + s->column_count;
    for (int t = 0; t < s->triangle_count && !m->status; t++) {
      int p = s->triangles[t][0], q = s->triangles[t][1], r = s->triangles[t][2];
      order(&p, &q);
      order(&q, &r);
      order(&p, &q);
      carom_tets_maker_add(m, low[p], low[q], low[r], high[r]);
      carom_tets_maker_add(m, low[p], low[q], high[q], high[r]);
      carom_tets_maker_add(m, low[p], high[p], high[q], high[r]);
    }
  }
}
