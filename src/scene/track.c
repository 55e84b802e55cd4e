// The tracking law of a controller: gains, and where to.
#include "control/loop.h"
#include "scene/reader.h"

static bool read_gains(carom_reader *r, const carom_node *node, carom_track_gains *gains) {
  static const char *const maps[] = {"exponential", "cayley", NULL};
  const carom_node *f[CAROM_MOST_KEYS];
  int map = gains->map == CAROM_TRACK_CAYLEY;
  if (!node) return true;
  if (!carom_read_fields(r, node, CAROM_SECTION_GAINS, "gains", f)) return false;
  bool good = carom_read_choice(r, f[KEY_GAINS_MAP], maps, &map);
  good = carom_read_number(r, f[KEY_GAINS_ROTATION], CAROM_TORSION, CAROM_POSITIVE, &gains->rotation) && good;
  good = carom_read_number(r, f[KEY_GAINS_SPIN], CAROM_TORSION_DAMPING, CAROM_POSITIVE, &gains->spin) && good;
  good = carom_read_number(r, f[KEY_GAINS_POSITION], CAROM_STIFFNESS, CAROM_POSITIVE, &gains->position) && good;
  good = carom_read_number(r, f[KEY_GAINS_VELOCITY], CAROM_DAMPING, CAROM_POSITIVE, &gains->velocity) && good;
  good = carom_read_number(r, f[KEY_GAINS_CAYLEY_LIMIT], CAROM_ANGLE, CAROM_POSITIVE, &gains->cayley_limit) && good;
  good = carom_read_number(r, f[KEY_GAINS_HYSTERESIS], CAROM_ANGLE, CAROM_NOT_NEGATIVE, &gains->hysteresis) && good;
  gains->map = map ? CAROM_TRACK_CAYLEY : CAROM_TRACK_EXPONENTIAL;
  return good;
}

static bool read_hold(carom_reader *r, const carom_node *node, carom_controller_def *def) {
  const carom_node *f[CAROM_MOST_KEYS];
  carom_pose *pose = &def->guide.pose;
  if (!carom_read_fields(r, node, CAROM_SECTION_HOLD, "hold", f)) return false;
  bool good = carom_read_vector(r, f[KEY_HOLD_POSITION], CAROM_LENGTH, &pose->p);
  return (!f[KEY_HOLD_ROTATION] || carom_read_rotation(r, f[KEY_HOLD_ROTATION], &pose->q)) && good;
}

static bool keep(carom_reader *r, const carom_node *node, carom_status status, carom_trajectory *trajectory,
                 const carom_error *error, carom_controller_def *def) {
  if (status != CAROM_OK) return carom_report(&r->reporter, node->place, NULL, "%s", error->message);
  if (!carom_loop_def_keep(r->scene->loop, trajectory)) {
    r->pool.failed = true;
    return false;
  }
  def->guide.trajectory = trajectory;
  return true;
}

static bool read_waypoint(carom_reader *r, const carom_node *node, double *time, carom_pose *pose) {
  const carom_node *f[CAROM_MOST_KEYS];
  *pose = cm_pose_identity();
  if (!carom_read_fields(r, node, CAROM_SECTION_WAYPOINT, "waypoint", f)) return false;
  bool good = carom_require(r, node, f[KEY_WAYPOINT_TIME], "time", "waypoint");
  good = carom_read_number(r, f[KEY_WAYPOINT_TIME], CAROM_TIME, CAROM_ANY, time) && good;
  good = carom_read_vector(r, f[KEY_WAYPOINT_POSITION], CAROM_LENGTH, &pose->p) && good;
  return (!f[KEY_WAYPOINT_ROTATION] || carom_read_rotation(r, f[KEY_WAYPOINT_ROTATION], &pose->q)) && good;
}

static bool read_waypoints(carom_reader *r, const carom_node *list, carom_controller_def *def) {
  if (!carom_read_list(r, list, "waypoints")) return false;
  double *times = CAROM_POOL_ARRAY(&r->pool, double, list->count);
  carom_pose *poses = CAROM_POOL_ARRAY(&r->pool, carom_pose, list->count);
  if (!times || !poses) return false;
  int n = 0;
  for (const carom_node *c = list->first; c; c = c->next, n++)
    if (!read_waypoint(r, c, &times[n], &poses[n])) return false;
  carom_trajectory *trajectory = NULL;
  carom_error error;
  carom_status status = carom_trajectory_create_waypoints(n, times, poses, &r->allocator, &trajectory, &error);
  return keep(r, list, status, trajectory, &error, def);
}

// Results tell of centres of mass.
static bool read_plan(carom_reader *r, const carom_node *node, carom_controller_def *def, const char *body) {
  const carom_node *f[CAROM_MOST_KEYS];
  const char *file = NULL, *name = body;
  if (!carom_read_fields(r, node, CAROM_SECTION_FOLLOWED, "plan", f)) return false;
  bool good = carom_require(r, node, f[KEY_FOLLOWED_FILE], "file", "plan");
  good = carom_read_text(r, f[KEY_FOLLOWED_FILE], &file) && good;
  good = carom_read_text(r, f[KEY_FOLLOWED_BODY], &name) && good;
  if (!good) return false;
  if (r->options.self_contained || !r->options.read_trajectory)
    return carom_report(&r->reporter, f[KEY_FOLLOWED_FILE]->place, NULL,
                        "plans of other files cannot be followed here");
  const char *path = carom_join_path(&r->pool, r->folder, file);
  if (!path || !carom_note_file(r, path)) return false;
  carom_trajectory *trajectory = NULL;
  carom_error error;
  carom_status status = r->options.read_trajectory(path, name, &r->allocator, &trajectory, &error);
  def->guide.offset = cm_zero3();
  return keep(r, f[KEY_FOLLOWED_FILE], status, trajectory, &error, def);
}

static bool read_dock(carom_reader *r, const carom_node *node, carom_controller_def *def) {
  static const char *const modes[] = {"integrate", "rebase", NULL};
  const carom_node *f[CAROM_MOST_KEYS];
  carom_field_line *line = CAROM_POOL_ARRAY(&r->pool, carom_field_line, 1);
  int mode = 0;
  if (!line || !carom_read_fields(r, node, CAROM_SECTION_DOCK, "dock", f)) return false;
  *line = carom_field_line_default();
  bool good = carom_read_vector(r, f[KEY_DOCK_CENTER], CAROM_LENGTH, &line->center);
  good = (!f[KEY_DOCK_ROTATION] || carom_read_rotation(r, f[KEY_DOCK_ROTATION], &line->docked)) && good;
  good = carom_read_number(r, f[KEY_DOCK_SPEED], CAROM_VELOCITY, CAROM_POSITIVE, &line->speed) && good;
  good = carom_read_number(r, f[KEY_DOCK_STOP], CAROM_LENGTH, CAROM_POSITIVE, &line->stop) && good;
  good = carom_read_number(r, f[KEY_DOCK_REACH], CAROM_LENGTH, CAROM_NOT_NEGATIVE, &line->reach) && good;
  good = carom_read_choice(r, f[KEY_DOCK_MODE], modes, &mode) && good;
  good = carom_read_number(r, f[KEY_DOCK_LIMIT], CAROM_LENGTH, CAROM_POSITIVE, &line->limit) && good;
  good = carom_read_number(r, f[KEY_DOCK_AHEAD], CAROM_TIME, CAROM_POSITIVE, &line->ahead) && good;
  line->mode = mode == 1 ? CAROM_FIELD_LINE_REBASE : CAROM_FIELD_LINE_INTEGRATE;
  def->guide.line = line;
  return good;
}

bool carom_read_track(carom_reader *r, const carom_node *node, carom_controller_def *def, const char *body) {
  const carom_node *f[CAROM_MOST_KEYS];
  if (!carom_read_fields(r, node, CAROM_SECTION_TRACK, "track", f)) return false;
  const carom_node *hold = f[KEY_TRACK_HOLD], *waypoints = f[KEY_TRACK_WAYPOINTS], *plan = f[KEY_TRACK_PLAN],
                   *dock = f[KEY_TRACK_DOCK];
  def->kind = CAROM_CONTROLLER_TRACK;
  if ((hold != NULL) + (waypoints != NULL) + (plan != NULL) + (dock != NULL) != 1)
    return carom_report(&r->reporter, node->place, NULL,
                        "'track' needs one of 'hold', 'waypoints', 'plan' and 'dock': where to");
  bool good = read_gains(r, f[KEY_TRACK_GAINS], &def->gains);
  good = carom_read_bool(r, f[KEY_TRACK_CANCEL_WEIGHT], &def->cancel_weight) && good;
  if (hold) good = read_hold(r, hold, def) && good;
  if (waypoints) good = read_waypoints(r, waypoints, def) && good;
  if (plan) good = read_plan(r, plan, def, body) && good;
  if (dock) good = read_dock(r, dock, def) && good;
  return good;
}
