// Grains in horizontal layers of concentric circles, as pebble beds are filled in the literature (Gavrea 2.3).
#include "scene/reader.h"

static const double TWO_PI = 6.283185307179586476925;

bool carom_read_circles(carom_reader *r, const carom_node *node, carom_array *a) {
  const carom_node *f[CAROM_MOST_KEYS];
  double most = (double)r->options.max_bodies;
  if (!carom_read_fields(r, node, CAROM_SECTION_CIRCLES, "circles", f)) return false;
  bool good = carom_require(r, node, f[KEY_CIRCLES_COUNT], "count", "circles");
  good = carom_require(r, node, f[KEY_CIRCLES_RADIUS], "radius", "circles") && good;
  good = carom_require(r, node, f[KEY_CIRCLES_PITCH], "pitch", "circles") && good;
  good = carom_read_integer(r, f[KEY_CIRCLES_COUNT], 1, most, &a->count) && good;
  good = carom_read_number(r, f[KEY_CIRCLES_RADIUS], CAROM_LENGTH, CAROM_NOT_NEGATIVE, &a->radius) && good;
  good = carom_read_number(r, f[KEY_CIRCLES_PITCH], CAROM_LENGTH, CAROM_POSITIVE, &a->pitch) && good;
  a->spacing.z = a->pitch;
  good = carom_read_number(r, f[KEY_CIRCLES_SPACING], CAROM_LENGTH, CAROM_POSITIVE, &a->spacing.z) && good;
  a->n[0] = a->count;
  a->seed = r->seed;
  return good;
}

// Circle c has the radius c pitch and as many copies as fit at a chord of one pitch.
static int copies_on(int circle) { return circle == 0 ? 1 : (int)(TWO_PI / (2 * asin(0.5 / circle)) + 1e-9); }

static int circles_of(const carom_array *a) {
  double circles = a->radius / a->pitch + 1e-9;
  return circles < 1e4 ? (int)circles : 10000;
}

carom_pose carom_circles_pose(const carom_array *a, int n) {
  int circles = circles_of(a), layer_count = 0;
  for (int c = 0; c <= circles; c++) layer_count += copies_on(c);
  int layer = n / layer_count, place = n % layer_count, circle = 0;
  while (place >= copies_on(circle)) place -= copies_on(circle++);
  carom_random random = carom_random_make(a->seed, (uint64_t)layer * 16384 + (uint64_t)circle);
  double angle = TWO_PI * (carom_random_uniform(&random) + (double)place / copies_on(circle));
  double radius = circle * a->pitch;
  return cm_pose(cm_vec3(radius * cos(angle), radius * sin(angle), layer * a->spacing.z), cm_qidentity());
}
