// Smooth and rounded shapes on their way through scenes, result files and exports, and the surfaces that stand for
// them.
#include <sys/stat.h>

#include "export/export.h"
#include "failing_allocator.h"
#include "result/h5.h"
#include "result_fixture.h"

static const char scene_text[] =
    "carom: 1\ntitle: smooth\nintegrator: {name: dcr}\ndefaults: {body: {density: 2}}\nbodies:\n"
    "  - {position: [0, 0, 0], shape: {ellipsoid: [0.3, 0.5, 0.9]}}\n"
    "  - {position: [3, 0, 0], shape: {cylinder: {radius: 0.3, height: 0.7, exact: true}}}\n"
    "  - {position: [6, 0, 0], shape: {cone: {radius: 0.4, height: 1.1, exact: true}}}\n"
    "  - {position: [9, 0, 0], shape: {rounded: {shape: {box: [0.3, 0.5, 0.7]}, radius: 0.1}}}\n"
    "  - {position: [12, 0, 0], shape: {rounded: {shape: {pyramid: {sides: 5, radius: 1, height: 0.5}}, radius: "
    "0.3}}}\n"
    "  - {position: [15, 0, 0], shape: {box: [1, 1, 1]}}\n";

enum { BODIES = 6 };

static carom_scene *scene_of(void) {
  carom_scene *scene = NULL;
  carom_diagnostics d;
  carom_scene_parse(&(carom_bytes){"smooth.yaml", scene_text, strlen(scene_text)}, NULL, NULL, &scene, &d);
  if (d.count > 0) test_fail(__FILE__, __LINE__, "%s", d.items[0].message);
  carom_diagnostics_release(&d);
  return scene;
}

static carom_result *record(const carom_scene *scene, const char *path) {
  carom_recorder *recorder = NULL;
  carom_audit_sample sample = {0};
  CHECK(carom_recorder_open(path, scene, &(carom_recorder_options){.overwrite = true}, NULL, &recorder, NULL) ==
        CAROM_OK);
  CHECK(carom_recorder_frame(recorder, scene->state, &sample, NULL) == CAROM_OK);
  CHECK(carom_recorder_finish(recorder, NULL, "complete", NULL) == CAROM_OK);
  carom_recorder_close(recorder);
  return fixture_open(path);
}

TEST(shapes_come_back) {
  carom_scene *scene = scene_of();
  REQUIRE(scene);
  const char *path = fixture_path("smooth.h5");
  carom_result *r = record(scene, path);
  unlink(path);
  REQUIRE(r && r->shape_count == BODIES);
  for (int i = 0; i < BODIES; i++) {
    const carom_shape *a = scene->model->parts[i].shape, *b = r->shapes[r->parts[i].shape];
    carom_mass ma, mb;
    CHECK(carom_shape_get_kind(a) == carom_shape_get_kind(b) && carom_shape_radius(a) == carom_shape_radius(b));
    carom_vec3 ha = carom_shape_half_axes(a), hb = carom_shape_half_axes(b);
    CHECK(ha.x == hb.x && ha.y == hb.y && ha.z == hb.z);
    REQUIRE(carom_shape_mass(a, 1, &ma, NULL) == CAROM_OK && carom_shape_mass(b, 1, &mb, NULL) == CAROM_OK);
    CHECK_NEAR(mb.mass, ma.mass, 1e-15 * ma.mass);
    for (int k = 0; k < 9; k++) CHECK_NEAR((&mb.inertia.m[0][0])[k], (&ma.inertia.m[0][0])[k], 1e-15);
    CHECK_NEAR(carom_shape_bounding_radius(b), carom_shape_bounding_radius(a), 1e-15);
  }
  carom_result_close(r);
  carom_scene_destroy(scene);
}

// Opens the file for writing, removes or overwrites one dataset.
static void spoil(const char *path, const char *dataset, const double *values) {
  hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
  REQUIRE(file >= 0);
  if (values) {
    hid_t data = H5Dopen2(file, dataset, H5P_DEFAULT);
    CHECK(H5Dwrite(data, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
    H5Dclose(data);
  } else {
    CHECK(H5Ldelete(file, dataset, H5P_DEFAULT) >= 0);
  }
  H5Fclose(file);
}

static void check_refused(const char *path, const char *message) {
  carom_result *r = NULL;
  carom_error error = {CAROM_OK, ""};
  CHECK(carom_result_open(path, NULL, &r, &error) == CAROM_ERR_FORMAT);
  CHECK_CONTAINS(error.message, message);
}

TEST(spoilt_files_are_refused) {
  carom_scene *scene = scene_of();
  REQUIRE(scene);
  const char *path = fixture_path("spoilt.h5");
  const double radius[BODIES] = {0, 0, 0, NAN, 0.1, 0}, axes[3 * BODIES] = {1, 1, 1, 1, 1, -1, 1, 1, 1};
  carom_result_close(record(scene, path));
  spoil(path, "/shapes/radius", radius);
  check_refused(path, "the radius of the rounding is nan");
  carom_result_close(record(scene, path));
  spoil(path, "/shapes/half_axes", axes);
  check_refused(path, "shape 1 of");
  spoil(path, "/shapes/half_axes", NULL);
  check_refused(path, "half axes are missing");
  unlink(path);
  carom_scene_destroy(scene);
}

// A file of the first kinds only, without the newer table.
TEST(older_files_are_read) {
  const char *path = fixture_path("older.h5");
  fixture_write(path, 2);
  spoil(path, "/shapes/half_axes", NULL);
  carom_result *r = fixture_open(path);
  unlink(path);
  REQUIRE(r);
  CHECK(r->shape_count == FIXTURE_SHAPES && carom_shape_half_axes(r->shapes[1]).x == 0);
  carom_result_close(r);
}

static bool has_content(const char *path) {
  struct stat info;
  return stat(path, &info) == 0 && info.st_size > 1000;
}

static int count_of(const char *text, const char *part) {
  int n = 0;
  for (const char *at = strstr(text, part); at; at = strstr(at + 1, part)) n++;
  return n;
}

TEST(exports_work) {
  carom_scene *scene = scene_of();
  REQUIRE(scene);
  const char *path = fixture_path("export.h5"), *glb = fixture_path("export.glb"), *pvd = fixture_path("export.pvd");
  carom_result *r = record(scene, path);
  unlink(path);
  REQUIRE(r);
  carom_error error = {CAROM_OK, ""};
  CHECK(carom_export_glb(r, glb, NULL, &error) == CAROM_OK && has_content(glb));
  CHECK(carom_export_vtk(r, pvd, NULL, &error) == CAROM_OK);
  char frame[300];
  snprintf(frame, sizeof frame, "%.*s_frames", (int)strlen(pvd) - 4, pvd);
  char file[400];
  snprintf(file, sizeof file, "%s/frame_000000.vtp", frame);
  CHECK(has_content(file));
  unlink(file), rmdir(frame), unlink(pvd), unlink(glb);
  carom_text_buffer text = carom_text_buffer_make(NULL);
  CHECK(carom_replay_elements(r, NULL, &text, &error) == CAROM_OK);
  carom_text_buffer_add_n(&text, "", 1);
  CHECK(count_of(text.data, "\"kind\":\"mesh\"") == BODIES);
  CHECK(count_of(text.data, "\"kind\":") == BODIES && !strstr(text.data, "nan") && !strstr(text.data, "null,null"));
  printf("replay of %d shapes: %zu bytes\n", BODIES, text.length);
  carom_text_buffer_release(&text);
  carom_result_close(r);
  carom_scene_destroy(scene);
}

TEST(surfaces_run_out_of_memory) {
  carom_scene *scene = scene_of();
  REQUIRE(scene);
  const char *path = fixture_path("memory.h5");
  carom_result *r = record(scene, path);
  unlink(path);
  REQUIRE(r);
  for (int s = 0; s < BODIES; s++) {
    carom_surface surface;
    carom_surface_options options = {1, 4};
    int n = 0;
    for (bool enough = false; !enough; n++) {
      failing_allocator f = {.allowed = n};
      carom_allocator a = failing_allocator_of(&f);
      enough = carom_surface_create(&surface, r->shapes[s], &options, &a);
      if (enough) carom_surface_release(&surface, &a);
      CHECK(f.live == 0);
    }
    CHECK(n > 3);
  }
  carom_result_close(r);
  carom_scene_destroy(scene);
}

// ---- surfaces ------------------------------------------------------------------------------------------------------

// Volume by the fan of every face from the origin, which is inside.
static double volume_of(const carom_surface *s) {
  double sum = 0;
  for (int f = 0; f < s->face_count; f++) {
    const int *c = s->face_vertices + s->face_start[f];
    for (int i = 1; i + 1 < s->face_start[f + 1] - s->face_start[f]; i++) {
      double six = cm_dot(s->vertices[c[0]], cm_cross(s->vertices[c[i]], s->vertices[c[i + 1]]));
      CHECK(six > 0);  // turned outwards
      sum += six / 6;
    }
  }
  return sum;
}

static int find_point(const carom_surface *s, int v) {
  for (int i = 0; i < v; i++)
    if (cm_norm(cm_sub(s->vertices[i], s->vertices[v])) < 1e-12) return i;
  return v;
}

// Closed: every side of a face is once a side of another, backwards, counting equal points as one.
static void check_closed(const carom_surface *s) {
  int n = s->vertex_count, points = 0, sides = s->corner_count;
  int *point = calloc((size_t)n, sizeof *point);
  signed char *balance = calloc((size_t)n * (size_t)n, 1);
  for (int v = 0; v < n; v++) point[v] = find_point(s, v), points += point[v] == v;
  for (int f = 0; f < s->face_count; f++) {
    int from = s->face_start[f], count = s->face_start[f + 1] - from;
    for (int i = 0; i < count; i++) {
      int a = point[s->face_vertices[from + i]], b = point[s->face_vertices[from + (i + 1) % count]];
      CHECK(a != b && balance[a * n + b] == 0);
      balance[a * n + b] = 1;
    }
  }
  for (int a = 0; a < n; a++)
    for (int b = 0; b < a; b++) CHECK(balance[a * n + b] == balance[b * n + a]);
  CHECK(points - sides / 2 + s->face_count == 2);
  free(point);
  free(balance);
}

// At every vertex the normal n is that of a supporting plane: no point of the surface lies beyond it.
static void check_normals(const carom_surface *s, double slack) {
  for (int v = 0; v < s->vertex_count; v++) {
    CHECK_NEAR(cm_norm(s->normals[v]), 1, 1e-14);
    double height = cm_dot(s->normals[v], s->vertices[v]), most = -INFINITY;
    for (int w = 0; w < s->vertex_count; w++) most = fmax(most, cm_dot(s->normals[v], s->vertices[w]));
    CHECK_AT_MOST(most - height, slack);
  }
}

TEST(surfaces_are_closed_and_close) {
  carom_scene *scene = scene_of();
  REQUIRE(scene);
  for (int i = 0; i + 1 < BODIES; i++) {
    const carom_shape *shape = scene->model->parts[i].shape;
    carom_mass exact;
    REQUIRE(carom_shape_mass(shape, 1, &exact, NULL) == CAROM_OK);
    double missing[3];
    for (int k = 0; k < 3; k++) {
      carom_surface s;
      carom_surface_options options = {1, 3 << k};
      carom_allocator a = carom_allocator_default();
      REQUIRE(carom_surface_create(&s, shape, &options, &a));
      missing[k] = 1 - volume_of(&s) / exact.mass;
      if (k < 2) check_closed(&s);
      check_normals(&s, 1e-13);
      carom_surface_release(&s, &a);
    }
    printf("shape %d: volume missing %.2g %.2g %.2g\n", i, missing[0], missing[1], missing[2]);
    CHECK(missing[2] > 0 && missing[1] > 2.5 * missing[2] && missing[0] > 2.5 * missing[1]);  // inside; second order
    CHECK_AT_MOST(missing[2], 0.012);
  }
  carom_scene_destroy(scene);
}
