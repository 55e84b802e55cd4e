#include <stdio.h>

#include "carom/base.h"

#define TEXT(x) #x
#define VERSION(a, b, c) TEXT(a) "." TEXT(b) "." TEXT(c)

const char *carom_version(void) { return VERSION(CAROM_VERSION_MAJOR, CAROM_VERSION_MINOR, CAROM_VERSION_PATCH); }

const char *carom_status_text(carom_status status) {
  switch (status) {
#define CASE(name, value, text) \
  case name:                    \
    return text;
    CAROM_STATUS_LIST(CASE)
#undef CASE
  }
  return "unknown status";
}

carom_status carom_fail(carom_error *error, carom_status status, const char *format, ...) {
  if (!error) return status;
  error->status = status;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(error->message, sizeof error->message, format, arguments);
  va_end(arguments);
  return status;
}
