// Flat convex figures: what two bodies show each other along a normal, and where these overlap.
#ifndef CAROM_SRC_COLLIDE_OUTLINE_H
#define CAROM_SRC_COLLIDE_OUTLINE_H

enum { CAROM_OUTLINE_MAX = 128 };

typedef struct carom_flat {
  double u, v;
} carom_flat;

// A point, a segment, or a convex polygon, counter-clockwise. Room for a polygon clipped by another.
typedef struct carom_outline {
  int count;
  carom_flat at[2 * CAROM_OUTLINE_MAX];
} carom_outline;

// Replaces the points by their convex hull; points closer to each other, or to the hull, than `eps` fall away.
void carom_outline_hull(carom_outline *o, double eps);

// The part of `subject` inside `window`, a polygon (Sutherland and Hodgman 1974); may be empty.
void carom_outline_clip(const carom_outline *subject, const carom_outline *window, double eps, carom_outline *part);

// Removes corners, each time the one that costs least area (Visvalingam and Whyatt 1993), until at most `limit` are
// left; corners closer to their neighbours' line than `eps` go in any case.
void carom_outline_reduce(carom_outline *o, int limit, double eps);

// Closest points of two outlines that do not overlap.
void carom_outline_closest(const carom_outline *a, const carom_outline *b, carom_flat *on_a, carom_flat *on_b);

// Where two segments meet: returns 2 and the ends of their common stretch if they run side by side within `eps`, 1 and
// the crossing, or 0.
int carom_segments_meet(const carom_outline *a, const carom_outline *b, double eps, carom_flat on_a[2],
                        carom_flat on_b[2]);

#endif
