// Scenes of navigation: what is read of good ones; broken ones, tests/data/bad_navigations/NAME.yaml, must give exactly
// the lines of NAME.expected.
#include "bad_files.h"
#include "carom/navigate_file.h"
#include "failing_allocator.h"

static bool read_navigation(const char *path, carom_diagnostics *found) {
  carom_navigate_file *file = NULL;
  carom_status status = carom_navigate_read(path, NULL, NULL, &file, found);
  bool read = status == CAROM_OK || file;
  carom_navigate_file_destroy(file);
  return read;
}

TEST(all_broken_navigations) { CHECK(bad_check_folder(CAROM_TEST_DATA "/bad_navigations/", read_navigation) >= 35); }

static carom_navigate_file *read_example(const char *name, const char *override) {
  char path[1000];
  carom_scene_options options = carom_scene_default_options();
  carom_navigate_file *file = NULL;
  carom_diagnostics found = {0};
  snprintf(path, sizeof path, CAROM_EXAMPLES "/navigate/%s.yaml", name);
  options.overrides = &override, options.override_count = override != NULL;
  carom_status status = carom_navigate_read(path, &options, NULL, &file, &found);
  for (int i = 0; i < found.count; i++) test_fail(__FILE__, __LINE__, "%s", found.items[i].message);
  CHECK(status == CAROM_OK);
  carom_diagnostics_release(&found);
  return file;
}

TEST(a_ring_holds_its_copies) {
  carom_navigate_file *f = read_example("circle", NULL);
  REQUIRE(f && f->def.vehicle_count == 20);
  const carom_navigate_vehicle *v = &f->def.vehicles[5];
  CHECK_TEXT(f->title, "Circle swap of 20");
  CHECK_TEXT(v->name, "car 6");
  CHECK_NEAR(v->start[0], 0, 1e-14);
  CHECK_NEAR(v->start[1], 8, 1e-14);
  CHECK_NEAR(v->goal[1], -8, 1e-14);
  CHECK(v->cage.count == 0 && v->cage.radius == 0.5 && v->rail == -1 && isinf(v->gain));
  carom_navigate_file_destroy(f);
}

TEST(overrides_reach_constants_and_vehicles) {
  carom_navigate_file *f = read_example("circle", "constants.cars=7");
  REQUIRE(f);
  CHECK(f->def.vehicle_count == 7);
  carom_navigate_file_destroy(f);
  f = read_example("circle", "vehicles.0.speed=36 km/h");
  REQUIRE(f);
  CHECK_NEAR(f->def.vehicles[3].speed, 10, 1e-12);
  carom_navigate_file_destroy(f);
}

TEST(rails_walls_paths_and_cages_are_as_written) {
  carom_navigate_file *f = read_example("lane", NULL);
  REQUIRE(f && f->def.rail_count == 1 && f->def.obstacle_count == 2 && f->def.vehicle_count == 6);
  CHECK(f->def.rails[0].count == 4 && f->def.vehicles[0].rail == 0 && f->def.vehicles[2].rail == -1);
  CHECK_NEAR(f->def.vehicles[4].gain, 15, 0);
  const carom_cage *wall = &f->def.obstacles[0].cage;
  CHECK(wall->count == 4);
  CHECK_NEAR(wall->corners[2][0], 7.05, 1e-12);
  CHECK_NEAR(wall->corners[2][1], 0.05, 1e-12);
  carom_navigate_file_destroy(f);
  f = read_example("trucks", NULL);
  REQUIRE(f && f->def.obstacle_count == 3 && f->def.obstacles[0].count == 2);
  CHECK_NEAR(f->def.obstacles[2].knots[1].time, 20, 1e-12);
  CHECK_NEAR(f->def.obstacles[2].knots[0].place[2], acos(-1.0), 1e-12);
  CHECK(f->def.vehicles[0].steering == CAROM_STEER_TURN && f->def.vehicles[0].cage.count == 5);
  carom_navigate_file_destroy(f);
}

TEST(clouds_keep_off_and_depend_on_their_seed) {
  carom_navigate_file *a = read_example("doorway", NULL), *b = read_example("doorway", "seed=4");
  REQUIRE(a && b && a->def.vehicle_count == 16);
  CHECK(a->def.vehicles[0].start[0] != b->def.vehicles[0].start[0]);
  for (int i = 0; i < 16; i++)
    for (int k = 0; k < i; k++) {
      const carom_navigate_vehicle *v = &a->def.vehicles[i], *u = &a->def.vehicles[k];
      CHECK(hypot(v->start[0] - u->start[0], v->start[1] - u->start[1]) > 0.56);
      CHECK(hypot(v->goal[0] - u->goal[0], v->goal[1] - u->goal[1]) > 0.56);
    }
  carom_navigate_file_destroy(a);
  carom_navigate_file_destroy(b);
}

TEST(memory_that_is_refused_is_told) {
  for (int allowed = 0; allowed < 3000; allowed++) {
    failing_allocator f = {.allowed = allowed};
    carom_allocator a = failing_allocator_of(&f);
    carom_navigate_file *file = NULL;
    carom_diagnostics found = {0};
    carom_status status = carom_navigate_read(CAROM_EXAMPLES "/navigate/lane.yaml", NULL, &a, &file, &found);
    carom_diagnostics_release(&found);
    carom_navigate_file_destroy(file);
    CHECK(f.live == 0);
    CHECK(status == CAROM_ERR_MEMORY || status == CAROM_OK);
    if (status == CAROM_OK) return;
  }
  test_fail(__FILE__, __LINE__, "it never succeeded");
}
