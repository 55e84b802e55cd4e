// Bodies of `carom gap` from words.
#include <stdlib.h>
#include <string.h>

#include "cli/gap.h"

static bool parse_turn(const char *text, carom_quat *q) {
  double v[4];
  const char *end;
  bool good = false;
  if (*text == '\0') {
    *q = cm_qidentity();
    return true;
  }
  if (!cli_read_numbers(text + 1, 4, v, &end) || *end) return false;
  if (*text == ',') {
    *q = cm_quat(v[0], v[1], v[2], v[3]);
    good = cm_qdot(*q, *q) > 0;
  } else if (*text == '/') {
    *q = cm_axis_angle(cm_vec3(v[0], v[1], v[2]), v[3] * (3.14159265358979323846 / 180));
    good = cm_norm(cm_vec3(v[0], v[1], v[2])) > 0;
  }
  *q = cm_qunit(*q);
  return good && isfinite(cm_qdot(*q, *q));
}

static bool parse_pose(const char *label, const char *text, carom_pose *pose) {
  double p[3];
  const char *end;
  *pose = cm_pose_identity();
  if (!text) return true;
  if (cli_read_numbers(text, 3, p, &end) && parse_turn(end, &pose->q)) {
    pose->p = cm_vec3(p[0], p[1], p[2]);
    return true;
  }
  return cli_error("gap: pose of %s: expected x,y,z or x,y,z,qw,qx,qy,qz or x,y,z/ax,ay,az,DEGREES, got '%s'", label,
                   text);
}

static bool is_mesh(const char *words) {
  const char *dot = strrchr(words, '.');
  static const char *const endings[] = {".obj", ".stl", ".OBJ", ".STL"};
  if (strncmp(words, "mesh:", 5) == 0) return false;  // the scene's way to name one
  for (int i = 0; dot && i < 4; i++)
    if (strcmp(dot, endings[i]) == 0) return true;
  return false;
}

static int read_mesh(const char *path, const carom_shape **shape) {
  carom_mesh mesh;
  carom_error error = {0};
  carom_status status = carom_mesh_read(path, NULL, NULL, &mesh, &error);
  if (status == CAROM_OK) {
    status = carom_shape_create_mesh(&mesh, NULL, NULL, shape, &error);
    carom_mesh_release(&mesh);
  }
  if (status == CAROM_OK) return EXIT_GOOD;
  cli_fail(&error);
  return status == CAROM_ERR_IO || status == CAROM_ERR_MEMORY ? EXIT_FAILED : EXIT_MISTAKE;
}

static void print_findings(const char *label, const char *words, const carom_diagnostics *d) {
  for (int i = 0; i < d->count; i++) {
    const carom_diagnostic *x = &d->items[i];
    bool hint = x->hint && x->hint[0];
    cli_error("gap: shape %s, '%s': %s%s%s%s", label, words, x->message, hint ? " (" : "", hint ? x->hint : "",
              hint ? ")" : "");
  }
}

// The words become the shape of the only body of a scene, so that everything that scenes know is known here. Parts are
// kept in the principal frame of their body.
static int read_words(const char *label, const char *words, carom_placed *body, carom_scene **made) {
  size_t size = strlen(words) + 100;
  char *text = malloc(size);
  if (!text) return cli_error("out of memory"), EXIT_FAILED;
  int length = snprintf(text, size, "carom: 1\nbodies: [{name: body, fixed: true, shape: {%s}}]\nduration: 1\n", words);
  carom_scene *scene = NULL;
  carom_diagnostics diagnostics = {0};
  carom_status status =
      carom_scene_parse(&(carom_bytes){label, text, (size_t)length}, NULL, NULL, &scene, &diagnostics);
  free(text);
  bool one = scene && scene->model->body_count == 1 && scene->model->part_count == 1;
  if (one) {
    const carom_part *part = &scene->model->parts[0];
    body->shape = carom_shape_retain(part->shape);
    body->pose = cm_compose(cm_pose(scene->state->x[0], scene->state->q[0]), part->pose);
  } else {
    print_findings(label, words, &diagnostics);
    if (status == CAROM_ERR_MEMORY && diagnostics.count == 0)
      cli_error("gap: shape %s, '%s': out of memory", label, words);
    if (scene) cli_error("gap: shape %s, '%s': expected one shape, such as \"box: [1, 1, 1]\"", label, words);
  }
  *made = scene;
  carom_diagnostics_release(&diagnostics);
  return one ? EXIT_GOOD : status == CAROM_ERR_MEMORY ? EXIT_FAILED : EXIT_MISTAKE;
}

int cli_gap_body(const char *label, const char *words, const char *pose, carom_placed *body, carom_scene **scene) {
  carom_pose where;
  *body = (carom_placed){NULL, cm_pose_identity()};
  if (!parse_pose(label, pose, &where)) return EXIT_MISTAKE;
  int code = is_mesh(words) ? read_mesh(words, &body->shape) : read_words(label, words, body, scene);
  body->pose = cm_compose(where, body->pose);
  body->pose.q = cm_qunit(body->pose.q);
  return code;
}
