// Stacks and arches: what stands and what falls, by limit analysis. For bodies in a plane the question is a linear
// program: are there contact forces within the friction cones that balance the weights?
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "families.h"
#include "limit.h"

static const double G = 9.81;

static void expect_stands(cell *c, bool stands, double size) {
  if (stands) {
    expect_rest(c, 1e-3 * size);
    return;
  }
  double moved = 0;
  const carom_model *m = c->track->model;
  for (int i = 0; i < m->body_count; i++)
    moved = fmax(moved, cm_norm(cm_sub(track_at(c->track, c->track->frames - 1, i)->x, track_at(c->track, 0, i)->x)));
  expect_at_most(c, "its size over what moved most (it must fall)", size / moved, 20);
}

static void tower(cell *c) { expect_rest(c, 1e-3 * parameter(c, "c")); }
static void alternating(cell *c) { expect_rest(c, 1e-4); }

static void overhang(cell *c) {
  double reach = parameter(c, "reach");
  limit_problem p = limit_begin(4);
  for (int i = 0; i < 4;
       i++) {  // from the lowest up; each rests on what is below from its own left end to that one's right
    double x = 0, below = 0;
    for (int k = 0; k <= i; k++) below = x, x += reach * 0.1 / (4 - k);
    double left = x - 0.2, right = i ? below : 0;
    limit_weight(&p, i, x - 0.1, 1 * G);
    for (int side = 0; side < 2; side++)
      limit_contact(&p, (limit_point){i, i - 1, side ? right : left, 0.04 * i, 0, 1, 0.8});
  }
  expect_stands(c, limit_stands(&p), 0.1);
}

static void arch(cell *c) {
  int stones = (int)parameter(c, "stones");
  double thick = parameter(c, "thick"), mu = parameter(c, "mu"), half = 2 * atan(1) / stones;
  limit_problem p = limit_begin(stones);
  // The centre of mass of a sector of a ring, bounded by chords as the stones are, lies on its middle.
  for (int i = 0; i < stones; i++) {
    double a = (2 * i + 1) * half, in = (1 - thick / 2), out = (1 + thick / 2);
    double far = 2.0 / 3 * cos(half) * (out * out * out - in * in * in) / (out * out - in * in);
    limit_weight(&p, i, far * cos(a), 1);
  }
  for (int j = 0; j <= stones; j++)
    for (int side = -1; side <= 1; side += 2) {
      double a = 2 * j * half, r = 1 + side * thick / 2;
      // the force acts on stone j (or the ground) from stone j - 1, or from the ground on the first
      limit_point point = {j < stones ? j : -1, j - 1, r * cos(a), r * sin(a), -sin(a), cos(a), mu};
      if (j == stones) point.on = stones - 1, point.from = -1, point.nx = -point.nx, point.ny = -point.ny;
      limit_contact(&p, point);
    }
  expect_stands(c, limit_stands(&p), 0.5);
}

static void discs(cell *c) {
  double r = parameter(c, "r"), mu = parameter(c, "mu"), s = sqrt(3) / 2;
  limit_problem p = limit_begin(3);
  limit_weight(&p, 0, -r, 1), limit_weight(&p, 1, r, 1), limit_weight(&p, 2, 0, 1);
  limit_contact(&p, (limit_point){0, -1, -r, 0, 0, 1, mu});
  limit_contact(&p, (limit_point){1, -1, r, 0, 0, 1, mu});
  limit_contact(&p, (limit_point){1, 0, 0, r, 1, 0, mu});
  limit_contact(&p, (limit_point){2, 0, -r / 2, r + r * s, 0.5, s, mu});
  limit_contact(&p, (limit_point){2, 1, r / 2, r + r * s, -0.5, s, mu});
  expect_stands(c, limit_stands(&p), r);
}

static void leaning(cell *c) {
  double r = parameter(c, "r"), l = parameter(c, "length"), a = parameter(c, "lean");
  limit_problem p = limit_begin(1);
  limit_weight(&p, 0, r + l / 2 * sin(a), 1);
  limit_contact(&p, (limit_point){0, -1, r + l * sin(a), 0, 0, 1, parameter(c, "muf")});
  limit_contact(&p, (limit_point){0, -1, 0, r + l * cos(a), 1, 0, parameter(c, "muw")});
  expect_stands(c, limit_stands(&p), r * 10);
}

static void plank(cell *c) { expect_rest(c, 1e-5); }
static void groove(cell *c) { expect_rest(c, 1e-5); }

static void thin(cell *c) {
  double rest = parameter(c, "c"), z0 = parameter(c, "z0"), t = duration(c);
  carom_vec3 up = cm_rotate(pose_at(c, "block", t).q, cm_vec3(0, 0, 1));
  expect(c, "height in the end", pose_at(c, "block", t).p.z, rest / 2, 1e-3 * rest);
  expect_at_most(c, "lean in the end, rad", hypot(up.x, up.y), 1e-3 * rest / parameter(c, "a"));
  if (z0 <= 0) expect_rest(c, 1e-3 * rest);
}

static void needle(cell *c) { expect_rest(c, 1e-3 * parameter(c, "r")); }

const conformance_scene stack_scenes[] = {
    {"tower-of-3-leans",
     "stacks and arches",
     "tower",
     "boxes=3 a=0.1 c=0.1 offset=0.02 ratio=1 T=1",
     {4e-3, 1e-3},
     tower,
     0},
    {"tower-of-10", "stacks and arches", "tower", "boxes=10 a=0.1 c=0.1 offset=0 ratio=1 T=1", {4e-3, 1e-3}, tower, 0},
    {"tower-of-5-millimetres",
     "stacks and arches",
     "tower",
     "boxes=5 a=0.002 c=0.001 offset=0.0002 ratio=1 T=0.4",
     {2e-3, 0.5e-3},
     tower,
     0},
    {"tower-of-4-metres",
     "stacks and arches",
     "tower",
     "boxes=4 a=20 c=25 offset=1 ratio=1 T=2",
     {20e-3, 5e-3},
     tower,
     0},
    {"overhang-stands", "stacks and arches", "overhang", "reach=0.95 T=0.6", {4e-3, 1e-3}, overhang, 0},
    {"overhang-falls", "stacks and arches", "overhang", "reach=1.1 T=0.6", {4e-3, 1e-3}, overhang, 0},
    {"arch-stands", "stacks and arches", "arch", "thick=0.2 stones=7 mu=0.8 T=0.6", {4e-3, 1e-3}, arch, 0},
    {"arch-falls", "stacks and arches", "arch", "thick=0.06 stones=7 mu=0.8 T=0.8", {4e-3, 1e-3}, arch, 0},
    {"discs-stand", "stacks and arches", "three-discs", "r=0.1 mu=0.35 T=0.5", {4e-3, 1e-3}, discs, 0},
    {"discs-part", "stacks and arches", "three-discs", "r=0.1 mu=0.2 T=0.5", {4e-3, 1e-3}, discs, 0},
    {"leaning-plank-stays",
     "stacks and arches",
     "ladder",
     "r=0.01 length=2 lean=0.65 muf=0.4 muw=0.3 T=0.6",
     {4e-3, 1e-3},
     leaning,
     0},
    {"leaning-plank-slides",
     "stacks and arches",
     "ladder",
     "r=0.01 length=2 lean=0.85 muf=0.4 muw=0.3 T=0.6",
     {4e-3, 1e-3},
     leaning,
     0},
    {"heavy-on-light-1e3",
     "mass ratios",
     "tower",
     "boxes=2 a=0.1 c=0.1 offset=0.01 ratio=1e3 T=0.048",
     {4e-3, 1e-3},
     tower,
     0},
    {"heavy-on-light-1e6",
     "mass ratios",
     "tower",
     "boxes=2 a=0.1 c=0.1 offset=0.01 ratio=1e6 T=0.048",
     {4e-3, 1e-3},
     tower,
     0},
    {"light-on-heavy-1e6",
     "mass ratios",
     "tower",
     "boxes=2 a=0.1 c=0.1 offset=0.01 ratio=1e-6 T=0.6",
     {4e-3, 1e-3},
     tower,
     0},
    {"alternating-100", "mass ratios", "alternating", "boxes=6 ratio=100 T=0.048", {4e-3, 1e-3}, alternating, 0},
    {"thin-plate-rests", "thin and long", "flat", "a=1 b=1 c=0.005 z0=0 T=1", {4e-3, 1e-3}, thin, 0},
    {"thin-plate-lands", "thin and long", "flat", "a=1 b=0.7 c=0.01 z0=0.05 T=0.4", {4e-3, 1e-3}, thin, 0},
    {"beam-rests", "thin and long", "flat", "a=10 b=0.02 c=0.01 z0=0 T=1", {4e-3, 1e-3}, thin, 0},
    {"slab-of-a-hundred-metres", "thin and long", "flat", "a=100 b=60 c=0.5 z0=0 T=2", {20e-3, 5e-3}, thin, 0},
    {"needle-rests", "thin and long", "needle", "r=0.001 length=1 T=0.6", {4e-3, 1e-3}, needle, 0},
    {"plank-on-two-blocks", "thin and long", "plank", "T=0.6", {4e-3, 1e-3}, plank, 0},
    {"ball-in-a-groove", "funnels", "groove", "angle=0.6 T=0.6", {4e-3, 1e-3}, groove, 0},
    {0}};
