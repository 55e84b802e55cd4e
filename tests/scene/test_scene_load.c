// Files: includes with folders and meshes, hostile files, and failing memory.
#include <sys/stat.h>
#include <unistd.h>

#include "carom/result.h"
#include "scene/keys.h"
#include "test.h"

static char folder[200];

static void make_folder(void) {
  snprintf(folder, sizeof folder, "/tmp/carom_test_XXXXXX");
  if (!mkdtemp(folder)) test_skip("no temporary folder");
}

static const char *path_of(const char *name) {
  static char path[400];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  return path;
}

static void put_file(const char *name, const char *text) {
  FILE *f = fopen(path_of(name), "wb");
  if (!f) test_skip("cannot write a temporary file");
  fputs(text, f);
  fclose(f);
}

static void remove_folder(void) {
  char command[300];
  snprintf(command, sizeof command, "rm -r '%s'", folder);
  if (system(command) != 0) test_fail(__FILE__, __LINE__, "%s", command);
}

static carom_scene *read_scene(const char *name, carom_diagnostics *d) {
  carom_scene *scene;
  carom_scene_read(path_of(name), NULL, NULL, &scene, d);
  return scene;
}

static const char tetrahedron[] = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";

TEST(includes_find_their_neighbours) {
  make_folder();
  mkdir(path_of("parts"), 0700);
  put_file("parts/tetra.obj", tetrahedron);
  put_file("parts/lib.yaml",
           "include: deep/more.yaml\nshapes: {tetra: {mesh: {file: tetra.obj, scale: 2}}}\nduration: 5\n");
  mkdir(path_of("parts/deep"), 0700);
  put_file("parts/deep/near.obj", tetrahedron);
  put_file("parts/deep/more.yaml",
           "constants: {x: 3}\nbodies:\n  - {name: first, shape: {sphere: x}}\n"
           "  - {name: near, shape: {mesh: {file: near.obj}}, position: [-20, 0, 0]}\n");
  put_file("scene.yaml",
           "carom: 1\ninclude: [parts/lib.yaml]\nduration: 4\nintegrator: {name: dcr}\nbodies:\n"
           "  - {name: second, shape: tetra, density: 6, position: [x*3, 0, 0]}\n");
  carom_diagnostics d;
  carom_scene *s = read_scene("scene.yaml", &d);
  CHECK(d.count == 0);
  REQUIRE(s);
  CHECK(s->duration == 4 && s->model->body_count == 3);
  CHECK_TEXT(s->model->bodies[0].name, "first");
  CHECK_NEAR(s->model->bodies[2].mass, 8, 1e-13);  // (2^3 / 6) * 6
  CHECK_CONTAINS(s->resolved, "file: parts/tetra.obj");
  static const char *const opened[] = {"/scene.yaml", "/parts/lib.yaml", "/parts/deep/more.yaml", "/parts/tetra.obj",
                                       "/parts/deep/near.obj"};
  CHECK(s->file_count == 5);
  for (int i = 0; i < 5; i++) {
    bool found = false;
    for (int k = 0; k < s->file_count; k++) found = found || strstr(s->files[k], opened[i]);
    if (!found) test_fail(__FILE__, __LINE__, "%s is not among the files", opened[i]);
  }
  carom_scene *again;
  carom_diagnostics e;
  carom_scene_parse(&(carom_bytes){s->path, s->resolved, strlen(s->resolved)}, NULL, NULL, &again, &e);
  REQUIRE(again);
  CHECK(carom_state_hash(s->state) == carom_state_hash(again->state));
  carom_scene_destroy(again);
  carom_diagnostics_release(&e);
  carom_scene_destroy(s);
  carom_diagnostics_release(&d);
  remove_folder();
}

TEST(pipes_do_not_hang) {
  make_folder();
  if (mkfifo(path_of("pipe"), 0600) != 0) test_skip("no pipes here");
  put_file("scene.yaml", "carom: 1\ninclude: pipe\nshapes: {a: {mesh: {file: pipe}}}\n");
  carom_diagnostics d;
  CHECK(!read_scene("scene.yaml", &d));
  CHECK(d.error_count == 2);
  carom_diagnostics_release(&d);
  CHECK(!read_scene("pipe", &d));
  CHECK(d.error_count == 1);
  carom_diagnostics_release(&d);
  remove_folder();
}

// Each file includes the next one twice: without a bound on their number, 2^15 files.
TEST(includes_do_not_multiply) {
  make_folder();
  for (int i = 0; i < 15; i++) {
    char name[40], text[100];
    snprintf(name, sizeof name, "f%d.yaml", i);
    snprintf(text, sizeof text, i < 14 ? "carom: 1\ninclude: [f%d.yaml, f%d.yaml]\n" : "seed: 1\n", i + 1, i + 1);
    put_file(name, text);
  }
  carom_diagnostics d;
  CHECK(!read_scene("f0.yaml", &d));
  CHECK(d.error_count > 0);
  CHECK_TEXT(d.items[0].message, "too many includes");
  carom_diagnostics_release(&d);
  remove_folder();
}

TEST(large_files_are_refused) {
  make_folder();
  put_file("scene.yaml", "carom: 1\n");
  if (truncate(path_of("scene.yaml"), 65L << 20) != 0) test_skip("cannot enlarge a file");
  carom_diagnostics d;
  CHECK(!read_scene("scene.yaml", &d));
  REQUIRE(d.count == 1);
  CHECK_CONTAINS(d.items[0].message, "too large");
  carom_diagnostics_release(&d);
  remove_folder();
}

// ---- progress -------------------------------------------------------------------------------------------

typedef struct listener {
  int calls, refused_at;
  double last;
} listener;

static bool listen(void *context, double done, double total) {
  listener *l = context;
  CHECK(done > l->last && done < total && total == 20000);
  l->last = done;
  return ++l->calls != l->refused_at;
}

// Long arrays tell how far they are, as often on every machine, and can be stopped.
TEST(reading_many_bodies_tells_its_progress) {
  static const char text[] =
      "carom: 1\nbodies:\n  - {name: g, shape: {sphere: 1 cm}, density: 1, replicate: {grid: {count: [20, 20, 50], "
      "spacing: 0.03}}}\ncontacts: ignore\nduration: 1\n";
  for (int refused_at = 0; refused_at < 3; refused_at += 2) {
    listener l = {.refused_at = refused_at};
    carom_scene_options options = carom_scene_default_options();
    options.progress = (carom_progress){&l, listen};
    carom_scene *scene;
    carom_diagnostics d;
    carom_status status =
        carom_scene_parse(&(carom_bytes){"many.yaml", text, sizeof text - 1}, &options, NULL, &scene, &d);
    CHECK(l.calls == (refused_at ? 2 : 4));
    CHECK(status == (refused_at ? CAROM_ERR_SCENE : CAROM_OK));
    if (refused_at) {
      REQUIRE(d.count == 1);
      CHECK_CONTAINS(d.items[0].message, "reading was stopped after 8192 of 20000 copies");
    }
    carom_scene_destroy(scene);
    carom_diagnostics_release(&d);
  }
}

// ---- memory that runs out ------------------------------------------------------------------------------

typedef struct countdown {
  long left;  // allocations that still succeed
  long live;  // blocks not yet released
} countdown;

static void *failing_allocate(void *context, size_t size) {
  countdown *c = context;
  if (c->left-- <= 0) return NULL;
  void *block = malloc(size);
  if (block) c->live++;
  return block;
}

static void *failing_resize(void *context, void *block, size_t size) {
  countdown *c = context;
  if (c->left-- <= 0) return NULL;
  if (!block) c->live++;
  return realloc(block, size);
}

static void failing_release(void *context, void *block) {
  if (block) ((countdown *)context)->live--;
  free(block);
}

static void exhaust(const char *path) {
  for (long n = 0; n < 100000; n++) {
    countdown c = {.left = n};
    carom_allocator a = {&c, failing_allocate, failing_resize, failing_release};
    carom_scene *s;
    carom_diagnostics d;
    carom_status status = carom_scene_read(path, NULL, &a, &s, &d);
    bool complete = c.left >= 0;
    CHECK(s ? status == CAROM_OK : status != CAROM_OK);
    carom_scene_destroy(s);
    carom_diagnostics_release(&d);
    if (c.live != 0) test_fail(__FILE__, __LINE__, "%s, %ld allocations: %ld blocks leaked", path, n, c.live);
    if (complete) {
      CHECK(n > 10);
      return;
    }
    CHECK(status == CAROM_ERR_MEMORY || status == CAROM_ERR_SCENE);
  }
  test_fail(__FILE__, __LINE__, "%s never succeeded", path);
}

TEST(memory_runs_out_in_a_good_scene) { exhaust(CAROM_TEST_DATA "/scenes/full.yaml"); }

TEST(memory_runs_out_in_broken_scenes) {
  exhaust(CAROM_TEST_DATA "/bad/many_mistakes.yaml");
  exhaust(CAROM_TEST_DATA "/bad/error_in_include.yaml");
  exhaust(CAROM_TEST_DATA "/bad/inertia.yaml");
  exhaust(CAROM_TEST_DATA "/bad/dented_mesh.yaml");
}

// ---- the reference documents every key -----------------------------------------------------------------

static char reference[1 << 18];

static bool read_reference(void) {
  FILE *f = fopen(CAROM_TEST_DATA "/../../docs/scene-reference.md", "rb");
  if (!f) return false;
  size_t n = fread(reference, 1, sizeof reference - 1, f);
  fclose(f);
  reference[n] = '\0';
  return true;
}

TEST(every_key_is_documented) {
  REQUIRE(read_reference());
  for (int s = 0; s < CAROM_SECTION_COUNT; s++) {
    const carom_section_keys *section = &carom_scene_sections[s];
    char heading[100];
    snprintf(heading, sizeof heading, "<a id=\"%s\"></a>", section->name);
    for (char *c = heading + 7; *c && *c != '"'; c++)
      if (*c == ' ') *c = '-';
    const char *start = strstr(reference, heading);
    if (!start) {
      test_fail(__FILE__, __LINE__, "the reference has no section %s", section->name);
      continue;
    }
    const char *end = strstr(start + 1, "<a id=");
    size_t length = end ? (size_t)(end - start) : strlen(start);
    for (int k = 0; k < section->count; k++) {
      char row[100];
      snprintf(row, sizeof row, "| `%s` |", section->keys[k]);
      const char *found = strstr(start, row);
      if (!found || found >= start + length)
        test_fail(__FILE__, __LINE__, "section %s of the reference lacks '%s'", section->name, section->keys[k]);
    }
  }
}

TEST(the_first_example_of_the_reference_works) {
  REQUIRE(read_reference());
  char *start = strstr(reference, "```yaml\n"), *end = start ? strstr(start + 8, "```") : NULL;
  REQUIRE(end);
  carom_scene *s;
  carom_diagnostics d;
  CHECK(carom_scene_parse(&(carom_bytes){"reference.yaml", start + 8, (size_t)(end - start - 8)}, NULL, NULL, &s, &d) ==
        CAROM_OK);
  CHECK(d.count == 0);
  carom_scene_destroy(s);
  carom_diagnostics_release(&d);
}

TEST(the_example_of_solids_in_the_reference_works) {
  REQUIRE(read_reference());
  char *section = strstr(reference, "<a id=\"solid\">"), *start = section ? strstr(section, "```yaml\n") : NULL;
  char *end = start ? strstr(start + 8, "```") : NULL;
  REQUIRE(end);
  carom_scene *s;
  carom_diagnostics d;
  CHECK(carom_scene_parse(&(carom_bytes){"solids.yaml", start + 8, (size_t)(end - start - 8)}, NULL, NULL, &s, &d) ==
        CAROM_OK);
  REQUIRE(s);
  CHECK(d.count == 0 && s->model->solid_count == 2 && s->model->body_count == 1);
  carom_error error;
  CHECK(carom_step_check_start(s->model, s->state, &s->step, &error) == CAROM_OK);
  carom_scene_destroy(s);
  carom_diagnostics_release(&d);
}
