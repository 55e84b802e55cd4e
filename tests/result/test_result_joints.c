// Joints and springs in result files: in the frames that the user gave, whatever the principal axes are.
#include "export/export.h"
#include "failing_allocator.h"
#include "result/h5.h"
#include "result/joints.h"
#include "result_fixture.h"

// Bodies whose centre of mass is not their origin and whose principal axes are not theirs, one for each kind of joint.
static const char *const kinds[] = {"spherical", "revolute", "prismatic", "cylindrical", "planar", "screw", "fixed"};
enum { KINDS = sizeof kinds / sizeof *kinds };

static carom_vec3 place_of(int i) { return cm_vec3(2 * i, 0.3 * i, 1); }
static const carom_vec3 offset = {0.4, -0.1, 0.25};  // of the joint from its body's origin

static carom_scene *make_scene(void) {
  char text[6000], *at = text, *end = text + sizeof text;
  at += snprintf(at, (size_t)(end - at), "carom: 1\nbodies:\n");
  for (int i = 0; i < KINDS + 1; i++) {
    carom_vec3 p = place_of(i);
    at += snprintf(at, (size_t)(end - at),
                   "  - {name: b%d, position: [%g, %g, %g], rotation: {axis: [1, 2, 3], angle: %g}, density: 100,\n"
                   "     parts: [{shape: {box: [0.1, 0.2, 0.5]}, position: [0.1, 0.2, 0]},\n"
                   "             {shape: {box: [0.3, 0.1, 0.1]}, position: [0.2, -0.1, 0.3]}]}\n",
                   i, p.x, p.y, p.z, 0.3 + i);
  }
  at += snprintf(at, (size_t)(end - at), "joints:\n");
  for (int i = 0; i < KINDS; i++) {
    carom_vec3 p = cm_add(place_of(i), offset);
    at += snprintf(at, (size_t)(end - at), "  - {name: %s, kind: %s, between: [world, b%d], at: [%g, %g, %g]%s%s}\n",
                   kinds[i], kinds[i], i, p.x, p.y, p.z, i > 0 && i < KINDS - 1 ? ", axis: [1, -2, 2]" : "",
                   i == 5 ? ", pitch: 0.1" : "");
  }
  at += snprintf(at, (size_t)(end - at),
                 "  - {name: link, kind: distance, between: [b0, b1], points: [[0.1, 0, 0], [0, 0.2, 0]]}\n"
                 "  - {name: hook, kind: revolute, between: [b2, b%d], latch: true}\n"
                 "forces:\n  springs:\n"
                 "    - {from: {body: b3, point: [0, 0.05, 0]}, to: {world: [7, 8, 9]}, stiffness: 10}\n"
                 "integrator: {name: exact, step: 1 ms}\n",
                 KINDS);
  carom_diagnostics found = {0};
  carom_scene *scene = NULL;
  carom_status status =
      carom_scene_parse(&(carom_bytes){"joints.yaml", text, strlen(text)}, NULL, NULL, &scene, &found);
  if (status != CAROM_OK) test_fail(__FILE__, __LINE__, "%s", found.count ? found.items[0].message : "memory");
  carom_diagnostics_release(&found);
  return scene;
}

static carom_status write_joints(const char *path, const carom_allocator *allocator, carom_error *error) {
  carom_scene *scene = make_scene();
  carom_recorder *recorder = NULL;
  carom_status status = scene ? carom_recorder_open(path, scene, &(carom_recorder_options){.overwrite = true},
                                                    allocator, &recorder, error)
                              : CAROM_ERR_SCENE;
  if (status == CAROM_OK) status = carom_recorder_frame(recorder, scene->state, NULL, error);
  if (status == CAROM_OK) status = carom_recorder_finish(recorder, NULL, "complete", error);
  carom_recorder_close(recorder);
  carom_scene_destroy(scene);
  return status;
}

// A joint's frame in the world at the start, through the poses of the file.
static carom_pose in_world(const carom_result_joint *joint, int side, const carom_frame *frame) {
  int body = joint->body[side];
  return body == CAROM_WORLD ? joint->frame[side] : cm_compose(frame->poses[body], joint->frame[side]);
}

TEST(joints_come_back_in_the_frames_of_the_user) {
  const char *path = fixture_path("joints.h5");
  REQUIRE(write_joints(path, NULL, NULL) == CAROM_OK);
  carom_result *r = fixture_open(path);
  unlink(path);
  REQUIRE(r && r->joint_count == KINDS + 3);
  carom_frame frame;
  REQUIRE(carom_frame_init(r, &frame, NULL) == CAROM_OK);
  REQUIRE(carom_result_read_frame(r, 0, &frame, NULL) == CAROM_OK);
  for (int i = 0; i < KINDS; i++) {
    const carom_result_joint *j = &r->joints[i];
    CHECK_TEXT(j->name, kinds[i]);
    CHECK_TEXT(carom_joint_kind_names[j->kind], kinds[i]);
    CHECK(j->body[0] == CAROM_WORLD && j->body[1] == i && !j->latch);
    for (int side = 0; side < 2; side++) {
      carom_pose pose = in_world(j, side, &frame);
      CHECK_AT_MOST(fixture_distance(pose.p, cm_add(place_of(i), offset)), 1e-12);
      carom_vec3 axis = cm_rotate(pose.q, cm_vec3(0, 0, 1));
      if (i > 0 && i < KINDS - 1) CHECK_AT_MOST(fixture_distance(axis, cm_vec3(1 / 3.0, -2 / 3.0, 2 / 3.0)), 1e-12);
    }
  }
  const carom_result_joint *link = &r->joints[KINDS], *hook = &r->joints[KINDS + 1], *spring = &r->joints[KINDS + 2];
  CHECK(link->kind == CAROM_JOINT_DISTANCE && link->body[0] == 0 && link->body[1] == 1);
  CHECK_AT_MOST(fixture_distance(link->frame[0].p, cm_vec3(0.1, 0, 0)), 1e-14);
  CHECK_AT_MOST(fixture_distance(link->frame[1].p, cm_vec3(0, 0.2, 0)), 1e-14);
  CHECK(hook->latch && hook->kind == CAROM_JOINT_REVOLUTE);
  CHECK(spring->kind == CAROM_RESULT_SPRING && spring->body[0] == 3 && spring->body[1] == CAROM_WORLD);
  CHECK_AT_MOST(fixture_distance(spring->frame[0].p, cm_vec3(0, 0.05, 0)), 1e-14);
  CHECK_AT_MOST(fixture_distance(spring->frame[1].p, cm_vec3(7, 8, 9)), 1e-14);
  carom_frame_release(&frame);
  carom_result_close(r);
}

TEST(joints_are_in_the_page) {
  const char *path = fixture_path("joints-page.h5");
  REQUIRE(write_joints(path, NULL, NULL) == CAROM_OK);
  carom_result *r = fixture_open(path);
  unlink(path);
  REQUIRE(r);
  carom_text_buffer text = carom_text_buffer_make(NULL);
  CHECK(carom_replay_elements(r, NULL, &text, NULL) == CAROM_OK);
  carom_text_buffer_add_n(&text, "", 1);
  CHECK_CONTAINS(text.data,
                 "\"joints\":[{\"name\":\"spherical\",\"kind\":\"spherical\",\"body\":[-1,0],\"latch\":false");
  CHECK_CONTAINS(text.data, "{\"name\":\"hook\",\"kind\":\"revolute\",\"body\":[2,7],\"latch\":true");
  CHECK_CONTAINS(text.data, "\"kind\":\"spring\",\"body\":[3,-1]");
  CHECK_CONTAINS(text.data, "{\"position\":[7,8,9],\"rotation\":[1,0,0,0]}");
  carom_text_buffer_release(&text);
  carom_result_close(r);
}

// Scenes without joints, and files from before there were any, have no such group.
TEST(files_without_joints) {
  const char *path = fixture_path("no-joints.h5");
  fixture_write(path, 1);
  hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
  CHECK(H5Lexists(file, "/joints", H5P_DEFAULT) == 0 && H5Lexists(file, "/plan", H5P_DEFAULT) == 0);
  H5Fclose(file);
  carom_result *r = fixture_open(path);
  unlink(path);
  REQUIRE(r);
  CHECK(r->joint_count == 0 && !r->joints && !r->plan);
  carom_result_close(r);
}

static carom_status open_spoilt(const char *path, const char *dataset, int index, int value, carom_error *error) {
  int values[64];
  hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT), data = H5Dopen2(file, dataset, H5P_DEFAULT);
  H5Dread(data, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
  values[index] = value;
  H5Dwrite(data, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
  H5Dclose(data);
  H5Fclose(file);
  carom_result *result = NULL;
  carom_status status = carom_result_open(path, NULL, &result, error);
  carom_result_close(result);
  return status;
}

TEST(spoilt_joints_are_refused) {
  const char *path = fixture_path("spoilt-joints.h5");
  const int values[] = {KINDS + 1, -2};
  for (int i = 0; i < 2; i++) {
    carom_error error = {CAROM_OK, ""};
    REQUIRE(write_joints(path, NULL, NULL) == CAROM_OK);
    CHECK(open_spoilt(path, "/joints/body", 3, values[i], &error) == CAROM_ERR_FORMAT);
    CHECK_CONTAINS(error.message, "/joints");
  }
  unlink(path);
}

TEST(joints_without_memory) {
  const char *path = fixture_path("joints-memory.h5");
  for (int reading = 0; reading < 2; reading++) {
    carom_status status = CAROM_ERR_MEMORY;
    for (int n = 0; status == CAROM_ERR_MEMORY && n < 2000; n++) {
      failing_allocator f = {.allowed = n};
      carom_allocator a = failing_allocator_of(&f);
      carom_error error = {CAROM_OK, ""};
      carom_result *result = NULL;
      status = reading ? carom_result_open(path, &a, &result, &error) : write_joints(path, &a, &error);
      carom_result_close(result);
      CHECK(f.live == 0);
      CHECK(status == CAROM_OK || *error.message);
    }
    CHECK(status == CAROM_OK);
  }
  unlink(path);
}
