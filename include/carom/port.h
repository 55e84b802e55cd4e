/// carom/port.h: docking ports as convex shapes: cups, cones, and kinematic mounts that seat the nose of a cone.
///
/// A port points along +x of its frame, and stands on the plane x = 0. Its shapes become parts of a body (carom_part):
/// the pose of each is that of the port, moved by its place there. They do not overlap: the mass of the body is right.
/// Spatial ports are faceted about x; a radius is the distance of the flat faces from the axis, and the first of them
/// faces +y. Planar ones (with a height) are the same profile as prisms along z, centred on z = 0. All mirror to the
/// last bit at the plane y = 0 (planar, or of an even number of sides) and at z = 0.
#ifndef CAROM_PORT_H
#define CAROM_PORT_H

#include "carom/base.h"
#include "carom/geometry.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CAROM_PORT_MOST_SIDES 64                       ///< flat faces about the axis of a spatial port
#define CAROM_PORT_SHAPES (CAROM_PORT_MOST_SIDES + 1)  ///< most that a port can have

/// The shapes of a port. A value: let an init fill it, and give back what is in it by carom_port_release.
typedef struct carom_port {
  int count;                                     ///< of shapes
  const carom_shape *shapes[CAROM_PORT_SHAPES];  ///< (count) one reference each; their axes are those of the port
  carom_vec3 places[CAROM_PORT_SHAPES];          ///< (count) of their origins in the frame of the port, m
} carom_port;

/// A cup: walls about x from the floor at x = 0 to the mouth at x = depth, straight or conical inside, straight
/// outside. Planar: two walls; spatial: one for each side.
typedef struct carom_cup_def {
  double depth;  ///< m
  double mouth;  ///< inner radius at the mouth, m
  double base;   ///< inner radius at the floor, m, 0 or more; negative (default) means that of the mouth
  double wall;   ///< least thickness of the walls, m
  double
      floor;  ///< thickness of a plate that reaches from x = -floor to 0, m; default 0: what it stands on is the floor
  int sides;  ///< of a spatial cup; default 8
  double height;  ///< of a planar cup along z, m; default 0: spatial
} carom_cup_def;

/// A cone: a straight stem from x = 0, then a cone that ends in a flat tip, then a nose for a mount: a ball (planar),
/// or three balls around the axis, the first on +y. They stand on the tip.
typedef struct carom_cone_def {
  double half_angle;  ///< between axis and surface, rad, more than 0 and less than pi/2
  double length;      ///< of the conical part, m
  double tip;         ///< radius at its end, m, 0 or more; at its begin it is tip + length tan(half_angle)
  double stem;        ///< length of the stem, m; default 0: none
  double nose;        ///< radius of the ball or balls, m; default 0: no nose
  double spread;      ///< distance of the centres of the balls from the axis, m; spatial only
  int balls;          ///< 3 (default), or 2: without the one on +y. Spatial only
  int sides;          ///< of a spatial cone; default 8
  double height;      ///< of a planar cone along z, m; default 0: spatial
} carom_cone_def;

/// A kinematic mount on the floor x = 0, for a nose: a groove with two inclined flanks (planar), or three such grooves
/// towards the axis, the first on +y. A ball of the nose touches each flank of its groove in one point.
typedef struct carom_mount_def {
  double nose;    ///< radius of the balls that it seats, m
  double spread;  ///< distance of their centres from the axis, m; spatial only
  double angle;   ///< between a flank and the plane in the middle of its groove, rad; default pi/4
  double seat;    ///< height of the centre of a seated ball over the floor, m; negative (default) means 1.2 nose
  double width;   ///< of the flanks at their top, m; negative (default) means `nose`
  double length;  ///< of a groove, along its direction, m; negative (default) means 2 nose. Spatial only
  double stop;    ///< thickness of blocks that close a groove at both ends, m; default 0: none. Spatial only
  double height;  ///< of a planar mount along z, m; default 0: spatial
} carom_mount_def;

CAROM_API carom_cup_def carom_cup_default(void);      ///< spatial, straight, of eight sides; give depth, mouth and wall
CAROM_API carom_cone_def carom_cone_default(void);    ///< spatial, of eight sides; give half_angle, length and tip
CAROM_API carom_mount_def carom_mount_default(void);  ///< spatial; give nose and spread

// Each fills *port, or leaves it empty and returns a negative status with a message: CAROM_ERR_ARGUMENT for a length or
// an angle out of range and for pieces that would meet, CAROM_ERR_NUMBER for one that is not finite, CAROM_ERR_MEMORY.

/// The walls of a cup, first that on +y and then around the axis (planar: +y, -y); then its floor, if it has one.
CAROM_API carom_status carom_port_init_cup(const carom_cup_def *def, const carom_allocator *allocator, carom_port *port,
                                           carom_error *error);
/// Stem, cone and nose, those that there are.
CAROM_API carom_status carom_port_init_cone(const carom_cone_def *def, const carom_allocator *allocator,
                                            carom_port *port, carom_error *error);
/// Groove by groove two flanks, then its two stops if it has them.
CAROM_API carom_status carom_port_init_mount(const carom_mount_def *def, const carom_allocator *allocator,
                                             carom_port *port, carom_error *error);
/// Releases the shapes and zeroes *port; null is fine.
CAROM_API void carom_port_release(carom_port *port);

/// How far the tip of a cone reaches from x = 0: stem, cone and nose together, m.
CAROM_API double carom_cone_reach(const carom_cone_def *def);
/// How far apart the planes x = 0 of a cone and of the mount that seats its nose are, m, when they face each other.
CAROM_API double carom_mount_distance(const carom_mount_def *mount, const carom_cone_def *cone);

#ifdef __cplusplus
}
#endif
#endif
