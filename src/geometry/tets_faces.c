// Faces of tetrahedra, sorted by their nodes in three counting sorts: in linear time.
#include "base/memory.h"
#include "geometry/tets.h"

// With positive volume, a, b, c are counter-clockwise seen from d, which is inside.
const int carom_tet_face[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};
const int carom_tet_edge[6][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};

static void swap_if_less(int *a, int *b) {
  int low = *a < *b ? *a : *b, high = *a < *b ? *b : *a;
  *a = low;
  *b = high;
}

static void fill_nodes(const carom_tets *tets, carom_tet_faces *faces) {
  for (int f = 0; f < faces->count; f++) {
    const int *corners = carom_tet_face[f % 4], *tet = tets->tets[f / 4];
    int v[3] = {tet[corners[0]], tet[corners[1]], tet[corners[2]]};
    swap_if_less(&v[0], &v[1]);
    swap_if_less(&v[1], &v[2]);
    swap_if_less(&v[0], &v[1]);
    for (int k = 0; k < 3; k++) faces->nodes[k][f] = v[k];
    faces->order[f] = f;
  }
}

bool carom_tet_faces_create(const carom_tets *tets, const carom_allocator *allocator, carom_tet_faces *faces) {
  int n = 4 * tets->tet_count, *other, *slot;
  *faces = (carom_tet_faces){.count = n};
  bool ready = CAROM_NEW_ALL(allocator, CAROM_ROOM(faces->order, n), CAROM_ROOM(faces->nodes[0], n),
                             CAROM_ROOM(faces->nodes[1], n), CAROM_ROOM(faces->nodes[2], n), CAROM_ROOM(other, n),
                             CAROM_ROOM(slot, (size_t)tets->node_count + 1));
  if (ready) {
    fill_nodes(tets, faces);
    carom_sort_by(faces->nodes[2], tets->node_count, faces->order, other, n, slot);
    carom_sort_by(faces->nodes[1], tets->node_count, other, faces->order, n, slot);
    carom_sort_by(faces->nodes[0], tets->node_count, faces->order, other, n, slot);
    int *sorted = other;
    other = faces->order;
    faces->order = sorted;
  }
  CAROM_RELEASE_ALL(allocator, other, slot);
  if (!ready) carom_tet_faces_destroy(faces, allocator);
  return ready;
}

void carom_tet_faces_destroy(carom_tet_faces *faces, const carom_allocator *allocator) {
  CAROM_RELEASE_ALL(allocator, faces->order, faces->nodes[0], faces->nodes[1], faces->nodes[2]);
  *faces = (carom_tet_faces){0};
}

int carom_tet_faces_run(const carom_tet_faces *faces, int i) {
  int f = faces->order[i], end = i + 1;
  for (; end < faces->count; end++)
    for (int k = 0; k < 3; k++)
      if (faces->nodes[k][faces->order[end]] != faces->nodes[k][f]) return end;
  return end;
}
