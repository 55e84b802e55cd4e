// Solids in result files: nodes, velocities, stresses and energies come back with the bits that the state had, runs go
// on from checkpoints with the same bits, also after a kill, and damaged tables are refused.
#include <hdf5.h>
#include <signal.h>
#include <sys/wait.h>

#include "solids_fixture.h"

enum { FRAMES = 300 };  // more than one chunk

static const soft_options both[2] = {{.shells = 2}, {.without_bodies = true, .shells = 2}};

TEST(solids_come_back_bit_for_bit) {
  const char *path = fixture_path("solids.h5");
  for (int kind = 0; kind < 2; kind++) {
    fixture f;
    carom_frame frame;
    soft_create_with(&f, &both[kind]);
    soft_write_with(path, FRAMES, &both[kind]);
    carom_result *r = fixture_open(path);
    unlink(path);
    REQUIRE(r && r->frame_count == FRAMES && r->solid_count == FIXTURE_SOLIDS);
    CHECK(r->body_count == (kind == 0 ? FIXTURE_BODIES : 0));
    REQUIRE(carom_frame_init(r, &frame, NULL) == CAROM_OK);
    for (int i = FRAMES - 1; i >= 0; i -= 7) CHECK(soft_frame_is_right(r, &f, i, &frame));
    for (int i = 0; i < FRAMES; i++) CHECK(soft_frame_is_right(r, &f, i, &frame));
    carom_frame_release(&frame);
    carom_result_close(r);
    fixture_destroy(&f);
  }
}

TEST(tables_of_solids_come_back) {
  const char *path = fixture_path("tables.h5");
  fixture f;
  soft_create(&f);
  soft_write(path, 1);
  carom_result *r = fixture_open(path);
  unlink(path);
  REQUIRE(r && r->solid_count == 2);
  const carom_model *m = f.model;
  CHECK(r->node_count == m->node_count && r->tet_count == m->tet_count);
  CHECK(memcmp(r->rest, m->rest, (size_t)m->node_count * sizeof *m->rest) == 0);
  CHECK(memcmp(r->node_masses, m->node_masses, (size_t)m->node_count * sizeof *m->node_masses) == 0);
  CHECK(memcmp(r->tets, m->tets, (size_t)m->tet_count * sizeof *m->tets) == 0);
  int triangle = 0;
  for (int s = 0; s < 2; s++) {
    const carom_result_solid *solid = &r->solids[s];
    CHECK_TEXT(solid->name, m->solids[s].name);
    CHECK(solid->color == m->solids[s].color && solid->law == CAROM_ELASTIC_NEO_HOOKE);
    CHECK(solid->lambda == 6e4 && solid->mu == 4e4 && solid->damping == 1e-4 && solid->density == 1000);
    CHECK(solid->mass == m->solids[s].mass && solid->node_start == m->solids[s].node_start);
    CHECK(solid->triangle_start == triangle && solid->triangle_count == m->solids[s].skin->triangle_count);
    for (int i = 0; i < solid->triangle_count; i++, triangle++)
      for (int k = 0; k < 3; k++) CHECK(r->skin[triangle][k] == solid->node_start + m->solids[s].skin->triangles[i][k]);
  }
  CHECK(triangle == r->triangle_count);
  CHECK_TEXT(carom_result_name(r, CAROM_SOLID(1)), "bar, \"long\"");
  CHECK_TEXT(carom_result_name(r, 0), "ground");
  CHECK_TEXT(carom_result_name(r, CAROM_WORLD), "the world");
  REQUIRE(r->event_count == 2);
  CHECK(r->events[0].body_a == CAROM_SOLID(0) && r->events[0].body_b == 0);
  CHECK(r->events[1].body_a == CAROM_SOLID(1) && r->events[1].body_b == CAROM_SOLID(0));
  carom_result_close(r);
  fixture_destroy(&f);
}

// Nothing about solids is in a file without them.
TEST(files_without_solids_stay_as_they_were) {
  static const char *const absent[] = {"/solids", "/trajectory/node_position", "/trajectory/von_mises",
                                       "/trajectory/elastic_energy", "/trajectory/least_J"};
  const char *path = fixture_path("rigid.h5");
  fixture_write(path, 2);
  hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
  for (size_t i = 0; i < sizeof absent / sizeof *absent; i++) CHECK(H5Lexists(file, absent[i], H5P_DEFAULT) <= 0);
  H5Fclose(file);
  carom_result *r = fixture_open(path);
  carom_frame frame;
  REQUIRE(r && carom_frame_init(r, &frame, NULL) == CAROM_OK);
  CHECK(!r->solids && !r->rest && !frame.nodes && !frame.node_velocities && !frame.stresses);
  carom_frame_release(&frame);
  carom_result_close(r);
  unlink(path);
}

// ---- going on ------------------------------------------------------------------------------------------------------

static carom_stepper *start_stepper(const fixture *f) {
  carom_stepper *stepper = NULL;
  carom_step_options options = carom_step_default_options();
  carom_error error;
  options.integrator = "variational";
  options.step = 1e-3;
  if (carom_stepper_create(f->model, &options, NULL, &stepper, &error) != CAROM_OK)
    test_fail(__FILE__, __LINE__, "%s", error.message);
  return stepper;
}

// A pinned bar and a ball, both already deformed: their motion is not that of a rigid body.
static void create_moving(fixture *f) {
  soft_create_with(f, &both[1]);
  for (int i = 0; i < f->state->node_count; i++) {
    f->state->nodes[i].z += 0.1 * (f->state->nodes[i].z - 1);
    f->state->node_velocities[i] = cm_vec3(0.5 * (f->state->nodes[i].z - 1), 0.1, 0);
  }
}

static void advance(fixture *f, carom_stepper *stepper, int steps) {
  for (int i = 0; i < steps; i++) CHECK(carom_stepper_step(stepper, f->state, NULL, NULL) == CAROM_OK);
}

static void write_checkpoint(const fixture *f, const carom_stepper *stepper, carom_recorder *recorder) {
  static unsigned char memory[1 << 20];
  size_t size = carom_stepper_memory(stepper, memory, sizeof memory);
  REQUIRE(size <= sizeof memory);
  CHECK(carom_recorder_checkpoint(recorder, f->state, memory, size, NULL) == CAROM_OK);
}

static uint64_t hash_of_uninterrupted_run(int steps) {
  fixture f;
  create_moving(&f);
  carom_stepper *stepper = start_stepper(&f);
  advance(&f, stepper, steps);
  uint64_t hash = carom_state_hash(f.state);
  carom_stepper_destroy(stepper);
  fixture_destroy(&f);
  return hash;
}

static uint64_t hash_after_going_on(const char *path, int64_t steps) {
  fixture f;
  const void *memory = NULL;
  size_t size = 0;
  carom_error error;
  soft_create_with(&f, &both[1]);
  carom_stepper *stepper = start_stepper(&f);
  carom_result *r = fixture_open(path);
  if (!r || carom_result_checkpoint(r, f.state, &memory, &size, &error) != CAROM_OK) return 0;
  CHECK(carom_stepper_recall(stepper, memory, size, NULL) == CAROM_OK);
  carom_result_close(r);
  advance(&f, stepper, (int)(steps - f.state->step));
  uint64_t hash = carom_state_hash(f.state);
  carom_stepper_destroy(stepper);
  fixture_destroy(&f);
  return hash;
}

static _Noreturn void run_until_killed(const char *path, int steps) {
  fixture f;
  carom_recorder *recorder = NULL;
  create_moving(&f);
  carom_stepper *stepper = start_stepper(&f);
  if (carom_recorder_open(path, &f.scene, NULL, NULL, &recorder, NULL) != CAROM_OK) _exit(1);
  for (int i = 0; i < steps; i++) {
    advance(&f, stepper, 1);
    carom_recorder_frame(recorder, f.state, NULL, NULL);
    if (i % 4 == 0) write_checkpoint(&f, stepper, recorder);
    if (i % 7 == 0) carom_recorder_flush(recorder, NULL);
  }
  raise(SIGKILL);
  _exit(1);
}

TEST(killed_runs_go_on_with_the_same_bits) {
  enum { STEPS = 60 };
  uint64_t expected = hash_of_uninterrupted_run(STEPS);
  for (int killed = 1; killed <= 33; killed += 8) {
    const char *path = fixture_path("killed.h5");
    pid_t child = fork();
    if (child == 0) run_until_killed(path, killed);
    int status = 0;
    waitpid(child, &status, 0);
    REQUIRE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    CHECK(hash_after_going_on(path, STEPS) == expected);
    carom_result *r = fixture_open(path);
    REQUIRE(r);
    CHECK(r->frame_count >= 1 && r->frame_count <= killed && !r->complete && r->elastic_energies[0] > 0);
    carom_result_close(r);
    unlink(path);
  }
}

TEST(checkpoints_of_other_meshes_are_refused) {
  const char *path = fixture_path("other.h5");
  fixture f, finer;
  carom_recorder *recorder = NULL;
  soft_create(&f);
  REQUIRE(carom_recorder_open(path, &f.scene, NULL, NULL, &recorder, NULL) == CAROM_OK);
  CHECK(carom_recorder_checkpoint(recorder, f.state, "memory", 6, NULL) == CAROM_OK);
  CHECK(carom_recorder_finish(recorder, NULL, "complete", NULL) == CAROM_OK);
  carom_recorder_close(recorder);
  soft_create_with(&finer, &(soft_options){.shells = 3});
  carom_result *r = fixture_open(path);
  const void *memory;
  size_t size;
  carom_error error;
  REQUIRE(r);
  CHECK(carom_result_checkpoint(r, finer.state, &memory, &size, &error) == CAROM_ERR_FORMAT);
  CHECK_CONTAINS(error.message, "nodes of solids");
  CHECK(carom_result_checkpoint(r, f.state, &memory, &size, &error) == CAROM_OK && size == 6);
  carom_result_close(r);
  unlink(path);
  fixture_destroy(&f);
  fixture_destroy(&finer);
}

TEST(nodes_that_are_nowhere_are_not_recorded) {
  const char *path = fixture_path("nowhere.h5");
  fixture f;
  carom_error error;
  carom_recorder *recorder = NULL;
  soft_create(&f);
  REQUIRE(carom_recorder_open(path, &f.scene, NULL, NULL, &recorder, NULL) == CAROM_OK);
  f.state->nodes[f.state->node_count - 1].y = NAN;
  CHECK(carom_recorder_frame(recorder, f.state, NULL, &error) == CAROM_ERR_NUMBER);
  CHECK_CONTAINS(error.message, "bar");
  soft_move(&f, 0);
  CHECK(carom_recorder_frame(recorder, f.state, NULL, &error) == CAROM_OK);
  carom_recorder_close(recorder);
  carom_result *r = fixture_open(path);
  CHECK(r && r->frame_count == 1);
  carom_result_close(r);
  unlink(path);
  fixture_destroy(&f);
}

// ---- damaged files -------------------------------------------------------------------------------------------------

static void set_int(hid_t file, const char *dataset, int index, int value) {
  static int values[1 << 16];
  hid_t data = H5Dopen2(file, dataset, H5P_DEFAULT);
  H5Dread(data, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
  values[index] = value;
  H5Dwrite(data, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
  H5Dclose(data);
}

static void set_number(hid_t file, const char *dataset, int index, double value) {
  static double values[1 << 16];
  hid_t data = H5Dopen2(file, dataset, H5P_DEFAULT);
  H5Dread(data, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
  values[index] = value;
  H5Dwrite(data, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
  H5Dclose(data);
}

static void check_refused(const char *path, const char *what) {
  carom_result *r = NULL;
  carom_error error = {CAROM_OK, ""};
  CHECK(carom_result_open(path, NULL, &r, &error) == CAROM_ERR_FORMAT && !r);
  CHECK_CONTAINS(error.message, what);
  unlink(path);
}

TEST(damaged_indices_are_refused) {
  static const struct {
    const char *dataset;
    int index, value;
  } edits[] = {{"/solids/node_start", 0, 1},
               {"/solids/node_start", 1, 0},
               {"/solids/node_count", 1, 1 << 30},
               {"/solids/node_count", 0, -1},
               {"/solids/tet_start", 1, -5},
               {"/solids/tet_count", 1, 100000},
               {"/solids/tet_count", 0, 0},
               {"/solids/triangle_start", 1, 3},
               {"/solids/triangle_count", 1, -1},
               {"/solids/tets", 0, -1},
               {"/solids/tets", 5, 1 << 20},
               {"/solids/skin", 3, -7},
               {"/solids/skin", 1, 0x7FFFFFFF},
               {"/events/body", 0, -4},
               {"/events/body", 1, -4},
               {"/events/body", 0, -1},
               {"/events/body", 1, -0x7FFFFFFF - 1}};
  const char *path = fixture_path("damaged.h5");
  for (size_t i = 0; i < sizeof edits / sizeof *edits; i++) {
    soft_write(path, 2);
    hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    set_int(file, edits[i].dataset, edits[i].index, edits[i].value);
    H5Fclose(file);
    check_refused(path, strncmp(edits[i].dataset, "/events", 7) == 0 ? "/events" : "/solids");
  }
}

// A tetrahedron of the first solid may not have nodes of the second.
TEST(solids_do_not_share_nodes) {
  const char *path = fixture_path("shared.h5");
  fixture f;
  soft_create(&f);
  int foreign = f.model->solids[1].node_start;
  fixture_destroy(&f);
  soft_write(path, 1);
  hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
  set_int(file, "/solids/tets", 2, foreign);
  H5Fclose(file);
  check_refused(path, "nodes of another");
}

TEST(damaged_numbers_are_refused) {
  static const struct {
    const char *dataset;
    double value;
  } edits[] = {{"/solids/rest", NAN}, {"/solids/node_mass", 0}, {"/solids/node_mass", INFINITY},
               {"/solids/mass", -1},  {"/solids/mu", NAN},      {"/solids/lambda", INFINITY}};
  const char *path = fixture_path("numbers.h5");
  for (size_t i = 0; i < sizeof edits / sizeof *edits; i++) {
    soft_write(path, 1);
    hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    set_number(file, edits[i].dataset, 1, edits[i].value);
    H5Fclose(file);
    check_refused(path, "/solids");
  }
}

TEST(missing_parts_are_refused) {
  static const char *const names[] = {"/solids/name",
                                      "/solids/law",
                                      "/solids/rest",
                                      "/solids/node_mass",
                                      "/solids/tets",
                                      "/solids/skin",
                                      "/trajectory/node_position",
                                      "/trajectory/node_velocity",
                                      "/trajectory/von_mises",
                                      "/trajectory/elastic_energy",
                                      "/trajectory/least_J"};
  const char *path = fixture_path("missing.h5");
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    soft_write(path, 1);
    hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    H5Ldelete(file, names[i], H5P_DEFAULT);
    H5Fclose(file);
    check_refused(path, names[i]);
  }
}

// Series of another width, and tables whose lengths contradict each other.
TEST(other_shapes_are_refused) {
  static const char *const names[] = {"/trajectory/node_position", "/trajectory/node_velocity",
                                      "/trajectory/von_mises",     "/trajectory/elastic_energy",
                                      "/solids/node_mass",         "/solids/rest"};
  const char *path = fixture_path("shapes.h5");
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    soft_write(path, 2);
    hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT), old = H5Dopen2(file, names[i], H5P_DEFAULT);
    hid_t space = H5Dget_space(old);
    hsize_t size[3];
    int rank = H5Sget_simple_extent_dims(space, size, NULL);
    size[rank > 1 && strncmp(names[i], "/solids", 7) != 0 ? 1 : 0] -= 1;
    H5Sclose(space);
    H5Dclose(old);
    H5Ldelete(file, names[i], H5P_DEFAULT);
    space = H5Screate_simple(rank, size, NULL);
    H5Dclose(H5Dcreate2(file, names[i], H5T_IEEE_F64LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    H5Sclose(space);
    H5Fclose(file);
    check_refused(path, "/");
  }
}
