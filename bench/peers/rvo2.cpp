// Scenes of discs by RVO2, in single precision as it is. Obstacles are polygons there: discs become polygons of 24
// corners around them.
#include <cmath>
#include <ctime>
#include <vector>

#include "RVO.h"
#include "navigation.h"

namespace {

const double circle = 2 * std::acos(-1.0);

double processor_time() {
  timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

RVO::Vector2 point(double x, double y) { return RVO::Vector2(static_cast<float>(x), static_cast<float>(y)); }

// A corner of a rounded polygon, moved out to where the offset sides meet.
RVO::Vector2 offset_corner(const carom_cage &c, int i, const double *place) {
  const double *p = c.corners[(i + c.count - 1) % c.count], *q = c.corners[i], *r = c.corners[(i + 1) % c.count];
  double a = std::hypot(q[0] - p[0], q[1] - p[1]), b = std::hypot(r[0] - q[0], r[1] - q[1]);
  double m[2] = {(q[1] - p[1]) / a, (p[0] - q[0]) / a}, n[2] = {(r[1] - q[1]) / b, (q[0] - r[0]) / b};
  double far = c.radius / (1 + m[0] * n[0] + m[1] * n[1]);
  double x = q[0] + far * (m[0] + n[0]), y = q[1] + far * (m[1] + n[1]), cosine = std::cos(place[2]),
         sine = std::sin(place[2]);
  return point(place[0] + cosine * x - sine * y, place[1] + sine * x + cosine * y);
}

void add_obstacle(RVO::RVOSimulator *sim, const carom_navigate_obstacle &o) {
  std::vector<RVO::Vector2> corners;
  const double *p = o.knots[0].place;
  const int round = 24;
  double radius = o.cage.radius / std::cos(circle / 2 / round);
  for (int i = 0; i < o.cage.count; i++) corners.push_back(offset_corner(o.cage, i, p));
  for (int i = 0; i < round && o.cage.count == 0; i++)
    corners.push_back(
        point(p[0] + radius * std::cos(circle * i / round), p[1] + radius * std::sin(circle * i / round)));
  sim->addObstacle(corners);
}

void add_all(RVO::RVOSimulator *sim, const carom_navigate_def *d) {
  sim->setTimeStep(static_cast<float>(d->step));
  for (int i = 0; i < d->vehicle_count; i++) {
    const carom_navigate_vehicle &v = d->vehicles[i];
    double most = v.most_speed > 0 ? v.most_speed : 1.2 * v.speed;
    sim->addAgent(point(v.start[0], v.start[1]), 15.0f, 10, 5.0f, 5.0f, static_cast<float>(v.cage.radius),
                  static_cast<float>(most));
  }
  for (int i = 0; i < d->obstacle_count; i++) add_obstacle(sim, d->obstacles[i]);
  sim->processObstacles();
}

void set_wishes(RVO::RVOSimulator *sim, const carom_navigate_def *d, carom_random *random) {
  for (int i = 0; i < d->vehicle_count; i++) {
    const carom_navigate_vehicle &v = d->vehicles[i];
    const RVO::Vector2 &p = sim->getAgentPosition(static_cast<size_t>(i));
    double dx = v.goal[0] - p.x(), dy = v.goal[1] - p.y(), far = std::hypot(dx, dy);
    double speed = std::fmin(v.speed, far / d->step), angle = circle * carom_random_uniform(random);
    double tiny = 1e-4 * carom_random_uniform(random), share = far > 0 ? speed / far : 0;
    sim->setAgentPrefVelocity(static_cast<size_t>(i),
                              point(share * dx + tiny * std::cos(angle), share * dy + tiny * std::sin(angle)));
  }
}

bool all_arrived(const RVO::RVOSimulator *sim, const carom_navigate_def *d) {
  for (int i = 0; i < d->vehicle_count; i++) {
    const RVO::Vector2 &p = sim->getAgentPosition(static_cast<size_t>(i));
    if (std::hypot(d->vehicles[i].goal[0] - p.x(), d->vehicles[i].goal[1] - p.y()) > d->vehicles[i].tolerance)
      return false;
  }
  return true;
}

void note_gaps(const RVO::RVOSimulator *sim, const carom_navigate_def *d, navigation_result *r) {
  for (int i = 0; i < d->vehicle_count; i++) {
    const RVO::Vector2 &p = sim->getAgentPosition(static_cast<size_t>(i));
    const double at[3] = {p.x(), p.y(), 0};
    for (int k = i + 1; k < d->vehicle_count; k++) {
      const RVO::Vector2 &q = sim->getAgentPosition(static_cast<size_t>(k));
      double gap = std::hypot(p.x() - q.x(), p.y() - q.y()) - d->vehicles[i].cage.radius - d->vehicles[k].cage.radius;
      r->least_gap = std::fmin(r->least_gap, gap);
    }
    for (int k = 0; k < d->obstacle_count; k++)
      r->least_gap = std::fmin(r->least_gap, carom_cage_gap(&d->vehicles[i].cage, at, &d->obstacles[k].cage,
                                                            d->obstacles[k].knots[0].place));
  }
}

}  // namespace

extern "C" navigation_result navigation_rvo2(const carom_navigate_def *d) {
  navigation_result r = {};
  RVO::RVOSimulator *sim = new RVO::RVOSimulator();
  carom_random random = carom_random_make(1, 0);
  int most = static_cast<int>(d->duration / d->step), steps = 0;
  r.least_gap = INFINITY;
  add_all(sim, d);
  while (steps < most && !all_arrived(sim, d)) {
    double begun = processor_time();
    set_wishes(sim, d, &random);
    std::vector<RVO::Vector2> before;
    for (int i = 0; i < d->vehicle_count; i++) before.push_back(sim->getAgentPosition(static_cast<size_t>(i)));
    sim->doStep();
    r.seconds += processor_time() - begun;
    for (int i = 0; i < d->vehicle_count; i++)
      r.length += RVO::abs(sim->getAgentPosition(static_cast<size_t>(i)) - before[static_cast<size_t>(i)]);
    note_gaps(sim, d, &r);
    steps++;
  }
  r.done = all_arrived(sim, d);
  r.time = steps * d->step;
  r.agent_steps = static_cast<long>(steps) * d->vehicle_count;
  delete sim;
  return r;
}
