// The one way of texts to the terminal. Titles, names, paths and words of the command line were written by anybody:
// whatever in them would steer a terminal is shown, not sent.
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

// One conversion of a format, as "%-12s", with its stars filled in.
typedef struct conversion {
  char text[64];
  int longs;  // 'l' twice is 2; 'z' is 3
  char letter;
} conversion;

// Reads the conversion that begins at `at`; returns what comes after it.
static const char *read_conversion(const char *at, conversion *c, va_list *arguments) {
  size_t n = 0;
  *c = (conversion){.longs = 0};
  c->text[n++] = *at++;
  for (; *at && !strchr("diuxXcsgGeEfp%", *at) && n < 40; at++) {
    c->longs += *at == 'l' ? 1 : *at == 'z' ? 3 : 0;
    if (*at == '*')
      n += (size_t)snprintf(c->text + n, 16, "%d", va_arg(*arguments, int));
    else
      c->text[n++] = *at;
  }
  c->letter = *at;
  c->text[n] = *at;
  return *at ? at + 1 : at;
}

void cli_put_escaped(FILE *out, const char *form, const char *text, const char *also) {
  char room[512], *escaped = room;
  size_t size = carom_escape(text, also, room, sizeof room) + 1;
  if (size > sizeof room && (escaped = malloc(size))) carom_escape(text, also, escaped, size);
  fprintf(out, form, escaped ? escaped : room);  // without memory the beginning must do
  if (escaped != room) free(escaped);
}

static void put_argument(FILE *out, const conversion *c, va_list *arguments) {
  if (c->letter == '%')
    fputc('%', out);
  else if (c->letter == 's')
    cli_put_escaped(out, c->text, va_arg(*arguments, const char *), NULL);
  else if (strchr("gGeEf", c->letter))
    fprintf(out, c->text, va_arg(*arguments, double));  // NOLINT(bugprone-branch-clone): the types differ
  else if (c->longs == 3)
    fprintf(out, c->text, va_arg(*arguments, size_t));
  else if (c->longs == 2)
    fprintf(out, c->text, va_arg(*arguments, long long));
  else if (c->longs == 1)
    fprintf(out, c->text, va_arg(*arguments, long));
  else
    fprintf(out, c->text, va_arg(*arguments, int));
}

static void print_list(FILE *out, const char *format, va_list *arguments) {
  conversion c;
  while (*format) {
    size_t plain = strcspn(format, "%");
    fwrite(format, 1, plain, out);
    format += plain;
    if (!*format) break;
    format = read_conversion(format, &c, arguments);
    if (c.letter) put_argument(out, &c, arguments);
  }
}

void cli_print(FILE *out, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  print_list(out, format, &arguments);
  va_end(arguments);
}

bool cli_error(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fputs("carom: ", stderr);
  print_list(stderr, format, &arguments);
  fputc('\n', stderr);
  va_end(arguments);
  return false;
}

void cli_print_lines(const char *text) {
  while (*text) {
    size_t length = strcspn(text, "\n");
    char *line = malloc(length + 1);
    if (!line) return;
    memcpy(line, text, length);
    line[length] = '\0';
    cli_print(stdout, "%s", line);
    free(line);
    text += length;
    if (*text) fputc(*text++, stdout);
  }
}
