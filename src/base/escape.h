// Which characters may not be shown as they are: they would steer a terminal or turn the order of what is read.
#ifndef CAROM_SRC_BASE_ESCAPE_H
#define CAROM_SRC_BASE_ESCAPE_H

#include <stdbool.h>

// The code point of the valid UTF-8 sequence of `length` bytes at `s`.
unsigned carom_utf8_code(const char *s, int length);
// C0, DEL and C1; marks of direction; separators of lines that no file has for its own lines.
bool carom_steers(unsigned code);

#endif
