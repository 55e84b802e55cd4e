// carom explain: where and why a run stopped, and a scene that begins right there.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

enum { SHOWN = 10 };  // contacts and overlaps, of however many there are

// The last good state of a run, and what the next step from it says.
typedef struct account {
  carom_result *result;
  carom_scene *scene;
  carom_state *state;
  carom_overlap overlaps[SHOWN];
  int overlap_count;
  carom_status next;  // of the step that follows
  carom_error error;  // of that step
  char written[CLI_PATH];
} account;

static const char *const residuals[] = {"energy_error", "penetration", "complementarity", "constraint"};
enum { RESIDUALS = sizeof residuals / sizeof *residuals };

static double last_residual(const carom_result *r, const char *key) {
  const carom_audit_column *columns = carom_audit_columns();
  for (int i = 0; i < CAROM_AUDIT_COLUMNS && r->frame_count > 0; i++)
    if (strcmp(columns[i].key, key) == 0) return r->audit[(size_t)(i + 1) * (size_t)r->frame_count - 1];
  return NAN;
}

// ---- reading --------------------------------------------------------------------------------------------------------

// Takes the step again, from a copy.
static carom_status try_next(account *a, const void *memory, size_t size, carom_error *error) {
  carom_stepper *stepper = NULL;
  carom_state *copy = NULL;
  carom_loop *loop = NULL;
  carom_status status = carom_state_clone(a->state, NULL, &copy, error);
  if (status == CAROM_OK) status = carom_stepper_create(a->scene->model, &a->scene->step, NULL, &stepper, error);
  if (status == CAROM_OK)
    status = carom_loop_create(a->scene->loop, a->scene->model, a->scene->step.step, NULL, &loop, error);
  if (status == CAROM_OK) status = carom_loop_attach(loop, stepper, error);
  if (status == CAROM_OK) status = carom_stepper_recall(stepper, memory, size, error);
  if (status == CAROM_OK) a->next = carom_stepper_step(stepper, copy, NULL, &a->error);
  carom_stepper_destroy(stepper);
  carom_loop_destroy(loop);
  carom_state_destroy(copy);
  return status;
}

static carom_status read_scene(account *a, carom_error *error) {
  const char *text = a->result->scene_resolved;
  char name[100];
  snprintf(name, sizeof name, "integrator.name=%.60s", a->result->integrator);
  const char *overrides[] = {name};
  carom_scene_options options = carom_scene_default_options();
  options.overrides = overrides, options.override_count = 1;
  options.read_trajectory = carom_trajectory_read;
  options.read_motion = carom_gait_motion_read;
  options.read_guess = carom_plan_warm;
  carom_diagnostics d = {0};
  carom_status status =
      carom_scene_parse(&(carom_bytes){"scene.yaml", text, strlen(text)}, &options, NULL, &a->scene, &d);
  if (status != CAROM_OK) {
    error->status = status;
    snprintf(error->message, sizeof error->message, "the scene in the file cannot be read again: %.400s",
             d.count > 0 ? d.items[0].message : "out of memory");
  }
  carom_diagnostics_release(&d);
  return status;
}

static carom_status recall(account *a, carom_error *error) {
  const void *memory = NULL;
  size_t size = 0;
  carom_status status = read_scene(a, error);
  if (status == CAROM_OK) status = carom_state_clone(a->scene->state, NULL, &a->state, error);
  if (status == CAROM_OK) status = carom_result_checkpoint(a->result, a->state, &memory, &size, error);
  if (status == CAROM_OK)
    status = carom_start_overlaps(a->scene->model, a->state, SHOWN, a->overlaps, &a->overlap_count, error);
  return status == CAROM_OK ? try_next(a, memory, size, error) : status;
}

// ---- the scene that begins there ------------------------------------------------------------------------------------

static bool is_key(const char *line, const char *key) {
  size_t n = strlen(key);
  return strncmp(line, key, n) == 0 && line[n] == ':';
}

// The scene without what is said anew below. Auto is what it came to be.
static void write_rest(FILE *out, const account *a) {
  static const char *const anew[] = {"duration", "start", "output", "title"};
  bool skip = false, inside = false, named = false;
  for (const char *line = a->result->scene_resolved; *line;) {
    size_t length = strcspn(line, "\n") + 1;
    if (line[strcspn(line, "\n")] == '\0') length--;
    if (line[0] != ' ') {
      skip = false, inside = is_key(line, "integrator");
      for (size_t k = 0; k < sizeof anew / sizeof *anew; k++) skip = skip || is_key(line, anew[k]);
    }
    if (!skip && !(inside && strncmp(line, "  name:", 7) == 0)) fwrite(line, 1, length, out);
    if (line[0] != ' ' && inside) fprintf(out, "  name: %s\n", a->result->integrator), named = true;
    line += length;
  }
  if (!named) fprintf(out, "integrator: {name: %s}\n", a->result->integrator);
}

static void write_vector(FILE *out, const char *key, carom_vec3 v) {
  fprintf(out, "%s: [%.17g, %.17g, %.17g], ", key, v.x, v.y, v.z);
}

static void write_body(FILE *out, const account *a, int i) {
  const carom_model *m = a->scene->model;
  carom_pose pose = carom_state_pose(m, a->state, i);
  cli_put_escaped(out, "    \"%s\": {", m->bodies[i].name, "\"\\");
  write_vector(out, "position", pose.p);
  write_vector(out, "velocity", carom_state_velocity(m, a->state, i));
  write_vector(out, "angular_velocity", carom_state_angular_velocity(m, a->state, i));
  fprintf(out, "rotation: {quaternion: [%.17g, %.17g, %.17g, %.17g]}}\n", pose.q.w, pose.q.x, pose.q.y, pose.q.z);
}

static int write_scene(const account *a) {
  const carom_model *m = a->scene->model;
  cli_page page;
  if (!cli_page_begin(&page)) return EXIT_FAILED;
  FILE *out = page.out;
  fputs("# made by carom explain\n", out);
  write_rest(out, a);
  fprintf(out, "title: \"One step from t = %.9g s\"\nduration: %.17g s\nstart:\n  time: %.17g s\n  bodies:\n",
          a->state->time, a->scene->step.step, a->state->time);
  for (int i = 0; i < m->body_count; i++)
    if (!m->bodies[i].fixed) write_body(out, a, i);
  for (int i = 0, first = 1; i < m->joint_count; i++)
    if (a->state->joints[i].turn != 0) {
      fputs(first ? "  turns:\n" : "", out);
      cli_put_escaped(out, "    \"%s\": ", m->joints[i].name, "\"\\");
      fprintf(out, "%.17g\n", a->state->joints[i].turn);
      first = 0;
    }
  return cli_page_end(&page, a->written);
}

// ---- telling --------------------------------------------------------------------------------------------------------

static const char *name_of(const carom_result *r, int body) {
  return body == CAROM_WORLD ? "world" : carom_result_name(r, body);
}

// The first event of the last moment that has any.
static int first_of_last(const carom_result *r) {
  int first = r->event_count;
  while (first > 0 && r->events[first - 1].time >= r->events[r->event_count - 1].time - r->step) first--;
  return first;
}

static void print_contacts(const account *a) {
  const carom_result *r = a->result;
  int first = first_of_last(r);
  cli_print(stdout, "\n  contacts    %d", r->event_count - first);
  if (r->event_count > first) cli_print(stdout, ", at t = %.9g s", r->events[r->event_count - 1].time);
  cli_print(stdout, "\n");
  for (int i = first; i < r->event_count && i < first + SHOWN; i++) {
    const carom_contact_event *e = &r->events[i];
    cli_print(stdout, "    '%s' on '%s' at (%.4g, %.4g, %.4g) m: impulse %.3g N s\n", name_of(r, e->body_a),
              name_of(r, e->body_b), e->point.x, e->point.y, e->point.z, cm_norm(e->impulse));
  }
  char text[400];
  for (int i = 0; i < a->overlap_count && i < SHOWN; i++) {
    carom_overlap_format(a->scene->model, &a->overlaps[i], text, sizeof text);
    cli_print(stdout, "    %s\n", text);
  }
}

// What is behind a broken law of solids, and what helps; null for other laws.
static const char *cause_of(const char *key) {
  static const struct {
    const char *key, *text;
  } causes[] = {
      {"inversion", "a tetrahedron was turned inside out: hit or pressed harder than its material takes in such steps"},
      {"solid_overlap", "surfaces give way like the tetrahedra behind them: these are large or soft for what presses"},
      {"pins", "nodes left where they are held: the motion was changed, or is not of this scene"},
  };
  for (size_t i = 0; i < sizeof causes / sizeof *causes; i++)
    if (strcmp(causes[i].key, key) == 0) return causes[i].text;
  return NULL;
}

// Laws that the run broke, whether it came to its end or not.
static void print_broken(const carom_verdict *v) {
  for (int i = 0; i < v->count; i++) {
    const carom_verdict_row *row = &v->rows[i];
    if (row->pass) continue;
    cli_print(stdout, "  broken      %s is %.3g, allowed is %.3g%s%s\n", row->label, row->value, row->bound,
              row->where[0] ? ": " : "", row->where);
    if (cause_of(row->key)) cli_print(stdout, "  cause       %s\n", cause_of(row->key));
  }
}

static void print_account(const account *a) {
  const carom_result *r = a->result;
  cli_print(stdout, "%s\n  ending      %s\n  last good   t = %.9g s, step %lld of %s, h = %g s\n", r->title, r->ending,
            a->state->time, (long long)a->state->step, r->integrator, r->step);
  if (a->next == CAROM_OK)
    cli_print(stdout, "  next step   goes well\n");
  else
    cli_print(stdout, "  next step   fails again: %s\n", a->error.message);
  print_broken(&r->verdict);
  for (int i = 0; i < RESIDUALS; i++)
    cli_print(stdout, "  %-20s %.3g in the last frame\n", residuals[i], last_residual(r, residuals[i]));
  print_contacts(a);
  if (a->written[0])
    cli_print(stdout, "\n  scene       %s begins there: carom run %s\n", a->written, a->written);
  else
    cli_print(stdout, "\n  scene       none: solids of a scene begin without stress\n");
}

static void put_contacts(cli_json *json, const account *a) {
  const carom_result *r = a->result;
  char text[400];
  cli_json_open(json, "contacts", '[');
  for (int i = first_of_last(r); i < r->event_count; i++) {
    cli_json_open(json, NULL, '{');
    cli_json_text(json, "a", name_of(r, r->events[i].body_a));
    cli_json_text(json, "b", name_of(r, r->events[i].body_b));
    cli_json_number(json, "time", r->events[i].time);
    cli_json_number(json, "impulse", cm_norm(r->events[i].impulse));
    cli_json_close(json, '}');
  }
  cli_json_close(json, ']');
  cli_json_open(json, "overlaps", '[');
  for (int i = 0; i < a->overlap_count && i < SHOWN; i++) {
    carom_overlap_format(a->scene->model, &a->overlaps[i], text, sizeof text);
    cli_json_text(json, NULL, text);
  }
  cli_json_close(json, ']');
}

static void print_json(const account *a) {
  cli_json json = cli_json_begin(stdout);
  cli_json_text(&json, "ending", a->result->ending);
  cli_json_number(&json, "last_good", a->state->time);
  cli_json_integer(&json, "step", a->state->step);
  cli_json_text(&json, "integrator", a->result->integrator);
  cli_json_bool(&json, "fails_again", a->next != CAROM_OK);
  cli_json_text(&json, "message", a->next != CAROM_OK ? a->error.message : "");
  cli_json_open(&json, "residuals", '{');
  for (int i = 0; i < RESIDUALS; i++) cli_json_number(&json, residuals[i], last_residual(a->result, residuals[i]));
  cli_json_close(&json, '}');
  cli_json_verdict(&json, &a->result->verdict);
  put_contacts(&json, a);
  cli_json_text(&json, "scene", a->written);
  cli_json_end(&json);
}

// ---- the verb -------------------------------------------------------------------------------------------------------

static int explain(account *a, bool json) {
  carom_error error = {0};
  if (recall(a, &error) != CAROM_OK) return cli_fail(&error);
  bool can_begin_there = a->scene->model->solid_count == 0;
  int code = can_begin_there ? write_scene(a) : EXIT_GOOD;
  if (code != EXIT_GOOD) return code;
  if (!can_begin_there) a->written[0] = '\0';
  if (json)
    print_json(a);
  else
    print_account(a);
  return EXIT_GOOD;
}

int cli_explain(int argc, char **argv) {
  const char *path = NULL, *output = NULL;
  bool json = false, force = false;
  const cli_option options[] = {
      {CLI_TEXT, 'o', "output", "FILE", "the scene (default: the result's name with .step.yaml, beside it)", &output},
      {CLI_FLAG, 'f', "force", NULL, "overwrite a file that carom did not make", &force},
      {CLI_FLAG, 0, "json", NULL, "report as one line of JSON on stdout", &json},
      {CLI_END, 0, NULL, NULL, NULL, NULL},
  };
  const cli_syntax syntax = {
      "explain",
      "RESULT.h5 [OPTIONS]",
      "Tells where a run stopped and why: the last good state, its contacts and residuals, laws "
      "that it broke, and what the next step says.\nWrites a scene that begins there and takes that one step, unless "
      "there are solids that deform.",
      options,
      &path,
      1,
      1};
  int code;
  if (!cli_parse(&syntax, argc, argv, &code)) return code;
  cli_guard(path);
  account a = {.result = cli_open_result(path)};
  if (!a.result) return EXIT_FAILED;
  if (output)
    snprintf(a.written, sizeof a.written, "%s", output);
  else
    cli_replace_extension(path, true, ".step.yaml", a.written, sizeof a.written);
  code = cli_check_files(
      &(cli_files){.verb = "explain", .force = force, .inputs = {path}, .outputs = {{.path = a.written}}});
  if (code == EXIT_GOOD) code = explain(&a, json);
  carom_state_destroy(a.state);
  carom_scene_destroy(a.scene);
  carom_result_close(a.result);
  return code;
}
