#include "cli/plan_work.h"

#include <math.h>

static const char *const names[] = {"total", "joints", "positive", "net"};

static bool tells(const carom_plan *plan) {
  carom_vec3 shift = carom_plan_shift(plan);
  bool shifts = shift.x != 0 || shift.y != 0 || shift.z != 0;
  return carom_plan_node_count(plan) > 1 && (carom_plan_event_count(plan) > 0 || shifts);
}

void cli_print_work(const carom_plan *plan) {
  if (!tells(plan)) return;
  carom_plan_work w = carom_plan_find_work(plan);
  cli_print(stdout, "  work    ");
  for (int i = 0; i < 4; i++) cli_print(stdout, "%s %s %.5g J", i ? "," : "", names[i], w.kinds[i]);
  if (w.transport > 0) {
    cli_print(stdout, "\n  per way ");
    for (int i = 0; i < 4; i++) cli_print(stdout, "%s %s %.5g", i ? "," : "", names[i], w.kinds[i] / w.transport);
    cli_print(stdout, " (of weight x shift = %.5g J); %.4g m/s", w.transport, w.speed);
  }
  cli_print(stdout, "\n  energy   events take %.6g J, the rest gains %.6g J; largest torque %.4g N m; drift %.2g J\n",
            w.loss, w.change, w.peak, w.drift);
  carom_plan_feet feet = carom_plan_find_feet(plan);
  if (feet.count > 0)
    cli_print(stdout, "  feet     push with %.4g N and more, lean by %.4g at most", feet.least_push, feet.steepest);
  if (feet.count > 0 && isfinite(feet.clearance)) cli_print(stdout, "; clear by %.3g m", feet.clearance);
  if (feet.count > 0) cli_print(stdout, "\n");
}

void cli_json_work(cli_json *json, const carom_plan *plan) {
  if (!tells(plan)) return;
  carom_plan_work w = carom_plan_find_work(plan);
  carom_plan_feet feet = carom_plan_find_feet(plan);
  cli_json_open(json, "work", '{');
  for (int i = 0; i < 4; i++) cli_json_number(json, names[i], w.kinds[i]);
  CLI_MEMBERS(json, CLI_N("loss", w.loss), CLI_N("change", w.change), CLI_N("transport", w.transport),
              CLI_N("peak", w.peak), CLI_N("drift", w.drift), CLI_N("speed", w.speed));
  cli_json_close(json, '}');
  if (feet.count == 0) return;
  cli_json_open(json, "feet", '{');
  CLI_MEMBERS(json, CLI_N("least_push", feet.least_push), CLI_N("steepest", feet.steepest),
              CLI_N("clearance", feet.clearance));
  cli_json_close(json, '}');
}

// Those that an impact wipes out say nothing.
void cli_print_multipliers(const cli_multipliers *m) {
  if (m->count == 0) return;
  double largest = hypot(m->real[0], m->imaginary[0]);
  cli_print(stdout, "  stability %s, multipliers", largest < 1 ? "stable" : "unstable");
  for (int i = 0; i < m->count && hypot(m->real[i], m->imaginary[i]) > 1e-9; i++) {
    if (m->imaginary[i] == 0) cli_print(stdout, "%s %.6g", i ? "," : "", m->real[i]);
    if (m->imaginary[i] > 0) cli_print(stdout, "%s %.6g +- %.6g i", i ? "," : "", m->real[i], m->imaginary[i]);
  }
  cli_print(stdout, " (largest %.6g)\n", largest);
}

void cli_json_multipliers(cli_json *json, const cli_multipliers *m) {
  if (m->count == 0) return;
  cli_json_open(json, "multipliers", '[');
  for (int i = 0; i < m->count; i++) {
    cli_json_open(json, NULL, '[');
    cli_json_number(json, NULL, m->real[i]);
    cli_json_number(json, NULL, m->imaginary[i]);
    cli_json_close(json, ']');
  }
  cli_json_close(json, ']');
}
