// Broken problems of motion planning: tests/data/bad_plans/NAME.yaml must give exactly the lines of NAME.expected.
#include "bad_files.h"
#include "carom/plan.h"

static bool read_plan(const char *path, carom_diagnostics *found) {
  carom_plan_file *file = NULL;
  carom_status status = carom_plan_read(path, NULL, NULL, &file, found);
  bool read = status == CAROM_OK || file;
  carom_plan_file_destroy(file);
  return read;
}

TEST(all_broken_problems) { CHECK(bad_check_folder(CAROM_TEST_DATA "/bad_plans/", read_plan) >= 20); }
