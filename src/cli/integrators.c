// carom integrators: what each of them honours, as the library says it.
#include <string.h>

#include "cli/cli.h"

enum { WIDE = 42 };  // column of names

static bool is_taken_by_all(carom_option option) {
  for (int i = 0; carom_integrator_name(i); i++)
    if (!carom_integrator_takes(i, option, NULL)) return false;
  return true;
}

// ---- all of them, as a table for the terminal ----------------------------------------------------------------------

static void print_cell(int integrator, bool honoured) {
  bool last = !carom_integrator_name(integrator + 1);
  cli_print(stdout, "  %-*s", last ? 0 : (int)strlen(carom_integrator_name(integrator)), honoured ? "yes" : "-");
}

static void print_heading(const char *title) {
  cli_print(stdout, "%-*s", WIDE, title);
  for (int i = 0; carom_integrator_name(i); i++) cli_print(stdout, "  %s", carom_integrator_name(i));
  putchar('\n');
}

static void print_rules(void) {
  cli_print(stdout, "auto (the default) takes the first of these that honours the scene and all options asked for:\n");
  for (int i = 0; carom_auto_describe(i); i++)
    cli_print(stdout, "  %-12s %s\n", carom_auto_describe(i)->integrator, carom_auto_describe(i)->when);
}

static void print_table(void) {
  print_heading("options");
  for (int o = 0; carom_option_describe(o); o++) {
    cli_print(stdout, "  %-*s", WIDE - 2, carom_option_describe(o)->name);
    for (int i = 0; carom_integrator_name(i); i++) print_cell(i, carom_integrator_takes(i, (carom_option)o, NULL));
    putchar('\n');
  }
  putchar('\n');
  print_heading("what a model may have");
  for (int t = 0; carom_trait_describe(t); t++) {
    cli_print(stdout, "  %-*s", WIDE - 2, carom_trait_describe(t)->name);
    for (int i = 0; carom_integrator_name(i); i++) print_cell(i, carom_integrator_honours(i, (carom_trait)t));
    putchar('\n');
  }
  putchar('\n');
  print_rules();
  cli_print(stdout, "\n'carom integrators NAME' tells what the options of one may be.\n");
}

// ---- one of them ---------------------------------------------------------------------------------------------------

static void print_options_of(int integrator) {
  for (int o = 0; carom_option_describe(o); o++) {
    const carom_option_info *info = carom_option_describe(o);
    carom_allowed allowed;
    char text[300];
    if (!carom_integrator_takes(integrator, (carom_option)o, &allowed)) continue;
    carom_allowed_format(&allowed, text, sizeof text);
    cli_print(stdout, "  %-20s %s%s%s (default: %s)\n  %-20s   %s\n", info->name, text, info->unit[0] ? ", " : "",
              info->unit, info->preset, "", info->summary);
  }
  char text[1000];
  for (int c = 0; carom_integrator_conflict(integrator, c, text, sizeof text) >= 0; c++)
    cli_print(stdout, "  not together         %s\n", text);
}

static void print_traits_of(int integrator, bool honoured, const char *title) {
  cli_print(stdout, "\n%s\n", title);
  for (int t = 0; carom_trait_describe(t); t++)
    if (carom_integrator_honours(integrator, (carom_trait)t) == honoured)
      cli_print(stdout, "  %-*s %s\n", WIDE, carom_trait_describe(t)->name, carom_trait_describe(t)->summary);
}

static void print_one(int integrator) {
  cli_print(stdout, "%s: %s\n\noptions\n", carom_integrator_name(integrator), carom_integrator_summary(integrator));
  print_options_of(integrator);
  print_traits_of(integrator, true, "honours");
  print_traits_of(integrator, false, "does not honour");
}

// ---- for the documentation -----------------------------------------------------------------------------------------

// Words in code type.
static void print_allowed(const carom_allowed *allowed, const char *unit) {
  char text[300];
  carom_allowed_format(allowed, text, sizeof text);
  if (!allowed->words) cli_print(stdout, "%s%s%s", text, unit[0] ? ", " : "", unit);
  for (int k = 0; allowed->words && allowed->words[k]; k++)
    cli_print(stdout, "%s`%s`", k == 0 ? "" : allowed->words[k + 1] ? ", " : " or ", allowed->words[k]);
}

static bool same_allowed(const carom_allowed *a, const carom_allowed *b) {
  char one[300], other[300];
  carom_allowed_format(a, one, sizeof one);
  carom_allowed_format(b, other, sizeof other);
  return strcmp(one, other) == 0;
}

// What the option may be: once, or by each integrator where they differ.
static void print_range(carom_option option, const char *unit) {
  carom_allowed first = {0}, a;
  bool same = true;
  for (int i = 0; carom_integrator_name(i); i++) {
    if (!carom_integrator_takes(i, option, &a)) continue;
    if (!first.honoured) first = a;
    same = same && same_allowed(&first, &a);
  }
  if (same) print_allowed(&first, unit);
  const char *before = "";
  for (int i = 0; !same && carom_integrator_name(i); i++) {
    if (!carom_integrator_takes(i, option, &a)) continue;
    cli_print(stdout, "%s%s: ", before, carom_integrator_name(i));
    print_allowed(&a, unit);
    before = "; ";
  }
}

static void print_markdown_options(void) {
  cli_print(stdout, "| key | may be | default | meaning |\n|---|---|---|---|\n");
  for (int o = 0; carom_option_describe(o); o++) {
    const carom_option_info *info = carom_option_describe(o);
    const char *before = ": ";
    cli_print(stdout, "| `%s` | ", info->name);
    print_range((carom_option)o, info->unit);
    cli_print(stdout, " | %s | %s", info->preset, info->summary);
    for (int i = 0; !is_taken_by_all((carom_option)o) && carom_integrator_name(i); i++) {
      if (!carom_integrator_takes(i, (carom_option)o, NULL)) continue;
      cli_print(stdout, "%s`%s`", before, carom_integrator_name(i));
      before = ", ";
    }
    cli_print(stdout, " |\n");
  }
}

static void print_markdown_rules(void) {
  cli_print(stdout, "\n`auto` takes the first of these that honours the scene and all options asked for:\n\n");
  cli_print(stdout, "| integrator | when |\n|---|---|\n");
  for (int i = 0; carom_auto_describe(i); i++)
    cli_print(stdout, "| `%s` | %s |\n", carom_auto_describe(i)->integrator, carom_auto_describe(i)->when);
}

static void print_markdown_traits(void) {
  cli_print(stdout, "\n| a model may have |");
  for (int i = 0; carom_integrator_name(i); i++) cli_print(stdout, " `%s` |", carom_integrator_name(i));
  cli_print(stdout, "\n|---|");
  for (int i = 0; carom_integrator_name(i); i++) cli_print(stdout, "---|");
  for (int t = 0; carom_trait_describe(t); t++) {
    cli_print(stdout, "\n| %s |", carom_trait_describe(t)->name);
    for (int i = 0; carom_integrator_name(i); i++)
      cli_print(stdout, " %s |", carom_integrator_honours(i, (carom_trait)t) ? "yes" : "-");
  }
  cli_print(stdout, "\n\nNot together:\n\n");
  char text[1000];
  for (int i = 0; carom_integrator_name(i); i++)
    for (int c = 0; carom_integrator_conflict(i, c, text, sizeof text) >= 0; c++)
      cli_print(stdout, "- `%s`: %s\n", carom_integrator_name(i), text);
}

// ---- for programs --------------------------------------------------------------------------------------------------

static void put_option(cli_json *json, int integrator, int option) {
  const carom_option_info *info = carom_option_describe(option);
  carom_allowed a;
  char text[300];
  if (!carom_integrator_takes(integrator, (carom_option)option, &a)) return;
  carom_allowed_format(&a, text, sizeof text);
  cli_json_open(json, info->name, '{');
  CLI_MEMBERS(json, CLI_T("allowed", text), CLI_T("unit", info->unit), CLI_T("default", info->preset),
              CLI_T("summary", info->summary));
  if (a.words) {
    cli_json_open(json, "words", '[');
    for (int k = 0; a.words[k]; k++) cli_json_text(json, NULL, a.words[k]);
    cli_json_close(json, ']');
  } else if (a.most > a.least) {
    CLI_MEMBERS(json, CLI_N("least", a.least), CLI_N("most", a.most), CLI_B("above", a.above),
                CLI_B("or_zero", a.or_zero), CLI_I("stride", a.stride));
  }
  cli_json_close(json, '}');
}

static void put_integrator(cli_json *json, int integrator) {
  char text[1000];
  cli_json_open(json, NULL, '{');
  cli_json_text(json, "name", carom_integrator_name(integrator));
  cli_json_text(json, "summary", carom_integrator_summary(integrator));
  cli_json_open(json, "options", '{');
  for (int o = 0; carom_option_describe(o); o++) put_option(json, integrator, o);
  cli_json_close(json, '}');
  cli_json_open(json, "not_together", '[');
  for (int c = 0; carom_integrator_conflict(integrator, c, text, sizeof text) >= 0; c++)
    cli_json_text(json, NULL, text);
  cli_json_close(json, ']');
  cli_json_open(json, "honours", '{');
  for (int t = 0; carom_trait_describe(t); t++)
    cli_json_bool(json, carom_trait_describe(t)->name, carom_integrator_honours(integrator, (carom_trait)t));
  cli_json_close(json, '}');
  cli_json_close(json, '}');
}

static void put_rules(cli_json *json) {
  cli_json_open(json, "auto", '[');
  for (int i = 0; carom_auto_describe(i); i++) {
    cli_json_open(json, NULL, '{');
    cli_json_text(json, "integrator", carom_auto_describe(i)->integrator);
    cli_json_text(json, "when", carom_auto_describe(i)->when);
    cli_json_close(json, '}');
  }
  cli_json_close(json, ']');
}

static void print_json(int only) {
  cli_json json = cli_json_begin(stdout);
  put_rules(&json);
  cli_json_open(&json, "integrators", '[');
  for (int i = 0; carom_integrator_name(i); i++)
    if (only < 0 || only == i) put_integrator(&json, i);
  cli_json_close(&json, ']');
  cli_json_end(&json);
}

// ---- the verb ------------------------------------------------------------------------------------------------------

static int unknown(const char *name) {
  enum { MOST = 64 };
  const char *names[MOST + 2] = {"auto"};
  for (int i = 0; i < MOST && carom_integrator_name(i); i++) names[i + 1] = carom_integrator_name(i);
  const char *nearest = carom_nearest_word(name, names);
  if (nearest)
    cli_error("integrators: none is named '%s' (did you mean '%s'?)", name, nearest);
  else
    cli_error("integrators: none is named '%s'; 'carom integrators' lists them", name);
  return EXIT_MISTAKE;
}

static const char about[] =
    "Lists the integrators with the options and the traits of models that each honours, or all about one of them.\n"
    "What an integrator does not honour is refused by 'carom check' and 'carom run'.";

int cli_integrators(int argc, char **argv) {
  struct {
    const char *name;
    bool json, markdown;
  } w = {0};
  const cli_option options[] = {
      {CLI_FLAG, 0, "markdown", NULL, "the tables of docs/integrators.md", &w.markdown},
      {CLI_FLAG, 0, "json", NULL, "report as one line of JSON", &w.json},
      {CLI_END, 0, NULL, NULL, NULL, NULL},
  };
  const cli_syntax syntax = {"integrators", "[NAME] [OPTIONS]", about, options, &w.name, 0, 1};
  int code;
  if (!cli_parse(&syntax, argc, argv, &code)) return code;
  bool rules = w.name && strcmp(w.name, "auto") == 0;
  int only = w.name ? carom_integrator_find(w.name) : -1;
  if (w.name && only < 0 && !rules) return unknown(w.name);
  if (w.json) {
    print_json(only);
  } else if (w.markdown) {
    print_markdown_options();
    print_markdown_traits();
    print_markdown_rules();
  } else if (rules) {
    print_rules();
  } else if (w.name) {
    print_one(only);
  } else {
    print_table();
  }
  return EXIT_GOOD;
}
