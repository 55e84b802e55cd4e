// Ports in the making: profiles that are swept about the axis or across it, piece by piece.
#include "geometry/port.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "geometry/polygon.h"
#include "geometry/shape.h"

enum { MOST_POINTS = 4 * CAROM_PORT_MOST_SIDES };

carom_port_maker carom_port_begin(const carom_allocator *allocator, carom_port *port, carom_error *error) {
  *port = (carom_port){0};
  return (carom_port_maker){.allocator = allocator, .port = port, .error = error};
}

carom_status carom_port_end(carom_port_maker *maker) {
  if (maker->status != CAROM_OK) carom_port_release(maker->port);
  return maker->status;
}

void carom_port_release(carom_port *port) {
  if (!port) return;
  for (int i = 0; i < port->count; i++) carom_shape_release(port->shapes[i]);
  *port = (carom_port){0};
}

// ---- pieces -----------------------------------------------------------------------------------

void carom_port_add_shape(carom_port_maker *maker, carom_status status, const carom_shape *shape, carom_vec3 place) {
  carom_port *port = maker->port;
  maker->status = status;
  if (status != CAROM_OK) return;
  port->shapes[port->count] = shape;
  port->places[port->count++] = place;
}

void carom_port_add_hull(carom_port_maker *maker, const carom_vec3 *points, int count) {
  const carom_shape *shape = NULL;
  if (maker->status != CAROM_OK) return;
  carom_status status = carom_shape_create_hull(points, count, maker->allocator, &shape, maker->error);
  carom_port_add_shape(maker, status, shape, cm_zero3());
}

void carom_port_add_slab(carom_port_maker *maker, const carom_profile_corner *profile, int count, int side,
                         double height) {
  carom_vec3 points[MOST_POINTS];
  for (int i = 0; i < count; i++) {
    double y = side * profile[i].radius;
    points[2 * i] = cm_vec3(profile[i].x, y, -height / 2);
    points[2 * i + 1] = cm_vec3(profile[i].x, y, height / 2);
  }
  carom_port_add_hull(maker, points, 2 * count);
}

// Directions of the corners between the flat faces of a polygon, scaled so that the faces are at distance 1.
static carom_vec3 corner_before(int k, int sides) {
  carom_vec3 c = carom_polygon_corner((2 * k + 2 * sides - 1) % (2 * sides), 2 * sides);
  return cm_scale(1 / cos(3.14159265358979323846 / sides), c);
}

static carom_vec3 turned(carom_profile_corner p, carom_vec3 direction) {
  return cm_vec3(p.x, p.radius * direction.x, p.radius * direction.y);
}

void carom_port_add_sector(carom_port_maker *maker, const carom_profile_corner *profile, int count, int k, int sides) {
  carom_vec3 points[MOST_POINTS], from = corner_before(k, sides), to = corner_before(k + 1, sides);
  for (int i = 0; i < count; i++) {
    points[2 * i] = turned(profile[i], from);
    points[2 * i + 1] = turned(profile[i], to);
  }
  carom_port_add_hull(maker, points, 2 * count);
}

static void add_whole_slab(carom_port_maker *maker, const carom_profile_corner *profile, int count, double height) {
  carom_vec3 points[MOST_POINTS];
  for (int i = 0; i < 4 * count; i++) {
    carom_profile_corner p = profile[i / 4];
    points[i] = cm_vec3(p.x, i & 1 ? p.radius : -p.radius, i & 2 ? height / 2 : -height / 2);
  }
  carom_port_add_hull(maker, points, 4 * count);
}

void carom_port_add_turned(carom_port_maker *maker, const carom_profile_corner *profile, int count, int sides,
                           double height) {
  carom_vec3 points[MOST_POINTS];
  if (maker->status != CAROM_OK) return;
  for (int i = 0; i < count * sides && !(height > 0); i++)
    points[i] = turned(profile[i / sides], corner_before(i % sides, sides));
  if (height > 0)
    add_whole_slab(maker, profile, count, height);
  else
    carom_port_add_hull(maker, points, count * sides);
}

// ---- what is refused --------------------------------------------------------------------------

void carom_port_refuse(carom_port_maker *maker, const char *format, ...) {
  char text[300];
  if (maker->status != CAROM_OK) return;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  maker->status = carom_fail(maker->error, CAROM_ERR_ARGUMENT, "%s", text);
}

void carom_port_check_positive(carom_port_maker *maker, const char *what, double length) {
  if (maker->status == CAROM_OK) maker->status = carom_check_length(what, length, maker->error);
}

void carom_port_check_not_negative(carom_port_maker *maker, const char *what, double length) {
  if (length != 0) carom_port_check_positive(maker, what, length);
}

void carom_port_check_angle(carom_port_maker *maker, const char *what, double angle) {
  static const double RIGHT = 1.57079632679489661923, DEGREE = 0.01745329251994329577;
  if (!(angle > 0 && angle < RIGHT))
    carom_port_refuse(maker, "%s is %.6g degrees; expected more than 0 and less than 90", what, angle / DEGREE);
}

void carom_port_check_sides(carom_port_maker *maker, const char *what, int sides) {
  if (sides < 3 || sides > CAROM_PORT_MOST_SIDES)
    carom_port_refuse(maker, "the %s has %d sides; expected 3 to %d", what, sides, CAROM_PORT_MOST_SIDES);
}
