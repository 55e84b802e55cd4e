// Steps with controllers and sensors do not call the heap, nor does a library beneath.
#include "heap_counter.h"
#include "running.h"

static const char busy[] =
    "carom: 1\n"
    "bodies:\n"
    "  - {name: one, shape: {box: [0.4, 0.06, 0.06]}, position: [0.2, 0, 0]}\n"
    "  - {name: two, shape: {box: [0.4, 0.05, 0.05]}, position: [0.6, 0, 0]}\n"
    "  - {name: craft, shape: {box: [0.3, 0.1, 0.1]}, position: [2, 0.3, 1]}\n"
    "joints:\n"
    "  - {name: a, kind: revolute, between: [world, one], at: [0, 0, 0], axis: [0, 1, 0]}\n"
    "  - {name: b, kind: revolute, between: [one, two], at: [0.4, 0, 0], axis: [0, 0, 1]}\n"
    "sensors: [{name: near, gap: [two, craft]}, {name: hit, contact: craft}, {name: at, pose: craft, from: two}]\n"
    "forces: {gravity: 9.81}\n"
    "controllers:\n"
    "  - {joint: a, servo: {target: 0.7*sin(t), stiffness: 100, damping: 9, feed_forward: true}}\n"
    "  - {joint: b, torque: -10*b.angle - b.rate, sample: 3 ms, delay: 5 ms}\n"
    "  - {body: craft, track: {cancel_weight: true, dock: {center: [1, 0, 1], speed: 0.2, rotation: {axis: [0, 0, 1], "
    "angle: 180 deg}}}}\n"
    "integrator: {name: variational, step: 1 ms}\n"
    "contacts: ignore\n"
    "duration: 2 s\n";

TEST(a_loop_leaves_the_heap_alone) {
  if (!MALLOC_COUNTED) test_skip("the heap belongs to a sanitizer");
  running r = run_text(busy);
  REQUIRE(go_on(&r, 20));
  long before = heap_calls;
  REQUIRE(go_on(&r, 200));
  CHECK(heap_calls == before);
  stop_running(&r);
}
