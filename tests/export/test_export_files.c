// CSV, VTK and GLB files: that they appear whole or not at all, and (CSV) that every number comes back. The insides of
// VTK and GLB are checked by tests/python.
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/atomic_file.h"
#include "base/text_buffer.h"
#include "export/surface.h"
#include "solids_fixture.h"

enum { FRAMES = 40 };

static char *read_file(const char *path, size_t *size) {
  FILE *file = fopen(path, "rb");
  if (!file) return NULL;
  fseek(file, 0, SEEK_END);
  *size = (size_t)ftell(file);
  rewind(file);
  char *text = malloc(*size + 1);
  *size = fread(text, 1, *size, file);
  text[*size] = 0;
  fclose(file);
  return text;
}

static carom_result *make_result(int frames) {
  const char *path = fixture_path("export.h5");
  fixture_write(path, frames);
  carom_result *result = fixture_open(path);
  unlink(path);
  return result;
}

// Splits one record after RFC 4180 in place; returns where the next begins, or null at the end.
static char *split_record(char *at, char **fields, int *count) {
  *count = 0;
  while (*at) {
    char *out = fields[(*count)++] = at;
    bool quoted = *at == '"';
    if (quoted) at++;
    for (; *at; at++) {
      if (quoted && at[0] == '"' && at[1] == '"')
        at++;
      else if (quoted && *at == '"') {
        quoted = false;
        continue;
      } else if (!quoted && (*at == ',' || *at == '\r'))
        break;
      *out++ = *at;
    }
    bool end = *at == '\r';
    if (end && at[1] != '\n') test_fail(__FILE__, __LINE__, "a line does not end in CR LF");
    at += end ? 2 : 1;
    *out = 0;
    if (end) return at;
  }
  return at;
}

static void check_row(char **fields, int frame, int body) {
  carom_pose pose = fixture_pose(frame, body);
  carom_vec3 v = fixture_velocity(frame, body), w = fixture_spin(frame, body);
  double n[15];
  for (int i = 0; i < 15; i++) n[i] = i == 1 ? 0 : strtod(fields[i], NULL);
  CHECK(n[0] == fixture_time(frame));
  CHECK_AT_MOST(fixture_distance(cm_vec3(n[2], n[3], n[4]), pose.p), 1e-13);
  CHECK_AT_MOST(fixture_angle(cm_quat(n[5], n[6], n[7], n[8]), pose.q), 1e-13);
  CHECK_AT_MOST(fixture_distance(cm_vec3(n[9], n[10], n[11]), v), 1e-12);
  CHECK_AT_MOST(fixture_distance(cm_vec3(n[12], n[13], n[14]), w), 1e-11);
}

TEST(csv_comes_back) {
  carom_result *result = make_result(FRAMES);
  REQUIRE(result);
  const char *path = fixture_path("motion.csv"), *audit = fixture_path("motion.audit.csv");
  REQUIRE(carom_export_csv(result, path, NULL, NULL) == CAROM_OK);
  size_t size;
  char *text = read_file(path, &size), *fields[32], *at;
  int count;
  REQUIRE(text);
  at = split_record(text, fields, &count);
  CHECK(count == 15);
  CHECK_TEXT(fields[0], "time (s)");
  CHECK_TEXT(fields[14], "wz (rad/s)");
  for (int f = 0; f < FRAMES; f++) {
    for (int b = 0; b < FIXTURE_BODIES; b++) {
      at = split_record(at, fields, &count);
      REQUIRE(count == 15);
      CHECK_TEXT(fields[1], result->bodies[b].name);
      check_row(fields, f, b);
    }
  }
  CHECK(*at == 0);
  free(text);
  text = read_file(audit, &size);
  REQUIRE(text);
  at = split_record(text, fields, &count);
  CHECK(count == 1 + CAROM_AUDIT_COLUMNS);
  CHECK_TEXT(fields[1], "kinetic (J)");
  CHECK_TEXT(fields[5], "energy_error");
  for (int f = 0; f < FRAMES; f++) {
    at = split_record(at, fields, &count);
    for (int c = 0; c < CAROM_AUDIT_COLUMNS; c++) CHECK(strtod(fields[1 + c], NULL) == fixture_audit(f, c));
  }
  CHECK(*at == 0);
  free(text);
  unlink(path);
  unlink(audit);
  unlink(fixture_path("motion.events.csv"));
  unlink(fixture_path("motion.channels.csv"));
  carom_result_close(result);
}

TEST(csv_events_come_back) {
  static const char *const kinds[] = {"impact", "contact", "stick", "zeno"};
  carom_result *result = make_result(FRAMES);
  REQUIRE(result);
  const char *path = fixture_path("hits.csv"), *events = fixture_path("hits.events.csv");
  REQUIRE(carom_export_csv(result, path, NULL, NULL) == CAROM_OK);
  size_t size;
  int count;
  char *text = read_file(events, &size), *fields[32];
  REQUIRE(text);
  char *at = split_record(text, fields, &count);
  CHECK(count == 14);
  for (int i = 0; i < 2 * FRAMES; i++) {
    carom_contact_event e = fixture_event(i);
    at = split_record(at, fields, &count);
    REQUIRE(count == 14);
    CHECK(strtod(fields[0], NULL) == e.time && strtod(fields[4], NULL) == e.point.x);
    CHECK(strtod(fields[9], NULL) == e.normal.z && strtod(fields[12], NULL) == e.impulse.z);
    CHECK_TEXT(fields[1], kinds[e.kind]);
    CHECK_TEXT(fields[2], result->bodies[e.body_a].name);
    CHECK_TEXT(fields[3], result->bodies[e.body_b].name);
  }
  CHECK(*at == 0);
  free(text);
  unlink(path);
  unlink(events);
  unlink(fixture_path("hits.audit.csv"));
  unlink(fixture_path("hits.channels.csv"));
  carom_result_close(result);
}

TEST(csv_channels_come_back) {
  carom_result *result = make_result(FRAMES);
  REQUIRE(result);
  const char *path = fixture_path("sensed.csv"), *channels = fixture_path("sensed.channels.csv");
  REQUIRE(carom_export_csv(result, path, NULL, NULL) == CAROM_OK);
  size_t size;
  int count;
  char *text = read_file(channels, &size), *fields[32];
  REQUIRE(text);
  char *at = split_record(text, fields, &count);
  REQUIRE(count == 1 + FIXTURE_CHANNELS);
  CHECK_TEXT(fields[0], "time (s)");
  CHECK_TEXT(fields[1], "hinge.angle (rad)");
  CHECK_TEXT(fields[3], "grip, \"left\".fx (N)");
  CHECK_TEXT(fields[4], fixture_channels[3].name);
  for (int f = 0; f < FRAMES; f++) {
    at = split_record(at, fields, &count);
    REQUIRE(count == 1 + FIXTURE_CHANNELS);
    CHECK(strtod(fields[0], NULL) == fixture_time(f));
    for (int c = 0; c < FIXTURE_CHANNELS; c++) CHECK(fixture_same(strtod(fields[1 + c], NULL), fixture_channel(f, c)));
  }
  CHECK(*at == 0);
  free(text);
  unlink(path);
  unlink(channels);
  unlink(fixture_path("sensed.audit.csv"));
  unlink(fixture_path("sensed.events.csv"));
  carom_result_close(result);
}

// ---- whole or not at all -------------------------------------------------------------------------------------------

typedef carom_status exporter(carom_result *, const char *, const carom_progress *, carom_error *);
static exporter *const exporters[] = {carom_export_csv, carom_export_vtk, carom_export_glb};
static const char *const names[] = {"x.csv", "x.pvd", "x.glb"};
enum { EXPORTERS = 3 };

typedef struct stopper {
  int calls, stop_at;
} stopper;

static bool stop_later(void *context, double done, double total) {
  stopper *s = context;
  if (!(done >= 0 && done <= total)) test_fail(__FILE__, __LINE__, "progress %g of %g", done, total);
  return s->calls++ < s->stop_at;
}

// Works on an empty folder only, so it says whether anything was left.
static bool remove_empty(const char *folder) { return rmdir(folder) == 0; }

TEST(interrupted_exports_leave_nothing) {
  carom_result *result = make_result(FRAMES);
  REQUIRE(result);
  char folder[256], path[300];
  snprintf(folder, sizeof folder, "%s", fixture_path("interrupted"));
  for (int e = 0; e < EXPORTERS; e++) {
    for (int stop = 0; stop < 40; stop += 13) {
      stopper s = {0, stop};
      carom_progress progress = {&s, stop_later};
      carom_error error;
      REQUIRE(mkdir(folder, 0777) == 0);
      snprintf(path, sizeof path, "%s/%s", folder, names[e]);
      CHECK(exporters[e](result, path, &progress, &error) == CAROM_INTERRUPTED);
      CHECK_CONTAINS(error.message, "interrupted");
      CHECK(remove_empty(folder));
    }
  }
  carom_result_close(result);
}

TEST(exports_to_bad_places) {
  carom_result *result = make_result(2);
  REQUIRE(result);
  const char *folder = fixture_path("bad");
  char path[300];
  REQUIRE(mkdir(folder, 0777) == 0);
  for (int e = 0; e < EXPORTERS; e++) {
    carom_error error;
    CHECK(exporters[e](result, folder, NULL, &error) == CAROM_ERR_IO);
    CHECK_CONTAINS(error.message, "folder");
    snprintf(path, sizeof path, "%s/missing/%s", folder, names[e]);
    CHECK(exporters[e](result, path, NULL, &error) == CAROM_ERR_IO);
    CHECK_CONTAINS(error.message, "create the folder first");
    CHECK_CONTAINS(error.message, "missing");
  }
  CHECK(remove_empty(folder));
  carom_result_close(result);
}

// Files may not grow beyond 3000 bytes, as on a full disk: an error, and the folder is as empty as before.
TEST(exports_on_a_full_disk) {
  const char *folder = fixture_path("full");
  REQUIRE(mkdir(folder, 0777) == 0);
  carom_result *result = make_result(FRAMES);
  REQUIRE(result);
  for (int e = 0; e < EXPORTERS; e++) {
    pid_t child = fork();
    if (child == 0) {
      char path[300];
      carom_error error = {CAROM_OK, ""};
      struct rlimit limit = {3000, 3000};
      signal(SIGXFSZ, SIG_IGN);
      setrlimit(RLIMIT_FSIZE, &limit);
      snprintf(path, sizeof path, "%s/%s", folder, names[e]);
      carom_status status = exporters[e](result, path, NULL, &error);
      _exit(status == CAROM_ERR_IO && strstr(error.message, "File too large") ? 0 : 1);
    }
    int status;
    waitpid(child, &status, 0);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    CHECK(remove_empty(folder) && mkdir(folder, 0777) == 0);
  }
  rmdir(folder);
  carom_result_close(result);
}

// An older export is replaced, a longer one loses its last frames, and files of others stay.
TEST(vtk_replaces_older_frames_only) {
  const char *folder = fixture_path("vtk");
  char path[300], name[300];
  REQUIRE(mkdir(folder, 0777) == 0);
  snprintf(path, sizeof path, "%s/run.pvd", folder);
  carom_result *longer = make_result(6), *shorter = make_result(3);
  REQUIRE(longer && shorter);
  CHECK(carom_export_vtk(longer, path, NULL, NULL) == CAROM_OK);
  snprintf(name, sizeof name, "%s/run_frames/notes.txt", folder);
  FILE *notes = fopen(name, "w");
  REQUIRE(notes);
  fclose(notes);
  CHECK(carom_export_vtk(shorter, path, NULL, NULL) == CAROM_OK);
  CHECK(unlink(name) == 0);
  for (int i = 0; i < 6; i++) {
    snprintf(name, sizeof name, "%s/run_frames/frame_%06d.vtp", folder, i);
    CHECK((unlink(name) == 0) == (i < 3));
  }
  snprintf(name, sizeof name, "%s/run_frames", folder);
  CHECK(rmdir(name) == 0);
  CHECK(unlink(path) == 0);
  CHECK(remove_empty(folder));
  carom_result_close(longer);
  carom_result_close(shorter);
}

TEST(exports_of_empty_results) {
  carom_result *result = make_result(0);
  REQUIRE(result);
  const char *folder = fixture_path("empty");
  char path[300];
  REQUIRE(mkdir(folder, 0777) == 0);
  for (int e = 0; e < EXPORTERS; e++) {
    snprintf(path, sizeof path, "%s/%s", folder, names[e]);
    CHECK(exporters[e](result, path, NULL, NULL) == CAROM_OK);
    CHECK(unlink(path) == 0);
  }
  for (int i = 0; i < 2; i++) {
    snprintf(path, sizeof path, "%s/x.%s.csv", folder, i == 0 ? "audit" : "channels");
    CHECK(unlink(path) == 0);
  }
  snprintf(path, sizeof path, "%s/x_frames", folder);
  CHECK(rmdir(path) == 0);
  CHECK(remove_empty(folder));
  carom_result_close(result);
}

// ---- atomic files --------------------------------------------------------------------------------------------------

TEST(atomic_files_follow_links_and_spare_devices) {
  const char *folder = fixture_path("links");
  char real[300], link_path[300];
  REQUIRE(mkdir(folder, 0777) == 0);
  snprintf(real, sizeof real, "%s/real.txt", folder);
  snprintf(link_path, sizeof link_path, "%s/link.txt", folder);
  FILE *old = fopen(real, "w");
  REQUIRE(old && fputs("old", old) >= 0 && fclose(old) == 0);
  REQUIRE(symlink("real.txt", link_path) == 0);
  carom_atomic_file file;
  REQUIRE(carom_atomic_file_open(&file, link_path, NULL, NULL) == CAROM_OK);
  CHECK(carom_atomic_file_write(&file, "new!", 4, NULL) == CAROM_OK);
  size_t size;
  char *text = read_file(real, &size);
  CHECK_TEXT(text, "old");  // nothing shows before the commit
  free(text);
  CHECK(carom_atomic_file_commit(&file, NULL) == CAROM_OK);
  text = read_file(real, &size);
  CHECK_TEXT(text, "new!");
  free(text);
  struct stat info;
  CHECK(lstat(link_path, &info) == 0 && S_ISLNK(info.st_mode));
  REQUIRE(carom_atomic_file_open(&file, "/dev/null", NULL, NULL) == CAROM_OK);
  CHECK(carom_atomic_file_write(&file, "x", 1, NULL) == CAROM_OK);
  CHECK(carom_atomic_file_commit(&file, NULL) == CAROM_OK);
  CHECK(stat("/dev/null", &info) == 0 && S_ISCHR(info.st_mode));
  unlink(real);
  unlink(link_path);
  CHECK(remove_empty(folder));
}

TEST(full_device_is_reported) {
  if (access("/dev/full", W_OK) != 0) test_skip("no /dev/full");
  carom_result *result = make_result(FRAMES);
  REQUIRE(result);
  carom_error error;
  CHECK(carom_export_csv(result, "/dev/full", NULL, &error) == CAROM_ERR_IO);
  CHECK_CONTAINS(error.message, "No space left on device");
  CHECK_CONTAINS(error.message, "free some space");
  carom_result_close(result);
}

// ---- text ----------------------------------------------------------------------------------------------------------

TEST(numbers_whatever_the_locale) {
  char out[CAROM_NUMBER_SIZE];
  const char *locales[] = {"C", "de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "ps_AF.UTF-8"};
  const double values[] = {0.1, -1234.5678, 1e300, 5e-324, 0, -0.0, 3, 1e22, 123456789.125, -2.5e-9};
  for (size_t l = 0; l < sizeof locales / sizeof *locales; l++) {
    if (!setlocale(LC_ALL, locales[l])) continue;
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
      int length = carom_number_text(out, values[i], 17);
      CHECK((size_t)length == strlen(out));
      CHECK(!strchr(out, ','));
      CHECK(strspn(out, "0123456789.+-e") == strlen(out));
      setlocale(LC_ALL, "C");
      CHECK(strtod(out, NULL) == values[i]);
      setlocale(LC_ALL, locales[l]);
    }
  }
  setlocale(LC_ALL, "C");
  carom_number_text(out, NAN, 9);
  CHECK_TEXT(out, "nan");
  carom_number_text(out, -INFINITY, 9);
  CHECK_TEXT(out, "-inf");
}

TEST(json_strings_are_always_valid) {
  const struct {
    const char *in, *out;
  } cases[] = {{"", "\"\""},
               {"a\tb\x01", "\"a\\u0009b\\u0001\""},
               {"\\ \"", "\"\\u005c \\u0022\""},
               {"ok \xC3\xA4", "\"ok \xC3\xA4\""},
               {"bad \xC3", "\"bad \xEF\xBF\xBD\""},
               {"\xC0\xAF", "\"\xEF\xBF\xBD\xEF\xBF\xBD\""},                  // overlong '/'
               {"\xED\xA0\x80", "\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\""},  // half of a surrogate pair
               {"\xF0\x9F\x98\x80", "\"\xF0\x9F\x98\x80\""},
               {"\xE2\x80\xA9", "\"\\u2029\""}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    carom_text_buffer text = carom_text_buffer_make(NULL);
    carom_text_buffer_json_string(&text, cases[i].in);
    carom_text_buffer_add_n(&text, "", 1);
    CHECK_TEXT(text.data, cases[i].out);
    carom_text_buffer_release(&text);
  }
}

// RFC 4648, section 10.
TEST(base64_vectors) {
  const char *plain[] = {"", "f", "fo", "foo", "foob", "fooba", "foobar"};
  const char *coded[] = {"", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy"};
  for (int i = 0; i < 7; i++) {
    carom_text_buffer text = carom_text_buffer_make(NULL);
    carom_text_buffer_base64(&text, plain[i], strlen(plain[i]));
    carom_text_buffer_add_n(&text, "", 1);
    CHECK_TEXT(text.data, coded[i]);
    carom_text_buffer_release(&text);
  }
}

// ---- surfaces ------------------------------------------------------------------------------------------------------

// Closed and oriented outwards: every edge is used once in each direction, and the volume by the divergence theorem
// comes near the exact one from below.
static void check_closed(const carom_surface *s, double exact, double loss) {
  double volume = 0;
  int *uses = calloc((size_t)s->vertex_count * (size_t)s->vertex_count, sizeof *uses);
  for (int f = 0; f < s->face_count; f++) {
    int from = s->face_start[f], to = s->face_start[f + 1];
    CHECK(to - from >= 3);
    for (int k = from; k < to; k++) {
      int a = s->face_vertices[k], b = s->face_vertices[k + 1 < to ? k + 1 : from];
      uses[a * s->vertex_count + b]++;
      if (k > from + 1)
        volume += cm_dot(s->vertices[s->face_vertices[from]],
                         cm_cross(s->vertices[s->face_vertices[k - 1]], s->vertices[s->face_vertices[k]])) /
                  6;
    }
  }
  for (int a = 0; a < s->vertex_count; a++)
    for (int b = 0; b < s->vertex_count; b++)
      CHECK(uses[a * s->vertex_count + b] <= 1 && uses[a * s->vertex_count + b] == uses[b * s->vertex_count + a]);
  CHECK(volume <= exact * (1 + 1e-12) && volume >= exact * (1 - loss));
  free(uses);
}

TEST(surfaces_are_closed) {
  const double pi = 3.14159265358979323846;
  const carom_shape *ball = NULL, *pill = NULL, *box = NULL;
  carom_shape_create_sphere(0.5, NULL, &ball, NULL);
  carom_shape_create_capsule(0.5, 2, NULL, &pill, NULL);
  carom_shape_create_box(cm_vec3(1, 2, 3), NULL, &box, NULL);
  for (int detail = 2; detail <= 6; detail += 2) {
    carom_surface_options options = {10, detail};
    carom_allocator allocator = carom_allocator_default();
    carom_surface s;
    double loss = 1.4 / (detail * detail);
    REQUIRE(carom_surface_create(&s, ball, &options, &allocator));
    check_closed(&s, 4 * pi / 3 * 0.125, loss);
    for (int i = 0; i < s.vertex_count; i++) CHECK_NEAR(cm_norm(s.vertices[i]), 0.5, 1e-14);
    carom_surface_release(&s, &allocator);
    REQUIRE(carom_surface_create(&s, pill, &options, &allocator));
    check_closed(&s, 4 * pi / 3 * 0.125 + pi * 0.25 * 2, loss);
    carom_surface_release(&s, &allocator);
    REQUIRE(carom_surface_create(&s, box, &options, &allocator));
    check_closed(&s, 6, 1e-12);
    carom_surface_release(&s, &allocator);
  }
  carom_shape_release(ball);
  carom_shape_release(pill);
  carom_shape_release(box);
}

// ---- solids --------------------------------------------------------------------------------------------------------

static carom_result *make_soft_result(int frames) {
  const char *path = fixture_path("soft-export.h5");
  soft_write(path, frames);
  carom_result *result = fixture_open(path);
  unlink(path);
  return result;
}

// One line a solid and frame, against sums over the nodes.
static void check_solid_line(const fixture *f, const carom_result *result, char **field, int line) {
  int frame = line / FIXTURE_SOLIDS, s = line % FIXTURE_SOLIDS;
  const carom_solid *solid = &f->model->solids[s];
  carom_vec3 p = cm_zero3(), l = cm_zero3(), x = cm_zero3();
  double kinetic = 0;
  for (int i = solid->node_start; i < solid->node_start + solid->node_count; i++) {
    double m = f->model->node_masses[i];
    carom_vec3 r = soft_node(f->model, frame, i), v = soft_node_velocity(frame, i);
    p = cm_axpy(p, m, v);
    x = cm_axpy(x, m / solid->mass, r);
    l = cm_add(l, cm_scale(m, cm_cross(r, v)));
    kinetic += m * cm_norm2(v) / 2;
  }
  CHECK(strtod(field[0], NULL) == fixture_time(frame));
  CHECK_TEXT(field[1], solid->name);
  const double known[10] = {x.x, x.y, x.z, p.x, p.y, p.z, l.x, l.y, l.z, kinetic};
  for (int k = 0; k < 10; k++) CHECK_NEAR(strtod(field[2 + k], NULL), known[k], 1e-12);
  CHECK(strtod(field[12], NULL) == result->elastic_energies[line]);
  CHECK(strtod(field[13], NULL) == result->least_J[line]);
  CHECK(strtod(field[14], NULL) > 0 || frame == 0);
}

TEST(tables_tell_of_solids) {
  fixture f;
  soft_create(&f);
  carom_result *result = make_soft_result(FRAMES);
  char name[300], *field[32];
  const char *path = fixture_path("soft.csv");
  REQUIRE(result && carom_export_csv(result, path, NULL, NULL) == CAROM_OK);
  snprintf(name, sizeof name, "%.*s.solids.csv", (int)strlen(path) - 4, path);
  size_t size;
  int count = 0, lines = 0;
  char *text = read_file(name, &size), *at = text;
  REQUIRE(text);
  at = split_record(at, field, &count);
  CHECK(count == 15);
  CHECK_TEXT(field[1], "solid");
  for (; at && *at && lines < FRAMES * FIXTURE_SOLIDS; lines++) {
    at = split_record(at, field, &count);
    REQUIRE(count == 15);
    check_solid_line(&f, result, field, lines);
  }
  CHECK(lines == FRAMES * FIXTURE_SOLIDS && (!at || !*at));
  free(text);
  unlink(name);
  snprintf(name, sizeof name, "%.*s.events.csv", (int)strlen(path) - 4, path);
  text = read_file(name, &size);
  REQUIRE(text);
  CHECK_CONTAINS(text, ",contact,soft ball,ground,");
  CHECK_CONTAINS(text, ",contact,\"bar, \"\"long\"\"\",soft ball,");
  free(text);
  unlink(name);
  snprintf(name, sizeof name, "%.*s.audit.csv", (int)strlen(path) - 4, path);
  unlink(name);
  unlink(path);
  carom_result_close(result);
  fixture_destroy(&f);
}

// The reader of meshes finds the nodes and tetrahedra in a frame for ParaView, bit for bit; a shorter export, or one
// without solids, removes the frames of an older one.
TEST(frames_for_paraview_hold_the_nodes) {
  fixture f;
  soft_create(&f);
  char path[300], name[300];
  const char *folder = fixture_path("soft-vtk");
  REQUIRE(mkdir(folder, 0777) == 0);
  snprintf(path, sizeof path, "%s/run.pvd", folder);
  carom_result *result = make_soft_result(3), *rigid = make_result(2);
  REQUIRE(result && carom_export_vtk(result, path, NULL, NULL) == CAROM_OK);
  for (int i = 0; i < 3; i++) {
    carom_tets mesh = {0};
    carom_error error = {CAROM_OK, ""};
    snprintf(name, sizeof name, "%s/run_frames/frame_%06d.vtu", folder, i);
    if (carom_tets_read(name, NULL, NULL, &mesh, &error) != CAROM_OK)
      test_fail(__FILE__, __LINE__, "%s", error.message);
    REQUIRE(mesh.node_count == f.model->node_count && mesh.tet_count == f.model->tet_count);
    CHECK(memcmp(mesh.tets, f.model->tets, (size_t)mesh.tet_count * sizeof *mesh.tets) == 0);
    for (int n = 0; n < mesh.node_count; n++) {
      carom_vec3 known = soft_node(f.model, i, n);
      CHECK(memcmp(&mesh.nodes[n], &known, sizeof known) == 0);
    }
    carom_tets_release(&mesh);
  }
  REQUIRE(carom_export_vtk(rigid, path, NULL, NULL) == CAROM_OK);
  for (int i = 0; i < 3; i++) {
    snprintf(name, sizeof name, "%s/run_frames/frame_%06d.vtu", folder, i);
    CHECK(access(name, F_OK) != 0);
    snprintf(name, sizeof name, "%s/run_frames/frame_%06d.vtp", folder, i);
    CHECK((unlink(name) == 0) == (i < 2));
  }
  snprintf(name, sizeof name, "%s/run_frames", folder);
  CHECK(rmdir(name) == 0 && unlink(path) == 0 && rmdir(folder) == 0);
  carom_result_close(result);
  carom_result_close(rigid);
  fixture_destroy(&f);
}

// Solids alone, without any body, come through every export.
TEST(exports_without_bodies) {
  char name[300];
  const char *source = fixture_path("alone.h5"), *path = fixture_path("alone.out");
  soft_write_with(source, 2, &(soft_options){.without_bodies = true, .shells = 2});
  carom_result *result = fixture_open(source);
  unlink(source);
  REQUIRE(result && result->body_count == 0);
  for (size_t i = 0; i < sizeof exporters / sizeof *exporters; i++) {
    carom_error error = {CAROM_OK, ""};
    if (exporters[i](result, path, NULL, &error) != CAROM_OK) test_fail(__FILE__, __LINE__, "%s", error.message);
    CHECK(unlink(path) == 0);
  }
  static const char *const beside[] = {".solids.csv",
                                       ".audit.csv",
                                       ".events.csv",
                                       "_frames/frame_000000.vtp",
                                       "_frames/frame_000000.vtu",
                                       "_frames/frame_000001.vtp",
                                       "_frames/frame_000001.vtu"};
  for (size_t i = 0; i < sizeof beside / sizeof *beside; i++) {
    snprintf(name, sizeof name, "%s%s", path, beside[i]);
    CHECK(unlink(name) == 0);
  }
  snprintf(name, sizeof name, "%s_frames", path);
  CHECK(rmdir(name) == 0);
  carom_result_close(result);
}
