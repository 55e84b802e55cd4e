// Any bytes as a scene: never a crash, a leak or a hang; and a scene that is accepted must come back the same from its
// resolved text. Lines "#set a.b=c" in the input are overrides.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "carom/result.h"

enum { MOST_OVERRIDES = 4 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
const char *__lsan_default_suppressions(void);

// libfyaml 0.7.12 itself loses 512 bytes when a quoted text with many escapes never ends.
const char *__lsan_default_suppressions(void) { return "leak:libfyaml.so\n"; }

static int find_overrides(char *text, const char **overrides) {
  int count = 0;
  for (char *line = text; line && count < MOST_OVERRIDES;) {
    char *end = strchr(line, '\n');
    if (end) *end = '\0';
    if (strncmp(line, "#set ", 5) == 0) overrides[count++] = line + 5;
    line = end ? end + 1 : NULL;
  }
  return count;
}

static void demand(bool condition, const char *what, const carom_scene *scene) {
  if (condition) return;
  fprintf(stderr, "%s\n%s\n", what, scene->resolved);
  abort();
}

static void check_round_trip(const carom_scene *scene, carom_scene_options options) {
  carom_scene *again;
  carom_diagnostics diagnostics;
  options.override_count = 0;
  carom_scene_parse(&(carom_bytes){scene->path, scene->resolved, strlen(scene->resolved)}, &options, NULL, &again,
                    &diagnostics);
  for (int i = 0; !again && i < diagnostics.count; i++) fprintf(stderr, "%s\n", diagnostics.items[i].message);
  demand(again, "the resolved text is refused", scene);
  demand(carom_state_hash(scene->state) == carom_state_hash(again->state), "the state differs", scene);
  demand(strcmp(scene->resolved, again->resolved) == 0, "the resolved text differs", scene);
  demand(scene->duration == again->duration && scene->frame_interval == again->frame_interval, "the run differs",
         scene);
  carom_scene_destroy(again);
  carom_diagnostics_release(&diagnostics);
}

static void check_diagnostics(const carom_diagnostics *d) {
  for (int i = 0; i < d->count; i++) {
    char line[4000];
    carom_diagnostic_format(&d->items[i], line, sizeof line);
    if (strpbrk(d->items[i].message, "\n\r\033")) abort();
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char *copy = calloc(1, size + 1);
  if (!copy) return 0;
  memcpy(copy, data, size);
  const char *overrides[MOST_OVERRIDES];
  carom_scene_options options = carom_scene_default_options();
  options.max_bodies = 1000;
  options.self_contained = true;
  options.override_count = find_overrides(copy, overrides);
  options.overrides = overrides;
  carom_scene *scene;
  carom_diagnostics diagnostics;
  carom_status status =
      carom_scene_parse(&(carom_bytes){"fuzz.yaml", data, size}, &options, NULL, &scene, &diagnostics);
  check_diagnostics(&diagnostics);
  if ((status == CAROM_OK) != (scene != NULL) || (status == CAROM_ERR_SCENE && diagnostics.error_count == 0)) abort();
  if (scene) check_round_trip(scene, options);
  carom_scene_destroy(scene);
  carom_diagnostics_release(&diagnostics);
  free(copy);
  return 0;
}
