// Result files: what was recorded comes back, and what is not a result file is refused with a reason.
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "result/h5.h"
#include "result_fixture.h"

TEST(frames_come_back) {
  const char *path = fixture_path("frames.h5");
  enum { FRAMES = 700 };  // more than one chunk
  fixture_write(path, FRAMES);
  carom_result *result = fixture_open(path);
  unlink(path);
  REQUIRE(result);
  CHECK(result->frame_count == FRAMES);
  CHECK(result->complete);
  carom_frame frame;
  REQUIRE(carom_frame_init(result, &frame, NULL) == CAROM_OK);
  for (int i = 0; i < FRAMES; i++) CHECK(fixture_frame_is_right(result, i, &frame));
  CHECK(fixture_frame_is_right(result, 3, &frame));  // backwards too
  carom_error error;
  CHECK(carom_result_read_frame(result, FRAMES, &frame, &error) == CAROM_ERR_ARGUMENT);
  CHECK_CONTAINS(error.message, "has no frame 700");
  CHECK(carom_result_read_frame(result, -1, &frame, NULL) == CAROM_ERR_ARGUMENT);
  carom_frame_release(&frame);
  carom_result_close(result);
}

TEST(events_come_back) {
  enum { FRAMES = 3000 };  // more events than the recorder gathers at once
  const char *path = fixture_path("events.h5");
  fixture_write(path, FRAMES);
  carom_result *result = fixture_open(path);
  REQUIRE(result && result->event_count == 2 * FRAMES);
  for (int i = 0; i < result->event_count; i++) CHECK(fixture_event_is_right(result, i));
  carom_result_close(result);
  unlink(path);
}

TEST(head_comes_back) {
  const char *path = fixture_path("head.h5");
  fixture_write(path, 3);
  carom_result *r = fixture_open(path);
  unlink(path);
  REQUIRE(r);
  CHECK_TEXT(r->title, "Fünf Körper \xE2\x80\xA8</script>");
  CHECK_TEXT(r->description, "tests \"quoted\", more");
  CHECK_TEXT(r->version, carom_version());
  CHECK_TEXT(r->command, "carom run fixture.yaml");
  CHECK_TEXT(r->host, "testhost");
  CHECK(strlen(r->created) == strlen("2024-01-01T00:00:00Z") && r->created[10] == 'T' && r->created[19] == 'Z');
  CHECK_TEXT(r->integrator, "variational");
  CHECK_TEXT(r->ending, "complete");
  CHECK_TEXT(r->scene_source, "title: five\n");
  CHECK_TEXT(r->scene_resolved, "title: five\nduration: 2\n");
  CHECK(r->seed == 0xFEDCBA9876543210u);
  CHECK(r->step == 1e-3 && r->duration == 2);
  CHECK(r->camera.given && r->camera.position.x == 4 && r->camera.target.z == 0.5);
  carom_result_close(r);
}

TEST(bodies_and_shapes_come_back) {
  const char *path = fixture_path("bodies.h5");
  fixture f;
  fixture_create(&f);
  fixture_write(path, 1);
  carom_result *r = fixture_open(path);
  unlink(path);
  REQUIRE(r);
  REQUIRE(r->body_count == FIXTURE_BODIES && r->part_count == FIXTURE_PARTS && r->shape_count == FIXTURE_SHAPES);
  CHECK_TEXT(r->bodies[4].name, "hammer\n\xE2\x9A\x92");
  CHECK(r->bodies[0].fixed && !r->bodies[1].fixed);
  CHECK(isinf(r->bodies[0].mass));
  CHECK_NEAR(r->bodies[1].mass, 500 * 0.2 * 0.3 * 0.4, 1e-12);
  CHECK(r->bodies[2].color == 0xEE6677);
  // The box sits 0.05 beside the origin of its body frame; m/12 (b^2 + c^2) about its centre.
  CHECK_NEAR(r->bodies[1].center.x, 0.05, 1e-15);
  CHECK_NEAR(r->bodies[1].inertia.m[0][0], r->bodies[1].mass / 12 * (0.3 * 0.3 + 0.4 * 0.4), 1e-13);
  CHECK_NEAR(r->bodies[1].inertia.m[2][2], r->bodies[1].mass / 12 * (0.2 * 0.2 + 0.3 * 0.3), 1e-13);
  // The tilted pill: its inertia in body axes is not diagonal, and equals that of the solid turned by the part's pose.
  carom_mass pill;
  REQUIRE(carom_shape_mass(r->shapes[r->parts[3].shape], 500, &pill, NULL) == CAROM_OK);
  pill = carom_mass_transform(pill, cm_pose(cm_zero3(), cm_axis_angle(cm_vec3(1, 0, 0), 0.5)));
  for (int i = 0; i < 9; i++) CHECK_NEAR((&r->bodies[3].inertia.m[0][0])[i], (&pill.inertia.m[0][0])[i], 1e-12);
  // Parts are in the frame that the user gave.
  CHECK(r->bodies[4].part_start == 4 && r->bodies[4].part_count == 2);
  CHECK_AT_MOST(fixture_distance(r->parts[4].pose.p, cm_vec3(0.5, 0, 0.1)), 1e-14);
  CHECK_AT_MOST(fixture_angle(r->parts[4].pose.q, cm_axis_angle(cm_vec3(1, 2, 3), 0.7)), 1e-14);
  CHECK(r->parts[4].shape == r->parts[1].shape);
  CHECK(carom_shape_get_kind(r->shapes[0]) == CAROM_SHAPE_HALFSPACE);
  CHECK(carom_shape_polytope(r->shapes[1]) && carom_shape_polytope(r->shapes[1])->vertex_count == 8);
  CHECK(carom_shape_radius(r->shapes[2]) == 0.25);
  CHECK(carom_shape_radius(r->shapes[3]) == 0.1 && carom_shape_half_length(r->shapes[3]) == 0.3);
  carom_result_close(r);
  fixture_destroy(&f);
}

TEST(verdict_comes_back) {
  const char *path = fixture_path("verdict.h5");
  fixture_write(path, 2);
  carom_result *r = fixture_open(path);
  unlink(path);
  REQUIRE(r);
  REQUIRE(r->verdict.count == 2);
  CHECK(!r->verdict.pass && r->verdict.rows[0].pass && !r->verdict.rows[1].pass);
  CHECK_TEXT(r->verdict.rows[0].key, "energy");
  CHECK_TEXT(r->verdict.rows[1].label, "Momentum");
  CHECK_TEXT(r->verdict.rows[0].note, "relative to the kinetic energy");
  CHECK(r->verdict.rows[1].value == 2e-3 && r->verdict.rows[1].bound == 1e-9);
  carom_result_close(r);
}

// An ending longer than its field is cut at a whole character; other endings are not complete.
TEST(endings) {
  const char *path = fixture_path("ending.h5");
  char ending[3000] = "failed: ";
  while (strlen(ending) < 2500) strcat(ending, "\xE2\x9A\x92");
  fixture f;
  fixture_create(&f);
  carom_recorder *recorder = NULL;
  REQUIRE(carom_recorder_open(path, &f.scene, NULL, NULL, &recorder, NULL) == CAROM_OK);
  CHECK(fixture_record(&f, recorder, 0, NULL) == CAROM_OK);
  CHECK(carom_recorder_finish(recorder, NULL, ending, NULL) == CAROM_OK);
  carom_error error;
  CHECK(fixture_record(&f, recorder, 1, &error) == CAROM_ERR_ARGUMENT);
  CHECK_CONTAINS(error.message, "is finished");
  CHECK(carom_recorder_finish(recorder, NULL, ending, &error) == CAROM_ERR_ARGUMENT);
  carom_recorder_close(recorder);
  carom_result *r = fixture_open(path);
  unlink(path);
  REQUIRE(r);
  CHECK(!r->complete && r->frame_count == 1 && r->verdict.count == 0);
  size_t length = strlen(r->ending);
  CHECK(length > 1000 && length <= 1024 && (length - strlen("failed: ")) % 3 == 0);
  CHECK_TEXT(r->command, "");
  carom_result_close(r);
  fixture_destroy(&f);
}

// Destroying without finishing keeps the frames; the run counts as unfinished.
TEST(destroy_writes_what_is_left) {
  const char *path = fixture_path("left.h5");
  fixture f;
  fixture_create(&f);
  carom_recorder *recorder = NULL;
  REQUIRE(carom_recorder_open(path, &f.scene, NULL, NULL, &recorder, NULL) == CAROM_OK);
  for (int i = 0; i < 5; i++) CHECK(fixture_record(&f, recorder, i, NULL) == CAROM_OK);
  carom_recorder_close(recorder);
  carom_result *r = fixture_open(path);
  unlink(path);
  REQUIRE(r);
  CHECK(r->frame_count == 5 && !r->complete);
  CHECK_TEXT(r->ending, "unfinished");
  carom_result_close(r);
  carom_recorder_close(NULL);
  carom_result_close(NULL);
  fixture_destroy(&f);
}

// A second process (here: a second open) reads while the recorder writes.
TEST(readable_while_recording) {
  const char *path = fixture_path("live.h5");
  fixture f;
  fixture_create(&f);
  carom_recorder *recorder = NULL;
  REQUIRE(carom_recorder_open(path, &f.scene, NULL, NULL, &recorder, NULL) == CAROM_OK);
  for (int i = 0; i < 10; i++) CHECK(fixture_record(&f, recorder, i, NULL) == CAROM_OK);
  CHECK(carom_recorder_flush(recorder, NULL) == CAROM_OK);
  carom_result *r = fixture_open(path);
  REQUIRE(r);
  CHECK(r->frame_count == 10 && !r->complete);
  carom_result_close(r);
  CHECK(fixture_record(&f, recorder, 10, NULL) == CAROM_OK);
  CHECK(carom_recorder_finish(recorder, NULL, "complete", NULL) == CAROM_OK);
  carom_recorder_close(recorder);
  r = fixture_open(path);
  REQUIRE(r);
  CHECK(r->frame_count == 11 && r->complete);
  carom_result_close(r);
  unlink(path);
  fixture_destroy(&f);
}

TEST(long_texts_and_no_bodies) {
  const char *path = fixture_path("empty.h5");
  enum { LENGTH = 200000 };
  char *text = malloc(LENGTH + 1);
  REQUIRE(text);
  memset(text, 'x', LENGTH);
  text[LENGTH] = 0;
  carom_builder *builder = NULL;
  carom_model *model = NULL;
  carom_state *state = NULL;
  REQUIRE(carom_builder_create(NULL, &builder, NULL) == CAROM_OK);
  carom_status status = carom_builder_finish(builder, &model, &state, NULL);
  carom_builder_destroy(builder);
  if (status != CAROM_OK) {
    free(text);
    test_skip("the builder refuses scenes without bodies");
  }
  carom_scene scene = fixture_scene(model, state);
  scene.description = scene.source = text;
  scene.resolved = NULL;
  scene.camera.given = false;
  carom_recorder *recorder = NULL;
  REQUIRE(carom_recorder_open(path, &scene, NULL, NULL, &recorder, NULL) == CAROM_OK);
  CHECK(carom_recorder_frame(recorder, state, NULL, NULL) == CAROM_OK);
  CHECK(carom_recorder_finish(recorder, NULL, "complete", NULL) == CAROM_OK);
  carom_recorder_close(recorder);
  carom_result *r = fixture_open(path);
  unlink(path);
  REQUIRE(r);
  CHECK(r->body_count == 0 && r->frame_count == 1 && !r->camera.given);
  CHECK(isnan(r->audit[0]));
  CHECK_TEXT(r->description, text);
  CHECK_TEXT(r->scene_source, text);
  CHECK_TEXT(r->scene_resolved, "");
  carom_frame frame;
  CHECK(carom_frame_init(r, &frame, NULL) == CAROM_OK);
  CHECK(carom_result_read_frame(r, 0, &frame, NULL) == CAROM_OK);
  carom_frame_release(&frame);
  carom_result_close(r);
  carom_state_destroy(state);
  carom_model_destroy(model);
  free(text);
}

// ---- refusals -------------------------------------------------------------------------------------------------------

static carom_status try_create(const char *path, bool overwrite, carom_error *error) {
  fixture f;
  fixture_create(&f);
  carom_recorder *recorder = NULL;
  carom_status status =
      carom_recorder_open(path, &f.scene, &(carom_recorder_options){.overwrite = overwrite}, NULL, &recorder, error);
  carom_recorder_close(recorder);
  fixture_destroy(&f);
  return status;
}

TEST(refuses_places_it_cannot_write) {
  carom_error error;
  const char *path = fixture_path("there.h5"), *folder = fixture_path("folder");
  fixture_write(path, 1);
  CHECK(try_create(path, false, &error) == CAROM_ERR_IO);
  CHECK_CONTAINS(error.message, "exists already");
  CHECK_CONTAINS(error.message, "--force");
  CHECK(try_create(path, true, NULL) == CAROM_OK);
  unlink(path);
  CHECK(try_create("no/such/folder/x.h5", false, &error) == CAROM_ERR_IO);
  CHECK_CONTAINS(error.message, "no/such/folder/x.h5");
  CHECK_CONTAINS(error.message, "create the folder first");
  REQUIRE(mkdir(folder, 0777) == 0);
  CHECK(try_create(folder, true, &error) == CAROM_ERR_IO);
  CHECK_CONTAINS(error.message, "it is a folder");
  rmdir(folder);
  CHECK(try_create("/dev/null", true, &error) == CAROM_ERR_IO);
  CHECK_CONTAINS(error.message, "regular file");
  struct stat info;
  CHECK(stat("/dev/null", &info) == 0 && S_ISCHR(info.st_mode));
  CHECK(try_create("/proc/nowhere.h5", true, &error) == CAROM_ERR_IO);
  CHECK(try_create("", true, &error) == CAROM_ERR_ARGUMENT);
}

static void write_bytes(const char *path, const char *bytes, size_t size) {
  FILE *file = fopen(path, "wb");
  if (file) {
    fwrite(bytes, 1, size, file);
    fclose(file);
  }
}

typedef struct intruder {
  const char *path;
  int calls, moment;  // at which request for memory the file appears
} intruder;

// Not by HDF5, which may be busy with our file at this moment.
static void intrude(intruder *i) {
  if (++i->calls == i->moment) write_bytes(i->path, "theirs", 6);
}

static void *intruder_allocate(void *context, size_t size) {
  intrude(context);
  return malloc(size);
}

static void *intruder_resize(void *context, void *block, size_t size) {
  intrude(context);
  return realloc(block, size);
}

static void intruder_release(void *context, void *block) {
  (void)context;
  free(block);
}

// Another program may take the name while the file is being made: an error, the other's file stays, and HDF5 can close
// ours (else it crashes when the process ends).
TEST(a_name_taken_meanwhile_is_refused) {
  const char *path = fixture_path("taken.h5");
  fixture f;
  fixture_create(&f);
  int refused = 0;
  for (int moment = 1; moment < 100; moment++) {
    carom_error error = {0};
    carom_recorder *recorder = NULL;
    intruder i = {path, 0, moment};
    carom_allocator allocator = {&i, intruder_allocate, intruder_resize, intruder_release};
    carom_status status = carom_recorder_open(path, &f.scene, NULL, &allocator, &recorder, &error);
    carom_recorder_close(recorder);
    if (i.calls < moment) break;
    refused += status == CAROM_ERR_IO && strstr(error.message, "exists already");
    struct stat info;
    CHECK(status == CAROM_OK || (stat(path, &info) == 0 && info.st_size == 6));
    unlink(path);
  }
  CHECK(refused >= 4);
  unlink(path);
  fixture_destroy(&f);
}

TEST(links_that_lead_nowhere_are_refused) {
  carom_error error;
  const char *path = fixture_path("link.h5");
  REQUIRE(symlink("nowhere.h5", path) == 0);
  for (int force = 0; force < 2; force++) {
    CHECK(try_create(path, force, &error) == CAROM_ERR_IO);
    CHECK_CONTAINS(error.message, "leads nowhere");
  }
  unlink(path);
}

// A failed attempt leaves an older file alone, and a finished one replaces it while others still read it.
TEST(older_file_survives_until_replaced) {
  const char *path = fixture_path("older.h5");
  fixture_write(path, 4);
  carom_result *older = fixture_open(path);
  fixture_write(path, 2);
  carom_result *newer = fixture_open(path);
  unlink(path);
  REQUIRE(older && newer);
  carom_frame frame;
  REQUIRE(carom_frame_init(older, &frame, NULL) == CAROM_OK);
  CHECK(fixture_frame_is_right(older, 3, &frame));
  CHECK(newer->frame_count == 2);
  carom_frame_release(&frame);
  carom_result_close(older);
  carom_result_close(newer);
}

static carom_status try_open(const char *path, carom_error *error) {
  carom_result *result = NULL;
  carom_status status = carom_result_open(path, NULL, &result, error);
  if (status != CAROM_OK) CHECK(!result);
  carom_result_close(result);
  return status;
}

TEST(refuses_what_is_not_a_result) {
  carom_error error;
  const char *path = fixture_path("strange.h5");
  CHECK(try_open("no-such-file.h5", &error) == CAROM_ERR_IO);
  CHECK_CONTAINS(error.message, "no such file");
  CHECK(try_open(".", &error) == CAROM_ERR_IO);
  CHECK_CONTAINS(error.message, "regular file");
  write_bytes(path, "", 0);
  CHECK(try_open(path, &error) == CAROM_ERR_FORMAT);
  CHECK_CONTAINS(error.message, "is empty");
  write_bytes(path, "hello, world\n", 13);
  CHECK(try_open(path, &error) == CAROM_ERR_FORMAT);
  CHECK_CONTAINS(error.message, "not a result file");
  hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  H5Fclose(file);
  CHECK(try_open(path, &error) == CAROM_ERR_FORMAT);
  CHECK_CONTAINS(error.message, "not a result of Carom");
  unlink(path);
}

// One edit at a time with HDF5 itself: every one must be noticed.
static void damage(const char *path, const char *dataset, int index, int value) {
  hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT), data = H5Dopen2(file, dataset, H5P_DEFAULT);
  int values[64];
  H5Dread(data, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
  values[index] = value;
  H5Dwrite(data, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
  H5Dclose(data);
  H5Fclose(file);
}

TEST(refuses_damaged_indices) {
  const struct {
    const char *dataset;
    int index, value;
  } edits[] = {{"/parts/shape", 2, 4},         {"/parts/shape", 0, -1},        {"/bodies/part_start", 1, -1},
               {"/bodies/part_count", 1, 99},  {"/bodies/part_count", 1, -5},  {"/shapes/vertex_start", 2, 9999},
               {"/shapes/vertex_start", 2, 1}, {"/shapes/vertex_start", 1, -7}};
  const char *path = fixture_path("damaged.h5");
  for (size_t i = 0; i < sizeof edits / sizeof *edits; i++) {
    carom_error error;
    fixture_write(path, 1);
    damage(path, edits[i].dataset, edits[i].index, edits[i].value);
    CHECK(try_open(path, &error) == CAROM_ERR_FORMAT);
    CHECK_CONTAINS(error.message, path);
  }
  unlink(path);
}

TEST(refuses_missing_datasets_and_newer_versions) {
  const char *path = fixture_path("missing.h5");
  const char *names[] = {"/bodies/mass", "/trajectory/time", "/audit/energy",
                         "/run/ending",  "/scene/source",    "/shapes/kind"};
  carom_error error;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    fixture_write(path, 1);
    hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    H5Ldelete(file, names[i], H5P_DEFAULT);
    H5Fclose(file);
    CHECK(try_open(path, &error) == CAROM_ERR_FORMAT);
    CHECK_CONTAINS(error.message, names[i]);
  }
  fixture_write(path, 1);
  hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT), attribute = H5Aopen(file, "format_version", H5P_DEFAULT);
  int version = 7;
  H5Awrite(attribute, H5T_NATIVE_INT, &version);
  H5Aclose(attribute);
  H5Fclose(file);
  CHECK(try_open(path, &error) == CAROM_ERR_FORMAT);
  CHECK_CONTAINS(error.message, "update Carom");
  unlink(path);
}

// Cut anywhere, a file gives a status and never crashes.
TEST(truncated_files) {
  const char *path = fixture_path("cut.h5");
  fixture_write(path, 50);
  struct stat info;
  REQUIRE(stat(path, &info) == 0);
  int refused = 0, cuts = 0;
  for (off_t size = info.st_size - 1; size > 0; size -= 1 + info.st_size / 60, cuts++) {
    REQUIRE(truncate(path, size) == 0);
    carom_error error = {CAROM_OK, ""};
    if (try_open(path, &error) != CAROM_OK) {
      refused++;
      CHECK(strlen(error.message) > 10);
    }
  }
  CHECK(refused == cuts);
  unlink(path);
}

// Another program has the file open for writing.
TEST(locked_file_says_so) {
  const char *path = fixture_path("locked.h5");
  int ready[2], done[2];
  char byte = 0;
  fixture_write(path, 1);
  REQUIRE(pipe(ready) == 0 && pipe(done) == 0);
  pid_t child = fork();
  if (child == 0) {
    hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    (void)!write(ready[1], &byte, 1);
    close(done[1]);
    (void)!read(done[0], &byte, 1);  // until the parent closes its end
    H5Fclose(file);
    _exit(0);
  }
  CHECK(read(ready[0], &byte, 1) == 1);
  carom_error error = {CAROM_OK, ""};
  CHECK(try_open(path, &error) == CAROM_ERR_IO);
  CHECK_CONTAINS(error.message, "it is locked");
  CHECK_CONTAINS(error.message, "HDF5_USE_FILE_LOCKING");
  close(done[1]);
  waitpid(child, NULL, 0);
  CHECK(try_open(path, NULL) == CAROM_OK);
  unlink(path);
}

// The host's way of reporting HDF5 errors is what it was.
static herr_t host_report(hid_t stack, void *data) {
  (void)stack;
  ++*(int *)data;
  return 0;
}

TEST(error_reporting_of_the_host_is_kept) {
  int reports = 0;
  H5E_auto2_t report = NULL;
  void *data = NULL;
  H5Eset_auto2(H5E_DEFAULT, host_report, &reports);
  CHECK(try_open(__FILE__, NULL) != CAROM_OK);
  const char *path = fixture_path("host.h5");
  fixture_write(path, 1);
  CHECK(try_open(path, NULL) == CAROM_OK);
  unlink(path);
  CHECK(reports == 0);
  H5Eget_auto2(H5E_DEFAULT, &report, &data);
  CHECK(report == host_report && data == &reports);
}

TEST(walls_come_back) {
  static const char text[] =
      "carom: 1\n"
      "bodies:\n"
      "  - {name: drum, fixed: true, shape: {sphere: 0.01}}\n"
      "  - {name: grain, shape: {sphere: 0.1}, position: [0, 0, 1]}\n"
      "boundaries:\n"
      "  - {profile: [[0.2, 0], [0.5, 1], [0.5, 2]]}\n"
      "  - {body: drum, position: [0, 0, 3], profile: [[1, 0], [1, 1]]}\n"
      "integrator: {name: cone}\n";
  carom_diagnostics diagnostics = {0};
  carom_scene *scene = NULL;
  carom_recorder *recorder = NULL;
  const char *path = fixture_path("walls.h5");
  carom_status status =
      carom_scene_parse(&(carom_bytes){"walls.yaml", text, strlen(text)}, NULL, NULL, &scene, &diagnostics);
  if (status != CAROM_OK && diagnostics.count > 0) printf("%s\n", diagnostics.items[0].message);
  carom_diagnostics_release(&diagnostics);
  REQUIRE(status == CAROM_OK);
  REQUIRE(carom_recorder_open(path, scene, &(carom_recorder_options){.overwrite = true}, NULL, &recorder, NULL) ==
          CAROM_OK);
  CHECK(carom_recorder_finish(recorder, NULL, "complete", NULL) == CAROM_OK);
  carom_recorder_close(recorder);
  carom_scene_destroy(scene);
  carom_result *result = fixture_open(path);
  REQUIRE(result && result->wall_count == 2);
  CHECK(result->walls[0].body == CAROM_WORLD && result->walls[0].point_count == 3);
  CHECK(result->walls[1].body == 0 && result->walls[1].point_count == 2 && result->walls[1].pose.p.z == 3);
  CHECK(result->wall_points[1].rho == 0.5 && result->wall_points[1].z == 1);
  CHECK(result->wall_points[4].rho == 1 && result->wall_points[4].z == 1);
  carom_result_close(result);
  unlink(path);
}

// ---- files that lie ------------------------------------------------------------------------------------------------

// A file of some kilobytes that says it has rows by the hundred million; memory and time must not be spent on them.
TEST(declared_rows_that_are_not_stored_are_refused) {
  static const char *const names[] = {"/audit/kinetic", "/trajectory/time", "/events/time", "/channels/value"};
  for (int i = 0; i < 4; i++) {
    carom_error error;
    const char *path = fixture_path("declared.h5");
    fixture_write(path, 3);
    hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT), data = H5Dopen2(file, names[i], H5P_DEFAULT);
    hsize_t rows[2] = {(hsize_t)1 << 28, FIXTURE_CHANNELS};
    REQUIRE(data >= 0 && H5Dset_extent(data, rows) >= 0);
    H5Dclose(data);
    H5Fclose(file);
    CHECK(try_open(path, &error) == CAROM_ERR_FORMAT);
    CHECK_CONTAINS(error.message, "declares more than the file holds");
    CHECK_CONTAINS(error.message, names[i]);
    unlink(path);
  }
}

// What a link or a dataset takes from another file is not read, even if that is a sound result.
TEST(data_of_other_files_is_refused) {
  carom_error error;
  const char *path = fixture_path("linked.h5"), *other = fixture_path("other.h5"), *raw = fixture_path("raw.bin");
  fixture_write(other, 3);
  for (int i = 0; i < 2; i++) {
    fixture_write(path, 3);
    hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    H5Ldelete(file, "/trajectory", H5P_DEFAULT);
    H5Lcreate_external(other, "/trajectory", file, "/trajectory", H5P_DEFAULT, H5P_DEFAULT);
    H5Fclose(file);
    CHECK(try_open(path, &error) == CAROM_ERR_FORMAT);
    CHECK_CONTAINS(error.message, "/trajectory");
    unlink(other);
    if (i == 0) REQUIRE(mkfifo(other, 0600) == 0);  // opening it would wait for ever
  }
  unlink(other);
  fixture_write(path, 3);
  hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT), storage = H5Pcreate(H5P_DATASET_CREATE);
  hsize_t rows = 3;
  hid_t space = H5Screate_simple(1, &rows, NULL);
  H5Pset_external(storage, raw, 0, 3 * sizeof(double));
  H5Ldelete(file, "/audit/kinetic", H5P_DEFAULT);
  H5Dclose(H5Dcreate2(file, "/audit/kinetic", H5T_IEEE_F64LE, space, H5P_DEFAULT, storage, H5P_DEFAULT));
  H5Sclose(space);
  H5Pclose(storage);
  H5Fclose(file);
  CHECK(try_open(path, &error) == CAROM_ERR_FORMAT);
  CHECK_CONTAINS(error.message, "in other files");
  unlink(path);
}

TEST(a_pipe_does_not_wait) {
  carom_error error;
  const char *path = fixture_path("pipe.h5");
  REQUIRE(mkfifo(path, 0600) == 0);
  CHECK(try_open(path, &error) == CAROM_ERR_IO);
  CHECK_CONTAINS(error.message, "not a regular file");
  unlink(path);
}
