#include "geometry/lattice.h"

#include "base/memory.h"

void carom_sort_by(const int *key, int key_count, const int *from, int *to, int count, int *slot) {
  for (int k = 0; k <= key_count; k++) slot[k] = 0;
  for (int i = 0; i < count; i++) slot[key[i] + 1]++;
  for (int k = 0; k < key_count; k++) slot[k + 1] += slot[k];
  for (int i = 0; i < count; i++) to[slot[key[from[i]]]++] = from[i];
}

static void link_faces(const carom_faces *faces, carom_halfedges *e) {
  for (int f = 0; f < faces->count; f++)
    for (int h = faces->start[f]; h < faces->start[f + 1]; h++) {
      e->face[h] = f;
      e->next[h] = h + 1 < faces->start[f + 1] ? h + 1 : faces->start[f];
    }
}

// scratch: low (count), high (count), slot (vertex_count + 1)
static void sort_halfedges(const carom_faces *faces, int vertex_count, carom_halfedges *e, int *low, int *high,
                           int *slot) {
  for (int h = 0; h < e->count; h++) {
    int a = faces->corners[h], b = faces->corners[e->next[h]];
    low[h] = a < b ? a : b;
    high[h] = a < b ? b : a;
    e->twin[h] = h;  // the identity, as the first pass's input
  }
  carom_sort_by(high, vertex_count, e->twin, e->sorted, e->count, slot);
  for (int h = 0; h < e->count; h++) e->twin[h] = e->sorted[h];
  carom_sort_by(low, vertex_count, e->twin, e->sorted, e->count, slot);
}

static bool pair_halfedges(const carom_faces *faces, carom_halfedges *e, const int *low, const int *high,
                           carom_edge_fault *fault) {
  for (int i = 0, end; i < e->count; i = end) {
    int h = e->sorted[i], forward = 0;
    for (end = i; end < e->count && low[e->sorted[end]] == low[h] && high[e->sorted[end]] == high[h]; end++)
      forward += faces->corners[e->sorted[end]] == low[h];
    if (end - i != 2 || forward != 1 || low[h] == high[h]) {
      *fault = (carom_edge_fault){{low[h], high[h]}, e->face[h], forward, end - i - forward};
      return false;
    }
    if (faces->corners[h] != low[h]) {
      e->sorted[i] = e->sorted[i + 1];
      e->sorted[i + 1] = h;
    }
    e->twin[e->sorted[i]] = e->sorted[i + 1];
    e->twin[e->sorted[i + 1]] = e->sorted[i];
  }
  return true;
}

carom_status carom_halfedges_create(const carom_faces *faces, int vertex_count, const carom_allocator *allocator,
                                    carom_halfedges *edges, carom_edge_fault *fault) {
  size_t n = (size_t)faces->start[faces->count];
  int *block = CAROM_NEW(allocator, int, 4 * n);
  int *scratch = CAROM_NEW(allocator, int, 2 * n + (size_t)vertex_count + 1);
  carom_status status = CAROM_ERR_MEMORY;
  if (block && scratch) {
    carom_halfedges e = {(int)n, block, block + n, block + 2 * n, block + 3 * n};
    int *low = scratch, *high = scratch + n, *slot = scratch + 2 * n;
    link_faces(faces, &e);
    sort_halfedges(faces, vertex_count, &e, low, high, slot);
    status = pair_halfedges(faces, &e, low, high, fault) ? CAROM_OK : CAROM_ERR_GEOMETRY;
    if (!status) *edges = e;
  }
  carom_release(allocator, scratch);
  if (status) carom_release(allocator, block);
  return status;
}

void carom_halfedges_destroy(carom_halfedges *edges, const carom_allocator *allocator) {
  carom_release(allocator, edges->face);
  *edges = (carom_halfedges){0};
}

// a b - c d without cancellation: the rounding error of c d, which fma delivers exactly, is put back (Kahan; Jeannerod,
// Louvet and Muller 2013). Needles need it: the sides of a thin triangle are nearly parallel, and the plain cross
// product would leave its far corner out of its plane by eps L^2 / width.
static double difference_of_products(double a, double b, double c, double d) {
  double cd = c * d, error = fma(-c, d, cd);
  return fma(a, b, -cd) + error;
}

static carom_vec3 careful_cross(carom_vec3 a, carom_vec3 b) {
  return cm_vec3(difference_of_products(a.y, b.z, a.z, b.y), difference_of_products(a.z, b.x, a.x, b.z),
                 difference_of_products(a.x, b.y, a.y, b.x));
}

carom_vec3 carom_newell(const carom_vec3 *vertices, const int *corners, int count) {
  carom_vec3 o = vertices[corners[0]], sum = cm_zero3();
  for (int i = 1; i + 1 < count; i++)
    sum = cm_add(sum, careful_cross(cm_sub(vertices[corners[i]], o), cm_sub(vertices[corners[i + 1]], o)));
  return sum;
}
