#include "export/replay.h"

typedef struct choice {
  const carom_contact_event *events;
  int count, total, body_count;
} choice;

static const carom_contact_event *chosen(const choice *c, int i) {
  return &c->events[(int)((int64_t)i * c->total / c->count)];
}

// Seven digits show no step on a screen.
static void add_number(carom_text_buffer *text, double value, int i) {
  if (i > 0) carom_text_buffer_add(text, ",");
  carom_text_buffer_number(text, value, 7);
}

static void add_times(carom_text_buffer *text, const choice *c) {
  carom_text_buffer_add(text, ",\"events\":{\"time\":[");
  for (int i = 0; i < c->count; i++) {
    if (i > 0) carom_text_buffer_add(text, ",");
    carom_text_buffer_json_number(text, chosen(c, i)->time);
  }
}

// In the page solids come after the bodies.
static int number_of(const choice *c, int body) {
  return body < CAROM_WORLD ? c->body_count + CAROM_SOLID(body) : body;
}

static void add_kinds_and_bodies(carom_text_buffer *text, const choice *c) {
  carom_text_buffer_add(text, "],\n\"kind\":[");
  for (int i = 0; i < c->count; i++) carom_text_buffer_print(text, "%s%d", i > 0 ? "," : "", (int)chosen(c, i)->kind);
  carom_text_buffer_add(text, "],\n\"body\":[");
  for (int i = 0; i < c->count; i++)
    carom_text_buffer_print(text, "%s%d,%d", i > 0 ? "," : "", number_of(c, chosen(c, i)->body_a),
                            number_of(c, chosen(c, i)->body_b));
}

// Where some integrator told them.
static void add_modes(carom_text_buffer *text, const choice *c) {
  bool any = false;
  for (int i = 0; i < c->count; i++) any = any || chosen(c, i)->mode != CAROM_MODE_OPEN;
  if (!any) return;
  carom_text_buffer_add(text, "],\n\"mode\":[");
  for (int i = 0; i < c->count; i++) carom_text_buffer_print(text, "%s%d", i > 0 ? "," : "", (int)chosen(c, i)->mode);
}

static void add_vectors(carom_text_buffer *text, const choice *c, const char *key, size_t offset) {
  carom_text_buffer_print(text, "],\n\"%s\":[", key);
  for (int i = 0; i < c->count; i++) {
    const double *v = (const double *)(const void *)((const char *)chosen(c, i) + offset);
    for (int k = 0; k < 3; k++) add_number(text, v[k], 3 * i + k);
  }
}

void carom_replay_events(carom_text_buffer *text, const carom_result *result) {
  choice c = {result->events, result->event_count, result->event_count, result->body_count};
  if (c.total == 0) return;
  if (c.count > CAROM_REPLAY_EVENTS_MAX) c.count = CAROM_REPLAY_EVENTS_MAX;
  add_times(text, &c);
  add_kinds_and_bodies(text, &c);
  add_modes(text, &c);
  add_vectors(text, &c, "point", offsetof(carom_contact_event, point));
  add_vectors(text, &c, "normal", offsetof(carom_contact_event, normal));
  add_vectors(text, &c, "impulse", offsetof(carom_contact_event, impulse));
  carom_text_buffer_print(text, "],\n\"total\":%d}", c.total);
}
