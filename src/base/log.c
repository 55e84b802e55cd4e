#include <stdio.h>

#include "carom/base.h"

void carom_log_write(const carom_log *log, carom_log_level level, const char *format, ...) {
  if (!log || !log->write) return;
  char message[1000];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(message, sizeof message, format, arguments);
  va_end(arguments);
  log->write(log->context, level, message);
}
