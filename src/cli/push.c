// carom push: pushing without inertia. The word behind says what is asked.
#include <string.h>

#include "cli/push.h"

static const cli_verb verbs[] = {
    {"check", "what becomes of pushes, and whether they are robust", cli_push_check},
    {"plan", "find robust pushes that lead to the goal", cli_push_plan},
    {"fit", "find the friction and the support that explain recorded pushes", cli_push_fit},
};
enum { VERB_COUNT = sizeof verbs / sizeof *verbs };

static void print_help(FILE *out) {
  cli_print(out,
            "usage: carom push WORD PROBLEM.yaml [OPTIONS]\n\n"
            "Parts without inertia on supports that resist their motion, pushed by probes.\n\n");
  for (int i = 0; i < VERB_COUNT; i++) cli_print(out, "  %-6s %s\n", verbs[i].name, verbs[i].summary);
  cli_print(out, "\n'carom push WORD --help' tells more about each.\n");
}

int cli_push(int argc, char **argv) {
  const char *names[VERB_COUNT + 1] = {0};
  if (argc < 2) return cli_error("push: check, plan or fit? See 'carom push --help'"), EXIT_MISTAKE;
  if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")) return print_help(stdout), EXIT_GOOD;
  for (int i = 0; i < VERB_COUNT; i++) {
    if (strcmp(argv[1], verbs[i].name) == 0) return verbs[i].run(argc - 1, argv + 1);
    names[i] = verbs[i].name;
  }
  const char *nearest = carom_nearest_word(argv[1], names);
  cli_error(
      nearest ? "push: unknown word '%s' (did you mean '%s'?)" : "push: unknown word '%s'; see 'carom push --help'",
      argv[1], nearest);
  return EXIT_MISTAKE;
}

carom_push_file *cli_push_read(const char *verb, const char *path, const cli_list *overrides) {
  carom_scene_options options = cli_scene_options(overrides);
  carom_diagnostics diagnostics = {0};
  carom_push_file *file = NULL;
  carom_status status = carom_push_read(path, &options, NULL, &file, &diagnostics);
  cli_print_diagnostics(&diagnostics);
  if (status == CAROM_ERR_SCENE) cli_count_mistakes(path, diagnostics.error_count, CLI_READS_PUSH);
  if (status == CAROM_ERR_MEMORY) cli_error("%s: out of memory", verb);
  carom_diagnostics_release(&diagnostics);
  return file;
}
