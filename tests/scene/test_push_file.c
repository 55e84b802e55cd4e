// Problems of pushing: what is read of good ones; broken ones, tests/data/bad_pushes/NAME.yaml, must give exactly the
// lines of NAME.expected.
#include "bad_files.h"
#include "carom/push_file.h"
#include "failing_allocator.h"

static bool read_push(const char *path, carom_diagnostics *found) {
  carom_push_file *file = NULL;
  carom_status status = carom_push_read(path, NULL, NULL, &file, found);
  bool read = status == CAROM_OK || file;
  carom_push_file_destroy(file);
  return read;
}

TEST(all_broken_pushing_problems) { CHECK(bad_check_folder(CAROM_TEST_DATA "/bad_pushes/", read_push) >= 20); }

#define GOOD CAROM_TEST_DATA "/bad_pushes/scenes/problem.yaml"

static carom_push_file *read_good(const carom_scene_options *options) {
  carom_push_file *file = NULL;
  carom_diagnostics found = {0};
  carom_status status = carom_push_read(GOOD, options, NULL, &file, &found);
  for (int i = 0; i < found.count; i++) test_fail(__FILE__, __LINE__, "%s", found.items[i].message);
  CHECK(status == CAROM_OK);
  carom_diagnostics_release(&found);
  return file;
}

TEST(a_problem_holds_what_is_written) {
  carom_push_file *file = read_good(NULL);
  REQUIRE(file);
  CHECK(strcmp(file->title, "Two pushes") == 0 && file->push_count == 2 && file->def.probe_count == 2);
  CHECK_NEAR(file->def.step, 0.01, 0);
  CHECK_NEAR(file->pushes[0].duration, 2, 0);
  CHECK(file->pushes[0].probe_count == 1 && file->pushes[1].probe_count == 2);
  CHECK_NEAR(file->pushes[1].probe[1].at.y, 0.45e-3, 1e-18);
  CHECK_NEAR(file->pushes[1].probe[1].heading, -1.5707963267948966, 1e-15);
  CHECK(!file->places[0].given && file->places[1].given && file->places[1].body == file->def.goal.body);
  CHECK(file->boxed && file->box.body == file->def.goal.body);
  CHECK_NEAR(file->box.half[0], 2e-5, 1e-18);
  CHECK_NEAR(file->box.friction, 0.2, 0);
  CHECK_NEAR(file->def.settle, 0.25, 0);
  CHECK(file->plans && file->plan.seeds == 3 && file->plan.seed == 7 && file->plan.most_probes == 1);
  CHECK(file->plan.budget == 50 && file->plan.start == file->scene->state);
  carom_push_file_destroy(file);
}

// The table is as a spreadsheet writes it: a mark of the encoding, and lines that end in two characters.
TEST(recorded_pushes_are_read_in_their_units) {
  carom_push_file *file = read_good(NULL);
  REQUIRE(file);
  const carom_push_fit_def *fit = &file->fit;
  REQUIRE(file->fits && fit->record_count == 1);
  CHECK(fit->records[0].sample_count == 2 && strcmp(fit->records[0].name, "push 2") == 0);
  CHECK_NEAR(fit->records[0].start[0], 1e-4, 1e-18);
  CHECK_NEAR(fit->records[0].start[2], 1.5707963267948966, 1e-15);
  CHECK_NEAR(fit->records[0].samples[1].pose[1], -3e-6, 1e-18);
  CHECK_NEAR(fit->records[0].samples[0].force, 2e-7, 1e-20);
  CHECK(isnan(fit->records[0].samples[1].force));
  CHECK(fit->support == CAROM_PUSH_SUPPORT_POINTS && fit->point_count == 3 && fit->group_count == 1);
  CHECK(strcmp(fit->groups[0].name, "tips") == 0 && fit->groups[0].body_count == 2);
  carom_push_file_destroy(file);
}

TEST(overrides_reach_problem_and_scene) {
  const char *const overrides[] = {"pushes.0.duration=3 s", "scene.bodies.peg.position=[0, 1 mm, 0]"};
  carom_scene_options options = carom_scene_default_options();
  options.overrides = overrides, options.override_count = 2;
  carom_push_file *file = read_good(&options);
  REQUIRE(file);
  double pose[3];
  carom_push_pose(file->scene->model, file->scene->state, file->def.goal.body, pose);
  CHECK_NEAR(file->pushes[0].duration, 3, 0);
  CHECK_NEAR(pose[1], 1e-3, 1e-18);
  carom_push_file_destroy(file);
}

TEST(memory_that_runs_out_is_told) {
  bool read = false;
  for (int room = 0; room < 4000 && !read; room += 1 + room / 8) {
    failing_allocator failing = {.allowed = room};
    carom_allocator allocator = failing_allocator_of(&failing);
    carom_push_file *file = NULL;
    carom_diagnostics found = {0};
    carom_status status = carom_push_read(GOOD, NULL, &allocator, &file, &found);
    CHECK((status == CAROM_OK) == (file != NULL));
    CHECK(status == CAROM_OK || status == CAROM_ERR_MEMORY);
    read = status == CAROM_OK;
    carom_push_file_destroy(file);
    carom_diagnostics_release(&found);
    CHECK(failing.live == 0);
  }
  CHECK(read);
}
