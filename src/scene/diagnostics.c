#include "scene/diagnostics.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"

void carom_reporter_begin(carom_reporter *reporter, carom_diagnostics *list, const carom_allocator *allocator) {
  *list = (carom_diagnostics){.allocator = carom_allocator_or_default(allocator)};
  *reporter = (carom_reporter){.list = list};
}

bool carom_reporter_full(const carom_reporter *reporter) {
  return reporter->out_of_memory || reporter->list->count >= CAROM_MAX_DIAGNOSTICS;
}

// One finding is one line, whatever the file held; a cut must not leave half a UTF-8 character.
static void sanitise(char *text) {
  size_t n = strlen(text);
  for (size_t i = 0; i < n; i++)
    if ((unsigned char)text[i] < 0x20 || text[i] == 0x7f) text[i] = '?';
  size_t start = n;
  while (start > 0 && n - start < 3 && ((unsigned char)text[start - 1] & 0xC0) == 0x80) start--;
  if (start == 0 || (unsigned char)text[start - 1] < 0xC0) return;
  unsigned char lead = (unsigned char)text[start - 1];
  size_t expected = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (n - (start - 1) < expected) text[start - 1] = '\0';
}

static bool same(const carom_diagnostic *d, carom_place place, const char *message) {
  return d->line == place.line && d->column == place.column && strcmp(d->message, message) == 0 &&
         strcmp(d->file, place.file) == 0;
}

static void release_item(const carom_allocator *a, carom_diagnostic *d) {
  CAROM_RELEASE_ALL(a, d->file, d->message, d->hint);
}

static void add(carom_reporter *reporter, bool warning, carom_place place, const char *hint, const char *message) {
  carom_diagnostics *list = reporter->list;
  for (int i = 0; i < list->count; i++)
    if (same(&list->items[i], place, message)) return;
  void *items = list->items;
  bool room = carom_grow(&list->allocator, &items, list->count, &reporter->capacity, sizeof *list->items);
  list->items = items;
  carom_diagnostic d = {.warning = warning, .line = place.line, .column = place.column};
  if (room) {
    d.file = carom_copy_text(&list->allocator, place.file);
    d.message = carom_copy_text(&list->allocator, message);
    d.hint = carom_copy_text(&list->allocator, hint ? hint : "");
  }
  if (!d.file || !d.message || !d.hint) {
    release_item(&list->allocator, &d);
    reporter->out_of_memory = true;
    return;
  }
  list->items[list->count++] = d;
  if (!warning) list->error_count++;
}

static void add_formatted(carom_reporter *reporter, bool warning, carom_place place, const char *hint,
                          const char *format, va_list arguments) {
  // Warnings leave room for errors, so that a flood of them never hides why a scene is refused.
  int limit = warning ? CAROM_MAX_DIAGNOSTICS / 2 : CAROM_MAX_DIAGNOSTICS - 1;
  if (reporter->out_of_memory || reporter->list->count > limit) return;
  char message[800];
  vsnprintf(message, sizeof message, format, arguments);
  sanitise(message);
  if (reporter->list->count < limit)
    add(reporter, warning, place, hint, message);
  else if (!warning)
    add(reporter, false, place, NULL, "there are more errors; only the first ones are shown");
}

bool carom_report(carom_reporter *reporter, carom_place place, const char *hint, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  add_formatted(reporter, false, place, hint, format, arguments);
  va_end(arguments);
  return false;
}

bool carom_warn(carom_reporter *reporter, carom_place place, const char *hint, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  add_formatted(reporter, true, place, hint, format, arguments);
  va_end(arguments);
  return true;
}

void carom_reporter_take_back(carom_reporter *reporter, int from, int kept) {
  carom_diagnostics *list = reporter->list;
  int first = list->count - kept;
  for (int i = from; i < first; i++) {
    if (!list->items[i].warning) list->error_count--;
    release_item(&list->allocator, &list->items[i]);
  }
  for (int i = first; i < list->count && first > from; i++) list->items[from + i - first] = list->items[i];
  if (first > from) list->count = from + kept;
}

// Files rank in the order in which they were first complained about.
static int file_rank(const carom_diagnostics *list, const char *file) {
  int i = 0;
  while (strcmp(list->items[i].file, file) != 0) i++;
  return i;
}

static bool comes_before(const carom_diagnostic *a, int rank_a, const carom_diagnostic *b, int rank_b) {
  if (rank_a != rank_b) return rank_a < rank_b;
  return a->line != b->line ? a->line < b->line : a->column < b->column;
}

void carom_reporter_sort(carom_reporter *reporter) {
  carom_diagnostics *list = reporter->list;
  int rank[CAROM_MAX_DIAGNOSTICS];
  for (int i = 0; i < list->count; i++) rank[i] = file_rank(list, list->items[i].file);
  for (int i = 1; i < list->count; i++) {  // insertion: stable, and the list is short
    carom_diagnostic d = list->items[i];
    int r = rank[i], j = i;
    for (; j > 0 && comes_before(&d, r, &list->items[j - 1], rank[j - 1]); j--) {
      list->items[j] = list->items[j - 1];
      rank[j] = rank[j - 1];
    }
    list->items[j] = d;
    rank[j] = r;
  }
}

void carom_diagnostics_release(carom_diagnostics *diagnostics) {
  if (!diagnostics) return;
  for (int i = 0; i < diagnostics->count; i++) release_item(&diagnostics->allocator, &diagnostics->items[i]);
  if (diagnostics->items) carom_release(&diagnostics->allocator, diagnostics->items);
  *diagnostics = (carom_diagnostics){0};
}

int carom_diagnostic_format(const carom_diagnostic *d, char *text, size_t size) {
  const char *kind = d->warning ? "warning" : "error";
  const char *open = d->hint && d->hint[0] ? " (" : "", *hint = d->hint ? d->hint : "", *close = open[0] ? ")" : "";
  if (d->line <= 0) return snprintf(text, size, "%s: %s: %s%s%s%s", d->file, kind, d->message, open, hint, close);
  return snprintf(text, size, "%s:%d:%d: %s: %s%s%s%s", d->file, d->line, d->column, kind, d->message, open, hint,
                  close);
}
