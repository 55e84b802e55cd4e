// What became of pushes, for people and as JSON.
#include <math.h>

#include "cli/push.h"

const char *cli_push_mode(carom_contact_mode mode) {
  static const char *const words[] = {"open", "sticking", "sliding forwards", "sliding backwards"};
  return words[mode];
}

static const char *name_of(const carom_model *model, int body) { return body < 0 ? "world" : model->bodies[body].name; }

const char *cli_push_why_lost(const cli_push_fate *fate) {
  return fate->blocked ? "probe inside the part" : carom_push_ending_name(fate->ending);
}

void cli_push_tell_change(const carom_model *model, const carom_push_change *c, char *text, size_t size) {
  snprintf(text, size, "at %.4g s: %.60s on %.60s, from %s to %s", c->time, name_of(model, c->body_a),
           name_of(model, c->body_b), cli_push_mode(c->from), cli_push_mode(c->to));
}

// ---- for people -----------------------------------------------------------------------------------------------------

static void print_number(double value, const char *none) {
  if (isfinite(value))
    cli_print(stdout, " %10.3g", value);
  else
    cli_print(stdout, " %10s", none);
}

static const char *robust_word(const cli_push_run *run, const cli_push_fate *fate) {
  bool kept = fate->check.ending == CAROM_PUSH_DONE || fate->check.ending == CAROM_PUSH_GOAL;
  if (!kept) return "no";
  return !run->file->boxed ? "yes" : fate->verdict.robust ? "yes, box" : "not in box";
}

static void print_push(const cli_push_run *run, int number) {
  const carom_model *model = run->file->scene->model;
  const cli_push_fate *fate = &run->fates[number];
  const carom_push_result *worst = fate->check.changes > 0 ? &fate->check : &fate->verdict.other;
  char change[300];
  cli_print(stdout, "  %4d %-8s", number + 1, carom_push_ending_name(fate->run.ending));
  print_number(fate->run.time, "-");
  cli_print(stdout, " %-10s", robust_word(run, fate));
  print_number(run->file->boxed && fate->verdict.robust ? fate->verdict.margin : fate->check.margin, "-");
  print_number(fate->run.largest_force, "-");
  cli_push_tell_change(model, &worst->change, change, sizeof change);
  cli_print(stdout, "  %s\n", worst->changes > 0 ? change : "-");
  if (worst->changes > 0 && worst != &fate->check && fate->verdict.start >= 0)
    cli_print(stdout, "       from corner %d of the box\n", fate->verdict.start + 1);
}

static void print_certificate(const cli_push_run *run, int number) {
  const carom_push_result *r = &run->fates[number].run;
  const carom_model *model = run->file->scene->model;
  if (r->force_count == 0) return;
  cli_print(stdout, "\n  push %d: forces that cancel out (%.1e is left of their sum), so that nothing bounds them:\n",
            number + 1, r->cancel);
  for (int i = 0; i < r->force_count; i++) {
    const carom_push_force *f = &r->forces[i];
    cli_print(stdout, "    %.60s on %.60s at (%.6g, %.6g) m: (%.4f, %.4f)\n", name_of(model, f->body_b),
              name_of(model, f->body_a), f->point.x, f->point.y, f->force.x, f->force.y);
  }
}

static void print_box(const cli_push_run *run) {
  int through = 0, goal = run->file->def.goal.body >= 0;
  if (!run->file->boxed || run->count == 0) return;
  for (int k = 0; k < run->starts.count; k++) through += !run->lost[k];
  cli_print(stdout, "\n  box      from %d of its %d corners the pushes come through", through, run->starts.count);
  if (goal) cli_print(stdout, "; %d of them end in the goal", run->reached);
  for (int i = 0; i < run->count; i++)
    if (run->fates[i].corner >= 0) {
      cli_print(stdout, "; push %d: %s from corner %d", i + 1, cli_push_why_lost(&run->fates[i]),
                run->fates[i].corner + 1);
      break;
    }
  cli_print(stdout, "\n");
}

static void print_end(const cli_push_run *run) {
  const carom_push_goal *g = &run->file->def.goal;
  double pose[3];
  if (run->count < run->push_count)
    cli_print(stdout, "\n  The %d push%s after it %s not run.\n", run->push_count - run->count,
              run->push_count - run->count == 1 ? "" : "es", run->push_count - run->count == 1 ? "was" : "were");
  print_box(run);
  if (g->body < 0 || !run->state) return;
  carom_push_pose(run->file->scene->model, run->state, g->body, pose);
  if (!run->file->boxed) cli_print(stdout, "\n");
  cli_print(stdout, "  goal     %s: '%s' is %.3g m and %.3g deg off (%.3g m, %.3g deg allowed)\n",
            cli_push_reaches_goal(run) ? "reached" : "missed", name_of(run->file->scene->model, g->body),
            hypot(pose[0] - g->position.x, pose[1] - g->position.y),
            fabs(remainder(pose[2] - g->angle, 2 * 3.14159265358979323846)) * 180 / 3.14159265358979323846, g->distance,
            g->turn * 180 / 3.14159265358979323846);
}

void cli_push_print(const cli_push_run *run) {
  cli_print(stdout, "%s\n\n", run->file->title);
  if (run->push_count == 0)
    cli_print(stdout,
              cli_push_reaches_goal(run) ? "  no pushes: the part is at its goal from the start\n" : "  no pushes\n");
  else
    cli_print(stdout, "  %4s %-8s %10s %-10s %10s %10s  %s\n", "push", "ends", "time (s)", "robust", "margin",
              "force (N)", "first change of a contact");
  for (int i = 0; i < run->count; i++) print_push(run, i);
  for (int i = 0; i < run->count; i++) print_certificate(run, i);
  print_end(run);
  if (run->outputs[0]) cli_print(stdout, "  result   %s\n", run->outputs[0]);
  if (run->outputs[1]) cli_print(stdout, "  page     %s (open it in a browser)\n", run->outputs[1]);
}

// ---- JSON -----------------------------------------------------------------------------------------------------------

static void json_vector(cli_json *json, const char *name, const double *v, int count) {
  cli_json_open(json, name, '[');
  for (int i = 0; i < count; i++) cli_json_number(json, NULL, v[i]);
  cli_json_close(json, ']');
}

static void json_change(cli_json *json, const cli_push_run *run, const carom_push_result *r) {
  const carom_model *model = run->file->scene->model;
  if (r->changes == 0) return;
  cli_json_open(json, "change", '{');
  CLI_MEMBERS(json, CLI_N("time", r->change.time), CLI_T("a", name_of(model, r->change.body_a)),
              CLI_T("b", name_of(model, r->change.body_b)), CLI_T("from", cli_push_mode(r->change.from)),
              CLI_T("to", cli_push_mode(r->change.to)));
  cli_json_close(json, '}');
}

static void json_forces(cli_json *json, const cli_push_run *run, const carom_push_result *r) {
  const carom_model *model = run->file->scene->model;
  if (r->force_count == 0) return;
  cli_json_number(json, "cancel", r->cancel);
  cli_json_open(json, "forces", '[');
  for (int i = 0; i < r->force_count; i++) {
    const carom_push_force *f = &r->forces[i];
    cli_json_open(json, NULL, '{');
    CLI_MEMBERS(json, CLI_T("a", name_of(model, f->body_a)), CLI_T("b", name_of(model, f->body_b)));
    json_vector(json, "point", &f->point.x, 2);
    json_vector(json, "force", &f->force.x, 2);
    cli_json_close(json, '}');
  }
  cli_json_close(json, ']');
}

static void json_push(cli_json *json, const cli_push_run *run, int number) {
  const cli_push_fate *fate = &run->fates[number];
  const carom_push_result *r = &fate->run;
  cli_json_open(json, NULL, '{');
  CLI_MEMBERS(json, CLI_T("ending", carom_push_ending_name(r->ending)), CLI_N("time", r->time),
              CLI_T("check", carom_push_ending_name(fate->check.ending)), CLI_N("margin", fate->check.margin),
              CLI_B("good", cli_push_is_good(run, number)), CLI_N("touch", r->touch), CLI_I("steps", r->steps),
              CLI_N("force", r->largest_force), CLI_N("overlap", r->overlap), CLI_N("work", r->work),
              CLI_N("damping", r->damping), CLI_N("friction", r->friction));
  json_change(json, run, &fate->check);
  json_forces(json, run, r);
  if (run->file->boxed) {
    cli_json_open(json, "box", '{');
    CLI_MEMBERS(json, CLI_I("corner", fate->corner), CLI_B("robust", fate->verdict.robust),
                CLI_N("margin", fate->verdict.margin), CLI_I("start", fate->verdict.start),
                CLI_I("problems", fate->verdict.problems), CLI_I("systems", fate->verdict.systems));
    json_change(json, run, &fate->verdict.other);
    cli_json_close(json, '}');
  }
  cli_json_close(json, '}');
}

void cli_push_json(cli_json *json, const cli_push_run *run) {
  double pose[3];
  cli_json_text(json, "title", run->file->title);
  cli_json_open(json, "pushes", '[');
  for (int i = 0; i < run->count; i++) json_push(json, run, i);
  cli_json_close(json, ']');
  if (run->file->boxed) {
    cli_json_bool(json, "box", cli_push_box_holds(run));
    cli_json_integer(json, "corners", run->starts.count);
    cli_json_integer(json, "corners_in_goal", run->reached);
  }
  if (run->file->def.goal.body >= 0) cli_json_bool(json, "goal", cli_push_reaches_goal(run));
  if (run->state && run->part_count > 0) {
    carom_push_pose(run->file->scene->model, run->state, run->parts[0], pose);
    json_vector(json, "pose", pose, 3);
  }
  if (run->outputs[0]) cli_json_text(json, "result", run->outputs[0]);
  if (run->outputs[1]) cli_json_text(json, "page", run->outputs[1]);
  if (run->outputs[2]) cli_json_text(json, "plan", run->outputs[2]);
}
