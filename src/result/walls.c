#include "result/file.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"

static bool sound(const double *row, int body_count) {
  for (int k = 0; k < CAROM_WALL_COLUMNS; k++)
    if (!isfinite(row[k])) return false;
  return row[0] >= 0 && row[1] >= CAROM_WORLD && row[1] < body_count && row[9] >= 0;
}

// A new wall begins where the number in the first column changes.
static void take_row(carom_result *result, const double *row, int i) {
  if (i == 0 || row[0] != row[-CAROM_WALL_COLUMNS]) {
    carom_result_wall *wall = &result->walls[result->wall_count++];
    *wall = (carom_result_wall){.body = (int)row[1], .point_start = i};
    memcpy(&wall->pose, row + 2, sizeof wall->pose);
  }
  result->walls[result->wall_count - 1].point_count++;
  result->wall_points[i] = (carom_profile_point){row[9], row[10]};
}

static void take_rows(carom_h5_file *file, carom_result *result, const double *rows, hsize_t count) {
  if (!CAROM_NEW_ALL(&file->allocator, CAROM_ROOM(result->walls, count), CAROM_ROOM(result->wall_points, count))) {
    carom_h5_fail_memory(file, "/walls");
    return;
  }
  for (hsize_t i = 0; i < count; i++) {
    if (!sound(rows + i * CAROM_WALL_COLUMNS, result->body_count)) {
      carom_h5_fail_format(file, "/walls", "has a point that is not finite, or of no body");
      return;
    }
    take_row(result, rows + i * CAROM_WALL_COLUMNS, (int)i);
  }
}

void carom_result_read_walls(carom_h5_file *file, carom_result *result) {
  const char *path = carom_result_fields[CAROM_FIELD_WALL_POINTS].path;
  if (!carom_h5_has(file, "/walls")) return;
  hsize_t size[2] = {CAROM_H5_ANY, CAROM_WALL_COLUMNS};
  double *rows = carom_h5_read(file, path, H5T_NATIVE_DOUBLE, sizeof *rows, 2, size);
  if (rows) take_rows(file, result, rows, size[0]);
  carom_release(&file->allocator, rows);
}
