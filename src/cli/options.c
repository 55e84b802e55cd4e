// Options from a table: --name VALUE, --name=VALUE, -x VALUE, flags, and `--` before words that begin with a dash.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

static void print_option(const cli_option *o) {
  char left[64];
  char letter[8] = "";
  if (o->letter) snprintf(letter, sizeof letter, "-%c, ", o->letter);
  snprintf(left, sizeof left, "%s--%s%s%s", letter, o->name, o->value ? " " : "", o->value ? o->value : "");
  cli_print(stdout, "  %-28s %s\n", left, o->help);
}

static void print_usage(const cli_syntax *syntax) {
  cli_print(stdout, "usage: carom %s %s\n\n", syntax->verb, syntax->usage);
  cli_print_lines(syntax->about);
  cli_print(stdout, "\n\noptions:\n");
  for (const cli_option *o = syntax->options; o->kind != CLI_END; o++) print_option(o);
  cli_print(stdout, "  %-28s %s\n", "-h, --help", "this text");
}

static const cli_option *find_option(const cli_syntax *syntax, const char *name, size_t length) {
  for (const cli_option *o = syntax->options; o->kind != CLI_END; o++)
    if (strlen(o->name) == length && strncmp(o->name, name, length) == 0) return o;
  return NULL;
}

static const cli_option *find_letter(const cli_syntax *syntax, char letter) {
  for (const cli_option *o = syntax->options; o->kind != CLI_END; o++)
    if (o->letter == letter) return o;
  return NULL;
}

static void complain_unknown(const cli_syntax *syntax, const char *word) {
  const char *names[40] = {0};
  int count = 0;
  for (const cli_option *o = syntax->options; o->kind != CLI_END && count < 39; o++) names[count++] = o->name;
  const char *nearest = word[1] == '-' ? carom_nearest_word(word + 2, names) : NULL;
  if (nearest)
    cli_error("%s: unknown option '%s' (did you mean '--%s'?)", syntax->verb, word, nearest);
  else
    cli_error("%s: unknown option '%s'; see 'carom %s --help'", syntax->verb, word, syntax->verb);
}

static bool store(const cli_syntax *syntax, const cli_option *option, const char *value) {
  if (option->kind == CLI_FLAG) {
    *(bool *)option->target = true;
  } else if (option->kind == CLI_TEXT) {
    *(const char **)option->target = value;
  } else {
    cli_list *list = option->target;
    if (list->count == CLI_MAX_LIST)
      return cli_error("%s: more than %d times --%s", syntax->verb, CLI_MAX_LIST, option->name);
    list->items[list->count++] = value;
  }
  return true;
}

// One option at argv[*i], which begins with a dash; its value may be in the same word or the next.
static bool take_option(const cli_syntax *syntax, int argc, char **argv, int *i) {
  char *word = argv[*i], *equals = strchr(word, '=');
  const cli_option *option;
  const char *value = NULL;
  if (word[1] == '-') {
    size_t length = equals ? (size_t)(equals - word - 2) : strlen(word + 2);
    option = find_option(syntax, word + 2, length);
    value = equals ? equals + 1 : NULL;
  } else {
    option = find_letter(syntax, word[1]);
    value = option && option->kind != CLI_FLAG && word[2] ? word + 2 : NULL;
    if (option && option->kind == CLI_FLAG && word[2]) option = NULL;
  }
  if (!option) return complain_unknown(syntax, word), false;
  if (option->kind == CLI_FLAG && value) return cli_error("%s: --%s takes no value", syntax->verb, option->name), false;
  if (option->kind != CLI_FLAG && !value) {
    if (*i + 1 >= argc)
      return cli_error("%s: --%s needs a value: %s", syntax->verb, option->name, option->value), false;
    value = argv[++*i];
  }
  if (value && !*value)
    return cli_error("%s: --%s needs a value: %s", syntax->verb, option->name, option->value), false;
  return store(syntax, option, value);
}

static bool take_operand(const cli_syntax *syntax, int *count, const char *word) {
  if (*count >= syntax->max_operands)
    return cli_error("%s: unexpected '%s'; usage: carom %s %s", syntax->verb, word, syntax->verb, syntax->usage);
  syntax->operands[(*count)++] = word;
  return true;
}

bool cli_parse(const cli_syntax *syntax, int argc, char **argv, int *exit_code) {
  int count = 0;
  bool options_over = false;
  *exit_code = EXIT_MISTAKE;
  for (int i = 1; i < argc; i++) {
    if (!options_over && (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h"))) {
      print_usage(syntax);
      *exit_code = EXIT_GOOD;
      return false;
    }
    if (!options_over && !strcmp(argv[i], "--")) {
      options_over = true;
    } else if (!options_over && argv[i][0] == '-' && argv[i][1]) {
      if (!take_option(syntax, argc, argv, &i)) return false;
    } else if (!take_operand(syntax, &count, argv[i])) {
      return false;
    }
  }
  if (count >= syntax->min_operands) return true;
  return cli_error("%s: something is missing; usage: carom %s %s", syntax->verb, syntax->verb, syntax->usage);
}

// ---- values ---------------------------------------------------------------------------------------------------------

bool cli_read_number(const char *verb, const char *option, const char *text, double least, double most, double *value) {
  char *end;
  if (!text) return true;
  double number = strtod(text, &end);
  if (end != text && !*end && number >= least && number <= most) return *value = number, true;
  return cli_error("%s: --%s: expected a number from %g to %g, got '%s'", verb, option, least, most, text);
}

bool cli_read_count(const char *verb, const char *option, const char *text, double least, double most, int *value) {
  double number = *value;
  if (!cli_read_number(verb, option, text, least, most, &number)) return false;
  *value = (int)number;
  if (*value == number) return true;
  return cli_error("%s: --%s: expected a whole number, got '%s'", verb, option, text);
}

bool cli_read_word(const char *verb, const char *option, const char *text, const char *const *words, int *index) {
  char list[200] = "";
  if (!text) return true;
  for (int i = 0; words[i]; i++) {
    if (strcmp(text, words[i]) == 0) return *index = i, true;
    size_t n = strlen(list);
    snprintf(list + n, sizeof list - n, "%s%s", i > 0 ? ", " : "", words[i]);
  }
  const char *nearest = carom_nearest_word(text, words);
  return cli_error("%s: no %s '%s' (%s%s%s%s)", verb, option, text, nearest ? "did you mean '" : "",
                   nearest ? nearest : "", nearest ? "'? " : "", list);
}

bool cli_read_numbers(const char *text, int count, double *values, const char **end) {
  for (int i = 0; i < count; i++) {
    char *after;
    values[i] = strtod(text, &after);
    if (after == text || !isfinite(values[i])) return false;
    text = after;
    if (i + 1 < count && *text++ != ',') return false;
  }
  *end = text;
  return true;
}
