#include "collide/outline.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>

static carom_flat flat_sub(carom_flat a, carom_flat b) { return (carom_flat){a.u - b.u, a.v - b.v}; }
static carom_flat flat_axpy(carom_flat a, double s, carom_flat b) { return (carom_flat){a.u + s * b.u, a.v + s * b.v}; }
static double flat_dot(carom_flat a, carom_flat b) { return a.u * b.u + a.v * b.v; }
static double flat_cross(carom_flat a, carom_flat b) { return a.u * b.v - a.v * b.u; }
static double flat_length(carom_flat a) { return hypot(a.u, a.v); }

// Twice the area of the triangle: positive when c lies to the left of a -> b.
static double turn(carom_flat a, carom_flat b, carom_flat c) { return flat_cross(flat_sub(b, a), flat_sub(c, a)); }

// ---- hull ----------------------------------------------------------------------------------------------------------

static bool before(carom_flat a, carom_flat b) { return a.u < b.u || (a.u == b.u && a.v < b.v); }

static void sort(carom_outline *o) {
  for (int i = 1; i < o->count; i++) {
    carom_flat x = o->at[i];
    int j = i;
    for (; j > 0 && before(x, o->at[j - 1]); j--) o->at[j] = o->at[j - 1];
    o->at[j] = x;
  }
}

// Andrew's monotone chain (1979): lower half from left to right, then the upper one back. Exact turns here; corners
// that matter less than `eps` are the next step's business.
void carom_outline_hull(carom_outline *o, double eps) {
  carom_flat hull[2 * CAROM_OUTLINE_MAX + 2];
  int n = o->count, k = 0;
  sort(o);
  for (int i = 0; i < n; i++) {
    while (k >= 2 && turn(hull[k - 2], hull[k - 1], o->at[i]) <= 0) k--;
    hull[k++] = o->at[i];
  }
  for (int i = n - 2, lower = k + 1; i >= 0; i--) {
    while (k >= lower && turn(hull[k - 2], hull[k - 1], o->at[i]) <= 0) k--;
    hull[k++] = o->at[i];
  }
  o->count = n > 1 ? k - 1 : n;
  for (int i = 0; i < o->count; i++) o->at[i] = hull[i];
  carom_outline_reduce(o, 2 * CAROM_OUTLINE_MAX, eps);
}

// ---- reduction -----------------------------------------------------------------------------------------------------

static void remove_at(carom_outline *o, int k) {
  o->count--;
  for (int i = k; i < o->count; i++) o->at[i] = o->at[i + 1];
}

static void merge_close(carom_outline *o, double eps) {
  for (int i = o->count - 1; i > 0; i--)
    if (flat_length(flat_sub(o->at[i], o->at[i - 1])) <= eps) remove_at(o, i);
  while (o->count > 1 && flat_length(flat_sub(o->at[o->count - 1], o->at[0])) <= eps) o->count--;
}

// A polygon without width becomes its longest diagonal.
static void flatten(carom_outline *o, double eps) {
  int p = 0, q = 0;
  double longest = 0;
  for (int i = 0; i < o->count; i++)
    for (int j = 0; j < i; j++) {
      double length = flat_length(flat_sub(o->at[i], o->at[j]));
      if (length > longest) longest = length, p = j, q = i;
    }
  for (int i = 0; i < o->count; i++)
    if (fabs(turn(o->at[p], o->at[q], o->at[i])) > eps * longest) return;
  carom_flat first = o->at[p], last = o->at[q];
  o->at[0] = first, o->at[1] = last, o->count = 2;
}

void carom_outline_reduce(carom_outline *o, int limit, double eps) {
  merge_close(o, eps);
  if (o->count > 2) flatten(o, eps);
  while (o->count > 3) {
    int cheapest = -1;
    double least = DBL_MAX;
    bool straight = false;
    for (int i = 0; i < o->count; i++) {
      carom_flat p = o->at[(i + o->count - 1) % o->count], q = o->at[(i + 1) % o->count];
      double area = fabs(turn(p, o->at[i], q));
      if (area >= least) continue;
      least = area, cheapest = i;
      straight = area <= eps * flat_length(flat_sub(q, p));
    }
    if (o->count <= limit && !straight) return;
    remove_at(o, cheapest);
  }
}

// ---- clipping ------------------------------------------------------------------------------------------------------

static void push(carom_outline *o, carom_flat x) {
  if (o->count < 2 * CAROM_OUTLINE_MAX) o->at[o->count++] = x;
}

static void clip_by_line(const carom_outline *in, carom_flat p, carom_flat q, double eps, carom_outline *out) {
  double length = flat_length(flat_sub(q, p));
  out->count = 0;
  for (int i = 0; i < in->count; i++) {
    carom_flat x = in->at[i], y = in->at[(i + 1) % in->count];
    double hx = turn(p, q, x) / length, hy = turn(p, q, y) / length;
    if (hx >= -eps) push(out, x);
    if ((hx > eps && hy < -eps) || (hx < -eps && hy > eps)) push(out, flat_axpy(x, hx / (hx - hy), flat_sub(y, x)));
  }
}

void carom_outline_clip(const carom_outline *subject, const carom_outline *window, double eps, carom_outline *part) {
  carom_outline other;
  *part = *subject;
  for (int i = 0; i < window->count && part->count > 0; i++) {
    clip_by_line(part, window->at[i], window->at[(i + 1) % window->count], eps, &other);
    *part = other;
  }
}

// ---- points and segments -------------------------------------------------------------------------------------------

static carom_flat closest_on_segment(carom_flat p, carom_flat q, carom_flat x) {
  carom_flat m = flat_sub(q, p);
  double squared = flat_dot(m, m), s = squared > 0 ? flat_dot(flat_sub(x, p), m) / squared : 0;
  return flat_axpy(p, fmin(fmax(s, 0), 1), m);
}

// Corners of `points` against sides of `sides`: figures that do not overlap are closest at a corner of one of them.
static double corner_to_side(const carom_outline *points, const carom_outline *sides, double least, carom_flat *corner,
                             carom_flat *side) {
  for (int i = 0; i < points->count; i++)
    for (int j = 0; j < sides->count; j++) {
      carom_flat y = closest_on_segment(sides->at[j], sides->at[(j + 1) % sides->count], points->at[i]);
      double distance = flat_length(flat_sub(y, points->at[i]));
      if (distance < least) least = distance, *corner = points->at[i], *side = y;
    }
  return least;
}

void carom_outline_closest(const carom_outline *a, const carom_outline *b, carom_flat *on_a, carom_flat *on_b) {
  double least = corner_to_side(a, b, DBL_MAX, on_a, on_b);
  corner_to_side(b, a, least, on_b, on_a);
}

// Points of both segments at the same place `s` along m, counted from a[0].
static void points_along(const carom_outline *a, const carom_outline *b, carom_flat m, double s, carom_flat *x,
                         carom_flat *y) {
  double b0 = flat_dot(m, flat_sub(b->at[0], a->at[0])), b1 = flat_dot(m, flat_sub(b->at[1], a->at[0]));
  *x = flat_axpy(a->at[0], s, m);
  *y = flat_axpy(b->at[0], (s - b0) / (b1 - b0), flat_sub(b->at[1], b->at[0]));
}

static int meet_side_by_side(const carom_outline *a, const carom_outline *b, double eps, carom_flat on_a[2],
                             carom_flat on_b[2]) {
  carom_flat m = flat_sub(a->at[1], a->at[0]);
  double length = flat_length(m);
  m = (carom_flat){m.u / length, m.v / length};
  double b0 = flat_dot(m, flat_sub(b->at[0], a->at[0])), b1 = flat_dot(m, flat_sub(b->at[1], a->at[0]));
  double from = fmax(0, fmin(b0, b1)), to = fmin(length, fmax(b0, b1));
  if (!(to - from > 2 * eps)) return 0;
  points_along(a, b, m, from, &on_a[0], &on_b[0]);
  points_along(a, b, m, to, &on_a[1], &on_b[1]);
  for (int k = 0; k < 2; k++)
    if (flat_length(flat_sub(on_a[k], on_b[k])) > eps) return 0;
  return 2;
}

int carom_segments_meet(const carom_outline *a, const carom_outline *b, double eps, carom_flat on_a[2],
                        carom_flat on_b[2]) {
  if (meet_side_by_side(a, b, eps, on_a, on_b)) return 2;
  carom_flat m = flat_sub(a->at[1], a->at[0]), n = flat_sub(b->at[1], b->at[0]), d = flat_sub(b->at[0], a->at[0]);
  double across = flat_cross(m, n);
  if (across == 0) return 0;
  double s = flat_cross(d, n) / across, t = flat_cross(d, m) / across;
  if (!(s >= 0 && s <= 1 && t >= 0 && t <= 1)) return 0;
  on_a[0] = on_b[0] = flat_axpy(a->at[0], s, m);
  return 1;
}
