// The friction cone of contacts near enough, for questions about jams (2.4.18-19).
#include <math.h>
#include <string.h>

#include "model/row.h"
#include "model/size.h"
#include "model/support.h"
#include "step/quasistatic/parts.h"

enum { ROUND = 8 };  // directions that stand for the disc of friction in space

static int directions_of(const carom_quasi *s) { return s->model->planar ? 2 : ROUND; }

// A row as a column of loads on all bodies that move, moments over their size.
static void put(const carom_quasi *s, const carom_row *row, double factor, double *column) {
  int entries[6], n = carom_twist_entries(s->model->planar, entries);
  for (int end = 0; end < 2; end++) {
    int body = row->body[end];
    if (!carom_body_moves(s->model, body)) continue;
    double size = carom_body_radius(&s->model->bodies[body]), unit = size > 0 ? 1 / size : 1;
    carom_vec3 f = row->linear[end], m = cm_scale(unit, row->angular[end]);
    double load[6] = {f.x, f.y, f.z, m.x, m.y, m.z};
    for (int k = 0; k < n; k++) column[s->number[body] * n + k] += factor * load[entries[k]];
  }
}

static void put_friction(const carom_quasi *s, const carom_quasi_item *item, int direction, double *column) {
  double sign = direction == 0 ? 1 : -1, angle = 2 * acos(-1) * direction / ROUND;
  put(s, &item->row[1], s->model->planar ? sign : cos(angle), column);
  if (!s->model->planar) put(s, &item->row[2], sin(angle), column);
}

carom_status carom_quasi_cone(carom_quasi *s, double touch, carom_friction_cone *cone, int *members,
                              carom_error *error) {
  int rows = (s->model->planar ? 3 : 6) * s->model->moving_count, directions = directions_of(s), count = 0;
  for (int i = 0; i < s->count; i++)
    if (s->items[i].contact.gap <= touch) members[count++] = i;
  int numbers = count * (rows * (1 + directions) + 1);
  carom_status status = carom_quasi_room(s, numbers > 0 ? numbers : 1, 1, error);
  if (status != CAROM_OK) return status;
  memset(s->dense, 0, (size_t)numbers * sizeof *s->dense);
  double *N = s->dense, *D = N + count * rows, *mu = D + count * directions * rows;
  for (int c = 0; c < count; c++) {
    const carom_quasi_item *item = &s->items[members[c]];
    put(s, &item->row[0], 1, N + c * rows);
    for (int d = 0; d < directions; d++) put_friction(s, item, d, D + (c * directions + d) * rows);
    mu[c] = item->mu;
  }
  *cone = (carom_friction_cone){.rows = rows, .contacts = count, .directions = directions, .N = N, .D = D, .mu = mu};
  return CAROM_OK;
}
