// The door to qhull (Barber, Dobkin and Huhdanpaa, "The Quickhull algorithm for convex hulls", ACM TOMS 22, 1996).
// The reentrant library keeps all it knows in a qhT, reports errors by a jump back to us, and writes its messages to
// a stream in memory, so that nothing is printed and nothing is shared between threads.
#include <libqhull_r/qhull_ra.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "geometry/hull.h"

carom_status carom_cells_allocate(carom_cells *cells, int count, int corner_count, const carom_allocator *allocator) {
  *cells = (carom_cells){count, CAROM_NEW(allocator, int, (size_t)count + 1), CAROM_NEW(allocator, int, corner_count)};
  if (cells->start && cells->corners) return CAROM_OK;
  carom_cells_destroy(cells, allocator);
  return CAROM_ERR_MEMORY;
}

void carom_cells_destroy(carom_cells *cells, const carom_allocator *allocator) {
  CAROM_RELEASE_ALL(allocator, cells->start, cells->corners);
  *cells = (carom_cells){0};
}

static int count_corners(qhT *qh) {
  facetT *facet;
  int corners = 0;
  FORALLfacets { corners += qh_setsize(qh, facet->vertices); }
  return corners;
}

// qh_facet3vertex walks a facet's ridges, so the order holds even where coordinates say nothing.
static void copy_facets(qhT *qh, carom_cells *cells) {
  facetT *facet;
  vertexT *vertex, **vertexp;
  int f = 0, h = 0;
  FORALLfacets {
    cells->start[f++] = h;
    setT *loop = qh_facet3vertex(qh, facet);
    FOREACHvertex_(loop) { cells->corners[h++] = qh_pointid(qh, vertex->point); }
    qh_settempfree(qh, &loop);
  }
  cells->start[f] = h;
}

// Errors inside qhull end in a jump to qh->errexit; without NOerrexit cleared they would end the process.
static bool extract(qhT *qh, carom_cells *cells) {
  if (setjmp(qh->errexit)) return false;
  qh->NOerrexit = False;
  copy_facets(qh, cells);
  qh->NOerrexit = True;
  return true;
}

typedef struct request {
  coordT *points;
  int count;
  bool joggled;
  FILE *messages;
} request;

static carom_status run(qhT *qh, const request *r, const carom_allocator *allocator, carom_cells *cells) {
  // Q12: qhull refuses facets that are wide by its own measure, 100 times rounding, which is far below our tolerance.
  char merging[] = "qhull Q12 Pp", joggling[] = "qhull QJ Pp";
  if (qh_new_qhull(qh, 3, r->count, r->points, False, r->joggled ? joggling : merging, NULL, r->messages))
    return CAROM_ERR_GEOMETRY;
  // After a failure qhull joggles ten times harder. Once is fine (2e-10); beyond that points would be lost that matter.
  if (r->joggled && qh->JOGGLEmax > 4 * CAROM_HULL_TOLERANCE) return CAROM_ERR_GEOMETRY;
  carom_status status = carom_cells_allocate(cells, qh->num_facets, count_corners(qh), allocator);
  if (!status && !extract(qh, cells)) {
    carom_cells_destroy(cells, allocator);
    status = CAROM_ERR_GEOMETRY;
  }
  return status;
}

// qhull sizes and frees its own memory in two steps: long blocks first, then the pool of short ones.
static void clean_up(qhT *qh) {
  int long_count, long_bytes;
  qh->NOerrexit = True;
  qh_freeqhull(qh, !qh_ALL);
  qh_memfreeshort(qh, &long_count, &long_bytes);
}

static carom_status explain(carom_status status, int count, const char *text, carom_error *error) {
  if (status == CAROM_ERR_MEMORY) return carom_fail(error, status, "out of memory for the hull of %d points", count);
  int first_line = text ? (int)strcspn(text, "\n") : 0;
  return carom_fail(error, status, "the convex hull of %d points could not be found: %.*s", count, first_line,
                    text ? text : "");
}

carom_status carom_qhull_facets(const carom_vec3 *points, int count, bool joggled, const carom_allocator *allocator,
                                carom_cells *cells, carom_error *error) {
  char *text = NULL;
  size_t length = 0;
  qhT *qh = CAROM_NEW(allocator, qhT, 1);
  coordT *coordinates = CAROM_NEW(allocator, coordT, 3 * (size_t)count);
  FILE *messages = open_memstream(&text, &length);
  carom_status status = CAROM_ERR_MEMORY;
  if (qh && coordinates && messages) {
    for (int i = 0; i < count; i++) memcpy(coordinates + 3 * (size_t)i, &points[i], 3 * sizeof(coordT));
    qh_zero(qh, messages);
    status = run(qh, &(request){coordinates, count, joggled, messages}, allocator, cells);
    clean_up(qh);
  }
  if (messages) fclose(messages);
  if (status) explain(status, count, text, error);
  free(text);  // the stream's, not ours
  CAROM_RELEASE_ALL(allocator, coordinates, qh);
  return status;
}
