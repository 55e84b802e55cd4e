// The judge of ways: the least gap of all cages at all times. It shares nothing with what steps are computed with: gaps
// by all corners and sides, neighbours by sorting, moments between the frames.
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "control/navigate.h"

// ---- two cages ------------------------------------------------------------------------------------------------------

typedef struct outline {
  int count;  // 1: a disc's centre; 2: a segment
  double at[CAROM_CAGE_CORNERS][2];
  double radius;
} outline;

static outline outline_of(const carom_cage *c, const double place[3]) {
  outline o = {.count = c->count > 0 ? c->count : 1, .radius = c->radius};
  double cosine = cos(place[2]), sine = sin(place[2]);
  o.at[0][0] = place[0], o.at[0][1] = place[1];
  for (int i = 0; i < c->count; i++) {
    const double *r = c->corners[i];
    o.at[i][0] = place[0] + cosine * r[0] - sine * r[1];
    o.at[i][1] = place[1] + sine * r[0] + cosine * r[1];
  }
  return o;
}

static double point_to_side(const double p[2], const double a[2], const double b[2]) {
  double dx = b[0] - a[0], dy = b[1] - a[1], square = dx * dx + dy * dy;
  double t = square > 0 ? ((p[0] - a[0]) * dx + (p[1] - a[1]) * dy) / square : 0;
  t = fmin(1, fmax(0, t));
  return hypot(p[0] - a[0] - t * dx, p[1] - a[1] - t * dy);
}

static double corners_to_sides(const outline *a, const outline *b) {
  double least = INFINITY;
  for (int i = 0; i < a->count; i++)
    for (int k = 0; k < b->count; k++)
      least = fmin(least, point_to_side(a->at[i], b->at[k], b->at[(k + 1) % b->count]));
  return least;
}

// How far b lies beyond the side of a from which it is farthest: > 0 where that side parts them.
static double beyond_sides(const outline *a, const outline *b) {
  double most = -INFINITY;
  for (int i = 0; i < a->count && a->count > 1; i++) {
    const double *p = a->at[i], *q = a->at[(i + 1) % a->count];
    double nx = q[1] - p[1], ny = p[0] - q[0], length = hypot(nx, ny), least = INFINITY;
    for (int k = 0; k < b->count; k++)
      least = fmin(least, (nx * (b->at[k][0] - p[0]) + ny * (b->at[k][1] - p[1])) / length);
    most = fmax(most, least);
  }
  return most;
}

static double outlines_apart(const outline *a, const outline *b) {
  double beyond = fmax(beyond_sides(a, b), beyond_sides(b, a));
  bool points = a->count == 1 && b->count == 1;
  double core = beyond > 0 || points ? fmin(corners_to_sides(a, b), corners_to_sides(b, a)) : beyond;
  return core - a->radius - b->radius;
}

double carom_cage_gap(const carom_cage *a, const double place_a[3], const carom_cage *b, const double place_b[3]) {
  outline A = outline_of(a, place_a), B = outline_of(b, place_b);
  return outlines_apart(&A, &B);
}

// ---- all of them ----------------------------------------------------------------------------------------------------

typedef struct judge {
  const carom_navigate_def *def;
  carom_navigate_verdict *verdict;
  int count;  // of vehicles and obstacles
  const carom_cage **cages;
  double *reach;       // (count)
  double (*place)[3];  // (count) at the moment
  double *left;        // (count)
  int *order;          // (count) by where they begin on the left
} judge;

static void sort_by_left(judge *j) {  // nearly sorted already
  for (int i = 0; i < j->count; i++) j->left[i] = j->place[i][0] - j->reach[i];
  for (int i = 1; i < j->count; i++) {
    int moved = j->order[i], k = i;
    for (; k > 0 && j->left[j->order[k - 1]] > j->left[moved]; k--) j->order[k] = j->order[k - 1];
    j->order[k] = moved;
  }
}

static void look_at(judge *j, int a, int b, double time) {
  carom_navigate_verdict *v = j->verdict;
  int n = j->def->vehicle_count;
  if (a > b) {
    look_at(j, b, a, time);
    return;
  }
  if (a >= n) return;
  double between = hypot(j->place[a][0] - j->place[b][0], j->place[a][1] - j->place[b][1]);
  if (between - j->reach[a] - j->reach[b] >= v->least_gap) return;
  double gap = carom_cage_gap(j->cages[a], j->place[a], j->cages[b], j->place[b]);
  if (gap < v->least_gap) v->least_gap = gap, v->gap_time = time, v->gap_a = a, v->gap_b = b;
}

static void look(judge *j, double time) {
  sort_by_left(j);
  for (int i = 0; i < j->count; i++) {
    int a = j->order[i];
    double right = j->place[a][0] + j->reach[a];
    for (int k = i + 1; k < j->count && j->left[j->order[k]] < right + fmax(j->verdict->least_gap, 0); k++)
      look_at(j, a, j->order[k], time);
  }
}

static void place_between(judge *j, const double (*from)[3], const double (*to)[3], double t) {
  for (int i = 0; i < j->count; i++) {
    for (int k = 0; k < 2; k++) j->place[i][k] = (1 - t) * from[i][k] + t * to[i][k];
    j->place[i][2] = from[i][2] + t * carom_nav_wrap(to[i][2] - from[i][2]);
  }
}

static void look_at_all(judge *j, const carom_navigate_motion *motion, int between) {
  for (int f = 0; f < motion->frame_count; f++) {
    const double(*from)[3] = (const double(*)[3])motion->places + (size_t)f * (size_t)j->count;
    place_between(j, from, from, 0);
    look(j, f * motion->step);
    for (int k = 1; k <= between && f + 1 < motion->frame_count; k++) {
      double t = (double)k / (between + 1);
      place_between(j, from, from + j->count, t);
      look(j, (f + t) * motion->step);
    }
  }
}

carom_status carom_navigate_check(carom_navigate_motion *motion, const carom_navigate_def *def, int between,
                                  carom_error *error) {
  const carom_allocator *heap = &motion->allocator;
  judge j = {.def = def, .verdict = &motion->verdict, .count = def->vehicle_count + def->obstacle_count};
  bool room = CAROM_NEW_ALL(heap, CAROM_ROOM(j.cages, j.count), CAROM_ROOM(j.reach, j.count),
                            CAROM_ROOM(j.place, j.count), CAROM_ROOM(j.left, j.count), CAROM_ROOM(j.order, j.count));
  motion->verdict.least_gap = INFINITY, motion->verdict.gap_time = 0;
  motion->verdict.gap_a = motion->verdict.gap_b = -1;
  for (int i = 0; room && i < j.count; i++) {
    j.cages[i] = i < def->vehicle_count ? &def->vehicles[i].cage : &def->obstacles[i - def->vehicle_count].cage;
    j.reach[i] = carom_cage_reach(j.cages[i]);
    j.order[i] = i;
  }
  if (room) look_at_all(&j, motion, between);
  CAROM_RELEASE_ALL(heap, (void *)j.cages, j.reach, j.place, j.left, j.order);
  return room ? CAROM_OK : carom_nav_memory(error);
}
