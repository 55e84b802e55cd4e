// Files that a scene draws in: the input is an included file, a mesh as .obj and one as .stl, one after the other, with
// lines "%%" between them.
#include "carom/scene.h"
#include "fuzz_files.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void) { return "leak:libfyaml.so\n"; }

static const char SCENE[] =
    "carom: 1\ninclude: part.yaml\nbodies:\n  - {name: a, shape: {mesh: {file: a.obj, hull: true}}, density: 10}\n"
    "  - {name: b, shape: {mesh: {file: b.stl}}, density: 10, position: [1e3, 0, 0]}\nduration: 1\n";

static const uint8_t *find_end(const uint8_t *from, const uint8_t *end) {
  for (const uint8_t *p = from; end - p >= 4; p++)
    if (memcmp(p, "\n%%\n", 4) == 0) return p;
  return end;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const char *const names[] = {"part.yaml", "a.obj", "b.stl"};
  const uint8_t *at = data, *end = data + size;
  fuzz_folder();
  fuzz_put_text("scene.yaml", SCENE);
  for (int i = 0; i < 3; i++) {
    const uint8_t *stop = i < 2 ? find_end(at, end) : end;
    fuzz_put(names[i], at, (size_t)(stop - at));
    at = end - stop >= 4 ? stop + 4 : end;
  }
  carom_scene_options options = carom_scene_default_options();
  carom_scene *scene = NULL;
  carom_diagnostics diagnostics;
  options.max_bodies = 1000;
  carom_status status = carom_scene_read("scene.yaml", &options, NULL, &scene, &diagnostics);
  if ((status == CAROM_OK) != (scene != NULL) || (status == CAROM_ERR_SCENE && diagnostics.error_count == 0)) abort();
  carom_scene_destroy(scene);
  carom_diagnostics_release(&diagnostics);
  return 0;
}
