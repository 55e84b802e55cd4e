// Text that grows, and numbers and strings as the formats we write want them. A failed allocation is remembered, so
// that a whole document can be put together before the one check at its end.
#ifndef CAROM_SRC_BASE_TEXT_BUFFER_H
#define CAROM_SRC_BASE_TEXT_BUFFER_H

#include "carom/base.h"

typedef struct carom_text_buffer {
  char *data;  // not terminated
  size_t length, capacity;
  bool failed;  // out of memory; what follows is dropped
  carom_allocator allocator;
} carom_text_buffer;

enum { CAROM_NUMBER_SIZE = 40 };

carom_text_buffer carom_text_buffer_make(const carom_allocator *allocator);  // allocates nothing yet
void carom_text_buffer_release(carom_text_buffer *text);
void carom_text_buffer_clear(carom_text_buffer *text);  // keeps the room

// Room for `size` more bytes at data + length; false when out of memory.
bool carom_text_buffer_reserve(carom_text_buffer *text, size_t size);
void carom_text_buffer_add_n(carom_text_buffer *text, const void *bytes, size_t size);
void carom_text_buffer_add(carom_text_buffer *text, const char *string);
void carom_text_buffer_print(carom_text_buffer *text, const char *format, ...) CAROM_PRINTF(2, 3);  // no floats: locale

// `value` with up to `digits` significant digits and a point whatever the host's locale says; returns its length.
int carom_number_text(char out[CAROM_NUMBER_SIZE], double value, int digits);
void carom_text_buffer_number(carom_text_buffer *text, double value, int digits);

// JSON: what is not finite becomes null; strings are quoted, safe inside an HTML script element, and invalid UTF-8 is
// replaced by U+FFFD.
void carom_text_buffer_json_number(carom_text_buffer *text, double value);
void carom_text_buffer_json_numbers(carom_text_buffer *text, const double *values, int count);  // [a,b,...]
void carom_text_buffer_json_string(carom_text_buffer *text, const char *string);
// All of them by a format: %d int, %z size_t, %s plain text, %b true or false, %n number, %j quoted string, %v and %q
// three and four numbers (const double *) in brackets; %7n, %7v and %7q with seven digits, which show no step on a
// screen.
void carom_text_buffer_json(carom_text_buffer *text, const char *format, ...);

void carom_text_buffer_base64(carom_text_buffer *text, const void *bytes, size_t size);

// How many bytes the valid UTF-8 sequence at `s` takes (1 to 4); 0 when it is not one.
int carom_utf8_length(const char *s);

#endif
