// Broken scenes: tests/data/bad/NAME.yaml must give exactly the lines of NAME.expected. Lines "#set a.b=c" in a scene
// are overrides.
#include <dirent.h>

#include "carom/result.h"
#include "test.h"

#define FOLDER CAROM_TEST_DATA "/bad/"

static char *read_text(const char *path) {
  FILE *f = fopen(path, "rb");
  if (!f) return NULL;
  char *text = calloc(1, 1 << 20);
  size_t n = text ? fread(text, 1, (1 << 20) - 1, f) : 0;
  if (text) text[n] = '\0';
  fclose(f);
  return text;
}

static int find_overrides(char *text, const char **overrides, int most) {
  int count = 0;
  for (char *line = strtok(text, "\n"); line && count < most; line = strtok(NULL, "\n"))
    if (strncmp(line, "#set ", 5) == 0) overrides[count++] = line + 5;
  return count;
}

static void drop_folder(char *line) {
  for (char *at; (at = strstr(line, FOLDER));) memmove(at, at + strlen(FOLDER), strlen(at + strlen(FOLDER)) + 1);
}

// All findings, one a line, without the folder of the test data.
static void format_all(const carom_diagnostics *d, char *text, size_t size) {
  text[0] = '\0';
  for (int i = 0; i < d->count; i++) {
    char line[2000];
    carom_diagnostic_format(&d->items[i], line, sizeof line);
    drop_folder(line);
    size_t n = strlen(text);
    snprintf(text + n, size - n, "%s\n", line);
  }
}

static void check_scene(const char *name) {
  char path[4000], expected_path[4000];
  snprintf(path, sizeof path, FOLDER "%s", name);
  snprintf(expected_path, sizeof expected_path, FOLDER "%.*s.expected", (int)(strlen(name) - 5), name);
  char *source = read_text(path), *expected = read_text(expected_path);
  if (!source || !expected) {
    test_fail(__FILE__, __LINE__, "%s or its .expected file is missing", name);
    return;
  }
  const char *overrides[20];
  carom_scene_options options = carom_scene_default_options();
  options.override_count = find_overrides(source, overrides, 20);
  options.overrides = overrides;
  carom_scene *scene;
  carom_diagnostics diagnostics;
  carom_status status = carom_scene_read(path, &options, NULL, &scene, &diagnostics);
  static char got[1 << 16];
  format_all(&diagnostics, got, sizeof got);
  if (status != CAROM_ERR_SCENE || scene) test_fail(__FILE__, __LINE__, "%s: status %d", name, status);
  if (diagnostics.error_count < 1) test_fail(__FILE__, __LINE__, "%s: no error", name);
  if (strcmp(got, expected) != 0) test_fail(__FILE__, __LINE__, "%s gave\n%sexpected\n%s", name, got, expected);
  carom_scene_destroy(scene);
  carom_diagnostics_release(&diagnostics);
  free(source);
  free(expected);
}

TEST(all_broken_scenes) {
  DIR *folder = opendir(FOLDER);
  REQUIRE(folder);
  int count = 0;
  for (struct dirent *e; (e = readdir(folder));) {
    size_t n = strlen(e->d_name);
    if (n < 6 || strcmp(e->d_name + n - 5, ".yaml") != 0) continue;
    check_scene(e->d_name);
    count++;
  }
  closedir(folder);
  CHECK(count >= 80);
}

static carom_status parse(const char *text, const carom_scene_options *options, carom_diagnostics *diagnostics) {
  carom_scene *scene;
  carom_status status =
      carom_scene_parse(&(carom_bytes){"text.yaml", text, strlen(text)}, options, NULL, &scene, diagnostics);
  carom_scene_destroy(scene);
  return status;
}

TEST(missing_file_is_a_diagnostic) {
  carom_scene *scene;
  carom_diagnostics d;
  CHECK(carom_scene_read("/no/such/scene.yaml", NULL, NULL, &scene, &d) == CAROM_ERR_SCENE);
  CHECK(!scene);
  REQUIRE(d.count == 1);
  char line[200];
  carom_diagnostic_format(&d.items[0], line, sizeof line);
  CHECK_TEXT(line, "/no/such/scene.yaml: error: cannot read the scene: No such file or directory");
  carom_diagnostics_release(&d);
  CHECK(d.count == 0 && !d.items);
  carom_diagnostics_release(&d);
}

TEST(folders_and_devices_are_refused) {
  static const char *const paths[] = {"/dev/zero", "/dev", "/dev/stdin"};
  for (int i = 0; i < 2; i++) {
    carom_scene *scene;
    carom_diagnostics d;
    CHECK(carom_scene_read(paths[i], NULL, NULL, &scene, &d) == CAROM_ERR_SCENE);
    CHECK(d.error_count == 1);
    carom_diagnostics_release(&d);
  }
}

TEST(self_contained_scenes_open_nothing) {
  carom_scene_options options = carom_scene_default_options();
  options.self_contained = true;
  carom_diagnostics d;
  const char *text = "carom: 1\ninclude: a.yaml\nshapes: {s: {mesh: {file: /etc/passwd}}}\n";
  CHECK(parse(text, &options, &d) == CAROM_ERR_SCENE);
  REQUIRE(d.error_count == 2);
  CHECK_TEXT(d.items[0].message, "this scene may not open other files");
  CHECK(d.items[0].line == 2 && d.items[0].column == 10);
  CHECK(d.items[1].line == 3);
  carom_diagnostics_release(&d);
}

TEST(body_limit) {
  carom_scene_options options = carom_scene_default_options();
  options.max_bodies = 10;
  carom_diagnostics d;
  const char *text =
      "carom: 1\nbodies:\n  - {shape: {sphere: 1}, replicate: {stack: {count: 8, spacing: 3}}}\n"
      "  - {shape: {sphere: 1}, position: [9, 0, 0], replicate: {stack: {count: 3, spacing: 3}}}\n";
  CHECK(parse(text, &options, &d) == CAROM_ERR_SCENE);
  REQUIRE(d.error_count == 1);
  CHECK_TEXT(d.items[0].message, "the scene has more than 10 bodies: 11 here");
  carom_diagnostics_release(&d);
}

TEST(warnings_do_not_refuse) {
  carom_diagnostics d;
  const char *text =
      "carom: 1\nduration: 1.0005\noutput: {interval: 1.5 ms}\nbodies:\n"
      "  - {name: a, shape: {sphere: 1}}\n  - {name: b, shape: {sphere: 2}, position: [0, 0, 1]}\n"
      "integrator: {name: dcr}\nstart: {overlap: separate}\n";
  CHECK(parse(text, NULL, &d) == CAROM_OK);
  REQUIRE(d.count == 4 && d.error_count == 0);
  CHECK(d.items[0].warning && d.items[0].line == 2);
  CHECK_CONTAINS(d.items[0].message, "not a whole number of steps");
  CHECK(d.items[1].warning && d.items[1].line == 3);
  CHECK(d.items[2].warning && d.items[2].line == 5);
  CHECK_CONTAINS(d.items[2].message, "'a' was moved by 1.78 m, so that nothing overlaps");  // masses are as 1 to 8
  CHECK(d.items[3].warning && d.items[3].line == 6);
  char line[300];
  carom_diagnostic_format(&d.items[2], line, sizeof line);
  CHECK_CONTAINS(line, "text.yaml:5:5: warning: ");
  carom_diagnostics_release(&d);
}

TEST(control_characters_do_not_reach_messages) {
  carom_diagnostics d;
  CHECK(parse("carom: 1\n\"a\\nb\\e[31m\": 3\n", NULL, &d) == CAROM_ERR_SCENE);
  for (int i = 0; i < d.count; i++)
    for (const char *c = d.items[i].message; *c; c++) CHECK((unsigned char)*c >= 0x20);
  carom_diagnostics_release(&d);
}

TEST(formatting_is_like_snprintf) {
  carom_diagnostic d = {.file = (char *)"f.yaml", .line = 3, .column = 7, .message = (char *)"bad", .hint = (char *)""};
  char text[100];
  CHECK(carom_diagnostic_format(&d, text, sizeof text) == (int)strlen("f.yaml:3:7: error: bad"));
  CHECK_TEXT(text, "f.yaml:3:7: error: bad");
  d.hint = (char *)"mend it";
  d.warning = true;
  CHECK(carom_diagnostic_format(&d, NULL, 0) == (int)strlen("f.yaml:3:7: warning: bad (mend it)"));
}
