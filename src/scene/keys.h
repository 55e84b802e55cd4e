// Every key that a scene file may hold, once. The reader, the "did you mean" hints and the test that compares
// docs/scene-reference.md with the code all use this list: SECTION(name), then its keys.
#ifndef CAROM_SRC_SCENE_KEYS_H
#define CAROM_SRC_SCENE_KEYS_H

// K(section, NAME, name), as many to a line as there is room for.
// clang-format off
#define CAROM_KEYS_SCENE(K, S) \
  K(S, CAROM, carom) K(S, TITLE, title) K(S, DESCRIPTION, description) K(S, SEED, seed) K(S, INCLUDE, include) \
  K(S, CONSTANTS, constants) K(S, MATERIALS, materials) K(S, DEFAULTS, defaults) K(S, SHAPES, shapes) \
  K(S, BODIES, bodies) K(S, SOLIDS, solids) K(S, FORCES, forces) K(S, JOINTS, joints) K(S, SURFACES, surfaces) K(S, APART, apart) \
  K(S, CONTACTS, contacts) \
  K(S, PLANAR, planar) K(S, SENSORS, sensors) K(S, CONTROLLERS, controllers) K(S, BOUNDARIES, boundaries) K(S, DRIVES, drives) K(S, RECIRCULATION, recirculation) \
  K(S, START, start) K(S, INTEGRATOR, integrator) K(S, DURATION, duration) K(S, OUTPUT, output) K(S, AUDIT, audit)
#define CAROM_KEYS_INCLUDE(K, S) K(S, FILE, file)
#define CAROM_KEYS_MATERIAL(K, S) \
  K(S, DENSITY, density) K(S, RESTITUTION, restitution) K(S, FRICTION, friction) K(S, COLOR, color) \
  K(S, YOUNG, young) K(S, POISSON, poisson) K(S, LAMBDA, lambda) K(S, MU, mu) K(S, DAMPING, damping) K(S, LAW, law)
#define CAROM_KEYS_DEFAULTS(K, S) K(S, BODY, body) K(S, SOLID, solid)
#define CAROM_KEYS_SHAPE(K, S) \
  K(S, BOX, box) K(S, PRISM, prism) K(S, PYRAMID, pyramid) K(S, TETRAHEDRON, tetrahedron) \
  K(S, OCTAHEDRON, octahedron) K(S, CYLINDER, cylinder) K(S, CONE, cone) K(S, SPHERE, sphere) K(S, CAPSULE, capsule) \
  K(S, ELLIPSOID, ellipsoid) K(S, ROUNDED, rounded) K(S, HALFSPACE, halfspace) K(S, HULL, hull) K(S, MESH, mesh)
#define CAROM_KEYS_BOX(K, S) K(S, SIZE, size)
#define CAROM_KEYS_PRISM(K, S) K(S, SIDES, sides) K(S, RADIUS, radius) K(S, SIDE, side) K(S, HEIGHT, height)
#define CAROM_KEYS_CYLINDER(K, S) \
  K(S, RADIUS, radius) K(S, HEIGHT, height) K(S, SEGMENTS, segments) K(S, EXACT, exact)
#define CAROM_KEYS_TETRAHEDRON(K, S) K(S, EDGE, edge)
#define CAROM_KEYS_SPHERE(K, S) K(S, RADIUS, radius)
#define CAROM_KEYS_CAPSULE(K, S) K(S, RADIUS, radius) K(S, LENGTH, length)
#define CAROM_KEYS_ELLIPSOID(K, S) K(S, HALF_AXES, half_axes)
#define CAROM_KEYS_ROUNDED(K, S) K(S, SHAPE, shape) K(S, RADIUS, radius)
#define CAROM_KEYS_MESH(K, S) K(S, FILE, file) K(S, SCALE, scale) K(S, HULL, hull)
#define CAROM_KEYS_BODY(K, S) \
  K(S, NAME, name) K(S, SHAPE, shape) K(S, PARTS, parts) K(S, POSITION, position) K(S, ROTATION, rotation) \
  K(S, VELOCITY, velocity) K(S, ANGULAR_VELOCITY, angular_velocity) \
  K(S, ANGULAR_VELOCITY_BODY, angular_velocity_body) K(S, DENSITY, density) K(S, MASS, mass) K(S, INERTIA, inertia) \
  K(S, CENTER, center) K(S, MATERIAL, material) K(S, COLOR, color) K(S, FIXED, fixed) K(S, CHARGES, charges) \
  K(S, MAGNETS, magnets) K(S, SUPPORT, support) K(S, REPLICATE, replicate)
#define CAROM_KEYS_PART(K, S) \
  K(S, SHAPE, shape) K(S, PORT, port) K(S, POSITION, position) K(S, ROTATION, rotation) K(S, DENSITY, density)
#define CAROM_KEYS_PORT(K, S) K(S, CUP, cup) K(S, CONE, cone) K(S, MOUNT, mount)
#define CAROM_KEYS_CUP(K, S) \
  K(S, DEPTH, depth) K(S, MOUTH, mouth) K(S, BASE, base) K(S, WALL, wall) K(S, FLOOR, floor) K(S, SIDES, sides) \
  K(S, HEIGHT, height)
#define CAROM_KEYS_DOCKING_CONE(K, S) \
  K(S, HALF_ANGLE, half_angle) K(S, LENGTH, length) K(S, TIP, tip) K(S, STEM, stem) K(S, NOSE, nose) \
  K(S, SPREAD, spread) K(S, BALLS, balls) K(S, SIDES, sides) K(S, HEIGHT, height)
#define CAROM_KEYS_MOUNT(K, S) \
  K(S, NOSE, nose) K(S, SPREAD, spread) K(S, ANGLE, angle) K(S, SEAT, seat) K(S, WIDTH, width) \
  K(S, LENGTH, length) K(S, STOP, stop) K(S, HEIGHT, height)
#define CAROM_KEYS_ROTATION(K, S) \
  K(S, AXIS, axis) K(S, ANGLE, angle) K(S, QUATERNION, quaternion) K(S, EULER, euler) K(S, MATRIX, matrix)
#define CAROM_KEYS_CHARGE(K, S) K(S, SET, set) K(S, POSITION, position) K(S, CHARGE, charge)
#define CAROM_KEYS_MAGNET(K, S) \
  K(S, SET, set) K(S, POSITION, position) K(S, AXIS, axis) K(S, CHARGE, charge) K(S, MOMENT, moment) \
  K(S, THICKNESS, thickness) K(S, RECESS, recess)
#define CAROM_KEYS_SUPPORT(K, S) \
  K(S, DAMPING, damping) K(S, POINTS, points) K(S, FORCE, force) K(S, TORQUE, torque) K(S, MATRIX, matrix)
#define CAROM_KEYS_SUPPORT_POINT(K, S) K(S, AT, at) K(S, DAMPING, damping)
#define CAROM_KEYS_REPLICATE(K, S) \
  K(S, COUNT, count) K(S, GRID, grid) K(S, RING, ring) K(S, STACK, stack) K(S, CLOUD, cloud) K(S, CIRCLES, circles)
#define CAROM_KEYS_GRID(K, S) K(S, COUNT, count) K(S, SPACING, spacing)
#define CAROM_KEYS_RING(K, S) K(S, COUNT, count) K(S, RADIUS, radius) K(S, AXIS, axis) K(S, FACE, face)
#define CAROM_KEYS_STACK(K, S) K(S, COUNT, count) K(S, SPACING, spacing)
#define CAROM_KEYS_CLOUD(K, S) \
  K(S, COUNT, count) K(S, MIN, min) K(S, MAX, max) K(S, CLEARANCE, clearance) K(S, ROTATE, rotate)
#define CAROM_KEYS_SOLID(K, S) \
  K(S, NAME, name) K(S, MESH, mesh) K(S, POSITION, position) K(S, ROTATION, rotation) K(S, VELOCITY, velocity) \
  K(S, ANGULAR_VELOCITY, angular_velocity) K(S, ANGULAR_VELOCITY_BODY, angular_velocity_body) \
  K(S, MATERIAL, material) K(S, DENSITY, density) K(S, YOUNG, young) K(S, POISSON, poisson) K(S, LAMBDA, lambda) \
  K(S, MU, mu) K(S, DAMPING, damping) K(S, LAW, law) K(S, PINNED, pinned) K(S, PRESSURE, pressure) \
  K(S, SELF_CONTACT, self_contact) K(S, COLOR, color) K(S, REPLICATE, replicate)
#define CAROM_KEYS_TETS(K, S) \
  K(S, BOX, box) K(S, BALL, ball) K(S, CYLINDER, cylinder) K(S, TURNED, turned) K(S, REVOLVED, revolved) \
  K(S, FILE, file) K(S, SURFACE, surface) K(S, SCALE, scale) K(S, DROP_LOOSE, drop_loose) K(S, EDGE, edge) \
  K(S, FILLER, filler)
#define CAROM_KEYS_TETS_BOX(K, S) \
  K(S, SIZE, size) K(S, CELLS, cells) K(S, PATTERN, pattern) K(S, WALL, wall) K(S, WALL_CELLS, wall_cells)
#define CAROM_KEYS_TETS_BALL(K, S) K(S, RADIUS, radius) K(S, SHELLS, shells)
#define CAROM_KEYS_TETS_CYLINDER(K, S) K(S, RADIUS, radius) K(S, HEIGHT, height) K(S, RINGS, rings) K(S, LAYER, layer)
#define CAROM_KEYS_TURNED(K, S) K(S, PROFILE, profile) K(S, RINGS, rings) K(S, LAYER, layer)
#define CAROM_KEYS_REVOLVED(K, S) K(S, POINTS, points) K(S, QUADS, quads) K(S, SECTORS, sectors) K(S, EDGE, edge)
#define CAROM_KEYS_PIN(K, S) K(S, WHERE, where) K(S, GROUP, group) K(S, TO, to)
#define CAROM_KEYS_PRESSURE(K, S) K(S, WHERE, where) K(S, GROUP, group) K(S, VALUE, value) K(S, SCHEDULE, schedule)
#define CAROM_KEYS_FORCES(K, S) \
  K(S, GRAVITY, gravity) K(S, CHARGES, charges) K(S, SPRINGS, springs) K(S, APPLIED, applied) \
  K(S, ELECTROMAGNETS, electromagnets)
#define CAROM_KEYS_ELECTROMAGNETS(K, S) K(S, ON, on) K(S, FROM, from) K(S, STRENGTH, strength)
#define CAROM_KEYS_CORE(K, S) K(S, BODY, body) K(S, POINT, point) K(S, AXIS, axis)
#define CAROM_KEYS_CHARGE_SET(K, S) \
  K(S, NAME, name) K(S, CONSTANT, constant) K(S, SOFTENING, softening) K(S, POINTS, points)
#define CAROM_KEYS_POINT(K, S) K(S, BODY, body) K(S, POSITION, position) K(S, WORLD, world) K(S, CHARGE, charge)
#define CAROM_KEYS_SPRING(K, S) \
  K(S, FROM, from) K(S, TO, to) K(S, STIFFNESS, stiffness) K(S, DAMPING, damping) K(S, REST_LENGTH, rest_length)
#define CAROM_KEYS_END(K, S) K(S, BODY, body) K(S, POINT, point) K(S, WORLD, world)
#define CAROM_KEYS_APPLIED(K, S) \
  K(S, BODY, body) K(S, POINT, point) K(S, FORCE, force) K(S, TORQUE, torque) K(S, AXES, axes) \
  K(S, SCHEDULE, schedule) K(S, FREQUENCY, frequency) K(S, PHASE, phase)
#define CAROM_KEYS_JOINT(K, S) \
  K(S, NAME, name) K(S, KIND, kind) K(S, BETWEEN, between) K(S, CHAIN, chain) K(S, AT, at) K(S, AXIS, axis) \
  K(S, POINTS, points) K(S, AXES, axes) K(S, PITCH, pitch) K(S, LENGTH, length) K(S, SLIDE, slide) K(S, TURN, turn) \
  K(S, COLLIDE, collide) K(S, LATCH, latch) K(S, SEATED, seated) K(S, ENGAGED, engaged) K(S, RELEASES, releases)
#define CAROM_KEYS_SEAT(K, S) \
  K(S, AT, at) K(S, ROTATION, rotation) K(S, POSITION, position) K(S, ANGLE, angle) K(S, SPEED, speed)
#define CAROM_KEYS_COORDINATE(K, S) \
  K(S, STIFFNESS, stiffness) K(S, REST, rest) K(S, DAMPING, damping) K(S, LOWER, lower) K(S, UPPER, upper) \
  K(S, RESTITUTION, restitution) K(S, MOTOR, motor)
#define CAROM_KEYS_MOTOR(K, S) \
  K(S, FORCE, force) K(S, TORQUE, torque) K(S, RATE, rate) K(S, POSITION, position) K(S, SCHEDULE, schedule)
#define CAROM_KEYS_SURFACE(K, S) K(S, BETWEEN, between) K(S, RESTITUTION, restitution) K(S, FRICTION, friction)
#define CAROM_KEYS_BOUNDARY(K, S) \
  K(S, NAME, name) K(S, PLANE, plane) K(S, BOX, box) K(S, PROFILE, profile) K(S, BODY, body) \
  K(S, POSITION, position) K(S, ROTATION, rotation) K(S, MATERIAL, material)
#define CAROM_KEYS_DRIVE(K, S) \
  K(S, BODY, body) K(S, VELOCITY, velocity) K(S, AXIS, axis) K(S, POINT, point) \
  K(S, ANGULAR_VELOCITY, angular_velocity) K(S, AMPLITUDE, amplitude) K(S, FREQUENCY, frequency) K(S, PHASE, phase) \
  K(S, SCHEDULE, schedule)
#define CAROM_KEYS_RECIRCULATION(K, S) K(S, OUTLET, outlet) K(S, INLET, inlet) K(S, VELOCITY, velocity)
#define CAROM_KEYS_REGION(K, S) K(S, MIN, min) K(S, MAX, max)
#define CAROM_KEYS_CIRCLES(K, S) K(S, COUNT, count) K(S, RADIUS, radius) K(S, PITCH, pitch) K(S, SPACING, spacing)
#define CAROM_KEYS_SENSOR(K, S) \
  K(S, NAME, name) K(S, POSE, pose) K(S, VELOCITY, velocity) K(S, JOINT, joint) K(S, REACTION, reaction) \
  K(S, CONTACT, contact) K(S, GAP, gap) K(S, GAIT, gait) K(S, POINT, point) K(S, FROM, from) K(S, WITH, with)
#define CAROM_KEYS_GAIT(K, S) \
  K(S, FILE, file) K(S, SWAP, swap) K(S, STRIKE, strike) K(S, AFTER, after) K(S, PHASE, phase)
#define CAROM_KEYS_GAIT_PHASE(K, S) \
  K(S, BODY, body) K(S, POINT, point) K(S, FROM, from) K(S, ORIGIN, origin) K(S, ALONG, along)
#define CAROM_KEYS_CONTROLLER(K, S) \
  K(S, NAME, name) K(S, BODY, body) K(S, JOINT, joint) K(S, FORCE, force) K(S, TORQUE, torque) K(S, SERVO, servo) \
  K(S, TRACK, track) K(S, AXES, axes) K(S, POINT, point) K(S, FORCE_LIMIT, force_limit) \
  K(S, TORQUE_LIMIT, torque_limit) K(S, SAMPLE, sample) K(S, DELAY, delay) K(S, SCHEDULE, schedule)
#define CAROM_KEYS_SERVO(K, S) \
  K(S, TARGET, target) K(S, COORDINATE, coordinate) K(S, STIFFNESS, stiffness) K(S, DAMPING, damping) \
  K(S, FEED_FORWARD, feed_forward)
#define CAROM_KEYS_TRACK(K, S) \
  K(S, HOLD, hold) K(S, WAYPOINTS, waypoints) K(S, PLAN, plan) K(S, DOCK, dock) K(S, GAINS, gains) \
  K(S, CANCEL_WEIGHT, cancel_weight)
#define CAROM_KEYS_GAINS(K, S) \
  K(S, MAP, map) K(S, ROTATION, rotation) K(S, SPIN, spin) K(S, POSITION, position) K(S, VELOCITY, velocity) \
  K(S, CAYLEY_LIMIT, cayley_limit) K(S, HYSTERESIS, hysteresis)
#define CAROM_KEYS_HOLD(K, S) K(S, POSITION, position) K(S, ROTATION, rotation)
#define CAROM_KEYS_WAYPOINT(K, S) K(S, TIME, time) K(S, POSITION, position) K(S, ROTATION, rotation)
#define CAROM_KEYS_FOLLOWED(K, S) K(S, FILE, file) K(S, BODY, body)
#define CAROM_KEYS_DOCK(K, S) \
  K(S, CENTER, center) K(S, ROTATION, rotation) K(S, SPEED, speed) K(S, STOP, stop) K(S, REACH, reach) \
  K(S, MODE, mode) K(S, LIMIT, limit) K(S, AHEAD, ahead)
#define CAROM_KEYS_START(K, S) K(S, OVERLAP, overlap) K(S, TIME, time) K(S, BODIES, bodies) K(S, TURNS, turns)
#define CAROM_KEYS_PLACED(K, S) \
  K(S, POSITION, position) K(S, ROTATION, rotation) K(S, VELOCITY, velocity) K(S, ANGULAR_VELOCITY, angular_velocity)
#define CAROM_KEYS_INTEGRATOR(K, S) \
  K(S, NAME, name) K(S, FOR, for) K(S, STEP, step) K(S, QUADRATURE, quadrature) K(S, ORDER, order) \
  K(S, THREADS, threads) K(S, TOLERANCE, tolerance) K(S, MAX_ITERATIONS, max_iterations) \
  K(S, MAX_HALVINGS, max_halvings) K(S, LAW, law) K(S, ENERGY_CONDITION, energy_condition) \
  K(S, MAX_IMPACTS, max_impacts) K(S, STIFFNESS, stiffness) K(S, PENETRATION, penetration) K(S, ALPHA, alpha) \
  K(S, RESTITUTION, restitution) K(S, FRICTION_DIRECTIONS, friction_directions) K(S, SOLVER, solver) \
  K(S, SOLVER_TOLERANCE, solver_tolerance) K(S, SOLVER_ITERATIONS, solver_iterations)
#define CAROM_KEYS_OUTPUT(K, S) K(S, INTERVAL, interval) K(S, EVERY, every) K(S, CAMERA, camera)
#define CAROM_KEYS_CAMERA(K, S) K(S, POSITION, position) K(S, TARGET, target)
#define CAROM_KEYS_AUDIT(K, S) \
  K(S, ENERGY, energy) K(S, ENERGY_DRIFT, energy_drift) K(S, ENERGY_MADE, energy_made) \
  K(S, DISSIPATION, dissipation) K(S, UNLAWFUL_LOSS, unlawful_loss) K(S, MOMENTUM, momentum) \
  K(S, ANGULAR_MOMENTUM, angular_momentum) K(S, BODY_MOMENTUM, body_momentum) K(S, POSITION, position) \
  K(S, PENETRATION, penetration) K(S, PASSAGE, passage) K(S, COMPLEMENTARITY, complementarity) \
  K(S, CONTACT_LAW, contact_law) K(S, FRICTION_LAW, friction_law) K(S, CONSTRAINT, constraint) \
  K(S, EQUILIBRIUM, equilibrium) K(S, POWER, power) K(S, PASSIVITY, passivity) K(S, INVERSION, inversion) \
  K(S, SOLID_OVERLAP, solid_overlap) K(S, PINS, pins)

// S(section, name in messages and in the reference)
#define CAROM_SECTIONS(S) \
  S(SCENE, "scene") S(INCLUDE, "include") S(MATERIAL, "material") S(DEFAULTS, "defaults") S(SHAPE, "shape") \
  S(BOX, "box") S(PRISM, "prism") S(CYLINDER, "cylinder") S(TETRAHEDRON, "tetrahedron") S(SPHERE, "sphere") \
  S(CAPSULE, "capsule") S(ELLIPSOID, "ellipsoid") S(ROUNDED, "rounded") S(MESH, "mesh") S(BODY, "body") \
  S(PART, "part") S(PORT, "port") S(CUP, "cup") S(DOCKING_CONE, "cone of a port") S(MOUNT, "mount") \
  S(ROTATION, "rotation") S(CHARGE, "charge") S(MAGNET, "magnet") S(SUPPORT, "support") \
  S(SUPPORT_POINT, "point of a support") S(REPLICATE, "replicate") S(GRID, "grid") \
  S(RING, "ring") S(STACK, "stack") S(CLOUD, "cloud") S(SOLID, "solid") \
  S(TETS, "mesh of a solid") S(TETS_BOX, "box of tetrahedra") S(TETS_BALL, "ball of tetrahedra") \
  S(TETS_CYLINDER, "cylinder of tetrahedra") S(TURNED, "turned mesh") S(REVOLVED, "revolved mesh") S(PIN, "pin") \
  S(PRESSURE, "pressure") S(FORCES, "forces") S(CHARGE_SET, "charge set") \
  S(POINT, "charged point") S(SPRING, "spring") S(END, "spring end") S(APPLIED, "applied force") \
  S(ELECTROMAGNETS, "electromagnets") S(CORE, "electromagnet") S(JOINT, "joint") \
  S(SEAT, "seat") S(COORDINATE, "joint coordinate") S(MOTOR, "motor") S(SURFACE, "surface") S(BOUNDARY, "boundary") \
  S(DRIVE, "drive") S(RECIRCULATION, "recirculation") S(REGION, "region") S(CIRCLES, "circles") \
  S(SENSOR, "sensor") S(GAIT, "gait") S(GAIT_PHASE, "gait phase") S(CONTROLLER, "controller") S(SERVO, "servo") S(TRACK, "track") S(GAINS, "gains") \
  S(HOLD, "hold") S(WAYPOINT, "waypoint") S(FOLLOWED, "followed plan") S(DOCK, "dock") \
  S(START, "start") S(PLACED, "placed body") S(INTEGRATOR, "integrator") S(OUTPUT, "output") S(CAMERA, "camera") S(AUDIT, "audit")
// clang-format on

#define CAROM_SECTION_ENUM(section, name) CAROM_SECTION_##section,
typedef enum carom_section { CAROM_SECTIONS(CAROM_SECTION_ENUM) CAROM_SECTION_COUNT } carom_section;
#undef CAROM_SECTION_ENUM

// KEY_BODY_MASS and so on: numbers within their section.
#define CAROM_KEY_ENUM(section, key, text) KEY_##section##_##key,
#define CAROM_SECTION_KEYS(section, name) enum { CAROM_KEYS_##section(CAROM_KEY_ENUM, section) KEYS_IN_##section };
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
