// conformance [OPTIONS] [SCENE [INTEGRATOR [STEP]]]: runs cells of the matrix and says which are right, refused, wrong.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance.h"
#include "families.h"

// ---- the rows -----------------------------------------------------------------------------------------------------

enum { MOST_SCENES = 200, MOST_CELLS = 6000, MOST_KNOWN = 2000 };

const conformance_scene *conformance_scenes(int *count) {
  static conformance_scene all[MOST_SCENES];
  static int filled;
  static const conformance_scene *const families[] = {CONFORMANCE_FAMILIES};
  bool empty = filled == 0;
  for (size_t f = 0; f < sizeof families / sizeof *families && empty; f++)
    for (const conformance_scene *s = families[f]; s->name && filled < MOST_SCENES; s++) all[filled++] = *s;
  *count = filled;
  return all;
}

const conformance_scene *conformance_find(const char *name) {
  int count = 0;
  const conformance_scene *all = conformance_scenes(&count);
  for (int i = 0; i < count; i++)
    if (strcmp(all[i].name, name) == 0) return &all[i];
  return NULL;
}

// ---- what is known to be wrong ------------------------------------------------------------------------------------

// Lines "scene integrator step reason"; the test fails for a cell that is listed and right, too.
typedef struct known {
  char scene[60], integrator[40];
  double h;
} known;

static int read_known(known *list) {
  FILE *in = fopen(CONFORMANCE_KNOWN, "r");
  char line[1000];
  int count = 0;
  while (in && fgets(line, sizeof line, in) && count < MOST_KNOWN)
    count +=
        line[0] != '#' && sscanf(line, "%59s %39s %lf", list[count].scene, list[count].integrator, &list[count].h) == 3;
  if (in) fclose(in);
  return count;
}

static bool is_known(const cell *c) {
  static known list[MOST_KNOWN];
  static int count = -1;
  if (count < 0) count = read_known(list);
  for (int i = 0; i < count; i++)
    if (strcmp(list[i].scene, c->scene->name) == 0 && strcmp(list[i].integrator, c->integrator) == 0 &&
        fabs(list[i].h - c->h) < 1e-9 * c->h)
      return true;
  return false;
}

// ---- integrators --------------------------------------------------------------------------------------------------

static bool takes_auto(void) {
  static const char text[] = "carom: 1\nbodies: [{mass: 1}]\nintegrator: {name: auto}\n";
  carom_scene *scene = NULL;
  carom_diagnostics found = {0};
  carom_scene_parse(&(carom_bytes){"auto", text, sizeof text - 1}, NULL, NULL, &scene, &found);
  carom_diagnostics_release(&found);
  carom_scene_destroy(scene);
  return scene != NULL;
}

// Those of the library, and `auto`, which stands for one of them; null past the last.
static const char *column(int index) {
  int last = 0;
  while (carom_integrator_name(last)) last++;
  return index < last ? carom_integrator_name(index) : index == last && takes_auto() ? "auto" : NULL;
}

// ---- running ------------------------------------------------------------------------------------------------------

typedef struct wanted {
  const char *scene, *integrator, *step, *json, *page, *wrong, *random;
  bool peers, quiet, print, rewrite;
} wanted;

static bool takes_part(const conformance_scene *s, const char *integrator) {
  return (s->flags & SCENE_FREE) || sees_contacts(integrator);
}

static void add(matrix *m, cell c) {
  if (m->count == MOST_CELLS) abort();
  m->cells[m->count++] = c;
}

static void run_scene(matrix *m, const conformance_scene *s, const wanted *w) {
  for (int i = 0; column(i); i++)
    for (int k = 0; k < 2; k++) {
      cell c = {.scene = s, .integrator = column(i), .h = s->steps[k]};
      if (!takes_part(s, c.integrator) || (w->integrator && strcmp(w->integrator, c.integrator) != 0)) continue;
      if (w->step && fabs(strtod(w->step, NULL) - c.h) > 1e-9 * c.h) continue;
      run_cell(&c);
      if (!w->quiet || c.outcome == CELL_WRONG) print_cell(&c);
      add(m, c);
    }
  for (int p = 0; w->peers && conformance_peers[p]; p++)
    for (int k = 0; k < 2; k++) {
      cell c = {.scene = s, .integrator = conformance_peers[p]->name, .h = s->steps[k]};
      run_peer_cell(&c, conformance_peers[p]);
      add(m, c);
    }
}

void print_cell(const cell *c) {
  static const char *const words[] = {"right", "refused", "WRONG"};
  printf("%-24s %-11s %-8g %-7s %5.2f s  %s\n", c->scene->name, c->integrator, c->h, words[c->outcome], c->seconds,
         c->reason);
}

static bool is_peer(const cell *c) {
  for (int i = 0; conformance_peers[i]; i++)
    if (strcmp(conformance_peers[i]->name, c->integrator) == 0) return true;
  return false;
}

// How many cells stand otherwise than the list says.
static int compare(const matrix *m) {
  int surprises = 0, counts[3] = {0}, known_wrong = 0;
  double seconds = 0;
  for (int i = 0; i < m->count; i++) {
    const cell *c = &m->cells[i];
    seconds += c->seconds;
    if (is_peer(c)) continue;
    bool wrong = c->outcome == CELL_WRONG, listed = is_known(c);
    counts[c->outcome]++, known_wrong += listed;
    if (wrong != listed)
      printf("%s %s %g: %s\n", c->scene->name, c->integrator, c->h,
             wrong ? "wrong, and not in known-wrong.txt" : "no longer wrong: take it out of known-wrong.txt");
    surprises += wrong != listed;
  }
  printf("%d cells: %d right, %d refused, %d wrong (%d listed); %.1f s of processor time\n",
         counts[0] + counts[1] + counts[2], counts[CELL_RIGHT], counts[CELL_REFUSED], counts[CELL_WRONG], known_wrong,
         seconds);
  return surprises;
}

static bool write_wrong(const matrix *m, const char *path) {
  FILE *out = fopen(path, "w");
  if (out)
    fputs(
        "# Cells that are wrong, and why: scene integrator step reason. A test fails for a cell that is wrong and not\n"
        "# listed, and for one that is listed and right. Written by: conformance --rewrite\n",
        out);
  for (int i = 0; out && i < m->count; i++)
    if (m->cells[i].outcome == CELL_WRONG && !is_peer(&m->cells[i]))
      fprintf(out, "%s %s %g  %.150s\n", m->cells[i].scene->name, m->cells[i].integrator, m->cells[i].h,
              m->cells[i].reason);
  return out && fclose(out) == 0;
}

// Scenes of seeds FIRST to FIRST + COUNT - 1, by one integrator.
static void run_random(matrix *m, const wanted *w) {
  char *end = NULL;
  unsigned long long first = strtoull(w->random, &end, 10);
  int count = *end == '+' ? atoi(end + 1) : 1;
  for (int i = 0; i < count; i++) {
    char *text = NULL;
    conformance_scene *row = malloc(sizeof *row);
    if (!row) abort();
    *row = random_scene(first + (unsigned)i, &text);
    cell c = {.scene = row,
              .integrator = w->integrator  ? w->integrator
                            : takes_auto() ? "auto"
                                           : "dcr",
              .h = row->steps[0]};
    if (w->print) {
      printf("%s", row->file);
      continue;
    }
    run_cell(&c);
    if (!w->quiet || c.outcome == CELL_WRONG) print_cell(&c);
    add(m, c);  // row and text live as long as the matrix
  }
}

static const char *value_of(int argc, char **argv, const char *name) {
  for (int i = 1; i + 1 < argc; i++)
    if (strcmp(argv[i], name) == 0) return argv[i + 1];
  return NULL;
}

static wanted read_words(int argc, char **argv) {
  wanted w = {.json = value_of(argc, argv, "--json"),
              .page = value_of(argc, argv, "--page"),
              .wrong = value_of(argc, argv, "--wrong"),
              .random = value_of(argc, argv, "--random")};
  const char **places[] = {&w.scene, &w.integrator, &w.step};
  for (int i = 1, n = 0; i < argc; i++) {
    if (strcmp(argv[i], "--peers") == 0)
      w.peers = true;
    else if (strcmp(argv[i], "--quiet") == 0)
      w.quiet = true;
    else if (strcmp(argv[i], "--rewrite") == 0)
      w.rewrite = true;
    else if (strcmp(argv[i], "--print") == 0)
      w.print = true;
    else if (argv[i][0] == '-')
      i++;
    else if (n < 3)
      *places[n++] = argv[i];
  }
  if (w.scene && strcmp(w.scene, "all") == 0) w.scene = NULL;
  if (w.integrator && strcmp(w.integrator, "all") == 0) w.integrator = NULL;
  return w;
}

int main(int argc, char **argv) {
  wanted w = read_words(argc, argv);
  int count = 0;
  const conformance_scene *all = conformance_scenes(&count);
  if (argc == 2 && strcmp(argv[1], "--list") == 0) {
    for (int i = 0; i < count; i++) printf("%s\n", all[i].name);
    return 0;
  }
  if (argc == 2 && strcmp(argv[1], "--integrators") == 0) {
    for (int i = 0; column(i); i++) printf("%s\n", column(i));
    return 0;
  }
  if (w.print && w.random) return run_random(NULL, &w), 0;
  if (w.scene && !conformance_find(w.scene)) return fprintf(stderr, "no scene is named '%s'\n", w.scene), 2;
  matrix m = {.cells = calloc(MOST_CELLS, sizeof *m.cells)};
  if (w.random) run_random(&m, &w);
  for (int i = 0; i < count && !w.random; i++)
    if (!w.scene || strcmp(all[i].name, w.scene) == 0) run_scene(&m, &all[i], &w);
  if (w.rewrite) {  // the list that the tests go by: the matrix, and the sample of random scenes
    w.random = "0+100";
    run_random(&m, &w);
    return !write_wrong(&m, CONFORMANCE_KNOWN);
  }
  int surprises = compare(&m);
  bool written = (!w.json || write_json(&m, w.json)) && (!w.page || write_page(&m, w.page)) &&
                 (!w.wrong || write_wrong(&m, w.wrong));
  free(m.cells);
  return surprises || !written;
}
