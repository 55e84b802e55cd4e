#include "base/escape.h"

#include <stdio.h>
#include <string.h>

#include "base/text_buffer.h"

unsigned carom_utf8_code(const char *s, int length) {
  const unsigned char *b = (const unsigned char *)s;
  unsigned code = length == 1 ? b[0] : length == 2 ? b[0] & 0x1Fu : length == 3 ? b[0] & 0x0Fu : b[0] & 0x07u;
  for (int i = 1; i < length; i++) code = code << 6 | (b[i] & 0x3Fu);
  return code;
}

bool carom_steers(unsigned code) {
  if (code < 0x20 || (code >= 0x7F && code <= 0x9F)) return true;
  if (code == 0x061C || code == 0x200E || code == 0x200F || code == 0xFEFF) return true;
  return (code >= 0x2028 && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069);
}

// What stands for the character at *s, which is passed; `room` holds it where it is not the text itself.
static const char *next_piece(const char **s, const char *also, char room[8], size_t *length) {
  const char *at = *s;
  int bytes = carom_utf8_length(at);
  *s += bytes > 0 ? bytes : 1;
  unsigned code = bytes > 0 ? carom_utf8_code(at, bytes) : 0xFFFD;
  *length = (size_t)bytes;
  if (bytes > 0 && !carom_steers(code) && !(bytes == 1 && strchr(also, *at))) return at;
  *length = (size_t)snprintf(room, 8, "\\u%04x", code);
  return room;
}

size_t carom_escape(const char *text, const char *also, char *escaped, size_t size) {
  size_t total = 0, kept = 0, length;
  char room[8];
  while (*text) {
    const char *piece = next_piece(&text, also ? also : "", room, &length);
    if (total == kept && kept + length < size) {  // never half a piece
      memcpy(escaped + kept, piece, length);
      kept += length;
    }
    total += length;
  }
  if (size > 0) escaped[kept] = '\0';
  return total;
}
