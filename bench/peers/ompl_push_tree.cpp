// OMPL's control-space RRT (LaValle and Kuffner 2001) over pushes. A control is a whole push, so it takes one step.
#include "push_tree.h"

#include <ompl/base/goals/GoalRegion.h>
#include <ompl/base/spaces/SE2StateSpace.h>
#include <ompl/control/PathControl.h>
#include <ompl/control/SpaceInformation.h>
#include <ompl/control/planners/rrt/RRT.h>
#include <ompl/control/spaces/RealVectorControlSpace.h>
#include <ompl/util/Console.h>
#include <ompl/util/RandomNumbers.h>
#include <chrono>
#include <cmath>

namespace ob = ompl::base;
namespace oc = ompl::control;

namespace {
using Space = ob::SE2StateSpace;

// Lengths in units of turn_length, so that OMPL's metric, |xy| + 0.5 |angle|, is near to ours.
class Region : public ob::GoalRegion {
 public:
  Region(const ob::SpaceInformationPtr &si, const push_tree_problem *p) : ob::GoalRegion(si), p_(p) { setThreshold(1); }
  double distanceGoal(const ob::State *state) const override {
    const auto *s = state->as<Space::StateType>();
    double d = std::hypot(s->getX() * p_->turn_length - p_->goal[0], s->getY() * p_->turn_length - p_->goal[1]);
    double turn = std::fabs(std::remainder(s->getYaw() - p_->goal[2], 2 * M_PI));
    return std::fmax(d / p_->distance, turn / p_->turn);
  }

 private:
  const push_tree_problem *p_;
};

ob::StateSpacePtr make_space(const push_tree_problem *p) {
  auto space = std::make_shared<Space>();
  ob::RealVectorBounds bounds(2);
  for (unsigned k = 0; k < 2; k++) {
    bounds.setLow(k, p->low[k] / p->turn_length);
    bounds.setHigh(k, p->high[k] / p->turn_length);
  }
  space->setBounds(bounds);
  return space;
}

double within_turn(double angle) { return std::fmin(std::fmax(std::remainder(angle, 2 * M_PI), -M_PI), M_PI); }

struct Count {
  int pushes = 0;
  double nearest = INFINITY;
};

void propagate(const push_tree_problem *p, Count *count, const ob::State *from, const oc::Control *control,
               ob::State *to) {
  const auto *s = from->as<Space::StateType>();
  const double pose[3] = {s->getX() * p->turn_length, s->getY() * p->turn_length, s->getYaw()};
  double end[3] = {NAN, NAN, NAN};
  count->pushes++;
  bool good = p->push(p->context, pose, control->as<oc::RealVectorControlSpace::ControlType>()->values, end);
  auto *t = to->as<Space::StateType>();
  t->setXY(good ? end[0] / p->turn_length : 1e9, good ? end[1] / p->turn_length : 1e9);  // outside, so not valid
  t->setYaw(good ? within_turn(end[2]) : 0);
  if (!good) return;
  double turn = std::remainder(end[2] - p->goal[2], 2 * M_PI) * p->turn_length;
  count->nearest = std::fmin(count->nearest, std::hypot(std::hypot(end[0] - p->goal[0], end[1] - p->goal[1]), turn));
}
}  // namespace

push_tree_answer push_tree_by_ompl(const push_tree_problem *p, unsigned seed) {
  ompl::msg::setLogLevel(ompl::msg::LOG_NONE);
  ompl::RNG::setSeed(seed);
  auto space = make_space(p);
  auto controls = std::make_shared<oc::RealVectorControlSpace>(space, PUSH_TREE_CONTROLS);
  ob::RealVectorBounds unit(PUSH_TREE_CONTROLS);
  unit.setLow(0), unit.setHigh(1);
  controls->setBounds(unit);
  auto si = std::make_shared<oc::SpaceInformation>(space, controls);
  Count count;
  si->setStateValidityChecker([space](const ob::State *s) { return space->satisfiesBounds(s); });
  si->setStatePropagator([p, &count](const ob::State *from, const oc::Control *c, double, ob::State *to) {
    propagate(p, &count, from, c, to);
  });
  si->setPropagationStepSize(1);
  si->setMinMaxControlDuration(1, 1);
  si->setup();
  auto problem = std::make_shared<ob::ProblemDefinition>(si);
  ob::ScopedState<Space> start(space);
  start->setXY(p->start[0] / p->turn_length, p->start[1] / p->turn_length);
  start->setYaw(within_turn(p->start[2]));
  problem->addStartState(start);
  problem->setGoal(std::make_shared<Region>(si, p));
  oc::RRT planner(si);
  planner.setProblemDefinition(problem);
  planner.setup();
  auto begin = std::chrono::steady_clock::now();
  static_cast<ob::Planner &>(planner).solve(p->seconds);
  double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  bool found = problem->hasExactSolution();
  int length = found ? (int)problem->getSolutionPath()->as<oc::PathControl>()->getControlCount() : 0;
  return {found, seconds, count.nearest, count.pushes, length};
}
