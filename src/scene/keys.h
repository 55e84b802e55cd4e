// Every key that a scene file may hold, once. The reader, the "did you mean" hints and the test that compares
// docs/scene-reference.md with the code all use this list: SECTION(name), then its keys.
#ifndef CAROM_SRC_SCENE_KEYS_H
#define CAROM_SRC_SCENE_KEYS_H

// One entry a line.
// clang-format off
#define CAROM_KEYS_SCENE(X) \
  X(SCENE, CAROM, carom) \
  X(SCENE, TITLE, title) \
  X(SCENE, DESCRIPTION, description) \
  X(SCENE, SEED, seed) \
  X(SCENE, INCLUDE, include) \
  X(SCENE, CONSTANTS, constants) \
  X(SCENE, MATERIALS, materials) \
  X(SCENE, DEFAULTS, defaults) \
  X(SCENE, SHAPES, shapes) \
  X(SCENE, BODIES, bodies) \
  X(SCENE, FORCES, forces) \
  X(SCENE, JOINTS, joints) \
  X(SCENE, SURFACES, surfaces) \
  X(SCENE, APART, apart) \
  X(SCENE, PLANAR, planar) \
  X(SCENE, BOUNDARIES, boundaries) \
  X(SCENE, DRIVES, drives) \
  X(SCENE, RECIRCULATION, recirculation) \
  X(SCENE, INTEGRATOR, integrator) \
  X(SCENE, DURATION, duration) \
  X(SCENE, OUTPUT, output) \
  X(SCENE, AUDIT, audit)
#define CAROM_KEYS_INCLUDE(X) \
  X(INCLUDE, FILE, file)
#define CAROM_KEYS_MATERIAL(X) \
  X(MATERIAL, DENSITY, density) \
  X(MATERIAL, RESTITUTION, restitution) \
  X(MATERIAL, FRICTION, friction) \
  X(MATERIAL, COLOR, color)
#define CAROM_KEYS_DEFAULTS(X) \
  X(DEFAULTS, BODY, body)
#define CAROM_KEYS_SHAPE(X) \
  X(SHAPE, BOX, box) \
  X(SHAPE, PRISM, prism) \
  X(SHAPE, PYRAMID, pyramid) \
  X(SHAPE, TETRAHEDRON, tetrahedron) \
  X(SHAPE, OCTAHEDRON, octahedron) \
  X(SHAPE, CYLINDER, cylinder) \
  X(SHAPE, CONE, cone) \
  X(SHAPE, SPHERE, sphere) \
  X(SHAPE, CAPSULE, capsule) \
  X(SHAPE, ELLIPSOID, ellipsoid) \
  X(SHAPE, ROUNDED, rounded) \
  X(SHAPE, HALFSPACE, halfspace) \
  X(SHAPE, HULL, hull) \
  X(SHAPE, MESH, mesh)
#define CAROM_KEYS_BOX(X) \
  X(BOX, SIZE, size)
#define CAROM_KEYS_PRISM(X) \
  X(PRISM, SIDES, sides) \
  X(PRISM, RADIUS, radius) \
  X(PRISM, SIDE, side) \
  X(PRISM, HEIGHT, height)
#define CAROM_KEYS_CYLINDER(X) \
  X(CYLINDER, RADIUS, radius) \
  X(CYLINDER, HEIGHT, height) \
  X(CYLINDER, SEGMENTS, segments) \
  X(CYLINDER, EXACT, exact)
#define CAROM_KEYS_TETRAHEDRON(X) \
  X(TETRAHEDRON, EDGE, edge)
#define CAROM_KEYS_SPHERE(X) \
  X(SPHERE, RADIUS, radius)
#define CAROM_KEYS_CAPSULE(X) \
  X(CAPSULE, RADIUS, radius) \
  X(CAPSULE, LENGTH, length)
#define CAROM_KEYS_ELLIPSOID(X) \
  X(ELLIPSOID, HALF_AXES, half_axes)
#define CAROM_KEYS_ROUNDED(X) \
  X(ROUNDED, SHAPE, shape) \
  X(ROUNDED, RADIUS, radius)
#define CAROM_KEYS_MESH(X) \
  X(MESH, FILE, file) \
  X(MESH, SCALE, scale) \
  X(MESH, HULL, hull)
#define CAROM_KEYS_BODY(X) \
  X(BODY, NAME, name) \
  X(BODY, SHAPE, shape) \
  X(BODY, PARTS, parts) \
  X(BODY, POSITION, position) \
  X(BODY, ROTATION, rotation) \
  X(BODY, VELOCITY, velocity) \
  X(BODY, ANGULAR_VELOCITY, angular_velocity) \
  X(BODY, ANGULAR_VELOCITY_BODY, angular_velocity_body) \
  X(BODY, DENSITY, density) \
  X(BODY, MASS, mass) \
  X(BODY, INERTIA, inertia) \
  X(BODY, CENTER, center) \
  X(BODY, MATERIAL, material) \
  X(BODY, COLOR, color) \
  X(BODY, FIXED, fixed) \
  X(BODY, CHARGES, charges) \
  X(BODY, REPLICATE, replicate)
#define CAROM_KEYS_PART(X) \
  X(PART, SHAPE, shape) \
  X(PART, POSITION, position) \
  X(PART, ROTATION, rotation) \
  X(PART, DENSITY, density)
#define CAROM_KEYS_ROTATION(X) \
  X(ROTATION, AXIS, axis) \
  X(ROTATION, ANGLE, angle) \
  X(ROTATION, QUATERNION, quaternion) \
  X(ROTATION, EULER, euler) \
  X(ROTATION, MATRIX, matrix)
#define CAROM_KEYS_CHARGE(X) \
  X(CHARGE, SET, set) \
  X(CHARGE, POSITION, position) \
  X(CHARGE, CHARGE, charge)
#define CAROM_KEYS_REPLICATE(X) \
  X(REPLICATE, COUNT, count) \
  X(REPLICATE, GRID, grid) \
  X(REPLICATE, RING, ring) \
  X(REPLICATE, STACK, stack) \
  X(REPLICATE, CLOUD, cloud) \
  X(REPLICATE, CIRCLES, circles)
#define CAROM_KEYS_GRID(X) \
  X(GRID, COUNT, count) \
  X(GRID, SPACING, spacing)
#define CAROM_KEYS_RING(X) \
  X(RING, COUNT, count) \
  X(RING, RADIUS, radius) \
  X(RING, AXIS, axis) \
  X(RING, FACE, face)
#define CAROM_KEYS_STACK(X) \
  X(STACK, COUNT, count) \
  X(STACK, SPACING, spacing)
#define CAROM_KEYS_CLOUD(X) \
  X(CLOUD, COUNT, count) \
  X(CLOUD, MIN, min) \
  X(CLOUD, MAX, max) \
  X(CLOUD, CLEARANCE, clearance) \
  X(CLOUD, ROTATE, rotate)
#define CAROM_KEYS_FORCES(X) \
  X(FORCES, GRAVITY, gravity) \
  X(FORCES, CHARGES, charges) \
  X(FORCES, SPRINGS, springs) \
  X(FORCES, APPLIED, applied)
#define CAROM_KEYS_CHARGE_SET(X) \
  X(CHARGE_SET, NAME, name) \
  X(CHARGE_SET, CONSTANT, constant) \
  X(CHARGE_SET, SOFTENING, softening) \
  X(CHARGE_SET, POINTS, points)
#define CAROM_KEYS_POINT(X) \
  X(POINT, BODY, body) \
  X(POINT, POSITION, position) \
  X(POINT, WORLD, world) \
  X(POINT, CHARGE, charge)
#define CAROM_KEYS_SPRING(X) \
  X(SPRING, FROM, from) \
  X(SPRING, TO, to) \
  X(SPRING, STIFFNESS, stiffness) \
  X(SPRING, DAMPING, damping) \
  X(SPRING, REST_LENGTH, rest_length)
#define CAROM_KEYS_END(X) \
  X(END, BODY, body) \
  X(END, POINT, point) \
  X(END, WORLD, world)
#define CAROM_KEYS_APPLIED(X) \
  X(APPLIED, BODY, body) \
  X(APPLIED, POINT, point) \
  X(APPLIED, FORCE, force) \
  X(APPLIED, TORQUE, torque) \
  X(APPLIED, AXES, axes) \
  X(APPLIED, SCHEDULE, schedule) \
  X(APPLIED, FREQUENCY, frequency) \
  X(APPLIED, PHASE, phase)
#define CAROM_KEYS_JOINT(X) \
  X(JOINT, NAME, name) \
  X(JOINT, KIND, kind) \
  X(JOINT, BETWEEN, between) \
  X(JOINT, CHAIN, chain) \
  X(JOINT, AT, at) \
  X(JOINT, AXIS, axis) \
  X(JOINT, POINTS, points) \
  X(JOINT, AXES, axes) \
  X(JOINT, PITCH, pitch) \
  X(JOINT, LENGTH, length) \
  X(JOINT, SLIDE, slide) \
  X(JOINT, TURN, turn) \
  X(JOINT, COLLIDE, collide) \
  X(JOINT, LATCH, latch) \
  X(JOINT, ENGAGED, engaged) \
  X(JOINT, RELEASES, releases)
#define CAROM_KEYS_COORDINATE(X) \
  X(COORDINATE, STIFFNESS, stiffness) \
  X(COORDINATE, REST, rest) \
  X(COORDINATE, DAMPING, damping) \
  X(COORDINATE, LOWER, lower) \
  X(COORDINATE, UPPER, upper) \
  X(COORDINATE, RESTITUTION, restitution) \
  X(COORDINATE, MOTOR, motor)
#define CAROM_KEYS_MOTOR(X) \
  X(MOTOR, FORCE, force) \
  X(MOTOR, TORQUE, torque) \
  X(MOTOR, RATE, rate) \
  X(MOTOR, POSITION, position) \
  X(MOTOR, SCHEDULE, schedule)
#define CAROM_KEYS_SURFACE(X) \
  X(SURFACE, BETWEEN, between) \
  X(SURFACE, RESTITUTION, restitution) \
  X(SURFACE, FRICTION, friction)
#define CAROM_KEYS_BOUNDARY(X) \
  X(BOUNDARY, NAME, name) \
  X(BOUNDARY, PLANE, plane) \
  X(BOUNDARY, BOX, box) \
  X(BOUNDARY, PROFILE, profile) \
  X(BOUNDARY, BODY, body) \
  X(BOUNDARY, POSITION, position) \
  X(BOUNDARY, ROTATION, rotation) \
  X(BOUNDARY, MATERIAL, material)
#define CAROM_KEYS_DRIVE(X) \
  X(DRIVE, BODY, body) \
  X(DRIVE, VELOCITY, velocity) \
  X(DRIVE, AXIS, axis) \
  X(DRIVE, POINT, point) \
  X(DRIVE, ANGULAR_VELOCITY, angular_velocity) \
  X(DRIVE, AMPLITUDE, amplitude) \
  X(DRIVE, FREQUENCY, frequency) \
  X(DRIVE, PHASE, phase) \
  X(DRIVE, SCHEDULE, schedule)
#define CAROM_KEYS_RECIRCULATION(X) \
  X(RECIRCULATION, OUTLET, outlet) \
  X(RECIRCULATION, INLET, inlet) \
  X(RECIRCULATION, VELOCITY, velocity)
#define CAROM_KEYS_REGION(X) \
  X(REGION, MIN, min) \
  X(REGION, MAX, max)
#define CAROM_KEYS_CIRCLES(X) \
  X(CIRCLES, COUNT, count) \
  X(CIRCLES, RADIUS, radius) \
  X(CIRCLES, PITCH, pitch) \
  X(CIRCLES, SPACING, spacing)
#define CAROM_KEYS_INTEGRATOR(X) \
  X(INTEGRATOR, NAME, name) \
  X(INTEGRATOR, FOR, for) \
  X(INTEGRATOR, STEP, step) \
  X(INTEGRATOR, QUADRATURE, quadrature) \
  X(INTEGRATOR, ORDER, order) \
  X(INTEGRATOR, THREADS, threads) \
  X(INTEGRATOR, TOLERANCE, tolerance) \
  X(INTEGRATOR, MAX_ITERATIONS, max_iterations) \
  X(INTEGRATOR, MAX_HALVINGS, max_halvings) \
  X(INTEGRATOR, LAW, law) \
  X(INTEGRATOR, ENERGY_CONDITION, energy_condition) \
  X(INTEGRATOR, MAX_IMPACTS, max_impacts) \
  X(INTEGRATOR, STIFFNESS, stiffness) \
  X(INTEGRATOR, PENETRATION, penetration) \
  X(INTEGRATOR, ALPHA, alpha) \
  X(INTEGRATOR, RESTITUTION, restitution) \
  X(INTEGRATOR, FRICTION_DIRECTIONS, friction_directions) \
  X(INTEGRATOR, SOLVER, solver) \
  X(INTEGRATOR, SOLVER_TOLERANCE, solver_tolerance) \
  X(INTEGRATOR, SOLVER_ITERATIONS, solver_iterations)
#define CAROM_KEYS_OUTPUT(X) \
  X(OUTPUT, INTERVAL, interval) \
  X(OUTPUT, EVERY, every) \
  X(OUTPUT, CAMERA, camera)
#define CAROM_KEYS_CAMERA(X) \
  X(CAMERA, POSITION, position) \
  X(CAMERA, TARGET, target)
#define CAROM_KEYS_AUDIT(X) \
  X(AUDIT, ENERGY, energy) \
  X(AUDIT, ENERGY_DRIFT, energy_drift) \
  X(AUDIT, MOMENTUM, momentum) \
  X(AUDIT, ANGULAR_MOMENTUM, angular_momentum) \
  X(AUDIT, PENETRATION, penetration) \
  X(AUDIT, COMPLEMENTARITY, complementarity) \
  X(AUDIT, CONSTRAINT, constraint) \
  X(AUDIT, PASSIVITY, passivity)

// S(section, name in messages and in the reference)
#define CAROM_SECTIONS(S) \
  S(SCENE, "scene") \
  S(INCLUDE, "include") \
  S(MATERIAL, "material") \
  S(DEFAULTS, "defaults") \
  S(SHAPE, "shape") \
  S(BOX, "box") \
  S(PRISM, "prism") \
  S(CYLINDER, "cylinder") \
  S(TETRAHEDRON, "tetrahedron") \
  S(SPHERE, "sphere") \
  S(CAPSULE, "capsule") \
  S(ELLIPSOID, "ellipsoid") \
  S(ROUNDED, "rounded") \
  S(MESH, "mesh") \
  S(BODY, "body") \
  S(PART, "part") \
  S(ROTATION, "rotation") \
  S(CHARGE, "charge") \
  S(REPLICATE, "replicate") \
  S(GRID, "grid") \
  S(RING, "ring") \
  S(STACK, "stack") \
  S(CLOUD, "cloud") \
  S(FORCES, "forces") \
  S(CHARGE_SET, "charge set") \
  S(POINT, "charged point") \
  S(SPRING, "spring") \
  S(END, "spring end") \
  S(APPLIED, "applied force") \
  S(JOINT, "joint") \
  S(COORDINATE, "joint coordinate") \
  S(MOTOR, "motor") \
  S(SURFACE, "surface") \
  S(BOUNDARY, "boundary") \
  S(DRIVE, "drive") \
  S(RECIRCULATION, "recirculation") \
  S(REGION, "region") \
  S(CIRCLES, "circles") \
  S(INTEGRATOR, "integrator") \
  S(OUTPUT, "output") \
  S(CAMERA, "camera") \
  S(AUDIT, "audit")
// clang-format on

#define CAROM_SECTION_ENUM(section, name) CAROM_SECTION_##section,
typedef enum carom_section { CAROM_SECTIONS(CAROM_SECTION_ENUM) CAROM_SECTION_COUNT } carom_section;
#undef CAROM_SECTION_ENUM

// KEY_BODY_MASS and so on: numbers within their section.
#define CAROM_KEY_ENUM(section, key, text) KEY_##section##_##key,
#define CAROM_SECTION_KEYS(section, name) enum { CAROM_KEYS_##section(CAROM_KEY_ENUM) KEYS_IN_##section };
CAROM_SECTIONS(CAROM_SECTION_KEYS)
#undef CAROM_SECTION_KEYS
#undef CAROM_KEY_ENUM

enum { CAROM_MOST_KEYS = 28 };  // in one section

typedef struct carom_section_keys {
  const char *name;
  int count;
  const char *const *keys;
} carom_section_keys;

extern const carom_section_keys carom_scene_sections[CAROM_SECTION_COUNT];

#endif
