#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/sweep.h"

enum { MOST_LINE = 1 << 16 };

// FNV-1a, over the bytes of a line.
static uint64_t sum_of(const char *text, size_t size) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (size_t i = 0; i < size; i++) hash = (hash ^ (unsigned char)text[i]) * 0x100000001b3u;
  return hash;
}

static void make_head(cli_journal *j, const cli_sweep_run *run) {
  static const char *const modes[] = {"design", "border", "sensitivity", "sobol", "search"};
  const carom_sampling *s = &run->sweep->sampling;
  snprintf(j->head, sizeof j->head, "carom-sweep-journal 1 %016llx %s %d %a %s %lld %llu %d",
           (unsigned long long)run->sweep->digest, modes[run->mode], run->axis, run->tolerance,
           carom_design_name(s->design), (long long)s->count, (unsigned long long)s->seed, run->sweep->column_count);
}

// ---- lines ----------------------------------------------------------------------------------------------------------

// number, class, values in hexadecimal, reason; then the sum of all that.
static size_t format_case(const cli_journal *j, const carom_case *c, char *line, size_t size) {
  size_t n = (size_t)snprintf(line, size, "%lld\t%d", (long long)c->number, c->class_index);
  for (int i = 0; i < j->sweep->column_count && n < size; i++)
    n += (size_t)snprintf(line + n, size - n, "\t%a", c->values[i]);
  if (n < size) n += (size_t)snprintf(line + n, size - n, "\t%s", c->reason);
  for (size_t i = 0; i < n && i < size; i++)
    if (line[i] == '\n' || line[i] == '\r') line[i] = ' ';
  if (n < size) n += (size_t)snprintf(line + n, size - n, "\t%016llx\n", (unsigned long long)sum_of(line, n));
  return n;
}

static bool parse_values(const carom_sweep *sweep, char **at, carom_case *c) {
  for (int i = 0; i < sweep->column_count; i++) {
    char *end;
    if (**at != '\t') return false;
    c->values[i] = strtod(*at + 1, &end);
    if (end == *at + 1) return false;
    *at = end;
  }
  return **at == '\t';
}

static bool parse_case(const carom_sweep *sweep, char *line, carom_case *c) {
  char *tail = strrchr(line, '\t'), *at;
  if (!tail || strtoull(tail + 1, NULL, 16) != sum_of(line, (size_t)(tail - line))) return false;
  *tail = '\0';
  c->number = strtoll(line, &at, 10);
  if (*at != '\t') return false;
  c->class_index = (int)strtol(at + 1, &at, 10);
  if (c->class_index < 0 || c->class_index >= sweep->class_count || c->number < 0) return false;
  if (!parse_values(sweep, &at, c)) return false;
  snprintf(c->reason, sizeof c->reason, "%s", at + 1);
  return true;
}

// ---- taking up ------------------------------------------------------------------------------------------------------

static bool no_memory(const cli_journal *j) { return cli_error("%s: out of memory for the journal", j->verb); }

static bool keep(cli_journal *j, const carom_case *c) {
  if (j->old_count == j->old_capacity) {
    int64_t larger = j->old_capacity > 0 ? 2 * j->old_capacity : 64;
    carom_case *moved = realloc(j->old, (size_t)larger * sizeof *moved);
    if (!moved) return no_memory(j);
    j->old = moved;
    j->old_capacity = larger;
  }
  j->old[j->old_count] = *c;
  size_t size = (size_t)j->sweep->column_count * sizeof *c->values;
  double *values = j->old[j->old_count].values = malloc(size);
  if (!values) return no_memory(j);
  memcpy(values, c->values, size);
  if (c->number >= j->index_count) j->index_count = c->number + 1;
  j->old_count++;
  return true;
}

static bool make_index(cli_journal *j) {
  j->index = malloc((size_t)(j->index_count + 1) * sizeof *j->index);
  if (!j->index) return no_memory(j);
  for (int64_t i = 0; i < j->index_count; i++) j->index[i] = -1;
  for (int64_t i = 0; i < j->old_count; i++) j->index[j->old[i].number] = i;
  return true;
}

// Whole lines from the first on; *end is where they cease.
static bool read_lines(cli_journal *j, FILE *in, char *line, double *values, long *end) {
  *end = ftell(in);
  while (fgets(line, MOST_LINE, in)) {
    carom_case c = {.values = values};
    size_t n = strlen(line);
    if (n == 0 || line[n - 1] != '\n') break;
    line[n - 1] = '\0';
    if (!parse_case(j->sweep, line, &c)) break;
    if (!keep(j, &c)) return false;
    *end = ftell(in);
  }
  return make_index(j);
}

static bool check_head(const cli_journal *j, FILE *in, char *line) {
  if (fgets(line, MOST_LINE, in)) {
    line[strcspn(line, "\n")] = '\0';
    if (strcmp(line, j->head) == 0) return true;
  }
  return cli_error(
      "%s: '%s' is of another problem, or the problem, its scene or what was asked for was changed since; "
      "start anew with --force",
      j->verb, j->path);
}

static bool take_up(cli_journal *j) {
  FILE *in = cli_open_input(j->path);
  if (!in) return cli_error("%s: cannot read '%s': %s", j->verb, j->path, strerror(errno));
  char *line = malloc(MOST_LINE);
  double *values = malloc((size_t)(j->sweep->column_count + 1) * sizeof *values);
  long end = 0;
  bool good = line && values ? check_head(j, in, line) && read_lines(j, in, line, values, &end) : no_memory(j);
  fclose(in);
  free(line);
  free(values);
  if (good && truncate(j->path, end) != 0)
    good = cli_error("%s: cannot write '%s': %s", j->verb, j->path, strerror(errno));
  if (good) j->out = fopen(j->path, "ae");
  return good && (j->out || cli_error("%s: cannot write '%s': %s", j->verb, j->path, strerror(errno)));
}

static bool begin(cli_journal *j) {
  j->out = fopen(j->path, "we");
  bool good = j->out && fprintf(j->out, "%s\n", j->head) > 0 && fflush(j->out) == 0 && make_index(j);
  return good || cli_error("%s: cannot write '%s': %s", j->verb, j->path, strerror(errno));
}

bool cli_journal_open(cli_journal *j, const cli_sweep_run *run, const char *path, bool resume, bool force) {
  *j = (cli_journal){.path = path, .sweep = run->sweep, .verb = run->verb};
  make_head(j, run);
  bool there = access(path, F_OK) == 0;
  if (there && !resume && !force)
    return cli_error(
        "%s: '%s' is the journal of a %s that did not come to its end; go on with %s, or start "
        "anew with --force",
        run->verb, path, run->verb, run->again);
  return there && resume ? take_up(j) : begin(j);
}

// ---- at work --------------------------------------------------------------------------------------------------------

bool cli_journal_add(cli_journal *j, const carom_case *c) {
  size_t size = 64 + 40 * (size_t)j->sweep->column_count + sizeof c->reason;
  char *line = malloc(size);
  if (!line) return no_memory(j);
  size_t n = format_case(j, c, line, size);
  bool good = n < size && fwrite(line, 1, n, j->out) == n && fflush(j->out) == 0;
  free(line);
  return good || cli_error("%s: cannot write '%s': %s", j->verb, j->path, strerror(errno));
}

const carom_case *cli_journal_find(const cli_journal *j, int64_t number) {
  int64_t i = number < j->index_count ? j->index[number] : -1;
  return i >= 0 ? &j->old[i] : NULL;
}

void cli_journal_close(cli_journal *j, bool remove) {
  if (j->out) fclose(j->out);
  if (j->out && remove) unlink(j->path);
  for (int64_t i = 0; i < j->old_count; i++) free(j->old[i].values);
  free(j->old);
  free(j->index);
  *j = (cli_journal){0};
}
