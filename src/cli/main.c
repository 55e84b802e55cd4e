// carom: the command line.
#include <errno.h>
#include <string.h>

#include "cli/cli.h"

static const cli_verb verbs[] = {
    {"run", "run a scene, audit it and write a result file", cli_run},
    {"check", "read a scene and report every mistake in it", cli_check},
    {"audit", "judge a motion from anywhere: a result file or a table", cli_audit},
    {"info", "describe a result file", cli_info},
    {"explain", "where a run stopped, why, and a scene that begins there", cli_explain},
    {"view", "make the replay page of a result file", cli_view},
    {"export", "write a result as csv, VTK, glTF or HTML", cli_export},
    {"gap", "how far apart two shapes are, and where", cli_gap},
    {"compare", "run a scene by several integrators, side by side", cli_compare},
    {"integrators", "what each integrator honours", cli_integrators},
    {"lcp", "solve complementarity problems from a file", cli_lcp},
    {"friction", "solve a problem of Coulomb friction from a file", cli_friction},
    {"flow", "how the pixels of one image move to those of the next", cli_flow},
    {"navigate", "ways of many vehicles in safety cages, without collisions", cli_navigate},
    {"root", "roots of equations, where Newton's method fails too", cli_root},
    {"saa", "decide before it is known what comes: two-stage stochastic programs", cli_saa},
    {"plan", "find the best motion past obstacles and through contacts", cli_plan},
    {"sweep", "run a scene many times over axes: rates, maps, borders", cli_sweep},
    {"design", "find the values of a scene or a plan that make it best, in few runs", cli_design},
    {"push", "check, plan and fit pushes of parts without inertia", cli_push},
    {"demo", "list the built-in examples, or run one", cli_demo},
};
enum { VERB_COUNT = sizeof verbs / sizeof *verbs };

static void print_help(FILE *out) {
  cli_print(out, "carom %s: mechanics with impacts, audited\n\nusage: carom VERB [OPTIONS] ...\n\n", carom_version());
  for (int i = 0; i < VERB_COUNT; i++) cli_print(out, "  %-11s %s\n", verbs[i].name, verbs[i].summary);
  cli_print(out,
            "\n'carom VERB --help' tells more about each. Begin with 'carom demo'.\n"
            "Exit codes: 0 success, 1 failure, 2 mistake in the command or the scene, 3 verdict failed (--strict),\n"
            "4 no plan meets the conditions, 130 interrupted (what was done so far is kept).\n");
}

static const cli_verb *find_verb(const char *name) {
  for (int i = 0; i < VERB_COUNT; i++)
    if (strcmp(verbs[i].name, name) == 0) return &verbs[i];
  return NULL;
}

static int unknown_verb(const char *name) {
  const char *names[VERB_COUNT + 1] = {0};
  for (int i = 0; i < VERB_COUNT; i++) names[i] = verbs[i].name;
  const char *nearest = carom_nearest_word(name, names);
  if (nearest)
    cli_error("unknown verb '%s' (did you mean '%s'?)", name, nearest);
  else
    cli_error("unknown verb '%s'; 'carom --help' lists them", name);
  return EXIT_MISTAKE;
}

static int help_on(const char *word) {
  const cli_verb *verb = find_verb(word);
  char name[32], option[] = "--help", *words[] = {name, option, NULL};
  if (!verb) return unknown_verb(word);
  snprintf(name, sizeof name, "%s", word);
  return verb->run(2, words);
}

static int answer(int argc, char **argv) {
  const char *word = argv[1];
  if (!strcmp(word, "--help") || !strcmp(word, "-h") || !strcmp(word, "help")) {
    if (argc > 2) return help_on(argv[2]);
    print_help(stdout);
    return EXIT_GOOD;
  }
  if (!strcmp(word, "--version") || !strcmp(word, "-V") || !strcmp(word, "version")) {
    cli_print(stdout, "carom %s\n", carom_version());
    return EXIT_GOOD;
  }
  const cli_verb *verb = find_verb(word);
  return verb ? verb->run(argc - 1, argv + 1) : unknown_verb(word);
}

// A report that nobody received is a failure, too: the disk behind stdout may be full.
static int deliver(int code) {
  bool failed = fflush(stdout) != 0;
  int reason = errno;
  if (!failed && !ferror(stdout)) return code;
  cli_error("cannot write to the standard output: %s", failed ? strerror(reason) : "a write failed");
  return code == EXIT_GOOD ? EXIT_FAILED : code;
}

int main(int argc, char **argv) {
  cli_hear_of_full_disks();
  if (!cli_has_room()) return EXIT_FAILED;
  if (argc >= 2) return deliver(answer(argc, argv));
  print_help(stderr);
  return EXIT_MISTAKE;
}
